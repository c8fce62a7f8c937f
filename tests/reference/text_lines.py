r"""The lines of a text file.

>>> lines(b"ab\r\n\ncd")
[b'ab', b'', b'cd']
"""

MARK = b"\xef\xbb\xbf"


def lines(data: bytes) -> list[bytes]:
    """All lines, without their ends and without a byte order mark at the beginning."""
    *ended, last = data.removeprefix(MARK).split(b"\n")
    return [line.removesuffix(b"\r") for line in ended] + ([last] if last else [])
