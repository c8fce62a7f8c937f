"""All segmentations of a document: expected counts, random segmentations, boundary probabilities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ubpe_numba.coding.kernels import lattice as kernels
from ubpe_numba.coding.kernels.lattice import LEAST, MOST, SUM
from ubpe_numba.coding.path_encoder import PathEncoder
from ubpe_numba.coding.run import Bounded, longest_of, over_documents
from ubpe_numba.documents.ragged import Ragged, trusted
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.arrays import writable

_BLOCK = 1 << 18  # symbols that are summed up at a time: 5 MB of scratch
_MOST_LOG = 66
_FINEST = 40  # binary digits of expected counts after the point, at most


class Lattice:
    """The segmentations of documents, each weighing the product of the weights of its tokens.

    `weights` float64[V] in 2**-96..2**96; one that is outside is brought to the nearer end. `block`: symbols
    of a document that are summed up at a time. Threads may share one.

    >>> from ubpe_numba.vocabulary.vocabulary import Vocabulary
    >>> lattice = Lattice(PathEncoder(Vocabulary.from_merges(2, [[0, 1]])), np.array([0.25, 0.125, 0.5]))
    >>> counts, log_likelihood = lattice.expected_counts(Ragged.from_lists([[0, 1, 0]]), None, 1)
    >>> (counts * 17).round(6).tolist(), math.exp(log_likelihood) * 128
    ([18.0, 1.0, 16.0], 17.0)
    >>> (lattice.boundaries(np.array([0, 1, 0], np.int32)) * 17).round(6).tolist()
    [17.0, 1.0, 17.0]
    """

    def __init__(self, encoder: PathEncoder, weights: np.ndarray, block: int = _BLOCK) -> None:
        self.encoder, self.weights = encoder, np.clip(weights, LEAST, MOST)
        self.reach = encoder.longest + 1
        self.block = max(block, 4 * self.reach)
        self.ring = 1 << self.reach.bit_length()
        self._listed = self.weights[encoder.matcher.tables(0)[-1]["token"]]

    @classmethod
    def of(cls, encoder: PathEncoder, alpha: float) -> Lattice:
        """The lattice in which a token weighs exp(alpha * its weight by the objective ``"additive"``).

        ValueError if a weight exp(...) is not in e**-66..e**66, which is beyond 2**-96..2**96.
        """
        logs = alpha * encoder.added
        if (bad := np.flatnonzero(~(np.abs(logs) <= _MOST_LOG))).size:
            raise ValueError(
                f"alpha: expected weights times alpha in -{_MOST_LOG}..{_MOST_LOG}, got {logs[bad[0]]:.6g} "
                f"of the token {bad[0]}"
            )
        return cls(encoder, np.array([math.exp(log) for log in logs.tolist()]))

    def _scratch(self, longest: int) -> tuple[int, tuple[Any, ...]]:
        """The size of a block and the scratch for documents of up to `longest` symbols."""
        size = max(1, min(self.block, longest))
        blocks = -(-longest // size)
        kept_sums = np.empty((blocks, self.reach), SUM), np.empty(blocks, np.int64)
        return size, (np.empty(size, np.int32), np.empty(size + self.reach, SUM), *kept_sums)

    def expected_counts(
        self,
        documents: Ragged,
        n_copies: np.ndarray | None,
        n_threads: int | None,
        boundaries: np.ndarray | None = None,
    ) -> tuple[np.ndarray, float]:
        """The expected count of each token, float64[V], and the logarithm of the weight of all segmentations.

        `n_copies` int64[d] is the number of copies of each document, None for one. `boundaries` float64, if
        given, gets the probability that a token begins at each symbol. Counts are multiples of 2**-40, or of
        a larger power of two for more than 2**22 symbols. They are the same for any number of threads.
        """
        offsets = documents._offsets
        copies = np.ones(len(documents), np.int64) if n_copies is None else writable(n_copies)
        total = int((np.diff(offsets) * copies).sum())
        tables = *self.encoder.matcher.tables(documents.values.size), self._listed
        one = 2.0 ** min(_FINEST, 62 - total.bit_length())
        starts = np.zeros(0) if boundaries is None else boundaries

        def chunk(begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
            part = offsets[begin : end + 1]
            size, scratch = self._scratch(longest_of(part))
            counts, totals = np.zeros(self.weights.size, np.int64), np.empty(end - begin, SUM)
            kernels.expected_counts(
                documents.values, part, copies[begin:end], tables, one, size, scratch,
                np.empty(self.ring, SUM), counts, totals,
                starts,
            )  # fmt: skip
            return counts, totals

        parts = thread_pool.run(
            chunk, thread_pool.chunks_of(offsets, n_threads), n_threads, int(offsets[-1] - offsets[0])
        )
        counts = np.sum([counts for counts, _ in parts], axis=0)
        totals = np.concatenate([totals for _, totals in parts])
        logs = np.log(totals["mantissa"]) - totals["exponent"] * (256 * math.log(2))
        return counts / one, math.fsum((logs * copies).tolist())

    def sample(self, documents: Ragged, seed: int, n_threads: int | None) -> Ragged:
        """A random segmentation of every document, with the probability of its share in the weight of all.

        `seed`, 0..2**64 - 1, decides the draws together with the number of the document and the position.
        """
        tables = *self.encoder.matcher.tables(documents.values.size), self._listed

        def bound(longest: int, out: np.ndarray, out_offsets: np.ndarray, first: int) -> Bounded:
            size, scratch = self._scratch(longest)
            return kernels.sample_paths, (first, tables, np.uint64(seed), size, scratch, out, out_offsets)

        return over_documents(bound, documents, n_threads)

    def boundaries(self, document: np.ndarray) -> np.ndarray:
        """The probability that a token begins at each position of a document: float64[n].

        `document` int32[n] holds alphabet ids.
        """
        probabilities = np.empty(document.size)
        self.expected_counts(trusted(document, np.array([0, document.size])), None, 1, probabilities)
        return probabilities
