"""A browser for tests: Chromium of the system, driven by playwright.

Skipped without one; UBPE_NEED_BROWSER=1: failed.

UBPE_BROWSER=firefox: Firefox of the system, by WebDriver BiDi (Firefox 153 and playwright 1.58 understand
each other).
"""

import os
import pathlib
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from explorer_reports import of_kind

_NAMES = {
    "chromium": ("chromium", "chromium-browser", "google-chrome"),
    "firefox": ("firefox", "firefox-esr"),
}
_QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def _missing(reason: str) -> None:
    if os.environ.get("UBPE_NEED_BROWSER") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, or Firefox, without a window."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _missing("playwright is not installed (pip install 'ubpe-numba[browser]')")
    name = os.environ.get("UBPE_BROWSER", "chromium")
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _NAMES[name])), None)
    if path is None:
        _missing(
            f"none of {', '.join(_NAMES[name])} is on the PATH, and CHROMIUM names none (apt-get install chromium)"
        )
    options: dict[str, Any] = (
        {"channel": "moz-firefox"} if name == "firefox" else {"args": [*_QUIET, "--no-first-run"]}
    )
    with sync_playwright() as playwright:
        started = getattr(playwright, name).launch(executable_path=path, **options)
        yield started
        started.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """axe-core, which looks for what hinders readers, as a script."""
    try:
        import axe_playwright_python
    except ImportError:
        _missing("NOT RUN: axe is not installed (pip install 'ubpe-numba[browser]')")
    return (pathlib.Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text("utf-8")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Where the reports are."""
    return tmp_path_factory.mktemp("reports")


def _report(name: str) -> Any:
    """A fixture with the report of this name."""
    return pytest.fixture(scope="session", name=name)(lambda folder: of_kind(name, folder))


ecg, text, dna, notes = map(_report, ("ecg", "text", "dna", "notes"))


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open a report without a network, or an address; errors on the console, and requests elsewhere, fail the test."""
    contexts, wrong = [], []

    def opened(
        target: pathlib.Path | str, scheme: str = "light", wait: str = "body[data-ready]", **options: Any
    ) -> Any:
        offline = isinstance(target, pathlib.Path)
        address = target.as_uri() if isinstance(target, pathlib.Path) else target
        own = address if offline else "/".join(address.split("/")[:3])
        context = browser.new_context(
            **{"viewport": {"width": 1440, "height": 960}, "color_scheme": scheme, "offline": offline}
            | options
        )
        contexts.append(context)
        page = context.new_page()

        def asked(url: str) -> None:
            if not url.startswith(own if offline else (own, "data:", "blob:")):
                wrong.append(f"{page.url}: request: {url}")

        page.on("pageerror", lambda error: wrong.append(f"{page.url}: error: {error}"))
        kinds = ("error", "warning") if offline else ("error",)
        page.on(
            "console",
            lambda message: wrong.append(f"{page.url}: {message.text}") if message.type in kinds else None,
        )
        page.on("request", lambda request: asked(request.url))
        page.goto(address)
        page.wait_for_selector(wait, timeout=20_000)
        page.wrong = wrong
        return page

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []
