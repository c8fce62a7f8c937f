"""Cutting text by the published patterns; counting and encoding what comes out.

With the package `regex`, or without it with Python's `re`, which knows no classes of characters by category: those of a text are
spelled out for it.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import Any

try:
    import regex
except ImportError:
    regex = None

from .encode_pairs import Ranked, encode_rank
from .fit import adjacent

_LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_WORDS = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
)
_REST = (r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+")
#: As they are published; each cuts what the one before it left in one piece.
PATTERNS = {
    # A. Radford et al., 2019
    "gpt2": [_GPT2],
    # the files of StarCoder: digits, then ByteLevel
    "starcoder": [r"\p{N}", _GPT2],
    # tiktoken
    "cl100k": [
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ],
    # llama_models, and the files of Llama 3
    "llama3": [_LLAMA3],
    # dashscope, and the files of Qwen 2 and 3
    "qwen2": [_LLAMA3.replace("{1,3}", "")],
    # the files of Qwen 3.5
    "qwen35": [_LLAMA3.replace("{1,3}", "").replace(r"\p{L}+", r"[\p{L}\p{M}]+").replace(r"\s\p{L}", r"\s\p{L}\p{M}")],
    # the files of DeepSeek V3
    "deepseek": [
        r"\p{N}{1,3}",
        "[一-龥\u3040-ゟ\u30a0-ヿ]+",
        r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"
        r"|\s*[\r\n]+|\s+(?!\S)|\s+",
    ],
    # tiktoken
    "o200k": ["|".join([*(word + "(?i:'s|'t|'re|'ve|'m|'ll|'d)?" for word in _WORDS), r"\p{N}{1,3}", *_REST])],
    # mistral_common
    "tekken": ["|".join([*_WORDS, r"\p{N}", *_REST])],
}
_WHITE_SPACE = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))


def places(text: str, pattern: str) -> list[int]:
    """Where segments of a text begin and end, in code points, by the name of a pattern.

    >>> places("it's  12", "starcoder")
    [0, 2, 4, 6, 7, 8]
    """
    return cut_by(PATTERNS[pattern], text)


def cut_by(steps: Iterable[Any], text: str) -> list[int]:
    r"""Where segments begin and end, cut by patterns; what a pattern leaves out is a segment too.

    >>> cut_by([r"\p{N}", r"\p{L}+"], "ab12, c")
    [0, 2, 3, 4, 6, 7]
    """
    cuts = {0, len(text)}
    for step in steps:
        pattern = spelled_out(step, text) if regex is None else regex.compile(step)
        for a, b in adjacent(sorted(cuts)):
            for found in pattern.finditer(text[a:b]):
                cuts |= {a + found.start(), a + found.end()}
    return sorted(cuts)


def spelled_out(step: str, text: str) -> re.Pattern[str]:
    r"""A pattern for `re` that finds in this text, and in parts of it, what the published one finds.

    Classes such as ``\p{L}`` and ``\s`` become the characters of the text that are in them. Possessive quantifiers become greedy
    ones: what follows them in the published patterns never matches less.

    >>> spelled_out(r"[^\s\p{L}]++|\p{L}+", "ab 1").pattern
    '[^\\ ab]+|[ab]+'
    """
    points = sorted(set(text))
    nothing = next(chr(point) for point in range(0xF0000, 0xFFFFE) if chr(point) not in points)  # a class has to have a member

    def members(name: str) -> str:
        found = [c for c in points if (c in _WHITE_SPACE if name == "s" else unicodedata.category(c).startswith(name))]
        return "".join(map(re.escape, found)) or nothing

    out, inside, before = "", False, ""
    for part in re.findall(r"\\p\{\w+\}|\\.|\{[\d,]+\}|.", step):
        if part == r"\S":
            out += f"[^{members('s')}]"
        elif part == r"\s" or part.startswith(r"\p"):
            found = members(part[3:-1] or "s")
            out += found if inside else f"[{found}]"
        elif inside or part != "+" or (before not in ("+", "*", "?") and not before.startswith("{")):
            inside = part == "[" or (inside and part != "]")
            out += part
        before = part
    return re.compile(out)


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
    """The segments of one document.

    >>> split(b"it's 1234", "cl100k")
    [b'it', b"'s", b' ', b'123', b'4']
    """
    points = decoded(data)
    ends = [0]
    for _, width in points:
        ends.append(ends[-1] + width)
    cuts = [ends[place] for place in places("".join(point for point, _ in points), pattern)]
    return [data[a:b] for a, b in adjacent(cuts)]


def count_segments(documents: list[bytes], pattern: str) -> dict[bytes, int]:
    """How often each segment occurs, in order of first appearance."""
    return dict(Counter(segment for document in documents for segment in split(document, pattern)))


def encode_segments(document: bytes, pattern: str, merges: Ranked, byte_ids: list[int]) -> list[int]:
    """Encode one document by merge rank, every segment for itself.

    >>> encode_segments(b"aa a", "gpt2", {(97, 97): (0, 256), (32, 97): (1, 257)}, list(range(256)))
    [256, 257]
    """
    return [t for s in split(document, pattern) for t in encode_rank([byte_ids[byte] for byte in s], merges)]
