"""Runs of a symbol, such as N in the gaps of a genome: tokens of 2, 4, 8 ... of it only.

These are the first merges of a fit, (N, N) -> N2, (N2, N2) -> N4 ..., as many as the longest run needs. Their
counts follow from the lengths of runs. The other merges are learned on the text between runs, so that symbol
is in none of their tokens. Merging by rank writes a run of n as n in binary, the largest token first:
1,000,000 as 7 tokens.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ubpe_numba.documents.read import Corpus, Documents
from ubpe_numba.fitting.fit import Merges, Settings, fit, learned
from ubpe_numba.fitting.history import History
from ubpe_numba.runtime.arrays import distinct
from ubpe_numba.runtime.messages import Progress
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.frames import ids_of_segments
from ubpe_numba.vocabulary.vocabulary import Vocabulary

_LONGEST = 20  # doublings: a token of a million symbols


def run_ids(runs: str | bytes | list[int], alphabet: Alphabet, mirror: np.ndarray | None) -> np.ndarray:
    """The alphabet ids of the symbols of runs, ascending; TypeError or ValueError for another symbol.

    With a mirror int32[alphabet] each has to be its own: a run of N is its own mirror.

    >>> run_ids("N", Alphabet.from_user("ACGNT"), None).tolist()
    [3]
    """
    symbols = [*map(ord, runs)] if isinstance(runs, str) else [*runs]
    kind = {str: "str", bytes: "bytes"}.get(type(runs), "int")
    if alphabet.names is not None or kind != alphabet.kind or {*map(type, symbols)} - {int}:
        raise TypeError(
            f"runs: expected symbols of the documents, integers, characters or bytes, got {runs!r}"
        )
    ids = alphabet.lookup(np.array(symbols, np.int64))
    if (bad := np.flatnonzero((ids < 0) | (mirror is not None and mirror[ids] != ids))).size:
        raise ValueError(
            f"runs: the symbol {runs[bad[0]]!r} is not in the alphabet of {alphabet.size} symbols, or "
            "mirrored"
        )
    return np.unique(ids)


def learn_with_runs(
    corpus: Corpus,
    alphabet: Alphabet,
    settings: Settings,
    progress: Progress | None,
    symbols_of_runs: str | bytes | list[int],
) -> tuple[Vocabulary, History]:
    """Learn a vocabulary and its history as `learn` does, with tokens of runs of these symbols first.

    No token is longer than `settings.longest`. Raises as `run_ids`; ValueError if these tokens exceed
    `settings.n_tokens`, UnknownSymbolError for a symbol outside the alphabet.
    """
    runs = run_ids(symbols_of_runs, alphabet, settings.mirror)
    (values, offsets), size = ids_of_segments(corpus, alphabet), alphabet.size
    in_run, edge = np.isin(values, runs), np.ones(values.size + 1, bool)
    edge[1:-1] = values[1:] != values[:-1]
    edge[offsets] = True
    begins = np.flatnonzero(in_run & edge[:-1])
    segment, sizes = (
        np.searchsorted(offsets, begins, "right") - 1,
        np.flatnonzero(in_run & edge[1:]) + 1 - begins,
    )
    times = 1 if settings.mirror is None else 2  # documents count together with their mirrors
    weights = np.full(sizes.size, times) if corpus.weights is None else times * corpus.weights[segment]
    document_of = (
        np.arange(offsets.size - 1, dtype=np.int32) if corpus.document_of is None else corpus.document_of
    )
    rows: list[Any] = []  # left, right, count, documents, replaced, length
    for token in runs.tolist():
        mine = np.flatnonzero(values[begins] == token)
        n, weight, document = sizes[mine], weights[mine], document_of[segment[mine]]
        for level in range(_LONGEST):
            mine = np.flatnonzero(n > 1)
            if not mine.size or 2 << level > settings.longest:
                break
            _, at = np.unique(document[mine], return_index=True)
            rows.append(
                (
                    token,
                    token,
                    ((n - 1) * weight)[mine].sum(),
                    weight[mine][at].sum(),
                    ((n >> 1) * weight).sum(),
                    2 << level,
                )
            )
            token, n = size + len(rows) - 1, n >> 1
    if settings.n_tokens < size + (k := len(rows)):
        raise ValueError(f"n_tokens: expected at least {size + k}, for {size} symbols and {k} tokens of runs")
    # the text between runs, as segments of their own
    where = np.flatnonzero(~in_run)
    cuts = distinct(np.searchsorted(where, np.concatenate([offsets, begins])))
    of = np.searchsorted(offsets, where[cuts[:-1]], "right") - 1
    between = corpus._replace(
        given=Documents(values[where], cuts, "int"), values=values[where], offsets=cuts,
        document_of=document_of[of],
        weights=None if corpus.weights is None else corpus.weights[of],
    )  # fmt: skip
    more = fit(between, Alphabet.dense(size), settings._replace(n_tokens=settings.n_tokens - k), progress)
    symbols = more.symbols.copy()
    np.add.at(symbols, values[begins], sizes * weights)
    first = np.array(rows, np.int64).reshape(k, 6)
    pairs = np.concatenate([first[:, :2], more.pairs + k * (more.pairs >= size)]).astype(np.int32)
    counts, documents, replaced = map(np.concatenate, zip(first.T[2:5], more[1:4], strict=True))
    lengths = np.concatenate([more.lengths[:size], first[:, 5], more.lengths[size:]])
    merges = Merges(pairs, counts, documents, replaced, k + more.last_round, symbols, lengths)
    return learned(merges, times * corpus.n_documents, times * corpus.n_symbols)
