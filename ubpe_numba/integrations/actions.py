"""`ActionTokenizer`: robot actions as tokens of quantized cosine coefficients, as in FAST.

It has the interface of FAST. A chunk of T steps and D dimensions becomes T x D integers, the type-II DCT over
time, multiplied by `scale` and rounded. A tokenizer is fitted on these, low frequencies first:

    coefficients        frequency 0: dimension 0 .. D-1, frequency 1: dimension 0 .. D-1, ...

So every token represents a known number of coefficients, and a sequence of tokens is a chunk if these numbers
add up to T x D.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterable
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ubpe_numba.documents.flat import place_in
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import as_documents
from ubpe_numba.errors import ModelFormatError, UnknownTokenError, quoted
from ubpe_numba.formats.readers import Source, own
from ubpe_numba.integrations.action_chunks import (
    as_blocks,
    check_dimensions,
    coefficients_of,
    document_lengths,
    fft,
    without_torch,
)
from ubpe_numba.runtime.arrays import describe, integer, offsets_of, places_of, positive
from ubpe_numba.runtime.files import naming
from ubpe_numba.runtime.messages import warn
from ubpe_numba.runtime.schema import check_fields
from ubpe_numba.tokenizers.base import Tokenizer
from ubpe_numba.tokenizers.bpe import BPE, UBPEClassic
from ubpe_numba.tokenizers.saving import class_of
from ubpe_numba.tokenizers.seam import model_of, tables_of
from ubpe_numba.tokenizers.ubpe import UBPE

__all__ = ["ActionTokenizer"]

_MOST = 2**24  # coefficients of a chunk: a file may not ask for more memory than that
_CLASSES = BPE, UBPE, UBPEClassic
_FIELDS = ("scale", "time_horizon", "action_dim", "frequency_barriers", "out_of_range")
_OUT_OF_RANGE = ("warn", "clip", "raise")


class ActionTokenizer:
    """Chunks of robot actions to tokens and back, as in FAST: cosine transform, rounding, BPE.

    The transform is the DCT. Usually made by `fit`. Coefficients are symbols, so every id represents some,
    any sequence of ids has a known length, and every chunk comes back. An instance never changes: it may be
    shared between threads, and can be pickled.

    Parameters
    ----------
    tokenizer : Tokenizer
        A fitted `BPE`, `UBPEClassic` or `UBPE` whose alphabet is consecutive integers: the coefficients that
        it knows.
    scale : float
        Factor of the coefficients before they are rounded. Twice the scale halves the error, and needs more
        tokens.
    time_horizon, action_dim : int, optional
        Steps of a chunk, and dimensions of an action, that `decode` uses by default. Chunks with a different
        number of dimensions raise an error.
    frequency_barriers : bool
        Whether no token crosses from a frequency to the next one. More tokens; a wrong one does less harm.
        Needs `action_dim`.
    out_of_range : {"warn", "clip", "raise"}
        Treatment of coefficients that the tokenizer does not know. ``"clip"`` replaces them by the nearest
        known coefficient, ``"warn"`` does so with a warning, ``"raise"`` raises an error.

    Attributes
    ----------
    tokenizer, scale, time_horizon, action_dim, frequency_barriers, out_of_range
        As given.
    vocab_size : int
        How many ids there are; those that a chunk can have are 0..vocab_size - 1.
    min_token, max_token : int
        The lowest and the highest coefficient that is known.
    fingerprint : str
        A hash of all that decides encoding and decoding.

    Raises
    ------
    NotFittedError
        If the tokenizer is not fitted.
    TypeError, ValueError
        For an argument of a wrong type or out of range.

    Notes
    -----
    Normalize actions first, as for FAST: the 1st and the 99th percentile of each dimension to -1 and 1. The
    ids are those of the coefficients as `scipy.fft.dct` computes them in float64. Source: K. Pertsch et al.,
    *FAST: Efficient Action Tokenization for Vision-Language-Action Models*, 2025.

    Examples
    --------
    >>> import numpy as np
    >>> from ubpe_numba.actions import ActionTokenizer
    >>> rng = np.random.default_rng(0)
    >>> begin, end = rng.uniform(-1, 1, (2, 100, 1, 3))
    >>> chunks = begin + (end - begin) * np.linspace(0, 1, 20)[:, None] ** 2  # 100 chunks of 20 steps, 3 dimensions
    >>> tok = ActionTokenizer.fit(chunks, vocab_size=256)
    >>> tokens = tok(chunks)
    >>> tok.decode(tokens).shape, sum(map(len, tokens)) / 100
    ((100, 20, 3), 9.28)
    >>> bool(np.abs(tok.decode(tokens) - chunks).max() < tok.error_bound())
    True
    """

    tokenizer: Tokenizer
    scale: float
    time_horizon: int | None
    action_dim: int | None
    frequency_barriers: bool
    out_of_range: Literal["warn", "clip", "raise"]
    vocab_size: int
    min_token: int
    max_token: int

    def __init__(
        self,
        tokenizer: Tokenizer,
        scale: float = 10,
        *,
        time_horizon: int | None = None,
        action_dim: int | None = None,
        frequency_barriers: bool = False,
        out_of_range: Literal["warn", "clip", "raise"] = "warn",
    ) -> None:
        if type(tokenizer) not in _CLASSES:
            raise TypeError(f"tokenizer: expected a fitted BPE, UBPE, UBPEClassic, got {describe(tokenizer)}")
        alphabet = model_of(tokenizer).alphabet
        if alphabet.kind != "int":
            raise ValueError(f"tokenizer: expected an alphabet of integers, got one of {alphabet.kind}")
        low, high = int(alphabet.symbols[0]), int(alphabet.symbols[-1])
        if not -(2**31) < low <= high < 2**31 or not np.array_equal(
            alphabet.symbols, np.arange(low, high + 1)
        ):
            raise ValueError(
                "tokenizer: expected an alphabet of consecutive integers, ascending, that fit int32"
            )
        if not tables_of(tokenizer).is_plain:
            raise ValueError(
                "tokenizer: expected one without special tokens, known words, or ids of another order"
            )
        self.tokenizer, self.min_token, self.max_token = tokenizer, low, high
        self.scale = _checked_scale(scale)
        self.time_horizon, self.action_dim = _checked_shape(time_horizon, action_dim)
        if not isinstance(frequency_barriers, (bool, np.bool_)):
            raise TypeError(f"frequency_barriers: expected True or False, got {describe(frequency_barriers)}")
        if frequency_barriers and action_dim is None:
            raise ValueError(
                "frequency_barriers: they need action_dim, the number of coefficients of a frequency"
            )
        self.frequency_barriers = bool(frequency_barriers)
        if out_of_range not in _OUT_OF_RANGE:
            raise ValueError(
                f"out_of_range: expected {', '.join(map(repr, _OUT_OF_RANGE))}, got {quoted(out_of_range)}"
            )
        self.out_of_range = out_of_range
        self._lengths: NDArray[np.int64] = np.diff(model_of(tokenizer).vocabulary.offsets)
        self.vocab_size = self._lengths.size

    @classmethod
    def fit(
        cls,
        chunks: Any,
        scale: float = 10,
        vocab_size: int = 1024,
        *,
        max_error: float | None = None,
        time_horizon: int | None = None,
        action_dim: int | None = None,
        frequency_barriers: bool = False,
        out_of_range: Literal["warn", "clip", "raise"] = "warn",
        tokenizer: Tokenizer | None = None,
        progress: bool | str = "auto",
    ) -> Self:
        """Learn the tokens of chunks of actions.

        Parameters
        ----------
        chunks
            Arrays or tensors [chunks, steps, dimensions], or a list of chunks [steps, dimensions], which may
            be of different lengths. Normalised, without NaN.
        scale, frequency_barriers, out_of_range
            As for the constructor.
        max_error
            How far a decoded value may be from a given one, in the unit of the actions, such as radians of
            joints; the scale follows. Instead of `scale`.
        vocab_size
            How many ids there may be, those of all coefficients from the lowest to the highest included.
        time_horizon, action_dim
            As for the constructor; by default those of the chunks, if all have the same.
        tokenizer
            An unfitted tokenizer with other arguments: ``BPE(rules=FitRules(max_token_length=8))``,
            ``UBPE(objective="shortest")``.
        progress
            As for `Tokenizer.fit`.

        Raises
        ------
        TypeError
            If chunks are not numbers, or `tokenizer` is not of this library.
        ValueError
            Without chunks, for another shape, or for a number that is not finite, with chunk, step and
            dimension. If there are more coefficients than `vocab_size`.

        Warns
        -----
        UserWarning
            As `Tokenizer.fit`: if far fewer tokens are found than `vocab_size`.

        Examples
        --------
        >>> import numpy as np
        >>> chunks = [np.outer(np.linspace(0, 1, steps), [1, -1]) for steps in (30, 40, 50)]
        >>> tok = ActionTokenizer.fit(chunks, vocab_size=100)
        >>> tok.min_token, tok.max_token, tok.action_dim, tok.time_horizon
        (-35, 35, 2, None)
        >>> bool(ActionTokenizer.fit(chunks, vocab_size=300, max_error=0.1).error_bound(50) <= 0.1)
        True
        """
        if max_error is not None and scale != 10:
            raise ValueError(
                f"max_error: expected one of scale and max_error, got {quoted(scale)} and {quoted(max_error)}"
            )
        blocks = as_blocks(chunks)
        if max_error is not None:  # some floats may be lost as well
            bound = _checked_scale(max_error, "max_error")
            scale = (
                max((_gain(block.shape[1]) for block in blocks if block.size), default=1) / bound * (1 + 1e-6)
            )
        scale, most = _checked_scale(scale), positive(vocab_size, "vocab_size")
        if getattr(chunks, "ndim", 3) == 2:  # one chunk is a column of a data set in most cases
            raise ValueError(
                f"chunks: expected [chunks, steps, dimensions], got {describe(chunks)}. Split it, or wrap "
                "it: [it]."
            )
        if not sum(map(len, blocks)):
            raise ValueError("chunks: expected at least one chunk")
        steps, dimensions = ({block.shape[axis] for block in blocks} for axis in (1, 2))
        if time_horizon is None and len(steps) == 1:
            time_horizon = steps.pop()
        if action_dim is None and len(dimensions) == 1:
            action_dim = dimensions.pop()
        time_horizon, action_dim = _checked_shape(time_horizon, action_dim)
        check_dimensions(blocks, action_dim)
        if frequency_barriers and action_dim is None:
            raise ValueError("frequency_barriers: expected chunks of one number of dimensions")
        coefficients = coefficients_of(blocks, scale)
        low, high = min(part.min() for part in coefficients), max(part.max() for part in coefficients)
        if not (high - low < most and max(high, -low) < 2**31):
            raise ValueError(
                f"vocab_size: {most} ids are too few for the coefficients {low:.9g}..{high:.9g}; take more, "
                f"or a lower scale than {scale:g}"
            )
        make: Any = BPE
        options: dict[str, Any] = {}
        if tokenizer is not None:
            if type(tokenizer) not in _CLASSES:
                raise TypeError(
                    f"tokenizer: expected BPE, UBPE, UBPEClassic or None, got {describe(tokenizer)}"
                )
            make, options = type(tokenizer), tokenizer.get_params()
            if options["alphabet"] is not None:
                raise ValueError(
                    "tokenizer: expected one without an alphabet, which are the coefficients of the chunks"
                )
        flat = np.concatenate([part.ravel() for part in coefficients]).astype(np.int32)
        documents = Ragged.from_lengths(
            flat, document_lengths(blocks, action_dim if frequency_barriers else None)
        )
        options |= {"n_tokens": most, "alphabet": range(int(low), int(high) + 1)}
        return cls(
            make(**options).fit(documents, progress=progress),
            scale,
            time_horizon=time_horizon,
            action_dim=action_dim,
            frequency_barriers=frequency_barriers,
            out_of_range=out_of_range,
        )

    @property
    def fingerprint(self) -> str:
        """A hash, 32 hexadecimal digits, of tokenizer and settings; the same on any machine."""
        decides = [
            self.scale,
            self.time_horizon,
            self.action_dim,
            self.frequency_barriers,
            self.tokenizer.fingerprint,
        ]
        return hashlib.sha256(json.dumps(decides).encode()).hexdigest()[:32]

    def __repr__(self) -> str:
        shown = {name: getattr(self, name) for name in ("scale", "time_horizon", "action_dim")}
        shown |= {"frequency_barriers": True} if self.frequency_barriers else {}
        settings = ", ".join(f"{name}={value!r}" for name, value in shown.items())
        return (
            f"{type(self).__name__}({settings}): {self.vocab_size} tokens, coefficients "
            f"{self.min_token}..{self.max_token}"
        )

    # ---------------------------------------------------------------------------------------------- encoding

    def __call__(self, chunks: Any) -> list[list[int]]:
        """Encode chunks.

        Parameters
        ----------
        chunks
            One chunk [steps, dimensions], chunks [chunks, steps, dimensions], or a list of chunks of any
            lengths: arrays or tensors of floats or integers.

        Returns
        -------
        list of list of int
            The ids of each chunk.

        Raises
        ------
        TypeError
            If chunks are not numbers.
        ValueError
            For another shape, another number of dimensions, or a number that is not finite, naming chunk,
            step and dimension; with ``out_of_range="raise"`` for a coefficient that is not known.

        Warns
        -----
        UserWarning
            With ``out_of_range="warn"``, if coefficients that are not known were replaced by the nearest one.

        Examples
        --------
        >>> import numpy as np
        >>> tok = ActionTokenizer.fit(np.zeros((3, 8, 2)), vocab_size=5)
        >>> tok(np.zeros((2, 8, 2)))
        [[4], [4]]
        """
        return self.encode_batch(chunks).to_lists()

    def encode_batch(self, chunks: Any) -> Ragged:
        """Encode chunks into flat arrays; arguments and errors are as for `__call__`.

        Returns
        -------
        Ragged
            The ids of each chunk.

        Examples
        --------
        >>> import numpy as np
        >>> tok = ActionTokenizer.fit(np.zeros((3, 8, 2)), vocab_size=5)
        >>> tok.encode_batch(np.zeros((2, 8, 2)))
        Ragged(2 documents, 2 values)
        """
        blocks = as_blocks(chunks)
        check_dimensions(blocks, self.action_dim)
        parts = coefficients_of(blocks, self.scale)
        outside = self._outside(parts)
        if outside.any() and self.out_of_range != "clip":
            chunk = int(np.flatnonzero(outside)[0])
            ids = [one for part in parts for one in part][chunk]
            frequency, dimension = np.argwhere((ids < self.min_token) | (ids > self.max_token))[0]
            where = (
                f"chunk {chunk}, frequency {frequency}, dimension {dimension}: "
                f"{ids[frequency, dimension]:.0f}"
            )
            known = f"{self.min_token}..{self.max_token}"
            if self.out_of_range == "raise":
                raise ValueError(
                    f"chunks: {where} is not one of the coefficients {known} of the fit. Use "
                    "out_of_range='clip'."
                )
            warn(
                f"chunks: {int(outside.sum())} coefficients of {np.count_nonzero(outside)} of "
                f"{outside.size} chunks are outside of {known}, that of the fit, and the nearest was taken; "
                f"the first is {where}"
            )
        flat = np.concatenate(
            [np.clip(part, self.min_token, self.max_token).ravel() for part in parts]
        ).astype(np.int32)
        if not self.frequency_barriers:
            return self.tokenizer.encode_batch(
                Ragged.from_lengths(flat, document_lengths(blocks, None))
            ).compact()
        rows = self.tokenizer.encode_batch(
            Ragged.from_lengths(flat, document_lengths(blocks, self.action_dim))
        ).compact()
        steps = np.concatenate([np.full(len(block), block.shape[1]) for block in blocks])
        return Ragged(rows.values, rows.offsets[offsets_of(steps)])

    def in_range(self, chunks: Any) -> NDArray[np.bool_]:
        """Whether all coefficients of a chunk are known, so that `error_bound` holds.

        Returns
        -------
        bool[n]
            For each chunk. Arguments and errors are as for `__call__`.

        Examples
        --------
        >>> import numpy as np
        >>> tok = ActionTokenizer.fit(np.stack([np.full((10, 2), -1), np.full((10, 2), 1)]), vocab_size=100)
        >>> tok.in_range([np.full((10, 2), 0.9), np.full((10, 2), 1.1)])
        array([ True, False])
        """
        blocks = as_blocks(chunks)
        check_dimensions(blocks, self.action_dim)
        are_known: NDArray[np.bool_] = self._outside(coefficients_of(blocks, self.scale)) == 0
        return are_known

    def _outside(self, parts: list[NDArray[np.float64]]) -> NDArray[np.int64]:
        """How many coefficients of each chunk are not known, int64[n]."""
        unknown = [(part < self.min_token) | (part > self.max_token) for part in parts]
        return np.concatenate([part.sum(axis=(1, 2), dtype=np.int64) for part in unknown])

    # ---------------------------------------------------------------------------------------------- decoding

    def decode(
        self,
        tokens: Any,
        *,
        time_horizon: int | None = None,
        action_dim: int | None = None,
        on_length: Literal["raise", "fit"] = "raise",
        skip: int | Iterable[int] = (),
    ) -> NDArray[np.float64]:
        """Decode ids to chunks of the same shape.

        Parameters
        ----------
        tokens
            The ids of each chunk: lists, a `Ragged`, a matrix, arrays or tensors.
        time_horizon, action_dim
            The shape of the chunks; by default that of the tokenizer.
        on_length
            What happens to ids that represent more or fewer coefficients than a chunk has. ``"raise"`` raises
            an error. ``"fit"`` drops those after the end and uses 0 for missing coefficients, the high
            frequencies.
        skip
            Ids that are left out first, such as those of padding.

        Returns
        -------
        float64[n, time_horizon, action_dim]
            The chunks; an array, also for tensors.

        Raises
        ------
        UnknownTokenError
            For an id outside of the vocabulary, naming the chunk (as document) and the position.
        TypeError
            If ids are not integers.
        ValueError
            If the shape is not known; for a chunk of another length, unless `on_length` is ``"fit"``.

        Examples
        --------
        >>> import numpy as np
        >>> tok = ActionTokenizer.fit(np.ones((3, 4, 2)), vocab_size=24)
        >>> tok(np.ones((4, 2)))
        [[23, 22, 21]]
        >>> tok.decode([[23, 22, 21]])[0, :, 0]
        array([1., 1., 1., 1.])
        >>> tok.decode([[23]])
        Traceback (most recent call last):
        ValueError: tokens: chunk 0: ids for 2 coefficients, not 8 (4 steps of 2 dimensions); on_length='fit' fills with 0
        >>> tok.decode([[23]], on_length="fit")[0, :, 0]
        array([1., 1., 1., 1.])
        """
        if on_length not in ("raise", "fit"):
            raise ValueError(f"on_length: expected 'raise' or 'fit', got {quoted(on_length)}")
        shape, known = (time_horizon, action_dim), (self.time_horizon, self.action_dim)
        steps, dimensions = _checked_shape(
            *(b if a is None else a for a, b in zip(shape, known, strict=True))
        )
        for name, value in (("time_horizon", steps), ("action_dim", dimensions)):
            if value is None:
                raise ValueError(f"{name}: expected an int, since the chunks of the fit had different ones")
        if self.frequency_barriers and dimensions != self.action_dim:
            raise ValueError(
                f"action_dim: expected {self.action_dim}, that of the frequency barriers, got {dimensions}"
            )
        assert steps is not None
        assert dimensions is not None
        size = steps * dimensions
        ids = _ids(as_documents(without_torch(tokens), name="tokens"), skip, self.vocab_size)
        back = self.tokenizer.decode_batch(ids)
        assert isinstance(back, Ragged)  # coefficients are int32
        lengths = back.lengths
        if on_length == "raise" and (at := np.flatnonzero(lengths != size)).size:
            raise ValueError(
                f"tokens: chunk {at[0]}: ids for {lengths[at[0]]} coefficients, not {size} ({steps} steps "
                f"of {dimensions} dimensions); on_length='fit' "
                f"{'fills with 0' if lengths[at[0]] < size else 'cuts'}"
            )
        if on_length == "raise":
            coefficients = back.values[back.offsets[0] : back.offsets[-1]].astype(np.float64)
        else:
            taken = np.minimum(lengths, size)
            coefficients = np.zeros(len(ids) * size)
            coefficients[places_of(np.arange(len(ids)) * size, taken)] = back.values[
                places_of(back.offsets[:-1], taken)
            ]
        chunks: NDArray[np.float64] = fft().idct(
            coefficients.reshape(-1, steps, dimensions) / self.scale, axis=1, norm="ortho"
        )
        return chunks

    # ---------------------------------------------------------------------------------------------- lengths
    # and errors

    def allowed_lengths(self) -> NDArray[np.int64]:
        """The number of coefficients of each id.

        A sampler counts them, so that a sequence ends with the chunk.

        Returns
        -------
        int64[vocab_size]
            The lengths, at least 1.

        Examples
        --------
        >>> import numpy as np
        >>> tok = ActionTokenizer.fit(np.zeros((3, 8, 2)), vocab_size=5)
        >>> tok.allowed_lengths()
        array([ 1,  2,  4,  8, 16])
        """
        return self._lengths.copy()

    def allowed_tokens(self, length_left: ArrayLike) -> NDArray[np.bool_]:
        """Which ids may come next if so many coefficients of a chunk are left.

        Ids sampled by this mask, each reducing `length_left` by its length, always end on a whole chunk. As
        long as coefficients are left, some id is allowed. With frequency barriers no id crosses one.

        Parameters
        ----------
        length_left : int or int[n]
            Coefficients left, 0 or more; for a new chunk ``time_horizon * action_dim``.

        Returns
        -------
        bool[vocab_size] or bool[n, vocab_size]
            Whether each id is allowed next; none if nothing is left: then a policy writes its own end mark.

        Raises
        ------
        TypeError
            If it is not an integer.
        ValueError
            If it is negative.

        Examples
        --------
        >>> import numpy as np
        >>> tok = ActionTokenizer.fit(np.zeros((3, 8, 2)), vocab_size=5)  # ids of 1, 2, 4, 8 and 16 coefficients
        >>> tok.allowed_tokens([16, 3])
        array([[ True,  True,  True,  True,  True],
               [ True,  True, False, False, False]])
        """
        left = np.asarray(without_torch(length_left))
        if left.dtype.kind not in "iu" and left.size:
            raise TypeError(f"length_left: expected integers, got {describe(left)}")
        if left.ndim > 1:
            raise ValueError(
                f"length_left: expected an integer or integers in one dimension, got {describe(left)}"
            )
        if (left < 0).any():
            raise ValueError(f"length_left: expected 0 or more, got {int(left.min())}")
        left = np.minimum(left.astype(np.uint64), 2**62).astype(np.int64)
        if self.frequency_barriers:
            assert self.action_dim is not None
            left = np.where(left > 0, (left - 1) % self.action_dim + 1, 0)
        allowed: NDArray[np.bool_] = self._lengths <= left[..., None]
        return allowed

    def error_bound(self, time_horizon: int | None = None) -> float:
        """Bound the error of rounding for chunks whose coefficients are all known.

        No value is farther from its decoded value. The root of the mean square over the steps of a chunk is
        at most ``0.5 / scale``.

        Parameters
        ----------
        time_horizon
            Steps of a chunk; by default those of the tokenizer.

        Returns
        -------
        float
            The bound, in units of the actions.

        Raises
        ------
        ValueError
            If the number of steps is not known.

        Examples
        --------
        >>> import numpy as np
        >>> tok = ActionTokenizer.fit(np.zeros((3, 8, 2)), vocab_size=5)
        >>> round(tok.error_bound(), 3), round(tok.error_bound(1), 3)
        (0.132, 0.05)
        """
        steps = self.time_horizon if time_horizon is None else positive(time_horizon, "time_horizon")
        if steps is None:
            raise ValueError("time_horizon: expected an int, since the chunks of the fit had different ones")
        # of floats, in both transforms
        rounding = 1e-12 * math.sqrt(steps) * (max(-self.min_token, self.max_token) + 1) / self.scale
        return _gain(steps) / self.scale + rounding

    # ---------------------------------------------------------------------------------------------- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write tokenizer and settings to one file, ``.json`` or ``.npz``, atomically.

        The file is a model file with one more part: `ubpe_numba.load` and the command line read the tokenizer
        of coefficients.

        Parameters
        ----------
        path
            Where; the suffix decides the format.

        Raises
        ------
        ValueError
            For another suffix.
        OSError
            From the disk; the old file is then unchanged.

        Examples
        --------
        >>> import os, tempfile
        >>> import numpy as np
        >>> path = os.path.join(tempfile.mkdtemp(), "actions.json")
        >>> tok = ActionTokenizer.fit(np.zeros((3, 8, 2)), vocab_size=5)
        >>> tok.save(path)
        >>> ActionTokenizer.load(path).fingerprint == tok.fingerprint
        True
        """
        self.tokenizer._save(path, actions={name: getattr(self, name) for name in _FIELDS})

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, n_threads: int | None = None, max_symbols: int | None = None
    ) -> Self:
        """Read a file that `save` wrote. It is data: nothing in it is run, and everything is checked.

        Parameters
        ----------
        path
            The file.
        n_threads, max_symbols
            As for `Tokenizer.load`.

        Returns
        -------
        ActionTokenizer
            The one that was saved.

        Raises
        ------
        ModelFormatError
            For a file of anything but an `ActionTokenizer`, with the fault.
        OSError
            If it cannot be read.

        Examples
        --------
        >>> import os, tempfile
        >>> import numpy as np
        >>> path = os.path.join(tempfile.mkdtemp(), "actions.npz")
        >>> ActionTokenizer.fit(np.zeros((3, 8, 2)), vocab_size=5).save(path)
        >>> ActionTokenizer.load(path)
        ActionTokenizer(scale=10.0, time_horizon=8, action_dim=2): 5 tokens, coefficients 0..0
        """
        where = os.fsdecode(path)
        source = Source(where)
        with naming(where):
            state = own(source).model
        name, settings = state["tokenizer"], state.pop("actions", None)
        if name not in [cls.__name__ for cls in _CLASSES]:
            raise ModelFormatError(f"{where}: there is no tokenizer {quoted(name)}")
        if settings is None:
            raise ModelFormatError(f"{where}: a {name} without the settings of actions: use {name}.load")
        tokenizer = class_of(name)._loaded(where, state, source.n_bytes, n_threads, max_symbols)
        try:
            check_fields(settings, _FIELDS, "actions")
            return cls(tokenizer, settings.pop("scale"), **settings)
        except (TypeError, ValueError) as error:
            raise ModelFormatError(f"{where}: {error}") from error


