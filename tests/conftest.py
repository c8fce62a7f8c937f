"""Fixtures that several folders use; the report's header says whether the differential test runs."""

import importlib.metadata
import importlib.util
import os
import sys
from typing import Any

import hypothesis
import pytest

from ubpe_numba import BPE, UBPE, UBPEClassic

hypothesis.settings.register_profile("default", deadline=None, print_blob=True)
hypothesis.settings.load_profile("default")


def pytest_report_header() -> str:
    """Say which published package the differential test meets, or that it meets none."""
    if sys.version_info >= (3, 12) and importlib.util.find_spec("ubpe_native") is not None:
        version = importlib.metadata.version("ubpe-native")
        return f"differential test: against ubpe-native {version}, data in {os.environ.get('UBPE_BENCH_DATA', 'the package')}"
    return "differential test: NOT RUN, it needs Python 3.12 or later and the package ubpe-native (0.2.2 or 0.3.0)"


@pytest.fixture(params=[BPE, UBPEClassic, UBPE], ids=lambda cls: cls.__name__)
def cls(request: pytest.FixtureRequest) -> Any:
    """Each of the three classes of tokenizers."""
    return request.param


@pytest.fixture(params=[".json", ".npz"])
def suffix(request: pytest.FixtureRequest) -> str:
    """The suffix of each format of model files."""
    return str(request.param)
