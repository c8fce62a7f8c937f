"""The n best segmentations of documents, by tf-idf and by sums of weights."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.coding.kernels import k_best as additive, n_best as kernels
from ubpe_numba.coding.path_encoder import SCALE, PathEncoder
from ubpe_numba.coding.run import longest_of
from ubpe_numba.documents.ragged import Ragged, trusted
from ubpe_numba.errors import quoted
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.arrays import integer, offsets_of


@dataclasses.dataclass(frozen=True, eq=False)
class NBest:
    """The best segmentations of several documents, in flat arrays.

    It is a sequence of pairs (candidates, weights), one per document.

    Attributes
    ----------
    candidates : Ragged
        All segmentations, document by document, the best first.
    offsets : int64[d + 1]
        Document i has the candidates ``offsets[i]`` to ``offsets[i + 1]``.
    weights : float64[len(candidates)]
        The weight of each candidate.

    Examples
    --------
    >>> found = NBest(Ragged.from_lists([[4], [0, 1], [2]]), np.array([0, 2, 3]), np.array([0.5, 0.25, 0.0]))
    >>> len(found), [weights.tolist() for _, weights in found]
    (2, [[0.5, 0.25], [0.0]])
    >>> found[0][0].to_lists()
    [[4], [0, 1]]
    >>> found[1:].candidates.to_lists()
    [[2]]
    """

    candidates: Ragged
    offsets: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, found: Iterable[tuple[Ragged, np.ndarray]]) -> NBest:
        """Join the results for each document.

        Parameters
        ----------
        found : iterable of (Ragged, float64)
            The candidates and weights of each document.
        """
        parts = list(found)
        offsets = offsets_of(np.array([len(candidates) for candidates, _ in parts], np.int64))
        weights = np.concatenate([np.zeros(0), *(weight for _, weight in parts)])
        return cls(Ragged.concat(candidates for candidates, _ in parts), offsets, weights)

    def __len__(self) -> int:
        return self.offsets.size - 1

    def __iter__(self) -> Iterator[tuple[Ragged, np.ndarray]]:
        return (self[i] for i in range(len(self)))

    @overload
    def __getitem__(self, index: int | np.integer[Any]) -> tuple[Ragged, NDArray[np.float64]]: ...
    @overload
    def __getitem__(self, index: slice) -> NBest: ...
    def __getitem__(self, index: Any) -> Any:
        """Candidates and weights of a document, or an `NBest` of a slice of step 1.

        Only offsets are copied.
        """
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step != 1:
                raise ValueError(f"index: expected a slice of step 1, got {quoted(index)}")
            offsets = self.offsets[start : max(start, stop) + 1]
            part = slice(int(offsets[0]), int(offsets[-1]))
            return NBest(self.candidates[part], offsets - offsets[0], self.weights[part])
        if not -len(self) <= (i := integer(index, "index")) < len(self):
            raise IndexError(f"index: expected a document in {-len(self)}..{len(self) - 1}, got {i}")
        i %= len(self)
        part = slice(int(self.offsets[i]), int(self.offsets[i + 1]))
        return self.candidates[part], self.weights[part]

    def __repr__(self) -> str:
        return f"NBest({len(self)} documents, {len(self.candidates)} candidates)"


_MAX_NODES = 2**31 - 1  # of the tree of tails in a search
_FIRST_NODES = 1 << 14
_FIRST_IDS = 1 << 20


def n_best_paths(
    encoder: PathEncoder,
    documents: Ragged,
    n: int,
    beam: int,
    by_bag: bool,
    n_threads: int | None,
    prices: np.ndarray | None = None,
) -> NBest:
    """The `n` best paths by tf-idf of every document of alphabet ids.

    `beam` tails are kept per position, `n` or more.

    With `by_bag`, one path is enough of those with the same tokens. `prices` float64[V] is the most that a
    token adds to the order of tails; None for their weight. ValueError if a document is too long for so many
    paths.

    >>> from ubpe_numba.vocabulary.vocabulary import Vocabulary
    >>> encoder = PathEncoder(Vocabulary.from_merges(2, [[0, 1]], [1.0]))
    >>> paths, weights = n_best_paths(encoder, Ragged.from_lists([[0, 1, 0]]), 2, 2, False, None)[0]
    >>> paths.to_lists(), weights.tolist()
    ([[2, 0], [0, 1, 0]], [1.0, 0.0])
    """
    offsets = documents._offsets
    longest = longest_of(offsets)
    if (nodes := (longest + 1) * beam) > _MAX_NODES:
        name = "n" if beam == n else "beam"
        raise ValueError(
            f"{name}: {beam} paths of {longest} symbols need {nodes} tails; at most {_MAX_NODES} are possible"
        )
    ring = 1 << (min(encoder.longest, longest) + 1).bit_length()
    most_added = np.full(encoder.values.size, np.inf) if prices is None else prices
    kernel: Any = kernels.n_best_paths
    tables = encoder.matcher.edges, encoder.matcher.states, encoder.scaled_idf, encoder.logs

    def chunk(begin: int, end: int) -> NBest:  # the tree and the results grow when they have to
        part = offsets[begin : end + 1]
        d, total, longest = end - begin, int(part[-1] - part[0]), longest_of(part)
        scratch = (
            np.empty((ring, beam), kernels.TAIL), np.empty(ring, np.int64), np.empty(beam, kernels.ENTRY),
            np.empty(beam, kernels.NEW), np.zeros(encoder.values.size, kernels.COUNT),
            np.empty(kernels.WALKS, np.int64),
            np.empty(longest, np.int32),
        )  # fmt: skip
        size, most_nodes = max(_FIRST_NODES, 16 * beam), (longest + 1) * beam + 1
        bounds, weights, out_offsets = (
            np.zeros(d + 1, np.int64),
            np.empty(n * d),
            np.zeros(n * d + 1, np.int64),
        )
        out = np.empty(min(n * total, max(_FIRST_IDS, n * longest)), np.int32)
        progress, status, ids = np.zeros(1, kernels.PROGRESS), kernels.NO_NODES, 0
        while status != kernels.DONE:
            if status == kernels.NO_NODES:
                size = min(size, most_nodes)
                nodes = np.empty(size, kernels.NODE), np.empty(size, np.int64), np.empty(size, kernels.REST)
                free = np.empty(size, np.int32)
                size *= 4
            else:
                out = np.concatenate([out[:ids], np.empty(min(n * total, 2 * out.size), np.int32)])
            status = kernel(
                documents.values, part, tables, most_added, encoder.marks, by_bag, n, scratch, nodes, free,
                progress, (bounds, weights, out, out_offsets),
            )  # fmt: skip
            _, paths, ids, _ = progress[0].tolist()
        # most of a buffer is not used: give it back
        return NBest(trusted(out[:ids].copy(), out_offsets[: paths + 1].copy()), bounds, weights[:paths])

    parts = thread_pool.run(chunk, thread_pool.chunks_of(offsets, n_threads), n_threads)
    ends = offsets_of(np.concatenate([np.diff(part.offsets) for part in parts]))
    weights = np.concatenate([part.weights for part in parts])
    return NBest(Ragged.concat(part.candidates for part in parts), ends, weights / SCALE)


def k_best(encoder: PathEncoder, document: np.ndarray, objective: str, k: int) -> tuple[Ragged, np.ndarray]:
    """The k best paths of a document int32[n] by ``"shortest"`` or ``"additive"``, best first; exact.

    Fewer if there are no more. The second result, float64[paths], is the value of each: the sum of weights,
    or, for the fewest tokens, minus their number. ValueError if there would be too many tails.

    >>> from ubpe_numba.vocabulary.vocabulary import Vocabulary
    >>> encoder = PathEncoder(Vocabulary.from_merges(2, [[0, 1]]))
    >>> paths, worth = k_best(encoder, np.array([0, 1, 0], np.int32), "shortest", 2)
    >>> paths.to_lists(), worth.tolist()
    ([[2, 0], [0, 1, 0]], [-2.0, -3.0])
    """
    nodes = (document.size + 1) * k
    if nodes > _MAX_NODES:
        raise ValueError(
            f"n: {k} paths of {document.size} symbols need {nodes} tails; at most {_MAX_NODES} are possible"
        )
    ring = encoder.ring
    sums, n_tokens = np.empty((ring, k), additive.COST), np.empty(k, np.int64)
    parent, token = np.empty(nodes, np.int32), np.empty(nodes, np.int32)
    best = additive.k_cheapest_paths(
        document, encoder.matcher.edges, encoder.matcher.states, encoder.costs[objective], k, sums,
        np.zeros(ring, np.int64),
        np.empty((2, encoder.longest + 1), np.int64), n_tokens, parent, token,
    )  # fmt: skip
    offsets = offsets_of(n_tokens[:best])
    paths = np.empty(offsets[-1], np.int32)
    additive.read_tails(parent, token, offsets, paths)
    candidates = Ragged(paths, offsets)
    if objective == "additive":
        return candidates, encoder.weigh(candidates, objective)
    return candidates, 0.0 - sums["first"][0, :best]  # not -0.0
