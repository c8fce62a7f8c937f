"""Files of other libraries that tokenizers of pairs and of unigrams read and write alike."""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np

from ubpe_numba import formats
from ubpe_numba.errors import quoted
from ubpe_numba.tokenizers.decoding import Decoding
from ubpe_numba.tokenizers.fitted import BY_PROBABILITY
from ubpe_numba.tokenizers.saving import Saving
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.rules import FitRules
from ubpe_numba.vocabulary.unknown import hides_symbols
from ubpe_numba.vocabulary.vocabulary import Vocabulary
from ubpe_numba.vocabulary.weights import log_probabilities


class Exchange(Decoding, Saving):
    """Files of other libraries that tokenizers of pairs and of unigrams read and write."""

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
            The special token or the symbol (``"N"``; of integers ``(5,)``) that replaces every unknown symbol in the exported
            tokenizer; by default that of the argument `unknown` of this tokenizer. False: none, and no warning. Of a `UBPE` a
            special token, for several unknown symbols side by side; without it the other library raises an error.
        template
            The parts of an input there, such as ``"[CLS] $A [SEP]"``: ``$A``, the document, and special tokens. Those after it
            also follow the second of a pair, with the type id 1; a second `str` is the template of pairs:
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
        ValueError
            If the model cannot say the same, naming the first sample that is encoded differently.

        Warns
        -----
        UserWarning
            If symbols of a text may be unknown and there is no `unk_token`: the other library leaves them out silently, where
            `encode` here is an error.

        Notes
        -----
        The export is tried on some thousand samples, with `unk_token` also on unknown symbols, and with `template` on pairs, by
        the package tokenizers where it is installed. The file has a decoder that joins tokens, so that decoding there gives back
        a text.

        A `UBPE` needs the objective ``"tokenizers"``, whose choice among paths of equal probability (``aa|a``, ``a|aa``) is that
        of the other library: fit, or `reweight`, with it, or ``tok.set_params(objective="tokenizers")`` for a tokenizer made for
        ``"likelihood"``. The reader of JSON there does not round numbers to the nearest; for one score in 600 no decimals are
        read back. A fit with this objective makes others, 1 part in 10**16 away; of other tokenizers the file has these, which
        could decide otherwise between paths that are as probable.

        Examples
        --------
        >>> from ubpe_numba import BPE, Preprocessing
        >>> words = Preprocessing(special_tokens=["[UNK]", "[CLS]", "[SEP]"])
        >>> tok = BPE.from_merges([[0, 1]], alphabet="ab", preprocessing=words)
        >>> text = tok.to_huggingface(unk_token="[UNK]", template="[CLS] $A [SEP]", special_first=True)
        >>> BPE.from_huggingface(text).encode("aab?").tolist()  # the template is left out here
        [3, 5, 0]
        """
        text = self._huggingface(unk_token, template, special_first)
        if path is not None:
            from ubpe_numba.runtime.files import write_atomically

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
            Its `save_pretrained` writes the files that other programs read. ValueError also for a word that is no special token,
            to which transformers would give a new id.

        Examples
        --------
        >>> from ubpe_numba import BPE, Preprocessing
        >>> tok = BPE.from_merges([[0, 1]], alphabet="ab", preprocessing=Preprocessing(special_tokens=["[UNK]", "<end>"]))
        >>> fast = tok.to_transformers(unk_token="[UNK]", eos_token="<end>", model_max_length=512)  # doctest: +SKIP
        >>> fast.encode("aabx<end>")  # doctest: +SKIP
        [0, 2, 3, 4]
        """
        roles = {
            "unk_token": self._unk_token(unk_token),
            "bos_token": bos_token, "eos_token": eos_token, "pad_token": pad_token,
            "cls_token": cls_token, "sep_token": sep_token, "mask_token": mask_token,
        }  # fmt: skip
        params |= {"model_max_length": model_max_length, "padding_side": padding_side, "chat_template": chat_template}
        return formats.export.to_transformers(self._huggingface(unk_token, template, special_first), roles, params)

    def _huggingface(self, unk_token: Any, template: Any, special_first: bool | None) -> str:
        """The content of a `tokenizer.json`."""
        model, unk_token = self._fitted(), self._unk_token(unk_token)
        if self._needs_pairs:
            return formats.export.to_huggingface(model, self._to_lists, unk_token, template, special_first)
        self._check_model(model)
        if (objective := getattr(self, "objective", None)) != "tokenizers":
            hint = "" if objective in BY_PROBABILITY else "reweight estimates probabilities, and then "
            raise ValueError(
                f"objective: {quoted(objective)} takes other paths than a Unigram model of tokenizers, at least "
                f"among those of equal weight; {hint}set_params(objective='tokenizers') takes the same"
            )
        return formats.export.to_huggingface_unigram(_with_scores(model), self._to_lists, unk_token, template, special_first)

    def _to_lists(self, docs: list[Any]) -> list[list[int]]:
        """The ids of documents, special tokens allowed, that an export has to give too.

        Symbols that a normalizer or a pre-tokenizer adds may be unknown; other libraries leave these out, but for the rule that
        a Unigram model has for them.
        """
        by_rule = not self._needs_pairs and self._fitted().segmenter.unknown is not None
        return self.encode_batch(docs, allowed_special="all", unknown="raise" if by_rule else "skip").to_lists()

    def _unk_token(self, given: Any) -> Any:
        """The argument `unk_token` of an export: by default the special token or, with pairs, the symbol of `unknown`."""
        model, unknown = self._fitted(), self._unknown(None)
        if given is not None or unknown in ("raise", "skip"):
            return given
        if isinstance(unknown, tuple):
            assert model.segmenter.special is not None
            return unknown[1] if model.segmenter.special.found[unknown[0]] else None
        if not self._needs_pairs or not hides_symbols(unknown, model.alphabet):
            return None
        symbol, kind = int(model.alphabet.symbols[unknown]), model.alphabet.kind
        return (symbol,) if kind == "int" else chr(symbol) if kind == "str" else bytes([symbol])

    @classmethod
    def from_sentencepiece(cls, source: Any, **params: Any) -> Self:
        """Read a `.model` file of sentencepiece: for a `UBPE` of the kind unigram, otherwise of the kind BPE, or of characters.

        The tokenizer gives the same ids, with control pieces as special tokens, a `UBPE` by the objective ``"sentencepiece"``.
        Text is changed as sentencepiece does, and `decode` gives what it gives, but for special tokens, which are shown, and
        white space before the text where pieces begin with several marks, or words of the user with one.

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
        Source of the format: ``sentencepiece_model.proto`` of sentencepiece; of unigrams: T. Kudo, Subword regularization, 2018.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> data = BPE.from_merges([[0, 1]], alphabet="ab").to_sentencepiece()
        >>> tok = BPE.from_sentencepiece(data)
        >>> tok.decode(tok.encode("aab"))
        'aab'
        """
        unigram = not cls._needs_pairs
        found = formats.table.from_sentencepiece(source, unigram=unigram)
        return cls._imported(found, {"objective": "sentencepiece", **params} if unigram else params)

    def to_sentencepiece(self, path: str | os.PathLike[str] | None = None) -> bytes:
        """Make the `.model` file for sentencepiece; for tokenizers of characters that cut no text.

        The kind is BPE, of a `UBPE` unigram. Special tokens become control pieces, which sentencepiece does not look for in a
        text. A model that has no unknown token gets one more id, the last.

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
        model, unigram = self._fitted(), not self._needs_pairs
        if unigram and (objective := getattr(self, "objective", None)) != "sentencepiece":
            raise ValueError(f"objective: expected 'sentencepiece', got {quoted(objective)}; set_params changes it")
        if not unigram and self.rules is not None and self.rules.encode == "batch":
            raise ValueError("rules: sentencepiece merges by rank, not by the articles' batch rule")
        data = formats.export.to_sentencepiece(
            _with_scores(model) if unigram else model,
            lambda docs: self.encode_batch(docs, disallowed_special="none").to_lists(),
            unigram=unigram,
        )
        if path is not None:
            from ubpe_numba.runtime.files import write_atomically

            write_atomically(path, data)
        return data

    @classmethod
    def from_gguf(cls, path: str | os.PathLike[str], **params: Any) -> Self:
        """Read the vocabulary of a `.gguf` file of llama.cpp.

        Of the kinds llama (as sentencepiece's BPE) and gpt2; a `UBPE` reads the kind t5, which is sentencepiece's unigram.

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
        unigram = not cls._needs_pairs
        found = formats.table.from_gguf(path, unigram=unigram)
        return cls._imported(found, {"objective": "sentencepiece", **params} if unigram else params)

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
            The kind of symbols, ``"int"`` or ``"str"``; None takes them for integers if all of them look like one.

        Returns
        -------
        Self
            A fitted tokenizer. ModelFormatError for anything else, naming the field.

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
        tokenizer._take(model)
        return tokenizer

    def to_published(self) -> str:
        """The dump that ubpe 0.2 and 0.3 load (`loads`, with `token_type=str` for characters).

        Break and stop tokens, which 0.2 does not know, are written, as are known words and a pattern that came from a dump.

        Returns
        -------
        str
            The dump, JSON. ValueError for a tokenizer with another pre-tokenizer, special tokens, an encoding, or known words
            that have other ids than those after the alphabet.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> BPE.from_merges([[0, 1]], alphabet="ab").to_published()
        '{"n_tokens": 3, "alphabet": {"a": 0, "b": 1}, "mapper": {"2": [0, 1]}, "weights": {"2": 0.0}}'
        """
        return formats.published_ubpe.write(self._fitted(), self._needs_pairs)


def _with_scores(model: Model) -> Model:
    """A model whose vocabulary holds log-probabilities: frequencies where it has no estimates."""
    vocabulary = model.vocabulary
    if vocabulary.log_probabilities is not None:
        return model
    lengths, flat = np.diff(vocabulary.offsets)[vocabulary.n_alphabet :], vocabulary.arena[vocabulary.n_alphabet :]
    found = log_probabilities(vocabulary)
    return model._replace(vocabulary=Vocabulary.from_sequences(vocabulary.n_alphabet, flat, lengths, log_probabilities=found))
