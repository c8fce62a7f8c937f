"""Where the tokens of documents stand, and how often each is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ubpe_numba.coding.spans import Spans, spans_of
from ubpe_numba.coding.usage import Usage, usage_of
from ubpe_numba.documents.counts import Counts, weights_of
from ubpe_numba.errors import quoted

if TYPE_CHECKING:
    from ubpe_numba.tokenizers.base import Tokenizer


def spans(tok: Tokenizer, docs: Any, offsets: Any, options: dict[str, Any]) -> Spans:
    """The tokens of documents and where each stands, as `Tokenizer.spans` says."""
    _refuse_offsets(options)
    docs = list(docs) if hasattr(docs, "__next__") else docs
    encode: Any = tok.encode_batch  # the options differ
    ids, starts = encode(docs, offsets, return_offsets=True, **options)
    covers = tok.is_lossless and options.get("unknown") in (None, "raise")
    ends = None if covers else np.diff(tok._read(docs, offsets).offsets)
    return spans_of(ids, starts, tok._coder.decoder.lengths, ends)


def usage(tok: Tokenizer, docs: Any, offsets: Any, ids: Any, sample_weight: Any, options: dict[str, Any]) -> Usage:
    """How often each id is used, as `Tokenizer.usage` says."""
    _refuse_offsets(options)
    if (docs is None) == (ids is None):
        raise TypeError("docs: expected either documents or ids=, what they were encoded to")
    if isinstance(docs, Counts):
        if sample_weight is not None or offsets is not None:
            raise TypeError("docs: Counts have offsets and weights of their own")
        docs, sample_weight = docs.to_lists(), docs.weights
    if ids is None:
        encoded = tok.encode_batch(docs, offsets, **options)
    elif options:
        raise TypeError(f"ids: they are encoded already; unexpected argument {quoted(next(iter(options)))}")
    else:
        encoded = tok._known(ids, offsets)
    copies = None if sample_weight is None else weights_of(sample_weight, encoded.offsets)
    decoder = tok._coder.decoder
    return usage_of(encoded, decoder.sizes.size, copies, tok.n_threads, decoder.gaps)


def _refuse_offsets(options: dict[str, Any]) -> None:
    for name in ("return_offsets", "units"):
        if name in options:
            raise TypeError(f"unexpected argument {quoted(name)}")
