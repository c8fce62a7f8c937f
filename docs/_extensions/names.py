"""A page for every public name, made in _build, so that the tree of sources has none; links from names in docstrings.

The pages stand under `reference/` by the name that a user imports: `reference/ubpe_numba.BPE`, `reference/ubpe_numba.plot...`.
`reference/index.md` groups them; a test says which name is missing there.
"""

import importlib
import inspect
import pathlib
import re
from collections.abc import Iterable
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.project import Project
from sphinx.transforms import SphinxTransform
from sphinx.util.nodes import make_refnode

#: Code that may be a name: capital letters or a dot tell it from words such as `fit`.
_NAME = re.compile(r"(?=.*[A-Z.])[A-Za-z_]\w*(\.\w+)*(\(\))?")
MODULES = ("ubpe_numba", "ubpe_numba.plot", "ubpe_numba.distributed")


def public_names() -> dict[str, Any]:
    """Every public name, with its module, and what it stands for."""
    found = {}
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        found |= {f"{module_name}.{name}": getattr(module, name) for name in getattr(module, "__all__", ())}
    return found


def _options(value: type) -> list[str]:
    """Which members the page of a class has: its own and those of the library's bases, no private ones and none of Python's."""
    if issubclass(value, BaseException):
        return [":show-inheritance:"]
    foreign = [base.__name__ for base in value.__mro__ if not base.__module__.startswith("ubpe_numba")]
    return [":members:", f":inherited-members: {', '.join(foreign)}", ":show-inheritance:"]


def page(name: str, value: Any) -> str:
    """The source of the page of a name."""
    module, _, short = name.rpartition(".")
    title = name.removeprefix("ubpe_numba.")
    lines = [title, "=" * len(title), "", f".. currentmodule:: {module}", ""]
    if inspect.isclass(value):
        lines += [f".. autoclass:: {short}", *(f"   {option}" for option in _options(value))]
    elif inspect.isroutine(value):
        lines += [f".. autofunction:: {short}"]
    else:
        lines += [f".. autodata:: {short}"]
    return "\n".join(lines) + "\n"


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
        if not path.exists() or path.read_text(encoding="utf-8") != text:  # the time of the file says what to read again
            path.write_text(text, encoding="utf-8")
        app.project.made[f"reference/{name}"] = path.relative_to(app.srcdir)
    for path in folder.glob("*.rst"):
        if path.stem not in names:
            path.unlink()


def public(target: str, names: Iterable[str]) -> str | None:
    """The public name of what is meant: `Ragged` and `ubpe_numba.documents.ragged.Ragged` are `ubpe_numba.Ragged`."""
    parts = target.removesuffix("()").split(".")
    for i in range(len(parts)):
        for module in MODULES:
            name = ".".join([module, *parts[i:]])
            if name in names:
                return name
    return None


def _link(app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, content: nodes.Element) -> nodes.Element | None:
    """The link to a name that Sphinx does not find from where it is written; without one it stays code."""
    if node.get("refdomain") != "py":
        return None
    objects = env.domains.python_domain.objects
    name = public(node["reftarget"], objects)
    if name is None:
        return None
    entry = objects[name]
    return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, content, name)


class _CodeLinks(SphinxTransform):
    """Code in the text of a page in Markdown that is a public name, such as `UBPE` or `BPE.fit`, becomes a link."""

    default_priority = 400

    def apply(self, **_: Any) -> None:
        if self.env.docname.startswith("reference/"):
            return
        for literal in list(self.document.findall(nodes.literal)):
            text = literal.astext()
            if not _NAME.fullmatch(text) or isinstance(literal.parent, (addnodes.pending_xref, nodes.reference, nodes.title)):
                continue
            link = addnodes.pending_xref(
                "", refdomain="py", reftype="obj", reftarget=text.removesuffix("()"), refdoc=self.env.docname, refwarn=False
            )
            literal.replace_self(link)
            link += literal


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the pages before documents are looked for; resolve names."""
    app.add_transform(_CodeLinks)
    app.connect("missing-reference", _link)
    app.connect("builder-inited", _make_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
