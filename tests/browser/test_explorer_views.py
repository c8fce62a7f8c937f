"""The explorer of text, DNA and notes in a browser."""

import pathlib
from typing import Any

import numpy as np
import pytest
from explorer_page import choose, marked, number, press, rows_of, search, settle
from explorer_reports import Made
from tables import each

from ubpe_numba import BPE, UBPE
from ubpe_numba.views import colours
from ubpe_numba.views.explorer.report import explore

_SPANS = """[...document.querySelectorAll('.tok')].map((span) => [span.textContent, span.style.getPropertyValue('--hue')])"""
_LINES = """[...document.querySelectorAll('#context tr')].map((row) => [...row.cells].map((cell) => cell.textContent))"""


def _read(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")


def _escaped(text: str) -> str:
    """Text as the view shows it: what cannot be seen as escapes."""
    out = []
    for c in text:
        n = ord(c)
        strange = (
            (n < 32 and c not in "\n\t") or 0x7F <= n < 0xA0 or 0x2028 <= n <= 0x202E or 0xD800 <= n <= 0xDFFF
        )
        out.append(c if not strange else f"\\x{n:02x}" if n < 256 else f"\\u{n:04x}")
    return "".join(out)


def test_the_text_is_all_there_token_by_token(visit: Any, text: Made) -> None:
    page = visit(text.path)
    press(page, "0")
    spans = page.evaluate(_SPANS)
    assert len(spans) == next(iter(text.cuts().values())).total
    lines = [line.text_content() for line in page.locator("#plot .line").all()]
    assert lines == [_escaped(_read(doc.encode("utf-8", "surrogatepass"))) for doc in text.docs if doc]
    assert _escaped("\u202e") in lines[1] and "\\xed\\xa0\\x80" in lines[2] and "低い" in lines[1]
    assert page.title() == "text · ubpe-numba explorer"  # the script in the text did not run


def test_colours_are_those_of_the_library(visit: Any, text: Made) -> None:
    page = visit(text.path)
    press(page, "0", "Escape")
    ids = next(iter(text.cuts().values()))
    hues = np.concatenate([colours.hues_of(doc, text.tok._model.vocabulary.n_alphabet) for doc in ids])
    found = [hue for _, hue in page.evaluate(_SPANS)]
    assert found == ["" if hue < 0 else f"var(--hue{hue})" for hue in hues.tolist()]
    root = "getComputedStyle(document.documentElement).getPropertyValue"
    assert [page.evaluate(f"{root}('--hue{i}')") for i in range(colours.N_HUES)] == list(colours.HUES)


@each("j", [0, 2])
def test_each_segmentation_of_text_marks_what_the_library_counts(visit: Any, text: Made, j: int) -> None:
    page = visit(text.path)
    page.click(f"#cuts button:nth-child({j + 1})")
    press(page, "0")
    usage = text.tok.usage(ids=list(text.cuts().values())[j])
    for token in np.argsort(-usage.counts)[[0, 3, 9]].tolist():
        choose(page, token)
        press(page, "0")
        assert number(page, "#count") == usage.counts[token]
        assert page.locator(".tok.on").count() == marked(page) == usage.counts[token]
    choose(page, text.tok.vocabulary.special["<|end|>"])
    assert number(page, "#count") == 1 and "a special token" in page.inner_text("#facts")
    assert page.inner_text(".tok.on") == "<|end|>"


@each("kind", ["text", "dna"])
def test_tokens_have_thumbnails_and_marks_are_narrow(
    visit: Any, kind: str, request: pytest.FixtureRequest
) -> None:
    page = visit(request.getfixturevalue(kind).path)
    for row in page.locator("#rows .row").all()[:9]:
        length = int(row.locator("[role=gridcell]").nth(2).inner_text())
        assert row.locator("svg rect").count() == length
    styles = "(part) => { const s = getComputedStyle(document.querySelector(part)); return [s.outlineWidth, s.outlineOffset]; }"
    width, offset = (float(value.removesuffix("px")) for value in page.evaluate(styles, ".tok.here"))
    assert width >= 1 and 2 * (width + offset) <= 3  # pixels wider than what is marked


def test_lines_of_text_end_with_their_documents(visit: Any, text: Made) -> None:
    page = visit(text.path)
    ids = next(iter(text.cuts().values()))
    index = text.tok.index(ids)
    data = [doc.encode("utf-8", "surrogatepass") for doc in text.docs]
    for token in (int(ids[0][0]), int(ids[4][-1]), int(ids[4][0])):
        choose(page, token)
        found = index[token]
        size = len(text.tok.decode([token], as_bytes=True))
        expected = []
        for d, start in zip(found.documents.tolist(), found.starts.tolist(), strict=True):
            end = start + size
            parts = data[d][max(0, start - 32) : start], data[d][start:end], data[d][end : end + 32]
            expected.append([_escaped(_read(part).replace("\n", "⏎").replace("\t", "⇥")) for part in parts])
        lines = page.evaluate(_LINES)
        assert len(lines) == len(expected)
        assert [line for line in lines if all(map(str.isprintable, line))] == [
            line for line in expected if all(map(str.isprintable, line))
        ]
    page.click("#context tr >> nth=2")  # a line is a way to its place
    settle(page)
    assert "· 3 of" in page.inner_text("#status") and page.locator("#context tr.on").count() == 1
    assert page.locator(".tok.here").count() == 1


_SEEN = """() => {
    const token = document.querySelector(".tok.here")?.getClientRects()[0];
    const box = document.querySelector("#plot").getBoundingClientRect();
    return Boolean(token && token.top >= box.top && token.bottom <= box.bottom);
}"""


@each("kind, width, zooms", [("text", 390, 0), ("dna", 390, 8), ("text", 1440, 8), ("dna", 1440, 0)])
def test_the_occurrence_that_is_gone_to_is_seen(
    visit: Any, tmp_path: pathlib.Path, kind: str, width: int, zooms: int
) -> None:
    """Below the lower edge too, and in a range that is narrower than what is shown before an occurrence."""
    symbols = np.array(list("the cat sat on a mat " if kind == "text" else "ACGT"))
    docs = ["".join(np.random.default_rng(d).choice(symbols, 2500)) for d in range(2)]
    explore(BPE(40).fit(docs, progress=False), docs, path=tmp_path / "a.html", progress=False)
    page = visit(tmp_path / "a.html", viewport={"width": width, "height": 800})
    press(page, *["+"] * zooms)
    for key in ["n"] * 12 + ["p"] * 16:
        press(page, key)
        assert page.evaluate(_SEEN), (key, page.inner_text("#status"))


def test_tokens_cover_no_more_than_everything_where_text_becomes_longer(
    visit: Any, tmp_path: pathlib.Path
) -> None:
    docs = ["\ufdfa" * 20]  # a letter of three bytes that NFKC writes as 18 letters
    tok = BPE.for_text(300, normalizer=["NFKC"]).fit(docs, progress=False)
    explore(tok, docs, path=tmp_path / "a.html", segmentations="rank", progress=False)
    page = visit(tmp_path / "a.html")
    usage, lengths = tok.usage(docs), np.diff(tok._model.vocabulary.offsets)
    token = int(np.argmax(usage.counts * lengths))
    choose(page, token)
    share = 100 * usage.counts[token] * lengths[token] / (usage.counts * lengths).sum()
    assert f"{share:.2f} % of all bytes" in page.inner_text("#facts")


def test_dna_stands_in_lines_with_their_places(visit: Any, dna: Made) -> None:
    page = visit(dna.path)
    press(page, "0")
    lines = page.locator("#plot .line").all()
    bases = "".join("ACGT"[v] for v in dna.docs[: dna.offsets[1]])
    width = len(lines[0].text_content())
    assert width % 10 == 0 and width >= 60
    for i, line in enumerate(lines[:5]):
        assert line.text_content() == bases[i * width : (i + 1) * width] and line.get_attribute(
            "data-place"
        ) == str(i * width)
    search(page, "len>=6")
    names = [row.inner_text() for row in page.locator("#rows .row .word").all()]
    assert names and all(set(name) <= set("ACGT") and len(name) >= 6 for name in names)


@each("j", [0, 1])
def test_notes_are_named_and_marked(visit: Any, notes: Made, j: int) -> None:
    page = visit(notes.path)
    page.click(f"#cuts button:nth-child({j + 1})")
    ids = list(notes.cuts().values())[j]
    page.click("#rows .row:nth-child(1)")
    press(page, "0")
    token = int(page.inner_text("#status b").split()[1])
    assert marked(page) == (ids.values == token).sum() == number(page, "#count")
    names = ["C", "C♯", "D", "D♯", "E", "F", "F♯", "G", "G♯", "A", "A♯", "B"]
    pitches = notes.tok.decode([token]).tolist()[:24]
    shown = page.inner_text("#facts dd >> nth=0").removesuffix(", …").split()
    assert shown == [f"{names[p % 12]}{p // 12 - 1}" for p in pitches]
    assert rows_of(page, "alt-view")[0][0] == "document 0, note 0"


@each("symbols", [[0, 5, 2**31 - 1, 7], [-(2**63), 5, 2**62, 7]])
def test_notes_of_symbols_that_are_no_pitches_are_drawn(
    visit: Any, tmp_path: pathlib.Path, symbols: list[int]
) -> None:
    """Without a key of a piano for each integer between them."""
    docs = np.array(symbols)[np.random.default_rng(0).integers(0, 4, (2, 300))]
    tok = UBPE(30, objective="shortest").fit(docs, progress=False)
    explore(tok, docs, path=tmp_path / "a.html", kind="notes", progress=False)
    page = visit(tmp_path / "a.html")
    press(page, "0")
    assert marked(page) == number(page, "#count") > 0


def test_no_token_has_a_name_that_is_not_seen(visit: Any, tmp_path: pathlib.Path) -> None:
    names = {" ": "␣", "\u3000": "\\u3000", "\xa0": "\\xa0", "\u0301": "◌\u0301", "\u202e": "\\u202e"}
    docs = [text for symbol in names for text in (f"a{symbol}b", symbol)]
    tok = BPE(8).fit(docs, progress=False)
    explore(tok, docs, path=tmp_path / "a.html", kind="text", progress=False)
    page = visit(tmp_path / "a.html")
    for symbol, name in names.items():
        choose(page, int(tok.encode(symbol)[0]))
        assert f"“{name}”" in page.inner_text("#status")
