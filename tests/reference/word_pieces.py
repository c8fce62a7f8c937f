"""WordPiece on strings: the longest piece from the beginning of a word, then from where it ends."""

from __future__ import annotations

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
            names = [((prefix if start else "") + word[start:end], end) for end in range(len(word), start, -1)]
            known = [(pieces[name], end) for name, end in names if name in pieces]
            if not known:
                break
            cut.append((known[0][0], number, start))
            start = known[0][1]
        found += cut if start == len(word) else [(unknown, number, 0)]
    return found
