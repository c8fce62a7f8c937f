"""How the texts of tokens become a text, in tokenizers from elsewhere that change text before they encode it.

In every token some characters stand for others, such as ``▁`` for a space; at the beginning of a text some are left out::

    tokens      "▁Hello"  "▁world"        replace ▁ by " ", leave out one " " at the beginning
    text        "Hello world"
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.documents.read import text_of
from ubpe_numba.errors import ModelFormatError
from ubpe_numba.runtime.schema import Field, Schema

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
        """The fields for a model file."""
        return _SCHEMA.write({**self._asdict(), "replace": [list(pair) for pair in self.replace]})

    @classmethod
    def from_state(cls, state: Any) -> Decoding:
        """The inverse of `state`; ModelFormatError for anything else."""
        found = _SCHEMA.read(state)
        if found["n"] and not found["strip"]:
            raise ModelFormatError(
                f"decoding: n: expected 0..{_MOST}, and something to leave out, got {found['n']} times nothing"
            )
        return cls(tuple((old, new) for old, new in found["replace"]), found["strip"], found["n"])


def _is_replacement(pair: Any) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and all(isinstance(text, str) for text in pair) and pair[0] != ""


_SCHEMA = Schema(
    "decoding",
    {
        "replace": Field(
            f"at most {_MOST} pairs of texts",
            lambda pairs: isinstance(pairs, list) and len(pairs) <= _MOST and all(map(_is_replacement, pairs)),
        ),
        "strip": Field("a text", lambda text: isinstance(text, str)),
        "n": Field(f"0..{_MOST}", lambda n: type(n) is int and 0 <= n <= _MOST),
    },
)
