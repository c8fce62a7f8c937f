"""The packages that integrations are tested against: the real ones, or a skip that says what is missing."""

import importlib
import os
import warnings
from typing import Any

import pytest

SOURCES = {"chess", "mne", "pm4py", "pyedflib", "rdkit", "selfies", "wfdb"}  # of the extra `sources`


def needed(module: str) -> Any:
    """A package that a test is about; a skip if it is not installed, an error with UBPE_NEED_INTEGRATIONS, or _SOURCES, set."""
    extra = "sources" if module in SOURCES else "integrations"
    reason = f"{module} is not installed: pip install 'ubpe-numba[{extra}]'"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a package uses itself may be deprecated
        if os.environ.get(f"UBPE_NEED_{extra.upper()}"):
            return importlib.import_module(module)
        return pytest.importorskip(module, reason=reason, exc_type=ImportError)
