"""Words to ids by the longest piece: a vocabulary of WordPiece as the tables of kernels/wordpiece.py.

A piece with the prefix is entered twice, since a word may also begin with the characters of the prefix. With n characters, c the
symbol of one at the beginning of a word, c' = n + c inside:

    piece       at the beginning    inside
    ab          a b'                -
    ##b         # #' b'             b'

So no two entries are equal, and with the prefix "" there is one set of symbols, n is added nowhere.

Texts become words by a segmenter. Words are slices of one text, the characters of all words; a special token is
an empty one, which an encoder of words gives no ids. <s> is special, text is changed to lower case and cut at white space::

    texts     "Ab c<s>"  "<s>D"               bounds   0 3 5: the words of each
    words     "ab" "c" ""  "" "d"             special  2 3, ids  7 7
    places    0 1   3  4   0  3: of each character, or special token, in its text
    firsts    0     2  3   4  5: the first place of each word
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ubpe_numba.coding.kernels import wordpiece
from ubpe_numba.coding.run import over_documents
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import Documents, code_points, text_of
from ubpe_numba.runtime.arrays import distinct, offsets_of
from ubpe_numba.runtime.tables import trie
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.reserved import SpecialChoice
from ubpe_numba.vocabulary.segmenter import Segmenter
from ubpe_numba.vocabulary.stretches import traced


class TextWords(NamedTuple):
    """The w words of d texts, k special tokens among them: `bounds` int64[d + 1], `special`, `sizes` int64[k], `ids` int32[k].

    `firsts` int64[w] and `places` int64[characters + k] are None without positions.
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
        found = segmenter.stretches(given, "documents", chosen, trace)
        segments, starts = distinct(segmenter.segments(found)), found.cuts[found.first]
        at = np.searchsorted(segments, found.cuts[found.before])  # before which segment each special token is
        edges = np.insert(segments, at, segments[at])
        text = text_of(found.values)
        words = [text[a:b] for a, b in pairwise(edges.tolist())]
        special = at + np.arange(at.size)
        bounds = np.searchsorted(segments, starts) + np.searchsorted(found.owners, np.arange(len(texts) + 1))
        ids = np.zeros(0, np.int32) if segmenter.special is None else segmenter.special.ids[found.words]
        if not trace:
            return cls(words, bounds, special, ids, None, None, found.sizes)
        origins = traced(found).origins - np.repeat(found.begins, np.diff(starts))
        places = np.insert(origins, segments[at], found.at - found.begins[found.owners])
        return cls(words, bounds, special, ids, edges[:-1] + np.searchsorted(special, np.arange(len(words))), places, found.sizes)

    def put(self, text: int, words: list[str], special: dict[int, int]) -> None:
        """Put the words of a text after `words`, and the id of each special token into `special`, by its number there."""
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


_END = "\0"  # what is put after every word


class PieceEncoder:
    """The tables of a vocabulary of `pieces` with their ids, 0..2**31 - 1; the empty piece is never found.

    `prefix` of pieces within a word, or ``""``; `unknown`, the id of a word that cannot be cut or has over `longest` characters.

    >>> encoder = PieceEncoder({"?": 0, "un": 1, "##able": 2, "##a": 3}, "##", 0, 100)
    >>> encoder.encode(["unable", "able"], 1).to_lists()
    [[1, 2], [0]]
    >>> encoder.encode_with_starts(["una", "able"], 1)[1].tolist()
    [0, 2, 0]
    """

    def __init__(self, pieces: Mapping[str, int], prefix: str, unknown: int, longest: int) -> None:
        going_on = [piece for piece in pieces if prefix and piece.startswith(prefix)]
        entries = [*pieces, *(piece[len(prefix) :] for piece in going_on)]
        text = "".join(entries)
        self._alphabet = Alphabet.from_user("".join(sorted(set(text))) or "\0")
        self._inside = self._alphabet.size if prefix else 0
        self._unknown, self._longest = unknown, longest
        ids = np.array([*pieces.values(), *(pieces[piece] for piece in going_on)], np.int32)
        lengths = np.fromiter(map(len, entries), np.int64, len(entries))
        starts = offsets_of(lengths)
        symbols = self._alphabet.lookup(code_points(text)) + np.int32(self._inside)
        symbols[starts[: len(pieces)][lengths[: len(pieces)] > 0]] -= self._inside
        n, long = self._alphabet.size + self._inside, lengths > 1
        self._ids = np.concatenate([np.full(n, -1, np.int32), ids[long]])
        self._ids[symbols[starts[:-1][lengths == 1]]] = ids[lengths == 1]
        self._lengths = np.concatenate([np.ones(n, np.int64), lengths[long]])
        arena = np.concatenate([np.arange(n, dtype=np.int32), symbols[np.repeat(long, lengths)]])
        self._trie = trie.trie_of(n, arena, self._lengths)

    def encode(self, words: Sequence[str], n_threads: int | None) -> Ragged:
        """The ids of every word. TypeError if one is no `str`."""
        return self._cut(words, self._ids, self._unknown, n_threads)

    def encode_with_starts(self, words: Sequence[str], n_threads: int | None) -> tuple[Ragged, np.ndarray]:
        """The ids, and the position of each in its word, int64."""
        # numbers of entries: ids do not tell whether a piece with the prefix is at the beginning of a word
        numbers = np.where(self._ids < 0, np.int32(-1), np.arange(self._ids.size, dtype=np.int32))
        found = self._cut(words, numbers, -1, n_threads)
        entries = found.values
        starts = offsets_of(self._lengths[entries])[:-1]  # an unknown word has only one id
        starts -= starts[np.repeat(found._offsets[:-1], np.diff(found._offsets))]
        ids = np.where(entries < 0, np.int32(self._unknown), self._ids[entries])
        return Ragged._trusted(ids, found._offsets), starts

    def _cut(self, words: Sequence[str], ids: np.ndarray, unknown: int, n_threads: int | None) -> Ragged:
        points = code_points(_END.join(words) + _END * (len(words) > 0))
        (ends,) = (points == ord(_END)).nonzero()  # a third of the time of asking every word for its length
        if ends.size != len(words):  # one has a NUL in it
            ends = np.cumsum(np.fromiter(map(len, words), np.int64, len(words)) + 1) - 1
        offsets = np.zeros(len(words) + 1, np.int64)
        np.add(ends, 1, out=offsets[1:])
        tables = self._inside, self._trie, ids, unknown, self._longest
        characters = Ragged._trusted(self._alphabet.lookup(points), offsets)
        return over_documents(lambda _, out, ends, __: (wordpiece.cut_words, (*tables, out, ends)), characters, n_threads)
