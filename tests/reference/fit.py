"""Learning merges: in every round count all adjacent pairs anew, choose the best, replace them."""

import math
from collections import Counter
from itertools import pairwise
from typing import NamedTuple

Pair = tuple[int, int]


class Merge(NamedTuple):
    """A pair that became one new id, with its count and its number of documents at that moment.

    >>> Merge(left=0, right=1, count=3, documents=2)[:2]
    (0, 1)
    """

    left: int
    right: int
    count: int  # type: ignore[assignment]  # hides tuple.count, which nobody needs here
    documents: int


def replace(doc: list[int], new_ids: dict[Pair, int]) -> list[int]:
    """Replace the given pairs by their new ids in one pass from left to right.

    >>> replace([1, 2, 3, 1, 2], {(1, 2): 4})
    [4, 3, 4]
    >>> replace([0, 0, 0], {(0, 0): 1})
    [1, 0]
    """
    result = []
    position = 0
    while position < len(doc):
        at_last = position + 1 == len(doc)
        if not at_last and (doc[position], doc[position + 1]) in new_ids:
            result.append(new_ids[doc[position], doc[position + 1]])
            position += 2
        else:
            result.append(doc[position])
            position += 1
    return result


def idf(n_documents: int, documents: int) -> float:
    """Weight of a pair held by `documents` out of `n_documents`: ln((1+D) / (1+d)).

    >>> idf(7, 7)
    0.0
    >>> round(idf(7, 1), 6) == round(math.log(4), 6)
    True
    """
    return math.log((1 + n_documents) / (1 + documents))


def count_pairs(docs: list[list[int]]) -> Counter[Pair]:
    """Count adjacent pairs, overlapping ones too; the keys stand in order of first occurrence.

    >>> list(count_pairs([[0, 0, 0], [], [1, 0]]).items())
    [((0, 0), 2), ((1, 0), 1)]
    """
    counts: Counter[Pair] = Counter()
    for doc in docs:
        for pair in pairwise(doc):
            counts[pair] += 1
    return counts


def count_documents(docs: list[list[int]]) -> Counter[Pair]:
    """Count the documents that hold each pair.

    >>> sorted(count_documents([[0, 0, 0], [0, 0, 1]]).items())
    [((0, 0), 2), ((0, 1), 1)]
    """
    documents: Counter[Pair] = Counter()
    for doc in docs:
        for pair in set(pairwise(doc)):
            documents[pair] += 1
    return documents


def order_pairs(docs: list[list[int]], ties: str, min_count: int) -> list[Pair]:
    """All pairs with count >= `min_count`, the most frequent first, equal counts ordered by `ties`.

    Here (1, 2), (3, 4) and (0, 2) occur twice each, the first two of them in one document:

    >>> docs = [[1, 2, 1, 2], [3, 4, 3, 4], [0, 2], [0, 2]]
    >>> order_pairs(docs, "smallest", min_count=2)
    [(0, 2), (1, 2), (3, 4)]
    >>> order_pairs(docs, "first_seen", min_count=2)
    [(1, 2), (3, 4), (0, 2)]
    >>> order_pairs(docs, "fewest_documents", min_count=2)
    [(3, 4), (1, 2), (0, 2)]
    """
    counts = count_pairs(docs)
    documents = count_documents(docs)
    first_seen = {pair: place for place, pair in enumerate(counts)}

    def key(pair: Pair) -> tuple[int, ...]:
        left, right = pair
        if ties == "smallest":
            return -counts[pair], left, right
        if ties == "first_seen":
            return -counts[pair], first_seen[pair]
        if ties == "fewest_documents":
            return -counts[pair], documents[pair], -left, -right
        raise ValueError(f"ties: expected smallest, first_seen or fewest_documents, got {ties!r}")

    return sorted((pair for pair in counts if counts[pair] >= min_count), key=key)


def select(candidates: list[Pair], counts: Counter[Pair]) -> list[Pair]:
    """Of the candidates, best first, keep those that can be replaced together.

    The first is always kept. A later one is kept if it shares no token with those kept and if both pairs
    on the borders between it and any kept one are strictly rarer than itself.

    >>> counts = Counter({(0, 1): 9, (1, 2): 8, (2, 3): 5, (4, 5): 5, (3, 0): 5, (6, 7): 4})
    >>> select([(0, 1), (1, 2), (2, 3), (4, 5), (6, 7)], counts)
    [(0, 1), (4, 5), (6, 7)]

    (1, 2) shares the 1; (2, 3) meets (0, 1) in the border pair (3, 0), which is as frequent as itself.
    """
    kept: list[Pair] = []
    for left, right in candidates:
        count = counts[left, right]
        shares_token = any(left in pair or right in pair for pair in kept)
        borders_are_rarer = all(
            counts[right, kept_left] < count and counts[kept_right, left] < count for kept_left, kept_right in kept
        )
        if not kept or (not shares_token and borders_are_rarer):
            kept.append((left, right))
    return kept


def wants_more(size: int, n_tokens: int, overshoot: bool) -> bool:
    """Whether another round follows when there are `size` ids, 0 to `size - 1`.

    >>> wants_more(5, 5, overshoot=False), wants_more(5, 5, overshoot=True)
    (False, True)
    """
    if overshoot:
        last_id = size - 1
        return last_id < n_tokens
    return size < n_tokens


def fit(
    docs: list[list[int]],
    alphabet_size: int,
    n_tokens: int,
    n_candidates: int = 1,
    ties: str = "smallest",
    min_count: int = 2,
    overshoot: bool = False,
) -> tuple[list[Merge], list[list[int]]]:
    """Learn merges; return them in order of creation, with the corpus after the last of them.

    The merge at index i has the id `alphabet_size + i`. Without `overshoot` there are at most `n_tokens`
    ids in all, symbols included, and the last round is cut; with it, whole rounds run while the last id
    is below `n_tokens`.

    >>> merges, corpus = fit([[0, 1, 0, 1, 2], [0, 1, 2], []], alphabet_size=3, n_tokens=5)
    >>> for merge in merges: print(merge)
    Merge(left=0, right=1, count=3, documents=2)
    Merge(left=3, right=2, count=2, documents=2)
    >>> corpus
    [[3, 4], [4], []]
    """
    corpus = [list(doc) for doc in docs]
    merges: list[Merge] = []
    while wants_more(alphabet_size + len(merges), n_tokens, overshoot):
        counts = count_pairs(corpus)
        documents = count_documents(corpus)
        kept = select(order_pairs(corpus, ties, min_count)[:n_candidates], counts)
        if not overshoot:
            kept = kept[: n_tokens - alphabet_size - len(merges)]
        if not kept:
            break
        new_ids = {}
        for pair in kept:
            new_ids[pair] = alphabet_size + len(merges)
            merges.append(Merge(*pair, counts[pair], documents[pair]))
        corpus = [replace(doc, new_ids) for doc in corpus]
    return merges, corpus
