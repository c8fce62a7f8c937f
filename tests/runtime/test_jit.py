"""Helpers of kernels are not called from Python; versions of numba that are not tested compile kernels by themselves."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import numba
import pytest

import ubpe_numba
from ubpe_numba.runtime import jit
from ubpe_numba.runtime.tables import pairs as pairtable


def test_a_helper_is_not_called_from_python() -> None:
    with pytest.raises(TypeError, match="pair_of is called by kernels only"):
        pairtable.pair_of(1, 2)
    assert pairtable.pair_of.py_func(1, 2) == 1 << 32 | 2


@pytest.mark.parametrize(
    "version, tested",
    [
        ("0.60.0", False),
        ("0.61.0rc1", True),
        ("0.68.1", True),
        ("0.69.0", False),
        ("1.0.0", False),
        ("1.61.0", False),
        ("x", False),
    ],
)
def test_versions_of_numba_are_tested_or_not(version: str, tested: bool) -> None:
    assert jit._is_tested(version) == tested
    assert jit._is_tested(numba.__version__), "after tests with this version, `jit._TESTED` is to be set to it"


SCRIPT = """
from ubpe_numba import BPE

tok = BPE.from_merges([[98, 97], [32, 256], [97, 97]], alphabet=bytes(range(256)), pretokenizer="gpt2", encoding="utf-8")
for _ in range(2):
    ids = tok.encode("ba baba it's")
    print(ids.tolist(), tok.decode(ids))
"""


@pytest.mark.skipif(
    bool(numba.config.BOUNDSCHECK), reason="numba's own pipeline takes its time, and is not what is to be checked"
)
def test_numba_of_another_version_gives_the_same(tmp_path: pathlib.Path) -> None:
    root = str(pathlib.Path(ubpe_numba.__file__).parents[1])
    outputs = []
    for first in ("", "import sys, numba; numba.__version__ = '99.0.0'\n"):
        last = "import sys; assert ('ubpe_numba.runtime.pipeline' in sys.modules) == " + str(not first)
        env = {
            **os.environ,
            "PYTHONPATH": root,
            "UBPE_CACHE_DIR": str(tmp_path) if first else os.environ.get("UBPE_CACHE_DIR", ""),
        }
        command = [sys.executable, "-W", "error", "-c", first + SCRIPT + last]
        outputs.append(subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout)
    assert outputs[0] == outputs[1] and "[256, 257, 256, " in outputs[0]
