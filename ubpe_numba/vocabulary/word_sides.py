"""What stands beside a special token or known word: white space, or a letter that makes it part of a longer word."""

from __future__ import annotations

import re
from importlib import import_module

import numpy as np

from ubpe_numba.documents.read import text_of
from ubpe_numba.text.characters import WHITE_SPACE
from ubpe_numba.text.patterns import VERSION_OF_OTHERS
from ubpe_numba.text.step_patterns import compiled

_ENCODED = [space.encode() for space in WHITE_SPACE]
_SPACES = re.compile(b"(?:%b)*" % b"|".join(map(re.escape, _ENCODED)))
_SPACES_BACKWARDS = re.compile(b"(?:%b)*" % b"|".join(re.escape(space[::-1]) for space in _ENCODED))
_PIECE, _LARGEST_PIECE = 64, 1 << 12  # symbols that are looked at together for white space; at least three


def readable(values: np.ndarray) -> str:
    r"""A few symbols as text, without parts of characters.

    >>> readable(np.frombuffer(b"\xa9 a\xc3", np.uint8))
    ' a'
    """
    return values.tobytes().decode("utf-8", "ignore") if values.dtype == np.uint8 else text_of(values)


def is_of_word(character: str) -> bool:
    """Whether a character, or none, is part of a word: by the version of Unicode that the package tokenizers has.

    >>> is_of_word("a"), is_of_word("-"), is_of_word("")
    (True, False, False)
    """
    if not character:
        return False
    if not character.isascii():
        character = import_module("ubpe_numba.text.unicode_classes").as_of(VERSION_OF_OTHERS, character)
    return compiled(r"\w", "single_word").match(character) is not None


def n_spaces(values: np.ndarray, at_end: bool) -> int:
    r"""How many symbols of white space there are at the beginning of a text, or at its end. O(white space): seen in pieces.

    >>> text = np.frombuffer(b"a \n", np.uint8)
    >>> n_spaces(text, True), n_spaces(text, False)
    (2, 0)
    """
    n, size = 0, _PIECE
    while True:
        piece = values[max(values.size - n - size, 0) : values.size - n] if at_end else values[n : n + size]
        if values.dtype != np.uint8:
            text = text_of(piece)
            here = len(text) - len(text.rstrip(WHITE_SPACE) if at_end else text.lstrip(WHITE_SPACE))
        elif at_end:
            here = len(_SPACES_BACKWARDS.match(piece.tobytes()[::-1])[0])  # type: ignore[index]  # matches nothing, too
        else:
            here = len(_SPACES.match(piece.tobytes())[0])  # type: ignore[index]
        n, size = n + here, min(2 * size, _LARGEST_PIECE)
        if here == 0 or here + 2 < piece.size:  # of up to two bytes a character may go on in the next piece
            return n
