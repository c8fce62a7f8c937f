"""Fits that are not what was meant: no documents, the name of a file, a vocabulary that ends far below its size."""

import logging
import pathlib
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from tables import each, refuses

from ubpe_numba import BPE, FitRules, Ragged

DOCS = [[0, 1, 2, 0, 1, 2, 3], [3, 1, 2, 3]] * 3


def told(call: Callable[[], object]) -> list[str]:
    """The warnings of a call; each points to this file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert all(w.category is UserWarning and w.filename == __file__ for w in caught)
    return [str(w.message) for w in caught]


@each("docs", [[], (), Ragged.from_lists([]), [""], [[], []]])
def test_no_documents(cls: Any, docs: Any) -> None:
    assert told(lambda: cls(300).fit(docs)) == [
        "docs: there are no documents that hold symbols, so nothing is learned"
    ]
    refuses(ValueError, "the iterator gave no document", lambda: cls(300).fit(iter([])))


def test_the_name_of_a_file(tmp_path: pathlib.Path) -> None:
    path, other = str(tmp_path / "corpus.txt"), str(tmp_path / "more.txt")
    for name in (path, other):
        pathlib.Path(name).write_text("low lower lowest")
    expected = [f"docs: {path!r} is read as a text, but a file has this name. Read the file first."]
    for docs in (path, [path], [path, other], (path, other)):
        assert told(lambda docs=docs: BPE(300).fit(docs)) == expected  # type: ignore[misc]
    for docs in (
        f"{path}x",
        [path, "a text"],
        [path.encode()],
        "a\0b",
        "x" * 10_000,
        str(tmp_path),
        "low lower",
    ):
        assert told(lambda docs=docs: BPE(300).fit(docs)) == []  # type: ignore[misc]


def test_a_fit_that_ends_far_below(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "ubpe_numba")
    end = "the fit ended at 10 tokens of {}, alphabet included: no pair is left that occurs 2 times or more"
    assert told(lambda: BPE(5000).fit(DOCS)) == [
        f"n_tokens: {end.format(5000)}; are these the documents that were meant?"
    ]
    assert end.format(5000) in caplog.text
    caplog.clear()
    # nothing asked for; a trial
    assert told(lambda: BPE().fit(DOCS)) == told(lambda: BPE(300).fit(DOCS)) == []
    assert end.format(4096) in caplog.text and end.format(300) in caplog.text
    caplog.clear()
    assert (
        told(lambda: BPE(None).fit(DOCS)) == told(lambda: BPE(6).fit(DOCS)) == []
        and "ended" not in caplog.text
    )
    found = told(lambda: BPE(5000, rules=FitRules(max_token_length=2), alphabet=9).fit(DOCS))
    assert (
        len(found) == 1
        and "occurs 2 times or more and makes a token of at most 2 symbols; are these" in found[0]
    )


def test_continued_far_below() -> None:
    tok = BPE(5).fit(DOCS)
    found = told(lambda: tok.fit_more(DOCS, 5000))
    assert len(found) == 1 and "the fit ended at 10 tokens of 5000" in found[0]
    found = told(lambda: BPE(5).fit(DOCS).fit_more(DOCS, 300))  # of few, too
    assert len(found) == 1 and "the fit ended at 10 tokens of 300" in found[0]


def test_the_line_is_that_of_the_user_also_through_a_pipeline() -> None:
    pipeline = pytest.importorskip("sklearn.pipeline")
    for fit in (BPE(4).fit, pipeline.Pipeline([("tokens", BPE(4))]).fit):
        with pytest.warns(UserWarning, match="there are no documents") as caught:
            fit([])
        assert [warning.filename for warning in caught] == [__file__]
