"""Corpora of every kind of symbols, and tokenizers fitted on them, for the tests of model files and published dumps."""

import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from ubpe_numba.errors import ModelFormatError

KINDS = {
    "dense": [[0, 1, 2, 0, 1], [2, 0, 1, 2], [2, 2, 1, 1, 2, 2, 1, 1], []],
    "negative": [[-3, 1, -3, 1], [1, 1, -3, 1], [-3, -3], []],
    "sparse": [[-(2**63), 2**40, -(2**63), 2**40], [2**63 - 1, -(2**63), 2**40, 2**40], [5, 5, 5, 5], []],
    "text": ["abab cab", "ba cab", "ßßß", ""],
    # surrogates that would make one character if they met
    "surrogates": ["\ud800\udc00a\ud800\udc00", "\udc00\ud800\udc00", "\U0001f600\U00010000" * 2, "\0\0\0\0"],
    "digits": ["0101", "1012", "22", ""],
    "bytes": [b"abab\xff\0\xff\0", b"\0abab", bytes(range(256)), b""],
}


def fitted(cls: Any, kind: str = "dense", **params: Any) -> Any:
    return cls(**{"n_tokens": None, **params}).fit(KINDS[kind], progress=False)


def encoded(tok: Any, kind: str) -> list[list[int]]:
    return [tok.encode(doc).tolist() for doc in KINDS[kind]]


def refuse(cls: Any, path: Path, data: bytes | str, match: str = ".") -> None:
    """The file is refused by a ModelFormatError that names it."""
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    tracemalloc.start()
    with pytest.raises(ModelFormatError, match=match) as caught:
        cls.load(path)
    assert tracemalloc.get_traced_memory()[1] < 50e6
    tracemalloc.stop()
    assert str(caught.value).startswith(str(path))
