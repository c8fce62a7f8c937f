"""Splitting text into segments before learning and encoding, by a named or custom pattern.

A pre-tokenizer only sets the places that no token may contain. Text between the matches of its pattern is
kept too, as segments of its own, so that nothing of a text is ever lost.
"""

from __future__ import annotations

import functools
import re
import unicodedata
import warnings
from importlib import import_module
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from ubpe_numba.documents.read import code_points, text_of
from ubpe_numba.errors import quoted, shortened
from ubpe_numba.runtime.arrays import distinct, offsets_of
from ubpe_numba.runtime.lazy import require
from ubpe_numba.runtime.messages import warn
from ubpe_numba.runtime.schema import pickled
from ubpe_numba.text.cut import PATTERNS, scan
from ubpe_numba.text.dialect import portable
from ubpe_numba.text.metaspace import MarkCuts
from ubpe_numba.text.patterns import NAMED, name_of

# of processor time; the second is a thousand times what patterns in use take
_SECONDS, _PER_CHARACTER = 10.0, 1e-4
_SHORT = 500  # characters, on which n**3 ways are tried in a second
_MOST_SIZE = 40_000  # as `size_of` counts: some tenths of a second, and 40 MB
_HUGE = 1 << 40
_MOST_CHOICES = 8  # optional parts or groups, one after the other
_ENDLESS = re.compile(r"[*+]|,\}|\d{3}")
#: A group that is repeated, references, and groups or limits that only some engines have.
_REPEATED = re.compile(
    r"\)[*+{]|\\[1-9gkL]|\(\?(?![ims]*(?:-[ims]+)?[:)]|<?[=!])|\(\*|\{[^}\d,\\]*[<=]|\{[^\d,^A-Z]"
)
# a comment, a class, within which there may be names such as [:alpha:], a least repeat, or a character
_SIGN = re.compile(
    r"\\.|\(\?#[^)]*\)?|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]?|\{(?P<least>\d+)(?:,\d*)?\}|.", re.DOTALL
)
#: A letter that each version of Unicode added.
_NEWEST = (("17.0", 0x16EA0), ("16.0", 0x105C0), ("15.1", 0x2EBF0), ("15.0", 0x11F04), ("14.0", 0x12F90))


