"""Vocabularies chosen for whole documents: by fewest tokens, or by the likelihood of a unigram model.

For fewest tokens, the candidates are the merges of a fit of twice as many tokens, and all substrings that
occur twice, as far as memory allows. The search is in vocabulary_search.py.

For the likelihood, the search starts with more tokens than requested and removes those that the likelihood
misses least. Probabilities are estimated by rounds of EM (reweight.py). A token that leaves gives its
occurrences to the tokens of the best path through its symbols without it (kernels/other_paths.py). The
logarithm of the likelihood falls by

    count * (log(count / total) - sum over that path of log((its count + count) / (total + count * (its length
    - 1))))

The quarter of the tokens that saves least is removed, probabilities are estimated again, and so on until the
size is reached. No more rounds of EM follow: they raise the likelihood of all segmentations together, of
which the encoder uses only the best. If many segmentations are nearly as good, as in DNA, they would lead to
more tokens and more bits on unseen documents. Source: T. Kudo, "Subword regularization", 2018, as
sentencepiece computes it.
"""

from __future__ import annotations

import logging
import math
import time
from typing import Any

import numpy as np

from ubpe_numba.coding.lattice import Lattice
from ubpe_numba.coding.occurrences import usage_in
from ubpe_numba.coding.path_encoder import SCALE, PathEncoder
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import Corpus, Documents, as_corpus
from ubpe_numba.errors import quoted
from ubpe_numba.fitting.fit import Settings, learn
from ubpe_numba.fitting.kernels import other_paths
from ubpe_numba.fitting.reweight import LEAST, likeliest, logarithms, probabilities
from ubpe_numba.fitting.substrings import Substrings
from ubpe_numba.fitting.units import units_of
from ubpe_numba.fitting.vocabulary_search import search_vocabulary
from ubpe_numba.runtime.arrays import positive, writable
from ubpe_numba.runtime.messages import Progress
from ubpe_numba.vocabulary.alphabet import MAX_SIZE, Alphabet
from ubpe_numba.vocabulary.segmenter import Segmenter
from ubpe_numba.vocabulary.vocabulary import Vocabulary, idf

#: How many tokens are searched, of those wanted, by the objective.
SPARE = {"shortest": 1.0, "likelihood": 1.15}
_EDGES = 1 << 25  # without a limit of memory
_EDGE = 40  # bytes, with the scratch of finding it, and a third of a candidate and its tables
_TABLES = 64 << 20  # bytes of the rest, at most
_FEWEST_EDGES = 1 << 20  # that are always allowed
_EDGES_OF_A_SYMBOL = 16  # that there is to be room for, or only a part of the documents is looked at
_MORE = 2  # times as many merges as requested tokens are candidates,
_MORE_BY_LIKELIHOOD = 4  # and by the likelihood, for text that is split, so many times as many are added
_STAY = 0.75  # of the tokens, in a step by the likelihood,
_ROUNDS = 2  # of EM before each, and at the end

log = logging.getLogger("ubpe_numba")


