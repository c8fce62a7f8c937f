"""How few tokens any vocabulary of a size needs for documents, beside what a tokenizer needs."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.fitting import lower_bound as bounds
from ubpe_numba.runtime.arrays import positive
from ubpe_numba.runtime.messages import Progress
from ubpe_numba.tokenizers.parameters import seconds_of, segments_of
from ubpe_numba.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from ubpe_numba.tokenizers.base import Tokenizer

__all__ = ["LowerBound"]


@dataclasses.dataclass(frozen=True)
class LowerBound:
    """How few tokens documents need at least: what `Tokenizer.lower_bound` found.

    Attributes
    ----------
    tokens : int
        Every vocabulary that the bound is about needs so many, or more, for all documents together, by weight.
    own : int
        How many the tokenizer needs.
    n_tokens : int
        The size of the vocabularies, alphabet included.
    max_token_length : int or None
        Symbols of their longest tokens; None for any number.
    min_count : int
        How often each of their learned tokens occurs at least.
    n_edges : int
        Places where a token may stand, of two symbols or more.
    rounds : int
        Of the search for the bound.
    seconds : float
        That it took, the encoding of the documents included.
    converged : bool
        Whether more time would hardly have raised the bound.

    Examples
    --------
    >>> found = LowerBound(100, 103, 512, None, 1, 2000, 300, 0.5, True)
    >>> found
    LowerBound(tokens=100, own=103, gap=3 %, n_tokens=512, max_token_length=None, min_count=1, n_edges=2000, rounds=300, seconds=0.5, converged=True)
    """  # noqa: E501

    tokens: int
    own: int
    n_tokens: int
    max_token_length: int | None
    min_count: int
    n_edges: int
    rounds: int
    seconds: float
    converged: bool

    @property
    def gap(self) -> float:
        """How many tokens more than the bound the tokenizer needs, as a share of the bound; 0 for documents without symbols.

        Examples
        --------
        >>> LowerBound(100, 103, 512, None, 1, 2000, 300, 0.5, True).gap
        0.03
        """
        return (self.own - self.tokens) / self.tokens if self.tokens else 0.0

    def __repr__(self) -> str:
        shown = {**dataclasses.asdict(self), "seconds": float(f"{self.seconds:.3g}")}
        parts = [f"{name}={value!r}" for name, value in shown.items()]
        return f"LowerBound({', '.join([*parts[:2], f'gap={100 * self.gap:.3g} %', *parts[2:]])})"


def lower_bound(
    tok: Tokenizer,
    docs: Any,
    n_tokens: Any,
    offsets: Any,
    sample_weight: Any,
    boundaries: Any,
    max_token_length: Any,
    min_count: Any,
    seconds: Any,
    memory_limit: Any,
    progress: bool | str,
) -> LowerBound:
    """See `Tokenizer.lower_bound`."""
    began = time.monotonic()
    alphabet, vocabulary, segmenter = tok._fitted()
    size = _size(n_tokens, vocabulary)
    longest = None if max_token_length is None else positive(max_token_length, "max_token_length")
    least = positive(min_count, "min_count")
    limit = None if memory_limit is None else positive(memory_limit, "memory_limit")
    allowed, bar = seconds_of(seconds), Progress(progress, "lower bound")
    corpus = tok._corpus(docs, offsets, sample_weight, boundaries)
    units, weights = bounds.distinct_segments(segments_of(corpus, alphabet), corpus.weights)
    lengths = tok._encode_ids(units).lengths
    if segmenter.whole_words:  # what is a token is not merged
        whole = {token.tobytes() for token in Ragged(vocabulary.arena.astype(np.int32), vocabulary.offsets)}
        lengths = np.where([unit.astype(np.int32).tobytes() in whole for unit in units], 1, lengths)
    own = sum(int(w) * int(k) for w, k in zip(weights, lengths, strict=True))
    n = vocabulary.n_alphabet
    found = bounds.lower_bound(units, weights, n, size - n, longest, least, allowed, limit, tok.n_threads, bar)
    took = time.monotonic() - began
    return LowerBound(found.tokens, own, size, found.longest, least, found.n_edges, found.rounds, took, found.converged)


def _size(n_tokens: Any, vocabulary: Vocabulary) -> int:
    """The argument `n_tokens`, by default the size of the vocabulary."""
    if n_tokens is None:
        return len(vocabulary)
    size = positive(n_tokens, "n_tokens")
    if size < vocabulary.n_alphabet:
        raise ValueError(f"n_tokens: expected at least the {vocabulary.n_alphabet} symbols of the alphabet, got {size}")
    return size
