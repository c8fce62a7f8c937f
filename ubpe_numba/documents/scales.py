"""Scales of quantisers: the level that each number of one channel falls into, and the middle of each level.

Three scales, drawn for 4 levels; a number on a border belongs to the level above it:

    Steps         -step   0   step  2*step        multiples of `step` are the middles, halves go to the even multiple
    EqualLevels   low |  |  |  | high             borders at equal distances
    MuLevels      -peak |   | 0 |   | peak        borders (1 + mu)**|y| - 1 of equal distances in y, -1..1

`cut` gives -1 for a number below the scale and n for one above it, so the caller decides what happens to these.
Only correctly rounded operations are used (+, -, *, /, and decimal powers), so levels are the same on any machine.
"""

from __future__ import annotations

import contextlib
import math
from decimal import Decimal, localcontext
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["EqualLevels", "MuLevels", "Scale", "Steps", "scale_of"]

Number = int | float
#: The quotient of two smaller integers, rounded to a float, is on the same side of every half as the quotient itself.
_EXACT = 2**52


class Scale(Protocol):
    """Levels 0..n-1 of one channel."""

    #: The number of levels.
    n: int
    #: No number on the scale is farther from the middle of its level, rounding included.
    max_error: float

    def cut(self, x: NDArray[Any]) -> NDArray[np.int64]:
        """The level of each number (finite; float64, int64 or uint64), -1 below the scale, n above it."""

    def middles(self, levels: NDArray[np.int64]) -> NDArray[np.float64]:
        """The middle of each of these levels, 0..n-1."""


class Steps:
    """The level of x is ``round(x / step)``, halves to the even one, counted from that of `low` up to that of `high`.

    Integers are cut exactly by an integer step, whatever their size.
    """

    def __init__(self, step: Number, low: Number, high: Number) -> None:
        self.step, self.first = step, _rounded(low, step)
        self.n = _rounded(high, step) - self.first + 1
        self.exact = isinstance(step, int)
        ends = [abs(float(end)) for end in (low, high, self.first * step, (self.first + self.n - 1) * step)]
        self.max_error = step / 2 + 4 * float(np.spacing(max(ends)))

    def cut(self, x: NDArray[Any]) -> NDArray[np.int64]:
        """As `Scale.cut`."""
        with np.errstate(over="ignore"):  # infinite levels are beyond the scale
            levels = _integer_levels(x, int(self.step)) if self.exact and x.dtype.kind in "iu" else np.rint(x / self.step)
            levels = _minus(levels, self.first)
        found: NDArray[np.int64] = np.clip(levels, -1, self.n).astype(np.int64)
        return found

    def middles(self, levels: NDArray[np.int64]) -> NDArray[np.float64]:
        """As `Scale.middles`."""
        if not self.exact:
            return np.asarray((float(self.first) + levels) * self.step, np.float64)
        base = float(self.first * int(self.step))
        rest = float(self.first * int(self.step) - int(base))
        return np.asarray(base + (levels * float(self.step) + rest), np.float64)


class EqualLevels:
    """`n` levels of one width between `low` and `high`, both included; one value only if the two are equal.

    Integers are cut exactly where ``(high - low) * n`` is below 2**53.
    """

    def __init__(self, n: int, low: Number, high: Number) -> None:
        self.n, self.low, self.high = n, low, high
        self.span = float(high - low)
        self.max_error = self.span / n / 2 + 4 * float(np.spacing(max(abs(float(low)), abs(float(high)))))

    def cut(self, x: NDArray[Any]) -> NDArray[np.int64]:
        """As `Scale.cut`."""
        with np.errstate(over="ignore"):
            above = np.clip(_minus(x, self.low), 0.0, self.span)
        if math.isfinite(self.span * self.n):  # multiplied first: a quotient of integers that is an integer is not rounded
            levels = np.floor(above * self.n / (self.span or 1.0))
        else:
            levels = np.floor(above / self.span * self.n)
        return _beyond(x, self.low, self.high, levels, self.n)

    def middles(self, levels: NDArray[np.int64]) -> NDArray[np.float64]:
        """As `Scale.middles`."""
        return float(self.low) + (levels + 0.5) / self.n * self.span


class MuLevels:
    """`n` levels between ``-peak`` and ``peak``, of one width in ``y = sign(x) log(1 + mu |x| / peak) / log(1 + mu)``."""

    def __init__(self, n: int, peak: Number, mu: Number) -> None:
        self.n, self.peak = n, float(peak)
        self.borders = mu_borders(n, float(mu))
        widest = float(self.borders[-1] - self.borders[-2])
        self.max_error = widest * self.peak / 2 + 4 * float(np.spacing(self.peak))

    def cut(self, x: NDArray[Any]) -> NDArray[np.int64]:
        """As `Scale.cut`."""
        x = x.astype(np.float64)
        levels = np.searchsorted(self.borders[1:-1] * (self.peak or 1.0), x, side="right")
        return _beyond(x, -self.peak, self.peak, levels, self.n)

    def middles(self, levels: NDArray[np.int64]) -> NDArray[np.float64]:
        """As `Scale.middles`."""
        return (self.borders[levels] + self.borders[levels + 1]) / 2 * self.peak


