"""The built site in a browser, served on this machine: both colour schemes, a desk and a phone, nothing from another host."""

import pathlib
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from built_site import the_site
from tables import each

_CONTRAST = (pathlib.Path(__file__).parent / "contrast.js").read_text(encoding="utf-8")
_WIDTHS = {"desk": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}
_SINGLE = ["index", "explore", "distributed", "benchmarks", "foreign", "search", "genindex"]
_SINGLE += ["reference/index", "reference/commands"]
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


def _turn(page: Any, scheme: str) -> None:
    """Press the button of the scheme (auto, light, dark, in some order) until it is this one."""
    while page.get_attribute("body", "data-theme") != scheme:
        page.click(".content-icon-container .theme-toggle")


_LOAD_ALL = """async () => {
  for (const each of document.querySelectorAll("[loading=lazy]")) each.loading = "eager";
  await Promise.allSettled([...document.images].map((image) => image.decode()));
}"""
_BROKEN = (
    """() => [...document.images].filter((i) => i.checkVisibility() && !i.naturalWidth).map((i) => i.src)"""
)
_SHOWN = """(kind) => [...document.querySelectorAll(`img.only-${kind}`)].map((i) => i.checkVisibility())"""
_WIDE = """() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]"""


@each("scheme, width", [("light", "desk"), ("dark", "phone")])
def test_pages_of_every_kind(visit: Any, site: pathlib.Path, address: str, scheme: str, width: str) -> None:
    page = visit(f"{address}/index.html", scheme, "body", viewport=_WIDTHS[width])
    wrong: list[tuple[str, Any]] = []
    twins = 0
    for name in _kinds(site):
        assert page.goto(f"{address}/{name}.html", wait_until="load").ok, name
        page.evaluate(_LOAD_ALL)
        wrong += [(name, f"broken: {source}") for source in page.evaluate(_BROKEN)]
        across, inside = page.evaluate(_WIDE)
        if across > inside:
            wrong.append((name, f"{across} pixels across at {_WIDTHS[width]}"))
        shown = {kind: page.evaluate(_SHOWN, kind) for kind in ("light", "dark")}
        other = "dark" if scheme == "light" else "light"
        if not all(shown[scheme]) or any(shown[other]) or len(shown[scheme]) != len(shown[other]):
            wrong.append((name, f"pictures of the schemes: {shown}"))
        twins += len(shown[scheme])
        contrast = page.evaluate(_CONTRAST)
        assert contrast["seen"] > 5
        wrong += [(name, low) for low in contrast["low"]]
    assert wrong == [] and twins > 1


def test_search_finds_a_method_and_leads_to_it(visit: Any, address: str) -> None:
    page = visit(f"{address}/index.html", wait="body")
    page.fill("input[name=q]", "encode_batch")
    page.press("input[name=q]", "Enter")
    page.wait_for_url("**/search.html?q=encode_batch**")
    page.wait_for_selector("#search-results li a")
    links = page.eval_on_selector_all("#search-results li a", "found => found.map((a) => a.href)")
    assert any("reference/ubpe_numba." in link for link in links)
    page.click("#search-results li a")
    page.wait_for_load_state("load")
    assert "encode_batch" in page.inner_text("article")


def test_the_button_of_the_scheme_changes_the_pictures_and_the_report(visit: Any, address: str) -> None:
    page = visit(f"{address}/index.html", wait="body")
    before = page.evaluate(_SHOWN, "dark")
    _turn(page, "dark")
    assert before == [False] * len(before) != [] and page.evaluate(_SHOWN, "dark") == [True] * len(before)
    assert page.evaluate(_SHOWN, "light") == [False] * len(before) and page.evaluate(_CONTRAST)["low"] == []
    page = visit(f"{address}/explore.html", wait="body")
    shown = "document.querySelector('iframe.explorer').contentDocument?.documentElement.dataset.theme"
    page.wait_for_function(f"() => {shown} === 'light'")
    _turn(page, "dark")
    page.wait_for_function(f"() => {shown} === 'dark'")


def test_an_example_is_copied_without_prompts_and_outputs(visit: Any, address: str) -> None:
    page = visit(f"{address}/reference/ubpe_numba.Ragged.html", wait="body")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.hover("div.highlight-default, div.highlight-python, div.doctest")
    page.click("button.copybtn >> nth=0", force=True)
    page.wait_for_function("() => navigator.clipboard.readText().then((text) => text.length > 0)")
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert (
        copied.startswith("import numpy as np\n")
        and ">>>" not in copied
        and "Ragged(3 documents" not in copied
    )
