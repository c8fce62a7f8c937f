"""The pictures of the gallery: every script of `gallery/` is run, and what it drew is saved for both colour schemes."""

import contextlib
import functools
import pathlib
import runpy

import matplotlib
from matplotlib import pyplot
from sphinx.application import Sphinx

from _extensions.made import when_changed
from _extensions.schemes import in_dark

_MOST = 25  # lines of a script


def _draw(folder: pathlib.Path) -> None:
    scripts = pathlib.Path(__file__).parents[1] / "gallery"
    matplotlib.use("agg")
    for script in sorted(scripts.glob("*.py")):
        if script.read_text(encoding="utf-8").count("\n") > _MOST:
            raise ValueError(f"{script.name}: a script of the gallery has at most {_MOST} lines")
        with contextlib.chdir(scripts), matplotlib.rc_context({"svg.hashsalt": "ubpe-numba"}):
            runpy.run_path(str(script))
            figure = pyplot.gcf()
            figure.patch.set_alpha(0)
            light = folder / f"{script.stem}_light.svg"
            figure.savefig(light, metadata={"Date": None})
            pyplot.close(figure)
        dark = in_dark(light.read_text(encoding="utf-8"))
        light.with_name(f"{script.stem}_dark.svg").write_text(dark, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Draw before pages are read."""
    app.connect("builder-inited", functools.partial(when_changed, name="gallery", make=_draw))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
