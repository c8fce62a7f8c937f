"""Recordings in every form that a user may pass become runs of values of a scale, with what is missing apart."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.documents.quantization import Quantization
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.errors import listed, quoted, shortened
from ubpe_numba.runtime.arrays import describe, offsets_of
from ubpe_numba.runtime.messages import warn
from ubpe_numba.signals.kernels.match import FINE
from ubpe_numba.signals.tokens import MOST

_FEW = 16  # as many channels as recordings of two axes have, and samples as no recording has


class Recording(NamedTuple):
    """Samples [n, channels], 0 where one is missing, and where that is, bool of that shape; None: nowhere."""

    values: NDArray[Any]
    missing: NDArray[np.bool_] | None


def recordings_of(given: Any, channel_axis: int | None) -> tuple[list[Recording], bool]:
    """Recordings, and whether one was given and not several.

    One is an array or a list of numbers, with a channel axis an array of two axes; several are a list of these, a `Ragged`, or an
    array with one more axis. TypeError or ValueError that names the recording for anything else.
    """
    axes = 1 if channel_axis is None else 2
    if isinstance(given, Ragged):
        given = list(given)
    if axes == 1 and hasattr(given, "columns"):
        ways = "a list of its columns, or channel_axis=1, if they are the channels of one"
        raise TypeError(f"recordings: expected arrays, got a table of {listed(given.columns)}; give {ways}")
    if isinstance(given, (list, tuple)):
        if not given or np.ndim(given[0]) == axes:
            return [_recording(part, channel_axis, f"recordings: recording {i}") for i, part in enumerate(given)], False
    array = _array(given, "recordings")
    if array.dtype == object:  # lists of Arrow: an array each
        return recordings_of(list(array), channel_axis)
    if array.ndim == axes + 1:
        n, size = array.shape[:2]
        if axes == 1 and size <= _FEW < n:
            warn(f"recordings: {describe(array)} are {n} recordings of {size} samples; channel_axis=1 is for {size} channels")
        return [_recording(part, channel_axis, f"recordings: recording {i}") for i, part in enumerate(array)], False
    return [_recording(array, channel_axis, "recordings")], True


def _array(value: Any, where: str) -> NDArray[Any]:
    if isinstance(value, np.ndarray):
        return value  # masked ones too
    try:
        array = np.asarray(value)
        if array.dtype != object or (array.size and np.ndim(array.flat[0])):
            return array
        return value.to_numpy(dtype=np.float64, na_value=np.nan) if hasattr(value, "to_numpy") else array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where}: expected numbers, got {describe(value)} ({shortened(error)})") from None


def _recording(value: Any, channel_axis: int | None, where: str) -> Recording:
    array = _array(value, where)
    if array.size == 0 and not isinstance(value, np.ndarray):
        array = array.astype(np.float64)
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
        raise TypeError(f"{where}: expected integers or floats of at most 64 bits, got {describe(array)}")
    if array.ndim != (1 if channel_axis is None else 2):
        expected = "[samples]; channel_axis= is for more" if channel_axis is None else "two axes, samples and channels"
        raise ValueError(f"{where}: expected {expected}, got {describe(array)}")
    columns = array[:, None] if channel_axis is None else np.moveaxis(array, channel_axis, 1)
    missing, values = np.ma.getmaskarray(columns), np.asarray(columns)
    if values.dtype.kind == "f":
        values = values.astype(np.float64, copy=False)
        missing = missing | np.isnan(values)
        if (at := np.argwhere(np.isinf(values))).size:
            place = f"position {at[0, 0]}" if channel_axis is None else f"channel {at[0, 1]}, position {at[0, 0]}"
            raise ValueError(f"{where}: {place}: expected a finite number, or NaN for a missing one, got {values[tuple(at[0])]}")
    return Recording(np.where(missing, 0, values), missing) if missing.any() else Recording(values, None)


def runs_of(missing: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Offsets of the runs of a channel, and which of them are gaps.

    >>> runs_of(np.array([False, True, True, False]))
    (array([0, 1, 3, 4]), array([False,  True, False]))
    """
    cuts = np.flatnonzero(missing[1:] != missing[:-1]) + 1
    offsets = np.concatenate([[0], cuts, [missing.size]]).astype(np.int64)
    return offsets, missing[offsets[:-1]] if missing.size else np.zeros(1, bool)