class Pretokenizer:
    r"""How text is split: a regular expression whose matches are segments, as are the parts between them.

    Parameters
    ----------
    pattern
        The name of a pattern (`gpt2`, `cl100k`, `o200k`, `llama3`, `qwen2`, `qwen35`, `tekken`, `deepseek`,
        `starcoder`, `kimi`, `whitespace`, `digits`, `digits1`, `digits3`), or a regular expression as
        tiktoken reads it, such as ``\p{L}+``. A str of letters, digits, ``-`` and ``_`` only is a name.
    unicode
        The version of Unicode that determines the letters, by default the newest known. "17.0.0", or
        "16.0.0", that of tiktoken and Hugging Face today.

    Attributes
    ----------
    name : str or None
        The name of the pattern, None for a custom pattern.
    pattern : str
        The regular expression.
    unicode : str
        The version of Unicode that determines the letters, such as ``"17.0.0"``.

    Raises
    ------
    ImportError
        Without `regex` (``pip install 'ubpe-numba[text]'``), which patterns from `whitespace` on need.

    Notes
    -----
    A pattern is run by the package `regex` with the meaning of tiktoken: ``$`` is the end of the text,
    ``[a-z&&[^aeiou]]`` a class within a class. Syntax that the package reads differently, such as ``(?x)`` or
    ``[[:alpha:]]``, and patterns that may match nothing, raise ValueError. A custom pattern, such as
    ``(a+)+b``, may take 10 s and 0.1 ms per character of processor time for each document; then it raises
    ValueError as well. Two pre-tokenizers are equal if their patterns and versions are.

    Examples
    --------
    >>> text = np.frombuffer(b"it's 2026", np.uint8)
    >>> Pretokenizer("gpt2").split(text, np.array([0, 9])).tolist()  # it, 's, 2026 with its space
    [0, 2, 4, 9]
    >>> Pretokenizer("digit")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: pretokenizer: there is no 'digit'; expected gpt2, cl100k, o200k, llama3, ... or a pattern
    """

    __slots__ = ("_compiled", "_marks", "_older", "kernel", "name", "pattern")
    name: str | None
    pattern: str
    kernel: str | None

    def __init__(self, pattern: str, unicode: str | None = None) -> None:
        if not isinstance(pattern, str):
            raise TypeError(
                f"pretokenizer: expected a name, a regular expression or None, got {quoted(pattern)}"
            )
        if pattern not in NAMED and (not pattern or pattern.replace("-", "").replace("_", "").isalnum()):
            raise ValueError(
                f"pretokenizer: there is no {quoted(pattern)}; expected {', '.join(NAMED)} or a pattern"
            )
        self._marks = MarkCuts.of(pattern)
        self.name = name_of(pattern) if self._marks is None else None
        self.pattern = pattern if self.name is None else NAMED[self.name]
        self._older = None
        if unicode is not None:
            data = import_module("ubpe_numba.text.unicode_data")
            if not isinstance(unicode, str) or (
                unicode != data.UNICODE_VERSION and unicode not in data.OLDER
            ):
                known = ", ".join([data.UNICODE_VERSION, *data.OLDER])
                raise ValueError(f"unicode: expected one of {known}, got {quoted(unicode)}")
            self._older = None if unicode == data.UNICODE_VERSION else unicode
        self.kernel = None
        if self.name in PATTERNS:
            self.kernel = self.name if self._older is None else f"{self.name}@{self._older}"
        self._compiled: Any = None
        if self.name is None and self._marks is None:  # a named pattern is compiled when first needed
            self._compiled = compiled(self.pattern, "pretokenizer")

    @classmethod
    def of(cls, value: Any) -> Pretokenizer | None:
        """Read the argument `pretokenizer` of a tokenizer.

        Parameters
        ----------
        value : Pretokenizer, str or None
            A pre-tokenizer, the name of a pattern, a pattern, or None for none.
        """
        return value if value is None or isinstance(value, cls) else cls(value)

    @property
    def unicode(self) -> str:
        """The version of Unicode that determines the letters.

        That requested, of our table, or of `regex` if it can be determined.
        """
        if self._older is not None:
            return self._older
        if self.kernel is not None:
            return str(import_module("ubpe_numba.text.unicode_data").UNICODE_VERSION)
        engine = require("regex", "a pretokenizer", "text")
        return next(
            (version for version, point in _NEWEST if engine.match(r"\p{L}", chr(point))), "13.0 or earlier"
        )

    def split(self, values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """Split documents into segments, each document by itself.

        Parameters
        ----------
        values : uint8[n] or uint32[n]
            UTF-8, with an ill-formed byte as a character that is neither letter, digit nor white space; or
            code points.
        offsets : int64[d + 1]
            Where documents begin and end.

        Returns
        -------
        int64[s + 1]
            Where segments begin and end, strictly rising from `offsets[0]` to `offsets[-1]`, the beginnings
            of documents among them. An empty document does not have segments.
        """
        if self.kernel is not None:
            if values.dtype == np.uint8:
                return scan(values, offsets, self.kernel)
            # kernels read UTF-8
            data = np.frombuffer(text_of(values).encode("utf-8", "surrogatepass"), np.uint8)
            starts = np.append(np.flatnonzero(data & 0xC0 != 0x80), data.size)  # of every character
            return np.searchsorted(starts, scan(data, starts[offsets], self.kernel))
        if self._marks is not None:
            return self._marks.split(values, offsets)
        # two threads may both make it, the same
        self._compiled = self._compiled or compiled(self.pattern, "pretokenizer")
        # after other steps pieces are words, which recur
        places, known = list[int](), dict[bytes, list[int]]()
        for begin, end in pairwise(offsets.tolist()):
            part = values[begin:end]
            if (ends := known.get(key := part.tobytes())) is None:
                ends = self._cuts(text := text_in(part))
                if len(text) < end - begin:
                    ends = positions(text)[ends].tolist()
                if end - begin < _SHORT:
                    known[key] = ends
            places += [begin + at for at in ends]
        return distinct(offsets, np.array(places, np.int64))

    def _cuts(self, text: str) -> list[int]:
        """Where matches start and end, in characters; empty matches are left out."""
        if self._older is not None and not text.isascii():
            text = import_module("ubpe_numba.text.unicode_classes").as_of(self._older, text)
        timed = self.name is None and (len(text) > _SHORT or may_take_long(self.pattern))
        limit = _SECONDS + _PER_CHARACTER * len(text) if timed else None  # the clock costs 0.7 us a match
        try:
            if self._compiled.groups == 0:
                lengths = list(map(len, self._compiled.findall(text, timeout=limit)))
                if sum(lengths) == len(text):  # there is nothing between matches: three times as fast
                    return list(accumulate(lengths))
            spans = (match.span() for match in self._compiled.finditer(text, timeout=limit))
            return [at for start, end in spans if end > start for at in (start, end)]
        except TimeoutError:
            raise ValueError(
                f"pretokenizer: {self.pattern!r:.200} takes more than {limit:.3g} s of processor time on {quoted(text, 20)}, "
                f"{len(text)} characters: what repeats in it matches in many ways"
            ) from None

    def state(self) -> dict[str, Any]:
        """The fields of a model file."""
        return {"name": self.name, "pattern": self.pattern, "unicode": self.unicode}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Pretokenizer:
        """Make it again from `state()`, by its version of Unicode if that is known here.

        Parameters
        ----------
        state
            The fields of a model file.
        """
        version = state["unicode"]
        known = isinstance(version, str) and version in import_module("ubpe_numba.text.unicode_data").OLDER
        return cls(state["pattern"], version if known else None)

    def __reduce__(self) -> tuple[object, ...]:
        return pickled(Pretokenizer, self.name or self.pattern, self._older)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pretokenizer) or type(other) is not type(self):
            return NotImplemented
        return self.pattern == other.pattern and self._older == other._older

    def __hash__(self) -> int:
        return hash(self.pattern)

    def __repr__(self) -> str:
        older = "" if self._older is None else f", unicode={self._older!r}"
        return f"{type(self).__name__}({self.name or self.pattern!r}{older})"


