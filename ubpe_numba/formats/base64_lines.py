r"""Lines of base64 and a number, all of a file at once: ``b"YQ== 0\nYWI= 1\n"`` is b"a" with 0 and b"ab" with 1.

Four characters stand for three bytes, of 6 and 8 bits; one or two ``=`` at the end of a token for as many bytes less.
"""

from __future__ import annotations

import numpy as np

_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_SPACE, _NEWLINE, _PAD, _ZERO = b" \n=0"


def _table() -> np.ndarray:
    """uint8[256]: the 6 bits of each letter, 0 of ``=``, 64 of everything else."""
    table = np.full(256, 64, np.uint8)
    table[list(_LETTERS)] = np.arange(64)
    table[_PAD] = 0
    return table


def read(data: bytes) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    r"""The bytes of all tokens, uint8, their lengths, int64[V], and their numbers, int64[V].

    None if a line is anything but one token, a space and a number of at most ten digits; empty lines only at the end. Two tokens
    may be equal. O(bytes).

    >>> values, lengths, numbers = read(b"YQ== 0\nYWI= 12\n")
    >>> values.tobytes(), lengths.tolist(), numbers.tolist()
    (b'aab', [1, 2], [0, 12])
    """
    text = np.frombuffer(data.rstrip(b"\n") + b"\n", np.uint8)
    stops = np.flatnonzero(text <= _SPACE)
    starts = np.concatenate([[0], stops[:-1] + 1])
    widths = (stops - starts)[::2]
    digits = (stops - starts)[1::2]
    if stops.size % 2 or (text[stops[::2]] != _SPACE).any() or (text[stops[1::2]] != _NEWLINE).any():
        return None
    if widths.min() < 4 or (widths % 4).any() or digits.min() < 1 or digits.max() > 10:
        return None
    numbers = _numbers(text, starts[1::2], digits)
    is_token = np.repeat(np.tile([True, False], digits.size), np.stack([widths, digits + 2], axis=1).ravel())
    tokens = _bytes(text[is_token], widths)
    return None if numbers is None or tokens is None else (*tokens, numbers)


def _numbers(text: np.ndarray, starts: np.ndarray, digits: np.ndarray) -> np.ndarray | None:
    """The decimal numbers of so many `digits` that start at `starts`, int64; None if one has another character."""
    numbers = np.zeros(starts.size, np.int64)
    for i in range(int(digits.max())):
        longer = digits > i
        digit = text[starts[longer] + i] - np.uint8(_ZERO)  # what is below 0 wraps around
        if (digit > 9).any():
            return None
        numbers[longer] = 10 * numbers[longer] + digit
    return numbers


def _bytes(letters: np.ndarray, widths: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """What base64 of these widths, multiples of 4 of at least 4, stands for: bytes and lengths; None if it is not valid."""
    stops = np.cumsum(widths)
    is_last = letters[stops - 1] == _PAD
    padding = is_last.astype(np.int64) + (is_last & (letters[stops - 2] == _PAD))
    bits = _table()[letters]
    if (bits == 64).any() or np.count_nonzero(letters == _PAD) != padding.sum():
        return None
    a, b, c, d = bits.reshape(-1, 4).T
    out = np.stack([a << 2 | b >> 4, b << 4 | c >> 2, c << 6 | d], axis=1).ravel()
    keep = np.ones(out.size, bool)
    stops = stops // 4 * 3
    keep[stops[padding > 0] - 1] = keep[stops[padding > 1] - 2] = False
    return out[keep], widths // 4 * 3 - padding
