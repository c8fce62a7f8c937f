"""Fitted tokenizers as files: our own models, and the dumps of the articles' author's packages."""

from __future__ import annotations

import dataclasses
import os
import warnings
from abc import abstractmethod
from typing import Any, ClassVar, TypeVar

import numpy as np

from ubpe_numba.errors import ModelFormatError, NotFittedError
from ubpe_numba.fitting.loop import Settings
from ubpe_numba.formats import model_file, published_ubpe
from ubpe_numba.runtime.arrays import check_fields, positive
from ubpe_numba.tokenizers.params import Parameters
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.rules import FitRules
from ubpe_numba.vocabulary.segmenter import Segmenter
from ubpe_numba.vocabulary.special_tokens import SpecialTokens
from ubpe_numba.vocabulary.vocabulary import Vocabulary

Self = TypeVar("Self", bound="Exchange")

_TEXT = ("pretokenizer", "special_tokens", "known_words", "encoding")  # arguments that a file has in the state of the segmenter
_ELSEWHERE = ("alphabet", "n_threads", *_TEXT)


class Exchange(Parameters):
    """What a tokenizer is outside a process. Files need what it is made of, never how it fits or encodes."""

    #: Whether the vocabulary has to know pairs.
    _pairs: ClassVar[bool] = True
    n_tokens: int | None
    alphabet: Any
    rules: FitRules | None
    max_token_length: int | None
    pretokenizer: Any
    special_tokens: Any
    known_words: Any
    encoding: str | None
    n_threads: int | None
    alphabet_: Alphabet
    vocabulary_: Vocabulary
    segmenter_: Segmenter

    @abstractmethod
    def _settings(self) -> Settings:
        """The validated constructor arguments that decide a fit."""

    @abstractmethod
    def _set(self, alphabet: Alphabet, vocabulary: Vocabulary, segmenter: Segmenter | None = None) -> None:
        """Become fitted."""

    def _check_fitted(self) -> None:
        if not hasattr(self, "vocabulary_"):
            raise NotFittedError(f"this {type(self).__name__} has no vocabulary yet: call fit or load first")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to `path`: readable for ``.json``, flat arrays for ``.npz``. Atomic: the old file or the new one.

        ValueError for another suffix, OSError from the disk; the old file is then still there.
        """
        self._check_fitted()
        settings = self._settings()
        params: dict[str, Any] = {k: v for k, v in self.get_params().items() if k not in _ELSEWHERE}
        params |= {"n_tokens": None if self.n_tokens is None else settings.n_tokens, "rules": dataclasses.asdict(settings.rules)}
        if self.max_token_length is not None:
            params["max_token_length"] = settings.longest
        if "n_candidates" in params:
            params["n_candidates"] = settings.n_candidates
        if isinstance(params.get("token_weights"), np.ndarray):
            params["token_weights"] = params["token_weights"].tolist()
        model = {
            "tokenizer": type(self).__name__,
            "params": params,
            "alphabet": self.alphabet_.state(),
            "vocabulary": self.vocabulary_.state(),
        }
        if text := self.segmenter_.state():
            model["text"] = text
        n_bytes = model_file.save(path, model)
        if (most := max(self.alphabet_.size, self.vocabulary_.arena.size)) > model_file.claimable(n_bytes):
            warnings.warn(f"{os.fspath(path)}: to load it again, pass max_symbols={most}", UserWarning, stacklevel=2)

    @classmethod
    def load(
        cls: type[Self],
        path: str | os.PathLike[str],
        *,
        n_threads: int | None = None,
        max_symbols: int | None = None,
    ) -> Self:
        """Read a model that `save` wrote. ModelFormatError says what is wrong with any other file.

        A few hundred bytes can claim gigabytes, so the alphabet may have 2**22 symbols and the tokens stand for as many in all,
        and 64 more for each byte of the file; `max_symbols` replaces this limit. `save` warns if a model needs that. Warns too if
        the model cuts text by another version of Unicode than is installed here.
        """
        return cls._loaded(os.fspath(path), *model_file.load(path), n_threads, max_symbols)

    @classmethod
    def _loaded(
        cls: type[Self], where: str, model: dict[str, Any], n_bytes: int, n_threads: int | None, max_symbols: int | None = None
    ) -> Self:
        """A tokenizer from what a file of so many bytes holds."""
        make: Any = cls  # the constructors differ
        tokenizer: Self = make(n_threads=n_threads)
        tokenizer._settings()  # complains of n_threads, or of the environment
        if model["tokenizer"] != cls.__name__:
            raise ModelFormatError(f"{where}: a {model['tokenizer']}, not a {cls.__name__}: use {model['tokenizer']}.load")
        at_most = model_file.claimable(n_bytes) if max_symbols is None else positive(max_symbols, "max_symbols")
        try:
            params, state = model["params"], model["alphabet"]
            check_fields(params, [name for name in tokenizer.get_params() if name not in _ELSEWHERE], "params")
            rules = params["rules"]
            if not isinstance(rules, dict):
                raise ModelFormatError("rules: expected an object")
            check_fields(rules, [field.name for field in dataclasses.fields(FitRules)], "rules")
            tokenizer.set_params(**{**params, "rules": FitRules(**rules)})
            tokenizer._settings()
            check_fields(state, ("kind", "size", "symbols"), "alphabet")
            alphabet = Alphabet.from_state(**state)
            if alphabet.size > at_most:
                raise ModelFormatError(f"alphabet: more than {at_most} symbols; pass a larger max_symbols")
            vocabulary = Vocabulary.from_state(model["vocabulary"], alphabet.size, at_most)
            text = model.get("text", {})
            tokenizer._become(alphabet, vocabulary, Segmenter.from_state(text, len(vocabulary), alphabet.kind))
        except (TypeError, ValueError) as error:
            raise ModelFormatError(f"{where}: {error}") from error
        if (cutter := tokenizer.segmenter_.pretokenizer) is not None:
            then = text["pretokenizer"]["unicode"]
            if then != cutter.unicode:
                warnings.warn(
                    f"{where}: cuts text by Unicode {then}, and here is {cutter.unicode}: rare characters may be cut differently",
                    UserWarning,
                    stacklevel=2,
                )
        return tokenizer

    def _become(self, alphabet: Alphabet, vocabulary: Vocabulary, segmenter: Segmenter) -> None:
        """Become fitted, with the constructor's arguments that go with it."""
        special = segmenter.special
        found = {"pretokenizer": segmenter.pretokenizer, "encoding": segmenter.encoding}
        self.set_params(**found, **_arguments(special, len(vocabulary)))
        self._set(alphabet, vocabulary, segmenter)

    @classmethod
    def from_published(cls: type[Self], text: str, kind: str | None = None) -> Self:
        """Read the dump (`dumps()`) of the package ubpe 0.2 or 0.3: of its UBPE here for `UBPE`, of UBPEClassic otherwise.

        `kind` says what the symbols are, ``"int"`` or ``"str"``; None takes them for integers if all of them look like one.
        """
        n_tokens, alphabet, vocabulary = published_ubpe.read(text, kind, cls._pairs)
        make: Any = cls  # the constructors differ
        tokenizer: Self = make(n_tokens, rules=FitRules(encode="batch"))
        tokenizer._set(alphabet, vocabulary)
        return tokenizer

    def to_published(self) -> str:
        """The dump that ubpe 0.2 and 0.3 load (`loads`, with `token_type=str` for characters).

        ValueError for a tokenizer that cuts text or has special tokens.
        """
        self._check_fitted()
        if self.segmenter_.state():
            raise ValueError("to_published: a dump has no place for a pretokenizer, special tokens or an encoding")
        return published_ubpe.write(len(self.vocabulary_), self.alphabet_, self.vocabulary_, self._pairs)


def _arguments(special: SpecialTokens | None, size: int) -> dict[str, Any]:
    """The constructor's arguments for special tokens: lists if that gives the same ids, else mappings."""
    if special is None:
        return {"special_tokens": None, "known_words": None}
    parts: list[Any] = []
    for known in (False, True):
        parts.append({w: int(i) for w, i, k in zip(special.words, special.ids, special.always, strict=True) if bool(k) is known})
    if [*parts[0].values(), *parts[1].values()] == list(range(size, size + len(special.words))):
        parts = [list(part) for part in parts]
    return {"special_tokens": parts[0] or None, "known_words": parts[1] or None}
