"""What the three tokenizers share: the model that they hold, and all methods that do not depend on how documents are encoded."""

from __future__ import annotations

import copy
import functools
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, overload

import numpy as np
from numpy.typing import NDArray

from ubpe_numba import formats
from ubpe_numba.coding import requests, streams
from ubpe_numba.coding.coder import Coder, Encode, EncodeOptions
from ubpe_numba.coding.encoder_stream import EncoderStream, stream_of
from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.coding.skipped_ids import ids_to_skip, read_left
from ubpe_numba.documents.corpus import Corpus
from ubpe_numba.documents.normalise import Documents, as_document, as_documents, text_of
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.utf8 import read_documents
from ubpe_numba.errors import NotFittedError, UnknownTokenError
from ubpe_numba.fitting.history import History
from ubpe_numba.fitting.learn import learn
from ubpe_numba.fitting.loop import Settings
from ubpe_numba.formats import model_file
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.arrays import checked_token, integer
from ubpe_numba.runtime.progress import Progress
from ubpe_numba.tokenizers import arguments, learning, model_files
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.rules import FitRules
from ubpe_numba.vocabulary.segmenter import Segmenter
from ubpe_numba.vocabulary.stretches import SpecialChoice
from ubpe_numba.vocabulary.unknown_choice import Stand, UnknownChoice, choice_of, hides_symbols
from ubpe_numba.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from ubpe_numba.coding.decoder_stream import DecoderStream
    from ubpe_numba.coding.model_inputs import ModelInputs
    from ubpe_numba.coding.occurrences import Occurrences, TokenIndex
    from ubpe_numba.coding.short_document import ShortDecoder, ShortEncode
    from ubpe_numba.coding.spans import Spans
    from ubpe_numba.coding.usage import Usage
    from ubpe_numba.coding.word_encoder import WordEncoder
    from ubpe_numba.tokenizers.bounds import LowerBound
    from ubpe_numba.tokenizers.token_names import TokenNames
    from ubpe_numba.views.explorer.report import Report

__all__ = ["Tokenizer"]

_Ids = NDArray[np.int32] | tuple[NDArray[np.int32], NDArray[np.int64]]  # without starts, and with
_Batch = Ragged | tuple[Ragged, Ragged] | tuple[Ragged, NDArray[np.int64]]

_NONE, _ALL = "none", "all"  # what `encode` is given by default; compared as objects, whatever a user passes


