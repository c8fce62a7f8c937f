"""The report of the explorer on the bundled ECG, made at build; the directive `explorer-report` embeds it."""

import importlib.util
import pathlib

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

_FOLDER = "_build/report"
_NAME = "ecg.html"
_FRAME = '<iframe class="explorer" src="{name}" title="Explorer of the vocabulary of an ECG" loading="lazy"></iframe>'


def _there() -> bool:
    return importlib.util.find_spec("ubpe_numba.views.explorer") is not None


def _write(path: pathlib.Path) -> None:
    raise NotImplementedError


class ExplorerReport(SphinxDirective):
    """The report in a frame, and a link to open it by itself."""

    def run(self) -> list[nodes.Node]:
        """The frame, or what to run where there is no explorer."""
        if not _there():
            return [nodes.paragraph("", "The report is not part of this build.")]
        return [nodes.raw("", _FRAME.format(name=f"_static/{_NAME}"), format="html")]


def _make(app: Sphinx) -> None:
    if not _there():
        return
    folder = pathlib.Path(app.srcdir) / _FOLDER
    made = folder / "made_of"
    folder.mkdir(parents=True, exist_ok=True)
    if not made.exists() or made.read_text() != app.config.made_of:
        _write(folder / _NAME)
        made.write_text(app.config.made_of)


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the report before pages are read."""
    app.add_directive("explorer-report", ExplorerReport)
    app.connect("builder-inited", _make)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
