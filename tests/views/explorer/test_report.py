"""The report as a file: what its data say, its policy, its errors; nothing of it comes from elsewhere."""

import base64
import hashlib
import json
import pathlib
import re
from typing import Any

import numpy as np
import pytest
from built_site import read_page
from explorer_reports import unpacked
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays
from tables import each, refuses

from ubpe_numba import BPE, UBPE, Ragged
from ubpe_numba.errors import NotFittedError, UnknownSymbolError
from ubpe_numba.views import colours, explorer
from ubpe_numba.views.explorer.page import SCRIPTS, STYLES, packed
from ubpe_numba.views.explorer.report import Report, explore

DOCS = [[1, 2, 3, 1, 2, 3, 1, 2], [], [3, 1, 2, 3, 3], [2, 5]] * 3


@pytest.fixture(scope="module")
def tok() -> UBPE:
    return UBPE(14, objective="shortest").fit(DOCS, progress=False)


def _made(tok: Any, docs: Any = DOCS, *args: Any, **options: Any) -> str:
    report = explore(tok, docs, *args, progress=False, **options)
    assert isinstance(report, Report)
    return report.html


def _data(page: str) -> dict[str, Any]:
    found = json.loads(next(text for attrs, text in read_page(page).scripts if attrs.get("id") == "data"))
    assert isinstance(found, dict)
    return found


def _code(page: str) -> list[str]:
    """The style sheet and the scripts."""
    read = read_page(page)
    assert len(read.styles) == 1 and len(read.scripts) == 3
    return [*read.styles, *(text for attrs, text in read.scripts if attrs.get("type") != "application/json")]


def test_the_policy_names_the_hashes_of_what_is_there(tok: UBPE) -> None:
    page = _made(tok, title="</script><script>x</script>")
    policy = next(
        value
        for tag, name, value in read_page(page).attributes
        if (tag, name) == ("meta", "content") and "src" in value
    )
    assert policy.startswith("default-src 'none'; ") and "unsafe" not in policy
    for text in _code(page):
        assert f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" in policy


def test_nothing_comes_from_elsewhere(tok: UBPE) -> None:
    made = _made(tok)
    attributes = read_page(made).attributes
    assert not [
        (tag, name)
        for tag, name, _ in attributes
        if name in ("src", "srcset", "style") or name.startswith("on")
    ]
    assert {value for _, name, value in attributes if name == "href"} == {"#view"}
    for text in _code(made):
        assert not re.findall(r"(?:url\(|@import|import\(|fetch\(|XMLHttpRequest|WebSocket|\.src\s*=)", text)
    assert "The MIT License (MIT)" in made and "Leon Sorokin" in made  # of the library of charts
    there = {path.name for path in (pathlib.Path(explorer.__file__).parent / "page").iterdir()}
    assert there == {*STYLES, *SCRIPTS, "explorer.html", "uPlot.iife.min.js", "uPlot.LICENSE"}


@each("title", ["</script><script>alert(1)</script>", "@DATA@ @SCRIPT@", "<!--", "&lt; \"'", "\ud800 \x00"])
def test_a_title_is_only_text(tok: UBPE, title: str) -> None:
    page = _made(tok, title=title)
    assert _data(page)["title"] == title and len(_code(page)) == 3
    page.encode()


def test_the_data_are_those_of_the_library(tok: UBPE) -> None:
    data = _data(_made(tok, rate=10))
    arrays = {name: unpacked(made) for name, made in data["arrays"].items()}
    assert (data["documents"], data["symbols"], data["size"], data["rate"]) == (
        12,
        45,
        len(tok._model.vocabulary),
        10,
    )
    assert arrays["values"].tolist() == [symbol for doc in DOCS for symbol in doc]
    assert arrays["doclen"].tolist() == [len(doc) for doc in DOCS] and arrays["docid"].tolist() == list(
        range(12)
    )
    n = tok._model.vocabulary.n_alphabet
    pairs = np.stack([arrays["left"], arrays["right"]], axis=1)
    assert (pairs[:n] == -1).all() and np.array_equal(pairs[n:], tok._model.vocabulary.merges)
    assert (
        arrays["born"].tolist() == [0] * n + list(range(n + 1, len(tok._model.vocabulary) + 1))
        and data["alphabet"] == n
    )
    assert "born" not in _data(_made(tok, segmentations="shortest"))["arrays"]  # only merge rank nests
    of_0 = _data(_made(BPE.from_merges([[0, 1], [2, 0]], 2), [[0, 1, 0]]))["arrays"]
    assert unpacked(of_0["born"]).tolist() == [0, 0, 3, 4]
    for i, cut in enumerate(data["cuts"]):
        ids = tok.with_objective(cut["name"]).encode_batch(DOCS)
        usage = tok.usage(ids=ids)
        assert arrays[f"ids{i}"].tolist() == ids.values.tolist() and cut["tokens"] == ids.total
        assert arrays[f"count{i}"].tolist() == usage.counts.tolist()
        assert arrays[f"docs{i}"].tolist() == usage.document_frequencies.tolist()
    assert [cut["name"] for cut in data["cuts"]] == ["shortest", "rank", "tfidf"]
    assert data["colours"]["dark"]["hues"] == list(colours.HUES)


