"""Documents in the stretches that special tokens and known words leave, when these are taken out.

What is left is one flat array; where a word stood it is cut. <s> is a special token::

    documents  "ab<s>c"  "<s>"  "de"                            begins  0 6 9
    values     "abcde",  cuts  0 2 3 5: "ab" "c" "de"           first   0 2 2 3: none of the second document
    words      0 0       at  2 6                                before  1 2, owners  0 1, sizes  3 3
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.documents.read import Documents
from ubpe_numba.errors import SpecialTokenError
from ubpe_numba.runtime.arrays import distinct, offsets_of, places_of
from ubpe_numba.vocabulary.lone_symbols import LoneSymbols
from ubpe_numba.vocabulary.special_tokens import SpecialTokens

__all__ = ["SpecialChoice", "Stretches", "traced", "without_late_words", "without_symbols", "without_words"]


class SpecialChoice(NamedTuple):
    """Which special tokens a call of `encode` allows and forbids, as the user says it."""

    allowed: Any = "none"
    disallowed: Any = "all"


class Stretches(NamedTuple):
    """Documents without their special tokens, in the stretches that these leave.

    `values` and `cuts` int64[s + 1]: what is left; stretches `first[d] : first[d + 1]` are those of document d. `words` int64[k]:
    the special tokens taken out; `at` int64[k]: where each stood in the documents, `before` int64[k]: before which stretch,
    `owners` int64[k]: in which document; `sizes` int64[k]: of how many symbols. `begins` int64[d]: where the documents began.

    Where text is rewritten `values` are those that are encoded; `segments` int64: where they are cut, None if that is not known
    yet; `origins` int64: where in the documents each value comes from, None if nobody asked.
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
    special: SpecialTokens | None, lone: LoneSymbols | None, documents: Documents, chosen: SpecialChoice | None
) -> Stretches:
    """Documents without special tokens and known words, and cut at the break tokens of `lone`.

    Known words are looked for always, special tokens where they are `chosen`; None: all of them, and none is an error. Words of
    normalised text stay. SpecialTokenError for one that is forbidden. O(symbols).

    >>> special = SpecialTokens.from_user(["<s>"], None, "str", 5)
    >>> text = np.array([ord(c) for c in "ab<s>c<s>de"], np.uint32)
    >>> found = without_words(special, None, Documents(text, np.array([0, 6, 9, 11]), "str"), None)
    >>> found.cuts.tolist(), found.first.tolist(), found.before.tolist()
    ([0, 2, 3, 5], [0, 2, 2, 3], [1, 2])
    """
    values, offsets, kind = documents
    if offsets[0] or offsets[-1] != values.size:
        values, offsets = values[offsets[0] : offsets[-1]], offsets - offsets[0]
    none, begins = np.zeros(0, np.int64), offsets[:-1]
    words = at = left = owners = sizes = none
    if special is not None:
        active, forbidden = _active(special, chosen)
        if values.size:
            text = Documents(values, offsets, kind)
            early = active & ~special.is_normalized() if special.has_normalized else active
            at, words, sizes = special.within(text, *special.find(text, early))
        if forbidden[words].any():
            i = int(np.argmax(forbidden[words]))
            document = int(np.searchsorted(offsets, at[i], side="right")) - 1
            raise SpecialTokenError(document, int(at[i] - offsets[document]), special.words[words[i]])
        if at.size:
            owners = np.searchsorted(offsets, at, side="right") - 1
            taken = offsets_of(sizes)
            left = at - taken[:-1]
            values = np.delete(values, places_of(at, sizes))
            offsets = offsets - taken[np.searchsorted(at, offsets)]
    cuts = distinct(offsets, left)
    if lone is not None:
        cuts = lone.cuts(values, cuts, lone.breaks)
    return Stretches(values, cuts, np.searchsorted(cuts, offsets), words, at, np.searchsorted(cuts, left), owners, sizes, begins)


