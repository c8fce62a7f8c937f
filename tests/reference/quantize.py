"""The level of one number, and the middle of one level, in exact arithmetic where it matters and one number at a time."""

import math
from fractions import Fraction

Number = int | float


def level_by_step(x: Number, step: Number, first: int) -> int:
    """The multiple of `step` that is nearest to x, halves to the even one, counted from the multiple `first`.

    >>> [level_by_step(x, 6, 0) for x in (2, 3, 4, 9)]
    [0, 0, 1, 2]
    """
    if isinstance(x, int) and isinstance(step, int):
        return round(Fraction(x, step)) - first
    return round(float(x) / float(step)) - first


def level_of_equal(x: Number, low: Number, high: Number, n: int) -> int:
    """Which of n equal parts of low..high holds x; a border belongs to the upper part.

    Exact for integers as far as float64 is.

    >>> [level_of_equal(x, 0, 8, 4) for x in (0, 1, 2, 7, 8)], level_of_equal(1, 0, 49, 49)
    ([0, 0, 1, 3, 3], 1)
    """
    if low == high:
        return 0
    if isinstance(x, int) and isinstance(low, int) and isinstance(high, int) and (high - low) * n < 2**53:
        return min(n - 1, (x - low) * n // (high - low))
    above, span = float(x - low), float(high - low)
    return min(n - 1, math.floor(above * n / span if math.isfinite(span * n) else above / span * n))


def position_by_mu(x: float, peak: float, mu: float) -> float:
    """How far x is between -peak and peak, 0..1, on the scale of the mu-law.

    >>> [round(position_by_mu(x, 1.0, 255.0), 3) for x in (-1.0, -0.01, 0.0, 0.01, 1.0)]
    [0.0, 0.386, 0.5, 0.614, 1.0]
    """
    y = math.log1p(mu * abs(x) / peak) / math.log1p(mu)
    return (1 + math.copysign(y, x)) / 2


def mean_of_level(samples: list[Number], middle: float) -> float:
    """The mean of the samples of a level and of its middle.

    >>> mean_of_level([1, 2], 1.5), mean_of_level([], 4.0)
    (1.5, 4.0)
    """
    return math.fsum([*samples, middle]) / (len(samples) + 1)
