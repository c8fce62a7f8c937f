r"""How long a regular expression may take to cut a text: patterns that can be tried in very many ways are given a time.

An engine that backtracks tries all ways to match before it gives up. Where a repeat stands in a repeat, or alternatives do, their
number doubles with every character; k repeats one after the other are tried in n**k ways::

    (a+)+$   on aaa!    aaa, aa a, a aa, a a a      2**(n - 1) ways
    ' ?\p{L}+|\s+'      one repeat a branch         n ways

The package `regex` can stop, but looks at the clock for each match then (0.7 us), so that patterns without such parts, as those
in use are, are not timed.
"""

from __future__ import annotations

import functools
import re
from typing import Any

from ubpe_numba.text.pattern_size import CLASS, COMMENT

__all__ = ["may_take_long", "seconds", "too_long"]

_SECONDS, _PER_CHARACTER = 10.0, 1e-4  # of processor time; the second is a thousand times what patterns in use take
_MOST_REPEATS = 2  # without an end, one after the other
_BACK = frozenset("123456789gkL")  # references to groups and lists
_MOST_CHOICES = 8  # one after the other, optional parts and alternatives included: each doubles what is tried
_SIGN = re.compile(
    rf"\\[pPNx]\{{[^}}]*\}}|\\.|{COMMENT}|{CLASS}"
    r"|\((?P<group>\?(?:[ims]*(?:-[ims]+)?:|<?[=!]|>|P?<\w+>|[ims]+\))|(?![?*]))"
    r"|(?P<repeat>[*+?]|\{(?P<least>\d*)(?P<comma>,?)(?P<most>\d*)\})[?+]?|.",
    re.DOTALL,
)
_ENDLESS = 100  # a repeat of so many


class _Group:
    """Choices and endless repeats one after the other: of the branch that is read, and the most of those before."""

    def __init__(self) -> None:
        self.choices = self.repeats = self.most_choices = self.most_repeats = self.alternatives = 0

    def end_branch(self) -> tuple[int, int]:
        """The most of all branches so far."""
        self.most_choices, self.most_repeats = max(self.most_choices, self.choices), max(self.most_repeats, self.repeats)
        self.choices = self.repeats = 0
        return self.most_choices + self.alternatives, self.most_repeats


@functools.lru_cache(256)
def may_take_long(pattern: str) -> bool:
    r"""Whether a pattern might be tried in more than some n**2 ways on n characters; also for what is not read here. O(length).

    >>> [may_take_long(pattern) for pattern in (r"(a+)+$", r"(?:a|aa)+b", r"a*b*c*", r"\p{L}+|\s+(?!\S)|\s*[\r\n]+")]
    [True, True, True, False]
    """
    groups = [_Group()]
    last = 0, 0  # choices and endless repeats of what a repeat would be of
    for sign in _SIGN.finditer(pattern):
        text = sign[0]
        if sign["repeat"]:
            most = _most(sign)
            if most > 1 and any(last):
                return True
            if text[0] != "{" or sign["comma"]:
                last = last[0] + 1, last[1] + (most >= _ENDLESS)
                groups[-1].choices += 1
                groups[-1].repeats += most >= _ENDLESS
        elif sign["group"] is not None:
            if not text.endswith(")"):  # flags for all that follows are no group
                groups.append(_Group())
            last = 0, 0
        elif text == ")" and len(groups) > 1:
            last = groups.pop().end_branch()
            groups[-1].choices += last[0]
            groups[-1].repeats += last[1]
        elif text == "|":
            groups[-1].end_branch()
            groups[-1].alternatives = 1
        elif text in ("(", "{") or (text[0] == "\\" and text[1:2] in _BACK):
            return True
        else:
            last = 0, 0
    choices, repeats = groups[0].end_branch()
    return len(groups) > 1 or repeats > _MOST_REPEATS or choices > _MOST_CHOICES


def _most(repeat: re.Match[str]) -> int:
    """How often a repeat may be, `_ENDLESS` for more."""
    if repeat["repeat"] == "?":
        return 1
    digits = repeat["most"] if repeat["comma"] else repeat["least"]
    return int(digits) if digits is not None and 0 < len(digits) < 3 else _ENDLESS


def seconds(pattern: str, length: int) -> float | None:
    """How long a pattern may take on a text of so many characters, as `regex` takes it; None: as long as it needs.

    >>> seconds("(a+)+b", 100_000), seconds("a+b", 100_000)
    (20.0, None)
    """
    return _SECONDS + _PER_CHARACTER * length if may_take_long(pattern) else None


def too_long(pattern: Any, text: str, name: str) -> ValueError:
    """The error where the time was over.

    >>> str(too_long("(a+)+b", "a" * 100_000, "pretokenizer"))[:80]
    "pretokenizer: '(a+)+b' takes more than 20 s of processor time on 'aaaaaaaaaaaaaa"
    """
    shown = f"{text[:20]!r} and {len(text) - 20} more characters" if len(text) > 20 else repr(text)
    most = _SECONDS + _PER_CHARACTER * len(text)
    return ValueError(
        f"{name}: {pattern!r:.200} takes more than {most:.3g} s of processor time on {shown}: "
        "what repeats in it matches in many ways"
    )
