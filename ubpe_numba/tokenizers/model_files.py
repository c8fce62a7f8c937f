"""Tokenizers to and from model files, and from models of other libraries."""

from __future__ import annotations

import dataclasses
import inspect
import os
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ubpe_numba.errors import ModelFormatError, shortened
from ubpe_numba.fitting.history import History
from ubpe_numba.formats import model_file
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.arrays import positive
from ubpe_numba.runtime.schema import check_fields
from ubpe_numba.runtime.warn import warn
from ubpe_numba.text.pretokenizer import Pretokenizer
from ubpe_numba.tokenizers.arguments import NOT_IN_PARAMS
from ubpe_numba.vocabulary import unknown_choice
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.rules import FitRules
from ubpe_numba.vocabulary.segmenter import Segmenter

if TYPE_CHECKING:
    from ubpe_numba.tokenizers.base import Tokenizer

T = TypeVar("T", bound="Tokenizer")


def save(tok: Tokenizer, path: str | os.PathLike[str], **parts: dict[str, Any]) -> None:
    """Write a tokenizer to a file, as `Tokenizer.save` says, with further parts of a model file."""
    model = tok._fitted()
    settings = tok._settings()
    tok._unknown(None)  # which a user may have set since; errors are as of `encode`
    params: dict[str, Any] = {k: v for k, v in tok.get_params().items() if k not in NOT_IN_PARAMS}
    params |= {"n_tokens": None if tok.n_tokens is None else settings.n_tokens, "rules": dataclasses.asdict(settings.rules)}
    if tok.max_token_length is not None:
        params["max_token_length"] = settings.longest
    if "n_candidates" in params:
        params["n_candidates"] = settings.n_candidates
    if isinstance(params.get("token_weights"), np.ndarray):
        params["token_weights"] = params["token_weights"].tolist()
    unknown = unknown_choice.state_of(params.pop("unknown"))
    if unknown != "raise":
        params["unknown"] = unknown
    state = {"tokenizer": type(tok).__name__, "params": params, **model.state()}
    if hasattr(tok, "history_"):
        state["history"] = tok.history_.state(model.vocabulary)
    n_bytes = model_file.save(path, {**state, **parts})
    if (most := max(model.alphabet.size, model.vocabulary.arena.size)) > model_file.claimable(n_bytes):
        warn(f"{os.fspath(path)}: to load it again, pass max_symbols={most}")


def loaded(cls: type[T], where: str, state: dict[str, Any], n_bytes: int, n_threads: int | None, max_symbols: int | None) -> T:
    """A tokenizer from what a file of so many bytes holds."""
    make: Any = _class_of(state["tokenizer"]) if inspect.isabstract(cls) else cls  # the constructors differ
    tok: T = make(n_threads=n_threads)
    thread_pool.resolve(n_threads)  # raises for the argument, or for the environment, before the file is looked into
    if state["tokenizer"] != type(tok).__name__:
        name = shortened(state["tokenizer"], 40)
        raise ModelFormatError(f"{where}: a {name}, not a {cls.__name__}: use {name}.load, or Tokenizer.load for any of them")
    at_most = model_file.claimable(n_bytes) if max_symbols is None else positive(max_symbols, "max_symbols")
    try:
        params = {"unknown": "raise", **state["params"]}
        check_fields(params, [name for name in tok.get_params() if name not in NOT_IN_PARAMS], "params")
        rules = params["rules"]
        if not isinstance(rules, dict):
            raise ModelFormatError("rules: expected an object")
        check_fields(rules, [field.name for field in dataclasses.fields(FitRules)], "rules")
        tok.set_params(**{**params, "rules": FitRules(**rules), "unknown": unknown_choice.from_state(params["unknown"])})
        tok._settings()
        model = Model.from_state(state, at_most)
        take(tok, model)
        if "history" in state:
            tok.history_ = History.from_state(state["history"], model.vocabulary)
    except (TypeError, ValueError) as error:
        raise ModelFormatError(f"{where}: {error}") from error
    if isinstance(cutter := model.segmenter.pretokenizer, Pretokenizer):
        then = next(part["unicode"] for part in (state["text"].get(n) for n in ("pretokenizer", "python_pattern")) if part)
        if then != cutter.unicode:
            told = f"{where}: cuts text by Unicode {shortened(then, 40)}, and here is {cutter.unicode}"
            warn(f"{told}: rare characters may be cut differently")
    return tok


def _class_of(name: str) -> Any:
    """The class that a model file names; that of `BPE` for another, which its `load` then refuses."""
    from ubpe_numba.tokenizers.load import TOKENIZERS  # here only: it imports all of them

    return TOKENIZERS.get(name, TOKENIZERS["BPE"])


def take(tok: Tokenizer, model: Model) -> None:
    """Become fitted with a model from elsewhere, and set the constructor's arguments that go with it."""
    segmenter = model.segmenter
    tok.pretokenizer, tok.encoding, tok.normalizer = segmenter.pretokenizer, segmenter.encoding, segmenter.normalizer
    tok.special_first = segmenter.n_first > 0
    tok.special_tokens, tok.known_words = _words(segmenter, model.vocabulary.offsets.size - 1)
    tok.break_tokens, tok.stop_tokens = (None, None) if segmenter.lone is None else segmenter.lone.arguments()
    tok._adopt(model)


def imported(cls: type[T], model: Model, params: dict[str, Any]) -> T:
    """A tokenizer with a model of another library; errors are those of a file that is not valid."""
    make: Any = cls  # the constructors differ
    try:
        tok: T = make(**{"n_tokens": len(model.vocabulary), **params})
        tok._settings()
        take(tok, model)
    except (TypeError, ValueError) as error:
        raise ModelFormatError(str(error)) from error
    return tok


def _words(segmenter: Segmenter, size: int) -> tuple[Any, Any]:
    """The arguments `special_tokens` and `known_words`: lists if that gives the same ids, else mappings."""
    special, n_first = segmenter.special, segmenter.n_first
    if special is None:
        return None, None
    parts: list[Any] = []
    for known in (False, True):
        parts.append({w: int(i) for w, i, k in zip(special.words, special.ids, special.always, strict=True) if bool(k) is known})
    if n_first:
        behind = list(range(n_first + size, size + len(special.words)))
        return list(parts[0]), (list(parts[1]) if [*parts[1].values()] == behind else parts[1]) or None
    if [*parts[0].values(), *parts[1].values()] == list(range(size, size + len(special.words))):
        parts = [list(part) for part in parts]
    return parts[0] or None, parts[1] or None
