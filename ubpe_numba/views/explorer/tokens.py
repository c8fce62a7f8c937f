"""What the ids of a tokenizer stand for, as flat arrays: those of special tokens too, and ids other than the vocabulary's."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ubpe_numba.documents.normalise import as_document
from ubpe_numba.documents.utf8 import utf8_document
from ubpe_numba.runtime.arrays import offsets_of
from ubpe_numba.views.own_ids import ids_of_tokens

if TYPE_CHECKING:
    from ubpe_numba.tokenizers.base import Tokenizer

SYMBOL, LEARNED, SPECIAL, GAP = range(4)


class Tokens(NamedTuple):
    """The ids 0..n-1.

    `symbols`: the symbols of all tokens, one token after the other; `lengths` (int64[n]): how many symbols each stands for, 0 for
    an id that stands for nothing; `kinds` (uint8[n]): 0: a symbol of the alphabet, 1: a learned token, 2: a special token, 3: an
    id without a token; `parents` (int64[n, 2] or None): the two ids that each learned token was merged of, -1 for others; None
    for a flat vocabulary; `statistics`: arrays by id of what the vocabulary knows: ``idf``, ``merged`` (the count when it was
    merged), ``logp``.
    """

    symbols: np.ndarray
    lengths: np.ndarray
    kinds: np.ndarray
    parents: np.ndarray | None
    statistics: dict[str, np.ndarray]


def tokens_of(tok: Tokenizer, n: int) -> Tokens:
    """What the first `n` ids of a fitted tokenizer stand for. O(symbols of all tokens).

    >>> from ubpe_numba import BPE
    >>> found = tokens_of(BPE.from_merges([[0, 1]], alphabet=[7, 9]), 3)
    >>> found.symbols.tolist(), found.lengths.tolist(), found.parents.tolist()
    ([7, 9, 7, 9], [1, 1, 2], [[-1, -1], [-1, -1], [0, 1]])
    """
    vocabulary, alphabet, number = tok.vocabulary, tok.alphabet_, ids_of_tokens(tok)
    has_id = (number >= 0) & (number < n)
    where = np.full(n, -1)  # the token of the vocabulary of each id
    where[number[has_id]] = np.flatnonzero(has_id)
    kinds = np.full(n, GAP, np.uint8)
    kinds[where >= 0] = np.where(where[where >= 0] < vocabulary.n_alphabet, SYMBOL, LEARNED)
    words = {i: _symbols(word, alphabet.kind) for word, i in tok.special_ids.items() if i < n and where[i] < 0}
    lengths = np.zeros(n, np.int64)
    lengths[where >= 0] = np.diff(vocabulary.offsets)[where[where >= 0]]
    for i, word in words.items():
        kinds[i], lengths[i] = SPECIAL, word.size
    starts = offsets_of(lengths)
    symbols = alphabet.to_symbols(vocabulary.arena)
    if words or n != number.size or not np.array_equal(number, np.arange(n)):
        symbols = _rearranged(symbols, vocabulary.offsets, where, lengths, words, starts)
    parents = None
    if vocabulary.merges is not None:
        parents = np.full((n, 2), -1, np.int64)
        learned = np.flatnonzero(kinds == LEARNED)
        parents[learned] = number[vocabulary.merges[where[learned] - vocabulary.n_alphabet]]
    statistics = {"idf": _by_id(vocabulary.weights, where), "merged": _by_id(vocabulary.counts, where)}
    if vocabulary.log_probabilities is not None:
        statistics["logp"] = _by_id(vocabulary.log_probabilities, where)
    return Tokens(symbols, lengths, kinds, parents, statistics)


def _symbols(word: object, kind: str) -> np.ndarray:
    """The symbols of a special token of a tokenizer of this kind."""
    return utf8_document(word).values if kind == "bytes" else as_document(word).values


def _by_id(values: np.ndarray, where: np.ndarray) -> np.ndarray:
    return np.where(where >= 0, values[np.maximum(where, 0)], 0)


def _rearranged(
    symbols: np.ndarray,
    offsets: np.ndarray,
    where: np.ndarray,
    lengths: np.ndarray,
    words: dict[int, np.ndarray],
    starts: np.ndarray,
) -> np.ndarray:
    """The symbols of the tokens in the order of ids, with those of special tokens."""
    known = np.where(where >= 0, lengths, 0)
    # for each symbol of a token with a place in the vocabulary: where it is in the arena, and where it goes
    at = np.arange(int(known.sum())) - np.repeat(offsets_of(known)[:-1], known)
    out = np.zeros(int(starts[-1]), np.promote_types(symbols.dtype, np.int64))
    out[at + np.repeat(starts[:-1], known)] = symbols[at + np.repeat(offsets[np.maximum(where, 0)], known)]
    for i, word in words.items():
        out[starts[i] : starts[i + 1]] = word
    return out
