"""Decimal numbers as the JSON reader of Hugging Face's libraries (serde_json) rounds them.

It takes the digits as one integer of 64 bits, rounds that to float64, and divides by a power of ten, which rounds again. Of
numbers written with 17 digits one in eight becomes the float64 beside the nearest. Sums of such scores decide between paths of
equal probability, so scores are read in the same way, and written with digits that are read as what is meant::

    -15.275492379532281    nearest  -15.275492379532281    read there as  -15.27549237953228
    15275492379532281 is no float64: 15275492379532280; divided by 10**15
"""

from __future__ import annotations

from decimal import Decimal
from itertools import repeat

import numpy as np

_MOST = 2**64
_POWERS = np.array([float(f"1e{k}") for k in range(309)])


class Number(str):
    """The text of a number in a file, for `json.loads(..., parse_float=Number)`."""

    __slots__ = ()


def read_number(text: str) -> float:
    """The float64 of a number, as it is read there; infinite if it is too large.

    >>> read_number("-15.275492379532281"), float("-15.275492379532281")
    (-15.27549237953228, -15.275492379532281)
    """
    digits, _, power = text.lower().partition("e")
    whole, _, part = digits.removeprefix("-").partition(".")
    found, exponent, dropped = 0, int(power or 0), False
    for i, digit in enumerate(whole + part):  # once a digit is too much, those after it are left out
        dropped = dropped or found * 10 + int(digit) >= _MOST
        if not dropped:
            found = found * 10 + int(digit)
        exponent += int(dropped and i < len(whole)) - int(not dropped and i >= len(whole))
    value = float(found)
    while exponent < -308 and value:
        value, exponent = value / _POWERS[308], exponent + 308
    if value and exponent > 308:
        return np.inf
    value = float(value * _POWERS[exponent] if exponent >= 0 else value / _POWERS[-exponent]) if value else 0.0
    return -value if text.startswith("-") else value


def read_numbers(texts: list[str]) -> np.ndarray:
    """float64 of numbers as `read_number` reads them; those of up to 19 digits without an exponent in one go."""
    bare = list(map(str.lstrip, texts, repeat("-")))
    digits = list(map(str.replace, bare, repeat("."), repeat("")))
    if not texts or max(map(len, digits)) > 19 or not "".join(digits).isdecimal():
        return np.array(list(map(read_number, texts)), np.float64)
    points = np.fromiter(map(str.find, bare, repeat(".")), np.int64, len(bare))
    sizes = np.fromiter(map(len, bare), np.int64, len(bare))
    values = np.array(list(map(int, digits)), np.uint64).astype(np.float64) / _POWERS[np.where(points < 0, 0, sizes - 1 - points)]
    signs = np.fromiter(map(str.startswith, texts, repeat("-")), bool, len(texts))
    return np.asarray(np.where(signs, -values, values))


def write_numbers(values: np.ndarray) -> list[str]:
    """Texts of finite numbers, float64[n], that are read as these: the shortest where that will do.

    Of numbers of all 53 bits one in six hundred is the result of no division; then what is read is a neighbour of it.

    >>> [float(text) for text in write_numbers(np.array([-0.5, -15.275492379532281]))], write_numbers(np.array([0.1]))
    ([-0.5, -15.275492379532283], ['0.1'])
    """
    texts = list(map(repr, values.tolist()))
    for i in np.flatnonzero(read_numbers(texts) != values).tolist():
        texts[i] = _spelling(float(values[i]), texts[i])
    return texts


def _spelling(value: float, shortest: str) -> str:
    """Digits that are read as a value of which the shortest are not; these if there are none."""
    exact = abs(Decimal(value))
    for power in range(16 - exact.adjusted(), 20 - exact.adjusted()):
        near = int(exact.scaleb(power).to_integral_value())
        step = max(1, int(np.spacing(float(near))))
        for found in (near + step * k for k in (0, -1, 1, -2, 2, -3, 3)):
            if 0 < found < _MOST:
                sign = "-" if value < 0 else ""
                text = f"{sign}{Decimal(found).scaleb(-power):f}" if 0 <= power <= 19 else f"{sign}{found}e{-power}"
                if read_number(text) == value:
                    return text
    return shortest
