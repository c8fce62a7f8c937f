"""Words to ids by the longest piece: a vocabulary of WordPiece as the tables of kernels/wordpiece.py.

A piece with the prefix is entered twice, since a word may also begin with the characters of the prefix. With n characters, c the
symbol of one at the beginning of a word, c' = n + c inside:

    piece       at the beginning    inside
    ab          a b'                -
    ##b         # #' b'             b'

So no two entries are equal, and with the prefix "" there is one set of symbols, n is added nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ubpe_numba.coding.kernels import wordpiece
from ubpe_numba.coding.run import Bounded, over_documents
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import code_points
from ubpe_numba.runtime.arrays import offsets_of
from ubpe_numba.runtime.tables import trie
from ubpe_numba.vocabulary.alphabet import Alphabet

_END = "\0"  # what is put behind every word


class PieceEncoder:
    """The tables of a vocabulary of pieces.

    Parameters
    ----------
    pieces : mapping of str to int
        The id of every piece, 0..2**31 - 1. That of the empty piece is never found.
    prefix : str
        Of pieces that go on a word, or ``""``.
    unknown : int
        The id of a word that cannot be cut.
    longest : int
        Words of more characters are unknown.

    Examples
    --------
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
        """The same, and the position of each id in its word, int64."""
        # numbers of entries: ids do not tell whether a piece with the prefix is at the beginning of a word
        numbers = np.where(self._ids < 0, np.int32(-1), np.arange(self._ids.size, dtype=np.int32))
        found = self._cut(words, numbers, -1, n_threads)
        entries = found.values
        starts = offsets_of(self._lengths[entries])[:-1]  # whatever stands for an unknown word, it is the only id of it
        starts -= starts[np.repeat(found.offsets[:-1], np.diff(found.offsets))]
        ids = np.where(entries < 0, np.int32(self._unknown), self._ids[entries])
        return Ragged._trusted(ids, found.offsets), starts

    def _cut(self, words: Sequence[str], ids: np.ndarray, unknown: int, n_threads: int | None) -> Ragged:
        points = code_points(_END.join(words) + _END * (len(words) > 0))
        (ends,) = (points == ord(_END)).nonzero()  # a third of the time of asking every word for its length
        if ends.size != len(words):  # one has a NUL in it
            ends = np.cumsum(np.fromiter(map(len, words), np.int64, len(words)) + 1) - 1
        offsets = np.zeros(len(words) + 1, np.int64)
        np.add(ends, 1, out=offsets[1:])

        def bound(most: int, out: np.ndarray, out_offsets: np.ndarray, first: int) -> Bounded:
            return wordpiece.cut_words, (self._inside, self._trie, ids, unknown, self._longest, out, out_offsets)

        return over_documents(bound, Ragged._trusted(self._alphabet.lookup(points), offsets), n_threads)
