"""From a corpus to a vocabulary: a fit, and a fit that goes on where another one ended."""

from __future__ import annotations

import numpy as np

from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.documents.corpus import Corpus
from ubpe_numba.documents.normalise import Documents
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.fitting.history import History
from ubpe_numba.fitting.loop import Merges, Settings, fit
from ubpe_numba.runtime.progress import Progress
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.vocabulary import Vocabulary, idf


def learn(corpus: Corpus, alphabet: Alphabet, settings: Settings, progress: Progress) -> tuple[Vocabulary, History]:
    """A vocabulary fitted on a corpus; see `fit`."""
    learned = fit(corpus, alphabet, settings, progress)
    lengths = corpus.n_symbols - np.cumsum(learned.replaced)
    n_symbols = np.full(lengths.size, corpus.n_symbols, np.int64)
    history = History(learned.counts, learned.documents, lengths, n_symbols, learned.last_round)
    return _vocabulary(alphabet.size, corpus, learned, None), history


def learn_more(
    corpus: Corpus, alphabet: Alphabet, old: Vocabulary, history: History | None, settings: Settings, progress: Progress
) -> tuple[Vocabulary, History | None]:
    """Go on from a vocabulary of pairs in order of creation.

    Its last round may have been cut short, and a longer fit would have merged more pairs in it. So that round is chosen anew on
    the text before it; if it comes to the same merges, the corpus is the same for all that matters, and goes on from there.
    """
    ids = alphabet.to_ids(corpus.given._replace(values=corpus.values, offsets=corpus.offsets))  # raises for unknown symbols
    again = old.n_learned if history is None or settings.n_candidates == 1 else history.last_round
    if again < old.n_learned:
        whole = settings._replace(n_tokens=len(old))
        same = fit(*_encoded(corpus, ids, old, again), whole, Progress(False), old.offsets)
        assert old.merges is not None
        if not np.array_equal(same.pairs, old.merges[again:]):
            again = old.n_learned
    start, tokens = _encoded(corpus, ids, old, again)
    more = fit(start, tokens, settings, progress, old.offsets)
    new = old.n_learned - again  # merges that were made again
    kept = more._replace(
        pairs=more.pairs[new:], counts=more.counts[new:], documents=more.documents[new:], replaced=more.replaced[new:]
    )
    if history is not None:
        weights = 1 if corpus.weights is None else corpus.weights
        lengths = int((np.diff(start.offsets) * weights).sum()) - np.cumsum(more.replaced)
        n_symbols = np.full(kept.counts.size, corpus.n_symbols, np.int64)
        history = History(
            np.concatenate([history.counts, kept.counts]),
            np.concatenate([history.document_frequencies, kept.documents]),
            np.concatenate([history.lengths, lengths[new:]]),
            np.concatenate([history.n_symbols, n_symbols]),
            again + more.last_round,
        )
    return _vocabulary(alphabet.size, corpus, kept, old), history


def _encoded(corpus: Corpus, ids: Ragged, old: Vocabulary, m: int) -> tuple[Corpus, Alphabet]:
    """The corpus in the first m tokens of a vocabulary, and the alphabet of these."""
    if m:
        assert old.merges is not None
        first = Vocabulary.from_merges(old.n_alphabet, old.merges[:m], max_symbols=1 << 40)
        ids = PairEncoder(first, batch=False).encode(ids, None)
    alphabet = Alphabet.dense(old.n_alphabet + m)
    given = Documents(ids.values, ids.offsets, "int")
    return corpus._replace(given=given, values=ids.values, offsets=ids.offsets), alphabet


def _vocabulary(n_alphabet: int, corpus: Corpus, learned: Merges, old: Vocabulary | None) -> Vocabulary:
    """The vocabulary of what was learned, behind that of an earlier fit."""
    weights = idf(corpus.n_documents, learned.documents)
    pairs, counts, documents = learned.pairs, learned.counts, learned.documents
    if old is not None and old.merges is not None:
        pairs = np.concatenate([old.merges, pairs])
        weights = np.concatenate([old.weights[n_alphabet:], weights])
        counts = np.concatenate([old.counts[n_alphabet:], counts])
        documents = np.concatenate([old.document_frequencies[n_alphabet:], documents])
    return Vocabulary.from_fit(n_alphabet, pairs, weights, counts, documents, corpus.n_documents, corpus.n_symbols)
