"""The sizes of the library's objects, for Dask: it writes results to disk by what it takes their size to be.

Without this a `Ragged` of a gigabyte is an object of 56 bytes. Registered when the wing is imported, on every worker too, since
its tasks are functions of the wing.
"""

from __future__ import annotations

from typing import Any

from ubpe_numba.documents.counts import Counts
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import Documents

_OBJECT = 200  # bytes: the Python object and those of its arrays


def register_sizes() -> None:
    """Tell Dask how many bytes a `Ragged`, `Documents` and `Counts` have; a view has those that are pickled of it."""
    from dask.sizeof import sizeof

    sizeof.register(Ragged, _of_ragged)
    sizeof.register(Documents, _of_documents)
    sizeof.register(Counts, _of_counts)


def _of_ragged(ragged: Any) -> int:
    return _OBJECT + int(ragged.offsets.nbytes) + 4 * int(ragged.total)


def _of_documents(documents: Any) -> int:
    return _OBJECT + int(documents.values.nbytes) + int(documents.offsets.nbytes)


def _of_counts(counts: Any) -> int:
    return _OBJECT + _of_documents(counts.flat) + int(counts.weights.nbytes)
