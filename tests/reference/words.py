"""Cutting text by the published patterns; counting and encoding what comes out; what sentencepiece makes of text."""

import functools
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import regex

from .encode_pairs import Ranked, encode_rank
from .fit import Merge, Pair, adjacent, fit

_LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_WORDS = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
)
_REST = (r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+")
#: As they are published; each cuts what the one before it left in one piece.
PATTERNS = {
    "gpt2": [_GPT2],  # A. Radford et al., 2019
    "starcoder": [r"\p{N}", _GPT2],  # the files of StarCoder: digits, then ByteLevel
    "cl100k": [  # tiktoken
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ],
    "llama3": [_LLAMA3],  # llama_models, and the files of Llama 3
    "qwen2": [_LLAMA3.replace("{1,3}", "")],  # dashscope, and the files of Qwen 2 and 3
    # the files of Qwen 3.5
    "qwen35": [
        _LLAMA3.replace("{1,3}", "").replace(r"\p{L}+", r"[\p{L}\p{M}]+").replace(r"\s\p{L}", r"\s\p{L}\p{M}")
    ],
    "deepseek": [  # the files of DeepSeek V3
        r"\p{N}{1,3}",
        "[一-龥\u3040-ゟ\u30a0-ヿ]+",
        r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"
        r"|\s*[\r\n]+|\s+(?!\S)|\s+",
    ],
    "o200k": [
        "|".join([*(word + "(?i:'s|'t|'re|'ve|'m|'ll|'d)?" for word in _WORDS), r"\p{N}{1,3}", *_REST])
    ],
    "tekken": ["|".join([*_WORDS, r"\p{N}", *_REST])],  # mistral_common
}


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
        pattern = regex.compile(step)
        for a, b in adjacent(sorted(cuts)):
            for found in pattern.finditer(text[a:b]):
                cuts |= {a + found.start(), a + found.end()}
    return sorted(cuts)


@functools.lru_cache(4096)
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


def split(data: bytes, pattern: str | None) -> list[bytes]:
    """The segments of one document; None: the whole of it.

    >>> split(b"it's 1234", "cl100k")
    [b'it', b"'s", b' ', b'123', b'4']
    """
    if pattern is None:
        return [data]
    points = decoded(data)
    ends = [0]
    for _, width in points:
        ends.append(ends[-1] + width)
    cuts = [ends[place] for place in places("".join(point for point, _ in points), pattern)]
    return [data[a:b] for a, b in adjacent(cuts)]


def count_segments(documents: list[bytes], pattern: str) -> dict[bytes, int]:
    """How often each segment occurs, in order of first appearance."""
    return dict(Counter(segment for document in documents for segment in split(document, pattern)))


def encode_segments(document: bytes, pattern: str | None, merges: Ranked, byte_ids: list[int]) -> list[int]:
    """Encode one document by merge rank, every segment for itself.

    >>> encode_segments(b"aa a", "gpt2", {(97, 97): (0, 256), (32, 97): (1, 257)}, list(range(256)))
    [256, 257]
    """
    return [t for s in split(document, pattern) for t in encode_rank([byte_ids[byte] for byte in s], merges)]


def segments(doc: bytes, pattern: str | None, special: bytes, boundaries: Sequence[int] = ()) -> list[bytes]:
    """What tokens may not cross the ends of: a document without its special tokens, cut at boundaries and by a pattern.

    >>> segments(b"a cat<s> sat", None, b"<s>", [3])
    [b'a c', b'at', b' sat']
    >>> segments(b"a cat<s> sat", "gpt2", b"<s>")
    [b'a', b' cat', b' sat']
    """
    places = sorted({0, *boundaries, len(doc)})
    parts = [part for a, b in adjacent(places) for part in doc[a:b].split(special) if part]
    return [segment for part in parts for segment in split(part, pattern)]


def two_stages(
    docs: list[bytes],
    patterns: tuple[str | None, str | None],
    sizes: tuple[int, int],
    special: bytes,
    weights: Sequence[int] | None = None,
    boundaries: Sequence[Sequence[int]] | None = None,
) -> tuple[list[Merge], list[Merge]]:
    """The merges of both stages, over bytes; every segment counts as a document.

    >>> [[merge[:3] for merge in stage] for stage in two_stages([b"a b a b", b"a b"], ("gpt2", None), (257, 258), b"<s>")]
    [[(32, 98, 3)], [(97, 256, 3)]]
    """
    stages: list[list[Merge]] = []
    old: list[Pair] = []
    for pattern, size in zip(patterns, sizes, strict=True):
        parts, part_weights = [], []
        for i, doc in enumerate(docs):
            found = segments(doc, pattern, special, boundaries[i] if boundaries else ())
            parts += [list(part) for part in found]
            part_weights += [weights[i] if weights else 1] * len(found)
        stages.append(fit(parts, 256, size, weights=part_weights, old=old)[0])
        old += [merge[:2] for merge in stages[-1]]
    return stages[0], stages[1]


def normalized(
    text: str,
    rules: dict[str, str],
    words: list[str],
    *,
    prefix: bool,
    suffix: bool,
    remove: bool,
    escape: bool,
) -> tuple[str, list[int]]:
    """The text changed, and for each of its characters the index of the one that it comes from.

    >>> normalized(" ab  c ", {"ab": "x"}, [], prefix=True, suffix=False, remove=True, escape=True)
    ('▁x▁c', [1, 1, 3, 5])
    """
    blank = "▁" if escape else " "
    out: list[tuple[str, int]] = []
    after_space, started, i = remove, False, 0
    while i < len(text):
        word = max((word for word in words if text.startswith(word, i)), key=len, default="")
        rule = max((rule for rule in rules if text.startswith(rule, i)), key=len, default="")
        size = len(word or rule) or 1
        part = word or (rules[rule] if rule else text[i])
        if not started and remove and part == " ":
            i += size
            continue
        if not started and prefix and not suffix:
            out.append((blank, i))
        started = True
        if after_space:
            part = part.lstrip(" ")
        for c in part:
            out.append((blank if c == " " else "\ufffd" if "\ud800" <= c < "\ue000" else c, i))
        if part:
            after_space = remove and part.endswith(" ")
        i += size
    while remove and out and out[-1][0] == blank:
        out.pop()
    if started and prefix and suffix:
        out.append((blank, len(text) - 1))
    return "".join(c for c, _ in out), [at for _, at in out]
