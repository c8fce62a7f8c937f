"""Documents with their weights: counts of equal ones, and weights of languages."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ubpe_numba.documents.read import MOST, Documents, as_documents, size_by_weight, text_of, weights_of
from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.runtime.arrays import freeze, offsets_of, plain, told, writable

#: Kinds of documents, and how Python has them.
_KINDS: dict[str, Callable[[Any], Any]] = {
    "int": np.ndarray.tolist,
    "str": text_of,
    "bytes": np.ndarray.tobytes,
}
_FORMAT = b"ubpe-numba counts 1"
_SEGMENTS = " segments"  # follows the kind, in a file
_LARGEST = 16  # the weight of the largest language: others are rounded to a sixteenth of it


class Counts:
    """The n distinct documents of a corpus, in order of first appearance, and how often each occurs.

    Made by `count_documents`.

    Attributes
    ----------
    flat : Documents
        Values, int64[n + 1] offsets and the kind of the documents.
    weights : int64[n]
        How often each occurs, or the sum of the weights of its copies; above 0.
    kind : str
        ``"int"``, ``"str"`` or ``"bytes"``.
    are_segments : bool
        Whether they are segments of documents that a tokenizer has already changed and split, as
        `ubpe_numba.distributed.count` counts them. A fit does not do it again.
    documents : list of ndarray
        The distinct documents as arrays of symbols.

    Notes
    -----
    A fit on them equals a fit on the corpus in a different order. The merges are the same unless ties go to
    the pair that is seen first. ``a + b`` and `Counts.merge` are associative, so parts of a corpus may be
    counted separately, on several machines.

    Examples
    --------
    >>> counts = count_documents(["ab", "b", "ab"]) + count_documents(["c", "b"])
    >>> counts.to_lists(), counts.weights.tolist()
    (['ab', 'b', 'c'], [2, 2, 1])
    """

    def __init__(self, flat: Documents, weights: np.ndarray, are_segments: bool = False) -> None:
        """Store without validation; use `count_documents`."""
        freeze([*flat, weights])
        self.flat, self.weights, self.are_segments = flat, weights, are_segments
        self.kind = flat.kind

    @property
    def documents(self) -> list[np.ndarray]:
        """The distinct documents as arrays of symbols (integers, code points or bytes), all views."""
        return (
            np.split(self.flat.values[: self.flat.offsets[-1]], self.flat.offsets[1:-1]) if len(self) else []
        )

    def to_lists(self) -> list[Any]:
        """Copy the distinct documents into Python objects.

        Returns
        -------
        list
            n lists of ints, or n objects `str` or `bytes`.
        """
        return list(map(_KINDS[self.kind], self.documents))

    @staticmethod
    def of(given: Documents, weights: np.ndarray) -> Counts:
        """Count documents that are read already.

        Parameters
        ----------
        given : Documents
            n documents.
        weights : int64[n]
            Their weights, at least 0.

        Returns
        -------
        Counts
            The distinct documents whose weights sum to more than 0.

        Raises
        ------
        OverflowError
            If the weights sum to 2**62 or more.
        """
        stay, total = distinct(given, weights)
        return Counts(given.take(stay), total)

    @staticmethod
    def merge(*parts: Counts) -> Counts:
        """Add up several counts.

        Parameters
        ----------
        *parts
            Counts of documents of the same kind; empty counts may be of any kind.

        Returns
        -------
        Counts
            The distinct documents of all parts, in order of first appearance.

        Raises
        ------
        OverflowError
            If the weights sum to 2**62 or more.
        """
        filled = [part for part in parts if len(part)]
        if not filled:
            return parts[0] if parts else count_documents([])
        merged = Counts.of(*side_by_side(filled))
        merged.are_segments = filled[0].are_segments
        return merged

    def __add__(self, other: Counts) -> Counts:
        return Counts.merge(self, other) if isinstance(other, Counts) else NotImplemented

    def __reduce__(self) -> tuple[object, ...]:
        return Counts, (self.flat, self.weights, self.are_segments)

    def __len__(self) -> int:
        return int(self.weights.size)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        return (
            self.kind == other.kind
            and self.are_segments == other.are_segments
            and np.array_equal(self.weights, other.weights)
            and np.array_equal(self.flat.offsets, other.flat.offsets)
            and np.array_equal(self.flat.values, other.flat.values)
        )

    __hash__ = None  # type: ignore[assignment]

    @staticmethod
    def language_weights(sizes: Iterable[int], alpha: float = 0.3) -> list[int]:
        """Integer weights for `sample_weight`: language shares in proportion to size ** alpha.

        Parameters
        ----------
        sizes
            How many symbols, or documents, there are of each language.
        alpha
            0 to 1. 1 leaves shares as they are, 0 makes them equal.

        Returns
        -------
        weights
            For every document of a language the same weight; the least is 16, so that rounding changes shares
            by 3 % at most.

        Notes
        -----
        Counts of pairs grow by these weights, so ``FitRules(min_count=)`` must match: 32 requires two
        occurrences in the largest language. Shares by powers of sizes are those of multilingual BERT (0.7)
        and XLM (0.5; 0.3 in XLM-R). The table has tokens per 1000 bytes of unseen lines, for 8192 tokens with
        GPT-2's pattern. The corpus is 1.9 MB of English (King James Bible) and of manual pages, 0.4 MB
        Chinese, 0.1 MB Russian and 0.04 MB Japanese (benchmarks/mixing.py):

        =====  =======  =======  =======  ========
        alpha  English  Chinese  Russian  Japanese
        =====  =======  =======  =======  ========
        1      254.4    257.2    247.5    307.4
        0.7    259.3    251.9    221.8    277.0
        0.5    264.7    251.8    205.6    259.8
        0.3    272.8    254.3    196.9    250.4
        0      284.9    257.3    187.5    242.0
        =====  =======  =======  =======  ========

        By 0.3 English takes 7 % more tokens, and Russian and Japanese, a twenty-fourth of the corpus and
        less, a fifth fewer.

        Rare words are not hashed into shared buckets, as in some multilingual models: `decode` could not
        separate them again. Over bytes nothing is unknown; over other alphabets ``encode(unknown=)`` sets the
        encoding of other symbols.

        Examples
        --------
        >>> Counts.language_weights([1_870_000, 390_000, 100_000, 40_000])
        [16, 48, 124, 236]
        """
        sizes = list(sizes)
        for name, value in (("alpha", alpha), *((f"sizes[{i}]", size) for i, size in enumerate(sizes))):
            if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
                raise TypeError(f"{name}: expected a number, got {quoted(value)}")
        if not 0.0 <= alpha <= 1.0:
            raise ValueError(f"alpha: expected 0..1, got {alpha}")
        for i, size in enumerate(sizes):
            if not 1 <= size < MOST:
                raise ValueError(f"sizes[{i}]: expected at least 1 and less than 2**62, got {size}")
        largest = max(sizes, default=1)
        return [round(_LARGEST * (largest / size) ** (1.0 - alpha)) for size in sizes]

    def __repr__(self) -> str:
        what = "segments" if self.are_segments else "documents"
        return f"Counts({len(self)} distinct {what} of {int(self.weights.sum())}, {self.kind})"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the counts to an ``.npz`` file, atomically.

        Parameters
        ----------
        path : str or path
            A name that ends in ``.npz``.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        from ubpe_numba.runtime import files

        files.suffix_of(path, (".npz",))
        members = {
            "format": np.frombuffer(_FORMAT, np.uint8),
            "kind": np.frombuffer((self.kind + _SEGMENTS * self.are_segments).encode(), np.uint8),
            "values": self.flat.values,
            "lengths": np.diff(self.flat.offsets),
            "weights": self.weights,
        }
        files.write_atomically(path, files.npz_of(members))

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Counts:
        """Read a file that `save` wrote.

        Parameters
        ----------
        path : str or path
            A name that ends in ``.npz``.

        Returns
        -------
        Counts
            Equal to those that were saved.

        Raises
        ------
        ModelFormatError
            If the file does not hold counts, or is not valid, with the fault.
        OSError
            If it cannot be read.
        """
        from ubpe_numba.runtime import files

        files.suffix_of(path, (".npz",))
        with files.open_regular(path) as f, files.naming(path):
            known = {"format": "u", "kind": "u", "values": "iu", "lengths": "i", "weights": "i"}
            return _from_arrays(files.read_arrays(f, known))


@told
def count_documents(docs: Any, *, offsets: Any = None, sample_weight: Any = None) -> Counts:
    """Count equal documents.

    Parameters
    ----------
    docs : documents
        As for `fit`.
    offsets : sequence of int, optional
        As for `fit`: where to divide `docs`, one flat document.
    sample_weight : int[n], optional
        The weight of each of the n documents, at least 0; 1 by default. Documents of weight 0 are left out.

    Returns
    -------
    Counts
        The distinct documents with their weights.

    Raises
    ------
    TypeError, ValueError
        As `fit` raises them for these arguments.

    Notes
    -----
    O(symbols).

    Examples
    --------
    >>> count_documents([[1, 2], [3], [1, 2]])
    Counts(2 distinct documents of 3, int)
    """
    documents = as_documents(docs, offsets)
    weights = np.ones(documents.offsets.size - 1, np.int64)
    if sample_weight is not None:
        weights = weights_of(sample_weight, documents.offsets)
    return Counts.of(documents, weights)


def distinct(given: Documents, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Indices int64[k] of the first of equal documents with a weight above 0, and the weights.

    `weights` int64[n] are at least 0. Those returned, int64[k], are the sums over equal documents, above 0.
    OverflowError if the weights sum to 2**62 or more. O(symbols).
    """
    # here: a fit of documents as they are needs no kernel
    from ubpe_numba.documents.kernels.distinct import find_distinct

    n = given.offsets.size - 1
    # two words a symbol of any dtype
    words = writable(given.values.astype(np.int64, copy=False)).view(np.uint32)
    table = np.full(1 << max(4, (2 * n).bit_length()), -1, np.int32)
    hashes, first_of = np.empty(n, np.uint64), np.empty(n, np.int64)
    find_distinct(words, 2 * given.offsets, table, hashes, first_of)
    if float(weights.astype(np.float64).sum()) >= MOST:  # in float64, which does not overflow
        raise OverflowError("counts: weights reach 2**62")
    total = np.zeros(n, np.int64)
    np.add.at(total, first_of, weights)
    stay = np.flatnonzero(total)
    return stay, total[stay]


