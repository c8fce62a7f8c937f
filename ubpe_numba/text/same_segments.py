r"""Whether two regular expressions cut every text alike: proved over all strings, whatever the spelling.

What a pattern matches at a place depends on the text from there on only, so two patterns cut alike if at every place of every
text they match equally far. A pattern is compiled for a machine that reads a text once, with a list of threads in the order in
which a backtracking engine would try them; the machines of both patterns run side by side, and all pairs of lists that any text
leads to are visited. Characters are told apart as far as the patterns do: by class, or by themselves where a pattern names them.

    `\p{N}{1,3}` and `\p{N}\p{N}?\p{N}?`: "1" leads both to "may end here, or read another digit", ...: four pairs, no difference
    `a|ab` and `ab|a`: after "a", the first ends with a match, the second goes on; "ab" tells them apart

What is understood: classes of general categories, ``\s``, ``\d``, ranges, groups, ``(?i:`` before letters of ASCII,
alternatives, greedy quantifiers, possessive ones of a single class, ``(?!`` and ``(?=`` before a single class, and ``$`` where
all engines agree what it is. Of anything else nothing is said. Oniguruma, the engine of Hugging Face, reads ``{1,3}+`` as a
repetition of ``{1,3}``, and ``$`` as the end of a line.
"""

from __future__ import annotations

import itertools
import unicodedata
from typing import NamedTuple

__all__ = ["cut_alike"]

_CATEGORIES = [
    "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po",
    "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn",
]  # fmt: skip
_WHITE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v"}
_FOLDS = {"s": "\u017f", "k": "\u212a"}  # what folds to a letter of ASCII, beside the letter in the other case
_LONGEST = 2000  # characters of a pattern
_MOST_STATES = 1000  # of the machine of a pattern
_MOST_STEPS = 20_000  # of the machines of two patterns together
_MOST_WORK = 20_000  # threads that a machine looks at: some hundredths of a second
_SMALL = 1 << 15  # code points of a range whose categories are looked up; those of a larger one may be any


_Letter = tuple  # of bool: a kind of characters, as which classes hold it


class _NotUnderstoodError(Exception):
    """A pattern that this file cannot read, or that would take too long."""


class _Class(NamedTuple):
    """A set of characters: what it names, ranges, categories, white space; the others of `negated` ones."""

    chars: frozenset[str]
    ranges: tuple[tuple[str, str], ...] = ()
    categories: frozenset[str] = frozenset()
    white: bool = False
    negated: bool = False
    others: tuple[_Class, ...] = ()  # classes within brackets, such as \S

    def holds(self, char: str, category: str, interval: tuple[int, int] | None) -> bool:
        """Whether it holds a character that is named, or all those of a category in an interval of code points."""
        if interval is None:
            found = char in self.chars or any(a <= char <= b for a, b in self.ranges) or (self.white and char in _WHITE)
        else:
            found = any(ord(a) <= interval[0] and interval[1] <= ord(b) for a, b in self.ranges)
        found = found or category in self.categories or any(other.holds(char, category, interval) for other in self.others)
        return found is not self.negated

    def everything(self) -> list[_Class]:
        return [self, *(inner for other in self.others for inner in other.everything())]


_LINE = _Class(frozenset("\n"))
_WITH_CLASS = ("read", "look", "end")
#: ("read", class, next), ("fork", first, second), ("look", class, wanted, next), ("end", newline, is_line, next), ("match",)
_State = tuple


