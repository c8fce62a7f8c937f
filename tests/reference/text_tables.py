"""What the tables of encoding text hold, from their definitions: tokens as lists of bytes, one look-up at a time."""

from __future__ import annotations

from reference.encode_pairs import Ranked, encode_rank

Tokens = list[list[int]]


def stable(tokens: Tokens, merges: Ranked) -> list[bool]:
    """Which tokens encode to themselves; the alphabet is 0..255.

    >>> tokens = [*([b] for b in range(256)), [0, 1], [1, 1], [0, 1, 1]]
    >>> stable(tokens, {(0, 1): (0, 256), (1, 1): (1, 257), (0, 257): (2, 258)})[256:]
    [True, True, False]
    """
    return [encode_rank(token, merges) == [t] for t, token in enumerate(tokens)]


def prefixes(tokens: Tokens, is_stable: list[bool]) -> list[int]:
    """The longest stable token that is a proper prefix of each stable token; -1 for the others and for single bytes.

    >>> prefixes([[0], [1], [0, 1], [0, 1, 1]], [True] * 4)
    [-1, -1, 0, 2]
    """
    known = {tuple(token): t for t, token in enumerate(tokens) if is_stable[t]}
    found = []
    for t, token in enumerate(tokens):
        shorter = [known[tuple(token[:n])] for n in range(1, len(token)) if tuple(token[:n]) in known]
        found.append(shorter[-1] if shorter and is_stable[t] else -1)
    return found


def character_at(data: bytes, i: int) -> int:
    """How many bytes the well-formed character of two or three bytes at i has, 0 if there is none; surrogates count.

    >>> [character_at("é".encode(), i) for i in (0, 1)]
    [2, 0]
    """
    for width in (2, 3):
        try:
            text = data[i : i + width].decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            continue
        if len(text) == 1 and len(text.encode("utf-8", "surrogatepass")) == width and i + width <= len(data):
            return width
    return 0
