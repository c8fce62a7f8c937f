"""Continuing a fit: new merges on a corpus that is encoded with those of an earlier one."""

from __future__ import annotations

import numpy as np

from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.documents.corpus import Corpus
from ubpe_numba.documents.normalise import Documents
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.fitting.history import History
from ubpe_numba.fitting.learn import fit
from ubpe_numba.fitting.loop import Settings
from ubpe_numba.runtime.messages import Progress
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.vocabulary import Vocabulary, idf


def learn_more(
    corpus: Corpus, alphabet: Alphabet, old: Vocabulary, history: History | None, settings: Settings, progress: Progress
) -> tuple[Vocabulary, History | None]:
    """Continue from a vocabulary of pairs in order of creation.

    Parameters
    ----------
    corpus
        What the new merges are learned from: the corpus of the first fit or another one.
    alphabet
        The alphabet of the old vocabulary.
    old
        The vocabulary to continue; its ids, counts and weights stay as they are, occurrences become those in this corpus.
    history
        Its history, None where there is none (a loaded model).
    settings
        As of a fit; `n_tokens` is the new size.
    progress
        Shows the number of ids.

    Returns
    -------
    The longer vocabulary and the longer history, None if there was none.

    Raises
    ------
    UnknownSymbolError
        For a symbol outside the alphabet, naming document and position.

    Notes
    -----
    The last round of the old fit may have been cut short by its `n_tokens`, where a longer fit would have merged more pairs in
    it. So that round is chosen again on the text as it was before it. If the same merges are found, the corpus is the one of the
    old fit, as far as the merges can tell, and learning continues from the beginning of that round: the result is that of one
    longer fit. Otherwise it continues behind the old vocabulary.
    """
    old_pairs = old.merges
    assert old_pairs is not None
    ids = alphabet.to_ids(corpus.given._replace(values=corpus.values, offsets=corpus.offsets))  # raises for unknown symbols
    kept = old.n_learned if history is None or settings.n_candidates == 1 else history.last_round
    if kept < old.n_learned:
        last_round = fit(*_encoded(corpus, ids, old, kept), settings._replace(n_tokens=len(old)), Progress(False), old.offsets)
        if not np.array_equal(last_round.pairs, old_pairs[kept:]):
            kept = old.n_learned
    start, tokens = _encoded(corpus, ids, old, kept)
    more = fit(start, tokens, settings, progress, old.offsets)
    again = old.n_learned - kept  # merges at the beginning of `more` that the old vocabulary has
    pairs, counts, documents = more.pairs[again:], more.counts[again:], more.documents[again:]
    if history is not None:
        weights = 1 if corpus.weights is None else corpus.weights
        lengths = int((np.diff(start.offsets) * weights).sum()) - np.cumsum(more.replaced)
        n_symbols = np.full(counts.size, corpus.n_symbols, np.int64)
        history = History(
            np.concatenate([history.counts, counts]),
            np.concatenate([history.document_frequencies, documents]),
            np.concatenate([history.lengths, lengths[again:]]),
            np.concatenate([history.n_symbols, n_symbols]),
            kept + more.last_round,
        )
    n = old.n_alphabet
    vocabulary = Vocabulary.from_fit(
        n,
        np.concatenate([old_pairs, pairs]),
        np.concatenate([old.weights[n:], idf(corpus.n_documents, documents)]),
        np.concatenate([old.counts[n:], counts]),
        np.concatenate([old.document_frequencies[n:], documents]),
        more.occurrences(),
        corpus.n_documents,
        corpus.n_symbols,
    )
    return vocabulary, history


def _encoded(corpus: Corpus, ids: Ragged, old: Vocabulary, m: int) -> tuple[Corpus, Alphabet]:
    """The corpus in the first m learned tokens of a vocabulary, and the alphabet of these tokens."""
    if m:
        assert old.merges is not None
        first = Vocabulary.from_merges(old.n_alphabet, old.merges[:m], max_symbols=1 << 40)
        ids = PairEncoder(first, batch=False).encode(ids, None)
    alphabet = Alphabet.dense(old.n_alphabet + m)
    given = Documents(ids.values, ids.offsets, "int")
    return corpus._replace(given=given, values=ids.values, offsets=ids.offsets), alphabet
