"""A page for every public name, made in _build, so that the tree of sources has none; links from names in docstrings.

The pages stand under `reference/` by the name that a user imports: `reference/ubpe_numba.BPE`,
`reference/ubpe_numba.plot...`. `reference/index.md` groups them; a test says which name is missing there.
"""

import inspect
import pathlib
import re
from collections.abc import Iterable
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from numpydoc.xref import DEFAULT_LINKS
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.ext.autosummary import Autosummary
from sphinx.project import Project
from sphinx.transforms import SphinxTransform
from sphinx.util.nodes import make_refnode

from _extensions.name_pages import MODULES, comment_of, page, public_bases, public_names

#: Code that may be a name: capital letters or a dot tell it from words such as `fit`.
_NAME = re.compile(r"(?=[^(]*[A-Z.])([A-Za-z_]\w*(?:\.\w+)*)(?:\(.*\))?", re.DOTALL)


class _WithNames(Project):
    """The documents of the folder, and the pages of names."""

    made: dict[str, pathlib.Path]

    def discover(self, exclude_paths: Iterable[str] = (), include_paths: Iterable[str] = ("**",)) -> set[str]:
        super().discover(exclude_paths, include_paths)
        for docname, path in self.made.items():
            self.docnames.add(docname)
            self._docname_to_path[docname] = path
            self._path_to_docname[path] = docname
        return self.docnames


def _make_pages(app: Sphinx) -> None:
    folder = pathlib.Path(app.srcdir) / "_build" / "names"
    folder.mkdir(parents=True, exist_ok=True)
    app.project.__class__ = _WithNames
    app.project.made = {}
    names = public_names()
    for name, value in names.items():
        path = folder / f"{name}.rst"
        text = page(name, value)
        # the time of the file says what to read again
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
        app.project.made[f"reference/{name}"] = path.relative_to(app.srcdir)
    for path in folder.glob("*.rst"):
        if path.stem not in names:
            path.unlink()


class Names(Autosummary):
    """Sphinx's table of names, by default all of the module, without signatures; constants are described by their comment."""

    def run(self) -> list[nodes.Node]:
        """The table and the hidden table of contents."""
        module = self.env.ref_context["py:module"]
        self.options |= {"nosignatures": None, "toctree": "."}
        # one that is misspelled here leaves a page in no table of contents, which is an error
        public = public_names()
        asked = list(self.content) or [
            name.rpartition(".")[2] for name in public if name.rpartition(".")[0] == module
        ]
        self.content = StringList(
            [name for name in asked if f"{module}.{name}" in public], source=self.env.docname
        )
        return super().run()

    def get_items(self, names: list[str]) -> list[tuple[str, str | None, str, str]]:
        """Rows of the table."""
        rows = []
        for shown, signature, summary, real in super().get_items(names):
            value = public_names()[real]
            constant = not (inspect.isclass(value) or inspect.isroutine(value))
            rows.append((shown, signature, comment_of(real) if constant else summary, real))
        return rows


def public(target: str, names: Iterable[str]) -> str | None:
    """The public name of what is meant by `Ragged`, `distributed.fit`, `tok.fit` or `ubpe_numba.documents.ragged.Ragged`."""
    head, _, rest = target.partition(".")
    modules = [module for module in MODULES if module != "ubpe_numba.distributed"]
    candidates = [target, *(f"{module}.{target}" for module in modules)]
    if head == "tok":  # what examples call a tokenizer
        candidates = [f"ubpe_numba.{kind}.{rest}" for kind in ("Tokenizer", "BPE", "UBPE")]
    elif head == "ubpe_numba":  # the module of the definition, as in annotations
        parts = rest.split(".")
        candidates += [f"{module}.{'.'.join(parts[i:])}" for i in range(1, len(parts)) for module in modules]
    return next((name for name in candidates if name in names), None)


def _link(
    app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, content: nodes.Element
) -> nodes.Element | None:
    """The link to a name that Sphinx does not find from where it is written; without one it stays code."""
    if node.get("refdomain") != "py":
        return None
    objects = env.domains.python_domain.objects
    name = public(node["reftarget"], objects)
    if name is None:
        return None
    entry = objects[name]
    return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, content, name)


def _only_public(_app: Sphinx, _name: str, value: type, _options: Any, bases: list[Any]) -> None:
    bases[:] = public_bases(value)


class _CodeLinks(SphinxTransform):
    """Code in the text of a page in Markdown that is a public name, `UBPE` or `tok.fit(docs)`, becomes a link."""

    default_priority = 400

    def apply(self, **_: Any) -> None:
        if self.env.docname.startswith("reference/"):
            return
        for literal in list(self.document.findall(nodes.literal)):
            text = literal.astext()
            name = _NAME.fullmatch(text)
            if not name or isinstance(literal.parent, (addnodes.pending_xref, nodes.reference, nodes.title)):
                continue
            link = addnodes.pending_xref(
                "", refdomain="py", reftype="obj", reftarget=name[1], refdoc=self.env.docname, refwarn=False
            )
            literal.replace_self(link)
            link += literal


def _of_its_page(found: re.Match[str]) -> str:
    """The link from a source to the page of a name, with the id that the name has there."""
    start, name, target = found.groups()
    rest = re.search(rf"\.{name.rpartition('.')[2]}(|\..*)$", target)
    return f"{start}#{name}{rest[1]}" if rest else found[0]


def _links_of_sources(
    _app: Sphinx, pagename: str, _template: str, context: dict[str, Any], _doctree: Any
) -> None:
    """Sphinx takes one module for all names of a source; `verify` is in `ubpe_numba`, what it returns in `ubpe_numba.types`."""
    if pagename.startswith("_modules/") and "body" in context:
        context["body"] = re.sub(
            r"(reference/(ubpe_numba[\w.]*)\.html)#([\w.]+)", _of_its_page, context["body"]
        )


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the pages before documents are looked for; resolve names."""
    DEFAULT_LINKS.clear()  # numpydoc's own are to Python's documentation, which is on another host
    app.add_directive("names", Names)
    app.add_transform(_CodeLinks)
    app.connect("autodoc-process-bases", _only_public)
    app.connect("missing-reference", _link)
    app.connect("builder-inited", _make_pages)
    app.connect("html-page-context", _links_of_sources)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
