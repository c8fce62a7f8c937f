"""Positions of tokens in their documents: from their first symbol to after the last.

document  a b x a b,  x left out       tokens  ab  ab
                                       starts  0   3
                                       ends    2   5
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import Documents
from ubpe_numba.runtime.arrays import offsets_of
from ubpe_numba.vocabulary.alphabet import Alphabet

UNITS = ("characters", "bytes")  # what positions in text may count, whatever a model counts


#: Where each of n tokens begins and ends, int64[2, n]: positions in the documents, or in all of them
#: together.
Places = NDArray[np.int64]


def places_of_tokens(
    encoded: Ragged, given: Documents, lengths: np.ndarray, alphabet: Alphabet | None
) -> Places:
    """Positions of tokens in their document; `lengths` int64[V] are the symbols per id.

    `alphabet`: its unknown symbols were left out; None if tokens cover all symbols.

    >>> given = Documents(np.array([7, 8, 9, 7]), np.array([0, 3, 4]), "int")
    >>> places_of_tokens(Ragged.from_lists([[0, 1], [2]]), given, np.array([2, 1, 1]), None)
    array([[0, 2, 0],
           [2, 3, 1]])
    """
    sizes = lengths[encoded.values].astype(np.int64)
    ends = np.cumsum(sizes)
    starts = ends - sizes
    offsets = given.offsets - given.offsets[0]
    if alphabet is not None:
        known = np.flatnonzero(alphabet.lookup(given.values[given.offsets[0] : given.offsets[-1]]) >= 0)
        starts, ends = known[starts], known[ends - 1] + 1
    return np.asarray(np.stack([starts, ends]) - np.repeat(offsets[:-1], encoded.lengths))


def traced_places(sizes: np.ndarray, origins: np.ndarray, given: Documents, by_characters: bool) -> Places:
    """Positions of the tokens of all documents whose symbols come from the places `origins`.

    `sizes` int64[n] are the symbols per token. With `by_characters`, all bytes of a character come from its
    first byte, as in rewritten text, and a token ends after the whole character.

    >>> text = Documents(np.frombuffer("éa".encode(), np.uint8), np.array([0, 3]), "bytes")
    >>> traced_places(np.array([1, 1]), np.array([0, 2]), text, True)
    array([[0, 2],
           [2, 3]])
    """
    ends = np.cumsum(sizes)
    first, last = origins[ends - sizes], origins[ends - 1]
    if not by_characters or given.values.dtype != np.uint8:
        return np.stack([first, last + 1])
    text = given.values[given.offsets[0] : given.offsets[-1]]
    lead = text[last]
    longest = 1 + (lead >= 0xC0).astype(np.int64) + (lead >= 0xE0) + (lead >= 0xF0)
    stops = last + 1
    for n in range(1, 4):
        inside = (longest > n) & (stops == last + n) & (stops < text.size)
        stops[inside] += (text[stops[inside]] & 0xC0) == 0x80
    return np.stack([first, stops])


def in_units(places: Places, offsets: np.ndarray, given: Documents, units: str) -> Places:
    """Places in documents, counted in `units`; `offsets` int64[d + 1] of the tokens of each document.

    O(symbols).

    A token with a part of a character covers the whole of it. In bytes that are not valid UTF-8, each byte
    that begins a character counts.

    >>> text = Documents(np.frombuffer("né".encode(), np.uint8), np.array([0, 3]), "bytes")
    >>> in_units(np.array([[0, 1, 2], [1, 2, 3]]), np.array([0, 3]), text, "characters")
    array([[0, 1, 1],
           [1, 2, 2]])
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
        return np.asarray(before[places + shift] - base)
    begun = offsets_of((values & 0xC0) != 0x80)  # characters that begin before each byte, and before the end
    base = np.repeat(begun[begins], np.diff(offsets))
    # the character of the first byte is the last that has begun by then; the character after that of the last
    # byte is the end
    starts = np.maximum(begun[np.minimum(places[0] + shift + 1, values.size)] - base - 1, 0)
    return np.stack([starts, begun[places[1] + shift] - base])
