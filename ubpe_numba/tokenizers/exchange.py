"""Files of other libraries: what tokenizers of pairs and of unigrams read and write."""

from __future__ import annotations

import os
from abc import abstractmethod
from typing import Any, Self

import numpy as np

from ubpe_numba import formats
from ubpe_numba.errors import quoted
from ubpe_numba.runtime.files import write_atomically
from ubpe_numba.tokenizers.base import Tokenizer
from ubpe_numba.tokenizers.refining import BY_PROBABILITY, Refining
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.unknown import Stand, hides_symbols
from ubpe_numba.vocabulary.vocabulary import Vocabulary
from ubpe_numba.vocabulary.weights import log_probabilities


class HuggingFace(Tokenizer):
    """Exports to Hugging Face, of pairs and of unigrams."""

    @abstractmethod
    def _huggingface(self, unk_token: Any, template: Any, special_first: bool | None) -> str:
        """The content of a `tokenizer.json`."""

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
        integers the character ``chr(0xE000 + i)`` below 6400, from there on ``chr(0x10000 - 6400 + i)``. The model is of the type
        BPE, of a `UBPE` Unigram.

        Parameters
        ----------
        path
            A file to write it to as well.
        unk_token
            The special token or the symbol (``"N"``; of integers ``(5,)``) that stands in the exported tokenizer for every symbol
            that it does not know; by default that of the argument `unknown` of this tokenizer. False: none, and no warning. Of a
            `UBPE` a special token, for several unknown symbols side by side; without it the other library raises an error.
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

        A `UBPE` needs the objective ``"tokenizers"``: of paths of equal probability (``aa|a``, ``a|aa``) tokenizers takes another
        than the other objectives, and its sums are rounded. Thus fit, or `reweight`, with that objective, or use
        ``tok.set_params(objective="tokenizers")`` for a tokenizer made for ``"likelihood"``: all other ids stay the same. Its
        reader of JSON does not round numbers to the nearest. Scores are written so that it reads what is meant. For one number
        in 600 there are no such decimals; a fit with this objective makes others, 1 part in 10**16 away. Of tokenizers made for
        another objective the file has these, which could decide otherwise between paths that are as probable.

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

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.from_merges([[0, 1]], alphabet="ab", special_tokens=["[UNK]", "<end>"])
        >>> fast = tok.to_transformers(unk_token="[UNK]", eos_token="<end>", model_max_length=512)  # doctest: +SKIP
        >>> fast.encode("aabx<end>")  # doctest: +SKIP
        [0, 2, 3, 4]
        """
        roles = {
            "unk_token": self._unk_token(unk_token, symbols=self._needs_pairs),
            "bos_token": bos_token, "eos_token": eos_token, "pad_token": pad_token,
            "cls_token": cls_token, "sep_token": sep_token, "mask_token": mask_token,
        }  # fmt: skip
        params |= {"model_max_length": model_max_length, "padding_side": padding_side, "chat_template": chat_template}
        return formats.export.to_transformers(self._huggingface(unk_token, template, special_first), roles, params)

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


class PairFiles(HuggingFace):
    """Files of tokenizers that merge pairs."""

    @property
    def _by_batches(self) -> bool:
        return self.rules is not None and self.rules.encode == "batch"

    def _huggingface(self, unk_token: Any, template: Any, special_first: bool | None) -> str:
        unk_token = self._unk_token(unk_token)
        return formats.export.to_huggingface(self._fitted(), self._to_lists, unk_token, template, special_first)

    def _to_lists(self, docs: list[Any]) -> list[list[int]]:
        """The ids of documents, special tokens allowed: what an export has to give too.

        What a normalizer or a pre-tokenizer puts in may be unknown; other libraries leave that out.
        """
        return self.encode_batch(docs, allowed_special="all", unknown="skip").to_lists()

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
            ModelFormatError for a file that is not valid, or of another kind, naming what is wrong.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> data = BPE.from_merges([[0, 1]], alphabet="ab").to_sentencepiece()
        >>> tok = BPE.from_sentencepiece(data)
        >>> tok.decode(tok.encode("aab"))
        'aab'
        """
        return cls._imported(formats.table.from_sentencepiece(source, unigram=False), params)

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
            ValueError if it cannot say the same, naming the first sample that is encoded differently.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> data = BPE.from_merges([[0, 1]], alphabet="ab").to_sentencepiece()
        >>> BPE.from_sentencepiece(data).encode("aab").tolist()
        [0, 2]
        """
        if self._by_batches:
            raise ValueError("rules: sentencepiece merges by rank, not by the articles' batch rule")
        data = formats.export.to_sentencepiece(
            self._fitted(), lambda docs: self.encode_batch(docs, disallowed_special="none").to_lists(), unigram=False
        )
        if path is not None:
            write_atomically(path, data)
        return data

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
            ModelFormatError for a file that is not valid, or of another kind, naming what is wrong.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.from_gguf("llama.gguf")  # doctest: +SKIP
        """
        return cls._imported(formats.table.from_gguf(path, unigram=False), params)

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
        >>> import base64, json
        >>> tokens = [bytes([i]) for i in range(256)] + [b"ab"]
        >>> vocab = [{"rank": i, "token_bytes": base64.b64encode(token).decode()} for i, token in enumerate(tokens)]
        >>> config = {"pattern": r"\p{L}+|\P{L}+", "default_vocab_size": 259, "default_num_special_tokens": 2}
        >>> tok = BPE.from_tekken(json.dumps({"config": config, "vocab": vocab}))
        >>> tok.encode("abc").tolist(), tok.special_ids  # ids are ranks, and 2
        ([258, 101], {'<unk>': 0, '<s>': 1})
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
            The character of text that ``</w>`` stands for, usually a space.
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
                write_atomically(path, text.encode())
        return out


