"""Quantisation: the samples of a signal rounded to levels, which are the symbols of a tokenizer, and back.

What is learned of a signal (`Quantization.learn`), what is done with it (`apply`, `restore`) and what is kept of it (`state`) are
apart, so that one scale serves many recordings. Three scales of a channel, drawn for 4 levels; a number on a border belongs to
the level above it:

    step      -step   0   step  2*step        multiples of `step` are the middles, halves go to the even multiple
    levels    low |  |  |  | high             borders at equal distances
    mu        -high |   | 0 |   | high        borders (1 + mu)**|y| - 1 of equal distances in y, -1..1

Only correctly rounded operations are used (+, -, *, /, and decimal powers), so levels are the same on any machine.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from decimal import Decimal, localcontext
from functools import lru_cache
from itertools import accumulate
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ubpe_numba.documents.samples import as_columns, check_finite, each, missing_in, refuse_masked, where_in
from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.runtime.arrays import describe, positive, told
from ubpe_numba.runtime.lazy import cached_property
from ubpe_numba.runtime.schema import check_fields

__all__ = ["Quantization", "quantize"]

MOST = 2**31 - 1  # symbols: they are int32
MOST_MU = 2**16  # borders are held
_CHUNK = 1 << 18  # samples at a time: temporary arrays stay in the cache of the CPU
#: The quotient of two smaller integers, rounded to a float, is on the same side of every half as the quotient itself.
_EXACT = 2**52
_WIDEST = {"f": np.float64, "u": np.uint64, "i": np.int64}  # by kinds of dtypes

Number = int | float


@told
def quantize(
    signal: ArrayLike,
    *,
    step: Any = None,
    levels: int | None = None,
    law: Literal["linear", "mu"] = "linear",
    mu: float = 255,
    low: Any = None,
    high: Any = None,
    channels: Literal["shared", "separate"] = "shared",
    clip: bool = False,
    gaps: bool = False,
) -> tuple[Any, Quantization]:
    r"""Round a signal to levels, which are the symbols that a tokenizer is fitted on.

    What rounding takes away is the only loss: tokenizers give back the same symbols, and `Quantization.restore` gives each the
    middle of its level, at most `Quantization.max_error` away from the sample. Few levels make long tokens that come again; with
    many, noise differs from place to place and so do the symbols.

    Parameters
    ----------
    signal : int or float [n] or [n, channels], list
        The samples, all finite but for gaps; a list of arrays, a `Ragged` or a column of lists (Arrow, pandas) are recordings, of
        any lengths, with one scale. Integers of any type are cut exactly by an integer step.
    step : number, or one for each channel, optional
        Levels are the multiples of `step`: a sample goes to ``round(sample / step)``, halves to the even one. The lowest level
        that occurs, or that of `low`, is symbol 0.
    levels : int, optional
        The number of levels between the least and the greatest sample, or between `low` and `high`; a sample on the border of two
        goes to the upper one. Either `step` or `levels` is needed; of the law ``"mu"`` there are 256 by default, at most 65536.
    law : {"linear", "mu"}
        ``"linear"``: levels of one width. ``"mu"``: narrow levels near 0 and wide ones at the ends, for sound, and other signals
        that are small most of the time.
    mu : float
        How much narrower: the levels at the ends are about ``1 + mu`` times as wide as those near 0.
    low, high : number, or one for each channel, optional
        The range that the levels cover, by default that of the signal. The law ``"mu"`` covers ``-high..high``. Give them for a
        scale that does not depend on the data, such as -1 and 1 for audio, and for one scale of several channels.
    channels : {"shared", "separate"}
        The symbols of [n, channels]. ``"shared"``: those of each channel begin at 0, and a level means the same for tokens
        whatever its channel. For a document a channel: ``fit(symbols.T)``. ``"separate"``: each channel has symbols of its own,
        one range after the other. For one document in which the channels alternate: ``fit(symbols.ravel())``.
    clip : bool
        Whether samples outside of `low` and `high` go to the first or last level. Otherwise they are an error.
    gaps : bool
        Whether missing samples, NaN or masked, get a symbol, the last one, and are restored as NaN. Otherwise they are an error.
        With ``Preprocessing(break_tokens=[quantization.gap])`` no token crosses them.

    Returns
    -------
    symbols : int32 of the shape of `signal`, or list
        A level for each sample, 0..n_symbols - 1.
    quantization : Quantization
        The scale: `apply` cuts other signals by it, `restore` undoes it, `state` is what to keep of it.

    Raises
    ------
    TypeError
        If samples are not integers or floats of at most 64 bits, or another argument has a wrong type.
    ValueError
        For a sample that is not finite or outside of `low` and `high`, naming channel and position; for an empty signal without
        `low` and `high`; for arguments out of range or that exclude each other, and for more than 2**31 - 1 symbols.

    Notes
    -----
    The law ``"mu"`` cuts :math:`\operatorname{sign}(x)\ln(1+\mu|x|/h)/\ln(1+\mu)` into equal parts, where h is `high` [1]_. ITU-T
    G.711 approximates this curve, with mu = 255, by straight segments [2]_; its codes are not these symbols. As there, a level is
    restored as the middle between its borders. An odd number of levels has one around 0, an even number a border at it.

    The result is the same on any machine: only correctly rounded operations are used.

    References
    ----------
    .. [1] B. Smith, "Instantaneous companding of quantized signals", Bell System Technical Journal 36 (3), 653-709, 1957.
    .. [2] ITU-T Recommendation G.711, "Pulse code modulation (PCM) of voice frequencies", 1988.

    Examples
    --------
    >>> import numpy as np
    >>> from ubpe_numba import BPE
    >>> signal = np.round(20 * np.sin(np.arange(400) * np.pi / 20))
    >>> symbols, scale = quantize(signal, step=5)
    >>> scale.n_symbols, symbols[:6].tolist()
    (9, [4, 5, 5, 6, 6, 7])
    >>> tok = BPE(40, alphabet=scale.n_symbols).fit(symbols)
    >>> back = scale.restore(tok.decode(tok.encode(symbols)))
    >>> bool((np.abs(back - signal) <= scale.max_error).all())
    True

    Two channels, each with its own scale and its own symbols, alternating in one document:

    >>> stereo = [[0.0, 100], [0.5, 300], [1.0, 200]]
    >>> symbols, scale = quantize(stereo, levels=4, channels="separate")
    >>> symbols.ravel().tolist(), scale.first_symbols
    ([0, 4, 2, 7, 3, 6], (0, 4))
    >>> scale.restore(symbols).tolist()
    [[0.125, 125.0], [0.625, 275.0], [0.875, 225.0]]
    """
    scale: dict[str, Any] = {"step": step, "levels": levels, "law": law, "mu": mu, "low": low, "high": high}
    quantization = Quantization.learn(signal, **scale, channels=channels, gaps=gaps)
    return quantization.apply(signal, clip=clip), quantization


@told
@dataclasses.dataclass(frozen=True, kw_only=True)
class Quantization:
    """How the samples of each channel become symbols, and back. Frozen; made by `quantize`, `learn` or `from_state`.

    Parameters
    ----------
    low, high : tuple of numbers
        The range of each channel, both ends included.
    step : tuple of numbers, optional
        With the law ``"linear"``: the distance of levels, for each channel. Levels are the multiples of it.
    levels : int, optional
        The number of levels between low and high; either this or `step`.
    law : {"linear", "mu"}
        ``"linear"``: levels of one width. ``"mu"``: narrow ones near 0.
    mu : float
        Of the law ``"mu"``, 1e-6..1e9.
    channels : {"shared", "separate"}
        Whether channels have the same symbols, or each has its own.
    ndim : {1, 2}
        Whether signals are [n] or [n, channels].
    gaps : bool
        Whether missing samples have a symbol.

    Attributes
    ----------
    n_channels : int
        The number of channels, 1 if signals are [n].
    n_levels : tuple of int
        The number of levels of each channel.
    n_symbols : int
        Symbols are 0..n_symbols - 1: what the argument `alphabet` of a tokenizer asks for.
    first_symbols : tuple of int
        The symbol of the lowest level of each channel.
    gap : int or None
        The symbol of missing samples, with gaps the last one.
    max_error : float64[n_channels]
        No sample between low and high is farther from what `restore` gives for it.

    Examples
    --------
    >>> scale = Quantization(step=(0.5,), low=(-1.0,), high=(1.0,))
    >>> scale.n_symbols, scale.apply([0.0, 0.6, -1.0]).tolist(), scale.restore([0, 4]).tolist()
    (5, [2, 3, 0], [-1.0, 1.0])
    """

    low: tuple[Number, ...]
    high: tuple[Number, ...]
    step: tuple[Number, ...] | None = None
    levels: int | None = None
    law: Literal["linear", "mu"] = "linear"
    mu: float = 255.0
    channels: Literal["shared", "separate"] = "shared"
    ndim: Literal[1, 2] = 1
    gaps: bool = False

    def __post_init__(self) -> None:
        _check_choices(self.law, self.channels, self.step, self.levels)
        if type(self.ndim) is not int or self.ndim not in (1, 2):
            raise ValueError(f"ndim: expected 1 or 2, got {quoted(self.ndim)}")
        if type(self.gaps) is not bool:
            raise TypeError(f"gaps: expected True or False, got {quoted(self.gaps)}")
        if not isinstance(self.low, tuple) or not self.low or (self.ndim == 1 and len(self.low) > 1):
            raise TypeError(f"low: expected a tuple of one number a channel, got {quoted(self.low)}")
        n = len(self.low)
        for name in ("low", "high", "step"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _for_each_channel(getattr(self, name), name, n))
        if self.levels is not None:
            most = MOST_MU if self.law == "mu" else MOST
            if positive(self.levels, "levels") > most:
                raise ValueError(f"levels: expected 1..{most}, got {self.levels}")
            object.__setattr__(self, "levels", int(self.levels))
        object.__setattr__(self, "mu", float(_number(self.mu, "mu")))
        if not 1e-6 <= self.mu <= 1e9:
            raise ValueError(f"mu: expected 1e-6..1e9, got {self.mu}")
        if (most := self.n_symbols) > MOST:
            raise ValueError(f"{'levels' if self.step is None else 'step'}: expected at most {MOST} symbols, got {most}")

    @classmethod
    def learn(
        cls,
        signal: ArrayLike,
        *,
        step: Any = None,
        levels: int | None = None,
        law: Literal["linear", "mu"] = "linear",
        mu: float = 255,
        low: Any = None,
        high: Any = None,
        channels: Literal["shared", "separate"] = "shared",
        gaps: bool = False,
    ) -> Quantization:
        """The scale of each channel of a signal, which is not cut; arguments and errors are as for `quantize`.

        Examples
        --------
        >>> Quantization.learn([[0, 10], [4, 20]], levels=4).high
        (4, 20)
        """
        if law == "mu" and levels is None and step is None:
            levels = 256
        _check_choices(law, channels, step, levels)
        options: dict[str, Any] = {"step": step, "levels": levels, "law": law, "mu": mu, "low": low, "high": high}
        if scales := each(lambda part: cls.learn(part, **options, channels=channels, gaps=gaps), signal):
            if len({scale.n_channels for scale in scales}) > 1 or (scales[0].ndim == 1 and channels == "separate"):
                raise ValueError("signal: expected recordings of the same channels; numpy.stack(channels, axis=1) joins channels")
            lows, highs = zip(*(scale.low for scale in scales), strict=True), zip(*(scale.high for scale in scales), strict=True)
            made: Quantization = dataclasses.replace(scales[0], low=tuple(map(min, lows)), high=tuple(map(max, highs)))
            return made
        columns, ndim = as_columns(signal, "signal")
        missing = missing_in(signal, columns, gaps)
        n = columns.shape[1]
        if n > len(columns) > 0 and (np.ndim(low) == 0 or np.ndim(high) == 0):
            got = f"{len(columns)} samples of {n} channels; signal.T if channels come first"
            raise ValueError(f"signal: expected [n, channels], got {got}; otherwise give low and high of each channel")
        if missing is not None and not missing.all(axis=0).any():  # the first sample that is there says nothing new
            columns = np.where(missing, columns[missing.argmin(axis=0), np.arange(n)], columns)
        elif missing is not None:
            columns = columns[:0]
        lowest, highest = _range_of(columns, ndim, low, high, symmetric=law == "mu")
        return cls(**{**options, "low": lowest, "high": highest}, channels=channels, ndim=ndim, gaps=gaps)

    @cached_property
    def _scales(self) -> tuple[_Scale, ...]:
        made = []
        steps = self.step or (None,) * len(self.low)
        for channel, (low, high, step) in enumerate(zip(self.low, self.high, steps, strict=True)):
            where = f"channel {channel}: " if self.ndim == 2 else ""
            made.append(_scale_of(low, high, step, self.levels, self.mu if self.law == "mu" else None, where))
        return tuple(made)

    @property
    def n_channels(self) -> int:
        """The number of channels."""
        return len(self.low)

    @property
    def n_levels(self) -> tuple[int, ...]:
        """The number of levels of each channel."""
        return tuple(scale.n for scale in self._scales)

    @property
    def n_symbols(self) -> int:
        """The number of symbols."""
        return (max(self.n_levels) if self.channels == "shared" else sum(self.n_levels)) + self.gaps

    @property
    def gap(self) -> int | None:
        """The symbol of missing samples, None without gaps."""
        return self.n_symbols - 1 if self.gaps else None

    @property
    def first_symbols(self) -> tuple[int, ...]:
        """The symbol of the lowest level of each channel."""
        if self.channels == "shared":
            return (0,) * self.n_channels
        return tuple(accumulate(self.n_levels[:-1], initial=0))

    @property
    def max_error(self) -> NDArray[np.float64]:
        """The bound of the error of each channel, rounding of floats included."""
        return np.array([scale.max_error for scale in self._scales])

    def apply(self, signal: ArrayLike, *, clip: bool = False) -> Any:
        """Cut a signal by this scale.

        Parameters
        ----------
        signal : int or float [n] or [n, n_channels], list
            The samples, or recordings.
        clip : bool
            Whether samples outside the scale become its first or last level. Otherwise they are an error.

        Returns
        -------
        int32 of the shape of `signal`, or list
            The symbols, of each recording of a list.

        Raises
        ------
        TypeError
            If samples are not integers or floats of at most 64 bits.
        ValueError
            For another shape or a sample that is not finite.

        Examples
        --------
        >>> scale = Quantization(step=(5,), low=(0,), high=(10,))
        >>> scale.apply([4, 99], clip=True).tolist()
        [1, 2]
        >>> scale.apply([4, 99])
        Traceback (most recent call last):
        ValueError: signal: position 1: expected a sample in 0..10, got 99 (clip=True takes the last level)
        """
        if (found := each(lambda part: self.apply(part, clip=clip), signal)) is not None:
            return found
        columns = as_columns(signal, "signal", "iuf", None if self.ndim == 1 else self.n_channels)[0]
        missing = missing_in(signal, columns, self.gaps)
        symbols = np.empty(columns.shape, np.int32)
        for channel, (scale, first) in enumerate(zip(self._scales, self.first_symbols, strict=True)):
            for start in range(0, len(columns), _CHUNK):
                x = columns[start : start + _CHUNK, channel].astype(_WIDEST[columns.dtype.kind])  # of native byte order
                if missing is not None:
                    x[missing[start : start + _CHUNK, channel]] = 0
                check_finite(x, where_in("signal", channel, self.ndim), start)
                levels = _cut(scale, x)
                if missing is not None:
                    levels[missing[start : start + _CHUNK, channel]] = 0
                if not clip and (at := np.flatnonzero((levels < 0) | (levels >= scale.n))).size:
                    i, where = int(at[0]), where_in("signal", channel, self.ndim)
                    expected = f"expected a sample in {self.low[channel]}..{self.high[channel]}, got {x[i]}"
                    end = "first" if levels[i] < 0 else "last"
                    raise ValueError(f"{where}position {start + i}: {expected} (clip=True takes the {end} level)")
                symbols[start : start + _CHUNK, channel] = np.clip(levels, 0, scale.n - 1) + first
        if missing is not None:
            symbols[missing] = self.n_symbols - 1
        return symbols[:, 0] if self.ndim == 1 else symbols

    def restore(self, symbols: Any) -> Any:
        """Give each symbol the middle of its level.

        Parameters
        ----------
        symbols : int [n], [n, n_channels], list or `Ragged`
            Symbols as `apply` gives them, or as `decode_batch` does.

        Returns
        -------
        float64 of the shape of `symbols`, or list
            The samples, `max_error` away from those that were cut, at most; NaN for the symbol of gaps.

        Raises
        ------
        TypeError
            If symbols are not integers.
        ValueError
            For another shape; for a symbol that the channel does not have, naming channel and position.

        Examples
        --------
        >>> scale = Quantization(levels=4, low=(-1,), high=(1,))
        >>> scale.restore(scale.apply([-1.0, 0.1, 1.0])).tolist(), scale.max_error
        ([-0.75, 0.25, 0.75], array([0.25]))
        """
        if (parts := each(self.restore, symbols)) is not None:
            return parts
        refuse_masked(symbols, "symbols")
        columns = as_columns(symbols, "symbols", "iu", None if self.ndim == 1 else self.n_channels)[0]
        samples = np.empty(columns.shape)
        if self.gaps:
            missing = columns == self.gap
            columns = np.where(missing, np.array(self.first_symbols, np.int64), columns)
        for channel, (scale, first) in enumerate(zip(self._scales, self.first_symbols, strict=True)):
            column = columns[:, channel]
            if (at := np.flatnonzero((column < first) | (column >= first + scale.n))).size:
                found = f"{first}..{first + scale.n - 1}, got {column[at[0]]}"
                raise ValueError(f"{where_in('symbols', channel, self.ndim)}position {at[0]}: expected a symbol in {found}")
            samples[:, channel] = _middles(scale, column.astype(np.int64) - first)
        if self.gaps:
            samples[missing] = np.nan
        return samples[:, 0] if self.ndim == 1 else samples

    def state(self) -> dict[str, Any]:
        """Plain data to keep beside a model: numbers, strings and lists, as JSON has them.

        Returns
        -------
        dict
            The fields by name; floats are exact in JSON as Python writes it.

        Examples
        --------
        >>> import json
        >>> scale = Quantization(levels=16, low=(0.1,), high=(0.7,))
        >>> Quantization.from_state(json.loads(json.dumps(scale.state()))) == scale
        True
        """
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Quantization:
        """Make one from a dict, as for `state`; ModelFormatError if a field is missing, unknown or not valid."""
        if not isinstance(state, dict):
            raise ModelFormatError(f"quantization: expected a dict, got {describe(state)}")
        fields: dict[str, Any] = {"gaps": False} | {k: tuple(v) if isinstance(v, list) else v for k, v in state.items()}
        check_fields(fields, [field.name for field in dataclasses.fields(cls)], "quantization")
        try:
            return cls(**fields)
        except (TypeError, ValueError) as error:
            raise ModelFormatError(f"quantization: {error}") from error


class _Scale(NamedTuple):
    """Levels 0..n - 1 of one channel."""

    n: int
    max_error: float  # no number on the scale is farther from the middle of its level, rounding included
    low: Number
    high: Number
    step: Number | None = None  # levels are its multiples,
    first: int = 0  # from this one on
    borders: NDArray[np.float64] | None = None  # of mu levels: n + 1, in -1..1; otherwise levels are of one width


def _scale_of(low: Number, high: Number, step: Number | None, levels: int | None, mu: float | None, where: str) -> _Scale:
    """The scale of a channel: mu levels if `mu` is given, else by step or levels.

    ValueError, whose message names the argument and `where`, if float64 cannot express it.
    """
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
            scale = _Scale(n, step / 2 + 4 * float(np.spacing(max(ends))), low, high, step, first)
        elif mu:
            n, peak, borders = levels or 1, float(high), mu_borders(levels or 1, float(mu))
            widest = float(borders[-1] - borders[-2])
            scale = _Scale(n, widest * peak / 2 + 4 * float(np.spacing(peak)), -peak, peak, borders=borders)
        else:
            n = levels or 1
            rounding = 4 * float(np.spacing(max(abs(float(low)), abs(float(high)))))
            scale = _Scale(n, float(high - low) / n / 2 + rounding, low, high)
    if scale is None or not math.isfinite(scale.max_error):
        raise ValueError(f"{'high' if step is None else 'step'}: {where}the levels of {low}..{high} exceed float64")
    return scale


def _cut(scale: _Scale, x: NDArray[Any]) -> NDArray[np.int64]:
    """The level of each number (finite; float64, int64 or uint64), -1 below the scale, n above it.

    Integers are cut exactly by an integer step, and between `low` and `high` where ``(high - low) * n`` is below 2**53.
    """
    levels: NDArray[Any]
    with np.errstate(over="ignore"):  # infinite levels are beyond the scale
        if scale.step is not None:
            exact = isinstance(scale.step, int) and x.dtype.kind in "iu"
            levels = _minus(_integer_levels(x, int(scale.step)) if exact else np.rint(x / scale.step), scale.first)
            return np.clip(levels, -1, scale.n).astype(np.int64)
        if scale.borders is not None:
            x = x.astype(np.float64)
            levels = np.searchsorted(scale.borders[1:-1] * (scale.high or 1.0), x, side="right")
        else:
            span = float(scale.high - scale.low)
            above = np.clip(_minus(x, scale.low), 0.0, span)
            if math.isfinite(span * scale.n):  # multiplied first: a quotient of integers that is an integer is not rounded
                levels = np.floor(above * scale.n / (span or 1.0))
            else:
                levels = np.floor(above / span * scale.n)
    found: NDArray[np.int64] = np.minimum(levels, scale.n - 1).astype(np.int64)
    found[x < scale.low] = -1
    found[x > scale.high] = scale.n
    return found


def _middles(scale: _Scale, levels: NDArray[np.int64]) -> NDArray[np.float64]:
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
    difference -= float(rest)
    return difference


def _range_of(
    columns: NDArray[Any], ndim: int, low: Any, high: Any, symmetric: bool
) -> tuple[tuple[Number, ...], tuple[Number, ...]]:
    """The range of each channel, as Python numbers: what the user gave, and else the least and the greatest sample.

    A symmetric range is -high..high; then either end that the user gave says both. Samples of any type of integers are exact.
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
        raise ValueError("signal: expected at least one sample to learn the range from, or low and high, got none")
    least, greatest = columns.min(axis=0), columns.max(axis=0)
    if not (np.isfinite(least).all() and np.isfinite(greatest).all()):
        for channel in range(n):
            check_finite(columns[:, channel], where_in("signal", channel, ndim))
    first, last = least.tolist(), greatest.tolist()
    if symmetric:
        last = [max(-a, b) for a, b in zip(first, last, strict=True)]
        first = [-b for b in last]
    return lowest or tuple(first), highest or tuple(last)


def _number(value: Any, name: str) -> Number:
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


def _check_choices(law: Any, channels: Any, step: Any, levels: Any) -> None:
    """Raise ValueError for words that are not known and for arguments that exclude each other."""
    if law not in ("linear", "mu"):
        raise ValueError(f"law: expected 'linear' or 'mu', got {quoted(law)}")
    if channels not in ("shared", "separate"):
        raise ValueError(f"channels: expected 'shared' or 'separate', got {quoted(channels)}")
    if law == "mu" and step is not None:
        raise ValueError(f"step: expected None with the law 'mu', which has levels, got {quoted(step)}")
    if (step is None) == (levels is None):
        raise ValueError(f"levels: expected one of step and levels, got step={quoted(step)}, levels={quoted(levels)}")
