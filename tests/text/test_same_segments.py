"""Proofs that patterns cut alike: what is said to be equal is equal in `regex` and in the engine of Hugging Face."""

from __future__ import annotations

import itertools
import time
from random import Random

import pytest
from reference.words import cut_by

from ubpe_numba.text.patterns import NAMED
from ubpe_numba.text.same_segments import Work, _program, cut_alike

CL100K = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"


def cuts_of_tokenizers(steps: tuple[str, ...], text: str) -> list[int]:
    theirs = pytest.importorskip("tokenizers")
    parts = [theirs.pre_tokenizers.Split(theirs.Regex(step), "isolated") for step in steps]
    found = theirs.pre_tokenizers.Sequence(parts).pre_tokenize_str(text)
    return sorted({0, len(text), *(at for _, span in found for at in span)})


@pytest.mark.parametrize("name", NAMED)
def test_named_patterns_equal_themselves_only(name: str) -> None:
    assert [other for other in NAMED if cut_alike((NAMED[name],), NAMED[other])] == [name]


def test_the_engines_agree_with_proofs_on_all_short_texts() -> None:
    """Of all pairs of these, proved equal or not: a difference is found in short texts if and only if there is no proof."""
    some = [
        NAMED["gpt2"], NAMED["cl100k"], NAMED["llama3"], NAMED["starcoder"], CL100K,
        r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        CL100K.replace(r"|\s++$", ""), r"[^\S\n]+|\s", r"\s*+\n|\s", r"\s*\n|\s",
    ]  # fmt: skip
    few = ["'", "s", "S", "\u017f", "l", "中", "1", "!", " ", "\t", "\n"]
    texts = ["".join(text) for n in (1, 2, 3) for text in itertools.product(few, repeat=n)]
    texts += ["1111", "11 1", "'ll!", "'lls", " \n \n", "\n  ", "! \n ", "a \n\t\n ", "\n  \n!", "  \n  "]
    found = {one: [cut_by((one,), text) for text in texts] for one in some}
    for one, two in itertools.combinations(some, 2):
        assert cut_alike((one,), two) is cut_alike((two,), one) is (found[one] == found[two]), (one, two)


def random_pattern(rng: Random, depth: int = 3) -> str:
    """Of two letters, white space and a digit, with all that is understood."""
    kind = rng.random()
    if depth == 0 or kind < 0.3:
        return rng.choice(["a", "b", "[ab]", r"\s", r"[^a\s]", "1", r"\p{L}", "(?i:b)"])
    if kind < 0.5:
        return "(?:" + "|".join(random_pattern(rng, depth - 1) for _ in range(rng.randrange(2, 4))) + ")"
    if kind < 0.8:
        return "".join(random_pattern(rng, depth - 1) for _ in range(2))
    if kind < 0.9:
        often = ["?+", "++", "*+", r"+(?!\S)", "(?=a)", "?", "+", "*", "{1,2}", "{2,}"]
        return rng.choice(["a", "[ab]", r"\s"]) + rng.choice(often)
    return "(?:" + random_pattern(rng, depth - 1) + ")" + rng.choice(["?", "+", "*", "{2}", "{1,3}"])


def test_random_patterns() -> None:
    """Whatever is proved equal cuts all texts of up to five characters alike, in both engines; small changes are noticed."""
    rng = Random(7)
    texts = ["".join(text) for n in range(1, 6) for text in itertools.product("ab 1", repeat=n)]
    equal = different = 0
    while equal < 60 or different < 200:
        one = random_pattern(rng)
        two = one.replace("[ab]", "(?:b|a)").replace("a|b", "b|a").replace("s+(", "s++(")
        if rng.random() < 0.3:
            two = random_pattern(rng)
        if one == two:
            continue
        alike = cut_alike((one,), two, oniguruma=True)
        if alike:
            equal += 1
            assert all(cut_by((one,), text) == cut_by((two,), text) for text in texts), (one, two)
            assert all(cuts_of_tokenizers((one,), text) == cut_by((two,), text) for text in texts[::7]), (one, two)
        elif any(cut_by((one,), text) != cut_by((two,), text) for text in texts):
            different += 1


