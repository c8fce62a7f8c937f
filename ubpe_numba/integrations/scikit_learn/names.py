"""Names of ids and tokens, all different, as columns of data frames have them."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from ubpe_numba.errors import UnknownTokenError


def distinct(names: list[str]) -> list[str]:
    """The names, those that are there before with their number behind them.

    >>> distinct(["a", "b", "a"])
    ['a', 'b', 'a #2']
    """
    seen: set[str] = set()
    made = []
    for i, name in enumerate(names):
        while name in seen:
            name += f" #{i}"
        seen.add(name)
        made.append(name)
    return made


def of_symbols(symbols: NDArray[Any]) -> str:
    """Integers with spaces between them.

    >>> import numpy as np
    >>> of_symbols(np.array([3, 3, 5]))
    '3 3 5'
    """
    return " ".join(map(str, symbols.tolist()))


def of_ids(tok: Any, size: int) -> list[str]:
    """What the ids of a tokenizer stand for: a text or the integers; ``<i>`` for an id that stands for nothing.

    >>> from ubpe_numba import BPE
    >>> of_ids(BPE.from_merges([[0, 1]], alphabet="ab", special_tokens=["<end>"]), 4)
    ['a', 'b', 'ab', '<end>']
    """
    is_bytes = tok.alphabet_.kind == "bytes"
    names = []
    for i in range(size):
        try:
            symbols = tok.decode_bytes([i]).decode("utf-8", "backslashreplace") if is_bytes else tok.decode([i])
        except UnknownTokenError:
            symbols = f"<{i}>"
        names.append(symbols if isinstance(symbols, str) else of_symbols(symbols))
    return distinct(names)
