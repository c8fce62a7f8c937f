"""Files of tokenizers, recognised by their content: a row of `FORMATS` a format.

The name of a file decides nothing, but for files that belong together: `vocab.json` and `merges.txt`, or `encoder.json` and
`vocab.bpe` as GPT-2 had them, are found from either, or from their folder. Of a file only its beginning is read before its
format is known, and all of it where that is JSON.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ubpe_numba.errors import ModelFormatError, listed, quoted
from ubpe_numba.formats import (
    imports,
    model_file,
    pair_table,
    published_ubpe,
    tiktoken,
    vocab_merges,
    wordpiece,
)
from ubpe_numba.formats.wordpiece import Words
from ubpe_numba.runtime.files import BYTE_ORDER_MARK, is_object, naming, open_regular
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.rules import FitRules

AUTO = "auto"  # the argument `pretokenizer` where the file is to say it
_HEAD = 1 << 16  # bytes that formats other than JSON are recognised by
#: Of a folder the first that is there.
_IN_FOLDERS = ("tokenizer.json", "tekken.json", "tokenizer.model", "vocab.json", "encoder.json", "vocab.txt")
_VOCABULARIES, _MERGES = ("vocab.json", "encoder.json"), ("merges.txt", "vocab.bpe")  # files that belong together, of either name
_RANKS = re.compile(rb"[A-Za-z0-9+/]+={0,2} [0-9]{1,10}")


class Given(NamedTuple):
    """What a user says beside the file; see `tokenizers.load.load`."""

    tokenizer: str | None = None
    kind: str | None = None
    pretokenizer: Any = AUTO
    special_tokens: dict[str, int] | None = None


class Found(NamedTuple):
    """What a file holds: the name of a class of tokenizers, what it is made of, and arguments of its constructor.

    `model` is a `Model`; of our own files the plain data of `model_file.load`, of other libraries' `WordPiece` its `Words`.
    """

    tokenizer: str
    model: Any
    params: dict[str, Any] = {}  # noqa: RUF012  never changed


class Source:
    """A file, and what was read of it so far.

    Attributes
    ----------
    path : str
        The file.
    n_bytes : int
        Its size.
    head : bytes
        Its beginning, without a mark of the order of bytes.
    is_object : bool
        Whether it is an object of JSON, behind any number of blanks.
    """

    def __init__(self, path: str) -> None:
        """Read the beginning; ModelFormatError for what is no regular file, OSError if it cannot be read."""
        self.path = path
        with open_regular(path) as f:
            self.n_bytes, self.head = os.fstat(f.fileno()).st_size, f.read(_HEAD).removeprefix(BYTE_ORDER_MARK)
            f.seek(0)
            self.is_object = is_object(f)
        self._data: bytes | None = None
        self._document: Any = None

    @property
    def data(self) -> bytes:
        """All of the file."""
        if self._data is None:
            with open_regular(self.path) as f:
                self._data = f.read()
        return self._data

    @property
    def document(self) -> dict[str, Any]:
        """The object that a file of JSON, or a module with ranks, is; else an empty one. ModelFormatError if it is none."""
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
    """A format: how it is called, recognised and read.

    `options` are the fields of `Given`, beside `tokenizer`, that `read` looks at; others are refused.
    """

    name: str
    is_it: Callable[[Source], bool]
    read: Callable[[Source, Given], Found]
    options: tuple[str, ...] = ()


class _Text(Source):
    """What would be a file, of an object."""

    def __init__(self, name: str, data: bytes) -> None:
        """Keep the content; `name` stands in messages where a path would."""
        self.path, self.n_bytes, self.head = name, len(data), data[:_HEAD]
        self.is_object, self._data, self._document = is_object(io.BytesIO(data)), data, None


def source_of(path: Any) -> Source:
    """The file of a path, that of a tokenizer in a folder, or what would be that of an object of tokenizers or transformers.

    ModelFormatError for a folder without one, OSError, TypeError.
    """
    if (text := imports.text_of_object(path)) is not None:
        return _Text(f"{type(path).__module__.partition('.')[0]}.{type(path).__name__}", text.encode("utf-8", "surrogatepass"))
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


def read(path: Any, given: Given) -> tuple[Source, Found]:
    """What a file holds.

    ModelFormatError names what the file was recognised as, and why it is not read; ValueError an argument that does not go with
    it.
    """
    source = source_of(path)
    with naming(source.path):
        row = recognise(source)
    for name, default in Given._field_defaults.items():
        if name not in ("tokenizer", *row.options) and getattr(given, name) != default:
            raise ValueError(f"{name}: {source.path} is {row.name}, which says it itself")
    try:
        return source, row.read(source, given)
    except ModelFormatError as error:
        raise ModelFormatError(f"{source.path}: {row.name}: {error}") from error


# ---------------------------------------------------------------------------------------------------- formats


def _has(*keys: str) -> Callable[[Source], bool]:
    return lambda source: isinstance(source.document, dict) and source.document.keys() >= {*keys}


def _is_huggingface(source: Source) -> bool:
    """Whether it has a model, and added tokens or a vocabulary in the model; files without added tokens may leave them out."""
    model = source.document.get("model") if isinstance(source.document, dict) else None
    return model is not None and ("added_tokens" in source.document or (isinstance(model, dict) and "vocab" in model))


def _begins(data: bytes) -> Callable[[Source], bool]:
    return lambda source: source.head.startswith(data)


def _own_json(source: Source, given: Given) -> Found:
    return _own(model_file.from_document(source.document))


def _own_npz(source: Source, given: Given) -> Found:
    with open_regular(source.path) as f:
        return _own(model_file.from_npz(f))


def _own(model: dict[str, Any]) -> Found:
    return Found(model["tokenizer"], model)


def _by_pairs(given: Given, model: Model) -> Found:
    """A model of pairs; ValueError for a class that does not encode by them."""
    if given.tokenizer == "UBPE":
        raise ValueError("tokenizer: the file has merges: expected BPE or UBPEClassic")
    return Found(given.tokenizer or "BPE", model)


def _by_pieces(given: Given, model: Model, objective: str) -> Found:
    """A model of pairs, or of unigrams, which has no merges and is searched by `objective`."""
    if model.vocabulary.merges is not None:
        return _by_pairs(given, model)
    if given.tokenizer not in (None, "UBPE"):
        raise ValueError(f"tokenizer: a model of unigrams has no merges: expected UBPE, got {given.tokenizer}")
    return Found("UBPE", model, {"objective": objective})


def _by_words(given: Given, words: Words) -> Found:
    """A WordPiece."""
    if given.tokenizer is not None:
        raise ValueError(f"tokenizer: the file is a vocabulary of WordPiece, expected None, got {quoted(given.tokenizer)}")
    return Found("WordPiece", words)


def _huggingface(source: Source, given: Given) -> Found:
    model = source.document["model"]
    if isinstance(model, dict) and model.get("type") in ("Unigram", "WordPiece"):
        if given.kind is not None:
            raise ValueError(f"kind: a model of {model['type']} is one of text")
        if model["type"] == "WordPiece":
            return _by_words(given, imports.from_huggingface_words(source.data))
        return _by_pieces(given, imports.from_huggingface_unigram(source.data), "tokenizers")
    model, params = imports.from_huggingface_with_params(source.document, given.kind, None, source.n_bytes)
    found = _by_pairs(given, model)
    return found._replace(params={**params, **found.params})


def _clip(source: Source, given: Given) -> Found:
    return _by_pairs(given, imports.from_huggingface(vocab_merges.clip_document(source.data), None, None, source.n_bytes))


def _tekken(source: Source, given: Given) -> Found:
    return _by_pairs(given, imports.from_tekken(source.document, source.n_bytes))


def _is_ranks(source: Source) -> bool:
    lines = source.lines(20)
    return bool(lines) and all(map(_RANKS.fullmatch, filter(None, lines))) and any(lines)


def _ranks(source: Source, given: Given) -> Found:
    pattern, special = given.pretokenizer, given.special_tokens
    if isinstance(pattern, str) and pattern == AUTO:
        published = tiktoken.published(source.data)
        if published is None:
            raise ValueError(f"pretokenizer: {source.path} has ranks only: say by which pattern text is cut, or None")
        pattern, special = published[0], published[1] if special is None else special
    return _by_pairs(given, imports.from_tiktoken(source.data, pattern, special))


def _javascript(source: Source, given: Given) -> Found:
    data, pattern, special = tiktoken.read_javascript(source.document)
    return _by_pairs(given, imports.from_tiktoken(data, pattern, special))


def _is_pair(source: Source) -> bool:
    """Whether it is one of `vocab.json` and `merges.txt`, and the other is there."""
    if source.head.startswith(b"#version"):
        return source.beside(_VOCABULARIES) is not None
    return source.beside(_MERGES) is not None and _is_vocabulary(source)


def _is_vocabulary(source: Source) -> bool:
    return bool(source.document) and isinstance(source.document, dict) and all(type(i) is int for i in source.document.values())


def _pair(source: Source, given: Given) -> Found:
    is_text = source.head.startswith(b"#version")
    vocab = Source(str(source.beside(_VOCABULARIES))) if is_text else source
    merges = source if is_text else Source(str(source.beside(_MERGES)))
    pattern = "gpt2" if isinstance(given.pretokenizer, str) and given.pretokenizer == AUTO else given.pretokenizer
    kind = given.kind or "bytes"
    return _by_pairs(given, imports.from_vocab_merges(vocab.document, merges.data, kind, pattern, given.special_tokens, None))


def _published(source: Source, given: Given) -> Found:
    """A dump of ubpe: of a classic tokenizer where a token is made of learned ones."""
    dump = source.document
    if (name := given.tokenizer) is None:
        alphabet, words, mapper = (
            part if isinstance(part := dump.get(field), dict) else {} for field in ("alphabet", "known_words", "mapper")
        )
        size = len(alphabet) + len(words)
        parts = [part for parts in mapper.values() if isinstance(parts, list) for part in parts if type(part) is int]
        name = "UBPEClassic" if any(part >= size for part in parts) else "UBPE"
    n_tokens, model = published_ubpe.read(source.data.decode("utf-8", "surrogatepass"), given.kind, name != "UBPE")
    return Found(name, model, {"n_tokens": n_tokens, "rules": FitRules(encode="batch")})


def _is_sentencepiece(source: Source) -> bool:
    """Whether it begins with a message of protobuf, field 1, that begins with a text, field 1."""
    if len(source.head) < 4 or source.head[0] != 10 or source.head[2] != 10:
        return False
    return source.head[3] + 2 <= source.head[1] < 128


def _sentencepiece(source: Source, given: Given) -> Found:
    return _by_pieces(given, imports.from_sentencepiece(source.data, None), "sentencepiece")


def _gguf(source: Source, given: Given) -> Found:
    found = imports.any_of_gguf(source.path)
    return _by_pieces(given, found, "sentencepiece") if isinstance(found, Model) else _by_words(given, found)


def _is_pieces(source: Source) -> bool:
    return b"[UNK]" in source.lines(1 << 14) and b"\0" not in source.head


def _pieces(source: Source, given: Given) -> Found:
    return _by_words(given, Words(wordpiece.parse_vocab_txt(source.data)))


FORMATS = (
    Format("a model of this library as npz", _begins(b"PK\x03\x04"), _own_npz),
    Format("a file of gguf", _begins(b"GGUF"), _gguf),
    Format("CLIP's file of merges", lambda source: vocab_merges.is_clip(source.head), _clip),
    Format("a model of this library as JSON", _has("format", "tokenizer"), _own_json),
    Format("a tokenizer.json of Hugging Face", _is_huggingface, _huggingface, ("kind",)),
    Format("a tekken.json of Mistral", _has("config", "vocab"), _tekken),
    Format("a dump of ubpe", _has("n_tokens", "alphabet", "mapper", "weights"), _published, ("kind",)),
    Format("ranks of a package of npm", _has(*tiktoken.JAVASCRIPT_FIELDS), _javascript),
    Format("vocab.json with merges.txt", _is_pair, _pair, ("kind", "pretokenizer", "special_tokens")),
    Format("a file of ranks as tiktoken's", _is_ranks, _ranks, ("pretokenizer", "special_tokens")),
    Format("a model of sentencepiece", _is_sentencepiece, _sentencepiece),
    Format("a vocab.txt of WordPiece", _is_pieces, _pieces),
)
