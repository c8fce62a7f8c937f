"""Ids that are left out before decoding, such as padding and special tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import Documents
from ubpe_numba.errors import UnknownTokenError
from ubpe_numba.runtime.arrays import describe, offsets_of
from ubpe_numba.vocabulary.special_tokens import SpecialTokens


def ids_to_skip(skip: Any, skip_special: bool, special: SpecialTokens | None) -> np.ndarray | None:
    """The ids that `skip` names, one or several, and those of special tokens if asked for: int64, or None for nothing to do.

    TypeError for what is no integer.

    >>> ids_to_skip((-1, 3), False, None)
    array([-1,  3])
    """
    if skip is None and not skip_special:
        return None
    given = np.zeros(0, np.int64) if skip is None else np.atleast_1d(np.asarray(skip))
    if given.ndim != 1 or (given.dtype.kind not in "iu" and given.size):
        raise TypeError(f"skip: expected an id or several, got {describe(skip)}")
    own = special.ids[~special.always] if skip_special and special is not None else np.zeros(0, np.int64)
    both: np.ndarray = np.concatenate([given.astype(np.int64), own.astype(np.int64)])
    return both


def without_ids(documents: Documents, gone: np.ndarray | None) -> Documents:
    """Documents of ids without some of them; themselves if there is nothing to leave out. O(ids * log of those left out).

    >>> without_ids(Documents(np.array([5, -1, 6, -1, -1]), np.array([0, 2, 5]), "int"), np.array([-1]))
    Documents(values=array([5, 6]), offsets=array([0, 1, 2]), kind='int')
    """
    values, offsets, kind = documents
    if gone is None or kind == "str":  # which is refused elsewhere
        return documents
    keep = ~np.isin(values, gone)
    if keep.all():
        return documents
    return Documents(values[keep], offsets_of(keep)[offsets], kind)


def read_left(documents: Documents, gone: np.ndarray | None, read: Callable[[Documents], Ragged]) -> Ragged:
    """What `read` makes of documents without some of their ids; an UnknownTokenError names the position among those given.

    >>> def read(left):
    ...     raise UnknownTokenError(1, 0, 9, 8)
    >>> read_left(Documents(np.array([5, -1, -1, 9]), np.array([0, 2, 4]), "int"), np.array([-1]), read)
    Traceback (most recent call last):
    ...
    ubpe_numba.errors.UnknownTokenError: document 1, position 1: token id 9 is outside the vocabulary, 0..7
    """
    left = without_ids(documents, gone)
    if gone is None or left is documents:
        return read(documents)
    try:
        return read(left)
    except UnknownTokenError as error:
        begin, end = documents.offsets[error.document : error.document + 2].tolist()
        kept = np.flatnonzero(~np.isin(documents.values[begin:end], gone))
        raise UnknownTokenError(error.document, int(kept[error.position]), error.token, error.size) from None
