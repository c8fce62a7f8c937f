"""The formats that tokenizers are read from: a row of `FORMATS` each, with how a file is recognised and read.

The name of a file decides nothing, but for files that belong together: `vocab.json` and `merges.txt`, or `encoder.json` and
`vocab.bpe` as GPT-2 had them, are found from either, or from their folder. Only the beginning of a file is read before its format
is known, and all of it where that is JSON.

The functions `from_*` read one format from whatever holds it: a path, bytes, a text, an object of another library. They raise
ModelFormatError, which says what is not valid in a source or not supported here.
"""

from __future__ import annotations

import contextlib
import io
import os
import pathlib
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.errors import ModelFormatError, listed, quoted
from ubpe_numba.formats import (
    gguf,
    huggingface,
    model_file,
    pair_table,
    published_ubpe,
    sentencepiece,
    tiktoken,
    unigram,
    vocab_merges,
    wordpiece,
)
from ubpe_numba.formats.model_file import claimable, parse_json
from ubpe_numba.formats.pair_table import Table, symbol_index
from ubpe_numba.formats.wordpiece import Words
from ubpe_numba.runtime.files import BYTE_ORDER_MARK, is_object, naming, open_regular
from ubpe_numba.text.patterns import VERSION_OF_OTHERS
from ubpe_numba.text.pretokenizer import Pretokenizer
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.reserved import Reserved
from ubpe_numba.vocabulary.rules import FitRules
from ubpe_numba.vocabulary.segmenter import Segmenter
from ubpe_numba.vocabulary.vocabulary import Vocabulary

AUTO = "auto"  # the argument `pretokenizer` that leaves it to the file
_HEAD = 1 << 16  # bytes that formats other than JSON are recognised by
#: Of a folder the first that is there.
_IN_FOLDERS = ("tokenizer.json", "tekken.json", "tokenizer.model", "vocab.json", "encoder.json", "vocab.txt")
_VOCABULARIES, _MERGES = ("vocab.json", "encoder.json"), ("merges.txt", "vocab.bpe")  # files that belong together, of either name
_RANKS = re.compile(rb"[A-Za-z0-9+/]+={0,2} [0-9]{1,10}")


class Found(NamedTuple):
    """Content of a file: a `Model`, `Words` of WordPiece, or the plain data of our own files; and arguments of a constructor.

    `tokenizer` is the name of a class, where the file decides it.
    """

    model: Any
    params: dict[str, Any] = {}  # noqa: RUF012  never changed
    tokenizer: str | None = None


class Source:
    """A file, or its content in memory, and what was read of it so far: `n_bytes`, its size; `head`, its beginning."""

    def __init__(self, path: str, data: bytes | None = None) -> None:
        """Read the beginning; `path` is a name for messages if there is `data`. ModelFormatError for no regular file, OSError."""
        self.path, self._data = path, data
        self._document: Any = None
        with open_regular(path) if data is None else io.BytesIO(data) as f:
            self.n_bytes = f.seek(0, os.SEEK_END)
            f.seek(0)
            self.head = f.read(_HEAD).removeprefix(BYTE_ORDER_MARK)
            f.seek(0)
            self.is_object = is_object(f)

    @property
    def data(self) -> bytes:
        """All of the file."""
        if self._data is None:
            with open_regular(self.path) as f:
                self._data = f.read()
        return self._data

    @property
    def document(self) -> dict[str, Any]:
        """The object of JSON in a file, or in a module with ranks; else an empty one. ModelFormatError if it is not valid."""
        if self._document is None:
            if (module := tiktoken.javascript_object(self.head, lambda: self.data)) is not None:
                self._document = model_file.parse_json(module)
            else:
                self._document = pair_table.parse(self.data.removeprefix(BYTE_ORDER_MARK)) if self.is_object else {}
        return self._document  # type: ignore[no-any-return]

    def beside(self, names: Iterable[str]) -> str | None:
        """The path of the first file of these names in the same folder, if there is one."""
        paths = (os.path.join(os.path.dirname(self.path), name) for name in names)
        return next(filter(os.path.isfile, paths), None)

    def lines(self, most: int) -> list[bytes]:
        """Up to `most` whole lines of the beginning."""
        lines = self.head.split(b"\n", most)
        if len(lines) <= most and len(self.head) < self.n_bytes:
            lines.pop()  # it may go on
        return [line.removesuffix(b"\r") for line in lines[:most]]


