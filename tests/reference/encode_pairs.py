"""Encoding with a pair table: every pair has a rank (the lower, the more valuable) and an id."""

from collections.abc import Sequence

from .fit import Pair, adjacent, replace

Ranked = dict[Pair, tuple[int, int]]
WORD = 2**64 - 1


def encode_rank(doc: list[int], merges: Ranked) -> list[int]:
    """Replace the pair of lowest rank wherever it stands, until no known pair is left.

    >>> encode_rank([0, 1, 2, 0, 1], {(0, 1): (0, 3), (1, 2): (1, 4), (3, 2): (2, 5)})
    [5, 3]
    """
    while True:
        present = [pair for pair in adjacent(doc) if pair in merges]
        if not present:
            return list(doc)
        best = min(present, key=lambda pair: merges[pair][0])
        doc = replace(doc, {best: merges[best][1]})


def fit_together(tokens: Sequence[Sequence[int]], merges: Ranked) -> list[list[bool]]:
    """Of every two tokens, given by their symbols, whether they are encoded to themselves when they are neighbors.

    >>> fit_together([[0], [1], [0, 1]], {(0, 1): (0, 2)})
    [[True, False, True], [True, True, True], [True, True, True]]
    """
    n = range(len(tokens))
    return [[encode_rank([*tokens[s], *tokens[t]], merges) == [s, t] for t in n] for s in n]


def one_by_one(symbols: Sequence[int], merges: Sequence[Pair], n_symbols: int) -> list[int]:
    """Merge the pair of the lowest rank, the leftmost of several, until there is none.

    Pair i makes the id n_symbols + i.

    >>> one_by_one([0, 1, 0, 1], [(3, 0), (0, 1)], 2)
    [2, 1]
    """
    rank, ids = {pair: i for i, pair in enumerate(merges)}, list(symbols)
    while found := [(rank[pair], i) for i, pair in enumerate(adjacent(ids)) if pair in rank]:
        lowest, at = min(found)
        ids[at : at + 2] = [n_symbols + lowest]
    return ids


def take_batch(present: set[Pair], by_rank: list[Pair]) -> list[Pair]:
    """The pairs of one pass: the best one present, then further ones present, in order of rank.

    The walk ends at the first pair that shares a token with those taken so far, present or not.

    >>> by_rank = [(9, 9), (0, 1), (2, 3), (4, 5), (3, 7), (6, 8)]
    >>> take_batch({(0, 1), (4, 5), (6, 8)}, by_rank)
    [(0, 1), (4, 5), (6, 8)]
    >>> take_batch({(0, 1), (2, 3), (6, 8)}, by_rank)  # ends at (3, 7), which shares the 3 with (2, 3)
    [(0, 1), (2, 3)]
    """
    taken: list[Pair] = []
    for left, right in by_rank:
        if any(left in pair or right in pair for pair in taken):
            break
        if (left, right) in present:
            taken.append((left, right))
    return taken


def encode_batch(doc: list[int], merges: Ranked) -> list[int]:
    """Replace several pairs a pass, chosen by `take_batch`, until no known pair is left.

    This may differ from `encode_rank`: here (1, 2) becomes 4 and (3, 5) becomes 6 in the same pass, which
    ends before the better pair (4, 3) exists.

    >>> merges = {(1, 2): (1, 4), (4, 3): (0, 7), (3, 5): (2, 6)}
    >>> encode_batch([1, 2, 3, 5], merges), encode_rank([1, 2, 3, 5], merges)
    ([4, 6], [7, 5])
    """
    by_rank = sorted(merges, key=lambda pair: merges[pair][0])
    while True:
        taken = take_batch(set(adjacent(doc)), by_rank)
        if not taken:
            return list(doc)
        doc = replace(doc, {pair: merges[pair][1] for pair in taken})


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
    """BPE-dropout: the pair of lowest rank is replaced where it stands, but for occurrences that are left out for good.

    The draws are a function of seed, document, rank and position, so that the order of the work does not
    matter.

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
