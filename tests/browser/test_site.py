"""The built site in a browser, served on this machine: both colour schemes, a desk and a phone, nothing from another host."""

from __future__ import annotations

import pathlib
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import pytest
from built_site import the_site

_CONTRAST = (pathlib.Path(__file__).parent / "contrast.js").read_text(encoding="utf-8")
_WIDTHS = {"desk": (1280, 900), "phone": (390, 844)}
_SINGLE = [
    "index",
    "explore",
    "distributed",
    "benchmarks",
    "foreign",
    "search",
    "genindex",
    "reference/index",
    "reference/commands",
]
_NAMES = ["BPE", "Ragged", "types.TokenTable", "errors.UnknownSymbolError", "plot.TokensDisplay"]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def site() -> pathlib.Path:
    """The folder of the site."""
    return the_site()


@pytest.fixture(scope="module")
def address(site: pathlib.Path) -> Iterator[str]:
    """Where the site is served."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def _kinds(site: pathlib.Path) -> list[str]:
    """Pages of every kind: of each part its list and its first pages."""
    found = [*_SINGLE, *(f"reference/ubpe_numba.{name}" for name in _NAMES)]
    for part, most in (("learn", 8), ("do", 3), ("coming_from", 3), ("understand", 4)):
        others = sorted(path.stem for path in (site / part).glob("*.html") if path.stem != "index")
        found += [f"{part}/{name}" for name in ("index", *others[:most])]
    return found


class _Visit:
    """A page in a tab, with what went wrong and what it asked for."""

    def __init__(self, browser: Any, scheme: str, width: str) -> None:
        size = dict(zip(("width", "height"), _WIDTHS[width], strict=True))
        self.context = browser.new_context(color_scheme=scheme, viewport=size)
        self.page = self.context.new_page()
        self.errors: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))

    def go(self, address: str) -> None:
        """Open a page and forget the one before."""
        self.errors.clear()
        self.asked.clear()
        answer = self.page.goto(address, wait_until="load")
        assert answer.ok, f"{address}: {answer.status}"


@pytest.fixture
def visit(browser: Any, request: pytest.FixtureRequest) -> Iterator[_Visit]:
    """A tab of the scheme and the width of the test."""
    visit = _Visit(browser, *getattr(request, "param", ("light", "desk")))
    yield visit
    visit.context.close()


_SCHEMES = [(scheme, width) for scheme in ("light", "dark") for width in _WIDTHS]
_LOAD_ALL = """async () => {
  for (const each of document.querySelectorAll("[loading=lazy]")) each.loading = "eager";
  await Promise.allSettled([...document.images].map((image) => image.decode()));
}"""
_BROKEN = """() => [...document.images].filter((i) => i.checkVisibility() && !i.naturalWidth).map((i) => i.src)"""
_SHOWN = """(kind) => [...document.querySelectorAll(`img.only-${kind}`)].map((i) => i.checkVisibility())"""
_WIDE = """() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]"""


@pytest.mark.parametrize("visit", _SCHEMES, indirect=True, ids=["-".join(each) for each in _SCHEMES])
def test_pages_of_every_kind(visit: _Visit, site: pathlib.Path, address: str, request: pytest.FixtureRequest) -> None:
    scheme, width = request.node.callspec.params["visit"]
    own = urlsplit(address).netloc
    wrong: list[tuple[str, Any]] = []
    twins = 0
    for name in _kinds(site):
        visit.go(f"{address}/{name}.html")
        visit.page.evaluate(_LOAD_ALL)
        wrong += [(name, error) for error in visit.errors]
        asked = map(urlsplit, visit.asked)
        wrong += [(name, url.geturl()) for url in asked if url.scheme not in ("data", "blob") and url.netloc != own]
        wrong += [(name, f"broken: {source}") for source in visit.page.evaluate(_BROKEN)]
        across, inside = visit.page.evaluate(_WIDE)
        if across > inside:
            wrong.append((name, f"{across} pixels across at {_WIDTHS[width][0]}"))
        shown = {kind: visit.page.evaluate(_SHOWN, kind) for kind in ("light", "dark")}
        other = "dark" if scheme == "light" else "light"
        if not all(shown[scheme]) or any(shown[other]) or len(shown[scheme]) != len(shown[other]):
            wrong.append((name, f"pictures of the schemes: {shown}"))
        twins += len(shown[scheme])
        contrast = visit.page.evaluate(_CONTRAST)
        assert contrast["seen"] > 5
        wrong += [(name, low) for low in contrast["low"]]
    assert wrong == []
    assert twins > 1


def test_the_check_of_contrast_sees_grey_on_grey(visit: _Visit) -> None:
    visit.page.set_content(
        '<body style="background:#fff"><p style="color:#999">low</p>'
        '<p style="color:#444">high</p><div style="opacity:.5"><p style="color:#666">dim</p></div></body>'
    )
    found = visit.page.evaluate(_CONTRAST)
    assert found["seen"] == 3
    assert [low[:2] for low in found["low"]] == [["dim", 2.11], ["low", 2.85]]


def test_search_finds_a_method_and_leads_to_it(visit: _Visit, address: str) -> None:
    visit.go(f"{address}/index.html")
    visit.page.fill("input[name=q]", "encode_batch")
    visit.page.press("input[name=q]", "Enter")
    visit.page.wait_for_url("**/search.html?q=encode_batch**")
    visit.page.wait_for_selector("#search-results li a")
    links = visit.page.eval_on_selector_all("#search-results li a", "found => found.map((a) => a.href)")
    assert any("reference/ubpe_numba." in link for link in links)
    visit.page.click("#search-results li a")
    visit.page.wait_for_load_state("load")
    assert "encode_batch" in visit.page.inner_text("article")
    assert visit.errors == []


def test_the_button_of_the_scheme_changes_the_pictures(visit: _Visit, address: str) -> None:
    visit.go(f"{address}/index.html")
    before = visit.page.evaluate(_SHOWN, "dark")
    for _ in range(3):  # auto, light, dark: in some order
        visit.page.click(".content-icon-container .theme-toggle")
        if visit.page.get_attribute("body", "data-theme") == "dark":
            break
    assert before == [False] * len(before) != []
    assert visit.page.evaluate(_SHOWN, "dark") == [True] * len(before)
    assert visit.page.evaluate(_SHOWN, "light") == [False] * len(before)
    assert visit.page.evaluate(_CONTRAST)["low"] == []


def test_the_report_follows_the_scheme_of_the_page(visit: _Visit, address: str) -> None:
    visit.go(f"{address}/explore.html")
    shown = "document.querySelector('iframe.explorer').contentDocument?.documentElement.dataset.theme"
    visit.page.wait_for_function(f"() => {shown} === 'light'")
    while visit.page.get_attribute("body", "data-theme") != "dark":
        visit.page.click(".content-icon-container .theme-toggle")
    visit.page.wait_for_function(f"() => {shown} === 'dark'")
    assert visit.errors == []


def test_an_example_is_copied_without_prompts_and_outputs(visit: _Visit, address: str) -> None:
    visit.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit.go(f"{address}/reference/ubpe_numba.Ragged.html")
    visit.page.hover("div.highlight-default, div.highlight-python, div.doctest")
    visit.page.click("button.copybtn >> nth=0", force=True)
    visit.page.wait_for_function("() => navigator.clipboard.readText().then((text) => text.length > 0)")
    copied = visit.page.evaluate("() => navigator.clipboard.readText()")
    assert copied.startswith("import numpy as np\n")
    assert ">>>" not in copied
    assert "Ragged(3 documents" not in copied
