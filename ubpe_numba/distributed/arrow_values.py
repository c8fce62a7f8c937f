"""Arrays of Arrow to what a tokenizer takes, and back, without an object for each document."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.documents.ragged import Ragged

_MOST = 2**31 - 1  # values that the int32 offsets of an array of lists reach


def flat_bytes(array: Any) -> tuple[memoryview, NDArray[np.int64]]:
    r"""The bytes of an array of strings (as UTF-8) or of binary, which are not copied, and int64[n + 1] offsets into them.

    >>> import pyarrow
    >>> data, offsets = flat_bytes(pyarrow.array(["é", "", "ab"])[1:])
    >>> bytes(data), offsets.tolist()
    (b'\xc3\xa9ab', [2, 2, 4])
    """
    import pyarrow as pa

    width = np.int64 if pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type) else np.int32
    _, ends, data = array.buffers()
    if ends is None or len(array) == 0:
        return memoryview(b""), np.zeros(1, np.int64)
    offsets = np.frombuffer(ends, width, len(array) + 1, array.offset * np.dtype(width).itemsize)
    return memoryview(b"" if data is None else data).cast("B"), offsets.astype(np.int64)


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
