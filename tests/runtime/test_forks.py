"""Forks while another thread compiles or imports: they wait for what is of this library, and for nothing of the user."""

import os
import pathlib

import pytest
from processes import FORKS, python

if not hasattr(os, "fork"):
    pytest.skip("there are no forks on this system", allow_module_level=True)

PRELUDE = f"""{FORKS}
import importlib, sys, threading
import ubpe_numba
from ubpe_numba.runtime import forks

def codes(pids):
    return [wait(pid, 120) for pid in pids]
"""
IGNORE = ("-W", "ignore:This process:DeprecationWarning")


def test_children_that_are_forked_while_a_thread_imports_and_fits(tmp_path: pathlib.Path) -> None:
    python(f"""{PRELUDE}
def fit():
    tok = ubpe_numba.BPE(260, alphabet=256).fit([[1, 2, 1, 2, 3, 4] * 50], progress=False)
    assert tok.decode(tok.encode([1, 2, 3])).tolist() == [1, 2, 3]

forks.PATIENCE = 60.0  # a busy machine
thread = threading.Thread(target=fit)
thread.start()
pids = []
while thread.is_alive() and len(pids) < 25:
    time.sleep(0.02)
    pids.append(child(fit))
thread.join()
assert set(codes(pids)) == {{0}}
""", path=tmp_path, options=IGNORE)  # fmt: skip


WAITS = f"""{PRELUDE}
def others(work):
    threading.begun, threading.go = threading.Event(), threading.Event()
    thread = threading.Thread(target=work)
    thread.start()
    assert threading.begun.wait(60)
    return thread

def seconds(work=lambda: None):
    began = time.monotonic()
    pid = child(work)
    took = time.monotonic() - began
    assert codes([pid]) == [0]
    return took
"""


def test_a_fork_waits_for_no_import_but_ours(tmp_path: pathlib.Path) -> None:
    """That of another package goes on; that of this library is waited for, a second or two, then a warning says it."""
    (tmp_path / "other.py").write_text(
        "import threading\nthreading.begun.set()\nthreading.go.wait(60)\nx = 1\n"
    )
    python(f"""{WAITS}
import warnings

def no_other():
    try:
        import ubpe_numba.other
    except ImportError:
        return
    raise AssertionError("half imported")

ubpe_numba.__path__.append({str(tmp_path)!r})
thread = others(lambda: importlib.import_module("other"))
forks.PATIENCE = 30.0
assert seconds() < 20
threading.go.set()
thread.join()
thread = others(lambda: importlib.import_module("ubpe_numba.other"))
threading.Timer(0.3, threading.go.set).start()
assert seconds(lambda: importlib.import_module("ubpe_numba.other").x) > 0.25 and threading.go.is_set()
thread.join()
del sys.modules["ubpe_numba.other"]
thread = others(lambda: importlib.import_module("ubpe_numba.other"))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    forks.PATIENCE = 0.5
    assert seconds(no_other) > 0.4 and not threading.go.is_set()
assert any("fork: ubpe_numba still compiles" in str(w.message) for w in caught)
threading.go.set()
thread.join()
""", path=tmp_path, options=IGNORE)  # fmt: skip


def test_a_fork_waits_for_our_compiles_and_for_no_others(tmp_path: pathlib.Path) -> None:
    """A user's compile goes on.

    Its lock is held for ever in the child, which says so where it would have to wait for it.
    """
    python(f"""{WAITS}
tok = ubpe_numba.BPE.from_merges([[0, 1]], alphabet=2)
from numba.core.compiler_lock import global_compiler_lock
expected = [tok.encode([0, 1, 0]).tolist() for _ in range(9)][-1]

def user():
    with global_compiler_lock:
        threading.begun.set()
        threading.go.wait(60)

def ours():
    with forks.busy():
        threading.begun.set()
        threading.go.wait(60)

def learn():
    ubpe_numba.UBPE(6, objective="shortest").fit([[0, 1, 2, 0, 1]], progress=False)

def child_work():
    assert tok.encode([0, 1, 0]).tolist() == expected  # by kernels that are loaded
    try:
        learn()
    except RuntimeError as error:
        assert "forked while another thread compiled" in str(error) and "warmup" in str(error), error
    else:
        raise AssertionError("no error")

forks.PATIENCE = 30.0
thread = others(user)
assert seconds(child_work) < 20
threading.go.set()
thread.join()
thread = others(ours)
threading.Timer(0.3, threading.go.set).start()
assert seconds(learn) > 0.25 and threading.go.is_set()
thread.join()
""", path=tmp_path, options=IGNORE)  # fmt: skip


def test_a_module_that_forks_while_it_is_imported_does_not_wait_for_itself(tmp_path: pathlib.Path) -> None:
    (tmp_path / "forking.py").write_text(
        "import os\npid = os.fork()\nif not pid:\n    import colorsys\n    os._exit(0)\n"
    )
    python(
        f"{PRELUDE}import forking\nassert codes([forking.pid]) == [0]\nimport colorsys\n",
        path=tmp_path,
        options=IGNORE,
    )
