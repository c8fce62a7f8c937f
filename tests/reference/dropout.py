"""BPE-dropout: encoding by rank in which each occurrence of a merge is left out with some probability.

The draws are a function of seed, document, rank and position, so that the order of the work does not matter.
"""

from __future__ import annotations

from .encode_pairs import Ranked
from .fit import adjacent

WORD = 2**64 - 1


def mix(state: int, value: int) -> int:
    """SplitMix64's step on two words of 64 bits made one.

    >>> hex(mix(0, 0))  # the first output of SplitMix64 of seed 0
    '0xe220a8397b1dcdaf'
    """
    x = ((state ^ value) + 0x9E3779B97F4A7C15) & WORD
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & WORD
    return x ^ (x >> 31)


def draw(seed: int, document: int, rank: int, position: int) -> float:
    """A number in 0..1, 1 excluded, of 53 bits.

    >>> draw(0, 0, 0, 0) == draw(0, 0, 0, 0) != draw(0, 0, 0, 1)
    True
    """
    return (mix(mix(mix(mix(seed, 0), document), rank), position) >> 11) / 2**53


def encode_dropout(
    doc: list[int], merges: Ranked, dropout: float, seed: int, document: int, one_by_one: bool = False
) -> list[int]:
    """Replace the pair of lowest rank where it stands, from left to right, but for occurrences that are left out for good.

    `one_by_one`: only the first place of it that is not left out.

    >>> encode_dropout([0, 1, 0, 1], {(0, 1): (0, 2), (2, 2): (1, 3)}, 0.0, 7, 0)
    [3]
    >>> encode_dropout([0, 1, 0, 1], {(0, 1): (0, 2), (2, 2): (1, 3)}, 1.0, 7, 0)
    [0, 1, 0, 1]
    >>> encode_dropout([0, 1, 0, 1], {(3, 0): (0, 2), (0, 1): (1, 3)}, 0.0, 7, 0, one_by_one=True)
    [2, 1]
    """
    text = [(token, at) for at, token in enumerate(doc)]  # tokens, and where they start
    left_out: set[tuple[int, int]] = set()
    while True:
        ranks = [merges.get(pair, (-1, -1))[0] for pair in adjacent([token for token, _ in text])]
        waiting = [rank for i, rank in enumerate(ranks) if rank >= 0 and (rank, text[i][1]) not in left_out]
        if not waiting:
            return [token for token, _ in text]
        rank = min(waiting)
        new, i, ended = [], 0, False
        while i < len(text):
            token, at = text[i]
            if not ended and i + 1 < len(text) and ranks[i] == rank and (rank, at) not in left_out:
                if draw(seed, document, rank, at) >= dropout:
                    new.append((merges[token, text[i + 1][0]][1], at))
                    i += 2
                    ended = one_by_one
                    continue
                left_out.add((rank, at))
            new.append((token, at))
            i += 1
        text = new
