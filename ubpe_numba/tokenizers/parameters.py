"""Constructor arguments by name, and the settings, segmenter and alphabet that they describe."""

from __future__ import annotations

from typing import Any, Self

from ubpe_numba.documents.corpus import Corpus
from ubpe_numba.documents.normalise import Documents
from ubpe_numba.fitting.loop import Settings
from ubpe_numba.runtime.notebook import html_of
from ubpe_numba.tokenizers import arguments
from ubpe_numba.tokenizers.fitted import Fitted
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.segmenter import Segmenter


class Parameters(Fitted):
    """Constructor arguments by name."""

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
        return {name: getattr(self, name) for name in arguments.names_of(type(self))}

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
        arguments.set_params(self, params)
        return self

    def __repr__(self) -> str:
        return arguments.shown(self)

    def _repr_html_(self) -> str:
        """Facts and motifs for a notebook."""
        return html_of(self, "tokenizer_html")

    def _settings(self, memory_limit: int | None = None) -> Settings:
        """The validated constructor arguments that decide a fit."""
        return arguments.settings_of(self, memory_limit)

    def _segmenter(self, kind: str, size: int | None) -> Segmenter:
        """The segmenter of the constructor's arguments, for an alphabet of this kind and `size` ids, None if not known yet."""
        return arguments.segmenter_of(self, kind, size)

    def _corpus(self, docs: Any, offsets: Any, sample_weight: Any, boundaries: Any) -> Corpus:
        """What `fit` is given, as the constructor's arguments have it: text as bytes, cut into segments."""
        return arguments.corpus_of(self, docs, offsets, sample_weight, boundaries)

    def _alphabet_of(self, given: Documents) -> Alphabet:
        """The alphabet of a fit: the argument, or what is learned from the documents."""
        return arguments.alphabet_of(self, given)
