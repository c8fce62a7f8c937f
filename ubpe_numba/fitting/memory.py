"""The limit of memory of a fit: how low its threshold may be, and how large its batches."""

from __future__ import annotations

import logging
import math

import numpy as np

from ubpe_numba.fitting.kernels.text_cells import DENSE, MOST_CELLS

# bytes of the tables of a loop at first, and of chunks of the documents while they are read
_TABLES = 8 << 20
_TOKEN = 200  # bytes of a token in the tables
_BLOCK = 4 / 16  # bytes per cell in addition to the text: the segment of each block of cells
_PAIR = 150  # bytes of a frequent pair in the tables
# pairs that there is room for, or a part of the cells if that is more; or if short
_MANY, _FEW = (1 << 16, 128), (1 << 13, 1024)
_COUNTED = 24  # bytes of a pair of tokens in a dense table
_NOTED = 12  # bytes that a batch records for each occurrence
_OCCURRENCE = _NOTED + 4 * 3  # and needs in all: its new pairs have positions as well
_MOST = 25  # bytes a cell that a fit can come to without a limit; ten are usual

log = logging.getLogger("ubpe_numba")


class Memory:
    """The `limit` of a fit in bytes, in addition to its input.

    `fixed` of it, the text and the tables, cannot be made smaller.

    `short`: there is room for few pairs, given `n_cells`. Attributes: `pairs`, the most frequent pairs that
    the tables may have; `noted`, the most occurrences recorded at once; `dense`, the tokens whose pairs may
    be counted in a table.

    >>> memory = Memory.within(40_000_000, 1_000_000, 10, divisible=True)
    >>> memory.pairs, memory.dense, memory.fixed, memory.positions
    (8192, 256, 14072248, 6481938)
    >>> counts = np.array([500_000, 9000, 400, 3, 1])
    >>> memory.threshold(counts, 2, 600_000, 1000, 50), memory.batch(counts, 10**6, 100, 50)
    ((2, 4978938), 145078)
    """

    def __init__(self, limit: int, fixed: int, short: bool, n_cells: int) -> None:
        self.limit, self.fixed, self.noted = limit, fixed, 0
        pairs, part = _FEW if short else _MANY
        self.pairs, self.dense = max(pairs, n_cells // part), DENSE // 4 if short else DENSE

    @classmethod
    def within(
        cls, limit: int, n_cells: int, n_segments: int, divisible: bool, cell: int = 4, n_tokens: int = DENSE
    ) -> Memory | None:
        """The limit of a fit of so many cells and segments; None if the fit cannot reach it.

        `divisible`: positions may be left out, which fits of a single shard without weights can do. `cell`:
        bytes per cell. MemoryError if the limit is below the least that the fit needs.
        """
        text = _TABLES + _TOKEN * n_tokens + 4 * n_segments + int(n_cells * (cell + _BLOCK))
        least, most = (text + _PAIR * max(pairs, n_cells // part) for pairs, part in (_FEW, _MANY))
        most += _COUNTED * DENSE**2
        full = most + (_MOST - 4) * n_cells
        if limit >= full:
            return None
        # a position for every fourth cell
        check(limit, n_cells, least + n_cells if divisible else full, full)
        short = divisible and limit < most + 4 * n_cells
        return cls(limit, least if short else most, short, n_cells)

    @property
    def positions(self) -> int:
        """For how many positions there is room."""
        return max(0, (self.limit - self.fixed - _NOTED * self.noted) // 4)

    def batch(self, counts: np.ndarray, wanted: int, least: int, scratch: int) -> int:
        """The number of occurrences that closes a batch: `wanted`, or fewer if memory is short.

        It is at least `least`.

        A batch gets a quarter of the room that the most frequent pair leaves: `wanted` may exceed the symbols
        of a small text.
        """
        room = self.limit - self.fixed - _OCCURRENCE * int(counts.max(initial=0)) - 4 * scratch
        return max(1, min(wanted, max(least, room // (4 * _OCCURRENCE))))

    def threshold(
        self, counts: np.ndarray, least: int, most: int, batch: int, scratch: int
    ) -> tuple[int, int]:
        """The lowest threshold, `least` or more, with which all positions fit, and how many positions fit.

        counts: of pairs, of which those of at least `least` are to be listed; a batch of merges is closed
        after `batch` occurrences; `scratch`, further positions needed now. MemoryError if a batch cannot be
        held, or the threshold would be above `most`.
        """
        listed = np.sort(counts[counts >= least])[::-1]
        noted = int(listed[:1].sum()) + batch
        self.noted = max(self.noted, noted)
        room = self.positions
        fitting = int(np.searchsorted(np.cumsum(listed), room - 2 * noted - scratch, side="right"))
        threshold = least if fitting == listed.size else int(listed[fitting]) + 1
        if threshold > most:
            needed = self.fixed + _OCCURRENCE * noted + 4 * scratch
            raise MemoryError(
                f"memory_limit: a round needs about {_megabytes(needed)}, the limit is "
                f"{_megabytes(self.limit)}"
            )
        if threshold > least:
            log.info(
                "memory_limit: only pairs that occur %d times or more are indexed now, instead of %d",
                threshold,
                least,
            )
        return threshold, room


def swept(
    limit: int, n_cells: int, n_segments: int, swept_cell: int, cell: int, n_tokens: int
) -> tuple[int, int]:
    """How many cells a dense phase may leave to a loop of a single shard, and the bound of its ids.

    The loop has cells of `cell` bytes.

    MemoryError if the phase itself does not fit.

    >>> swept(80_000_000, 1_000_000, 10, swept_cell=1, cell=4, n_tokens=300)
    (12454183, 2943)
    """
    tables = _TABLES + _TOKEN * n_tokens + _PAIR * _FEW[0] + 24 * n_segments
    text = tables + swept_cell * n_cells
    check(limit, n_cells, text, text + (_MOST + cell) * n_cells)
    pair = _PAIR / _FEW[1]
    left = (limit - tables) / (cell + _BLOCK + max(swept_cell, pair + 1.25))
    return min(MOST_CELLS - 1, int(left)), math.isqrt((limit - text) // 8)


def check(limit: int, n_cells: int, least: int, most: int) -> None:
    """MemoryError if the limit is below the `least` bytes that a fit of so many cells needs.

    `most` is the most that it can need.
    """
    if limit < least:
        raise MemoryError(
            f"memory_limit: {n_cells} symbols and separators need at least {_megabytes(least)} beside the "
            f"documents, at most {_megabytes(most)}; the limit is {_megabytes(limit)}"
        )


def _megabytes(n: int) -> str:
    return f"{n / 1e6:.3g} MB"
