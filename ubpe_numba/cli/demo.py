"""The demo, `python -m ubpe_numba demo`: tokenize a real signal and decode it again.

It does so exactly, and within a tolerance.

The signal is five minutes of ECG, which ship with the package. They are averaged to 120 Hz, detrended and
rounded to levels. The levels are encoded in three ways, decoded, and compared. Then tokens that match within
a tolerance find whole beats.
"""

from __future__ import annotations

import importlib.resources
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.documents.scale import Scale
from ubpe_numba.signals.tokenizer import SignalTokenizer
from ubpe_numba.tokenizers.base import Tokenizer
from ubpe_numba.tokenizers.bpe import BPE, UBPEClassic
from ubpe_numba.tokenizers.seam import way_of_encoding
from ubpe_numba.tokenizers.ubpe import UBPE
from ubpe_numba.views.demo_picture import Found, Shapes, draw

RATE = 360  # samples per second of the record
BEAT_RATE = 120  # sampling rate of the signal that the demo tokenizes
_STEP = 6  # units of the record: the noise of its rests is smaller
_BARS = "▁▂▃▄▅▆▇█"
_WIDEST = 40  # characters of a sketch
_LOWEST = 36  # the range of a sketch at least, so that rests do not look like waves
_SLOW = 60  # samples per second of the signal that is tokenized within a tolerance
_COARSE, _SIZES = 20, 300  # the step of the levels of the skyline, and tokens of the largest vocabulary
_SHAPES, _ERROR = 128, 12  # tokens of it, and how far a sample may be from its token, in units of the record
_LEARNED, _LONG = 120, 0.3  # seconds that they are learned from, and of a token that may be a beat


def load_ecg() -> tuple[np.ndarray, np.ndarray]:
    """The bundled record: samples uint8[108000] at 360 Hz, and offsets int64[301].

    Its 300 documents have a second each.

    >>> values, offsets = load_ecg()
    >>> values.size, len(offsets) - 1
    (108000, 300)
    """
    path = importlib.resources.files("ubpe_numba") / "cli" / "data" / "ecg.npz"
    with path.open("rb") as f, np.load(f) as data:
        return data["values"], data["offsets"]


