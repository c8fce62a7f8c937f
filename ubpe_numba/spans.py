"""Where tokens stand in the documents that they were made of."""

from __future__ import annotations

import numpy as np

from ubpe_numba.alphabet import Alphabet
from ubpe_numba.documents import Documents
from ubpe_numba.ragged import Ragged


def starts_of(encoded: Ragged, ids: Ragged, given: Documents, alphabet: Alphabet, lengths: np.ndarray) -> np.ndarray:
    """Where each token starts, counted from the beginning of its document: int64, as many as there are tokens.

    `ids` are the alphabet ids of the documents `given`, from which symbols that are not in the alphabet may be missing;
    lengths int64[V].
    """
    sizes = lengths[encoded.values]
    starts = np.cumsum(sizes)
    starts -= sizes
    offsets = given.offsets - given.offsets[0]
    if ids.total < offsets[-1]:  # some were left out
        starts = np.flatnonzero(alphabet.lookup(given.values[given.offsets[0] : given.offsets[-1]]) >= 0)[starts]
    if len(encoded) > 1:
        starts -= np.repeat(offsets[:-1], encoded.lengths)
    return starts
