"""A prefix inside of words, a suffix at their ends: what is refused; random models are in test_random_configurations.py."""

import pytest
from tables import refuses

from ubpe_numba.errors import ModelFormatError
from ubpe_numba.formats.character_bytes import with_marks, without_marks


def test_what_is_refused() -> None:
    with pytest.raises(ModelFormatError, match="vocab: 'b': a symbol at some places of a word only"):
        with_marks({"a": 0, "a</w>": 1, "b": 2}, ([], []), "", "</w>", ("<", ">"))
    with pytest.raises(ModelFormatError, match="without its prefix or suffix it is another token"):
        with_marks({"a</w>": 0, "a>": 1}, ([], []), "", "</w>", ("<", ">"))
    refuses(ValueError, "the tokens 0 and 1 would both be 'a</w>'", without_marks, {"a$": 0, "a</w>": 1}, ([], []), ("", "$"))
