"""The vocabulary: what every id stands for, how tokens are built, and what is known about them. Frozen and validated."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np

from ubpe_numba.errors import ModelFormatError
from ubpe_numba.runtime.arrays import check_fields, check_size, integers_of, numbers_of
from ubpe_numba.vocabulary.kernels import arena as arena_kernels

__all__ = ["Vocabulary"]

#: Pairs that stand for more symbols than this in all are refused unless `max_symbols` says otherwise: 30 can claim 2**30.
MAX_SYMBOLS = 1 << 27
_KNOWN = ("weights", "counts", "document_frequencies")


class Vocabulary:
    """Tokens 0..V-1: first the symbols of the alphabet, then what was learned.

    Attributes
    ----------
    n_alphabet : int
        The number of alphabet symbols, ids 0..n_alphabet-1.
    n_learned : int
        The number of learned tokens, ids from n_alphabet on.
    in_order_of_creation : bool
        Whether pairs are known and the parents of every token have lower ids than it.
    merges : int32[m, 2] or None
        The two ids that make up each learned token; None where only flat sequences are known.
    arena, offsets : int32[s], int64[V + 1]
        The alphabet ids that token t stands for are ``arena[offsets[t]:offsets[t + 1]]``.
    weights : float64[V]
        idf of every token, 0 for the alphabet.
    counts, document_frequencies : int64[V]
        Occurrences of the pair, and documents that held it, when it was merged; 0 for the alphabet and where not known.
    n_documents, n_symbols : int
        Size of the corpus, 0 where not known.

    All arrays are read-only. Two vocabularies are equal if all their arrays are.

    Examples
    --------
    >>> v = Vocabulary.from_merges(3, [[0, 1], [3, 2]])
    >>> len(v), v.sequence(4).tolist()
    (5, [0, 1, 2])
    """

    __slots__ = (
        "arena", "counts", "document_frequencies", "in_order_of_creation", "merges", "n_alphabet", "n_documents", "n_learned",
        "n_symbols", "offsets", "weights",
    )  # fmt: skip
    n_alphabet: int
    n_learned: int
    in_order_of_creation: bool
    merges: np.ndarray | None
    arena: np.ndarray
    offsets: np.ndarray
    weights: np.ndarray
    counts: np.ndarray
    document_frequencies: np.ndarray
    n_documents: int
    n_symbols: int

    def __init__(self, n_alphabet: int, merges: np.ndarray | None, arena: np.ndarray, offsets: np.ndarray, **known: Any) -> None:
        """Store without validation; use `from_merges` or `from_sequences`."""
        values = {"n_alphabet": n_alphabet, "merges": merges, "arena": arena, "offsets": offsets, **known}
        size = offsets.size - 1
        values["n_learned"] = size - n_alphabet
        values["in_order_of_creation"] = merges is not None and bool((merges < np.arange(n_alphabet, size)[:, None]).all())
        for name in self.__slots__:
            value = values[name]
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, name, value)

    @classmethod
    def from_merges(
        cls,
        n_alphabet: int,
        merges: Any,
        weights: Any = None,
        counts: Any = None,
        document_frequencies: Any = None,
        n_documents: int = 0,
        n_symbols: int = 0,
        max_symbols: int = MAX_SYMBOLS,
    ) -> Vocabulary:
        """Make a vocabulary from pairs of ids; pair i makes the id ``n_alphabet + i``.

        Pairs may come in any order, so long as none is built on itself. The other arguments are per learned token (m values).
        Raises ModelFormatError, before anything large is allocated, for a wrong shape or dtype, an id out of range, a pair
        that is there twice, a token built on itself, tokens of more than `max_symbols` symbols in all, weights that are not
        finite, or negative counts.
        """
        check_size(n_alphabet, "n_alphabet", 1)
        pairs = integers_of(merges, "merges")
        if pairs.size == 0:
            pairs = pairs.reshape(0, 2)
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise ModelFormatError(f"merges: expected shape (m, 2), got {pairs.shape}")
        m = len(pairs)
        size = n_alphabet + m
        bad = np.flatnonzero((pairs < 0).any(axis=1) | (pairs >= size).any(axis=1))
        if bad.size:
            raise ModelFormatError(f"merges[{bad[0]}]: expected ids in 0..{size - 1}, got {pairs[bad[0]].tolist()}")
        pairs = np.ascontiguousarray(pairs, np.int32)
        left, right = pairs[:, 0].copy(), pairs[:, 1].copy()
        keys = np.sort(left.astype(np.int64) << 32 | right)
        if (twice := np.flatnonzero(keys[1:] == keys[:-1])).size:
            key = int(keys[twice[0]])
            raise ModelFormatError(f"merges: the pair [{key >> 32}, {key & 0xFFFFFFFF}] is there twice")
        order = np.arange(m, dtype=np.int32)
        if (pairs.max(axis=1, initial=0) >= n_alphabet + order).any() and (
            bad_token := arena_kernels.order_of_tokens(left, right, n_alphabet, order)
        ) >= 0:
            raise ModelFormatError(f"merges[{bad_token}]: the token {n_alphabet + bad_token} is built on itself")
        known = _known(n_alphabet, m, weights, counts, document_frequencies, n_documents, n_symbols)
        return cls._of_pairs(n_alphabet, pairs, order, max_symbols, known)

    @classmethod
    def from_fit(
        cls,
        n_alphabet: int,
        merges: np.ndarray,
        weights: np.ndarray,
        counts: np.ndarray,
        document_frequencies: np.ndarray,
        n_documents: int,
        n_symbols: int,
    ) -> Vocabulary:
        """Make a vocabulary of what a fit learned, which is trusted: nothing is checked.

        merges int32[m, 2] in order of creation; weights float64[m]; counts, document_frequencies int64[m].
        """
        none = np.zeros(n_alphabet, np.int64)
        known = {
            "weights": np.concatenate([none, weights]),
            "counts": np.concatenate([none, counts]),
            "document_frequencies": np.concatenate([none, document_frequencies]),
            "n_documents": n_documents,
            "n_symbols": n_symbols,
        }
        pairs = np.ascontiguousarray(merges, np.int32)
        return cls._of_pairs(n_alphabet, pairs, np.arange(len(pairs), dtype=np.int32), 1 << 40, known)

    @classmethod
    def _of_pairs(
        cls, n_alphabet: int, pairs: np.ndarray, order: np.ndarray, max_symbols: int, known: dict[str, Any]
    ) -> Vocabulary:
        """Fill the arena of valid pairs, int32[m, 2], in an `order` in which parents precede children."""
        left, right = pairs[:, 0].copy(), pairs[:, 1].copy()
        lengths = np.empty(n_alphabet + len(pairs), np.int64)
        arena_kernels.token_lengths(left, right, n_alphabet, order, lengths)
        offsets = _offsets(lengths, n_alphabet, max_symbols)
        arena = np.empty(offsets[-1], np.int32)
        arena_kernels.fill_arena(left, right, n_alphabet, order, offsets, arena)
        return cls(n_alphabet, pairs, arena, offsets, **known)

    @classmethod
    def from_sequences(
        cls,
        n_alphabet: int,
        symbols: Any,
        lengths: Any,
        weights: Any = None,
        counts: Any = None,
        document_frequencies: Any = None,
        n_documents: int = 0,
        n_symbols: int = 0,
    ) -> Vocabulary:
        """Make a vocabulary from flat sequences: `symbols` holds those of all learned tokens, `lengths` how many each has.

        Raises ModelFormatError for a wrong shape or dtype, a symbol outside the alphabet, a token of fewer than two symbols,
        lengths that do not add up, weights that are not finite, or negative counts.
        """
        check_size(n_alphabet, "n_alphabet", 1)
        flat, sizes = integers_of(symbols, "symbols"), integers_of(lengths, "lengths")
        if flat.ndim != 1 or sizes.ndim != 1:
            raise ModelFormatError(f"symbols and lengths: expected 1-D, got {flat.ndim}-D and {sizes.ndim}-D")
        if (bad := np.flatnonzero((sizes < 2) | (sizes > flat.size))).size:
            raise ModelFormatError(f"lengths[{bad[0]}]: expected at least 2 of {flat.size} symbols, got {sizes[bad[0]]}")
        if int(sizes.sum()) != flat.size:
            raise ModelFormatError(f"lengths: expected a sum of {flat.size}, the number of symbols, got {int(sizes.sum())}")
        if (bad := np.flatnonzero((flat < 0) | (flat >= n_alphabet))).size:
            raise ModelFormatError(f"symbols[{bad[0]}]: expected 0..{n_alphabet - 1}, got {flat[bad[0]]}")
        offsets = _offsets(np.concatenate([np.ones(n_alphabet, np.int64), sizes]), n_alphabet, flat.size)
        arena = np.concatenate([np.arange(n_alphabet, dtype=np.int32), flat.astype(np.int32)])
        known = _known(n_alphabet, sizes.size, weights, counts, document_frequencies, n_documents, n_symbols)
        return cls(n_alphabet, None, arena, offsets, **known)

    @classmethod
    def from_state(cls, state: dict[str, Any], n_alphabet: int, max_symbols: int) -> Vocabulary:
        """Make it again from what `state()` returned, where arrays may have become lists.

        Raises ModelFormatError, before anything large is allocated, if a field is missing or unexpected, the alphabet is not of
        `n_alphabet` symbols, or as `from_merges` and `from_sequences` do.
        """
        what = ("merges",) if "merges" in state else ("symbols", "lengths")
        check_fields(state, ("n_alphabet", "n_documents", "n_symbols", *what, *_KNOWN), "vocabulary")
        if type(state["n_alphabet"]) is not int or state["n_alphabet"] != n_alphabet:
            raise ModelFormatError(f"n_alphabet: expected an alphabet of {n_alphabet}, got {state['n_alphabet']!r}")
        if "merges" in state:
            return cls.from_merges(**state, max_symbols=max_symbols)
        return cls.from_sequences(**state)

    def __len__(self) -> int:
        """The number of ids, alphabet included."""
        return self.offsets.size - 1

    def sequence(self, token: int) -> np.ndarray:
        """The alphabet ids of a token, int32, sharing memory. IndexError if there is no such token."""
        if not 0 <= token < len(self):
            raise IndexError(f"token {token}: expected 0..{len(self) - 1}")
        return self.arena[self.offsets[token] : self.offsets[token + 1]]

    def select(self, stay: np.ndarray, merges: np.ndarray | None) -> Vocabulary:
        """The vocabulary of the learned tokens `stay` (indices from 0), in that order, with `merges` already renumbered."""
        tokens = self.n_alphabet + np.asarray(stay, np.int64)
        known: dict[str, Any] = {n: getattr(self, n)[tokens] for n in _KNOWN}
        known |= {"n_documents": self.n_documents, "n_symbols": self.n_symbols}
        if merges is not None:
            return Vocabulary.from_merges(self.n_alphabet, merges, **known)
        lengths = self.offsets[tokens + 1] - self.offsets[tokens]
        parts = [self.sequence(t) for t in tokens.tolist()]
        flat = np.concatenate(parts) if parts else np.zeros(0, np.int32)
        return Vocabulary.from_sequences(self.n_alphabet, flat, lengths, **known)

    def state(self) -> dict[str, Any]:
        """The arguments that make it again: those of `from_merges` if pairs are known, of `from_sequences` otherwise."""
        learned = slice(self.n_alphabet, None)
        out: dict[str, Any] = {"n_alphabet": self.n_alphabet, "n_documents": self.n_documents, "n_symbols": self.n_symbols}
        if self.merges is not None:
            out["merges"] = self.merges
        else:
            out["symbols"] = self.arena[self.offsets[self.n_alphabet] :]
            out["lengths"] = np.diff(self.offsets)[learned]
        return out | {n: getattr(self, n)[learned] for n in _KNOWN}

    @property
    def fingerprint(self) -> str:
        """A hash of everything that decides how it encodes and decodes: equal for equal vocabularies, on any machine."""
        h = hashlib.sha256(str(self.n_alphabet).encode())
        arrays = (np.zeros(0, np.int32) if self.merges is None else self.merges, self.arena, self.offsets, self.weights)
        for array in arrays:
            h.update(np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"), copy=False)).data)
            h.update(b"|")
        return h.hexdigest()[:32]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Vocabulary is frozen: cannot set {name!r}")

    def __reduce__(self) -> tuple[object, ...]:
        state = self.state()
        if self.merges is not None:
            state["max_symbols"] = self.arena.size
        return _rebuild, (state,)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        mine, yours = self.state(), other.state()
        return mine.keys() == yours.keys() and all(np.array_equal(mine[k], yours[k]) for k in mine)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        kind = "flat sequences" if self.merges is None else "pairs"
        return f"Vocabulary({len(self)} tokens: {self.n_alphabet} symbols and {self.n_learned} {kind})"


def _rebuild(state: dict[str, Any]) -> Vocabulary:
    return Vocabulary.from_merges(**state) if "merges" in state else Vocabulary.from_sequences(**state)


def idf(n_documents: int, documents: np.ndarray) -> np.ndarray:
    """ln((1 + D) / (1 + d)) of every document frequency d, float64.

    By `math.log`, once per distinct value: NumPy's vectorised logarithm may differ in the last bit between processors.

    >>> idf(3, np.array([1, 3])).tolist()
    [0.6931471805599453, 0.0]
    """
    values, inverse = np.unique(documents, return_inverse=True)
    return np.array([math.log((1 + n_documents) / (1 + d)) for d in values.tolist()], np.float64)[inverse]


def _offsets(lengths: np.ndarray, n_alphabet: int, limit: int) -> np.ndarray:
    """Offsets of the tokens; ModelFormatError if the learned ones claim more than `limit` symbols in all."""
    # float64 is exact enough for a limit, and 2**31 saturated lengths of 2**62 cannot overflow it
    if float(lengths[n_alphabet:].astype(np.float64).sum()) > limit:
        raise ModelFormatError(f"merges: the tokens stand for more than {limit} symbols in all; pass a larger max_symbols")
    offsets = np.zeros(lengths.size + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def _known(
    n_alphabet: int, m: int, weights: Any, counts: Any, document_frequencies: Any, n_documents: int, n_symbols: int
) -> dict[str, Any]:
    """Validate what is known about the learned tokens, and put the alphabet's zeros before it."""
    check_size(n_documents, "n_documents", 0)
    check_size(n_symbols, "n_symbols", 0)
    out: dict[str, Any] = {"n_documents": int(n_documents), "n_symbols": int(n_symbols)}
    for name, values in (("counts", counts), ("document_frequencies", document_frequencies)):
        array = np.zeros(m, np.int64) if values is None else integers_of(values, name)
        if array.shape != (m,):
            raise ModelFormatError(f"{name}: expected {m} values, got shape {array.shape}")
        if (bad := np.flatnonzero(array < 0)).size:
            raise ModelFormatError(f"{name}[{bad[0]}]: expected at least 0, got {array[bad[0]]}")
        out[name] = np.concatenate([np.zeros(n_alphabet, np.int64), array.astype(np.int64)])
    values = np.zeros(m) if weights is None else numbers_of(weights, "weights")
    if values.shape != (m,):
        raise ModelFormatError(f"weights: expected {m} values, got shape {values.shape}")
    if (bad := np.flatnonzero(~np.isfinite(values) | (values < 0) | (values > 1e6))).size:
        raise ModelFormatError(f"weights[{bad[0]}]: expected a number in 0..1e6, got {values[bad[0]]}")
    out["weights"] = np.concatenate([np.zeros(n_alphabet), values])
    return out
