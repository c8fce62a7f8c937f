"""`Quantization`: the levels that the samples of a signal are rounded to, learned, applied, undone and kept.

What is learned of a signal (`Quantization.learn`), what is done with it (`apply`, `restore`) and what is kept of it (`state`) are
apart, so that one scale serves many recordings. The arithmetic of a channel is in `scales.py`.
"""

from __future__ import annotations

import dataclasses
from itertools import accumulate
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ubpe_numba.documents.samples import (
    as_columns,
    check_choices,
    check_finite,
    for_each_channel,
    number,
    plain_samples,
    range_of,
)
from ubpe_numba.documents.scales import Number, Scale, scale_of
from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.runtime.arrays import describe, positive
from ubpe_numba.runtime.lazy import cached_property
from ubpe_numba.runtime.schema import check_fields

__all__ = ["Quantization"]

MOST = 2**31 - 1  # symbols: they are int32
MOST_MU = 2**16  # borders are held
_CHUNK = 1 << 18  # samples at a time: temporary arrays stay in the cache of the CPU


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
    max_error : float64[n_channels]
        No sample between low and high is farther from what `restore` gives for it.

    Raises
    ------
    TypeError, ValueError
        For an argument that is of a wrong type, not finite or out of range, or that does not go with another.

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

    def __post_init__(self) -> None:
        check_choices(self.law, self.channels, self.step, self.levels)
        if type(self.ndim) is not int or self.ndim not in (1, 2):
            raise ValueError(f"ndim: expected 1 or 2, got {quoted(self.ndim)}")
        if not isinstance(self.low, tuple) or not self.low or (self.ndim == 1 and len(self.low) > 1):
            raise TypeError(f"low: expected a tuple of one number a channel, got {quoted(self.low)}")
        n = len(self.low)
        for name in ("low", "high", "step"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, for_each_channel(getattr(self, name), name, n))
        if self.levels is not None:
            most = MOST_MU if self.law == "mu" else MOST
            if positive(self.levels, "levels") > most:
                raise ValueError(f"levels: expected 1..{most}, got {self.levels}")
            object.__setattr__(self, "levels", int(self.levels))
        object.__setattr__(self, "mu", float(number(self.mu, "mu")))
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
    ) -> Quantization:
        """Choose the range of each channel by a signal, without cutting it; arguments and errors are as for `quantize`.

        Returns
        -------
        Quantization
            The scale of each channel.

        Examples
        --------
        >>> Quantization.learn([[0, 10], [4, 20]], levels=4).high
        (4, 20)
        """
        if law == "mu" and levels is None and step is None:
            levels = 256
        check_choices(law, channels, step, levels)
        columns, ndim = as_columns(signal, "signal")
        n = columns.shape[1]
        lowest, highest = range_of(columns, ndim, low, high, symmetric=law == "mu")
        return cls(
            low=lowest,
            high=highest,
            step=None if step is None else for_each_channel(step, "step", n),
            levels=levels,
            law=law,
            mu=mu,
            channels=channels,
            ndim=1 if ndim == 1 else 2,
        )

    @cached_property
    def _scales(self) -> tuple[Scale, ...]:
        made = []
        steps = self.step or (None,) * len(self.low)
        for channel, (low, high, step) in enumerate(zip(self.low, self.high, steps, strict=True)):
            where = f"channel {channel}: " if self.ndim == 2 else ""
            made.append(scale_of(low, high, step, self.levels, self.mu if self.law == "mu" else None, where))
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
        return max(self.n_levels) if self.channels == "shared" else sum(self.n_levels)

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

    def apply(self, signal: ArrayLike, *, clip: bool = False) -> NDArray[np.int32]:
        """Cut a signal by this scale.

        Parameters
        ----------
        signal : int or float [n] or [n, n_channels]
            The samples.
        clip : bool
            Whether samples outside the scale become its first or last level. Otherwise they are an error.

        Returns
        -------
        int32 of the shape of `signal`
            The symbols.

        Raises
        ------
        TypeError
            If samples are not integers or floats of at most 64 bits.
        ValueError
            For another shape; for a sample that is not finite or outside the scale, naming channel and position.

        Examples
        --------
        >>> scale = Quantization(step=(5,), low=(0,), high=(10,))
        >>> scale.apply([4, 99], clip=True).tolist()
        [1, 2]
        >>> scale.apply([4, 99])
        Traceback (most recent call last):
        ValueError: signal: position 1: expected a sample in 0..10, got 99 (clip=True takes the last level)
        """
        columns = self._columns(signal, "signal")
        symbols = np.empty(columns.shape, np.int32)
        for channel, (scale, first) in enumerate(zip(self._scales, self.first_symbols, strict=True)):
            for start in range(0, len(columns), _CHUNK):
                x = plain_samples(columns[start : start + _CHUNK, channel])
                check_finite(x, self._place("signal", channel), start)
                levels = scale.cut(x)
                if not clip and (at := np.flatnonzero((levels < 0) | (levels >= scale.n))).size:
                    low, high, i = self.low[channel], self.high[channel], int(at[0])
                    end = "first" if levels[i] < 0 else "last"
                    raise ValueError(
                        f"{self._place('signal', channel)}position {start + i}: expected a sample in {low}..{high}, got {x[i]}"
                        f" (clip=True takes the {end} level)"
                    )
                symbols[start : start + _CHUNK, channel] = np.clip(levels, 0, scale.n - 1) + first
        return symbols[:, 0] if self.ndim == 1 else symbols

    def restore(self, symbols: ArrayLike) -> NDArray[np.float64]:
        """Give each symbol the middle of its level.

        Parameters
        ----------
        symbols : int [n] or [n, n_channels]
            Symbols as `apply` gives them.

        Returns
        -------
        float64 of the shape of `symbols`
            The samples, `max_error` away from those that were cut, at most.

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
        columns = self._columns(symbols, "symbols", "iu")
        samples = np.empty(columns.shape)
        for channel, (scale, first) in enumerate(zip(self._scales, self.first_symbols, strict=True)):
            column = columns[:, channel]
            if (at := np.flatnonzero((column < first) | (column >= first + scale.n))).size:
                found = f"{first}..{first + scale.n - 1}, got {column[at[0]]}"
                raise ValueError(f"{self._place('symbols', channel)}position {at[0]}: expected a symbol in {found}")
            samples[:, channel] = scale.middles(column.astype(np.int64) - first)
        return samples[:, 0] if self.ndim == 1 else samples

    def state(self) -> dict[str, Any]:
        """What is to be kept beside a model: numbers, strings and lists, as JSON has them.

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
        """Make one from what `state` returned.

        Parameters
        ----------
        state : dict
            The fields.

        Returns
        -------
        Quantization
            One that is equal to that of the state.

        Raises
        ------
        ModelFormatError
            If a field is missing, unknown or not valid.
        """
        if not isinstance(state, dict):
            raise ModelFormatError(f"quantization: expected a dict, got {describe(state)}")
        check_fields(state, [field.name for field in dataclasses.fields(cls)], "quantization")
        try:
            fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in state.items()}
            return cls(**fields)
        except (TypeError, ValueError) as error:
            raise ModelFormatError(f"quantization: {error}") from error

    def _columns(self, values: ArrayLike, name: str, kinds: str = "iuf") -> NDArray[Any]:
        return as_columns(values, name, kinds, None if self.ndim == 1 else self.n_channels)[0]

    def _place(self, name: str, channel: int) -> str:
        return f"{name}: channel {channel}, " if self.ndim == 2 else f"{name}: "
