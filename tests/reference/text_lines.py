r"""The lines of a text file, and those that belong to a range of its bytes.

>>> lines(b"ab\r\n\ncd")
[b'ab', b'', b'cd']
>>> [lines_of_range(b"ab\ncdef\ng", begin, begin + 4) for begin in (0, 4, 8)]
[[b'ab', b'cdef'], [], [b'g']]
"""

MARK = b"\xef\xbb\xbf"


def lines(data: bytes) -> list[bytes]:
    """All lines, without their ends and without a byte order mark at the beginning."""
    *ended, last = data.removeprefix(MARK).split(b"\n")
    return [line.removesuffix(b"\r") for line in ended] + ([last] if last else [])


def lines_of_range(data: bytes, begin: int, end: int) -> list[bytes]:
    """The lines whose first byte, that of the mark included, is one of `begin` to `end` - 1."""
    starts = [i for i in range(len(data)) if i == 0 or data[i - 1 : i] == b"\n"]
    if data == MARK:
        return []
    return [line for start, line in zip(starts, lines(data), strict=True) if begin <= start < end]
