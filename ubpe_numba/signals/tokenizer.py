"""`SignalTokenizer`: recordings to ids and back, every sample within a bound of the one that was given."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.documents.quantization import Quantization
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import as_documents
from ubpe_numba.errors import ModelFormatError, NotFittedError, quoted
from ubpe_numba.formats.model_file import parse_json
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.arrays import describe, integer, offsets_of, positive, told
from ubpe_numba.runtime.files import naming, npz_of, open_regular, read_arrays, suffix_of, write_atomically
from ubpe_numba.runtime.schema import check_fields
from ubpe_numba.signals.kernels.match import FINE, MOST_TOLERANCE
from ubpe_numba.signals.recordings import Recording, cut, recordings_of, scale_of
from ubpe_numba.signals.stream import SignalStream
from ubpe_numba.signals.tokens import MOST, Goal, Tokens, cheapest, decoded

_FORMAT, _VERSION = "ubpe-numba signals", 1
_REPRESENTATIONS = ("auto", "levels", "differences", "both")
_MOST_COST = 1 << 40
_GAPS = (1, 16, 256, 4096, 65536)  # samples of a token of a gap: at most 15 of each but the last
_SHORT = 4096  # samples of a chunk of a thread, at least
_ARRAYS = {"kinds": "u", "lengths": "i", "arena": "i", "cost": "i", "counts": "i"}
_HEAD = (
    "format", "version", "params", "scale", "n_gaps", "integers", "sampling_rate", "channel_names", "unit",
)  # fmt: skip
_PARAMS = ("n_tokens", "max_error", "step", "tolerance", "representation", "objective", "channel_axis")


class Fitted(NamedTuple):
    """All that a fit leaves."""

    scale: Quantization  # its levels are the values of the kernels, FINE to a step
    tokens: Tokens
    cost: NDArray[np.int64]
    counts: NDArray[np.int64]
    n_gaps: int
    integers: bool  # of integers by a step of 1: decoded to integers


@told
class SignalTokenizer:
    """Recordings of numbers to tokens and back, every sample at most `error_bound` away from the one that was given.

    A token is a shape that comes again nearly: levels, or differences to the sample decoded before it, so that errors do not add
    up and one shape serves at every height. What a token decodes to is the mean of the samples that it was learned from, as far
    as the bound allows. Missing samples (NaN, or masked) are tokens of their own, and come back as NaN.

    Parameters
    ----------
    n_tokens : int
        How many ids there may be, among them one for every 2 * tolerance + 1 levels of the scale, and those of gaps.
    max_error : float or one for each channel, optional
        How far a decoded sample may be from the given one, in the unit of the signal; the step follows. Either this or `step`.
    step : float or one for each channel, optional
        The distance of two levels, in the unit of the signal. With a step of 1, integers are decoded to integers, at most
        `tolerance` away.
    tolerance : int
        How many levels a sample may be away from its token, 0 to 127. More levels for the same `max_error` are a finer choice,
        and take more time: each has 2 * tolerance + 1 ways to be reached.
    representation : {"auto", "levels", "differences", "both"}
        What tokens are learned: exact levels, exact differences, or both by a search for tokens that match within the tolerance.
        ``"auto"``: whatever needs the least on blocks of the recordings that are held out.
    objective : {"tokens", "bits"}
        What a recording is encoded to: the fewest tokens, or the fewest bits of a code of independent tokens.
    channel_axis : int, optional
        The axis of recordings of two axes that has the channels; None: recordings have one axis.
    n_threads : int, optional
        Threads; the result is the same for any number.

    Attributes
    ----------
    n_tokens, max_error, step, tolerance, representation, objective, channel_axis, n_threads
        As given.
    scale_ : Quantization
        The range of each channel; its step is a 64th of that between levels.
    sampling_rate, channel_names, unit
        As given to `fit`, kept in the file.

    Notes
    -----
    The encoder finds the path whose tokens cost least, exactly: the number of tokens, or their bits, and a thousandth of a token
    for the square of an error as large as the tolerance. Bits are those of tokens that are independent; the vocabulary itself is
    not counted. Leads that should not share a vocabulary need a tokenizer each.

    Examples
    --------
    >>> import numpy as np
    >>> from ubpe_numba.signals import SignalTokenizer
    >>> x = np.sin(np.arange(2000) / 9) + np.random.default_rng(0).normal(0, 0.02, 2000)
    >>> x[700:720] = np.nan
    >>> tok = SignalTokenizer(64, max_error=0.1).fit(x)
    >>> back = tok.decode(tok.encode(x))
    >>> bool(np.nanmax(np.abs(back - x)) <= 0.1), np.flatnonzero(np.isnan(back))[[0, -1]].tolist()
    (True, [700, 719])
    """

    def __init__(
        self,
        n_tokens: int = 1024,
        *,
        max_error: float | Sequence[float] | None = None,
        step: float | Sequence[float] | None = None,
        tolerance: int = 1,
        representation: Literal["auto", "levels", "differences", "both"] = "auto",
        objective: Literal["tokens", "bits"] = "tokens",
        channel_axis: int | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.n_tokens, self.max_error, self.step, self.tolerance = n_tokens, max_error, step, tolerance
        self.representation, self.objective, self.channel_axis = representation, objective, channel_axis
        self.n_threads = n_threads
        self.sampling_rate: float | None = None
        self.channel_names: list[str] | None = None
        self.unit: str | None = None
        self._fit: Fitted | None = None

    def fit(
        self,
        recordings: Any,
        *,
        low: Any = None,
        high: Any = None,
        sampling_rate: float | None = None,
        channel_names: Sequence[str] | None = None,
        unit: str | None = None,
    ) -> Self:
        """Learn the tokens of recordings. What was fitted before is replaced.

        Parameters
        ----------
        recordings
            One or several, of any lengths: an array or list of numbers, a list of these, a `Ragged`, columns of pandas or Arrow,
            memory maps; an array with one more axis has a recording in each row. NaN, and masked samples, are missing.
        low, high : float or one for each channel, optional
            The range of the scale, in the unit of the signal; by default that of the recordings.
        sampling_rate : float, optional
            Samples a second, kept in the file.
        channel_names : list of str, optional
            Names of the channels, kept in the file.
        unit : str, optional
            The unit of the samples, kept in the file.

        Returns
        -------
        Self
            The tokenizer itself.

        Raises
        ------
        TypeError, ValueError
            For a parameter or samples that are not valid, by name and place; if the levels of the scale alone are more than
            `n_tokens`, or there are no samples.

        Examples
        --------
        >>> tok = SignalTokenizer(40, step=1, tolerance=2).fit([np.arange(100) % 20, np.arange(50) % 20])
        >>> np.abs(tok.decode(tok.encode(np.arange(30) % 20)) - np.arange(30) % 20).max() <= 2
        np.True_
        """
        from ubpe_numba.signals.learn import Settings, learn  # here only: encoding need not wait for it

        self._check()
        found, _ = recordings_of(recordings, self.channel_axis)
        channels = {part.values.shape[1] for part in found}
        if len(channels) != 1:
            raise ValueError(f"recordings: expected the same number of channels in all, got {sorted(channels)}")
        if channel_names is not None and (list(map(type, channel_names)) != [str] * max(channels)):
            raise ValueError(f"channel_names: expected {max(channels)} names, got {quoted(channel_names)}")
        if unit is not None and not isinstance(unit, str):
            raise TypeError(f"unit: expected a str, got {describe(unit)}")
        if sampling_rate is not None and not (isinstance(sampling_rate, (int, float)) and 0 < sampling_rate < float("inf")):
            raise ValueError(f"sampling_rate: expected samples a second, above 0, got {quoted(sampling_rate)}")
        given = ("step", self.step, 1.0)
        if self.max_error is not None:  # half a value is lost when samples are rounded to values
            given = ("max_error", self.max_error, (1 - 1e-6) / (self.tolerance + 0.5 + 0.5 / FINE))
        scale = scale_of(found, given, low, high, 1 if self.channel_axis is None else 2)
        integers = scale.step == (1 / FINE,) * scale.n_channels and all(part.values.dtype.kind in "iu" for part in found)
        runs, gaps, _ = cut(scale, found, clip=False)
        n_gaps = 1 + sum(length <= max(gaps, default=0) for length in _GAPS[1:])
        n_levels = -(-(max(scale.n_levels) + FINE // 2) // FINE)
        step = 2 * self.tolerance + 1
        if (least := -(-n_levels // step) + n_gaps + 1) > self.n_tokens:
            raise ValueError(
                f"n_tokens: expected at least {least}: one for every {step} of {n_levels} levels, {n_gaps} for gaps, and "
                "one more; or a larger max_error"
            )
        goal = Goal.of(self.tolerance)
        settings = Settings(self.n_tokens - n_gaps, n_levels, goal, self.representation, self.objective == "bits", self.n_threads)
        tokens, cost, counts = learn(runs.values, runs.offsets.copy(), settings)
        self._fit = Fitted(scale, tokens, cost, counts, n_gaps, integers)
        self.sampling_rate, self.unit = sampling_rate, unit
        self.channel_names = None if channel_names is None else list(channel_names)
        return self

    def _check(self) -> None:
        """TypeError or ValueError for a parameter that is not valid."""
        positive(self.n_tokens, "n_tokens")
        if not 0 <= integer(self.tolerance, "tolerance") <= MOST_TOLERANCE:
            raise ValueError(f"tolerance: expected 0..{MOST_TOLERANCE} levels, got {self.tolerance}")
        if (self.max_error is None) == (self.step is None):
            raise ValueError(
                f"max_error: expected one of max_error and step, got {quoted(self.max_error)} and {quoted(self.step)}"
            )
        if self.representation not in _REPRESENTATIONS:
            raise ValueError(
                f"representation: expected {', '.join(map(repr, _REPRESENTATIONS))}, got {quoted(self.representation)}"
            )
        if self.objective not in ("tokens", "bits"):
            raise ValueError(f"objective: expected 'tokens' or 'bits', got {quoted(self.objective)}")
        if self.channel_axis is not None and integer(self.channel_axis, "channel_axis") not in (-2, -1, 0, 1):
            raise ValueError(f"channel_axis: expected an axis of two, got {self.channel_axis}")

    def _fitted(self) -> Fitted:
        if self._fit is None:
            raise NotFittedError("the tokenizer is not fitted: fit or load comes first")
        return self._fit

    # ---------------------------------------------------------------------------------------------- encoding

    def encode_batch(self, recordings: Any, *, clip: bool = False, n_threads: int | None = None) -> Ragged:
        """Encode recordings.

        Parameters
        ----------
        recordings
            As for `fit`.
        clip : bool
            Whether samples outside of the scale become its first or last level, with a warning of their number. Otherwise they
            are an error with their place.
        n_threads : int, optional
            Threads; by default those of the constructor.

        Returns
        -------
        Ragged
            The ids of each recording; with a channel axis of each channel, those of a recording one after the other.

        Examples
        --------
        >>> tok = SignalTokenizer(24, step=1).fit(np.arange(90) % 30)
        >>> len(tok.encode_batch([np.arange(5), np.arange(30)]))
        2
        """
        found, _ = recordings_of(recordings, self.channel_axis)
        return self._encoded(found, clip, n_threads)

    def _encoded(self, found: list[Recording], clip: bool, n_threads: int | None) -> Ragged:
        fit = self._fitted()
        runs, _, layout = cut(fit.scale, found, clip)
        goal = Goal.of(self.tolerance)
        x, offsets = runs.values, runs.offsets
        threads = self.n_threads if n_threads is None else n_threads
        fit.tokens.index  # noqa: B018  # made once, not by each thread

        def one(begin: int, end: int) -> list[NDArray[np.int32]]:
            parts = cheapest(fit.tokens, fit.cost, goal, x, offsets[begin : end + 1].copy()).parts
            cuts = np.searchsorted(parts["document"], np.arange(1, end - begin))
            return np.split(parts["token"].astype(np.int32), cuts)

        pieces = np.unique(np.searchsorted(offsets, np.arange(0, x.size, max(_SHORT, x.size // 64)), "right") - 1).tolist()
        edges = sorted({0, *pieces, len(runs)})
        chunks = list(pairwise(edges))
        made = thread_pool.run(one, chunks, threads, x.size) if chunks else []
        ids = iter([part for parts in made for part in parts])
        documents = [np.concatenate([next(ids) if n < 0 else self._gap(fit, n) for n in channel]) for channel in layout]
        flat = np.concatenate(documents) if documents else np.zeros(0, np.int32)
        return Ragged(flat.astype(np.int32, copy=False), offsets_of(np.array([part.size for part in documents], np.int64)))

    def _gap(self, fit: Fitted, n: int) -> NDArray[np.int32]:
        """Ids of a gap of n samples, long ones first."""
        found = []
        for i in range(fit.n_gaps - 1, -1, -1):
            found.append(np.full(n // _GAPS[i], len(fit.tokens) + i, np.int32))
            n %= _GAPS[i]
        return np.concatenate(found)

    def encode(self, recording: Any, *, clip: bool = False) -> Any:
        """Encode one recording; arguments and errors are as for `encode_batch`.

        Returns
        -------
        int32[n] or Ragged
            The ids; with a channel axis those of each channel.

        Examples
        --------
        >>> tok = SignalTokenizer(24, step=1).fit(np.arange(90) % 30)
        >>> tok.decode(tok.encode(np.arange(30))).dtype
        dtype('int64')
        """
        found, is_one = recordings_of(recording, self.channel_axis)
        if not found and self.channel_axis is None:
            found, is_one = recordings_of(np.zeros(0), None)
        if not is_one:
            raise ValueError(f"recording: expected one, got {describe(recording)}; encode_batch takes several")
        ids = self._encoded(found, clip, None)
        return ids[0] if self.channel_axis is None else ids

    def stream(self, *, channel: int = 0) -> SignalStream:
        """Make an encoder of one channel that comes in chunks.

        Parameters
        ----------
        channel : int
            Which channel, for its scale.

        Returns
        -------
        SignalStream
            Its `push` and `finish` return ids; together they are those of `encode`.

        Examples
        --------
        >>> tok = SignalTokenizer(24, step=1).fit(x := np.arange(90) % 30)
        >>> stream = tok.stream()
        >>> parts = [stream.push(x[:50]), stream.push(x[50:]), stream.finish()]
        >>> np.array_equal(np.concatenate(parts), tok.encode(x))
        True
        """
        fit = self._fitted()
        if not 0 <= integer(channel, "channel") < fit.scale.n_channels:
            raise ValueError(f"channel: expected 0..{fit.scale.n_channels - 1}, got {channel}")
        state = fit.scale.state()
        one = {name: [state[name][channel]] for name in ("low", "high", "step")}
        scale = Quantization.from_state({**state, **one, "ndim": 1})
        return SignalStream(scale, fit.tokens, fit.cost, Goal.of(self.tolerance), lambda n: self._gap(fit, n))

    # ---------------------------------------------------------------------------------------------- decoding

    def decode(self, ids: Any) -> Any:
        """Decode the ids of one recording.

        Parameters
        ----------
        ids
            As `encode` returns them.

        Returns
        -------
        float64[n] or float64 of two axes
            The samples in the unit of the signal, NaN where there is a gap; int64 for integers by a step of 1 without gaps.

        Raises
        ------
        ValueError
            For an id outside of the vocabulary; a token of differences where nothing was decoded before it; channels of different
            lengths.

        Examples
        --------
        >>> tok = SignalTokenizer(24, step=1, tolerance=0, representation="levels").fit(np.arange(40) % 20)
        >>> tok.decode(tok.encode([3, 4, 5])).tolist()
        [3, 4, 5]
        """
        fit = self._fitted()
        documents = self._documents(ids)
        if self.channel_axis is None and len(documents) != 1:
            raise ValueError(f"ids: expected those of one recording, got {len(documents)}; decode_batch takes several")
        if self.channel_axis is not None and len(documents) != fit.scale.n_channels:
            raise ValueError(f"ids: expected those of {fit.scale.n_channels} channels, got {len(documents)} documents")
        return self._restored(fit, documents)[0]

    def decode_batch(self, ids: Any) -> list[Any]:
        """Decode the ids of several recordings; arguments and errors are as for `decode`.

        Returns
        -------
        list of arrays
            The samples of each recording.

        Examples
        --------
        >>> tok = SignalTokenizer(24, step=1).fit(np.arange(90) % 30)
        >>> [part.size for part in tok.decode_batch(tok.encode_batch([np.arange(5), np.arange(30)]))]
        [5, 30]
        """
        fit = self._fitted()
        documents = self._documents(ids)
        if len(documents) % fit.scale.n_channels:
            raise ValueError(f"ids: expected a document for each of {fit.scale.n_channels} channels, got {len(documents)}")
        return self._restored(fit, documents)

    def _documents(self, ids: Any) -> Ragged:
        """Documents of ids, all in the vocabulary."""
        if isinstance(ids, (list, tuple)) and (not ids or np.ndim(ids[0]) == 0):
            ids = np.array(ids, np.int64 if not ids else None)
        values, offsets, kind = as_documents(ids, name="ids")
        if kind != "int":
            raise TypeError(f"ids: expected integers, got {kind}")
        fit = self._fitted()
        values, offsets = values[offsets[0] : offsets[-1]], offsets - offsets[0]
        size = len(fit.tokens) + fit.n_gaps
        if (at := np.flatnonzero((values < 0) | (values >= size))).size:
            document = int(np.searchsorted(offsets, at[0], side="right")) - 1
            where = f"document {document}, position {at[0] - offsets[document]}"
            raise ValueError(f"ids: {where}: token id {values[at[0]]} is outside the vocabulary, 0..{size - 1}")
        return Ragged(values.astype(np.int32), offsets.astype(np.int64))

    def _lengths(self, fit: Fitted) -> NDArray[np.int64]:
        """Samples of each id."""
        return np.concatenate([fit.tokens.lengths, np.array(_GAPS[: fit.n_gaps], np.int64)])

    def _restored(self, fit: Fitted, documents: Ragged) -> list[Any]:
        """The samples of recordings, whose channels are documents one after the other."""
        ids, offsets, n = documents.values, documents.offsets, fit.scale.n_channels
        is_gap = ids >= len(fit.tokens)
        plain = ids[~is_gap]
        kept = offsets_of(~is_gap)
        begins = np.unique(np.concatenate([kept[offsets[:-1]], kept[np.flatnonzero(is_gap) + 1]]))
        values, _, wrong = decoded(fit.tokens, plain, begins)
        if wrong >= 0:
            at = int(np.flatnonzero(~is_gap)[wrong])
            document = int(np.searchsorted(offsets, at, side="right")) - 1
            where = f"document {document}, position {at - offsets[document]}"
            raise ValueError(f"ids: {where}: token {ids[at]} is of differences, and no sample was decoded before it")
        lengths = self._lengths(fit)[ids]
        ends = offsets_of(lengths)[offsets]
        gaps = np.repeat(is_gap, lengths)
        whole = np.zeros(gaps.size, np.int64)
        whole[~gaps] = values
        made = []
        for i in range(0, len(documents), n):
            places = list(pairwise(ends[i : i + n + 1].tolist()))
            if len({z - a for a, z in places}) > 1:
                sizes = [z - a for a, z in places]
                raise ValueError(f"ids: recording {i // n}: expected channels of one length, got {sizes}")
            missing = np.stack([gaps[a:z] for a, z in places], axis=1)
            levels = np.stack([whole[a:z] for a, z in places], axis=1)
            made.append(self._samples(fit, levels, missing))
        return made

    def _samples(self, fit: Fitted, levels: NDArray[np.int64], missing: NDArray[np.bool_]) -> NDArray[Any]:
        """Values [n, channels] in the unit of the signal."""
        levels = np.clip(levels, 0, np.array(fit.scale.n_levels) - 1)
        samples = fit.scale.restore(levels if fit.scale.ndim == 2 else levels[:, 0]).reshape(levels.shape)
        if fit.integers:
            samples = np.ceil(samples - 0.5)  # halves down: x - y is below half a level, not above
        if missing.any():
            samples[missing] = np.nan
        elif fit.integers:
            samples = samples.astype(np.int64)
        return samples[:, 0] if self.channel_axis is None else np.moveaxis(samples, 1, self.channel_axis)

    def spans(self, ids: Any) -> NDArray[np.int64]:
        """Where the samples of each id of a recording are.

        Parameters
        ----------
        ids
            The ids of one recording, or of one channel.

        Returns
        -------
        int64[n, 2]
            The position of the first sample of each id, and that after the last one.

        Examples
        --------
        >>> tok = SignalTokenizer(24, step=1).fit(np.arange(90) % 30)
        >>> int(tok.spans(tok.encode(np.arange(30)))[-1, 1])
        30
        """
        documents = self._documents(ids)
        if len(documents) != 1:
            raise ValueError(f"ids: expected those of one recording or channel, got {len(documents)}")
        ends = offsets_of(self._lengths(self._fitted())[documents.values])
        return np.stack([ends[:-1], ends[1:]], axis=1)

    def error_bound(self) -> Any:
        """Bound the error of every sample that is inside of the scale, in the unit of the signal.

        Returns
        -------
        float or float64[n_channels]
            No decoded sample is farther from the given one, rounding of floats included; with a channel axis for each channel.

        Examples
        --------
        >>> SignalTokenizer(24, step=1).fit(np.arange(90) % 30).error_bound()
        1.0
        """
        fit = self._fitted()
        if fit.integers:
            bound = np.full(fit.scale.n_channels, float(self.tolerance))
        else:
            steps = np.array(fit.scale.step, np.float64) * FINE
            bound = (self.tolerance + 0.5) * steps + fit.scale.max_error
        return float(bound[0]) if self.channel_axis is None else bound

    @property
    def scale_(self) -> Quantization:
        """The range of each channel; its step is a 64th of that between levels."""
        return self._fitted().scale

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in _PARAMS if getattr(self, name) is not None)
        fit = self._fit
        n = "not fitted" if fit is None else f"{len(fit.tokens) + fit.n_gaps} tokens, the longest of {fit.tokens.longest} samples"
        return f"{type(self).__name__}({shown}): {n}"

    # ---------------------------------------------------------------------------------------------- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write tokens, scale, sampling rate, names and unit to one file, ``.npz``: the old file or the new one.

        Parameters
        ----------
        path
            Where.

        Raises
        ------
        ValueError
            For another suffix.
        OSError
            From the disk; the old file is then still there.

        Examples
        --------
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "waves.npz")
        >>> tok = SignalTokenizer(24, step=1).fit(x := np.arange(90) % 30, sampling_rate=360, unit="mV")
        >>> tok.save(path)
        >>> again = SignalTokenizer.load(path)
        >>> again.unit, np.array_equal(again.encode(x), tok.encode(x))
        ('mV', True)
        """
        fit = self._fitted()
        suffix_of(path, (".npz",))
        params = {name: getattr(self, name) for name in _PARAMS}
        for name in ("max_error", "step"):
            if params[name] is not None:
                params[name] = np.asarray(params[name]).tolist()
        head = {
            "format": _FORMAT, "version": _VERSION, "params": params, "scale": fit.scale.state(), "n_gaps": fit.n_gaps,
            "integers": fit.integers, "sampling_rate": self.sampling_rate, "channel_names": self.channel_names, "unit": self.unit,
        }  # fmt: skip
        arrays: dict[str, NDArray[Any]] = {"head": np.frombuffer(json.dumps(head).encode(), np.uint8), "cost": fit.cost}
        arrays |= {"kinds": fit.tokens.kinds, "lengths": fit.tokens.lengths, "arena": fit.tokens.arena, "counts": fit.counts}
        write_atomically(path, npz_of(arrays))

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, n_threads: int | None = None) -> Self:
        """Read a file that `save` wrote. It is data: nothing in it is run, and everything is checked.

        Parameters
        ----------
        path
            The file.
        n_threads : int, optional
            As for the constructor.

        Returns
        -------
        SignalTokenizer
            The one that was saved.

        Raises
        ------
        ModelFormatError
            For a file that is not one of a `SignalTokenizer`, saying what is wrong.
        OSError
            If it cannot be read.

        Examples
        --------
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "waves.npz")
        >>> SignalTokenizer(24, step=1).fit(np.arange(90) % 30).save(path)
        >>> SignalTokenizer.load(path).error_bound()
        1.0
        """
        with naming(path), open_regular(path) as f:
            arrays = read_arrays(f, {"head": "u", **_ARRAYS})
            head = parse_json(arrays.pop("head").tobytes())
            if not isinstance(head, dict) or head.get("format") != _FORMAT:
                raise ModelFormatError(f'not signal tokens of this library: no "format": "{_FORMAT}"')
            if head.get("version") != _VERSION:
                raise ModelFormatError(f"version {quoted(head.get('version'))}; this library reads version {_VERSION}")
            check_fields(head, _HEAD, "head")
            if not isinstance(head["params"], dict):
                raise ModelFormatError("params: expected an object")
            check_fields(head["params"], _PARAMS, "params")
            tok = cls(**head["params"], n_threads=n_threads)
            try:
                tok._check()
            except (TypeError, ValueError) as error:
                raise ModelFormatError(f"params: {error}") from error
            scale = Quantization.from_state(head["scale"])
            tok._fit = _checked(tok, scale, head, arrays)
        tok.sampling_rate, tok.channel_names, tok.unit = head["sampling_rate"], head["channel_names"], head["unit"]
        return tok


