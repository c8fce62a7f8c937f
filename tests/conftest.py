"""Fixtures that several folders use; a run says at its start and its end what it could not look at."""

import os
import pathlib
import signal
from collections import Counter
from typing import Any

import hypothesis
import pytest

from ubpe_numba import BPE, UBPE, UBPEClassic

# properties with 60 examples, with UBPE_FULL=1 as many as are worth a machine's time, or with as many as are
# said: the same in each run, so that what fails is the change, or others each time with
# --hypothesis-profile=random
_EXAMPLES = int(os.environ.get("UBPE_EXAMPLES", 100 if os.environ.get("UBPE_FULL") == "1" else 60))
for _name in ("default", "random"):
    _settings = hypothesis.settings(
        deadline=None, print_blob=True, max_examples=_EXAMPLES, derandomize=_name == "default"
    )
    hypothesis.settings.register_profile(_name, _settings)
hypothesis.settings.load_profile("default")

# as under nohup; tests press Ctrl-C, in processes of their own too
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

#: Files and functions that are run with UBPE_FULL=1, or where their file is named: what only another release
#: of numba, Unicode or another library changes, what examples for other libraries print, and long ones,
#: machines that are lost in every way there is, processes that are killed, race for a cold cache or have too
#: little memory, Ctrl-C in every call, memory beside arrays.
FULL = {
    "tests/test_interrupts.py": ("test_ctrl_c",), "tests/test_guard_pages.py": ("",),
    "tests/test_process.py": (
        "test_a_child_that_is_forked_in_the_middle", "test_ctrl_c_during_a_fork", "test_threads_of_processes_that_race",
        "test_changed_files", "test_control_c_while", "test_a_killed_save", "test_too_little_memory",
    ),
    "tests/test_pages.py": tuple(f"test_examples_run[do/{page}" for page in ("fewest_tokens", "compiled", "many", "verify")),
    "tests/test_readme.py": ("test_python_blocks_run[docs/distributed",),
    "tests/runtime/test_compiler.py": ("test_plain_numba_and_another_version_give_the_same",),
    "tests/runtime/test_prebuilt.py": ("",),
    "tests/runtime/test_guest.py": ("test_without_one_private_name", "test_first_calls_come_from_threads_where_nothing"),
    "tests/integrations/test_beside_others.py": ("",),
    "tests/inside/test_kernels.py": ("test_one_program_in_every_mode", "test_forks_during_calls"),
    "tests/inside/test_ragged.py": ("test_functions_that_users_cache",), "tests/integrations/test_scripts.py": ("",),
    "tests/vocabulary/test_reserved.py": ("test_every_character",),
    "tests/text/test_cut.py": ("test_every_code_point",),
    "tests/text/test_normalizer.py": ("test_every_character",), "tests/text/test_unicode_classes.py": ("test_the_version_of",),
    "tests/text/test_splitter.py": ("test_every_character",),
    "tests/formats/test_model_file.py": ("test_a_truncated_file_is_refused_wherever", "test_a_changed_byte_is_refused"),
    "tests/distributed/test_encoding.py": ("test_a_disk_that_is_full", "test_two_runs", "test_a_killed_worker"),
    "tests/distributed/test_hosts.py": ("test_workers_killed", "test_machines"), "tests/distributed/test_builds.py": ("",),
    "tests/distributed/test_cluster.py": ("test_a_task_that_kills", "test_a_dead_scheduler"),
    "tests/distributed/test_fitting.py": (
        "test_workers_killed", "test_partitions_that_kill", "test_futures_whose", "test_a_scheduler",
        "test_a_worker_that_joins",
    ),
    "tests/distributed/test_losses.py": ("test_a_loss_at_every_message",),
}  # fmt: skip


collect_ignore = ["types"]  # a script, which one test runs


#: Those that take minutes come first, so that one process of pytest-xdist does not end with them alone.
_LONGEST = ("test_plain_numba_and_another_version_give_the_same", "test_ctrl_c_is_heard_and_changes_nothing")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile fits before there are processes of pytest-xdist: files fit when they are imported, and each would compile them."""
    if getattr(session.config.option, "numprocesses", None) and not hasattr(session.config, "workerinput"):
        for cls in (BPE, UBPE):
            cls.for_text(258).fit(["abab ab", "cdcd"], progress=False)
            cls(6, alphabet="abcd").fit(["abab", "cdcd"], progress=False)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give a file to one process, which compiles its kernels and makes its models once; all of a cluster to one, too."""
    from xdist.scheduler import LoadFileScheduling

    config.option.loadscopereorder = False
    scheduler: Any = LoadFileScheduling(config, log)
    scheduler._split_scope = lambda nodeid: (
        "distributed" if "distributed/" in nodeid else nodeid.partition("::")[0]
    )
    return scheduler


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is run in full only, unless its file is named."""
    items.sort(key=lambda item: not item.name.startswith(_LONGEST))
    named = {pathlib.Path(arg.partition("::")[0]).name for arg in config.args}
    kept, left = [], []
    for item in items:
        names = () if item.path.name in named else FULL.get(item.nodeid.partition("::")[0], ())
        (left if item.name.startswith(tuple(names)) and names else kept).append(item)
    if left and os.environ.get("UBPE_FULL") != "1":
        items[:] = kept
        config.hook.pytest_deselected(items=left)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say aloud that pages and integrations were not looked at, and why; reports come here from all processes."""
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", [])
        if report.nodeid.startswith(("tests/browser/", "tests/site/", "tests/integrations/"))
    )
    for reason, n in reasons.items():
        terminalreporter.write_sep("!", f"NOT RUN, {n} tests of pages or integrations")
        terminalreporter.write_line(reason)


@pytest.fixture(params=[BPE, UBPEClassic, UBPE], ids=lambda cls: cls.__name__)
def cls(request: pytest.FixtureRequest) -> Any:
    """Each of the three classes of tokenizers."""
    return request.param


@pytest.fixture(params=[".json", ".npz"])
def suffix(request: pytest.FixtureRequest) -> str:
    """The suffix of each format of model files."""
    return str(request.param)