def load_signal(rate: int = BEAT_RATE) -> NDArray[np.float64]:
    """The bundled record averaged to `rate` samples per second, detrended, in units of the record.

    `rate` is a divisor of 360.

    From the samples that become one, the mean of the second around is subtracted (beyond the ends of the
    record its first and last sample are repeated). Sums are those of integers, so that the result is the same
    on every machine.

    >>> load_signal(60).size, float(np.ptp(load_signal(60)).round(1))
    (18000, 130.6)
    """
    averaged, window = RATE // rate, rate + 1
    sums = load_ecg()[0].reshape(-1, averaged).sum(axis=1, dtype=np.int64)
    before = np.concatenate([[0], np.cumsum(np.pad(sums, window // 2, mode="edge"))])
    return np.asarray((window * sums - (before[window:] - before[:-window])) / (window * averaged))


def load_beats() -> tuple[NDArray[np.int32], NDArray[np.int64], Scale]:
    """`load_signal` at 120 Hz rounded to the nearest multiple of 6.

    Returns `levels` (int32[36000]): symbols, 0 is the lowest level. `offsets` (int64[301]): of the 300
    documents of a second each. `scale`: the values of the levels, in units of the record.

    >>> levels, offsets, scale = load_beats()
    >>> levels.size, len(offsets) - 1, scale.n_symbols, scale.max_error
    (36000, 300, 27, array([3.]))
    """
    scale = Scale(step=_STEP)
    return scale.fit_transform(load_signal()), load_ecg()[1] // (RATE // BEAT_RATE), scale


def run(n_tokens: int = 1024, plot: str | None = None, progress: bool | str = "auto") -> int:
    """Fit, encode, decode, compare, print the figures and the beats.

    Returns 0 if all printed error bounds hold, 1 otherwise.

    `plot` is the path of a figure to write, None for none.
    """
    began = time.perf_counter()
    levels, offsets, scale = load_beats()
    print(
        f"ECG, record 208 of the MIT-BIH Arrhythmia Database: {load_ecg()[0].size:,} samples at {RATE} Hz, "
        "five minutes,\n"
        f"averaged to {BEAT_RATE} Hz, without drift (the mean of one second around), rounded to levels of "
        f"{_STEP}, at most {scale.max_error[0]:g} away:\n"
        f"{levels.size:,} samples of {scale.n_symbols} levels in {offsets.size - 1} documents of one "
        "second. Lossless after quantizing: what follows gives back every level.\n"
    )
    options: dict[str, Any] = {"alphabet": scale.n_symbols, "n_candidates": 1}
    tokenizers: dict[str, Tokenizer] = {
        "classic": UBPEClassic(n_tokens, **options),
        "universal": UBPE(n_tokens, **options),
        "shortest": UBPE(n_tokens, objective="shortest", **options),
    }
    exact, rows = True, []
    for name, tokenizer in tokenizers.items():
        _, first = _timed(tokenizer.fit, levels, offsets=offsets, progress=progress)
        progress = False  # of the others
        _, fit = _timed(tokenizer.fit, levels, offsets=offsets, progress=False)
        encoded, first_encode = _timed(tokenizer.encode_batch, levels, offsets)
        _, encode = _timed(tokenizer.encode_batch, levels, offsets)
        back, first_decode = _timed(tokenizer.decode_batch, encoded)
        _, decode = _timed(tokenizer.decode_batch, encoded)
        same = np.array_equal(back.values, levels) and np.array_equal(back.offsets, offsets)
        exact &= same
        pause = max(first + first_encode + first_decode - fit - encode - decode, 0.0)
        way = {"tfidf": "tf-idf", "shortest": "fewest tokens"}.get(way_of_encoding(tokenizer), "merge rank")
        rows.append((name, way, encoded.total, fit, encode, decode, pause, same))
    print(f"vocabulary of {len(tokenizer.vocabulary)} tokens, the levels among them")
    print("           encodes by     tokens  samples a token      fit   encode   decode  compile  round trip")
    for name, way, n, fit, encode, decode, pause, same in rows:
        print(
            f"{name:10} {way:14} {n:6} {levels.size / n:16.2f} {fit * 1e3:6.1f}ms {encode * 1e3:6.1f}ms "
            f"{decode * 1e3:6.2f}ms {pause:6.2f} s  {'exact' if same else 'NOT EXACT'}"
        )
    whole, bound = whole_beats()
    lengths, error = whole.lengths / _SLOW, np.abs(whole.decoded - whole.signal)
    is_bound = error.max() <= bound
    unseen = whole.starts >= _LEARNED * _SLOW
    share, of_unseen = (
        lengths[part & (lengths >= _LONG)].sum() / lengths[part].sum() for part in (lengths > 0, unseen)
    )
    print(
        "\n"
        "Whole beats: no beat comes again level for level, so tokens that match within a tolerance. "
        f"{_SHAPES} of them, learned from\n"
        f"the first {_LEARNED // 60} minutes at {_SLOW} Hz: {whole.signal.size:,} samples in {lengths.size} "
        f"tokens, {whole.signal.size / lengths.size:.1f} samples a token, {share:.0%} of the record in "
        "tokens of\n"
        f"{_LONG} s or more ({of_unseen:.0%} of the minutes that were not learned from). Largest error "
        f"{error.max():.1f}, bound {bound:.1f}{'' if is_bound else ', NOT KEPT'}, rms "
        f"{np.sqrt(np.mean(error**2)):.1f} of {np.ptp(whole.signal):.0f} units."
    )
    for line in beats(whole):
        print(line)
    if plot:
        draw(plot, whole, coarse(whole.signal), rate=_SLOW, bound=bound, learned=_LEARNED * _SLOW)
        print(f"\nthe picture of it: {plot}")
    print(f"\nall of it, compilation included: {time.perf_counter() - began:.1f} s")
    return 0 if exact and is_bound else 1


def whole_beats() -> tuple[Found, float]:
    """The record at 60 Hz in tokens that match within 12 units, and their error bound.

    They are learned from its first two minutes.
    """
    signal = load_signal(_SLOW)
    tok = SignalTokenizer(_SHAPES, max_error=_ERROR, representation="both")
    tok.fit(signal[: _LEARNED * _SLOW], low=signal.min(), high=signal.max(), sampling_rate=_SLOW)
    spans = tok.spans(signal)
    return Found(signal, tok.decode(spans.ids), spans.ids, spans.starts, spans.lengths), tok.error_bound()


def coarse(signal: NDArray[np.float64]) -> tuple[BPE, NDArray[np.int32], float]:
    """A tokenizer of 300 tokens for the signal in levels of 20 units; the levels, their error bound.

    With these levels exact tokens are long.
    """
    scale = Scale(step=_COARSE)
    levels = scale.fit_transform(signal)
    return BPE(_SIZES, alphabet=scale.n_symbols).fit(levels, progress=False), levels, scale.max_error.item()


def beats(found: Found) -> list[str]:
    """A table of the most telling tokens of 0.3 s or more of a signal.

    A header, and a line with a sketch of each.
    """
    shapes = Shapes.of(found, shortest=round(_LONG * _SLOW))
    if not shapes.tokens.size:
        return ["  none occurs 5 times"]
    lines = [f"token  {'':{_WIDEST}}    time  range  times"]
    for token, count, shape in zip(
        shapes.tokens.tolist(), shapes.counts.tolist(), shapes.shapes, strict=True
    ):
        drawn = sketch(shape, _WIDEST)
        lines.append(
            f"{token:5}  {drawn:{_WIDEST}}  {shape.size / _SLOW:.2f} s  {np.ptp(shape):5.0f}  {count:5}"
        )
    return lines


def sketch(shape: NDArray[np.float64], widest: int | None = None) -> str:
    """A shape in one line of blocks, the lowest value at the bottom, a space for NaN.

    A range below 36 does not reach the top.

    If it is longer than `widest`, the largest of neighbors are plotted.

    >>> sketch(np.array([0.0, 0, 18, 42, 24, 0, np.nan])), sketch(np.array([6.0, 6, 12]))
    ('▁▁▄█▅▁ ', '▁▁▂')
    """
    if widest is not None and shape.size > widest:
        shape = np.maximum.reduceat(shape, np.arange(widest) * shape.size // widest)
    low, high = np.nanmin(shape), np.nanmax(shape)
    rows = (shape - low) * (len(_BARS) - 1) / max(high - low, _LOWEST)
    return "".join(" " if np.isnan(row) else _BARS[int(row + 0.5)] for row in rows.tolist())


def _timed(work: Callable[..., Any], *args: Any, **options: Any) -> tuple[Any, float]:
    """The result of a call, and the seconds it took."""
    began = time.perf_counter()
    return work(*args, **options), time.perf_counter() - began
