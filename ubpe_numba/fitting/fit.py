"""Learning merges from a corpus in one process: a whole fit, and one that continues from an earlier vocabulary."""

from __future__ import annotations

import numpy as np

from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.documents.counts import Corpus
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import Documents
from ubpe_numba.fitting.history import History
from ubpe_numba.fitting.kernels.text_cells import MOST_CELLS
from ubpe_numba.fitting.loop import Loop, Memory, Merges, Settings
from ubpe_numba.fitting.text import LocalText, cut
from ubpe_numba.runtime.messages import Progress
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.vocabulary import Vocabulary, idf

_PER_SHARD = 500_000  # cells; smaller shards cost more in hand-offs than their threads spare
_ROUND = 1024  # most merges of a round with one candidate
_MOST_READY = 1 << 15  # most pairs and tokens that there is room for at first; a round that needs more asks for it


def learn(corpus: Corpus, alphabet: Alphabet, settings: Settings, progress: Progress) -> tuple[Vocabulary, History]:
    """Learn a vocabulary, in order of creation, from a corpus, and the history of its merges; see `fit`."""
    return learned(fit(corpus, alphabet, settings, progress), corpus.n_documents, corpus.n_symbols)


def learned(merges: Merges, n_documents: int, n_symbols: int) -> tuple[Vocabulary, History]:
    """The vocabulary and the history that the merges of a fit make."""
    lengths = n_symbols - np.cumsum(merges.replaced)
    history = History(merges.counts, merges.documents, lengths, np.full(lengths.size, n_symbols, np.int64), merges.last_round)
    found = merges.pairs, idf(n_documents, merges.documents), merges.counts, merges.documents
    return Vocabulary.from_fit(merges.symbols.size, *found, merges.occurrences(), n_documents, n_symbols), history


def fit(corpus: Corpus, alphabet: Alphabet, settings: Settings, progress: Progress, lengths: np.ndarray | None = None) -> Merges:
    """Learn merges until the vocabulary is full, or no pair is frequent enough.

    lengths: int64[alphabet], the symbols in each id where the alphabet is one of tokens. MemoryError if the fit cannot keep to
    `memory_limit`, UnknownSymbolError for a symbol outside the alphabet. Ctrl-C is obeyed between slices of ~100 ms. The result
    does not depend on the number of threads. Source: UBPE tokenizers, part 1; the incremental scheme is described in the kernels.
    """
    n_symbols = int(corpus.offsets[-1] - corpus.offsets[0])
    n_cells = n_symbols + corpus.offsets.size  # symbols and separators
    memory = None
    if settings.memory_limit is not None:
        divisible = corpus.weights is None and n_cells < MOST_CELLS
        memory = Memory.within(settings.memory_limit, n_cells, corpus.offsets.size, divisible)
    threads, n_shards = plan(n_cells, settings.n_threads if memory is None else 1, settings.n_shards)  # one shard takes the least
    settings, room = room_for(n_symbols, alphabet.size, settings, n_shards)
    weighted = corpus.weights is not None or corpus.document_of is not None
    text = LocalText(corpus, alphabet, cut(corpus.offsets, n_shards), weighted, room, threads)
    # other ties are decided by a look at the text, for which the driver has to be alone
    n_parts = text.k if settings.rules.ties == "smallest" else 1
    size = alphabet.size, n_symbols, corpus.n_symbols, corpus.weights is not None
    return Loop(text, room, settings._replace(n_threads=threads), *size, n_parts, lengths, memory).run(progress)


def plan(n_cells: int, n_threads: int, n_shards: int | None = None) -> tuple[int, int]:
    """How many threads, and how many shards: one each, unless they would be too small to pay or too large to be possible."""
    if n_shards is not None:
        return n_threads, n_shards
    threads = max(1, min(n_threads, n_cells // _PER_SHARD))
    return threads, max(threads, -(-n_cells // (MOST_CELLS - 2**20)))


def room_for(n_symbols: int, n_alphabet: int, settings: Settings, n_parts: int) -> tuple[Settings, tuple[int, int, int]]:
    """Tokens, slots of pairs and merges of a round that there is room for when a fit begins; the last never becomes more.

    The pairs are dealt to `n_parts`. First the settings with no more candidates than symbols.
    """
    wanted = max(0, settings.n_tokens - n_alphabet)
    n_candidates = min(settings.n_candidates, max(1, n_symbols))
    merges = n_candidates if n_candidates > 1 else min(_ROUND, max(1, wanted))
    ready = max(1 << 10, min(_MOST_READY, n_symbols // 4, 4 * wanted) // n_parts)
    room = n_alphabet + merges + min(ready, wanted), 1 << (ready - 1).bit_length(), merges
    return settings._replace(n_candidates=n_candidates), room


def learn_more(
    corpus: Corpus, alphabet: Alphabet, old: Vocabulary, history: History | None, settings: Settings, progress: Progress
) -> tuple[Vocabulary, History | None]:
    """Continue from a vocabulary of pairs in order of creation.

    corpus: from which the new merges are learned, that of the first fit or another one; old: its ids, counts and weights stay as
    they are, occurrences become those in this corpus; history: None where there is none (a loaded model); `settings.n_tokens` is
    the new size. Returns the longer vocabulary and the longer history, None if there was none. UnknownSymbolError for a symbol
    outside the alphabet.

    The last round of the old fit may have been cut short by its `n_tokens`, where a longer fit would have merged more pairs in
    it. So that round is chosen again on the text as it was before it. If the same merges are found, the corpus is the one of the
    old fit, as far as the merges can tell, and learning continues from the beginning of that round: the result is that of one
    longer fit. Otherwise it continues after the old vocabulary.
    """
    old_pairs = old.merges
    assert old_pairs is not None
    ids = alphabet.to_ids(corpus.given._replace(values=corpus.values, offsets=corpus.offsets))  # raises for unknown symbols
    kept = old.n_learned if history is None or settings.n_candidates == 1 else history.last_round
    if kept < old.n_learned:
        again = settings._replace(n_tokens=len(old))
        last_round = fit(*_encoded(corpus, ids, old, kept), again, Progress(False), np.diff(old.offsets))
        if not np.array_equal(last_round.pairs, old_pairs[kept:]):
            kept = old.n_learned
    start, tokens = _encoded(corpus, ids, old, kept)
    more = fit(start, tokens, settings, progress, np.diff(old.offsets))
    known = old.n_learned - kept  # merges at the beginning of `more` that the old vocabulary has
    pairs, counts, documents = more.pairs[known:], more.counts[known:], more.documents[known:]
    if history is not None:
        weights = 1 if corpus.weights is None else corpus.weights
        lengths = int((np.diff(start.offsets) * weights).sum()) - np.cumsum(more.replaced)
        n_symbols = np.full(counts.size, corpus.n_symbols, np.int64)
        history = History(
            np.concatenate([history.counts, counts]),
            np.concatenate([history.document_frequencies, documents]),
            np.concatenate([history.lengths, lengths[known:]]),
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