def _checked(tok: SignalTokenizer, scale: Quantization, head: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Fitted:
    """The content of a file; ModelFormatError unless all of it fits together."""
    types = {"kinds": np.uint8, "lengths": np.int64, "arena": np.int32, "cost": np.int64, "counts": np.int64}
    for name, dtype in types.items():
        array = arrays[name]
        if array.dtype != dtype or array.ndim != 1 or (name != "arena" and array.size != arrays["kinds"].size):
            n = "" if name in ("arena", "kinds") else f" of {arrays['kinds'].size}"
            raise ModelFormatError(f"{name}: expected {np.dtype(dtype)} of one axis{n}, got {describe(array)}")
    kinds, lengths, arena, cost = (arrays[name].copy() for name in ("kinds", "lengths", "arena", "cost"))
    step = 2 * tok.tolerance + 1
    rate, names, unit = head["sampling_rate"], head["channel_names"], head["unit"]
    is_named = names is None or (isinstance(names, list) and list(map(type, names)) == [str] * scale.n_channels)
    wrong = {
        "scale: expected steps and one axis for each of the parameters": scale.step is None
        or scale.ndim != (1 if tok.channel_axis is None else 2)
        or scale.channels != "shared"
        or scale.gaps
        or scale.n_symbols >= MOST,
        f"n_gaps: expected 1..{len(_GAPS)}": type(head["n_gaps"]) is not int or not 1 <= head["n_gaps"] <= len(_GAPS),
        "integers: expected true or false": type(head["integers"]) is not bool,
        "sampling_rate: expected a number above 0": rate is not None and not (type(rate) in (int, float) and rate > 0),
        "channel_names: expected a name for each channel": not is_named,
        "unit: expected a string": unit is not None and type(unit) is not str,
        "kinds: expected 0 or 1": bool((kinds > 1).any()),
        f"lengths: expected numbers above 0 whose sum is {arena.size}": bool((lengths < 1).any() or (lengths > arena.size).any())
        or int(lengths.sum()) != arena.size,
        f"cost: expected 1..{_MOST_COST}": bool(((cost < 1) | (cost > _MOST_COST)).any()),
        "counts: expected 0 or more": bool((arrays["counts"] < 0).any()),
        f"arena: expected values within {MOST}": bool((np.abs(arena.astype(np.int64)) >= MOST).any()),
    }
    for message, is_wrong in wrong.items():
        if is_wrong:
            raise ModelFormatError(message)
    tokens = Tokens(kinds, offsets_of(lengths), arena)
    if (arena[tokens.starts[1:] - 1] % FINE).any():
        raise ModelFormatError(f"arena: expected tokens whose last symbol is a multiple of {FINE}")
    if len(Tokens.of(tokens)) != len(tokens):
        raise ModelFormatError("arena: expected tokens that are all different")
    n_levels = -(-(max(scale.n_levels) + FINE // 2) // FINE)
    centres = FINE * np.arange(tok.tolerance, n_levels + tok.tolerance, step)
    if not np.isin(centres, arena[tokens.starts[:-1]][(kinds == 0) & (lengths == 1)]).all():
        raise ModelFormatError("arena: expected a token for every level, so that all samples can be written")
    return Fitted(scale, tokens, cost, arrays["counts"].copy(), head["n_gaps"], head["integers"])
