"""The two tokenizers that substitute pairs: `BPE`, one merge a round, and `UBPEClassic`, many."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from ubpe_numba.coding.plan import Plan, checked_seed, plan_by_rank
from ubpe_numba.errors import quoted
from ubpe_numba.runtime.arrays import store
from ubpe_numba.tokenizers.base import Tokenizer
from ubpe_numba.tokenizers.fitted import is_number, of_class
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.preprocessing import Preprocessing
from ubpe_numba.vocabulary.rules import FitRules
from ubpe_numba.vocabulary.vocabulary import Vocabulary


class _PairTokenizer(Tokenizer):
    """Base of `BPE` and `UBPEClassic`: encoding by rank or by the batch rule, and files of pairs."""

    def _new_plan(self) -> Plan:
        batch = self.rules is not None and self.rules.encode == "batch"
        return plan_by_rank(self._tables, self.unknown, self.n_threads, batch)

    def _drawn_plan(self, options: Mapping[str, Any]) -> Plan:
        dropout = options["sample"]
        if not is_number(dropout):
            raise TypeError(f"sample: expected the probability to leave out a merge, got {quoted(dropout)}")
        if not 0.0 <= dropout <= 1.0:
            raise ValueError(f"sample: expected a probability in 0..1, got {dropout}")
        if dropout == 0.0:
            return self._plan()
        if self.rules is not None and self.rules.encode == "batch":
            raise ValueError(
                "sample: the batch rule of the UBPE articles cannot skip merges. Use rules with "
                "encode='rank'."
            )
        tables, n_threads, seed = self._tables, self.n_threads, checked_seed(options.get("seed", 0))
        if tables.mirror is not None:
            raise ValueError(
                "sample: with a mirror no merge is left out; with_objective('shortest') draws from all paths"
            )
        pairs = tables.pairs()
        return Plan(
            tables,
            lambda ids: pairs.encode_dropout(ids, float(dropout), seed, n_threads),
            self.unknown,
            n_threads,
        )

    @of_class
    def from_merges(cls, merges: Any, alphabet: Any, weights: Any = None, **params: Any) -> Self:
        """Make a fitted tokenizer from a table of pairs; ModelFormatError if the table is not valid.

        Parameters
        ----------
        merges
            m pairs of ids: pair i makes the id ``len(alphabet) + i`` and has rank i.
        alphabet, **params
            Arguments of the constructor.
        weights
            float64[m], the idf of the pairs; None for 0.

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
    """Byte-pair encoding over any alphabet: merge the most frequent pair repeatedly.

    Encoding is by merge rank, as in minbpe, Hugging Face and tiktoken (P. Gage, 1994; R. Sennrich, 2016).

    Parameters
    ----------
    n_tokens
        Size of the vocabulary, alphabet included; fewer if no pair occurs twice any more. None: no limit.
    alphabet
        None to learn it, the number of symbols, a sequence of symbols, or a mapping of symbols onto 0..A-1.
        For integers the learned alphabet is 0..max if all values are in 0..65535, otherwise the values that
        occur. Symbols of a mapping may share an id; `decode` then returns the first.
    rules
        A `FitRules`; None for the defaults.
    preprocessing
        How documents are changed and split, and which sequences are reserved, such as special tokens: a
        `Preprocessing`, which `for_text` makes from its arguments. None leaves documents as they are.
    unknown
        Unknown symbols in `encode`: ``"raise"``, ``"skip"``, for integers ``"nearest"``; or a symbol (``0``,
        ``"N"``) or special token (``"[UNK]"``) that replaces each. A fit with a fixed alphabet rejects them.
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
        preprocessing: Preprocessing | None = None,
        unknown: Any = "raise",
        n_threads: int | None = None,
    ) -> None:
        store(self, locals())


class UBPEClassic(_PairTokenizer):
    """Universal BPE, classic form: up to `n_candidates` merges per round, encoding by substitution.

    Parameters
    ----------
    n_candidates
        Number of most frequent pairs considered per round. Non-conflicting pairs are merged together: those
        that share no token, and whose border pairs are rarer.
    n_tokens, alphabet, rules, preprocessing, unknown, n_threads
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
        preprocessing: Preprocessing | None = None,
        unknown: Any = "raise",
        n_threads: int | None = None,
    ) -> None:
        store(self, locals())