def text_in(values: np.ndarray) -> str:
    """Text of an array, uint8 (UTF-8, ill-formed bytes as surrogates) or uint32 (code points)."""
    return (
        values.tobytes().decode("utf-8", "surrogateescape") if values.dtype == np.uint8 else text_of(values)
    )


def positions(text: str) -> np.ndarray:
    r"""int64[n + 1]: the first byte of each of n characters, and the end.

    A surrogate for an ill-formed byte is one byte.

    >>> positions("né\udcff").tolist()
    [0, 1, 3, 4]
    """
    points = code_points(text)
    sizes = 1 + (points >= 0x80).astype(np.int64) + (points >= 0x800) + (points >= 0x10000)
    sizes[(points >= 0xDC80) & (points <= 0xDCFF)] = 1
    return offsets_of(sizes)


def compiled(pattern: str, name: str) -> Any:
    """A regular expression as tiktoken reads it, compiled by `regex`.

    ValueError if it is invalid, or not the same there.
    """
    engine = require("regex", f"{name}: a pattern" if name != "pretokenizer" else "a pretokenizer", "text")
    check_size(pattern, name)
    try:
        read = portable(pattern)
    except ValueError as error:
        raise ValueError(f"{name}: {quoted(pattern)}: {error}") from error
    try:
        return engine.compile(read)
    except (engine.error, RecursionError, OverflowError, MemoryError) as error:
        raise ValueError(
            f"{name}: {quoted(pattern)} is not a regular expression: {shortened(error)}"
        ) from error


@functools.lru_cache(256)
def may_take_long(pattern: str) -> bool:
    r"""Whether a pattern might be tried in more than about n**2 ways on n characters.

    Judged by its text; True if in doubt.

    >>> [may_take_long(pattern) for pattern in (r"(a+)+$", r"(?:a|aa)+b", r"a*b*c*", r"\p{L}+|\s+(?!\S)|\s*[\r\n]+")]
    [True, True, True, False]
    """
    if _REPEATED.search(pattern) or pattern.count("(") > _MOST_CHOICES:
        return True
    branches = pattern.split("|")
    return any(branch.count("?") > _MOST_CHOICES or len(_ENDLESS.findall(branch)) > 2 for branch in branches)


def check_size(pattern: str, name: str) -> None:
    """ValueError for a pattern that would take seconds or gigabytes to compile."""
    if len(pattern) > _MOST_SIZE or size_of(pattern) > _MOST_SIZE:
        raise ValueError(
            f"{name}: {quoted(pattern)} is too long, or repeats too often: written out it has more than {_MOST_SIZE} signs; "
            "use smaller counts, or * and + in place of them"
        )


def size_of(pattern: str) -> int:
    r"""The characters of a regular expression with all repeats written out, as engines do, plus its length.

    O(length).

    With sets in sets or free spacing (the flags V1 and x), all repeats count as nested.

    >>> [size_of(pattern) - len(pattern) for pattern in ("ab", "(?:[a-c]x{3}y){2}z", "[(]{3}", "(?:(?:a{1000}b){1000}c){1000}")]
    [2, 13, 3, 1002002000]
    """
    if re.search(r"\(\?[a-zA-Z0-9-]*[xV]", pattern):
        size = 2 * len(pattern)
        for digits in re.findall(r"\{\s*(\d[\d\s]*)", pattern):
            size = min(size * max(int("".join(digits.split())[:9]), 1), _HUGE)
        return size
    groups, last = [0], 0  # the characters of each open group, and of the operand of a repeat
    for match in _SIGN.finditer(pattern):
        sign = match[0]
        if sign == "(":
            groups.append(0)
        elif sign == ")":
            last = groups.pop() if len(groups) > 1 else 0
            groups[-1] += last
            last = last or groups[-1]
        elif match["least"]:
            more = last * max(int(match["least"][:9]) - 1, 0)
            groups[-1] = min(groups[-1] + more, _HUGE)
            last = min(last + more, _HUGE)
        elif sign not in "*+?":
            last = 1 + len(sign) // 8
            groups[-1] += last
    return len(pattern) + min(sum(groups), _HUGE)


