"""Vocabularies in `.gguf` files of llama.cpp: the fields before the tensors of a file.

Numbers have their low bytes first.

::

    47 47 55 46   03 00 00 00   n tensors: 8 bytes   m fields: 8 bytes   "GGUF", version 3; then the fields:
    length of its name: 8 bytes   name   type: 4 bytes   value       and the value of the type
        0 to 7, 10 to 12   a number (7: true or false)                    1, 2, 4 or 8 bytes
        8                  a string                                       length: 8 bytes, and UTF-8
        9                  an array                                       type: 4 bytes, n: 8 bytes, values

The kind ``llama`` is sentencepiece's BPE and ``t5`` its unigram, with the same types of pieces
(sentencepiece.py). ``gpt2`` is BPE over bytes with names of GPT-2's table and merges, split by the pattern of
the field `tokenizer.ggml.pre`. ``gemma4`` is BPE over characters, with bytes for unknown characters. ``bert``
is WordPiece, with a mark before the pieces that begin a word and none before the others. The patterns are
those that the models were published with (gguf_patterns.json): llama.cpp has simpler patterns for o200k and
tekken.
"""

from __future__ import annotations

import base64
import json
import os
import pathlib
import re
import struct
import warnings
from typing import Any, BinaryIO

import numpy as np

from ubpe_numba.documents.read import code_points
from ubpe_numba.errors import ModelFormatError, quoted, shortened
from ubpe_numba.formats import huggingface, sentencepiece
from ubpe_numba.formats.huggingface import AS_BYTES, cut_of
from ubpe_numba.formats.pair_table import NamePairs, Table, from_names, read_vocab, two_parts
from ubpe_numba.formats.sentencepiece import BPE, BYTE, CONTROL, UNIGRAM, UNKNOWN_PIECE, USER, Pieces
from ubpe_numba.formats.wordpiece import Words
from ubpe_numba.runtime.files import open_regular
from ubpe_numba.text.normalizer import Normalizer
from ubpe_numba.text.splitter import Splitter
from ubpe_numba.vocabulary.reserved import ONLY_DECODED

_PREFIX = "tokenizer.ggml."
_FIELDS = re.compile(  # that are read, and those that a call of llama.cpp puts tokens around a text by
    r"model|pre|tokens|token_type|token_type_count|scores|merges|precompiled_charsmap|add_(space_prefix|[a-z]+_token)|"
    r"remove_extra_whitespaces|normalizer\.(lowercase|strip_accents)|\w+_token_ids?"
)
#: Rows of tokenizers of llama.cpp: their names, and patterns in order, each of which splits the segments of
#: the patterns before. Instead of patterns there may be steps as of a tokenizer.json, or none for those of
#: characters. Then whether a word becomes an equal token first.
_PATTERNS = json.loads(pathlib.Path(__file__).with_name("gguf_patterns.json").read_text(encoding="utf-8"))
_STEPS = {name: tuple(row["steps"]) for row in _PATTERNS for name in row["names"].split()}
_WHOLE = {name for row in _PATTERNS if row.get("whole") for name in row["names"].split()}
_START = "\u2581"  # before pieces that begin a word
_IS_NAME = re.compile(r"(?s)\[.+\]").fullmatch  # of a token, not of a piece of text


