"""Texts as words: what a segmenter makes of them, special tokens among them, and where in the texts the words come from.

Words are slices of one text, the characters of all words; where a special token stands there is an empty one, which an encoder of
words gives no ids. <s> is a special token, the normalizer gives lower case, the splitter cuts at white space::

    texts     "Ab c<s>"  "<s>D"               bounds   0 3 5: the words of each
    words     "ab" "c" ""  "" "d"             special  2 3, ids  7 7
    places    0 1   3  4   0  3: of each character, or special token, in its text
    firsts    0     2  3   4  5: the first place of each word
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ubpe_numba.documents.read import Documents, code_points, text_of
from ubpe_numba.runtime.arrays import distinct, offsets_of, places_of
from ubpe_numba.vocabulary.reserved import SpecialChoice
from ubpe_numba.vocabulary.segmenter import Segmenter

__all__ = ["TextWords"]


class TextWords(NamedTuple):
    """The w words of d texts, k special tokens among them: `bounds` int64[d + 1], `special`, `sizes` int64[k], `ids` int32[k].

    `firsts` int64[w] and `places` int64[characters + k] are None if nobody asked for positions.
    """

    words: list[str]
    bounds: np.ndarray
    special: np.ndarray
    ids: np.ndarray
    firsts: np.ndarray | None
    places: np.ndarray | None
    sizes: np.ndarray

    @classmethod
    def of(cls, segmenter: Segmenter, texts: Sequence[str], trace: bool, chosen: SpecialChoice | None = None) -> TextWords:
        """Take special tokens out of texts, normalise and cut what is left; `trace`: for `positions`. O(characters).

        >>> from ubpe_numba.text.normalizer import Normalizer
        >>> from ubpe_numba.text.splitter import Splitter
        >>> segmenter = Segmenter(Splitter("WhitespaceSplit"), normalizer=Normalizer("Lowercase"))
        >>> found = TextWords.of(segmenter, ["Ab  C", "", "d"], True)
        >>> found.words, found.bounds.tolist()
        (['ab', 'c', 'd'], [0, 2, 2, 3])
        >>> found.positions(np.array([0, 0, 2]), np.array([0, 1, 0]), np.array([1, 0, 0])).tolist()
        [1, 4, 0]
        """
        given = Documents(code_points("".join(texts)), offsets_of(np.fromiter(map(len, texts), np.int64, len(texts))), "str")
        found = segmenter.rewritten(segmenter.stretches(given, "documents", chosen), chosen, trace)
        segments, starts = distinct(segmenter.segments(found)), found.cuts[found.first]
        at = np.searchsorted(segments, found.cuts[found.before])  # before which segment each special token stands
        edges = np.insert(segments, at, segments[at])
        text = text_of(found.values)
        words = [text[a:b] for a, b in pairwise(edges.tolist())]
        special = at + np.arange(at.size)
        bounds = np.searchsorted(segments, starts) + np.searchsorted(found.owners, np.arange(len(texts) + 1))
        ids = np.zeros(0, np.int32) if segmenter.special is None else segmenter.special.ids[found.words]
        if not trace:
            return cls(words, bounds, special, ids, None, None, found.sizes)
        origins = found.origins
        if origins is None:  # nothing was changed
            origins = np.delete(np.arange(given.values.size), places_of(found.at, found.sizes))
        origins = origins - np.repeat(found.begins, np.diff(starts))
        places = np.insert(origins, segments[at], found.at - found.begins[found.owners])
        return cls(words, bounds, special, ids, edges[:-1] + np.searchsorted(special, np.arange(len(words))), places, found.sizes)

    def put(self, text: int, words: list[str], special: dict[int, int]) -> None:
        """Put the words of a text behind `words`, and the id of each special token into `special`, by its number there."""
        begin, end = self.bounds[text : text + 2].tolist()
        i, j = np.searchsorted(self.special, (begin, end)).tolist()
        special.update(zip((self.special[i:j] + (len(words) - begin)).tolist(), self.ids[i:j].tolist(), strict=True))
        words += self.words[begin:end]

    def positions(self, texts: np.ndarray, words: np.ndarray, characters: np.ndarray) -> np.ndarray:
        """The places in the texts as given, int64[n], of characters of their words, by number: all int64[n]."""
        assert self.firsts is not None
        assert self.places is not None
        return np.asarray(self.places[self.firsts[self.bounds[texts] + words] + characters])

    def spans(self, texts: np.ndarray, words: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The places of characters `starts` to `ends` of words, from the first to after the last; as `positions`."""
        first = self.positions(texts, words, starts)
        is_special = ends == starts  # whose words are empty
        last = self.positions(texts, words, np.maximum(ends - 1, starts)) + 1
        row = np.searchsorted(self.special, (self.bounds[texts] + words)[is_special])
        last[is_special] = first[is_special] + self.sizes[row]
        return first, last
