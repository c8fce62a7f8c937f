"""The explorer as a page: its policy, themes, paper, keys, and readers that do not see it."""

import html
import pathlib
from typing import Any

import numpy as np
import pytest
from explorer_page import in_view, marked, n_listed, number, press, settle
from explorer_reports import Made
from tables import each

from ubpe_numba import BPE, UBPE
from ubpe_numba.views import colours
from ubpe_numba.views.explorer.report import explore

#: A test for each kind of report.
EVERY = each("kind", ("ecg", "text", "dna", "notes"))


def _script(name: str) -> str:
    """A function of JavaScript beside this file."""
    return (pathlib.Path(__file__).parent / name).read_text("utf-8")


def _rgb(colour: str) -> str:
    return "rgb({}, {}, {})".format(*(int(colour[i : i + 2], 16) for i in (1, 3, 5)))


def test_scripts_that_are_not_of_the_page_do_not_run(visit: Any, ecg: Made) -> None:
    page = visit(ecg.path)
    page.evaluate("""() => {
        const script = document.createElement("script");
        script.textContent = "document.title = 'run'";
        document.body.append(script);
        const image = document.createElement("div");
        image.innerHTML = '<b onclick="document.title = 1">x</b><i style="color: red">y</i>';
        document.body.append(image);
        image.firstChild.click();
    }""")
    assert page.title() not in ("run", "1")
    for attempt in ("fetch('https://example.org/')", "new WebSocket('wss://example.org/')"):
        page.evaluate(f"(async () => {{ try {{ await {attempt}; }} catch {{ }} }})()")
    refused = [said for said in page.wrong if "Content Security Policy" in said]
    assert len(refused) >= 4 and not any("request:" in said for said in page.wrong)
    page.wrong.clear()


def test_the_theme_is_that_of_the_reader_until_it_is_changed(visit: Any, ecg: Made) -> None:
    for scheme, other in (("light", "dark"), ("dark", "light")):
        page = visit(ecg.path, scheme)
        background = "getComputedStyle(document.body).backgroundColor"
        assert page.evaluate(background) == _rgb(colours.THEMES[scheme].paper)
        press(page, "t")
        assert page.evaluate(background) == _rgb(colours.THEMES[other].paper)
        page.click("#theme")
        assert page.evaluate(background) == _rgb(colours.THEMES[scheme].paper)


@each("kind", ("ecg", "text"))
def test_on_paper_it_is_light_and_has_the_first_tokens(
    visit: Any, kind: str, request: pytest.FixtureRequest
) -> None:
    page = visit(request.getfixturevalue(kind).path, "dark")
    page.emulate_media(media="print")
    page.wait_for_selector("#paper tbody tr")
    assert not page.is_visible("#vocabulary") and not page.is_visible(".bar")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    assert page.locator("#paper tbody tr").count() == min(25, n_listed(page)) and len(page.pdf()) > 10_000
    page.emulate_media(media="screen")
    page.wait_for_selector("#paper tbody tr", state="detached")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_keys_choose_cuts_and_show_what_they_do(visit: Any, ecg: Made) -> None:
    page = visit(ecg.path)
    press(page, "2")
    assert (
        page.get_attribute('#cuts [aria-checked="true"]', "aria-label").split(",")[0] == list(ecg.cuts())[1]
    )
    page.focus('#cuts [aria-checked="true"]')
    page.keyboard.press("ArrowLeft")
    assert page.get_attribute("#cuts button:nth-child(1)", "aria-checked") == "true"
    press(page, "?")
    assert page.is_visible("#keys") and "next occurrence" in page.inner_text("#keys")
    page.keyboard.press("Escape")
    assert not page.is_visible("#keys")
    press(page, "Escape")
    assert "No token is chosen" in page.inner_text("#status") and marked(page) == 0
    press(page, "/")
    assert page.evaluate("document.activeElement.id") == "search"


@EVERY
def test_the_place_is_a_slider_with_keys(visit: Any, kind: str, request: pytest.FixtureRequest) -> None:
    made = request.getfixturevalue(kind)
    page = visit(made.path)
    press(page, "+", "+")
    page.focus("#overview")
    for key in ("End", "Home", "ArrowRight", *["ArrowLeft"] * 9):
        page.keyboard.press(key)
        settle(page)
        first, last = in_view(page)
        assert last > 0 and (first == last if key == "End" else first == 0 if key == "Home" else first >= 0)
        assert key != "ArrowRight" or first > 0
    assert first == 0
    assert page.get_attribute("#overview", "aria-valuetext").startswith(
        f"document 0, {made.unit} 0 to document"
    )


@EVERY
def test_pictures_have_tables_and_what_has_the_focus_is_seen(
    visit: Any, kind: str, request: pytest.FixtureRequest
) -> None:
    page = visit(request.getfixturevalue(kind).path)
    assert all(
        len(canvas.get_attribute("aria-label")) > 20 for canvas in page.locator("canvas[role=img]").all()
    )
    assert page.locator("h1").count() == 1 and page.get_attribute("html", "lang") == "en"
    assert {element.get_attribute("id") for element in page.locator("[role=status]").all()} == {
        "listinfo",
        "status",
        "typedinfo",
    }
    assert page.get_attribute("#grid", "aria-rowcount") == str(n_listed(page) + 1)
    sorts = [head.get_attribute("aria-sort") for head in page.locator("[role=columnheader]").all()]
    assert sorted(sorts) == ["descending", *["none"] * 5]
    for name in ("view", "sky", "context", "curve", "lengths", "zipf"):
        assert page.locator(f"#alt-{name} summary").count() == 1
    reached = []
    for _ in range(24):
        page.keyboard.press("Tab")
        found = page.evaluate(_script("focus.js"))
        assert found[1], f"the focus on {found[0]!r} is not seen"
        reached.append(found[0])
    assert {"theme", "help", "search", "grid", "overview", "in", "out", "next"} <= set(reached)


