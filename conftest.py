"""Names that the examples of methods use without importing them."""

from typing import Any

import numpy as np
import pytest

import ubpe_numba

_NAMES = ("BPE", "UBPE", "UBPEClassic", "WordPiece", "Preprocessing", "FitRules", "export", "load")


@pytest.fixture(autouse=True, scope="session")
def _names_of_examples(doctest_namespace: dict[str, Any]) -> None:
    doctest_namespace.update({name: getattr(ubpe_numba, name) for name in _NAMES}, np=np)
