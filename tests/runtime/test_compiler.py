"""Helpers are not called from Python; the switch to plain numba, and versions of numba that are not tested, give the same."""

import pathlib

import numba
import pytest
from processes import python
from tables import each, refuses

from ubpe_numba.runtime import border
from ubpe_numba.runtime.tables import pairs as pairtable


def test_a_helper_is_not_called_from_python() -> None:
    refuses(TypeError, "pair_of is called by kernels only", pairtable.pair_of, 1, 2)
    assert pairtable.pair_of.py_func(1, 2) == 1 << 32 | 2


@each(
    "version, tested",
    [("0.60.0", 0), ("0.61.0rc1", 1), ("0.68.1", 1), ("0.69.0", 0), ("1.0.0", 0), ("1.61.0", 0), ("x", 0)],
)
def test_versions_of_numba_are_tested_or_not(version: str, tested: bool) -> None:
    assert border.is_known(version) == tested
    assert border.is_known(numba.__version__), (
        "after tests with this version, `border._KNOWN` is to be set to it"
    )


SCRIPT = """
import sys
from ubpe_numba import BPE, UBPE, Preprocessing

words = Preprocessing("gpt2", encoding="utf-8")
tok = BPE.from_merges([[98, 97], [32, 256], [97, 97]], alphabet=bytes(range(256)), preprocessing=words)
for _ in range(2):
    ids = tok.encode("ba baba it's")
    print(ids.tolist(), tok.decode(ids))
if sys.argv[1:]:
    docs = [[1, 2, 3, 1, 2], [3, 3, 3], [1, 1, 2]]
    tok = UBPE(6, 3).fit(docs)  # learns as all classes do
    ids = tok.encode_batch(docs)
    print(tok.fingerprint, ids.to_lists(), tok.decode_batch(ids))
print("parts", *(name.rpartition(".")[2] for name in sys.modules if name.startswith("ubpe_numba.runtime.compiler.")))
"""


@pytest.mark.skipif(
    bool(numba.config.BOUNDSCHECK),
    reason="numba's own pipeline takes its time, and is not what is to be checked",
)
def test_plain_numba_and_another_version_give_the_same(tmp_path: pathlib.Path) -> None:
    """`UBPE_PLAIN_NUMBA=1` uses none of numba's internals; a version that is not tested, none of its compiler's."""
    outputs = []
    for case, first in ("", ""), ("other", "import numba; numba.__version__ = '99.0.0'\n"), ("plain", ""):
        env = {"UBPE_CACHE_DIR": str(tmp_path / case)} if case else {}
        env |= {"UBPE_PLAIN_NUMBA": "1"} if case == "plain" else {}
        ways = ("error", "ignore:ubpe_numba with numba:RuntimeWarning") if case == "other" else ("error",)
        options = tuple(option for way in ways for option in ("-W", way))
        out = python(first + SCRIPT, *["fit"] * (case != "other"), options=options, **env).splitlines()
        outputs.append(out[:-1])
        assert not {"": set(), "other": {"passes"}, "plain": {"passes", "cache"}}[case] & set(
            out[-1].split()
        ), case
    assert outputs[0] == outputs[2] == outputs[1] + outputs[0][2:] and outputs[0][0].startswith(
        "[256, 257, 256, "
    )
    assert not (tmp_path / "plain").exists()


def test_a_function_of_a_user_that_calls_a_kernel_does_not_wait_for_itself(tmp_path: pathlib.Path) -> None:
    """The main thread has the lock of the compiler then, and no other thread may be left to compile the kernel."""
    script = """
import numpy as np
from numba import njit
from ubpe_numba.coding.kernels.decode import decoded_size

@njit
def user(ids):
    return decoded_size(ids, 0, ids.size, 1, np.full(9, 4, np.int32))

print(user(np.array([5, 7], np.int32)), user(np.array([10], np.int32)))
"""
    assert python(script, UBPE_CACHE_DIR=str(tmp_path)) == "(8, 32) (0, 0)"
