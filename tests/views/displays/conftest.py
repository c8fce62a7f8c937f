"""Figures that pyplot does not know of, a tokenizer of a small signal, and a check that pyplot holds no figure afterwards."""

import io
from collections.abc import Callable, Iterator
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

from ubpe_numba import BPE
from ubpe_numba.tokenizers.base import Tokenizer

matplotlib.use("agg")


@pytest.fixture
def axes() -> Any:
    """Axes of a figure of their own."""
    return Figure().subplots()


@pytest.fixture(autouse=True)
def _figures_are_closed() -> Iterator[None]:
    """No figure of pyplot is left to the next test; a display must not close those of a user."""
    import matplotlib.pyplot as plt

    plt.close("all")
    yield
    plt.close("all")


@pytest.fixture
def open_figures() -> Callable[[], int]:
    """How many figures pyplot holds."""
    import matplotlib.pyplot as plt

    return lambda: len(plt.get_fignums())


@pytest.fixture
def colours_drawn() -> Callable[[Any], set[str]]:
    """The colours of a figure's pixels when it is saved, as ``"#rrggbb"``: a blank one has one."""

    def found(figure: Any) -> set[str]:
        file = io.BytesIO()
        figure.savefig(file, format="rgba")
        pixels = np.unique(np.frombuffer(file.getvalue(), ">u4") >> 8)
        return {f"#{pixel:06x}" for pixel in pixels.tolist()}

    return found


@pytest.fixture(scope="session")
def tok() -> Tokenizer:
    """Over the levels 0, 2, 8 (ids 0, 1, 2): 3 is 0 2, 4 is 0 2 8, 5 is 0 2 8 2, 6 is 0 0, 7 is 2 0."""
    return BPE.from_merges([[0, 1], [3, 2], [4, 1], [0, 0], [1, 0]], alphabet=[0, 2, 8])
