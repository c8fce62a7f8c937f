r"""CLIP's file of merges, `bpe_simple_vocab_16e6.txt` or its .gz: a first line that names it, then a pair a line by rank.

The ids are those of the symbols, of the symbols at the end of a word, of the first 48,894 pairs (the file has more), and of two
special tokens::

    "bpe_simple_vocab_16e6.txt#version: 0.2       0 .. 255     ! " # ... of GPT-2's table
    i n                                           256 .. 511   !</w> "</w> ...
    t h                                           512          in
    ...                                           49406        <|startoftext|>, and <|endoftext|>

Text is normalised and cut as by Hugging Face's tokenizer of these models; repairs of text by `ftfy` and of HTML come before that.
"""

from __future__ import annotations

import zlib
from typing import Any

from ubpe_numba.errors import ModelFormatError
from ubpe_numba.text.characters import byte_characters

_FIRST = b'"bpe_simple_vocab_16e6.txt#version'
_N_MERGES = 49152 - 256 - 2
_MOST = 1 << 21  # bytes that so many lines take at most
_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
_END = "<|endoftext|>"


def is_it(head: bytes) -> bool:
    """Whether a file that begins so is one."""
    return _plain(head, len(_FIRST)).startswith(_FIRST)


def _plain(data: bytes, most: int) -> bytes:
    """Up to so many bytes of a file that may be a .gz; nothing of one that is not valid."""
    if not data.startswith(b"\x1f\x8b"):
        return data[:most]
    try:
        return zlib.decompressobj(31).decompress(data, most)
    except zlib.error:
        return b""


def document(data: bytes) -> dict[str, Any]:
    """The object of a `tokenizer.json` that encodes alike; ModelFormatError if the file is not valid."""
    lines = _plain(data, _MOST).split(b"\n")[1 : _N_MERGES + 1]
    if len(lines) < _N_MERGES:
        raise ModelFormatError(f"expected {_N_MERGES} pairs, got {len(lines)}")
    try:
        merges = [line.decode().rstrip("\r") for line in lines]
    except UnicodeDecodeError as error:
        raise ModelFormatError(f"not text in UTF-8: {error}") from error
    letters = sorted(byte_characters())
    names = [*letters, *(f"{letter}</w>" for letter in letters), *(merge.replace(" ", "") for merge in merges)]
    special = {"<|startoftext|>": len(names), _END: len(names) + 1}
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    spaces = {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "}
    cut = {"type": "Split", "pattern": {"Regex": _PATTERN}, "behavior": "Removed", "invert": True}
    return {
        "added_tokens": [{"id": i, "content": word, **flags} for word, i in special.items()],
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, spaces, {"type": "Lowercase"}]},
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [cut, {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}],
        },
        "model": {
            "type": "BPE", "unk_token": _END, "end_of_word_suffix": "</w>",
            "vocab": {name: i for i, name in enumerate(names)} | special, "merges": merges,
        },
    }  # fmt: skip
