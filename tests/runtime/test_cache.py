"""The cache of compiled kernels: every optimisation level is kept, and what is read needs none of the compiler."""

import pathlib
import sys

import pytest
from processes import COMPILED, python

from ubpe_numba.runtime.compiler import cache

SCRIPT = f"""{COMPILED}
warnings.simplefilter("error")
from ubpe_numba import BPE
tokenizer = BPE.from_merges([[0, 1], [2, 0]], alphabet=2)
assert tokenizer.decode(tokenizer.encode([0, 1, 0, 1])).tolist() == [0, 1, 0, 1]
print(len(compiled) > 0, "numba.np.npyimpl" in sys.modules)
from numba import njit
print(njit(lambda x: x + 1)(1))
"""


def test_a_second_process_compiles_nothing(tmp_path: pathlib.Path) -> None:
    """Not even with NUMBA_OPT=0; nor does it set up numba's knowledge of NumPy, which only the compiler needs.

    Extensions of numba by other packages are imported by whatever is compiled first, and by no kernel that is
    loaded.
    """
    (tmp_path / "extension.py").write_text("def init():\n    print('extension')\n")
    (tmp_path / "extension-1.dist-info").mkdir()
    (tmp_path / "extension-1.dist-info" / "METADATA").write_text("Name: extension\nVersion: 1\n")
    (tmp_path / "extension-1.dist-info" / "entry_points.txt").write_text(
        "[numba_extensions]\ninit = extension:init\n"
    )
    for lines in (["extension", "True True", "2"], ["False False", "extension", "2"]):
        printed = python(SCRIPT, path=tmp_path, UBPE_CACHE_DIR=str(tmp_path / "cache"), NUMBA_OPT="0")
        assert printed.split("\n") == lines


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="there the folder of caches is another")
def test_the_folder_of_caches(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tilde is the home folder, and not one called ``~`` in the present one; the system may name the folder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("UBPE_CACHE_DIR", "~/x")
    assert cache.directory.__wrapped__() == tmp_path / "x"
    monkeypatch.setenv("UBPE_CACHE_DIR", "x/~")
    assert cache.directory.__wrapped__() == pathlib.Path.cwd() / "x" / "~"
    monkeypatch.delenv("UBPE_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert cache.directory.__wrapped__() == tmp_path / "caches" / "ubpe_numba"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache.directory.__wrapped__() == tmp_path / ".cache" / "ubpe_numba"
