"""Documents of counts divided into tables by a hash of their symbols, which are taken as integers of 64 bits.

>>> document_hash([]), document_hash([1])
(0, 10798830566714361650)
>>> split([[1, 2], [3], [4]], 2)
[[[4]], [[1, 2], [3]]]
"""

from collections.abc import Sequence

MULTIPLIER = 0x9E3779B97F4A7C15
MASK = 2**64 - 1


def document_hash(symbols: Sequence[int]) -> int:
    """The hash of a document: over the lower and the upper 32 bits of each symbol, and over how many of both there are."""
    halves = [half for symbol in symbols for half in (symbol & 0xFFFFFFFF, (symbol >> 32) & 0xFFFFFFFF)]
    h = len(halves) * MULTIPLIER & MASK
    for half in halves:
        h = (h ^ half) * MULTIPLIER & MASK
        h ^= h >> 29
    return h


def split(documents: Sequence[Sequence[int]], tables: int) -> list[list[Sequence[int]]]:
    """The documents of each table, in their order."""
    return [[d for d in documents if (document_hash(d) >> 33) % tables == t] for t in range(tables)]