def test_symbols_with_names_are_shown_by_these() -> None:
    docs = [["open", "read", "close"] * 3, ["open", "shut"], []]
    tok = BPE(6, alphabet=["open", "read", "close"]).fit(docs[:1], progress=False)
    data = _data(_made(tok, docs, unknown="skip"))
    assert (data["kind"], data["unit"], data["labels"]) == (
        "text",
        "symbol",
        ["open ", "read ", "close ", "shut "],
    )
    assert unpacked(data["arrays"]["values"]).tolist() == [0, 1, 2] * 3 + [0, 3]
    assert unpacked(data["arrays"]["ids0"]).tolist() == tok.encode_batch(docs, unknown="skip").values.tolist()
    for options, says in (
        ({"kind": "notes"}, "kind: .*shown as text"),
        ({"letters": "abc"}, "letters: symbols with names"),
    ):
        refuses(ValueError, says, _made, tok, docs, unknown="skip", **options)


def test_one_document_and_documents_in_all_forms(tok: UBPE) -> None:
    flat = np.array([v for doc in DOCS for v in doc])
    offsets = np.append(0, np.cumsum([len(doc) for doc in DOCS]))
    expected = _data(_made(tok))
    assert (
        _data(_made(tok, flat, offsets=offsets))
        == _data(_made(tok.set_params(n_threads=2), iter(DOCS)))
        == expected
    )
    assert _data(_made(tok, flat))["documents"] == 1
    assert _data(_made(tok, Ragged(flat.astype(np.int32), offsets[2:5])))["symbols"] == int(
        offsets[4] - offsets[2]
    )


def test_a_file_is_written_whole_or_not_at_all(tok: UBPE, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.html"
    assert explore(tok, DOCS, path=path, progress=False) is None and path.read_text("utf-8") == _made(tok)
    before = path.read_bytes()
    refuses(UnknownSymbolError, "document 1", explore, tok, [[1], [99]], path=path, progress=False)
    assert path.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == ["a.html"]


def test_a_report_for_notebooks(tok: UBPE) -> None:
    report = explore(tok, DOCS, title='"x"', progress=False)
    assert isinstance(report, Report) and repr(report) == f"Report('\"x\"', {len(report.html)} characters)"
    frame = report._repr_html_()
    assert frame.startswith('<iframe sandbox="allow-scripts" title="&quot;x&quot;"') and frame.count("<") == 2
    broken = explore(tok, DOCS, title="\ud800", progress=False)
    assert isinstance(broken, Report) and 'title="?"' in broken._repr_html_().encode("utf-8").decode()


@each("options, error, says", [
    ({"kind": "picture"}, ValueError, "kind: expected 'auto', 'signal'"),
    ({"title": 3}, TypeError, "title: expected str or None"), ({"unit": 3}, TypeError, "unit: expected str or None"),
    ({"rate": "3"}, TypeError, "rate: expected a number"), ({"rate": 0}, ValueError, "rate: expected samples a second"),
    ({"rate": float("nan")}, ValueError, "rate: expected samples a second"), ({"max_symbols": 0}, ValueError, "max_symbols: "),
    ({"rate": 10**400}, ValueError, "rate: expected samples a second"),
    ({"segmentations": 5}, TypeError, "segmentations: expected 'auto' or names"),
    ({"segmentations": "none"}, ValueError, "segmentations: "),
    ({"progress": "no"}, ValueError, "progress: "), ({"pitches": [1]}, ValueError, "pitches: "),
    ({"unknown": "other"}, ValueError, "unknown: "),
])  # fmt: skip
def test_errors_name_the_argument(tok: UBPE, options: dict[str, Any], error: Any, says: str) -> None:
    refuses(error, f"^{says}", explore, tok, DOCS, **{"progress": False, **options})


def test_what_cannot_be_explored_is_said(tok: UBPE) -> None:
    refuses(NotFittedError, "", lambda: explore(BPE(10), DOCS, progress=False))
    for docs in (["text"], 3):
        refuses(TypeError, "docs: ", explore, tok, docs, progress=False)


_TYPES = {"u1", "i1", "u2", "i2", "u4", "i4", "f4", "f8"}


@given(
    st.sampled_from([np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64]).flatmap(
        lambda dtype: arrays(
            dtype, st.integers(0, 40), elements={} if dtype != np.int64 else st.integers(-(2**53), 2**53)
        )
    )
)
def test_integers_come_back(array: np.ndarray) -> None:
    made = json.loads(json.dumps(packed(array)))
    assert made["t"] in _TYPES and made["n"] == array.size
    assert unpacked(made).astype(np.int64).tolist() == array.astype(np.int64).tolist()


def test_the_narrowest_type_is_taken() -> None:
    for name, values in {
        "u1": [0, 255], "i1": [-1, 127], "u2": [0, 256], "i2": [-200, 5], "u4": [0, 2**32 - 1], "i4": [-(2**31), 0], "f8": [2**40]
    }.items():  # fmt: skip
        assert packed(np.array(values))["t"] == name
    assert packed(np.array([True, False]))["t"] == "u1"


def test_integers_beyond_float64_are_refused() -> None:
    refuses(ValueError, r"array: integers .* are not exact", packed, np.array([2**53 + 1]))
