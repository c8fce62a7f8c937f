"""The page of a report: template, styles, scripts and data in one file, with a policy that allows nothing else."""

from __future__ import annotations

import base64
import hashlib
import html
import importlib.resources
import json
from typing import Any

#: Styles and scripts in the order in which they are joined; the scripts of the page share one scope.
STYLES = ("uPlot.min.css", "layout.css", "table.css", "views.css", "media.css")
LIBRARY = "uPlot.iife.min.js"
LICENCE = "uPlot.LICENSE"
SCRIPTS = (
    "colours.js",
    "unpack.js",
    "symbols.js",
    "cuts.js",
    "query.js",
    "glyph.js",
    "state.js",
    "table.js",
    "overview.js",
    "plot.js",
    "text.js",
    "lanes.js",
    "context.js",
    "tree.js",
    "facts.js",
    "charts.js",
    "alternatives.js",
    "main.js",
)


#: An old browser, or a file that was cut: the reader is told, and sees the summary.
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

    `meta`: what the scripts read; `title`: the title, any text; `summary`: a sentence for readers without scripts. Returns HTML.
    Nothing in it is loaded from elsewhere, and a browser runs no other script than those of this package: the policy names their
    hashes.

    >>> "script-src 'sha256-" in page_of({}, "</script>", "")
    True
    """
    style = "\n".join(map(_part, STYLES))
    library = f"/*!\n{_part(LICENCE)}*/\n{_part(LIBRARY)}"
    script = '(async () => {\n"use strict";\n' + "\n".join(map(_part, SCRIPTS)) + _END
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src {_hash(library)} {_hash(script)}",
            f"style-src {_hash(style)}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    parts = {
        "@POLICY@": policy,
        "@TITLE@": as_html(title),
        "@SUMMARY@": as_html(summary),
        "@STYLE@": style,
        "@LIBRARY@": library,
        "@SCRIPT@": script,
        "@DATA@": json.dumps(meta, separators=(",", ":")).replace("<", "\\u003c"),  # so that no text ends the element
    }
    page = _part("explorer.html")
    out = []
    while page:  # each mark is looked for in the template only, never in what was put in
        at, mark = min(((page.find(mark), mark) for mark in parts if mark in page), default=(len(page), ""))
        out += [page[:at], parts.get(mark, "")]
        page = page[at + len(mark) :]
    return "".join(out)


def as_html(text: str) -> str:
    """Any text as HTML, a surrogate that stands alone as ``?``: a file of UTF-8 holds none."""
    return html.escape(text.encode("utf-8", "replace").decode())


def _hash(text: str) -> str:
    """The hash by which a policy knows the content of an element."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _part(name: str) -> str:
    """The content of a file of the page, with line feeds as a browser reads them."""
    text = (importlib.resources.files("ubpe_numba") / "views" / "explorer" / "page" / name).read_text("utf-8")
    return text.replace("\r\n", "\n")