class Tokenizer(ABC):
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
    model_: Model
    history_: History
    _made_coder: Coder | None = None
    _made_names: TokenNames | None = None

    # ---------------------------------------------------------------------------------------------- the model

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
            lone.ids(model.alphabet)  # raises for a symbol that is not there
        choice_of(self.unknown, model.alphabet, model.segmenter.special)  # likewise
        self.model_ = model
        self._made_coder = self._made_names = None

    @property
    def _coder(self) -> Coder:
        """The encoders and the decoder of the model; those of an earlier model went with it."""
        made = self._made_coder
        if made is None:
            made = self._made_coder = Coder(self._fitted())
        return made

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_made_coder", "_made_names")}

    @property
    def alphabet_(self) -> Alphabet:
        """The fitted `Alphabet`.

        Raises
        ------
        NotFittedError
            Before there is a vocabulary.

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

        Raises
        ------
        NotFittedError
            Before there is one.

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

        Raises
        ------
        NotFittedError
            Before there is a vocabulary.

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

        Raises
        ------
        NotFittedError
            Before there is one.

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

        Raises
        ------
        NotFittedError
            Before there is a vocabulary.

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

        Raises
        ------
        NotFittedError
            Before there is a vocabulary.

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

        Raises
        ------
        NotFittedError
            Before there is a vocabulary.

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
        return {"encode": (self.rules or arguments.DEFAULT_RULES).encode}

    # ---------------------------------------------------------------------------------------------- tokens by name

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

        Raises
        ------
        NotFittedError
            Before there is a vocabulary.

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

        Raises
        ------
        NotFittedError
            Without a vocabulary.

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
        NotFittedError
            Without a vocabulary.
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
        NotFittedError
            Without a vocabulary.
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
        NotFittedError
            Without a vocabulary.
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
        kind, decoder = self._fitted().alphabet.kind, self._coder.decoder
        if kind != "bytes":
            raise TypeError(f"decode_single_token_bytes: the alphabet is one of {kind}")
        t = checked_token(token, decoder.sizes.size)
        if decoder.gaps is not None and decoder.gaps[t]:
            raise IndexError(f"token {t}: no token has this id")
        return decoder.arena[decoder.starts[t] : decoder.starts[t + 1]].tobytes()

    # ---------------------------------------------------------------------------------------------- equality

    def __eq__(self, other: object) -> bool:
        """Tokenizers of one class are equal if their fingerprints are, and before a fit if their arguments are."""
        return arguments.equal(self, other) if isinstance(other, Tokenizer) else NotImplemented

    def __hash__(self) -> int:
        """One of the class: a fit changes what a tokenizer is equal to, and a hash must not change."""
        return hash(type(self))

    # ---------------------------------------------------------------------------------------------- scikit-learn

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

    # ---------------------------------------------------------------------------------------------- parameters

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
        from ubpe_numba.views.summary_html import tokenizer_html  # when a notebook asks for it

        return tokenizer_html(self)

    # ---------------------------------------------------------------------------------------------- fitting

    @classmethod
    def for_text(
        cls, n_tokens: int | None = 4096, *, pretokenizer: Any = "cl100k", special_tokens: Any = None, **params: Any
    ) -> Self:
        r"""Make a tokenizer of text as language models use them: over the 256 bytes of UTF-8, so that no symbol is unknown.

        `fit` and `encode` take `str` and `bytes`, `decode` gives `str` and `decode_bytes` the bytes. Surrogates that stand alone
        in a `str` become three bytes each (``"surrogatepass"``).

        Parameters
        ----------
        n_tokens, pretokenizer, special_tokens
            As for the constructor.
        **params
            Further constructor arguments.

        Returns
        -------
        Self
            A tokenizer that is to be fitted.

        Raises
        ------
        TypeError
            For an argument that the constructor does not have; `fit` validates the others.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.for_text(260, pretokenizer="gpt2").fit(["low lower lowest, 低い 低い"])
        >>> tok.decode(tok.encode("lowly 低")), tok.decode_bytes(tok.encode(b"low\xff"))
        ('lowly 低', b'low\xff')
        """
        make: Any = cls  # the constructors differ
        params = {"pretokenizer": pretokenizer, "special_tokens": special_tokens, "encoding": "utf-8", **params}
        tokenizer: Self = make(n_tokens, alphabet=bytes(range(256)), **params)
        return tokenizer

    def fit(
        self,
        docs: Any,
        y: None = None,
        *,
        offsets: Any = None,
        sample_weight: Any = None,
        boundaries: Any = None,
        memory_limit: int | None = None,
        progress: bool | str = "auto",
    ) -> Self:
        """Learn a vocabulary from documents. What was fitted before is replaced, but only when all went well.

        Parameters
        ----------
        docs
            A list or iterator of documents (integer arrays, lists of ints, str or bytes, all of one kind), a 2-D integer
            array (rows are documents), a flat array with `offsets`, a `Ragged`, an Arrow list array, or a single `str`,
            `bytes` or 1-D array, which is one document. Or `Counts`. Symbols of other kinds, such as whole words, are numbered
            first: ``numpy.unique(words, return_inverse=True)``.
        y
            Ignored; scikit-learn passes it. TypeError beside a flat array, where it is offsets that were meant.
        offsets
            int64[d + 1], for a flat array: document i is ``docs[offsets[i]:offsets[i + 1]]``.
        sample_weight
            Integers of at least 0, one for each document: a document of weight w counts as w of them, in counts of pairs and in
            document frequencies. Of one of weight 0 only the symbols count, where the alphabet is learned.
        boundaries
            Positions that no token may cross, such as bars in music: for one document a 1-D sequence, otherwise one for each
            document. Position p stands between the symbols p - 1 and p.
        memory_limit
            Bytes that the fit may use beside the documents. Always enough are 42 MB, 27 bytes a symbol and 31 a document. Without
            weights of documents or segments less will do, when fewer pairs are indexed at a time and one thread is used: the same
            result, later. The logger ``ubpe_numba`` says so (INFO). Then 42 MB, 15 bytes a symbol, 19 a document and 24 an
            occurrence of the most frequent pair are enough, and 42 MB, 7 a symbol and 11 a document are needed.
        progress
            ``"auto"`` shows progress on a terminal (with tqdm where installed), True always, False never.

        Returns
        -------
        Self
            The tokenizer itself, with `history_`.

        Raises
        ------
        UnknownSymbolError
            For a symbol outside the given alphabet.
        TypeError, ValueError
            For documents that are not sequences of integers, an iterator that gives none (used up by an earlier pass?), or
            arguments out of range, naming them.
        MemoryError
            If the fit cannot keep to `memory_limit`, with an estimate of what it needs.

        Warns
        -----
        UserWarning
            If there are no documents; if `docs` is the name of a file, which is taken for a text; if the fit ends at less than a
            tenth of the tokens that `n_tokens` asks for, a thousand or more, since no pair is left (the logger ``ubpe_numba``
            says so of every fit that ends early, INFO); and of a `UBPE` whose objective weighs by idf, if every idf is 0, as with
            a single document.

        Notes
        -----
        Ctrl-C stops a fit within a fraction of a second and leaves the tokenizer as it was. The same documents give the same
        vocabulary, bit for bit, for any number of threads.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE(n_tokens=4).fit([[0, 1, 2, 0, 1], [0, 1]])
        >>> tok.vocabulary.merges.tolist()
        [[0, 1]]

        Text is fitted as a list of `str`; documents may count several times, and tokens may be kept within bars:

        >>> text = BPE(8).fit(["low lower", "low"], sample_weight=[1, 10])
        >>> [text.id_to_token(i) for i in text.encode("low lower").tolist()]
        ['low', ' ', 'low', 'e', 'r']
        >>> melody = np.array([60, 62, 64, 60, 62, 64, 60, 62])
        >>> bars = BPE(5, alphabet=[60, 62, 64]).fit(melody, boundaries=[3, 6])
        >>> list(bars.get_vocab())[3:]
        [(60, 62), (60, 62, 64)]
        """
        settings, bar = self._settings(memory_limit), Progress(progress)
        corpus = learning.corpus_of_fit(self, docs, y, offsets, sample_weight, boundaries)
        return self._fit_corpus(corpus, self._alphabet_of(corpus.given), settings, bar)

    def _alphabet_of(self, given: Documents) -> Alphabet:
        """The alphabet of a fit: the argument, or what is learned from the documents."""
        return arguments.alphabet_of(self, given)

    def _fit_corpus(self, corpus: Corpus, alphabet: Alphabet, settings: Settings, bar: Progress) -> Self:
        """Learn from a corpus that has been read."""

        def learned() -> tuple[Vocabulary, History]:
            return learn(corpus, alphabet, settings, bar)

        return self._learned(alphabet, settings, learned, lambda made: self._weighed(corpus, alphabet, made, bar))

    def _learned(
        self,
        alphabet: Alphabet,
        settings: Settings,
        learn: Callable[[], tuple[Vocabulary, History]],
        weigh: Callable[[Vocabulary], Vocabulary],
    ) -> Self:
        """Become what a fit makes: `learn` what it is made of, and `weigh` its vocabulary."""
        learning.become_learned(self, alphabet, settings, learn, weigh)
        return self

    def fit_more(
        self,
        docs: Any,
        n_tokens: int,
        *,
        offsets: Any = None,
        sample_weight: Any = None,
        boundaries: Any = None,
        memory_limit: int | None = None,
        progress: bool | str = "auto",
    ) -> Self:
        """Go on from the present vocabulary until it has `n_tokens` ids; ids that exist keep their meaning and their weight.

        On the corpus of the fit this gives what one longer fit would have given. On another one new merges are learned on that,
        encoded with the present vocabulary. `n_tokens` of the tokenizer becomes the new size. A tokenizer without `history_`
        goes on with a new round even if its last one was cut short. The probabilities of `UBPE` are estimated anew, on `docs`.

        Parameters
        ----------
        docs, offsets, sample_weight, boundaries, memory_limit, progress
            As for `fit`.
        n_tokens
            The new size of the vocabulary, alphabet included.

        Returns
        -------
        Self
            The tokenizer itself.

        Raises
        ------
        NotFittedError
            Without a vocabulary.
        ValueError
            If the vocabulary does not know pairs, is not in order of creation, or has more than `n_tokens` ids already.
        UnknownSymbolError, TypeError, MemoryError
            As `fit`.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> docs = [[0, 1, 2, 0, 1], [0, 1, 2]]
        >>> BPE(n_tokens=4).fit(docs).fit_more(docs, 5).vocabulary.merges.tolist()
        [[0, 1], [3, 2]]
        """
        learning.fit_more(self, docs, n_tokens, offsets, sample_weight, boundaries, memory_limit, progress)
        return self

    def fit_transform(self, docs: Any, y: None = None, *, offsets: Any = None) -> Ragged:
        """`fit`, then `encode_batch` of the same documents.

        Parameters
        ----------
        docs, y, offsets
            As for `fit`.

        Returns
        -------
        ids
            A `Ragged` of int32.

        Raises
        ------
        UnknownSymbolError, SpecialTokenError, TypeError, ValueError, MemoryError
            As `fit` and `encode_batch`.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> BPE(n_tokens=4).fit_transform([[0, 1, 2, 0, 1], [0, 1]]).to_lists()
        [[3, 2, 3], [3]]
        """
        docs = list(docs) if hasattr(docs, "__next__") else docs
        return self.fit(docs, y, offsets=offsets).encode_batch(docs, offsets)

    def compression_curve(self) -> tuple[np.ndarray, np.ndarray]:
        """How many symbols a token stands for at every size of the vocabulary, without another fit.

        Tokens as the fit merged them, which is how merge rank encodes, not the best paths of `UBPE`. From the alphabet alone,
        1.0, to the last merge, in order of creation.

        Returns
        -------
        sizes, symbols_per_token
            int64[m + 1] and float64[m + 1], m the number of merges.

        Raises
        ------
        NotFittedError
            If there is no record of a fit: for a tokenizer that was made from merges, refined, or comes from another library.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE(n_tokens=3, alphabet=2).fit([[0, 1, 0, 1, 1]])
        >>> tok.compression_curve()
        (array([2, 3]), array([1.        , 1.66666667]))
        """
        vocabulary = self._fitted().vocabulary
        if not hasattr(self, "history_"):
            raise NotFittedError(f"this {type(self).__name__} was not learned by fit and has no history_ of its corpus")
        return self.history_.compression(vocabulary.n_alphabet)

    def truncate(self, n_tokens: int, by: str = "creation") -> Self:
        """Make a new tokenizer with a smaller vocabulary.

        Parameters
        ----------
        n_tokens
            The size of the new vocabulary, alphabet included.
        by
            ``"creation"`` keeps the lowest ids, which is the tokenizer that a shorter fit would have given. ``"idf"`` orders by
            idf and drops the lowest, and with it all that is built on it, as in the articles; it keeps the rarest tokens, so it
            usually encodes to more of them.

        Returns
        -------
        Self
            The new tokenizer, by creation with the beginning of `history_`; this one stays as it is.

        Raises
        ------
        NotFittedError
            Without a vocabulary.
        ValueError
            If `n_tokens` is below the alphabet, or the lowest ids of a rearranged pair table are not closed.

        Notes
        -----
        Occurrences become those where tokens that left stand as their parts, if pairs are known. Probabilities stay, so they sum
        to less than 1: `UBPE.reweight` estimates them anew.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> BPE.from_merges([[0, 1], [2, 0]], alphabet="ab").truncate(3).vocabulary.merges.tolist()
        [[0, 1]]
        """
        return learning.truncated(self, n_tokens, by)

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
        NotFittedError
            Without a vocabulary.
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
        return learning.with_objective(self, objective, token_weights)

    def _weighed(self, corpus: Corpus, alphabet: Alphabet, vocabulary: Vocabulary, progress: Progress) -> Vocabulary:
        """A vocabulary that was learned from a corpus, with what encoding needs to know of that beside the merges."""
        return vocabulary

    @property
    def _weighs_by_text(self) -> bool:
        """Whether `_weighed` looks at the corpus."""
        return False

    def _settings(self, memory_limit: int | None = None) -> Settings:
        """The validated constructor arguments that decide a fit."""
        return arguments.settings_of(self, memory_limit)

    def _segmenter(self, kind: str, size: int | None) -> Segmenter:
        """The segmenter of the constructor's arguments, for an alphabet of this kind and `size` ids, None if not known yet."""
        return arguments.segmenter_of(self, kind, size)

    def _corpus(self, docs: Any, offsets: Any, sample_weight: Any, boundaries: Any) -> Corpus:
        """What `fit` is given, as the constructor's arguments have it: text as bytes, cut into segments."""
        return arguments.corpus_of(self, docs, offsets, sample_weight, boundaries)

    def _read(self, docs: Any, offsets: Any = None) -> Documents:
        return read_documents(docs, offsets, self.encoding)

    # ---------------------------------------------------------------------------------------------- encoding

    @abstractmethod
    def _encode_ids(self, documents: Ragged) -> Ragged:
        """Encode documents of alphabet ids."""

    def _word_encoder(self) -> WordEncoder | None:
        """An encoder of text in segments that does what `_encode_ids` does, faster; None where there is none."""
        return None

    def _unknown(self, unknown: Any) -> UnknownChoice:
        """What becomes of unknown symbols: what a call says, or for None the constructor."""
        alphabet, _, segmenter = self._fitted()
        return choice_of(self.unknown if unknown is None else unknown, alphabet, segmenter.special)

    @overload
    def encode(
        self,
        doc: Any,
        *,
        unknown: Any = ...,
        return_offsets: Literal[False] = ...,
        units: str | None = ...,
        boundaries: Any = ...,
        allowed_special: Any = ...,
        disallowed_special: Any = ...,
    ) -> NDArray[np.int32]: ...
    @overload
    def encode(
        self,
        doc: Any,
        *,
        unknown: Any = ...,
        return_offsets: Literal[True, "spans"],
        units: str | None = ...,
        boundaries: Any = ...,
        allowed_special: Any = ...,
        disallowed_special: Any = ...,
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]: ...
    def encode(
        self,
        doc: Any,
        *,
        unknown: Any = None,
        return_offsets: bool | str = False,
        units: str | None = None,
        boundaries: Any = None,
        allowed_special: Any = "none",
        disallowed_special: Any = "all",
    ) -> _Ids:
        """Encode one document.

        Parameters
        ----------
        doc
            An integer array or list, `str` or `bytes`. TypeError for another kind than was fitted.
        unknown
            What becomes of symbols outside the alphabet: ``"raise"`` an UnknownSymbolError that names the position, ``"skip"``
            them, or put the alphabet id, the symbol (``"N"``, ``b"N"``) or the special token (``"[UNK]"``) given here. A special
            token is put for each of them, and no other token crosses it. None: as the constructor says.
        return_offsets
            True: return a pair, the ids, and int64 of as many, the position in the document (in symbols: integers, code points,
            or bytes, those of UTF-8 where text is encoded so) of the first symbol of each token. Symbols that are skipped, or
            that a normalizer or a pre-tokenizer leaves out, belong to no token, and may stand inside of one.
            ``"spans"``: in the place of the positions int64[n, 2], for each token where it begins and where it ends, behind the
            last of its symbols. Where a normalizer makes one character of several, the first of them counts.
        units
            For text, what positions count: ``"characters"`` or ``"bytes"``, those of UTF-8, instead of symbols. A token that
            holds a part of a character covers the whole of it, in characters.
        boundaries
            Positions that no token crosses, as for `fit`, in symbols: the parts between them are encoded as documents.
        allowed_special, disallowed_special
            Which special tokens are found in the document, as in tiktoken: ``"none"``, ``"all"`` or a set are allowed. Of the
            others, those in `disallowed_special` (``"all"``, ``"none"`` or a set) are a SpecialTokenError, so that text from
            outside cannot smuggle one in, and the rest is taken for ordinary symbols.

        Returns
        -------
        ids
            int32[n]; with `return_offsets` a pair of ids and starts, or ids and spans.

        Raises
        ------
        NotFittedError
            Without a vocabulary.
        UnknownSymbolError, SpecialTokenError
            With document and position.
        TypeError, ValueError
            For a document of another kind, or an argument out of range.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.for_text(258, pretokenizer=None, special_tokens=["<end>"]).fit(["abab ab"])
        >>> ids, starts = tok.encode("abc<end>", allowed_special="all", return_offsets=True)
        >>> ids.tolist(), starts.tolist()
        ([256, 99, 257], [0, 2, 3])
        >>> tok.encode("abc<end>", allowed_special="all", return_offsets="spans")[1].tolist()
        [[0, 2], [2, 3], [3, 8]]
        >>> tok.encode("abab", boundaries=[1]).tolist()
        [97, 98, 256]
        """
        return self._encode_one(doc, unknown, return_offsets, units, boundaries, allowed_special, disallowed_special)

    @overload
    def encode_batch(
        self,
        docs: Any,
        offsets: Any = ...,
        *,
        unknown: Any = ...,
        return_offsets: Literal[False] = ...,
        units: str | None = ...,
        boundaries: Any = ...,
        allowed_special: Any = ...,
        disallowed_special: Any = ...,
    ) -> Ragged: ...
    @overload
    def encode_batch(
        self,
        docs: Any,
        offsets: Any = ...,
        *,
        unknown: Any = ...,
        return_offsets: Literal[True],
        units: str | None = ...,
        boundaries: Any = ...,
        allowed_special: Any = ...,
        disallowed_special: Any = ...,
    ) -> tuple[Ragged, Ragged]: ...
    @overload
    def encode_batch(
        self,
        docs: Any,
        offsets: Any = ...,
        *,
        unknown: Any = ...,
        return_offsets: Literal["spans"],
        units: str | None = ...,
        boundaries: Any = ...,
        allowed_special: Any = ...,
        disallowed_special: Any = ...,
    ) -> tuple[Ragged, NDArray[np.int64]]: ...
    def encode_batch(
        self,
        docs: Any,
        offsets: Any = None,
        *,
        unknown: Any = None,
        return_offsets: bool | str = False,
        units: str | None = None,
        boundaries: Any = None,
        allowed_special: Any = "none",
        disallowed_special: Any = "all",
    ) -> _Batch:
        """Encode documents on `n_threads` threads; the result does not depend on how many.

        Parameters
        ----------
        docs, offsets
            Documents, given as to `fit`.
        boundaries
            As for `fit`: positions for each document.
        unknown, return_offsets, units, allowed_special, disallowed_special
            As for `encode`.

        Returns
        -------
        ids
            A `Ragged` of int32; with ``return_offsets=True`` a pair of `Ragged`, the ids and the position of each token in its
            document; with ``"spans"`` the ids and int64[n, 2], a row for each of ``ids.values``.

        Raises
        ------
        NotFittedError, UnknownSymbolError, SpecialTokenError, TypeError
            As `encode`, naming the document too.
        ValueError
            As `encode`; with ``return_offsets=True`` also if a document is so long that a position does not fit int32.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.from_merges([[0, 1]], alphabet="ab")
        >>> ids = tok.encode_batch(["ab", "", "bab"])
        >>> ids.to_lists(), ids.values.tolist(), ids.offsets.tolist()
        ([[2], [], [1, 2]], [2, 1, 2], [0, 1, 1, 3])
        >>> ids, starts = tok.encode_batch(["ab", "", "bab"], return_offsets=True)
        >>> starts.to_lists()
        [[0], [], [0, 1]]
        >>> tok.encode_batch(["ab", "bab"], return_offsets="spans")[1].tolist()
        [[0, 2], [0, 1], [1, 3]]

        Documents in one flat array, document i in ``values[offsets[i]:offsets[i + 1]]``:

        >>> beats = BPE.from_merges([[0, 1]], alphabet=[7, 8])
        >>> beats.encode_batch(np.array([7, 8, 8, 7, 8]), [0, 2, 5]).to_lists()
        [[2], [1, 2]]
        """
        choice = SpecialChoice(allowed_special, disallowed_special)
        return self._encode_many(docs, offsets, (unknown, return_offsets, choice, boundaries, units))

    def _short(self) -> ShortEncode | None:
        """What encodes one short document as `_encode_ids` and `_word_encoder` do, without options; None where there is none."""
        return None

    def _encode_one(
        self,
        doc: Any,
        unknown: Any,
        return_offsets: bool | str,
        units: str | None,
        boundaries: Any,
        allowed_special: Any,
        disallowed_special: Any,
        encode: Encode | None = None,
    ) -> _Ids:
        """One document through the coder, by `encode` instead of `_encode_ids` if given; a short one without options directly."""
        if (
            encode is None and unknown is None and return_offsets is False and units is None and boundaries is None
            and allowed_special is _NONE and disallowed_special is _ALL and thread_pool.is_valid(self.n_threads)
            and (short := self._short()) is not None and (ids := short(doc)) is not None
        ):  # fmt: skip
            return ids
        choice = SpecialChoice(allowed_special, disallowed_special)
        options = EncodeOptions(self._unknown(unknown), return_offsets, choice, boundaries, units)
        words = self._word_encoder if encode is None else None
        return requests.encode_one(self._coder, doc, encode or self._encode_ids, options, words, self.n_threads)

    def _encode_many(self, docs: Any, offsets: Any, options: tuple[Any, ...], encode: Encode | None = None) -> _Batch:
        """Documents through the coder, by `encode` instead of `_encode_ids` if given; `options` as of `EncodeOptions`."""
        checked = EncodeOptions(*options)._replace(unknown=self._unknown(options[0]))
        words = self._word_encoder if encode is None else None
        return requests.encode_many(self._coder, docs, offsets, encode or self._encode_ids, checked, words, self.n_threads)

    def __call__(
        self,
        docs: Any,
        *,
        max_length: int | None = None,
        truncation: bool | str = False,
        padding: bool | str = False,
        pad_id: Any = None,
        pad_to_multiple_of: int | None = None,
        side: str = "right",
        truncation_side: str = "right",
        template: Any = None,
        return_tensors: str | None = None,
        return_offsets: bool = False,
        return_attention_mask: bool = True,
        allowed_special: Any = "none",
        disallowed_special: Any = "all",
    ) -> ModelInputs:
        """Encode one document or many to what a model takes, by the names that Hugging Face's tokenizers use.

        Parameters
        ----------
        docs
            One document, a `str`, bytes or a 1-D array, or documents as for `encode_batch`.
        max_length
            The length for `truncation`, and for ``padding="max_length"``, ids of the template included.
        truncation
            True (or ``"longest_first"``): documents with more ids than `max_length` are cut.
        padding
            True or ``"longest"``: all get the length of the longest document; ``"max_length"``: that length.
        pad_id
            The id that fills them up: an id or a special token. None: the special token that is called ``"[PAD]"``, ``"<pad>"``
            or ``"<|pad|>"``.
        pad_to_multiple_of
            With `padding`, the length is rounded up to a multiple of this.
        side, truncation_side
            ``"right"`` or ``"left"``: where padding stands, and where documents are cut.
        template
            What is put around each document: special tokens and ``$A`` for the document, such as ``"[CLS] $A [SEP]"``, or a list
            of them and of ids. `encode` never puts anything.
        return_tensors
            ``"np"`` or ``"pt"``: int64 matrices of NumPy or PyTorch, with a row for each document also if it is one.
        return_offsets
            Add `offset_mapping`: for each id where its token begins and ends, in characters of text, else in symbols; 0 and 0
            for the template and for padding.
        return_attention_mask
            Add `attention_mask`: 1 for ids, 0 for padding.
        allowed_special, disallowed_special
            As for `encode`.

        Returns
        -------
        inputs
            A `ModelInputs`, a dict of `input_ids` and what was asked for. Of one document they are arrays of one dimension, of
            documents that are padded int32 matrices, otherwise `Ragged` (`offset_mapping` a list of arrays).

        Raises
        ------
        NotFittedError, UnknownSymbolError, SpecialTokenError
            As `encode_batch`.
        TypeError, ValueError
            For documents or an argument that is not valid, naming it; where documents of several lengths are to be a tensor.
        ImportError
            By ``return_tensors="pt"`` without PyTorch.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.from_merges([[0, 1]], alphabet="ab", special_tokens=["[CLS]", "[PAD]"])
        >>> inputs = tok(["abab", "b"], template="[CLS] $A", padding=True, return_tensors="np")
        >>> inputs["input_ids"].tolist(), inputs.attention_mask.tolist()
        ([[3, 2, 2], [3, 1, 4]], [[1, 1, 1], [1, 1, 0]])
        >>> tok("abab")["input_ids"].tolist()
        [2, 2]
        """
        from ubpe_numba.coding import model_inputs  # here only: encoding need not wait for it

        model = self._fitted()
        shape = model_inputs.Shape.of(
            model.segmenter.special, max_length=max_length, truncation=truncation, padding=padding, pad_id=pad_id,
            pad_to_multiple_of=pad_to_multiple_of, side=side, truncation_side=truncation_side, template=template,
            return_tensors=return_tensors, return_attention_mask=return_attention_mask,
        )  # fmt: skip
        single = model_inputs.is_one(docs)
        is_text = model.alphabet.kind == "str" or model.segmenter.encoding is not None
        found: Any = self._encode_many(
            docs, None,
            (None, "spans" if return_offsets else False, SpecialChoice(allowed_special, disallowed_special), None,
             "characters" if return_offsets and is_text else None),
        )  # fmt: skip
        ids, spans = found if return_offsets else (found, None)
        return shape.inputs(ids, spans, single)

    def transform(self, docs: Any) -> Ragged:
        """`encode_batch`, by the name that scikit-learn uses.

        Parameters
        ----------
        docs
            Documents, given as to `fit`.

        Returns
        -------
        ids
            A `Ragged` of int32.

        Raises
        ------
        NotFittedError, UnknownSymbolError, SpecialTokenError, TypeError
            As `encode_batch`.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> BPE.from_merges([[0, 1]], alphabet="ab").transform(["ab", "", "bab"]).to_lists()
        [[2], [], [1, 2]]
        """
        return self.encode_batch(docs)

    # ---------------------------------------------------------------------------------------------- where tokens stand

    def spans(self, docs: Any, offsets: Any = None, **options: Any) -> Spans:
        """Encode documents, and say of every token where it stands: flat arrays, a row a token.

        Parameters
        ----------
        docs, offsets
            As for `encode_batch`.
        **options
            Further arguments of `encode_batch`, but for `return_offsets`.

        Returns
        -------
        spans
            A `Spans`: `ids`, `starts` and `lengths` in symbols, and `documents`. A token covers the symbols that it stands for;
            where text is changed or symbols are skipped, all up to the next token or the end of the document.

        Raises
        ------
        NotFittedError, UnknownSymbolError, SpecialTokenError, TypeError, ValueError
            As `encode_batch`.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> spans = BPE.from_merges([[0, 1]], alphabet="ab").spans(["aab", "", "b"])
        >>> spans.ids.tolist(), spans.starts.tolist(), spans.lengths.tolist(), spans.documents.tolist()
        ([0, 2, 1], [0, 1, 0], [1, 2, 1], [0, 0, 2])
        """
        from ubpe_numba.tokenizers import places  # here only: encoding need not wait for it

        return places.spans(self, docs, offsets, options)

    def find(self, token: int, ids: Any, offsets: Any = None) -> Occurrences:
        """Where one token occurs in encoded documents.

        Parameters
        ----------
        token
            An id.
        ids, offsets
            Encoded documents, given as to `decode_batch`; a 1-D array is one document.

        Returns
        -------
        occurrences
            An `Occurrences`: `documents`, `places` among the ids, and `starts` in symbols of the decoded document, in order.

        Raises
        ------
        NotFittedError
            Without a vocabulary.
        IndexError
            If `token` is not in 0..V - 1. An id in between that stands for no token occurs nowhere.
        UnknownTokenError, TypeError
            As `decode_batch`, for `ids`.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.from_merges([[0, 1]], alphabet="ab")
        >>> tok.find(2, tok.encode_batch(["aab", "abab"])).starts.tolist()
        [1, 0, 2]
        """
        from ubpe_numba.coding.occurrences import find  # here only, as in `spans`

        return find(token, self._known(ids, offsets), self._coder.decoder.lengths)

    def index(self, ids: Any, offsets: Any = None) -> TokenIndex:
        """All occurrences of all tokens in encoded documents, to be looked up at once.

        Parameters
        ----------
        ids, offsets
            Encoded documents, given as to `decode_batch`; a 1-D array is one document.

        Returns
        -------
        index
            A `TokenIndex`: ``index[token]`` is what `find` returns; `index.counts` and `index.document_frequencies`.

        Raises
        ------
        NotFittedError
            Without a vocabulary.
        UnknownTokenError, TypeError
            As `decode_batch`.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.from_merges([[0, 1]], alphabet="ab")
        >>> index = tok.index(tok.encode_batch(["aab", "abab"]))
        >>> index.counts.tolist(), index[2].documents.tolist()
        ([1, 0, 3], [0, 1, 1])
        """
        from ubpe_numba.coding.occurrences import TokenIndex  # here only, as in `spans`

        return TokenIndex(self._known(ids, offsets), self._coder.decoder.lengths, self.n_threads)

    def usage(
        self, docs: Any = None, offsets: Any = None, *, ids: Any = None, sample_weight: Any = None, **options: Any
    ) -> Usage:
        """How often this tokenizer uses each of its ids on documents, and which it never uses.

        Parameters
        ----------
        docs, offsets, sample_weight
            As for `fit`.
        ids
            Documents that are encoded already, given as to `decode_batch`, in the place of `docs`.
        **options
            Further arguments of `encode_batch`, but for `return_offsets`.

        Returns
        -------
        usage
            Arrays of all ids, those of special tokens included: `counts` and `document_frequencies`; and `unused`, the ids of
            tokens that occur nowhere.

        Raises
        ------
        NotFittedError, UnknownSymbolError, SpecialTokenError, TypeError, ValueError
            As `encode_batch` and `fit`; TypeError unless one of `docs` and `ids` is given.
        UnknownTokenError
            As `decode_batch`, for `ids`.

        Notes
        -----
        A token may be in the vocabulary, and in the corpus, and yet never be in an encoding: it was only a step to longer ones,
        or another path is always better. Models learn nothing about such a token ("glitch token"). Of 4096 tokens learned on
        600,000 bytes, by lines, by rank 105 are never used on these lines themselves (King James Bible; 255 on a Chinese text),
        by ``"shortest"`` 115 (310), by ``"tfidf"`` 2459 (1496).

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.from_merges([[0, 1], [2, 2]], alphabet="ab")
        >>> found = tok.usage(["abab", "b"])
        >>> found.counts.tolist(), found.document_frequencies.tolist(), found.unused.tolist()
        ([0, 1, 0, 1], [0, 1, 0, 1], [0, 2])
        >>> tok.usage(ids=[[3], [1]]).counts.tolist()
        [0, 1, 0, 1]
        """
        from ubpe_numba.tokenizers import places  # here only, as in `spans`

        return places.usage(self, docs, offsets, ids, sample_weight, options)

    def lower_bound(
        self,
        docs: Any,
        n_tokens: int | None = None,
        *,
        offsets: Any = None,
        sample_weight: Any = None,
        boundaries: Any = None,
        max_token_length: int | None = None,
        min_count: int = 1,
        seconds: float | None = 30,
        memory_limit: int | None = None,
        progress: bool | str = "auto",
    ) -> LowerBound:
        """How few tokens any vocabulary of a size needs for documents: a number that no training can beat on them.

        Parameters
        ----------
        docs, offsets, sample_weight, boundaries, progress
            As for `fit`: text is changed and cut as this tokenizer does it.
        n_tokens
            The size of the vocabularies, alphabet included; None for that of this one.
        max_token_length
            How many symbols their tokens have at most; None for any number, or for as many as there is memory for.
        min_count
            How often each of their learned tokens occurs in the documents at least, by weight; occurrences that overlap count.
        seconds
            When the search ends; None: when it hardly gains, which may take minutes for millions of symbols.
        memory_limit
            Bytes that it may use beside the documents: 200 a symbol of distinct segments, and 72 for each place of a token. None:
            2 GB if `max_token_length` is None, otherwise as many as it needs.

        Returns
        -------
        found
            A `LowerBound`: `tokens`, the bound; `own`, how many this tokenizer needs; `gap`, how far that is above; and for which
            lengths the bound holds.

        Raises
        ------
        NotFittedError
            Without a vocabulary.
        UnknownSymbolError, TypeError, ValueError
            As `fit`, naming the argument; ValueError also for fewer tokens than symbols.
        MemoryError
            If tokens of `max_token_length` symbols do not keep to `memory_limit`, with what they need.

        Notes
        -----
        What is claimed: take any vocabulary of this alphabet and of `n_tokens` tokens, of which those that are learned have at
        most `max_token_length` symbols and occur at least `min_count` times within segments of these documents (or are not
        used). Whatever encoder cuts the documents into its tokens, they are at least `tokens`. A proof by prices of symbols
        stands in ``fitting/kernels/symbol_prices.py``; the number is computed in integers, so no rounding makes it wrong. It is
        about these documents: of others a vocabulary may need fewer for as many symbols. Documents are cut into segments as in a
        fit, which special tokens do not belong to, and no token crosses the end of a segment.

        The search ends near the optimum of a linear programme in which tokens may belong to a vocabulary in part. For text that
        is cut into words that is close to what can be reached. For whole texts and for signals it is not: a gap there may say
        more about the bound than about the tokenizer. Of whole documents, whose learned tokens may be as long as documents are,
        give `max_token_length`, or `min_count`.

        With `seconds` None the bound is the same for any number of threads and on any machine.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> docs = ["low lower lowest", "new newer newest", "the lowest wing, the newest wing"]
        >>> found = BPE.for_text(258, pretokenizer="gpt2").fit(docs).lower_bound(docs, seconds=None)
        >>> found.tokens, found.own, round(found.gap, 2), found.converged
        (40, 54, 0.35, True)
        """
        from ubpe_numba.tokenizers import bounds  # here only: other methods need not wait for it

        given = docs, n_tokens, offsets, sample_weight, boundaries, max_token_length, min_count, seconds, memory_limit
        return bounds.lower_bound(self, *given, progress)

    def explore(
        self,
        docs: Any,
        offsets: Any = None,
        path: str | os.PathLike[str] | None = None,
        *,
        title: str | None = None,
        kind: str = "auto",
        unit: str | None = None,
        rate: float | None = None,
        letters: Any = None,
        pitches: Any = None,
        segmentations: str | Sequence[str] = "auto",
        max_symbols: int = 2_000_000,
        unknown: Any = None,
        allowed_special: Any = "all",
        disallowed_special: Any = "none",
        progress: bool | str = "auto",
    ) -> Report | None:
        """Make a report of the tokens and of where documents hold them: one HTML file for a browser, without a network.

        It has the documents with their tokens in colours, a table of all tokens to search and to sort, of a chosen token its
        occurrences in their contexts, its merges and its figures, and the same documents cut in other ways.

        Parameters
        ----------
        docs, offsets
            Documents, given as to `fit`.
        path
            The file to write, whole or not at all. None: the report is returned, and a notebook shows it.
        title
            By default what the tokenizer is.
        kind
            What the documents are shown as: ``"signal"``, ``"text"``, ``"dna"``, ``"notes"`` (symbols are pitches), or
            ``"auto"``: integers and bytes that are no text are a signal, text of nucleotides only is DNA.
        unit
            What one symbol is called: by default ``"sample"``, ``"character"`` or ``"byte"``, ``"base"``, ``"note"``.
        rate
            How many symbols a second has: axes are in seconds then.
        letters
            For text and DNA of integers, a `str`, sequence or mapping: the text of each symbol (of DNA by default ``"ACGTN"``).
        pitches
            For notes, a sequence or mapping: the pitch of each symbol as MIDI numbers it, None for a rest.
        segmentations
            The objectives by which the documents are cut, as `with_objective` takes them. ``"auto"``: its own first, then the
            others that the vocabulary allows.
        max_symbols
            How many symbols are drawn: of more, whole documents at even distances. Everything is counted.
        unknown, allowed_special, disallowed_special
            As for `encode`, but special tokens are allowed: the report only looks at the documents.
        progress
            As for `fit`.

        Returns
        -------
        report
            A `Report` with `html`, `save(path)` and a frame in notebooks; None if it was written to `path`.

        Raises
        ------
        NotFittedError, UnknownSymbolError, SpecialTokenError
            As `encode_batch`.
        TypeError, ValueError
            For documents or an argument that is not valid, naming it.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> docs = [[0, 1, 2, 0, 1], [0, 1]]
        >>> BPE(4).fit(docs).explore(docs, title="Three symbols", progress=False).title
        'Three symbols'
        """
        from ubpe_numba.views.explorer.report import explore  # here only: encoding need not wait for it

        return explore(
            self, docs, offsets, path, title=title, kind=kind, unit=unit, rate=rate, letters=letters, pitches=pitches,
            segmentations=segmentations, max_symbols=max_symbols, unknown=unknown, allowed_special=allowed_special,
            disallowed_special=disallowed_special, progress=progress,
        )  # fmt: skip

    def _known(self, ids: Any, offsets: Any) -> Ragged:
        """Encoded documents of the user, every id of which stands for a token; raises as `decode_batch`."""
        return self._checked(as_documents(ids, offsets, name="ids"))

    def _checked(self, documents: Documents) -> Ragged:
        """Ids given by the user as int32; UnknownTokenError unless each stands for a token."""
        checked = self._ids(documents)
        self._coder.decoder.check(checked.values, checked.offsets, int(checked.offsets[0]))
        return checked

    # ---------------------------------------------------------------------------------------------- decoding

    @overload
    def decode(
        self, ids: Any, *, errors: str = ..., skip_special_tokens: bool = ..., skip: Any = ..., out: None = ...
    ) -> NDArray[Any] | str | bytes: ...
    @overload
    def decode(
        self, ids: Any, *, errors: str = ..., skip_special_tokens: bool = ..., skip: Any = ..., out: NDArray[Any]
    ) -> NDArray[Any]: ...
    def decode(
        self,
        ids: Any,
        *,
        errors: str = "replace",
        skip_special_tokens: bool = False,
        skip: Any = None,
        out: np.ndarray | None = None,
    ) -> NDArray[Any] | str | bytes:
        """Decode the ids of one document to what was fitted.

        Parameters
        ----------
        ids
            int32, or other integers.
        errors
            Where text is encoded as UTF-8 it is `str` again, and this says what becomes of bytes that are no UTF-8, as for
            `bytes.decode`: ``"surrogatepass"`` gives back every `str`, ``"surrogateescape"`` keeps all bytes, and `decode_bytes`
            leaves them as they are.
        skip_special_tokens
            Leave special tokens out; known words stay.
        skip
            An id or several that are left out, such as that of padding; they need not be in the vocabulary.
        out
            A buffer for the symbols, to be used again and again: a one-dimensional array of ``alphabet_.symbols.dtype`` (uint8
            for bytes, uint32 code points for `str`). The result is then the part of it that was needed, an array for every kind
            of document; what lies behind may be overwritten.

        Returns
        -------
        doc
            An integer array, `str` or `bytes`; with `out` a part of it.

        Raises
        ------
        UnknownTokenError
            For an id outside the vocabulary, naming its position.
        TypeError
            For ids that are no integers, or `out` of another dtype.
        ValueError
            If `out` is too small, saying how many symbols there are, cannot be written to or is not contiguous.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok, buffer = BPE.from_merges([[0, 1]], alphabet=[7, 8]), np.zeros(4, np.int32)
        >>> tok.decode([2, 0], out=buffer)
        array([7, 8, 7], dtype=int32)
        >>> tok.decode([2, 0, -1, -1], skip=-1)
        array([7, 8, 7], dtype=int32)
        """
        is_whole = skip is None and skip_special_tokens is False
        if out is None and is_whole and (short := self._short_decoder()) is not None and (doc := short(ids, errors)) is not None:
            return doc  # type: ignore[no-any-return]
        model = self._fitted()
        checked = self._left(as_document(ids, name="ids"), skip, skip_special_tokens)
        if out is not None:
            return self._coder.decoder.decode_into(checked, out, self.n_threads)[0]
        decoder = self._coder.decoder
        symbols = decoder.text(decoder.decode(checked, self.n_threads)[0])
        if model.segmenter.encoding is None:
            return model.segmenter.restored(model.alphabet.output(symbols), errors)  # type: ignore[no-any-return]
        return str(symbols.astype(np.uint8, copy=False).data, "utf-8", errors)  # without `bytes` in between: a copy less

    def decode_bytes(self, ids: Any, *, skip_special_tokens: bool = False, skip: Any = None) -> bytes:
        r"""Decode the ids of one document to `bytes`.

        Parameters
        ----------
        ids, skip_special_tokens, skip
            As for `decode`.

        Returns
        -------
        bytes
            What the tokens stand for, well-formed UTF-8 or not.

        Raises
        ------
        NotFittedError
            Without a vocabulary.
        TypeError
            If the alphabet is not one of bytes.
        UnknownTokenError
            As `decode`.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.for_text(256).fit(["low"])
        >>> tok.decode_bytes([108, 255]), tok.decode([108, 255])
        (b'l\xff', 'l\ufffd')
        """
        kind = self._fitted().alphabet.kind
        if kind != "bytes":
            raise TypeError(f"decode_bytes: the alphabet is one of {kind}")
        is_whole = skip is None and skip_special_tokens is False
        if is_whole and (short := self._short_decoder()) is not None and (doc := short(ids, None, to_bytes=True)) is not None:
            return doc  # type: ignore[no-any-return]
        checked, decoder = self._left(as_document(ids, name="ids"), skip, skip_special_tokens), self._coder.decoder
        return decoder.text(decoder.decode(checked, self.n_threads)[0]).tobytes()

    def decode_batch(
        self,
        batch: Any,
        offsets: Any = None,
        *,
        errors: str = "replace",
        skip_special_tokens: bool = False,
        skip: Any = None,
        out: np.ndarray | None = None,
    ) -> Ragged | list[Any]:
        """Decode documents of ids.

        Parameters
        ----------
        batch, offsets
            Documents of integers, given as to `fit`; the rows of a matrix too, which may be padded: see `skip`.
        errors, skip_special_tokens, skip, out
            As for `decode`; the result shares `out`.

        Returns
        -------
        docs
            A `Ragged` for integers (a list of int64 arrays where int32 is too small), else a list of `str` or `bytes`; with `out`
            a `Ragged` or a list of arrays.

        Raises
        ------
        UnknownTokenError, TypeError, ValueError
            As `decode`, naming the document too.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> BPE.from_merges([[0, 1]], alphabet="ab").decode_batch([[2], [1, 2]])
        ['ab', 'bab']
        >>> BPE.from_merges([[0, 1]], alphabet="ab").decode_batch(np.array([[2, -1], [1, 2]]), skip=-1)
        ['ab', 'bab']
        """
        model = self._fitted()
        checked = self._left(as_documents(batch, offsets, name="batch"), skip, skip_special_tokens)
        if out is not None:
            symbols, ends = self._coder.decoder.decode_into(checked, out, self.n_threads)
        else:
            symbols, ends = self._coder.decoder.decode(checked, self.n_threads)
        if symbols.dtype == np.int32:
            return Ragged._trusted(symbols, ends)
        places = list(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True))
        if out is not None:
            return [symbols[a:b] for a, b in places]
        if (decoding := model.segmenter.decoding) is not None and decoding.n:
            places = [(a + decoding.n_stripped(symbols[a:b]), b) for a, b in places]
        if model.segmenter.encoding is None and model.alphabet.kind == "str":
            whole = text_of(symbols)  # slices of it cost a third of as many texts of arrays
            return [model.segmenter.restored(whole[a:b], errors) for a, b in places]
        if model.segmenter.encoding is None:
            return [model.alphabet.output(symbols[a:b]) for a, b in places]
        view = symbols.astype(np.uint8, copy=False).data  # slices of it cost a third of those of an array
        return [str(view[a:b], "utf-8", errors) for a, b in places]

    def _left(self, documents: Documents, skip: Any, skip_special_tokens: bool) -> Ragged:
        """Ids given by the user without those that a call leaves out."""
        return self._without(ids_to_skip(skip, skip_special_tokens, self._fitted().segmenter.special), documents)

    def _without(self, gone: np.ndarray | None, documents: Documents) -> Ragged:
        return self._ids(documents) if gone is None else read_left(documents, gone, self._checked)

    def _short_decoder(self) -> ShortDecoder | None:
        """What decodes one short document; None where there is none."""
        return self._coder.short_decoder() if thread_pool.is_valid(self.n_threads) else None

    def inverse_transform(self, batch: Any) -> Ragged | list[Any]:
        """`decode_batch`, by the name that scikit-learn uses.

        Parameters
        ----------
        batch
            Documents of ids.

        Returns
        -------
        docs
            As by `decode_batch`.

        Raises
        ------
        NotFittedError, UnknownTokenError, TypeError
            As `decode_batch`.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> BPE.from_merges([[0, 1]], alphabet="ab").inverse_transform([[2], [1, 2]])
        ['ab', 'bab']
        """
        return self.decode_batch(batch)

    def _ids(self, documents: Documents) -> Ragged:
        """Ids given by the user as int32; an id that does not even fit is unknown like any other."""
        values, offsets, kind = documents
        if kind == "str":
            raise TypeError("ids: expected integers, got str")
        if values.dtype == np.int32:
            return Ragged._trusted(values, offsets)
        size = self._coder.decoder.sizes.size
        bad = np.flatnonzero((values < 0) | (values >= size))
        bad = bad[(bad >= offsets[0]) & (bad < offsets[-1])]
        if bad.size:
            document = int(np.searchsorted(offsets, bad[0], side="right")) - 1
            raise UnknownTokenError(document, int(bad[0] - offsets[document]), int(values[bad[0]]), size)
        return Ragged._trusted(values.astype(np.int32), offsets)

    # ---------------------------------------------------------------------------------------------- streams

    def encode_iter(self, docs: Iterable[Any], *, batch: int = streams.BATCH, **options: Any) -> Iterator[NDArray[np.int32]]:
        """Encode the documents of an iterable one after the other, int32 ids each, in bounded memory.

        Documents are read until they have `batch` symbols together, encoded on all threads, and given out in order; what was
        read is forgotten then. The result does not depend on `batch`.

        Parameters
        ----------
        docs
            An iterable of documents.
        batch
            Symbols that are encoded at a time.
        **options
            `unknown`, `allowed_special` and `disallowed_special`, as for `encode`.

        Returns
        -------
        iterator
            Of int32 arrays, one for each document.

        Raises
        ------
        TypeError
            For a single document.
        UnknownSymbolError
            With the number of the document in the whole iterable, once the documents before its batch were given out.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.from_merges([[0, 1]], alphabet="ab")
        >>> [ids.tolist() for ids in tok.encode_iter(iter(["ab", "", "bab"]))]
        [[2], [], [1, 2]]
        """
        self._fitted()
        return streams.encode_iter(streams.Groups(docs, batch, "docs"), self.encode_batch, streams.check_options(options))

    def decode_iter(
        self,
        batches: Iterable[Any],
        *,
        batch: int = streams.BATCH,
        errors: str = "replace",
        skip_special_tokens: bool = False,
        skip: Any = None,
    ) -> Iterator[Any]:
        """Decode the documents of an iterable one after the other, as `decode` does, in bounded memory.

        Parameters
        ----------
        batches
            An iterable of documents of ids.
        batch
            Ids that are decoded at a time, on all threads.
        errors, skip_special_tokens, skip
            As for `decode`.

        Returns
        -------
        iterator
            Of documents as `decode` gives them.

        Raises
        ------
        UnknownTokenError
            With the number of the document in the whole iterable.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> list(BPE.from_merges([[0, 1]], alphabet="ab").decode_iter(iter([[2], [], [1, 2]])))
        ['ab', '', 'bab']
        """
        self._fitted()
        options = {"errors": errors, "skip_special_tokens": skip_special_tokens, "skip": skip}
        return streams.decode_iter(streams.Groups(batches, batch, "batches"), self.decode_batch, options)

    def encode_to(self, out: np.ndarray, docs: Iterable[Any], *, batch: int = streams.BATCH, **options: Any) -> NDArray[np.int64]:
        """Encode the documents of an iterable into an array, such as a memory map.

        Parameters
        ----------
        out
            A one-dimensional, writable int32 array of native byte order. Document i becomes ``out[offsets[i]:offsets[i + 1]]``;
            behind the last document `out` is left as it is.
        docs, batch, **options
            As for `encode_iter`.

        Returns
        -------
        offsets
            int64[d + 1] of the documents.

        Raises
        ------
        ValueError
            If `out` is too small, naming the document and the position of its first id without a place, and how many whole
            documents stand before it in `out`; nothing of the one that does not fit is written.
        TypeError
            For another `out`.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> out = np.zeros(4, np.int32)
        >>> BPE.from_merges([[0, 1]], alphabet="ab").encode_to(out, ["ab", "", "bab"]), out
        (array([0, 1, 1, 3]), array([2, 1, 2, 0], dtype=int32))
        """
        self._fitted()
        streams.check_buffer(out)
        return streams.encode_to(out, streams.Groups(docs, batch, "docs"), self.encode_batch, streams.check_options(options))

    def encode_stream(
        self, chunks: Iterable[Any], *, frame: int | None = None, unknown: Any = None
    ) -> Iterator[NDArray[np.int32]]:
        """Encode one text without end that comes in chunks, and give out int32 ids as soon as they are certain.

        `stream` does the same where chunks are pushed.

        Parameters
        ----------
        chunks
            An iterable of parts of the text, each as a document is given to `encode`.
        frame
            None: what comes out is, put together, exactly the encoding of all chunks put together. Otherwise the text is cut
            after every `frame` symbols, wherever chunks end, and each frame is encoded as a document of its own.
        unknown
            As for `encode`.

        Returns
        -------
        iterator
            Of int32 arrays; where chunks end has no influence on the ids.

        Raises
        ------
        ValueError
            Without `frame` where the beginning of an encoding never becomes final; where documents are changed or cut, or have
            special tokens.
        UnknownSymbolError
            With the number of the chunk as its document.

        Notes
        -----
        Without `frame` there has to be a rule by which the beginning of an encoding becomes final. With merges in order of
        creation and encoding by rank, ids are final up to the last boundary that the encodings of all prefixes that end within
        one token's length of the end have in common (proof in ``coding/kernels/final_prefix.py``); usually that keeps back a few
        tokens. No other encoder has such a rule: `UBPE` searches from the end, and by the articles' batch rule a merge depends on
        what else a pass finds anywhere.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.from_merges([[0, 1], [2, 2]], alphabet="ab")
        >>> np.concatenate(list(tok.encode_stream(["aba", "bab", "a"]))).tolist(), tok.encode("abababa").tolist()
        ([3, 2, 0], [3, 2, 0])
        """
        stream = self.stream(frame=frame, unknown=unknown)
        streams.refuse_one(chunks, "chunks")
        return streams.through(stream, chunks)

    def stream(self, *, frame: int | None = None, unknown: Any = None) -> EncoderStream:
        """Encode one text without end whose chunks are pushed as they come: `encode_stream` for callbacks and loops.

        Parameters
        ----------
        frame, unknown
            As for `encode_stream`.

        Returns
        -------
        stream
            An `EncoderStream`: ``push(chunk)`` and ``finish()`` return the ids that have become certain.

        Raises
        ------
        NotFittedError, TypeError, ValueError
            As `encode_stream`.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.from_merges([[0, 1]], alphabet=3)
        >>> stream = tok.stream()
        >>> stream.push([0, 1, 2, 0]).tolist(), stream.push([1]).tolist(), stream.finish().tolist()
        ([3, 2], [], [3])
        """
        kept = self._kept()
        final = kept._final_encoder() if frame is None else None
        return stream_of(kept._coder, kept._encode_ids, final, frame, kept._unknown(unknown))

    def decode_stream(self, *, errors: str = "replace", skip_special_tokens: bool = False, skip: Any = None) -> DecoderStream:
        """Decode the ids of one document bit by bit, as a model draws them; of UTF-8 only whole characters come out.

        Parameters
        ----------
        errors, skip_special_tokens, skip
            As for `decode`.

        Returns
        -------
        stream
            A `DecoderStream`: ``push(ids)`` and ``finish()`` return what has become certain.

        Raises
        ------
        NotFittedError
            Without a vocabulary.
        ValueError
            Where a text is changed back as a whole, as for some tokenizers from elsewhere.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.for_text(256, special_tokens=["<end>"]).fit(["lé lé"])
        >>> stream = tok.decode_stream(skip_special_tokens=True)
        >>> [stream.push(i) for i in tok.encode("lé<end>", allowed_special="all")]
        ['l', '', 'é', '']
        """
        from ubpe_numba.coding.decoder_stream import DecoderStream  # here only, as in `spans`

        kept = self._kept()
        segmenter = kept._fitted().segmenter
        if segmenter.restores or (segmenter.decoding is not None and segmenter.decoding.n):
            raise ValueError("decode_stream: a text of this tokenizer is changed back as a whole: use decode")
        gone = ids_to_skip(skip, skip_special_tokens, segmenter.special)
        return DecoderStream(kept._fitted(), kept._coder.decoder, functools.partial(kept._without, gone), errors)

    def _kept(self) -> Self:
        """The tokenizer as it is now, for what goes on after its next `fit` or `set_params`; it shares model and tables."""
        kept = copy.copy(self)
        kept._made_coder = self._coder
        return kept

    def _final_encoder(self) -> PairEncoder | None:
        """The encoder, if it makes the beginning of a text final before its end is known."""
        return None

    # ---------------------------------------------------------------------------------------------- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file: readable for ``.json``, flat arrays for ``.npz``. Atomic: the old file or the new one.

        Parameters
        ----------
        path
            Where; the suffix decides the format.

        Raises
        ------
        NotFittedError
            Without a vocabulary.
        ValueError
            For another suffix.
        OSError
            From the disk; the old file is then still there.

        Examples
        --------
        >>> import os, tempfile
        >>> from ubpe_numba import BPE
        >>> path = os.path.join(tempfile.mkdtemp(), "model.json")
        >>> tok = BPE.from_merges([[0, 1]], alphabet="ab")
        >>> tok.save(path)
        >>> BPE.load(path) == tok
        True
        >>> tok.save(path.replace(".json", ".npz"))  # of arrays, for large vocabularies
        >>> sorted(os.listdir(os.path.dirname(path)))
        ['model.json', 'model.npz']
        """
        model_files.save(self, path)

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
            How many symbols the alphabet may have, and the tokens stand for in all. A few hundred bytes can claim gigabytes, so
            it is 2**22 and 64 more for each byte of the file unless given here; `save` warns if a model needs more.

        Returns
        -------
        Self
            The tokenizer that was saved, with its `history_`, but for `n_threads`.

        Raises
        ------
        ModelFormatError
            For a file that is not a model, saying what is wrong, or one of another class, naming it.
        OSError
            If it cannot be read.

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
        return cls._loaded(os.fspath(path), *model_file.load(path), n_threads, max_symbols)

    @classmethod
    def _loaded(
        cls, where: str, state: dict[str, Any], n_bytes: int, n_threads: int | None, max_symbols: int | None = None
    ) -> Self:
        """A tokenizer from what a file of so many bytes holds."""
        return model_files.loaded(cls, where, state, n_bytes, n_threads, max_symbols)

    def _unk_token(self, given: Any, symbols: bool = True) -> Any:
        """The argument `unk_token` of an export, by default the special token or, with `symbols`, the symbol of `unknown`."""
        model, unknown = self._fitted(), self._unknown(None)
        if given is not None or unknown in ("raise", "skip"):
            return given
        if isinstance(unknown, Stand):
            assert model.segmenter.special is not None
            return unknown.word if model.segmenter.special.found[unknown.number] else None
        if not symbols or not hides_symbols(unknown, model.alphabet):
            return None
        symbol = model.alphabet.symbols[unknown]
        return (
            (int(symbol),) if model.alphabet.kind == "int" else chr(symbol) if model.alphabet.kind == "str" else bytes([symbol])
        )

    @classmethod
    def _imported(cls, model: Model, params: dict[str, Any]) -> Self:
        """A tokenizer with a model of another library; errors are those of a file that is not valid."""
        return model_files.imported(cls, model, params)

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
        model_files.take(tokenizer, model)
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
        NotFittedError
            Without a vocabulary.
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
