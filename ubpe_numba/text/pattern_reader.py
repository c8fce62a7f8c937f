r"""Regular expressions, read into a tree.

A tree is a tuple of a kind and its parts::

    ("class", class)         a character of a class          ("then", [tree, ...])       one after the other
    ("look", class, wanted)  whether one of it comes next    ("or", [tree, ...])         the first that leads to a match
    ("end", "\n", is_line)   the end of the text, or a line  ("repeat", tree, low, high) as often as it can be; None: any number

    a\s?|b  ->  ("or", [("then", [("class", a), ("repeat", ("class", \s), 0, 1)]), ("then", [("class", b)])])

What is understood: classes of general categories, ``\s``, ``\d``, ranges, groups, ``(?i:`` before letters of ASCII,
alternatives, greedy quantifiers, possessive ones of a single class, ``(?!`` and ``(?=`` before a single class, and ``$``.
Oniguruma, the engine of Hugging Face, reads ``{1,3}+`` as a repetition of ``{1,3}``, and ``$`` as the end of a line.
"""

from __future__ import annotations

from ubpe_numba.text.pattern_classes import CATEGORIES, CharacterClass
from ubpe_numba.text.pattern_work import NotUnderstoodError

__all__ = ["Tree", "read_pattern"]

_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v"}
_FOLDS = {"s": "\u017f", "k": "\u212a"}  # what folds to a letter of ASCII, beside the letter in the other case
_LONGEST = 2000  # characters of a pattern
_MOST_IN_CLASS = 64  # characters, ranges and classes in brackets
_MOST_FEWER = 1000  # parts of a possessive repeat
_LINE = CharacterClass(frozenset("\n"))

Tree = tuple  # see above


def read_pattern(pattern: str, oniguruma: bool) -> Tree:
    """The tree of a pattern, read as Oniguruma does, or as `regex` and tiktoken; NotUnderstoodError, RecursionError. O(length).

    >>> kind, parts = read_pattern("a|b?|c", False)
    >>> kind, len(parts)
    ('or', 3)
    """
    if len(pattern) > _LONGEST:
        raise NotUnderstoodError
    return _Reader(pattern, oniguruma).whole()


