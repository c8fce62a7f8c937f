"""The two tokenizers that substitute pairs: `BPE`, one merge a round, and `UBPEClassic`, many."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from ubpe_numba.coding.plan import Plan, checked_seed, plan_by_rank
from ubpe_numba.errors import quoted
from ubpe_numba.tokenizers.exchange import PairFiles
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.rules import FitRules
from ubpe_numba.vocabulary.vocabulary import Vocabulary

__all__ = ["BPE", "UBPEClassic"]


class _PairTokenizer(PairFiles):
    """What `BPE` and `UBPEClassic` share: encoding by rank or by the batch rule, and exchange with other libraries."""

    # ---------------------------------------------------------------------------------------------- encoding

    _options = (*PairFiles._options, "dropout", "seed")

    def _new_plan(self) -> Plan:
        batch = self.rules is not None and self.rules.encode == "batch"
        return plan_by_rank(self._tables, self.unknown, self.n_threads, batch)

    def _drawn_plan(self, options: Mapping[str, Any]) -> Plan | None:
        dropout = options.get("dropout", 0.0)
        if isinstance(dropout, bool) or not isinstance(dropout, (int, float, np.integer, np.floating)):
            raise TypeError(f"dropout: expected a number, got {quoted(dropout)}")
        if not 0.0 <= dropout <= 1.0:
            raise ValueError(f"dropout: expected a probability in 0..1, got {dropout}")
        if dropout == 0.0:
            return None
        if self._by_batches:
            raise ValueError("dropout: the articles' batch rule has no single steps to leave out; use rules with encode='rank'")
        pairs, n_threads, seed = self._tables.pairs(), self.n_threads, checked_seed(options.get("seed", 0))
        return Plan(self._tables, lambda ids: pairs.encode_dropout(ids, float(dropout), seed, n_threads), self.unknown, n_threads)

    @classmethod
    def from_merges(cls, merges: Any, alphabet: Any, weights: Any = None, **params: Any) -> Self:
        """Make a tokenizer from a table of pairs.

        Parameters
        ----------
        merges
            m pairs of ids: pair i makes the id ``len(alphabet) + i`` and has rank i.
        alphabet
            As for the constructor.
        weights
            float64[m], the idf of the pairs; None for 0.
        **params
            Further constructor arguments.

        Returns
        -------
        Self
            A fitted tokenizer.

        Raises
        ------
        ModelFormatError
            For a table that is not valid.

        Examples
        --------
        >>> BPE.from_merges([[0, 1], [2, 0]], alphabet="ab").encode("ababa").tolist()
        [2, 3]
        """
        symbols = Alphabet.from_user(alphabet)
        vocabulary = Vocabulary.from_merges(symbols.size, merges, weights)
        make: Any = cls  # the constructors differ
        tokenizer: Self = make(len(vocabulary), alphabet=alphabet, **params)
        tokenizer._settings()
        tokenizer._adopt(Model(symbols, vocabulary, tokenizer._segmenter(symbols.kind, len(vocabulary))))
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
        it is 0..largest where none is negative and the largest is below 65536, and those that occur otherwise. Symbols of a
        mapping may share an id, such as the cases of a letter: `decode` then gives the first of them, and `is_lossless` is False.
    rules
        A `FitRules`; None for the defaults.
    max_token_length
        No token of more symbols is made; None for no limit.
    pretokenizer
        Cuts text before anything is learned or encoded: ``"gpt2"``, ``"cl100k"``, ``"o200k"``, ``"whitespace"``, ``"digits"``,
        ``"digits1"``, ``"digits3"``, another name that `Pretokenizer` knows, a regular expression, a `Pretokenizer`, a `Splitter`
        of several steps, or None. Each segment counts as a document, for document frequencies too;
        ``rules=FitRules(min_count=...)`` leaves out pairs that are rarer. Patterns without a kernel need the extra ``text``.
    special_tokens
        Words with ids of their own, never cut and never merged: a list (ids behind the vocabulary, beyond `n_tokens`), or a
        mapping of words to ids: with ids beyond the final size where there is to be a `fit_more`. `str`, `bytes` or sequences of
        integers, as the documents. See `encode`. The parts of a document between them count as documents.
    special_first
        Special tokens, given as a list, have the ids 0, 1, ..., and the tokens of the vocabulary follow, as trainers of Hugging
        Face number them; `n_tokens` still counts those of the vocabulary only. Known words stay behind. `vocabulary` knows
        tokens by their place in it: token t has the id t + the number of special tokens.
    known_words
        The same for words that are found in every document without being asked for.
    normalizer
        What text is changed to before it is cut: a `Normalizer`, or the step or the list of steps that one is made of, such as
        ``"NFC"`` or ``["NFC", {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]``; None to leave it as it is.
        Positions refer to the text as given, and `decode` gives the text as it was changed (`is_lossless`).
    encoding
        ``"utf-8"``: `str` is encoded as UTF-8 bytes, and decoded to `str`; see `for_text`, and `boundaries` count bytes.
        None: documents are as they are.
    break_tokens
        Symbols of the alphabet that always are a token of their own, and that no token crosses, such as bar lines in music or
        control events: integers, characters or bytes. Like `boundaries` before and behind each of them, in documents that are
        encoded too; the documents stay documents. Where text is cut, before that.
    stop_tokens
        The same after text was cut: the pattern sees them, and then the segments are cut at them.
    unknown
        What becomes of symbols outside the alphabet in documents that are encoded, unless a call says something else:
        ``"raise"``, ``"skip"``, an id of the alphabet, a symbol of it (``"N"``, ``b"N"``), or the name of a special token
        (``"[UNK]"``), which is then put for each of them. A fit refuses symbols outside of a given alphabet.
    n_threads
        Threads for fits and batches; None for UBPE_NUM_THREADS, NUMBA_NUM_THREADS or all CPUs.

    Examples
    --------
    >>> tok = BPE(n_tokens=9).fit(["hug pug pun bun hugs"])
    >>> ids = tok.encode("hug bugs")
    >>> tok.decode(ids)
    'hug bugs'
    >>> lower = BPE(n_tokens=9, normalizer=["NFC", "Lowercase"]).fit(["Hug pug PUN bun hugs"])
    >>> lower.decode(lower.encode("HUG"))
    'hug'
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
        special_first: bool = False,
        known_words: Any = None,
        normalizer: Any = None,
        encoding: str | None = None,
        break_tokens: Any = None,
        stop_tokens: Any = None,
        unknown: Any = "raise",
        n_threads: int | None = None,
    ) -> None:
        self._store(locals())


class UBPEClassic(_PairTokenizer):
    """Universal BPE, classic form: up to `n_candidates` pairs are merged a round, encoding is by substitution.

    Parameters
    ----------
    n_candidates
        Of how many most frequent pairs a round keeps those that do not conflict: no shared token, both border pairs rarer.
    n_tokens, alphabet, rules, max_token_length, pretokenizer, special_tokens, special_first
        As for `BPE`.
    known_words, encoding, break_tokens, stop_tokens, unknown, n_threads
        As for `BPE`.
    normalizer
        As for `BPE`.

    Notes
    -----
    Source: UBPE tokenizers, parts 1 and 2.

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
        special_first: bool = False,
        known_words: Any = None,
        normalizer: Any = None,
        encoding: str | None = None,
        break_tokens: Any = None,
        stop_tokens: Any = None,
        unknown: Any = "raise",
        n_threads: int | None = None,
    ) -> None:
        self._store(locals())
