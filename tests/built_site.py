"""The built site that tests look at: where it is, its pages, and what a page holds."""

import os
import pathlib
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser

import pytest

#: What a browser loads by itself: these attributes of these elements.
_LOADED = {
    ("audio", "src"), ("embed", "src"), ("iframe", "src"), ("image", "href"), ("img", "src"), ("img", "srcset"), ("input", "src"),
    ("object", "data"), ("script", "src"), ("source", "src"), ("source", "srcset"), ("track", "src"), ("use", "href"),
    ("video", "poster"), ("video", "src"),
}  # fmt: skip
_LINKED = {("a", "href"), ("area", "href"), ("form", "action")}
#: Relations of a `link` that only name a page.
_NAMES_ONLY = {"author", "canonical", "help", "index", "license", "next", "prev", "search"}


def the_site() -> pathlib.Path:
    """The folder that UBPE_SITE names; without it the test is skipped, or fails where UBPE_NEED_SITE is 1."""
    given = os.environ.get("UBPE_SITE", "")
    if given and (pathlib.Path(given) / "index.html").exists():
        return pathlib.Path(given).resolve()
    reason = (
        f"no built site: UBPE_SITE is {given!r}, expected the folder that "
        "`python -m sphinx -W --keep-going -b html docs docs/_build/html` writes"
    )
    if os.environ.get("UBPE_NEED_SITE") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@dataclass
class Page:
    """What a page refers to and can be referred to by."""

    loaded: list[str] = field(default_factory=list)
    linked: list[str] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    images: list[dict[str, str]] = field(default_factory=list)
    styles: list[str] = field(default_factory=list)
    scripts: list[tuple[dict[str, str], str]] = field(default_factory=list)
    attributes: list[tuple[str, str, str]] = field(default_factory=list)
    text: str = ""


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = Page()
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name.removeprefix("xlink:"): value or "" for name, value in attrs}
        self._inside = tag if tag in ("script", "style") else self._inside
        self.page.attributes += [(tag, name, value) for name, value in given.items()]
        if tag == "script":
            self.page.scripts.append((given, ""))
        self.page.ids |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "img":
            self.page.images.append(given)
        if "style" in given:
            self.page.styles.append(given["style"])
        if tag == "link" and "href" in given:
            only_named = set(given.get("rel", "").lower().split()) <= _NAMES_ONLY
            (self.page.linked if only_named else self.page.loaded).append(given["href"])
        for name, value in given.items():
            if (tag, name) in _LOADED:
                self.page.loaded += (
                    [part.split()[0] for part in value.split(",") if part.split()]
                    if name == "srcset"
                    else [value]
                )
            elif (tag, name) in _LINKED:
                self.page.linked.append(value)

    def handle_endtag(self, tag: str) -> None:
        if tag == self._inside:
            self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "style":
            self.page.styles.append(data)
        elif self._inside == "script":
            self.page.scripts[-1] = (self.page.scripts[-1][0], self.page.scripts[-1][1] + data)
        elif not self._inside:
            self.page.text += data


def read_page(text: str) -> Page:
    """A page, parsed."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    return reader.page


@cache
def pages(site: pathlib.Path) -> dict[str, Page]:
    """All pages by their path in the site, but for those of asv, which loads its scripts from other hosts."""
    paths = {path.relative_to(site).as_posix(): path for path in sorted(site.rglob("*.html"))}
    return {
        name: read_page(path.read_text(encoding="utf-8"))
        for name, path in paths.items()
        if not name.startswith("history/")
    }
