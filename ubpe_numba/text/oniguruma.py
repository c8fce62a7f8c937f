r"""Patterns of a `tokenizer.json`, whose engine is Oniguruma, as patterns for `regex`.

The two read some of the same signs differently. A pattern is read sign by sign; one that may mean something else there, and is
not written otherwise here, is refused::

    pattern    ^ \w {1,3}+ [^(\s|[.!])]           here   (?:\A|(?<=\n)(?=[\s\S])) [\p{Alphabetic}...] {1,} [^(\s|.!)]
"""

from __future__ import annotations

import itertools
import re
import time
from typing import Any

from ubpe_numba.errors import quoted
from ubpe_numba.text.patterns import VERSION_OF_OTHERS
from ubpe_numba.text.unicode_classes import as_of
from ubpe_numba.text.unicode_data import UNICODE_VERSION

__all__ = ["as_regex", "may_be_empty", "spans"]

#: What is in a word there: `\w` of `regex` has two joiners more. Outside of classes there are numbers that are no digits too.
_WORD_IN_CLASS = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}"
_WORD = _WORD_IN_CLASS + r"\xb2\xb3\xb9\xbc-\xbe"
_HEX = "0-9A-Fa-f"
_EDGE = rf"(?:(?<=[{_WORD}])(?![{_WORD}])|(?<![{_WORD}])(?=[{_WORD}]))"
_INSIDE = rf"(?:(?<=[{_WORD}])(?=[{_WORD}])|(?<![{_WORD}])(?![{_WORD}]))"
_OUTSIDE = {  # of classes of characters
    "w": f"[{_WORD}]", "W": f"[^{_WORD}]", "h": f"[{_HEX}]", "H": f"[^{_HEX}]", "b": _EDGE, "B": _INSIDE, "A": r"\A",
    "z": r"(?![\s\S])", "Z": r"(?=\n?(?![\s\S]))", "R": r"(?>\r\n|[\n-\r\x85\u2028\u2029])",
}  # fmt: skip
_IN_CLASS = {"w": _WORD_IN_CLASS, "h": _HEX, "b": r"\x08"}
_POSIX = {"alpha": r"\p{Alphabetic}", "digit": r"\p{Nd}", "space": r"\s", "word": _WORD_IN_CLASS, "xdigit": _HEX}
_ALIKE = frozenset("dDsStnrfvae")
_NAMES = re.compile(  # of properties that both have; what is special in others, such as Punct, is not known
    r"[pP]\{\^?(?:L[ultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?|C[cfo]|(?!Alnum|Any|Assigned|Alpha|Blank|Cntrl|Digit|Graph"
    r"|Lower|Print|Punct|Space|Upper|Word)[A-Z][a-z]{2,15})\}"
)
_MOST_SECONDS, _MOST_WAITED = 0.25, 1.0  # for all short texts that a pattern is tried on, and for each while others work
_GROUP = re.compile(r"\(\?(?:(?P<same>:|>|=|!|<=|<!)|(?P<on>[im]*)(?P<off>-[im]*)?(?P<end>[:)]))")
_INTERVAL = re.compile(r"\{(?P<least>\d*)(?:,(?P<most>\d*))?\}(?P<more>[+?]?)")
_FOLDED = re.compile(r"ss|st|ff|fi|fl|[iI]|[^\x00-\x7f]")  # letters that are alike there or here only, in any case


def as_regex(pattern: str) -> str:
    r"""A pattern that matches the same in `regex`. ValueError for one that may not, saying what is in the way. O(length).

    >>> as_regex(r"\p{N}{1,3}+|[$^]\$|\s+$")
    '\\p{N}{1,}|[$^]\\$|\\s+(?m:$)'
    >>> as_regex(r" ?[^(\s|[.,])]+")
    ' ?[^(\\s|.,)]+'
    """
    out: list[str] = []
    at = 0
    groups: list[int] = []  # where those begin that are open; -1 where case matters, or did not outside of it
    is_folded = False
    while at < len(pattern):
        sign = pattern[at]
        if sign == "\\":
            text, at = _escape(pattern, at, _OUTSIDE)
        elif sign == "[":
            text, end = _set(pattern, at)
            if is_folded and "-" in pattern[at:end]:
                raise ValueError(f"{quoted(pattern[at:end])} in any case is read otherwise by Oniguruma")
            at = end
        elif sign == "(":
            text, end, any_case = _group(pattern, at)
            if any_case and text.endswith(")"):  # from here to the end
                _check_folded(pattern[end:])
                is_folded = True
            elif not text.endswith(")"):
                groups.append(end if any_case and not is_folded else -1)
                is_folded = is_folded or any_case
            at = end
        elif sign == ")" and groups:
            if (begin := groups.pop()) >= 0:
                _check_folded(pattern[begin:at])
                is_folded = False
            text, at = sign, at + 1
        elif sign == "{" and (interval := _INTERVAL.match(pattern, at)) and (interval["least"] or interval["most"]):
            text, at = _interval(interval), interval.end()
        else:
            text = {"^": r"(?:\A|(?<=\n)(?=[\s\S]))", "$": "(?m:$)"}.get(sign, sign)
            at += 1
        out.append(text)
    return "".join(out)


def _check_folded(part: str) -> None:
    """ValueError for a part of a pattern in any case that may match other letters there."""
    if found := _FOLDED.search(part):
        raise ValueError(f"{quoted(found[0])} in any case is read otherwise by Oniguruma")