def read(path: Any) -> Pieces | Table | Words:
    """Vocabulary of a file: pieces of sentencepiece's kinds, a table of byte-level BPE, or WordPiece.

    ModelFormatError, with the fault, for a file that is not valid or not supported; OSError if it cannot be
    read.
    """
    fields = read_fields(path, _PREFIX)
    if odd := [name for name in fields if not _FIELDS.fullmatch(name)]:
        warnings.warn(f"{_PREFIX}{odd[0]} is not read", UserWarning, stacklevel=2)
    kind, names = fields.get("model"), fields.get("tokens")
    if not isinstance(names, list) or not names or not all(names):
        raise ModelFormatError("tokenizer.ggml.tokens: expected a list of tokens")
    types = _numbers(fields, "token_type", "iu", [sentencepiece.NORMAL] * len(names)).astype(np.int64)
    if types.shape != (len(names),) or types.min() < sentencepiece.NORMAL or types.max() > BYTE:
        raise ModelFormatError("tokenizer.ggml.token_type: expected a type of 1 to 6 for every token")
    if kind in ("llama", "t5"):
        return _pieces(fields, names, types, kind == "t5")
    if kind in ("gpt2", "gemma4"):
        return _table(fields, names, types, "gemma4" if kind == "gemma4" else fields.get("pre", "default"))
    if kind == "bert":
        return _words(fields, names, types)
    raise ModelFormatError(
        f"tokenizer.ggml.model: {quoted(kind)} is not supported; there are llama, t5, gpt2, gemma4 and bert. Read the file that "
        "the model was published with, if there is one"
    )


def _numbers(found: dict[str, Any], name: str, kinds: str, default: Any) -> np.ndarray:
    """An array of numbers, with a dtype of these kinds, such as "iu"."""
    values = found.get(name, np.array(default))
    if not isinstance(values, np.ndarray) or values.dtype.kind not in kinds:
        what = "integers" if kinds == "iu" else "numbers"
        raise ModelFormatError(f"tokenizer.ggml.{name}: expected an array of {what}")
    return values


def _flag(found: dict[str, Any], name: str, default: bool) -> bool:
    value = found.get(name, default)
    if type(value) not in (bool, int):
        raise ModelFormatError(f"tokenizer.ggml.{name}: expected true or false")
    return bool(value)


def _pieces(found: dict[str, Any], names: list[str], types: np.ndarray, unigram: bool) -> Pieces:
    """Pieces as in a file of sentencepiece."""
    unknown = np.flatnonzero(types == UNKNOWN_PIECE)
    # placeholders have this type too: one is the unknown piece, the others are in no text
    if unknown.size > 1:
        one = found.get("unknown_token_id", int(unknown[0]))
        types = np.where((types == UNKNOWN_PIECE) & (np.arange(types.size) != one), CONTROL, types)
    with np.errstate(over="ignore"):
        scores = _numbers(found, "scores", "fiu", []).astype(np.float32)
    if scores.shape != (len(names),) or not np.isfinite(scores).all():
        raise ModelFormatError("tokenizer.ggml.scores: expected a finite number for every token")
    charsmap = _numbers(found, "precompiled_charsmap", "iu", np.zeros(0, np.uint8))
    if charsmap.itemsize > 1 and not ((charsmap >= 0) & (charsmap < 256)).all():
        raise ModelFormatError("tokenizer.ggml.precompiled_charsmap: expected bytes")
    step = {
        "type": "SentencePiece",
        "precompiled_charsmap": base64.b64encode(charsmap.astype(np.uint8).tobytes()).decode(),
        "add_dummy_prefix": _flag(found, "add_space_prefix", True),
        "remove_extra_whitespaces": _flag(found, "remove_extra_whitespaces", unigram),
    }
    points = code_points("".join(names))
    lengths = np.array([*map(len, names)])
    kind = UNIGRAM if unigram else BPE
    by_bytes = bool((types == BYTE).any())
    return sentencepiece.checked(
        Pieces(kind, points, lengths, scores, types, by_bytes, sentencepiece.SURFACE, step)
    )


