"""Pictures that notebooks draw, for both colour schemes: the SVG as drawn, and the same one in the colours of the dark theme."""

import dataclasses
import pathlib
import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

from ubpe_numba.views.colours import DARK, LIGHT

#: Fields of a theme that are a colour, in the light theme and in the dark one; hues are the same in both.
_PAIRS = [
    (getattr(LIGHT, f.name), getattr(DARK, f.name))
    for f in dataclasses.fields(LIGHT)
    if f.name not in ("name", "hues")
]
_DARKER = {**dict(_PAIRS), "#000000": DARK.ink}
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")


def in_dark(svg: str) -> str:
    """The picture in the colours of the dark theme; what is black without saying so, by the ink of that theme."""
    text = _COLOUR.sub(lambda found: _DARKER.get(found[0], found[0]), svg)
    return re.sub(r"<svg\b", f'<svg fill="{DARK.ink}"', text, count=1)


class _BothSchemes(SphinxTransform):
    """After each picture of a notebook the one for the dark scheme; the style sheet shows one of the two."""

    default_priority = 500

    def apply(self, **_: Any) -> None:
        for image in list(self.document.findall(nodes.image)):
            uri = image["uri"]
            if "jupyter_execute" not in uri or not uri.endswith(".svg"):
                continue
            light = pathlib.Path(self.env.relfn2path(uri, self.env.docname)[1])
            dark = light.with_name(f"{light.stem}_dark.svg")
            dark.write_text(in_dark(light.read_text(encoding="utf-8")), encoding="utf-8")
            twin = image.deepcopy()
            twin["uri"] = str(pathlib.PurePosixPath(uri).with_name(dark.name))
            image["classes"] += ["only-light"]
            twin["classes"] += ["only-dark"]
            image.parent.insert(image.parent.index(image) + 1, twin)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the transform."""
    app.add_transform(_BothSchemes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
