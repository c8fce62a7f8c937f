"""What each step of a normalizer does to a text, and where the characters of the text that it makes come from."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from ubpe_numba.text.characters import WHITE_SPACE, tables
from ubpe_numba.text.step_patterns import oniguruma

__all__ = ["Characters", "Lowercase", "NormalForm", "Prepend", "Replace", "Step", "Steps", "Strip", "starts_part"]

Change = Callable[[str], str]
#: A text changed, and for each of its characters the index of the one that it comes from.
Traced = tuple[str, list[int]]


class Step(Protocol):
    """One change of text."""

    def apply(self, text: str) -> str:
        """The text changed."""

    def traced(self, text: str) -> Traced:
        """The same, and where its characters come from."""


class NormalForm(NamedTuple):
    """A normal form of Unicode."""

    form: Any

    def apply(self, text: str) -> str:
        """As `Step.apply`."""
        done = unicodedata.normalize(self.form, text)
        if text.isascii() or done == text:
            return done
        flags, is_inert = tables().flags(), tables().INERT
        inert = [char for char in set(text) if flags[ord(char)] & is_inert]
        if not inert:
            return done
        parts = re.split(f"([{''.join(map(re.escape, inert))}])", text)
        return "".join(part if i % 2 else unicodedata.normalize(self.form, part) for i, part in enumerate(parts))

    def traced(self, text: str) -> Traced:
        """As `Step.traced`."""
        return _by_parts(text, self.apply, starts_part)


class Lowercase(NamedTuple):
    """Lower case, each character by itself: no final sigma."""

    def apply(self, text: str) -> str:
        """As `Step.apply`."""
        text = text.replace("\u03a3", "\u03c3")
        return text.lower() if text.isascii() else text.translate(tables().lower_case()).lower()

    def traced(self, text: str) -> Traced:
        """As `Step.traced`."""
        if text.isascii():
            return text.lower(), list(range(len(text)))
        return _by_parts(text, self.apply, lambda _: True)


class Replace(NamedTuple):
    """Another text for each match of a pattern, or of a text."""

    pattern: Any  # compiled; None: `found` literally
    found: str
    content: str

    def apply(self, text: str) -> str:
        """As `Step.apply`."""
        if self.pattern is None:
            return text.replace(self.found, self.content)
        out: list[str] = []
        done = 0
        for start, end in oniguruma().spans(self.pattern, text):
            out += text[done:start], self.content
            done = end
        return "".join([*out, text[done:]])

    def traced(self, text: str) -> Traced:
        """As `Step.traced`."""
        found = oniguruma().spans(self.pattern, text) if self.pattern is not None else self._places(text)
        out: list[str] = []
        origins: list[int] = []
        done = 0
        for start, end in found:
            out += text[done:start], self.content
            origins += [*range(done, start), *[min(start, len(text) - 1)] * len(self.content)]
            done = end
        return "".join([*out, text[done:]]), [*origins, *range(done, len(text))]

    def _places(self, text: str) -> list[tuple[int, int]]:
        """Where `found` stands in a text, from left to right, as `str.replace` finds it."""
        places: list[tuple[int, int]] = []
        at = text.find(self.found)
        while at >= 0:
            places.append((at, at + len(self.found)))
            at = text.find(self.found, at + len(self.found))
        return places


class Prepend(NamedTuple):
    """A text before every text that is not empty."""

    content: str

    def apply(self, text: str) -> str:
        """As `Step.apply`."""
        return self.content + text if text else text

    def traced(self, text: str) -> Traced:
        """As `Step.traced`."""
        return self.apply(text), [*[0] * (len(self.content) if text else 0), *range(len(text))]


class Strip(NamedTuple):
    """No white space at the left end, at the right, or both."""

    left: bool
    right: bool

    def apply(self, text: str) -> str:
        """As `Step.apply`."""
        text = text.lstrip(WHITE_SPACE) if self.left else text
        return text.rstrip(WHITE_SPACE) if self.right else text

    def traced(self, text: str) -> Traced:
        """As `Step.traced`."""
        done = self.apply(text)
        first = len(text) - len(text.lstrip(WHITE_SPACE)) if self.left else 0
        return done, list(range(first, first + len(done)))


class Characters(NamedTuple):
    """Each character as another text, or none."""

    of: Callable[[str], str]

    def apply(self, text: str) -> str:
        """As `Step.apply`."""
        table = {ord(c): self.of(c) for c in set(text)}
        return text.translate(table)

    def traced(self, text: str) -> Traced:
        """As `Step.traced`."""
        table = {c: self.of(c) for c in set(text)}
        parts = [table[c] for c in text]
        return "".join(parts), [i for i, part in enumerate(parts) for _ in part]


class Steps(NamedTuple):
    """One step after the other."""

    steps: tuple[Step, ...]

    def apply(self, text: str) -> str:
        """As `Step.apply`."""
        for step in self.steps:
            text = step.apply(text)
        return text

    def traced(self, text: str) -> Traced:
        """As `Step.traced`."""
        origins = list(range(len(text)))
        for step in self.steps:
            text, came = step.traced(text)
            origins = [origins[i] for i in came]
        return text, origins


# ---------------------------------------------------------------------------------------------------- where characters come from


def _by_parts(text: str, change: Change, starts: Callable[[str], bool]) -> Traced:
    """A text changed part by part: all that a part becomes comes from its first character.

    A part begins at each character that `starts` one; parts are changed independently of each other.
    """
    done = change(text)
    if done == text:
        return done, list(range(len(text)))
    places = [i for i, c in enumerate(text) if i == 0 or starts(c)]
    parts = [text[a:b] for a, b in zip(places, [*places[1:], len(text)], strict=True)]
    changed = list(map(change, parts))
    if "".join(changed) != done:  # a character that no table here knows joins two parts
        return done, [min(i, len(text) - 1) for i in range(len(done))]
    origins: list[int] = []
    for start, part, new in zip(places, parts, changed, strict=True):
        origins += range(start, start + len(part)) if new == part else [start] * len(new)
    return done, origins


def starts_part(character: str) -> bool:
    """Whether no normal form joins or swaps a character with the one before it: no mark, no later part of a Hangul syllable."""
    point = ord(character)
    if point < 0x300:
        return True
    if 0x1160 <= point < 0x1200 or 0xD7B0 <= point < 0xD800 or 0x3099 <= point <= 0x309A or 0xFF9E <= point <= 0xFF9F:
        return False
    return not unicodedata.combining(character) and unicodedata.category(character)[0] != "M"
