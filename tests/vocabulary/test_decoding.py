"""Replacements, and characters left out, of decoded text, read from a file."""

import pytest

from ubpe_numba.errors import ModelFormatError
from ubpe_numba.vocabulary.segmenter import _MOST_STEPS as _MOST, Decoding


def test_so_many_may_be_left_out() -> None:
    for n in (0, 1, _MOST):
        assert Decoding.from_state({"replace": [["a", "b"]], "strip": " ", "n": n}) == Decoding((("a", "b"),), " ", n)
    for n, strip in ((-1, " "), (_MOST + 1, " "), (1, "")):
        with pytest.raises(ModelFormatError, match=rf"decoding: n: expected 0\.\.{_MOST}"):
            Decoding.from_state({"replace": [], "strip": strip, "n": n})
