"""What notebooks show of a `Ragged`: counts, a histogram of lengths, and the first documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ubpe_numba.runtime.html import block, histogram, some, table

if TYPE_CHECKING:
    from ubpe_numba.documents.ragged import Ragged

__all__ = ["ragged_html"]

_DOCUMENTS, _VALUES = 5, 16  # that are shown


def ragged_html(ragged: Ragged) -> str:
    """The HTML of a batch, at most some kilobytes whatever its size.

    Parameters
    ----------
    ragged : Ragged
        The documents.

    Returns
    -------
    str
        A ``div`` without scripts, which is XML as well.
    """
    n, lengths = len(ragged), ragged.lengths
    rows: list[tuple[str, str]] = []
    if n:
        rows.append(("lengths", f"{lengths.min():,} to {lengths.max():,}, median {np.median(lengths):,.10g}"))
        if empty := int(np.count_nonzero(lengths == 0)):
            rows.append(("empty documents", f"{empty:,}"))
    if ragged.total:
        values = ragged.compact().values
        rows.append(("values", f"{values.min()} to {values.max()}"))
    first = [(i, some(document, _VALUES)) for i, document in enumerate(ragged[:_DOCUMENTS])]
    parts = [table(rows)] if rows else []
    if n:
        parts += [histogram(lengths, "documents", "values"), table(first, ("document", "first values"))]
    if n > _DOCUMENTS:
        parts.append(f"<div>… and {n - _DOCUMENTS:,} more</div>")
    return block(f"Ragged: {n:,} documents, {ragged.total:,} values", *parts)