def _table(found: dict[str, Any], names: list[str], types: np.ndarray, name: Any) -> Table:
    """The table of a BPE over bytes, cut as `name` says, or over characters, as Gemma's."""
    if not isinstance(name, str) or name not in _STEPS:
        raise ModelFormatError(
            f"tokenizer.ggml.pre: the pattern of {quoted(name)} is not known; read the tokenizer.json of the model, which says "
            f"how text is cut. Known are {shortened(', '.join(_STEPS), 500)}"
        )
    merges = found.get("merges")
    pairs = two_parts(merges) if isinstance(merges, list) else None
    if pairs is None:
        raise ModelFormatError("tokenizer.ggml.merges: expected a list of two tokens each")
    vocab = {token: i for i, token in enumerate(names)}
    if len(vocab) < len(names):
        raise ModelFormatError("tokenizer.ggml.tokens: a token is there twice")
    special = {names[i]: i for i in np.flatnonzero(np.isin(types, (CONTROL, UNKNOWN_PIECE))).tolist()}
    known = {names[i]: i for i in np.flatnonzero(types == USER).tolist()}
    if not _STEPS[name]:
        unknown = next((names[i] for i in np.flatnonzero(types == UNKNOWN_PIECE).tolist()), None)
        spaces = {"type": "Replace", "pattern": {"String": " "}, "content": _START}
        back = {"type": "Replace", "pattern": {"String": _START}, "content": " "}
        words = [
            {"id": i, "content": word, "special": word in special} for word, i in (special | known).items()
        ]
        model = {
            "type": "BPE",
            "vocab": vocab,
            "merges": NamePairs.of(pairs),
            "byte_fallback": True,
            "unk_token": unknown,
        }
        decoder = {"type": "Sequence", "decoders": [back, {"type": "ByteFallback"}, {"type": "Fuse"}]}
        return huggingface.read(
            {"added_tokens": words, "normalizer": spaces, "decoder": decoder, "model": model}, None
        )
    cuts = [
        {"type": "Split", "pattern": {"Regex": step}, "behavior": "Isolated"}
        if isinstance(step, str)
        else step
        for step in _STEPS[name]
    ]
    pattern, splitter = cut_of(Splitter(cuts if name == "falcon" else [*cuts, AS_BYTES]))
    table = from_names(read_vocab(vocab), pairs, "bytes", special, known, pattern, loose=True)
    unheard = dict.fromkeys(table.special.keys() - special.keys(), ONLY_DECODED)
    return table._replace(whole=name in _WHOLE, flags=unheard, splitter=splitter)


def _words(found: dict[str, Any], names: list[str], types: np.ndarray) -> Words:
    """Words of WordPiece as of BERT.

    Without a field for it, text is lower case if no piece has an ASCII capital.
    """
    special = set(np.flatnonzero(np.isin(types, (CONTROL, UNKNOWN_PIECE, USER))).tolist())
    unknown = found.get("unknown_token_id", 100)
    if type(unknown) is not int or not 0 <= unknown < len(names):
        raise ModelFormatError(
            f"tokenizer.ggml.unknown_token_id: expected the id of a token, got {quoted(unknown)}"
        )
    bare = special | ({unknown} if not names[unknown].startswith(_START) else set())
    # as BERT's vocabulary has them; some files lack the mark before a name of a token, in brackets
    pieces = [
        name
        if i in bare or _IS_NAME(name)
        else name[1:]
        if name.startswith(_START) and name != _START
        else f"##{name}"
        for i, name in enumerate(names)
    ]
    vocab = {piece: i for i, piece in enumerate(pieces)}
    if len(vocab) < len(pieces):
        raise ModelFormatError("tokenizer.ggml.tokens: a token is there twice")
    own = "".join(piece for i, piece in enumerate(pieces) if i not in special and not _IS_NAME(piece))
    lowercase = _flag(found, "normalizer.lowercase", re.search("[A-Z]", own) is None)
    strip = _flag(found, "normalizer.strip_accents", lowercase)
    normalizer = Normalizer([{"type": "BertNormalizer", "lowercase": lowercase, "strip_accents": strip}])
    splitter = Splitter([{"type": "BertPreTokenizer"}])
    return Words(
        vocab,
        pieces[unknown],
        "##",
        100,
        normalizer,
        splitter,
        {pieces[i]: i for i in sorted({*special, unknown})},
    )


# ---------------------------------------------------------------------------------------------------- fields

_TYPES = ("u1", "i1", "<u2", "<i2", "<u4", "<i4", "<f4", "?", "<u8", "<i8", "<f8")
_DTYPES = dict(zip([*range(8), 10, 11, 12], map(np.dtype, _TYPES), strict=True))
_STRING, _ARRAY = 8, 9
_MOST_FIELDS = 1 << 12
_MOST_BYTES = 1 << 28  # of all fields together; a vocabulary of a quarter of a million tokens has 12 million
_MOST_STRINGS = 1 << 21  # of an array