class UnigramFiles(Refining, HuggingFace):
    """Files of tokenizers that search the best path."""

    def _huggingface(self, unk_token: Any, template: Any, special_first: bool | None) -> str:
        model = self._fitted()
        if self.objective != "tokenizers":
            self._check_objective()
            hint = "" if self.objective in BY_PROBABILITY else "reweight estimates probabilities, and then "
            raise ValueError(
                f"objective: {quoted(self.objective)} takes other paths than a Unigram model of tokenizers, at least "
                f"among those of equal weight; {hint}set_params(objective='tokenizers') takes the same"
            )
        unknown = "skip" if model.segmenter.unknown is None else "raise"  # which leaves it to the rule of the model
        return formats.export.to_huggingface_unigram(
            _with_scores(model),
            lambda docs: self.encode_batch(docs, allowed_special="all", unknown=unknown).to_lists(),
            self._unk_token(unk_token, symbols=False),
            template,
            special_first,
        )

    @classmethod
    def from_huggingface(cls, source: Any, **params: Any) -> Self:
        """Read a `tokenizer.json` of Hugging Face whose model is Unigram; the objective is ``"tokenizers"``.

        The tokenizer gives the same ids, those that the other's `encode` gives with ``add_special_tokens=False``, special tokens
        where they are allowed.

        Parameters
        ----------
        source
            The text, the path of a file or of a folder that has it, a `tokenizers.Tokenizer`, or a fast tokenizer of
            transformers.
        **params
            Further constructor arguments.

        Returns
        -------
        Self
            A fitted tokenizer, with the file's normalizer, pretokenizer and special tokens.

        Raises
        ------
        ModelFormatError
            If the file is not valid, of another type (`BPE.from_huggingface` reads those of BPE), or says something that has no
            counterpart here, naming it.

        Warns
        -----
        UserWarning
            If an added token has another id, here and in the package tokenizers, than the file says.

        Notes
        -----
        As for `BPE.from_huggingface`. Source of the model: T. Kudo, Subword regularization, 2018.

        Examples
        --------
        >>> from ubpe_numba import UBPE
        >>> import json
        >>> vocab = [["<unk>", 0.0], ["a", -2.0], ["b", -2.0], ["ab", -1.0]]
        >>> tok = UBPE.from_huggingface(json.dumps({"model": {"type": "Unigram", "unk_id": 0, "vocab": vocab}}))
        >>> tok.encode("aabc").tolist()
        [1, 3, 0]
        """
        return cls._imported(formats.table.from_huggingface_unigram(source), {"objective": "tokenizers", **params})

    @classmethod
    def from_sentencepiece(cls, source: Any, **params: Any) -> Self:
        """Read a `.model` file of sentencepiece of the kind unigram; the objective is ``"sentencepiece"``.

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
            ModelFormatError for a file that is not valid, or of another kind, naming what is wrong.

        Notes
        -----
        Source of the format: ``sentencepiece_model.proto`` of sentencepiece; of the model: T. Kudo, Subword regularization, 2018.

        Examples
        --------
        >>> from ubpe_numba import UBPE
        >>> made = UBPE(5, 1, objective="sentencepiece").fit(["abab", "ab", "ba", "abba", "a", "b"])
        >>> tok = UBPE.from_sentencepiece(made.to_sentencepiece())
        >>> tok.objective, tok.decode(tok.encode("abab"))
        ('sentencepiece', 'abab')
        """
        return cls._imported(formats.table.from_sentencepiece(source, unigram=True), {"objective": "sentencepiece", **params})

    def to_sentencepiece(self, path: str | os.PathLike[str] | None = None) -> bytes:
        """Make the `.model` file for sentencepiece, of the kind unigram; for tokenizers of characters that cut no text.

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
            ValueError if it cannot say the same, naming the first sample that is encoded differently.

        Examples
        --------
        >>> from ubpe_numba import UBPE
        >>> tok = UBPE(5, 1, objective="sentencepiece").fit(["abab", "ab", "ba", "abba", "a", "b"])
        >>> UBPE.from_sentencepiece(tok.to_sentencepiece()).encode("abab").tolist() == tok.encode("abab").tolist()
        True
        """
        model = self._fitted()
        if self.objective != "sentencepiece":
            raise ValueError(f"objective: expected 'sentencepiece', got {quoted(self.objective)}; set_params changes it")
        data = formats.export.to_sentencepiece(
            _with_scores(model), lambda docs: self.encode_batch(docs, disallowed_special="none").to_lists(), unigram=True
        )
        if path is not None:
            write_atomically(path, data)
        return data

    @classmethod
    def from_gguf(cls, path: str | os.PathLike[str], **params: Any) -> Self:
        """Read the vocabulary of a `.gguf` file of llama.cpp, of the kind t5, which is sentencepiece's unigram.

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
            ModelFormatError for a file that is not valid, or of another kind, naming what is wrong.

        Examples
        --------
        >>> from ubpe_numba import UBPE
        >>> tok = UBPE.from_gguf("t5.gguf")  # doctest: +SKIP
        """
        return cls._imported(formats.table.from_gguf(path, unigram=True), {"objective": "sentencepiece", **params})


def _with_scores(model: Model) -> Model:
    """A model whose vocabulary holds log-probabilities: frequencies where it has no estimates."""
    vocabulary = model.vocabulary
    if vocabulary.log_probabilities is not None:
        return model
    lengths, flat = np.diff(vocabulary.offsets)[vocabulary.n_alphabet :], vocabulary.arena[vocabulary.n_alphabet :]
    found = log_probabilities(vocabulary)
    return model._replace(vocabulary=Vocabulary.from_sequences(vocabulary.n_alphabet, flat, lengths, log_probabilities=found))
