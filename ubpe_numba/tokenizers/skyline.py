"""The encodings of a document by every size of the vocabulary at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.coding.kernels.skyline import BLOCK, unmerge
from ubpe_numba.runtime.arrays import describe, writable
from ubpe_numba.tokenizers.base import Tokenizer


def skyline(tok: Tokenizer, ids: Any) -> NDArray[np.void]:
    """Undo the merges of an encoded document: its encodings by all sizes of the vocabulary, as rectangles.

    The merges of a smaller vocabulary are the first merges of a larger one. So a token of the document was
    two tokens before its merge. The document under a vocabulary of n tokens is the blocks with ``born <= n <
    absorbed``, the ids of ``tok.truncate(n).encode(doc)``. O(symbols).

    Parameters
    ----------
    tok : Tokenizer
        A tokenizer that encodes by merge rank.
    ids : int[n]
        A document as `tok` encodes it.

    Returns
    -------
    record[k]
        A block per token and per part of a token, down to the symbols. ``start``, ``stop`` (int64): its
        symbols, as they are encoded, such as bytes. ``born``, ``absorbed`` (int32): vocabulary sizes, symbols
        included. The block exists from ``born`` on, and a larger token replaces it at ``absorbed``. For the
        tokens of the document ``absorbed`` is the size of the whole vocabulary plus 1. ``token`` (int32): its
        id. Special tokens exist at every size.

    Raises
    ------
    ValueError
        If encodings by smaller vocabularies are not parts of that by the whole vocabulary. This is so for
        other objectives and rules than rank, and for a word that is a token by itself. It is also so for
        tokens whose merges are unknown or not in order of ids.
    TypeError
        If `ids` is not a document of integers.
    UnknownTokenError
        If an id is not in the vocabulary.

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
        way = "words of a WordPiece are no merges, and a signal is rounded first (`Scale`)"
        raise TypeError(
            f"tok: expected a BPE or another tokenizer that merges pairs, got {describe(tok)}; {way}"
        )
    now = tok._now()
    tokens = writable(np.asarray(now._known(ids, [0, len(ids)]).values, np.int32))
    born, parts = nesting(now, tokens)
    lengths = now.vocabulary.lengths.copy()
    _, vocabulary, segmenter = now._fitted()
    number = segmenter.ids(len(vocabulary))
    there = np.flatnonzero(number >= 0)
    lengths[number[there]] = np.diff(vocabulary.offsets)[there]
    blocks = np.empty(int(np.where(parts[:, 0] < 0, 1, 2 * lengths - 1)[tokens].sum()), BLOCK)
    unmerge(tokens, parts, lengths, born, len(vocabulary) + 1, blocks)
    return blocks


def nesting(tok: Tokenizer, ids: NDArray[np.integer[Any]]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """How tokens consist of tokens of smaller vocabularies, if their encodings are nested.

    `ids`: the ids that occur in encodings. Returns int32[V], the size from which each id exists, and int32[V,
    2], the ids that it was merged from, or -1. Raises ValueError, as `skyline` does.
    """
    _, vocabulary, segmenter = tok._fitted()
    n, size = vocabulary.n_alphabet, len(vocabulary)
    if (own := tok._encodes_by) != "rank":
        way = "use tok.with_objective('rank')" if "objective" in vars(tok) else "use BPE"
        raise ValueError(f"tok: expected a tokenizer that encodes by merge rank, got {own!r}; {way}")
    number = segmenter.ids(size)
    if (
        vocabulary.merges is None
        or not vocabulary.in_order_of_creation
        or np.unique(number[n:]).size < size - n
    ):
        raise ValueError(
            "tok: the merges of this vocabulary are not known, or not in the order of its tokens; fit a BPE"
        )
    if segmenter.whole_words:
        whole = np.isin(ids, number[[*tok._tables.unstable.values()]])
        if whole.any():
            at = int(whole.argmax())
            raise ValueError(
                f"ids[{at}]: {ids[at]} is a token of a whole word, which no merges make; leave the word out"
            )
    born, parts = (
        np.full((len(tok.vocabulary), *shape), fill, np.int32) for shape, fill in (((), n), ((2,), -1))
    )
    mirror = np.arange(size) if tok._tables.mirror is None else tok._tables.mirror
    last = np.maximum(np.arange(size), mirror)  # a token and its mirror come together
    born[number[n:]], parts[number[n:]] = last[n:] + 1, number[vocabulary.merges]
    return born, parts
