"""What becomes of characters that are no tokens, in tokenizers from elsewhere whose symbols are characters.

Such a model is held over bytes: a character that is a token is made of its bytes before anything else is merged. What is left of
one that is none are bytes, and tokens of several bytes that are parts of a character. These have no ids of their own; they become
the ids of their bytes, or the characters that they are parts of become one id::

    text "a语", the character 语 = E8 AF AD is no token, E8 AF is a part of others
    tokens          a    E8AF    AD
    bytes           a    <0xE8> <0xAF>   <0xAD>
    or              a    <unk>
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.errors import ModelFormatError
from ubpe_numba.runtime.arrays import offsets_of
from ubpe_numba.runtime.schema import check_fields, integers_of


class Unknown(NamedTuple):
    """The ids of bytes, or the id of an unknown character.

    `byte_ids` int32[256], None if there are none, -1 for bytes that are characters of the vocabulary. `id`: that of a character,
    used without `byte_ids`, which a token may have itself; `fuse`: several characters side by side, in one segment, are one.
    """

    byte_ids: np.ndarray | None
    id: int = -1
    fuse: bool = False

    def state(self) -> dict[str, Any]:
        """What a model file holds of it."""
        return {"bytes": None if self.byte_ids is None else self.byte_ids.tolist(), "id": self.id, "fuse": self.fuse}

    @classmethod
    def from_state(cls, state: Any, most: int) -> Unknown:
        """Make it again, with ids below `most`. ModelFormatError if it is not valid."""
        if not isinstance(state, dict):
            raise ModelFormatError("unknown: expected an object")
        check_fields(state, ("bytes", "id", "fuse"), "unknown")
        ids, one, fuse = state["bytes"], state["id"], state["fuse"]
        if type(one) is not int or not -1 <= one < most or type(fuse) is not bool:
            raise ModelFormatError(f"unknown: expected an id below {most}, and whether unknown characters are fused")
        if ids is None:
            if one < 0:
                raise ModelFormatError("unknown: expected ids of bytes, or an id")
            return cls(None, one, fuse)
        found = integers_of(ids, "unknown: bytes")
        if found.shape != (256,) or found.min() < -1 or found.max() >= most:
            raise ModelFormatError(f"unknown: bytes: expected 256 ids below {most}")
        return cls(found.astype(np.int32), one, fuse)


class Replacement(NamedTuple):
    """Ids without tokens that have none, and of each the token that it comes from; arrays of equal length."""

    ids: np.ndarray
    sources: np.ndarray


def with_ids(
    unknown: Unknown, tokens: np.ndarray, token_ids: np.ndarray, arena: np.ndarray, offsets: np.ndarray, begins: np.ndarray | None
) -> Replacement:
    r"""The ids of tokens, where those whose entry in `token_ids` is -1 are replaced.

    tokens int32[n]; token_ids int32[V]; arena and offsets, the bytes of all V tokens; begins bool[n], which tokens begin a
    segment, None if all of them are in one. O(n).

    >>> ids, arena, offsets = np.array([7, 8, -1, -1]), np.frombuffer(b"ab\xe8\xaf\xad", np.uint8), np.array([0, 1, 2, 4, 5])
    >>> rule = Unknown(np.arange(100, 356, dtype=np.int32))
    >>> with_ids(rule, np.array([0, 2, 3, 1]), ids, arena, offsets, None).ids.tolist()
    [7, 332, 275, 273, 8]
    >>> with_ids(Unknown(None, 5), np.array([0, 2, 3, 1]), ids, arena, offsets, None)
    Replacement(ids=array([7, 5, 8]), sources=array([0, 1, 3]))
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
        return Replacement(ids, sources)
    bad |= ids == unknown.id
    first = arena[offsets[tokens]]
    keep = ~bad | ((first & 0xC0 != 0x80) & (first < 0xFE))  # the first token of a character, and no mark beside one
    if unknown.fuse:
        after = np.zeros(tokens.size, bool)
        after[1:] = bad[:-1]
        if begins is not None:
            after &= ~begins
        keep = ~bad | ~after
    sources = np.flatnonzero(keep)
    return Replacement(np.where(bad, unknown.id, ids)[sources], sources)