class _Reader:
    """Reads a pattern: `states` is its machine, which starts at `start`."""

    def __init__(self, pattern: str, oniguruma: bool) -> None:
        if len(pattern) > _LONGEST:
            raise _NotUnderstoodError
        self.text, self.at, self.fold, self.oniguruma = pattern, 0, False, oniguruma
        self.states: list[_State] = [("match",)]
        tree = self._alternatives()
        if self.at < len(pattern):
            raise _NotUnderstoodError
        self.start = self._compile(tree, 0)

    def classes(self) -> list[_Class]:
        return list(dict.fromkeys(state[1] for state in self.states if state[0] in _WITH_CLASS))

    # ------------------------------------------------------------------------------------------------ from text to a tree

    def _take(self, text: str) -> bool:
        if self.text.startswith(text, self.at):
            self.at += len(text)
            return True
        return False

    def _next(self) -> str:
        if self.at >= len(self.text):
            raise _NotUnderstoodError
        self.at += 1
        return self.text[self.at - 1]

    def _alternatives(self) -> tuple:
        found = [self._sequence()]
        while self._take("|"):
            found.append(self._sequence())
        return ("or", found)

    def _sequence(self) -> tuple:
        found = []
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            found.append(self._quantified())
        return ("then", found)

    def _quantified(self) -> tuple:
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
                raise _NotUnderstoodError
            self.at = end + 1
            bounds = int(least), (int(most) if most else None) if comma else int(least)
        if bounds is None:
            return item
        interval = self.text[self.at - 1] == "}"
        possessive = self._take("+")
        if self._take("?") or (self.at < len(self.text) and self.text[self.at] in "*+{") or _may_be_empty(item):
            raise _NotUnderstoodError
        if not possessive:
            return ("repeat", item, *bounds)
        if interval and self.oniguruma and bounds[0]:
            return ("repeat", ("repeat", item, *bounds), 1, None)
        if item[0] != "class" or (interval and self.oniguruma):
            raise _NotUnderstoodError
        low, high = bounds  # as many as there are: fewer than the most only if what follows is another character
        stop = ("look", item[1], False)
        if high is None:
            return ("then", [("repeat", item, low, None), stop])
        fewer = [("then", [*[item] * n, stop]) for n in range(high - 1, low - 1, -1)]
        return ("or", [("then", [item] * high), *fewer])

    def _item(self) -> tuple:
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
            raise _NotUnderstoodError
        return found

    def _look(self, wanted: bool) -> tuple:
        found = self._class()
        if not self._take(")"):
            raise _NotUnderstoodError
        return ("look", found, wanted)

    def _class(self) -> _Class:
        char = self._next()
        if char == "\\":
            return self._escape()
        if char in ".()*+?{}^$|":
            raise _NotUnderstoodError
        return self._bracket() if char == "[" else self._char(char)

    def _char(self, char: str) -> _Class:
        if not self.fold:
            return _Class(frozenset(char))
        if char.isalpha() and not char.isascii():
            raise _NotUnderstoodError
        return _Class(frozenset(char.lower() + char.upper() + _FOLDS.get(char.lower(), "")))

    def _escape(self) -> _Class:
        char = self._next()
        if char in "pP":
            name = self._next()
            if name == "{":
                end = self.text.find("}", self.at)
                if end < 0:
                    raise _NotUnderstoodError
                name, self.at = self.text[self.at : end], end + 1
            found = frozenset(c for c in _CATEGORIES if c == name or (len(name) == 1 and c[0] == name))
            if not found or self.fold:
                raise _NotUnderstoodError
            return _Class(frozenset(), categories=found, negated=char == "P")
        if char in "sS":
            return _Class(frozenset(), white=True, negated=char == "S")
        if char in "dD":
            return _Class(frozenset(), categories=frozenset(["Nd"]), negated=char == "D")
        if char in _ESCAPES:
            return self._char(_ESCAPES[char])
        if char.isalnum():
            raise _NotUnderstoodError
        return self._char(char)

    def _bracket(self) -> _Class:
        negated = self._take("^")
        chars = ""
        ranges: list[tuple[str, str]] = []
        others: list[_Class] = []
        while not self._take("]"):
            if self.text.startswith(("[", "&&", "--", "~~", "||"), self.at):
                raise _NotUnderstoodError
            one = self._escape() if self._take("\\") else self._char(self._next())
            single = one.chars and not one.ranges
            if single and self.text.startswith("-", self.at) and not self.text.startswith("-]", self.at):
                self.at += 1
                last = self._escape() if self._take("\\") else self._char(self._next())
                if len(one.chars) != 1 or len(last.chars) != 1 or max(last.chars) < min(one.chars):
                    raise _NotUnderstoodError
                ranges.append((min(one.chars), min(last.chars)))
            elif single:
                chars += "".join(one.chars)
            elif self.text.startswith("-", self.at) and not self.text.startswith("-]", self.at):
                raise _NotUnderstoodError
            else:
                others.append(one)
        if not (chars or ranges or others):
            raise _NotUnderstoodError  # a bracket right behind the first one
        return _Class(frozenset(chars), tuple(ranges), negated=negated, others=tuple(others))

    # ------------------------------------------------------------------------------------------------ from the tree to states

    def _add(self, *state: object) -> int:
        if len(self.states) >= _MOST_STATES:
            raise _NotUnderstoodError
        self.states.append(state)
        return len(self.states) - 1

    def _compile(self, tree: tuple, then: int) -> int:
        """The state where a part of the tree begins that is followed by the state `then`."""
        kind, *parts = tree
        if kind == "class":
            return self._add("read", parts[0], then)
        if kind in ("look", "end"):
            return self._add(kind, *parts, then)
        if kind == "then":
            for part in reversed(parts[0]):
                then = self._compile(part, then)
            return then
        if kind == "or":
            *others, start = [self._compile(part, then) for part in parts[0]]
            for other in reversed(others):
                start = self._add("fork", other, start)
            return start
        item, low, high = parts
        if high is None:
            loop = self._add("fork", 0, then)
            first = self._compile(item, loop)
            self.states[loop] = ("fork", first, then)
            start = loop
        else:
            start = then
            for _ in range(high - low):
                start = self._add("fork", self._compile(item, start), then)
        for _ in range(low):
            start = self._compile(item, start)
        return start