class Format(NamedTuple):
    """A format: its name, how it is recognised and read. `options` are the arguments of `read`; others are refused."""

    name: str
    is_it: Callable[[Source], bool]
    read: Callable[..., Found]
    options: tuple[str, ...] = ()


def source_of(path: Any) -> Source:
    """The file of a path, of a tokenizer in a folder, or the `tokenizer.json` of an object of tokenizers or transformers.

    ModelFormatError for a folder without one, OSError, TypeError.
    """
    if (text := text_of_object(path)) is not None:
        return Source(f"{type(path).__module__.partition('.')[0]}.{type(path).__name__}", text.encode("utf-8", "surrogatepass"))
    where = os.fsdecode(path)
    if os.path.isdir(where):
        here = next((name for name in _IN_FOLDERS if os.path.isfile(os.path.join(where, name))), None)
        if here is None:
            raise ModelFormatError(f"{where}: a folder with none of {', '.join(_IN_FOLDERS)}")
        where = os.path.join(where, here)
    return Source(where)


def recognise(source: Source) -> Format:
    """The format of a file; ModelFormatError if it is none of those known."""
    found = next((row for row in FORMATS if row.is_it(source)), None)
    if found is None:
        known = "; ".join(row.name for row in FORMATS)
        begins = f"a file that begins with {quoted(source.head[:24])}"
        shown = f"an object of {listed(source.document)}" if source.document else begins
        raise ModelFormatError(f"{shown}, which is none of: {known}")
    return found


def read(
    path: Any, tokenizer: str | None = None, kind: str | None = None, pretokenizer: Any = AUTO, special_tokens: Any = None
) -> tuple[Source, Found]:
    """The content of a file of any format, with the name of a class of tokenizers; arguments as `tokenizers.load.load`.

    ModelFormatError names the recognised format, and why the file is not read; ValueError an argument that the format has not.
    """
    source = source_of(path)
    with naming(source.path):
        row = recognise(source)
    given = {"kind": kind, "pretokenizer": pretokenizer, "special_tokens": special_tokens, "tokenizer": tokenizer}
    for name, default in (("kind", None), ("pretokenizer", AUTO), ("special_tokens", None)):
        if name not in row.options and given[name] != default:
            raise ValueError(f"{name}: {source.path} is {row.name}, which says it itself")
    try:
        found = row.read(source, **{name: given[name] for name in row.options})
    except ModelFormatError as error:
        raise ModelFormatError(f"{source.path}: {row.name}: {error}") from error
    if found.tokenizer is not None:
        return source, found
    if isinstance(found.model, Words):
        if tokenizer is not None:
            raise ValueError(f"tokenizer: the file is a vocabulary of WordPiece, expected None, got {quoted(tokenizer)}")
        return source, found._replace(tokenizer="WordPiece")
    if found.model.vocabulary.merges is not None:
        if tokenizer == "UBPE":
            raise ValueError("tokenizer: the file has merges: expected BPE or UBPEClassic")
        return source, found._replace(tokenizer=tokenizer or "BPE")
    if tokenizer not in (None, "UBPE"):
        raise ValueError(f"tokenizer: a model of unigrams has no merges: expected UBPE, got {tokenizer}")
    return source, found._replace(tokenizer="UBPE")


# ---------------------------------------------------------------------------------------------------- models


def from_huggingface(source: Any, kind: str | None = None, alphabet: Any = None, n_bytes: int = 0) -> Found:
    """A `tokenizer.json` of BPE; arguments as `BPE.from_huggingface`, or its object, of a file of so many bytes.

    The argument `unknown` is found where a symbol or a special token is the unk_token.
    """
    text = source if isinstance(source, dict) else huggingface_text(source)
    with _naming(source, "{"):
        table = huggingface.read(text, kind)
        model = _model_of(table, n_bytes if isinstance(source, dict) else len(text), alphabet)
    unknown: Any = table.stand_in
    if isinstance(unknown, str) and table.kind == "int":  # a name: integers, or an id of the alphabet
        if unknown in table.special:
            unknown = _integers(unknown, model.alphabet)
        else:
            number = symbol_index(unknown) if len(unknown) == 1 else None
            unknown = table.symbols.index(number) if number in table.symbols else None
    return Found(model, {} if unknown is None else {"unknown": unknown})


