"""WordPiece on strings: the longest piece from the beginning of a word, then from where it ends; pieces by a criterion."""

import math
from collections import Counter
from collections.abc import Mapping

Found = list[tuple[int, int, int]]


def cut_words(words: list[str], pieces: Mapping[str, int], unknown: int, prefix: str, longest: int) -> Found:
    """Of every piece its id, the number of the word, and the position in the word where it starts.

    >>> cut_words(["abb", "", "ba"], {"a": 7, "ab": 8, "##b": 9}, 0, "##", 100)
    [(8, 0, 0), (9, 0, 2), (0, 2, 0)]
    """
    found: Found = []
    for number, word in enumerate(words):
        cut: Found = []
        start = 0
        while start < len(word) <= longest:
            names = [
                ((prefix if start else "") + word[start:end], end) for end in range(len(word), start, -1)
            ]
            known = [(pieces[name], end) for name, end in names if name in pieces]
            if not known:
                break
            cut.append((known[0][0], number, start))
            start = known[0][1]
        found += cut if start == len(word) else [(unknown, number, 0)]
    return found


def learn_pieces(counts: dict[str, int], n: int, criterion: str, min_count: int, prefix: str) -> list[str]:
    """Characters in order, those at the beginning of words first, and what is merged of them.

    >>> learn_pieces({"ab": 5, "ac": 1, "bc": 4}, 5, "pmi", 2, "##")
    ['a', 'b', '##b', '##c', 'bc']
    """
    words = {word: [word[0], *(prefix + c for c in word[1:])] for word in counts}
    first = {word[0] for word in counts}
    inside = {prefix + c for word in counts for c in word[1:]}
    names = sorted(first) + sorted(inside - first) if prefix else sorted(first | inside)
    while len(names) < n:
        tokens: Counter[str] = Counter()
        pairs: Counter[tuple[str, str]] = Counter()
        for word, pieces in words.items():
            for piece in pieces:
                tokens[piece] += counts[word]
            for pair in zip(pieces, pieces[1:], strict=False):
                pairs[pair] += counts[word]
        live = [pair for pair, count in pairs.items() if count >= min_count]
        if not live:
            break

        ordered = [
            (-score(pair, tokens, pairs, criterion), names.index(pair[0]), names.index(pair[1]))
            for pair in live
        ]
        left, right = (names[i] for i in min(ordered)[1:])
        new = left + right.removeprefix(prefix)
        if new not in names:
            names.append(new)
        for word, pieces in words.items():
            merged: list[str] = []
            at = 0
            while at < len(pieces):
                both = pieces[at : at + 2] == [left, right]
                merged.append(new if both else pieces[at])
                at += 2 if both else 1
            words[word] = merged
    return names[:n]


def score(
    pair: tuple[str, str], tokens: Counter[str], pairs: Counter[tuple[str, str]], criterion: str
) -> float:
    """What a merge is worth.

    >>> score(("a", "b"), Counter(a=4, b=5), Counter({("a", "b"): 2}), "pmi")
    0.1
    """
    c, a, b = pairs[pair], tokens[pair[0]], tokens[pair[1]]
    if criterion == "count":
        return c
    if criterion == "pmi":
        return c / (a * b)
    total = sum(tokens.values())
    if pair[0] == pair[1]:
        parts = xlogx(a - 2 * c) - xlogx(a)
    else:
        parts = xlogx(a - c) + xlogx(b - c) - xlogx(a) - xlogx(b)
    return parts + xlogx(c) - xlogx(total - c) + xlogx(total)


def xlogx(x: int) -> float:
    """X * ln x, and 0 for 0 and below.

    >>> xlogx(0), xlogx(1)
    (0.0, 0.0)
    """
    return x * math.log(x) if x > 0 else 0.0
