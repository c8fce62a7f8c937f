"""Unknown symbols: the argument `unknown`, and the rule of imported models for characters.

The rule is for characters without a token.

The argument::

    "raise", "skip"     themselves
    "nearest"           itself: of an alphabet of integers the nearest one, of two the lower
    3, "N", b"N"        the id of this symbol of the alphabet
    "[UNK]", (-1, -1)   a special token, which replaces every unknown symbol: its index and itself

The rule: a model whose symbols are characters is held over bytes, and a character that is a token is made of
its bytes before anything else is merged. Other characters remain as bytes, or as tokens of several bytes that
are parts of a character. These do not have ids: they become the ids of their bytes, or their character
becomes one id::

    text "a语", the character 语 = E8 AF AD is not a token, E8 AF is a part of others
    tokens          a    E8AF    AD
    bytes           a    <0xE8> <0xAF>   <0xAD>
    or              a    <unk>
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ubpe_numba.documents.flat import Named
from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.runtime.arrays import describe, offsets_of
from ubpe_numba.runtime.messages import warn
from ubpe_numba.runtime.schema import Field, Schema, integers_of
from ubpe_numba.vocabulary.alphabet import Alphabet, shown_symbol

if TYPE_CHECKING:
    from ubpe_numba.vocabulary.reserved import Reserved

__all__ = [
    "Unknown", "UnknownChoice", "argument_from_state", "argument_state", "choice_of", "hides_symbols",
    "symbol_of",
    "with_ids",
]  # fmt: skip

_EXPECTED = {
    "int": "'raise', 'skip', 'nearest', an integer of the alphabet or a special token",
    "name": "'raise', 'skip', a symbol of the alphabet or a special token",
    "str": "'raise', 'skip', a character of the alphabet or a special token",
    "bytes": "'raise', 'skip', a byte of the alphabet or a special token",
}
#: ``"raise"``, ``"skip"``, ``"nearest"``, an id of the alphabet, or a special token: its index among the
#: words, and the word.
UnknownChoice = str | int | tuple[int, Any]


def choice_of(unknown: Any, alphabet: Alphabet, special: Reserved | None) -> UnknownChoice:
    """The argument `unknown`, resolved for an alphabet and special tokens.

    TypeError unless it is a word or a symbol, ValueError for a symbol that is not in the alphabet, and for a
    word other than a special token.

    >>> from ubpe_numba.vocabulary.reserved import Reserved
    >>> special = Reserved.from_user(["<s>", "[UNK]"], None, "str", 4)
    >>> [choice_of(said, Alphabet.from_user("ACGN"), special) for said in ("skip", "N", "[UNK]")]
    ['skip', 3, (1, '[UNK]')]
    >>> choice_of(-5, Alphabet.from_user([-7, -5, 0]), None)
    1
    """
    if isinstance(unknown, str) and unknown in ("raise", "skip"):
        if unknown == "skip" and alphabet.names is not None and unknown in alphabet.names:
            warn("unknown: 'skip' leaves unknown symbols out. The alphabet's symbol 'skip' is not used.")
        return unknown
    kind = "name" if alphabet.names is not None else alphabet.kind
    if isinstance(unknown, str) and unknown == "nearest" and kind == "int":
        return unknown
    if isinstance(alphabet.kind, Named) and isinstance(unknown, Hashable) and unknown in alphabet.kind.number:
        return alphabet.kind.number[unknown]
    expected = _EXPECTED[kind]
    word = _word(unknown)
    is_symbol = isinstance(word, int) and not isinstance(word, bool)
    if not isinstance(word, (str, {"int": tuple, "bytes": bytes}.get(alphabet.kind, str))) and not is_symbol:
        raise TypeError(f"unknown: expected {expected}, got {describe(unknown)}")
    symbol = (
        symbol_of((word,) if is_symbol else word, alphabet) if is_symbol or alphabet.kind != "int" else None
    )
    if symbol is not None and symbol >= 0:
        return symbol
    if is_symbol:
        raise ValueError(f"unknown: expected {expected}, got {quoted(word)}, which is not in the alphabet")
    index = None if special is None else special.number.get(word)
    if special is None or index is None or special.always[index]:
        way = f"; Preprocessing(special_tokens=[{quoted(word)}]) makes it one" if symbol is None else ""
        what = (
            "is not a special token" if symbol is None else "is neither in the alphabet nor a special token"
        )
        raise ValueError(f"unknown: expected {expected}, got {quoted(word)}, which {what}{way}")
    return index, special.words[index]


def _word(unknown: Any) -> Any:
    """A word in the form of special tokens: `bytes`, tuples of `int`; other tuples are None.

    An integer as `int`.
    """
    if isinstance(unknown, bytearray):
        return bytes(unknown)
    if isinstance(unknown, np.integer):
        return int(unknown)
    if not isinstance(unknown, tuple):
        return unknown
    are_integers = all(isinstance(i, (int, np.integer)) and not isinstance(i, bool) for i in unknown)
    return tuple(map(int, unknown)) if are_integers else None


def symbol_of(word: Any, alphabet: Alphabet) -> int | None:
    """The id of a word that is a single character, byte or integer, -1 if it has none.

    None for other words.

    >>> [symbol_of(word, Alphabet.from_user("ACGN")) for word in ("N", "X", "NN")]
    [3, -1, None]
    """
    kind = alphabet.kind
    types: Any = {"int": tuple, "bytes": (bytes, str, tuple), "str": str}[kind]
    if (
        not isinstance(word, types)
        or len(word) != 1
        or (kind == "bytes" and isinstance(word, str) and not word.isascii())
    ):
        return None
    symbol = ord(word) if isinstance(word, (str, bytes)) else int(word[0])
    if not -(2**63) <= symbol < 2**63:
        return -1
    return int(alphabet.lookup(np.array([symbol], np.int64))[0])


def hides_symbols(unknown: Any, alphabet: Alphabet) -> bool:
    """Whether documents may hold symbols that are lost in their encoding.

    >>> hides_symbols("skip", Alphabet.from_user("ab")), hides_symbols("skip", Alphabet.dense(256, "bytes"))
    (True, False)
    """
    return not (isinstance(unknown, str) and unknown == "raise") and not (
        alphabet.kind == "bytes" and alphabet.size == 256
    )


def argument_state(unknown: Any) -> Any:
    """The argument `unknown` for a model file.

    A word, a list of integers, ``{"symbol": 78}``, ``{"bytes": [78]}``, or a name.
    """
    if isinstance(unknown, tuple) and _word(unknown) is None:
        from ubpe_numba.documents.words import to_state  # here only: few symbols have names

        return to_state([unknown])[0]
    unknown = _word(unknown)
    if isinstance(unknown, bytes):
        return {"bytes": list(unknown)}
    if isinstance(unknown, tuple):
        return list(unknown)
    return {"symbol": unknown} if isinstance(unknown, int) else unknown


def argument_from_state(state: Any, alphabet: Alphabet) -> Any:
    """The inverse of `argument_state`, also for files with an id of the alphabet.

    ModelFormatError for anything else.

    >>> [argument_from_state(state, Alphabet.from_user([5, 7])) for state in ({"bytes": [78]}, [7, 7], {"symbol": 5}, 1)]
    [b'N', (7, 7), 5, 7]
    """
    if isinstance(state, str):
        return state
    if type(state) is int and 0 <= state < alphabet.size:
        return shown_symbol(alphabet.symbols[state], alphabet.kind)
    if isinstance(state, dict) and len(state) == 1 and type(state.get("symbol")) is int:
        return state["symbol"]
    if isinstance(state, dict) and "tuple" in state:
        from ubpe_numba.documents.words import from_state  # here only, as above

        return from_state([state])[0]
    numbers = state.get("bytes") if isinstance(state, dict) and len(state) == 1 else state
    if isinstance(numbers, list) and all(type(i) is int for i in numbers):
        if numbers is state:
            return tuple(numbers)
        if all(0 <= i < 256 for i in numbers):
            return bytes(numbers)
    raise ModelFormatError("unknown: expected a word, a symbol, bytes or a list of integers")


class Unknown(NamedTuple):
    """The ids of bytes, or the id of an unknown character.

    `byte_ids` int32[256], None if there are none, -1 for bytes that are characters of the vocabulary. `id`:
    that of a character, used without `byte_ids`, which a token may have itself; `fuse`: several characters
    side by side, in one segment, are one.
    """

    byte_ids: np.ndarray | None
    id: int = -1
    fuse: bool = False

    def state(self) -> dict[str, Any]:
        """The fields for a model file."""
        return {
            "bytes": None if self.byte_ids is None else self.byte_ids.tolist(),
            "id": self.id,
            "fuse": self.fuse,
        }

    @classmethod
    def from_state(cls, state: Any, most: int) -> Unknown:
        """The inverse of `state`, with ids below `most`; ModelFormatError for anything else."""
        fields = Schema(
            "unknown",
            {
                "bytes": Field(
                    f"256 ids below {most}",
                    lambda ids: ids is None or (ids.shape == (256,) and -1 <= ids.min() <= ids.max() < most),
                    lambda ids, name: None if ids is None else integers_of(ids, name),
                ),
                "id": Field(f"an id below {most}", lambda i: type(i) is int and -1 <= i < most),
                "fuse": Field("true or false", lambda fuse: type(fuse) is bool),
            },
        ).read(state)
        if fields["bytes"] is None and fields["id"] < 0:
            raise ModelFormatError("unknown: expected ids of bytes, or an id")
        return cls(
            None if fields["bytes"] is None else fields["bytes"].astype(np.int32),
            fields["id"],
            fields["fuse"],
        )


def with_ids(
    unknown: Unknown,
    tokens: np.ndarray,
    token_ids: np.ndarray,
    arena: np.ndarray,
    offsets: np.ndarray,
    begins: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray]:
    r"""The ids of tokens, with replacements for those of -1 in `token_ids`, and their tokens.

    The second result is the token that each id comes from.

    tokens int32[n]; token_ids int32[V]; arena and offsets, the bytes of all V tokens; begins bool[n], which
    tokens begin a segment, None if all of them are in one. O(n).

    >>> ids, arena, offsets = np.array([7, 8, -1, -1]), np.frombuffer(b"ab\xe8\xaf\xad", np.uint8), np.array([0, 1, 2, 4, 5])
    >>> rule = Unknown(np.arange(100, 356, dtype=np.int32))
    >>> with_ids(rule, np.array([0, 2, 3, 1]), ids, arena, offsets, None)[0].tolist()
    [7, 332, 275, 273, 8]
    >>> with_ids(Unknown(None, 5), np.array([0, 2, 3, 1]), ids, arena, offsets, None)
    (array([7, 5, 8]), array([0, 1, 3]))
    """
    ids = token_ids[tokens]
    bad = ids < 0
    if unknown.byte_ids is not None:
        counts = np.where(bad, (offsets[1:] - offsets[:-1])[tokens], 1)
        sources = np.repeat(np.arange(tokens.size), counts)
        ids = ids[sources]
        within = np.arange(sources.size) - np.repeat(offsets_of(counts)[:-1], counts)
        at = np.flatnonzero(ids < 0)
        ids[at] = unknown.byte_ids[arena[offsets[tokens[sources[at]]] + within[at]]]
        return ids, sources
    bad |= ids == unknown.id
    first = arena[offsets[tokens]]
    # the first token of a character, and no mark next to it
    keep = ~bad | ((first & 0xC0 != 0x80) & (first < 0xFE))
    if unknown.fuse:
        after = np.zeros(tokens.size, bool)
        after[1:] = bad[:-1]
        if begins is not None:
            after &= ~begins
        keep = ~bad | ~after
    sources = np.flatnonzero(keep)
    return np.where(bad, unknown.id, ids)[sources], sources