def huggingface_text(source: Any) -> str:
    """The `tokenizer.json` of its text, its path, a folder with it, or an object of tokenizers or transformers; TypeError."""
    if (text := text_of_object(source)) is not None:
        return text
    if isinstance(source, (str, os.PathLike)) and not _is_text(source, "{") and os.path.isdir(source):
        path = os.path.join(source, "tokenizer.json")
        if not os.path.isfile(path):
            raise ModelFormatError(f"{os.fspath(source)}: a folder without tokenizer.json; ubpe_numba.load knows other files too")
        source = path
    return text_of(source, "{")


def text_of_object(source: Any) -> str | None:
    """The `tokenizer.json` of a `tokenizers.Tokenizer` or a fast tokenizer of transformers, None for something else.

    TypeError for a tokenizer of transformers without one.
    """
    if hasattr(source, "to_str"):
        return str(source.to_str())
    if hasattr(source, "save_pretrained"):
        if (backend := getattr(source, "backend_tokenizer", None)) is None:
            raise TypeError(
                f"{type(source).__name__} is no fast tokenizer of transformers, which have a tokenizer.json: "
                "save_pretrained writes its files, and ubpe_numba.load reads them"
            )
        return str(backend.to_str())
    return None


def from_tiktoken(source: Any, pretokenizer: Any, special_tokens: dict[str, int] | None) -> Model:
    """The model of a `.tiktoken` file or a `tiktoken.Encoding`; arguments as `BPE.from_tiktoken`."""
    if hasattr(source, "_mergeable_ranks"):
        ranks, special_tokens = tiktoken.ranks_of(source._mergeable_ranks), special_tokens or dict(source._special_tokens)
        pretokenizer = pretokenizer or tiktoken.uncovered(source._pat_str)
        size = ranks.values.size + 8 * ranks.ranks.size
        return _model_of(tiktoken.read(ranks, special_tokens, _pattern_of(pretokenizer)), size, cutter=pretokenizer)
    data = source if isinstance(source, bytes) else _read(source)
    with _naming(source):
        return _model_of(
            tiktoken.read_file(data, special_tokens or {}, _pattern_of(pretokenizer)), len(data), cutter=pretokenizer
        )


def from_vocab_merges(
    vocab: Any, merges: Any, kind: str, pretokenizer: Any, special_tokens: dict[str, int] | None, end_of_word: str | None
) -> Model:
    """The model of `vocab.json` and `merges.txt`; arguments as `BPE.from_vocab_merges`."""
    if kind not in ("bytes", "str"):
        raise ValueError(f"kind: expected 'bytes' or 'str', got {quoted(kind)}")
    if end_of_word is not None and (kind != "str" or not isinstance(end_of_word, str) or len(end_of_word) != 1):
        raise ValueError(f"end_of_word: expected one character, and kind='str', got {quoted(end_of_word)}")
    source = dict(vocab) if hasattr(vocab, "keys") else text_of(vocab, "{")
    text = text_of(merges, None)
    with _naming(vocab, "{"), _naming(merges):  # of the one or of the other
        table = vocab_merges.read(source, text, kind, special_tokens or {}, _pattern_of(pretokenizer), end_of_word)
        return _model_of(table, len(source) + len(text), cutter=pretokenizer)


def from_huggingface_unigram(source: Any) -> Model:
    """The model of a `tokenizer.json` of type Unigram; arguments as `UBPE.from_huggingface`."""
    text = huggingface_text(source)
    with _naming(source, "{"):
        try:
            return unigram.model_of(text)
        except (TypeError, ValueError) as error:
            raise ModelFormatError(str(error)) from error


def from_huggingface_words(source: Any) -> Words:
    """The vocabulary of a `tokenizer.json` of type WordPiece; arguments as `WordPiece.from_huggingface`."""
    text = huggingface_text(source)
    with _naming(source, "{"):
        return wordpiece.read(text)


