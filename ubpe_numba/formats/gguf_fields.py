"""The fields at the beginning of a `.gguf` file, which stand before its tensors; numbers have their low bytes first.

::

    47 47 55 46   03 00 00 00   n tensors: 8 bytes   m fields: 8 bytes    "GGUF", version 3; then every field:
    length of its name: 8 bytes   name   type: 4 bytes   value            that is, for the type
        0 to 7, 10 to 12   a number (7: true or false)                    1, 2, 4 or 8 bytes
        8                  a string                                       length: 8 bytes, and UTF-8
        9                  an array                                       type: 4 bytes, how many: 8 bytes, and the values

Only as much of a file is read as the fields take, in growing pieces: behind them are gigabytes of tensors.
"""

from __future__ import annotations

import os
import struct
from itertools import pairwise
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.formats.kernels.counted_strings import counted_strings
from ubpe_numba.runtime.files import open_regular

_NUMBERS = {
    0: "<u1", 1: "<i1", 2: "<u2", 3: "<i2", 4: "<u4", 5: "<i4", 6: "<f4", 7: "?", 10: "<u8", 11: "<i8", 12: "<f8"
}  # fmt: skip
_DTYPES = {kind: np.dtype(name) for kind, name in _NUMBERS.items()}
_STRING, _ARRAY = 8, 9
_VERSIONS = (2, 3)
_MOST_FIELDS = 1 << 12
_MOST_BYTES = 1 << 28  # of all fields together; a vocabulary of a quarter of a million tokens has 12 million
_MOST_STRINGS = 1 << 21  # of an array
_PIECE = 1 << 20  # bytes that are read at first


def read_fields(path: str | os.PathLike[str], prefix: str) -> dict[str, Any]:
    """The fields with names that begin with `prefix`, without it: numbers, `str`, lists of `str`, and arrays of numbers.

    ModelFormatError for what is no file of gguf, naming the field; OSError if it cannot be read.
    """
    with open_regular(path) as f:
        return _fields(_Head(f), prefix)


def _fields(head: _Head, prefix: str) -> dict[str, Any]:
    if head.take(4, "the beginning").tobytes() != b"GGUF":
        raise ModelFormatError("not a file of gguf: it does not begin with GGUF")
    version = head.number("<I", "the version")
    if version not in _VERSIONS:
        other = int.from_bytes(version.to_bytes(4, "little"), "big")
        what = "the high bytes of its numbers are first" if other in (1, *_VERSIONS) else f"version {version}"
        raise ModelFormatError(f"a file of gguf that is not supported: {what}; there are versions 2 and 3, low bytes first")
    head.number("<Q", "the number of tensors")
    n = head.number("<Q", "the number of fields")
    if n > _MOST_FIELDS:
        raise ModelFormatError(f"not a file of gguf: {n} fields; expected at most {_MOST_FIELDS}")
    found: dict[str, Any] = {}
    names = set()
    for i in range(n):
        name = head.string(f"the name of field {i}")
        if name in names:
            raise ModelFormatError(f"not a file of gguf: the field {quoted(name)} is there twice")
        names.add(name)
        value = _value(head, name, name.startswith(prefix))
        if value is not None:
            found[name.removeprefix(prefix)] = value
    return found


def _value(head: _Head, name: str, wanted: bool) -> Any:
    """The value of a field, None if it is not wanted."""
    where = f"the field {quoted(name)}"
    kind = head.number("<I", where)
    if kind == _STRING:
        length = head.number("<Q", where)
        data = head.take(length, where)
        return _text(data, np.array([0, length]), where)[0] if wanted else None
    if kind in _DTYPES:
        value = head.take(_DTYPES[kind].itemsize, where).view(_DTYPES[kind])
        return value.item() if wanted else None
    if kind != _ARRAY:
        raise ModelFormatError(f"not a file of gguf: {where} has the type {kind}")
    kind, n = head.number("<I", where), head.number("<Q", where)
    if kind == _STRING:
        if n > _MOST_STRINGS:
            raise ModelFormatError(f"not a file of gguf: {where} has {n} strings; expected at most {_MOST_STRINGS}")
        strings = head.strings(n, where)
        return _text(*strings, where) if wanted else None
    if kind not in _DTYPES:
        raise ModelFormatError(f"not a file of gguf: {where} is an array of the type {kind}")
    values = head.take(n * _DTYPES[kind].itemsize, where)
    return values.copy().view(_DTYPES[kind]) if wanted else None


