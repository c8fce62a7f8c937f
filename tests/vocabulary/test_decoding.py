"""What is done with decoded text, read from a file."""

from __future__ import annotations

from typing import Any

import pytest

from ubpe_numba.errors import ModelFormatError
from ubpe_numba.vocabulary.segmenter import _MOST_STEPS as _MOST
from ubpe_numba.vocabulary.segmenter import Decoding


@pytest.mark.parametrize("n", [0, 1, _MOST])
def test_so_many_may_be_left_out(n: int) -> None:
    assert Decoding.from_state({"replace": [["a", "b"]], "strip": " ", "n": n}) == Decoding((("a", "b"),), " ", n)


@pytest.mark.parametrize("n, strip", [(-1, " "), (_MOST + 1, " "), (1, "")])
def test_other_numbers_are_refused(n: Any, strip: str) -> None:
    with pytest.raises(ModelFormatError, match=rf"decoding: n: expected 0\.\.{_MOST}"):
        Decoding.from_state({"replace": [], "strip": strip, "n": n})
