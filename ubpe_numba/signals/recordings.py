"""Recordings in every accepted form become runs of values of a scale, without missing samples."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.scale import Scale
from ubpe_numba.errors import listed, quoted, shortened
from ubpe_numba.runtime.arrays import describe, offsets_of
from ubpe_numba.runtime.messages import warn
from ubpe_numba.signals.kernels.match import FINE
from ubpe_numba.signals.tokens import MOST

_FEW = 16  # as many channels as recordings of two axes have, and samples as no recording has


class Recording(NamedTuple):
    """Samples [n, channels], 0 for a missing sample, and a bool mask of missing samples or None."""

    values: NDArray[Any]
    missing: NDArray[np.bool_] | None


def recordings_of(given: Any, channel_axis: int | None) -> tuple[list[Recording], bool]:
    """Recordings, and whether the input is a single recording.

    A single recording is an array or a list of numbers, with a channel axis an array of two axes. Several are
    a list of these, a `Ragged`, or an array with one more axis. TypeError or ValueError, with the recording,
    for anything else.
    """
    axes = 1 if channel_axis is None else 2
    if isinstance(given, Ragged) or hasattr(given, "__next__"):
        given = list(given)
    if axes == 1 and hasattr(given, "columns"):
        ways = "a list of its columns, or channel_axis=1, if they are the channels of one"
        raise TypeError(f"recordings: expected arrays, got a table of {listed(given.columns)}; give {ways}")
    if isinstance(given, (list, tuple)):
        if not given or np.ndim(given[0]) == axes:
            return [
                _recording(part, channel_axis, f"recordings: recording {i}") for i, part in enumerate(given)
            ], False
    array = _array(given, "recordings")
    if array.dtype == object:  # lists of Arrow: an array each
        return recordings_of(list(array), channel_axis)
    if array.ndim == axes + 1:
        n, size = array.shape[:2]
        if axes == 1 and size <= _FEW < n:
            warn(
                f"recordings: {describe(array)} are {n} recordings of {size} samples; channel_axis=1 is for "
                f"{size} channels"
            )
        return [
            _recording(part, channel_axis, f"recordings: recording {i}") for i, part in enumerate(array)
        ], False
    return [_recording(array, channel_axis, "recordings")], True


def _array(value: Any, where: str) -> NDArray[Any]:
    if isinstance(value, np.ndarray):
        return value  # masked ones too
    try:
        array = np.asarray(value)
        if array.dtype != object or (array.size and np.ndim(array.flat[0])):
            return array
        return (
            value.to_numpy(dtype=np.float64, na_value=np.nan)
            if hasattr(value, "to_numpy")
            else array.astype(np.float64)
        )
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where}: expected numbers, got {describe(value)} ({shortened(error)})") from None


def _recording(value: Any, channel_axis: int | None, where: str) -> Recording:
    array = _array(value, where)
    if array.size == 0 and not isinstance(value, np.ndarray):
        array = array.astype(np.float64)
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
        raise TypeError(f"{where}: expected integers or floats of at most 64 bits, got {describe(array)}")
    if array.ndim != (1 if channel_axis is None else 2):
        expected = (
            "[samples]; channel_axis= is for more"
            if channel_axis is None
            else "two axes, samples and channels"
        )
        raise ValueError(f"{where}: expected {expected}, got {describe(array)}")
    columns = array[:, None] if channel_axis is None else np.moveaxis(array, channel_axis, 1)
    missing, values = np.ma.getmaskarray(columns), np.asarray(columns)
    if values.dtype.kind == "f":
        values = values.astype(np.float64, copy=False)
        missing = missing | np.isnan(values)
        if (at := np.argwhere(np.isinf(values) & ~missing)).size:
            place = (
                f"position {at[0, 0]}" if channel_axis is None else f"channel {at[0, 1]}, position {at[0, 0]}"
            )
            raise ValueError(f"{where}: {place}: expected a finite number or NaN, got {values[tuple(at[0])]}")
    return Recording(np.where(missing, 0, values), missing) if missing.any() else Recording(values, None)


def runs_of(missing: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Offsets of the runs of a channel, and which of them are gaps.

    >>> runs_of(np.array([False, True, True, False]))
    (array([0, 1, 3, 4]), array([False,  True, False]))
    """
    cuts = np.flatnonzero(missing[1:] != missing[:-1]) + 1
    offsets = np.concatenate([[0], cuts, [missing.size]]).astype(np.int64)
    return offsets, missing[offsets[:-1]] if missing.size else np.zeros(1, bool)


def check_clip(clip: Any, share: bool = False) -> float:
    """The share of samples at each end that are outliers, 0 for none.

    TypeError for anything but a bool or a share.
    """
    if isinstance(clip, (bool, np.bool_)):
        return 0.0
    if not share or not isinstance(clip, (float, np.floating)) or not 0 < clip < 0.5:
        expected = "True, False" + " or a share of outliers at each end, such as 0.001" * share
        raise TypeError(f"clip: expected {expected}, got {describe(clip)}")
    return float(clip)


