r"""How much there is to compile in a regular expression of the package `regex`, whose engine writes out what repeats.

A repeat of at least n is n copies, and repeats in one another multiply, so that a few characters can fill all memory::

    pattern    (?:[a-c]x{3}y){2}z
    written    [a-c]xxxy[a-c]xxxyz      11 signs; a long class is several

Groups are matched as the engine does. Where it reads comments or sets in sets (the flags x and V1), all repeats are taken to be
in one another.
"""

from __future__ import annotations

import re

__all__ = ["CLASS", "COMMENT", "size_of"]

#: Signs of a pattern, as regular expressions: a comment, and a class, within which there may be names such as [:alpha:].
COMMENT, CLASS = r"\(\?#[^)]*\)?", r"\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]?"

_HUGE = 1 << 40
_SIGN = re.compile(rf"\\.|{COMMENT}|{CLASS}|\{{(?P<least>\d+)(?:,\d*)?\}}|.", re.DOTALL)
_OTHER_SYNTAX = re.compile(r"\(\?[a-zA-Z0-9-]*[xV]")
_ANY_INTERVAL = re.compile(r"\{\s*(\d[\d\s]*)")


def size_of(pattern: str) -> int:
    r"""The characters of a pattern, and the signs of it with all repeats written out; at least that. O(length).

    >>> [size_of(pattern) - len(pattern) for pattern in ("ab", "(?:[a-c]x{3}y){2}z", "[(]{3}", "(?:(?:a{1000}b){1000}c){1000}")]
    [2, 13, 3, 1002002000]
    """
    if _OTHER_SYNTAX.search(pattern):
        size = 2 * len(pattern)
        for digits in _ANY_INTERVAL.findall(pattern):
            size = min(size * max(_count(digits), 1), _HUGE)
        return size
    groups = [0]  # the signs of each that is open, of the pattern as a whole first
    last = 0  # what a repeat is of
    for found in _SIGN.finditer(pattern):
        sign = found[0]
        if sign == "(":
            groups.append(0)
        elif sign == ")":
            last = groups.pop() if len(groups) > 1 else 0
            groups[-1] += last
            last = last or groups[-1]
        elif found["least"]:
            more = last * max(_count(found["least"]) - 1, 0)
            groups[-1] = min(groups[-1] + more, _HUGE)
            last = min(last + more, _HUGE)
        elif sign not in "*+?":
            last = 1 + len(sign) // 8
            groups[-1] += last
    return len(pattern) + min(sum(groups), _HUGE)


def _count(digits: str) -> int:
    """A number that may be of any length, up to what is too many anyway."""
    return int("".join(digits.split())[:9])
