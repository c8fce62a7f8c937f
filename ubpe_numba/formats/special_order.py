"""A model whose special tokens have the first ids, as trainers of Hugging Face number them; for exports."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.reserved import Reserved

__all__ = ["are_first", "special_tokens_first"]


def special_tokens_first(model: Model) -> tuple[Model, NDArray[np.int64]]:
    """The same model with the ids 0..k-1 for its special tokens, and what each id becomes, int64[largest id + 1].

    Special tokens stay in the order of their ids, and so do all others behind them, known words too, without gaps; -1 for an id
    that nothing has. Without special tokens only gaps go.

    >>> from ubpe_numba import BPE
    >>> made, new = special_tokens_first(BPE.from_merges([[0, 1]], "ab", special_tokens=["[UNK]", "[CLS]"]).model_)
    >>> made.segmenter.special.ids.tolist(), made.segmenter.token_ids.tolist(), new.tolist()
    ([0, 1], [2, 3, 4], [2, 3, 4, 0, 1])
    """
    segmenter = model.segmenter
    reserved, special, unknown = segmenter.reserved, segmenter.special, segmenter.unknown
    tokens = np.arange(len(model.vocabulary)) if segmenter.token_ids is None else segmenter.token_ids.astype(np.int64)
    none = np.zeros(0, np.int64)
    words = none if special is None else special.ids.astype(np.int64)
    others = [tokens, words]
    if unknown is not None:
        others += [np.array([unknown.id]), none if unknown.byte_ids is None else unknown.byte_ids.astype(np.int64)]
    used = np.unique(np.concatenate(others))
    first = np.sort(words[_asked(special)]) if special is not None else none
    order = np.concatenate([first, np.setdiff1d(used[used >= 0], first)])
    new = np.full(int(order.max()) + 1, -1, np.int64)
    new[order] = np.arange(order.size)
    found = np.append(new, -1)  # of -1: no id
    if special is not None:
        reserved = special.with_ids(new[words].astype(np.int32))
    if unknown is not None:
        byte_ids = None if unknown.byte_ids is None else found[unknown.byte_ids].astype(np.int32)
        unknown = unknown._replace(byte_ids=byte_ids, id=int(found[unknown.id]))
    changed = segmenter._replace(reserved=reserved, unknown=unknown).numbered(found[tokens], tokens.size)
    return model._replace(segmenter=changed), new


def are_first(model: Model) -> bool:
    """Whether there are special tokens, and they have the ids 0..k-1."""
    special = model.segmenter.special
    ids = np.zeros(0) if special is None else np.sort(special.ids[_asked(special)])
    return bool(ids.size) and np.array_equal(ids, np.arange(ids.size))


def _asked(special: Reserved) -> NDArray[np.bool_]:
    """Which words are special tokens that texts may hold: bool[w]."""
    found: NDArray[np.bool_] = ~special.always & special.found
    return found
