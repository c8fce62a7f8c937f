"""Readers of tokenizers from files, bytes, texts and objects of other libraries: one function a format.

The name of a file decides nothing, except for files that belong together. `vocab.json` and `merges.txt`, or
GPT-2's `encoder.json` and `vocab.bpe`, are found from either, or from their folder. Only the beginning of a
file is read before its format is known, and all of it if that is JSON. Readers raise ModelFormatError, with
the fault, for content that is not valid or not supported.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.documents.ragged import trusted
from ubpe_numba.errors import ModelFormatError, listed, quoted
from ubpe_numba.formats import (
    gguf,
    huggingface,
    model_file,
    published_ubpe,
    sentencepiece,
    tiktoken,
    tokenizer_config,
    unigram,
    vocab_merges,
    wordpiece,
)
from ubpe_numba.formats.model_file import claimable
from ubpe_numba.formats.pair_table import Table, symbol_index
from ubpe_numba.formats.wordpiece import Words
from ubpe_numba.runtime.arrays import describe
from ubpe_numba.runtime.files import BYTE_ORDER_MARK, is_object, naming, open_regular
from ubpe_numba.runtime.messages import warn
from ubpe_numba.text.patterns import VERSION_OF_OTHERS
from ubpe_numba.text.pretokenizer import Pretokenizer
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.reserved import Reserved
from ubpe_numba.vocabulary.rules import FitRules
from ubpe_numba.vocabulary.segmenter import Segmenter
from ubpe_numba.vocabulary.vocabulary import Vocabulary

AUTO = "auto"  # the option `pretokenizer` that leaves it to the file
_HEAD = 1 << 16  # bytes by which formats other than JSON are recognized
#: In a folder, the first that exists.
_IN_FOLDERS = ("tokenizer.json", "tekken.json", "tokenizer.model", "vocab.json", "encoder.json", "vocab.txt")
# files that belong together, of either name
_VOCABULARIES, _MERGES = ("vocab.json", "encoder.json"), ("merges.txt", "vocab.bpe")
_RANKS = re.compile(rb"[A-Za-z0-9+/]+={0,2} [0-9]{1,10}")
_POINTER = b"version https://git-lfs.github.com/spec/"
#: Encodings that tiktoken knows.
_ENCODINGS = re.compile(r"(?:gpt2|r50k_base|p50k_base|p50k_edit|cl100k_base|o200k_base|o200k_harmony)")
_OF_HUB = re.compile(r"(?!\.|.*\.[A-Za-z]\w*$)[\w.-]+(?:/[\w.-]+)?")  # not one with a suffix


class Found(NamedTuple):
    """Content of a file: a `Model`, `Words`, or the plain data of our own files.

    Also arguments of a constructor.

    `tokenizer` is the name of its class, None if more than one does.
    """

    model: Any
    params: dict[str, Any] = {}  # noqa: RUF012  never changed
    tokenizer: str | None = None


class Source:
    """Source of a tokenizer, and all that was read of it so far.

    `path` is its name in messages, `n_bytes` its size, and `head` its beginning. `given` is an object of
    another library or a pair of sources, for which the others are empty.
    """

    def __init__(self, given: Any) -> None:
        """Read the beginning; arguments and errors as of `tokenizers.saving.load`."""
        self.given, self._data, self._document = given, None, None  # type: tuple[Any, bytes | None, Any]
        self.path, self.n_bytes, self.head, self.is_object = type(given).__name__, 0, b"", False
        self.in_memory = False  # rather than a file
        if hasattr(given, "read"):  # a file that is open
            content = given.read()
            given = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
        if (text := text_of_object(given)) is not None:
            self.path = f"{type(given).__module__.partition('.')[0]}.{self.path}"
            self._begin(text.encode("utf-8", "surrogatepass"))
        elif isinstance(given, (bytes, bytearray, memoryview)):
            self._begin(bytes(given))
        elif isinstance(given, str) and ("\n" in given or given.lstrip().startswith("{")):
            self._begin(given.encode("utf-8", "surrogatepass"))
        elif isinstance(given, tuple) and len(given) == 2:
            self.given = tuple(part if isinstance(part, Mapping) else Source(part) for part in given)
            self.path = " and ".join(getattr(part, "path", "a mapping") for part in self.given)
        elif not hasattr(given, "_mergeable_ranks"):
            if not isinstance(given, (str, os.PathLike)):
                kind = describe(given)
                raise TypeError(
                    f"source: expected a path, an open file, the content of one or a tokenizer, got {kind}"
                )
            self.path = os.fsdecode(given)
            if os.path.isdir(self.path):
                here = next(
                    (name for name in _IN_FOLDERS if os.path.isfile(os.path.join(self.path, name))), None
                )
                if here is None:
                    held = listed(sorted(os.listdir(self.path))) or "nothing"
                    raise ModelFormatError(
                        f"{self.path}: a folder with none of {', '.join(_IN_FOLDERS)}; it has {held}. Give the file"
                    )
                self.path = os.path.join(self.path, here)
            try:
                with open_regular(self.path) as f:
                    self._read(f)
            except FileNotFoundError as error:
                if hint := _hint(self.path):
                    raise FileNotFoundError(error.errno, f"{error.strerror} ({hint})", self.path) from None
                raise
            if self.head.startswith(_POINTER):
                raise ModelFormatError(
                    f"{self.path}: a pointer of Git LFS, not the file itself: `git lfs pull` in its repository replaces it, "
                    "and huggingface_hub.hf_hub_download fetches the file"
                )

    def _begin(self, data: bytes) -> None:
        self._data, self.in_memory = data, True
        self._read(io.BytesIO(data))

    def _read(self, f: Any) -> None:
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
        """The object of JSON in a file; else an empty one. ModelFormatError if it is not valid."""
        if self._document is None:
            self._document = (
                model_file.parse_json(self.data.removeprefix(BYTE_ORDER_MARK)) if self.is_object else {}
            )
        return self._document  # type: ignore[no-any-return]

    @property
    def text(self) -> str:
        """All of the file as text; ModelFormatError if it is not UTF-8."""
        try:
            return self.data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ModelFormatError(f"not text in UTF-8: {error}") from error

    def beside(self, names: Iterable[str]) -> str | None:
        """The path of the first existing file of these names in the same folder.

        Content in memory has none.
        """
        if self.in_memory or self.head == b"":
            return None
        paths = (os.path.join(os.path.dirname(self.path), name) for name in names)
        return next(filter(os.path.isfile, paths), None)

    def lines(self, most: int) -> list[bytes]:
        """Up to `most` whole lines of the beginning."""
        lines = self.head.split(b"\n", most)
        if len(lines) <= most and len(self.head) < self.n_bytes:
            lines.pop()  # it may continue
        return [line.removesuffix(b"\r") for line in lines[:most]]


def text_of_object(source: Any) -> str | None:
    """The `tokenizer.json` of a `tokenizers.Tokenizer` or a fast tokenizer of transformers.

    None for something else.

    TypeError for another tokenizer of transformers.
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


