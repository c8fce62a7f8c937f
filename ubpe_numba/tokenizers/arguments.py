"""What the arguments of a tokenizer's constructor mean: for a fit, for the documents that it is given, and for others to read."""

from __future__ import annotations

import inspect
import reprlib
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from ubpe_numba.documents.corpus import Corpus, as_corpus
from ubpe_numba.documents.counts import Counts
from ubpe_numba.documents.normalise import Documents
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.utf8 import as_utf8
from ubpe_numba.errors import UnknownSymbolError, quoted
from ubpe_numba.fitting.loop import Settings
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.arrays import positive
from ubpe_numba.text.pretokenizer import Pretokenizer
from ubpe_numba.vocabulary.alphabet import MAX_SIZE, Alphabet
from ubpe_numba.vocabulary.rules import FitRules
from ubpe_numba.vocabulary.segmenter import PLAIN, Segmenter

if TYPE_CHECKING:
    from ubpe_numba.tokenizers.base import Tokenizer

DEFAULT_RULES = FitRules()
_SHORT = reprlib.Repr()
_SHORT.maxstring, _SHORT.maxother, _SHORT.maxlevel, _SHORT.maxlist, _SHORT.maxtuple, _SHORT.maxdict = 60, 80, 4, 8, 8, 6
#: Arguments that say how documents are treated before they are encoded.
CUT_BY = ("pretokenizer", "special_tokens", "known_words", "normalizer", "encoding", "break_tokens", "stop_tokens")
#: Arguments that a model file has elsewhere than among the parameters: in the alphabet, in the segmenter, or not at all.
NOT_IN_PARAMS = ("alphabet", "n_threads", "special_first", *CUT_BY)


def names_of(cls: type[Tokenizer]) -> list[str]:
    """The names of a constructor's arguments, in their order."""
    return list(inspect.signature(cls.__init__).parameters)[1:]


def set_params(tok: Tokenizer, params: dict[str, Any]) -> None:
    """Set arguments by name; ValueError for a name that is none."""
    known = names_of(type(tok))
    for name, value in params.items():
        if name not in known:
            raise ValueError(f"{name}: not a parameter of {type(tok).__name__}; there are {', '.join(known)}")
        setattr(tok, name, value)


def shown(tok: Tokenizer) -> str:
    """A tokenizer as its `repr` shows it: the size, and the arguments that are not as by default."""
    said = [f"n_tokens={tok.n_tokens!r}"]
    for name, argument in list(inspect.signature(type(tok).__init__).parameters.items())[1:]:
        value = getattr(tok, name)
        if name not in ("n_tokens", "alphabet") and not (
            same(value, argument.default) or (name == "rules" and value == DEFAULT_RULES)
        ):
            said.append(f"{name}={_short(value)}")
    size = f": {len(tok.model_.vocabulary)} tokens" if "model_" in tok.__dict__ else ""
    return f"{type(tok).__name__}({', '.join(said)}){size}"


def _short(value: Any) -> str:
    """The `repr` of an argument: of a pre-tokenizer the name that the constructor takes too; a long one is shortened."""
    if isinstance(value, Pretokenizer) and value == Pretokenizer.of(value.name or value.pattern):
        value = value.name or value.pattern
    text = repr(value) if isinstance(value, FitRules) else _SHORT.repr(value)
    return " ".join(text.split())


