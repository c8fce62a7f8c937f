"""The page of a report: arrays as text, data and scripts in one HTML file."""

from __future__ import annotations

import base64
import hashlib
import html
import importlib.resources
import json
import zlib
from typing import Any

import numpy as np

_SAMPLE = 1 << 16  # elements that decide whether differences pay
_INTEGERS = ("<u1", "<i1", "<u2", "<i2", "<u4", "<i4")
_EXACT = 1 << 53  # integers up to it are exact in a float64, the number of JavaScript


def packed(array: np.ndarray) -> dict[str, Any]:
    """An array as plain data that JSON can hold.

    `array`: 1-D; integers within +-2**53. Returns ``t``: the type, ``n``: the number of elements, ``c``: 1 if
    differences are kept, ``d``: the data.

    >>> made = packed(np.array([5, 6, 7], np.int64))
    >>> made["t"], made["n"], list(zlib.decompress(base64.b64decode(made["d"])))
    ('u1', 3, [5, 6, 7])
    """
    flat = np.ascontiguousarray(array)
    if flat.dtype.kind in "iu":
        low, high = (int(flat.min()), int(flat.max())) if flat.size else (0, 0)
        fitting = [name for name in _INTEGERS if np.iinfo(name).min <= low and high <= np.iinfo(name).max]
        if not fitting and max(-low, high) > _EXACT:
            raise ValueError(f"array: integers {low}..{high} are not exact in float64")
        flat = flat.astype(fitting[0] if fitting else "<f8", copy=False)
    elif flat.dtype.kind == "b":
        flat = flat.astype("<u1")
    else:
        flat = flat.astype("<f8" if flat.dtype.itemsize > 4 else "<f4", copy=False)
    sample = flat[:_SAMPLE]
    differences = flat.dtype.kind in "iu" and flat.size >= 8
    differences = differences and len(_deflated(_differences(sample), 1)) < len(_deflated(sample, 1))
    data = _deflated(_differences(flat) if differences else flat, 6)
    return {
        "t": flat.dtype.str.lstrip("<|"),
        "n": int(flat.size),
        "c": int(differences),
        "d": base64.b64encode(data).decode(),
    }


def _differences(array: np.ndarray) -> np.ndarray:
    """Each element minus its predecessor, modulo the width of the type; the first stays."""
    unsigned = array.view(array.dtype.str.replace("i", "u"))
    differences = unsigned.copy()
    differences[1:] -= unsigned[:-1]
    return differences


def _deflated(array: np.ndarray, level: int) -> bytes:
    planes = array.view(np.uint8).reshape(array.size, array.dtype.itemsize).T
    return zlib.compress(np.ascontiguousarray(planes).data, level)


#: Styles and scripts in the order in which they are joined; the scripts of the page share one scope.
STYLES = ("uPlot.min.css", "layout.css", "table.css", "views.css", "media.css")
LIBRARY = "uPlot.iife.min.js"
LICENCE = "uPlot.LICENSE"
_ORDER = (
    "colours unpack symbols cuts skyline query glyph state table overview plot text lanes context tree "
    "facts charts alternatives encode link main"
)
SCRIPTS = [f"{name}.js" for name in _ORDER.split()]


#: For an old browser, or a truncated file: a message, and the summary.
_END = """
})().catch((error) => {
  const note = document.createElement("p");
  note.textContent = `This browser cannot draw the report: ${error.message}`;
  document.querySelector("header").append(note);
  throw error;
});
"""


def page_of(meta: dict[str, Any], title: str, summary: str) -> str:
    """The whole page.

    `meta`: data for the scripts; `title`: the title, any text; `summary`: a sentence for readers without
    scripts. Returns HTML. Nothing in it is loaded from elsewhere, and a browser runs no other script than
    those of this package: the policy names their hashes.

    >>> "script-src 'sha256-" in page_of({}, "</script>", "")
    True
    """
    style = "\n".join(map(_part, STYLES))
    library = f"/*!\n{_part(LICENCE)}*/\n{_part(LIBRARY)}"
    script = '(async () => {\n"use strict";\n' + "\n".join(map(_part, SCRIPTS)) + _END
    hashes = (
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (library, script, style)
    )
    of_library, of_script, of_style = (f"'sha256-{hashed}'" for hashed in hashes)
    policy = f"default-src 'none'; script-src {of_library} {of_script}; style-src {of_style}; img-src data:"
    policy += "; base-uri 'none'; form-action 'none'"
    parts = {
        "@POLICY@": policy,
        "@TITLE@": as_html(title),
        "@SUMMARY@": as_html(summary),
        "@STYLE@": style,
        "@LIBRARY@": library,
        "@SCRIPT@": script,
        # so that no text ends the element
        "@DATA@": json.dumps(meta, separators=(",", ":")).replace("<", "\\u003c"),
    }
    page = _part("explorer.html")
    out = []
    while page:  # each mark is searched in the template only, never in inserted text
        at, mark = min(((page.find(mark), mark) for mark in parts if mark in page), default=(len(page), ""))
        out += [page[:at], parts.get(mark, "")]
        page = page[at + len(mark) :]
    return "".join(out)


def as_html(text: str) -> str:
    """Any text as HTML, a lone surrogate as ``?``: a file of UTF-8 holds none."""
    return html.escape(text.encode("utf-8", "replace").decode())


def _part(name: str) -> str:
    """The content of a file of the page, with line feeds as a browser reads them."""
    text = (importlib.resources.files("ubpe_numba") / "views" / "explorer" / "page" / name).read_text("utf-8")
    return text.replace("\r\n", "\n")
