"""Constructor arguments of tokenizers: by name, validated, and the settings, corpus and segmenter that they describe."""

from __future__ import annotations

import inspect
import reprlib
import sys
from abc import ABC
from typing import Any, ClassVar, Self

import numpy as np

from ubpe_numba.documents.corpus import Corpus, as_corpus
from ubpe_numba.documents.counts import Counts
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import Documents, as_utf8, read_documents
from ubpe_numba.errors import UnknownSymbolError, quoted
from ubpe_numba.fitting.loop import Settings
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.arrays import positive
from ubpe_numba.vocabulary.alphabet import MAX_SIZE, Alphabet
from ubpe_numba.vocabulary.rules import FitRules
from ubpe_numba.vocabulary.segmenter import PLAIN, Segmenter

DEFAULT_RULES = FitRules()
#: Arguments that say how documents are treated before they are encoded.
CUT_BY = ("pretokenizer", "special_tokens", "known_words", "normalizer", "encoding", "break_tokens", "stop_tokens")
#: Constructor arguments not stored under `params` in a model file.
NOT_IN_PARAMS = ("alphabet", "n_threads", "special_first", *CUT_BY)
_SHORT = reprlib.Repr()
_SHORT.maxstring, _SHORT.maxother, _SHORT.maxlevel, _SHORT.maxlist, _SHORT.maxtuple, _SHORT.maxdict = 60, 80, 4, 8, 8, 6


