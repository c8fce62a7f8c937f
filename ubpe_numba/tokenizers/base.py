"""The base class of all tokenizers, composed of its parts."""

from __future__ import annotations

import dataclasses
from typing import Any, Self

from ubpe_numba import formats
from ubpe_numba.tokenizers.fits import Fits
from ubpe_numba.tokenizers.positions import Positions
from ubpe_numba.tokenizers.saving import Saving, class_of
from ubpe_numba.tokenizers.streaming import Streaming
from ubpe_numba.vocabulary.rules import FitRules

__all__ = ["Tokenizer"]


class Tokenizer(Fits, Positions, Streaming, Saving):
    """Base of `BPE`, `UBPEClassic` and `UBPE`; not used by itself.

    The constructor only stores its arguments, which `fit` validates. `fit`, `load` and the other ways to a vocabulary set
    `model_`. From then on the object is only read, may be shared between threads, and can be pickled.

    Attributes
    ----------
    model_
        The `Model`: alphabet, vocabulary and segmenter, which never change.
    alphabet_
        The `Alphabet`: which symbols there are, and the id of each.
    vocabulary_
        The `Vocabulary`, in ids of the alphabet.
    segmenter_
        How documents are changed and cut, and their special tokens found.
    history_
        What each merge of the fit did, a `History` of arrays, kept in model files. Not there without a fit, as after
        `from_merges`.
    """

    def with_objective(self, objective: str, *, token_weights: Any = None) -> Tokenizer:
        """Make a tokenizer of the same vocabulary that cuts documents another way.

        Parameters
        ----------
        objective
            ``"rank"`` merges by rank, as `BPE` does; any other is an objective of `UBPE`, such as ``"shortest"``.
        token_weights
            As for `UBPE`, of the objective ``"additive"``; by default those of this tokenizer, if it has some.

        Returns
        -------
        tokenizer
            A `UBPE`, or by rank a tokenizer of this class (`UBPEClassic` for a `UBPE`); it shares all arrays with this one, which
            stays as it is.

        Raises
        ------
        ValueError
            For an unknown objective; by rank, if the vocabulary knows flat sequences only, or for `token_weights`; or if the
            objective needs statistics that the vocabulary does not have.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.from_merges([[0, 1], [1, 1], [0, 3]], alphabet="ab")  # ab, bb, abb
        >>> tok.encode("abb").tolist(), tok.with_objective("shortest").encode("abb").tolist()
        ([2, 1], [4])
        """
        model = self._fitted()
        by_rank = objective == "rank"
        if by_rank and token_weights is not None:
            raise ValueError("token_weights: merges by rank have none, expected objective='additive'")
        cls: Any = class_of("UBPE") if not by_rank else type(self) if self._needs_pairs else class_of("UBPEClassic")
        taken = cls._param_names()
        params = {name: value for name, value in self.get_params().items() if name in taken}
        if by_rank:
            params["rules"] = None if self.rules is None else dataclasses.replace(self.rules, encode="rank")
        else:
            kept = getattr(self, "token_weights", None) if objective == "additive" and token_weights is None else token_weights
            params |= {"objective": objective, "token_weights": kept}
        other: Tokenizer = cls(**params)
        other._adopt(model)
        if hasattr(self, "history_"):
            other.history_ = self.history_
        return other

    @classmethod
    def from_published(cls, text: str, kind: str | None = None) -> Self:
        """Read the dump (`dumps()`) of the package ubpe 0.2 or 0.3: of its UBPE here for `UBPE`, of UBPEClassic otherwise.

        Known words, break and stop tokens and the regular expression of 0.3 do what they do there. Only where the expression does
        not match all of a text, which ubpe then leaves out and cannot decode, encoding is a ValueError that shows the place.

        Parameters
        ----------
        text
            The dump.
        kind
            What the symbols are, ``"int"`` or ``"str"``; None takes them for integers if all of them look like one.

        Returns
        -------
        Self
            A fitted tokenizer.

        Raises
        ------
        ModelFormatError
            For anything else, naming the field.

        Examples
        --------
        >>> from ubpe_numba import UBPEClassic
        >>> dump = '{"n_tokens": 3, "alphabet": {"a": 0, "b": 1}, "mapper": {"2": [0, 1]}, "weights": {"2": 0.0}}'
        >>> UBPEClassic.from_published(dump).encode("aab").tolist()
        [0, 2]
        """
        n_tokens, model = formats.published_ubpe.read(text, kind, cls._needs_pairs)
        make: Any = cls  # the constructors differ
        tokenizer: Self = make(n_tokens, rules=FitRules(encode="batch"))
        tokenizer._take(model)
        return tokenizer

    def to_published(self) -> str:
        """The dump that ubpe 0.2 and 0.3 load (`loads`, with `token_type=str` for characters).

        Break and stop tokens, which 0.2 does not know, are written, as are known words and a pattern that came from a dump.

        Returns
        -------
        str
            The dump, JSON.

        Raises
        ------
        ValueError
            For a tokenizer with another pre-tokenizer, special tokens, an encoding, or known words that have other ids than those
            behind the alphabet.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> BPE.from_merges([[0, 1]], alphabet="ab").to_published()
        '{"n_tokens": 3, "alphabet": {"a": 0, "b": 1}, "mapper": {"2": [0, 1]}, "weights": {"2": 0.0}}'
        """
        return formats.published_ubpe.write(self._fitted(), self._needs_pairs)