def test_steps_in_a_row_are_told_from_one_pattern() -> None:
    digits, gpt2, cjk = r"\p{N}", NAMED["gpt2"], "[一-龥]+"
    assert cut_alike((digits, gpt2), NAMED["starcoder"])
    assert not cut_alike((gpt2, digits), NAMED["starcoder"])  # which cannot be told
    assert not cut_alike((r"\p{N}+", gpt2), NAMED["starcoder"]) and not cut_alike((digits, NAMED["llama3"]), NAMED["starcoder"])
    assert cut_alike((digits, NAMED["llama3"]), NAMED["qwen2"]) is False  # white space before a digit is one segment
    assert cut_alike((cjk, "x+"), "[一-龥]+|x+") and not cut_alike((cjk, r"\p{L}"), r"[一-龥]+|\p{L}")
    assert cut_alike((cjk, r"\p{L}"), r"\p{L}") and not cut_alike((cjk, r"\p{L}+"), r"\p{L}+")


def test_engines_read_some_patterns_differently() -> None:
    assert cut_alike((r"\p{N}{1,3}+",), r"\p{N}{1,3}") and not cut_alike((r"\p{N}{1,3}+",), r"\p{N}{1,3}", oniguruma=True)
    assert cut_alike((r"\p{N}{1,3}+",), r"\p{N}+", oniguruma=True)
    assert cuts_of_tokenizers((r"\p{N}{1,3}+",), "12345") == [0, 5] and cut_by((r"\p{N}{1,3}+",), "12345") == [0, 3, 5]
    assert cut_alike(("a+$|a",), "a+(?![^\n])|a", oniguruma=True) and not cut_alike(("a+$|a",), "a+$|a")
    assert cuts_of_tokenizers(("a+$|a",), "aa\na") == [0, 2, 3, 4]


@pytest.mark.parametrize(
    "pattern",
    ["", "(", ")", "a**", "a*?", "[a", "[]a]", "[[:alpha:]]", r"\p{Han}", r"\p{L", r"a[\p{Lu", r"\b", "^a", "(a)", r"\w",
     "[a&&b]", "a{,3}", "(?:a?)*", "a?", r"(a)\1", "(?i:é)", "(?!ab)c", ".", "a{1", "[b-a]", "[z-", "(?<=a)b", "\\",
     r"[\p{L}-z]"],
)  # fmt: skip
def test_what_is_not_understood_is_not_equal(pattern: str) -> None:
    assert not cut_alike((pattern,), pattern)


@pytest.mark.parametrize(
    "pattern",
    ["(?:a{1,99}){1,99}", "(?:" * 600 + "a" + ")" * 600, "(?:a|b|c|d|e|f)+" * 60, "[a-z]+" * 150 + r"|\s+",
     "a?" * 150 + "a" * 100, "(?:" + "|".join(f"{c}[a-z]{{1,20}}x" for c in "abcdefghijklmnopqrstuvwxyz") + ")", "a" * 10**6],
)  # fmt: skip
def test_hostile_patterns_take_little_time(pattern: str) -> None:
    began = time.process_time()
    cut_alike((pattern,), NAMED["gpt2"])
    cut_alike((pattern,), pattern)
    assert time.process_time() - began < 20  # as against for ever: nothing is said of speed


@pytest.mark.parametrize(
    "pattern",
    ["".join(f"[{chr(i)}-{chr(i + 40)}]" for i in range(256, 600)), "a{0,999}+" * 200, "[a-z]+" * 150, "a?" * 150 + "a" * 100,
     "[" + "".join(map(chr, range(256, 2000))) + "]", "[" + "".join(f"{chr(i)}-{chr(i + 9)}" for i in range(256, 800)) + "]{600}",
     "|".join(f"[{chr(i)}-{chr(i + 0x7FF0)}]" for i in (*range(0, 0x5000, 99), *range(0x10000, 0x100000, 0x7FFF)))],
)  # fmt: skip
def test_the_work_of_hostile_patterns_is_limited(pattern: str) -> None:
    work = Work(60_000)
    assert not cut_alike((pattern,), NAMED["gpt2"], False, work) or work.left > 0
    for name in NAMED:
        cut_alike((pattern,), NAMED[name], False, work)
    assert 0 <= work.left <= 60_000
    program = _program(pattern, False)
    assert program is None or len(program.states) <= 1000


def test_no_work_no_proof() -> None:
    assert cut_alike(("a|b",), "b|a") and not cut_alike(("a|b",), "b|a", False, Work(10))
