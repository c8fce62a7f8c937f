"""Ids and tokens where they differ: tokenizers from elsewhere number the tokens of their vocabulary in ways of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ubpe_numba.tokenizers.base import Tokenizer


def ids_of_tokens(tok: Tokenizer) -> NDArray[np.int64]:
    """The id of every token of the vocabulary, int64[V]; -1 for those that become other ids, as characters without one do."""
    _, vocabulary, segmenter = tok._fitted()
    ids = segmenter.token_ids
    return np.arange(len(vocabulary)) if ids is None else ids.astype(np.int64)


def token_of(tok: Tokenizer, token: int) -> int:
    """The token of the vocabulary that has this id; IndexError if none has."""
    if tok._fitted().segmenter.token_ids is None:
        return token  # the vocabulary knows whether there is one
    found = np.flatnonzero(ids_of_tokens(tok) == token)
    if not found.size or token < 0:
        raise IndexError(f"token {token}: the vocabulary has no token of this id")
    return int(found[0])


def counts_of_tokens(tok: Tokenizer, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """How often tokens of the vocabulary occur, int64[V], by the counts of ids; special tokens are in no vocabulary.

    >>> from ubpe_numba import BPE, Preprocessing
    >>> tok = BPE.from_merges([[0, 1]], alphabet="ab", preprocessing=Preprocessing(special_tokens=["!"]))
    >>> counts_of_tokens(tok, tok.usage(["ab!a"], allowed_special="all").counts).tolist()
    [1, 0, 1]
    """
    ids = ids_of_tokens(tok)
    has_one = (ids >= 0) & (ids < counts.size)
    found = np.where(has_one, counts[np.where(has_one, ids, 0)], 0)
    unknown = tok._model.segmenter.unknown
    if unknown is not None and unknown.byte_ids is not None:  # a byte of a character without an id, which may be a token, too
        symbols = tok._model.alphabet.lookup(np.arange(256, dtype=np.uint8))
        others = (symbols >= 0) & (unknown.byte_ids >= 0) & (unknown.byte_ids != ids[symbols])
        found[symbols[others]] += counts[unknown.byte_ids[others]]
    return found
