"""What the tokens of a vocabulary are worth to the segmentation of fewest tokens."""

from reference.encode_paths import Vocabulary, matches


def fewest(doc: list[int], vocabulary: Vocabulary) -> int:
    """The number of tokens of a shortest path.

    >>> fewest([0, 1, 0], {(0, 1): 2})
    2
    """
    behind = {len(doc): 0}
    for start in reversed(range(len(doc))):
        behind[start] = 1 + min(behind[end] for _, end in matches(doc, start, vocabulary))
    return behind[0]


def worth(doc: list[int], vocabulary: Vocabulary) -> dict[int, tuple[int, int]]:
    """Of every token of a shortest path (the shorter first token wins) its occurrences, and what they save in all.

    An occurrence saves the tokens by which the best path through one of the positions inside it is longer.

    >>> worth([0, 1, 0, 1], {(0, 1): 2, (0, 1, 0): 3})
    {2: (2, 1)}
    """
    found: dict[int, tuple[int, int]] = {}
    start, best = 0, fewest(doc, vocabulary)
    while start < len(doc):
        token, end = min(matches(doc, start, vocabulary), key=lambda m: (fewest(doc[m[1] :], vocabulary), m[1]))
        inside = range(start + 1, end)
        saved = min((fewest(doc[:p], vocabulary) + fewest(doc[p:], vocabulary) - best for p in inside), default=0)
        count, total = found.get(token, (0, 0))
        found[token] = count + 1, total + saved
        start = end
    return found
