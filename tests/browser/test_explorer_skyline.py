"""The skyline of the explorer and its slider: what each size of the vocabulary encodes to, beside shorter fits in Python."""

import pathlib
from typing import Any

import numpy as np
import pytest
from explorer_page import choose, in_view, marked, number, press, rows_of, settle
from explorer_reports import Made, dna as dna_of, made as made_at
from tables import each

from ubpe_numba import BPE, Preprocessing


def _slide(page: Any, part: float) -> int:
    """Move the slider, and say the size that it chose."""
    slider = "const slider = document.getElementById('size'); slider.value"
    page.evaluate(
        f"(part) => {{ {slider} = Math.round(part * slider.max); slider.dispatchEvent(new Event('input')); }}",
        part,
    )
    settle(page)
    settle(page)
    return int(page.get_attribute("#skyline", "data-size"))


@pytest.fixture(scope="module")
def mirrored(folder: pathlib.Path) -> Made:
    """DNA that counts together with its other strand: a token and its mirror come with one size."""
    _, values, offsets = dna_of()
    tok = BPE(90, alphabet=4, preprocessing=Preprocessing(mirror={0: 3, 1: 2})).fit(
        values, offsets=offsets, progress=False
    )
    return made_at(folder / "mirrored.html", tok, values, offsets, kind="dna")


@each("kind", ["text", "mirrored", "ecg", "notes"])
def test_every_size_shows_what_a_shorter_fit_encodes_to(
    visit: Any, kind: str, request: pytest.FixtureRequest
) -> None:
    made = request.getfixturevalue(kind)
    tok, page = made.tok.with_objective("rank"), visit(made.path)
    page.click("#cuts button:has-text('rank')")
    press(page, "0")
    size = tok._model.vocabulary.n_alphabet + tok._model.vocabulary.n_learned
    curve = {
        int(row[0].replace(",", "")): float(row[1].replace(",", "")) for row in rows_of(page, "alt-curve")
    }
    assert page.is_visible("#skyline") and size - max(curve) < 2
    for part in (0.0, 0.4, 0.8, 1.0):
        n = _slide(page, part)
        short = tok.truncate(n)
        ids = short.encode_batch(made.docs, made.offsets, allowed_special="all", disallowed_special="none")
        usage = short.usage(ids=ids)
        learned = np.arange(usage.counts.size) < n  # special tokens have other ids in a shorter vocabulary
        said = page.inner_text("#sizeis")
        assert f"{n} of {size}: {ids.total:,} tokens" in said == page.get_attribute("#size", "aria-valuetext")
        seen = [int(row[1]) for row in rows_of(page, "alt-view")]
        assert len(seen) == min(200, ids.total)
        assert [t for t in seen if t < n] == [t for t in ids.values[: len(seen)].tolist() if t < n]
        token = int(np.argmax(np.where(learned, usage.counts, 0)))
        choose(page, token)
        assert number(page, "#count") == usage.counts[token] == marked(page)
        assert f"in {usage.document_frequencies[token]} of {len(ids)} documents" in page.inner_text("#status")
        assert int(page.get_attribute("#curve", "data-mark")) == n
        if n in curve:
            symbols = int(page.inner_text("#what b >> nth=1").split()[0].replace(",", ""))
            assert curve[n] == pytest.approx(symbols / ids.total, abs=6e-4)


def test_a_click_in_the_skyline_chooses_size_and_token(visit: Any, dna: Made) -> None:
    page, v = visit(dna.path), dna.tok.vocabulary
    press(page, "Escape")
    box, (first, _) = page.locator("#skyline").bounding_box(), in_view(page)
    page.mouse.click(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.45)
    settle(page)
    size, token = (
        int(page.get_attribute("#skyline", "data-size")),
        int(page.inner_text("#status b").split()[0]),
    )
    assert 4 < size < 90 and token < size and in_view(page)[0] == first
    # from the largest token to the symbol, each from the size that makes it to where it goes in
    rows = rows_of(page, "alt-sky")
    tokens = [int(row[2]) for row in rows]
    assert token in tokens and len(tokens) > 2 and rows[-1][0] == "the alphabet" and rows[0][1] == "90"
    for whole, part, row, below in zip(tokens, tokens[1:], rows, rows[1:], strict=False):
        assert part in v.parents(whole) and row[0] == str(whole + 1) and below[1] == str(whole)
    press(page, "[")
    assert int(page.get_attribute("#skyline", "data-size")) < size
    press(page, "]", "]")
    assert int(page.get_attribute("#skyline", "data-size")) > size
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 20)
    assert "from a vocabulary of" in page.inner_text("#tip")
    page.mouse.wheel(0, -100)
    settle(page)
    assert in_view(page)[0] > first
    page.focus("#size")
    page.keyboard.press("Home")
    settle(page)
    settle(page)
    assert page.get_attribute("#skyline", "data-size") == "4"


def test_where_tokens_do_not_nest_there_is_no_skyline(visit: Any, ecg: Made) -> None:
    page = visit(ecg.path)  # by the fewest tokens
    assert not page.is_visible("#sky")
    press(page, "2")
    assert page.is_visible("#sky")
