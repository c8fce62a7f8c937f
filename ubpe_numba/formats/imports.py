"""Models from the files and objects of other libraries.

Each function reads a source into a `Table` (pair_table.py) and makes a `Model` of it. Raises ModelFormatError, which says what is
not valid in a source or not supported here.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.formats import (
    gguf,
    huggingface,
    sentencepiece,
    tiktoken,
    unigram,
    vocab_merges,
    wordpiece,
)
from ubpe_numba.formats.model_file import claimable, parse_json
from ubpe_numba.formats.pair_table import Table, symbol_index
from ubpe_numba.runtime.files import naming, open_regular
from ubpe_numba.text.patterns import VERSION_OF_OTHERS
from ubpe_numba.text.pretokenizer import Pretokenizer
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.reserved import Reserved
from ubpe_numba.vocabulary.segmenter import Segmenter
from ubpe_numba.vocabulary.vocabulary import Vocabulary


def from_huggingface(source: Any, kind: str | None, alphabet: Any, n_bytes: int = 0) -> Model:
    """The model of a `tokenizer.json`; arguments as `BPE.from_huggingface`, or its object, of a file of so many bytes."""
    return from_huggingface_with_params(source, kind, alphabet, n_bytes)[0]


def from_huggingface_with_params(source: Any, kind: str | None, alphabet: Any, n_bytes: int = 0) -> tuple[Model, dict[str, Any]]:
    """The same, and arguments of a constructor: `unknown`, where a symbol or a special token is the unk_token."""
    text = source if isinstance(source, dict) else huggingface_text(source)
    with _naming(source, "{"):
        table = huggingface.read(text, kind)
        model = _model_of(table, n_bytes if isinstance(source, dict) else len(text), alphabet)
    unknown = _unknown_of(table, model.alphabet)
    return model, {} if unknown is None else {"unknown": unknown}


def _unknown_of(table: Table, alphabet: Alphabet) -> Any:
    """The stand-in of a table as the constructor takes it: for integers an id of the alphabet, or integers; or None."""
    word = table.stand_in
    if word is None or table.kind != "int":
        return word
    assert isinstance(word, str)  # a name
    if word in table.special:
        return _integers(word, alphabet)
    number = symbol_index(word) if len(word) == 1 else None
    return table.symbols.index(number) if number in table.symbols else None


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


def _cutter_of(pattern: str | None) -> Pretokenizer | None:
    return None if pattern is None else Pretokenizer(pattern, VERSION_OF_OTHERS)


def from_huggingface_unigram(source: Any) -> Model:
    """The model of a `tokenizer.json` of type Unigram; arguments as `UBPE.from_huggingface`."""
    text = huggingface_text(source)
    with _naming(source, "{"):
        try:
            return unigram.model_of(text)
        except (TypeError, ValueError) as error:
            raise ModelFormatError(str(error)) from error


def from_huggingface_words(source: Any) -> wordpiece.Words:
    """What a `tokenizer.json` of type WordPiece says; arguments as `WordPiece.from_huggingface`."""
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


def any_of_gguf(path: Any) -> Model | wordpiece.Words:
    """The model of a `.gguf` file, or what it says of words."""
    found = gguf.read(path)
    if isinstance(found, sentencepiece.Pieces):
        return sentencepiece.model_of(found)
    return (
        found if isinstance(found, wordpiece.Words) else _model_of(found, sum(map(len, found.special)) + 8 * found.token_ids.size)
    )


def from_tekken(source: Any, n_bytes: int = 0) -> Model:
    """The model of a `tekken.json`; arguments as `BPE.from_tekken`, or its object, of a file of so many bytes."""
    if isinstance(source, dict):
        return _model_of(tiktoken.read_tekken(source), n_bytes)
    text = text_of(source, "{")
    with _naming(source, "{"):
        return _model_of(tiktoken.read_tekken(parse_json(text)), len(text))


def from_sentencepiece(source: Any, unigram: bool | None) -> Model:
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

    `n_bytes` is the size of its file, which limits how many symbols it may claim; `symbols` are the integers that the characters
    of a table of the kind ``"int"`` stand for. `cutter` is what the user gave, if anything: a pre-tokenizer stays as it is, while
    patterns are those of the other library, by its version of Unicode.
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
        size = len(vocabulary)
        taken = set(table.token_ids.tolist())
        shared = table.shared and any(i in taken for words in (special, known) for i in words.values())
        segmenter = Segmenter(
            table.splitter or (cutter if isinstance(cutter, Pretokenizer) else _cutter_of(table.pattern)),
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
        model = Model(alphabet, vocabulary, segmenter.numbered(ids, size))
    except (TypeError, ValueError) as error:
        raise ModelFormatError(str(error)) from error
    if table.whole and not _are_stable(model):
        model = model._replace(segmenter=model.segmenter._replace(whole_words=True))
    return model


def _are_stable(model: Model) -> bool:
    """Whether every token, encoded by itself, becomes itself."""
    vocabulary = model.vocabulary
    tokens = Ragged._trusted(vocabulary.arena.copy(), vocabulary.offsets.copy())
    encoded = PairEncoder(vocabulary, False, model.segmenter.one_by_one).encode(tokens, None)
    return bool((encoded.lengths == 1).all())


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
