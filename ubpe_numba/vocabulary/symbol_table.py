"""Symbols of an alphabet: reading what the user gives, and the table that finds their ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.documents.normalise import Documents, as_document
from ubpe_numba.runtime.arrays import describe

TABLE_SPAN = 2**21  # symbols up to here apart are looked up in a table: 8 MB at most, all of Unicode fits
CHUNK = 2**15  # symbols in flight: their temporary arrays stay in the cache


class SymbolTable(NamedTuple):
    """From symbols to ids: a table for a narrow span, else binary search."""

    low: int
    table: NDArray[np.int32]  # -1, the ids from symbol `low` on, -1
    keys: NDArray[np.int64]  # the sorted symbols, if there is no table
    order: NDArray[np.int32]  # the ids of these

    @classmethod
    def of(cls, symbols: NDArray[Any]) -> SymbolTable:
        """Make it from the symbols in the order of their ids."""
        low, span = int(symbols.min()), int(symbols.max()) - int(symbols.min()) + 1
        ids = np.arange(symbols.size, dtype=np.int32)
        if span <= TABLE_SPAN:
            table = np.full(span + 2, -1, np.int32)
            table[symbols.astype(np.int64) - low + 1] = ids
            return cls(low, table, np.zeros(0, np.int64), ids[:0])
        order = np.argsort(symbols).astype(np.int32)
        return cls(low, ids[:0], symbols[order].astype(np.int64), order)

    def __call__(self, values: NDArray[Any]) -> NDArray[np.int32]:
        """Return the ids of integers (not uint64), -1 for unknown."""
        ids = np.empty(values.size, np.int32)
        for start in range(0, values.size, CHUNK):
            part, out = values[start : start + CHUNK].astype(np.int64), ids[start : start + CHUNK]
            if self.table.size:
                # Clipped to the -1 at the ends. Where this wraps around, it cannot land on the table: that
                # would take a symbol 2**64 away.
                part -= self.low
                part += 1
                self.table.take(part, out=out, mode="clip")
            else:
                at = np.minimum(np.searchsorted(self.keys, part), self.keys.size - 1)
                out[:] = np.where(self.keys[at] == part, self.order[at], -1)
        return ids


def read_symbols(symbols: Any) -> Documents:
    """Read a sequence of symbols as one document."""
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
            raise error(f"alphabet: entry {i}: expected {cls.__name__} of length 1, got {item!r:.40}")
    return as_document(cls().join(items), name="alphabet")


def order_by_id(alphabet: Mapping[Any, int]) -> NDArray[np.int64]:
    """Return the number of the entry with each id, after checking that the ids are 0..size-1."""
    keys, n = list(alphabet), len(alphabet)
    ids = as_document(list(alphabet.values()), name="alphabet: ids").values
    if (at := np.flatnonzero((ids < 0) | (ids >= n))).size:
        key, i = keys[at[0]], ids[at[0]]
        raise ValueError(f"alphabet: symbol {key!r} has id {i}, expected 0..{n - 1}, each once")
    order = np.argsort(ids, kind="stable")
    if (at := np.flatnonzero(ids[order[1:]] == ids[order[:-1]])).size:
        first, second = order[at[0]], order[at[0] + 1]
        raise ValueError(f"alphabet: symbols {keys[first]!r} and {keys[second]!r} have the same id {ids[first]}")
    return order
