"""The base class of all tokenizers, composed of its parts."""

from __future__ import annotations

import dataclasses
from typing import Any

from ubpe_numba.tokenizers.fits import Fits
from ubpe_numba.tokenizers.positions import Positions
from ubpe_numba.tokenizers.saving import Saving, class_of
from ubpe_numba.tokenizers.streaming import Streaming

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
