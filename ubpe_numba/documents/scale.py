"""`Scale`: the samples of a signal rounded to levels, which are the symbols of a tokenizer, and back.

Three scales of a channel with 4 levels; a number on a border belongs to the level above it:

    step      -step   0   step  2*step        multiples of `step` are the middles; halves: the even multiple
    levels    low |  |  |  | high             evenly spaced borders
    mu        -high |   | 0 |   | high        borders (1 + mu)**|y| - 1, evenly spaced in y, -1..1

Only correctly rounded operations are used (+, -, *, /, and decimal powers), so levels are the same on any
machine.
"""

from __future__ import annotations

import contextlib
import math
from decimal import Decimal, localcontext
from functools import lru_cache
from itertools import accumulate
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ubpe_numba.documents.samples import (
    as_columns,
    check_finite,
    each,
    missing_in,
    refuse_masked,
    several,
    where_in,
)
from ubpe_numba.errors import ModelFormatError, NotFittedError, quoted
from ubpe_numba.runtime.arrays import Parameters, describe, positive, told
from ubpe_numba.runtime.schema import check_fields

MOST = 2**31 - 1  # symbols: they are int32
MOST_MU = 2**16  # borders are held
_CHUNK = 1 << 18  # samples at a time: temporary arrays stay in the cache of the CPU
#: The quotient of two smaller integers, rounded to a float, is on the same side of every half as the quotient
#: itself.
_EXACT = 2**52
_WIDEST = {"f": np.float64, "u": np.uint64, "i": np.int64}  # by kinds of dtypes

Number = int | float


