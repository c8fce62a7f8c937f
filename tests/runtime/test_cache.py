"""The cache of compiled kernels: every optimisation level is kept, and what is read needs none of the compiler."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

from ubpe_numba.runtime.compiler import cache

SCRIPT = """
import sys, warnings
warnings.simplefilter("error")
from numba.core import event
compiled = []
class Count(event.Listener):
    def on_start(self, e): compiled.append(e.data["dispatcher"].py_func.__name__)
    def on_end(self, e): pass
event.register("numba:compile", Count())
from ubpe_numba import BPE
tokenizer = BPE.from_merges([[0, 1], [2, 0]], alphabet=2)
assert tokenizer.decode(tokenizer.encode([0, 1, 0, 1])).tolist() == [0, 1, 0, 1]
print(len(compiled) > 0, "numba.np.npyimpl" in sys.modules)
"""


@pytest.mark.parametrize("level", ["0", "3"])
def test_a_second_process_compiles_nothing(tmp_path: pathlib.Path, level: str) -> None:
    """Not even with NUMBA_OPT=0; nor does it set up numba's knowledge of NumPy, which only the compiler needs."""
    environment = {**os.environ, "UBPE_CACHE_DIR": str(tmp_path), "NUMBA_OPT": level, "NUMBA_DISABLE_ENTRY_POINTS": "1"}

    def run() -> str:
        return subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True).stdout

    assert run().split() == ["True", "True"]
    assert run().split() == ["False", "False"]


@pytest.mark.skipif(os.name != "posix", reason="elsewhere the home folder is not named by HOME")
def test_a_tilde_is_the_home_folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a folder called ``~`` in the present one."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("UBPE_CACHE_DIR", "~/x")
    assert cache.directory.__wrapped__() == tmp_path / "x"
    monkeypatch.setenv("UBPE_CACHE_DIR", "x/~")
    assert cache.directory.__wrapped__() == pathlib.Path.cwd() / "x" / "~"


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="there the folder of caches is another")
def test_the_folder_of_caches_that_the_system_names(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UBPE_CACHE_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert cache.directory.__wrapped__() == tmp_path / "caches" / "ubpe_numba"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache.directory.__wrapped__() == tmp_path / ".cache" / "ubpe_numba"
