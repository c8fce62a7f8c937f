"""Patterns that can be tried in very many ways: which they are, that they come to an end, and that Ctrl-C ends them before."""

from __future__ import annotations

import os
import pathlib
import pickle
import re
import subprocess
import sys
import time
import warnings

import pytest

from ubpe_numba import BPE, Pretokenizer
from ubpe_numba.text import pattern_time
from ubpe_numba.text.normalizer import Normalizer
from ubpe_numba.text.pattern_time import may_take_long
from ubpe_numba.text.patterns import _FOR_TIKTOKEN, _STEPS, NAMED
from ubpe_numba.text.pretokenizer import PythonPattern
from ubpe_numba.text.splitter import Splitter

pytest.importorskip("regex")

HOSTILE = "a" * 100_000 + "!b"  # the last letter is there so that the engine does not see at once that nothing can match
MANY_WAYS = [
    "(a+)+$", "(a|aa)+[b$]", "(.*)*x", "(?:a+)+b", "(?:a*){2}b", "(?:a{1,50}){1,50}b", "(?:a?){100}b", "a?" * 30 + "a" * 30,
    "(?:a|a)" * 30 + "b", "a*a*a*b", "(?=(?=(a+)+b)a)a", "(?<=(a+)+)b", r"(a*)\1b", r"(?P<n>a*)(?P=n)b", "(?>a+)+b", "(a++)+b",
    "(?i:a+)*b", "(?:x(?:y(?:z|q)))+", "(?x)a + b", "(?V1)[a||b]", "(?|(a)|(b))+", "(?R)?a", "(*PRUNE)a", "(?:a){e<=1}", "((((a",
    "x{,5}(?:y{,5}){3}",
]  # fmt: skip
FEW_WAYS = [
    "a+b", r"\s+(?!\S)|\s+", r"\p{L}+|\p{N}{1,3}", "[(a+)+]+", r"\(a+\)+", "(?:ab){1000}", "(?:ab)+", "(?:(?![x-y])[ab])+",
    "(?#(a+)+)b", "(?i)a+", "(?:'s|'t)?", "a{3}{2}", r"[[:alpha:]+]+", "a)b+", r"\N{DIGIT ONE}+", "",
]  # fmt: skip


@pytest.mark.parametrize("pattern", MANY_WAYS)
def test_patterns_that_are_timed(pattern: str) -> None:
    assert may_take_long(pattern)


@pytest.mark.parametrize("pattern", FEW_WAYS)
def test_patterns_that_are_not_timed(pattern: str) -> None:
    assert not may_take_long(pattern)


def test_published_patterns_are_not_timed() -> None:
    published = [*NAMED.values(), *(step for steps in _STEPS.values() for step in steps), *_FOR_TIKTOKEN.values()]
    assert [pattern for pattern in published if may_take_long(pattern)] == []


@pytest.mark.parametrize("part", ["(", ")", "[", "(?a", "(?", "a{1", "\\", "|", "(?#", "(?P<", "[:a", "\\p{", "{1,"])
def test_long_patterns_are_read_in_linear_time(part: str) -> None:
    """40,000 characters, as many as are compiled; quadratic time would be minutes."""
    began = time.thread_time()
    may_take_long(part * (40_000 // len(part)))
    assert time.thread_time() - began < 5


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pattern_time, "_SECONDS", 0.2)
    monkeypatch.setattr(pattern_time, "_PER_CHARACTER", 0.0)


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+b$", "(?:(?=(?:(a+)+\\z))a|q)+"])
def test_a_pretokenizer_comes_to_an_end(pattern: str) -> None:
    shown = re.escape(repr(pattern))
    told = f"^pretokenizer: {shown} takes more than 0.2 s of processor time on 'a{{20}}' and 99982 more characters"
    tok = BPE.for_text(300, pretokenizer=pattern)
    with pytest.raises(ValueError, match=told):
        tok.fit([HOSTILE], progress=False)
    tok.fit(["aab", "aab", "b!"], progress=False)
    for call in (tok.encode, lambda doc: tok.encode_batch([doc] * 3), lambda doc: list(tok.encode_iter([doc]))):
        with pytest.raises(ValueError, match=told):
            call(HOSTILE)
    assert tok.decode(tok.encode("aab!")) == "aab!"


@pytest.mark.usefixtures("soon")
def test_a_pattern_of_a_file_comes_to_an_end(tmp_path: pathlib.Path) -> None:
    BPE.for_text(300, pretokenizer="(a+)+$").fit(["aab"], progress=False).save(tmp_path / "model.json")
    with pytest.raises(ValueError, match="takes more than 0.2 s"):
        BPE.load(tmp_path / "model.json").encode(HOSTILE)


@pytest.mark.usefixtures("soon")
def test_steps_of_files_come_to_an_end() -> None:
    pattern = {"Regex": "(a+)+$"}
    replace = Normalizer({"type": "Replace", "pattern": pattern, "content": "x"})
    split = Splitter({"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False})
    for call in (replace.apply, replace.traced, lambda text: split.pieces(text, True)):
        with pytest.raises(ValueError, match="takes more than 0.2 s of processor time on 'a{20}' and 99982 more characters"):
            call(HOSTILE)


def test_patterns_are_timed_only_where_they_may_take_long() -> None:
    assert pattern_time.seconds("a+b", 10**9) is None
    assert pattern_time.seconds("(a+)+b", 0) == 10
    pretokenizer = Pretokenizer("(?:a+b)+")
    assert BPE.for_text(260, pretokenizer=pretokenizer).fit(["aab!" * 9], progress=False).encode("aab!").size > 1


def test_a_pattern_of_re_warns() -> None:
    with pytest.warns(RuntimeWarning, match="may be tried in very many ways") as caught:
        made = PythonPattern("(?:a+)+b|.")
    assert caught[0].filename == __file__
    with pytest.warns(RuntimeWarning, match="very many ways"):
        assert pickle.loads(pickle.dumps(made)) == made
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PythonPattern(r"'s| ?\w+| ?[^\s\w]+|\s+(?!\S)|\s+")


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("pattern", ["Pretokenizer('a+[b$]')", "Pretokenizer('(a+)+$')", "PythonPattern('(?:a+)+b|a|[^a]+')"])
@pytest.mark.parametrize("call", ["split", "encode_batch"])
def test_control_c_ends_a_pattern(pattern: str, call: str) -> None:
    calls = {
        "split": "p.split(np.frombuffer(doc.encode(), np.uint8), np.array([0, len(doc)]))",
        "encode_batch": "BPE.for_text(260, pretokenizer=p, n_threads=2).fit(['aab'], progress=False).encode_batch([doc] * 9)",
    }
    lines = [
        "import signal, warnings, numpy as np; from ubpe_numba import BPE, Pretokenizer",
        "from ubpe_numba.text.pretokenizer import PythonPattern; warnings.simplefilter('ignore')",
        f"p = {pattern}; doc = 'a' * 3_000_000 + '!b'; signal.signal(signal.SIGALRM, signal.default_int_handler)",
        "BPE.for_text(260, pretokenizer=p, n_threads=2).fit(['aab'], progress=False).encode_batch(['aab'] * 9)",
        "signal.setitimer(signal.ITIMER_REAL, 0.3)",  # a thread would not come to send it: re lets no other one run
        f"try: {calls[call]}",
        "except KeyboardInterrupt: print('stopped')",
    ]
    out = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, timeout=100, check=False)
    assert out.stdout == "stopped\n", out.stderr
