"""The patterns that have names, and how they are recognised and written in the spellings that others use."""

from __future__ import annotations

import functools
from importlib import import_module

__all__ = [
    "COVERING",
    "MOST_WORK",
    "NAMED",
    "VERSION_OF_OTHERS",
    "name_of",
    "published_for_tiktoken",
    "published_steps",
    "work_of",
]

#: The named patterns, written so that `regex`, tiktoken and the engine of Hugging Face understand them alike. `gpt2`, `cl100k`
#: and `o200k` split as the encodings of tiktoken 0.14 do, `llama3`, `qwen2`, `qwen35`, `tekken`, `deepseek` (V3) and `starcoder`
#: as the files of these models; `digits` keeps a number whole, `digits1` cuts it into digits, `digits3` into threes from the
#: left; `whitespace` cuts before white space, the last character of which goes to the next word.
NAMED = {
    "gpt2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "cl100k": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
        r"|\s+(?![\s\S])|\s*[\r\n]|\s+(?!\S)|\s"
    ),
    "o200k": (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "llama3": (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
        r"|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "qwen2": (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"),
    "qwen35": (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*"
        r"|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "tekken": (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
        r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "deepseek": (
        r"\p{N}{1,3}|[!-/:-@\[-`{-~][A-Za-z]+"
        r"|[^\r\n\p{L}\p{P}\p{S}\p{N}一-龥぀-ヿ]?(?:(?![一-龥぀-ヿ])[\p{L}\p{M}])+"
        r"|(?:(?!\p{L})(?!\p{P})(?!\p{S})[一-龥぀-ヿ])?(?:(?=[一-龥぀-ヿ])[\p{L}\p{M}])+"
        r"| ?(?:(?![一-龥぀-ヿ])[\p{P}\p{S}])+[\r\n]*|(?:(?=[一-龥぀-ヿ])[\p{P}\p{S}])+"
        r"|\s*[\r\n]+|\s+(?![^\s\p{N}一-龥぀-ヿ])|\s+"
    ),
    "starcoder": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+|\s+(?![^\s\p{N}])|\s+",
    "whitespace": r"\s?\S+|\s+(?!\S)|\s+",
    "digits": r"\p{N}+",
    "digits1": r"\p{N}",
    "digits3": r"\p{N}{1,3}",
}
#: The version of Unicode of tokenizers 0.23 and tiktoken 0.14 (tests/text/test_unicode_classes.py tries every code point).
VERSION_OF_OTHERS = "16.0.0"
#: The patterns that match every character, so that nothing lies between matches.
COVERING = frozenset(["gpt2", "cl100k", "o200k", "llama3", "qwen2", "qwen35", "tekken", "starcoder", "whitespace"])
#: What others publish for the same, where it is spelled otherwise or in steps: in `tokenizer.json`, and for tiktoken.
_STEPS = {
    "starcoder": (NAMED["digits1"], NAMED["gpt2"]),
    "deepseek": (
        NAMED["digits3"],
        "[一-龥\u3040-ゟ\u30a0-ヿ]+",
        "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
        "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
    ),
}
_FOR_TIKTOKEN = {
    "gpt2": r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
    "cl100k": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ),
}


#: Of all proofs for a pattern; some hundredths of a second. Those of others that have names take up to 40,000.
MOST_WORK = 60_000
_MOST_STEPS = 8  # of a pattern; there are none with more than three


def name_of(*steps: str, oniguruma: bool = False) -> str | None:
    r"""The name of a pattern, in any spelling that is proved equal to the named one; of a name; None for a pattern that has none.

    Several steps, each of which cuts what the ones before left in one piece, are a pattern too. `oniguruma` is for patterns of
    Hugging Face, whose engine reads some of them differently. Some hundredths of a second at most, once for each pattern.

    >>> name_of(r"\p{N}\p{N}?\p{N}?"), name_of("digits3"), name_of(r"\p{N}{1,4}")
    ('digits3', 'digits3', None)
    >>> name_of(r"\p{N}", r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")
    'starcoder'
    """
    return _proved(steps, oniguruma)[0]


def work_of(pattern: str) -> int:
    """What it costs to find the name of a pattern, whether or not it is known already: some 0.7 microseconds each.

    >>> work_of("gpt2"), work_of("(?:x)") > 0
    (0, True)
    """
    return _proved((pattern,), False)[1]


@functools.lru_cache(256)
def _proved(steps: tuple[str, ...], oniguruma: bool) -> tuple[str | None, int]:
    """The name of a pattern, or none, and the work of its proofs."""
    if len(steps) == 1:
        pattern = steps[0]
        found = pattern if pattern in NAMED else next((name for name, text in NAMED.items() if text == pattern), None)
        if found is not None:
            return found, 0
    if len(steps) > _MOST_STEPS:
        return None, 0
    proofs = import_module("ubpe_numba.text.same_segments")  # rarely needed
    work = proofs.Work(MOST_WORK)
    found = next((name for name, text in NAMED.items() if proofs.cut_alike(steps, text, oniguruma, work)), None)
    return found, MOST_WORK - work.left


def published_steps(pattern: str) -> tuple[str, ...]:
    r"""The patterns by which a `tokenizer.json` usually cuts text as this one does, one after the other.

    >>> published_steps("a+"), published_steps("starcoder")[0]
    (('a+',), '\\p{N}')
    """
    name = name_of(pattern)
    return (pattern,) if name is None else _STEPS.get(name, (NAMED[name],))


def published_for_tiktoken(pattern: str) -> str:
    """The pattern as tiktoken's own encodings have it, if one of them has it.

    >>> published_for_tiktoken("gpt2")[:20], published_for_tiktoken("a+")
    ("'(?:[sdmt]|ll|ve|re)", 'a+')
    """
    name = name_of(pattern)
    return pattern if name is None else _FOR_TIKTOKEN.get(name, NAMED[name])
