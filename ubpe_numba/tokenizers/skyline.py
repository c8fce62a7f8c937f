"""The encodings of a document by every size of the vocabulary at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.coding.kernels.skyline import BLOCK, unmerge
from ubpe_numba.runtime.arrays import describe, writable
from ubpe_numba.tokenizers.base import Tokenizer

__all__ = ["skyline"]


def skyline(tok: Tokenizer, ids: Any) -> NDArray[np.void]:
    """Undo the merges of an encoded document: its encodings by all sizes of the vocabulary, as rectangles.

    The merges of a smaller vocabulary are the first ones of a larger one. So a token of the document was two tokens before its
    merge, and the document by a vocabulary of n tokens is the blocks with ``born <= n < absorbed``, the ids of
    ``tok.truncate(n).encode(doc)``. O(symbols).

    Parameters
    ----------
    tok : Tokenizer
        A tokenizer that encodes by merge rank.
    ids : int[n]
        A document as it encodes it.

    Returns
    -------
    record[k]
        A block for each token and each part of one, down to the symbols: ``start``, ``stop`` (int64), its symbols; ``born``,
        ``absorbed`` (int32), the sizes of the vocabulary, symbols included, from which on it is there and from which on a larger
        token has taken it in, one more than the size of the whole vocabulary for the tokens of the document; ``token`` (int32),
        its id. Positions are those of symbols as they are encoded, such as bytes. Special tokens are there at every size.

    Raises
    ------
    ValueError
        If encodings by smaller vocabularies are not parts of that by the whole one: by another objective or rule than rank, of
        tokens whose merges are not known or are not in the order of their ids, and of a word that is a token by itself.
    TypeError
        If `ids` are not integers of one document.
    UnknownTokenError
        If there is no token of an id.

    Examples
    --------
    >>> from ubpe_numba import BPE
    >>> from ubpe_numba.plot import skyline
    >>> tok = BPE.from_merges([[0, 1], [3, 2]], alphabet="abc")
    >>> blocks = skyline(tok, tok.encode("abca"))
    >>> blocks[["start", "stop", "born", "absorbed", "token"]].tolist()[:3]
    [(0, 3, 5, 6, 4), (0, 2, 4, 5, 3), (2, 3, 3, 5, 2)]
    >>> blocks[(blocks["born"] <= 4) & (4 < blocks["absorbed"])]["token"].tolist()  # by a vocabulary of 4 tokens
    [3, 2, 0]
    """
    if not isinstance(tok, Tokenizer):
        way = "words of a WordPiece are no merges, and a signal is quantized first (`quantize`)"
        raise TypeError(f"tok: expected a BPE or another tokenizer that merges pairs, got {describe(tok)}; {way}")
    now = tok._now()
    given = writable(np.asarray(now._known(ids, [0, len(ids)]).values, np.int32))
    born, parts = nesting(now, given)
    lengths = now.vocabulary.lengths.copy()
    _, vocabulary, segmenter = now._fitted()
    number = np.arange(len(vocabulary)) if segmenter.token_ids is None else segmenter.token_ids
    there = np.flatnonzero(number >= 0)
    lengths[number[there]] = np.diff(vocabulary.offsets)[there]
    blocks = np.empty(int(np.where(parts[:, 0] < 0, 1, 2 * lengths - 1)[given].sum()), BLOCK)
    unmerge(given, parts, lengths, born, len(vocabulary) + 1, blocks)
    return blocks


def nesting(tok: Tokenizer, ids: NDArray[np.integer[Any]]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """How the tokens of a vocabulary are made of those of smaller ones, where encodings by all sizes are parts of one another.

    `ids`: the ids that encodings have. Returns int32[V], the size from which each id is there, and int32[V, 2], the ids that it
    was merged of, -1 if of none. Raises ValueError, as `skyline` does.
    """
    _, vocabulary, segmenter = tok._fitted()
    n, size = vocabulary.n_alphabet, len(vocabulary)
    if (own := tok._encodes_by) != "rank":
        way = "use tok.with_objective('rank')" if "objective" in vars(tok) else "use BPE"
        raise ValueError(f"tok: only encodings by merge rank are parts of one another, and this one encodes by {own!r}; {way}")
    number = np.arange(size) if segmenter.token_ids is None else segmenter.token_ids
    if vocabulary.merges is None or not vocabulary.in_order_of_creation or np.unique(number[n:]).size < size - n:
        raise ValueError("tok: the merges of this vocabulary are not known, or not in the order of its tokens; fit a BPE")
    if segmenter.whole_words:
        whole = np.isin(ids, number[[*tok._tables.unstable.values()]])
        if whole.any():
            at = int(whole.argmax())
            raise ValueError(f"ids[{at}]: {ids[at]} is a token of a whole word, which no merges make; leave the word out")
    born, parts = (np.full((len(tok.vocabulary), *shape), fill, np.int32) for shape, fill in (((), n), ((2,), -1)))
    mirror = np.arange(size) if tok._tables.mirror is None else tok._tables.mirror
    last = np.maximum(np.arange(size), mirror)  # a token and its mirror come together
    born[number[n:]], parts[number[n:]] = last[n:] + 1, number[vocabulary.merges]
    return born, parts
