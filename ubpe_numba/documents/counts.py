"""Distinct documents with their weights: what a corpus comes down to for a fit, counted anywhere and added up."""

from __future__ import annotations

import io
import os
import pathlib
from typing import Any

import numpy as np

from ubpe_numba.documents.kernels.distinct import find_distinct
from ubpe_numba.documents.normalise import Documents, as_document, as_documents, text_of
from ubpe_numba.errors import ModelFormatError
from ubpe_numba.runtime.arrays import describe, offsets_of, plain
from ubpe_numba.runtime.files import open_regular, read_arrays, write_atomically

_MOST = 2**62  # symbols in all, by weight: sums stay far from 2**63
_KINDS = ("int", "str", "bytes")


class Counts:
    """The distinct documents of a corpus, in order of first appearance, and how often each occurs.

    Attributes
    ----------
    flat : Documents
        Values, int64[n + 1] offsets and the kind of the documents.
    weights : int64[n]
        How often each occurs, or their weights added up; more than 0.
    kind : str
        ``"int"``, ``"str"`` or ``"bytes"``.

    A fit on them equals one on the corpus itself, its documents in another order: the same merges unless ties go to the pair
    that is seen first. `a + b` and `Counts.merge` are associative, so parts may be counted anywhere.

    Examples
    --------
    >>> counts = count_documents(["ab", "b", "ab"]) + count_documents(["c", "b"])
    >>> counts.to_lists(), counts.weights.tolist()
    (['ab', 'b', 'c'], [2, 2, 1])
    """

    def __init__(self, flat: Documents, weights: np.ndarray) -> None:
        """Store without validation; use `count_documents`."""
        self.flat, self.weights = flat, weights
        self.kind = flat.kind

    @property
    def documents(self) -> list[np.ndarray]:
        """The distinct documents as arrays of symbols: integers, code points or bytes; they share memory."""
        return np.split(self.flat.values[: self.flat.offsets[-1]], self.flat.offsets[1:-1]) if len(self) else []

    def to_lists(self) -> list[Any]:
        """The distinct documents as lists of ints, as `str` or as `bytes`."""
        if self.kind == "str":
            return [text_of(document) for document in self.documents]
        return [document.tobytes() if self.kind == "bytes" else document.tolist() for document in self.documents]

    @staticmethod
    def of(given: Documents, weights: np.ndarray) -> Counts:
        """Count documents at the border; `weights` int64[n] of at least 0."""
        return _distinct(given, weights)

    @staticmethod
    def merge(*parts: Counts) -> Counts:
        """Add up; documents keep the order of their first appearance. TypeError if `str` meets the rest.

        OverflowError if a weight reaches 2**62.
        """
        filled = [part for part in parts if len(part)]
        if not filled:
            return parts[0] if parts else count_documents([])
        kinds = {part.kind for part in filled}
        if len(kinds) > 1:
            raise TypeError(f"counts: expected one kind of documents, got {' and '.join(sorted(kinds))}")
        lengths = np.concatenate([np.diff(part.flat.offsets) for part in filled])
        values = np.concatenate([part.flat.values for part in filled])
        return _distinct(
            Documents(values, offsets_of(lengths), filled[0].kind), np.concatenate([part.weights for part in filled])
        )

    def __add__(self, other: Counts) -> Counts:
        return Counts.merge(self, other) if isinstance(other, Counts) else NotImplemented

    def __len__(self) -> int:
        return int(self.weights.size)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        return (
            self.kind == other.kind
            and np.array_equal(self.weights, other.weights)
            and np.array_equal(self.flat.offsets, other.flat.offsets)
            and np.array_equal(self.flat.values, other.flat.values)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Counts({len(self)} distinct documents of {int(self.weights.sum())}, {self.kind})"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write flat arrays to an ``.npz`` file, atomically. ValueError for another suffix, OSError from the disk."""
        _check_suffix(path)
        buffer = io.BytesIO()
        np.savez(
            buffer,
            allow_pickle=False,
            format=np.frombuffer(b"ubpe-numba counts 1", np.uint8),
            kind=np.frombuffer(self.kind.encode(), np.uint8),
            values=self.flat.values,
            lengths=np.diff(self.flat.offsets),
            weights=self.weights,
        )
        write_atomically(path, buffer.getvalue())

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Counts:
        """Read what `save` wrote. ModelFormatError says what is wrong with any other file."""
        _check_suffix(path)
        where = os.fspath(path)
        with open_regular(path) as f:
            try:
                arrays = read_arrays(f, {"format": "u", "kind": "u", "values": "iu", "lengths": "i", "weights": "i"})
                return _checked(arrays)
            except ModelFormatError as error:
                raise ModelFormatError(f"{where}: {error}") from error


def count_documents(docs: Any, *, offsets: Any = None, sample_weight: Any = None) -> Counts:
    """Count equal documents.

    `docs` and `offsets` as for `fit`, `sample_weight` int64, one for each document, 1 by default; documents of weight 0 are left
    out. O(symbols). Raises as `fit` does.

    >>> count_documents([[1, 2], [3], [1, 2]])
    Counts(2 distinct documents of 3, int)
    """
    given = as_documents(docs, offsets)
    weights = np.ones(given.offsets.size - 1, np.int64)
    if sample_weight is not None:
        weights = weights_of(sample_weight, given.offsets)
    return _distinct(given, weights)


def weights_of(sample_weight: Any, offsets: np.ndarray) -> np.ndarray:
    """int64[n], one for each document; what is wrong is a TypeError or ValueError that names `sample_weight`."""
    given = as_document(sample_weight, name="sample_weight")
    n = offsets.size - 1
    if given.kind != "int":
        raise TypeError(f"sample_weight: expected integers, got {describe(sample_weight)}")
    if given.values.size != n:
        raise ValueError(f"sample_weight: expected {n} weights, one for each document, got {given.values.size}")
    weights = given.values.astype(np.int64)
    if (bad := np.flatnonzero(weights < 0)).size:
        raise ValueError(f"sample_weight: document {bad[0]}: expected 0 or more, got {weights[bad[0]]}")
    lengths = np.diff(offsets)
    if float(weights.astype(np.float64) @ np.maximum(lengths, 1).astype(np.float64)) >= _MOST:
        raise ValueError("sample_weight: expected less than 2**62 symbols and documents in all, by weight")
    return weights


def _distinct(given: Documents, weights: np.ndarray) -> Counts:
    offsets = given.offsets
    n = offsets.size - 1
    low = given.values if given.values.dtype.itemsize == 8 else given.values.astype(np.int64)
    words = np.ascontiguousarray(low).view(np.uint32) if low.dtype.itemsize == 8 else low
    table = np.full(1 << max(4, (2 * n).bit_length()), -1, np.int32)
    first_of = np.empty(n, np.int64)
    find_distinct(words, 2 * offsets, table, np.empty(n, np.uint64), first_of)
    used = weights > 0
    total = np.zeros(n, np.int64)
    np.add.at(total, first_of[used], weights[used])
    if total.size and (int(total.max()) >= _MOST or float(total.astype(np.float64).sum()) >= _MOST):
        raise OverflowError("counts: weights reach 2**62")
    seen = np.zeros(n, bool)
    seen[first_of[used]] = True
    stay = np.flatnonzero(seen)
    parts = [given.values[a:b] for a, b in zip(offsets[stay].tolist(), offsets[stay + 1].tolist(), strict=True)]
    values = np.concatenate(parts) if parts else given.values[:0].copy()
    return Counts(Documents(values, offsets_of(np.diff(offsets)[stay]), given.kind), total[stay])


def _check_suffix(path: str | os.PathLike[str]) -> None:
    if pathlib.Path(path).suffix.lower() != ".npz":
        raise ValueError(f"path: expected a name that ends in .npz, got {os.fspath(path)!r}")


def _checked(arrays: dict[str, np.ndarray]) -> Counts:
    """Counts from arrays that may hold anything."""
    if arrays["format"].tobytes() != b"ubpe-numba counts 1":
        raise ModelFormatError("not counts of this library, version 1")
    kind = arrays["kind"].tobytes().decode("ascii", "replace")
    values, lengths, weights = plain(arrays["values"]), plain(arrays["lengths"]), plain(arrays["weights"])
    expected = {"str": np.dtype(np.uint32), "bytes": np.dtype(np.uint8), "int": values.dtype}
    if kind not in _KINDS or values.dtype != expected[kind] or values.dtype == np.uint64:
        raise ModelFormatError(f"kind {kind!r} with values of {values.dtype}")
    if any(a.ndim != 1 for a in arrays.values()) or lengths.size != weights.size or lengths.dtype != weights.dtype != np.int64:
        raise ModelFormatError("expected as many weights as lengths, int64")
    if (lengths < 0).any() or (weights <= 0).any() or float(lengths.astype(np.float64).sum()) != values.size:
        raise ModelFormatError("lengths: expected 0 or more, as many in all as values; weights: more than 0")
    if float(weights.astype(np.float64) @ np.maximum(lengths, 1).astype(np.float64)) >= _MOST:
        raise ModelFormatError("weights: expected less than 2**62 symbols in all")
    if kind == "str" and values.size and int(values.max()) > 0x10FFFF:
        raise ModelFormatError("values: expected code points")
    found = _distinct(Documents(values.copy(), offsets_of(lengths), kind), weights.astype(np.int64))
    if len(found) != weights.size:
        raise ModelFormatError("documents: one is there twice")
    return found