def from_gguf(path: Any, unigram: bool) -> Model:
    """The model of a `.gguf` file, of unigrams or of pairs; arguments as `BPE.from_gguf`."""
    with naming(path):
        found = any_of_gguf(path)
        if not isinstance(found, Model):
            raise ModelFormatError("a vocabulary of WordPiece: use WordPiece.from_gguf")
        if unigram is not (found.vocabulary.merges is None):
            raise ModelFormatError(
                f"a model of {'pairs' if unigram else 'unigrams'}: use {'BPE' if unigram else 'UBPE'}.from_gguf"
            )
        return found


def any_of_gguf(path: Any) -> Model | Words:
    """The model of a `.gguf` file, or its vocabulary of WordPiece."""
    read = gguf.read(path)
    if isinstance(read, sentencepiece.Pieces):
        return sentencepiece.model_of(read)
    return read if isinstance(read, Words) else _model_of(read, sum(map(len, read.special)) + 8 * read.token_ids.size)


def from_tekken(source: Any, n_bytes: int = 0) -> Model:
    """The model of a `tekken.json`; arguments as `BPE.from_tekken`, or its object, of a file of so many bytes."""
    if isinstance(source, dict):
        return _model_of(tiktoken.read_tekken(source), n_bytes)
    text = text_of(source, "{")
    with _naming(source, "{"):
        return _model_of(tiktoken.read_tekken(parse_json(text)), len(text))


def from_sentencepiece(source: Any, unigram: bool | None = None) -> Model:
    """The model of a `.model` file of sentencepiece, of unigrams or another, None: of either; as `BPE.from_sentencepiece`."""
    data = source if isinstance(source, bytes) else _read(source)
    with _naming(source):
        pieces = sentencepiece.read(data)
        if unigram not in (None, pieces.kind == sentencepiece.UNIGRAM):
            right = "BPE" if unigram else "UBPE"
            raise ModelFormatError(f"a model of {'pairs' if unigram else 'unigrams'}: use {right}.from_sentencepiece")
        return sentencepiece.model_of(pieces)


def _pattern_of(pretokenizer: Any) -> str | None:
    cutter = Pretokenizer.of(pretokenizer)
    return None if cutter is None else cutter.pattern


def _model_of(table: Table, n_bytes: int, symbols: Any = None, cutter: Any = None) -> Model:
    """The model of a table that may hold anything; ModelFormatError if it is not valid.

    `n_bytes` is the size of its file, which limits how many symbols it may claim; `symbols` are the integers of the characters of
    a table of the kind ``"int"``. `cutter` is the user's pre-tokenizer, if any, and stays as it is; the pattern of a table is cut
    by the other library's version of Unicode.
    """
    try:
        alphabet = Alphabet.from_symbols(table.symbols, table.kind)
        if symbols is not None:
            given = Alphabet.from_user(symbols, "int")
            if table.kind != "int" or given.size != alphabet.size:
                raise ModelFormatError(f"alphabet: expected {alphabet.size} integers for a model of 'int', got {given.size}")
            alphabet = Alphabet.from_symbols(given.symbols[alphabet.symbols], "int")
        vocabulary = Vocabulary.from_merges(alphabet.size, table.merges, max_symbols=claimable(n_bytes))
        if not vocabulary.in_order_of_creation and not table.one_by_one:
            raise ModelFormatError("merges: a token is in a pair of lower rank than its own, so order would matter")
        special, known, flags = table.special, table.known, table.flags
        if table.kind == "int":
            special, known, flags = ({_integers(w, alphabet): i for w, i in words.items()} for words in (special, known, flags))
        if not isinstance(cutter, Pretokenizer):
            cutter = None if table.pattern is None else Pretokenizer(table.pattern, VERSION_OF_OTHERS)
        size = len(vocabulary)
        taken = set(table.token_ids.tolist())
        shared = table.shared and any(i in taken for words in (special, known) for i in words.values())
        segmenter = Segmenter(
            table.splitter or cutter,
            Reserved.from_user(special, known, table.kind, size, flags, shared),
            None,
            "utf-8" if table.kind == "bytes" else None,
            table.normalizer,
            table.unknown,
            table.decoding,
            False,
            table.one_by_one,
        )
        ids = None if np.array_equal(table.token_ids, np.arange(size)) else table.token_ids
        segmenter = segmenter.numbered(ids, size)
        model = Model(alphabet, vocabulary, segmenter)
    except (TypeError, ValueError) as error:
        raise ModelFormatError(str(error)) from error
    if table.whole:
        tokens = Ragged._trusted(vocabulary.arena.copy(), vocabulary.offsets.copy())
        if (PairEncoder(vocabulary, False, table.one_by_one).encode(tokens, None).lengths != 1).any():
            model = model._replace(segmenter=segmenter._replace(whole_words=True))
    return model


