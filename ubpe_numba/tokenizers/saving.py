"""Model files."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import inspect
import json
import os
from typing import Any, Self

import numpy as np

import ubpe_numba.formats as formats
from ubpe_numba.errors import ModelFormatError, quoted, shortened
from ubpe_numba.fitting.history import History
from ubpe_numba.runtime.arrays import describe, positive, resolve_threads
from ubpe_numba.runtime.messages import warn
from ubpe_numba.runtime.schema import check_fields
from ubpe_numba.tokenizers.fitted import Fitted, objective_from, objective_of, of_class
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.preprocessing import Preprocessing
from ubpe_numba.vocabulary.rules import FitRules
from ubpe_numba.vocabulary.unknown import argument_from_state, argument_state

#: Constructor arguments that are not among the `params` of a model file.
NOT_IN_PARAMS = ("alphabet", "n_threads", "preprocessing")


class Saving(Fitted):
    """`save` and `load`."""

    def save(self, path: str | os.PathLike[str], *, metadata: dict[str, Any] | None = None) -> None:
        """Write the model to a file, atomically: the old file or the new one.

        Parameters
        ----------
        path
            Its suffix decides the format: ``.json``, readable, or ``.npz``, flat arrays.
        metadata
            A JSON object to store in the file, such as a scale, a rate, or names of channels; by default that
            of the file which this tokenizer comes from. `load` returns it as `metadata_`.

        Examples
        --------
        >>> import os, tempfile
        >>> path, tok = os.path.join(tempfile.mkdtemp(), "model.json"), BPE.from_merges([[0, 1]], alphabet="ab")
        >>> tok.save(path, metadata={"rate": 360})
        >>> BPE.load(path) == tok, BPE.load(path).metadata_
        (True, {'rate': 360})
        """
        metadata = self.metadata_ if metadata is None else metadata
        self._save(path, **({} if metadata is None else {"metadata": checked_metadata(metadata)}))

    def _save(self, path: str | os.PathLike[str], **parts: dict[str, Any]) -> None:
        """Write a model file with further `parts`."""
        model = self._fitted()
        settings = self._settings()
        self._check_model(model)  # arguments that a user may have set since
        params: dict[str, Any] = {k: v for k, v in self.get_params().items() if k not in NOT_IN_PARAMS}
        rules = dataclasses.asdict(settings.rules)
        params |= {"n_tokens": None if self.n_tokens is None else settings.n_tokens, "rules": rules}
        params["max_token_length"] = rules.pop("max_token_length")
        if "n_candidates" in params:
            params["n_candidates"] = settings.n_candidates
        if "objective" in params:
            params["objective"], weights = objective_of(params["objective"])
            params["token_weights"] = weights.tolist() if isinstance(weights, np.ndarray) else weights
        unknown = argument_state(params.pop("unknown"))
        if unknown != "raise":
            params["unknown"] = unknown
        state = {"tokenizer": type(self).__name__, "params": params, **model.state()}
        if hasattr(self, "history_"):
            state["history"] = self.history_.state(model.vocabulary)
        n_bytes = formats.model_file.save(path, {**state, **parts})
        if (most := max(model.alphabet.size, model.vocabulary.arena.size)) > formats.model_file.claimable(
            n_bytes
        ):
            warn(f"{os.fspath(path)}: to load it again, pass max_symbols={most}")

    @of_class
    def load(cls, source: Any, *, n_threads: int | None = None, **options: Any) -> Self:
        """Read a tokenizer of this class: a file that `save` wrote, or any that `ubpe_numba.load` reads.

        Arguments are as for `ubpe_numba.load`. ModelFormatError for a file that is not valid, or of another
        class; `Tokenizer.load` takes any class.

        Examples
        --------
        >>> dump = '{"n_tokens": 3, "alphabet": {"a": 0, "b": 1}, "mapper": {"2": [0, 1]}, "weights": {"2": 0.0}}'
        >>> UBPEClassic.load(dump, n_threads=1).encode("aab").tolist()
        [0, 2]
        """
        if inspect.isabstract(cls):
            tokenizer = load(source, n_threads=n_threads, **options)
            if not isinstance(tokenizer, cls):
                raise ModelFormatError(
                    f"source: a {type(tokenizer).__name__}, not a {cls.__name__}: use "
                    f"{type(tokenizer).__name__}.load"
                )
            return tokenizer
        name = next(base.__name__ for base in cls.__mro__ if base.__name__ in _MODULES)
        read, content = formats.table.read(source, name, options)
        if content.tokenizer != name:
            other = shortened(content.tokenizer, 40)
            raise ModelFormatError(
                f"{read.path}: a {other}, not a {name}: use {other}.load, or load for any of them"
            )
        return cls._made(read, content, n_threads)

    @classmethod
    def _made(cls, read: Any, found: Any, n_threads: int | None) -> Self:
        """A tokenizer from the parts of a file."""
        if isinstance(found.model, dict):
            tokenizer = cls._loaded(
                read.path, found.model, read.n_bytes, n_threads, found.params["max_symbols"]
            )
        try:
            if not isinstance(found.model, dict):
                return cls._imported(found.model, {**found.params, "n_threads": n_threads})
            vars(tokenizer).update(
                {"metadata_": checked_metadata(found.model["metadata"])} if "metadata" in found.model else {}
            )
            return tokenizer
        except (TypeError, ValueError) as error:
            raise ModelFormatError(f"{read.path}: {error}") from error

    @classmethod
    def _loaded(
        cls,
        where: str,
        state: dict[str, Any],
        n_bytes: int,
        n_threads: int | None,
        max_symbols: int | None = None,
    ) -> Self:
        """A tokenizer from the content of a file of so many bytes."""
        make: Any = cls  # the constructors differ
        tok: Self = make(n_threads=n_threads)
        # raises for the argument, or for the environment, before the file is looked into
        resolve_threads(n_threads)
        at_most = (
            formats.model_file.claimable(n_bytes)
            if max_symbols is None
            else positive(max_symbols, "max_symbols")
        )
        try:
            params = {"unknown": "raise", **state["params"]}
            names = [name for name in tok.get_params() if name not in NOT_IN_PARAMS]
            check_fields(
                params,
                [*names, "max_token_length", *(["token_weights"] if "objective" in names else [])],
                "params",
            )
            rules, longest = params["rules"], params.pop("max_token_length")
            if not isinstance(rules, dict):
                raise ModelFormatError("rules: expected an object")
            fields = [
                field.name for field in dataclasses.fields(FitRules) if field.name != "max_token_length"
            ]
            check_fields(rules, fields, "rules")
            model = Model.from_state(state, at_most)
            params["unknown"] = argument_from_state(params["unknown"], model.alphabet)
            params |= {"rules": FitRules(**rules, max_token_length=longest)}
            if "objective" in names:
                params["objective"] = objective_from(params["objective"], params.pop("token_weights"))
            tok.set_params(**params)
            tok._settings()
            tok._take(
                model, History.from_state(state["history"], model.vocabulary) if "history" in state else None
            )
        except (TypeError, ValueError) as error:
            raise ModelFormatError(f"{where}: {error}") from error
        if (cutter := model.segmenter.pretokenizer) is not None and cutter.unicode:
            then = next(
                part["unicode"]
                for part in (state["text"].get(n) for n in ("pretokenizer", "python_pattern"))
                if part
            )
            if then != cutter.unicode:
                message = f"{where}: cuts text by Unicode {shortened(then, 40)}, and here is {cutter.unicode}"
                warn(f"{message}: rare characters may be cut differently")
        return tok

    @classmethod
    def _imported(cls, model: Model, params: dict[str, Any]) -> Self:
        """A tokenizer with a model of another library; TypeError or ValueError for one that is not valid."""
        make: Any = cls  # the constructors differ
        tok: Self = make(**{"n_tokens": len(model.vocabulary), **params})
        tok._settings()
        tok._take(model)
        return tok

    def _take(self, model: Model, history: History | None = None) -> None:
        """Become fitted with a model from elsewhere, and set the constructor's arguments to match."""
        self.preprocessing = Preprocessing._of_segmenter(model.segmenter, len(model.vocabulary))
        self._adopt(model, history)


