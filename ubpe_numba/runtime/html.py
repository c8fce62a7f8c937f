"""Parts of what notebooks show (`_repr_html_`): HTML that is well-formed XML as well, with inline SVG.

No script, no style sheet, no address: styles stand at the elements, and text and bars take the colour of the page, so that light
and dark notebooks show them alike.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["block", "escaped", "histogram", "largest", "some", "svg", "table"]

#: Characters that XML does not allow, lone surrogates among them.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BINS = 24
_CELL = "text-align:left;vertical-align:top;padding:1px 14px 1px 0;font-weight:400"


def escaped(text: object) -> str:
    """Text for an element or an attribute in double quotes; what XML does not allow becomes U+FFFD.

    Examples
    --------
    >>> escaped('</svg><script>"&')
    '&lt;/svg&gt;&lt;script&gt;&quot;&amp;'
    """
    return html.escape(_FORBIDDEN.sub("\ufffd", str(text)))


def block(title: str, *parts: str) -> str:
    """A heading, which is text, and the parts below it, which are HTML."""
    style = "font-size:13px;line-height:1.45;color:inherit;max-width:62em;overflow-x:auto"
    return f'<div style="{style}"><div><strong>{escaped(title)}</strong></div>{"".join(parts)}</div>'


def table(rows: Iterable[Sequence[object]], head: Sequence[str] = ()) -> str:
    """Rows of text; the first cell of each says what the others are, unless there is a head of columns."""
    lines = []
    if head:
        lines.append("".join(f'<th scope="col" style="{_CELL};opacity:.75">{escaped(cell)}</th>' for cell in head))
    for first, *rest in rows:
        beginning = "td" if head else 'th scope="row"'
        quiet = "" if head else ";opacity:.75"
        cells = f'<{beginning} style="{_CELL}{quiet}">{escaped(first)}</{beginning[:2]}>'
        lines.append(cells + "".join(f'<td style="{_CELL}">{escaped(cell)}</td>' for cell in rest))
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f'<table style="border-collapse:collapse;margin:4px 0"><tbody>{body}</tbody></table>'


def svg(body: str, width: int, height: int, title: str, description: str = "") -> str:
    """A picture of this many pixels; `title`, and `description` if there is more to say, are for those who do not see it."""
    more = f"<desc>{escaped(description)}</desc>" if description else ""
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}" style="max-width:100%"'
    named = f'role="img" aria-label="{escaped(f"{title}. {description}" if description else title)}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {named}><title>{escaped(title)}</title>{more}{body}</svg>'


def histogram(lengths: NDArray[np.int64], what: str, unit: str) -> str:
    """A picture of how many of `what` have which length in `unit`: at most 24 bars. Nothing without lengths. O(n)."""
    if not lengths.size:
        return ""
    low, high = int(lengths.min()), int(lengths.max())
    width = -(-(high - low + 1) // _BINS)
    counts = np.bincount((lengths - low) // width)
    top, most = int(counts.max()), int(counts.argmax())
    step = 240 // counts.size
    bars = "".join(
        f"M{i * step} 50v-{max(1, round(46 * n / top))}h{max(1, step - 1)}V50z" for i, n in enumerate(counts.tolist()) if n
    )
    ends = f'<text x="0" y="63">{low:,}</text>'
    if high > low:
        ends += f'<text x="{counts.size * step}" y="63" text-anchor="end">{high:,}</text>'
    middle = f"{low + most * width:,}" if width == 1 else f"{low + most * width:,} to {low + (most + 1) * width - 1:,}"
    title = f"Lengths of {lengths.size:,} {what}: {low:,} to {high:,} {unit}, most often {middle}"
    body = f'<path d="{bars}" fill="currentColor" fill-opacity=".55"/><g font-size="11" fill="currentColor">{ends}</g>'
    return f'<div style="margin:4px 0">lengths of {escaped(what)}, in {escaped(unit)}<br/>{svg(body, 244, 68, title)}</div>'


def largest(values: NDArray[Any], n: int) -> NDArray[np.int64]:
    """Indices of the `n` largest values, the largest first, equal ones by index. O(values).

    Examples
    --------
    >>> largest(np.array([5, 7, 5, 9]), 3).tolist()
    [3, 1, 0]
    """
    if n >= values.size:
        return np.argsort(-values, kind="stable")
    limit = np.partition(values, values.size - n)[values.size - n]
    above = np.flatnonzero(values > limit)
    chosen = np.concatenate([above, np.flatnonzero(values == limit)[: n - above.size]])
    return chosen[np.argsort(-values[chosen], kind="stable")]


def some(values: NDArray[np.int32], most: int) -> str:
    """The first of some integers in a line.

    Examples
    --------
    >>> some(np.arange(5), 3)
    '0 1 2 … (5)'
    """
    shown = " ".join(map(str, values[:most].tolist()))
    return shown if values.size <= most else f"{shown} … ({values.size:,})"
