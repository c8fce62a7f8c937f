"""Certificates: bounds on any vocabulary of a size and on any segmentation; sums over these.

They answer questions about tokenizers, not of tokenizing; nothing else of this library needs them.
"""

from ubpe_numba.bounds.boundaries import boundary_probabilities
from ubpe_numba.bounds.fewest_tokens import LowerBound, lower_bound
from ubpe_numba.bounds.heaviest_path import encode_nbest

__all__ = ["LowerBound", "boundary_probabilities", "encode_nbest", "lower_bound"]
