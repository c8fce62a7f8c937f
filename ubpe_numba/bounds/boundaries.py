"""How likely a token begins at each position of a document, over all of its segmentations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.runtime.arrays import told
from ubpe_numba.tokenizers.base import given_tokenizer
from ubpe_numba.tokenizers.seam import lattice_of, whole_ids
from ubpe_numba.tokenizers.ubpe import UBPE

__all__ = ["boundary_probabilities"]


@told
def boundary_probabilities(
    tok: UBPE, doc: Any, *, alpha: float = 1.0, unknown: Any = None
) -> NDArray[np.float64]:
    """The probability that a token begins at each position of a document, float64[n] in 0..1.

    Parameters
    ----------
    tok
        A fitted tokenizer.
    doc, unknown
        As for `UBPE.encode`. ValueError if the tokenizer changes or splits documents, or has special tokens.
        The probabilities are over all segmentations.
    alpha
        As `sample` of `UBPE.encode`, which samples from the same distribution.

    Examples
    --------
    >>> from ubpe_numba import UBPE
    >>> tok = UBPE(5, 1, objective="likelihood").fit(["abab", "ab", "ba", "abba", "a", "b"])
    >>> boundary_probabilities(tok, "abab", alpha=0.2).round(2).tolist()
    [1.0, 0.48, 0.83, 0.48]
    """
    tok = given_tokenizer(tok, UBPE)
    ids = whole_ids(tok, doc, unknown, "boundary_probabilities")
    return lattice_of(tok, alpha).boundaries(ids.values)
