r"""Ranks as packages of npm have them (tiktoken, js-tiktoken): an object of JSON, by itself or as a module of JavaScript.

It has a pattern, special tokens, and in ``"bpe_ranks"`` lines of a mark, the rank of the first token, and tokens in base64::

    export default {"pat_str": "...", "special_tokens": {"<|endoftext|>": 50256}, "bpe_ranks": "! 0 IQ== Ig==\n! 50 YWI="}
"""

from __future__ import annotations

from typing import Any

from ubpe_numba.errors import ModelFormatError, quoted

FIELDS = ("pat_str", "special_tokens", "bpe_ranks")
_MODULES = (b"export default {", b"module.exports = {")
_END = b" \t\r\n;"


def is_module(head: bytes) -> bool:
    """Whether a file that begins so is a module with an object of these fields, the first of them near the beginning."""
    return head.startswith(_MODULES) and any(f'"{field}"'.encode() in head[:4096] for field in FIELDS)


def object_of(data: bytes) -> bytes:
    """The JSON of a module.

    >>> object_of(b'export default {"pat_str": "a+"};')
    b'{"pat_str": "a+"}'
    """
    return data[data.index(b"{") :].rstrip(_END)


def read(document: dict[str, Any]) -> tuple[bytes, str, dict[str, int]]:
    r"""The content of a `.tiktoken` file, the pattern and the special tokens of an object; ModelFormatError if it is not valid.

    >>> read({"pat_str": "a+", "special_tokens": {"<e>": 9}, "bpe_ranks": "! 0 YQ== Yg==\n! 7 YWI="})
    (b'YQ== 0\nYg== 1\nYWI= 7\n', 'a+', {'<e>': 9})
    """
    pattern, special, ranks = (document.get(field) for field in FIELDS)
    if not isinstance(pattern, str) or not isinstance(ranks, str):
        raise ModelFormatError("pat_str, bpe_ranks: expected text")
    if not isinstance(special, dict) or not all(type(i) is int for i in special.values()):
        raise ModelFormatError("special_tokens: expected an object of ids")
    lines: list[str] = []
    for number, line in enumerate(ranks.split("\n"), 1):
        if not line:
            continue
        first, *tokens = line.split(" ")[1:] or [""]
        if not (line.isascii() and first.isdigit()) or len(first) > 10:
            raise ModelFormatError(f"bpe_ranks: line {number}: expected a mark, a rank and tokens, got {quoted(line[:60])}")
        lines += [f"{token} {rank}\n" for rank, token in enumerate(tokens, int(first))]
    return "".join(lines).encode(), pattern, special