def _integers(word: Any, alphabet: Alphabet) -> tuple[int, ...]:
    """The integers that the characters of a word stand for."""
    found = [symbol_index(character) for character in word]
    if any(i is None or i >= alphabet.size for i in found):
        raise ModelFormatError(f"special_tokens: {quoted(word)} is not made of integers")
    return tuple(int(alphabet.symbols[i]) for i in found)


def _read(path: Any) -> bytes:
    with open_regular(path) as f:
        return f.read()


def _is_text(source: Any, begins: str | None) -> bool:
    return isinstance(source, str) and ("\n" in source or (begins is not None and source.lstrip().startswith(begins)))


@contextlib.contextmanager
def _naming(source: Any, begins: str | None = None) -> Iterator[None]:
    """`naming`, if a source is the path of a file; `begins` as of `text_of`."""
    is_path = isinstance(source, (str, os.PathLike)) and not _is_text(source, begins)
    with naming(source) if is_path else contextlib.nullcontext():
        yield


def text_of(source: Any, begins: str | None) -> str:
    """The text of a source: bytes, a `str` that starts with `begins` or has several lines, or else the path of a file."""
    if _is_text(source, begins):
        return str(source)
    if isinstance(source, bytes):
        data = source
    elif isinstance(source, (str, pathlib.PurePath)) or hasattr(source, "__fspath__"):
        data = _read(source)
    else:
        raise TypeError(f"expected a text or a path, got {type(source).__name__}")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        with _naming(source, begins):
            raise ModelFormatError(f"not text in UTF-8: {error}") from error


# ---------------------------------------------------------------------------------------------------- formats


def _has(*keys: str) -> Callable[[Source], bool]:
    return lambda source: isinstance(source.document, dict) and source.document.keys() >= {*keys}


def _is_huggingface(source: Source) -> bool:
    """Whether it has a model, and added tokens or a vocabulary in the model; files without added tokens may omit them."""
    model = source.document.get("model") if isinstance(source.document, dict) else None
    return model is not None and ("added_tokens" in source.document or (isinstance(model, dict) and "vocab" in model))


def _is_ranks(source: Source) -> bool:
    lines = source.lines(20)
    return bool(lines) and all(map(_RANKS.fullmatch, filter(None, lines))) and any(lines)


def _is_pair(source: Source) -> bool:
    """Whether it is one of `vocab.json` and `merges.txt`, and the other is there."""
    if source.head.startswith(b"#version"):
        return source.beside(_VOCABULARIES) is not None
    ids = source.document if source.beside(_MERGES) is not None else {}
    return bool(ids) and isinstance(ids, dict) and all(type(i) is int for i in ids.values())


def _is_sentencepiece(source: Source) -> bool:
    """Whether it begins with a message of protobuf, field 1, that begins with a text, field 1."""
    if len(source.head) < 4 or source.head[0] != 10 or source.head[2] != 10:
        return False
    return source.head[3] + 2 <= source.head[1] < 128


def _own(source: Source) -> Found:
    """The plain data of our own files."""
    if source.is_object:
        model = model_file.from_document(source.document)
    else:
        with open_regular(source.path) as f:
            model = model_file.from_npz(f)
    return Found(model, tokenizer=model["tokenizer"])


def _by_path(model: Any, objective: str) -> Found:
    """A model of pairs, words, or of unigrams, which are searched by `objective`."""
    return Found(model, {"objective": objective} if isinstance(model, Model) and model.vocabulary.merges is None else {})


