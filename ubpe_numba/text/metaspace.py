r"""Splitting text before marks in place of spaces, and within long runs, without an engine.

For models of characters that do not split text themselves: no token crosses these splits. Every "▁" after
another character begins a segment, unless a token crosses that place (`kept`). Runs of some characters are
split after every so many (`runs`)::

    kept (">", "</"), runs {"▁": 2}       a | ▁b | ▁▁ | ▁c>▁</d

As a pattern, so that files can hold it and others can run it: ``▁{0,2}(?:(?<=>)▁(?=</)|[^▁])*``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

MARK = "\u2581"
_PLAIN = f"{MARK}+[^{MARK}]*|[^{MARK}]+"


class MarkCuts(NamedTuple):
    """Cuts before marks, or not; the texts between which a single mark is kept; and the runs.

    >>> cuts = MarkCuts(True, ((">", "</"),), (("\u2581", 2),))
    >>> text = np.frombuffer("a▁b▁▁▁c>▁</d".encode(), np.uint8)
    >>> [text[a:b].tobytes().decode() for a, b in zip([0, 1, 5, 11], [1, 5, 11, 22])]
    ['a', '▁b', '▁▁', '▁c>▁</d']
    >>> cuts.split(text, np.array([0, 22])).tolist(), MarkCuts.of(cuts.pattern) == cuts
    ([0, 1, 5, 11, 22], True)
    """

    at_marks: bool = True
    kept: tuple[tuple[str, str], ...] = ()
    runs: tuple[tuple[str, int], ...] = ()

    @property
    def pattern(self) -> str:
        """The regular expression whose matches are the segments."""
        if self == MarkCuts():
            return _PLAIN
        most = dict(self.runs).get(MARK)
        lead = "" if not self.at_marks else f"{MARK}*" if most is None else f"{MARK}{{0,{most}}}"
        others = [(re.escape(char), n) for char, n in self.runs if not (self.at_marks and char == MARK)]
        units = [f"{char}{{1,{n}}}(?!{char})" for char, n in others]
        units += [f"(?<={re.escape(left)}){MARK}(?={re.escape(right)})" for left, right in self.kept]
        units.append("[^" + MARK * self.at_marks + "".join(char for char, _ in others) + "]")
        ends = "|".join(f"{char}{{{n}}}" for char, n in others)
        return f"{lead}(?:{'|'.join(units)})*" + (f"(?:{ends})?" if ends else "")

    @classmethod
    def of(cls, pattern: str) -> MarkCuts | None:
        """The inverse of `pattern`; None for another regular expression."""
        if pattern == _PLAIN:
            return cls()
        lead = re.match(f"{MARK}(?:\\*|{{0,(\\d{{1,9}})}})", pattern)
        runs = [(MARK, int(lead[1]))] if lead is not None and lead[1] else []
        runs += [
            (_bare(char), int(n)) for char, n in re.findall(r"(\\?.)\{1,(\d{1,9})\}\(\?!", pattern, re.DOTALL)
        ]
        sides = re.findall(rf"\(\?<=((?:\\.|[^\\()])+)\){MARK}\(\?=((?:\\.|[^\\()])+)\)", pattern, re.DOTALL)
        cuts = cls(lead is not None, tuple((_bare(left), _bare(right)) for left, right in sides), tuple(runs))
        return (
            cuts
            if cuts != cls() and all(n > 0 for _, n in runs) and (sides or runs) and cuts.pattern == pattern
            else None
        )

    def split(self, values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """The segments of documents, int64[s + 1]; `values` uint8 (UTF-8) or uint32 (code points).

        O(symbols).
        """
        cut = np.zeros(values.size + 1, bool)
        if self.at_marks:
            at, width = _places(MARK, values)
            begins = at[np.diff(at, prepend=-width) != width]
            cut[begins] = True
            for left, right in self.kept:
                first, size = _places(left + MARK + right, values)
                document = np.searchsorted(offsets, first, side="right")
                first = first[np.searchsorted(offsets, first + size) == document]  # in one document
                cut[first + len(_symbols(left, values))] = False
        for char, n in self.runs:
            at, width = _places(char, values)
            if at.size > n and (at[n:] - at[:-n] == n * width).any():
                number = np.arange(at.size)
                is_first = np.diff(at, prepend=-width) != width
                is_first[np.isin(at, offsets)] = True
                inside = number - np.maximum.accumulate(np.where(is_first, number, 0))
                cut[at[(inside > 0) & (inside % n == 0)]] = True
        cut[: offsets[0]] = cut[offsets[-1] :] = False
        cut[offsets] = True
        return np.flatnonzero(cut)


def _bare(text: str) -> str:
    """A text without the backslashes of `re.escape`."""
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)


def _symbols(text: str, like: np.ndarray) -> list[int]:
    return list(text.encode("utf-8", "surrogatepass")) if like.dtype == np.uint8 else list(map(ord, text))


def _places(text: str, values: np.ndarray) -> tuple[np.ndarray, int]:
    """The places of a text, int64, and how many symbols it has."""
    symbols = _symbols(text, values)
    at = np.flatnonzero(values[: max(0, values.size - len(symbols) + 1)] == symbols[0])
    for i, symbol in enumerate(symbols[1:], 1):
        at = at[values[at + i] == symbol]
    return at, len(symbols)
