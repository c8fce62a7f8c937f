r"""Lines of text files by byte ranges: which lines belong to a range, and their bytes without the ends of lines.

A line belongs to the range in which its first byte stands. The file ``ab\ncdef\ng`` in ranges of 4 bytes::

    byte       0  1  2  3 | 4  5  6  7 | 8
               a  b \n  c | d  e  f \n | g
    lines      ab, cdef   |            | g       the second range holds no first byte of a line

A line ends with ``\n`` or ``\r\n``, which are not part of it; the last one may end with the file. Where the file ends with a line
end no empty line follows. A byte order mark at the beginning of a file (EF BB BF) is not part of a line.
"""

from __future__ import annotations

import os
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from ubpe_numba.runtime.arrays import offsets_of

_LF, _CR = 10, 13
_MARK = b"\xef\xbb\xbf"
_AHEAD = 1 << 16  # bytes that are read at a time to find the end of the last line


class ByteRange(NamedTuple):
    """The lines that begin in the bytes `begin` to `end` - 1 of a file, as documents ``"str"`` or ``"bytes"``."""

    path: str
    begin: int
    end: int
    kind: str

    @property
    def name(self) -> str:
        """What errors call the part."""
        return f"{self.path}, bytes {self.begin}..{self.end - 1}" if self.end else f"{self.path}, no bytes"

    @property
    def size(self) -> int:
        """How large the documents are, but for where lines end."""
        return self.end - self.begin

    def documents(self) -> Any:
        """The lines, an array of Arrow of strings or binary; ValueError for a string that is not UTF-8, with its place."""
        import pyarrow as pa

        with open(self.path, "rb") as file:
            start, data = lines_that_begin(file, self.begin, self.end)
        if self.kind == "str":
            try:
                data.decode("utf-8")
            except UnicodeDecodeError as error:
                raise ValueError(
                    f"byte {start + error.start} of the file is not UTF-8 ({error.reason}); a tokenizer of bytes reads any"
                ) from error
        values, offsets = lines_of(data)
        kind = pa.large_string() if self.kind == "str" else pa.large_binary()
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(values)]
        return pa.Array.from_buffers(kind, offsets.size - 1, buffers)


def byte_ranges_of(paths: list[str], blocksize: int, kind: str) -> list[ByteRange]:
    """The ranges of files, in order: of `blocksize` bytes, the last of a file shorter; one of an empty file."""
    parts = []
    for path in paths:
        size = os.stat(path).st_size
        parts += [ByteRange(path, i, min(i + blocksize, size), kind) for i in range(0, max(size, 1), blocksize)]
    return parts


def lines_that_begin(file: BinaryIO, begin: int, end: int) -> tuple[int, bytes]:
    r"""Where the lines begin that begin in a range, and their bytes, from the first of the first to the end of the last.

    O(bytes of the range and of its last line).

    >>> import io
    >>> [lines_that_begin(io.BytesIO(b"ab\ncdef\ng"), i, i + 4) for i in (0, 4, 8)]
    [(0, b'ab\ncdef\n'), (8, b''), (8, b'g')]
    """
    skipped = len(_MARK) if begin == 0 and file.read(len(_MARK)) == _MARK else 0
    before = max(begin - 1, skipped)  # whether a line begins at `begin` is seen by the byte before
    file.seek(before)
    data = file.read(max(end - before, 0))
    start = 0
    if begin > 0:
        start = data.find(b"\n", 0, max(len(data) - 1, 0)) + 1
        if start == 0:
            return end, b""
    pieces = [data[start:]]
    last = data
    while not last.endswith(b"\n"):
        last = file.read(_AHEAD)
        found = last.find(b"\n") + 1
        pieces.append(last[:found] if found else last)
        if found or not last:
            break
    return before + start, b"".join(pieces)


def lines_of(data: bytes) -> tuple[np.ndarray, np.ndarray]:
    r"""The bytes of the lines of a text side by side, uint8, and int64[n + 1] offsets. O(bytes); 3 bytes a byte in all.

    >>> values, offsets = lines_of(b"ab\r\n\ncd")
    >>> values.tobytes(), offsets.tolist()
    (b'abcd', [0, 2, 2, 4])
    """
    given = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(given == _LF)
    returned = (ends > 0) & (given[ends - 1] == _CR)
    keep = np.ones(given.size, bool)
    keep[ends] = False
    keep[ends[returned] - 1] = False
    closed = given.size == 0 or given[-1] == _LF
    cuts = np.concatenate([[0], ends + 1] if closed else [[0], ends + 1, [given.size]])
    lengths = np.diff(cuts)
    lengths[: ends.size] -= 1 + returned
    return given[keep], offsets_of(lengths)
