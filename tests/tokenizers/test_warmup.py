"""`warmup` compiles everything, and nothing is ever compiled twice."""

from __future__ import annotations

import importlib
import subprocess
import sys
from typing import Any

import pytest
from kernel_modules import kernel_modules

import ubpe_numba
from ubpe_numba.runtime.messages import Progress


def forms(dispatcher: Any) -> set[tuple[str, ...]]:
    """The signatures of a kernel but for the arguments that may be None, of which the compiler makes kernels of their own."""
    optional = {i for signature in dispatcher.signatures for i, kind in enumerate(signature) if str(kind) == "none"}
    return {tuple(str(kind) for i, kind in enumerate(signature) if i not in optional) for signature in dispatcher.signatures}


def test_every_kernel_has_exactly_one_version() -> None:
    """After a warm-up, and after any tests that ran before this one."""
    ubpe_numba.warmup()
    n = 0
    for module in kernel_modules():
        if module.startswith(("ubpe_numba.distributed.", "ubpe_numba.bounds.")):  # compiled by who imports them
            continue
        for name, value in vars(importlib.import_module(module)).items():
            options = getattr(value, "targetoptions", None)
            if options and not options.get("no_cpython_wrapper"):  # else only kernels call it
                assert len(forms(value)) == 1, (module, name, value.signatures)
                n += 1
    assert n >= 25


def test_the_warmup_command_is_silent() -> None:
    done = subprocess.run([sys.executable, "-m", "ubpe_numba", "warmup"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_warmup_shows_no_progress_of_its_own_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[bool] = []
    module = importlib.import_module("ubpe_numba.tokenizers.base")
    monkeypatch.setattr(module, "Progress", lambda *show: shown.append(show) or Progress(False))
    ubpe_numba.warmup()
    assert not shown
