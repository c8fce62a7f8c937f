"""The patterns that have names, how they are recognized, and their other spellings."""

from __future__ import annotations

import re

#: The named patterns, written so that `regex`, tiktoken and the engine of Hugging Face understand them alike.
#: `gpt2`, `cl100k` and `o200k` split as the encodings of tiktoken 0.14 do. `llama3`, `qwen2`, `qwen35`,
#: `tekken`, `deepseek` (V3) and `starcoder` split as the files of these models. `digits` keeps a number
#: whole, `digits1` splits it into digits, `digits3` into threes from the left. `whitespace` splits before
#: white space, the last character of which goes to the next word.
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
    "qwen2": (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
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
    "kimi": (
        r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "whitespace": r"\s?\S+|\s+(?!\S)|\s+",
    "digits": r"\p{N}+",
    "digits1": r"\p{N}",
    "digits3": r"\p{N}{1,3}",
}
#: The version of Unicode of tokenizers 0.23 and tiktoken 0.14 (tests/text/test_unicode_classes.py tries every
#: code point).
VERSION_OF_OTHERS = "16.0.0"
#: The patterns that match every character, so that nothing lies between matches.
COVERING = frozenset(
    ["gpt2", "cl100k", "o200k", "llama3", "qwen2", "qwen35", "tekken", "starcoder", "kimi", "whitespace"]
)
#: Other published spellings of the same, also in steps: in `tokenizer.json`, and for tiktoken.
_STEPS = {
    "starcoder": (NAMED["digits1"], NAMED["gpt2"]),
    "deepseek": (
        NAMED["digits3"],
        "[一-龥\u3040-ゟ\u30a0-ヿ]+",
        "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
        "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
    ),
}
FOR_TIKTOKEN = {
    "gpt2": r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
    "cl100k": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ),
}
_LEAST_POSSESSIVE = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]"
    r"|\s+(?!\S)|\s+"
)
#: Other spellings of the same patterns, as they are published: by tiktoken 0.5 and 0.14, rustbpe, Llama 3,
#: Bailing, and in files.
_SPELLINGS = {
    **{pattern: name for name, pattern in NAMED.items()},
    **{pattern: name for name, pattern in FOR_TIKTOKEN.items()},
    NAMED["gpt2"].replace(r"\p{L}+", r"[\p{L}]+").replace(r"\p{N}+|", r"[\p{N}]+|"): "gpt2",
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": "gpt2",
    _LEAST_POSSESSIVE: "llama3",
    NAMED["llama3"].replace(r"[\r\n]+|\s+(", r"[\r\n]|\s+("): "llama3",
    _LEAST_POSSESSIVE.replace("{1,3}", ""): "qwen2",
    NAMED["o200k"].replace("{1,3}", "{1,3}+"): "o200k",
    r"\p{N}\p{N}?\p{N}?": "digits3",
    r"\p{N}{1,3}+": "digits3",
}
_NAMES_OF_STEPS = {(NAMED["digits1"], NAMED["gpt2"]): "starcoder", _STEPS["deepseek"]: "deepseek"}


def name_of(*steps: str, oniguruma: bool = False) -> str | None:
    r"""The name of a pattern in any published spelling, or of a name; None for other patterns.

    Several steps, each of which splits the pieces that the previous step left whole, are a pattern too.
    `oniguruma` is for patterns of Hugging Face, whose engine reads a possessive interval as two repeats.

    >>> name_of(r"\p{N}\p{N}?\p{N}?"), name_of("digits3"), name_of(r"\p{N}{1,4}")
    ('digits3', 'digits3', None)
    >>> name_of(r"\p{N}", r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")
    'starcoder'
    """
    if oniguruma and any(map(re.compile(r"\d\}\+").search, steps)):
        return "digits" if steps == (r"\p{N}{1,3}+",) else None
    if len(steps) == 1:
        return steps[0] if steps[0] in NAMED else _SPELLINGS.get(steps[0])
    named = tuple(NAMED[_SPELLINGS[step]] if step in _SPELLINGS else step for step in steps)
    return _NAMES_OF_STEPS.get(named)


def published_steps(pattern: str) -> tuple[str, ...]:
    r"""The patterns by which a `tokenizer.json` usually splits text as this pattern does, in order.

    >>> published_steps("a+"), published_steps("starcoder")[0]
    (('a+',), '\\p{N}')
    """
    name = name_of(pattern)
    return (pattern,) if name is None else _STEPS.get(name, (NAMED[name],))
