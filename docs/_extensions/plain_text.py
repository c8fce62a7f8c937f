"""Every page as plain text beside its HTML, `llms.txt` with a sentence on each, and `llms-full.txt` with all of them."""

import pathlib
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.display import status_iterator
from sphinx.writers.text import TextTranslator

_PROMISE = "Byte-pair encoding for anything that is a sequence of integers: NumPy arrays in, NumPy arrays out, lossless."
_FRONT = "Start"
_MOST = 200  # characters of the sentence about a page


class _Text(TextTranslator):
    """Sphinx's own plain text; what it does not know, such as cards, is passed through."""

    def unknown_visit(self, node: nodes.Node) -> None:
        pass

    def unknown_departure(self, node: nodes.Node) -> None:
        pass

    def visit_emphasis(self, node: nodes.Element) -> None:
        """Without stars: types such as int64[V] are emphasised bit by bit."""

    depart_emphasis = visit_emphasis

    def visit_toctree(self, node: nodes.Element) -> None:
        raise nodes.SkipNode


def sentence(doctree: nodes.document) -> str:
    """What a page is about: its first paragraph that is not in a table or a list, cut to the first sentence."""
    for paragraph in doctree.findall(nodes.paragraph):
        text = " ".join(paragraph.astext().split())
        if isinstance(
            paragraph.parent, (nodes.section, nodes.document, addnodes.desc_content)
        ) and not text.startswith("Bases:"):
            end = text.find(". ")
            text = text[:end] if end > 0 else text
            return (text if len(text) <= _MOST else text[:_MOST].rsplit(" ", 1)[0] + " …").rstrip(".:")
    return ""


def _section(app: Sphinx, docname: str) -> str:
    """The title of the part of the site that a page belongs to."""
    folder, _, rest = docname.partition("/")
    if not rest and docname != app.config.root_doc:
        for part in sorted(app.env.titles):
            if part.endswith("/index") and docname in app.env.toctree_includes.get(part, ()):
                folder = part.partition("/")[0]
    title = app.env.titles.get(f"{folder}/index")
    return title.astext() if title else _FRONT


def _in_order(app: Sphinx) -> list[str]:
    """All pages, each once, as a reader of the table of contents comes by them."""
    order: dict[str, None] = {}

    def walk(docname: str) -> None:
        if docname not in order:
            order[docname] = None
            for below in app.env.toctree_includes.get(docname, ()):
                walk(below)

    walk(app.config.root_doc)
    return [*order, *sorted(app.env.found_docs - order.keys())]


def _write(app: Sphinx, failure: Exception | None) -> None:
    if failure or app.builder.format != "html":
        return
    out = pathlib.Path(app.outdir)
    sections: dict[str, list[str]] = {_FRONT: []}
    whole = []
    for docname in status_iterator(
        _in_order(app), "writing plain text... ", "green", len(app.env.found_docs), app.verbosity
    ):
        doctree = app.env.get_and_resolve_doctree(docname, app.builder)
        visitor: Any = _Text(doctree, app.builder)
        doctree.walkabout(visitor)
        path = out / f"{docname}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(visitor.body, encoding="utf-8")
        whole.append(f"# {docname}.html\n\n{visitor.body}")
        line = f"- [{app.env.titles[docname].astext()}]({docname}.txt)"
        about = sentence(doctree)
        sections.setdefault(_section(app, docname), []).append(f"{line}: {about}" if about else line)
    lines = [
        f"# {app.config.project}",
        "",
        f"> {_PROMISE}",
        "",
        "All pages in one file: [llms-full.txt](llms-full.txt).",
        "",
    ]
    for title, entries in sections.items():
        lines += [f"## {title}", "", *entries, ""]
    (out / "llms.txt").write_text("\n".join(lines), encoding="utf-8")
    (out / "llms-full.txt").write_text("\n\n".join(whole), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the files when the HTML is there."""
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
