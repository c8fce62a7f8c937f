"""Messages between the driver of a fit (remote_text.py) and its hosts (host.py), which hold the text.

The driver asks all hosts one thing and waits for their answers, which is one synchronisation, or tells one host something. The
name of a message is that of a method of the host:

    ask("count_dense", 5)  ──> host 0 ──> its counts ──┐
                           ──> host 1 ──> its counts ──┴──> [counts, counts]

Answers of several hosts can be added up on their way to the driver; neighbours of a batch are those of the first shard then:

    host 0    delta 3 2 | 5 1    merged of shards 0 and 1           together    delta 3 6 | 5 1
    host 1    delta 3 4          merged of shard 2                              merged of shards 0, 1 and 2
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.distributed.kernels.remote import MOST, add_neighbours
from ubpe_numba.fitting.kernels.merge import MERGED_BY_WEIGHT
from ubpe_numba.fitting.kernels.text_cells import MERGED, SHARD_STATE
from ubpe_numba.runtime.arrays import offsets_of
from ubpe_numba.vocabulary.alphabet import Alphabet


class LostHostsError(Exception):
    """Some `hosts` of a fit, a list of int, are gone, and their shards with them."""

    def __init__(self, hosts: Sequence[int], reason: str = "") -> None:
        super().__init__(list(hosts), reason)
        self.hosts, self.reason = list(hosts), reason

    def __str__(self) -> str:
        return f"lost: {', '.join(f'host {k}' for k in self.hosts)}" + (f": {self.reason}" if self.reason else "")


class Part(NamedTuple):
    """Summary of a host's part of the corpus, sent to the driver."""

    n_symbols: int  # as they are laid out
    by_weight: int  # with weights counted
    n_documents: int  # by weight
    n_segments: int
    weighted: bool  # occurrences have weights, or segments are not documents
    has_weights: bool
    first_weight: int  # of the first and of the last document; 0 if there is none
    last_weight: int
    checks: tuple[int, ...]  # of each partition, of symbols, segments and weights: whether it was read differently
    name: str = ""  # for messages
    kind: str = "int"  # of the documents, those of weight 0 included
    n_given: int = 0  # their symbols
    low: int = 0  # the least and the largest symbol; 0 and -1 if there is none
    high: int = -1


class Setup(NamedTuple):
    """How the text of a host is laid out."""

    alphabet: Alphabet
    weighted: bool  # any host's occurrences have weights
    merges: int  # most in a round
    n_shards: int | None  # None: by the size of the part and the number of threads
    near: int | None = None  # as for `text.cut`


class Loaded(NamedTuple):
    """The text of a host of K shards, as the driver sees it."""

    state: np.ndarray  # SHARD_STATE[K]
    arenas: np.ndarray  # int64[K]: positions in the arena of each
    at: np.ndarray  # int64[K + 1]: where shards begin, in symbols from the beginning of the part
    segments: np.ndarray  # int64[K]
    inside: np.ndarray  # bool[K + 1]: whether the shard begins inside a segment
    documents: np.ndarray  # int64[K, 2]: the first and the last document of each shard, -1 if it has none
    weights: np.ndarray  # int64[K, 2]: of the two
    symbol_counts: np.ndarray  # int64[alphabet], by weight
    n_shards: int  # wanted; the same part is cut in the same places with as many


class Stepped(NamedTuple):
    """Result of a batch of n merges in a host of K shards."""

    state: np.ndarray  # SHARD_STATE[K]
    delta_end: np.ndarray  # int64[K, 2n + 1]
    delta: np.ndarray  # int32: those of the shards, one after the other
    merged: np.ndarray  # MERGED[K, n]
    delta_by_weight: np.ndarray | None  # int64, as many as there are in `delta`
    merged_by_weight: np.ndarray | None  # MERGED_BY_WEIGHT[K, n]

    @staticmethod
    def together(found: Sequence[Stepped]) -> Stepped:
        """Results of several hosts as one: their neighbours are added up, as those of the first shard."""
        ends, delta = np.concatenate([part.delta_end for part in found]), np.concatenate([part.delta for part in found])
        # with its dtype: NumPy compares those of records field by field otherwise, in Python
        state = np.concatenate([part.state for part in found], dtype=SHARD_STATE)
        merged = np.concatenate([part.merged for part in found], dtype=MERGED)
        begins = offsets_of(ends[:, -1])
        by_weight = [array for part in found if (array := part.delta_by_weight) is not None]
        room, weights, added_weights, merged_by_weight = int(begins[-1]), None, None, None
        if by_weight:
            weights, added_weights = np.concatenate(by_weight), np.empty(room, np.int64)
            rows = [array for part in found if (array := part.merged_by_weight) is not None]
            merged_by_weight = np.concatenate(rows, dtype=MERGED_BY_WEIGHT)
        else:
            room += int(delta[1::2].sum(dtype=np.int64) // MOST)
        size = int(delta[::2].max(initial=0)) + 1
        added, added_end = np.empty(2 * room, np.int32), np.zeros_like(ends)
        scratch = np.zeros(size, np.int64), np.empty(size, np.int32)
        n = add_neighbours(delta, weights, ends, begins, *scratch, added, added_weights, added_end[0])
        added_weights = None if added_weights is None else added_weights[:n]
        return Stepped(state, added_end, added[: 2 * n], merged, added_weights, merged_by_weight)


class Fills(NamedTuple):
    """The frequent pairs that the batch before created, as in a `Task` of one part."""

    first_id: int
    left: np.ndarray  # int32[n]: left parts of its merges
    token: np.ndarray  # int32
    slot: np.ndarray  # int32
    end: np.ndarray  # int64[2n + 1]
    twin_slot: np.ndarray  # int64[n]


class Batch(NamedTuple):
    """The merges of a batch."""

    first_id: int
    left: np.ndarray  # int32[n]
    right: np.ndarray  # int32[n]
    slot: np.ndarray  # int64[n]


def together(method: str, answers: list[Any]) -> list[Any]:
    """Answers of consecutive hosts to a message, as one where they can be added up.

    >>> together("sort_pairs", [3, 4]), together("part", ["a", "b"])
    ([7], ['a', 'b'])
    """
    if len(answers) < 2 or answers[0] is None or method not in _SUMS:
        return answers
    return [_SUMS[method](answers)]


def least_bytes(counts: np.ndarray) -> np.ndarray:
    """Counts in as few bytes as will do."""
    return counts.astype(np.min_scalar_type(int(counts.max(initial=0))))


_SUMS: dict[str, Callable[[list[Any]], Any]] = {
    "count_dense": lambda counts: least_bytes(np.asarray(np.sum(counts, axis=0, dtype=np.int64))),
    "sort_pairs": sum,
    "list_sorted": lambda counts: np.sum(counts, axis=0),
    "step": Stepped.together,
}
