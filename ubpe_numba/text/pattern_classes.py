r"""Classes of characters in a pattern, and the kinds of characters that several classes tell apart.

A kind of characters, a letter, is a tuple of bool: which of the classes hold it. A machine that knows the classes by number
(pattern_machine.py) reads any text as letters, of which there are few::

    classes     \s      [a-c]   [^b]
    "a"         False   True    True
    "b"         False   True    False
    " "         True    False   True
    all others  False   False   True
"""

from __future__ import annotations

import bisect
import functools
import itertools
import unicodedata
from typing import NamedTuple

import numpy as np

from ubpe_numba.text.pattern_work import Work

__all__ = ["CATEGORIES", "CharacterClass", "Letter", "letters_of"]

CATEGORIES = [
    "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po",
    "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn",
]  # fmt: skip
_WHITE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_SMALL = 1 << 15  # code points of a range whose categories are looked up; those of a larger one may be any
_PLANE = 1 << 16  # likewise those of a range beyond

Letter = tuple  # of bool: a kind of characters, as which classes hold it


class CharacterClass(NamedTuple):
    """A set of characters: what it names, ranges, categories, white space; the others of `negated` ones."""

    chars: frozenset[str]
    ranges: tuple[tuple[str, str], ...] = ()
    categories: frozenset[str] = frozenset()
    white: bool = False
    negated: bool = False
    others: tuple[CharacterClass, ...] = ()  # classes within brackets, such as \S

    def holds(self, char: str, category: str, interval: tuple[int, int] | None) -> bool:
        """Whether it holds a character that is named, or all those of a category in an interval of code points."""
        if interval is None:
            found = char in self.chars or any(a <= char <= b for a, b in self.ranges) or (self.white and char in _WHITE)
        else:
            found = any(ord(a) <= interval[0] and interval[1] <= ord(b) for a, b in self.ranges)
        found = found or category in self.categories or any(other.holds(char, category, interval) for other in self.others)
        return found is not self.negated

    def everything(self) -> list[CharacterClass]:
        """The class and all those within its brackets."""
        return [self, *(inner for other in self.others for inner in other.everything())]


def letters_of(classes: list[CharacterClass], work: Work) -> list[Letter]:
    """The kinds of characters that classes tell apart, as which classes hold it; NotUnderstoodError if that is too much work."""
    parts = [part for one in classes for part in one.everything()]
    named = {char for part in parts for char in part.chars} | set(_WHITE)
    bounds = {0, 0x110000}
    for part in parts:
        for a, b in part.ranges:
            bounds |= {ord(a), ord(b) + 1}
    work.spend(len(named) * len(classes))
    kinds = {tuple(one.holds(char, unicodedata.category(char), None) for one in classes) for char in named}
    points = sorted(map(ord, named))
    for begin, end in itertools.pairwise(sorted(bounds)):
        few = CATEGORIES
        if end - begin <= _SMALL and end <= _PLANE:
            work.spend(16 + (end - begin) // 256)
            there = points[bisect.bisect_left(points, begin) : bisect.bisect_left(points, end)]
            counts = np.bincount(_categories()[begin:end], minlength=len(CATEGORIES))
            np.subtract.at(counts, _categories()[there], 1)
            few = [CATEGORIES[i] for i in np.flatnonzero(counts)]
        work.spend(len(few) * len(classes))
        kinds |= {tuple(one.holds("", category, (begin, end - 1)) for one in classes) for category in few}
    return sorted(kinds)


@functools.cache
def _categories() -> np.ndarray:
    """uint8[_PLANE]: the category of each code point of the first plane, as an index of CATEGORIES; made once a process."""
    number = {category: i for i, category in enumerate(CATEGORIES)}
    return np.fromiter(map(number.__getitem__, map(unicodedata.category, map(chr, range(_PLANE)))), np.uint8, _PLANE)
