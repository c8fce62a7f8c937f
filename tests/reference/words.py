"""Cutting text by the published patterns, with the package `regex`; counting and encoding what comes out."""

from __future__ import annotations

from collections import Counter

import regex

from .encode_pairs import Ranked, encode_rank

PATTERNS = {
    # A. Radford et al., 2019
    "gpt2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    # tiktoken
    "cl100k": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    "o200k": "|".join(
        [
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        ]
    ),
}
_COMPILED = {name: regex.compile(pattern) for name, pattern in PATTERNS.items()}


def decoded(data: bytes) -> list[tuple[str, int]]:
    r"""The code points of any bytes, and of how many bytes each is: surrogates are code points, a stray byte is one of its own.

    >>> decoded(b"a\xed\xa0\x80\xff")
    [('a', 1), ('\ud800', 3), ('\udcff', 1)]
    """
    found = []
    i = 0
    while i < len(data):
        for width in range(1, 5):
            try:
                found.append((data[i : i + width].decode("utf-8", "surrogatepass"), width))
                break
            except UnicodeDecodeError:
                pass
        else:
            width = 1
            found.append((data[i : i + 1].decode("utf-8", "surrogateescape"), 1))
        i += width
    return found


def split(data: bytes, pattern: str) -> list[bytes]:
    """The segments of one document; what the pattern leaves out would be a segment too.

    >>> split(b"it's 1234", "cl100k")
    [b'it', b"'s", b' ', b'123', b'4']
    """
    points = decoded(data)
    ends = [0]
    for _, width in points:
        ends.append(ends[-1] + width)
    cuts = {0, len(data)}
    for found in _COMPILED[pattern].finditer("".join(point for point, _ in points)):
        cuts |= {ends[found.start()], ends[found.end()]}
    places = sorted(cuts)
    return [data[a:b] for a, b in zip(places[:-1], places[1:], strict=True)]


def count_segments(documents: list[bytes], pattern: str) -> dict[bytes, int]:
    """How often each segment occurs, in order of first appearance."""
    return dict(Counter(segment for document in documents for segment in split(document, pattern)))


def encode_segments(document: bytes, pattern: str, merges: Ranked, byte_ids: list[int]) -> list[int]:
    """Encode one document by merge rank, every segment for itself.

    >>> encode_segments(b"aa a", "gpt2", {(97, 97): (0, 256), (32, 97): (1, 257)}, list(range(256)))
    [256, 257]
    """
    return [t for s in split(document, pattern) for t in encode_rank([byte_ids[byte] for byte in s], merges)]
