"""Documents without their special tokens and known words: the stretches that these leave, in one flat array.

An array is divided at the places of words. <s> is a special token::

    documents  "ab<s>c"  "<s>"  "de"                            begins  0 6 9
    values     "abcde",  cuts  0 2 3 5: "ab" "c" "de"           first   0 2 2 3: none of the second document
    words      0 0       at  2 6                                before  1 2, owners  0 1, sizes  3 3
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ubpe_numba.documents.read import Documents
from ubpe_numba.errors import SpecialTokenError
from ubpe_numba.runtime.arrays import distinct, frozen, offsets_of, places_of
from ubpe_numba.vocabulary.reserved import BREAK, Reserved, SpecialChoice

__all__ = ["Stretches", "traced", "without_late_words", "without_symbols", "without_words"]

_NONE = np.zeros(0, np.int64)


class Stretches(NamedTuple):
    """Documents without their words, as shown above.

    `values` and `cuts` int64[s + 1]: the rest; stretches `first[d] : first[d + 1]` are those of document d.
    `words` int64[k]: the words taken out; `at` int64[k]: where each was in the documents, `before` int64[k]:
    before which stretch, `owners` int64[k]: in which document; `sizes` int64[k]: of how many symbols.
    `begins` int64[d]: the starts of the documents.

    If text is rewritten, `values` are the encoded values. `segments` int64 are the splits of these, None if
    not known yet. `origins` int64 is the place in the documents of each value, None if not requested.
    """

    values: np.ndarray
    cuts: np.ndarray
    first: np.ndarray
    words: np.ndarray
    at: np.ndarray
    before: np.ndarray
    owners: np.ndarray
    sizes: np.ndarray
    begins: np.ndarray
    segments: np.ndarray | None = None
    origins: np.ndarray | None = None


def without_words(
    reserved: Reserved | None, documents: Documents, chosen: SpecialChoice | None, cut_at_breaks: bool = False
) -> Stretches:
    """Documents without special tokens and known words, split at break tokens if requested.

    Known words are always found, special tokens if `chosen` includes them; None includes all and forbids
    none. Words of normalized text stay. SpecialTokenError for a forbidden special token. O(symbols).

    >>> reserved = Reserved.from_user(["<s>"], None, "str", 5)
    >>> text = np.array([ord(c) for c in "ab<s>c<s>de"], np.uint32)
    >>> found = without_words(reserved, Documents(text, np.array([0, 6, 9, 11]), "str"), None)
    >>> found.cuts.tolist(), found.first.tolist(), found.before.tolist()
    ([0, 2, 3, 5], [0, 2, 2, 3], [1, 2])
    """
    begin, end = documents.offsets[[0, -1]].tolist()
    values, offsets, kind = frozen(documents.values[begin:end]), documents.offsets - begin, documents.kind
    words = at = left = owners = sizes = _NONE
    begins = offsets[:-1]
    if reserved is not None and reserved.words:
        active, forbidden = reserved.active(chosen)
        text = Documents(values, offsets, kind)
        # no array of all words for a short text
        early = active & ~reserved.late if reserved.late.any() else active
        at, words, sizes = reserved.within(text, *reserved.find(text, early))
        if forbidden[words].any():
            i = int(np.argmax(forbidden[words]))
            document = int(np.searchsorted(offsets, at[i], side="right")) - 1
            raise SpecialTokenError(document, int(at[i] - offsets[document]), reserved.words[words[i]])
        if at.size:
            owners = np.searchsorted(offsets, at, side="right") - 1
            own = _own(at, sizes)
            taken = offsets_of(own)
            left = at - taken[:-1]
            values = np.delete(values, places_of(at, own))
            offsets = offsets - taken[np.searchsorted(at, offsets)]
    cuts = distinct(offsets, left)
    if reserved is not None and reserved.has_symbols and cut_at_breaks:
        cuts = reserved.cuts(values, cuts, BREAK)
    return Stretches(
        values,
        cuts,
        np.searchsorted(cuts, offsets),
        words,
        at,
        np.searchsorted(cuts, left),
        owners,
        sizes,
        begins,
    )


def without_late_words(
    reserved: Reserved, change: Callable[[str], str] | None, pieces: Stretches, cuts: np.ndarray,
    origins: np.ndarray | None, chosen: SpecialChoice | None,
) -> tuple[Stretches, np.ndarray, np.ndarray | None]:  # fmt: skip
    """Stretches without the words of normalized text, `cuts` of the rest, and origins.

    The values of the stretches are normalized, as `change` does a word; `cuts` int64[s + 1] are theirs.
    Between cuts there may be nothing; the fields of the stretches are places among them. `chosen` and errors
    as for `without_words`. O(symbols).
    """
    changed, index = reserved.normalized(change)
    active, forbidden = reserved.active(chosen)
    text = Documents(pieces.values, cuts, changed.kind)
    at, words, sizes = changed.within(text, *changed.find(text, active[index]))
    words = index[words]
    stretch = np.searchsorted(cuts, at, side="right") - 1
    owners = np.searchsorted(pieces.first, stretch, side="right") - 1
    if forbidden[words].any():
        i = int(np.argmax(forbidden[words]))
        raise SpecialTokenError(
            int(owners[i]), int(at[i] - cuts[pieces.first[owners[i]]]), reserved.words[words[i]]
        )
    own = _own(at, sizes)
    taken = offsets_of(own)
    left = at - taken[:-1]
    moved = cuts - taken[np.searchsorted(at, cuts)]
    # those before a stretch first
    order = np.argsort(np.concatenate([2 * pieces.before, 2 * stretch + 1]), kind="stable")
    all_cuts = np.concatenate([moved, left])
    places = np.argsort(all_cuts, kind="stable")
    number = np.empty(places.size, np.int64)
    number[places] = np.arange(places.size)
    gone = places_of(at, own)
    # in documents
    there, extents = (
        (at, sizes) if origins is None else (origins[at], origins[at + sizes - 1] - origins[at] + 1)
    )
    return (
        Stretches(
            np.delete(pieces.values, gone), pieces.cuts, number[pieces.first],
            np.concatenate([pieces.words, words])[order], np.concatenate([pieces.at, there])[order],
            np.concatenate([number[pieces.before], number[moved.size :]])[order],
            np.concatenate([pieces.owners, owners])[order], np.concatenate([pieces.sizes, extents])[order],
            pieces.begins,
        ),
        all_cuts[places],
        None if origins is None else np.delete(origins, gone),
    )  # fmt: skip


def traced(pieces: Stretches) -> Stretches:
    """Stretches that know the origins of their values.

    Those without origins are the documents without their words.
    """
    if pieces.origins is not None:
        return pieces
    own = _own(pieces.at, pieces.sizes)
    return pieces._replace(
        origins=np.delete(np.arange(pieces.values.size + int(own.sum())), places_of(pieces.at, own))
    )


def _own(at: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The symbols of each word up to the next, int64[k]: white space after it may belong to both."""
    own: np.ndarray = np.minimum(sizes, np.diff(at, append=np.iinfo(np.int64).max))
    return own


