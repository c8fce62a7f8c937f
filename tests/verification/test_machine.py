"""What is said about the machine and its kernels."""

from __future__ import annotations

import importlib
import sys

import numba
import numpy as np
import pytest
from kernel_modules import kernel_modules

from ubpe_numba import BPE
from ubpe_numba.verification.machine import _is_kernel, kernels, machine


def test_versions_and_processor() -> None:
    found = machine()
    assert found.versions["numba"] == numba.__version__ and found.versions["NumPy"] == np.__version__
    assert found.versions["Python"].startswith(sys.version.split()[0])
    assert found.cpu and len(found.cpu_features) > 3 and found.n_threads >= 1


def test_a_processor_that_the_user_has_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CPU_NAME", "generic")
    monkeypatch.setattr(numba.config, "CPU_FEATURES", "+sse2,-avx,+cx8")
    assert (machine().cpu, machine().cpu_features) == ("generic", ["sse2", "cx8"])


def test_kernels_are_counted() -> None:
    BPE(5, alphabet=4).fit([[0, 1, 0, 1]], progress=False).encode([0, 1])
    found = kernels()
    assert 5 <= found.used <= found.compiled + found.loaded and found.used <= found.known


def test_all_kernels_of_the_sources_are_known() -> None:
    homes = [importlib.import_module(name) for name in kernel_modules()]
    own = [
        value
        for home in homes
        for value in vars(home).values()
        if _is_kernel(value) and value.py_func.__module__ == home.__name__
    ]
    assert len(own) == kernels().known
