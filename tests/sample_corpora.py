"""One corpus each of signals, text, bytes and sparse integers, for the tests of what all tokenizers share."""

from typing import Any

import numpy as np

from ubpe_numba import BPE, UBPE, UBPEClassic

CLASSES = [BPE, UBPEClassic, UBPE]
RNG = np.random.default_rng(5)
# a walk: frequent pairs, long tokens, and runs; the documents differ in what they hold
SIGNAL = [np.abs(np.cumsum(RNG.integers(-1, 2, n)) % 23 - 11) for n in (0, 900, 1, 400, 0, 37, 250, 800)]
TEXT = ["she sells sea shells", "by the sea shore", "", "the shells she sell", "sea shells", "é😀\ud800 " * 4]
BYTES = [text.encode("utf-8", "surrogatepass") for text in TEXT]
SPARSE = [doc.astype(np.int64) * 10**15 - 2**40 for doc in SIGNAL]
CORPORA: dict[str, Any] = {"signal": SIGNAL, "text": TEXT, "bytes": BYTES, "sparse": SPARSE}


def fitted(cls: Any, docs: Any = SIGNAL, n_tokens: int | None = 80, **params: Any) -> Any:
    return cls(n_tokens, **params).fit(docs, progress=False)
