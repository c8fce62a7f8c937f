"""The two tokenizers that substitute pairs: `BPE`, one merge a round, and `UBPEClassic`, many."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from ubpe_numba import formats
from ubpe_numba.coding.plan import Plan, checked_seed, plan_by_rank
from ubpe_numba.errors import quoted
from ubpe_numba.tokenizers.base import Tokenizer
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.preprocessing import Preprocessing
from ubpe_numba.vocabulary.rules import FitRules
from ubpe_numba.vocabulary.vocabulary import Vocabulary

__all__ = ["BPE", "UBPEClassic"]


class _PairTokenizer(Tokenizer):
    """Base of `BPE` and `UBPEClassic`: encoding by rank or by the batch rule, and files of pairs."""

    _options = (*Tokenizer._options, "dropout", "seed")

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
        if self.rules is not None and self.rules.encode == "batch":
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
            A fitted tokenizer. ModelFormatError for a table that is not valid.

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

    @classmethod
    def from_huggingface(cls, source: Any, *, kind: str | None = None, alphabet: Any = None, **params: Any) -> Self:
        """Read a `tokenizer.json` of Hugging Face whose model is BPE.

        The tokenizer gives the same ids, those that the other's `encode` gives with ``add_special_tokens=False``, special tokens
        where they are allowed. Tokens of the file's vocabulary that no pair makes are in no encoding, but can be decoded.

        Parameters
        ----------
        source
            The text, the path of a file or of a folder that has it, such as `save_pretrained` of transformers makes, a
            `tokenizers.Tokenizer`, or a fast tokenizer of transformers.
        kind
            The kind of symbols, ``"bytes"``, ``"str"`` or ``"int"``; None decides by the file.
        alphabet
            The integers of the characters of a model of ``"int"``, in their order.
        **params
            Further constructor arguments.

        Returns
        -------
        Self
            A fitted tokenizer, with the file's normalizer, pretokenizer and special tokens.

        Raises
        ------
        ModelFormatError
            If the file is not valid, of another type (`UBPE.from_huggingface` reads Unigram, `WordPiece.from_huggingface`
            WordPiece), or has an option without a counterpart here, such as dropout, naming it.

        Warns
        -----
        UserWarning
            If an added token has another id, here and in the package tokenizers, than the file says.

        Notes
        -----
        Text is normalised and cut as the file says; `is_lossless` says whether `decode` still gives back every text. Additions of
        a post-processor around a text are left out. Where the file has no rule for unknown characters they are an error here
        (``unknown="skip"`` leaves them out, as Hugging Face does).

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> import json
        >>> model = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}
        >>> tok = BPE.from_huggingface(json.dumps({"model": model, "normalizer": {"type": "Lowercase"}}))
        >>> tok.encode("AAB").tolist(), tok.is_lossless
        ([0, 2], False)
        """
        found = formats.table.from_huggingface(source, kind, alphabet)
        return cls._imported(found.model, {**found.params, **params})

    @classmethod
    def from_tekken(cls, source: Any, **params: Any) -> Self:
        r"""Read a `tekken.json` of Mistral.

        The tokenizer gives the same ids as mistral_common's Tekkenizer does for text; its control tokens are special tokens here.

        Parameters
        ----------
        source
            The text or the path of a file.
        **params
            Further constructor arguments.

        Returns
        -------
        Self
            A fitted tokenizer, with the file's pattern and special tokens.
            ModelFormatError for a file that is not valid, or of another kind, naming what is wrong.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.from_tekken("tekken.json")  # doctest: +SKIP
        """
        return cls._imported(formats.table.from_tekken(source), params)

    @classmethod
    def from_tiktoken(
        cls, source: Any, *, pretokenizer: Any = None, special_tokens: dict[str, int] | None = None, **params: Any
    ) -> Self:
        r"""Read a `.tiktoken` file or a `tiktoken.Encoding`. `str` is taken as UTF-8, as by tiktoken.

        Parameters
        ----------
        source
            The path of a file, its bytes, or an encoding, which knows the rest too.
        pretokenizer, special_tokens
            A file has no pattern and no special tokens: those that belong to it, such as ``"cl100k"``.
        **params
            Further constructor arguments.

        Returns
        -------
        Self
            A fitted tokenizer.
            ModelFormatError for a file that is not valid, or of another kind, naming what is wrong.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> ranks = BPE.from_merges([[97, 98]], alphabet=bytes(range(256))).to_tiktoken()
        >>> ranks[-9:]
        b'YWI= 256\n'
        >>> BPE.from_tiktoken(ranks, pretokenizer="gpt2", special_tokens={"<end>": 300}).encode("abc").tolist()
        [256, 99]
        """
        return cls._imported(formats.table.from_tiktoken(source, pretokenizer, special_tokens), params)

    def to_tiktoken(self, path: str | os.PathLike[str] | None = None) -> bytes:
        """Make the `.tiktoken` file, tokens and ranks; pattern and special tokens are not part of it (`to_tiktoken_encoding`).

        Parameters
        ----------
        path
            A file to write it to as well.

        Returns
        -------
        bytes
            The content of the file: a token in base64 and its rank in each line.
            ValueError if it cannot say the same, naming the first sample that is encoded differently.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> BPE.from_merges([[97, 98]], alphabet=bytes(range(256))).to_tiktoken().splitlines()[-1]
        b'YWI= 256'
        """
        data, _ = formats.export.to_tiktoken(self._fitted(), self._to_lists)
        if path is not None:
            from ubpe_numba.runtime.files import write_atomically

            write_atomically(path, data)
        return data

    def to_tiktoken_encoding(self, name: str = "ubpe-numba") -> Any:
        """Make a `tiktoken.Encoding` that gives the same ids.

        Parameters
        ----------
        name
            Its name.

        Returns
        -------
        tiktoken.Encoding
            With the pattern and the special tokens.
            ValueError if it cannot say the same, naming the first sample that is encoded differently.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.for_text(260, pretokenizer="gpt2").fit(["low lower lowest"])
        >>> tok.to_tiktoken_encoding().encode("lower") == tok.encode("lower").tolist()  # doctest: +SKIP
        True
        """
        return formats.export.to_tiktoken_encoding(self._fitted(), self._to_lists, name)

    @classmethod
    def from_vocab_merges(
        cls,
        vocab: Any,
        merges: Any,
        *,
        kind: str = "bytes",
        pretokenizer: Any = "gpt2",
        special_tokens: dict[str, int] | None = None,
        end_of_word: str | None = None,
        **params: Any,
    ) -> Self:
        r"""Read `vocab.json` and `merges.txt`. Tokens that no pair makes become special tokens.

        Parameters
        ----------
        vocab, merges
            The texts of the files or their paths; `vocab` may be a mapping too.
        kind
            ``"bytes"`` is GPT-2's form, where `str` is taken as UTF-8; ``"str"`` that of characters.
        pretokenizer, special_tokens
            As for the constructor.
        end_of_word
            The character of text that is written as ``</w>``, usually a space.
        **params
            Further constructor arguments.

        Returns
        -------
        Self
            A fitted tokenizer.
            ModelFormatError for a file that is not valid, or of another kind, naming what is wrong.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.from_vocab_merges('{"a": 0, "b": 1, "ab": 2}', "#version: 0.2\na b\n", kind="str", pretokenizer=None)
        >>> tok.encode("aab").tolist()
        [0, 2]
        """
        return cls._imported(
            formats.table.from_vocab_merges(vocab, merges, kind, pretokenizer, special_tokens, end_of_word), params
        )

    def to_vocab_merges(
        self,
        vocab_path: str | os.PathLike[str] | None = None,
        merges_path: str | os.PathLike[str] | None = None,
        *,
        end_of_word: str | None = None,
    ) -> tuple[str, str]:
        r"""Make the texts of `vocab.json` and `merges.txt`. Special tokens are part of the vocabulary, the pattern of neither.

        Parameters
        ----------
        vocab_path, merges_path
            Files to write them to as well.
        end_of_word
            The character that is written as ``</w>``.

        Returns
        -------
        vocab, merges : str
            The contents of the files.
            ValueError if it cannot say the same, naming the first sample that is encoded differently.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> BPE.from_merges([[0, 1]], alphabet="ab").to_vocab_merges()
        ('{"a": 0, "b": 1, "ab": 2}', '#version: 0.2\na b\n')
        """
        out = formats.export.to_vocab_merges(self._fitted(), self._to_lists, end_of_word)
        for path, text in zip((vocab_path, merges_path), out, strict=True):
            if path is not None:
                from ubpe_numba.runtime.files import write_atomically

                write_atomically(path, text.encode())
        return out


class BPE(_PairTokenizer):
    """Byte-pair encoding over any alphabet: the most frequent pair is merged again and again; encoding is by merge rank.

    This is the BPE of minbpe, Hugging Face and tiktoken (P. Gage, 1994; R. Sennrich et al., 2016).

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
    preprocessing
        How documents are changed and cut, and which sequences in them are reserved, such as special tokens: a `Preprocessing`;
        None to leave documents as they are. `for_text` makes one of arguments.
    unknown
        The treatment of symbols outside the alphabet in documents that are encoded, unless a call says something else:
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
        self._store(locals())


class UBPEClassic(_PairTokenizer):
    """Universal BPE, classic form: up to `n_candidates` pairs are merged a round, encoding is by substitution.

    Parameters
    ----------
    n_candidates
        Of how many most frequent pairs a round keeps those that do not conflict: no shared token, both border pairs rarer.
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
        self._store(locals())
