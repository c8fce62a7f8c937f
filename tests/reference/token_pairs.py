"""Finding the pair that makes each token, of tables that have ranks only (tiktoken) or several pairs for one (Hugging Face)."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

Pair = tuple[Any, Any]


def last_merge(token: Any, rank: Callable[[Any, Any], int], none: int) -> Pair | None:
    """The last pair that is merged when a token is encoded by itself; None if that does not end in the token.

    `token` is a str or bytes, `rank` gives the rank of a pair of parts, `none` if there is no such pair.

    >>> ranks = {("a", "b"): 0, ("b", "c"): 1, ("a", "bc"): 2, ("ab", "c"): 3}
    >>> last_merge("abc", lambda x, y: ranks.get((x, y), 9), 9)
    ('ab', 'c')
    """
    parts = [token[i : i + 1] for i in range(len(token))]
    while len(parts) > 1:
        best, at = min((rank(left, right), i) for i, (left, right) in enumerate(itertools.pairwise(parts)))
        if best == none:
            return None
        if len(parts) == 2:
            return parts[0], parts[1]
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return None


def pairs_of_ranks(ranks: dict[bytes, int]) -> tuple[list[bytes], list[Pair]]:
    """The tokens of one byte and then the others, by rank, and of the latter the pairs that tiktoken merges last.

    Of a token that merging its bytes does not make, the two of lowest ranks that join to it, though they never meet. ValueError
    for one that no two tokens join to.

    >>> pairs_of_ranks({b"a": 0, b"aa": 2, b"b": 1})
    ([b'a', b'b', b'aa'], [(b'a', b'a')])
    """
    order = sorted(ranks, key=ranks.__getitem__)
    tokens = [token for token in order if len(token) == 1] + [token for token in order if len(token) > 1]
    none = max(ranks.values()) + 1
    pairs = []
    for token in tokens:
        if len(token) == 1:
            continue
        made = last_merge(token, lambda left, right: ranks.get(left + right, none), none)
        if made is None or made[0] not in ranks or made[1] not in ranks:
            number = tokens.index
            cuts = [(token[:i], token[i:]) for i in range(1, len(token)) if token[:i] in ranks and token[i:] in ranks]
            if not cuts:
                raise ValueError(f"the token {token!r} of rank {ranks[token]} is not made of others of lower rank")
            made = min(cuts, key=lambda pair: (max(map(number, pair)), number(pair[0])))
        pairs.append(made)
    return tokens, pairs


def table_of_names(
    vocab: dict[str, int], merges: list[Pair], added: dict[str, int]
) -> tuple[list[str], list[Pair], dict[str, int]]:
    """Symbols by id, the pairs that can occur by rank, and the other tokens, by id, that are neither made by them nor `added`.

    ValueError as `from_names` of the library.

    >>> table_of_names({"a": 0, "b": 1, "ab": 2, "<s>": 3}, [("a", "b")], {})
    (['a', 'b'], [('a', 'b')], {'<s>': 3})
    """
    by_name: dict[str, list[Pair]] = {}
    parts: set[str] = set()
    for i, (left, right) in enumerate(merges):
        for token in (left, right, left + right):
            if token not in vocab:
                raise ValueError(f"merges[{i}]: {token!r} is not in the vocabulary")
        by_name.setdefault(left + right, []).append((left, right))
        parts |= {left, right}
    own = [token for token in sorted(vocab, key=vocab.__getitem__) if token not in added or token in parts or token in by_name]
    symbols = [token for token in own if len(token) == 1]
    if not symbols:
        raise ValueError("vocab: there is no token of a single symbol")
    rank = {pair: i for i, pair in enumerate(merges)}
    if len(rank) < len(merges):
        twice = next(pair for i, pair in enumerate(merges) if rank[pair] != i)
        raise ValueError(f"merges: the pair {twice!r} is there twice")
    last = len(merges)
    chosen: list[Pair] = []
    for token, pairs in by_name.items():
        made = pairs[0] if len(pairs) == 1 else last_merge(token, lambda left, right: rank.get((left, right), last), last)
        chosen.append(made if made in pairs else pairs[0])
    chosen.sort(key=rank.__getitem__)
    known = {*symbols, *(left + right for left, right in chosen)}
    for left, right in chosen:
        if left not in known or right not in known:
            raise ValueError(f"merges: {right if left in known else left!r} is part of a pair, but no pair makes it")
    if clash := next((word for word in added if word in known), None):
        raise ValueError(f"special tokens: {clash!r} is made by merges too")
    return symbols, chosen, {token: vocab[token] for token in own if token not in known}
