"""The packages that integrations are tested against: the real ones, or a skip that says what is missing."""

import importlib
import os
from typing import Any

import pytest


def needed(module: str) -> Any:
    """A package that a test is about; a skip if it is not installed, an error where UBPE_NEED_INTEGRATIONS is set."""
    if os.environ.get("UBPE_NEED_INTEGRATIONS"):
        return importlib.import_module(module)
    return pytest.importorskip(
        module, reason=f"{module} is not installed: pip install 'ubpe-numba[integrations]'", exc_type=ImportError
    )
