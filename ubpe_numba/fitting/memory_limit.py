"""A limit to the memory of a fit: what it leaves for the positions of pairs, and what has to be refused.

A fit holds its text (4 bytes a cell), the positions of the frequent pairs (4 bytes each, most of what can be spared: pairs below
the threshold have none), and what a batch of merges notes down (12 bytes an occurrence). Fewer positions mean more epochs, not
another result.
"""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

_TABLES = 40 << 20  # of the driver, and dense counts
_CELL = 4 + 4 / 16  # bytes: the text, and the segment of each block of cells
_PAIR = 150  # bytes a frequent pair takes in the tables, of which there are at most cells / 128
_NOTED = 12  # bytes a batch notes down for each occurrence
_MOST = 25  # bytes a cell that a fit can come to without a limit; ten are usual

log = logging.getLogger("ubpe_numba")


class Memory:
    """What one fit may use beside its input; `restricted` if that is less than it might come to."""

    def __init__(self, limit: int | None, n_cells: int, n_segments: int, divisible: bool) -> None:
        self.limit = limit or 0
        self.fixed = _TABLES + 4 * n_segments + int(n_cells * (_CELL + _PAIR / 128))
        most = self.fixed + (_MOST - 4) * n_cells
        least = self.fixed + n_cells if divisible else most  # a position for every fourth cell
        self.restricted = limit is not None and limit < most
        if self.restricted and self.limit < least:
            raise MemoryError(
                f"memory_limit: {n_cells} symbols and separators need at least {_megabytes(least)} beside the documents, "
                f"at most {_megabytes(most)}; the limit is {_megabytes(self.limit)}"
            )

    def threshold(self, counts: np.ndarray, least: int, most: int, batch: int, scratch: int) -> tuple[int, int]:
        """The least count a pair may have so that all positions fit, if that is `least` or more, and how many positions do.

        counts: of pairs, each at least `least` if it is to be listed; `batch`: occurrences after which a batch of merges is
        closed; `scratch`: further positions needed now. MemoryError if a batch cannot be held, or the result is above `most`.
        """
        listed = np.sort(counts[counts >= least])[::-1]
        noted = int(listed[:1].sum()) + batch
        room = (self.limit - self.fixed - _NOTED * noted) // 4
        fitting = int(np.searchsorted(np.cumsum(listed), room - 2 * noted - scratch, side="right"))
        threshold = least if fitting == listed.size else int(listed[fitting]) + 1
        if threshold > most:
            needed = self.fixed + _NOTED * noted + 4 * (3 * noted + scratch)
            raise MemoryError(f"memory_limit: a round needs about {_megabytes(needed)}, the limit is {_megabytes(self.limit)}")
        if threshold > least:
            log.info("memory_limit: only pairs that occur %d times or more are indexed now, instead of %d", threshold, least)
        return threshold, room

    def refuse(self) -> Any:
        """Raise MemoryError: what a round created does not fit."""
        raise MemoryError(f"memory_limit: a round needs more than the limit of {_megabytes(self.limit)}")


def _megabytes(n: int) -> str:
    return f"{n / 1e6:.3g} MB"
