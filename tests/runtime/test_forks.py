"""Forks while another thread imports: they wait for the modules, but not for a program that runs within an import."""

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

thread = threading.Thread(target=fit)
thread.start()
pids = []
while thread.is_alive() and len(pids) < 25:
    time.sleep(0.02)
    pids.append(child(fit))
thread.join()
assert set(codes(pids)) == {{0}} and not forks._endless
""", path=tmp_path, options=IGNORE)  # fmt: skip


def test_a_fork_waits_for_an_import_but_not_for_a_program_that_is_one(tmp_path: pathlib.Path) -> None:
    for name in ("soon", "never"):
        (tmp_path / f"{name}.py").write_text("import threading\ngo = threading.go\nthreading.begun.set()\ngo.wait(60)\nx = 1\n")
    python(f"""{PRELUDE}
def thread_that_imports(name):
    threading.begun, threading.go = threading.Event(), threading.Event()
    thread = threading.Thread(target=importlib.import_module, args=(name,))
    thread.start()
    assert threading.begun.wait(60)
    return thread, threading.go

def check():
    import soon
    assert soon.x == 1

thread, go = thread_that_imports("soon")
threading.Timer(0.3, go.set).start()
assert codes([child(check)]) == [0] and go.is_set() and not forks._endless
thread.join()
thread, go = thread_that_imports("never")
forks._PATIENCE = 0.2
assert codes([child(check)]) == [0] and not go.is_set()
forks._PATIENCE = 1e9
assert codes([child(check), child(check)]) == [0, 0] and not go.is_set()
go.set()
thread.join()
""", path=tmp_path, options=IGNORE)  # fmt: skip


def test_a_module_that_forks_while_it_is_imported_does_not_wait_for_itself(tmp_path: pathlib.Path) -> None:
    (tmp_path / "forking.py").write_text("import os\npid = os.fork()\nif not pid:\n    import colorsys\n    os._exit(0)\n")
    python(f"{PRELUDE}import forking\nassert codes([forking.pid]) == [0]\nimport colorsys\n", path=tmp_path, options=IGNORE)
