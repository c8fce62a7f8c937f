"""Cutting text: every pattern against a plain search, in bytes and in characters, ill-formed text included."""

import pickle
import re
import sys
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from tables import refuses

from ubpe_numba.documents.read import code_points
from ubpe_numba.text import cut
from ubpe_numba.text.cut import PATTERNS
from ubpe_numba.text.patterns import NAMED, VERSION_OF_OTHERS, published_steps
from ubpe_numba.text.pretokenizer import Pretokenizer
from ubpe_numba.text.unicode_classes import flags_of_code_points

regex = pytest.importorskip("regex")
reference = pytest.importorskip("reference.words")
LETTERS = "aB'\u017fsStTlLvVdD \n\r\t1٣½中Äβ\u0301ǅ\u2028\xa0\x85\x1c!/.-_\u200b😀\u3000\u02b0\ud800\udc80"
texts = st.text(st.sampled_from(LETTERS), max_size=20) | st.text(max_size=20)
OTHERS = ["a|b+", "(?=a)[ab]", "x+", r"\b.", "[^ ]+ ?"]


def plain(pattern: str, text: str) -> list[str]:
    """Matches and what lies between them, none empty."""
    parts, end = [], 0
    pattern = re.sub(r"(\[[^]&]*)&&\[\^(\\p{Han})\]\]", r"(?:(?!\2)\1])", pattern)  # of kimi
    for match in regex.finditer(pattern, text):
        if match.end() > match.start():
            parts += [text[end : match.start()], match.group()]
            end = match.end()
    return [part for part in [*parts, text[end:]] if part]


@pytest.mark.parametrize("pattern", [*NAMED, *OTHERS])
@settings(max_examples=15)
@given(st.lists(texts, max_size=4), st.lists(st.binary(max_size=12), max_size=2))
def test_text_is_cut_as_by_a_plain_search(pattern: str, documents: list[str], others: list[bytes]) -> None:
    cutter = Pretokenizer(pattern)
    offsets = np.cumsum([0, *map(len, documents)])
    cuts = cutter.split(code_points(whole := "".join(documents)), offsets)
    found = [whole[a:b] for a, b in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)]
    assert found == [part for document in documents for part in plain(cutter.pattern, document)]
    assert set(offsets.tolist()) <= set(cuts.tolist()) and cuts.dtype == np.int64
    data = [*(document.encode("utf-8", "surrogatepass") for document in documents), *others]
    values, offsets = (
        np.frombuffer(b"xyz" + b"".join(data) + b"rest", np.uint8),
        3 + np.cumsum([0, *map(len, data)]),
    )
    if pattern in PATTERNS:  # by a kernel, to which three bytes of a surrogate are one code point
        want = [part for document in data for part in reference.split(document, pattern)]
    else:
        texts = [document.decode("utf-8", "surrogateescape") for document in data]
        want = [
            part.encode("utf-8", "surrogateescape") for text in texts for part in plain(cutter.pattern, text)
        ]
    assert cutter.split(values, offsets).tolist() == [3, *(3 + np.cumsum([*map(len, want)])).tolist()]


def test_identity_and_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    named, same, other = Pretokenizer("gpt2"), Pretokenizer(NAMED["gpt2"]), Pretokenizer("a+")
    assert (
        named == same
        and hash(named) == hash(same)
        and same.name == "gpt2"
        and named != other
        and named != "gpt2"
    )
    for one in (named, other):
        again = pickle.loads(pickle.dumps(one))
        assert again == one and again.name == one.name and again.state() == one.state()
    assert repr(named) == "Pretokenizer('gpt2')" and repr(other) == "Pretokenizer('a+')"
    assert Pretokenizer.of(None) is None and Pretokenizer.of(named) is named
    assert named.unicode.split(".")[0].isdigit() and named.state()["unicode"] == named.unicode
    refuses(ValueError, r"pretokenizer: there is no 'gtp2'; expected gpt2, cl100k", Pretokenizer, "gtp2")
    refuses(ValueError, r"pretokenizer: '\(a' is not a regular expression: missing \)", Pretokenizer, "(a")
    refuses(TypeError, "pretokenizer: expected a name, a regular expression or None, got 3", Pretokenizer, 3)
    monkeypatch.setitem(sys.modules, "regex", None)
    refuses(ImportError, r"pip install 'ubpe-numba\[text\]'", Pretokenizer, "a+")


