"""`SignalTokenizer`: recordings to ids and back, every sample within an error bound."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.coding.model_inputs import ModelInputs
from ubpe_numba.coding.occurrences import Spans, TokenIndex, Usage
from ubpe_numba.documents.flat import place_of
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import as_documents
from ubpe_numba.documents.scale import Scale
from ubpe_numba.errors import ModelFormatError, NotFittedError, quoted
from ubpe_numba.formats import table
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.arrays import (
    Parameters,
    describe,
    integer,
    offsets_of,
    positive,
    resolve_threads,
    told,
)
from ubpe_numba.runtime.files import naming, npz_of, suffix_of, write_atomically
from ubpe_numba.runtime.messages import Progress, warn
from ubpe_numba.runtime.schema import check_fields
from ubpe_numba.signals.kernels.match import FINE, MOST_TOLERANCE
from ubpe_numba.signals.recordings import Recording, check_clip, cut, recordings_of, scale_of, values_of
from ubpe_numba.signals.stream import SignalStream
from ubpe_numba.signals.tokens import LONGEST, MOST, MOST_COST, Goal, Tokens, cheapest, decoded
from ubpe_numba.signals.vocabulary import GAPS, VERSION, Fitted, SignalVocabulary
from ubpe_numba.tokenizers.bpe import BPE
from ubpe_numba.tokenizers.fitted import is_number, of_class
from ubpe_numba.tokenizers.saving import checked_metadata
from ubpe_numba.vocabulary.preprocessing import Preprocessing

_REPRESENTATIONS = ("auto", "levels", "differences", "both")
_SHORT = 4096  # samples of a chunk of a thread, at least
_HEAD = (
    "format", "version", "params", "scale", "n_gaps", "integers", "sampling_rate", "channel_names", "unit",
    "metadata",
)  # fmt: skip
_PARAMS = (
    "n_tokens",
    "max_error",
    "step",
    "tolerance",
    "representation",
    "objective",
    "channel_axis",
    "special_tokens",
)


def _identity(n: int, special_tokens: list[str]) -> BPE:
    """A tokenizer of n ids without merges, which calls for models, counts and names are delegated to."""
    text = Preprocessing(special_tokens=special_tokens) if special_tokens else None
    return BPE.from_merges(np.zeros((0, 2), np.int64), alphabet=n, preprocessing=text)


@told
class SignalTokenizer(Parameters):
    """Recordings of numbers to tokens and back, every sample within `error_bound` of the original.

    A token is a short waveform that recurs approximately. It stores absolute levels, or differences from the
    last decoded sample. So errors do not accumulate, and one waveform serves at every height. What a token
    decodes to is the mean of the samples that it was learned from, as far as the bound allows. Missing
    samples (NaN, or masked) are tokens of their own, and come back as NaN.

    Parameters
    ----------
    n_tokens : int
        How many ids there may be, among them one for every 2 * tolerance + 1 levels of the scale, and those
        of gaps.
    max_error : float or one for each channel, optional
        The error bound: how far a decoded sample may be from the original, in the unit of the signal; the
        step follows. Either this or `step`.
    step : float or one for each channel, optional
        The spacing of levels, in the unit of the signal. With a step of 1, integers are decoded to integers,
        at most `tolerance` away.
    tolerance : int
        How many levels a sample may be away from its token, 0 to 127. More levels for the same `max_error`
        are a finer choice, and take more time: each has 2 * tolerance + 1 ways to be reached.
    representation : {"auto", "levels", "differences", "both"}
        What tokens are learned: exact levels, exact differences, or both by a search for tokens that match
        within the tolerance. ``"auto"``: whatever needs the least on blocks of the recordings that are held
        out.
    objective : {"tokens", "bits"}
        What a recording is encoded to: the fewest tokens, or the fewest bits of a code of independent tokens.
    channel_axis : int, optional
        The axis of recordings of two axes that has the channels; None: recordings have one axis.
    special_tokens : list of str, optional
        Names such as ``"[PAD]"``; their ids follow those of the vocabulary. No recording is encoded to them.
    n_threads : int, optional
        Threads; the result is the same for any number.

    Attributes
    ----------
    n_tokens, max_error, step, tolerance, representation, objective, channel_axis, special_tokens, n_threads
        As given. Once fitted, `set_params` changes them for the next `fit`; `n_threads` acts at once.
    scale_ : Scale
        The range of each channel; its step is a 64th of that between levels.
    sampling_rate, channel_names, unit
        As given to `fit`, kept in the file. None before.
    metadata_ : dict or None
        As given to `save`, of a tokenizer that was loaded.

    Notes
    -----
    The encoder finds the path whose tokens cost least, exactly. The cost is the number of tokens, or their
    bits, and a thousandth of a token for the square of an error as large as the tolerance. Bits are those of
    independent tokens, at most 256 times those of a token on average; the vocabulary itself is not counted.
    Leads that should not share a vocabulary need a tokenizer each.

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
        special_tokens: Sequence[str] | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.n_tokens, self.max_error, self.step, self.tolerance = n_tokens, max_error, step, tolerance
        self.representation, self.objective, self.channel_axis = representation, objective, channel_axis
        self.special_tokens, self.n_threads = special_tokens, n_threads
        self._fit: Fitted | None = None

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; ValueError for a parameter of a fit, once there is one."""
        if name in _PARAMS and vars(self).get("_fit") is not None:
            way = f"set_params({name}=...) acts at the next fit"
            raise ValueError(f"{name}: a fitted tokenizer encodes by what it was fitted with; {way}")
        super().__setattr__(name, value)

    def fit(
        self,
        recordings: Any,
        *,
        low: Any = None,
        high: Any = None,
        clip: bool | float = False,
        sampling_rate: float | None = None,
        channel_names: Sequence[str] | None = None,
        unit: str | None = None,
        progress: bool | str = "auto",
    ) -> Self:
        """Learn the tokens of recordings. What was fitted before is replaced when all went well.

        Parameters
        ----------
        recordings
            One recording or several, of any lengths: an array or list of numbers, a list of these, a
            `Ragged`, columns of pandas or Arrow, memory maps, an iterator. An array with one more axis has a
            recording in each row. NaN, and masked samples, are missing.
        low, high : float or one for each channel, optional
            The range of the scale, in the unit of the signal; by default that of the recordings.
        clip : bool or float
            Whether samples outside of `low` and `high` become the first or last level, with a warning of
            their number. A share such as 0.001: so many samples at each end are outliers, which missing `low`
            and `high` then leave out.
        sampling_rate : float, optional
            Samples per second, kept in the file.
        channel_names : list of str, optional
            Names of the channels, kept in the file.
        unit : str, optional
            The unit of the samples, kept in the file.
        progress : bool or "auto"
            ``"auto"`` shows the rounds of a search on a terminal, True always, False never.

        Returns
        -------
        Self
            The tokenizer itself.

        Raises
        ------
        TypeError, ValueError
            For an invalid parameter or sample, with name and place. If the levels of the scale alone are more
            than `n_tokens`. If float64 cannot keep the bound for samples of this size, or samples are missing
            altogether.

        Warns
        -----
        UserWarning
            If the recordings have fewer samples than channels, or all samples of a channel are missing: it is
            one gap then.

        Examples
        --------
        >>> tok = SignalTokenizer(40, step=1, tolerance=2).fit([np.arange(100) % 20, np.arange(50) % 20])
        >>> np.abs(tok.decode(tok.encode(np.arange(30) % 20)) - np.arange(30) % 20).max() <= 2
        np.True_
        """
        from ubpe_numba.signals.learn import Settings, learn  # here only: encoding need not wait for it

        params, bar = self._check(), Progress(progress)
        n_tokens, tolerance, axis = params["n_tokens"], params["tolerance"], params["channel_axis"]
        share = check_clip(clip, True)
        parts, _ = recordings_of(recordings, axis)
        sizes = {part.values.shape[1] for part in parts}
        if len(sizes) != 1:
            raise ValueError(f"recordings: expected the same number of channels in all, got {sorted(sizes)}")
        n_channels, longest = max(sizes), max(len(part.values) for part in parts)
        if n_channels > longest > 0:
            message = f"recordings: channel_axis={axis} makes {n_channels} channels of {longest} samples"
            warn(
                f"{message}; if these are {longest} channels, give channel_axis={0 if axis in (1, -1) else 1}"
            )
        names = None if channel_names is None else np.asarray(channel_names).tolist()
        if names is not None and (
            not isinstance(names, list) or list(map(type, names)) != [str] * n_channels
        ):
            raise ValueError(
                f"channel_names: expected a list of {n_channels} names, got {quoted(channel_names)}"
            )
        if unit is not None and not isinstance(unit, str):
            raise TypeError(f"unit: expected a str, got {describe(unit)}")
        rate = sampling_rate.item() if isinstance(sampling_rate, np.generic) else sampling_rate
        if rate is not None and (type(rate) not in (int, float) or not 0 < rate < float("inf")):
            raise ValueError(
                f"sampling_rate: expected samples a second, above 0, got {quoted(sampling_rate)}"
            )
        ndim: Literal[1, 2] = 1 if axis is None else 2
        scale = scale_of(parts, params, low, high, share, ndim)
        integers = scale.step_ == (1 / FINE,) * n_channels and all(
            part.values.dtype.kind in "iu" for part in parts
        )
        runs, gaps, _ = cut(scale, parts, clip=bool(clip), whole=integers)
        n_gaps = 1 + sum(length <= max(gaps, default=0) for length in GAPS[1:])
        n_levels = -(-(max(scale.n_levels) + FINE // 2) // FINE)
        if (least := -(-n_levels // (2 * tolerance + 1)) + n_gaps + 1) > n_tokens:
            robust = scale_of(parts, params, low, high, max(share, 0.001), ndim)
            outliers = 2 * max(robust.n_levels) < max(scale.n_levels)
            raise ValueError(
                f"n_tokens: expected at least {least}: one for every {2 * tolerance + 1} of {n_levels} "
                f"levels, {n_gaps} for gaps, and one more; or a larger max_error"
                + ", or fit(..., clip=0.001), which leaves outliers out"
                * outliers
            )
        goal = Goal.of(tolerance)
        settings = Settings(
            n_tokens - n_gaps,
            n_levels,
            goal,
            params["representation"],
            params["objective"] == "bits",
            self.n_threads,
            bar,
        )
        tokens, cost, counts = learn(runs.values, runs.offsets.copy(), settings)
        ids = _identity(len(tokens) + n_gaps, params["special_tokens"])
        self._fit = Fitted(
            scale, tokens, cost, counts, n_gaps, integers, params, rate, names, unit, None, ids
        )
        return self

    def _check(self) -> dict[str, Any]:
        """The parameters of a fit as JSON has them; TypeError or ValueError for one that is not valid."""
        resolve_threads(self.n_threads)
        n_tokens, tolerance = positive(self.n_tokens, "n_tokens"), integer(self.tolerance, "tolerance")
        if not 0 <= tolerance <= MOST_TOLERANCE:
            raise ValueError(f"tolerance: expected 0..{MOST_TOLERANCE} levels, got {self.tolerance}")
        if (self.max_error is None) == (self.step is None):
            raise ValueError(
                f"max_error: expected one of max_error and step, got {quoted(self.max_error)} and "
                f"{quoted(self.step)}"
            )
        if self.representation not in _REPRESENTATIONS:
            raise ValueError(
                f"representation: expected {', '.join(map(repr, _REPRESENTATIONS))}, got "
                f"{quoted(self.representation)}"
            )
        if self.objective not in ("tokens", "bits"):
            raise ValueError(f"objective: expected 'tokens' or 'bits', got {quoted(self.objective)}")
        axis = None if self.channel_axis is None else integer(self.channel_axis, "channel_axis")
        if axis not in (None, -2, -1, 0, 1):
            raise ValueError(f"channel_axis: expected an axis of two, got {self.channel_axis}")
        words = [] if self.special_tokens is None else self.special_tokens
        if (
            not isinstance(words, (list, tuple))
            or not all(type(word) is str for word in words)
            or len({*words}) < len(words)
        ):
            raise TypeError(
                f"special_tokens: expected a list of different names, got {quoted(self.special_tokens)}"
            )
        steps = {
            name: np.asarray(value).tolist()
            for name in ("max_error", "step")
            if (value := getattr(self, name)) is not None
        }
        return {
            "n_tokens": n_tokens, "max_error": None, "step": None, **steps, "tolerance": tolerance,
            "representation": str(self.representation), "objective": str(self.objective),
            "channel_axis": axis,
            "special_tokens": list(words),
        }  # fmt: skip

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
            Whether samples outside of the scale become its first or last level, with a warning of their
            number. Otherwise they are an error with their place.
        n_threads : int, optional
            Threads; by default those of the constructor.

        Returns
        -------
        Ragged
            The ids of each recording; with a channel axis of each channel, those of a recording one after the
            other.

        Examples
        --------
        >>> tok = SignalTokenizer(24, step=1).fit(np.arange(90) % 30)
        >>> len(tok.encode_batch([np.arange(5), np.arange(30)]))
        2
        """
        fit = self._fitted()
        return self._encoded(fit, recordings_of(recordings, fit.channel_axis)[0], clip, n_threads)

    def _encoded(self, fit: Fitted, recordings: list[Recording], clip: bool, n_threads: int | None) -> Ragged:
        """The ids of each channel of recordings by a fitted state."""
        check_clip(clip)
        resolve_threads(n_threads)
        runs, _, layout = cut(fit.scale, recordings, clip, fit.integers)
        goal = Goal.of(fit.tolerance)
        x, offsets = runs.values, runs.offsets
        threads = self.n_threads if n_threads is None else n_threads
        fit.tokens.index  # noqa: B018  # made once, not by each thread

        def one(begin: int, end: int) -> list[NDArray[np.int32]]:
            parts = cheapest(fit.tokens, fit.cost, goal, x, offsets[begin : end + 1].copy()).parts
            cuts = np.searchsorted(parts["document"], np.arange(1, end - begin))
            return np.split(parts["token"].astype(np.int32), cuts)

        pieces = np.unique(
            np.searchsorted(offsets, np.arange(0, x.size, max(_SHORT, x.size // 64)), "right") - 1
        ).tolist()
        edges = sorted({0, *pieces, len(runs)})
        chunks = list(pairwise(edges))
        results = thread_pool.run(one, chunks, threads, x.size) if chunks else []
        ids = iter([part for parts in results for part in parts])
        documents = [
            np.concatenate([next(ids) if n < 0 else fit.gap(n) for n in channel]) for channel in layout
        ]
        flat = np.concatenate(documents) if documents else np.zeros(0, np.int32)
        return Ragged(
            flat.astype(np.int32, copy=False),
            offsets_of(np.array([part.size for part in documents], np.int64)),
        )

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
        fit = self._fitted()
        parts, is_one = recordings_of(recording, fit.channel_axis)
        if not parts and fit.channel_axis is None:
            parts, is_one = recordings_of(np.zeros(0), None)
        if not is_one:
            raise ValueError(
                f"recording: expected one, got {describe(recording)}; encode_batch takes several"
            )
        ids = self._encoded(fit, parts, clip, None)
        return ids[0] if fit.channel_axis is None else ids

    def __call__(self, recordings: Any, *, clip: bool = False, **options: Any) -> ModelInputs:
        """Encode recordings to the inputs of a model, by the names that Hugging Face's tokenizers use.

        Parameters
        ----------
        recordings, clip
            One or several, as for `encode_batch`; with a channel axis each channel is a row.
        **options
            Those of `Tokenizer.__call__` except positions: `padding`, `truncation`, `max_length`, `template`,
            `return_tensors`.

        Returns
        -------
        ModelInputs
            A dict of `input_ids`, `attention_mask` and the requested arrays.

        Examples
        --------
        >>> tok = SignalTokenizer(24, step=1, special_tokens=["[PAD]"]).fit(x := np.arange(90) % 30)
        >>> inputs = tok([x[:2], x], padding=True, return_tensors="np")
        >>> inputs["attention_mask"].sum(axis=1).tolist() == tok.count([x[:2], x]).tolist()
        True
        """
        if options.get("return_offsets"):
            raise TypeError("return_offsets: spans(recordings) has the positions of tokens in samples")
        fit = self._fitted()
        parts, is_one = recordings_of(recordings, fit.channel_axis)
        ids = self._encoded(fit, parts, clip, None)
        return fit.ids(ids[0] if is_one and fit.channel_axis is None else ids, **options)

    def count(self, recordings: Any, *, clip: bool = False) -> NDArray[np.int64]:
        """Count the tokens of recordings; arguments are as for `encode_batch`.

        Returns
        -------
        int64[d]
            The number of tokens of each recording, with a channel axis of each channel.

        Examples
        --------
        >>> tok = SignalTokenizer(24, step=1).fit(np.arange(90) % 30)
        >>> bool(tok.count([np.arange(30)])[0] == tok.encode(np.arange(30)).size)
        True
        """
        return self.encode_batch(recordings, clip=clip).lengths

    def spans(self, recordings: Any, *, clip: bool = False) -> Spans:
        """Encode recordings, and list the positions of all tokens: flat arrays, a row per token.

        Arguments are as for `encode_batch`.

        Returns
        -------
        Spans
            `ids`, `starts` and `lengths` in samples, and `documents`, the number of the recording, or with a
            channel axis of the channel.

        Examples
        --------
        >>> tok = SignalTokenizer(24, step=1).fit(np.arange(90) % 30)
        >>> spans = tok.spans(np.arange(30))
        >>> int(spans.starts[-1] + spans.lengths[-1])
        30
        """
        fit = self._fitted()
        ids = self._encoded(fit, recordings_of(recordings, fit.channel_axis)[0], clip, None)
        ends = offsets_of(fit.lengths[ids.values])
        starts = ends[:-1] - np.repeat(ends[ids.offsets[:-1]], ids.lengths)
        return Spans(ids.values, starts, np.diff(ends), np.repeat(np.arange(len(ids)), ids.lengths))

    def index(self, ids: Any) -> TokenIndex:
        """Index all occurrences of all tokens in encoded recordings.

        Parameters
        ----------
        ids
            As `encode` and `encode_batch` return them.

        Returns
        -------
        TokenIndex
            ``index[token]`` has the `documents`, `places` among the ids, and `starts` in samples of a token.

        Examples
        --------
        >>> tok = SignalTokenizer(24, step=1).fit(x := np.arange(90) % 30)
        >>> len(tok.index(tok.encode(x))) == tok.vocab_size
        True
        """
        fit = self._fitted()
        return TokenIndex(self._documents(fit, ids, known=fit.lengths.size), fit.lengths, self.n_threads)

    def usage(self, recordings: Any = None, *, ids: Any = None, clip: bool = False) -> Usage:
        """Count how often each id occurs in recordings, and list those that never do.

        Parameters
        ----------
        recordings, clip
            As for `encode_batch`.
        ids
            Encoded recordings, in the place of `recordings`.

        Returns
        -------
        Usage
            `counts`, `document_frequencies` and `unused`, by id.

        Examples
        --------
        >>> tok = SignalTokenizer(24, step=1).fit(x := np.arange(90) % 30)
        >>> bool(tok.usage(x).counts.sum() == tok.encode(x).size)
        True
        """
        if (recordings is None) == (ids is None):
            raise TypeError("recordings: expected either recordings or ids=, what they were encoded to")
        return self._fitted().ids.usage(ids=self.encode_batch(recordings, clip=clip) if ids is None else ids)

    def stream(self, *, channel: int = 0, clip: bool = False) -> SignalStream:
        """Make an encoder of a channel that arrives in chunks.

        Parameters
        ----------
        channel : int
            Which channel, for its scale.
        clip : bool
            As for `encode_batch`.

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
        scale = Scale.from_state({**state, **one, "ndim": 1})
        check_clip(clip)
        return SignalStream(scale, fit, Goal.of(fit.tolerance), bool(clip))

    # ---------------------------------------------------------------------------------------------- decoding

    def decode(self, ids: Any, *, after: Any = None, skip_special_tokens: bool = False) -> Any:
        """Decode the ids of a recording.

        Parameters
        ----------
        ids
            As `encode` returns them.
        after
            The ids before these, such as those that a model was asked to continue: only samples after them
            are returned. Or the last sample that they were decoded to, with a channel axis a list, one for
            each channel; after NaN as after nothing. Only at an end of the scale, where samples are limited,
            the result may differ.
        skip_special_tokens : bool
            Leave special tokens out. Otherwise they raise, since they do not represent samples.

        Returns
        -------
        float64[n] or float64 of two axes
            The samples in the unit of the signal, NaN in gaps; int64 for integers by a step of 1 without
            gaps.

        Raises
        ------
        ValueError
            For an id outside of the vocabulary; a token of differences at the beginning of a recording;
            channels of different lengths.

        Examples
        --------
        >>> tok = SignalTokenizer(24, step=1, tolerance=0, representation="levels").fit(np.arange(40) % 20)
        >>> tok.decode(tok.encode([3, 4, 5])).tolist()
        [3, 4, 5]
        >>> tok.decode(tok.encode([3, 4, 5])[2:], after=tok.encode([3, 4, 5])[:2]).tolist()
        [5]
        """
        fit, samples = self._fitted(), [after]
        documents = self._documents(fit, ids, skip_special_tokens)
        if after is not None and fit.channel_axis is not None:
            samples = list(after)
        is_sample = all(map(is_number, samples))
        before = None
        if after is not None and not is_sample:
            before = self._documents(fit, after, skip_special_tokens, "after")
        for name, part in (("ids", documents), ("after", before)):
            if part is not None and fit.channel_axis is None and len(part) != 1:
                raise ValueError(
                    f"{name}: expected those of one recording, got {len(part)}; decode_batch takes several"
                )
            if part is not None and fit.channel_axis is not None and len(part) != fit.scale.n_channels:
                raise ValueError(
                    f"{name}: expected those of {fit.scale.n_channels} channels, got {len(part)} documents"
                )
        if before is None:
            return self._restored(fit, documents, samples if is_sample else ())[0]
        whole = Ragged.from_lists([np.concatenate(pair) for pair in zip(before, documents, strict=True)])
        n = int(fit.lengths[documents[0]].sum())
        samples = self._restored(fit, whole)[0]
        axis = 1 if fit.channel_axis in (0, -2) else 0
        return np.split(samples, [samples.shape[axis] - n], axis)[1]

    def followers(self, ids: Any = None) -> NDArray[np.bool_]:
        """Mark which ids may follow others so that all can be decoded: a mask for the logits of a model.

        Parameters
        ----------
        ids : int[...], optional
            Ids of any shape; None for the beginning of a recording.

        Returns
        -------
        bool[..., vocab_size] or bool[vocab_size]
            Tokens of differences cannot come first, after a gap or after a special token; all else may.
            Whatever is sampled along the mask is decoded, but `encode` may find a better path for it.

        Examples
        --------
        >>> tok = SignalTokenizer(24, step=1, representation="differences").fit(np.arange(90) % 30)
        >>> bool((tok.followers() == ~tok.vocabulary.is_relative).all()), bool(tok.followers(0).all())
        (True, True)
        """
        fit, is_relative = self._fitted(), self.vocabulary.is_relative
        if ids is None:
            return ~is_relative
        shaped = np.asarray(ids, None if np.size(ids) else np.int64)
        values = self._documents(fit, shaped.reshape(-1), known=fit.lengths.size).values
        return ~((values >= len(fit.tokens))[:, None] & is_relative).reshape(*shaped.shape, is_relative.size)

    def decode_batch(self, ids: Any, *, skip_special_tokens: bool = False) -> list[Any]:
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
        documents = self._documents(fit, ids, skip_special_tokens)
        if len(documents) % fit.scale.n_channels:
            raise ValueError(
                f"ids: expected a document for each of {fit.scale.n_channels} channels, got {len(documents)}"
            )
        return self._restored(fit, documents)

    def _documents(
        self,
        fit: Fitted,
        ids: Any,
        skip_special_tokens: bool = False,
        name: str = "ids",
        known: int | None = None,
    ) -> Ragged:
        """Documents of ids, all below `known`, by default of tokens that have samples."""
        if isinstance(ids, (list, tuple)) and (not ids or np.ndim(ids[0]) == 0):
            ids = np.array(ids, np.int64 if not ids else None)
        values, offsets, kind = as_documents(ids, name=name)
        if kind != "int":
            raise TypeError(f"{name}: expected integers, got {kind}")
        values, offsets = values[offsets[0] : offsets[-1]], offsets - offsets[0]
        size = len(fit.tokens) + fit.n_gaps
        if skip_special_tokens:
            plain = (values < size) | (values >= fit.ids.vocab_size)
            values, offsets = values[plain], offsets_of(plain)[offsets]
        if (at := np.flatnonzero((values < 0) | (values >= (known or size)))).size:
            where = f"{place_of(name, offsets, at[0])}: token id {values[at[0]]}"
            if size <= values[at[0]] < fit.ids.vocab_size:
                word = quoted(fit.ids.id_to_token(int(values[at[0]])))
                raise ValueError(
                    f"{where} is {word}, which has no samples; skip_special_tokens=True leaves it out"
                )
            raise ValueError(f"{where} is outside the vocabulary, 0..{(known or size) - 1}")
        return Ragged(values.astype(np.int32), offsets.astype(np.int64))

    def _restored(self, fit: Fitted, documents: Ragged, after: Sequence[float] = ()) -> list[Any]:
        """The samples of recordings, whose channels are documents one after the other.

        `after` are the samples before the first one.
        """
        ids, offsets, n = documents.values, documents.offsets, fit.scale.n_channels
        is_gap = ids >= len(fit.tokens)
        plain = ids[~is_gap]
        borders = offsets_of(~is_gap)
        begins = np.unique(np.concatenate([borders[offsets[:-1]], borders[np.flatnonzero(is_gap) + 1]]))
        known: dict[int, int] = {}
        if len(after):
            gone = np.isnan(after)
            part = Recording(np.where(gone, 0.0, after)[None], gone[None] if gone.any() else None)
            symbols, _ = values_of(fit.scale, part, False, fit.integers, "after")
            levels = (symbols[0] + FINE // 2) // FINE * FINE  # tokens end on whole levels
            firsts = zip(offsets, borders[offsets], levels.tolist(), ~gone, strict=False)
            known = {to: x for a, to, x, is_known in firsts if is_known and a < ids.size and not is_gap[a]}
        values, _, wrong = decoded(fit.tokens, plain, begins, known)
        if wrong >= 0:
            at = int(np.flatnonzero(~is_gap)[wrong])
            raise ValueError(
                f"{place_of('ids', offsets, at)}: token {ids[at]} is of differences, and is the first of a "
                "recording"
            )
        lengths = fit.lengths[ids]
        ends = offsets_of(lengths)[offsets]
        gaps = np.repeat(is_gap, lengths)
        whole = np.zeros(gaps.size, np.int64)
        whole[~gaps] = values
        blocks = []
        for i in range(0, len(documents), n):
            places = list(pairwise(ends[i : i + n + 1].tolist()))
            if len({z - a for a, z in places}) > 1:
                sizes = [z - a for a, z in places]
                raise ValueError(f"ids: recording {i // n}: expected channels of one length, got {sizes}")
            missing = np.stack([gaps[a:z] for a, z in places], axis=1)
            levels = np.stack([whole[a:z] for a, z in places], axis=1)
            levels = np.clip(levels, 0, np.array(fit.scale.n_levels) - 1)
            samples = fit.scale.inverse_transform(levels if fit.scale.ndim_ == 2 else levels[:, 0]).reshape(
                levels.shape
            )
            if fit.integers:
                samples = np.ceil(samples - 0.5)  # halves down: x - y is below half a level, not above
            if missing.any():
                samples[missing] = np.nan
            elif fit.integers:
                samples = samples.astype(np.int64)
            blocks.append(
                samples[:, 0] if fit.channel_axis is None else np.moveaxis(samples, 1, fit.channel_axis)
            )
        return blocks

    def error_bound(self) -> Any:
        """Bound the error of every sample that is inside of the scale, in the unit of the signal.

        Returns
        -------
        float or float64[n_channels]
            No decoded sample is farther from the given one, rounding of floats included; with a channel axis
            for each channel.

        Examples
        --------
        >>> SignalTokenizer(24, step=1).fit(np.arange(90) % 30).error_bound()
        1.0
        """
        fit = self._fitted()
        return float(fit.bound()[0]) if fit.channel_axis is None else fit.bound()

    @property
    def scale_(self) -> Scale:
        """The range of each channel; its step is a 64th of that between levels."""
        # not the tokenizer that encodes: it could be fitted again
        return Scale.from_state(self._fitted().scale.state())

    @property
    def sampling_rate(self) -> float | None:
        """Samples per second, as given to `fit`."""
        return None if self._fit is None else self._fit.sampling_rate

    @property
    def channel_names(self) -> list[str] | None:
        """The names of the channels, as given to `fit`."""
        return None if self._fit is None or self._fit.channel_names is None else list(self._fit.channel_names)

    @property
    def unit(self) -> str | None:
        """The unit of the samples, as given to `fit`."""
        return None if self._fit is None else self._fit.unit

    @property
    def metadata_(self) -> dict[str, Any] | None:
        """The metadata of the file that this was loaded from."""
        return None if self._fit is None else self._fit.metadata

    @property
    def vocab_size(self) -> int:
        """The number of ids, those of gaps and special tokens included: the rows of an embedding.

        Examples
        --------
        >>> SignalTokenizer(24, step=1, special_tokens=["[PAD]"]).fit(np.arange(90) % 30).vocab_size <= 25
        True
        """
        return self._fitted().ids.vocab_size

    @property
    def vocabulary(self) -> SignalVocabulary:
        """The tokens by id: the samples that each decodes to, or the differences to the sample before it.

        Examples
        --------
        >>> tok = SignalTokenizer(24, step=1, tolerance=0, representation="levels").fit(np.arange(40) % 20)
        >>> tok.vocabulary[3].tolist()
        [3.0]
        """
        fit = self._fitted()
        return SignalVocabulary(fit.scale, fit.tokens, fit.lengths, fit.n_gaps, fit.counts.copy())

    def token_to_id(self, token: str) -> int | None:
        """The id of a special token by its name.

        Parameters
        ----------
        token : str
            One of `special_tokens`.

        Returns
        -------
        int or None
            None if there is none of this name.

        Examples
        --------
        >>> tok = SignalTokenizer(24, step=1, special_tokens=["[PAD]"]).fit(np.arange(90) % 30)
        >>> tok.token_to_id("[PAD]") == tok.vocab_size - 1
        True
        """
        fit = self._fitted()
        words = fit.params["special_tokens"]
        return fit.ids.vocab_size - len(words) + words.index(token) if token in words else None

    @property
    def fingerprint(self) -> str:
        """A hash of all that decides encoding and decoding; equal for equal models on any machine.

        Examples
        --------
        >>> fits = [SignalTokenizer(24, step=1).fit(np.arange(90) % n) for n in (30, 30, 29)]
        >>> [fit.fingerprint == fits[0].fingerprint for fit in fits]
        [True, True, False]
        """
        fit = self._fitted()
        words, scale = fit.params["special_tokens"], fit.scale.state()
        parts = fit.tolerance, fit.channel_axis, words, scale, fit.n_gaps, fit.integers
        h = hashlib.sha256(json.dumps(parts, sort_keys=True).encode())
        for name, array in sorted(fit.arrays().items()):
            if name != "counts":
                h.update(
                    f"{name} {array.size}".encode() + array.astype(array.dtype.newbyteorder("<")).tobytes()
                )
        return h.hexdigest()[:32]

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{name}={getattr(self, name)!r}" for name in _PARAMS if getattr(self, name) is not None
        )
        fit = self._fit
        n = (
            "not fitted"
            if fit is None
            else f"{fit.ids.vocab_size} tokens, the longest of {fit.tokens.longest} samples"
        )
        return f"{type(self).__name__}({shown}): {n}"

    # ---------------------------------------------------------------------------------------------- files

    def save(self, path: str | os.PathLike[str], *, metadata: dict[str, Any] | None = None) -> None:
        """Write tokens, scale, sampling rate, names and unit to one ``.npz`` file, atomically.

        Parameters
        ----------
        path
            Where.
        metadata : dict, optional
            An object of JSON to keep in the file; by default that of the file from which this tokenizer
            comes.

        Raises
        ------
        ValueError, OSError
            For another suffix; if it cannot be written.

        Examples
        --------
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "waves.npz")
        >>> SignalTokenizer(24, step=1).fit(np.arange(90) % 30).save(path, metadata={"device": 3})
        >>> SignalTokenizer.load(path).metadata_
        {'device': 3}
        """
        fit = self._fitted()
        suffix_of(path, (".npz",))
        if metadata is not None:
            fit = fit._replace(metadata=checked_metadata(metadata))
        write_atomically(
            path, npz_of({"head": np.frombuffer(json.dumps(fit.head()).encode(), np.uint8), **fit.arrays()})
        )

    @of_class
    def load(cls, path: Any, *, n_threads: int | None = None) -> Self:
        """Read a file that `save` wrote, as `ubpe_numba.load` does.

        It is data: nothing in it is run, everything is checked.

        Parameters
        ----------
        path
            The file, an open file, or its content.
        n_threads : int, optional
            As for the constructor.

        Returns
        -------
        SignalTokenizer
            The one that was saved.

        Raises
        ------
        ModelFormatError
            For a file of anything but a `SignalTokenizer`, with the fault.
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
        read, content = table.read(path, None, {})
        if content.tokenizer != cls.__name__:
            raise ModelFormatError(
                f"{read.path}: a {content.tokenizer}, not a {cls.__name__}: use {content.tokenizer}.load"
            )
        return cls._made(read, content, n_threads)

    @classmethod
    def _made(cls, read: Any, found: Any, n_threads: int | None) -> Self:
        """A tokenizer from the parts of a file."""
        resolve_threads(n_threads)
        head, arrays = {"metadata": None, **found.model["head"]}, found.model["arrays"]
        with naming(read.path):
            if head.get("version") != VERSION:
                raise ModelFormatError(
                    f"version {quoted(head.get('version'))}; this library reads version {VERSION}"
                )
            check_fields(head, _HEAD, "head")
            if not isinstance(head["params"], dict):
                raise ModelFormatError("params: expected an object")
            params = {"special_tokens": None, **head["params"]}
            check_fields(params, _PARAMS, "params")
            tok = cls(**params, n_threads=n_threads)
            try:
                params = tok._check()
                metadata = None if head["metadata"] is None else checked_metadata(head["metadata"])
            except (TypeError, ValueError) as error:
                raise ModelFormatError(f"params: {error}") from error
            tok._fit = _checked(params, metadata, head, arrays)
        return tok


def _checked(
    params: dict[str, Any], metadata: Any, head: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> Fitted:
    """The content of a file; ModelFormatError unless all of it fits together."""
    scale, tolerance = Scale.from_state(head["scale"]), params["tolerance"]
    types = {"kinds": np.uint8, "lengths": np.int64, "arena": np.int32, "cost": np.int64, "counts": np.int64}
    for name, dtype in types.items():
        if (array := arrays.get(name)) is None:
            raise ModelFormatError(f"npz: the member {quoted(name)} is missing")
        if (
            array.dtype != dtype
            or array.ndim != 1
            or (name != "arena" and array.size != arrays["kinds"].size)
        ):
            n = "" if name in ("arena", "kinds") else f" of {arrays['kinds'].size}"
            raise ModelFormatError(
                f"{name}: expected {np.dtype(dtype)} of one axis{n}, got {describe(array)}"
            )
    kinds, lengths, arena, cost = (arrays[name].copy() for name in ("kinds", "lengths", "arena", "cost"))
    step = 2 * tolerance + 1
    rate, names, unit = head["sampling_rate"], head["channel_names"], head["unit"]
    is_named = names is None or (
        isinstance(names, list) and list(map(type, names)) == [str] * scale.n_channels
    )
    wrong = {
        "scale: expected steps and one axis for each of the parameters": scale.step_ is None
        or scale.ndim_ != (1 if params["channel_axis"] is None else 2)
        or (scale.channels, scale.gaps, scale.clip, scale.restore) != ("shared", False, False, "middle")
        or scale.n_symbols >= MOST,
        f"n_gaps: expected 1..{len(GAPS)}": type(head["n_gaps"]) is not int
        or not 1 <= head["n_gaps"] <= len(GAPS),
        "integers: expected true or false": type(head["integers"]) is not bool,
        "sampling_rate: expected a number above 0": rate is not None
        and not (type(rate) in (int, float) and rate > 0),
        "channel_names: expected a name for each channel": not is_named,
        "unit: expected a string": unit is not None and type(unit) is not str,
        "kinds: expected 0 or 1": bool((kinds > 1).any()),
        f"lengths: expected numbers above 0 whose sum is {arena.size}": bool(
            (lengths < 1).any() or (lengths > arena.size).any()
        )
        or int(lengths.sum()) != arena.size,
        f"cost: expected 1..{MOST_COST}": bool(((cost < 1) | (cost > MOST_COST)).any()),
        f"lengths: expected at most {LONGEST} samples": bool((lengths > LONGEST).any()),
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
    centres = FINE * np.arange(tolerance, n_levels + tolerance, step)
    if not np.isin(centres, arena[tokens.starts[:-1]][(kinds == 0) & (lengths == 1)]).all():
        raise ModelFormatError("arena: expected a token for every level, so that all samples can be written")
    ids = _identity(len(tokens) + head["n_gaps"], params["special_tokens"])
    counts = arrays["counts"].copy()
    return Fitted(
        scale,
        tokens,
        cost,
        counts,
        head["n_gaps"],
        head["integers"],
        params,
        rate,
        names,
        unit,
        metadata,
        ids,
    )
