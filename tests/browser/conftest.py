"""A browser for tests: Chromium of the system, driven by playwright. Skipped without one; UBPE_NEED_BROWSER=1: failed."""

from __future__ import annotations

import os
import pathlib
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import explorer_reports as reports
import pytest
from explorer_reports import Made

from ubpe_numba.views.explorer.report import explore

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_QUIET = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync")


def _missing(reason: str) -> None:
    if os.environ.get("UBPE_NEED_BROWSER") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium without a window."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _missing("playwright is not installed (pip install 'ubpe-numba[browser]')")
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
    if path is None:
        _missing(f"none of {', '.join(_NAMES)} is on the PATH, and CHROMIUM names none (apt-get install chromium)")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=[*_QUIET, "--no-first-run"])
        yield started
        started.close()


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Where the reports are."""
    return tmp_path_factory.mktemp("reports")


@pytest.fixture(scope="session")
def ecg(folder: pathlib.Path) -> Made:
    """The report of a signal, whose title is hostile."""
    tok, levels, offsets = reports.ecg()
    made = Made(folder / "ecg.html", tok, levels, offsets, "sample")
    explore(tok, levels, made.path, offsets=offsets, title=reports.HOSTILE, progress=False)
    return made


@pytest.fixture(scope="session")
def text(folder: pathlib.Path) -> Made:
    """The report of text."""
    tok, docs = reports.text()
    made = Made(folder / "text.html", tok, docs, None, "byte")
    explore(tok, docs, path=made.path, title="Verses", progress=False)
    return made


@pytest.fixture(scope="session")
def dna(folder: pathlib.Path) -> Made:
    """The report of DNA."""
    tok, values, offsets = reports.dna()
    made = Made(folder / "dna.html", tok, values, offsets, "base")
    explore(tok, values, made.path, offsets=offsets, kind="dna", title="Bases", progress=False)
    return made


@pytest.fixture(scope="session")
def notes(folder: pathlib.Path) -> Made:
    """The report of notes."""
    tok, docs = reports.notes()
    made = Made(folder / "notes.html", tok, docs, None, "note")
    explore(tok, docs, path=made.path, kind="notes", title="Chords", progress=False)
    return made


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open a report without a network; an error on the console, and any request, fails the test."""
    contexts, wrong = [], []

    def opened(path: pathlib.Path, scheme: str = "light", wait: str = "body[data-ready]", **options: Any) -> Any:
        context = browser.new_context(
            **{"viewport": {"width": 1440, "height": 960}, "color_scheme": scheme, "offline": True} | options
        )
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
        page.on("request", lambda request: None if request.url == path.as_uri() else wrong.append(f"request: {request.url}"))
        page.goto(path.as_uri())
        page.wait_for_selector(wait, timeout=20_000)
        page.wrong = wrong
        return page

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []
