"""Math as MathML, which every browser draws without a script or a font from elsewhere, and which copies as text."""

from typing import Any

import latex2mathml.converter
from docutils import nodes
from sphinx.application import Sphinx


def _inline(self: Any, node: nodes.Element) -> None:
    self.body.append(latex2mathml.converter.convert(node.astext(), display="inline"))
    raise nodes.SkipNode


def _block(self: Any, node: nodes.Element) -> None:
    self.body.append(self.starttag(node, "div", CLASS="math"))
    self.body.append(latex2mathml.converter.convert(node.astext(), display="block"))
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer under the name `mathml`."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
