"""Headers: arrays of addresses through which compiled code reaches an encoder and its tables."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from ubpe_numba.coding.kernels import header as kernels
from ubpe_numba.runtime.border import address_of

_NONE = np.zeros(0, np.int64)
_FOREVER = 1 << 40  # symbols, for which all tables pay that are made when many were read
ENCODERS = [kernel for name, kernel in vars(kernels).items() if name.startswith("by_")]


def words(n: int) -> tuple[Any, ...]:
    """The types of n arguments that are int64."""
    return (types.int64,) * n


def header_of(plan: Any, unknown: Any, calls: tuple[int, int] = (0, 0), of: Any = None) -> NDArray[np.int64]:
    """The header of a `Plan` that has an `encoder_for`, as kernels/header.py has it.

    `unknown`: the treatment of symbols outside the alphabet; `calls`: the addresses of `encode_at` and
    `decode_at`, for whoever reads them there; `of`: kept as an attribute of its base.
    """
    alphabet, decoder = plan.model.alphabet, plan.tables.decoder
    low, known, keys, order = (0, _NONE, _NONE, _NONE) if alphabet.is_identity else alphabet.finder
    known = known[1:]
    encoder, tables, number, most, fixed, each = plan.encoder_for(_FOREVER).header()
    choice = {"raise": kernels.RAISE, "skip": kernels.SKIP}.get(str(unknown), unknown)
    header = [*calls, choice, low, alphabet.size, *table_words(known, keys, order), fixed, each, number, most]
    header += [
        address_of(getattr(kernels, encoder), words(3)),
        *table_words(decoder.starts),
        decoder.arena.ctypes.data,
    ]
    assert len(header) == kernels.TABLES
    return lasting([*header, *table_words(*tables)], (known, keys, order, decoder, tables), of)


def table_words(*tables: NDArray[Any]) -> list[int]:
    """Two words per table, which must be contiguous: its address and its number of items."""
    assert all(table.flags.c_contiguous for table in tables)
    return [word for table in tables for word in (table.ctypes.data, table.size)]


def lasting(header: list[int], kept: Any, of: Any = None) -> NDArray[np.int64]:
    """A header, as long as which `kept` lives; `of` becomes an attribute of its base."""
    array = np.array(header, np.int64)
    return np.asarray(
        SimpleNamespace(__array_interface__=array.__array_interface__, of=of, kept=(array, kept))
    )


def compile_all() -> None:
    """Compile the kernels that headers have addresses of, or read them from the cache."""
    for kernel in ENCODERS:
        address_of(kernel, words(3))
    address_of(kernels.encode_at, words(7))
    address_of(kernels.decode_at, words(6))
