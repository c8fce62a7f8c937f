r"""A pattern as a machine that reads a text once, with a list of threads in the order in which a backtracking engine tries them.

A tree (pattern_reader.py) is compiled to states; they say which of a machine's classes of characters is read, and where a thread
goes on::

    ("read", class, next)          a character of the class       ("look", class, wanted, next)      whether one comes next
    ("fork", first, second)        to both, the first rather      ("end", newline, is_line, next)    before the end
    ("match",)                     the pattern ends

    a+b, from state 4 on:   0 match   1 read b, 0   2 fork 3, 1   3 read a, 2   4 read a, 2
    threads before a text   4         behind "a"   2         behind "aa"   2         behind "aab"   0, which is a match

Source: the machine of R. Pike, as R. Cox describes it in "Regular expression matching: the virtual machine approach", 2009.
"""

from __future__ import annotations

from ubpe_numba.text.pattern_classes import CharacterClass, Letter
from ubpe_numba.text.pattern_reader import Tree
from ubpe_numba.text.pattern_work import NotUnderstoodError, Work

__all__ = ["Machine", "Program"]

_MOST_STATES = 1000  # of the machine of a pattern
_WITH_CLASS = ("read", "look", "end")

_State = tuple  # see above


class Program:
    """The states of a tree, in which classes are themselves; it begins at the state `start`. NotUnderstoodError for too many."""

    def __init__(self, tree: Tree) -> None:
        self.states: list[_State] = [("match",)]
        self.start = self._compile(tree, 0)
        self.classes: list[CharacterClass] = list(dict.fromkeys(s[1] for s in self.states if s[0] in _WITH_CLASS))

    def _add(self, *state: object) -> int:
        if len(self.states) >= _MOST_STATES:
            raise NotUnderstoodError
        self.states.append(state)
        return len(self.states) - 1

    def _compile(self, tree: Tree, then: int) -> int:
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


class Machine:
    """A pattern, its classes by number; a list of threads holds the states where they go on."""

    def __init__(self, states: list[_State], start: tuple[int, ...], work: Work) -> None:
        self.states, self.start, self.work = states, start, work
        self._known: dict[tuple[object, object], tuple[bool, tuple[int, ...]]] = {}

    @classmethod
    def of(cls, program: Program, classes: list[CharacterClass], work: Work) -> Machine:
        """That of a program, with some classes by number, its own among them; each step is charged to `work`."""
        work.spend(len(program.states))
        number = {one: i for i, one in enumerate(classes)}
        states = [(s[0], number[s[1]], *s[2:]) if s[0] in _WITH_CLASS else s for s in program.states]
        return cls(states, (program.start,), work)

    def reads(self, letters: list[Letter]) -> set[Letter]:
        """The letters that may be in a match."""
        numbers = [state[1] for state in self.states if state[0] == "read"]
        return {letter for letter in letters if any(letter[number] for number in numbers)}

    def takes(self, letter: Letter, letters: list[Letter]) -> bool:
        """Whether it matches at this letter, whatever follows."""
        _, behind = self.step(self.start, letter)
        return all(self.step(behind, other)[0] for other in (*letters, None))

    def takes_runs(self, own: set[Letter], others: set[Letter]) -> bool:
        """Whether it matches all of any text of its own letters, before any of the others and the end of the text."""
        return all(self.step(threads, letter)[0] for threads in self._after(own) for letter in (*others, None))

    def takes_none(self, own: set[Letter]) -> bool:
        """Whether it matches nothing in any text of these letters."""
        return not any(self.step(threads, letter)[0] for threads in self._after(own) for letter in (*own, None))

    def _after(self, own: set[Letter]) -> set[tuple[int, ...]]:
        """The lists of threads behind any letters of these, one and more."""
        seen: set[tuple[int, ...]] = set()
        waiting = [self.start]
        while waiting:
            threads = waiting.pop()
            behind = {self.step(threads, letter)[1] for letter in own} - seen
            seen |= behind
            waiting += behind
        return seen

    def step(self, threads: tuple[int, ...], letter: Letter | None) -> tuple[bool, tuple[int, ...]]:
        """Whether it matches up to here, and the threads behind this letter; None is the end of the text."""
        if (found := self._known.get((threads, letter))) is not None:
            self.work.spend(1)
            return found
        matched, seen, behind, waiting = False, set(), [], list(reversed(threads))
        while waiting and not matched:
            at = waiting.pop()
            if at in seen:
                continue
            seen.add(at)
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
                    raise NotUnderstoodError  # some engines match before a newline that ends the text
                if letter is None or letter[rest[0]]:
                    waiting.append(rest[2])
            elif letter is not None and letter[rest[0]]:
                behind.append(rest[1])
        self.work.spend(1 + len(seen))
        found = matched, tuple(dict.fromkeys(behind))
        self._known[threads, letter] = found
        return found
