"""Math as MathML, which every browser draws without a script or a font from elsewhere, and which copies as text."""

import re
from typing import Any

import latex2mathml.converter
from docutils import nodes
from sphinx.application import Sphinx

_FUNCTION = re.compile(r"(<mi>(?:arg|cos|exp|lim|ln|log|max|min|sin)</mi>)(?=<m[a-z])")


def _mathml(node: nodes.Element, display: str) -> str:
    """MathML with a thin space after the name of a function whose argument has no parentheses."""
    return _FUNCTION.sub(
        r'\1<mspace width="0.17em"/>', latex2mathml.converter.convert(node.astext(), display=display)
    )


def _inline(self: Any, node: nodes.Element) -> None:
    self.body.append(_mathml(node, "inline"))
    raise nodes.SkipNode


def _block(self: Any, node: nodes.Element) -> None:
    self.body.append(self.starttag(node, "div", CLASS="math"))
    self.body.append(_mathml(node, "block"))
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer under the name `mathml`."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