@told
class Scale(Parameters):
    r"""Round signals to levels, which are the symbols that a tokenizer is fitted on, and back.

    What rounding takes away is the only loss: tokenizers give back the same symbols, and `inverse_transform`
    gives each the middle of its level, at most `max_error` away from the sample. Few levels make long tokens
    that recur; with many, noise differs from place to place and so do the symbols. A scale is a transformer
    as scikit-learn has them: a step of a pipeline.

    Parameters
    ----------
    step : number, or one for each channel, optional
        Levels are the multiples of `step`: a sample goes to ``round(sample / step)``, halves to the even one.
        The lowest level that occurs, or that of `low`, is symbol 0. Integers of any type are divided exactly
        by an integer step.
    levels : int, optional
        The number of levels between the least and the greatest sample, or between `low` and `high`; a sample
        on the border of two goes to the upper one. Either `step` or `levels`; without both 16, of the law
        ``"mu"`` 256, and of that at most 65536.
    law : {"linear", "mu"}
        ``"linear"``: levels of equal width. ``"mu"``: narrow levels near 0 and wide ones at the ends, for
        sound, and other signals that are small most of the time.
    mu : float
        How much narrower, 1e-6..1e9: the levels at the ends are about ``1 + mu`` times as wide as those near
        0.
    low, high : number, or one for each channel, optional
        The range that the levels cover, by default that of the signal. The law ``"mu"`` covers
        ``-high..high``. Give them for a scale that does not depend on the data, such as -1 and 1 for audio,
        and for one scale of several channels.
    channels : {"shared", "separate", "one"}
        Columns of [n, channels] have a scale each. ``"shared"``: the symbols of each begin at 0, and a level
        means the same for tokens whatever its channel. For a document per channel: ``fit(symbols.T)``.
        ``"separate"``: each has symbols of its own, one range after the other. For one document in which the
        channels alternate: ``fit(symbols.ravel())``. ``"one"``: all numbers have one scale, as series that
        are rows of a matrix.
    clip : bool
        Whether samples outside of the range go to the first or last level. Otherwise they raise. Acts at
        once.
    gaps : bool
        Whether missing samples, NaN or masked, get a symbol, the last one, and come back as NaN. Otherwise
        they raise. With ``Preprocessing(break_tokens=[scale.gap])`` no token crosses them.
    restore : {"middle", "mean"}
        What a level is restored to: the middle between its borders, or the mean of the samples of the fit
        there, with the middle as one more. By means errors are smaller on average, and `max_error` is
        larger. For at most 65536 levels.

    Attributes
    ----------
    low_, high_ : tuple of numbers
        The range of each channel, both ends included.
    step_ : tuple of numbers or None
        The spacing of levels, per channel.
    ndim_ : {1, 2}
        Whether signals are [n] or [n, channels].
    n_channels : int
        The number of channels, 1 if signals are [n].
    n_levels : tuple of int
        The number of levels of each channel.
    n_symbols : int
        Symbols are 0..n_symbols - 1; pass n_symbols as `alphabet` of a tokenizer.
    first_symbols : tuple of int
        The symbol of the lowest level of each channel.
    gap : int or None
        The symbol of missing samples, with gaps the last one.
    max_error : float64[n_channels]
        No sample in the range is farther from what `inverse_transform` gives for it, rounding of floats
        included.

    Notes
    -----
    The law ``"mu"`` divides :math:`\operatorname{sign}(x)\ln(1+\mu|x|/h)/\ln(1+\mu)` into equal parts, where
    h is `high` [1]_. ITU-T G.711 approximates this curve, with mu = 255, by straight segments [2]_; its codes
    are not these symbols. As there, a level is restored as the middle between its borders. An odd number of
    levels has one around 0, an even number a border at it.

    The result is the same on any machine: only correctly rounded operations are used.

    References
    ----------
    .. [1] B. Smith, "Instantaneous companding of quantized signals", Bell System Technical
       Journal 36 (3), 653-709, 1957.
    .. [2] ITU-T Recommendation G.711, "Pulse code modulation (PCM) of voice frequencies", 1988.

    Examples
    --------
    >>> import numpy as np
    >>> from ubpe_numba import BPE
    >>> signal = np.round(20 * np.sin(np.arange(400) * np.pi / 20))
    >>> scale = Scale(step=5)
    >>> symbols = scale.fit_transform(signal)
    >>> scale.n_symbols, symbols[:6].tolist()
    (9, [4, 5, 5, 6, 6, 7])
    >>> tok = BPE(40, alphabet=scale.n_symbols).fit(symbols)
    >>> back = scale.inverse_transform(tok.decode(tok.encode(symbols)))
    >>> bool((np.abs(back - signal) <= scale.max_error).all())
    True

    Two channels, each with its own scale and its own symbols, alternating in one document:

    >>> stereo = [[0.0, 100], [0.5, 300], [1.0, 200]]
    >>> scale = Scale(levels=4, channels="separate").fit(stereo)
    >>> scale.transform(stereo).ravel().tolist(), scale.first_symbols
    ([0, 4, 2, 7, 3, 6], (0, 4))
    >>> scale.inverse_transform([[0, 4], [2, 7], [3, 6]]).tolist()
    [[0.125, 125.0], [0.625, 275.0], [0.875, 225.0]]
    """

    def __init__(
        self,
        *,
        step: Any = None,
        levels: int | None = None,
        law: Literal["linear", "mu"] = "linear",
        mu: float = 255,
        low: Any = None,
        high: Any = None,
        channels: Literal["shared", "separate", "one"] = "shared",
        clip: bool = False,
        gaps: bool = False,
        restore: Literal["middle", "mean"] = "middle",
    ) -> None:
        self.step, self.levels, self.law, self.mu, self.low, self.high = step, levels, law, mu, low, high
        self.channels, self.clip, self.gaps, self.restore = channels, clip, gaps, restore
        self._fit: Any = None

    def fit(self, signal: ArrayLike, y: Any = None) -> Self:
        """Choose the scale of each channel.

        Parameters
        ----------
        signal : int or float [n] or [n, channels], list
            The samples, all finite except gaps. A list of arrays, a `Ragged` or a column of lists (Arrow,
            pandas) are recordings of any lengths, with one scale. It may be empty if `low` and `high` are
            given.
        y : None
            Ignored.

        Returns
        -------
        Self
            The scale itself.

        Raises
        ------
        TypeError
            If samples are not integers or floats of at most 64 bits, or a parameter has a wrong type.
        ValueError
            For a sample that is not finite, with channel and position. For an empty signal without `low` and
            `high`. For parameters out of range or that exclude each other, and for more than 2**31 - 1
            symbols.

        Examples
        --------
        >>> Scale(levels=4).fit([[0, 10], [4, 20]]).high_
        (4, 20)
        """
        state = self._learned(signal, self._settings())
        if "restore" in state:
            by_middles = type(self)(clip=self.clip)
            by_middles._become(state)
            state["shifts"] = by_middles._shifts(signal)
        self._become(state)
        return self

    def _become(self, state: dict[str, Any]) -> None:
        """Take a scale by the fields of `state`."""
        parts = [_channel(state, channel) for channel in range(len(state["low"]))]
        sizes, is_separate = [part.n for part in parts], state["channels"] == "separate"
        n = (sum if is_separate else max)(sizes) + state["gaps"]
        if n > MOST:
            raise ValueError(
                f"{'step' if state['step'] else 'levels'}: expected at most {MOST} symbols, got {n}"
            )
        first = accumulate(sizes[:-1], initial=0) if is_separate else [0] * len(sizes)
        self.low_, self.high_, self.step_, self.ndim_ = (
            state["low"],
            state["high"],
            state["step"],
            state["ndim"],
        )
        self.n_channels, self.n_levels, self.n_symbols, self.first_symbols = (
            len(sizes),
            tuple(sizes),
            n,
            tuple(first),
        )
        self.gap = n - 1 if state["gaps"] else None
        self.max_error: NDArray[np.float64] = np.array([part.max_error for part in parts])
        width = 0 if state["channels"] == "one" else None if self.ndim_ == 1 else len(parts)
        self._fit = state, [*zip(parts, self.first_symbols, strict=True)], self.gap, width

    def _shifts(self, signal: ArrayLike) -> list[list[float]]:
        """The difference between the mean of each level of each channel and its middle.

        The middle counts as one more sample.
        """
        _, parts, gap, width = self._fit
        recordings, symbols = several(signal), self.transform(signal)
        if recordings is None:
            recordings, symbols = [signal], [symbols]
        sums, counts = ([np.zeros(part.n) for part, _ in parts] for _ in range(2))
        for recording, of_recording in zip(recordings, symbols, strict=True):
            samples, _ = as_columns(recording, "signal", "iuf", width)
            levels, _ = as_columns(of_recording, "signal", "iu", width)
            for channel, (part, first) in enumerate(parts):
                is_sample = levels[:, channel] != gap
                mine = levels[is_sample, channel].astype(np.int64) - first
                above = samples[is_sample, channel].astype(np.float64) - _middles(part, mine)
                # of clipped samples it may be more
                above = np.clip(above, -part.max_error, part.max_error)
                np.add.at(
                    sums[channel], mine, above
                )  # in order, so that recordings have the sums of their whole
                np.add.at(counts[channel], mine, 1)
        return [(total / (n + 1)).tolist() for total, n in zip(sums, counts, strict=True)]

    def _settings(self) -> dict[str, Any]:
        """The checked parameters, without the range; ValueError for parameters that exclude each other."""
        law, levels, channels = self.law, self.levels, self.channels
        if law not in ("linear", "mu"):
            raise ValueError(f"law: expected 'linear' or 'mu', got {quoted(law)}")
        if channels not in ("shared", "separate", "one"):
            raise ValueError(f"channels: expected 'shared', 'separate' or 'one', got {quoted(channels)}")
        if law == "mu" and self.step is not None:
            raise ValueError(
                f"step: expected None with the law 'mu', which has levels, got {quoted(self.step)}"
            )
        if levels is None and self.step is None:
            levels = 256 if law == "mu" else 16
        if levels is not None:
            if self.step is not None:
                got = f"step={quoted(self.step)}, levels={quoted(levels)}"
                raise ValueError(f"levels: expected one of step and levels, got {got}")
            most = MOST_MU if law == "mu" else MOST
            if (levels := positive(levels, "levels")) > most:
                raise ValueError(f"levels: expected 1..{most}, got {levels}")
        mu = float(_number(self.mu, "mu"))
        if not 1e-6 <= mu <= 1e9:
            raise ValueError(f"mu: expected 1e-6..1e9, got {mu}")
        if self.restore not in ("middle", "mean"):
            raise ValueError(f"restore: expected 'middle' or 'mean', got {quoted(self.restore)}")
        settings = {
            "levels": levels,
            "law": law,
            "mu": mu,
            "channels": channels,
            "gaps": _flag(self.gaps, "gaps"),
        }
        return settings if self.restore == "middle" else {**settings, "restore": "mean"}

    def _learned(self, signal: ArrayLike, settings: dict[str, Any]) -> dict[str, Any]:
        """The fields of `state` for a signal, or for recordings together."""
        if states := each(lambda part: self._learned(part, settings), signal):
            first = states[0]
            if len({len(one["low"]) for one in states}) > 1 or (
                first["ndim"] == 1 and settings["channels"] == "separate"
            ):
                raise ValueError(
                    "signal: expected recordings of the same channels. Join them: numpy.stack(channels, "
                    "axis=1)."
                )
            ends = (
                (name, end, zip(*(one[name] for one in states), strict=True))
                for name, end in (("low", min), ("high", max))
            )
            return {**first, **{name: tuple(map(end, values)) for name, end, values in ends}}
        columns, ndim = as_columns(signal, "signal", n_channels=0 if settings["channels"] == "one" else -1)
        missing = missing_in(signal, columns, settings["gaps"])
        n = columns.shape[1]
        if n > len(columns) > 0 and (np.ndim(self.low) == 0 or np.ndim(self.high) == 0):
            got = f"{len(columns)} samples of {n} channels; signal.T if channels come first"
            raise ValueError(
                f"signal: expected [n, channels], got {got}; otherwise give low and high of each channel"
            )
        if missing is not None:  # the first present sample adds no information
            none = missing.all(axis=0).any()
            columns = (
                columns[:0]
                if none
                else np.where(missing, columns[missing.argmin(axis=0), np.arange(n)], columns)
            )
        low, high = _range_of(columns, ndim, self.low, self.high, symmetric=settings["law"] == "mu")
        step = None if self.step is None else _for_each_channel(self.step, "step", n)
        return {"low": low, "high": high, "step": step, "ndim": ndim, **settings}

    def _fitted(self) -> Any:
        """Fields of the state, channels with their first symbols, the gap symbol, and `n_channels`.

        The last is for `as_columns`.
        """
        if self._fit is None:
            raise NotFittedError("the scale is not fitted: fit comes first")
        return self._fit

    def transform(self, signal: ArrayLike) -> Any:
        """Round the samples of a signal to symbols.

        Parameters
        ----------
        signal : int or float [n] or [n, n_channels], list
            The samples, or recordings.

        Returns
        -------
        int32 of the shape of `signal`, or list
            The symbols, of each recording of a list.

        Raises
        ------
        TypeError
            If samples are not integers or floats of at most 64 bits.
        ValueError
            For another shape; for a sample that is not finite, or outside of the range without `clip`.

        Examples
        --------
        >>> scale = Scale(step=5, clip=True).fit([0, 10])
        >>> scale.transform([4, 99]).tolist()
        [1, 2]
        >>> scale.set_params(clip=False).transform([4, 99])
        Traceback (most recent call last):
        ValueError: signal: position 1: expected a sample in 0..10, got 99 (clip=True takes the last level)
        """
        (state, parts, gap, width), clip = self._fitted(), _flag(self.clip, "clip")
        if (results := each(self.transform, signal)) is not None:
            return results
        columns, ndim = as_columns(signal, "signal", "iuf", width)
        missing = missing_in(signal, columns, gap is not None)
        symbols = np.empty(columns.shape, np.int32)
        for channel, (part, first) in enumerate(parts):
            for start in range(0, len(columns), _CHUNK):
                # of native byte order
                x = columns[start : start + _CHUNK, channel].astype(_WIDEST[columns.dtype.kind])
                if missing is not None:
                    x[missing[start : start + _CHUNK, channel]] = 0
                check_finite(x, where_in("signal", channel, ndim), start)
                levels = _cut(part, x)
                if missing is not None:
                    levels[missing[start : start + _CHUNK, channel]] = 0
                if not clip and (at := np.flatnonzero((levels < 0) | (levels >= part.n))).size:
                    i, where = int(at[0]), where_in("signal", channel, ndim)
                    expected = (
                        f"expected a sample in {state['low'][channel]}..{state['high'][channel]}, got {x[i]}"
                    )
                    end = "first" if levels[i] < 0 else "last"
                    raise ValueError(
                        f"{where}position {start + i}: {expected} (clip=True takes the {end} level)"
                    )
                symbols[start : start + _CHUNK, channel] = np.clip(levels, 0, part.n - 1) + first
        if missing is not None:
            symbols[missing] = gap
        return symbols.reshape(np.shape(signal))

    def fit_transform(self, signal: ArrayLike, y: Any = None) -> Any:
        """`fit`, and `transform` of the same signal; arguments, result and errors are as for `fit`.

        Examples
        --------
        >>> Scale(step=0.5).fit_transform([0.0, 0.6, -1.0]).tolist()
        [2, 3, 0]
        """
        return self.fit(signal).transform(signal)

    def inverse_transform(self, symbols: Any) -> Any:
        """Give each symbol the middle of its level, or with ``restore="mean"`` about its mean in the fit.

        Parameters
        ----------
        symbols : int [n], [n, n_channels], list or `Ragged`
            Symbols as `transform` gives them, or as `decode_batch` does.

        Returns
        -------
        float64 of the shape of `symbols`, or list
            The samples, within `max_error` of the original; NaN for the symbol of gaps.

        Raises
        ------
        TypeError
            If symbols are not integers.
        ValueError
            For another shape; for a symbol that the channel does not have, naming channel and position.

        Examples
        --------
        >>> scale = Scale(levels=4).fit([-1.0, 1.0])
        >>> scale.inverse_transform(scale.transform([-1.0, 0.1, 1.0])).tolist(), scale.max_error
        ([-0.75, 0.25, 0.75], array([0.25]))
        """
        _, parts, gap, width = self._fitted()
        if (results := each(self.inverse_transform, symbols)) is not None:
            return results
        refuse_masked(symbols, "symbols")
        columns, ndim = as_columns(symbols, "symbols", "iu", width)
        samples = np.empty(columns.shape)
        for channel, (part, first) in enumerate(parts):
            column = columns[:, channel]
            missing = column == gap
            levels = np.where(missing, 0, column.astype(np.int64) - first)
            if (at := np.flatnonzero((levels < 0) | (levels >= part.n))).size:
                expected = f"expected a symbol in {first}..{first + part.n - 1}, got {column[at[0]]}"
                raise ValueError(f"{where_in('symbols', channel, ndim)}position {at[0]}: {expected}")
            restored = _middles(part, levels) + (0 if part.shifts is None else part.shifts[levels])
            samples[:, channel] = np.where(missing, np.nan, restored)
        return samples.reshape(np.shape(symbols))

    def state(self) -> dict[str, Any]:
        """Plain data to store with a model: numbers, strings and lists, as in JSON.

        Returns
        -------
        dict
            The fields, as a dict; floats are exact in the JSON that Python writes.

        Examples
        --------
        >>> import json
        >>> scale = Scale(levels=16).fit([0.1, 0.7])
        >>> again = Scale.from_state(json.loads(json.dumps(scale.state())))
        >>> again.state() == scale.state(), again.low_
        (True, (0.1,))
        """
        fields = {**self._fitted()[0], **({"clip": True} if self.clip else {})}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Make a fitted scale from a dict, as for `state`.

        Parameters
        ----------
        state : dict
            What `state` gave.

        Returns
        -------
        Scale
            The scale. ModelFormatError if a field is missing, unknown or not valid.
        """
        if not isinstance(state, dict):
            raise ModelFormatError(f"scale: expected a dict, got {describe(state)}")
        fields = {"gaps": False, "clip": False, "restore": "middle", **state}
        more = ("ndim", "shifts") if fields["restore"] == "mean" else ("ndim",)
        check_fields(fields, (*_USUAL, *more), "scale")
        try:
            ndim, shifts = fields.pop("ndim"), fields.pop("shifts", None)
            if ndim not in (1, 2) or fields["levels"] is fields["step"]:  # both are None
                raise ValueError(f"ndim: expected 1 or 2, and levels or a step, got {quoted(ndim)}")
            scale = cls(**fields).fit(np.empty((0, np.size(fields["low"]))[:ndim]))
            if shifts is not None:
                scale._become({**scale._fit[0], "shifts": shifts})
            return scale
        except (TypeError, ValueError, LookupError) as error:
            raise ModelFormatError(f"scale: {error}") from error

    def __repr__(self) -> str:
        shown = (
            f"{name}={value!r}" for name, value in self.get_params().items() if value is not _USUAL[name]
        )
        return f"Scale({', '.join(shown)})" + (f": {self.n_symbols} symbols" if self._fit else "")

    def __sklearn_tags__(self) -> Any:
        """The tags of a scikit-learn pipeline step: a transformer of numbers, fitted without targets."""
        # installed, since it is the caller
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(preserves_dtype=[]),
            input_tags=InputTags(allow_nan=self.gaps),
        )


#: Defaults of the constructor.
_USUAL: dict[str, Any] = Scale.__init__.__wrapped__.__kwdefaults__  # type: ignore[attr-defined]


class _Channel(NamedTuple):
    """Levels 0..n - 1 of a channel."""

    n: int
    max_error: float  # no number on the scale is farther from the middle of its level, rounding included
    low: Number
    high: Number
    step: Number | None = None  # levels are its multiples,
    first: int = 0  # from this channel on
    # borders of mu levels: n + 1, in -1..1; otherwise levels are of equal width
    borders: NDArray[np.float64] | None = None
    shifts: NDArray[np.float64] | None = None  # n, of what levels are restored to, from their middles


def _channel(state: dict[str, Any], channel: int) -> _Channel:
    """The scale of a channel by the fields of `Scale.state`; ValueError if float64 cannot express it."""
    low, high, n = state["low"][channel], state["high"][channel], state["levels"] or 1
    step = None if state["step"] is None else state["step"][channel]
    mu = state["mu"] if state["law"] == "mu" else None
    where = f"channel {channel}: " if state["ndim"] == 2 else ""
    if low > high:
        raise ValueError(f"low: {where}expected at most {high}, which is high, got {low}")
    if mu and low != -high:
        raise ValueError(f"low: {where}expected {-high}, since mu levels lie around 0, got {low}")
    if step is not None and step <= 0:
        raise ValueError(f"step: {where}expected more than 0, got {step}")
    scale = None
    with contextlib.suppress(OverflowError):
        if step is not None:
            first = _rounded(low, step)
            n = _rounded(high, step) - first + 1
            ends = [abs(float(end)) for end in (low, high, first * step, (first + n - 1) * step)]
            scale = _Channel(n, step / 2 + 4 * float(np.spacing(max(ends))), low, high, step, first)
        elif mu:
            peak, borders = float(high), mu_borders(n, mu)
            widest = float(borders[-1] - borders[-2])
            scale = _Channel(n, widest * peak / 2 + 4 * float(np.spacing(peak)), -peak, peak, borders=borders)
        else:
            rounding = 4 * float(np.spacing(max(abs(float(low)), abs(float(high)))))
            scale = _Channel(n, float(high - low) / n / 2 + rounding, low, high)
    if scale is None or not math.isfinite(scale.max_error):
        raise ValueError(
            f"{'high' if step is None else 'step'}: {where}the levels of {low}..{high} exceed float64"
        )
    if "restore" in state and scale.n > MOST_MU:
        raise ValueError(f"restore: {where}expected at most {MOST_MU} levels for means, got {scale.n}")
    if (shifts := state.get("shifts")) is None:
        return scale
    values = np.asarray(shifts[channel])
    if values.shape != (scale.n,) or values.dtype.kind != "f" or not np.abs(values).max() <= scale.max_error:
        raise ValueError(f"shifts: {where}expected {scale.n} floats within {scale.max_error}")
    rounding = 2 * float(np.spacing(max(abs(float(low)), abs(float(high))) + scale.max_error))
    error = scale.max_error + float(np.abs(values).max()) + rounding
    return scale._replace(shifts=values, max_error=error)


def _cut(scale: _Channel, x: NDArray[Any]) -> NDArray[np.int64]:
    """The level of each number (finite; float64, int64 or uint64), -1 below the scale, n above it.

    Integers are divided exactly by an integer step, and between `low` and `high` where ``(high - low) * n``
    is below 2**53.
    """
    levels: NDArray[Any]
    with np.errstate(over="ignore"):  # infinite levels are beyond the scale
        if scale.step is not None:
            exact = isinstance(scale.step, int) and x.dtype.kind in "iu"
            levels = _minus(
                _integer_levels(x, int(scale.step)) if exact else np.rint(x / scale.step), scale.first
            )
            return np.clip(levels, -1, scale.n).astype(np.int64)
        if scale.borders is not None:
            x = x.astype(np.float64)
            levels = np.searchsorted(scale.borders[1:-1] * (scale.high or 1.0), x, side="right")
        else:
            span = float(scale.high - scale.low)
            above = np.clip(_minus(x, scale.low), 0.0, span)
            # multiplied first: a quotient of integers that is an integer is not rounded
            if math.isfinite(span * scale.n):
                levels = np.floor(above * scale.n / (span or 1.0))
            else:
                levels = np.floor(above / span * scale.n)
    indices: NDArray[np.int64] = np.minimum(levels, scale.n - 1).astype(np.int64)
    indices[x < scale.low] = -1
    indices[x > scale.high] = scale.n
    return indices


def _middles(scale: _Channel, levels: NDArray[np.int64]) -> NDArray[np.float64]:
    """The middle of each of these levels, 0..n - 1."""
    if scale.step is None:
        if scale.borders is not None:
            return (scale.borders[levels] + scale.borders[levels + 1]) / 2 * scale.high
        return float(scale.low) + (levels + 0.5) / scale.n * float(scale.high - scale.low)
    if not isinstance(scale.step, int):
        return np.asarray((float(scale.first) + levels) * scale.step, np.float64)
    base = float(scale.first * scale.step)
    rest = float(scale.first * scale.step - int(base))
    return np.asarray(base + (levels * float(scale.step) + rest), np.float64)


@lru_cache(maxsize=16)
def mu_borders(n: int, mu: float) -> NDArray[np.float64]:
    """The n + 1 borders of mu-law levels, ascending.

    They are ``sign(y) ((1 + mu)**|y| - 1) / mu`` for y evenly spaced in -1..1.

    In decimal arithmetic of 50 digits, since powers and logarithms of floats differ from one C library to
    another.

    >>> mu_borders(4, 255.0).round(4).tolist()
    [-1.0, -0.0588, 0.0, 0.0588, 1.0]
    """
    with localcontext() as context:
        context.prec = 50
        base = 1 + Decimal(mu)
        ratio = base ** (Decimal(2) / n)
        power = base ** (Decimal(n % 2) / n)  # 0 is a border only for an even number of levels
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
    """``value / step`` rounded to an integer, halves to the even one; exactly for integers.

    OverflowError if it is not finite.
    """
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
    """``x - origin`` in float64; integers are rounded once, and their difference cannot overflow."""
    if isinstance(origin, int) and x.dtype.kind in "iu":
        high, low = (x >> 32).astype(np.float64), (x & 0xFFFFFFFF).astype(np.float64)
        return (high - float(origin >> 32)) * 2.0**32 + (low - float(origin & 0xFFFFFFFF))
    base = float(origin)
    rest = origin - int(base) if isinstance(origin, int) else 0
    difference: NDArray[np.float64] = x.astype(np.float64) - base
    difference -= float(rest)
    return difference


def _range_of(
    columns: NDArray[Any], ndim: int, low: Any, high: Any, symmetric: bool
) -> tuple[tuple[Number, ...], tuple[Number, ...]]:
    """The range of each channel, as Python numbers: the user's, or that of the samples.

    A symmetric range is -high..high, and either end given by the user sets both. Samples of any integer type
    are exact.
    """
    n = columns.shape[1]
    lowest = None if low is None else _for_each_channel(low, "low", n)
    highest = None if high is None else _for_each_channel(high, "high", n)
    if symmetric and (lowest is None) != (highest is None):
        ends = [abs(end) for end in lowest or highest or ()]
        return tuple(-end for end in ends), tuple(ends)
    if lowest is not None and highest is not None:
        return lowest, highest
    if len(columns) == 0:
        raise ValueError(
            "signal: expected at least one sample to learn the range from, or low and high, got none"
        )
    least, greatest = columns.min(axis=0), columns.max(axis=0)
    if not (np.isfinite(least).all() and np.isfinite(greatest).all()):
        for channel in range(n):
            check_finite(columns[:, channel], where_in("signal", channel, ndim))
    first, last = least.tolist(), greatest.tolist()
    if symmetric:
        last = [max(-a, b) for a, b in zip(first, last, strict=True)]
        first = [-b for b in last]
    return lowest or _for_each_channel(first, "low", n), highest or _for_each_channel(last, "high", n)


def _number(value: Any, name: str) -> Number:
    """A Python int or finite float.

    A whole float below 2**53 becomes an int, so that integers are divided exactly by it.
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{name}: expected a number, got {describe(value)}")
    if isinstance(value, (int, np.integer)):
        if abs(int(value)) >= 1 << 1000:
            raise ValueError(
                f"{name}: expected a float64 number, got an integer of {int(value).bit_length()} bits"
            )
        return int(value)
    if not math.isfinite(value):
        raise ValueError(f"{name}: expected a finite number, got {value}")
    number = float(value)
    return int(number) if abs(number) < 2**53 and number.is_integer() else number


def _for_each_channel(value: Any, name: str, n: int) -> tuple[Number, ...]:
    """`n` numbers, from one number for all channels or from a sequence with one for each."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, np.ndarray):
        value = list(value)
    if not isinstance(value, (list, tuple)):
        return (_number(value, name),) * n
    if len(value) != n:
        raise ValueError(f"{name}: expected one number, or one for each of {n} channels, got {len(value)}")
    return tuple(_number(v, f"{name}: channel {i}") for i, v in enumerate(value))


def _flag(value: Any, name: str) -> bool:
    """True or False; TypeError for anything else."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}: expected True or False, got {quoted(value)}")
    return bool(value)
