"""How much the steps of a normalizer can lengthen a text, found before any is changed: a few short steps could fill the memory.

Read from the last step to the first, each says what one character becomes by it and by all steps behind it. Two steps that put
"aa" for "a"::

    behind both     "a" 1, others 1
    the second      "a" 2, others 1      "aa" is twice as long as "a" by what is behind
    the first       "a" 4, others 1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["check_growth"]

#: Forms of Unicode make 18 of a character at most, and sentencepiece's maps do: real models have both, 324.
_MOST = 2048
#: How many characters each of these makes of one at most; several forms in a row, no more than the longest.
_FORMS = {"NFC": 3, "NFD": 4, "NFKC": 18, "NFKD": 18, "Lowercase": 2}
_OTHERS = {"BertNormalizer": 4, "ByteLevel": 4}


class _Lengths:
    """How many characters one becomes, by the steps that were read: the same for all but those that are known."""

    def __init__(self) -> None:
        self._others = self._floor = self._most = 1.0
        self._known: dict[str, float] = {}
        self._added = 0.0  # to every text, once

    @property
    def most(self) -> float:
        """Of any character that is a text by itself."""
        return self._most + self._added

    def of(self, text: str) -> float:
        """Of a text."""
        known, others, floor = self._known, self._others, self._floor
        return sum(max(known.get(char, others), floor) for char in text)

    def scale(self, factor: float) -> None:
        """Every character becomes `factor` others."""
        self._others = self._floor = self._most = factor * self._most
        self._known = {}

    def change_form(self, factor: int, lower: bool) -> None:
        """The same but for ASCII, which stays, or becomes lower case; nothing if `factor` is 1."""
        if factor == 1:
            return
        ascii_chars = map(chr, range(128))
        known = {char: self.of(char.lower() if lower else char) for char in ascii_chars}
        self._others = self._most = factor * self._most
        self._floor, self._known = 1.0, known

    def replace(self, found: str, content: str) -> None:
        """A text becomes another: what that is longer falls to each of its characters."""
        length = self.of(content) / len(found)
        for char in set(found):
            self._known[char] = max(self._known.get(char, self._others), length)
        self._most = max(self._most, length)

    def replace_any(self, content: str) -> None:
        """Any character may become a text."""
        self._floor = max(self._floor, self.of(content))
        self._most = max(self._most, self._floor)

    def add(self, content: str) -> None:
        """A text is put before any other, which has one character at least."""
        self._added += self.of(content)


def check_growth(steps: Sequence[tuple[Mapping[str, Any], Any]]) -> None:
    """ValueError for steps that could make a text more than 2048 times as long. O(their texts).

    Parameters
    ----------
    steps
        Each with all its fields, and what does it.

    >>> twice = {"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}
    >>> check_growth([(twice, None)] * 11)
    >>> check_growth([(twice, None)] * 12)
    Traceback (most recent call last):
    ValueError: normalizer: its steps could make more than 2048 characters of one, so that a short text would fill the memory
    """
    lengths = _Lengths()
    forms, lower = 1, False  # of the forms of Unicode that were read last
    for step, run in reversed(steps):
        kind = step["type"]
        if kind in _FORMS:
            forms, lower = max(forms, _FORMS[kind]), lower or kind == "Lowercase"
            continue
        if kind in ("StripAccents", "Strip", "Nmt"):
            continue
        lengths.change_form(forms, lower)
        forms, lower = 1, False
        if kind == "Replace":
            pattern = step["pattern"]
            if "String" in pattern:
                lengths.replace(pattern["String"], step["content"])
            else:
                lengths.replace_any(step["content"])
        elif kind == "Prepend":
            lengths.add(step["prepend"])
        elif kind == "StandIns":
            lengths.scale(4 if step["by_bytes"] else 1)
        else:
            lengths.scale(_OTHERS.get(kind) or run.growth)
    lengths.change_form(forms, lower)
    if lengths.most > _MOST:
        raise ValueError(
            f"normalizer: its steps could make more than {_MOST} characters of one, so that a short text would fill the memory"
        )
