r"""The one gate for regular expressions of text: a pattern keeps the meaning of its library.

Patterns are written for tiktoken (Rust's regex and fancy-regex; users' patterns are read so too) or for
tokenizers (Oniguruma). The package `regex`, which runs them here, gives some characters of these another
meaning. So a pattern is read character by character and rewritten for `regex`. A character that may differ in
meaning raises an error with its name::

    tiktoken    [a-z--[aeiou]]+$|(?i:k)                     consonants at the end; k in any case
    regex       (?V1)[[a-z]--[[aeiou]]]+\Z|(?:[kK\u212a])
"""

from __future__ import annotations

import re
from typing import NoReturn

from ubpe_numba.errors import quoted
from ubpe_numba.runtime.lazy import require

_HINTS = {  # for characters that raise errors
    "$": r"write (?![\s\S]) for the end of the text",
    "[:": "write the characters, such as a-zA-Z",
    r"\h": r"write [ \t] for blanks, [0-9A-Fa-f] for digits",
    "{": r"write \{ for the character",
}
_GROUP = re.compile(
    r"\((?!\*)(?:\?(?:(?P<look><?[=!])|[:>]|P?<[A-Za-z_]\w*>|(?P<flags>[a-zA-Z]*(?:-[a-zA-Z]+)?)(?P<end>[:)])))?(?!\?)"
)
_REPEAT = re.compile(r"(?:[*+?]|\{(?P<least>\d{1,5})(?:,\d{0,5})?\})(?P<kind>[?+]?)")
_ESCAPE = re.compile(
    r"\\(?:[pP](?:[A-Z]|\{\^?\w+\})|x[0-9A-Fa-f]{2}|[xu]\{[0-9A-Fa-f]{1,6}\}|u[0-9A-Fa-f]{4}|.)", re.DOTALL
)
_PROPERTY = re.compile(
    r"\\[pP]\{?\^?(?:L[ultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?|Arabic|Armenian|Bengali|Cyrillic|Devanagari|Georgian"
    r"|Greek|Gujarati|Han|Hangul|Hebrew|Hiragana|Kannada|Katakana|Khmer|Lao|Malayalam|Myanmar|Tamil|Telugu|Thai|Tibetan)\}?"
)
_CONTROLS = {r"\n": "\n", r"\r": "\r", r"\t": "\t", r"\f": "\f", r"\v": "\v"}
_PLACES = {"^": r"\A", "$": r"\Z", r"\A": r"\A", r"\z": r"\Z", r"\b": r"\b", r"\B": r"\B"}
_CLASS = re.compile(r"\\[dDsSwW]|\\[pP]\{\w+\}")
_OPERATIONS = ("&&", "--", "~~")
# here Oniguruma does not take two letters for one, such as ß
_FOLDED = re.compile(r"\(\?i:(?:(?!ss|st|f[fil])['a-hj-z|])+\)")
_CASES = {"k": "\u212a", "s": "\u017f"}  # in addition to the other case
# on the surroundings, or on more than one character
_DEPENDS = re.compile(r"\(\?[=!<>]|\\[AZbB]|\)(?:[*+?]|\{[\d,]*\})\+")
_MOST_DEPTH = 50  # of groups, and of sets
_ENDLESS = 1 << 60


def portable(pattern: str, oniguruma: bool = False) -> str:
    r"""The pattern for `regex` that matches as `pattern` does in tiktoken, or tokenizers (`oniguruma`).

    O(length).

    ValueError for a character that may differ in meaning, and for a pattern that may match nothing: engines
    continue in different ways after that. Patterns read as by Oniguruma mean the same to tiktoken.

    >>> portable(r"[a-z--[aeiou]]+$")
    '(?V1)[[a-z]--[[aeiou]]]+\\Z'
    """
    return "(?V1)" + "|".join(_branches(pattern, oniguruma))


def left_out(pattern: str) -> str:
    r"""A character that a pattern may not match at some place, so that tiktoken drops it.

    "" if it is certain that there is none.

    >>> left_out(r"\p{L}+|\s+"), left_out(r"\S|\s+(?!\S)"), left_out(r" ?\S+|\s+(?!\S)|\s")
    ('\x00', '\t', '')
    """
    alike = [branch for branch in _branches(pattern, False) if not _DEPENDS.search(branch)]  # in every text
    one = require("regex", "pretokenizer: a pattern", "text").compile("(?V1)" + "|".join(alike)).fullmatch
    return next((char for char in map(chr, range(0x110000)) if not one(char)), "")