@EVERY
def test_a_narrow_page_has_no_sideways_scroll(visit: Any, kind: str, request: pytest.FixtureRequest) -> None:
    page = visit(request.getfixturevalue(kind).path, viewport={"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


_AXE = "axe.run({resultTypes: ['violations']}).then((found) => found.violations.map((v) => [v.id, v.nodes.map((n) => n.html)]))"


@each("scheme, width", [("light", 1280), ("dark", 390)])
@EVERY
def test_axe_finds_nothing(
    visit: Any, axe: str, kind: str, scheme: str, width: int, request: pytest.FixtureRequest
) -> None:
    """With everything open, the skyline too, and with each dialog, which are the same for all."""
    page = visit(request.getfixturevalue(kind).path, scheme, viewport={"width": width, "height": 900})
    page.evaluate(f"{axe}; null")
    page.click("#cuts button:has-text('rank')")
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    settle(page)
    for dialog in ("", "help", "code") if kind == "text" else ("",):
        if dialog:
            page.click(f"#{dialog}")
        assert page.evaluate(_AXE) == [], dialog
        page.evaluate("document.querySelector('dialog[open]')?.close()")


def test_a_notebook_shows_it_in_a_frame_of_its_own(visit: Any, ecg: Made, folder: pathlib.Path) -> None:
    report = explore(ecg.tok, ecg.docs, offsets=ecg.offsets, title='"><b>', progress=False)
    path = folder / "notebook.html"
    path.write_text(f"<!doctype html><title>notebook</title>{report._repr_html_()}")
    page = visit(path, wait="iframe")
    frame = page.frame_locator("iframe")
    frame.locator("body[data-ready]").wait_for()
    assert frame.locator("#title").inner_text() == '"><b>'
    assert page.get_attribute("iframe", "sandbox") == "allow-scripts"
    assert html.unescape(report._repr_html_()).count("<!doctype html>") == 1


def test_of_many_documents_some_are_drawn_and_all_are_counted(
    visit: Any, ecg: Made, folder: pathlib.Path
) -> None:
    path = folder / "sampled.html"
    explore(ecg.tok, ecg.docs, path, offsets=ecg.offsets, max_symbols=2000, progress=False)
    page = visit(path)
    usage = ecg.tok.usage(ecg.docs, ecg.offsets)
    for row in (1, 5):
        page.click(f"#rows .row:nth-child({row})")
        token = int(page.get_attribute('#rows [aria-selected="true"]', "data-token"))
        assert number(page, "#count") == usage.counts[token]
    assert "1,920 samples in 16 documents at even distances" in page.inner_text("#what")


def test_unusual_vocabularies_and_documents(visit: Any, folder: pathlib.Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 6, 600) + np.arange(600) % 7
    tok = UBPE(40, objective="shortest").fit([x, x[:50]], progress=False)
    broken, lone, word = b"abc\xff\xfe abc \x80" * 9, "a\ud800b\ud800a" * 9, "abcab" * 9
    for name, made, docs, options in (
        ("one document", tok, x, {}),
        ("empty documents", tok, [[], x, [], x[:3], []], {}),
        ("no documents", tok, [], {}),
        ("documents without symbols", tok, [[], []], {}),
        ("a document beyond the limit", tok, [x], {"max_symbols": 50}),
        ("a flat vocabulary", tok.refine([x, x], progress=False), [x], {}),
        ("nothing learned", BPE(20, alphabet=20).fit([[1, 2, 3]], progress=False), [x], {}),
        ("64 bits", BPE(40).fit([x + 2**62], progress=False), [x + 2**62], {}),
        (
            "bytes that are no text",
            BPE.for_text(270).fit([broken], progress=False),
            [broken],
            {"kind": "text"},
        ),
        ("surrogates", BPE(30).fit([lone], progress=False), [lone], {}),
        ("unknown symbols", BPE(30).fit([word], progress=False), ["abΩcab" * 9], {"unknown": "skip"}),
        ("rests", tok, [x], {"kind": "notes", "pitches": {i: None if i == 3 else 60 + i for i in range(14)}}),
    ):
        explore(made, docs, path=folder / f"{name}.html", progress=False, **options)
        page = visit(folder / f"{name}.html")
        press(page, *"n2p0+-t1n")
        page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        page.focus("#grid")
        page.keyboard.press("ArrowDown")
        settle(page)
        if n_listed(page):
            token = int(page.get_attribute('#rows [aria-selected="true"]', "data-token"))
            given = {key: options[key] for key in ("unknown",) if key in options}
            assert number(page, "#count") == made.usage(docs, **given).counts[token], name
        else:
            assert "No token is chosen" in page.inner_text("#status"), name