def scale_of(found: list[Recording], steps: tuple[str, Any, float], low: Any, high: Any, ndim: Literal[1, 2]) -> Quantization:
    """The scale of recordings, with FINE values to a level. `steps`: a name, numbers, and how many steps are one."""
    name, given, ratio = steps
    n = found[0].values.shape[1] if found else 1
    each = np.asarray(given)
    if each.dtype.kind not in "iuf" or each.shape not in ((), (n,)) or not ((each > 0) & np.isfinite(each)).all():
        raise ValueError(f"{name}: expected a number above 0, or one for each of {n} channels, got {quoted(given)}")
    fine = np.broadcast_to(each.astype(np.float64), n) * ratio / FINE
    lows, highs = [], []
    for channel in range(n):
        parts = [part.values[:, channel] for part in found]
        if any(part.missing is not None for part in found):
            parts = [
                values if part.missing is None else values[~part.missing[:, channel]]
                for values, part in zip(parts, found, strict=True)
            ]
        ends = [end for values in parts if values.size for end in (values.min(), values.max())]
        if not ends and (low is None or high is None):
            where = f"channel {channel}: " if ndim == 2 else ""
            raise ValueError(f"recordings: {where}expected at least one sample that is not missing")
        lows.append(min(ends).item() if ends else 0)
        highs.append(max(ends).item() if ends else 0)
    scale = Quantization(
        low=tuple(lows) if low is None else (low,) * n if np.ndim(low) == 0 else tuple(low),
        high=tuple(highs) if high is None else (high,) * n if np.ndim(high) == 0 else tuple(high),
        step=tuple(fine.tolist()),
        ndim=ndim,
    )
    if scale.n_symbols >= MOST:
        raise ValueError(f"{name}: expected fewer than {MOST // FINE} levels in the range, got {scale.n_symbols // FINE}")
    return scale


def cut(scale: Quantization, found: list[Recording], clip: bool) -> tuple[Ragged, list[int], list[list[int]]]:
    """Values of the runs of samples; lengths of gaps; of each channel of each recording its gap lengths, -1 for a run."""
    values: list[NDArray[np.int32]] = []
    gaps: list[int] = []
    layout: list[list[int]] = []
    clipped = 0
    for i, part in enumerate(found):
        if part.values.shape[1] != scale.n_channels:
            raise ValueError(f"recordings: recording {i}: expected {scale.n_channels} channels, got {part.values.shape[1]}")
        samples = part.values
        if part.missing is not None:
            samples = np.where(part.missing, np.array(scale.low), samples)
        if clip and samples.size:
            clipped += int(((samples < np.array(scale.low)) | (samples > np.array(scale.high))).sum())
        try:
            symbols = scale.apply(samples if scale.ndim == 2 else samples[:, 0], clip=clip).reshape(samples.shape)
        except ValueError as error:
            rest = str(error).partition(": ")[2]
            raise ValueError(f"recordings: recording {i}: {rest}") from None
        for channel in range(scale.n_channels):
            column = np.ascontiguousarray(symbols[:, channel])
            if part.missing is None or not part.missing[:, channel].any():
                values.append(column)
                layout.append([-1])
                continue
            offsets, is_gap = runs_of(part.missing[:, channel])
            pieces = list(zip(offsets[:-1].tolist(), offsets[1:].tolist(), is_gap.tolist(), strict=True))
            values += [column[a:z] for a, z, gap in pieces if not gap]
            layout.append([z - a if gap else -1 for a, z, gap in pieces])
            gaps += [z - a for a, z, gap in pieces if gap]
    if clipped:
        warn(f"recordings: {clipped} samples outside of the scale became its first or last level, beyond the bound of the error")
    flat = np.concatenate(values) if values else np.zeros(0, np.int32)
    return Ragged(flat, offsets_of(np.array([part.size for part in values], np.int64))), gaps, layout