def _hint(name: str) -> str:
    """Advice for a name without a file: an encoding of tiktoken, or a model of the Hub.

    Empty for a path.
    """
    if _ENCODINGS.fullmatch(name):
        return f"the name of an encoding? load(tiktoken.get_encoding({name!r})) reads it"
    if _OF_HUB.fullmatch(name):
        return (
            "a name on the Hub? load(tokenizers.Tokenizer.from_pretrained(name)) reads it, or "
            "huggingface_hub.hf_hub_download(name, 'tokenizer.json') fetches its file"
        )
    return ""


# -------------------------------------------------------------------------------- how files are recognized


def is_huggingface(source: Source) -> bool:
    """Whether it has a model, and added tokens or a vocabulary in the model.

    Files without added tokens may omit them.
    """
    model = source.document.get("model") if isinstance(source.document, dict) else None
    return model is not None and (
        "added_tokens" in source.document or (isinstance(model, dict) and "vocab" in model)
    )


def is_ranks(source: Source) -> bool:
    """Whether it is an object of tiktoken, or its first lines are tokens in base64 and ranks.

    Lines of words and counts are not ranks.
    """
    lines = [*filter(None, source.lines(20))]
    is_like = all(map(_RANKS.fullmatch, lines)) and any(lines)
    rises = is_like and (len(lines) < 3 or int(lines[0].split()[1]) < int(lines[-1].split()[1]))
    return hasattr(source.given, "_mergeable_ranks") or rises