class Parameters(ABC):
    """Constructor arguments by name, and their meaning for a fit."""

    #: Whether encoding needs the pairs that tokens are made of.
    _needs_pairs: ClassVar[bool] = True
    n_tokens: int | None
    alphabet: Any
    rules: FitRules | None
    max_token_length: int | None
    pretokenizer: Any
    special_tokens: Any
    known_words: Any
    normalizer: Any
    encoding: str | None
    break_tokens: Any = None  # as in pickles that older releases wrote
    stop_tokens: Any = None
    unknown: Any = "raise"
    special_first: bool = False
    n_threads: int | None
    n_candidates: int = 1

    def _store(self, given: dict[str, Any]) -> None:
        """Set the arguments of a constructor, which are its `locals()`."""
        vars(self).update({name: value for name, value in given.items() if name not in ("self", "__class__")})

    @classmethod
    def _param_names(cls) -> list[str]:
        """The names of the constructor's arguments, in their order."""
        return list(inspect.signature(cls.__init__).parameters)[1:]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor arguments by name, as scikit-learn's `clone` asks for them.

        Parameters
        ----------
        deep
            Ignored: no argument is an estimator.

        Returns
        -------
        dict
            The arguments as they were given.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> BPE(512, normalizer="NFC").get_params()["normalizer"]
        'NFC'
        """
        return {name: getattr(self, name) for name in self._param_names()}

    def set_params(self, **params: Any) -> Self:
        """Change constructor arguments by name.

        Parameters
        ----------
        **params
            The new values. `n_threads`, `objective`, `token_weights` and the rule of encoding act at once, the others at the next
            `fit`.

        Returns
        -------
        Self
            The tokenizer itself.

        Raises
        ------
        ValueError
            For a name that is no argument of the constructor.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> BPE(512).set_params(n_tokens=1024, n_threads=2)
        BPE(n_tokens=1024, n_threads=2)
        """
        known = self._param_names()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"{name}: not a parameter of {type(self).__name__}; there are {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        shown = [f"n_tokens={self.n_tokens!r}"]
        for name, argument in list(inspect.signature(type(self).__init__).parameters.items())[1:]:
            value = getattr(self, name)
            default = same(value, argument.default) or (name == "rules" and value == DEFAULT_RULES)
            if name not in ("n_tokens", "alphabet") and not default:
                shown.append(f"{name}={_short(value)}")
        size = f": {len(self.__dict__['model_'].vocabulary)} tokens" if "model_" in self.__dict__ else ""
        return f"{type(self).__name__}({', '.join(shown)}){size}"

    def _settings(self, memory_limit: int | None = None) -> Settings:
        """The validated arguments that decide a fit."""
        n_tokens = MAX_SIZE if self.n_tokens is None else positive(self.n_tokens, "n_tokens")
        if n_tokens > MAX_SIZE:
            raise ValueError(f"n_tokens: expected at most {MAX_SIZE}, got {quoted(n_tokens)}")
        rules = DEFAULT_RULES if self.rules is None else self.rules
        if not isinstance(rules, FitRules):
            raise TypeError(f"rules: expected a FitRules or None, got {quoted(rules)}")
        longest = 2**62 if self.max_token_length is None else min(positive(self.max_token_length, "max_token_length"), 2**62)
        n_candidates = positive(self.n_candidates, "n_candidates")
        limit = None if memory_limit is None else positive(memory_limit, "memory_limit")
        return Settings(n_tokens, n_candidates, rules, thread_pool.resolve(self.n_threads), longest, memory_limit=limit)

    def _is_plain(self) -> bool:
        """Whether no argument changes or cuts documents before they are encoded."""
        return all(getattr(self, name) is None for name in CUT_BY)

    def _segmenter(self, kind: str, size: int | None) -> Segmenter:
        """The segmenter of the arguments, for an alphabet of this kind and `size` ids, None if not known yet."""
        if not isinstance(self.special_first, (bool, np.bool_)):
            raise TypeError(f"special_first: expected True or False, got {quoted(self.special_first)}")
        if self._is_plain():
            return PLAIN
        words, lone = (self.special_tokens, self.known_words), (self.break_tokens, self.stop_tokens)
        first = bool(self.special_first)
        return Segmenter.make(self.pretokenizer, *words, self.encoding, kind, size, self.normalizer, lone, first)

    def _alphabet_of(self, given: Documents) -> Alphabet:
        """The alphabet of a fit: the argument, or the one learned from the documents."""
        if self.alphabet is None:
            return Alphabet.learn(given)
        # documents without any symbol are of any kind
        return Alphabet.from_user(self.alphabet, given.kind if given.offsets[-1] > given.offsets[0] else None)

    def _read(self, docs: Any, offsets: Any = None) -> Documents:
        return read_documents(docs, offsets, self.encoding)

    def _corpus(self, docs: Any, offsets: Any, sample_weight: Any, boundaries: Any) -> Corpus:
        """The documents of a fit: text as bytes, cut into segments."""
        corpus, segmenter = self._uncut_corpus(docs, offsets, sample_weight, boundaries)
        return segmenter.corpus(corpus, self.n_threads)

    def _uncut_corpus(self, docs: Any, offsets: Any, sample_weight: Any, boundaries: Any) -> tuple[Corpus, Segmenter]:
        """The documents of a fit, text as bytes but not cut yet, and the segmenter that cuts them."""
        if self._is_plain():
            return as_corpus(docs, offsets, sample_weight, boundaries), PLAIN
        if self.encoding is not None and isinstance(docs, Counts):
            docs = Counts(as_utf8(docs.flat), docs.weights, docs.are_segments)
        corpus = as_corpus(docs, offsets, sample_weight, boundaries, self._read)
        kind = corpus.given.kind
        if corpus.given.offsets[-1] == corpus.given.offsets[0]:  # no symbols: of any kind
            kind = "str" if self.alphabet is None and self.pretokenizer is not None else kind
            kind = kind if self.alphabet is None else Alphabet.from_user(self.alphabet).kind
            corpus = corpus._replace(given=corpus.given._replace(kind=kind))
        elif self.alphabet is not None:  # integers do for bytes, and bytes for integers
            kind = Alphabet.from_user(self.alphabet, kind).kind
        segmenter = self._segmenter(kind, None)
        if isinstance(docs, Counts) and docs.are_segments:  # all is done but what leaves documents whole
            reserved = None if segmenter.pretokenizer is not None or segmenter.lone is None else segmenter.lone.symbols_only()
            segmenter = PLAIN._replace(reserved=reserved)
        return corpus, segmenter


def _short(value: Any) -> str:
    """The `repr` of an argument, shortened; of a pre-tokenizer the name that the constructor takes too."""
    if hasattr(value, "pattern") and hasattr(value, "name"):
        from ubpe_numba.text.pretokenizer import Pretokenizer  # here only: integers need not wait for it

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