def _may_be_empty(tree: tuple) -> bool:
    """Whether a part of the tree matches without any character."""
    kind, *parts = tree
    if kind in ("then", "or"):
        return (all if kind == "then" else any)(map(_may_be_empty, parts[0]))
    return kind in ("look", "end") or (kind == "repeat" and (parts[1] == 0 or _may_be_empty(parts[0])))


def _letters(classes: list[_Class]) -> list[_Letter]:
    """The kinds of characters that classes tell apart, each as which classes hold it."""
    parts = [part for one in classes for part in one.everything()]
    named = {char for part in parts for char in part.chars} | set(_WHITE)
    bounds = {0, 0x110000}
    for part in parts:
        for a, b in part.ranges:
            bounds |= {ord(a), ord(b) + 1}
    kinds = {tuple(one.holds(char, unicodedata.category(char), None) for one in classes) for char in named}
    for begin, end in itertools.pairwise(sorted(bounds)):
        few = _CATEGORIES
        if end - begin <= _SMALL:
            chars = [chr(point) for point in range(begin, end) if chr(point) not in named]
            few = sorted({unicodedata.category(char) for char in chars})
        kinds |= {tuple(one.holds("", category, (begin, end - 1)) for one in classes) for category in few}
    return sorted(kinds)


class _Machine:
    """A pattern, its classes by number; a list of threads holds the states where they go on."""

    def __init__(self, states: list[_State], start: tuple[int, ...]) -> None:
        self.states, self.start = states, start
        self.work = 0
        self._known: dict[tuple[object, object], tuple[bool, tuple[int, ...]]] = {}

    @classmethod
    def of(cls, reader: _Reader, classes: list[_Class]) -> _Machine:
        """That of a pattern that was read."""
        number = {one: i for i, one in enumerate(classes)}
        states = [(s[0], number[s[1]], *s[2:]) if s[0] in _WITH_CLASS else s for s in reader.states]
        return cls(states, (reader.start,))

    def reads(self, letters: list[_Letter]) -> set[_Letter]:
        """The letters that may be in a match."""
        numbers = [state[1] for state in self.states if state[0] == "read"]
        return {letter for letter in letters if any(letter[number] for number in numbers)}

    def takes(self, letter: _Letter, letters: list[_Letter]) -> bool:
        """Whether it matches at this letter, whatever follows."""
        _, behind = self.step(self.start, letter)
        return all(self.step(behind, other)[0] for other in (*letters, None))

    def takes_runs(self, own: set[_Letter], others: set[_Letter]) -> bool:
        """Whether it matches all of any text of its own letters, before any of the others and the end of the text."""
        return all(self.step(threads, letter)[0] for threads in self._after(own) for letter in (*others, None))

    def takes_none(self, own: set[_Letter]) -> bool:
        """Whether it matches nothing in any text of these letters."""
        return not any(self.step(threads, letter)[0] for threads in self._after(own) for letter in (*own, None))

    def _after(self, own: set[_Letter]) -> set[tuple[int, ...]]:
        """The lists of threads behind any letters of these, one and more."""
        seen: set[tuple[int, ...]] = set()
        waiting = [self.start]
        while waiting:
            threads = waiting.pop()
            behind = {self.step(threads, letter)[1] for letter in own} - seen
            seen |= behind
            waiting += behind
        return seen

    def step(self, threads: tuple[int, ...], letter: _Letter | None) -> tuple[bool, tuple[int, ...]]:
        """Whether it matches up to here, and the threads behind this letter; None is the end of the text."""
        if (found := self._known.get((threads, letter))) is not None:
            return found
        matched, seen, behind, waiting = False, set(), [], list(reversed(threads))
        while waiting and not matched:
            at = waiting.pop()
            if at in seen:
                continue
            seen.add(at)
            self.work += 1
            kind, *rest = self.states[at]
            if kind == "match":
                matched = True  # threads of less priority end
            elif kind == "fork":
                waiting += [rest[1], rest[0]]
            elif kind == "look":
                if (letter is not None and letter[rest[0]]) is rest[1]:
                    waiting.append(rest[2])
            elif kind == "end":
                if letter is not None and letter[rest[0]] and not rest[1]:
                    raise _NotUnderstoodError  # some engines match before a newline that ends the text
                if letter is None or letter[rest[0]]:
                    waiting.append(rest[2])
            elif letter is not None and letter[rest[0]]:
                behind.append(rest[1])
        if self.work > _MOST_WORK:
            raise _NotUnderstoodError
        found = matched, tuple(dict.fromkeys(behind))
        self._known[threads, letter] = found
        return found


