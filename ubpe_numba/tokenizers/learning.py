"""Fits: what `fit` and `fit_more` do around the learning of merges, and tokenizers that are made of others."""

from __future__ import annotations

import dataclasses
import inspect
import logging
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ubpe_numba.documents.corpus import Corpus
from ubpe_numba.errors import quoted
from ubpe_numba.fitting.history import History
from ubpe_numba.fitting.learn_more import learn_more
from ubpe_numba.fitting.loop import Settings
from ubpe_numba.runtime.arrays import positive
from ubpe_numba.runtime.progress import Progress
from ubpe_numba.runtime.warn import warn
from ubpe_numba.tokenizers import arguments
from ubpe_numba.vocabulary.alphabet import MAX_SIZE, Alphabet
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.order_by_idf import keep_by_weight, renumber
from ubpe_numba.vocabulary.unknown_choice import choice_of
from ubpe_numba.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from ubpe_numba.tokenizers.base import Tokenizer

T = TypeVar("T", bound="Tokenizer")

log = logging.getLogger("ubpe_numba")

_LONGEST_PATH = 4096  # a longer text is no name of a file
_MANY = 1000  # fewer tokens are asked for in trials


def corpus_of_fit(tok: Tokenizer, docs: Any, y: Any, offsets: Any, sample_weight: Any, boundaries: Any) -> Corpus:
    """The documents of a fit, read; errors for what cannot be meant."""
    if y is not None and offsets is None and getattr(docs, "ndim", 0) == 1 and docs.dtype.kind in "iu":
        raise TypeError("y: it is ignored, and the documents are one flat array: say offsets=...")
    corpus = tok._corpus(docs, offsets, sample_weight, boundaries)
    if corpus.given.offsets.size == 1:
        if hasattr(docs, "__next__"):
            raise ValueError("docs: the iterator gave no document; was it used up before?")
        warn("docs: there are no documents, so nothing is learned")
    elif (path := _path_in(docs)) is not None:
        warn(f"docs: {quoted(path)} is taken for a text to learn from, and there is a file of this name: read it first")
    return corpus


def _path_in(docs: Any) -> str | None:
    """A document that is the name of a file: a single `str`, or the first of a list where all of the first ones are; or None."""
    first = [docs] if isinstance(docs, str) else docs[:8] if isinstance(docs, (list, tuple)) else []
    return first[0] if first and all(isinstance(doc, str) and _is_file(doc) for doc in first) else None


def _is_file(text: str) -> bool:
    try:
        return len(text) < _LONGEST_PATH and os.path.isfile(text)
    except ValueError:  # a null character
        return False


def _tell_the_end(tok: Tokenizer, settings: Settings, had: int, made: Vocabulary) -> None:
    """Say that a fit from `had` ids ended at `size`, below the ones asked for, in the log; far below it is a warning.

    Far is less than a tenth of the tokens to learn, where these are a thousand or more, and there is any symbol to learn from.
    The default of `n_tokens` asks for nothing.
    """
    asked, size = settings.n_tokens, len(made)
    if size >= asked or asked == MAX_SIZE:
        return
    limits = f" and makes a token of at most {tok.max_token_length} symbols" if tok.max_token_length is not None else ""
    told = (
        f"n_tokens: the fit ended at {size} tokens of {asked}, alphabet included: "
        f"no pair is left that occurs {settings.rules.min_count} times or more{limits}"
    )
    log.info(told)
    default = inspect.signature(type(tok).__init__).parameters["n_tokens"].default
    wanted = asked - had
    if asked != default and made.n_symbols and wanted >= _MANY and size - had < wanted / 10:
        warn(f"{told}; are these the documents that were meant?")


def become_learned(
    tok: Tokenizer,
    alphabet: Alphabet,
    settings: Settings,
    learn: Callable[[], tuple[Vocabulary, History]],
    weigh: Callable[[Vocabulary], Vocabulary],
) -> None:
    """Become what a fit makes: `learn` what it is made of, and `weigh` its vocabulary."""
    segmenter = tok._segmenter(alphabet.kind, None)  # whether it goes with the alphabet, before a long fit
    if segmenter.lone is not None:
        segmenter.lone.ids(alphabet)
    choice_of(tok.unknown, alphabet, segmenter.special)
    if settings.n_tokens < alphabet.size:
        hint = ""
        if tok.alphabet is None and alphabet.is_identity and alphabet.kind == "int":
            hint = f"; it was learned as 0..{alphabet.size - 1}, alphabet=numpy.unique(...) takes those that occur"
        raise ValueError(f"n_tokens: expected at least the alphabet's {alphabet.size} symbols, got {settings.n_tokens}{hint}")
    vocabulary, history = learn()
    if settings.rules.order == "idf":
        vocabulary = _rearranged(vocabulary, settings.n_tokens, settings.rules.trim, tok._needs_pairs)
    vocabulary = weigh(vocabulary)
    tok._adopt(Model(alphabet, vocabulary, tok._segmenter(alphabet.kind, vocabulary.offsets.size - 1)))
    tok.history_ = history
    _tell_the_end(tok, settings, alphabet.size, vocabulary)


