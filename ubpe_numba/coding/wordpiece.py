"""Words to ids by the longest piece: a vocabulary of WordPiece as the tables of kernels/wordpiece.py.

A piece with the prefix is entered twice, since a word may also begin with the characters of the prefix. For n
characters, c is the symbol of a character at the beginning of a word, and c' = n + c inside:

    piece       at the beginning    inside
    ab          a b'                -
    ##b         # #' b'             b'

So no two entries are equal, and with the prefix "" there is one set of symbols, n is added nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ubpe_numba.coding.kernels import wordpiece
from ubpe_numba.coding.run import over_documents
from ubpe_numba.documents.ragged import Ragged, trusted
from ubpe_numba.documents.read import code_points
from ubpe_numba.runtime.arrays import offsets_of
from ubpe_numba.runtime.tables import trie
from ubpe_numba.vocabulary.alphabet import Alphabet


class PieceEncoder:
    """The tables of a vocabulary of `pieces` with their ids, 0..2**31 - 1; the empty piece is never found.

    `alphabet` has their characters. `prefix` is that of pieces within a word, or ``""``. `unknown` is the id
    of a word that cannot be split or has over `longest` characters.

    >>> letters = Alphabet.from_user("#?abelnu")
    >>> encoder = PieceEncoder({"?": 0, "un": 1, "##able": 2, "##a": 3}, letters, "##", 0, 100)
    >>> ids, sizes = encoder.encode(trusted(letters.lookup(code_points("unableable")), np.array([0, 6, 10])), 0, 1, True)
    >>> ids.to_lists(), sizes.tolist()
    ([[1, 2], [0]], [2, 4, 4])
    """

    def __init__(
        self, pieces: Mapping[str, int], alphabet: Alphabet, prefix: str, unknown: int, longest: int
    ) -> None:
        going_on = [piece for piece in pieces if prefix and piece.startswith(prefix)]
        entries = [*pieces, *(piece[len(prefix) :] for piece in going_on)]
        inside = alphabet.size if prefix else 0
        ids = np.array([*pieces.values(), *(pieces[piece] for piece in going_on)], np.int32)
        lengths = np.fromiter(map(len, entries), np.int64, len(entries))
        starts = offsets_of(lengths)
        symbols = alphabet.lookup(code_points("".join(entries))) + np.int32(inside)
        symbols[starts[: len(pieces)][lengths[: len(pieces)] > 0]] -= inside
        n, long = alphabet.size + inside, lengths > 1
        # the entry -1: the unknown
        self._ids = np.concatenate([np.full(n, -1, np.int32), ids[long], [np.int32(unknown)]])
        self._ids[symbols[starts[:-1][lengths == 1]]] = ids[lengths == 1]
        self._lengths = np.concatenate([np.ones(n, np.int64), lengths[long]])
        arena = np.concatenate([np.arange(n, dtype=np.int32), symbols[np.repeat(long, lengths)]])
        # numbers of entries: ids do not tell whether a piece with the prefix is at the beginning of a word
        self._numbers = np.where(self._ids < 0, np.int32(-1), np.arange(self._ids.size, dtype=np.int32))
        self._trie, self._inside, self._longest = trie.trie_of(n, arena, self._lengths), inside, longest
        self._without: dict[frozenset[int], np.ndarray] = {}

    def _numbers_without(self, ids: frozenset[int]) -> np.ndarray:
        """The numbers of the entries of pieces, with -1 for those of these `ids`; the last is cached."""
        if not ids:
            return self._numbers
        if (numbers := self._without.get(ids)) is None:
            numbers = np.where(np.isin(self._ids, [*ids]), np.int32(-1), self._numbers)
            self._without = {ids: numbers}
        return numbers

    def encode(
        self,
        words: Ragged,
        gap: int,
        n_threads: int | None,
        sized: bool,
        without: frozenset[int] = frozenset(),
    ) -> tuple[Ragged, np.ndarray | None]:
        """The ids of words of alphabet ids, -1 for a character that occurs in no piece.

        `gap` more of these follow each word.

        If `sized`, also the number of characters per id, int64. No word becomes a piece whose id is in
        `without`.
        """
        tables = gap, self._inside, self._trie, self._numbers_without(without), -1, self._longest
        encoded = over_documents(
            lambda _, out, ends, __: (wordpiece.cut_words, (*tables, out, ends)), words, n_threads
        )
        ids = trusted(self._ids[encoded.values], encoded._offsets)
        if not sized:
            return ids, None
        unknown = np.flatnonzero(encoded.values < 0)
        sizes = self._lengths[encoded.values]
        sizes[unknown] = words.lengths[np.searchsorted(encoded._offsets, unknown, side="right") - 1] - gap
        return ids, sizes