def without_late_words(
    special: SpecialTokens, change: Callable[[str], str] | None, pieces: Stretches, cuts: np.ndarray,
    origins: np.ndarray | None, chosen: SpecialChoice | None,
) -> tuple[Stretches, np.ndarray, np.ndarray | None]:  # fmt: skip
    """Stretches without the words that are found in normalised text, `cuts` of all that is left, and origins.

    The values of the stretches are normalised, as `change` does a word; `cuts` int64[s + 1] are theirs. Between cuts there may be
    nothing; the fields of the stretches are places among them. `chosen` and errors as for `without_words`. O(symbols).
    """
    changed, index = special.normalized(change)
    active, forbidden = _active(special, chosen)
    text = Documents(pieces.values, cuts, changed.kind)
    at, words, sizes = changed.within(text, *changed.find(text, active[index]))
    words = index[words]
    stretch = np.searchsorted(cuts, at, side="right") - 1
    owners = np.searchsorted(pieces.first, stretch, side="right") - 1
    if forbidden[words].any():
        i = int(np.argmax(forbidden[words]))
        raise SpecialTokenError(int(owners[i]), int(at[i] - cuts[pieces.first[owners[i]]]), special.words[words[i]])
    taken = offsets_of(sizes)
    left = at - taken[:-1]
    moved = cuts - taken[np.searchsorted(at, cuts)]
    order = np.argsort(np.concatenate([2 * pieces.before, 2 * stretch + 1]), kind="stable")  # those before a stretch first
    all_cuts = np.concatenate([moved, left])
    places = np.argsort(all_cuts, kind="stable")
    number = np.empty(places.size, np.int64)
    number[places] = np.arange(places.size)
    gone = places_of(at, sizes)
    there = at if origins is None else origins[at]
    return (
        Stretches(
            np.delete(pieces.values, gone), pieces.cuts, number[pieces.first],
            np.concatenate([pieces.words, words])[order], np.concatenate([pieces.at, there])[order],
            np.concatenate([number[pieces.before], number[moved.size :]])[order],
            np.concatenate([pieces.owners, owners])[order], np.concatenate([pieces.sizes, sizes])[order], pieces.begins,
        ),
        all_cuts[places],
        None if origins is None else np.delete(origins, gone),
    )  # fmt: skip


def traced(pieces: Stretches) -> Stretches:
    """Stretches that know where their values come from; those that do not yet are the documents without their words."""
    if pieces.origins is not None:
        return pieces
    origins = np.delete(np.arange(pieces.values.size + int(pieces.sizes.sum())), places_of(pieces.at, pieces.sizes))
    return pieces._replace(origins=origins)


def without_symbols(pieces: Stretches, segments: np.ndarray, at: np.ndarray, word: int) -> Stretches:
    """Stretches without some symbols, each of which becomes the word of this index; cut where it stood.

    `segments` int64: where the values are cut; `at` int64[k]: the places of the symbols among the values, ascending. Where they
    stood in the documents is known of stretches that are `traced`. O(symbols).

    >>> special = SpecialTokens.from_user(["<s>", "?"], None, "str", 5)
    >>> text = np.array([ord(c) for c in "axb<s>xx"], np.uint32)
    >>> pieces = traced(without_words(special, None, Documents(text, np.array([0, 8]), "str"), None))
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
    order = np.argsort(np.concatenate([2 * pieces.cuts[pieces.before], 2 * at + 1]), kind="stable")  # words before a symbol first
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
        np.delete(pieces.values, at), new, np.searchsorted(new, cuts[pieces.first]), words, places, before, of, sizes,
        pieces.begins, inner, None if pieces.origins is None else np.delete(pieces.origins, at),
    )  # fmt: skip


def _active(special: SpecialTokens, chosen: SpecialChoice | None) -> tuple[np.ndarray, np.ndarray]:
    """bool[w] twice, not to be written to: the words to look for, and those of them that are an error.

    Made once for each choice that names no word: a short document does not wait for a look at a hundred thousand words.
    """
    named = chosen is None or (isinstance(chosen.allowed, str) and isinstance(chosen.disallowed, str))
    if not named:
        return _actives(special, chosen)
    if (made := special.choices.get(chosen)) is None:
        made = special.choices[chosen] = _actives(special, chosen)
    return made


def _actives(special: SpecialTokens, chosen: SpecialChoice | None) -> tuple[np.ndarray, np.ndarray]:
    """`_active` of a choice that is not known yet. O(words)."""
    if chosen is None:
        return special.found, np.zeros(len(special.words), bool)
    some = special.found & ~special.always
    allowed = special.chosen(chosen.allowed, "allowed_special", some)
    forbidden = special.chosen(chosen.disallowed, "disallowed_special", some & ~allowed)
    return np.asarray(special.always | allowed | forbidden), forbidden
