"""Strings behind their lengths."""


def counted_strings(data: bytes, at: int, n: int) -> tuple[list[bytes], int]:
    """Up to n strings from `at` on, as many as end within data, and the place behind the last.

    >>> counted_strings(bytes([2, 0, 0, 0, 0, 0, 0, 0, 97, 98, 1, 0, 0, 0, 0, 0, 0, 0]), 0, 5)
    ([b'ab'], 10)
    """
    found: list[bytes] = []
    while len(found) < n and at + 8 <= len(data):
        end = at + 8 + int.from_bytes(data[at : at + 8], "little")
        if end > len(data):
            break
        found.append(data[at + 8 : end])
        at = end
    return found, at
