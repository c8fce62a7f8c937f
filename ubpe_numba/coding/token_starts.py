"""Where tokens stand in the documents that they were made of."""

from __future__ import annotations

import numpy as np

from ubpe_numba.documents.normalise import Documents
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.vocabulary.alphabet import Alphabet


def starts_of(encoded: Ragged, given: Documents, lengths: np.ndarray, alphabet: Alphabet | None) -> np.ndarray:
    """Where each token starts, counted from the beginning of its document.

    Parameters
    ----------
    encoded : Ragged
        The ids of the documents.
    given : Documents
        The documents.
    lengths : int64[V]
        Symbols of each id.
    alphabet : Alphabet or None
        The one whose unknown symbols were left out; None if all symbols are in tokens.

    Returns
    -------
    int64
        As many as there are tokens.

    Examples
    --------
    >>> given = Documents(np.array([7, 8, 9, 7]), np.array([0, 3, 4]), "int")
    >>> starts_of(Ragged.from_lists([[0, 1], [2]]), given, np.array([2, 1, 1]), None).tolist()
    [0, 2, 0]
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