class _Reader:
    """A pattern, and how far it is read."""

    def __init__(self, pattern: str, oniguruma: bool) -> None:
        self.text, self.at, self.fold, self.oniguruma = pattern, 0, False, oniguruma

    def whole(self) -> Tree:
        """The tree of all of it."""
        tree = self._alternatives()
        if self.at < len(self.text):
            raise NotUnderstoodError
        return tree

    def _take(self, text: str) -> bool:
        if self.text.startswith(text, self.at):
            self.at += len(text)
            return True
        return False

    def _next(self) -> str:
        if self.at >= len(self.text):
            raise NotUnderstoodError
        self.at += 1
        return self.text[self.at - 1]

    def _alternatives(self) -> Tree:
        found = [self._sequence()]
        while self._take("|"):
            found.append(self._sequence())
        return ("or", found)

    def _sequence(self) -> Tree:
        found = []
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            found.append(self._quantified())
        return ("then", found)

    def _quantified(self) -> Tree:
        item = self._item()
        bounds: tuple[int, int | None] | None = None
        if self._take("?"):
            bounds = 0, 1
        elif self._take("*"):
            bounds = 0, None
        elif self._take("+"):
            bounds = 1, None
        elif self._take("{"):
            end = self.text.find("}", self.at)
            least, comma, most = self.text[self.at : end].partition(",")
            if end < 0 or not least.isdecimal() or not (most.isdecimal() or most == "") or len(least + most) > 4:
                raise NotUnderstoodError
            self.at = end + 1
            bounds = int(least), (int(most) if most else None) if comma else int(least)
        if bounds is None:
            return item
        interval = self.text[self.at - 1] == "}"
        possessive = self._take("+")
        if self._take("?") or (self.at < len(self.text) and self.text[self.at] in "*+{") or _may_be_empty(item):
            raise NotUnderstoodError
        if not possessive:
            return ("repeat", item, *bounds)
        if interval and self.oniguruma and bounds[0]:
            return ("repeat", ("repeat", item, *bounds), 1, None)
        if item[0] != "class" or (interval and self.oniguruma):
            raise NotUnderstoodError
        low, high = bounds  # as many as there are: fewer than the most only if what follows is another character
        if high is not None and high * (high - low) > _MOST_FEWER:
            raise NotUnderstoodError
        stop = ("look", item[1], False)
        if high is None:
            return ("then", [("repeat", item, low, None), stop])
        fewer = [("then", [*[item] * n, stop]) for n in range(high - 1, low - 1, -1)]
        return ("or", [("then", [item] * high), *fewer])

    def _item(self) -> Tree:
        if self._take("(?!"):
            return self._look(False)
        if self._take("(?="):
            return self._look(True)
        fold = self.fold
        if self._take("(?i:"):
            self.fold = True
        elif not self._take("(?:"):
            if self._take("$"):
                return ("end", _LINE, self.oniguruma)
            return ("class", self._class())
        found = self._alternatives()
        self.fold = fold
        if not self._take(")"):
            raise NotUnderstoodError
        return found

    def _look(self, wanted: bool) -> Tree:
        found = self._class()
        if not self._take(")"):
            raise NotUnderstoodError
        return ("look", found, wanted)

    def _class(self) -> CharacterClass:
        char = self._next()
        if char == "\\":
            return self._escape()
        if char in ".()*+?{}^$|":
            raise NotUnderstoodError
        return self._bracket() if char == "[" else self._char(char)

    def _char(self, char: str) -> CharacterClass:
        if not self.fold:
            return CharacterClass(frozenset(char))
        if char.isalpha() and not char.isascii():
            raise NotUnderstoodError
        return CharacterClass(frozenset(char.lower() + char.upper() + _FOLDS.get(char.lower(), "")))

    def _escape(self) -> CharacterClass:
        char = self._next()
        if char in "pP":
            name = self._next()
            if name == "{":
                end = self.text.find("}", self.at)
                if end < 0:
                    raise NotUnderstoodError
                name, self.at = self.text[self.at : end], end + 1
            found = frozenset(c for c in CATEGORIES if c == name or (len(name) == 1 and c[0] == name))
            if not found or self.fold:
                raise NotUnderstoodError
            return CharacterClass(frozenset(), categories=found, negated=char == "P")
        if char in "sS":
            return CharacterClass(frozenset(), white=True, negated=char == "S")
        if char in "dD":
            return CharacterClass(frozenset(), categories=frozenset(["Nd"]), negated=char == "D")
        if char in _ESCAPES:
            return self._char(_ESCAPES[char])
        if char.isalnum():
            raise NotUnderstoodError
        return self._char(char)

    def _bracket(self) -> CharacterClass:
        negated = self._take("^")
        chars = ""
        ranges: list[tuple[str, str]] = []
        others: list[CharacterClass] = []
        while not self._take("]"):
            if self.text.startswith(("[", "&&", "--", "~~", "||"), self.at):
                raise NotUnderstoodError
            one = self._escape() if self._take("\\") else self._char(self._next())
            single = one.chars and not one.ranges
            if single and self.text.startswith("-", self.at) and not self.text.startswith("-]", self.at):
                self.at += 1
                last = self._escape() if self._take("\\") else self._char(self._next())
                if len(one.chars) != 1 or len(last.chars) != 1 or max(last.chars) < min(one.chars):
                    raise NotUnderstoodError
                ranges.append((min(one.chars), min(last.chars)))
            elif single:
                chars += "".join(one.chars)
            elif self.text.startswith("-", self.at) and not self.text.startswith("-]", self.at):
                raise NotUnderstoodError
            else:
                others.append(one)
        if len(chars) + len(ranges) + len(others) > _MOST_IN_CLASS:
            raise NotUnderstoodError
        if not (chars or ranges or others):
            raise NotUnderstoodError  # a bracket right behind the first one
        return CharacterClass(frozenset(chars), tuple(ranges), negated=negated, others=tuple(others))


def _may_be_empty(tree: Tree) -> bool:
    """Whether a part of the tree matches without any character."""
    kind, *parts = tree
    if kind in ("then", "or"):
        return (all if kind == "then" else any)(map(_may_be_empty, parts[0]))
    return kind in ("look", "end") or (kind == "repeat" and (parts[1] == 0 or _may_be_empty(parts[0])))