def checked_metadata(metadata: Any) -> dict[str, Any]:
    """A copy of the argument `metadata`; TypeError, with the name, for what JSON does not give back as it is.

    >>> checked_metadata({"rate": 360, "leads": ["I", "II"]})
    {'rate': 360, 'leads': ['I', 'II']}
    >>> checked_metadata({"range": (-1, 1)})
    Traceback (most recent call last):
    TypeError: metadata: 'range': expected a JSON value, got tuple; use list()
    """
    if not isinstance(metadata, dict):
        raise TypeError(f"metadata: expected a dict, got {describe(metadata)}")
    fields: dict[str, Any] = {}
    for name, value in metadata.items():
        # a number that is not finite, or no end
        with contextlib.suppress(TypeError, ValueError, RecursionError):
            fields[name] = json.loads(json.dumps(value, allow_nan=False))
        if not isinstance(name, str) or name not in fields or fields[name] != value:
            calls = {"state": "state()", "tolist": "tolist()", "count": "list()"}
            way = next(
                (f"; use {call}" for attribute, call in calls.items() if hasattr(value, attribute)), ""
            )
            raise TypeError(f"metadata: {quoted(name)}: expected a JSON value, got {describe(value)}{way}")
    return fields


#: The module of each class that model files name. They import this module, so they are imported on demand.
_MODULES = {"BPE": "tokenizers.bpe", "UBPEClassic": "tokenizers.bpe", "UBPE": "tokenizers.ubpe"}
_MODULES |= {"WordPiece": "tokenizers.wordpiece", "SignalTokenizer": "signals.tokenizer"}