def _branches(pattern: str, oniguruma: bool) -> list[str]:
    """The alternatives of a pattern, as `portable` has them."""
    branches, at, fold, dot = [""], 0, False, False  # `fold`: in any case; `dot`: . is any character
    # characters that the branches of the group so far match at least, this branch included
    shortest, length = _ENDLESS, 0
    last = -1  # those of what may be repeated now, -1 for nothing
    outer: list[tuple[bool, bool, int, int, str | None]] = []
    while at < len(pattern):
        sign = pattern[at]
        if sign == "(":
            match = _GROUP.match(pattern, at)
            alike = (
                _FOLDED.match(pattern, at)
                if match and match["flags"]
                else match and (match["look"] or match[0] in ("(", "(?:"))
            )
            if match is None or len(outer) > _MOST_DEPTH or (oniguruma and not alike):
                _refuse(pattern[at : at + 3] if match is None else match[0], oniguruma)
            if match["end"] == ")":  # flags to the end; in a group fancy-regex has them beyond it
                if outer:
                    _refuse(match[0], oniguruma)
                fold, dot, text, last = *_flags(match, fold, dot), "", -1
            else:
                outer.append((fold, dot, shortest, length, match["look"]))
                fold, dot = _flags(match, fold, dot)
                text = match[0] if match["look"] or match[0] == "(?>" else "(?:"
                shortest, length, last = _ENDLESS, 0, -1
            at = match.end()
        elif sign == ")" and outer:
            inner = min(shortest, length)
            fold, dot, shortest, length, look = outer.pop()
            text, last, at = sign, -1 if look else inner, at + 1
            length += max(last, 0)
        elif sign == "|":
            shortest, length, text, last, at = min(shortest, length), 0, sign, -1, at + 1
        elif repeat := _REPEAT.match(pattern, at):
            text, at = repeat[0], repeat.end()
            # where `regex` repeats from the end
            is_behind = any(look and look[0] == "<" for *_, look in outer)
            if last < 0 or (repeat["kind"] and ((oniguruma and repeat["least"]) or is_behind)):
                _refuse(text, oniguruma)
            if not last and text[0] != "?":
                raise ValueError(f"{quoted(text)} repeats what may match nothing")
            length += last * (int(repeat["least"] or text[0] == "+") - 1)
            last = -1
        else:
            text, at, last = _one(pattern, at, fold, dot, oniguruma)
            length += max(last, 0)
        if text == "|" and not outer:
            branches.append("")
        else:
            branches[-1] += text
    if not min(shortest, length) and not outer:
        raise ValueError("it may match nothing; leave that out, with + in place of *")
    return branches


def _refuse(sign: str, oniguruma: bool) -> NoReturn:
    hint = f"; {_HINTS[sign]}" if sign in _HINTS else ""
    raise ValueError(f"{quoted(sign)} is not read as by {'tokenizers' if oniguruma else 'tiktoken'}{hint}")


def _flags(group: re.Match[str], fold: bool, dot: bool) -> tuple[bool, bool]:
    """Whether case is ignored, and whether . is any character, after flags; ValueError for other flags."""
    on, _, off = (group["flags"] or "").partition("-")
    if {*on, *off} - {"i", "s"}:
        _refuse(group[0], False)
    return (fold or "i" in on) and "i" not in off, (dot or "s" in on) and "s" not in off


def _one(pattern: str, at: int, fold: bool, dot: bool, oniguruma: bool) -> tuple[str, int, int]:
    """A set, a character, a class or a place: for `regex`, its end, and its number of characters.

    -1 characters for a place.
    """
    sign = pattern[at]
    place = sign if sign in "^$" else pattern[at : at + 2]
    if place in _PLACES:
        if oniguruma:
            _refuse(place, oniguruma)
        return _PLACES[place], at + len(place), -1
    if sign == "[":
        text, end = _set(pattern, at, fold, oniguruma, 0)
        return text, end, 1
    if sign == ".":
        return r"[\s\S]" if dot else sign, at + 1, 1
    if place == r"\X" and not oniguruma:
        return place, at + 2, 1
    if sign in "{)" or (sign in "]}" and oniguruma):
        _refuse(sign, oniguruma)
    text, end, char = _character(pattern, at, fold, oniguruma)
    if char is None or not fold or (char <= "\x7f" and not char.isalpha()):
        return text, end, 1
    return f"[{_in_any_case(char, char)}]", end, 1


