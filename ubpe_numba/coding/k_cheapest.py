"""The k best segmentations of a document by an objective whose costs add up."""

from __future__ import annotations

import numpy as np

from ubpe_numba.coding.kernels import k_best as kernels
from ubpe_numba.coding.path_encoder import PathEncoder
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.runtime.arrays import offsets_of

_MAX_NODES = 2**31 - 1  # of the tree of tails


def k_best(encoder: PathEncoder, document: np.ndarray, objective: str, k: int) -> tuple[Ragged, np.ndarray]:
    """The k best paths of one document by an objective whose costs add up; exact.

    Parameters
    ----------
    encoder : PathEncoder
        The tables of the vocabulary.
    document : int32[n]
        Alphabet ids.
    objective : str
        ``"shortest"`` or ``"additive"``.
    k : int
        How many paths; fewer are returned where there are no more.

    Returns
    -------
    Ragged
        The paths, best first.
    float64[found]
        What each is worth: the sum of weights, or, for the fewest tokens, minus their number.

    Raises
    ------
    ValueError
        If there would be too many tails.

    Examples
    --------
    >>> from ubpe_numba.vocabulary.vocabulary import Vocabulary
    >>> encoder = PathEncoder(Vocabulary.from_merges(2, [[0, 1]]))
    >>> paths, worth = k_best(encoder, np.array([0, 1, 0], np.int32), "shortest", 2)
    >>> paths.to_lists(), worth.tolist()
    ([[2, 0], [0, 1, 0]], [-2.0, -3.0])
    """
    nodes = (document.size + 1) * k
    if nodes > _MAX_NODES:
        raise ValueError(f"n: {k} paths of {document.size} symbols need {nodes} tails; at most {_MAX_NODES} are possible")
    ring = encoder.ring
    sums, n_tokens = np.empty((ring, k), kernels.COST), np.empty(k, np.int64)
    parent, token = np.empty(nodes, np.int32), np.empty(nodes, np.int32)
    found = kernels.k_cheapest_paths(
        document, encoder.tables.edges, encoder.tables.states, encoder.costs[objective], k, sums, np.zeros(ring, np.int64),
        np.empty((2, encoder.longest + 1), np.int64), n_tokens, parent, token,
    )  # fmt: skip
    offsets = offsets_of(n_tokens[:found])
    paths = np.empty(offsets[-1], np.int32)
    kernels.read_tails(parent, token, offsets, paths)
    candidates = Ragged(paths, offsets)
    if objective == "additive":
        return candidates, encoder.weigh(candidates, objective)
    return candidates, 0.0 - sums["first"][0, :found]  # not -0.0
