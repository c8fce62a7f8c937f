"""The built site: every link leads somewhere, nothing is loaded from another host, every public name and page is listed."""

import importlib
import inspect
import json
import pathlib
import re
import sys
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from built_site import Page, pages, read_page, the_site

ROOT = pathlib.Path(__file__).parent.parent.parent
_NOT_WRITTEN = {"ecg_report.html", "genindex.html", "search.html"}
_URL = re.compile(r"""url\(\s*["']?([^"')]+)|@import\s+["']([^"']+)""")
_MODULES = (
    "", "types", "text", "errors", "bounds", "kernels", "plot", "signals", "sklearn", "actions", "distributed",
    "integrations.miditok",
)  # fmt: skip
_LEAKS = ("Alias for field number", " object at 0x", "<class '", "Traceback (most recent call last):\n  File")


@pytest.fixture(scope="module")
def site() -> pathlib.Path:
    """The folder of the site."""
    return the_site()


def _of_another_host(address: str) -> bool:
    parts = urlsplit(address)
    return bool(parts.netloc) or parts.scheme not in ("", "data")


def _missing(site: pathlib.Path, page: str, address: str) -> str:
    """What is wrong with an address on a page; "" if it leads to a file, and to an id on it."""
    parts = urlsplit(address)
    if parts.netloc or parts.scheme in ("http", "https", "mailto", "data"):
        return ""
    if parts.scheme:
        return f"{page}: {address}: a scheme that no page needs"
    path = (site / page).parent / unquote(parts.path) if parts.path else site / page
    path = path.resolve() / "index.html" if path.is_dir() else path.resolve()
    if parts.path.startswith("history/") and not (site / "history").is_dir():
        return ""  # a site that was built without asv
    if not path.is_file() or not path.is_relative_to(site):
        return f"{page}: {address}: there is no such file"
    if parts.fragment and path.suffix == ".html":
        known = pages(site)[path.relative_to(site).as_posix()].ids
        if unquote(parts.fragment) not in known:
            return f"{page}: {address}: there is no such id"
    return ""


def _style_addresses(text: str) -> list[str]:
    return [first or second for first, second in _URL.findall(text)]


def test_every_link_leads_to_a_file_and_an_id(site: pathlib.Path) -> None:
    found = [
        _missing(site, name, address)
        for name, page in pages(site).items()
        for address in (
            *page.loaded,
            *page.linked,
            *(a for style in page.styles for a in _style_addresses(style)),
        )
    ]
    assert len(found) > 1000 and [wrong for wrong in found if wrong] == []


def test_nothing_loads_from_another_host(site: pathlib.Path) -> None:
    """Neither pages nor style sheets nor pictures."""
    wrong = []
    for name, page in pages(site).items():
        addresses = (*page.loaded, *(a for style in page.styles for a in _style_addresses(style)))
        wrong += [(name, address) for address in addresses if _of_another_host(address)]
    sheets = sorted(path for path in site.rglob("*.css") if not path.is_relative_to(site / "history"))
    assert sheets
    for path in sheets:
        for address in _style_addresses(path.read_text(encoding="utf-8")):
            if _of_another_host(address) or _missing(site, path.relative_to(site).as_posix(), address):
                wrong.append((path.name, address))
    for path in sorted(site.rglob("*.svg")):
        picture = read_page(path.read_text(encoding="utf-8"))
        wrong += [
            (path.name, address) for address in picture.loaded if not address.startswith(("#", "data:"))
        ]
    assert wrong == []


def _public() -> dict[str, Any]:
    found = {}
    for name in _MODULES:
        module = importlib.import_module(f"ubpe_numba.{name}" if name else "ubpe_numba")
        found |= {f"{module.__name__}.{public}": getattr(module, public) for public in module.__all__}
    return found


def test_every_public_name_has_a_page_is_listed_and_has_its_members_there(site: pathlib.Path) -> None:
    pytest.importorskip("distributed")
    pytest.importorskip("miditok")
    listed = {urlsplit(address).path for address in pages(site)["reference/index.html"].linked}
    names, without = _public(), []
    assert len(names) >= 60
    for name, value in names.items():
        ids = pages(site).get(f"reference/{name}.html", Page()).ids
        wanted = [name] if f"{name}.html" in listed else [name, f"{name} in the index"]
        if inspect.isclass(value) and not issubclass(value, BaseException):
            for member, _ in inspect.getmembers(
                value, lambda m: inspect.isroutine(m) or isinstance(m, property)
            ):
                home = next(cls for cls in value.__mro__ if member in vars(cls))
                if not member.startswith("_") and home.__module__.startswith("ubpe_numba"):
                    wanted.append(f"{name}.{member}")
        without += [each for each in wanted if each not in ids]
    assert without == []


def test_the_history_has_a_year_of_commits(site: pathlib.Path) -> None:
    if not (site / "history").is_dir():
        pytest.skip("no history: asv publish has not written it into the site")
    found = json.loads((site / "history" / "index.json").read_text(encoding="utf-8"))
    assert found["project"] == "ubpe-numba" and len(found["revision_to_hash"]) >= 12
    assert {name.partition(".")[0] for name in found["benchmarks"]} >= {
        "bench_fit",
        "bench_encode",
        "bench_decode",
    }


def test_no_page_shows_what_is_private(site: pathlib.Path) -> None:
    wrong = []
    private = (str(ROOT), str(pathlib.Path.home()), sys.prefix, *_LEAKS)
    for name, page in pages(site).items():
        if not name.startswith("_modules/"):
            wrong += [(name, part) for part in private if len(part) > 5 and part in page.text]
        if name.startswith("reference/ubpe_numba."):
            wrong += [(name, found) for found in page.ids if re.fullmatch(r"ubpe_numba\..*\._\w*", found)]
    assert wrong == []


def test_every_picture_has_a_text(site: pathlib.Path) -> None:
    images = [(name, image) for name, page in pages(site).items() for image in page.images]
    assert (
        images
        and [(name, image["src"]) for name, image in images if len(image.get("alt", "").split()) < 2] == []
    )


def test_llms_txt_lists_all_pages_and_llms_full_has_them(site: pathlib.Path) -> None:
    text = (site / "llms.txt").read_text(encoding="utf-8")
    assert text.startswith("# ubpe-numba\n\n> ")
    listed = set(re.findall(r"^- \[[^\]]+\]\(([^)]+)\)", text, re.MULTILINE))
    written = {
        name
        for name in pages(site)
        if name not in _NOT_WRITTEN and not name.startswith(("_modules/", "_static/"))
    }
    assert listed == {name.removesuffix(".html") + ".txt" for name in written}
    assert [name for name in listed if not (site / name).read_text(encoding="utf-8").strip()] == []
    whole = (site / "llms-full.txt").read_text(encoding="utf-8")
    assert [
        name for name in written if f"# {name}\n" not in whole
    ] == [] and "Byte-pair encoding over any alphabet" in whole
