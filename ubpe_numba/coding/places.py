"""Positions of tokens in the documents that they were made of: from the first of their symbols to after the last.

document  a b x a b,  x left out       tokens  ab  ab
                                       starts  0   3
                                       ends    2   5
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import Documents
from ubpe_numba.errors import quoted
from ubpe_numba.runtime.arrays import offsets_of
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.model import Model

UNITS = ("characters", "bytes")  # what positions in text may count, whatever a model counts


class Places(NamedTuple):
    """Where each of n tokens begins and ends, int64[n] each: positions in the documents, or in all of them together."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    def of_sources(self, sources: NDArray[np.int64]) -> Places:
        """The places of ids, each made of the tokens from `sources` int64[k], ascending, up to those of the next.

        >>> Places(np.array([0, 1, 3]), np.array([1, 3, 4])).of_sources(np.array([0, 1]))
        Places(starts=array([0, 1]), ends=array([1, 4]))
        """
        last = np.append(sources[1:], self.starts.size) - 1
        return Places(self.starts[sources], self.ends[np.maximum(sources, last)])

    def insert(self, at: NDArray[np.int64], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Places:
        """With other tokens before those of the indices `at`."""
        return Places(np.insert(self.starts, at, starts), np.insert(self.ends, at, ends))

    def moved(self, by: NDArray[np.int64]) -> Places:
        """All positions with `by` int64[n] added."""
        return Places(self.starts + by, self.ends + by)


def places_of_tokens(encoded: Ragged, given: Documents, lengths: np.ndarray, alphabet: Alphabet | None) -> Places:
    """Positions of tokens, counted from the beginning of their document; `lengths` int64[V], symbols of each id.

    `alphabet`: the one whose unknown symbols were left out; None if all symbols are in tokens.

    >>> given = Documents(np.array([7, 8, 9, 7]), np.array([0, 3, 4]), "int")
    >>> places_of_tokens(Ragged.from_lists([[0, 1], [2]]), given, np.array([2, 1, 1]), None)
    Places(starts=array([0, 2, 0]), ends=array([2, 3, 1]))
    """
    sizes = lengths[encoded.values].astype(np.int64)
    ends = np.cumsum(sizes)
    starts = ends - sizes
    offsets = given.offsets - given.offsets[0]
    if alphabet is not None:
        kept = np.flatnonzero(alphabet.lookup(given.values[given.offsets[0] : given.offsets[-1]]) >= 0)
        starts, ends = kept[starts], kept[ends - 1] + 1
    places = Places(starts, ends)
    return places if len(encoded) < 2 else places.moved(-np.repeat(offsets[:-1], encoded.lengths))


def traced_places(sizes: np.ndarray, origins: np.ndarray, given: Documents, by_characters: bool) -> Places:
    """Positions of tokens in all documents, one after the other, whose symbols come from the places `origins`.

    `sizes` int64[n]: symbols of each token. `by_characters`: the bytes of a character all come from its first byte, as where
    text is rewritten, and a token ends after the whole character.

    >>> text = Documents(np.frombuffer("éa".encode(), np.uint8), np.array([0, 3]), "bytes")
    >>> traced_places(np.array([1, 1]), np.array([0, 2]), text, True)
    Places(starts=array([0, 2]), ends=array([2, 3]))
    """
    ends = np.cumsum(sizes)
    first, last = origins[ends - sizes], origins[ends - 1]
    if not by_characters or given.values.dtype != np.uint8:
        return Places(first, last + 1)
    text = given.values[given.offsets[0] : given.offsets[-1]]
    lead = text[last]
    longest = 1 + (lead >= 0xC0).astype(np.int64) + (lead >= 0xE0) + (lead >= 0xF0)
    stops = last + 1
    for n in range(1, 4):
        inside = (longest > n) & (stops == last + n) & (stops < text.size)
        stops[inside] += (text[stops[inside]] & 0xC0) == 0x80
    return Places(first, stops)


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
