r"""Whether two regular expressions cut every text alike: proved over all strings, whatever the spelling.

What a pattern matches at a place depends on the text from there on only, so two patterns cut alike if at every place of every
text they match equally far. A pattern becomes a machine that reads a text once, with a list of threads (pattern_machine.py); the
machines of both patterns run side by side, and all pairs of lists that any text leads to are visited. Characters are told apart
as far as the patterns do: by class, or by themselves where a pattern names them (pattern_classes.py).

    `\p{N}{1,3}` and `\p{N}\p{N}?\p{N}?`: "1" leads both to "may end here, or read another digit", ...: four pairs, no difference
    `a|ab` and `ab|a`: after "a", the first ends with a match, the second goes on; "ab" tells them apart

What is understood is what pattern_reader.py says, and ``$`` where all engines agree what it is. Of anything else nothing is said.
"""

from __future__ import annotations

import functools

from ubpe_numba.text.pattern_classes import Letter, letters_of
from ubpe_numba.text.pattern_machine import Machine, Program
from ubpe_numba.text.pattern_reader import read_pattern
from ubpe_numba.text.pattern_work import NotUnderstoodError, Work

__all__ = ["Work", "cut_alike"]

_MOST_WORK = 60_000


def _match_alike(one: Machine, two: Machine, letters: list[Letter], first: set[Letter], ends: set[Letter]) -> bool:
    """Whether they match equally far in every text that begins with a letter of `first`; for `one` a text ends at `ends`."""
    begin = one.start, two.start, True
    seen, waiting = {begin}, [begin]
    while waiting:
        threads, others, alike = state = waiting.pop()
        for letter in (*letters, None):
            if state is begin and letter not in first:
                continue
            matched, behind = one.step(threads, None if letter in ends else letter)
            also, then = two.step(others, letter)
            if state is begin and (matched or also):
                raise NotUnderstoodError  # matches without any character
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


@functools.lru_cache(64)
def _program(pattern: str, oniguruma: bool) -> Program | None:
    """That of a pattern; None for one that is not understood."""
    try:
        return Program(read_pattern(pattern, oniguruma))
    except (NotUnderstoodError, RecursionError):
        return None


def cut_alike(steps: tuple[str, ...], pattern: str, oniguruma: bool = False, work: Work | None = None) -> bool:
    r"""Whether cutting by all steps, each what the ones before left in one piece, always is cutting by the pattern. O(work).

    False too if it cannot be told, or takes more `work` than is left. The steps are read as Oniguruma does, or as `regex` and
    tiktoken. All but the last must match every single character that they read, as ``\p{N}{1,3}`` does, and none that another of
    them reads.

    >>> cut_alike((r"'(?:[sdmt]|ll|ve|re)",), "'s|'d|'m|'t|'ll|'ve|'re"), cut_alike(("a|ab",), "ab|a")
    (True, False)
    >>> cut_alike((r"\p{N}", r"\s+(?!\S)"), r"\p{N}|\s+(?![^\s\p{N}])")
    True
    """
    work = Work(_MOST_WORK) if work is None else work
    programs = [program for step in steps if (program := _program(step, oniguruma)) is not None]
    if len(programs) < len(steps) or (named := _program(pattern, False)) is None:
        return False
    programs.append(named)
    try:
        classes = list(dict.fromkeys(one for program in programs for one in program.classes))
        letters = letters_of(classes, work)
        *first, last, whole = [Machine.of(program, classes, work) for program in programs]
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
    except NotUnderstoodError:
        return False
