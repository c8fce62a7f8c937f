"""Patterns of Python's `re`: texts are cut at every match, and refused where matches are not all of them."""

import pickle
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tables import refuses

from ubpe_numba import BPE, Preprocessing
from ubpe_numba.documents.read import code_points
from ubpe_numba.errors import ModelFormatError
from ubpe_numba.text.pretokenizer import Pretokenizer, PythonPattern

PATTERNS = [
    r"\w+|\s+|[^\w\s]+",
    r"\s*\S+|\s+",
    r"(\s?\w+|\W)",
    r"a*|.",
    r"(?i:[a-b]+)|(?s:.)",
    r"\w+",
    "",
    r"\b",
]
PATTERNS += [r"[\[ab]+", r"\w*?\b|\s"]


@given(st.sampled_from(PATTERNS), st.lists(st.text("ab\u0301² \n\x1c[1é", max_size=8), max_size=4))
def test_segments_equal_findall(pattern: str, docs: list[str]) -> None:
    cutter = PythonPattern(pattern)
    offsets = np.cumsum([0, *map(len, docs)])
    found = [[part for part in re.findall(pattern, doc) if part] for doc in docs]
    if any("".join(parts) != doc for parts, doc in zip(found, docs, strict=True)):
        refuses(ValueError, "matches nothing at", lambda: cutter.split(code_points("".join(docs)), offsets))
        return
    lengths = [len(part) for parts in found for part in parts]
    assert cutter.split(code_points("".join(docs)), offsets).tolist() == np.cumsum([0, *lengths]).tolist()
    data = "".join(docs).encode()
    ends = np.cumsum([0, *(len(doc.encode()) for doc in docs)])
    sizes = [len(part.encode()) for parts in found for part in parts]
    assert cutter.split(np.frombuffer(data, np.uint8), ends).tolist() == np.cumsum([0, *sizes]).tolist()


@pytest.mark.parametrize(
    "pattern, error, match",
    [
        ("(", ValueError, "is not a regular expression of re"), (r"\p{L}", ValueError, "is not a regular expression of re"),
        ("(a)b", ValueError, "has groups"), ("((a))", ValueError, "has groups"),
        (7, TypeError, "expected a regular expression, got 7"),
        ("a" * 20_000, ValueError, "at most 10000 characters, got 20000"),
        ("(?:" * 1000 + ")" * 1000, ValueError, "not a regular"),
        ("(?i)" + "[\0-\uffff]" * 1000, ValueError, "at most 6 ranges beyond ASCII"),
        (r"(?i)" + r"[\x00-\uffff]" * 7, ValueError, "at most 6 ranges beyond ASCII"),
    ],
    ids=range(9),
)  # fmt: skip
def test_bad_patterns(pattern: Any, error: Any, match: str) -> None:
    refuses(error, match, PythonPattern, pattern)


def test_a_pattern_is_a_value_and_kept_in_files(tmp_path: Any) -> None:
    cutter = PythonPattern(r"(\w+|\W)")
    assert (
        pickle.loads(pickle.dumps(cutter)) == cutter == PythonPattern(r"(\w+|\W)") != PythonPattern(r"\w+|\W")
    )
    assert hash(cutter) == hash(PythonPattern(r"(\w+|\W)")) and cutter != Pretokenizer(r"(\w+|\W)")
    assert repr(cutter) == r"PythonPattern('(\\w+|\\W)')"
    tok = BPE(30, preprocessing=Preprocessing(pretokenizer=cutter)).fit(["low lower lowest"])
    tok.save(tmp_path / "m.json")
    text = (tmp_path / "m.json").read_text()
    (tmp_path / "m.json").write_text(text.replace("python_pattern", "pretokenizer"))
    refuses(ModelFormatError, "", lambda: BPE.load(tmp_path / "m.json"))
    (tmp_path / "m.json").write_text(text.replace(r"(\\w+", r"(\\p+"))
    refuses(ModelFormatError, "not a regular expression of re", lambda: BPE.load(tmp_path / "m.json"))