def is_pair(source: Source) -> bool:
    """Whether it is `vocab.json` or `merges.txt`, and the other exists."""
    if isinstance(source.given, tuple):
        return True
    if source.head.startswith(b"#version"):
        return source.beside(_VOCABULARIES) is not None
    ids = source.document if source.beside(_MERGES) is not None else {}
    return bool(ids) and isinstance(ids, dict) and all(type(i) is int for i in ids.values())


def is_sentencepiece(source: Source) -> bool:
    """Whether it begins with a message of protobuf, field 1, that begins with a text, field 1."""
    if len(source.head) < 4 or source.head[0] != 10 or source.head[2] != 10:
        return False
    return source.head[3] + 2 <= source.head[1] < 128


# ---------------------------------------------------------------------------------------------------- readers


def own(source: Source, max_symbols: int | None = None) -> Found:
    """The plain data of our own files."""
    if source.is_object:
        model = model_file.from_document(source.document, {})
    else:
        with io.BytesIO(source.data) if source._data is not None else open_regular(source.path) as f:
            model = model_file.from_npz(f)
    return Found(model, {"max_symbols": max_symbols}, model["tokenizer"])


def tokenizer_json(source: Source, kind: str | None = None, alphabet: Any = None) -> Found:
    """A `tokenizer.json` of Hugging Face, of BPE, Unigram or WordPiece.

    Also the fields of an object or of the files next to it.
    """
    document = source.document
    model = document.get("model")
    if isinstance(model, dict) and "type" not in model:  # as files of tokenizers had it before 0.9
        is_unigram, words = isinstance(model.get("vocab"), list), "max_input_chars_per_word" in model
        model["type"] = (
            "BPE" if "merges" in model else "Unigram" if is_unigram else "WordPiece" if words else "WordLevel"
        )
    config, name = _beside(source), None
    if config is not None:
        name = tokenizer_config.class_of(
            config, config.get("model_type"), "'ByteLevel'" in str(document.get("pre_tokenizer"))
        )
    elif hasattr(source.given, "save_pretrained"):
        config = {field: getattr(source.given, field, None) for field in tokenizer_config.CONFIG}
    with naming("tokenizer_config.json"):
        config = tokenizer_config.as_transformers(document, config or {}, name)
    model = document["model"]
    name = model.get("type") if isinstance(model, dict) else None
    if name not in ("Unigram", "WordPiece"):
        return of_huggingface(document, kind, alphabet, source.n_bytes, config)
    if kind is not None or alphabet is not None:
        raise ValueError(f"{'kind' if alphabet is None else 'alphabet'}: a model of {name} is one of text")
    if name == "WordPiece":
        return Found(wordpiece.read(document, config))
    return Found(of_unigram(source.data, config, document), {"objective": "tokenizers"})


def _beside(source: Source) -> dict[str, Any] | None:
    """The fields of the files that transformers stores next to a file, None for none."""
    config: dict[str, Any] | None = None
    for name in ("config.json", "tokenizer_config.json", "special_tokens_map.json"):
        if (path := source.beside([name])) is not None and "added_tokens_decoder" not in (config or {}):
            with open_regular(path) as f, naming(name):
                if not isinstance(fields := model_file.parse_json(f.read()), dict):
                    raise ModelFormatError(f"expected an object, got {quoted(fields)}")
            names = ("model_type", "tokenizer_class") if name == "config.json" else fields
            config = {**(config or {}), **{field: fields[field] for field in names if field in fields}}
    return config


def of_huggingface(
    document: Any, kind: str | None = None, alphabet: Any = None, n_bytes: int = 0, config: Any = None
) -> Found:
    """The content of a `tokenizer.json` of BPE: its text, or its object, of a file of so many bytes."""
    table = huggingface.read(document, kind, config)
    model = model_of(table, n_bytes if isinstance(document, dict) else len(document), alphabet)
    unknown: Any = table.stand_in
    if isinstance(unknown, str) and table.kind == "int":  # a name: integers, or one of the alphabet
        if unknown in table.special:
            unknown = _integers(unknown, model.alphabet)
        else:
            number = symbol_index(unknown) if len(unknown) == 1 else None
            unknown = (
                int(model.alphabet.symbols[table.symbols.index(number)]) if number in table.symbols else None
            )
    return Found(model, {} if unknown is None else {"unknown": unknown})


def of_unigram(text: Any, config: Any = None, document: Any = None) -> Model:
    """The model of the text of a `tokenizer.json` of type Unigram, `document` if it is parsed."""
    try:
        return unigram.model_of(text, config, document)
    except (TypeError, ValueError) as error:
        raise ModelFormatError(str(error)) from error


