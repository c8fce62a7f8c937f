"""A vocabulary of the objective likelihood: more tokens than are wanted, of which those leave that the likelihood misses least.

Probabilities are estimated by rounds of EM (reweight.py). A token that leaves gives its occurrences to the tokens of the best
path through its symbols without it (kernels/other_paths.py); the logarithm of the likelihood falls by

    count * (log(count / total) - sum over that path of log((its count + count) / (total + count * (its length - 1))))

A quarter of the tokens that save least leaves, probabilities are estimated again, and so on until the size is reached. No more
rounds of EM follow: they raise the likelihood of all segmentations together, of which the encoder takes the best only. Where many
are nearly as good, as in DNA, they would lead to more tokens and more bits on documents not seen.
Source: T. Kudo, "Subword regularization", 2018, as sentencepiece computes it.
"""

from __future__ import annotations

import math

import numpy as np

from ubpe_numba.coding.lattice import Lattice
from ubpe_numba.coding.path_encoder import SCALE, PathEncoder
from ubpe_numba.documents.corpus import Corpus
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.fitting.kernels import other_paths
from ubpe_numba.fitting.neighbours import sizes_down
from ubpe_numba.fitting.reweight import LEAST, likeliest, logarithms, probabilities
from ubpe_numba.runtime.arrays import writable
from ubpe_numba.runtime.messages import Progress
from ubpe_numba.vocabulary.vocabulary import Vocabulary

_STAY = 0.75  # of the tokens, in a step
_ROUNDS = 2  # of EM before each step, and at the end


def likelihood_losses(encoder: PathEncoder, counts: np.ndarray) -> np.ndarray:
    """By how much the log-likelihood falls if one learned token leaves, float64[m]; -1 where another path is likelier.

    Parameters
    ----------
    encoder
        With the tables of the vocabulary.
    counts
        float64[V], the expected count of every token, above 0.

    Examples
    --------
    >>> encoder = PathEncoder(Vocabulary.from_merges(2, [[0, 1]]))
    >>> likelihood_losses(encoder, np.array([2.0, 1.0, 5.0])).round(3).tolist()
    [4.611]
    """
    v, tables = encoder.vocabulary, encoder.tables
    total = math.fsum(counts.tolist())
    logs = logarithms(counts / total)
    out, bounds = np.empty(v.arena.size, np.int32), np.empty(len(v) + 1, np.int64)
    other_paths.other_paths(
        writable(v.arena), writable(v.offsets), v.n_alphabet, tables.edges, tables.states, -np.rint(logs * SCALE),
        np.empty(encoder.longest + 1), np.empty(2 * encoder.longest, np.int32), out, bounds,
    )  # fmt: skip
    first, lengths = v.n_alphabet, np.diff(bounds)[v.n_alphabet :]
    path, of, losses = out[: bounds[-1]], np.repeat(np.arange(v.n_learned), lengths), np.empty(v.n_learned)

    def along(values: np.ndarray) -> np.ndarray:  # in order: the same sums in any Python
        return np.bincount(of, values, minlength=v.n_learned)

    count, log = counts[first:], logs[first:]
    more = logarithms(total + count * (lengths - 1))
    losses[:] = count * (log - along(logarithms(counts[path] + count[of])) + lengths * more)
    losses[along(logs[path]) > log] = -1.0
    return losses


def pruned(ids: Ragged, corpus: Corpus, vocabulary: Vocabulary, n: int, n_threads: int | None, progress: Progress) -> Vocabulary:
    """The vocabulary of the `n` learned tokens that the likelihood of documents would miss most, with probabilities.

    Parameters
    ----------
    ids
        The segments of the corpus, as alphabet ids.
    corpus
        Whose weights and documents count.
    vocabulary
        Of more tokens, with occurrences.
    n
        How many learned tokens are wanted.
    n_threads
        As of `thread_pool.resolve`.
    progress
        Where rounds are shown.

    Returns
    -------
    A vocabulary of flat sequences, with occurrences in the likeliest paths.
    """
    assert vocabulary.occurrences is not None
    counts = vocabulary.occurrences.astype(np.float64)
    vocabulary = vocabulary.select(np.arange(vocabulary.n_learned), None)
    for left in progress.rounds([*sizes_down(vocabulary.n_learned, n, _STAY), n], "refine for the likelihood"):
        encoder = PathEncoder(vocabulary)
        p = probabilities(counts)
        for _ in range(_ROUNDS):
            counts, _ = Lattice(encoder, p).expected_counts(ids, corpus.weights, n_threads)
            p = probabilities(counts)
        if vocabulary.n_learned > left:
            counts = np.maximum(counts, LEAST)
            order = np.lexsort((np.arange(vocabulary.n_learned), -likelihood_losses(encoder, counts)))
            stay = np.sort(order[:left])
            vocabulary = vocabulary.select(stay, None)
            counts = counts[np.concatenate([np.arange(vocabulary.n_alphabet), vocabulary.n_alphabet + stay])]
    return likeliest(ids, corpus, vocabulary, counts, 0, n_threads, progress)
