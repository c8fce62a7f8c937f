"""Published patterns in the spellings that files of models have: recognised, each by a table."""

import itertools

import pytest
from reference import words as reference
from text_samples import SAMPLES

from ubpe_numba.text.patterns import FOR_TIKTOKEN, NAMED, name_of, published_steps
from ubpe_numba.text.pretokenizer import Pretokenizer

_CL100K = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
_MIDDLE = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
_LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_CASED = r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
#: Where found, the steps, whether they are for the engine of Hugging Face, and the name, None where a text is
#: cut otherwise.
FOUND: list[tuple[str, tuple[str, ...], bool, str | None]] = [
    ("tiktoken, a comment", (NAMED["gpt2"].replace(r"\p{L}+", r"[\p{L}]+").replace(r"\p{N}+|", r"[\p{N}]+|"),), False, "gpt2"),
    ("tiktoken 0.5", (r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",), False, "gpt2"),
    ("tiktoken 0.14", (r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",), True, "gpt2"),
    ("tiktoken 0.14: cl100k", (_CL100K,), False, "cl100k"),
    ("the same in Hugging Face's engine: numbers of any length", (_CL100K,), True, None),
    ("tiktoken 0.5: cl100k; rustbpe", (_MIDDLE,), False, "llama3"),
    ("the same in Hugging Face's engine", (_MIDDLE,), True, "llama3"),
    ("gpt-3.5-turbo, llama 3, GLM 4, DBRX as tokenizer.json; llama_models", (_LLAMA3,), True, "llama3"),
    ("llama 3, as some have it", (_LLAMA3.replace(r"[\r\n]+|\s+(", r"[\r\n]|\s+("),), True, "llama3"),
    ("llama.cpp: no long s in contractions", (_LLAMA3.replace("(?i:'s|'t|'re|'ve|'m|'ll|'d)", _CASED),), False, None),
    ("nanochat: digits in twos", (_MIDDLE.replace("{1,3}", "{1,2}"),), False, None),
    ("qwen 2, 2.5 and 3; dashscope; StableLM 2", (_LLAMA3.replace("{1,3}", ""),), True, "qwen2"),
    ("Seed-Coder", (_LLAMA3.replace("{1,3}", "{1}").replace(r"\p{N}]+[\r\n]*", r"\p{N}\r\n]+"),), True, None),
    ("Bailing MoE", (_MIDDLE.replace("{1,3}", ""),), True, "qwen2"),
    ("gpt-4o, gpt-oss, llama 4, MiniMax", (NAMED["o200k"],), True, "o200k"),
    ("o200k with possessive digits", (NAMED["o200k"].replace("{1,3}", "{1,3}+"),), False, "o200k"),
    ("tekken of mistral_common; Mistral Nemo", (NAMED["tekken"],), True, "tekken"),
    ("StarCoder, SmolLM, Command R: Digits and ByteLevel", (r"\p{N}", NAMED["gpt2"]), True, "starcoder"),
    ("Digits whole, and ByteLevel", (r"\p{N}+", NAMED["gpt2"]), True, None),
]  # fmt: skip


def test_what_is_published_is_the_same_and_patterns_of_ones_own_stay() -> None:
    for name in NAMED:
        assert name_of(name) == name_of(NAMED[name]) == name_of(FOR_TIKTOKEN.get(name, name)) == name
        assert (
            name_of(*published_steps(name)) == name_of(*published_steps(NAMED[name]), oniguruma=True) == name
        )
    assert name_of("a+") is None and published_steps("a+") == ("a+",)
    assert Pretokenizer(r"\p{L}+|x").name is None and Pretokenizer(r"\p{N}\p{N}?\p{N}?").name == "digits3"


@pytest.mark.parametrize(
    ("steps", "oniguruma", "name"), [found[1:] for found in FOUND], ids=[found[0] for found in FOUND]
)
def test_spellings_are_found_and_other_engines_cut_alike(
    steps: tuple[str, ...], oniguruma: bool, name: str | None
) -> None:
    """By the spelling as found, in the engine that it is for, and by the named pattern."""
    assert name_of(*steps, oniguruma=oniguruma) == name
    if name is None:
        return
    theirs = pytest.importorskip("tokenizers")
    parts = [theirs.pre_tokenizers.Split(theirs.Regex(step), "isolated") for step in steps]
    whole = theirs.pre_tokenizers.Sequence(parts)
    few = ["'", "s", "S", "l", "V", "e", "A", "中", "\u0301", "1", "!", "/", " ", "\t", "\n"]
    texts = ["".join(text) for n in (1, 2, 3) for text in itertools.product(few, repeat=n)]
    texts = [*texts[:240], *texts[240 + len(steps[0]) % 7 :: 7]]  # of three others with other spellings
    for text in [*texts, *SAMPLES.splitlines(), SAMPLES]:
        if oniguruma:
            found = sorted({0, len(text), *(at for _, span in whole.pre_tokenize_str(text) for at in span)})
            assert found == reference.places(text, name), text
        assert reference.cut_by(steps, text) == reference.places(text, name), text
