r"""Files of merges, pairs by rank: GPT-2's `merges.txt` with `vocab.json`, and CLIP's file.

The latter is `bpe_simple_vocab_16e6.txt`.

`vocab.json` holds tokens and ids, over bytes, written as the characters of GPT-2's table, or over characters.
Files with ``</w>`` at the ends of words (Sennrich et al., 2016) are read from a `tokenizer.json`, which also
determines how words are split.

CLIP's file, or its .gz, has a first line that names it, then a pair a line by rank. The ids are those of the
symbols, of the symbols at the end of a word, of the first 48,894 pairs (the file has more), and of two
special tokens::

    "bpe_simple_vocab_16e6.txt#version: 0.2       0 .. 255     ! " # ... of GPT-2's table
    i n                                           256 .. 511   !</w> "</w> ...
    t h                                           512          in
    ...                                           49406        <|startoftext|>, and <|endoftext|>

Text is normalized and split as by Hugging Face's tokenizer of these models; repairs of text by `ftfy` and of
HTML come before that.
"""

from __future__ import annotations

import itertools
import json
import zlib
from typing import Any

from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.formats.character_bytes import SUFFIX
from ubpe_numba.formats.model_file import parse_json
from ubpe_numba.formats.pair_table import Pairs, Table, from_names, read_vocab, two_parts
from ubpe_numba.formats.tokenizer_config import as_transformers
from ubpe_numba.text.characters import byte_characters


def read(vocab: Any, merges: str, kind: str, special: dict[str, int], pattern: str | None) -> Table:
    """Read `vocab`, JSON or a dict, and the text of `merges`; ModelFormatError if not valid."""
    ids, pairs = read_vocab(parse_json(vocab) if isinstance(vocab, (str, bytes)) else vocab), _pairs(merges)
    if odd := next((word for word, i in special.items() if ids.get(word, i) != i), None):
        raise ModelFormatError(
            f"special_tokens: {quoted(odd)} has the id {ids[odd]} in the vocabulary, not {special[odd]}"
        )
    return from_names(ids, pairs, kind, special, {}, pattern)


def _pairs(merges: str) -> Pairs:
    """The pairs of a text of merges, line by line; ModelFormatError with the first invalid line."""
    lines = [line.rstrip("\r") for line in merges.split("\n")]
    lines[0] = "" if lines[0].startswith("#version") else lines[0]
    if (pairs := two_parts(list(filter(None, lines)))) is None:
        number = next(n for n, line in enumerate(lines) if line and two_parts([line]) is None)
        message = f"merges: line {number + 1}: expected two tokens with a space between, got {quoted(lines[number])}"
        raise ModelFormatError(message)
    return pairs


def write(vocab: dict[str, int], merges: Pairs) -> tuple[str, str]:
    """The contents of both files; ValueError for tokens with white space, which could not be read again."""
    if any(map(str.isspace, set("".join(map("".join, merges))))):
        name = next(name for name in itertools.chain(*merges) if any(map(str.isspace, name)))
        raise ValueError(f"merges: the token {quoted(name)} holds white space, which merges.txt cannot keep")
    lines = ["#version: 0.2", *map(" ".join, zip(*merges, strict=True))]
    return json.dumps(vocab, ensure_ascii=False), "\n".join(lines) + "\n"


# ---------------------------------------------------------------------------------------------------- CLIP

FIRST_OF_CLIP = b'"bpe_simple_vocab_16e6.txt#version'
_N_MERGES = 49152 - 256 - 2
_MOST = 1 << 21  # bytes that so many lines take at most
_SPECIAL = ("<|startoftext|>", "<|endoftext|>")


def beginning(data: bytes, most: int) -> bytes:
    """At most `most` bytes of a file that may be a .gz; none if it is not valid."""
    if not data.startswith(b"\x1f\x8b"):
        return data[:most]
    try:
        return zlib.decompressobj(31).decompress(data, most)
    except zlib.error:
        return b""


def clip_document(data: bytes) -> dict[str, Any]:
    """The object of a `tokenizer.json` that encodes alike; ModelFormatError if the file is not valid."""
    lines = beginning(data, _MOST).split(b"\n")[1 : _N_MERGES + 1]
    if len(lines) < _N_MERGES:
        raise ModelFormatError(f"expected {_N_MERGES} pairs, got {len(lines)}")
    try:
        merges = [line.decode().rstrip("\r") for line in lines]
    except UnicodeDecodeError as error:
        raise ModelFormatError(f"not text in UTF-8: {error}") from error
    letters = sorted(byte_characters())
    names = [
        *letters,
        *(f"{letter}</w>" for letter in letters),
        *(merge.replace(" ", "") for merge in merges),
        *_SPECIAL,
    ]
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    ends = {"type": "Replace", "pattern": {"Regex": SUFFIX + "$"}, "content": "Ġ"}
    file = {"model": {"type": "BPE", "vocab": {name: i for i, name in enumerate(names)}, "merges": merges}}
    as_transformers(file, {}, "CLIPTokenizer")
    return file | {"post_processor": None, "decoder": {"type": "Sequence", "decoders": [ends, level]}}
