"""The k best segmentations of a document by an objective whose costs add up."""

from __future__ import annotations

import numpy as np

from ubpe_numba.coding.kernels import k_cheapest
from ubpe_numba.coding.path_encoder import SCALE, PathEncoder
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.runtime.arrays import offsets_of

_MAX_NODES = 2**31 - 1  # of the tree of tails


def k_best(encoder: PathEncoder, document: np.ndarray, objective: str, k: int) -> tuple[Ragged, np.ndarray]:
    """The k best paths of one document of alphabet ids by ``"shortest"`` or ``"additive"``, best first; exact.

    And float64 of what they are worth: the sum of weights, or for fewest tokens minus their number. ValueError if there would be
    too many tails.
    """
    nodes = (document.size + 1) * k
    if nodes > _MAX_NODES:
        raise ValueError(f"n: {k} paths of {document.size} symbols need {nodes} tails; at most {_MAX_NODES} are possible")
    ring = 1 << (encoder.longest + 1).bit_length()
    sums, n_tokens = np.empty((ring, k, 2)), np.empty(k, np.int64)
    parent, token = np.empty(nodes, np.int32), np.empty(nodes, np.int32)
    found = k_cheapest.k_cheapest_paths(
        document, encoder.edges, encoder.states, encoder.costs[objective], k, sums, np.zeros(ring, np.int64),
        np.empty((2, encoder.longest + 1), np.int64), n_tokens, parent, token,
    )  # fmt: skip
    offsets = offsets_of(n_tokens[:found])
    paths = np.empty(offsets[-1], np.int32)
    k_cheapest.read_tails(parent, token, offsets, paths)
    worth = 0.0 - sums[0, :found, 0]  # not -0.0
    return Ragged(paths, offsets), worth if objective == "shortest" else worth / SCALE
