"""Weights of tokens: idf, log-probability, or numbers of the user; vocabularies ordered by idf.

In the UBPE articles tokens are ordered by descending idf, and those of the lowest idf are removed first. A
pair table loses more tokens: a token that is built on a removed token cannot be made any more.
`FitRules.trim` determines which of these are removed as well. Source: UBPE tokenizers, part 1.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from ubpe_numba.errors import quoted
from ubpe_numba.runtime.arrays import describe
from ubpe_numba.vocabulary.segmenter import Segmenter
from ubpe_numba.vocabulary.vocabulary import Vocabulary, for_distinct

_LIMIT = 1e6  # largest absolute weight: in fixed point the sum of 500 of these is still exact


def token_weights(vocabulary: Vocabulary, given: Any) -> np.ndarray:
    """float64[V], the weights of the tokens that an additive `objective` sums.

    `given` is None or ``"idf"`` (the weights of the vocabulary), ``"log_frequency"`` (ln((1 + c) / (V + sum
    of all counts)) of every count c) or V numbers. TypeError for anything but numbers; ValueError for another
    word, for an array that is not V numbers, or for a number that is not finite or beyond ±1e6.
    """
    if given is None or (isinstance(given, str) and given == "idf"):
        return vocabulary.weights
    if isinstance(given, str):
        if given != "log_frequency":
            raise ValueError(f"objective: expected 'idf', 'log_frequency' or an array, got {quoted(given)}")
        # with add-one smoothing; a sum of these is the log-probability of a sequence of independent tokens
        counts = token_counts(vocabulary)
        total = counts.size + sum(counts.tolist())  # which does not wrap
        return for_distinct(lambda count: math.log((1 + count) / total), counts)
    array = np.asarray(given)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"objective: expected numbers, got {describe(given)}")
    if array.shape != (len(vocabulary),):
        raise ValueError(
            f"objective: expected {len(vocabulary)} numbers, one for each id, got shape {array.shape}"
        )
    array = array.astype(np.float64)
    if (bad := np.flatnonzero(~(np.abs(array) <= _LIMIT))).size:
        raise ValueError(f"objective[{bad[0]}]: expected a number in -1e6..1e6, got {array[bad[0]]}")
    return array


def token_counts(vocabulary: Vocabulary) -> np.ndarray:
    """int64[V], how often each token occurs in the encoding of the corpus or, if unknown, its merges."""
    return vocabulary.counts if vocabulary.occurrences is None else vocabulary.occurrences


def log_probabilities(vocabulary: Vocabulary) -> np.ndarray:
    """float64[V], the logarithm of each token's probability, as estimated, or of its frequency.

    >>> log_probabilities(Vocabulary.from_merges(1, [[0, 0]], occurrences=[0, 3])).tolist() == [math.log(1 / 5), math.log(4 / 5)]
    True
    """
    known = vocabulary.log_probabilities
    return token_weights(vocabulary, "log_frequency") if known is None else known


def keep_by_weight(
    weights: np.ndarray, pairs: np.ndarray | None, n_alphabet: int, n_tokens: int, trim: str
) -> np.ndarray:
    """Indices, int64[k], of the learned tokens that stay, in their new order.

    The order is by descending weight, among equals the latest first.

    `weights` is float64[m]. `pairs` is int32[m, 2], or None for a table of flat sequences, in which tokens
    are independent. `n_tokens` is the size to reach, alphabet included. `trim` as in `FitRules`. O(m log m).

    >>> keep_by_weight(np.array([0.5, 2.0, 1.0]), None, 2, 4, "closed")
    array([1, 2])
    """
    m = weights.size
    ascending = np.argsort(weights, kind="stable")
    surplus = m - max(0, n_tokens - n_alphabet)
    if surplus <= 0 or pairs is None:
        return ascending[max(surplus, 0) :][::-1]
    rank = np.empty(m, np.int64)
    rank[ascending] = np.arange(m)
    users: list[list[int]] = [[] for _ in range(m)]
    for token in ascending.tolist():  # so that each list of users is in order of weight
        for part in {int(pairs[token, 0]), int(pairs[token, 1])}:
            if part >= n_alphabet:
                users[part - n_alphabet].append(token)
    gone = np.zeros(m, bool)
    listed = 0  # entries of the rule's list of removals, repetitions included
    for root in ascending.tolist():
        if listed >= surplus:
            break
        if gone[root]:
            continue
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
    stay: np.ndarray = ascending[::-1]
    stay = stay[~gone[stay]]
    if trim.startswith("published"):
        # these packages count a repeated entry each time it is listed, and drop as many more tokens from the
        # end
        stay = stay[: max(0, m - listed)]
    return stay


def renumber(pairs: np.ndarray, n_alphabet: int, stay: np.ndarray) -> tuple[np.ndarray, int]:
    """The pairs of the tokens `stay` with new ids, int32[k, 2], and the number of removed parts.

    pairs int[m, 2]; stay int[k], indices of learned tokens in their new order. A part that was removed keeps
    its old id.

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


def rearranged(vocabulary: Vocabulary, n_tokens: int, trim: str, by_pairs: bool) -> Vocabulary:
    """The vocabulary by idf, truncated to `n_tokens`.

    ValueError if the rule leaves tokens built on removed tokens.
    """
    n = vocabulary.n_alphabet
    merges = vocabulary.merges if by_pairs else None
    stay = keep_by_weight(vocabulary.weights[n:], merges, n, n_tokens, trim)
    if merges is None:
        return vocabulary.select(stay, None)
    pairs, dangling = renumber(merges, n, stay)
    if dangling:
        raise ValueError(
            f"rules: trim={quoted(trim)} leaves {dangling} parts of pairs that point to removed tokens, as "
            "the original does; such a vocabulary cannot decode: use trim='closed', or order='creation'"
        )
    return vocabulary.select(stay, pairs)


def of_tokens(segmenter: Segmenter, tokens: np.ndarray, kind: Any) -> Segmenter:
    """The segmenter of some of the tokens: their ids, and all others, are 0, 1, ... in the order of before."""
    fields = segmenter.state()
    own = segmenter.ids(int(tokens.max()) + 1)[tokens].tolist()
    unknown, words = fields.get("unknown", {}), fields.get("special_tokens", {}).get("ids", ())
    left = {-1, *own, *words, *(unknown.get("bytes") or ()), unknown.get("id", -1)}
    number = {i: at for at, i in enumerate(sorted(left), -1)}

    def moved(part: dict[str, Any]) -> dict[str, Any]:
        """An object with the new ids: also of files of others, where padding and post-processors have some."""
        for name in part.keys() & ({"id", "bytes"} if "fuse" in part else {"ids", "pad_id", "cls", "sep"}):
            old = part[name]
            part[name] = [number.get(i, i) for i in old] if type(old) is list else number.get(old, old)
        return part

    fields["token_ids"] = None if segmenter.token_ids is None else [number[i] for i in own]
    return Segmenter.from_state(json.loads(json.dumps(fields), object_hook=moved), tokens.size, kind)
