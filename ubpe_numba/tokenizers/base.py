"""What the three tokenizers share: fitting, smaller vocabularies, and the manners of scikit-learn."""

from __future__ import annotations

import hashlib
import json
from typing import Any, TypeVar

import numpy as np

from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.errors import NotFittedError
from ubpe_numba.fitting.history import History
from ubpe_numba.fitting.learn import learn, learn_more
from ubpe_numba.fitting.loop import Settings
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.arrays import positive
from ubpe_numba.runtime.progress import Progress
from ubpe_numba.tokenizers.coding import Coder
from ubpe_numba.vocabulary.alphabet import MAX_SIZE, Alphabet
from ubpe_numba.vocabulary.by_idf import keep_by_weight, renumber
from ubpe_numba.vocabulary.rules import FitRules
from ubpe_numba.vocabulary.segmenter import Segmenter
from ubpe_numba.vocabulary.vocabulary import Vocabulary

Self = TypeVar("Self", bound="Tokenizer")


class Tokenizer(Coder):
    """Base of `BPE`, `UBPEClassic` and `UBPE`; not used by itself.

    The constructor only stores its arguments, which `fit` validates. `fit`, `load` and the other ways to a vocabulary set what is
    below; from then on the object is only read, may be shared between threads, and pickles as arrays. `fingerprint` compares two.

    Attributes
    ----------
    alphabet_
        The `Alphabet`: which symbols there are, and which id each has.
    vocabulary_
        The `Vocabulary`, in alphabet ids: `decode` of one id shows its symbols. `vocabulary` is the same, or a NotFittedError.
    segmenter_
        How documents are cut, and their special tokens found.
    history_
        What each merge of the fit did, a named tuple of arrays: counts, document_frequencies, lengths, n_symbols. Not there where
        there was no fit, as after `load`.
    """

    history_: History

    # ---------------------------------------------------------------------------------------------- fitting

    def fit(
        self: Self,
        docs: Any,
        y: None = None,
        *,
        offsets: Any = None,
        sample_weight: Any = None,
        boundaries: Any = None,
        memory_limit: int | None = None,
        progress: bool | str = "auto",
    ) -> Self:
        """Learn a vocabulary from documents; what was fitted before is replaced, but only when all went well.

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
            document. p stands between the symbols p - 1 and p.
        memory_limit
            Bytes that the fit may use beside the documents, at least 42 MB and 7 bytes a symbol. Below about 25 bytes a symbol
            fewer pairs are indexed at a time and one thread is used: the same result, later. The logger ``ubpe_numba`` says so
            (INFO).
        progress
            ``"auto"`` shows progress on a terminal (with tqdm where installed), True always, False never.

        Raises
        ------
        UnknownSymbolError
            For a symbol outside the given alphabet.
        TypeError, ValueError
            For documents that are not sequences of integers, an iterator that gives none (used up by an earlier pass?), or
            arguments out of range, naming them.
        MemoryError
            If the fit cannot keep to `memory_limit`, with an estimate of what it needs.

        `history_` then holds what each merge did (`History`). Ctrl-C stops a fit within a fraction of a second and leaves the
        tokenizer as it was.
        """
        settings = self._settings(memory_limit)
        bar = Progress(progress)
        if y is not None and offsets is None and getattr(docs, "ndim", 0) == 1 and docs.dtype.kind in "iu":
            raise TypeError("y: it is ignored, and the documents are one flat array: say offsets=...")
        corpus = self._corpus(docs, offsets, sample_weight, boundaries)
        given = corpus.given
        if hasattr(docs, "__next__") and given.offsets.size == 1:
            raise ValueError("docs: the iterator gave no document; was it used up before?")
        if self.alphabet is None:
            alphabet = Alphabet.learn(given)
        else:  # documents without any symbol are of any kind
            alphabet = Alphabet.from_user(self.alphabet, given.kind if given.offsets[-1] > given.offsets[0] else None)
        self._segmenter(alphabet.kind, None)  # whether it goes with the alphabet, before a long fit
        if settings.n_tokens < alphabet.size:
            hint = ""
            if self.alphabet is None and alphabet.is_identity and alphabet.kind == "int":
                hint = f"; it was learned as 0..{alphabet.size - 1}, alphabet=numpy.unique(...) takes those that occur"
            raise ValueError(f"n_tokens: expected at least the alphabet's {alphabet.size} symbols, got {settings.n_tokens}{hint}")
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
        memory_limit: int | None = None,
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
        if positive(n_tokens, "n_tokens") < len(self.vocabulary_):
            raise ValueError(f"n_tokens: expected at least the present {len(self.vocabulary_)} ids, got {n_tokens}")
        if not self.vocabulary_.in_order_of_creation or (self.rules or FitRules()).order != "creation":
            raise ValueError("rules: only a vocabulary of pairs in order of creation can be continued")
        if n_tokens > MAX_SIZE:
            raise ValueError(f"n_tokens: expected at most {MAX_SIZE}, got {n_tokens}")
        if self.segmenter_.token_ids is not None:
            raise ValueError("token_ids: only a vocabulary whose ids are in order of creation can be continued")
        if (special := self.segmenter_.special) is not None and int(special.ids.min()) < n_tokens:
            raise ValueError(
                f"special_tokens: expected ids from {n_tokens} on, the others would have to move; fit with a mapping to such ids"
            )
        settings = self._settings(memory_limit)._replace(n_tokens=int(n_tokens))
        bar = Progress(progress)
        corpus = self._corpus(docs, offsets, sample_weight, boundaries)
        history: History | None = getattr(self, "history_", None)
        vocabulary, history = learn_more(corpus, self.alphabet_, self.vocabulary_, history, settings, bar)
        segmenter = self.segmenter_.numbered(None, len(vocabulary))
        self._set(self.alphabet_, vocabulary, segmenter)
        self.n_tokens = n_tokens
        if history is not None:
            self.history_ = history
        return self

    def compression_curve(self) -> tuple[np.ndarray, np.ndarray]:
        """Sizes of the vocabulary (int64[m + 1]) and symbols per token of the corpus at each (float64[m + 1]), without a fit.

        Tokens as the fit merged them, which is how merge rank encodes, not the best paths of `UBPE`. From the alphabet alone,
        1.0, to the last merge, in order of creation. NotFittedError if there is no record of a fit: for a tokenizer that was
        loaded, made from merges, or truncated.

        >>> from ubpe_numba import BPE
        >>> tok = BPE(n_tokens=3, alphabet=2).fit([[0, 1, 0, 1, 1]])
        >>> tok.compression_curve()
        (array([2, 3]), array([1.        , 1.66666667]))
        """
        self._check_fitted()
        if not hasattr(self, "history_"):
            raise NotFittedError(f"this {type(self).__name__} was not fitted here and has no history_ of its corpus")
        return self.history_.compression(self.vocabulary_.n_alphabet)

    def _settings(self, memory_limit: int | None = None) -> Settings:
        """The validated constructor arguments that decide a fit."""
        n_tokens = MAX_SIZE if self.n_tokens is None else positive(self.n_tokens, "n_tokens")
        if n_tokens > MAX_SIZE:
            raise ValueError(f"n_tokens: expected at most {MAX_SIZE}, got {n_tokens}")
        rules = FitRules() if self.rules is None else self.rules
        if not isinstance(rules, FitRules):
            raise TypeError(f"rules: expected a FitRules or None, got {rules!r}")
        longest = 2**62 if self.max_token_length is None else positive(self.max_token_length, "max_token_length")
        n_candidates = positive(getattr(self, "n_candidates", 1), "n_candidates")
        limit = None if memory_limit is None else positive(memory_limit, "memory_limit")
        return Settings(n_tokens, n_candidates, rules, thread_pool.resolve(self.n_threads), longest, memory_limit=limit)

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

    def _set(self, alphabet: Alphabet, vocabulary: Vocabulary, segmenter: Segmenter | None = None) -> None:
        """Become fitted, or refitted; without a `segmenter` with the one of the constructor's arguments.

        ValueError if the vocabulary does not have what encoding needs, or the arguments do not go with it.
        """
        if self._pairs and vocabulary.merges is None:
            raise ValueError("vocabulary: it knows flat sequences only, encoding by substitution needs pairs")
        segmenter = segmenter or self._segmenter(alphabet.kind, len(vocabulary))
        self.alphabet_, self.vocabulary_, self.segmenter_ = alphabet, vocabulary, segmenter

    @property
    def vocabulary(self) -> Vocabulary:
        """The fitted `Vocabulary`. NotFittedError before there is one."""
        self._check_fitted()
        return self.vocabulary_

    @property
    def fingerprint(self) -> str:
        """A hash of all that decides encoding and decoding, and of the weights; equal for equal models on any machine.

        A model that was elsewhere, in a form without weights, may encode the same and have another.
        """
        self._check_fitted()
        state = self.alphabet_.state()
        h = hashlib.sha256(f"{type(self).__name__}{state['kind']}{state['size']}{self._encode_params()}".encode())
        if state["symbols"] is not None:
            h.update(state["symbols"].astype("<i8").tobytes())
        if text := self.segmenter_.state():
            text |= {"token_ids": [] if self.segmenter_.token_ids is None else self.segmenter_.token_ids.tolist()}
            h.update(json.dumps(text, sort_keys=True).encode())
        return hashlib.sha256((h.hexdigest() + self.vocabulary_.fingerprint).encode()).hexdigest()[:32]

    def _encode_params(self) -> dict[str, Any]:
        """The constructor arguments that change how it encodes."""
        return {"encode": (self.rules or FitRules()).encode}

    def fit_transform(self, docs: Any, y: None = None, *, offsets: Any = None) -> Ragged:
        """`fit`, then `encode_batch` of the same documents."""
        docs = list(docs) if hasattr(docs, "__next__") else docs
        encoded: Ragged = self.fit(docs, y, offsets=offsets).encode_batch(docs, offsets)
        return encoded

    # ---------------------------------------------------------------------------------------------- smaller vocabularies

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
        if positive(n_tokens, "n_tokens") < n:
            raise ValueError(f"n_tokens: expected at least the alphabet's {n} symbols, got {n_tokens}")
        if by == "idf":
            shorter = self._rearranged(vocabulary, n_tokens, "closed")
        else:
            stay = np.arange(min(n_tokens - n, vocabulary.n_learned))
            merges = None if vocabulary.merges is None else vocabulary.merges[stay]
            if merges is not None and merges.size and merges.max() >= n + stay.size:
                raise ValueError("by: the ids of this vocabulary are not in order of creation; use by='idf'")
            shorter = vocabulary.select(stay, merges)
        ids = self.segmenter_.token_ids
        if ids is not None and by == "idf":
            raise ValueError("by: the ids of this vocabulary are not 0, 1, ...; use by='creation'")
        other = type(self)(**self.get_params())
        other.n_tokens = n_tokens
        segmenter = other._segmenter(self.alphabet_.kind, None if ids is not None else len(shorter))
        if ids is not None:
            segmenter = self.segmenter_._replace(token_ids=ids[: len(shorter)])
        other._set(self.alphabet_, shorter, segmenter)
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k not in ("_encoder_", "_search_", "_decoder_", "_words_")}

    def __repr__(self) -> str:
        size = f": {len(self.vocabulary_)} tokens" if hasattr(self, "vocabulary_") else ""
        return super().__repr__() + size


__all__ = ["Tokenizer"]