def without_symbols(pieces: Stretches, segments: np.ndarray, at: np.ndarray, word: int) -> Stretches:
    """Stretches without some symbols, each of which becomes the word of this index, and split there.

    `segments` int64: the splits of the values; `at` int64[k]: the places of the symbols among the values,
    ascending. Their places in the documents are known of stretches that are `traced`. O(symbols).

    >>> reserved = Reserved.from_user(["<s>", "?"], None, "str", 5)
    >>> text = np.array([ord(c) for c in "axb<s>xx"], np.uint32)
    >>> pieces = traced(without_words(reserved, Documents(text, np.array([0, 8]), "str"), None))
    >>> found = without_symbols(pieces, pieces.cuts, np.array([1, 3, 4]), 1)
    >>> found.values.tolist(), found.cuts.tolist(), found.words.tolist(), found.at.tolist(), found.before.tolist()
    ([97, 98], [0, 1, 2], [1, 0, 1, 1], [1, 3, 6, 7], [1, 2, 2, 2])
    """
    if not at.size:
        return pieces
    owners = np.searchsorted(pieces.cuts[pieces.first], at, side="right") - 1
    left = at - np.arange(at.size)
    cuts = pieces.cuts - np.searchsorted(at, pieces.cuts)
    new = distinct(cuts, left)
    # words before a symbol first
    order = np.argsort(np.concatenate([2 * pieces.cuts[pieces.before], 2 * at + 1]), kind="stable")
    pairs = (
        (pieces.words, np.full(at.size, word)),
        (pieces.at, at if pieces.origins is None else pieces.origins[at]),
        (np.searchsorted(new, cuts[pieces.before]), np.searchsorted(new, left)),
        (pieces.owners, owners),
        (pieces.sizes, np.ones(at.size, np.int64)),
    )
    words, places, before, of, sizes = (np.concatenate(pair)[order] for pair in pairs)
    inner = distinct(segments - np.searchsorted(at, segments), left)
    return Stretches(
        np.delete(pieces.values, at), new, np.searchsorted(new, cuts[pieces.first]), words, places, before,
        of, sizes,
        pieces.begins, inner, None if pieces.origins is None else np.delete(pieces.origins, at),
    )  # fmt: skip
