"""The result of a fit of signals, and `SignalVocabulary`: its tokens in the unit of the signal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.documents.scale import Scale
from ubpe_numba.runtime.arrays import checked_token
from ubpe_numba.signals.kernels.match import FINE
from ubpe_numba.signals.tokens import Tokens
from ubpe_numba.tokenizers.bpe import BPE

FORMAT, VERSION = "ubpe-numba signals", 1
GAPS = (1, 16, 256, 4096, 65536)  # samples of a token of a gap: at most 15 of each but the last


class Fitted(NamedTuple):
    """All results of a fit; calls read only this, so later attributes do not change the vocabulary."""

    scale: Scale  # its levels are the values of the kernels, FINE to a step
    tokens: Tokens
    cost: NDArray[np.int64]
    counts: NDArray[np.int64]
    n_gaps: int
    integers: bool  # of integers by a step of 1: decoded to integers
    params: dict[str, Any]  # the parameters of the fit, as JSON has them
    sampling_rate: float | None
    channel_names: list[str] | None
    unit: str | None
    metadata: dict[str, Any] | None
    ids: BPE  # the ids themselves as a tokenizer without merges, with the special tokens after them

    @property
    def tolerance(self) -> int:
        """The tolerance of the fit, in levels."""
        return int(self.params["tolerance"])

    @property
    def channel_axis(self) -> int | None:
        """The axis of channels of the fit."""
        return self.params["channel_axis"]  # type: ignore[no-any-return]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of samples of each id, special tokens included, which have none."""
        n_special = self.ids.vocab_size - len(self.tokens) - self.n_gaps
        return np.concatenate([self.tokens.lengths, GAPS[: self.n_gaps], np.zeros(n_special)]).astype(
            np.int64
        )

    def bound(self) -> NDArray[np.float64]:
        """The bound of the error of each channel."""
        if self.integers:
            return np.full(self.scale.n_channels, float(self.tolerance))
        steps = np.array(self.scale.step_, np.float64) * FINE
        return (self.tolerance + 0.5) * steps + self.scale.max_error

    def gap(self, n: int) -> NDArray[np.int32]:
        """Ids of a gap of n samples, long ones first."""
        parts = []
        for i in range(self.n_gaps - 1, -1, -1):
            parts.append(np.full(n // GAPS[i], len(self.tokens) + i, np.int32))
            n %= GAPS[i]
        return np.concatenate(parts)

    def head(self) -> dict[str, Any]:
        """All but the arrays, as JSON has it."""
        params = {name: value for name, value in self.params.items() if name != "special_tokens" or value}
        head = {
            "format": FORMAT, "version": VERSION, "params": params, "scale": self.scale.state(),
            "n_gaps": self.n_gaps,
            "integers": self.integers, "sampling_rate": self.sampling_rate,
            "channel_names": self.channel_names,
            "unit": self.unit,
        }  # fmt: skip
        return head if self.metadata is None else {**head, "metadata": self.metadata}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays of the file."""
        tokens = self.tokens
        return {
            "cost": self.cost, "kinds": tokens.kinds, "lengths": tokens.lengths, "arena": tokens.arena,
            "counts": self.counts,
        }  # fmt: skip


class SignalVocabulary:
    """The tokens of a `SignalTokenizer` by id; ``vocabulary[token]`` are its samples.

    Attributes
    ----------
    lengths : int64[V]
        The number of samples of each id; 0 for special tokens.
    is_relative : bool[V]
        Whether the samples of a token are differences to the sample that was decoded before it.
    is_gap : bool[V]
        Whether its samples are missing.
    counts : int64[tokens]
        Occurrences in the recordings of the fit, of tokens that are neither gaps nor special.

    Examples
    --------
    >>> from ubpe_numba.signals import SignalTokenizer
    >>> tok = SignalTokenizer(24, step=1, tolerance=0, representation="levels").fit(np.arange(40) % 20)
    >>> v = tok.vocabulary
    >>> len(v) == tok.vocab_size, v[3].tolist(), v.lengths[3], v.is_relative[3]
    (True, [3.0], np.int64(1), np.False_)
    """

    def __init__(
        self, scale: Scale, tokens: Tokens, lengths: NDArray[np.int64], n_gaps: int, counts: NDArray[np.int64]
    ) -> None:
        self._scale, self._tokens, self.lengths, self.counts = scale, tokens, lengths, counts
        ids = np.arange(lengths.size)
        self.is_gap: NDArray[np.bool_] = (ids >= len(tokens)) & (ids < len(tokens) + n_gaps)
        self.is_relative: NDArray[np.bool_] = np.zeros(lengths.size, bool)
        self.is_relative[: len(tokens)] = tokens.kinds == 1

    def __len__(self) -> int:
        return self.lengths.size

    def __getitem__(self, token: int) -> NDArray[np.float64]:
        """The samples of a token, float64[n], or [n, channels] with a channel axis; NaN for a gap."""
        t = checked_token(token, len(self))
        shape = (int(self.lengths[t]), self._scale.n_channels)
        samples = np.full(shape, np.nan)
        if t < len(self._tokens):
            values = self._tokens[t][1].astype(np.int64)[:, None] * np.ones(shape[1], np.int64)
            if self.is_relative[t]:
                samples = values * np.array(self._scale.step_, np.float64)
            else:
                values = np.clip(values, 0, np.array(self._scale.n_levels) - 1)
                samples = self._scale.inverse_transform(
                    values if self._scale.ndim_ == 2 else values[:, 0]
                ).reshape(shape)
        return samples if self._scale.ndim_ == 2 else samples[:, 0]

    def __iter__(self) -> Iterator[NDArray[np.float64]]:
        return (self[t] for t in range(len(self)))

    def __repr__(self) -> str:
        return f"SignalVocabulary({len(self)} ids, the longest of {self.lengths.max()} samples)"
