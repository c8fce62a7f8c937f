"""What all HTML of notebooks must be: small, well-formed XML without scripts and addresses, in colours that both schemes show."""

import re
from xml.etree import ElementTree

_SVG = "{http://www.w3.org/2000/svg}"
_ELEMENTS = {
    "div",
    "strong",
    "table",
    "tbody",
    "tr",
    "th",
    "td",
    "br",
    "svg",
    "title",
    "desc",
    "path",
    "g",
    "text",
    "rect",
}
_ATTRIBUTES = {
    "style", "scope", "width", "height", "viewBox", "role", "aria-label", "d", "fill", "fill-opacity", "opacity", "font-size",
    "x", "y", "text-anchor", "font-family", "stroke", "stroke-width", "stroke-linejoin",
}  # fmt: skip


def parsed(markup: str, most: int = 30_000) -> ElementTree.Element:
    """The root of the markup, after all that holds for every one of them was checked."""
    assert len(markup.encode()) <= most
    root = ElementTree.fromstring(markup)
    assert root.tag == "div"
    for element in root.iter():
        assert element.tag.removeprefix(_SVG) in _ELEMENTS
        assert set(element.attrib) <= _ATTRIBUTES  # so no handlers, no addresses
        assert "url" not in element.get("style", "")
        for colour in ("fill", "stroke"):
            assert re.fullmatch("none|currentColor|#[0-9a-f]{6}", element.get(colour, "none"))
    for picture in pictures(root):
        assert picture.get("role") == "img" and picture.get("aria-label")
        assert picture[0].tag == f"{_SVG}title" and picture[0].text
    return root


def pictures(root: ElementTree.Element) -> list[ElementTree.Element]:
    """The SVG elements that are pictures, not parts of one."""
    return [element for element in root.iter(f"{_SVG}svg") if element.get("viewBox")]


def words(root: ElementTree.Element) -> str:
    """All text of the page, names of pictures too."""
    return " ".join(text.strip() for text in root.itertext() if text.strip())