NEW = "\U00016ea0"  # a letter since Unicode 17.0


@pytest.mark.parametrize("name", [*PATTERNS, "whitespace", "digits", r"\p{L}+"])
def test_an_older_version_of_unicode(name: str) -> None:
    """As the newest version cuts a text with another character in the place of a letter that is new."""
    now, then = Pretokenizer(name), Pretokenizer(name, "16.0.0")
    assert (
        then.unicode == "16.0.0"
        and then != now
        and hash(then) == hash(now)
        and repr(then).endswith("unicode='16.0.0')")
    )
    assert then.kernel == (f"{name}@16.0.0" if name in PATTERNS else None) and then.name == now.name
    for again in (pickle.loads(pickle.dumps(then)), Pretokenizer.from_state(then.state())):
        assert again == then and again.unicode == "16.0.0" and again.kernel == then.kernel
    text, other = (f"it{c}'s {c}{c} 1{c}A \n{c}" for c in (NEW, "\U0010ffff"))
    values, same = (np.frombuffer(made.encode(), np.uint8) for made in (text, other))
    offsets = np.array([0, 0, values.size])
    assert np.array_equal(then.split(values, offsets), now.split(same, offsets))
    if then.kernel is not None:
        assert np.array_equal(cut.scan(values, offsets, then.kernel), now.split(same, offsets))
    if "L" in then.pattern:
        assert not np.array_equal(then.split(values, offsets), now.split(values, offsets))


def test_versions_of_unicode_that_there_are() -> None:
    newest = Pretokenizer("gpt2").unicode
    assert Pretokenizer("gpt2", newest) == Pretokenizer("gpt2")
    assert Pretokenizer("gpt2", "17.0.0") != Pretokenizer("gpt2", "16.0.0")
    refuses(
        ValueError,
        rf"unicode: expected one of {newest}, 17.0.0, 16.0.0, got '9.0'",
        Pretokenizer,
        "gpt2",
        "9.0",
    )
    unknown = Pretokenizer.from_state({"name": "gpt2", "pattern": NAMED["gpt2"], "unicode": "99.0.0"})
    assert unknown == Pretokenizer("gpt2")


@pytest.mark.parametrize("name", PATTERNS)
def test_random_documents_are_cut_as_by_others(name: str) -> None:
    """Of characters from all of Unicode, those that changed since among them: as the engine of Hugging Face cuts."""
    theirs = pytest.importorskip("tokenizers")
    steps = [theirs.pre_tokenizers.Split(theirs.Regex(step), "isolated") for step in published_steps(name)]
    whole = theirs.pre_tokenizers.Sequence(steps)
    ours = Pretokenizer(name, VERSION_OF_OTHERS)
    rng = Random(5)
    changed = np.flatnonzero(flags_of_code_points() != flags_of_code_points(VERSION_OF_OTHERS)).tolist()
    known = np.flatnonzero(flags_of_code_points()).tolist()
    for case in range(100):
        points = [
            *rng.choices(known, k=30),
            *rng.choices(changed, k=10),
            *map(ord, rng.choices("aA1 '\n!s", k=40)),
        ]
        rng.shuffle(points)
        text = "".join(map(chr, points))
        spans = whole.pre_tokenize_str(text)
        want = sorted({0, len(text), *(at for _, span in spans for at in span)})
        found = ours.split(np.array(points, np.uint32), np.array([0, len(points)]))
        assert found.tolist() == want, (case, ascii(text))
        data = np.frombuffer(text.encode(), np.uint8)
        assert ours.split(data, np.array([0, data.size])).size == len(want)
