"""The explorer of a signal in a browser, beside what the library says."""

from typing import Any

import numpy as np
import pytest
from explorer_page import choose, chosen, in_view, marked, number, place, press, rows_of, settle
from explorer_reports import HOSTILE, Made
from tables import each


def test_the_segmentations_are_those_of_the_library(visit: Any, ecg: Made) -> None:
    page = visit(ecg.path)
    assert page.inner_text("#title") == HOSTILE and page.title() == f"{HOSTILE} · ubpe-numba explorer"
    names = [button.get_attribute("aria-label") for button in page.locator("#cuts button").all()]
    ratio = {name: ecg.docs.size / ids.total for name, ids in ecg.cuts().items()}
    assert names == [f"{name}, {value:.2f} samples a token" for name, value in ratio.items()]
    assert list(ratio) == ["shortest", "rank", "tfidf"]


@each("j", [0, 2])
def test_occurrences_are_counted_marked_and_gone_to_as_the_library_finds_them(
    visit: Any, ecg: Made, j: int
) -> None:
    page, ids = visit(ecg.path), list(ecg.cuts().values())[j]
    page.click(f"#cuts button:nth-child({j + 1})")
    settle(page)
    usage, vocabulary = ecg.tok.usage(ids=ids), ecg.tok._model.vocabulary
    for row in (1, 4, 9):
        page.click(f"#rows .row:nth-child({row})")
        token = chosen(page)
        assert (
            number(page, "#count") == usage.counts[token] == int(page.get_attribute("#status", "data-found"))
        )
        assert f"in {usage.document_frequencies[token]} of 80 documents" in page.inner_text("#status")
    found = ecg.tok.index(ids)[token]
    where = list(zip(found.documents.tolist(), found.starts.tolist(), strict=True))
    at = where.index(place(page))
    for key, button, step in (("n", "#next", 1), ("n", "#next", 1), ("p", "#prev", -1)):
        for go in (lambda key=key: press(page, key), lambda button=button: page.click(button)):
            go()
            at = (at + step) % len(where)
            assert place(page) == where[at]
    token = vocabulary.n_alphabet + int(np.argsort(-usage.counts[vocabulary.n_alphabet :])[3])
    choose(page, token)
    press(page, "0")
    assert marked(page) == (ids.values == token).sum()  # in all that is drawn, and in a part of it
    assert marked(page, "#lanes") == sum((other.values == token).sum() for other in ecg.cuts().values())
    press(page, *"+++")
    first, rest = in_view(page)
    ends = np.cumsum(np.diff(vocabulary.offsets)[ids.values])  # documents stand one after the other
    starts, last = np.append(0, ends[:-1]), first + ecg.docs.size - rest
    there = ((ids.values == token) & (starts < last) & (ends > first)).sum()
    assert marked(page) == pytest.approx(there, abs=1)  # the first symbol in view is rounded


def test_a_click_in_the_signal_chooses_the_token_under_it(visit: Any, ecg: Made) -> None:
    page = visit(ecg.path)
    spans = ecg.tok.spans(ecg.docs, ecg.offsets)
    starts = ecg.offsets[spans.documents] + spans.starts
    press(page, "0", *"++++")
    first, rest = in_view(page)
    box = page.locator("#plot .u-over").bounding_box()
    for part in (0.21, 0.5, 0.83):
        page.mouse.click(box["x"] + box["width"] * part, box["y"] + 100)
        settle(page)
        x = first + part * (ecg.docs.size - rest)
        near = {int(spans.ids[np.searchsorted(starts, x + d, side="right") - 1]) for d in (-1, 0, 1)}
        assert int(page.inner_text("#status b").split()[1]) in near
        assert in_view(page) == (first, rest)  # what is pointed at stays where it is


def test_a_click_in_a_lane_chooses_its_segmentation_and_token(visit: Any, ecg: Made) -> None:
    page = visit(ecg.path)
    page.click("#lanes", position={"x": 500, "y": 26 + 12})
    settle(page)
    assert page.get_attribute("#cuts button:nth-child(2)", "aria-checked") == "true"
    assert "by rank" in page.inner_text("#status") and marked(page) >= 1


def test_zoom_keeps_everything_together(visit: Any, ecg: Made) -> None:
    page = visit(ecg.path)
    page.click("#rows .row:nth-child(1)")
    settle(page)
    before = in_view(page)
    for there, back in (("+", "-"), ("ArrowRight", "ArrowLeft")):
        press(page, there)
        assert in_view(page) != before
        name = page.get_attribute("#plot > div", "aria-label")
        assert f"{marked(page)} occurrences" in name
        press(page, back)
        assert in_view(page) == pytest.approx(before, abs=1)
    box = page.locator("#plot .u-over").bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 90)
    page.mouse.down()
    page.mouse.move(box["x"] + 500, box["y"] + 90, steps=4)
    page.mouse.up()
    settle(page)
    assert ecg.docs.size - in_view(page)[1] < 0.3 * (ecg.docs.size - before[1])
    page.mouse.dblclick(box["x"] + 300, box["y"] + 90)
    settle(page)
    assert in_view(page) == (0, 0)


def test_contexts_end_with_their_documents(visit: Any, ecg: Made) -> None:
    """Also of tokens at the first and at the last samples of a document."""
    page = visit(ecg.path)
    ids = next(iter(ecg.cuts().values()))
    ends = {int(ids[3][0]), int(ids[5][-1]), int(ids[0][0])}
    for token in ends:
        choose(page, token)
        found = ecg.tok.index(ids)[token]
        n = int(np.diff(ecg.tok._model.vocabulary.offsets)[token])
        rows = rows_of(page, "alt-context")
        assert len(rows) == min(200, found.starts.size)
        if found.starts.size > 200:
            continue
        for row, d, start in zip(rows, found.documents.tolist(), found.starts.tolist(), strict=True):
            doc = ecg.docs[ecg.offsets[d] : ecg.offsets[d + 1]]
            assert row[0] == f"document {d}, sample {start}"
            assert row[1].split() == [str(v) for v in doc[max(0, start - 8) : start]]
            assert row[2].split() == [str(v) for v in doc[start + n : start + n + 8]]


def test_the_tree_holds_the_parents(visit: Any, ecg: Made) -> None:
    page, token = visit(ecg.path), len(ecg.tok._model.vocabulary) - 1
    choose(page, token)
    parents, nodes = (
        ecg.tok.vocabulary.parents(token),
        page.locator("#tree > .branch > .pair > .branch > button"),
    )
    assert tuple(int(node.get_attribute("data-token")) for node in nodes.all()) == tuple(parents)
    nodes.nth(0).focus()
    page.keyboard.press("Enter")
    assert f"Token {parents[0]}" in page.inner_text("#status")


def test_the_charts_say_what_the_library_counts(visit: Any, ecg: Made) -> None:
    page = visit(ecg.path)
    ids = next(iter(ecg.cuts().values()))
    counts = ecg.tok.usage(ids=ids).counts
    lengths = np.bincount(np.diff(ecg.tok._model.vocabulary.offsets)[ids.values])
    assert [int(row[1].replace(",", "")) for row in rows_of(page, "alt-lengths")] == lengths[1:].tolist()
    by_rank = sorted(counts.tolist(), reverse=True)
    found = [[int(value.replace(",", "")) for value in row] for row in rows_of(page, "alt-zipf")]
    assert found[0][0] == 1 and len(found) > 50 and all(by_rank[rank - 1] == count for rank, count in found)
