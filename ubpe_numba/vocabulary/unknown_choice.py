"""The argument `unknown`: what becomes of symbols outside the alphabet, as a user says it and as encoders take it.

"raise", "skip"     themselves
3                   the id 3 of the alphabet
"N", b"N"           the id of this symbol, of an alphabet of characters or bytes
"[UNK]", (-1, -1)   a special token, which stands for every unknown symbol: a `Stand`
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.runtime.arrays import describe
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.special_tokens import SpecialTokens

__all__ = ["Stand", "UnknownChoice", "choice_of", "from_state", "hides_symbols", "state_of", "symbol_of"]


class Stand(NamedTuple):
    """The special token that stands for every unknown symbol: its index among the words, and the word."""

    number: int
    word: Any


#: ``"raise"``, ``"skip"``, an id of the alphabet, or a special token.
UnknownChoice = str | int | Stand


def choice_of(unknown: Any, alphabet: Alphabet, special: SpecialTokens | None) -> UnknownChoice:
    """What the argument `unknown` means for an alphabet and special tokens.

    TypeError for what is neither a word nor an id, ValueError for a symbol that is not in the alphabet, a word that is no special
    token, or an id out of range.

    >>> from ubpe_numba.vocabulary.special_tokens import SpecialTokens
    >>> special = SpecialTokens.from_user(["<s>", "[UNK]"], None, "str", 4)
    >>> [choice_of(said, Alphabet.from_user("ACGN"), special) for said in ("skip", 2, "N", "[UNK]")]
    ['skip', 2, 3, Stand(number=1, word='[UNK]')]
    """
    if isinstance(unknown, str) and unknown in ("raise", "skip"):
        return unknown
    if isinstance(unknown, (int, np.integer)) and not isinstance(unknown, bool):
        if not 0 <= unknown < alphabet.size:
            raise ValueError(f"unknown: expected 'raise', 'skip' or 0..{alphabet.size - 1}, got {quoted(unknown)}")
        return int(unknown)
    word = _word(unknown)
    if not isinstance(word, (str, {"int": tuple, "bytes": bytes}.get(alphabet.kind, str))):
        raise TypeError(f"unknown: expected 'raise', 'skip' or an id, got {describe(unknown)}")
    symbol = _symbol(word, alphabet.kind)
    if alphabet.kind != "int" and (found := symbol_of(word, alphabet)) is not None:
        return found
    index = None if special is None else special.number.get(word)
    if special is None or index is None or special.always[index]:
        what = (
            "is not a special token"
            if symbol is None or alphabet.kind == "int"
            else "is neither in the alphabet nor a special token"
        )
        raise ValueError(f"unknown: expected 'raise', 'skip' or 0..{alphabet.size - 1}, got {quoted(word)}, which {what}")
    return Stand(index, special.words[index])


def _word(unknown: Any) -> Any:
    """What a user gives, as special tokens hold words: `bytes`, tuples of `int`; other tuples are None."""
    if isinstance(unknown, bytearray):
        return bytes(unknown)
    if not isinstance(unknown, tuple):
        return unknown
    are_integers = all(isinstance(i, (int, np.integer)) and not isinstance(i, bool) for i in unknown)
    return tuple(map(int, unknown)) if are_integers else None


def symbol_of(word: Any, alphabet: Alphabet) -> int | None:
    """The id of the symbol that a word of one character, byte or integer is; None for other words.

    >>> [symbol_of(word, Alphabet.from_user("ACGN")) for word in ("N", "X", "NN")]
    [3, None, None]
    """
    if (symbol := _symbol(word, alphabet.kind)) is None:
        return None
    found = int(alphabet.lookup(np.array([symbol], np.int64))[0])
    return found if found >= 0 else None


def _symbol(word: Any, kind: str) -> int | None:
    """The symbol that a word of one character, byte or integer is, None for other words."""
    if kind == "int":
        return int(word[0]) if isinstance(word, tuple) and len(word) == 1 else None
    if isinstance(word, bytes):
        return word[0] if kind == "bytes" and len(word) == 1 else None
    if isinstance(word, str) and len(word) == 1 and (kind == "str" or (kind == "bytes" and word.isascii())):
        return ord(word)
    return None


def hides_symbols(unknown: Any, alphabet: Alphabet) -> bool:
    """Whether documents may hold symbols that their encoding does not tell.

    >>> hides_symbols("skip", Alphabet.from_user("ab")), hides_symbols("skip", Alphabet.dense(256, "bytes"))
    (True, False)
    """
    return not (isinstance(unknown, str) and unknown == "raise") and not (alphabet.kind == "bytes" and alphabet.size == 256)


def state_of(unknown: Any) -> Any:
    """The argument `unknown` for a model file.

    >>> [state_of(said) for said in ("[UNK]", 3, b"N", (7, 7))]
    ['[UNK]', 3, {'bytes': [78]}, [7, 7]]
    """
    unknown = _word(unknown)
    if isinstance(unknown, bytes):
        return {"bytes": list(unknown)}
    if isinstance(unknown, tuple):
        return list(unknown)
    return int(unknown) if isinstance(unknown, np.integer) else unknown


def from_state(state: Any) -> Any:
    """The inverse of `state_of`. ModelFormatError for what it does not make.

    >>> from_state({"bytes": [78]}), from_state([7, 7])
    (b'N', (7, 7))
    """
    if isinstance(state, str) or type(state) is int:
        return state
    numbers = state.get("bytes") if isinstance(state, dict) and len(state) == 1 else state
    if isinstance(numbers, list) and all(type(i) is int for i in numbers):
        if numbers is state:
            return tuple(numbers)
        if all(0 <= i < 256 for i in numbers):
            return bytes(numbers)
    raise ModelFormatError("unknown: expected a word, an id, bytes or a list of integers")
