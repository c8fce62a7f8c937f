"""Tokenizers from and for other libraries: Hugging Face, tiktoken, GPT-2's two files.

Nothing is written unseen: what an export says is read back, and where the other library is installed read by that too, and all
must give the same ids for some thousand samples; otherwise the export is refused, with the first sample that differs.
"""

from __future__ import annotations

import itertools
import json
import os
import pathlib
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar

from ubpe_numba.errors import ModelFormatError
from ubpe_numba.formats import huggingface, tiktoken, vocab_merges
from ubpe_numba.runtime.files import open_regular, write_atomically
from ubpe_numba.text.pretokenizer import Pretokenizer
from ubpe_numba.tokenizers.export_check import Foreign

Self = TypeVar("Self", bound="Bridges")


class Bridges(Foreign):
    """What pair tables can exchange with other libraries."""

    # ---------------------------------------------------------------------------------------------- Hugging Face

    @classmethod
    def from_huggingface(cls: type[Self], source: Any, *, kind: str | None = None, alphabet: Any = None, **params: Any) -> Self:
        """A tokenizer from a `tokenizer.json` of Hugging Face: its text, the path of a file, or a `tokenizers.Tokenizer`.

        It gives the same ids, those that its encode gives with ``add_special_tokens=False``, special tokens where they are
        allowed; tokens of its vocabulary that no pair makes are special tokens here. `kind` says what symbols are, ``"bytes"``,
        ``"str"`` or ``"int"``; None decides by the file. `alphabet`: the integers that the characters of a model of ``"int"``
        stand for, in their order. `params` are further constructor arguments.

        ModelFormatError if the file is not valid, or says something that has no counterpart here (a normalizer, affixes, byte
        fallback, text that is cut twice), naming it.
        """
        text = source.to_str() if hasattr(source, "to_str") else _content(source, "{")
        return cls._from_table(huggingface.read(text, kind), len(text), alphabet, params)

    def to_huggingface(self, path: str | os.PathLike[str] | None = None) -> str:
        r"""The `tokenizer.json` for Hugging Face's tokenizers; written to `path` too, if there is one.

        Bytes become a byte-level model with its pattern, characters a model of characters, and symbol i of an alphabet of
        integers the character ``chr(0xE000 + i)`` below 6400, from there on ``chr(0x10000 - 6400 + i)``. ValueError if the
        model cannot say the same, naming the first sample that is encoded differently.

        >>> from ubpe_numba import BPE
        >>> text = BPE.from_merges([[0, 1]], alphabet="ab").to_huggingface()
        >>> BPE.from_huggingface(text).encode("aab").tolist()
        [0, 2]
        """
        vocab, merges = self._named()
        special, known = self._words()
        if clash := next((word for word in {**special, **known} if word in vocab), None):
            raise ValueError(f"special_tokens: {clash!r} is a token of the vocabulary too; Hugging Face allows one")
        text = huggingface.write(self._table(), vocab, merges, special, known)
        symbols = None if self.alphabet_.kind != "int" else self.alphabet_.symbols
        self._check_same(type(self).from_huggingface(text, kind=self.alphabet_.kind, alphabet=symbols), "what was written")
        if find_spec("tokenizers") is not None:
            other = import_module("tokenizers").Tokenizer.from_str(text)
            self._check_foreign(lambda docs: [e.ids for e in other.encode_batch(docs, add_special_tokens=False)], "tokenizers")
        if path is not None:
            write_atomically(path, text.encode())
        return text

    def to_transformers(self, **params: Any) -> Any:
        """A `transformers.PreTrainedTokenizerFast` that gives the same ids; `params` are its further arguments.

        ``eos_token="<|endoftext|>"`` and the like say what special tokens are for. ImportError without the extra ``hf``; for the
        rest as `to_huggingface`.
        """
        text = self.to_huggingface()
        try:
            fast = import_module("transformers").PreTrainedTokenizerFast
            tokenizer = import_module("tokenizers").Tokenizer.from_str(text)
        except ImportError as error:
            raise ImportError("to_transformers needs transformers: pip install 'ubpe-numba[hf]'") from error
        return fast(tokenizer_object=tokenizer, **{"clean_up_tokenization_spaces": False, **params})

    # ---------------------------------------------------------------------------------------------- tiktoken

    @classmethod
    def from_tiktoken(
        cls: type[Self], source: Any, *, pretokenizer: Any = None, special_tokens: dict[str, int] | None = None, **params: Any
    ) -> Self:
        """A tokenizer from a `.tiktoken` file: its path or its bytes, or a `tiktoken.Encoding`, which knows the rest too.

        A file has no pattern and no special tokens: give those that belong to it, such as ``"cl100k"``. `str` is taken as
        UTF-8, as by tiktoken. ModelFormatError if the file is not valid, or holds a token that its parts never make.
        """
        if hasattr(source, "_mergeable_ranks"):
            ranks, special_tokens = dict(source._mergeable_ranks), special_tokens or dict(source._special_tokens)
            pretokenizer = pretokenizer or tiktoken.uncovered(source._pat_str)
            size = sum(len(token) + 8 for token in ranks)
        else:
            data = source if isinstance(source, bytes) else _read(source)
            ranks, size = tiktoken.parse(data), len(data)
        cutter = Pretokenizer.of(pretokenizer)
        table = tiktoken.read(ranks, special_tokens or {}, None if cutter is None else cutter.pattern)
        return cls._from_table(table, size, None, params)

    def to_tiktoken(self, path: str | os.PathLike[str] | None = None) -> bytes:
        """The `.tiktoken` file, tokens and ranks; written to `path` too, if there is one.

        Pattern and special tokens are not part of it: see `to_tiktoken_encoding`. ValueError if the alphabet is not the 256
        bytes, the ids are not in order of the merges, or a sample is encoded differently.
        """
        ranks = self._ranks()
        data = tiktoken.write(ranks)
        if path is not None:
            write_atomically(path, data)
        return data

    def to_tiktoken_encoding(self, name: str = "ubpe-numba") -> Any:
        """A `tiktoken.Encoding` that gives the same ids. ImportError without tiktoken; for the rest as `to_tiktoken`."""
        ranks = self._ranks()
        try:
            make = import_module("tiktoken").Encoding
        except ImportError as error:
            raise ImportError("to_tiktoken_encoding needs tiktoken: pip install tiktoken") from error
        return make(name, pat_str=tiktoken.covering(self._pattern()), mergeable_ranks=ranks, special_tokens=self._words()[0])

    def _ranks(self) -> dict[bytes, int]:
        """Tokens and ranks, tried out."""
        self._check_order()
        alphabet, vocabulary = self.alphabet_, self.vocabulary_
        if alphabet.kind != "bytes" or alphabet.size < 256:
            raise ValueError("alphabet: tiktoken needs one of all 256 bytes")
        if self._words()[1]:
            raise ValueError("known_words: tiktoken has none that are found in every text")
        symbols = alphabet.to_symbols(vocabulary.arena).tobytes()
        starts = vocabulary.offsets.tolist()
        tokens = [symbols[a:b] for a, b in itertools.pairwise(starts)]
        ids = self._ids_of_tokens()
        if sorted(ids[256:]) != ids[256:]:
            raise ValueError("token_ids: tiktoken merges by id, and these are not in order of the merges")
        ranks = dict(zip(tokens, ids, strict=True))
        if len(ranks) < len(tokens):
            raise ValueError("vocabulary: two tokens stand for the same bytes; tiktoken allows one")
        special, pattern = self._words()[0], self._pattern()
        again = type(self).from_tiktoken(tiktoken.write(ranks), pretokenizer=pattern, special_tokens=special)
        self._check_same(again, "what was written")
        if find_spec("tiktoken") is not None:
            make = import_module("tiktoken").Encoding
            other = make("sample", pat_str=tiktoken.covering(pattern), mergeable_ranks=ranks, special_tokens=special)
            self._check_foreign(lambda docs: other.encode_batch(docs, allowed_special="all", num_threads=1), "tiktoken")
        return ranks

    # ---------------------------------------------------------------------------------------------- vocab.json and merges.txt

    @classmethod
    def from_vocab_merges(
        cls: type[Self],
        vocab: Any,
        merges: Any,
        *,
        kind: str = "bytes",
        pretokenizer: Any = "gpt2",
        special_tokens: dict[str, int] | None = None,
        end_of_word: str | None = None,
        **params: Any,
    ) -> Self:
        """A tokenizer from `vocab.json` and `merges.txt`: their texts or paths; `vocab` may be a mapping too.

        ``kind="bytes"`` is GPT-2's form, where `str` is taken as UTF-8; ``"str"`` that of characters. `end_of_word`: the
        character of text that ``</w>`` stands for, usually a space. Tokens that no pair makes become special tokens.
        ModelFormatError if the files are not valid.
        """
        if kind not in ("bytes", "str"):
            raise ValueError(f"kind: expected 'bytes' or 'str', got {kind!r}")
        if end_of_word is not None and (kind != "str" or not isinstance(end_of_word, str) or len(end_of_word) != 1):
            raise ValueError(f"end_of_word: expected one character, and kind='str', got {end_of_word!r}")
        source = dict(vocab) if hasattr(vocab, "keys") else _content(vocab, "{")
        text = _content(merges, None)
        cutter = Pretokenizer.of(pretokenizer)
        pattern = None if cutter is None else cutter.pattern
        table = vocab_merges.read(source, text, kind, special_tokens or {}, pattern, end_of_word)
        return cls._from_table(table, len(source) + len(text), None, params)

    def to_vocab_merges(
        self,
        vocab_path: str | os.PathLike[str] | None = None,
        merges_path: str | os.PathLike[str] | None = None,
        *,
        end_of_word: str | None = None,
    ) -> tuple[str, str]:
        """The texts of `vocab.json` and `merges.txt`; written to the paths too, if there are some.

        Special tokens are part of the vocabulary, the pattern of neither. `end_of_word`: the character that is written as
        ``</w>``. ValueError if the files would not give the same ids, or a token of characters holds white space.
        """
        self._check_fitted()
        if self.alphabet_.kind == "int":
            raise ValueError("alphabet: the files hold text; use to_huggingface for integers")
        vocab, merges = self._named()
        special, known = self._words()
        if known or any(word in vocab for word in special):
            raise ValueError("special_tokens: known words, or tokens that the vocabulary has too, cannot be written")
        out = vocab_merges.write({**vocab, **special}, merges, end_of_word)
        again = type(self).from_vocab_merges(
            *out, kind=self.alphabet_.kind, pretokenizer=self._pattern(), special_tokens=special, end_of_word=end_of_word
        )
        self._check_same(again, "what was written")
        if find_spec("tokenizers") is not None and end_of_word is None:
            theirs = import_module("tokenizers")
            lines = out[1].split("\n")[1:-1]
            other = theirs.Tokenizer(theirs.models.BPE(json.loads(out[0]), [tuple(line.split(" ")) for line in lines]))
            whole = huggingface.write(self._table(), vocab, merges, special, known)
            other.pre_tokenizer = theirs.Tokenizer.from_str(whole).pre_tokenizer  # the files do not say it
            other.add_special_tokens(list(special))
            self._check_foreign(lambda docs: [e.ids for e in other.encode_batch(docs)], "tokenizers")
        if vocab_path is not None:
            write_atomically(vocab_path, out[0].encode())
        if merges_path is not None:
            write_atomically(merges_path, out[1].encode())
        return out


def _read(path: Any) -> bytes:
    with open_regular(path) as f:
        return f.read()


def _content(source: Any, begins: str | None) -> str:
    """A text, given as it is or by the path of its file: a `str` that `begins` so, or has several lines, is the text."""
    if isinstance(source, str) and ("\n" in source or (begins is not None and source.lstrip().startswith(begins))):
        return source
    if isinstance(source, bytes):
        data = source
    elif isinstance(source, (str, pathlib.PurePath)) or hasattr(source, "__fspath__"):
        data = _read(source)
    else:
        raise TypeError(f"expected a text or a path, got {type(source).__name__}")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ModelFormatError(f"not text in UTF-8: {error}") from error
