"""What happened during a fit, merge by merge."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class History(NamedTuple):
    """The m merges of a fit in order of creation; all counts by weight where documents have weights."""

    counts: np.ndarray  # int64[m]: occurrences of the pair when it was merged
    document_frequencies: np.ndarray  # int64[m]: documents that held it then
    lengths: np.ndarray  # int64[m]: tokens of the corpus after the merge
    n_symbols: np.ndarray  # int64[m]: symbols of the corpus, which `fit_more` may have changed
    last_round: int  # index of the first merge of the last round

    def __repr__(self) -> str:
        return f"History of {self.counts.size} merges: counts, document_frequencies, lengths, n_symbols, last_round"

    def compression(self, n_alphabet: int) -> tuple[np.ndarray, np.ndarray]:
        """How far the corpus was compressed at each size of the vocabulary.

        Parameters
        ----------
        n_alphabet
            Size of the vocabulary before the first merge.

        Returns
        -------
        Sizes, int64[m + 1], and symbols per token at each, float64[m + 1].

        Examples
        --------
        >>> h = History(np.array([3]), np.array([1]), np.array([4]), np.array([7]), 0)
        >>> h.compression(5)
        (array([5, 6]), array([1.  , 1.75]))
        """
        sizes = n_alphabet + np.arange(self.lengths.size + 1)
        return sizes, np.concatenate([[1.0], self.n_symbols / np.maximum(self.lengths, 1)])
