"""What a tokenizer gives as arrays of Arrow, without an object for each document."""

from __future__ import annotations

from typing import Any

import numpy as np

from ubpe_numba.documents.ragged import Ragged

_MOST = 2**31 - 1  # values that the int32 offsets of an array of lists reach


def list_array(found: Ragged) -> Any:
    """Documents of integers as lists of int32, whose values are not copied; several chunks where one cannot reach so many.

    >>> list_array(Ragged.from_lists([[1], [], [2, 3]])).to_pylist()
    [[1], [], [2, 3]]
    """
    import pyarrow as pa

    whole = found.compact()
    chunks: list[Any] = []
    first = 0
    while first < len(whole) or not chunks:
        last = int(np.searchsorted(whole.offsets, whole.offsets[first] + _MOST, side="right")) - 1
        if last == first < len(whole):
            raise ValueError(
                f"document {first} has {whole.offsets[first + 1] - whole.offsets[first]} values: a list has at most {_MOST}"
            )
        part = whole[first:last].compact()
        chunks.append(pa.ListArray.from_arrays(pa.array(part.offsets.astype(np.int32)), pa.array(part.values)))
        first = last
    return chunks[0] if len(chunks) == 1 else pa.chunked_array(chunks)