def _character(pattern: str, at: int, fold: bool, oniguruma: bool) -> tuple[str, int, str | None]:
    """A class or a character of a pattern or a set, for `regex`, its end, and the character.

    None for a class.
    """
    match = _ESCAPE.match(pattern, at)
    if match is None:
        char, end = pattern[at], at + 1
        if char == "\\":
            _refuse(char, oniguruma)
    else:
        text, end = match[0], match.end()
        if text[1] in "dDsS":
            return text, end, None
        if not fold and (_PROPERTY.fullmatch(text) if text[1] in "pP" else text[1] in "wW" and not oniguruma):
            if text[1] in "pP":  # always in one form
                kind = text[1].swapcase() if "^" in text else text[1]
                text = f"\\{kind}{{{text[2:].strip('{^}')}}}"
            return text, end, None
        if text in _CONTROLS:
            return _CONTROLS[text], end, _CONTROLS[text]
        if len(text) > 2 and text[1] in "xu" and not oniguruma:
            number = int(text[2:].strip("{}"), 16)
            if number > 0x10FFFF or 0xD800 <= number < 0xE000:
                _refuse(text, oniguruma)
            char = chr(number)
        elif text[1].isascii() and not text[1].isalnum() and text[1] not in "<>":
            char = text[1]
        else:
            _refuse(text, oniguruma)
    return re.escape(char), end, char


def _in_any_case(first: str, last: str) -> str:
    """The characters of a range and those that differ from them in case, within a set.

    ValueError beyond ASCII.
    """
    if last > "\x7f":
        raise ValueError(f"{quoted(last)}: without regard to case only ASCII is read as by tiktoken")
    chars = {
        char
        for c in map(chr, range(ord(first), ord(last) + 1))
        for char in c.lower() + c.upper() + _CASES.get(c.lower(), "")
    }
    return "".join(map(re.escape, sorted(chars)))


def _set(pattern: str, at: int, fold: bool, oniguruma: bool, depth: int = 0) -> tuple[str, int]:
    """The set that begins here, for `regex` in version 1, and its end.

    There, operands are sets in the set.
    """
    sign = "[^" if pattern.startswith("[^", at) else "["
    at += len(sign)
    done, written = "", ""  # the operands before with their operations, and the present operand
    while pattern.startswith("-", at) and not oniguruma:  # Rust: characters, however many
        written, at = written + r"\-", at + 1
    if pattern.startswith("]", at) and not (written or oniguruma):  # as above
        written, at = r"\]", at + 1
    while not pattern.startswith("]", at):
        two = pattern[at : at + 2]
        if two in _OPERATIONS and written and not oniguruma:
            done, written, at = f"{f'[{done}[{written}]]' if done else f'[{written}]'}{two}", "", at + 2
        elif (
            not two
            or two in (*_OPERATIONS, "[:")
            or depth > _MOST_DEPTH
            or (oniguruma and (two[0] in "[-" or two == "||"))
        ):
            _refuse(two or sign, oniguruma)
        elif two[0] == "[":
            text, at = _set(pattern, at, fold, oniguruma, depth + 1)
            written += text
        else:
            text, at, char = _character(pattern, at, fold, oniguruma)
            last = char
            if pattern.startswith("-", at) and pattern[at + 1 : at + 2] not in ("]", "-", ""):
                end, at, last = _character(pattern, at + 1, fold, oniguruma)
                if char is None or last is None or last < char or end == r"\[" != pattern[at - 2 : at]:
                    _refuse(f"{text}-{end}", oniguruma)
                text += f"-{end}"
            written += _in_any_case(char, last) if fold and char is not None and last is not None else text
    if not written:
        _refuse("[]" if not done else f"{done[-2:]}]", oniguruma)
    inner = f"{done}[{written}]" if done else written
    classes = set(_CLASS.findall(written))
    if sign == "[^" and (
        depth or done or "[" in written or classes & {f"\\{c[1].swapcase()}{c[2:]}" for c in classes}
    ):
        return rf"[[\s\S]--[{inner}]]", at + 1  # `regex` takes [^\w\W] and [[^a][^b]] for other characters
    return f"{sign}{inner}]", at + 1