def spans(compiled: Any, text: str, unicode: str = VERSION_OF_OTHERS) -> list[tuple[int, int]]:
    """Where a pattern matches, as there: by a version of Unicode, no empty match right behind another match, none in no text.

    >>> spans(re.compile("x*"), "ax")
    [(0, 0), (1, 2)]
    """
    if not text:
        return []
    found: list[tuple[int, int]] = []
    last = -1
    for match in compiled.finditer(text if text.isascii() or unicode == UNICODE_VERSION else as_of(unicode, text)):
        start, end = match.span()
        if start < end or start != last:
            found.append((start, end))
            last = end
    return found


def may_be_empty(compiled: Any, name: str) -> bool:
    """Whether a pattern matches nothing somewhere in short texts of its own characters and of a few others.

    `compiled` is of the package `regex`. ValueError if that takes a hundred times as long as for any pattern in use.

    >>> import regex
    >>> may_be_empty(regex.compile("a|$"), "step"), may_be_empty(regex.compile("a+"), "step")
    (True, False)
    """
    few = dict.fromkeys("aA1 \n.é中_" + compiled.pattern[:12])
    texts = map("".join, itertools.product([*few, ""], repeat=2))
    began = time.thread_time()
    try:
        for text in texts:
            if any(match.start() == match.end() for match in compiled.finditer(text, timeout=_MOST_WAITED)):
                return True
            if time.thread_time() - began > _MOST_SECONDS:
                raise TimeoutError
    except TimeoutError as error:
        told = f"{name}: {quoted(compiled.pattern)} takes too long on short texts: what repeats in it matches in many ways"
        raise ValueError(told) from error
    return False


def _escape(pattern: str, at: int, known: dict[str, str]) -> tuple[str, int]:
    """What a sign behind a backslash is, outside of a class or in one, and where the pattern goes on."""
    sign = pattern[at + 1 : at + 2]
    if sign in known:
        return known[sign], at + 2
    if sign in ("p", "P") and (found := _NAMES.match(pattern, at + 1)):
        return "\\" + found[0], found.end()
    if found := re.compile(r"x\{([0-9A-Fa-f]{1,6})\}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}").match(pattern, at + 1):
        return (f"\\U{found[1]:0>8}" if found[1] else "\\" + found[0]), found.end()
    if not sign or (sign.isalnum() and sign not in _ALIKE):
        raise ValueError(f"\\{sign} is not known to be read alike by Oniguruma")
    return "\\" + sign, at + 2


def _set(pattern: str, at: int) -> tuple[str, int]:
    """A class of characters, from its bracket on: sets in it, which `regex` has not, are joined with it."""
    negated = pattern.startswith("^", at + 1)
    parts = ["[^" if negated else "["]
    depth, at = 1, at + 1 + negated
    first = at
    if pattern.startswith("]", at) or pattern.startswith("--", at):
        raise ValueError("a class that begins with ] or -- is not known to be read alike by Oniguruma")
    after_set = False  # whether what is before is no character, so that no range can begin there
    while depth:
        sign = pattern[at : at + 1]
        if not sign:
            raise ValueError("a class has no end")
        if posix := re.compile(r"\[:([a-z]+):\]").match(pattern, at):
            if posix[1] not in _POSIX:
                raise ValueError(f"{posix[0]} is not known to be read alike by Oniguruma")
            text, at, is_set = _POSIX[posix[1]], posix.end(), True
        elif sign == "[":
            if pattern[at + 1 : at + 2] in ("^", "]", "-", ":"):
                raise ValueError("a negated class in another one is not supported")
            depth, text, at, is_set = depth + 1, "", at + 1, True
        elif sign == "]":
            depth, text, at, is_set = depth - 1, "" if depth > 1 else "]", at + 1, True
        elif sign == "\\":
            text, at = _escape(pattern, at, _IN_CLASS)
            is_set = text[1] in "pPdDsS" or len(text) > 10 or text == _HEX
        elif pattern.startswith("&&", at) or pattern.startswith("--", at):
            raise ValueError(f"{sign * 2} in a class is not supported")
        elif sign == "-" and (after_set or pattern[at + 1 : at + 2] == "]"):
            text, at, is_set = r"\-", at + 1, False
        else:
            text, at, is_set = "\\" + sign if pattern[at + 1 : at + 2] == sign else sign, at + 1, False
            if (
                sign == "-"
                and at > first + 1
                and pattern[at : at + 2].startswith(("[", "\\w", "\\d", "\\s", "\\h", "\\p", "\\P", "\\S", "\\D"))
            ):
                raise ValueError("a range to a class is not known to be read alike by Oniguruma")
        parts.append(text)
        after_set = is_set
    return "".join(parts), at


def _group(pattern: str, at: int) -> tuple[str, int, bool]:
    """The beginning of a group or an option, where the pattern goes on, and whether it says that case does not matter."""
    if not pattern.startswith(("(?", "(*"), at):
        return "(", at + 1, False
    found = _GROUP.match(pattern, at)
    if found is None:
        raise ValueError(f"{quoted(pattern[at : at + 4])} is not known to be read alike by Oniguruma")
    if found["same"]:
        return found[0], found.end(), False
    if found["end"] == ")" and at:
        raise ValueError(f"{quoted(found[0])} within a pattern is read otherwise by Oniguruma")
    return found[0].replace("m", "s"), found.end(), "i" in found["on"]


def _interval(found: re.Match[str]) -> str:
    """How often: there ``{1,3}+`` is once and again, and ``{2}?`` twice or never."""
    least, most, more = found["least"] or "0", found["most"], found["more"]
    if more == "+":
        if int(least[:9]) > 1 or most is None:
            raise ValueError(f"{found[0]} is read otherwise by Oniguruma")
        return f"{{{least},}}"
    if more and most is None:
        raise ValueError(f"{found[0]} is read otherwise by Oniguruma")
    return found[0]