def fit_more(
    tok: Tokenizer,
    docs: Any,
    n_tokens: int,
    offsets: Any,
    sample_weight: Any,
    boundaries: Any,
    memory_limit: int | None,
    progress: bool | str,
) -> None:
    """Go on from the present vocabulary, as `Tokenizer.fit_more` says."""
    model = tok._fitted()
    alphabet, old, segmenter = model
    if positive(n_tokens, "n_tokens") < len(old):
        raise ValueError(f"n_tokens: expected at least the present {len(old)} ids, got {n_tokens}")
    if not old.in_order_of_creation or (tok.rules or arguments.DEFAULT_RULES).order != "creation":
        raise ValueError("rules: only a vocabulary of pairs in order of creation can be continued")
    if n_tokens > MAX_SIZE:
        raise ValueError(f"n_tokens: expected at most {MAX_SIZE}, got {quoted(n_tokens)}")
    first = segmenter.n_first
    if segmenter.token_ids is not None and not first:
        raise ValueError("token_ids: only a vocabulary whose ids are in order of creation can be continued")
    if (special := segmenter.special) is not None:
        behind, end = special.ids[special.ids >= first], first + n_tokens
        if int(behind.min(initial=end)) < end:
            name = "known_words" if first else "special_tokens"
            raise ValueError(f"{name}: expected ids from {end} on, the others would have to move; fit with a mapping to such ids")
    settings = tok._settings(memory_limit)._replace(n_tokens=int(n_tokens))
    bar = Progress(progress)
    corpus = tok._corpus(docs, offsets, sample_weight, boundaries)
    history: History | None = getattr(tok, "history_", None)
    if history is not None and history.counts.size != old.n_learned:  # of a fit by idf, which removed some of its merges
        history = None
    vocabulary, history = learn_more(corpus, alphabet, old, history, settings, bar)
    vocabulary = tok._weighed(corpus, alphabet, vocabulary, bar)
    tok._adopt(model._replace(vocabulary=vocabulary, segmenter=segmenter.behind(first, len(vocabulary))))
    tok.n_tokens = n_tokens
    if history is not None:
        tok.history_ = history
    else:
        tok.__dict__.pop("history_", None)
    _tell_the_end(tok, settings, len(old), vocabulary)


def truncated(tok: T, n_tokens: int, by: str) -> T:
    """A tokenizer with a smaller vocabulary, as `Tokenizer.truncate` says."""
    alphabet, vocabulary, segmenter = tok._fitted()
    n = vocabulary.n_alphabet
    if by not in ("creation", "idf"):
        raise ValueError(f"by: expected 'creation' or 'idf', got {quoted(by)}")
    if positive(n_tokens, "n_tokens") < n:
        raise ValueError(f"n_tokens: expected at least the alphabet's {n} symbols, got {n_tokens}")
    if by == "idf":
        shorter = _rearranged(vocabulary, n_tokens, "closed", tok._needs_pairs)
    else:
        stay = np.arange(min(n_tokens - n, vocabulary.n_learned))
        merges = None if vocabulary.merges is None else vocabulary.merges[stay]
        if merges is not None and merges.size and merges.max() >= n + stay.size:
            raise ValueError("by: the ids of this vocabulary are not in order of creation; use by='idf'")
        shorter = vocabulary.select(stay, merges)
    ids, first = segmenter.token_ids, segmenter.n_first
    if ids is not None and not first and by == "idf":
        raise ValueError("by: the ids of this vocabulary are not 0, 1, ...; use by='creation'")
    other = type(tok)(**tok.get_params())
    other.n_tokens = n_tokens
    made = other._segmenter(alphabet.kind, len(shorter) if ids is None or first else None)
    if first and segmenter.special is not None and made.special is not None:  # known words of a list moved
        made = segmenter._replace(token_ids=made.token_ids, special=segmenter.special.with_ids(made.special.ids))
    elif ids is not None:
        made = segmenter._replace(token_ids=ids[: len(shorter)])
    other._adopt(Model(alphabet, shorter, made))
    history: History | None = getattr(tok, "history_", None)
    if by == "creation" and history is not None and history.counts.size == vocabulary.n_learned:
        other.history_ = history.first(shorter.n_learned)
    return other


def with_objective(tok: Tokenizer, objective: str, token_weights: Any) -> Tokenizer:
    """A tokenizer of the same vocabulary that cuts documents another way, as `Tokenizer.with_objective` says."""
    from ubpe_numba.tokenizers import bpe, ubpe  # here only: both derive from the class that uses this module

    model = tok._fitted()
    by_rank = objective == "rank"
    if by_rank and token_weights is not None:
        raise ValueError("token_weights: merges by rank have none, expected objective='additive'")
    cls: Any = ubpe.UBPE if not by_rank else type(tok) if tok._needs_pairs else bpe.UBPEClassic
    taken = arguments.names_of(cls)
    params = {name: value for name, value in tok.get_params().items() if name in taken}
    if by_rank:
        params["rules"] = None if tok.rules is None else dataclasses.replace(tok.rules, encode="rank")
    else:
        kept = getattr(tok, "token_weights", None) if objective == "additive" and token_weights is None else token_weights
        params |= {"objective": objective, "token_weights": kept}
    other: Tokenizer = cls(**params)
    other._adopt(model)
    if hasattr(tok, "history_"):
        other.history_ = tok.history_
    return other


def _rearranged(vocabulary: Vocabulary, n_tokens: int, trim: str, by_pairs: bool) -> Vocabulary:
    """The vocabulary by idf, cut to `n_tokens`; ValueError if the rule leaves tokens built on removed ones."""
    n = vocabulary.n_alphabet
    merges = vocabulary.merges if by_pairs else None
    stay = keep_by_weight(vocabulary.weights[n:], merges, n, n_tokens, trim)
    if merges is None:
        return vocabulary.select(stay, None)
    pairs, dangling = renumber(merges, n, stay)
    if dangling:
        raise ValueError(
            f"rules: trim={quoted(trim)} leaves {dangling} parts of pairs that point to removed tokens, as the original does; "
            "such a vocabulary cannot decode: use trim='closed', or order='creation'"
        )
    return vocabulary.select(stay, pairs)
