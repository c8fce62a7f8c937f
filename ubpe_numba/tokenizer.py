"""What the three tokenizers share: fitting, encoding in batches, decoding, files, and the manners of scikit-learn."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import warnings
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal, TypeVar, overload

import numpy as np

from ubpe_numba import _threads
from ubpe_numba._progress import Progress
from ubpe_numba.alphabet import MAX_SIZE, Alphabet
from ubpe_numba.corpus import as_corpus
from ubpe_numba.decode import Decoder
from ubpe_numba.documents import Documents, as_document, as_documents
from ubpe_numba.errors import ModelFormatError, NotFittedError, UnknownTokenError
from ubpe_numba.fit import Settings
from ubpe_numba.history import History
from ubpe_numba.io import model as files
from ubpe_numba.io import published
from ubpe_numba.learn import learn, learn_more
from ubpe_numba.params import Parameters
from ubpe_numba.ragged import Ragged
from ubpe_numba.rules import FitRules
from ubpe_numba.spans import starts_of
from ubpe_numba.streams import Streams
from ubpe_numba.trim import keep_by_weight, renumber
from ubpe_numba.validate import check_fields
from ubpe_numba.vocabulary import Vocabulary

Self = TypeVar("Self", bound="Tokenizer")


class Tokenizer(Parameters, Streams, ABC):
    """Base of `BPE`, `UBPEClassic` and `UBPE`; not used by itself.

    The constructor only stores its arguments. `fit`, `load` and the other ways to a vocabulary set `alphabet_` and
    `vocabulary_`; from then on the object is only read, may be shared between threads, and pickles as arrays.
    """

    #: Whether the vocabulary has to know pairs.
    _pairs: ClassVar[bool] = True
    n_tokens: int | None
    alphabet: Any
    rules: FitRules | None
    max_token_length: int | None
    n_threads: int | None
    history_: History
    alphabet_: Alphabet
    vocabulary_: Vocabulary

    # ---------------------------------------------------------------------------------------------- fitting

    def fit(
        self: Self,
        docs: Any,
        y: None = None,
        *,
        offsets: Any = None,
        sample_weight: Any = None,
        boundaries: Any = None,
        progress: bool | str = "auto",
    ) -> Self:
        """Learn a vocabulary from documents; what was fitted before is replaced, but only when all went well.

        Parameters
        ----------
        docs
            A list or iterator of documents (integer arrays, lists of ints, str or bytes, all of one kind), a 2-D integer
            array (rows are documents), a flat array with `offsets`, a `Ragged`, an Arrow list array, or a single `str`,
            `bytes` or 1-D array, which is one document. Or `Counts`.
        y
            Ignored; scikit-learn passes it.
        offsets
            int64[d + 1], for a flat array: document i is ``docs[offsets[i]:offsets[i + 1]]``.
        sample_weight
            Integers of at least 0, one for each document: a document of weight w counts as w of them, in counts of pairs and in
            document frequencies. Of one of weight 0 only the symbols count, where the alphabet is learned.
        boundaries
            Positions that no token may cross, such as bars in music: for one document a 1-D sequence, otherwise one for each
            document. p stands between the symbols p - 1 and p.
        progress
            ``"auto"`` shows progress on a terminal (with tqdm where installed), True always, False never.

        Raises
        ------
        UnknownSymbolError
            For a symbol outside the given alphabet.
        TypeError, ValueError
            For documents that are not sequences of integers, or arguments out of range, naming them.

        `history_` then holds what each merge did (`History`). Ctrl-C stops a fit within a fraction of a second and leaves the
        tokenizer as it was.
        """
        settings = self._settings()
        bar = Progress(progress)
        corpus = as_corpus(docs, offsets, sample_weight, boundaries)
        given = corpus.given
        if self.alphabet is None:
            alphabet = Alphabet.learn(given)
        else:  # documents without any symbol are of any kind
            alphabet = Alphabet.from_user(self.alphabet, given.kind if given.offsets[-1] > given.offsets[0] else None)
        if settings.n_tokens < alphabet.size:
            raise ValueError(f"n_tokens: expected at least the alphabet's {alphabet.size} symbols, got {settings.n_tokens}")
        vocabulary, history = learn(corpus, alphabet, settings, bar)
        if settings.rules.order == "idf":
            vocabulary = self._rearranged(vocabulary, settings.n_tokens, settings.rules.trim)
        self._set(alphabet, vocabulary)
        self.history_ = history
        return self

    def fit_more(
        self: Self,
        docs: Any,
        n_tokens: int,
        *,
        offsets: Any = None,
        sample_weight: Any = None,
        boundaries: Any = None,
        progress: bool | str = "auto",
    ) -> Self:
        """Go on from the present vocabulary until it has `n_tokens` ids; ids that exist keep their meaning and their weight.

        On the corpus of the fit this gives what one longer fit would have given. On another one new merges are learned on that,
        encoded with the present vocabulary. Arguments and errors are those of `fit`; besides, NotFittedError without a
        vocabulary, ValueError if it does not know pairs, is not in order of creation, or has more than `n_tokens` ids already.
        `n_tokens` of the tokenizer becomes the new size. A tokenizer from a file goes on with a new round even if its last one
        was cut short.
        """
        self._check_fitted()
        if _positive(n_tokens, "n_tokens") < len(self.vocabulary_):
            raise ValueError(f"n_tokens: expected at least the present {len(self.vocabulary_)} ids, got {n_tokens}")
        if not self.vocabulary_.in_order_of_creation or (self.rules or FitRules()).order != "creation":
            raise ValueError("rules: only a vocabulary of pairs in order of creation can be continued")
        if n_tokens > MAX_SIZE:
            raise ValueError(f"n_tokens: expected at most {MAX_SIZE}, got {n_tokens}")
        settings = self._settings()._replace(n_tokens=int(n_tokens))
        bar = Progress(progress)
        corpus = as_corpus(docs, offsets, sample_weight, boundaries)
        history: History | None = getattr(self, "history_", None)
        vocabulary, history = learn_more(corpus, self.alphabet_, self.vocabulary_, history, settings, bar)
        self._set(self.alphabet_, vocabulary)
        self.n_tokens = n_tokens
        if history is not None:
            self.history_ = history
        return self

    def compression_curve(self) -> tuple[np.ndarray, np.ndarray]:
        """Sizes of the vocabulary (int64[m + 1]) and symbols per token of the corpus at each (float64[m + 1]), without a fit.

        From the alphabet alone, 1.0, to the last merge, in order of creation. NotFittedError if there is no record of a fit: for
        a tokenizer that was loaded, made from merges, or truncated.

        >>> from ubpe_numba import BPE
        >>> tok = BPE(n_tokens=3, alphabet=2).fit([[0, 1, 0, 1, 1]])
        >>> tok.compression_curve()
        (array([2, 3]), array([1.        , 1.66666667]))
        """
        self._check_fitted()
        if not hasattr(self, "history_"):
            raise NotFittedError(f"this {type(self).__name__} was not fitted here and has no history_ of its corpus")
        return self.history_.compression(self.vocabulary_.n_alphabet)

    def _settings(self) -> Settings:
        """The validated constructor arguments that decide a fit."""
        n_tokens = MAX_SIZE if self.n_tokens is None else _positive(self.n_tokens, "n_tokens")
        if n_tokens > MAX_SIZE:
            raise ValueError(f"n_tokens: expected at most {MAX_SIZE}, got {n_tokens}")
        rules = FitRules() if self.rules is None else self.rules
        if not isinstance(rules, FitRules):
            raise TypeError(f"rules: expected a FitRules or None, got {rules!r}")
        longest = 2**62 if self.max_token_length is None else _positive(self.max_token_length, "max_token_length")
        n_candidates = _positive(getattr(self, "n_candidates", 1), "n_candidates")
        return Settings(n_tokens, n_candidates, rules, _threads.resolve(self.n_threads), longest)

    def _rearranged(self, vocabulary: Vocabulary, n_tokens: int, trim: str) -> Vocabulary:
        """The vocabulary by idf, cut to `n_tokens`; ValueError if the rule leaves tokens built on removed ones."""
        n = vocabulary.n_alphabet
        merges = vocabulary.merges if self._pairs else None
        stay = keep_by_weight(vocabulary.weights[n:], merges, n, n_tokens, trim)
        if merges is None:
            return vocabulary.select(stay, None)
        pairs, dangling = renumber(merges, n, stay)
        if dangling:
            raise ValueError(
                f"rules: trim={trim!r} leaves {dangling} parts of pairs that point to removed tokens, as the original does; "
                "such a vocabulary cannot decode: use trim='closed', or order='creation'"
            )
        return vocabulary.select(stay, pairs)

    def _set(self, alphabet: Alphabet, vocabulary: Vocabulary) -> None:
        """Become fitted, or refitted. ValueError if the vocabulary does not have what encoding needs."""
        if self._pairs and vocabulary.merges is None:
            raise ValueError("vocabulary: it knows flat sequences only, encoding by substitution needs pairs")
        self.alphabet_, self.vocabulary_ = alphabet, vocabulary

    # The tables of encoding and decoding are made when first needed: two threads may both make them, the same.

    @property
    def _decoder(self) -> Decoder:
        made: Decoder | None = self.__dict__.get("_decoder_")
        if made is None or made.vocabulary is not self.vocabulary_:
            made = self._decoder_ = Decoder(self.vocabulary_, self.alphabet_)
        return made

    @abstractmethod
    def _encode_ids(self, documents: Ragged) -> Ragged:
        """Encode documents of alphabet ids."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The fitted `Vocabulary`. NotFittedError before there is one."""
        self._check_fitted()
        return self.vocabulary_

    @property
    def fingerprint(self) -> str:
        """A hash of all that decides encoding and decoding; equal for equal models on any machine and thread count."""
        self._check_fitted()
        state = self.alphabet_.state()
        h = hashlib.sha256(f"{type(self).__name__}{state['kind']}{state['size']}{self._encode_params()}".encode())
        if state["symbols"] is not None:
            h.update(state["symbols"].astype("<i8").tobytes())
        return hashlib.sha256((h.hexdigest() + self.vocabulary_.fingerprint).encode()).hexdigest()[:32]

    def _encode_params(self) -> dict[str, Any]:
        """The constructor arguments that change how it encodes."""
        return {"encode": (self.rules or FitRules()).encode}

    def _check_fitted(self) -> None:
        if not hasattr(self, "vocabulary_"):
            raise NotFittedError(f"this {type(self).__name__} has no vocabulary yet: call fit or load first")

    # ---------------------------------------------------------------------------------------------- encoding

    @overload
    def encode(self, doc: Any, *, unknown: str | int = ..., return_offsets: Literal[False] = ...) -> np.ndarray: ...
    @overload
    def encode(self, doc: Any, *, unknown: str | int = ..., return_offsets: Literal[True]) -> tuple[np.ndarray, np.ndarray]: ...
    def encode(self, doc: Any, *, unknown: str | int = "raise", return_offsets: bool = False) -> Any:
        """Encode one document (an integer array or list, `str` or `bytes`) to int32 ids.

        `unknown` says what becomes of symbols outside the alphabet: ``"raise"`` an UnknownSymbolError that names the position,
        ``"skip"`` them, or put the alphabet id given here. TypeError for a document of another kind than was fitted.

        With `return_offsets` a pair: the ids, and int64 of as many, the position in the document (in symbols: integers, bytes or
        code points) of the first symbol of each token. A token ends where the next one starts, or the document does; but for
        skipped symbols, which belong to no token, and may stand inside of one.
        """
        self._check_fitted()
        given = as_document(doc)
        ids = self.alphabet_.to_ids(given, unknown, name="doc")
        encoded = self._encode_ids(ids)
        return (encoded.values, self._starts(encoded, ids, given)) if return_offsets else encoded.values

    @overload
    def encode_batch(
        self, docs: Any, offsets: Any = ..., *, unknown: str | int = ..., return_offsets: Literal[False] = ...
    ) -> Ragged: ...
    @overload
    def encode_batch(
        self, docs: Any, offsets: Any = ..., *, unknown: str | int = ..., return_offsets: Literal[True]
    ) -> tuple[Ragged, Ragged]: ...
    def encode_batch(self, docs: Any, offsets: Any = None, *, unknown: str | int = "raise", return_offsets: bool = False) -> Any:
        """Encode documents, given as to `fit`, to a `Ragged`, on `n_threads` threads; the result does not depend on how many.

        With `return_offsets` a pair of `Ragged`: the ids, and the position of each token in its document, as for `encode`.
        ValueError if such a position does not fit int32.
        """
        self._check_fitted()
        given = as_documents(docs, offsets)
        ids = self.alphabet_.to_ids(given, unknown)
        encoded = self._encode_ids(ids)
        return (encoded, self._ragged_starts(encoded, ids, given)) if return_offsets else encoded

    def _starts(self, encoded: Ragged, ids: Ragged, given: Documents) -> np.ndarray:
        return starts_of(encoded, ids, given, self.alphabet_, np.diff(self.vocabulary_.offsets))

    def _ragged_starts(self, encoded: Ragged, ids: Ragged, given: Documents) -> Ragged:
        lengths = np.diff(given.offsets)
        if (long := np.flatnonzero(lengths > 2**31)).size:
            raise ValueError(
                f"return_offsets: document {long[0]} has {lengths[long[0]]} symbols, beyond int32; use encode for it"
            )
        return Ragged._trusted(self._starts(encoded, ids, given).astype(np.int32), encoded.offsets)

    def transform(self, docs: Any) -> Ragged:
        """`encode_batch`, by the name that scikit-learn uses."""
        return self.encode_batch(docs)

    def fit_transform(self, docs: Any, y: None = None) -> Ragged:
        """`fit`, then `encode_batch` of the same documents."""
        docs = list(docs) if hasattr(docs, "__next__") else docs
        return self.fit(docs).encode_batch(docs)

    # ---------------------------------------------------------------------------------------------- decoding

    def decode(self, ids: Any, *, out: np.ndarray | None = None) -> np.ndarray | str | bytes:
        """Decode the ids of one document to what was fitted: an integer array, `str` or `bytes`.

        UnknownTokenError for an id outside the vocabulary, naming its position.

        `out` is a buffer for the symbols, to be used again and again: a one-dimensional array of ``alphabet_.symbols.dtype``
        (uint8 for bytes, uint32 code points for `str`). The result is then the part of it that was needed, an array for every
        kind of document; what lies behind may be overwritten. ValueError, saying how many symbols there are, if it is too small,
        and if it cannot be written to or is not contiguous; TypeError for another dtype.

        >>> from ubpe_numba import BPE
        >>> tok, buffer = BPE.from_merges([[0, 1]], alphabet=[7, 8]), np.zeros(4, np.int32)
        >>> tok.decode([2, 0], out=buffer)
        array([7, 8, 7], dtype=int32)
        """
        self._check_fitted()
        checked = self._ids(as_document(ids, name="ids"))
        if out is not None:
            return self._decoder.decode_into(checked, out, self.n_threads)[0]
        symbols, _ = self._decoder.decode(checked, self.n_threads)
        return self.alphabet_.output(symbols)

    def decode_batch(self, batch: Any, offsets: Any = None, *, out: np.ndarray | None = None) -> Ragged | list[Any]:
        """Decode documents of ids: a `Ragged` for integers (a list of int64 arrays where int32 is too small), else a list.

        `out` as for `decode`: the result shares it, a `Ragged` or a list of arrays.
        """
        self._check_fitted()
        checked = self._ids(as_documents(batch, offsets, name="batch"))
        if out is not None:
            symbols, ends = self._decoder.decode_into(checked, out, self.n_threads)
        else:
            symbols, ends = self._decoder.decode(checked, self.n_threads)
        if symbols.dtype == np.int32:
            return Ragged(symbols, ends)
        if out is not None:
            return [symbols[a:b] for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]
        return [self.alphabet_.output(symbols[a:b]) for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]

    def inverse_transform(self, batch: Any) -> Ragged | list[Any]:
        """`decode_batch`, by the name that scikit-learn uses."""
        return self.decode_batch(batch)

    def _ids(self, documents: Any) -> Ragged:
        """Ids given by the user as int32; an id that does not even fit is unknown like any other."""
        values, offsets, kind = documents
        if kind == "str":
            raise TypeError("ids: expected integers, got str")
        if values.dtype == np.int32:
            return Ragged._trusted(values, offsets)
        size = len(self.vocabulary_)
        bad = np.flatnonzero((values < 0) | (values >= size))
        bad = bad[(bad >= offsets[0]) & (bad < offsets[-1])]
        if bad.size:
            document = int(np.searchsorted(offsets, bad[0], side="right")) - 1
            raise UnknownTokenError(document, int(bad[0] - offsets[document]), int(values[bad[0]]), size)
        return Ragged._trusted(values.astype(np.int32), offsets)

    # ---------------------------------------------------------------------------------------------- vocabularies and files

    def truncate(self: Self, n_tokens: int, by: str = "creation") -> Self:
        """A new tokenizer with the smaller vocabulary of `n_tokens` ids, alphabet included.

        ``by="creation"`` keeps the lowest ids, which is the tokenizer that a shorter fit would have given. ``by="idf"`` orders
        by idf and drops the lowest, and with it all that is built on it, as in the articles; it keeps the rarest tokens, so
        it usually encodes to more of them. ValueError if `n_tokens` is below the alphabet, or the lowest ids of a
        rearranged pair table are not closed.
        """
        self._check_fitted()
        vocabulary = self.vocabulary_
        n = vocabulary.n_alphabet
        if by not in ("creation", "idf"):
            raise ValueError(f"by: expected 'creation' or 'idf', got {by!r}")
        if _positive(n_tokens, "n_tokens") < n:
            raise ValueError(f"n_tokens: expected at least the alphabet's {n} symbols, got {n_tokens}")
        if by == "idf":
            shorter = self._rearranged(vocabulary, n_tokens, "closed")
        else:
            stay = np.arange(min(n_tokens - n, vocabulary.n_learned))
            merges = None if vocabulary.merges is None else vocabulary.merges[stay]
            if merges is not None and merges.size and merges.max() >= n + stay.size:
                raise ValueError("by: the ids of this vocabulary are not in order of creation; use by='idf'")
            shorter = vocabulary.select(stay, merges)
        other = type(self)(**self.get_params())
        other.n_tokens = n_tokens
        other._set(self.alphabet_, shorter)
        return other

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to `path`: readable for ``.json``, flat arrays for ``.npz``. Atomic: the old file or the new one.

        ValueError for another suffix, OSError from the disk; the old file is then still there.
        """
        self._check_fitted()
        settings = self._settings()
        params: dict[str, Any] = {k: v for k, v in self.get_params().items() if k not in ("alphabet", "n_threads")}
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
        n_bytes = files.save(path, model)
        if (most := max(self.alphabet_.size, self.vocabulary_.arena.size)) > files.claimable(n_bytes):
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
        and 64 more for each byte of the file; `max_symbols` replaces this limit. `save` warns if a model needs that.
        """
        make: Any = cls  # the constructors differ
        tokenizer: Self = make(n_threads=n_threads)
        tokenizer._settings()  # complains of n_threads, or of the environment
        model, n_bytes = files.load(path)
        where = os.fspath(path)
        if model["tokenizer"] != cls.__name__:
            raise ModelFormatError(f"{where}: a {model['tokenizer']}, not a {cls.__name__}: use {model['tokenizer']}.load")
        at_most = files.claimable(n_bytes) if max_symbols is None else _positive(max_symbols, "max_symbols")
        try:
            params, state = model["params"], model["alphabet"]
            check_fields(params, [name for name in tokenizer.get_params() if name not in ("alphabet", "n_threads")], "params")
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
            tokenizer._set(alphabet, Vocabulary.from_state(model["vocabulary"], alphabet.size, at_most))
        except (TypeError, ValueError) as error:
            raise ModelFormatError(f"{where}: {error}") from error
        return tokenizer

    @classmethod
    def from_published(cls: type[Self], text: str, kind: str | None = None) -> Self:
        """Read the dump (`dumps()`) of the package ubpe 0.2 or 0.3: of its UBPE here for `UBPE`, of UBPEClassic otherwise.

        `kind` says what the symbols are, ``"int"`` or ``"str"``; None takes them for integers if all of them look like one.
        """
        n_tokens, alphabet, vocabulary = published.read(text, kind, cls._pairs)
        make: Any = cls  # the constructors differ
        tokenizer: Self = make(n_tokens, rules=FitRules(encode="batch"))
        tokenizer._set(alphabet, vocabulary)
        return tokenizer

    def to_published(self) -> str:
        """The dump that ubpe 0.2 and 0.3 load (`loads`, with `token_type=str` for characters)."""
        self._check_fitted()
        return published.write(len(self.vocabulary_), self.alphabet_, self.vocabulary_, self._pairs)

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k not in ("_encoder_", "_decoder_")}

    def __repr__(self) -> str:
        size = f": {len(self.vocabulary_)} tokens" if hasattr(self, "vocabulary_") else ""
        return super().__repr__() + size


def _positive(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name}: expected an int, got {value!r}")
    if value < 1:
        raise ValueError(f"{name}: expected at least 1, got {value}")
    return int(value)


__all__ = ["Tokenizer"]
