"""The limit of memory of a fit: how low its threshold may be, and how large its batches."""

from __future__ import annotations

import logging

import numpy as np

from ubpe_numba.fitting.kernels.text_cells import DENSE

_TABLES = 40 << 20  # bytes of the driver, a third, and of dense counts of as many tokens as are counted so
_TOKEN = 200  # bytes in the tables, of tokens beyond four times as many
_BLOCK = 4 / 16  # bytes a cell, beside the text: the segment of each block of cells
_PAIR = 150  # bytes a frequent pair takes in the tables, of which there are at most cells / 128
_NOTED = 12  # bytes that a batch records for each occurrence
_OCCURRENCE = _NOTED + 4 * 3  # and needs in all: its new pairs have positions as well
_MOST = 25  # bytes a cell that a fit can come to without a limit; ten are usual

log = logging.getLogger("ubpe_numba")


class Memory:
    """The `limit` of a fit in bytes, beside its input, of which `fixed` cannot be made smaller: the text and the tables."""

    def __init__(self, limit: int, fixed: int) -> None:
        self.limit, self.fixed = limit, fixed

    @classmethod
    def within(
        cls, limit: int, n_cells: int, n_segments: int, divisible: bool, cell: int = 4, swept: bool = False, n_tokens: int = DENSE
    ) -> Memory | None:
        """The limit of a fit of so many cells and segments; None if the fit cannot come to so much.

        `divisible`: positions may be left out, which fits of one shard without weights can do; `cell`, bytes of one; `swept`: a
        dense phase comes first, in these cells. Raises MemoryError if the limit is below what the fit needs at least.
        """
        tables = int(_TABLES * (1 + 2 * min(n_tokens / DENSE, 1) ** 2) / 3) + _TOKEN * max(0, n_tokens - 4 * DENSE)
        fixed = tables + 4 * n_segments + int(n_cells * (cell + _BLOCK + _PAIR / 128))
        most = fixed + (_MOST - 4) * n_cells
        least = fixed + n_cells if divisible else most  # a position for every fourth cell
        if swept:  # how much it leaves is not known
            least = tables + cell * n_cells + 24 * n_segments
        if limit >= most:
            return None
        if limit < least:
            raise MemoryError(
                f"memory_limit: {n_cells} symbols and separators need at least {_megabytes(least)} beside the documents, "
                f"at most {_megabytes(most)}; the limit is {_megabytes(limit)}"
            )
        return cls(limit, fixed)

    def batch(self, counts: np.ndarray, wanted: int, least: int, scratch: int) -> int:
        """After how many occurrences a batch of merges is closed: `wanted`, or fewer where there is no room, but `least`.

        Of the room that the most frequent pair leaves a batch gets a quarter: `wanted` may be more than a small text has symbols.
        """
        room = self.limit - self.fixed - _OCCURRENCE * int(counts.max(initial=0)) - 4 * scratch
        return max(1, min(wanted, max(least, room // (4 * _OCCURRENCE))))

    def threshold(self, counts: np.ndarray, least: int, most: int, batch: int, scratch: int) -> tuple[int, int]:
        """The lowest threshold, `least` or more, with which all positions fit, and how many positions fit.

        counts: of pairs, of which those of at least `least` are to be listed; a batch of merges is closed after `batch`
        occurrences; `scratch`, further positions needed now. MemoryError if a batch cannot be held, or the threshold would be
        above `most`.
        """
        listed = np.sort(counts[counts >= least])[::-1]
        noted = int(listed[:1].sum()) + batch
        room = (self.limit - self.fixed - _NOTED * noted) // 4
        fitting = int(np.searchsorted(np.cumsum(listed), room - 2 * noted - scratch, side="right"))
        threshold = least if fitting == listed.size else int(listed[fitting]) + 1
        if threshold > most:
            needed = self.fixed + _OCCURRENCE * noted + 4 * scratch
            raise MemoryError(f"memory_limit: a round needs about {_megabytes(needed)}, the limit is {_megabytes(self.limit)}")
        if threshold > least:
            log.info("memory_limit: only pairs that occur %d times or more are indexed now, instead of %d", threshold, least)
        return threshold, room


def _megabytes(n: int) -> str:
    return f"{n / 1e6:.3g} MB"
