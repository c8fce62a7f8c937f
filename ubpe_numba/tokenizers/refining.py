"""Tokenizers of other tokens for fewer tokens: what `UBPE.refine` does around the search."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ubpe_numba.coding.path_encoder import PathEncoder
from ubpe_numba.coding.usage import usage_in
from ubpe_numba.documents.corpus import Corpus
from ubpe_numba.documents.counts import Counts
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.errors import quoted
from ubpe_numba.fitting.deadline import Deadline
from ubpe_numba.fitting.fit import learn
from ubpe_numba.runtime.arrays import positive
from ubpe_numba.runtime.messages import Progress
from ubpe_numba.tokenizers.parameters import seconds_of, segments_of
from ubpe_numba.vocabulary.alphabet import MAX_SIZE, Alphabet
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.segmenter import Segmenter
from ubpe_numba.vocabulary.vocabulary import Vocabulary, idf

if TYPE_CHECKING:
    from ubpe_numba.tokenizers.ubpe import UBPE

_BATCH = 1 << 24  # symbols of text that are cut at a time
_EDGES = 1 << 25  # without a limit of memory
_EDGE = 40  # bytes, with what finding it takes, and a third of a candidate and its tables
_TABLES = 64 << 20  # bytes of the rest, at most
_FEWEST_EDGES = 1 << 20  # that are always allowed
_EDGES_OF_A_SYMBOL = 16  # that there is to be room for, or only a part of the documents is looked at
_MORE_BY_LIKELIHOOD = 4  # times as many merges as tokens are wanted, beside them, of text that is cut
#: How many tokens are searched, of those wanted, by the objective.
SPARE = {"shortest": 1.0, "likelihood": 1.15}


def refined(
    tok: UBPE, docs: Any, objective: str, given: tuple[Any, Any, Any], chosen: tuple[Any, Any, Any],
    max_token_length: Any, memory_limit: Any, seconds: Any, progress: bool | str,
) -> UBPE:  # fmt: skip
    """The new tokenizer, as `UBPE.refine` says.

    `given` are its arguments offsets, sample_weight and boundaries, `chosen` are start, robust and min_count.
    """
    from ubpe_numba.fitting import refine, units  # here only: other calls need not wait for it

    alphabet, vocabulary, _ = tok._fitted()
    tok._check_objective()
    n_alphabet = vocabulary.n_alphabet
    n = max(len(vocabulary), tok.n_tokens or 0) - n_alphabet
    if not isinstance(objective, str) or objective not in SPARE:
        raise ValueError(f"objective: expected {' or '.join(map(repr, SPARE))}, got {quoted(objective)}")
    plan = refine.Plan(*_plan(refine.STARTS, *chosen))
    deadline = Deadline(seconds_of(seconds))
    longest = tok.max_token_length if max_token_length is None else positive(max_token_length, "max_token_length")
    most_edges = _most_edges(memory_limit)
    settings = tok._settings()
    bar = Progress(progress, "refine")
    uncut, segmenter = tok._uncut_corpus(docs, *given)
    corpus = segmenter.corpus(uncut, tok.n_threads)
    ids = segments_of(corpus, alphabet)
    least = 2 if segmenter.pretokenizer is None else 1  # words are short: those that occur once may fill what room is left
    if segmenter.pretokenizer is None or isinstance(docs, Counts):
        looked_at = units.units_of(ids, corpus.document_of, corpus.weights, isinstance(docs, Counts))
    else:  # equal segments are one, with how often they occur in which documents
        looked_at = units.units_in_batches(_batches(uncut, segmenter, alphabet), uncut.values.size)
    looked_at = looked_at.sample(most_edges // _EDGES_OF_A_SYMBOL)
    most = most_edges // 3
    most_edges = min(most_edges, max(_FEWEST_EDGES, _EDGES_OF_A_SYMBOL * looked_at.documents.total))
    task = refine.Task(looked_at, n_alphabet, int(SPARE[objective] * n), longest, most_edges, most, least, settings, deadline)
    tokens = refine.refined(task, plan, bar)
    settings = settings._replace(longest=settings.longest if longest is None else min(settings.longest, longest))
    if objective == "likelihood" and segmenter.pretokenizer is not None:
        more = settings._replace(n_tokens=min(MAX_SIZE, n_alphabet + _MORE_BY_LIKELIHOOD * n))
        merges = learn(corpus, alphabet, more, bar)[0][n_alphabet:]
        tokens = Ragged.from_lists({token.tobytes(): token for token in [*tokens, *merges]}.values()).compact()
    elif objective == "shortest" and plan.start is None and (plan.robust is False or not looked_at.n_folds):
        merges = learn(corpus, alphabet, settings._replace(n_tokens=n_alphabet + n), Progress(False))[0][n_alphabet:].compact()
        tokens = min(tokens, merges, key=lambda found: _n_tokens(corpus, ids, found, n_alphabet, tok.n_threads))
    other = type(tok)(**{**tok.get_params(), "objective": objective, "token_weights": None})
    made = _with_counts(corpus, ids, tokens, n_alphabet, tok.n_threads)
    if objective == "likelihood":
        from ubpe_numba.fitting.prune import pruned

        made = pruned(ids, corpus, made, n, tok.n_threads, bar)
    else:  # of equally short paths the encoder takes that of the largest idf, which is known only now
        shortest = PathEncoder(made).encode(ids, "shortest", tok.n_threads)
        made = made.with_statistics(occurrences=usage_in(shortest, corpus, len(made), tok.n_threads).counts)
    other._adopt(Model(alphabet, made, other._segmenter(alphabet.kind, len(made))))
    return other


def _batches(corpus: Corpus, segmenter: Segmenter, alphabet: Alphabet) -> Iterator[tuple[Ragged, np.ndarray, np.ndarray | None]]:
    """The segments of a corpus, some documents at a time: as alphabet ids, the document of each, and their weights."""
    offsets, n = corpus.offsets, corpus.offsets.size - 1
    document = np.arange(n) if corpus.document_of is None else corpus.document_of
    ends = np.flatnonzero(np.diff(document, append=-1)) + 1  # of whole documents
    begin = 0
    while begin < n:
        at = int(np.searchsorted(offsets[ends], offsets[begin] + _BATCH, side="right")) - 1
        end = max(int(ends[at]), int(ends[np.searchsorted(ends, begin, side="right")]))
        some = corpus.values[offsets[begin] : offsets[end]], offsets[begin : end + 1] - offsets[begin]
        cut, of = segmenter.cut(corpus._replace(values=some[0], offsets=some[1]))
        weights = None if corpus.weights is None else corpus.weights[begin:end][of]
        yield alphabet.to_ids(cut), document[begin:end][of], weights
        begin = end


def _n_tokens(corpus: Corpus, ids: Ragged, tokens: Ragged, n_alphabet: int, n_threads: int | None) -> int:
    """The fewest tokens that a corpus needs with these, by weight."""
    plain = Vocabulary.from_sequences(n_alphabet, tokens.values, tokens.lengths)
    lengths = PathEncoder(plain).encode(ids, "shortest", n_threads).lengths
    return int(lengths.sum() if corpus.weights is None else lengths @ corpus.weights)


def _with_counts(corpus: Corpus, ids: Ragged, tokens: Ragged, n_alphabet: int, n_threads: int | None) -> Vocabulary:
    """The vocabulary with counts, document frequencies and idf as the paths of fewest tokens have them."""
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


def _plan(starts: tuple[str, ...], start: Any, robust: Any, min_count: Any) -> tuple[str | None, bool | None, int | None]:
    """The arguments that say how to search, None for what is left open; ValueError or TypeError names the one that is wrong."""
    if not isinstance(start, str) or start not in (*starts, "auto"):
        raise ValueError(f"start: expected {', '.join(map(repr, (*starts, 'auto')))}, got {quoted(start)}")
    if not isinstance(robust, (bool, np.bool_)) and not (isinstance(robust, str) and robust == "auto"):
        raise TypeError(f"robust: expected True, False or 'auto', got {quoted(robust)}")
    if isinstance(min_count, str) and min_count == "auto":
        least = None
    else:
        least = positive(min_count, "min_count", "an int or 'auto'")
        if least < 2:
            raise ValueError(f"min_count: expected 2 or more, got {least}")
    return None if start == "auto" else start, None if isinstance(robust, str) else bool(robust), least


def _most_edges(memory_limit: Any) -> int:
    if memory_limit is None:
        return _EDGES
    limit = positive(memory_limit, "memory_limit")
    if limit < 2 * _TABLES:
        raise MemoryError(f"memory_limit: refining takes at least {2 * _TABLES / 1e6:.0f} MB, the limit is {limit / 1e6:.0f} MB")
    return min(2**31 - 1, (limit - _TABLES) // _EDGE)