def ranks(source: Source, pretokenizer: Any = AUTO, special_tokens: Any = None) -> Found:
    """A `.tiktoken` file, or an object of tiktoken."""
    is_auto = isinstance(pretokenizer, str) and pretokenizer == AUTO
    if hasattr(source.given, "_mergeable_ranks"):
        table, words = source.given._mergeable_ranks, special_tokens or dict(source.given._special_tokens)
        cutter = tiktoken.uncovered(source.given._pat_str) if is_auto else pretokenizer
        size = sum(map(len, table)) + 8 * len(table)
        return Found(model_of(tiktoken.read(table, words, _pattern_of(cutter)), size, cutter=cutter))
    if is_auto:
        if (published := tiktoken.published(source.data)) is None:
            raise ValueError(
                f"pretokenizer: {source.path} has ranks only: give the pattern by which its text is cut, such as 'cl100k' or "
                "'o200k', or None; and special_tokens, if the model has any"
            )
        pretokenizer, models = published
        if special_tokens is None and len(models) > 1:
            warn(f"special_tokens: {source.path} serves {listed(models)}, and {quoted(models[0])} is taken")
        special_tokens = models[0] if special_tokens is None else special_tokens
        if special_tokens in models:
            special_tokens = tiktoken.published_special(special_tokens)
    if isinstance(special_tokens, str):
        raise ValueError(f"special_tokens: expected words with ids, got {quoted(special_tokens)}")
    return Found(of_ranks(source.data, pretokenizer, special_tokens or {}))


def of_ranks(data: bytes, pretokenizer: Any, special_tokens: dict[str, int]) -> Model:
    """The model of the content of a `.tiktoken` file."""
    table = tiktoken.read(tiktoken.parse_lines(data), special_tokens, _pattern_of(pretokenizer))
    return model_of(table, len(data), cutter=pretokenizer)


def pair(
    source: Source,
    kind: str | None = None,
    pretokenizer: Any = AUTO,
    special_tokens: dict[str, int] | None = None,
) -> Found:
    """`vocab.json` and `merges.txt`: a pair of sources, or either file, which finds the other."""
    if isinstance(source.given, tuple):
        vocab, merges = source.given
    else:
        is_text = source.head.startswith(b"#version")
        vocab = Source(source.beside(_VOCABULARIES)) if is_text else source
        merges = source if is_text else Source(source.beside(_MERGES))
    pattern = "gpt2" if isinstance(pretokenizer, str) and pretokenizer == AUTO else pretokenizer
    ids = dict(vocab) if isinstance(vocab, Mapping) else vocab.document
    return Found(of_vocab_merges(ids, merges.text, kind or "bytes", pattern, special_tokens or {}))


def of_vocab_merges(
    vocab: Any, merges: str, kind: str, pretokenizer: Any, special_tokens: dict[str, int]
) -> Model:
    """The model of the contents of `vocab.json`, its text or object, and of `merges.txt`."""
    if kind not in ("bytes", "str"):
        raise ValueError(f"kind: expected 'bytes' or 'str', got {quoted(kind)}")
    table = vocab_merges.read(vocab, merges, kind, special_tokens, _pattern_of(pretokenizer))
    return model_of(table, len(vocab) + len(merges), cutter=pretokenizer)


def vocab_txt(source: Source) -> Found:
    """BERT's pieces, over words, or over text if files next to it name the class of transformers."""
    config = _beside(source) or {}
    if not tokenizer_config.is_known(tokenizer_config.class_of(config, config.get("model_type"))):
        return Found(wordpiece.of_vocab_txt(source.data))
    model = {"type": "WordPiece", "vocab": wordpiece.parse_vocab_txt(source.data)}
    source._document = {"model": model, "added_tokens": []}
    return tokenizer_json(source)


def sentencepiece_model(source: Source) -> Found:
    """A `.model` file of sentencepiece."""
    return _of_pieces(sentencepiece.read(source.data))


def _of_pieces(pieces: sentencepiece.Pieces) -> Found:
    model = sentencepiece.model_of(pieces)
    return Found(model, {} if model.vocabulary.merges is not None else {"objective": "sentencepiece"})


