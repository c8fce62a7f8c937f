"""Finding words that are kept whole: from left to right, the longest of those that start at a place."""

from __future__ import annotations

from collections.abc import Container, Sequence


def find_words(document: Sequence[int], words: Sequence[Sequence[int]], active: Sequence[bool]) -> list[tuple[int, int]]:
    """Return where words stand and which; those that are not `active` are not there.

    >>> find_words([0, 1, 0, 1, 2], [[0, 1], [0, 1, 2]], [True, True])
    [(0, 0), (2, 1)]
    """
    found: list[tuple[int, int]] = []
    position = 0
    while position < len(document):
        here = [
            (len(word), number)
            for number, word in enumerate(words)
            if active[number] and list(document[position : position + len(word)]) == list(word)
        ]
        if here:
            length, number = max(here)
            found.append((position, number))
            position += length
        else:
            position += 1
    return found


def parts_at(doc: Sequence[int], alone: Container[int]) -> list[list[int]]:
    """The parts of a document cut before and behind each symbol of `alone`.

    >>> parts_at([5, 6, 0, 0, 5], [0])
    [[5, 6], [0], [0], [5]]
    """
    parts: list[list[int]] = []
    before = True
    for symbol in doc:
        if before or symbol in alone:
            parts.append([])
        parts[-1].append(symbol)
        before = symbol in alone
    return parts
