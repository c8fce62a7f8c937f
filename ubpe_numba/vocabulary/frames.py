"""Frames: groups of k symbols, such as the channels of an instant, that tokens respect.

A token lies within a frame, or consists of whole frames: a merge crosses the end of a frame only between
tokens whose lengths are multiples of k. Frames are counted from the beginning of a document; the last one may
be shorter.

A fit has a mark after every frame (fitting/kernels/text_cells.py). Encoders know nothing of frames. In their
documents, the last symbol of each frame is replaced by symbol + A, for an alphabet of A. In their vocabulary,
a token that is a part of a frame exists in two forms: for the end of a frame and for elsewhere.

    symbols      0 1 | 2 3              2 and 3 are 0 and 1 at the end of a frame
    tokens       4 = [0, 1]             5 = [0, 3], the same at the end     6 = [1, 5] = [1, 0, 3], a frame
    document     1 0 1 0 1 1            1 0 3 0 1 3 -> 6 4 3, which are 3 2 1

The second copy is merged directly after the first, and in a frame it is further to the right. So merging by
rank gives the same result as from left to right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np

from ubpe_numba.documents.ragged import Ragged, trusted
from ubpe_numba.documents.read import Corpus
from ubpe_numba.errors import UnknownSymbolError
from ubpe_numba.runtime.arrays import positive
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.segmenter import Segmenter
from ubpe_numba.vocabulary.vocabulary import Vocabulary


class Frames(NamedTuple):
    """Frames of `size` symbols over an alphabet of `n_alphabet`.

    `vocabulary` is for encoders; `of` int32[V] is the original token of each of its tokens.

    `first` int32[V] is the first copy of each learned token, by which tf-idf counts; symbols have weight 0.
    """

    size: int
    n_alphabet: int
    vocabulary: Vocabulary
    of: np.ndarray
    first: np.ndarray

    @classmethod
    def over(cls, given: Vocabulary, size: int) -> Self:
        """Make the vocabulary for encoders.

        ValueError if a token of `given` does not respect frames of `size` symbols.

        >>> frames = Frames.over(Vocabulary.from_merges(2, [[0, 1], [1, 2]]), 3)
        >>> frames.vocabulary.merges.tolist(), frames.of.tolist()
        ([[0, 1], [0, 3], [1, 5]], [0, 1, 0, 1, 2, 2, 3])
        """
        n, merges, lengths = given.n_alphabet, given.merges, np.diff(given.offsets)
        if merges is None or not given.in_order_of_creation:
            raise ValueError("frame: expected a vocabulary of pairs in order of creation")
        left, right = merges.T
        whole = lengths % size == 0
        if (bad := np.flatnonzero((whole[left] != whole[right]) | (~whole & (lengths > size))[n:])).size:
            raise ValueError(
                f"frame: the token {n + bad[0]} is neither part of a frame of {size} symbols nor whole frames"
            )
        copies = np.where(whole, 1, 2)
        last = np.cumsum(copies) - 1  # at the end of a frame; copies of learned tokens follow each other
        last[:n] = np.arange(n, 2 * n)
        first = np.where(whole, last, last - 1)
        first[:n] = np.arange(n)
        of = np.concatenate(
            [np.arange(n), np.arange(n), np.repeat(np.arange(n, whole.size), copies[n:])]
        ).astype(np.int32)
        is_first = np.zeros(of.size, bool)
        is_first[first[~whole]] = True
        token = of[2 * n :] - n
        pairs = np.stack(
            [first[left[token]], np.where(is_first[2 * n :], first[right[token]], last[right[token]])], axis=1
        )
        marked = Vocabulary.from_merges(2 * n, pairs, given.weights[of[2 * n :]], max_symbols=1 << 62)
        return cls(
            size, n, marked, of, np.concatenate([np.arange(2 * n), first[of[2 * n :]]]).astype(np.int32)
        )

    def encode(self, encode: Callable[[Ragged], Ragged], documents: Ragged) -> Ragged:
        """Encode documents of alphabet ids by the encoder of `vocabulary`."""
        ids = encode(self.marked(documents))
        return trusted(self.of[ids.values], ids._offsets)

    def marked(self, documents: Ragged) -> Ragged:
        """The documents with the last symbol of each frame replaced."""
        values, offsets = documents.values.copy(), documents._offsets
        values[ends(offsets, self.size) - 1] += np.int32(self.n_alphabet)
        return trusted(values, offsets)


def ids_of_segments(corpus: Corpus, alphabet: Alphabet) -> tuple[np.ndarray, np.ndarray]:
    """The alphabet ids of a corpus and the offsets of its segments.

    UnknownSymbolError with the number of the document.
    """
    try:
        ids = alphabet.to_ids(corpus.given._replace(values=corpus.values, offsets=corpus.offsets))
    except UnknownSymbolError:
        alphabet.to_ids(corpus.given)
        raise
    return ids.values, ids._offsets


def ends(offsets: np.ndarray, size: int) -> np.ndarray:
    """Where each whole frame of documents ends, int64, ascending.

    >>> ends(np.array([0, 5, 5, 7]), 2).tolist()
    [2, 4, 7]
    """
    counts = np.diff(offsets) // size
    before = np.repeat(np.cumsum(counts) - counts, counts)
    positions: np.ndarray = np.repeat(offsets[:-1], counts) + size * (np.arange(before.size) - before + 1)
    return positions


def with_marks(
    corpus: Corpus, alphabet: Alphabet, lengths: np.ndarray | None, size: int, mark: int, most: int
) -> Corpus:
    """The corpus as ids, with a mark after every complete frame; its kind is ``"marks"``.

    `lengths` int64[alphabet] are the symbols per id, None if each is 1. ValueError for a document that then
    has `most` or more, UnknownSymbolError for a symbol outside the alphabet.

    >>> from ubpe_numba.documents.read import as_corpus
    >>> with_marks(as_corpus([[0, 1, 2, 0]]), Alphabet.dense(3), np.array([1, 1, 2]), 2, -2, 9).values.tolist()
    [0, 1, -2, 2, 0]
    """
    values, offsets = ids_of_segments(corpus, alphabet)
    if lengths is None:
        at = ends(offsets, size)
    else:
        places = np.cumsum(np.append(0, lengths[values]))
        positions = ends(places[offsets], size)
        at = np.searchsorted(places, positions)
        at = at[(places[at] == positions) & (lengths[values[at - 1]] % size != 0)]
    offsets = offsets + np.searchsorted(at, offsets, side="right")
    if (longest := int(np.diff(offsets).max(initial=0))) >= most:
        raise ValueError(
            f"frame: expected less than {most} symbols and ends of frames, got a document of {longest}"
        )
    return corpus._replace(
        given=corpus.given._replace(kind="marks"), values=np.insert(values, at, mark), offsets=offsets
    )


def frame_of(frame: Any, segmenter: Segmenter, corpus: Corpus | None = None, order: str = "creation") -> int:
    """The argument `frame` of a fit, 0 for frames of a single symbol.

    TypeError or ValueError if frames are not possible.
    """
    size, reserved = positive(frame, "frame", "an int or None"), segmenter.reserved
    if order != "creation":
        raise ValueError(
            "rules: order='idf' changes the order of merges, which frames need. Use order='creation'."
        )
    cut = segmenter.pretokenizer is not None or segmenter.normalizer is not None
    if segmenter.runs is not None:
        raise ValueError(
            "frame: runs of symbols do not keep to frames; expected frames, or Preprocessing(runs=...)"
        )
    if cut or (reserved is not None and (reserved.has_symbols or bool(reserved.found.any()))):
        way = "leave out patterns, normalizers, break and stop tokens, and special tokens of documents"
        raise ValueError(
            f"frame: in documents that are cut or changed symbols do not stay in their frames; {way}"
        )
    if corpus is not None:
        check_boundaries(corpus, size)
    return size if size > 1 else 0


def check_boundaries(corpus: Corpus, size: int) -> None:
    """ValueError for a boundary inside a frame."""
    of, starts = corpus.document_of, corpus.offsets[:-1]
    if of is None:
        return
    position = starts - starts[np.searchsorted(of, of)]
    if (bad := np.flatnonzero(position % size)).size:
        i = bad[0]
        raise ValueError(
            f"boundaries: document {of[i]}: position {position[i]} is inside a frame of {size} symbols"
        )
