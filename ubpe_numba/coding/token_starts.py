"""Where tokens stand in the documents that they were made of."""

from __future__ import annotations

import numpy as np

from ubpe_numba.documents.normalise import Documents
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.vocabulary.alphabet import Alphabet


def starts_of(encoded: Ragged, given: Documents, lengths: np.ndarray, alphabet: Alphabet | None) -> np.ndarray:
    """Where each token starts, counted from the beginning of its document `given`: int64, as many as there are tokens.

    lengths: symbols of each id. `alphabet`: the one whose unknown symbols were left out, None if all symbols are in tokens.
    """
    sizes = lengths[encoded.values].astype(np.int64)
    starts = np.cumsum(sizes)
    starts -= sizes
    offsets = given.offsets - given.offsets[0]
    if alphabet is not None:
        starts = np.flatnonzero(alphabet.lookup(given.values[given.offsets[0] : given.offsets[-1]]) >= 0)[starts]
    if len(encoded) > 1:
        starts -= np.repeat(offsets[:-1], encoded.lengths)
    return starts