def _text(text: np.ndarray, starts: np.ndarray, where: str) -> list[str]:
    """Strings one behind the other, uint8, and where each begins, and the end, int64[n + 1]."""
    try:
        joined = text.tobytes().decode()
    except UnicodeDecodeError as error:
        i = int(np.searchsorted(starts, error.start, "right")) - 1
        raise ModelFormatError(f"{where}: string {i} is not UTF-8") from error
    if len(joined) < text.size:
        begins = (text & 0xC0) != 0x80
        inner = starts[:-1][np.diff(starts) > 0]
        if not begins[inner].all():
            raise ModelFormatError(f"{where}: a string begins within a character")
        starts = np.append(0, np.cumsum(begins))[starts]
    return [joined[a:b] for a, b in pairwise(starts.tolist())]


class _Strings(NamedTuple):
    """Strings one behind the other: uint8, and where each begins, and the end, int64[n + 1]."""

    text: np.ndarray
    starts: np.ndarray


class _Head:
    """The beginning of a file, of which more is read as it is needed.

    Everything it takes is checked against the size of the file first: nothing is read or allocated for what cannot be there.
    """

    def __init__(self, f: BinaryIO) -> None:
        self._file = f
        self._size = os.fstat(f.fileno()).st_size
        self._data = np.empty(min(self._size, _MOST_BYTES), np.uint8)  # memory that is not written to costs nothing
        self._n_read = 0
        self._at = 0

    def _need(self, n: int, where: str) -> None:
        """Read until there are n more bytes; ModelFormatError if the file has not so many."""
        end = self._at + n
        if end > self._data.size:
            what = f"the file ends within {where}" if end > self._size else f"{where} is too large"
            raise ModelFormatError(f"not a file of gguf: {what}")
        if end > self._n_read:
            stop = min(max(end, 2 * self._n_read, _PIECE), self._data.size)
            got = self._file.readinto(self._data[self._n_read : stop].data)  # type: ignore[attr-defined]
            self._n_read += got or 0
            if end > self._n_read:
                raise ModelFormatError(f"not a file of gguf: the file ends within {where}")

    def take(self, n: int, where: str) -> np.ndarray:
        """The next n bytes, uint8."""
        self._need(n, where)
        self._at += n
        return self._data[self._at - n : self._at]

    def number(self, layout: str, where: str) -> int:
        """The next number."""
        return int(struct.unpack(layout, self.take(struct.calcsize(layout), where).data)[0])

    def string(self, where: str) -> str:
        """The next string."""
        try:
            return self.take(self.number("<Q", where), where).tobytes().decode()
        except UnicodeDecodeError as error:
            raise ModelFormatError(f"not a file of gguf: {where} is not UTF-8") from error

    def strings(self, n: int, where: str) -> _Strings:
        """The next n strings."""
        self._need(8 * n, where)
        starts = np.zeros(n + 1, np.int64)
        text = np.empty(self._data.size - self._at - 8 * n, np.uint8)
        k = 0
        while k < n:
            k, self._at = map(int, counted_strings(self._data[: self._n_read], self._at, text, starts, k))
            if k < n:  # the next one is not whole yet
                self._need(8 * (n - k), where)
                self._need(8 * (n - k) + int(self._data[self._at : self._at + 8].view("<u8")[0]), where)
        return _Strings(text[: starts[-1]], starts)
