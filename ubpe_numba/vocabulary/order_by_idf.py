"""Reordering a vocabulary by idf and cutting it to size: which tokens stay, and in which order.

As in the articles, tokens are ordered by descending idf and those of the lowest idf are removed first. A pair table loses more
tokens than that: one that is built on a removed token cannot be made any more. Which of these are removed as well is a rule
(`FitRules.trim`). Source: UBPE tokenizers, part 1.
"""

from __future__ import annotations

import numpy as np


def keep_by_weight(weights: np.ndarray, pairs: np.ndarray | None, n_alphabet: int, n_tokens: int, trim: str) -> np.ndarray:
    """Indices, int64[k], of the learned tokens that stay, in their new order: descending weight, among equals the latest first.

    weights float64[m]; pairs int32[m, 2], or None for a table of flat sequences, where no token depends on another; `n_tokens` is
    the size to reach, alphabet included; `trim` as in `FitRules`. O(m log m).

    >>> keep_by_weight(np.array([0.5, 2.0, 1.0]), None, 2, 4, "closed")
    array([1, 2])
    """
    m = weights.size
    ascending = np.argsort(weights, kind="stable")
    surplus = m - max(0, n_tokens - n_alphabet)
    if surplus <= 0:
        return ascending[::-1]
    if pairs is None:
        return ascending[surplus:][::-1]
    gone, listed = _removals(ascending, pairs, n_alphabet, surplus, trim)
    stay: np.ndarray = ascending[::-1]
    stay = stay[~gone[stay]]
    if trim.startswith("published"):
        # these packages count a repeated entry each time it is listed, and drop as many more tokens from the end
        stay = stay[: max(0, m - listed)]
    return stay


def _removals(ascending: np.ndarray, pairs: np.ndarray, n_alphabet: int, surplus: int, trim: str) -> tuple[np.ndarray, int]:
    """Which tokens are removed, bool[m], and how many entries the rule's list of removals has (repetitions included).

    `ascending` int64[m] are the tokens by ascending weight; at least `surplus` entries are listed if there are as many tokens.
    """
    rank = np.empty(ascending.size, np.int64)
    rank[ascending] = np.arange(ascending.size)
    users: list[list[int]] = [[] for _ in range(ascending.size)]
    for token in ascending.tolist():  # so that each list of users is in order of weight
        for part in {int(pairs[token, 0]), int(pairs[token, 1])}:
            if part >= n_alphabet:
                users[part - n_alphabet].append(token)
    gone = np.zeros(ascending.size, bool)
    listed = 0
    for root in ascending.tolist():
        if gone[root]:
            continue
        if listed >= surplus:
            break
        if trim in ("one_level", "published_0_2"):
            above = [t for t in users[root] if rank[t] > rank[root]]
            gone[[root, *above]] = True
            listed += 1 + len(above)
            continue
        stack = [root]
        while stack:
            token = stack.pop()
            if gone[token] and trim == "closed":
                continue
            gone[token] = True
            listed += 1
            stack.extend(t for t in users[token] if not gone[t])
    return gone, listed


def renumber(pairs: np.ndarray, n_alphabet: int, stay: np.ndarray) -> tuple[np.ndarray, int]:
    """The pairs of the tokens `stay` with new ids, int32[k, 2], and how many of their parts are tokens that were removed.

    pairs int[m, 2]; stay int[k], indices of learned tokens in their new order. A part that was removed keeps its old id.

    >>> renumber(np.array([[0, 1], [2, 1], [3, 0]]), 2, np.array([2, 1]))
    (array([[3, 0],
           [2, 1]], dtype=int32), 1)
    """
    new_id = np.full(n_alphabet + len(pairs), -1, np.int64)
    new_id[:n_alphabet] = np.arange(n_alphabet)
    new_id[n_alphabet + stay] = n_alphabet + np.arange(stay.size)
    old = pairs[stay]
    new = new_id[old]
    dangling = new < 0
    return np.where(dangling, old, new).astype(np.int32), int(np.count_nonzero(dangling))