def class_of(name: str) -> Any:
    """The class of a name that model files have."""
    return getattr(importlib.import_module(f"ubpe_numba.{_MODULES[name]}"), name)


def load(source: Any, *, tokenizer: str | None = None, n_threads: int | None = None, **options: Any) -> Any:
    r"""Read a tokenizer from a file or an object of another library; the format is recognized.

    The content of a file shows its format: models of this library (``.json``, ``.npz``), `tokenizer.json` of
    Hugging Face, files of ranks as in tiktoken, `tekken.json` of Mistral. Also `vocab.json` with
    `merges.txt`, CLIP's file of merges, models of sentencepiece, ``.gguf``, dumps of ubpe, `vocab.txt` of
    WordPiece.

    Parameters
    ----------
    source
        The path of a file or folder. In a folder, as `save_pretrained` of transformers writes it, the first
        of these is read: `tokenizer.json`, `tekken.json`, `tokenizer.model`, `vocab.json` (with
        `merges.txt`), `encoder.json` (with `vocab.bpe`), `vocab.txt`. Or an open file, or its content:
        `bytes`, or a `str` that begins with ``{`` or has several lines. Or a `tokenizers.Tokenizer`, a fast
        tokenizer of transformers, or a `tiktoken.Encoding`. Or a pair ``(vocab, merges)`` of these; `vocab`
        may be a mapping.
    tokenizer
        The class, ``"BPE"``, ``"UBPEClassic"``, ``"UBPE"`` or ``"WordPiece"``, if the file leaves it open.
        The default is `BPE`, and `UBPE` for unigrams. For a dump of ubpe it is `UBPEClassic` if tokens
        consist of learned tokens, else `UBPE`.
    n_threads
        As for the constructor.
    **options
        Options of the format. `kind`: the kind of symbols, ``"bytes"``, ``"str"`` or ``"int"``, of a
        `tokenizer.json`, of `vocab.json` with `merges.txt`, or of a dump; by default the file decides.
        `alphabet`: the integers of the characters of a `tokenizer.json` of ``"int"``, in their order.
        `pretokenizer` and `special_tokens`, as for `Preprocessing`, are for ranks and for `vocab.json` with
        `merges.txt`, which do not hold them. The default for the latter is GPT-2's pattern. The published
        ranks r50k, p50k, cl100k, o200k, of Llama 3 and 4, Qwen and Whisper have their own pattern and special
        tokens. Whisper has two sets, ``special_tokens="whisper"`` and, from large-v3 on, ``"whisper_v3"``.
        `max_symbols`, for our own files: limit of the symbols of the alphabet, and of all tokens together. A
        few hundred bytes can claim gigabytes, so it is 2**22 and 64 more per byte of the file; `save` warns
        if a model needs more.

    Returns
    -------
    Tokenizer or WordPiece
        A tokenizer with the same ids: those of ``encode(..., add_special_tokens=False)`` of Hugging Face.
        Special tokens are those of the file; additions of a post-processor are left out. `is_lossless` tells
        if `decode` restores every text. If a file lacks a rule for unknown characters, they raise an error
        here (``unknown="skip"`` leaves them out, as Hugging Face does). Tokens that no pair makes occur in no
        encoding, but can be decoded.

    Raises
    ------
    ModelFormatError
        If the format is not known. If the file is not valid or cannot be reproduced, with the recognized
        format.
    TypeError, ValueError
        For an option that no format has, or that does not fit this file, and for ranks with an unknown
        pattern.

    Warns
    -----
    UserWarning
        If ranks of Whisper are read without `special_tokens`. If an added token of a `tokenizer.json` has a
        different id, here and in the package tokenizers, than in the file. If a model of this library splits
        text by a different version of Unicode than the installed one.

    Examples
    --------
    >>> from ubpe_numba import BPE, export, load
    >>> tok = BPE.from_merges([[0, 1]], alphabet="ab")
    >>> load(export(tok, "ubpe"), kind="str").encode("aab").tolist()
    [0, 2]
    >>> load(({"a": 0, "b": 1, "ab": 2}, "#version: 0.2\na b\n"), kind="str", pretokenizer=None).encode("aab").tolist()
    [0, 2]
    """
    if tokenizer is not None and tokenizer not in _MODULES:
        raise ValueError(f"tokenizer: expected {', '.join(_MODULES)} or None, got {quoted(tokenizer)}")
    read, content = formats.table.read(source, tokenizer, options)
    if content.tokenizer not in _MODULES:
        raise ModelFormatError(f"{read.path}: there is no tokenizer {quoted(content.tokenizer)}")
    if tokenizer not in (None, content.tokenizer):
        raise ValueError(f"tokenizer: {read.path} is a {content.tokenizer}, not a {tokenizer}")
    return class_of(content.tokenizer)._made(read, content, n_threads)
