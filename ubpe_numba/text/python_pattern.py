"""A pattern of Python's own module `re`, which the package ubpe cuts text by."""

from __future__ import annotations

import re
import unicodedata
import warnings
from itertools import accumulate
from typing import Any

from ubpe_numba.errors import quoted, shortened
from ubpe_numba.text.pretokenizer import Pretokenizer

__all__ = ["PythonPattern"]

_LONGEST = 10_000  # characters of a pattern
_WIDE, _MOST_WIDE = (
    re.compile(r"-(?:\\[xuUN]|[^\x00-\x7f])"),
    6,
)  # ranges that end beyond ASCII: without case 12 ms each to compile
_NO_CASE = re.compile(r"\(\?[a-zA-Z]*i")


class PythonPattern(Pretokenizer):
    r"""A pre-tokenizer by a regular expression of `re`, whose matches are the segments, and make up the whole text.

    The package ubpe leaves out what stands between matches, so that decoding cannot bring it back. Here such a text is a
    ValueError that shows the place; all others are cut as by that package.

    Parameters
    ----------
    pattern
        The regular expression. It may be one group as a whole, which is that without the group; it has no others, which are what
        ubpe would take instead of the match.

    Raises
    ------
    TypeError
        For anything but a str.
    ValueError
        For a pattern that cannot be compiled, or with groups.

    Examples
    --------
    >>> import numpy as np
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
        self.name, self.pattern, self.kernel, self._older, self._marks, self._compiled = None, pattern, None, None, None, None
        self._compiled = self._compile()

    @property
    def unicode(self) -> str:
        """The version of Unicode that decides what is a letter: Python's."""
        return unicodedata.unidata_version

    def _compile(self) -> Any:
        if len(self.pattern) > _LONGEST:
            raise ValueError(f"pretokenizer: expected a pattern of at most {_LONGEST} characters, got {len(self.pattern)}")
        if _NO_CASE.search(self.pattern) and len(_WIDE.findall(self.pattern)) > _MOST_WIDE:
            raise ValueError(f"pretokenizer: expected at most {_MOST_WIDE} ranges beyond ASCII without regard to case")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)  # a possible nested set
                made = re.compile(self.pattern)
                if made.groups == 1 and self.pattern[0] == "(" and self.pattern[-1] == ")":
                    made = re.compile(self.pattern[1:-1])
        except (re.error, RecursionError, OverflowError) as error:
            told = f"pretokenizer: {quoted(self.pattern, 200)} is not a regular expression of re: {shortened(error)}"
            raise ValueError(told) from error
        if made.groups:
            raise ValueError(
                f"pretokenizer: {quoted(self.pattern, 200)} has groups: ubpe takes what they match, and not the whole"
            )
        return made

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
        """What a model file holds of it."""
        return {"pattern": self.pattern, "unicode": self.unicode}

    def __reduce__(self) -> tuple[object, ...]:
        return PythonPattern, (self.pattern,)

    def __eq__(self, other: object) -> bool:
        return self.pattern == other.pattern if isinstance(other, PythonPattern) else False

    __hash__ = Pretokenizer.__hash__

    def __repr__(self) -> str:
        return f"PythonPattern({self.pattern!r})"