def side_by_side(parts: Sequence[Counts]) -> tuple[Documents, np.ndarray]:
    """The documents of several counts one after the other, and their weights.

    TypeError for parts of different kinds.
    """
    kinds = {part.kind for part in parts}
    if len(kinds) > 1:
        raise TypeError(f"counts: expected one kind of documents, got {' and '.join(sorted(kinds))}")
    if len({part.are_segments for part in parts}) > 1:
        raise TypeError("counts: expected documents or segments of documents, got both")
    lengths = np.concatenate([np.diff(part.flat.offsets) for part in parts])
    values = np.concatenate([part.flat.values for part in parts])
    return Documents(values, offsets_of(lengths), parts[0].kind), np.concatenate(
        [part.weights for part in parts]
    )


def _from_arrays(members: dict[str, np.ndarray]) -> Counts:
    """Counts from the arrays of a file, which may hold anything; ModelFormatError names the fault."""
    if members["format"].tobytes() != _FORMAT:
        raise ModelFormatError("not counts of this library, version 1")
    shown = members["kind"].tobytes().decode("ascii", "replace")
    kind = shown.removesuffix(_SEGMENTS)
    values, lengths, weights = plain(members["values"]), plain(members["lengths"]), plain(members["weights"])
    expected = {"str": np.dtype(np.uint32), "bytes": np.dtype(np.uint8), "int": values.dtype}
    if kind not in _KINDS or values.dtype != expected[kind] or values.dtype == np.uint64:
        raise ModelFormatError(f"kind {quoted(kind)} with values of {values.dtype}")
    if (
        any(a.ndim != 1 for a in members.values())
        or lengths.size != weights.size
        or lengths.dtype != weights.dtype != np.int64
    ):
        raise ModelFormatError("expected as many weights as lengths, int64")
    if (lengths < 0).any() or (weights <= 0).any() or float(lengths.astype(np.float64).sum()) != values.size:
        raise ModelFormatError("lengths: expected 0 or more, as many in all as values; weights: more than 0")
    if size_by_weight(weights, lengths) >= MOST:
        raise ModelFormatError("weights: expected less than 2**62 symbols in all")
    if kind == "str" and values.size and int(values.max()) > 0x10FFFF:
        raise ModelFormatError("values: expected code points")
    counts = Counts.of(Documents(values.copy(), offsets_of(lengths), kind), weights.astype(np.int64))
    if len(counts) != weights.size:
        raise ModelFormatError("documents: one is there twice")
    counts.are_segments = shown != kind
    return counts