def gguf_file(source: Source) -> Found:
    """The vocabulary of a file of llama.cpp; of its tensors nothing is read."""
    if source._data is not None:
        raise ModelFormatError("expected the path of the file, not its content")
    vocabulary = gguf.read(source.path)
    if isinstance(vocabulary, sentencepiece.Pieces):
        return _of_pieces(vocabulary)
    if isinstance(vocabulary, Words):
        return Found(vocabulary)
    return Found(model_of(vocabulary, sum(map(len, vocabulary.special)) + 8 * vocabulary.token_ids.size))


def dump(source: Source, tokenizer: str | None = None, kind: str | None = None) -> Found:
    """A dump of ubpe: of a classic tokenizer if a token is made of learned tokens."""
    document = source.document
    if (name := tokenizer) is None:
        alphabet, words, mapper = (
            part if isinstance(part := document.get(field), dict) else {}
            for field in ("alphabet", "known_words", "mapper")
        )
        size = len(alphabet) + len(words)
        parts = [
            part
            for parts in mapper.values()
            if isinstance(parts, list)
            for part in parts
            if type(part) is int
        ]
        name = "UBPEClassic" if any(part >= size for part in parts) else "UBPE"
    n_tokens, model = published_ubpe.read(document, source.n_bytes, kind, name != "UBPE")
    return Found(model, {"n_tokens": n_tokens, "rules": FitRules(encode="batch")}, name)


# ---------------------------------------------------------------------------------------------------- tables
# to models


def _pattern_of(pretokenizer: Any) -> str | None:
    cutter = Pretokenizer.of(pretokenizer)
    return None if cutter is None else cutter.pattern


def model_of(table: Table, n_bytes: int, symbols: Any = None, cutter: Any = None) -> Model:
    """The model of a table that may hold anything; ModelFormatError if it is not valid.

    `n_bytes` is the size of its file, which limits how many symbols it may claim; `symbols` are the integers
    of the characters of a table of the kind ``"int"``. `cutter` is the user's pre-tokenizer, if any, and
    stays as it is. The pattern of a table splits by the other library's version of Unicode.
    """
    try:
        alphabet = Alphabet.from_symbols(table.symbols, table.kind)
        if symbols is not None:
            characters = Alphabet.from_user(symbols, "int")
            if table.kind != "int" or characters.size != alphabet.size:
                raise ModelFormatError(
                    f"alphabet: expected {alphabet.size} integers for a model of 'int', got {characters.size}"
                )
            alphabet = Alphabet.from_symbols(characters.symbols[alphabet.symbols], "int")
        vocabulary = Vocabulary.from_merges(alphabet.size, table.merges, max_symbols=claimable(n_bytes))
        if not vocabulary.in_order_of_creation and not table.one_by_one:
            raise ModelFormatError(
                "merges: a token is in a pair of lower rank than its own, so order would matter"
            )
        special, known, flags = table.special, table.known, table.flags
        if table.kind == "int":
            special, known, flags = (
                {_integers(w, alphabet): i for w, i in words.items()} for words in (special, known, flags)
            )
        if not isinstance(cutter, Pretokenizer):
            cutter = None if table.pattern is None else Pretokenizer(table.pattern, VERSION_OF_OTHERS)
        size = len(vocabulary)
        numbers = [*special.values(), *known.values()]  # o200k_harmony has two names for one id
        shared = table.shared if np.isin(numbers, table.token_ids).any() else len({*numbers}) < len(numbers)
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
            table.file,
        )
        ids = None if np.array_equal(table.token_ids, np.arange(size)) else table.token_ids
        segmenter = segmenter.numbered(ids, size)
        model = Model(alphabet, vocabulary, segmenter)
    except (TypeError, ValueError) as error:
        raise ModelFormatError(str(error)) from error
    if table.whole:
        tokens = trusted(vocabulary.arena.copy(), vocabulary.offsets.copy())
        if (PairEncoder(vocabulary, False, table.one_by_one).encode(tokens, None).lengths != 1).any():
            model = model._replace(segmenter=segmenter._replace(whole_words=True))
    return model


def _integers(word: Any, alphabet: Alphabet) -> tuple[int, ...] | str:
    """The integers of the characters of a word; the word itself, a name, if there are others."""
    integers = [symbol_index(character) for character in word]
    return (
        word
        if any(i is None or i >= alphabet.size for i in integers)
        else tuple(int(alphabet.symbols[i]) for i in integers)
    )
