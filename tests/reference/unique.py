"""Merging one text until every adjacent pair in it is unique."""

from collections import Counter
from itertools import pairwise

from reference.fit import Merge, replace


def merge_until_unique(text: list[int], alphabet_size: int) -> tuple[list[Merge], list[int]]:
    """Merge the most frequent pair (the smaller one of equals) until none occurs twice.

    Return the merges, the one at index i with the id `alphabet_size + i`, and what is left of the text.

    >>> merges, text = merge_until_unique([0, 1, 0, 1, 2, 0, 1, 2], alphabet_size=3)
    >>> [merge[:3] for merge in merges], text
    ([(0, 1, 3), (3, 2, 2)], [3, 4, 4])
    """
    merges: list[Merge] = []
    while True:
        counts = Counter(pairwise(text))
        repeated = [pair for pair, count in counts.items() if count >= 2]
        if not repeated:
            return merges, list(text)
        best = min(repeated, key=lambda pair: (-counts[pair], pair))
        text = replace(text, {best: alphabet_size + len(merges)})
        merges.append(Merge(*best, counts[best], documents=1))
