"""Short documents without delay: functions that call a kernel directly, and their headers.

The kernels are in kernels/short.py.

`encode` of twenty symbols spends a fraction of a microsecond in kernels. To call compiled code from Python
with all the arrays takes several, the general reader tens of microseconds.

A function of this module takes a document and returns its ids, a new array. It returns None for anything
unusual (another type, an unknown symbol, a longer document); the general reader then handles it and raises
errors. If `machine/objects.py` knows the layout of Python's objects, the function is a C function without a
Python frame. Otherwise it makes arrays of its arguments and calls numba.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import accumulate
from typing import Any

import numpy as np

from ubpe_numba.coding.headers import header_of, lasting, table_words
from ubpe_numba.coding.kernels import short as kernels
from ubpe_numba.coding.kernels.short import LONGEST
from ubpe_numba.documents.flat import Named
from ubpe_numba.documents.ragged import Ragged, trusted
from ubpe_numba.runtime.machine.objects import function_of, places, ready

__all__ = ["LONGEST", "decoder", "encoder", "kernels", "many", "table_words", "text_encoder"]

# documents of a list, and of a `Ragged`, of which more are read in no time by the general reader
_MOST, _FEW = 1024, 16
_REPLACE = np.frombuffer(b"replace\0", np.uint8)  # a handler of errors that Python has in C
_INTEGERS = frozenset(map(np.dtype, "bBhHiIlq"))  # that int64 holds, in the order of bytes of this machine
#: Encodes a short document to int32 ids; None if it is unusual.
One = Callable[[Any], "np.ndarray | None"]


def _header(forms: int, words: list[int], *kept: Any) -> np.ndarray:
    """A header with memory of its own; `kept` lives as long."""
    memory = np.zeros(2 * kernels.MEMORY, np.uint8)
    return lasting(
        [places().ctypes.data if ready() else 0, forms, memory.ctypes.data, *words], (memory, kept)
    )


def encoder(plan: Any) -> One | None:
    """Make the encoder of a short document by a `Plan` that divides none; None if it is not supported."""
    alphabet, segmenter = plan.model.alphabet, plan.model.segmenter
    is_whole = plan.encoder_for is not None and plan.tables.is_plain and plan.isolated is None
    if not is_whole or isinstance(alphabet.kind, Named):  # words are numbered before anything else
        return None
    if (
        alphabet.kind == "str" and (alphabet.symbols >> 11 == 0x1B).any()
    ):  # two surrogates may be one character
        return None
    forms = (
        kernels.POINTS
        if alphabet.kind == "str"
        else kernels.INTEGERS | kernels.OF_BYTES | (0 if segmenter.encoding is None else kernels.UTF8)
    )
    header = header_of(plan, "raise")
    call = _header(forms, [header.ctypes.data], header)
    if ready():
        return function_of(kernels.encode, call)  # type: ignore[no-any-return]

    def encode(doc: Any) -> np.ndarray | None:
        values = _values(doc, forms)
        return None if values is None else _ids(kernels.encode_integers, call, values.astype(np.int64))

    return encode


def text_encoder(forms: int, words: list[int], *kept: Any) -> One:
    """Make the encoder of a short text from the words, from 3 on, of a header of `encode_text`.

    `kept` lives as long as the encoder.
    """
    call = _header(forms, words, *kept)
    if ready():
        return function_of(kernels.encode_text, call)  # type: ignore[no-any-return]
    lock = threading.Lock()  # of the memory of the header

    def encode(doc: Any) -> np.ndarray | None:
        values = _values(doc, forms)
        # another thread, or a handler of a signal in this thread
        if values is None or not lock.acquire(blocking=False):
            return None
        try:
            return _ids(kernels.encode_bytes, call, values)
        finally:
            lock.release()

    return encode


def decoder(tables: Any) -> Callable[..., Any] | None:
    """Make the decoder of a short document, with the arguments of `kernels.decode`.

    None if it is not supported.
    """
    alphabet, _, segmenter = tables.model
    if segmenter.restores or isinstance(alphabet.kind, Named):
        return None
    own_decoder, errors = tables.decoder, 0
    if segmenter.encoding is not None:
        output = kernels.TEXT
        errors = 0 if segmenter.has_bytes else _REPLACE.ctypes.data  # invalid bytes are replaced one by one
    else:
        output = {"str": kernels.CODE_POINTS, "bytes": kernels.PLAIN_BYTES}.get(
            alphabet.kind, own_decoder.dtype.num
        )
    gaps = np.zeros(0, np.uint8) if own_decoder.gaps is None else own_decoder.gaps.view(np.uint8)
    words = [
        errors,
        output,
        own_decoder.slots.ctypes.data,
        *table_words(own_decoder.starts),
        own_decoder.arena.ctypes.data,
    ]
    call = _header(kernels.INTEGERS, words + table_words(gaps), own_decoder, gaps)
    if ready():
        return function_of(kernels.decode, call)  # type: ignore[no-any-return]

    def decode(ids: Any, errors: Any = "replace") -> Any:
        values = _values(ids, kernels.INTEGERS)
        room = np.empty(kernels.MEMORY, np.uint8)
        n = -1 if values is None else kernels.decode_ids(call, values.astype(np.int64), room)
        if n < 0:
            return None
        symbols = room[:n].tobytes()
        if output == kernels.PLAIN_BYTES or errors is None:
            return symbols
        if output >= 0:
            return np.frombuffer(bytearray(symbols), own_decoder.dtype)
        try:
            return symbols.decode("utf-8" if output == kernels.TEXT else "utf-32-le", "strict")
        except UnicodeDecodeError:
            return None

    return decode


def _values(doc: Any, forms: int) -> np.ndarray | None:
    """The symbols of a short document of usual types, as an array; None for an unusual one."""
    cls, values = type(doc), None
    if cls is np.ndarray and forms & kernels.INTEGERS:
        values = doc if doc.ndim == 1 and doc.dtype in _INTEGERS else None
    elif cls is bytes and forms & kernels.OF_BYTES:
        values = np.frombuffer(doc, np.uint8)
    elif cls in (list, tuple, str) and len(doc) <= LONGEST:
        try:
            if cls is not str:
                values = (
                    np.array(doc, np.int64)
                    if forms & kernels.INTEGERS and {int}.issuperset(map(type, doc))
                    else None
                )
            elif forms & kernels.UTF8:
                values = np.frombuffer(doc.encode(), np.uint8)
            elif forms & kernels.POINTS:
                values = np.array(list(map(ord, doc)), np.int64)
        except (OverflowError, UnicodeEncodeError):
            return None
    return None if values is None or values.size > LONGEST else values


def _ids(kernel: Any, call: np.ndarray, values: np.ndarray) -> np.ndarray | None:
    """The ids that a kernel writes for a document, by numba."""
    out = np.empty(values.size, np.int32)
    n = kernel(call, values, out)
    return None if n < 0 else out[:n].copy()


def many(one: One, docs: Any) -> Ragged | None:
    """The ids of a list or a `Ragged` of short documents, one after the other.

    None unless all are usual and have the same type.
    """
    docs = [*docs] if type(docs) is Ragged and len(docs) <= _FEW else docs
    if type(docs) is not list or len(docs) > _MOST or len(types := set(map(type, docs))) != 1:
        return None
    (cls,) = types
    is_known = cls in (list, tuple, bytes, str) or (cls is np.ndarray and all(doc.ndim == 1 for doc in docs))
    # such as integers, of a flat list: an error that the general way tells
    if not is_known or sum(map(len, docs)) > LONGEST:
        return None
    results = [ids for doc in docs if (ids := one(doc)) is not None]
    if len(results) < len(docs):
        return None
    offsets = np.array([*accumulate(map(len, results), initial=0)], np.int64)
    return trusted(np.concatenate(results), offsets)
