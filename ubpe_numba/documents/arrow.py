"""Documents in a pyarrow list array, read by the array's own methods: pyarrow is not imported here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.runtime.arrays import describe


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