def _ids(documents: Any, skip: int | Iterable[int], n_ids: int) -> Ragged:
    """Documents of ids, without those in `skip`.

    TypeError unless they are integers, UnknownTokenError outside of 0..n_ids - 1.
    """
    values, offsets, kind = documents
    if kind != "int":
        raise TypeError(f"tokens: expected integers, got {kind}")
    values, offsets = values[offsets[0] : offsets[-1]], offsets - offsets[0]
    left_out = [integer(i, "skip") for i in (skip if isinstance(skip, Iterable) else [skip])]
    keep = ~np.isin(values, left_out)
    unknown = ((values < 0) | (values >= n_ids)) & keep
    if unknown.any():
        at = int(np.argmax(unknown))
        raise UnknownTokenError(*place_in(offsets, at), int(values[at]), n_ids)
    return Ragged(values[keep].astype(np.int32), offsets_of(keep)[offsets])


def _checked_shape(time_horizon: Any, action_dim: Any) -> tuple[int | None, int | None]:
    steps = None if time_horizon is None else positive(time_horizon, "time_horizon", "an int or None")
    dimensions = None if action_dim is None else positive(action_dim, "action_dim", "an int or None")
    if (steps or 1) * (dimensions or 1) > _MOST:
        raise ValueError(
            f"time_horizon, action_dim: expected at most {_MOST} coefficients, got {steps} x {dimensions}"
        )
    return steps, dimensions


def _gain(steps: int) -> float:
    """How far a value may be off if each of the coefficients of a chunk is off by half.

    It is the sum of all coefficients times the entries of a row of the inverse transform.

    >>> _gain(1), round(_gain(8), 3)
    (0.5, 1.321)
    """
    frequencies = np.arange(1, steps) * (np.pi / steps)
    sums = [float(np.abs(np.cos(frequencies * (t + 0.5))).sum()) for t in range((steps + 1) // 2)]
    return (1 + math.sqrt(2) * max(sums)) / math.sqrt(steps) * 0.5


def _checked_scale(scale: Any, name: str = "scale") -> float:
    if isinstance(scale, (bool, np.bool_)) or not isinstance(scale, (int, float, np.integer, np.floating)):
        raise TypeError(f"{name}: expected a number, got {describe(scale)}")
    # a float32 cannot be compared with values that it cannot hold
    scale = scale.item() if isinstance(scale, np.generic) else scale
    if not 1e-100 < scale < 1e100:  # the inverse has to stay a float
        raise ValueError(f"{name}: expected a number above 0, between 1e-100 and 1e100, got {scale!s:.40}")
    return float(scale)
