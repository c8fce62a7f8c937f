"""Model files."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import os
from typing import Any, Self

import numpy as np

from ubpe_numba import formats
from ubpe_numba.errors import ModelFormatError, shortened
from ubpe_numba.fitting.history import History
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.arrays import positive
from ubpe_numba.runtime.messages import warn
from ubpe_numba.runtime.schema import check_fields
from ubpe_numba.tokenizers.fitted import Fitted, objective_from, objective_of
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.preprocessing import Preprocessing
from ubpe_numba.vocabulary.rules import FitRules
from ubpe_numba.vocabulary.unknown import argument_from_state, argument_state

#: Constructor arguments that are not among the `params` of a model file.
NOT_IN_PARAMS = ("alphabet", "n_threads", "preprocessing")


class Saving(Fitted):
    """`save` and `load`."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file: readable for ``.json``, flat arrays for ``.npz``. Atomic: the old file or the new one.

        Parameters
        ----------
        path
            Where; the suffix decides the format.

        Examples
        --------
        >>> import os, tempfile
        >>> from ubpe_numba import BPE
        >>> path = os.path.join(tempfile.mkdtemp(), "model.json")
        >>> tok = BPE.from_merges([[0, 1]], alphabet="ab")
        >>> tok.save(path)
        >>> BPE.load(path) == tok
        True
        """
        self._save(path)

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
        if (most := max(model.alphabet.size, model.vocabulary.arena.size)) > formats.model_file.claimable(n_bytes):
            warn(f"{os.fspath(path)}: to load it again, pass max_symbols={most}")

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, n_threads: int | None = None, max_symbols: int | None = None) -> Self:
        """Read a model that `save` wrote. `Tokenizer.load` makes a tokenizer of the class that the file says.

        Files of other libraries are read by `ubpe_numba.load`.

        Parameters
        ----------
        path
            The file.
        n_threads
            As for the constructor; a file does not hold it.
        max_symbols
            How many symbols the alphabet may have, and all tokens together. A few hundred bytes can claim gigabytes, so it is
            2**22 and 64 more for each byte of the file unless given here; `save` warns if a model needs more.

        Returns
        -------
        Self
            The tokenizer that was saved, with its `history_`, but for `n_threads`. ModelFormatError for a file that is not a
            model, or one of another class.

        Warns
        -----
        UserWarning
            If the model cuts text by another version of Unicode than is installed here.

        Examples
        --------
        >>> import os, tempfile
        >>> from ubpe_numba import UBPE, Tokenizer
        >>> path = os.path.join(tempfile.mkdtemp(), "model.npz")
        >>> UBPE(6, 1, objective="shortest").fit([[0, 1, 2, 0, 1], [2, 0, 1], [1, 1]]).save(path)
        >>> tok = UBPE.load(path, n_threads=1)
        >>> tok.decode(tok.encode([0, 1, 2])).tolist(), Tokenizer.load(path)
        ([0, 1, 2], UBPE(n_tokens=6, n_candidates=1, objective='shortest'): 5 tokens)
        """
        return cls._loaded(os.fspath(path), *formats.model_file.load(path), n_threads, max_symbols)

    @classmethod
    def _loaded(
        cls, where: str, state: dict[str, Any], n_bytes: int, n_threads: int | None, max_symbols: int | None = None
    ) -> Self:
        """A tokenizer from the content of a file of so many bytes."""
        make: Any = class_of(state["tokenizer"]) if inspect.isabstract(cls) else cls  # the constructors differ
        tok: Self = make(n_threads=n_threads)
        thread_pool.resolve(n_threads)  # raises for the argument, or for the environment, before the file is looked into
        if state["tokenizer"] != type(tok).__name__:
            name = shortened(state["tokenizer"], 40)
            raise ModelFormatError(f"{where}: a {name}, not a {cls.__name__}: use {name}.load, or Tokenizer.load for any of them")
        at_most = formats.model_file.claimable(n_bytes) if max_symbols is None else positive(max_symbols, "max_symbols")
        try:
            params = {"unknown": "raise", **state["params"]}
            names = [name for name in tok.get_params() if name not in NOT_IN_PARAMS]
            check_fields(params, [*names, "max_token_length", *(["token_weights"] if "objective" in names else [])], "params")
            rules, longest = params["rules"], params.pop("max_token_length")
            if not isinstance(rules, dict):
                raise ModelFormatError("rules: expected an object")
            fields = [field.name for field in dataclasses.fields(FitRules) if field.name != "max_token_length"]
            check_fields(rules, fields, "rules")
            params |= {"rules": FitRules(**rules, max_token_length=longest), "unknown": argument_from_state(params["unknown"])}
            if "objective" in names:
                params["objective"] = objective_from(params["objective"], params.pop("token_weights"))
            tok.set_params(**params)
            tok._settings()
            model = Model.from_state(state, at_most)
            tok._take(model)
            if "history" in state:
                tok.history_ = History.from_state(state["history"], model.vocabulary)
        except (TypeError, ValueError) as error:
            raise ModelFormatError(f"{where}: {error}") from error
        if (cutter := model.segmenter.pretokenizer) is not None and cutter.unicode:
            then = next(part["unicode"] for part in (state["text"].get(n) for n in ("pretokenizer", "python_pattern")) if part)
            if then != cutter.unicode:
                told = f"{where}: cuts text by Unicode {shortened(then, 40)}, and here is {cutter.unicode}"
                warn(f"{told}: rare characters may be cut differently")
        return tok

    @classmethod
    def _imported(cls, model: Model, params: dict[str, Any]) -> Self:
        """A tokenizer with a model of another library; errors are those of a file that is not valid."""
        make: Any = cls  # the constructors differ
        try:
            tok: Self = make(**{"n_tokens": len(model.vocabulary), **params})
            tok._settings()
            tok._take(model)
        except (TypeError, ValueError) as error:
            raise ModelFormatError(str(error)) from error
        return tok

    def _take(self, model: Model) -> None:
        """Become fitted with a model from elsewhere, and set the constructor's arguments to match."""
        self.preprocessing = Preprocessing._of_segmenter(model.segmenter, len(model.vocabulary))
        self._adopt(model)


#: The module of each class that model files name; modules are imported when their class is needed, since they import this one.
_MODULES = {"BPE": "bpe", "UBPEClassic": "bpe", "UBPE": "ubpe"}


def class_of(name: str) -> Any:
    """The class that a model file names; `BPE` for an unknown name, which its `load` then refuses."""
    name = name if name in _MODULES else "BPE"
    return getattr(importlib.import_module(f"ubpe_numba.tokenizers.{_MODULES[name]}"), name)