def _huggingface(source: Source, kind: str | None) -> Found:
    model = source.document["model"]
    if not isinstance(model, dict) or model.get("type") not in ("Unigram", "WordPiece"):
        return from_huggingface(source.document, kind, None, source.n_bytes)
    if kind is not None:
        raise ValueError(f"kind: a model of {model['type']} is one of text")
    if model["type"] == "WordPiece":
        return Found(from_huggingface_words(source.data))
    return Found(from_huggingface_unigram(source.data), {"objective": "tokenizers"})


def _ranks(source: Source, pretokenizer: Any, special_tokens: dict[str, int] | None) -> Found:
    if isinstance(pretokenizer, str) and pretokenizer == AUTO:
        published = tiktoken.published(source.data)
        if published is None:
            raise ValueError(f"pretokenizer: {source.path} has ranks only: say by which pattern text is cut, or None")
        pretokenizer, special_tokens = published[0], published[1] if special_tokens is None else special_tokens
    return Found(from_tiktoken(source.data, pretokenizer, special_tokens))


def _pair(source: Source, kind: str | None, pretokenizer: Any, special_tokens: dict[str, int] | None) -> Found:
    is_text = source.head.startswith(b"#version")
    vocab = Source(str(source.beside(_VOCABULARIES))) if is_text else source
    merges = source if is_text else Source(str(source.beside(_MERGES)))
    pattern = "gpt2" if isinstance(pretokenizer, str) and pretokenizer == AUTO else pretokenizer
    return Found(from_vocab_merges(vocab.document, merges.data, kind or "bytes", pattern, special_tokens, None))


def _published(source: Source, tokenizer: str | None, kind: str | None) -> Found:
    """A dump of ubpe: of a classic tokenizer where a token is made of learned ones."""
    dump = source.document
    if (name := tokenizer) is None:
        alphabet, words, mapper = (
            part if isinstance(part := dump.get(field), dict) else {} for field in ("alphabet", "known_words", "mapper")
        )
        size = len(alphabet) + len(words)
        parts = [part for parts in mapper.values() if isinstance(parts, list) for part in parts if type(part) is int]
        name = "UBPEClassic" if any(part >= size for part in parts) else "UBPE"
    n_tokens, model = published_ubpe.read(source.data.decode("utf-8", "surrogatepass"), kind, name != "UBPE")
    return Found(model, {"n_tokens": n_tokens, "rules": FitRules(encode="batch")}, name)


FORMATS = (
    Format("a model of this library as npz", lambda source: source.head.startswith(b"PK\x03\x04"), _own),
    Format(
        "a file of gguf",
        lambda source: source.head.startswith(b"GGUF"),
        lambda source: _by_path(any_of_gguf(source.path), "sentencepiece"),
    ),
    Format(
        "CLIP's file of merges",
        lambda source: vocab_merges.is_clip(source.head),
        lambda source: from_huggingface(vocab_merges.clip_document(source.data), n_bytes=source.n_bytes),
    ),
    Format("a model of this library as JSON", _has("format", "tokenizer"), _own),
    Format("a tokenizer.json of Hugging Face", _is_huggingface, _huggingface, ("kind",)),
    Format(
        "a tekken.json of Mistral",
        _has("config", "vocab"),
        lambda source: Found(from_tekken(source.document, source.n_bytes)),
    ),
    Format("a dump of ubpe", _has("n_tokens", "alphabet", "mapper", "weights"), _published, ("tokenizer", "kind")),
    Format(
        "ranks of a package of npm",
        _has(*tiktoken.JAVASCRIPT_FIELDS),
        lambda source: Found(from_tiktoken(*tiktoken.read_javascript(source.document))),
    ),
    Format("vocab.json with merges.txt", _is_pair, _pair, ("kind", "pretokenizer", "special_tokens")),
    Format("a file of ranks as tiktoken's", _is_ranks, _ranks, ("pretokenizer", "special_tokens")),
    Format(
        "a model of sentencepiece",
        _is_sentencepiece,
        lambda source: _by_path(from_sentencepiece(source.data), "sentencepiece"),
    ),
    Format(
        "a vocab.txt of WordPiece",
        lambda source: b"[UNK]" in source.lines(1 << 14) and b"\0" not in source.head,
        lambda source: Found(Words(wordpiece.parse_vocab_txt(source.data))),
    ),
)
