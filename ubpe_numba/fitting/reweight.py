"""Weights of tokens from the documents' own encodings: idf, and probabilities by EM.

A fit knows how often a pair occurred when it was merged. Later merges use most of these occurrences up, and a
search for the best path chooses differently again. Here documents are encoded, and tokens are counted as the
encoder uses them. Probabilities are then improved in rounds of expectation and maximization (EM): the new
probability of a token is its share of the expected tokens over all segmentations (coding/lattice.py). The
likelihood of the documents rises in every round.

Source: T. Kudo, "Subword regularization", 2018.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ubpe_numba.coding.lattice import Lattice
from ubpe_numba.coding.occurrences import usage_in
from ubpe_numba.coding.path_encoder import PathEncoder
from ubpe_numba.documents.ragged import Ragged, trusted
from ubpe_numba.documents.read import Corpus
from ubpe_numba.runtime.messages import Progress
from ubpe_numba.vocabulary.frames import Frames
from ubpe_numba.vocabulary.vocabulary import Vocabulary, idf
from ubpe_numba.vocabulary.weights import token_counts

#: What counts are at least: a token that is not expected anywhere could never come back, and a symbol has to
#: stay possible.
LEAST = 2.0**-10


def probabilities(counts: np.ndarray) -> np.ndarray:
    """Each count's share of all, float64[V], where counts are `LEAST` at least.

    >>> probabilities(np.array([1.0, 3.0])).tolist()
    [0.25, 0.75]
    """
    counts = np.maximum(counts, LEAST)
    return counts / math.fsum(counts.tolist())


def logarithms(values: np.ndarray) -> np.ndarray:
    """The natural logarithm of every number, float64, by `math.log`: NumPy's may differ between processors.

    >>> logarithms(np.array([1.0, 0.5])).tolist()
    [0.0, -0.6931471805599453]
    """
    return np.array([math.log(value) for value in values.tolist()], np.float64)


def likeliest(
    ids: Ragged,
    corpus: Corpus,
    vocabulary: Vocabulary,
    counts: np.ndarray,
    n_rounds: int,
    n_threads: int | None,
    progress: Progress,
    objective: str = "additive",
    frame: int = 0,
) -> Vocabulary:
    """The vocabulary with probabilities after `n_rounds` of EM.

    Its occurrences are those in the likeliest paths.

    `ids` are the segments of the corpus as alphabet ids; its weights and documents count. `counts` are the
    starting values of the V tokens. `objective` is that of the paths in which occurrences are counted,
    ``"additive"`` or ``"sentencepiece"``, which differ in ties. `frame` is the symbols per frame, 0 without
    frames.
    """
    frames = Frames.over(vocabulary, frame) if frame else None
    encoder, of = (
        PathEncoder(vocabulary, None, frames),
        np.arange(len(vocabulary)) if frames is None else frames.of,
    )
    sequences = ids if frames is None else frames.marked(ids)
    p = probabilities(counts)
    for _ in progress.rounds(range(n_rounds), "expectation, maximisation"):
        expected, _ = Lattice(encoder, p[of]).expected_counts(sequences, corpus.weights, n_threads)
        p = probabilities(np.bincount(of, expected, len(vocabulary)))
    logs = logarithms(p)
    encoded = PathEncoder(vocabulary, logs, frames).encode(sequences, objective, n_threads)
    encoded = trusted(of[encoded.values].astype(np.int32), encoded._offsets)
    usage = usage_in(encoded, corpus, len(vocabulary), n_threads)
    return vocabulary.with_statistics(log_probabilities=logs, occurrences=usage.counts)


def by_own_idf(
    ids: Ragged,
    corpus: Corpus,
    vocabulary: Vocabulary,
    encode: Callable[[Vocabulary], Ragged],
    n_rounds: int,
    n_threads: int | None,
    progress: Progress,
) -> Vocabulary:
    """The vocabulary with the idf and the occurrences of its tokens in the documents' encodings.

    `encode` encodes `ids` with the weights of a vocabulary; other arguments as for `likeliest`. Weights
    decide the encoding, which decides the weights, so rounds are repeated until nothing changes, or
    `n_rounds` are done; then occurrences are counted with the last weights.
    """
    n = vocabulary.n_alphabet
    usage = usage_in(encode(vocabulary), corpus, len(vocabulary), n_threads)
    for _ in progress.rounds(range(n_rounds), "reweight"):
        weights = np.concatenate([np.zeros(n), idf(corpus.n_documents, usage.document_frequencies[n:])])
        if np.array_equal(weights, vocabulary.weights) and np.array_equal(
            usage.counts, token_counts(vocabulary)
        ):
            break
        vocabulary = vocabulary.with_statistics(weights=weights, occurrences=usage.counts)
        usage = usage_in(encode(vocabulary), corpus, len(vocabulary), n_threads)
    return vocabulary.with_statistics(occurrences=usage.counts)
