"""`warmup` compiles everything, and nothing is ever compiled twice."""

from __future__ import annotations

import importlib
import subprocess
import sys
from typing import Any

import pytest
from kernel_modules import kernel_modules

import ubpe_numba
from ubpe_numba.runtime.tables import pairs as pairtable


def forms(dispatcher: Any) -> set[tuple[str, ...]]:
    """The signatures of a kernel but for the arguments that may be None, of which the compiler makes kernels of their own."""
    optional = {i for signature in dispatcher.signatures for i, kind in enumerate(signature) if str(kind) == "none"}
    return {tuple(str(kind) for i, kind in enumerate(signature) if i not in optional) for signature in dispatcher.signatures}


def test_every_kernel_has_exactly_one_version() -> None:
    """Whatever the tests before this one did, or a single warm-up did."""
    ubpe_numba.warmup()
    n = 0
    for module in kernel_modules():
        for name, value in vars(importlib.import_module(module)).items():
            options = getattr(value, "targetoptions", None)
            if options and not options.get("no_cpython_wrapper"):  # else only kernels call it
                assert len(forms(value)) == 1, (module, name, value.signatures)
                n += 1
    assert n >= 25


def test_command() -> None:
    done = subprocess.run([sys.executable, "-m", "ubpe_numba", "warmup"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_a_helper_is_not_called_from_python() -> None:
    with pytest.raises(TypeError, match="pair_of is called by kernels only"):
        pairtable.pair_of(1, 2)
    assert pairtable.pair_of.py_func(1, 2) == 1 << 32 | 2


def test_import_is_light() -> None:
    script = """
import sys, ubpe_numba
assert not {"numba", "numpy"} & set(sys.modules)
assert ubpe_numba.__version__ and not hasattr(ubpe_numba, "__path_of_nothing__") and not hasattr(ubpe_numba, "nothing")
from ubpe_numba import *
from ubpe_numba.tokenizers.ubpe import UBPE as home
assert UBPE is ubpe_numba.UBPE is home and {*ubpe_numba.__all__} <= {*dir(ubpe_numba)} & {*globals()}
assert {*ubpe_numba.__all__} == {*ubpe_numba._HOMES}
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
