"""Symbols of an alphabet: the argument `alphabet` of a tokenizer is read, and ids are looked up in a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.documents.read import Documents, as_document
from ubpe_numba.errors import quoted
from ubpe_numba.runtime.arrays import describe

TABLE_SPAN = 2**21  # the largest high - low + 1 of symbols for which there is a table: at most 8 MB, and all of Unicode fits
CHUNK = 2**15  # symbols looked up at once, so that temporary arrays stay in the processor's cache


class SymbolTable(NamedTuple):
    """Ids of symbols: a table if the symbols lie close together, else sorted symbols for binary search.

    For the symbols 7, 5 (ids 0, 1): `low` 5, `table` [-1, 1, -1, 0, -1], of which entry ``symbol - low + 1`` is the id.
    """

    low: int  # the smallest symbol
    table: NDArray[np.int32]  # -1, the id of every integer from `low` to the largest symbol (-1 for none), -1; empty without one
    keys: NDArray[np.int64]  # the sorted symbols if there is no table, else empty
    order: NDArray[np.int32]  # the ids of `keys`

    @classmethod
    def of(cls, symbols: NDArray[Any], more: NDArray[Any], ids_of_more: NDArray[np.int32]) -> SymbolTable:
        """Make it from at least one symbol, in the order of their ids, and more with any ids of these.

        O(span), or O(n log n) without a table.
        """
        ids = np.arange(symbols.size, dtype=np.int32)
        if more.size:
            symbols, ids = np.concatenate([symbols, more]), np.concatenate([ids, ids_of_more])
        low, span = int(symbols.min()), int(symbols.max()) - int(symbols.min()) + 1
        if span <= TABLE_SPAN:
            table = np.full(span + 2, -1, np.int32)
            table[symbols.astype(np.int64) - low + 1] = ids
            return cls(low, table, np.zeros(0, np.int64), ids[:0])
        order = np.argsort(symbols)
        return cls(low, ids[:0], symbols[order].astype(np.int64), ids[order])

    def __call__(self, values: NDArray[Any]) -> NDArray[np.int32]:
        """The ids, int32[n], of n integers (not uint64), -1 for unknown ones. O(n), or O(n log size) without a table."""
        ids = np.empty(values.size, np.int32)
        for start in range(0, values.size, CHUNK):
            part, out = values[start : start + CHUNK].astype(np.int64), ids[start : start + CHUNK]
            if self.table.size:
                # Symbols outside the table are clipped to the -1 at its ends. If the subtraction overflows, the result is outside
                # the table too: inside would need a symbol 2**64 away.
                part -= self.low
                part += 1
                self.table.take(part, out=out, mode="clip")
            else:
                at = np.minimum(np.searchsorted(self.keys, part), self.keys.size - 1)
                out[:] = np.where(self.keys[at] == part, self.order[at], -1)
        return ids


def read_symbols(symbols: Any) -> Documents:
    """Read an alphabet given as a sequence: a document of its symbols.

    Raises TypeError if it is no sequence or its entries differ in type, ValueError for an entry of another length than 1.
    """
    if isinstance(symbols, np.ndarray) and symbols.dtype.kind in "OUST":
        symbols = symbols.tolist()
    if isinstance(symbols, (str, bytes, bytearray, memoryview)) or hasattr(type(symbols), "__array__"):
        return as_document(symbols, name="alphabet")
    try:
        items = list(symbols)
    except TypeError:
        raise TypeError(f"alphabet: expected a size, a sequence or a mapping, got {describe(symbols)}") from None
    cls = next((cls for cls in (str, bytes) if items and isinstance(items[0], cls)), None)
    if cls is None:
        return as_document(items, name="alphabet")
    for i, item in enumerate(items):
        if not isinstance(item, cls) or len(item) != 1:
            error = ValueError if isinstance(item, cls) else TypeError
            raise error(f"alphabet: entry {i}: expected {cls.__name__} of length 1, got {quoted(item)}")
    return as_document(cls().join(items), name="alphabet")


def groups_by_id(alphabet: Mapping[Any, int]) -> tuple[NDArray[np.int64], int, NDArray[np.int64]]:
    """What has which id in a mapping of n symbols to ids.

    Indices of entries int64[n]: first of each id 0..m-1 the first entry that has it, then all the others; m; and the ids of those
    others. Raises TypeError or ValueError unless the ids are 0..m-1, each at least once.

    >>> groups_by_id({"a": 1, "b": 0, "A": 1})
    (array([1, 0, 2]), 2, array([1]))
    """
    keys, n = list(alphabet), len(alphabet)
    ids = as_document(list(alphabet.values()), name="alphabet: ids").values.astype(np.int64)
    if (at := np.flatnonzero((ids < 0) | (ids >= n))).size:
        raise ValueError(f"alphabet: symbol {quoted(keys[at[0]])} has id {ids[at[0]]}, expected 0..{n - 1}")
    found, first = np.unique(ids, return_index=True)
    if (gap := np.flatnonzero(found != np.arange(found.size))).size:
        last = keys[int(np.argmax(ids))]
        raise ValueError(f"alphabet: no symbol has id {gap[0]}, though {quoted(last)} has {ids.max()}")
    others = np.delete(np.arange(n), first)
    return np.concatenate([first, others]), found.size, ids[others]