def read_fields(path: str | os.PathLike[str], prefix: str) -> dict[str, Any]:
    """Fields whose names begin with `prefix`, without it: numbers, `str`, lists and arrays.

    Lists are of `str`, arrays of numbers.

    ModelFormatError, with the field, for a file that is not valid gguf; OSError if it cannot be read.
    """
    with open_regular(path) as f:
        head = _Head(f)
        if head.take(4, "the beginning") != b"GGUF":
            raise ModelFormatError("not a file of gguf: it does not begin with GGUF")
        version = head.number("<I", "the version")
        if version not in (2, 3):
            raise ModelFormatError(
                f"version {version} of gguf is not supported: there are versions 2 and 3, low bytes first"
            )
        head.number("<Q", "the number of tensors")
        n = head.number("<Q", "the number of fields")
        if n > _MOST_FIELDS:
            raise ModelFormatError(f"not a file of gguf: {n} fields; expected at most {_MOST_FIELDS}")
        fields: dict[str, Any] = {}
        names = set()
        for i in range(n):
            (name,) = head.values(_STRING, 1, f"the name of field {i}", True)
            if name in names:
                raise ModelFormatError(f"not a file of gguf: the field {quoted(name)} is there twice")
            names.add(name)
            value = head.value(name, name.startswith(prefix))
            if value is not None:
                fields[name.removeprefix(prefix)] = value
        return fields


class _Head:
    """Reader of the beginning of a file: gigabytes of tensors follow.

    Every length is checked against the size of the file first: nothing is allocated for data that cannot be
    there.
    """

    def __init__(self, f: BinaryIO) -> None:
        self._file, size = f, os.fstat(f.fileno()).st_size
        self._left, self._is_whole = min(size, _MOST_BYTES), size <= _MOST_BYTES

    def take(self, n: int, where: str) -> bytes:
        """The next n bytes; ModelFormatError if the file has not so many."""
        data = self._file.read(n) if n <= self._left else b""
        self._left -= n
        if len(data) < n:
            what = f"the file ends within {where}" if self._is_whole else f"{where} is too large"
            raise ModelFormatError(f"not a file of gguf: {what}")
        return data

    def number(self, layout: str, where: str) -> int:
        """The next number."""
        return int(struct.unpack(layout, self.take(struct.calcsize(layout), where))[0])

    def value(self, name: str, wanted: bool) -> Any:
        """The value of a field, None if it is not wanted."""
        where = f"the field {quoted(name)}"
        kind = self.number("<I", where)
        if kind != _ARRAY:
            values = self.values(kind, 1, where, wanted)
            return (
                values if values is None else values.item() if isinstance(values, np.ndarray) else values[0]
            )
        kind, n = self.number("<I", where), self.number("<Q", where)
        if kind == _STRING and n > _MOST_STRINGS:
            raise ModelFormatError(
                f"not a file of gguf: {where} has {n} strings; expected at most {_MOST_STRINGS}"
            )
        return self.values(kind, n, where, wanted)

    def values(self, kind: int, n: int, where: str, wanted: bool) -> Any:
        """The next n values of a type, None if they are not wanted."""
        if kind in _DTYPES:
            data = self.take(n * _DTYPES[kind].itemsize, where)
            return np.frombuffer(data, _DTYPES[kind]) if wanted else None
        if kind != _STRING:
            raise ModelFormatError(f"not a file of gguf: {where} has values of the type {kind}")
        strings = [self.take(int.from_bytes(self.take(8, where), "little"), where) for _ in range(n)]
        try:
            return list(map(bytes.decode, strings)) if wanted else None
        except UnicodeDecodeError as error:
            i = strings.index(error.object)
            raise ModelFormatError(f"{where}: string {i} is not UTF-8") from error
