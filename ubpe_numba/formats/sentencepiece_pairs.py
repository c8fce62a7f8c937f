"""The pairs by rank of a BPE of sentencepiece, whose file has only pieces and their scores.

Two neighbours merge if what they join to is a piece, that of the highest score first. So the pair of a piece is the last merge
when it is encoded by itself (kernels/pairs_of_pieces.py), and its rank is that of its score::

    pieces   a -1   b -2   ab -3   bab -4   bb -5   abb -6
    pairs    ab = (a, b)   bab = (b, ab)   bb = (b, b)   abb: a b b becomes ab b, which is (ab, b)
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.formats.kernels.pairs_of_pieces import pairs_of_pieces
from ubpe_numba.formats.pairs_that_occur import WORK
from ubpe_numba.formats.sentencepiece import UNUSED, Pieces
from ubpe_numba.formats.sentencepiece_ties import check_ties, runs_in_order
from ubpe_numba.runtime.arrays import offsets_of
from ubpe_numba.runtime.tables.trie import trie_of
from ubpe_numba.vocabulary.alphabet import Alphabet

__all__ = ["pairs_by_rank"]


def pairs_by_rank(pieces: Pieces, used: np.ndarray, alphabet: Alphabet) -> tuple[np.ndarray, np.ndarray]:
    """The pieces that merging makes, by rank, int64[m], and of which two tokens each is made, int32[m, 2].

    `used` are pieces, int64 indices, whose characters are in the alphabet. ModelFormatError for too much work, and for what the
    order of ranks cannot say.
    """
    by_rank = used[pieces.lengths[used] > 1]
    by_rank = by_rank[np.argsort(-pieces.scores[by_rank], kind="stable")]
    by_rank, tied = runs_in_order(pieces, by_rank)
    n, lengths = alphabet.size, pieces.lengths[by_rank]
    if float((lengths.astype(np.float64) ** 2).sum()) > WORK:
        raise ModelFormatError("pieces are too long to find out what they are made of")
    arena = np.concatenate([np.arange(n, dtype=np.int32), alphabet.lookup(pieces.points_of(by_rank))])
    sizes = np.concatenate([np.ones(n, np.int64), lengths])
    pairs = np.empty((by_rank.size, 2), np.int32)
    ends, ranks, parts = np.empty((3, int(sizes.max())), np.int32)
    nodes = np.empty(ends.size, np.int64)
    pairs_of_pieces(arena, offsets_of(sizes), n, trie_of(n, arena, sizes), ends, ranks, parts, nodes, pairs)
    kept = pairs[:, 0] >= 0  # the others, which are not what their parts are merged to, are in no text
    kept &= ~_taken_apart(pieces, by_rank, pairs, kept, n)
    number = np.concatenate([np.arange(n), n + np.cumsum(kept) - 1]).astype(np.int32)
    by_rank, pairs, tied = by_rank[kept], number[pairs[kept]], tied[kept]
    check_ties(pieces, by_rank, pairs, tied)
    return by_rank, pairs


def _taken_apart(pieces: Pieces, by_rank: np.ndarray, pairs: np.ndarray, made: np.ndarray, n: int) -> np.ndarray:
    """The pieces that are not used, bool[m]: after all merges sentencepiece takes them apart again into what they are made of.

    `made` bool[m]: those that merges make, of n symbols. That is as if they were not there, unless a used piece of lower rank
    takes one of them, or one of its parts together with a neighbour: then ModelFormatError.
    """
    unused = made & (pieces.types[by_rank] == UNUSED)
    last = np.full(n + by_rank.size, -1, np.int64)  # the lowest rank of a used piece that begins with a token; and ends with one
    for side in (0, 1):
        last[:] = -1
        places = np.flatnonzero(made & ~unused)
        last[pairs[places, side]] = places
        at = np.flatnonzero(unused)
        bad = (last[pairs[at, 1 - side]] > at) | (last[n + at] >= 0)
        if bad.any():
            i = int(by_rank[at[np.argmax(bad)]])
            raise ModelFormatError(
                f"piece {i}: {quoted(pieces.names[i])} is unused, so it is taken apart again, which other pieces depend on; "
                "that is not supported: leave it out of the file, or make it a normal piece, if its ids may differ"
            )
    return np.asarray(unused)
