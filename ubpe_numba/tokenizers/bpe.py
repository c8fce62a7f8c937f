"""The two tokenizers that substitute pairs: `BPE`, one merge a round, and `UBPEClassic`, many."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from ubpe_numba import formats
from ubpe_numba.coding.plan import Plan, checked_seed, plan_by_rank
from ubpe_numba.errors import quoted
from ubpe_numba.runtime.files import write_atomically
from ubpe_numba.tokenizers.base import Tokenizer
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.rules import FitRules
from ubpe_numba.vocabulary.vocabulary import Vocabulary

__all__ = ["BPE", "UBPEClassic"]


class _PairTokenizer(Tokenizer):
    """What `BPE` and `UBPEClassic` share: encoding by rank or by the batch rule, and exchange with other libraries."""

    # ---------------------------------------------------------------------------------------------- encoding

    _options = (*Tokenizer._options, "dropout", "seed")

    @property
    def _by_batches(self) -> bool:
        return self.rules is not None and self.rules.encode == "batch"

    def _new_plan(self) -> Plan:
        return plan_by_rank(self._tables, self.unknown, self.n_threads, self._by_batches)

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

    # ---------------------------------------------------------------------------------------------- tables of pairs

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

    def _to_lists(self, docs: list[Any]) -> list[list[int]]:
        """The ids of documents, special tokens allowed: what an export has to give too.

        What a normalizer or a pre-tokenizer puts in may be unknown; other libraries leave that out.
        """
        return self.encode_batch(docs, allowed_special="all", unknown="skip").to_lists()

    # ---------------------------------------------------------------------------------------------- Hugging Face

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
            What symbols are, ``"bytes"``, ``"str"`` or ``"int"``; None decides by the file.
        alphabet
            The integers that the characters of a model of ``"int"`` stand for, in their order.
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
            WordPiece), or says something that has no counterpart here, such as dropout, naming it.

        Warns
        -----
        UserWarning
            If an added token has another id, here and in the package tokenizers, than the file says.

        Notes
        -----
        Text is normalised and cut as the file says; `is_lossless` says whether `decode` still gives back every text. What a
        post-processor adds around a text is left out. Where the file has no rule for unknown characters they are an error here
        (``unknown="skip"`` leaves them out, as Hugging Face does).

        Examples
        --------
        >>> import json
        >>> model = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}
        >>> tok = BPE.from_huggingface(json.dumps({"model": model, "normalizer": {"type": "Lowercase"}}))
        >>> tok.encode("AAB").tolist(), tok.is_lossless
        ([0, 2], False)
        """
        model, found = formats.imports.from_huggingface_with_params(source, kind, alphabet)
        return cls._imported(model, {**found, **params})

    def to_huggingface(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        unk_token: Any = None,
        template: Any = None,
        special_first: bool | None = None,
    ) -> str:
        r"""Make the `tokenizer.json` for Hugging Face's tokenizers.

        Bytes become a byte-level model with its pattern, characters a model of characters, and symbol i of an alphabet of
        integers the character ``chr(0xE000 + i)`` below 6400, from there on ``chr(0x10000 - 6400 + i)``.

        Parameters
        ----------
        path
            A file to write it to as well.
        unk_token
            The special token or the symbol (``"N"``; of integers ``(5,)``) that stands in the exported tokenizer for every symbol
            that it does not know; by default that of the argument `unknown` of this tokenizer. False: none, and no warning.
        template
            What stands around a document there, such as ``"[CLS] $A [SEP]"``: ``$A`` and special tokens. What stands behind it is
            also behind the second of a pair, with the type id 1; a second `str` says what pairs become:
            ``("<s> $A", "<s> $A <s>:1 $B:1")``. `encode` here never adds anything.
        special_first
            True: in the file special tokens have the ids 0, 1, ... in the order of their ids here, and all others the next, as
            `BpeTrainer(special_tokens=...)` numbers them. None: the ids are those of this tokenizer.

        Returns
        -------
        str
            The content of the file.

        Raises
        ------
        NotFittedError
            Without a vocabulary.
        TypeError
            For an argument of another type.
        ValueError
            If the model cannot say the same, naming the first sample that is encoded differently; for an `unk_token` that
            is neither a symbol nor a special token, or a `template` with a word that is none.

        Warns
        -----
        UserWarning
            If symbols of a text may be unknown and there is no `unk_token`: the other library leaves them out without a word,
            where `encode` here is an error.

        Notes
        -----
        What is exported is tried on some thousand samples, with `unk_token` also on such that hold unknown symbols, and with
        `template` on pairs, by the package tokenizers where it is installed. The file has a decoder that joins tokens, so that
        decoding there gives back a text.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.from_merges([[0, 1]], alphabet="ab", special_tokens=["[UNK]", "[CLS]", "[SEP]"])
        >>> text = tok.to_huggingface(unk_token="[UNK]", template="[CLS] $A [SEP]", special_first=True)
        >>> BPE.from_huggingface(text).encode("aab?").tolist()  # the template is left out here
        [3, 5, 0]
        """
        text = self._huggingface(unk_token, template, special_first)
        if path is not None:
            write_atomically(path, text.encode())
        return text

    def _huggingface(self, unk_token: Any, template: Any, special_first: bool | None) -> str:
        asked = formats.exports.HuggingFace(self._unk_token(unk_token), template, special_first)
        return formats.exports.to_huggingface(self._fitted(), self._to_lists, asked)

    def to_transformers(
        self,
        *,
        unk_token: Any = None,
        template: Any = None,
        special_first: bool | None = None,
        bos_token: str | None = None,
        eos_token: str | None = None,
        pad_token: str | None = None,
        cls_token: str | None = None,
        sep_token: str | None = None,
        mask_token: str | None = None,
        model_max_length: int | None = None,
        padding_side: str | None = None,
        chat_template: str | None = None,
        **params: Any,
    ) -> Any:
        """Make a `transformers.PreTrainedTokenizerFast` that gives the same ids.

        Parameters
        ----------
        unk_token, template, special_first
            As for `to_huggingface`; a symbol is the unknown token of the file only: transformers would make it a special one.
        bos_token, eos_token, pad_token, cls_token, sep_token, mask_token
            Which special tokens of this tokenizer have these tasks.
        model_max_length
            The most ids that the model takes, for ``truncation=True``.
        padding_side
            ``"left"`` or ``"right"``, where padding goes.
        chat_template
            A template of Jinja, for `apply_chat_template`.
        **params
            Its further arguments.

        Returns
        -------
        transformers.PreTrainedTokenizerFast
            Its `save_pretrained` writes the files that other programs read.

        Raises
        ------
        ImportError
            Without the extra ``hf``.
        NotFittedError, TypeError, ValueError
            As `to_huggingface`; ValueError too for a word that is no special token, to which transformers would give a new id.

        Warns
        -----
        UserWarning
            As `to_huggingface`.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.from_merges([[0, 1]], alphabet="ab", special_tokens=["[UNK]", "<end>"])
        >>> fast = tok.to_transformers(unk_token="[UNK]", eos_token="<end>", model_max_length=512)  # doctest: +SKIP
        >>> fast.encode("aabx<end>")  # doctest: +SKIP
        [0, 2, 3, 4]
        """
        roles = {
            "unk_token": self._unk_token(unk_token), "bos_token": bos_token, "eos_token": eos_token, "pad_token": pad_token,
            "cls_token": cls_token, "sep_token": sep_token, "mask_token": mask_token,
        }  # fmt: skip
        params |= {"model_max_length": model_max_length, "padding_side": padding_side, "chat_template": chat_template}
        return formats.exports.to_transformers(self._huggingface(unk_token, template, special_first), roles, params)

    # ---------------------------------------------------------------------------------------------- sentencepiece

    @classmethod
    def from_sentencepiece(cls, source: Any, **params: Any) -> Self:
        """Read a `.model` file of sentencepiece of the kind BPE, or of characters.

        The tokenizer gives the same ids, with control pieces as special tokens; text is changed as sentencepiece does, and
        `decode` gives what it gives, but for special tokens, which are shown, and white space before the text where pieces begin
        with several marks, or words of the user with one.

        Parameters
        ----------
        source
            The path of a file, or its content as `bytes`.
        **params
            Further constructor arguments.

        Returns
        -------
        Self
            A fitted tokenizer.

        Raises
        ------
        ModelFormatError
            If the file is not valid, is one of unigrams (`UBPE.from_sentencepiece` reads those) or words, or merges in an order
            that has no counterpart here, naming the piece.
        OSError
            If it cannot be read.

        Notes
        -----
        Source of the format: ``sentencepiece_model.proto`` of sentencepiece.

        Examples
        --------
        >>> data = BPE.from_merges([[0, 1]], alphabet="ab").to_sentencepiece()
        >>> tok = BPE.from_sentencepiece(data)
        >>> tok.decode(tok.encode("aab"))
        'aab'
        """
        return cls._imported(formats.imports.from_sentencepiece(source, unigram=False), params)

    def to_sentencepiece(self, path: str | os.PathLike[str] | None = None) -> bytes:
        """Make the `.model` file for sentencepiece, of the kind BPE; for tokenizers of characters that cut no text.

        Special tokens become control pieces, which sentencepiece does not look for in a text. A model that has no unknown token
        gets one more id, the last.

        Parameters
        ----------
        path
            A file to write it to as well.

        Returns
        -------
        data
            The content of the file.

        Raises
        ------
        NotFittedError
            Without a vocabulary.
        ValueError
            If the model cannot say the same, naming the first sample that is encoded differently.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> data = BPE.from_merges([[0, 1]], alphabet="ab").to_sentencepiece()
        >>> BPE.from_sentencepiece(data).encode("aab").tolist()
        [0, 2]
        """
        if self._by_batches:
            raise ValueError("rules: sentencepiece merges by rank, not by the articles' batch rule")
        data = formats.exports.to_sentencepiece(self._fitted(), self._to_plain_lists, unigram=False)
        if path is not None:
            write_atomically(path, data)
        return data

    def _to_plain_lists(self, docs: list[Any]) -> list[list[int]]:
        """The ids of documents, special tokens taken for ordinary text."""
        return self.encode_batch(docs, disallowed_special="none").to_lists()

    # ---------------------------------------------------------------------------------------------- gguf

    @classmethod
    def from_gguf(cls, path: str | os.PathLike[str], **params: Any) -> Self:
        """Read the vocabulary of a `.gguf` file of llama.cpp, of the kinds llama (as sentencepiece's BPE) and gpt2.

        Parameters
        ----------
        path
            The file; of its tensors nothing is read.
        **params
            Further constructor arguments.

        Returns
        -------
        Self
            A fitted tokenizer.

        Raises
        ------
        ModelFormatError
            If the file is not valid, or of another kind, naming it.

        Examples
        --------
        >>> tok = BPE.from_gguf("llama.gguf")  # doctest: +SKIP
        """
        return cls._imported(formats.imports.from_gguf(path, unigram=False), params)

    # ---------------------------------------------------------------------------------------------- tekken and tiktoken

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

        Raises
        ------
        ModelFormatError
            If the file is not valid, naming what is not.

        Examples
        --------
        >>> import base64, json
        >>> tokens = [bytes([i]) for i in range(256)] + [b"ab"]
        >>> vocab = [{"rank": i, "token_bytes": base64.b64encode(token).decode()} for i, token in enumerate(tokens)]
        >>> config = {"pattern": r"\p{L}+|\P{L}+", "default_vocab_size": 259, "default_num_special_tokens": 2}
        >>> tok = BPE.from_tekken(json.dumps({"config": config, "vocab": vocab}))
        >>> tok.encode("abc").tolist(), tok.special_ids  # ids are ranks, and 2
        ([258, 101], {'<unk>': 0, '<s>': 1})
        """
        return cls._imported(formats.imports.from_tekken(source), params)

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

        Raises
        ------
        ModelFormatError
            If the file is not valid, or holds a token that its parts never make.
        OSError
            If it cannot be read.

        Examples
        --------
        >>> ranks = BPE.from_merges([[97, 98]], alphabet=bytes(range(256))).to_tiktoken()
        >>> ranks[-9:]
        b'YWI= 256\n'
        >>> BPE.from_tiktoken(ranks, pretokenizer="gpt2", special_tokens={"<end>": 300}).encode("abc").tolist()
        [256, 99]
        """
        return cls._imported(formats.imports.from_tiktoken(source, pretokenizer, special_tokens), params)

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

        Raises
        ------
        NotFittedError
            Without a vocabulary.
        ValueError
            If the alphabet is not the 256 bytes, the ids are not in order of the merges, or a sample is encoded differently.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> BPE.from_merges([[97, 98]], alphabet=bytes(range(256))).to_tiktoken().splitlines()[-1]
        b'YWI= 256'
        """
        data = formats.exports.to_tiktoken(self._fitted(), self._to_lists)
        if path is not None:
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

        Raises
        ------
        ImportError
            Without tiktoken.
        NotFittedError, ValueError
            As `to_tiktoken`.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.for_text(260, pretokenizer="gpt2").fit(["low lower lowest"])
        >>> tok.to_tiktoken_encoding().encode("lower") == tok.encode("lower").tolist()  # doctest: +SKIP
        True
        """
        return formats.exports.to_tiktoken_encoding(self._fitted(), self._to_lists, name)

    # ---------------------------------------------------------------------------------------------- vocab.json and merges.txt

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
            The character of text that ``</w>`` stands for, usually a space.
        **params
            Further constructor arguments.

        Returns
        -------
        Self
            A fitted tokenizer.

        Raises
        ------
        ModelFormatError
            If the files are not valid.
        OSError
            If they cannot be read.

        Examples
        --------
        >>> tok = BPE.from_vocab_merges('{"a": 0, "b": 1, "ab": 2}', "#version: 0.2\na b\n", kind="str", pretokenizer=None)
        >>> tok.encode("aab").tolist()
        [0, 2]
        """
        return cls._imported(
            formats.imports.from_vocab_merges(vocab, merges, kind, pretokenizer, special_tokens, end_of_word), params
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

        Raises
        ------
        NotFittedError
            Without a vocabulary.
        ValueError
            If the files would not give the same ids, or a token of characters holds white space.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> BPE.from_merges([[0, 1]], alphabet="ab").to_vocab_merges()
        ('{"a": 0, "b": 1, "ab": 2}', '#version: 0.2\na b\n')
        """
        out = formats.exports.to_vocab_merges(self._fitted(), self._to_lists, end_of_word)
        for path, text in zip((vocab_path, merges_path), out, strict=True):
            if path is not None:
                write_atomically(path, text.encode())
        return out


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
        self.n_tokens = n_tokens
        self.alphabet = alphabet
        self.rules = rules
        self.max_token_length = max_token_length
        self.pretokenizer = pretokenizer
        self.special_tokens = special_tokens
        self.special_first = special_first
        self.known_words = known_words
        self.normalizer = normalizer
        self.encoding = encoding
        self.break_tokens = break_tokens
        self.stop_tokens = stop_tokens
        self.unknown = unknown
        self.n_threads = n_threads


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
        self.n_tokens = n_tokens
        self.n_candidates = n_candidates
        self.alphabet = alphabet
        self.rules = rules
        self.max_token_length = max_token_length
        self.pretokenizer = pretokenizer
        self.special_tokens = special_tokens
        self.special_first = special_first
        self.known_words = known_words
        self.normalizer = normalizer
        self.encoding = encoding
        self.break_tokens = break_tokens
        self.stop_tokens = stop_tokens
        self.unknown = unknown
        self.n_threads = n_threads
