"""What each step of a splitter does to the pieces of a text: it cuts them, leaves characters out, puts in others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

from ubpe_numba.text.characters import names_of
from ubpe_numba.text.step_patterns import oniguruma

__all__ = ["ByteLevel", "Cut", "FixedLength", "InTurn", "Marks", "Metaspace", "Piece", "Step"]

#: A piece of text, and the index that each of its characters comes from; None where nobody asks.
Piece = tuple[str, "list[int] | None"]
Span = tuple[int, int]


class Step(Protocol):
    """One step: pieces of a stretch of text become others."""

    def apply(self, pieces: list[Piece], at_start: bool) -> list[Piece]:
        """The pieces, none of which is empty; `at_start`: whether the stretch begins a document."""


class Cut(NamedTuple):
    """Cutting around the matches of a pattern, as `behavior` says; `invert`: what is between them counts as the matches."""

    compiled: Any
    behavior: str
    invert: bool
    unicode: str  # the version that decides what the pattern matches

    def apply(self, pieces: list[Piece], at_start: bool) -> list[Piece]:
        out: list[Piece] = []
        for text, origins in pieces:
            for start, end in self.spans(text):
                out.append((text[start:end], None if origins is None else origins[start:end]))
        return out

    def spans(self, text: str) -> list[Span]:
        """Where the pieces of a text begin and end."""
        found: list[tuple[int, int, bool]] = []
        done = 0
        for start, end in oniguruma().spans(self.compiled, text, self.unicode):
            if start > done:
                found.append((done, start, self.invert))
            found.append((start, end, not self.invert))
            done = end
        if done < len(text):
            found.append((done, len(text), self.invert))
        return [(start, end) for start, end in _joined(found, self.behavior) if end > start]


def _joined(found: list[tuple[int, int, bool]], behavior: str) -> Iterable[Span]:
    """The pieces of a text that is `found` to be matches (True) and what is between them.

    >>> found = [(0, 1, False), (1, 2, True), (2, 3, True), (3, 4, False)]
    >>> [list(_joined(found, behavior)) for behavior in ("MergedWithPrevious", "MergedWithNext", "Contiguous")]
    [[(0, 2), (2, 3), (3, 4)], [(0, 1), (1, 2), (2, 4)], [(0, 1), (1, 3), (3, 4)]]
    """
    if behavior == "Isolated":
        return [(start, end) for start, end, _ in found]
    if behavior == "Removed":
        return [(start, end) for start, end, is_match in found if not is_match]
    out: list[Span] = []
    before = False
    if behavior == "MergedWithNext":
        for start, end, is_match in reversed(found):
            if is_match and not before and out:
                out[-1] = start, out[-1][1]
            else:
                out.append((start, end))
            before = is_match
        return out[::-1]
    for start, end, is_match in found:
        joins = is_match == before if behavior == "Contiguous" else is_match and not before
        if joins and out:
            out[-1] = out[-1][0], end
        else:
            out.append((start, end))
        before = is_match
    return out


class Metaspace(NamedTuple):
    """Spaces as another character, which is put before the text too, and pieces that begin with it."""

    replacement: str
    scheme: str
    split: Cut | None

    def apply(self, pieces: list[Piece], at_start: bool) -> list[Piece]:
        out: list[Piece] = []
        for i, (text, origins) in enumerate(pieces):
            text = text.replace(" ", self.replacement)
            is_first = at_start and (i == 0 if origins is None else origins[0] == 0)
            puts = self.scheme == "always" or (self.scheme == "first" and is_first)
            if puts and not text.startswith(self.replacement):
                text, origins = self.replacement + text, None if origins is None else [*origins[:1], *origins]
            out.append((text, origins))
        return out if self.split is None else self.split.apply(out, at_start)


class ByteLevel(NamedTuple):
    """A space before each piece, perhaps; GPT-2's pattern, perhaps; and bytes, each named by a character."""

    prefix: bool
    split: Cut | None

    def apply(self, pieces: list[Piece], at_start: bool) -> list[Piece]:
        if self.prefix:
            pieces = [piece if piece[0].startswith(" ") else _after_space(*piece) for piece in pieces]
        if self.split is not None:
            pieces = self.split.apply(pieces, at_start)
        return [_as_bytes(*piece) for piece in pieces]


def _after_space(text: str, origins: list[int] | None) -> Piece:
    return " " + text, None if origins is None else [*origins[:1], *origins]


def _as_bytes(text: str, origins: list[int] | None) -> Piece:
    """A piece whose characters name the bytes of the text."""
    if origins is not None:
        sizes = [len(c.encode("utf-8", "surrogateescape")) for c in text]
        origins = [i for i, size in zip(origins, sizes, strict=True) for _ in range(size)]
    return names_of(text.encode("utf-8", "surrogateescape")), origins


class FixedLength(NamedTuple):
    """Pieces of so many characters."""

    length: int

    def apply(self, pieces: list[Piece], at_start: bool) -> list[Piece]:
        n = self.length
        return [
            (text[i : i + n], None if origins is None else origins[i : i + n])
            for text, origins in pieces
            for i in range(0, len(text), n)
        ]


class Marks(NamedTuple):
    """A mark before each character of a piece but its first, and one behind it; ``""`` for none."""

    inside: str
    end: str

    def apply(self, pieces: list[Piece], at_start: bool) -> list[Piece]:
        out: list[Piece] = []
        for text, origins in pieces:
            if origins is not None:
                inner = [i for i in origins for _ in range(1 + len(self.inside))][len(self.inside) :]
                origins = inner + origins[-1:] * len(self.end)
            out.append((self.inside.join(text) + self.end, origins))
        return out


class InTurn(NamedTuple):
    """Several cuts, one after the other."""

    cuts: tuple[Cut, ...]

    def apply(self, pieces: list[Piece], at_start: bool) -> list[Piece]:
        for cut in self.cuts:
            pieces = cut.apply(pieces, at_start)
        return pieces