def _match_alike(one: _Machine, two: _Machine, letters: list[_Letter], first: set[_Letter], ends: set[_Letter]) -> bool:
    """Whether they match equally far in every text that begins with a letter of `first`; for `one` a text ends at `ends`."""
    begin = one.start, two.start, True
    seen, waiting, steps = {begin}, [begin], 0
    while waiting:
        threads, others, alike = state = waiting.pop()
        for letter in (*letters, None):
            if state is begin and letter not in first:
                continue
            if (steps := steps + 1) > _MOST_STEPS:
                raise _NotUnderstoodError
            matched, behind = one.step(threads, None if letter in ends else letter)
            also, then = two.step(others, letter)
            if state is begin and (matched or also):
                raise _NotUnderstoodError  # matches without any character
            now = matched if matched is also and matched else alike if matched is also else False
            if letter is None or not (behind or then):
                if not now:
                    return False
                continue
            following = behind, then, now
            if following not in seen:
                seen.add(following)
                waiting.append(following)
    return True


def cut_alike(steps: tuple[str, ...], pattern: str, oniguruma: bool = False) -> bool:
    r"""Whether cutting by all steps, each what the ones before left in one piece, always is cutting by the pattern. O(1) seconds.

    False too if it cannot be told. The steps are read as Oniguruma does, or as `regex` and tiktoken. All but the last must match
    every single character that they read, as ``\p{N}{1,3}`` does, and none that another of them reads.

    >>> cut_alike((r"'(?:[sdmt]|ll|ve|re)",), "'s|'d|'m|'t|'ll|'ve|'re"), cut_alike(("a|ab",), "ab|a")
    (True, False)
    >>> cut_alike((r"\p{N}", r"\s+(?!\S)"), r"\p{N}|\s+(?![^\s\p{N}])")
    True
    """
    try:
        readers = [*(_Reader(step, oniguruma) for step in steps), _Reader(pattern, False)]
        classes = list(dict.fromkeys(one for reader in readers for one in reader.classes()))
        letters = _letters(classes)
        *first, last, whole = [_Machine.of(reader, classes) for reader in readers]
        rest = set(letters)  # what the first steps leave
        for machine in first:
            own = machine.reads(letters)
            if not own <= rest or not all(machine.takes(letter, letters) for letter in own):
                return False
            rest, others = rest - own, set(letters) - own
            if not (last.takes_runs(own, set()) or last.takes_none(own)):  # the last step cuts the pieces, too
                if not machine.takes_runs(own, others):
                    return False
                machine = last
            if not _match_alike(machine, whole, letters, own, others):
                return False
        return _match_alike(last, whole, letters, rest, set(letters) - rest)
    except (_NotUnderstoodError, RecursionError):
        return False
