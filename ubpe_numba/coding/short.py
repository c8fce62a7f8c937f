"""Short documents without a wait: functions of Python whose code is a kernel (kernels/short.py), and their headers.

`encode` of twenty symbols spends a fraction of a microsecond in kernels; to go from Python into compiled code with all the arrays
takes several, the general reader tens. Such a function takes a document and returns its ids, a new array; whatever is unusual
(another type, an unknown symbol, a longer document) is answered with None, and the general reader takes it, which has the
messages. There are none where `machine/objects.py` is not `READY`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

import numpy as np

from ubpe_numba.coding.headers import header_of, lasting, table_words
from ubpe_numba.coding.kernels import short as kernels
from ubpe_numba.coding.kernels.short import LONGEST
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.runtime.arrays import Named
from ubpe_numba.runtime.machine.objects import READY, function_of, places, replace_method

__all__ = ["LONGEST", "READY", "decoder", "encoder", "function", "kernels", "many", "replace_method", "table_words"]

_MOST, _FEW = 1024, 16  # documents of a list, and of a `Ragged`, of which more are read in no time by the general reader
#: Encodes one short document to int32 ids; None for what is unusual.
One = Callable[[Any], "np.ndarray | None"]


def function(kernel: Any, forms: int, header: list[int], *kept: Any) -> Any:
    """The function of Python of a kernel, with memory of its own; `kept` lives as long."""
    memory = np.zeros(2 * kernels.MEMORY, np.uint8)
    words = [places().ctypes.data, forms, memory.ctypes.data, *header]
    return function_of(kernel, lasting(words, (memory, kept)))


def encoder(plan: Any) -> One | None:
    """Make the encoder of one short document by a `Plan` that cuts none; None where there is no such way."""
    alphabet, segmenter = plan.model.alphabet, plan.model.segmenter
    is_whole = plan.bound is not None and plan.tables.is_plain and plan.isolated is None
    if not READY or not is_whole or isinstance(alphabet.kind, Named):  # words are numbered before anything else
        return None
    forms = (
        kernels.POINTS
        if alphabet.kind == "str"
        else kernels.INTEGERS | kernels.OF_BYTES | (0 if segmenter.encoding is None else kernels.UTF8)
    )
    header = header_of(plan, "raise")
    return function(kernels.encode, forms, [header.ctypes.data], header)  # type: ignore[no-any-return]


def decoder(tables: Any) -> Callable[..., Any] | None:
    """Make `decode(ids, errors)` of one short document, with None for `errors` to its bytes; None where there is no such way.

    Its result is None for what is unusual.
    """
    alphabet, _, segmenter = tables.model
    if not READY or segmenter.restores or isinstance(alphabet.kind, Named):
        return None
    made = tables.decoder
    if segmenter.encoding is not None:
        output = kernels.TEXT_OR_NOT if segmenter.has_bytes else kernels.TEXT  # bytes that are no text are replaced one by one
    else:
        output = {"str": kernels.CODE_POINTS, "bytes": kernels.PLAIN_BYTES}.get(alphabet.kind, made.dtype.num)
    gaps = np.zeros(0, np.uint8) if made.gaps is None else made.gaps.view(np.uint8)
    words = [0, output, made.slots.ctypes.data, *table_words(made.starts), made.arena.ctypes.data]
    return function(kernels.decode, kernels.INTEGERS, words + table_words(gaps), made, gaps)  # type: ignore[no-any-return]


def many(one: One, docs: Any) -> Ragged | None:
    """The ids of a list or a `Ragged` of short documents, one after the other; None unless all are usual, and of one type."""
    docs = [*docs] if type(docs) is Ragged and len(docs) <= _FEW else docs
    if type(docs) is not list or len(docs) > _MOST or len(types := set(map(type, docs))) != 1:
        return None
    (cls,) = types
    is_known = cls in (list, tuple, bytes, str) or (cls is np.ndarray and all(doc.ndim == 1 for doc in docs))
    if not is_known or sum(map(len, docs)) > LONGEST:  # such as integers, of a flat list: an error that the general way tells
        return None
    found = [ids for doc in docs if (ids := one(doc)) is not None]
    if len(found) < len(docs):
        return None
    offsets = np.array([*accumulate(map(len, found), initial=0)], np.int64)
    return Ragged._trusted(np.concatenate(found), offsets)