def refined(
    corpus: Corpus,
    uncut: Corpus,
    ids: Ragged,
    alphabet: Alphabet,
    segmenter: Segmenter,
    n: int,
    objective: str,
    goal: tuple[bool | None, int | None],
    longest: int,
    most_edges: int,
    counted: bool,
    seconds: float | None,
    settings: Settings,
    progress: Progress,
) -> Vocabulary:
    """The vocabulary of `n` learned tokens for a corpus.

    The corpus is also given before its text is split (`uncut`), and as alphabet ids of its segments.

    `goal` as of `search_vocabulary`; `longest`: symbols of the longest token; `counted`: whether documents
    are counts of words; `settings` of the fits that merges come from.
    """
    deadline = math.inf if seconds is None else time.monotonic() + seconds
    n_alphabet, n_threads = alphabet.size, settings.n_threads
    # words are short: those that occur once may fill what room is left
    least = 2 if segmenter.pretokenizer is None else 1
    if segmenter.pretokenizer is None or counted:
        units = units_of(ids, corpus.document_of, corpus.weights, counted)
    else:  # equal segments are one, with how often they occur in which documents
        kind = uncut.given.kind
        cut, of = segmenter.cut(
            segmenter.stretches(Documents(uncut.values, uncut.offsets, kind), "docs"), kind
        )
        document = of if uncut.document_of is None else uncut.document_of[of]
        units = units_of(alphabet.to_ids(cut), document, None if uncut.weights is None else uncut.weights[of])
    units, most = units.sample(most_edges // _EDGES_OF_A_SYMBOL), most_edges // 3
    most_edges = min(most_edges, max(_FEWEST_EDGES, _EDGES_OF_A_SYMBOL * units.documents.total))
    wanted = int(SPARE[objective] * n)
    settings = settings._replace(longest=min(settings.longest, longest))

    def merges_of(given: Corpus, alphabet: Alphabet, n: int, progress: Progress | None) -> Ragged:
        size = min(MAX_SIZE, n_alphabet + n)
        return learn(given, alphabet, settings._replace(n_tokens=size), progress)[0][n_alphabet:].compact()

    if wanted:
        documents = units.documents
        given = documents.values, documents._offsets, units.weights, n_alphabet
        candidates = Substrings(*given, longest, least, most_edges, most)
        sizes = len(candidates), candidates.longest, candidates.lengths.size
        log.info("refine: %d candidates of up to %d symbols, %d edges", *sizes)
        # if all weights are 1 it needs none, and only the kernels of a plain fit
        some = as_corpus(documents, sample_weight=units.weights if (units.weights != 1).any() else None)
        candidates = candidates.extended(merges_of(some, Alphabet.dense(n_alphabet), _MORE * wanted, None))
        tables = max(1, most // max(1, len(candidates)))
        tokens = search_vocabulary(
            units, candidates, wanted, goal, least, tables, n_threads, deadline, progress
        )
    else:
        tokens = Ragged.from_lists([])
    if objective == "likelihood" and segmenter.pretokenizer is not None:
        merges = merges_of(corpus, alphabet, _MORE_BY_LIKELIHOOD * n, progress)
        tokens = Ragged.from_lists(
            {token.tobytes(): token for token in [*tokens, *merges]}.values()
        ).compact()
    vocabulary = _with_counts(corpus, ids, tokens, n_alphabet, n_threads)
    if objective == "likelihood":
        return pruned(ids, corpus, vocabulary, n, n_threads, progress)
    # then the merges of a fit may be better
    if goal[0] is False or not len(units.held) or time.monotonic() >= deadline:
        merges = merges_of(corpus, alphabet, n, None)
        other = _with_counts(corpus, ids, merges, n_alphabet, n_threads)
        assert vocabulary.occurrences is not None
        assert other.occurrences is not None
        if other.occurrences.sum() < vocabulary.occurrences.sum():
            if len(merges) < n:  # a fit may end early: further tokens fill what room is left
                both = list({token.tobytes(): token for token in [*merges, *tokens]}.values())[:n]
                other = _with_counts(corpus, ids, Ragged.from_lists(both).compact(), n_alphabet, n_threads)
            vocabulary = other
    # of equally short paths the encoder takes that of the largest idf, which is known only now
    shortest = PathEncoder(vocabulary).encode(ids, "shortest", n_threads)
    return vocabulary.with_statistics(
        occurrences=usage_in(shortest, corpus, len(vocabulary), n_threads).counts
    )


def _with_counts(
    corpus: Corpus, ids: Ragged, tokens: Ragged, n_alphabet: int, n_threads: int | None
) -> Vocabulary:
    """The vocabulary with counts, document frequencies and idf in the paths of fewest tokens."""
    plain = Vocabulary.from_sequences(n_alphabet, tokens.values, tokens.lengths)
    usage = usage_in(PathEncoder(plain).encode(ids, "shortest", n_threads), corpus, len(plain), n_threads)
    frequencies = usage.document_frequencies[n_alphabet:]
    return Vocabulary.from_sequences(
        n_alphabet,
        tokens.values,
        tokens.lengths,
        idf(corpus.n_documents, frequencies),
        usage.counts[n_alphabet:],
        frequencies,
        corpus.n_documents,
        corpus.n_symbols,
        usage.counts,
    )


# ------------------------------------------------------------------------------------------------- by the
# likelihood


def likelihood_losses(encoder: PathEncoder, counts: np.ndarray) -> np.ndarray:
    """The fall of the log-likelihood if one learned token leaves, float64[m].

    -1 if another path is likelier.

    `counts` float64[V]: the expected count of every token, above 0.

    >>> encoder = PathEncoder(Vocabulary.from_merges(2, [[0, 1]]))
    >>> likelihood_losses(encoder, np.array([2.0, 1.0, 5.0])).round(3).tolist()
    [4.611]
    """
    v, matcher = encoder.vocabulary, encoder.matcher
    total = math.fsum(counts.tolist())
    logs = logarithms(counts / total)
    out, bounds = np.empty(v.arena.size, np.int32), np.empty(len(v) + 1, np.int64)
    other_paths.other_paths(
        writable(v.arena), writable(v.offsets), v.n_alphabet, matcher.edges, matcher.states,
        -np.rint(logs * SCALE),
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


def pruned(
    ids: Ragged, corpus: Corpus, vocabulary: Vocabulary, n: int, n_threads: int | None, progress: Progress
) -> Vocabulary:
    """The vocabulary of the `n` learned tokens that matter most to the likelihood of documents.

    It has probabilities.

    `vocabulary` has more tokens, with occurrences; `ids` are the segments of the corpus. The result is flat,
    with occurrences in the likeliest paths.
    """
    assert vocabulary.occurrences is not None
    counts = vocabulary.occurrences.astype(np.float64)
    vocabulary = vocabulary.select(np.arange(vocabulary.n_learned), None)
    sizes = [vocabulary.n_learned]
    while sizes[-1] > n:
        sizes.append(max(n, int(sizes[-1] * _STAY)))
    for left in progress.rounds([*sizes[1:], n], "refine for the likelihood"):
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


# -----------------------------------------------------------------------------------------------------------
# arguments


def goal_of(robust: Any, min_count: Any) -> tuple[bool | None, int | None]:
    """The arguments `robust` and `min_count`, None for ``"auto"``.

    ValueError or TypeError, with the name of the wrong argument.
    """
    if not isinstance(robust, (bool, np.bool_)) and not (isinstance(robust, str) and robust == "auto"):
        raise TypeError(f"robust: expected True, False or 'auto', got {quoted(robust)}")
    if isinstance(min_count, str) and min_count == "auto":
        least = None
    else:
        least = positive(min_count, "min_count", "an int or 'auto'")
        if least < 2:
            raise ValueError(f"min_count: expected 2 or more, got {least}")
    return None if isinstance(robust, str) else bool(robust), least


def edges_of(memory_limit: Any) -> int:
    """How many edges the argument `memory_limit` leaves room for; MemoryError for too few bytes."""
    if memory_limit is None:
        return _EDGES
    limit = positive(memory_limit, "memory_limit")
    if limit < 2 * _TABLES:
        raise MemoryError(
            f"memory_limit: refining needs {2 * _TABLES / 1e6:.0f} MB, the limit is {limit / 1e6:.0f} MB"
        )
    return min(2**31 - 1, (limit - _TABLES) // _EDGE)
