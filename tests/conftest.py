"""Fixtures that several folders use; a run says at its start and its end what it could not look at."""

import importlib.metadata
import importlib.util
import os
import signal
import sys
from collections import Counter
from typing import Any

import hypothesis
import pytest

from ubpe_numba import BPE, UBPE, UBPEClassic

# properties with 60 examples, with UBPE_FULL=1 as many as are worth a machine's time
_EXAMPLES = 300 if os.environ.get("UBPE_FULL") == "1" else 60
hypothesis.settings.register_profile("default", deadline=None, print_blob=True, max_examples=_EXAMPLES)
hypothesis.settings.load_profile("default")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as under nohup; tests press Ctrl-C, in processes of their own too
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_report_header() -> str:
    """Say which published package the differential test meets, or that it meets none."""
    if sys.version_info >= (3, 12) and importlib.util.find_spec("ubpe_native") is not None:
        version = importlib.metadata.version("ubpe-native")
        return f"differential test: against ubpe-native {version}, data in {os.environ.get('UBPE_BENCH_DATA', 'the package')}"
    return "differential test: NOT RUN, it needs Python 3.12 or later and the package ubpe-native (0.2.2 or 0.3.0)"


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
