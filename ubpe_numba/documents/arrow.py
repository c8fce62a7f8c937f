"""Documents in a pyarrow array of lists, strings or binary, read by the array's own methods: pyarrow is not imported here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.runtime.arrays import describe, offsets_of

_TEXTS = {"string": np.int32, "large_string": np.int64, "binary": np.int32, "large_binary": np.int64}  # and their offsets


def is_list_array(docs: Any, name: str) -> bool:
    """Whether an object of pyarrow is an array of lists; TypeError, with the `name` of the argument, if it is not an array."""
    if not hasattr(docs, "to_pylist"):
        raise TypeError(f"{name}: expected an Arrow list array, got {describe(docs)}")
    return str(docs.type).startswith(("list<", "large_list<"))


def chunks_of_lists(docs: Any, name: str) -> Iterator[tuple[str, NDArray[Any], NDArray[np.int64]]]:
    """What messages call each chunk of an array of lists, its flat values, and its int64[n + 1] offsets, which begin at 0.

    An array that is not chunked is one chunk, called `name`. Values are copied only if Arrow has to. ValueError for nulls.
    """
    if docs.null_count:
        raise ValueError(f"{name}: document {docs.is_null().to_pylist().index(True)} is null; drop nulls first")
    if hasattr(docs, "chunks"):
        for i, chunk in enumerate(docs.chunks):
            yield from chunks_of_lists(chunk, f"{name}: chunk {i}")
        return
    offsets = docs.offsets.to_numpy().astype(np.int64)
    values = docs.values.slice(offsets[0], offsets[-1] - offsets[0])
    offsets -= offsets[0]
    if values.null_count:
        at = values.is_null().to_pylist().index(True)
        i = int(np.searchsorted(offsets, at, side="right")) - 1
        raise ValueError(f"{name}: document {i}, position {at - offsets[i]} is null; drop nulls first")
    yield name, values.to_numpy(zero_copy_only=False), offsets


def texts_of(docs: Any) -> tuple[NDArray[np.uint8], NDArray[np.int64], str] | None:
    """The bytes of an array of strings or binary, int64[n + 1] offsets, and ``"str"`` or ``"bytes"``; None for other arrays.

    None too for one with nulls. Nothing is copied of an array that is not chunked but the offsets, which begin at 0.

    >>> import pyarrow
    >>> values, offsets, kind = texts_of(pyarrow.array(["né", "", "x"]).slice(1))
    >>> values.tobytes(), offsets.tolist(), kind
    (b'x', [0, 0, 1], 'str')
    """
    name = str(getattr(docs, "type", None))
    if name not in _TEXTS or docs.null_count:
        return None
    parts = [_bytes_of(chunk, _TEXTS[name]) for chunk in getattr(docs, "chunks", [docs])]
    kind = "str" if "string" in name else "bytes"
    if len(parts) == 1:
        return *parts[0], kind
    lengths = [np.diff(offsets) for _, offsets in parts]
    values = np.concatenate([np.zeros(0, np.uint8), *(values for values, _ in parts)])
    return values, offsets_of(np.concatenate([np.zeros(0, np.int64), *lengths])), kind


def _bytes_of(array: Any, dtype: Any) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes of an array with offsets of this dtype, and its offsets, as `texts_of` has them."""
    _, cuts, data = array.buffers()
    if not len(array):
        return np.zeros(0, np.uint8), np.zeros(1, np.int64)
    offsets = np.frombuffer(cuts, dtype)[array.offset : array.offset + len(array) + 1].astype(np.int64)
    values = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]]
    return values, offsets - offsets[0]
