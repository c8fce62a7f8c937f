"""Headers: arrays of addresses, by which compiled code that has nothing else reaches an encoder and all of its tables."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from ubpe_numba.coding.kernels import best_path, header as kernels, linear_bpe, merge_by_heap, merge_by_pass, viterbi
from ubpe_numba.runtime.compiler import address_of

_NONE = np.zeros(0, np.int64)
_DESKS = 4  # calls by tf-idf at a time that need not clear counts
_FOREVER = 1 << 40  # symbols, for which all tables pay that are made when many were read
ENCODERS = [kernel for name, kernel in vars(kernels).items() if name.startswith("by_")]


def words(n: int) -> tuple[Any, ...]:
    """The types of n arguments that are int64."""
    return (types.int64,) * n


def _encoder(plan: Any) -> tuple[Any, tuple[Any, ...], int, int, int, int]:
    """The encoding kernel of a plan as kernels/header.py has them: with its tables, `number`, `most`, `fixed` and `each`."""
    bound: Any = plan.bound
    if plan.paths is not None:
        encoder, objective = plan.paths
        bound = encoder.bound(objective, _FOREVER)
    kernel, args = bound(0, np.empty(0, np.int32), np.empty(2, np.int64), 0)
    if kernel is linear_bpe.encode_rank:
        pairs, left, right, n, *rest = args[0]
        return kernels.by_rank, (pairs, left, right, *rest), n, 0, 8 * (linear_bpe.RUN_HEAD + linear_bpe.SHORT) + 16, 9
    if kernel is merge_by_heap.merge_by_heap:
        *tables, n = args[1]
        return kernels.by_heap, tuple(tables), n, 0, 0, 44
    if kernel is merge_by_pass.encode_pairs:
        (*tables, n), conflicts, batch, *_ = args
        return kernels.by_pass, (*tables, conflicts), n, int(batch), 0, 0
    ring = encoder.ring
    if kernel is best_path.best_paths:
        desks = np.zeros((1 + _DESKS) * (8 + 3 * encoder.values.size), np.int64)
        return kernels.by_tfidf, (*args[0], desks), ring, 0, 16 * ring + 8, best_path.NODE.itemsize
    if kernel is viterbi.packed_paths:
        return kernels.by_sums, (*args[:7], encoder.costs[objective]), ring, encoder.packed[objective][1], 40 * ring, 8
    *matches, scores, single = args[:8]
    return kernels.by_forward, (*matches, scores), ring, int(single), 16 * ring, 4


def header_of(plan: Any, unknown: Any, calls: tuple[int, int] = (0, 0), of: Any = None) -> NDArray[np.int64]:
    """The header of a `Plan` that has a `bound`, as kernels/header.py has it.

    `unknown`: the treatment of symbols outside the alphabet; `calls`: the addresses of `encode_at` and `decode_at`, for whoever
    reads them there; `of`: kept as an attribute of its base.
    """
    alphabet, decoder = plan.model.alphabet, plan.tables.decoder
    low, known, keys, order = (0, _NONE, _NONE, _NONE) if alphabet.is_identity else alphabet.finder
    known = known[1:]
    encoder, tables, number, most, fixed, each = _encoder(plan)
    choice = {"raise": kernels.RAISE, "skip": kernels.SKIP}.get(str(unknown), unknown)
    header = [*calls, choice, low, alphabet.size, *table_words(known, keys, order), fixed, each, number, most]
    header += [address_of(encoder, words(3)), *table_words(decoder.starts), decoder.arena.ctypes.data]
    assert len(header) == kernels.TABLES
    return lasting([*header, *table_words(*tables)], (known, keys, order, decoder, tables), of)


def table_words(*tables: NDArray[Any]) -> list[int]:
    """The two words of each table, which has to be contiguous: where it is, and how many items it has."""
    assert all(table.flags.c_contiguous for table in tables)
    return [word for table in tables for word in (table.ctypes.data, table.size)]


def lasting(header: list[int], kept: Any, of: Any = None) -> NDArray[np.int64]:
    """A header, as long as which `kept` lives; `of` becomes an attribute of its base."""
    array = np.array(header, np.int64)
    return np.asarray(SimpleNamespace(__array_interface__=array.__array_interface__, of=of, kept=(array, kept)))


def compile_all() -> None:
    """Compile the kernels that headers have addresses of, or read them from the cache."""
    for kernel in ENCODERS:
        address_of(kernel, words(3))
    address_of(kernels.encode_at, words(7))
    address_of(kernels.decode_at, words(6))
