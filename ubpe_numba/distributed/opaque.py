"""Values that Dask passes on as they are: it looks into lists and tuples of a task's arguments for other tasks.

They are pickles, as is all that processes of a cluster send each other; nothing that is read from a file is.
"""

from __future__ import annotations

import copy
import pickle
from typing import Any

from ubpe_numba.tokenizers.base import Tokenizer


def opaque(value: Any) -> bytes:
    """The value as bytes.

    >>> opened(opaque((1, [2])))
    (1, [2])
    """
    return pickle.dumps(value, 5)


def opened(data: bytes) -> Any:
    """The value that was made opaque."""
    return pickle.loads(data)


def without(tokenizer: Tokenizer, *names: str) -> Tokenizer:
    """A copy of a tokenizer that lacks some attributes, such as its history, which need not travel."""
    other = copy.copy(tokenizer)
    for name in names:
        other.__dict__.pop(name, None)
    return other


def unfitted(tokenizer: Tokenizer) -> Tokenizer:
    """A copy of a tokenizer that knows its arguments only."""
    return without(tokenizer, "model_", "history_", "_made_tables", "_made_names", "_made_plans")
