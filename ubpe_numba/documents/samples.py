"""Arguments of quantisers: signals as columns of samples, and numbers a channel. Errors name argument, channel and position."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ubpe_numba.documents.scales import Number
from ubpe_numba.errors import quoted
from ubpe_numba.runtime.arrays import describe

__all__ = ["as_columns", "check_choices", "check_finite", "for_each_channel", "number", "plain_samples", "range_of"]


def as_columns(values: ArrayLike, name: str, kinds: str = "iuf", n_channels: int | None = -1) -> tuple[NDArray[Any], int]:
    """The samples as [n, channels], a view where `values` is an array, and the number of dimensions that were given.

    Expected are samples of these kinds of dtypes in `n_channels` channels; None: of one dimension, -1: of any number.
    """
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(f"{name}: expected every sample, got an array with masked ones")
    try:
        array = np.asarray(values)
    except ValueError as error:  # lists of different lengths
        raise ValueError(f"{name}: expected an array, got {describe(values)} ({error})") from None
    if array.size == 0 and not isinstance(values, np.ndarray):
        array = array.astype(np.int64)  # an empty list has no type of its own
    if array.dtype.kind not in kinds or array.dtype.itemsize > 8:
        expected = "integers or floats of at most 64 bits" if "f" in kinds else "integers"
        raise TypeError(f"{name}: expected {expected}, got {describe(array)}")
    known = array.ndim in (1, 2)
    if known and n_channels != -1:
        known = array.shape[1:] == (() if n_channels is None else (n_channels,))
    if not known:
        shapes = {None: "[n]", -1: "[n] or [n, channels]"}
        raise ValueError(f"{name}: expected the shape {shapes.get(n_channels, f'[n, {n_channels}]')}, got {describe(array)}")
    if array.ndim == 2 and array.shape[1] == 0:
        raise ValueError(f"{name}: expected at least one channel, got {describe(array)}")
    return (array[:, None] if array.ndim == 1 else array), array.ndim


def plain_samples(samples: NDArray[Any]) -> NDArray[Any]:
    """The samples as float64, int64 or uint64 in native byte order, the same numbers."""
    if samples.dtype.kind == "f":
        return samples.astype(np.float64)
    return samples.astype(np.uint64 if samples.dtype.kind == "u" and samples.dtype.itemsize == 8 else np.int64)


def check_finite(samples: NDArray[Any], where: str, start: int = 0) -> None:
    """Raise ValueError for the first of the samples that is not finite; the samples begin at position `start`."""
    if samples.dtype.kind == "f" and (at := np.flatnonzero(~np.isfinite(samples))).size:
        raise ValueError(f"{where}position {start + at[0]}: expected a finite number, got {samples[at[0]]}")


def range_of(
    columns: NDArray[Any], ndim: int, low: Any, high: Any, symmetric: bool
) -> tuple[tuple[Number, ...], tuple[Number, ...]]:
    """The range of each channel, as Python numbers: what the user gave, and else the least and the greatest sample.

    A symmetric range is -high..high; then either end that the user gave says both. Samples of any type of integers are exact.
    """
    n = columns.shape[1]
    lowest = None if low is None else for_each_channel(low, "low", n)
    highest = None if high is None else for_each_channel(high, "high", n)
    if symmetric and (lowest is None) != (highest is None):
        ends = [abs(end) for end in lowest or highest or ()]
        return tuple(-end for end in ends), tuple(ends)
    if lowest is not None and highest is not None:
        return lowest, highest
    if len(columns) == 0:
        raise ValueError("signal: expected at least one sample to learn the range from, or low and high, got none")
    least, greatest = columns.min(axis=0), columns.max(axis=0)
    if not (np.isfinite(least).all() and np.isfinite(greatest).all()):
        for channel in range(n):
            check_finite(columns[:, channel], f"signal: channel {channel}, " if ndim == 2 else "signal: ")
    first, last = least.tolist(), greatest.tolist()
    if symmetric:
        last = [max(-a, b) for a, b in zip(first, last, strict=True)]
        first = [-b for b in last]
    return lowest or tuple(first), highest or tuple(last)


def number(value: Any, name: str) -> Number:
    """A Python int or finite float; a float that is an integer below 2**53 as an int, so that integers are cut exactly by it."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{name}: expected a number, got {describe(value)}")
    if isinstance(value, (int, np.integer)):
        if abs(int(value)) >= 1 << 1000:
            raise ValueError(f"{name}: expected a number that fits float64, got an integer of {int(value).bit_length()} bits")
        return int(value)
    if not math.isfinite(value):
        raise ValueError(f"{name}: expected a finite number, got {value}")
    given = float(value)
    return int(given) if abs(given) < 2**53 and given.is_integer() else given


def for_each_channel(value: Any, name: str, n: int) -> tuple[Number, ...]:
    """`n` numbers, from one number for all channels or from a sequence with one for each."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, np.ndarray):
        value = list(value)
    if not isinstance(value, (list, tuple)):
        return (number(value, name),) * n
    if len(value) != n:
        raise ValueError(f"{name}: expected one number, or one for each of {n} channels, got {len(value)}")
    return tuple(number(v, f"{name}: channel {i}") for i, v in enumerate(value))


def check_choices(law: Any, channels: Any, step: Any, levels: Any) -> None:
    """Raise ValueError for words that are not known and for arguments that exclude each other."""
    if law not in ("linear", "mu"):
        raise ValueError(f"law: expected 'linear' or 'mu', got {quoted(law)}")
    if channels not in ("shared", "separate"):
        raise ValueError(f"channels: expected 'shared' or 'separate', got {quoted(channels)}")
    if law == "mu" and step is not None:
        raise ValueError(f"step: expected None with the law 'mu', which has levels, got {quoted(step)}")
    if (step is None) == (levels is None):
        raise ValueError(f"levels: expected one of step and levels, got step={quoted(step)}, levels={quoted(levels)}")
