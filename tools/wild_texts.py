"""Texts of every kind for the tests of real tokenizers, made here, so that they are the same everywhere but for Python's own.

English and code are Python's documentation and sources. The words of other languages are made of random
letters, common ones more often; real ones come from the tokens of the vocabulary that is tested
(`of_tokens`), and from the files of the folder UBPE_WILD_TEXTS, if it is set: the first megabyte of each.
"""

from __future__ import annotations

import functools
import os
import pathlib
import random
import sysconfig

from text_samples import SAMPLES

_PIECE = 20_000  # characters of a document of running text
_BYTES = 300_000  # of each kind of text
_EMOJI = ["😀", "👩‍👩‍👧‍👦", "🏳️‍🌈", "🇯🇵", "🇩🇪", "👍🏽", "❤️", "☺", "1️⃣", "🧑🏿‍🚀", "™", "→", "∑", "𝒳", "½"]
_WORDS = {  # ranges of letters, the longest word, what stands between words, what ends a sentence
    "Chinese": (((0x4E00, 0x5800), (0x6000, 0x6800)), 4, "", "。\n"),
    "Japanese": (((0x3041, 0x3094), (0x3041, 0x3094), (0x30A1, 0x30F7), (0x4E00, 0x5000)), 7, "", "、"),
    "Russian": (((0x430, 0x450),), 12, " ", ". "),
    "Korean": (((0xAC00, 0xAD00), (0xC544, 0xC600)), 4, " ", ".\n"),
    "Arabic": (((0x627, 0x63B), (0x641, 0x64B)), 8, " ", "؟ "),
}
_ODD = [*map(chr, range(32, 127))] * 2 + [*map(chr, range(32))]
_ODD += [*"\u0301\u0308\u200b\u200d\u2028\xa0\u3000\u1680\x85\ufeff▁▁▁Ġ𝒳𠀀"]
_ODD += [*"éàüñçßøÅŒſıİǅΣσςЖжа́कांحمدעבריתไทย中日語かなカナ한국ㄱㅏ가각²³①Ⅷ٣५"]
_ODD += [*_EMOJI, *["\n", "\r\n", "\t", "  ", "   ", "'s", "'LL", "'ſ", "ﬁ", "ﾊﾟ"] * 3]


@functools.cache
def mixed() -> tuple[str, ...]:
    """At least 2 MB: English, code, Chinese, Japanese, Russian and more, emoji, control characters, 5,000 random documents."""
    kinds = [_english(), _code(), *(_words(*row) for row in _WORDS.values()), _emoji(), _controls()]
    kinds += [path.read_bytes()[:1_000_000].decode("utf-8", "ignore") for path in _given()]
    running = [text[i : i + _PIECE] for text in kinds for i in range(0, len(text), _PIECE)]
    return (*running, *SAMPLES.splitlines(keepends=True), *at_random())


def at_random(n: int = 5000, seed: int = 3) -> list[str]:
    """Documents of up to 60 characters: odd ones, few odd ones repeated, and code points of all planes."""
    rng = random.Random(seed)
    found = []
    for i in range(n):
        length = rng.randrange(60)
        if i % 3 < 2:
            few = _ODD if i % 3 == 0 else rng.sample(_ODD, 4)
            found.append("".join(rng.choice(few) for _ in range(length)))
        else:
            ranges = (
                (0, 0x250),
                (0, 0x3000),
                (0, 0xD800),
                (0x10000, 0x20000),
                (0x20000, 0x110000),
                (0xE000, 0x110000),
            )
            found.append("".join(chr(rng.randrange(*rng.choice(ranges))) for _ in range(length // 2)))
    return found


def of_tokens(tokens: list[str], n_characters: int = 300_000, seed: int = 5) -> list[str]:
    """Tokens, one behind the other, at random."""
    rng = random.Random(seed)
    found: list[str] = []
    total = 0
    while total < n_characters:
        found.append(
            "".join(rng.choice(tokens) + rng.choice(("", "", " ")) for _ in range(rng.randrange(1, 200)))
        )
        total += len(found[-1])
    return found


def with_words(words: list[str], n: int = 500, seed: int = 7) -> list[str]:
    """Random documents with special tokens inside, with and without spaces around them."""
    rng = random.Random(seed)
    if not words:
        return []
    found = []
    for text in at_random(n, seed):
        at = rng.randrange(len(text) + 1)
        found.append(text[:at] + rng.choice(words) + rng.choice(["", "  ", rng.choice(words)]) + text[at:])
    return found


def _given() -> list[pathlib.Path]:
    folder = os.environ.get("UBPE_WILD_TEXTS")
    return sorted(path for path in pathlib.Path(folder).iterdir() if path.is_file()) if folder else []


def _code() -> str:
    paths = sorted(pathlib.Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    return b"".join(path.read_bytes() for path in paths)[: 2 * _BYTES].decode("utf-8", "ignore")


def _english() -> str:
    """Python's documentation, else its sources from the other end."""
    path = pathlib.Path(sysconfig.get_paths()["stdlib"], "pydoc_data", "topics.py")
    return path.read_text("utf-8")[:_BYTES].replace("\\n", "\n") if path.exists() else _code()[::-1][:_BYTES]


def _words(ranges: tuple[tuple[int, int], ...], longest: int, between: str, end: str) -> str:
    rng = random.Random(longest)
    made = [
        "".join(chr(rng.randrange(*rng.choice(ranges))) for _ in range(rng.randint(1, longest)))
        for _ in range(10_000)
    ]
    found: list[str] = []
    total = 0
    while total < _BYTES:
        sentence = [made[min(int(rng.paretovariate(0.4)), 10_000) - 1] for _ in range(rng.randint(3, 20))]
        if between:
            sentence[0] = sentence[0].capitalize()
        found.append(
            between.join(sentence) + rng.choice((end, f" {rng.randrange(10 ** rng.randrange(1, 9))}{end}"))
        )
        total += len(found[-1].encode())
    return "".join(found)


def _emoji() -> str:
    rng = random.Random(1)
    return "".join(
        rng.choice(_EMOJI) * rng.choice((1, 1, 1, 3)) + rng.choice(("", " ", " ok ", "!\n"))
        for _ in range(10_000)
    )


def _controls() -> str:
    rng = random.Random(2)
    return "".join(chr(rng.randrange(rng.choice((32, 128, 160)))) for _ in range(60_000))
