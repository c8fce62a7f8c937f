"""How the texts of tokens become a text, in tokenizers from elsewhere that change text before they encode it.

In every token some characters stand for others, such as ``▁`` for a space; at the beginning of a text some are left out::

    tokens      "▁Hello"  "▁world"        replace ▁ by " ", leave out one " " at the beginning
    text        "Hello world"
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.documents.normalise import text_of
from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.runtime.arrays import check_fields

_MOST = 64


class Decoding(NamedTuple):
    """Replacements within every token, in turn, and what is left out at the beginning of a text: up to `n` times `strip`."""

    replace: tuple[tuple[str, str], ...] = ()
    strip: str = ""
    n: int = 0

    def token(self, text: str) -> str:
        """What a token stands for."""
        for old, new in self.replace:
            text = text.replace(old, new)
        return text

    def stripped(self, text: str) -> str:
        """A text without what is left out at its beginning.

        >>> Decoding((), " ", 1).stripped("  a")
        ' a'
        """
        for _ in range(self.n):
            text = text.removeprefix(self.strip)
        return text

    def n_stripped(self, symbols: np.ndarray) -> int:
        """How many symbols of a text, bytes or code points, are left out at its beginning."""
        size = self.n * len(self.strip.encode())
        text = symbols[:size].tobytes().decode("utf-8", "ignore") if symbols.dtype == np.uint8 else text_of(symbols[:size])
        gone = text[: len(text) - len(self.stripped(text))]
        return len(gone.encode()) if symbols.dtype == np.uint8 else len(gone)

    def state(self) -> dict[str, Any]:
        """What a model file holds of it."""
        return {"replace": [list(pair) for pair in self.replace], "strip": self.strip, "n": self.n}

    @classmethod
    def from_state(cls, state: Any) -> Decoding:
        """Make it again. ModelFormatError if it is not valid."""
        if not isinstance(state, dict):
            raise ModelFormatError("decoding: expected an object")
        check_fields(state, ("replace", "strip", "n"), "decoding")
        pairs, strip, n = state["replace"], state["strip"], state["n"]
        if not isinstance(pairs, list) or len(pairs) > _MOST or not isinstance(strip, str) or type(n) is not int:
            raise ModelFormatError("decoding: expected a list of replacements, and what is left out how often")
        if not all(
            isinstance(pair, list) and len(pair) == 2 and all(isinstance(s, str) for s in pair) and pair[0] for pair in pairs
        ):
            raise ModelFormatError("decoding: replace: expected pairs of texts")
        if not 0 <= n <= _MOST or (n and not strip):
            raise ModelFormatError(f"decoding: n: expected 0..{_MOST}, got {quoted(n)}")
        return cls(tuple((old, new) for old, new in pairs), strip, n)
