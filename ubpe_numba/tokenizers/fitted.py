"""The fitted model of a tokenizer, and its tokens by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ubpe_numba.coding.plan import Tables
from ubpe_numba.errors import NotFittedError
from ubpe_numba.fitting.history import History
from ubpe_numba.runtime.arrays import checked_token, integer
from ubpe_numba.runtime.schema import plain_copy
from ubpe_numba.tokenizers.parameters import DEFAULT_RULES, Parameters, same
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.segmenter import Segmenter
from ubpe_numba.vocabulary.unknown import UnknownChoice, choice_of, hides_symbols
from ubpe_numba.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from ubpe_numba.tokenizers.token_names import TokenNames


class Fitted(Parameters):
    """The constructor's arguments and the model of a tokenizer; other parts of `Tokenizer` build on it."""

    model_: Model
    history_: History
    _made_tables: Tables | None = None
    _made_names: TokenNames | None = None
    _made_plans: Mapping[str, Any] = MappingProxyType({})

    def _fitted(self) -> Model:
        """The model, or a NotFittedError."""
        model: Model | None = self.__dict__.get("model_")
        if model is None:
            raise NotFittedError(f"this {type(self).__name__} has no vocabulary yet: call fit or load first")
        return model

    def _adopt(self, model: Model) -> None:
        """Become fitted, or refitted. ValueError if encoding needs what the vocabulary does not have."""
        if self._needs_pairs and model.vocabulary.merges is None:
            raise ValueError("vocabulary: it knows flat sequences only, encoding by substitution needs pairs")
        if (lone := model.segmenter.lone) is not None:
            lone.symbol_ids(model.alphabet)  # raises for a symbol that is not there
        choice_of(self.unknown, model.alphabet, model.segmenter.special)  # likewise
        self.model_ = model
        self._made_tables = self._made_names = None

    @property
    def _tables(self) -> Tables:
        """The encoders and the decoder of the model; those of an earlier model went with it."""
        made = self._made_tables
        if made is None:
            made = Tables(self._fitted())
            self.__dict__["_made_tables"] = made
        return made

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; plans that were made before depend on another one, and are forgotten."""
        super().__setattr__(name, value)
        self.__dict__["_made_plans"] = {}

    def __getstate__(self) -> dict[str, Any]:
        """All but what is made when it is first needed; equal for equal tokenizers."""
        return dict(plain_copy({name: self.__dict__[name] for name in sorted(self.__dict__) if not name.startswith("_made_")}))

    @property
    def alphabet_(self) -> Alphabet:
        """The fitted `Alphabet`.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> BPE.from_merges([[0, 1]], alphabet=[7, 8]).alphabet_.symbols.tolist()
        [7, 8]
        """
        return self._fitted().alphabet

    @property
    def vocabulary_(self) -> Vocabulary:
        """The fitted `Vocabulary`; `vocabulary` is the same.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.from_merges([[0, 1], [2, 0]], alphabet="ab")
        >>> tok.vocabulary_.sequence(3).tolist(), tok.vocabulary is tok.vocabulary_
        ([0, 1, 0], True)
        """
        return self._fitted().vocabulary

    @property
    def segmenter_(self) -> Segmenter:
        """How documents are changed and cut, and their special tokens found: a `Segmenter`.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> BPE.for_text(256, pretokenizer="gpt2").fit(["low"]).segmenter_.pretokenizer
        Pretokenizer('gpt2')
        """
        return self._fitted().segmenter

    @property
    def vocabulary(self) -> Vocabulary:
        """The fitted `Vocabulary`, as `vocabulary_`: what every token stands for, in ids of the alphabet.

        Tokens are numbered 0..V-1, special tokens are not among them; see `Vocabulary` where the ids of `encode` are others.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> len(BPE.from_merges([[0, 1], [2, 0]], alphabet="ab").vocabulary)
        4
        """
        return self._fitted().vocabulary

    @property
    def special_ids(self) -> dict[Any, int]:
        """The id of every special token and known word.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> BPE.from_merges([[0, 1]], alphabet="ab", special_tokens=["<end>"]).special_ids
        {'<end>': 3}
        """
        special = self._fitted().segmenter.special
        return {} if special is None else dict(zip(special.words, special.ids.tolist(), strict=True))

    @property
    def is_lossless(self) -> bool:
        """Whether `decode` gives back every text as it was given.

        Not where text is normalised, or parts of it are left out or become an unknown token, or where `unknown` allows symbols
        outside the alphabet, or several symbols of the alphabet have one id: then it gives what was encoded.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE(4, alphabet="ab", normalizer="Lowercase").fit(["abab", "Ab"])
        >>> tok.is_lossless, tok.decode(tok.encode("AB"))
        (False, 'ab')
        """
        model = self._fitted()
        lossless = model.segmenter.is_lossless and model.alphabet.is_lossless
        return lossless and not hides_symbols(self.unknown, model.alphabet)

    @property
    def fingerprint(self) -> str:
        """A hash of all that decides encoding and decoding, and of the weights; equal for equal models on any machine.

        A model that was converted from a format without weights may encode the same and have another fingerprint.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok, other = (BPE.from_merges([pair], alphabet="ab") for pair in ([0, 1], [1, 0]))
        >>> tok.fingerprint == other.fingerprint
        False
        """
        model, params = self._fitted(), self._encode_params()
        if (unknown := self._unknown(None)) != "raise":
            params["unknown"] = unknown if isinstance(unknown, (str, int)) else unknown.word
        return model.fingerprint(type(self).__name__, params)

    def _encode_params(self) -> dict[str, Any]:
        """The constructor arguments that change how it encodes."""
        return {"encode": (self.rules or DEFAULT_RULES).encode}

    def _unknown(self, unknown: Any) -> UnknownChoice:
        """What becomes of unknown symbols: what a call says, or for None the constructor."""
        alphabet, _, segmenter = self._fitted()
        return choice_of(self.unknown if unknown is None else unknown, alphabet, segmenter.special)

    @property
    def _names(self) -> TokenNames:
        """The names of ids, made when they are first asked for."""
        from ubpe_numba.tokenizers.token_names import token_names  # here only: encoding need not wait for it

        made = self._made_names
        if made is None:
            made = self._made_names = token_names(self._fitted())
        return made

    @property
    def vocab_size(self) -> int:
        """One more than the largest id, special tokens and known words included: the rows of an embedding.

        Where ids have gaps, as those of a mapping may, `get_vocab` has fewer tokens.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.from_merges([[0, 1]], alphabet="ab", special_tokens=["<end>"])
        >>> len(tok.vocabulary), tok.vocab_size
        (3, 4)
        """
        from ubpe_numba.tokenizers.token_names import n_ids  # here only, as in `_names`

        return n_ids(self._fitted())

    def get_vocab(self) -> dict[Any, int]:
        """The id of every token by its name, special tokens included, in order of ids.

        Returns
        -------
        dict
            Over characters a name is the text of the token; over bytes it has a character for each byte, as vocabularies of
            Hugging Face have it (``"Ġlow"`` is `` low``); over integers it is a tuple of them. Special tokens have their text.

        Notes
        -----
        Several tokens may stand for the same symbols, merged in different ways: the one of the lowest id has the name, or a
        special token. The dict is a new one at each call.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> BPE.from_merges([[0, 1]], alphabet="ab", special_tokens=["<end>"]).get_vocab()
        {'a': 0, 'b': 1, 'ab': 2, '<end>': 3}
        >>> BPE.from_merges([[0, 1]], alphabet=[60, 62]).get_vocab()
        {(60,): 0, (62,): 1, (60, 62): 2}
        """
        return dict(self._names.ids)

    def token_to_id(self, token: Any) -> int | None:
        """The id of a token.

        Parameters
        ----------
        token
            Its name, as `get_vocab` has it; also the `bytes` that it stands for, or a list or an array of integers.

        Returns
        -------
        int or None
            None if there is no such token.

        Raises
        ------
        TypeError
            For what is no token of documents of this kind.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.for_text(258, pretokenizer="gpt2", special_tokens=["<end>"]).fit(["low low low"])
        >>> tok.token_to_id("lo"), tok.token_to_id(b"low"), tok.token_to_id("<end>"), tok.token_to_id("high")
        (256, 257, 258, None)
        """
        from ubpe_numba.tokenizers.token_names import id_of  # here only, as in `_names`

        return id_of(self._fitted(), self._names, token)

    def id_to_token(self, token_id: int) -> Any:
        """The name of the token of an id.

        Parameters
        ----------
        token_id
            An id.

        Returns
        -------
        str, tuple of int or None
            As `get_vocab` has it; None for an id that stands for no token.

        Raises
        ------
        TypeError
            If it is no integer.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.from_merges([[0, 1]], alphabet=b" a")
        >>> tok.id_to_token(2), tok.decode_single_token_bytes(2), tok.id_to_token(3)
        ('Ġa', b' a', None)
        """
        return self._names.names.get(integer(token_id, "token_id"))

    def decode_single_token_bytes(self, token: int) -> bytes:
        r"""The bytes that one token stands for, as tiktoken's method of this name; of a special token those of its text.

        Parameters
        ----------
        token
            An id.

        Returns
        -------
        bytes
            Of tokens of text part of a character, perhaps.

        Raises
        ------
        TypeError
            If the alphabet is not one of bytes, or the id is no integer.
        IndexError
            If no token has this id.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.for_text(256).fit(["low"])
        >>> tok.decode_single_token_bytes(108), tok.decode_single_token_bytes(200)
        (b'l', b'\xc8')
        """
        kind, decoder = self._fitted().alphabet.kind, self._tables.decoder
        if kind != "bytes":
            raise TypeError(f"decode_single_token_bytes: the alphabet is one of {kind}")
        t = checked_token(token, decoder.sizes.size)
        if decoder.gaps is not None and decoder.gaps[t]:
            raise IndexError(f"token {t}: no token has this id")
        return decoder.arena[decoder.starts[t] : decoder.starts[t + 1]].tobytes()

    def __eq__(self, other: object) -> bool:
        """Tokenizers of one class are equal if their fingerprints are, and before a fit if their arguments are."""
        if not isinstance(other, Fitted):
            return NotImplemented
        mine, yours = self.__dict__.get("model_"), other.__dict__.get("model_")
        if type(self) is not type(other) or (mine is None) is not (yours is None):
            return False
        if mine is None or yours is None:
            return all(same(value, getattr(other, name)) for name, value in self.get_params().items())
        if self is other:
            return True
        if mine is not yours and not np.array_equal(mine.vocabulary.arena, yours.vocabulary.arena):
            return False  # without a hash of the whole model
        return self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        """One of the class: a fit changes what a tokenizer is equal to, and a hash must not change."""
        return hash(type(self))

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is a vocabulary, for scikit-learn's `check_is_fitted`."""
        return "model_" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks of a step of a pipeline: a transformer of documents that is to be fitted, without targets."""
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags  # scikit-learn is there: it asks

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(preserves_dtype=[]),
            input_tags=InputTags(string=True),
        )
