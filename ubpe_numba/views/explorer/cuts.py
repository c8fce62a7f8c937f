"""One segmentation of a corpus: its tokens counted over all documents, and those of the documents that are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ubpe_numba.documents.normalise import Documents
from ubpe_numba.runtime.arrays import offsets_of
from ubpe_numba.views.explorer.drawn import Drawn, as_given

if TYPE_CHECKING:
    from ubpe_numba.tokenizers.base import Tokenizer


class Cut(NamedTuple):
    """A segmentation.

    `name`: the objective; `counts`, `document_frequencies` (int64[n]): occurrences of each id in all documents, and documents
    that hold it; `n_tokens`: tokens of all documents; `ids` (int32[k]): the tokens of the drawn documents; `per_document`
    (int64[d]): how many of them each drawn document has; `gaps` (int64[k] or None): symbols between the token before, or the
    beginning of the document, and each token; None if there are none; `widths` (int64[k] or None): symbols of the document that
    each token covers; None if they are those that it stands for.
    """

    name: str
    counts: np.ndarray
    document_frequencies: np.ndarray
    n_tokens: int
    ids: np.ndarray
    per_document: np.ndarray
    gaps: np.ndarray | None = None
    widths: np.ndarray | None = None


def cut_of(name: str, tok: Tokenizer, documents: Documents, drawn: Drawn, options: dict[str, Any]) -> Cut:
    """Encode and count all documents; keep the tokens of those that are drawn.

    `name`: the name of the segmentation; `tok`: what cuts; `documents`: all documents; `drawn`: which of them are drawn;
    `options`: arguments of `encode_batch`. Returns the segmentation.
    """
    ids = tok.encode_batch(as_given(documents), documents.offsets, **options)
    usage = tok.usage(ids=ids)
    counts, frequencies, total = usage.counts, usage.document_frequencies, ids.total
    if _covers_all(tok) and options["unknown"] != "skip":
        kept = ids.take(drawn.indices)
        values, per_document, starts = kept.values, kept.lengths, None
        if drawn.limit is not None:
            sizes = np.diff(tok.vocabulary.offsets)[values]
            values = values[: int(np.searchsorted(np.cumsum(sizes), drawn.limit, side="right"))]
            per_document = np.array([values.size])
        return Cut(name, counts, frequencies, total, values, per_document)
    del ids
    part = documents.take(drawn.indices)
    spans = tok.spans(as_given(part), part.offsets, **options)
    values, starts, widths, owners = spans.ids, spans.starts, spans.lengths, spans.documents
    if drawn.limit is not None:
        stay = starts + widths <= drawn.limit
        values, starts, widths, owners = values[stay], starts[stay], widths[stay], owners[stay]
    per_document = np.bincount(owners, minlength=drawn.indices.size)
    ends = starts + widths
    before = np.zeros_like(ends)
    before[1:] = ends[:-1]
    first = offsets_of(per_document)[:-1]
    before[first[per_document > 0]] = 0
    gaps = starts - before
    return Cut(name, counts, frequencies, total, values, per_document, gaps if gaps.any() else None, widths)


def _covers_all(tok: Tokenizer) -> bool:
    """Whether the tokens of a document stand for all its symbols one after the other, and have the ids of the vocabulary."""
    return all(part is None or part is False for part in tok.segmenter_._replace(encoding=None, lone=None))