def scale_of(
    recordings: list[Recording],
    params: dict[str, Any],
    low: Any,
    high: Any,
    share: float,
    ndim: Literal[1, 2],
) -> Scale:
    """The scale of recordings, with FINE values per level.

    `share` of the samples at each end are outside of its range.

    ValueError, with the name of the argument, if float64 cannot keep the bound for samples of this size.
    Errors of rounding are at most 4 float spacings near the largest sample, and all values must be integers
    that float64 holds.
    """
    n = recordings[0].values.shape[1] if recordings else 1
    lows, highs, dead = [], [], []
    for channel in range(n):
        parts = [
            part.values[:, channel]
            if part.missing is None
            else part.values[~part.missing[:, channel], channel]
            for part in recordings
        ]
        parts = [values for values in parts if values.size]
        if parts and share:
            ends = np.quantile(np.concatenate(parts), [share, 1 - share], method="inverted_cdf").tolist()
        else:
            ends = [end.item() for values in parts for end in (values.min(), values.max())]
        dead += [] if ends else [channel]
        lows.append(min(ends, default=0))
        highs.append(max(ends, default=0))
    if dead and (low is None or high is None):
        if len(dead) == n:
            raise ValueError("recordings: expected at least one sample that is not missing, or low and high")
        message = (
            f"recordings: channel {', '.join(map(str, dead))}: all samples are missing; recordings have a "
            "gap there"
        )
        warn(f"{message}; low and high of each channel give it a scale")
    name = "step" if params["max_error"] is None else "max_error"
    each = np.asarray(params[name])
    if (
        each.dtype.kind not in "iuf"
        or each.shape not in ((), (n,))
        or not ((each > 0) & np.isfinite(each)).all()
    ):
        raise ValueError(
            f"{name}: expected a number above 0, or one for each of {n} channels, got {quoted(params[name])}"
        )
    each = np.broadcast_to(each.astype(np.float64), n)
    low, high, fine = lows if low is None else low, highs if high is None else high, each * 1.0 / FINE
    try:
        most = np.maximum(*(np.broadcast_to(np.abs(np.asarray(end, np.float64)), n) for end in (low, high)))
    except (TypeError, ValueError, OverflowError):
        most = np.zeros(n)  # the scale names the argument that is not valid
    if name == "max_error":  # half a value is lost when samples are rounded to values
        ratio = params["tolerance"] + 0.5 + 0.5 / FINE
        fine = each * ((1 - 1e-6) / ratio) / FINE
        rounding = 8 * np.spacing(most)
        fine = np.where(rounding > 1e-6 * each, (each - rounding) / ratio / FINE, fine)
    if (bad := np.flatnonzero(~(fine > 0) | ~(most < fine * 2.0**51))).size:
        channel = int(bad[0])
        where = f"channel {channel}: " if ndim == 2 else ""
        least = (
            float(most[channel])
            * 2.0**-51
            * FINE
            * float(each[channel] / fine[channel] / FINE if fine[channel] > 0 else 1)
        )
        message = (
            f"{name}: {where}expected more than {least:.3g} for samples up to {most[channel]:.17g}, which "
            "float64 rounds"
        )
        raise ValueError(
            f"{message}, got {each[channel]}; subtract an offset from the recordings, such as their mean"
        )
    scale = Scale(low=low, high=high, step=fine).fit(np.empty((0, n)[:ndim]))
    if scale.n_symbols >= MOST:
        got = f"got {scale.n_symbols // FINE}; fit(..., clip=0.001) leaves outliers out of the range"
        raise ValueError(f"{name}: expected fewer than {MOST // FINE} levels in the range, {got}")
    return scale


def values_of(
    scale: Scale, part: Recording, clip: bool, whole: bool, where: str
) -> tuple[NDArray[np.int32], int]:
    """The values of a recording, int32[n, channels], and the number of samples that were clipped.

    `whole`: as for a scale of integers, whose bound does not hold for other numbers. Where samples are
    missing the values mean nothing. ValueError for a sample outside of the scale, with its place after
    `where`.
    """
    samples = part.values
    if whole and samples.dtype.kind == "f" and (at := np.argwhere(samples != np.floor(samples))).size:
        i, channel = at[0].tolist()
        place = f"channel {channel}, position {i}" if scale.ndim_ == 2 else f"position {i}"
        message = f"{where}: {place}: expected a whole number, as in the fit, got {samples[i, channel]}"
        raise ValueError(f"{message}; round the samples, or fit on floats")
    low, high = np.array(scale.low_, np.float64), np.array(scale.high_, np.float64)
    if part.missing is not None:
        samples = np.where(part.missing, low, samples)
    n_clipped = 0
    if clip:
        n_clipped = int(((samples < low) | (samples > high)).sum())
        samples = np.clip(samples, low, high)
    try:
        symbols = scale.transform(samples if scale.ndim_ == 2 else samples[:, 0])
    except ValueError as error:
        raise ValueError(f"{where}: {str(error).partition(': ')[2]}") from None
    return symbols.reshape(samples.shape), n_clipped


def warn_of_clipped(n: int) -> None:
    """Warn that so many samples were clipped, if any."""
    if n:
        warn(
            f"recordings: {n} samples outside of the scale became its first or last level, beyond the error "
            "bound"
        )


def cut(
    scale: Scale, recordings: list[Recording], clip: bool, whole: bool
) -> tuple[Ragged, list[int], list[list[int]]]:
    """Values of the runs of samples; lengths of gaps; and the structure of each recording.

    The structure has for each channel its gap lengths, with -1 for a run.
    """
    values: list[NDArray[np.int32]] = []
    gaps: list[int] = []
    layout: list[list[int]] = []
    n_clipped = 0
    for i, part in enumerate(recordings):
        if part.values.shape[1] != scale.n_channels:
            raise ValueError(
                f"recordings: recording {i}: expected {scale.n_channels} channels, got {part.values.shape[1]}"
            )
        symbols, n = values_of(scale, part, clip, whole, f"recordings: recording {i}")
        n_clipped += n
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
    warn_of_clipped(n_clipped)
    flat = np.concatenate(values) if values else np.zeros(0, np.int32)
    return Ragged(flat, offsets_of(np.array([part.size for part in values], np.int64))), gaps, layout