def scale_of(low: Number, high: Number, step: Number | None, levels: int | None, mu: float | None, where: str) -> Scale:
    """The scale of a channel: mu levels if `mu` is given, else by step or levels.

    ValueError, whose message names the argument and `where`, if float64 cannot express it.
    """
    if low > high:
        raise ValueError(f"low: {where}expected at most {high}, which is high, got {low}")
    if mu and low != -high:
        raise ValueError(f"low: {where}expected {-high}, since mu levels lie around 0, got {low}")
    if step is not None and step <= 0:
        raise ValueError(f"step: {where}expected more than 0, got {step}")
    scale: Scale | None = None
    with contextlib.suppress(OverflowError):
        if step is not None:
            scale = Steps(step, low, high)
        elif mu:
            scale = MuLevels(levels or 1, high, mu)
        else:
            scale = EqualLevels(levels or 1, low, high)
    if scale is None or not math.isfinite(scale.max_error):
        raise ValueError(f"{'high' if step is None else 'step'}: {where}the levels of {low}..{high} exceed float64")
    return scale


@lru_cache(maxsize=16)
def mu_borders(n: int, mu: float) -> NDArray[np.float64]:
    """The n + 1 borders of mu-law levels, ascending: ``sign(y) ((1 + mu)**|y| - 1) / mu`` of y at equal distances in -1..1.

    In decimal arithmetic of 50 digits, since powers and logarithms of floats differ from one C library to another.

    >>> mu_borders(4, 255.0).round(4).tolist()
    [-1.0, -0.0588, 0.0, 0.0588, 1.0]
    """
    with localcontext() as context:
        context.prec = 50
        base = 1 + Decimal(mu)
        ratio = base ** (Decimal(2) / n)
        power = base ** (Decimal(n % 2) / n)  # an odd number of levels has no border at 0
        half = []
        for _ in range(n // 2 + 1):
            half.append(float((power - 1) / Decimal(mu)))
            power *= ratio
    half[-1] = 1.0
    borders = np.array([-border for border in reversed(half)] + half[1 - n % 2 :])
    borders += 0.0  # no negative zero
    borders.setflags(write=False)
    return borders


def _rounded(value: Number, step: Number) -> int:
    """``value / step`` rounded to an integer, halves to the even one; exactly for integers. OverflowError if it is not finite."""
    if not (isinstance(value, int) and isinstance(step, int)):
        return round(float(value) / float(step))
    quotient, rest = divmod(value, step)
    return quotient + (2 * rest > step or (2 * rest == step and quotient % 2 == 1))


def _integer_levels(x: NDArray[Any], step: int) -> NDArray[Any]:
    """``x / step`` of integers rounded to integers, halves to the even one, exactly."""
    least, greatest = int(x.min(initial=0)), int(x.max(initial=0))
    if max(-least, greatest, step) < _EXACT:
        return np.rint(x / step)
    if step > np.iinfo(x.dtype).max:  # then all levels are -1, 0 or 1
        return (x > step // 2).astype(np.int64) - (x < -(step // 2))
    quotient, rest = np.divmod(x, x.dtype.type(step))
    other = x.dtype.type(step) - rest
    up = (rest > other) | ((rest == other) & (quotient % 2 == 1))
    levels: NDArray[Any] = quotient + up.astype(x.dtype)
    return levels


def _minus(x: NDArray[Any], origin: Number) -> NDArray[np.float64]:
    """``x - origin`` in float64, of integers rounded once: no difference of two integers overflows on the way."""
    if isinstance(origin, int) and x.dtype.kind in "iu":
        high, low = (x >> 32).astype(np.float64), (x & 0xFFFFFFFF).astype(np.float64)
        return (high - float(origin >> 32)) * 2.0**32 + (low - float(origin & 0xFFFFFFFF))
    base = float(origin)
    rest = origin - int(base) if isinstance(origin, int) else 0
    difference: NDArray[np.float64] = x.astype(np.float64) - base
    return difference - float(rest) if rest else difference


def _beyond(x: NDArray[Any], low: Number, high: Number, levels: NDArray[Any], n: int) -> NDArray[np.int64]:
    """The levels, at most n - 1, but -1 where x is below `low` and n where it is above `high`."""
    found: NDArray[np.int64] = np.minimum(levels, n - 1).astype(np.int64)
    found[x < low] = -1
    found[x > high] = n
    return found
