"""The vocabulary: the symbols of every token, the merges that build it, and its statistics.

Frozen, and validated when made.

Layout, for the symbols 0, 1, 2 and the pairs ``[[0, 1], [3, 2]]`` (token 3 is 0 1, token 4 is 3 2):

    token       0   1   2   3       4
    arena       0 | 1 | 2 | 0   1 | 0   1   2      the alphabet ids of all tokens, one after the other
    offsets     0   1   2   3       5           8  where each begins; the last is the end
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator
from typing import Any, overload

import numpy as np

from ubpe_numba.documents.ragged import Ragged, trusted
from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.runtime.arrays import checked_token, integer, offsets_of
from ubpe_numba.runtime.schema import check_fields, integers_of, numbers_of, pickled
from ubpe_numba.vocabulary.kernels import arena as arena_kernels

__all__ = ["Vocabulary"]

#: Default limit of the symbols of all tokens of pairs together: 30 pairs can make 2**30.
MAX_SYMBOLS = 1 << 27
_STATISTICS = ("weights", "counts", "document_frequencies")
#: What is known of some vocabularies only, V values each, those of the alphabet included.
OPTIONAL = ("occurrences", "log_probabilities")
_COUNT: tuple[Any, ...] = integers_of, np.int64, 0, 2**63 - 1, "at least 0"
#: How statistics are read, their dtype, their range, and what messages say of it.
_RANGES: dict[str, tuple[Any, ...]] = {
    "counts": _COUNT, "document_frequencies": _COUNT, "occurrences": _COUNT,
    "weights": (numbers_of, np.float64, 0, 1e6, "a number in 0..1e6"),
    "log_probabilities": (numbers_of, np.float64, -1e6, 1e6, "a number in -1e6..1e6"),
}  # fmt: skip


class Vocabulary:
    """Tokens 0..V-1: first the n_alphabet symbols, then the n_learned learned tokens.

    Users get them by id.

    `merges` int32[m, 2] are the two tokens of each learned token, None if only flat sequences are known.
    `arena` int32[s] and `offsets` int64[V + 1]: the alphabet ids of token t are ``arena[offsets[t]:offsets[t
    + 1]]``. `weights` float64[V], `counts` and `document_frequencies` int64[V], `n_documents`, `n_symbols`,
    and if known `occurrences` int64[V] and `log_probabilities` float64[V] are as in `TokenTable`.
    `in_order_of_creation`: whether pairs are known and both parents of every token have lower numbers than
    it. All arrays are read-only. Two vocabularies are equal if all their arrays are.

    >>> v = Vocabulary.from_merges(3, [[0, 1], [3, 2]])
    >>> len(v), v.sequence(4).tolist(), v[-1].tolist(), v[3:].to_lists()
    (5, [0, 1, 2], [0, 1, 2], [[0, 1], [0, 1, 2]])
    """

    __slots__ = (
        "arena", "counts", "document_frequencies", "in_order_of_creation", "log_probabilities", "merges",
        "n_alphabet",
        "n_documents", "n_learned", "n_symbols", "occurrences", "offsets", "weights",
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
    occurrences: np.ndarray | None
    log_probabilities: np.ndarray | None

    def __init__(
        self,
        n_alphabet: int,
        merges: np.ndarray | None,
        arena: np.ndarray,
        offsets: np.ndarray,
        **statistics: Any,
    ) -> None:
        """Store without validation; use `from_merges` or `from_sequences`."""
        values = {
            "n_alphabet": n_alphabet,
            "merges": merges,
            "arena": arena,
            "offsets": offsets,
            **statistics,
        }
        size = offsets.size - 1
        values["n_learned"] = size - n_alphabet
        values["in_order_of_creation"] = merges is not None and bool(
            (merges < np.arange(n_alphabet, size)[:, None]).all()
        )
        for name in self.__slots__:
            value = values.get(name)
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
        occurrences: Any = None,
        log_probabilities: Any = None,
    ) -> Vocabulary:
        """Make a vocabulary from pairs of tokens; pair i makes ``n_alphabet + i``. O(m log m + symbols).

        `merges` int[m, 2] or a list, in any order in which no token is built on itself. `weights` float[m] in
        0..1e6, `counts` and `document_frequencies` int[m]: 0 by default. `n_documents`, `n_symbols`: size of
        the corpus, 0 if not known. `max_symbols`: how many symbols all learned tokens together may have.
        `occurrences` int[V] and `log_probabilities` float[V] in -1e6..1e6 include the alphabet.
        ModelFormatError if any of these is not as described, or for a duplicate pair, before anything large
        is allocated.

        >>> Vocabulary.from_merges(2, [[0, 1], [2, 2]]).sequence(3)
        array([0, 1, 0, 1], dtype=int32)
        """
        _check_size(n_alphabet, "n_alphabet", 1)
        pairs = np.array(integers_of(merges, "merges"))
        if pairs.size == 0:
            pairs = pairs.reshape(0, 2)
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise ModelFormatError(f"merges: expected shape (m, 2), got {pairs.shape}")
        m = len(pairs)
        size = n_alphabet + m
        if pairs.min(initial=0) < 0 or pairs.max(initial=0) >= size:
            bad = np.flatnonzero((pairs < 0).any(axis=1) | (pairs >= size).any(axis=1))
            raise ModelFormatError(
                f"merges[{bad[0]}]: expected ids in 0..{size - 1}, got {pairs[bad[0]].tolist()}"
            )
        pairs = np.ascontiguousarray(pairs, np.int32)
        left, right = pairs[:, 0].copy(), pairs[:, 1].copy()
        keys = np.sort(left.astype(np.int64) << 32 | right)
        if (twice := np.flatnonzero(keys[1:] == keys[:-1])).size:
            key = int(keys[twice[0]])
            raise ModelFormatError(f"merges: the pair [{key >> 32}, {key & 0xFFFFFFFF}] is there twice")
        order = np.arange(m, dtype=np.int32)
        if (np.maximum(left, right) >= n_alphabet + order).any() and (
            bad_token := arena_kernels.order_of_tokens(
                left, right, n_alphabet, order, np.zeros(m, np.uint8), np.empty(2 * m + 1, np.int32)
            )
        ) >= 0:
            raise ModelFormatError(
                f"merges[{bad_token}]: the token {n_alphabet + bad_token} is built on itself"
            )
        statistics = _statistics(
            n_alphabet, m, n_documents, n_symbols, counts=counts, document_frequencies=document_frequencies,
            weights=weights,
            occurrences=occurrences, log_probabilities=log_probabilities,
        )  # fmt: skip
        offsets = np.zeros(n_alphabet + m + 1, np.int64)
        lengths = offsets[1:]
        arena_kernels.token_lengths(left, right, n_alphabet, order, lengths)
        # summed in float64, which is exact enough for a limit and which 2**31 lengths of 2**62 do not
        # overflow
        if float(lengths[n_alphabet:].astype(np.float64).sum()) > max_symbols:
            raise ModelFormatError(
                f"merges: the tokens have more than {max_symbols} symbols in all; pass a larger max_symbols"
            )
        np.cumsum(lengths, out=lengths)
        arena = np.empty(offsets[-1], np.int32)
        arena_kernels.fill_arena(left, right, n_alphabet, order, offsets, arena)
        return cls(n_alphabet, pairs, arena, offsets, **statistics)

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
        occurrences: Any = None,
        log_probabilities: Any = None,
    ) -> Vocabulary:
        """Make a vocabulary from the alphabet ids of all learned tokens, `symbols` int[s].

        `lengths` int[m]: how many each has, at least 2; the other arguments as for `from_merges`.

        >>> Vocabulary.from_sequences(2, [0, 1, 1, 1, 0], [3, 2]).sequence(2)
        array([0, 1, 1], dtype=int32)
        """
        _check_size(n_alphabet, "n_alphabet", 1)
        flat, sizes = integers_of(symbols, "symbols"), integers_of(lengths, "lengths")
        if flat.ndim != 1 or sizes.ndim != 1:
            raise ModelFormatError(f"symbols and lengths: expected 1-D, got {flat.ndim}-D and {sizes.ndim}-D")
        if (bad := np.flatnonzero((sizes < 2) | (sizes > flat.size))).size:
            raise ModelFormatError(
                f"lengths[{bad[0]}]: expected at least 2 of {flat.size} symbols, got {sizes[bad[0]]}"
            )
        if int(sizes.sum()) != flat.size:
            raise ModelFormatError(
                f"lengths: expected a sum of {flat.size}, the number of symbols, got {int(sizes.sum())}"
            )
        if (bad := np.flatnonzero((flat < 0) | (flat >= n_alphabet))).size:
            raise ModelFormatError(f"symbols[{bad[0]}]: expected 0..{n_alphabet - 1}, got {flat[bad[0]]}")
        offsets = offsets_of(np.concatenate([np.ones(n_alphabet, np.int64), sizes]))
        arena = np.concatenate([np.arange(n_alphabet, dtype=np.int32), flat.astype(np.int32)])
        statistics = _statistics(
            n_alphabet, sizes.size, n_documents, n_symbols, counts=counts,
            document_frequencies=document_frequencies,
            weights=weights, occurrences=occurrences, log_probabilities=log_probabilities,
        )  # fmt: skip
        return cls(n_alphabet, None, arena, offsets, **statistics)

    @classmethod
    def from_state(cls, state: dict[str, Any], n_alphabet: int, max_symbols: int) -> Vocabulary:
        """Make a vocabulary from a result of `state`, whose arrays may be lists.

        Limits as for `from_merges`.
        """
        what = ("merges",) if "merges" in state else ("symbols", "lengths")
        there = [name for name in OPTIONAL if name in state]
        check_fields(
            state, ("n_alphabet", "n_documents", "n_symbols", *what, *_STATISTICS, *there), "vocabulary"
        )
        if type(state["n_alphabet"]) is not int or state["n_alphabet"] != n_alphabet:
            raise ModelFormatError(
                f"n_alphabet: expected an alphabet of {n_alphabet}, got {quoted(state['n_alphabet'])}"
            )
        if "merges" in state:
            return cls.from_merges(**state, max_symbols=max_symbols)
        return cls.from_sequences(**state)

    def __len__(self) -> int:
        """The number of ids, alphabet included."""
        return self.offsets.size - 1

    @overload
    def __getitem__(self, index: int | np.integer[Any]) -> np.ndarray: ...
    @overload
    def __getitem__(self, index: slice) -> Ragged: ...
    def __getitem__(self, index: Any) -> np.ndarray | Ragged:
        """The alphabet ids of a token, counted from the end if negative; a `Ragged` of those of a slice."""
        if isinstance(index, slice):
            return trusted(self.arena, self.offsets)[index]
        t, size = integer(index, "index"), len(self)
        if not -size <= t < size:
            raise IndexError(f"index: expected a token in {-size}..{size - 1}, got {t}")
        return self.sequence(t % size)

    def __iter__(self) -> Iterator[np.ndarray]:
        """The alphabet ids of every token, in order."""
        return map(self.sequence, range(len(self)))

    __contains__ = None  # `in` would compare arrays

    def sequence(self, token: int) -> np.ndarray:
        """The alphabet ids of a token, int32[n], a read-only view of `arena`.

        IndexError if the token does not exist.
        """
        t = checked_token(token, len(self))
        return self.arena[self.offsets[t] : self.offsets[t + 1]]

    def select(self, stay: np.ndarray, merges: np.ndarray | None) -> Vocabulary:
        """A vocabulary of the alphabet and some of the learned tokens, with their statistics.

        Parameters
        ----------
        stay : int[k]
            Indices of learned tokens, counted from 0, in their new order.
        merges : int[k, 2] or None
            Their pairs of new ids; None for a vocabulary of flat sequences.
        """
        tokens = self.n_alphabet + np.asarray(stay, np.int64)
        statistics: dict[str, Any] = {n: getattr(self, n)[tokens] for n in _STATISTICS}
        statistics |= {"n_documents": self.n_documents, "n_symbols": self.n_symbols}
        order = np.concatenate([np.arange(self.n_alphabet), tokens])
        gone = np.setdiff1d(np.arange(len(self)), order)
        if self.occurrences is not None and (self.in_order_of_creation or not gone.size):
            occurrences = self.occurrences.tolist()
            # each occurrence of a removed token becomes one of its two parts
            if gone.size and self.merges is not None:
                parts = self.merges[gone[::-1] - self.n_alphabet].tolist()
                for token, (left, right) in zip(gone.tolist()[::-1], parts, strict=True):
                    occurrences[left] += occurrences[token]
                    occurrences[right] += occurrences[token]
            limited = np.array(
                [min(count, 2**63 - 1) for count in occurrences], np.int64
            )  # a file may hold any
            statistics["occurrences"] = limited[order]
        if self.log_probabilities is not None:
            statistics["log_probabilities"] = self.log_probabilities[order]
        if merges is not None:
            return Vocabulary.from_merges(self.n_alphabet, merges, **statistics)
        lengths = self.offsets[tokens + 1] - self.offsets[tokens]
        flat = np.concatenate([np.zeros(0, np.int32), *map(self.sequence, tokens.tolist())])
        return Vocabulary.from_sequences(self.n_alphabet, flat, lengths, **statistics)

    def with_statistics(self, **changes: np.ndarray | None) -> Vocabulary:
        """A vocabulary of these tokens with other statistics, which shares the other arrays.

        Parameters
        ----------
        **changes
            New values of `weights`, `occurrences` or `log_probabilities`, V each, unchecked; None for not
            known.

        Examples
        --------
        >>> Vocabulary.from_merges(1, [[0, 0]]).with_statistics(occurrences=np.array([1, 2])).occurrences
        array([1, 2])
        """
        names = (*_STATISTICS, *OPTIONAL, "n_documents", "n_symbols")
        statistics = {name: getattr(self, name) for name in names} | changes
        return Vocabulary(self.n_alphabet, self.merges, self.arena, self.offsets, **statistics)

    def state(self) -> dict[str, Any]:
        """The arguments of `from_merges` if pairs are known, otherwise of `from_sequences`; no copies."""
        learned = slice(self.n_alphabet, None)
        out: dict[str, Any] = {
            "n_alphabet": self.n_alphabet,
            "n_documents": self.n_documents,
            "n_symbols": self.n_symbols,
        }
        if self.merges is not None:
            out["merges"] = self.merges
        else:
            out["symbols"] = self.arena[self.offsets[self.n_alphabet] :]
            out["lengths"] = np.diff(self.offsets)[learned]
        out |= {n: getattr(self, n)[learned] for n in _STATISTICS}
        return out | {n: getattr(self, n) for n in OPTIONAL if getattr(self, n) is not None}

    @property
    def fingerprint(self) -> str:
        """A hash of everything that decides encoding and decoding.

        It has 32 hexadecimal digits, the same on every machine.
        """
        h = hashlib.sha256(str(self.n_alphabet).encode())
        pairs = np.zeros(0, np.int32) if self.merges is None else self.merges
        arrays: tuple[np.ndarray, ...] = pairs, self.arena, self.offsets, self.weights
        if self.log_probabilities is not None:
            arrays = *arrays, self.log_probabilities
        for array in arrays:
            h.update(np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"), copy=False)).data)
            h.update(b"|")
        return h.hexdigest()[:32]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Vocabulary is frozen: cannot set {name!r}")

    def __reduce__(self) -> tuple[object, ...]:
        return pickled(Vocabulary.from_state, self.state(), self.n_alphabet, self.arena.size)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        mine, yours = self.state(), other.state()
        return mine.keys() == yours.keys() and all(np.array_equal(mine[k], yours[k]) for k in mine)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        kind = "flat sequences" if self.merges is None else "pairs"
        return f"Vocabulary({len(self)} tokens: {self.n_alphabet} symbols and {self.n_learned} {kind})"


def idf(n_documents: int, documents: np.ndarray) -> np.ndarray:
    """The inverse document frequency ln((1 + D) / (1 + d)) of document frequencies d, float64.

    There are D documents.

    >>> idf(3, np.array([1, 3])).tolist()
    [0.6931471805599453, 0.0]
    """
    return for_distinct(lambda d: math.log((1 + n_documents) / (1 + d)), documents)


def for_distinct(function: Callable[[int], float], values: np.ndarray) -> np.ndarray:
    """`function` of every integer in `values`, float64, called once per distinct one.

    For logarithms by `math.log`: NumPy's vectorised logarithm may differ in the last bit between processors.
    """
    distinct, inverse = np.unique(values, return_inverse=True)
    return np.array([function(value) for value in distinct.tolist()], np.float64)[inverse]


def _check_size(value: object, name: str, least: int) -> None:
    """Raise ModelFormatError unless `value` is an integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ModelFormatError(f"{name}: expected an integer of at least {least}, got {quoted(value)}")


def _statistics(n_alphabet: int, m: int, n_documents: Any, n_symbols: Any, **given: Any) -> dict[str, Any]:
    """Validate statistics of m learned tokens, with zeros for the alphabet before them.

    Also optional statistics of all tokens.
    """
    _check_size(n_documents, "n_documents", 0)
    _check_size(n_symbols, "n_symbols", 0)
    out: dict[str, Any] = {"n_documents": int(n_documents), "n_symbols": int(n_symbols)}
    for name, values in given.items():
        if values is None and name in OPTIONAL:
            out[name] = None
            continue
        known = n_alphabet if name in OPTIONAL else 0  # symbols of the alphabet that have a value
        size = known + m
        read, dtype, low, high, expected = _RANGES[name]
        array = np.zeros(m, dtype) if values is None else read(values, name).astype(dtype)
        if array.shape != (size,):
            raise ModelFormatError(f"{name}: expected {size} values, got shape {array.shape}")
        if (bad := np.flatnonzero(~((array >= low) & (array <= high)))).size:
            raise ModelFormatError(f"{name}[{bad[0]}]: expected {expected}, got {array[bad[0]]}")
        out[name] = np.concatenate([np.zeros(n_alphabet - known, dtype), array])
    return out
