"""Signals as users pass them: recordings, columns of samples, and which are missing.

Errors name the place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.runtime.arrays import describe

KEPT = ", or keep them as gaps: gaps=True"


def refuse_masked(values: Any, name: str, way: str = "") -> None:
    """ValueError for an array in which samples are masked."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(
            f"{name}: expected every sample, got an array with masked ones; drop or fill them first{way}"
        )


def missing_in(signal: Any, columns: NDArray[Any], gaps: bool) -> NDArray[np.bool_] | None:
    """Where samples are missing in the columns of a signal; None: nowhere, as it has to be without gaps."""
    if not gaps:
        refuse_masked(signal, "signal", KEPT)
        return None
    missing = np.ma.getmaskarray(signal).reshape(columns.shape) | np.isnan(columns)
    return missing if missing.any() else None


def several(signal: Any) -> list[Any] | None:
    """The recordings that were given; None for one signal.

    Recordings are a list of arrays, or of lists of different lengths, a `Ragged`, a column of lists of Arrow
    or pandas.
    """
    if not isinstance(signal, (list, tuple, Ragged, np.ndarray)) and hasattr(signal, "__array__"):
        signal = np.asarray(signal)
    if isinstance(signal, np.ndarray) and signal.dtype == object:
        signal = list(signal) if all(map(np.ndim, signal)) else signal
    if isinstance(signal, (list, tuple)):
        is_one = not any(hasattr(part, "__array__") and getattr(part, "ndim", 0) for part in signal)
        if is_one and len({len(part) if isinstance(part, (list, tuple)) else -1 for part in signal}) < 2:
            return None
    elif not isinstance(signal, Ragged):
        return None
    return list(signal)


def each(call: Callable[[Any], Any], signal: Any) -> list[Any] | None:
    """Results of a call for each of several recordings, named in errors; None for one signal."""
    if (parts := several(signal)) is None:
        return None
    results = []
    for i, part in enumerate(parts):
        try:
            results.append(call(part))
        except (TypeError, ValueError) as error:
            name, _, rest = str(error).partition(": ")
            raise type(error)(f"{name}: recording {i}: {rest}") from None
    return results


def as_columns(
    values: ArrayLike, name: str, kinds: str = "iuf", n_channels: int | None = -1
) -> tuple[NDArray[Any], Literal[1, 2]]:
    """The samples as [n, channels], a view of an array, and the number of dimensions of the input.

    Dtypes must be of these kinds. `n_channels` is the expected number of channels. None: the input is 1-D;
    -1: any number; 0: all numbers are one channel.
    """
    try:
        array = np.asarray(values)
    except ValueError as error:  # lists of different lengths
        raise ValueError(f"{name}: expected an array, got {describe(values)} ({error})") from None
    if n_channels == 0:
        array, n_channels = array.reshape(-1), None
    if array.size == 0 and not isinstance(values, np.ndarray):
        array = array.astype(np.int64)  # an empty list does not have a type
    if array.dtype.kind not in kinds or array.dtype.itemsize > 8:
        expected = "integers or floats of at most 64 bits" if "f" in kinds else "integers"
        raise TypeError(f"{name}: expected {expected}, got {describe(array)}")
    if array.ndim not in (1, 2) or n_channels not in (-1, array.shape[1] if array.ndim == 2 else None):
        shapes = {None: "[n]", -1: "[n] or [n, channels]"}
        way = (
            "; numpy.moveaxis(x, axis, -1).reshape(-1, n) has the axis of n channels last"
            if array.ndim > 2
            else ""
        )
        raise ValueError(
            f"{name}: expected the shape {shapes.get(n_channels, f'[n, {n_channels}]')}, got "
            f"{describe(array)}{way}"
        )
    if array.ndim == 2 and array.shape[1] == 0:
        raise ValueError(f"{name}: expected at least one channel, got {describe(array)}")
    return (array, 2) if array.ndim == 2 else (array[:, None], 1)


def where_in(name: str, channel: int, ndim: int) -> str:
    """The beginning of an error about a channel."""
    return f"{name}: channel {channel}, " if ndim == 2 else f"{name}: "


def check_finite(samples: NDArray[Any], where: str, start: int = 0) -> None:
    """Raise ValueError for the first sample that is not finite; samples begin at position `start`."""
    if samples.dtype.kind == "f" and (at := np.flatnonzero(~np.isfinite(samples))).size:
        raise ValueError(
            f"{where}position {start + at[0]}: expected a finite number, got {samples[at[0]]}; drop or "
            "fill such samples first" + KEPT * bool(np.isnan(samples[at[0]]))
        )