_LONGEST = 10_000  # characters of a pattern
# a range that ends beyond ASCII: without case 12 ms to compile
_WIDE = re.compile(r"-(?:\\[xuUN]|[^\x00-\x7f])")
_MOST_WIDE = 6
_NO_CASE = re.compile(r"\(\?[a-zA-Z]*i")


class PythonPattern(Pretokenizer):
    r"""A pre-tokenizer by a regular expression of `re`, whose matches are the segments.

    The matches must make up the whole text. The package ubpe leaves out text between matches, so that
    decoding cannot bring it back. Here this raises a ValueError with the place; all other texts are split as
    by that package. A group around the whole pattern is removed; another raises a ValueError, since ubpe
    would use it instead of the match. RuntimeWarning for a pattern that may take exponential time, such as
    ``(?:a+)+b``: unlike `Pretokenizer`, `re` cannot limit the time.

    >>> words = PythonPattern(r"\w+|\s+")
    >>> words.split(np.frombuffer(b"ab  c", np.uint8), np.array([0, 5])).tolist()
    [0, 2, 4, 5]
    >>> words.split(np.frombuffer(b"ab, c", np.uint8), np.array([0, 5]))
    Traceback (most recent call last):
    ...
    ValueError: pretokenizer: '\\w+|\\s+' matches nothing at ',' in 'ab, c'; ubpe would leave that out; Pretokenizer keeps it
    """

    __slots__ = ()

    def __init__(self, pattern: str) -> None:
        if not isinstance(pattern, str):
            raise TypeError(f"pretokenizer: expected a regular expression, got {quoted(pattern)}")
        self.name, self.pattern, self.kernel, self._older, self._marks = None, pattern, None, None, None
        if len(pattern) > _LONGEST:
            raise ValueError(
                f"pretokenizer: expected a pattern of at most {_LONGEST} characters, got {len(pattern)}"
            )
        if _NO_CASE.search(pattern) and len(_WIDE.findall(pattern)) > _MOST_WIDE:
            raise ValueError(
                f"pretokenizer: expected at most {_MOST_WIDE} ranges beyond ASCII without regard to case"
            )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)  # a possible nested set
                expression = re.compile(pattern)
                if expression.groups == 1 and pattern[0] == "(" and pattern[-1] == ")":
                    expression = re.compile(pattern[1:-1])
        except (re.error, RecursionError, OverflowError) as error:
            message = (
                f"pretokenizer: {quoted(pattern, 200)} is not a regular expression of re: {shortened(error)}"
            )
            raise ValueError(message) from error
        if expression.groups:
            raise ValueError(
                f"pretokenizer: {quoted(pattern, 200)} has groups: ubpe takes what they match, and not the whole"
            )
        self._compiled = expression
        if may_take_long(pattern):
            warn(
                f"pretokenizer: {pattern!r:.200} may be tried in very many ways, and take exponential time on some texts: "
                "what repeats or has alternatives in it is in a repeat; re has no limit of time: only Ctrl-C in the main "
                "thread ends it",
                RuntimeWarning,
            )

    @property
    def unicode(self) -> str:
        """The version of Unicode that determines the letters: Python's."""
        return unicodedata.unidata_version

    def _cuts(self, text: str) -> list[int]:
        """Where matches start and end, in characters; ValueError if they are not all of the text."""
        lengths = list(map(len, self._compiled.findall(text)))
        if sum(lengths) == len(text):
            return [at for at, length in zip(accumulate(lengths), lengths, strict=True) if length]
        at = 0
        for match in self._compiled.finditer(text):
            if match.start() > at:
                break
            at = match.end()
        around = text[max(at - 20, 0) : at + 20]
        raise ValueError(
            f"pretokenizer: {quoted(self.pattern, 200)} matches nothing at {quoted(text[at])} in {quoted(around)}; ubpe would "
            "leave that out; Pretokenizer keeps it"
        )

    def state(self) -> dict[str, Any]:
        """The fields of a model file."""
        return {"pattern": self.pattern, "unicode": self.unicode}

    def __reduce__(self) -> tuple[object, ...]:
        return pickled(PythonPattern, self.pattern)
