"""`warmup` compiles everything, and nothing is ever compiled twice."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys

import ubpe_numba
import ubpe_numba.kernels


def test_every_kernel_has_exactly_one_version() -> None:
    """Whatever the tests before this one did, or a single warm-up did."""
    ubpe_numba.warmup()
    n = 0
    for module in pkgutil.iter_modules(ubpe_numba.kernels.__path__):
        for name, value in vars(importlib.import_module(f"ubpe_numba.kernels.{module.name}")).items():
            options = getattr(value, "targetoptions", None)
            if options and not options.get("forceinline") and options.get("inline") != "always":
                assert len(value.signatures) == 1, (module.name, name, value.signatures)
                n += 1
    assert n >= 25


def test_command() -> None:
    done = subprocess.run([sys.executable, "-m", "ubpe_numba", "warmup"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
