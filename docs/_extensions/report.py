"""The report of the explorer on the bundled ECG, made at build; the directive `explorer-report` embeds it."""

import functools
import pathlib

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from _extensions.ecg import RATE, beats, tokenizer
from _extensions.made import when_changed

FILE = "ecg_report.html"
_FRAME = f"""<iframe class="explorer" src="{FILE}" title="The tokens of five minutes of ECG, to look through"></iframe>
<p><a href="{FILE}">The same report on a page of its own</a></p>
<script src="_static/report_scheme.js" defer></script>"""


class ExplorerReport(SphinxDirective):
    """The report in a frame, and a link to open it by itself."""

    def run(self) -> list[nodes.Node]:
        """The frame."""
        return [nodes.raw("", _FRAME, format="html")]


def _make(folder: pathlib.Path) -> None:
    values, offsets = beats()
    tokenizer().explore(
        values,
        folder / FILE,
        offsets=offsets,
        title="Five minutes of ECG",
        rate=RATE,
        kind="signal",
        progress=False,
    )


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the report before pages are read."""
    app.add_directive("explorer-report", ExplorerReport)
    app.connect("builder-inited", functools.partial(when_changed, name="report", make=_make))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
