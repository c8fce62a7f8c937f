"""Positions in text counted in characters or in bytes, whatever a model counts.

text        "né"        characters  0 1   2        bytes  0 1     3
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.coding.token_places import Places
from ubpe_numba.documents.read import Documents
from ubpe_numba.errors import quoted
from ubpe_numba.runtime.arrays import offsets_of
from ubpe_numba.vocabulary.model import Model

UNITS = ("characters", "bytes")


def check_units(units: object, model: Model) -> None:
    """ValueError for other units, or for documents that are no text."""
    if units not in UNITS:
        raise ValueError(f"units: expected {' or '.join(map(repr, UNITS))}, got {quoted(units)}")
    kind = model.alphabet.kind
    if kind != "str" and model.segmenter.encoding is None:
        raise ValueError(
            f"units: documents are {'bytes' if kind == 'bytes' else 'integers'}, whose positions are counted in symbols"
        )


def in_units(places: Places, offsets: np.ndarray, given: Documents, units: str) -> Places:
    """Places in documents, counted in `units`; `offsets` int64[d + 1] of the tokens of each document. O(symbols).

    A token that holds a part of a character covers the whole of it. Of bytes that are no UTF-8 those count that do not continue
    a character.

    >>> text = Documents(np.frombuffer("né".encode(), np.uint8), np.array([0, 3]), "bytes")
    >>> in_units(Places(np.array([0, 1, 2]), np.array([1, 2, 3])), np.array([0, 3]), text, "characters")
    Places(starts=array([0, 1, 1]), ends=array([1, 2, 2]))
    """
    if units == ("bytes" if given.kind == "bytes" else "characters"):
        return places
    begins = given.offsets[:-1] - given.offsets[0]
    shift = np.repeat(begins, np.diff(offsets))
    values = given.values[given.offsets[0] : given.offsets[-1]]
    if units == "bytes":
        widths = 1 + (values >= 0x80).astype(np.int64) + (values >= 0x800) + (values >= 0x10000)
        before = offsets_of(widths)  # bytes before each character, and before the end
        base = np.repeat(before[begins], np.diff(offsets))
        return Places(before[places.starts + shift] - base, before[places.ends + shift] - base)
    begun = offsets_of((values & 0xC0) != 0x80)  # characters that begin before each byte, and before the end
    base = np.repeat(begun[begins], np.diff(offsets))
    # the character of the first byte is the last that has begun with it; that of the last byte likewise, and one more
    starts = np.maximum(begun[np.minimum(places.starts + shift + 1, values.size)] - base - 1, 0)
    return Places(starts, begun[places.ends + shift] - base)
