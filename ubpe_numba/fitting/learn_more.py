"""Continuing a fit from an earlier vocabulary, with new symbols too."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import numpy as np

from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.documents.flat import GrowingArray, Named
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import Corpus, Documents
from ubpe_numba.errors import UnknownSymbolError
from ubpe_numba.fitting.fit import Settings, fit, vocabulary_of
from ubpe_numba.fitting.history import History
from ubpe_numba.runtime.arrays import offsets_of
from ubpe_numba.runtime.messages import Progress
from ubpe_numba.vocabulary.alphabet import Alphabet, distinct_symbols
from ubpe_numba.vocabulary.frames import Frames
from ubpe_numba.vocabulary.vocabulary import Vocabulary

_PART = 1 << 26  # symbols of a text that is encoded at once before a fit continues


def learn_more(
    corpus: Corpus,
    alphabet: Alphabet,
    old: Vocabulary,
    history: History | None,
    settings: Settings,
    progress: Progress | None,
) -> tuple[Vocabulary, History | None]:
    """Continue from a vocabulary of pairs in order of creation.

    `corpus` is that of the first fit or a different corpus; the new merges are learned from it. The ids,
    counts and weights of `old` stay as they are, occurrences become those in this corpus. `history` is None
    for a loaded model without history. `settings.n_tokens` is the new size, `settings.mirror` that of all
    tokens. Returns the longer vocabulary and the longer history, None if there was none. UnknownSymbolError
    for a symbol outside the alphabet.

    The `n_tokens` of the old fit may have ended its last round early, so that a longer fit would have merged
    more pairs in it. So that round is chosen again on the text as it was before it. If the same merges
    result, the corpus is, as far as the merges can tell, that of the old fit. Then learning continues from
    the beginning of that round, and the result equals one longer fit. Otherwise it continues after the old
    vocabulary.
    """
    old_pairs = old.merges
    assert old_pairs is not None
    times = 1 if settings.mirror is None else 2
    n_same = old.n_learned if history is None or settings.n_candidates == 1 else history.last_round
    if n_same < old.n_learned:
        again = _of_first(settings, old.n_alphabet + n_same)._replace(n_tokens=len(old))
        last_round = fit(
            *_encoded(corpus, alphabet, old, n_same, settings), again, None, np.diff(old.offsets)
        )
        if not np.array_equal(last_round.pairs, old_pairs[n_same:]):
            n_same = old.n_learned
    start, tokens = _encoded(corpus, alphabet, old, n_same, settings)
    more = fit(start, tokens, _of_first(settings, old.n_alphabet + n_same), progress, np.diff(old.offsets))
    known = old.n_learned - n_same  # merges at the beginning of `more` that the old vocabulary has
    if history is not None:
        counts, documents = more.counts[known:], more.documents[known:]
        weights = 1 if corpus.weights is None else corpus.weights
        lengths = times * int((np.diff(start.offsets) * weights).sum()) - np.cumsum(more.replaced)
        n_symbols = np.full(counts.size, times * corpus.n_symbols, np.int64)
        history = History(
            np.concatenate([history.counts, counts]),
            np.concatenate([history.document_frequencies, documents]),
            np.concatenate([history.lengths, lengths[known:]]),
            np.concatenate([history.n_symbols, n_symbols]),
            n_same + more.last_round,
        )
    return vocabulary_of(more, times * corpus.n_documents, times * corpus.n_symbols, old, known), history


def _of_first(settings: Settings, n: int) -> Settings:
    """The settings of a fit on a text of the first n tokens."""
    return settings if settings.mirror is None else settings._replace(mirror=settings.mirror[:n])


def with_new_symbols(alphabet: Alphabet, old: Vocabulary, given: Documents) -> tuple[Alphabet, Vocabulary]:
    """The alphabet, followed by those symbols of documents that it does not have, and the vocabulary over it.

    New symbols are in their order, names as they come. Learned tokens are numbered after them.

    >>> from ubpe_numba.documents.read import as_documents
    >>> old = Vocabulary.from_merges(2, [[0, 1], [2, 0]])
    >>> alphabet, vocabulary = with_new_symbols(Alphabet.dense(2), old, as_documents([[7, 1, 5]]))
    >>> alphabet.symbols.tolist(), vocabulary.merges.tolist()
    ([0, 1, 5, 7], [[0, 1], [4, 0]])
    """
    aligned, n = alphabet.aligned(given), alphabet.size
    symbols = distinct_symbols(aligned)
    new = symbols[alphabet.lookup(symbols) < 0]
    if not new.size or old.merges is None:
        return alphabet, old
    if isinstance(aligned.kind, Named):
        wider = Alphabet(Named(aligned.kind.names), n + new.size)
    else:
        all_of_them = np.concatenate([alphabet.symbols, new, alphabet.folded_symbols])
        wider = Alphabet._from_values(all_of_them, alphabet.kind, "docs", n + new.size, alphabet.folded_ids)
    pairs = old.merges + new.size * (old.merges >= n)
    columns = old.weights[n:], old.counts[n:], old.document_frequencies[n:]
    return wider, Vocabulary.from_merges(wider.size, pairs, *columns, old.n_documents, old.n_symbols, 1 << 62)


def _encoded(
    corpus: Corpus, alphabet: Alphabet, old: Vocabulary, m: int, settings: Settings
) -> tuple[Corpus, Alphabet]:
    """The corpus in the first m learned tokens of a vocabulary, and the alphabet of these tokens.

    Segments are encoded in parts of `_PART` symbols, so that the text is not held as ids of single symbols,
    of four bytes each. UnknownSymbolError for a symbol outside the alphabet.
    """
    assert old.merges is not None
    encode: Callable[[Ragged], Ragged] = lambda ids: ids  # noqa: E731
    if m:
        vocabulary = Vocabulary.from_merges(old.n_alphabet, old.merges[:m], max_symbols=1 << 40)
        frames = Frames.over(vocabulary, settings.frame) if settings.frame else None
        mirror = _of_first(settings, len(vocabulary)).mirror
        encoder = PairEncoder(vocabulary if frames is None else frames.vocabulary, batch=False, mirror=mirror)
        encode = partial(encoder.encode, n_threads=settings.n_threads)
        encode = encode if frames is None else partial(frames.encode, encode)
    offsets, parts, lengths = corpus.offsets, GrowingArray(), []
    inner = np.arange(int(offsets[0]) + _PART, int(offsets[-1]) if m else 0, _PART)  # none without tokens
    n, cuts = offsets.size - 1, np.unique(np.searchsorted(offsets, inner))
    bounds = [0, *cuts[(cuts > 0) & (cuts < n)].tolist(), n]
    for a, b in pairwise(bounds):
        try:
            ids = alphabet.to_ids(corpus.given._replace(values=corpus.values, offsets=offsets[a : b + 1]))
        except UnknownSymbolError:
            # raises with the number of the segment
            alphabet.to_ids(corpus.given._replace(values=corpus.values, offsets=offsets))
            raise
        ids = encode(ids)
        if len(bounds) > 2:
            parts.append(ids.values)
            lengths.append(ids.lengths)
    documents = Documents(ids.values, ids._offsets, "int")
    if len(bounds) > 2:
        documents = Documents(parts.finish(), offsets_of(np.concatenate(lengths)), "int")
    return corpus._replace(
        given=documents, values=documents.values, offsets=documents.offsets
    ), Alphabet.dense(old.n_alphabet + m)
