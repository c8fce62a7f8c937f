"""The two tokenizers that substitute pairs: `BPE`, one merge a round, and `UBPEClassic`, many."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.tokenizers.base import Tokenizer
from ubpe_numba.tokenizers.exports import Bridges
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.rules import FitRules
from ubpe_numba.vocabulary.segmenter import SpecialChoice
from ubpe_numba.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from ubpe_numba.coding.word_encoder import WordEncoder

__all__ = ["BPE", "UBPEClassic"]

Self = TypeVar("Self", bound="_PairTokenizer")


class _PairTokenizer(Tokenizer, Bridges):
    """What `BPE` and `UBPEClassic` share: a table of pairs, and encoding by rank or by the batch rule."""

    @property
    def _encoder(self) -> PairEncoder:
        made: PairEncoder | None = self.__dict__.get("_encoder_")
        batch = self.rules is not None and self.rules.encode == "batch"
        if made is None or made.vocabulary is not self.vocabulary_ or made.batch != batch:
            made = self._encoder_ = PairEncoder(self.vocabulary_, batch)
        return made

    def _encode_ids(self, documents: Ragged) -> Ragged:
        return self._encoder.encode(documents, self.n_threads)

    @property
    def _word_encoder(self) -> WordEncoder | None:
        encoder = self._encoder
        if not encoder.linear or self.alphabet_.kind != "bytes":
            return None
        made: WordEncoder | None = self.__dict__.get("_words_")
        if made is None or made.vocabulary is not self.vocabulary_:
            byte_ids = self.alphabet_.lookup(np.arange(256, dtype=np.uint8))
            if byte_ids.min() < 0:  # some bytes are unknown
                return None
            from ubpe_numba.coding.word_encoder import WordEncoder  # here only: who encodes integers need not wait for it

            made = self._words_ = WordEncoder(self.vocabulary_, byte_ids)
        return made

    def encode(
        self,
        doc: Any,
        *,
        unknown: str | int = "raise",
        return_offsets: bool = False,
        allowed_special: Any = "none",
        disallowed_special: Any = "all",
        dropout: float = 0.0,
        seed: int = 0,
    ) -> Any:
        """Encode one document; `doc`, `unknown`, `return_offsets` and special tokens are those of `Tokenizer.encode`.

        `dropout` in 0..1 is BPE-dropout, to train models on many segmentations of the same text: each occurrence of a merge is
        left out with that probability, at the step that would make it (1: the alphabet). The draws depend on nothing but `seed`
        (0..2**64 - 1), the number of the document (0 here; where text is cut, of its segment), the rank and the position, so not
        on threads or on what else is encoded. ValueError for either out of range, or with the articles' batch rule.

        Drawn once for each occurrence: in the paper's loop over the words of a text, one that was left out may be drawn again
        as long as its word goes on, which in an uncut document would bring nearly all of them back.
        Source: I. Provilkov et al., BPE-Dropout, 2020.

        >>> tok = BPE.from_merges([[0, 1]], alphabet="ab")
        >>> tok.encode("abababab", dropout=0.5, seed=1).tolist()
        [2, 0, 1, 0, 1, 2]
        """
        encode = self._with_dropout(dropout, seed)
        return self._encode_one(encode, doc, unknown, return_offsets, SpecialChoice(allowed_special, disallowed_special))

    def encode_batch(
        self,
        docs: Any,
        offsets: Any = None,
        *,
        unknown: str | int = "raise",
        return_offsets: bool = False,
        allowed_special: Any = "none",
        disallowed_special: Any = "all",
        dropout: float = 0.0,
        seed: int = 0,
    ) -> Any:
        """Encode documents; see `Tokenizer.encode_batch`, and `encode` for `dropout`. Documents are numbered from 0."""
        encode, chosen = self._with_dropout(dropout, seed), SpecialChoice(allowed_special, disallowed_special)
        return self._encode_many(encode, docs, offsets, unknown, return_offsets, chosen)

    def _with_dropout(self, dropout: float, seed: int) -> Callable[[Ragged], Ragged]:
        if dropout == 0.0 and not isinstance(dropout, bool):
            return self._encode_ids
        return lambda ids: self._encode_dropout(ids, dropout, seed)

    def _encode_dropout(self, ids: Ragged, dropout: float, seed: int) -> Ragged:
        if isinstance(dropout, bool) or not isinstance(dropout, (int, float, np.integer, np.floating)):
            raise TypeError(f"dropout: expected a number, got {dropout!r}")
        if not 0.0 <= dropout <= 1.0:
            raise ValueError(f"dropout: expected a probability in 0..1, got {dropout}")
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
            raise TypeError(f"seed: expected an int, got {seed!r}")
        if not 0 <= seed < 2**64:
            raise ValueError(f"seed: expected 0..2**64 - 1, got {seed}")
        if self._encoder.batch:
            raise ValueError("dropout: the articles' batch rule has no single steps to leave out; use rules with encode='rank'")
        return self._encoder.encode_dropout(ids, float(dropout), int(seed), self.n_threads)

    @classmethod
    def from_merges(cls: type[Self], merges: Any, alphabet: Any, weights: Any = None, **params: Any) -> Self:
        """A tokenizer from a table of pairs: pair i, of ids, makes the id ``len(alphabet) + i`` and has rank i.

        `alphabet` as for the constructor, `weights` float64[m] (idf, 0 by default), `params` further constructor arguments.
        ModelFormatError for a table that is not valid.

        >>> BPE.from_merges([[0, 1], [2, 0]], alphabet="ab").encode("ababa").tolist()
        [2, 3]
        """
        symbols = Alphabet.from_user(alphabet)
        vocabulary = Vocabulary.from_merges(symbols.size, merges, weights)
        make: Any = cls  # the constructors differ
        tokenizer: Self = make(len(vocabulary), alphabet=alphabet, **params)
        tokenizer._settings()
        tokenizer._set(symbols, vocabulary)
        return tokenizer


class BPE(_PairTokenizer):
    """Byte-pair encoding over any alphabet: the most frequent pair is merged again and again; encoding is by merge rank.

    What minbpe, Hugging Face and tiktoken mean by BPE (P. Gage, 1994; R. Sennrich et al., 2016).

    Parameters
    ----------
    n_tokens
        Size of the vocabulary, alphabet included; fewer where no pair is left that occurs twice. None: as many as there are.
    alphabet
        None to learn it, the number of symbols, a sequence of symbols, or a mapping of symbols onto 0..A-1. Learned of integers,
        it is 0..largest where none is negative and the largest is below 65536, and those that occur otherwise.
    rules
        A `FitRules`; None for the defaults.
    max_token_length
        No token of more symbols is made; None for no limit.
    pretokenizer
        Cuts text before anything is learned or encoded: ``"gpt2"``, ``"cl100k"``, ``"o200k"``, ``"whitespace"``, ``"digits"``,
        ``"digits1"``, ``"digits3"``, a regular expression, a `Pretokenizer`, or None. Each segment counts as a document, for
        document frequencies too; ``rules=FitRules(min_count=...)`` leaves out pairs that are rarer. Needs the extra ``text``.
    special_tokens
        Words with ids of their own, never cut and never merged: a list (ids behind the vocabulary, beyond `n_tokens`), or a
        mapping of words to ids: with ids beyond the final size where there is to be a `fit_more`. `str`, `bytes` or sequences of
        integers, as the documents. See `encode`. The parts of a document between them count as documents.
    known_words
        The same for words that are found in every document without being asked for.
    encoding
        ``"utf-8"``: `str` is encoded as UTF-8 bytes, and decoded to `str`; see `for_text`, and `boundaries` count bytes.
        None: documents are as they are.
    n_threads
        Threads for fits and batches; None for UBPE_NUM_THREADS, NUMBA_NUM_THREADS or all CPUs.

    Examples
    --------
    >>> tok = BPE(n_tokens=9).fit(["hug pug pun bun hugs"])
    >>> ids = tok.encode("hug bugs")
    >>> tok.decode(ids)
    'hug bugs'
    """

    def __init__(
        self,
        n_tokens: int | None = 4096,
        *,
        alphabet: Any = None,
        rules: FitRules | None = None,
        max_token_length: int | None = None,
        pretokenizer: Any = None,
        special_tokens: Any = None,
        known_words: Any = None,
        encoding: str | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.n_tokens = n_tokens
        self.alphabet = alphabet
        self.rules = rules
        self.max_token_length = max_token_length
        self.pretokenizer = pretokenizer
        self.special_tokens = special_tokens
        self.known_words = known_words
        self.encoding = encoding
        self.n_threads = n_threads


class UBPEClassic(_PairTokenizer):
    """Universal BPE, classic form: up to `n_candidates` pairs are merged a round, encoding is by substitution.

    Parameters are those of `BPE`, and `n_candidates`: of how many most frequent pairs a round keeps those that do not get in each
    other's way. Source: UBPE tokenizers, parts 1 and 2.

    Examples
    --------
    >>> tok = UBPEClassic(n_tokens=12, n_candidates=4).fit([[0, 1, 2, 0, 1, 2, 3], [1, 2, 3, 3]], progress=False)
    >>> tok.decode(tok.encode([0, 1, 2, 3])).tolist()
    [0, 1, 2, 3]
    """

    def __init__(
        self,
        n_tokens: int | None = 4096,
        n_candidates: int = 50,
        *,
        alphabet: Any = None,
        rules: FitRules | None = None,
        max_token_length: int | None = None,
        pretokenizer: Any = None,
        special_tokens: Any = None,
        known_words: Any = None,
        encoding: str | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.n_tokens = n_tokens
        self.n_candidates = n_candidates
        self.alphabet = alphabet
        self.rules = rules
        self.max_token_length = max_token_length
        self.pretokenizer = pretokenizer
        self.special_tokens = special_tokens
        self.known_words = known_words
        self.encoding = encoding
        self.n_threads = n_threads