def same(a: Any, b: Any) -> bool:
    """Whether two arguments are equal; arrays are if all their values are."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return type(a) is type(b) and np.array_equal(a, b)
    if a is b or type(a) is not type(b):
        return a is b
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
    return np.array_equal(a, b) if hasattr(type(a), "__array__") else bool(a == b)  # as a column of a table


def equal(tok: Tokenizer, other: Tokenizer) -> bool:
    """Whether two tokenizers are of one class, and of equal models or, before a fit, of equal arguments."""
    mine, yours = tok.__dict__.get("model_"), other.__dict__.get("model_")
    if type(tok) is not type(other) or (mine is None) is not (yours is None):
        return False
    if mine is None or yours is None:
        return all(same(value, getattr(other, name)) for name, value in tok.get_params().items())
    if tok is other:
        return True
    if mine is not yours and not np.array_equal(mine.vocabulary.arena, yours.vocabulary.arena):
        return False  # without a hash of all that there is
    return tok.fingerprint == other.fingerprint


def settings_of(tok: Tokenizer, memory_limit: int | None) -> Settings:
    """The validated arguments that decide a fit."""
    n_tokens = MAX_SIZE if tok.n_tokens is None else positive(tok.n_tokens, "n_tokens")
    if n_tokens > MAX_SIZE:
        raise ValueError(f"n_tokens: expected at most {MAX_SIZE}, got {quoted(n_tokens)}")
    rules = DEFAULT_RULES if tok.rules is None else tok.rules
    if not isinstance(rules, FitRules):
        raise TypeError(f"rules: expected a FitRules or None, got {quoted(rules)}")
    longest = 2**62 if tok.max_token_length is None else min(positive(tok.max_token_length, "max_token_length"), 2**62)
    n_candidates = positive(getattr(tok, "n_candidates", 1), "n_candidates")
    limit = None if memory_limit is None else positive(memory_limit, "memory_limit")
    return Settings(n_tokens, n_candidates, rules, thread_pool.resolve(tok.n_threads), longest, memory_limit=limit)


def is_plain(tok: Tokenizer) -> bool:
    """Whether no argument says that documents are treated before they are encoded."""
    return all(getattr(tok, name) is None for name in CUT_BY)


def segmenter_of(tok: Tokenizer, kind: str, size: int | None) -> Segmenter:
    """The segmenter of the arguments, for an alphabet of this kind and `size` ids, None if not known yet."""
    first = is_first(tok)
    if is_plain(tok):
        return PLAIN
    words, lone = (tok.special_tokens, tok.known_words), (tok.break_tokens, tok.stop_tokens)
    return Segmenter.make(tok.pretokenizer, *words, tok.encoding, kind, size, tok.normalizer, lone, first)


def is_first(tok: Tokenizer) -> bool:
    """The argument `special_first`; TypeError if it is no bool."""
    if not isinstance(tok.special_first, (bool, np.bool_)):
        raise TypeError(f"special_first: expected True or False, got {quoted(tok.special_first)}")
    return bool(tok.special_first)


def alphabet_of(tok: Tokenizer, given: Documents) -> Alphabet:
    """The alphabet of a fit: the argument, or what is learned from the documents."""
    if tok.alphabet is None:
        return Alphabet.learn(given)
    # documents without any symbol are of any kind
    return Alphabet.from_user(tok.alphabet, given.kind if given.offsets[-1] > given.offsets[0] else None)


def corpus_of(tok: Tokenizer, docs: Any, offsets: Any, sample_weight: Any, boundaries: Any) -> Corpus:
    """What a fit is given, as the arguments have it: text as bytes, cut into segments."""
    corpus, segmenter = read_corpus(tok, docs, offsets, sample_weight, boundaries)
    return segmenter.corpus(corpus, tok.n_threads)


def read_corpus(tok: Tokenizer, docs: Any, offsets: Any, sample_weight: Any, boundaries: Any) -> tuple[Corpus, Segmenter]:
    """What a fit is given, text as bytes but not cut yet, and what cuts it."""
    if is_plain(tok):
        return as_corpus(docs, offsets, sample_weight, boundaries), PLAIN
    if tok.encoding is not None and isinstance(docs, Counts):
        docs = Counts(as_utf8(docs.flat), docs.weights, docs.are_segments)
    corpus = as_corpus(docs, offsets, sample_weight, boundaries, tok._read)
    kind = corpus.given.kind
    if corpus.given.offsets[-1] == corpus.given.offsets[0]:  # no symbols: of any kind
        kind = "str" if tok.alphabet is None and tok.pretokenizer is not None else kind
        kind = kind if tok.alphabet is None else Alphabet.from_user(tok.alphabet).kind
        corpus = corpus._replace(given=corpus.given._replace(kind=kind))
    elif tok.alphabet is not None:  # integers do for bytes, and bytes for integers
        kind = Alphabet.from_user(tok.alphabet, kind).kind
    segmenter = segmenter_of(tok, kind, None)
    if isinstance(docs, Counts) and docs.are_segments:  # all is done but what leaves documents whole
        segmenter = PLAIN._replace(lone=None if segmenter.pretokenizer is not None else segmenter.lone)
    return corpus, segmenter


def segments_of(corpus: Corpus, alphabet: Alphabet) -> Ragged:
    """The segments of a corpus as alphabet ids; UnknownSymbolError as `fit` raises it."""
    try:
        return alphabet.to_ids(corpus.given._replace(values=corpus.values, offsets=corpus.offsets))
    except UnknownSymbolError:
        alphabet.to_ids(corpus.given)  # which names the document and the position in it
        raise


def seconds_of(seconds: Any) -> float | None:
    """The argument `seconds`, None for any number of them; TypeError or ValueError if it is not valid."""
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float, np.integer, np.floating)):
        raise TypeError(f"seconds: expected a number or None, got {quoted(seconds)}")
    if not seconds >= 0:
        raise ValueError(f"seconds: expected 0 or more, got {quoted(seconds)}")
    return float(seconds) if seconds <= sys.float_info.max else None
