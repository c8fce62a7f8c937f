"""Decimal numbers as the JSON reader of Hugging Face's libraries (serde_json) rounds them.

It takes the digits as one integer of 64 bits, rounds that to float64, and divides by a power of ten, which rounds again. Of
numbers written with 17 digits one in eight becomes the float64 beside the nearest. Sums of such scores decide between paths of
equal probability, so scores are read in the same way, and written with digits that are read back exactly::

    -15.275492379532281    nearest  -15.275492379532281    read there as  -15.27549237953228
    15275492379532281 is no float64: 15275492379532280; divided by 10**15
"""

from __future__ import annotations

import math

import numpy as np

_POWERS = [float(f"1e{k}") for k in range(309)]


def read_number(text: str) -> float:
    """Float64 of a number, rounded as there; infinite if it is too large.

    >>> read_number("-15.275492379532281"), float("-15.275492379532281")
    (-15.27549237953228, -15.275492379532281)
    """
    digits, _, power = text.lower().partition("e")
    whole, _, part = digits.removeprefix("-").partition(".")
    given = (whole + part).lstrip("0")
    kept = 20 if int(given[:20] or 0) < 2**64 else 19  # once a digit is too much, those after it are left out
    value, exponent = float(int(given[:kept] or 0)), int(power or 0) - len(part) + max(len(given) - kept, 0)
    while exponent < -308 and value:
        value, exponent = value / _POWERS[308], exponent + 308
    if value and exponent > 308:
        return math.inf
    value = (value * _POWERS[exponent] if exponent >= 0 else value / _POWERS[-exponent]) if value else 0.0
    return -value if text.startswith("-") else value


def read_numbers(texts: list[str]) -> np.ndarray:
    """float64 of numbers as `read_number` reads them."""
    return np.array([*map(read_number, texts)], np.float64)


def write_numbers(values: np.ndarray) -> list[str]:
    """Texts of finite numbers, float64[n], that are read as these: the shortest where that will do.

    Of two hundred numbers of 53 bits one is not the result of such a division; a neighbour of it is read then.

    >>> write_numbers(np.array([-0.5, -15.275492379532281])), read_number("-15.27549237953228101")
    (['-0.5', '-15.27549237953228101'], -15.275492379532281)
    """
    given, wrong = values.tolist(), np.arange(values.size)
    texts = [""] * values.size
    for form in ("%r", "%.18g", "%.19g", "%.20g", "%.21g"):
        for i in wrong.tolist():
            texts[i] = form % given[i]
        wrong = wrong[read_numbers([texts[i] for i in wrong.tolist()]) != values[wrong]]
    return texts
