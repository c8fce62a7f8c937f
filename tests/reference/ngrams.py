"""N-grams with modified Kneser-Ney smoothing, as S. Chen and J. Goodman (1998) write them in their section 3."""

import math
from collections import Counter, defaultdict

NOTHING = -1  # before a stream


def probability(train: list[int], n_ids: int, order: int, context: tuple[int, ...], symbol: int) -> float:
    """p(symbol | the last order - 1 symbols of context), by a model that learned from a stream after its first symbol."""
    text = [NOTHING] * (order - 1) + train
    # the n-grams that end at each predicted symbol
    occurrences = [tuple(text[i - order + 1 : i + 1]) for i in range(order, len(text))]
    counts = Counter(occurrences)
    p = 1 / n_ids
    for n in range(1, order + 1):
        if n < order:  # N1+(. w): how many symbols come before the n-gram
            before = defaultdict(set)
            for gram in counts:
                before[gram[-n:]].add(gram[-n - 1])
            c = {gram: len(symbols) for gram, symbols in before.items()}
        else:
            c = dict(counts)
        n1, n2, n3, n4 = (sum(times == i for times in c.values()) for i in (1, 2, 3, 4))
        d = {0: 0, 1: 0.5, 2: 1, 3: 1.5}
        if n1 and n2:
            y = n1 / (n1 + 2 * n2)
            of_counts = {1: 1 - 2 * y * n2 / n1, 2: 2 - 3 * y * n3 / n2}
            if n3:
                of_counts[3] = 3 - 4 * y * n4 / n3
            d |= {i: value for i, value in of_counts.items() if 0 < value < i}
        history = ((NOTHING,) * order + context)[-n + 1 :] if n > 1 else ()
        followers = {gram[-1]: times for gram, times in c.items() if gram[:-1] == history}
        total = sum(followers.values())
        if total:
            left = sum(d[min(times, 3)] for times in followers.values())
            times = followers.get(symbol, 0)
            p = (times - d[min(times, 3)] + left * p) / total
    return p


def bits(train: list[int], held: list[int], n_ids: int, order: int) -> list[float]:
    """The bits of each symbol of a stream but the first."""
    return [
        -math.log2(probability(train, n_ids, order, tuple(held[:i]), held[i])) for i in range(1, len(held))
    ]
