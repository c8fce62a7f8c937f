"""The demo, `python -m ubpe_numba demo`: a real signal is tokenized and decoded again, and the shapes that recur in it are shown.

Five minutes of ECG that ship with the package are averaged to 120 Hz, rid of their drift and rounded to levels; the levels are
encoded in three ways, decoded, and compared.
"""

from __future__ import annotations

import importlib.resources
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.documents.quantization import Quantization, quantize
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.tokenizers.base import Tokenizer
from ubpe_numba.tokenizers.bpe import UBPEClassic
from ubpe_numba.tokenizers.ubpe import UBPE
from ubpe_numba.views.motifs import choose_motifs, contexts_of

RATE = 360  # samples a second of the record
BEAT_RATE = 120  # of what the demo tokenizes
_AVERAGED = RATE // BEAT_RATE
_WINDOW = 121  # samples of the moving mean: one second
_STEP = 6  # units of the record: the noise of its rests is smaller
_BARS = "▁▂▃▄▅▆▇█"
_WIDEST, _SIDE = 28, 14  # characters of the sketch of a motif, and of its surroundings on either side
_LOWEST = 36  # the range of a sketch at least, so that rests do not look like waves
_MOTIFS, _LEAST = 10, 5  # motifs that are shown; how often one must occur


def load_ecg() -> tuple[np.ndarray, np.ndarray]:
    """The bundled record: samples uint8[108000] at 360 Hz, and offsets int64[301] of its 300 documents of one second.

    >>> values, offsets = load_ecg()
    >>> values.size, len(offsets) - 1
    (108000, 300)
    """
    path = importlib.resources.files("ubpe_numba") / "cli" / "data" / "ecg.npz"
    with path.open("rb") as f, np.load(f) as data:
        return data["values"], data["offsets"]


def load_beats() -> tuple[NDArray[np.int32], NDArray[np.int64], Quantization]:
    """The bundled record made ready for tokens: averaged to 120 Hz, without drift, rounded to levels of 6.

    Three samples become their mean, the mean of the 121 samples around is subtracted (beyond the ends of the record its first and
    last sample are repeated), and the rest goes to the nearest multiple of 6. Sums are those of integers, so that levels are the
    same on every machine. Returns `levels` (int32[36000]): symbols of the quantisation: 0 is the lowest level; `offsets`
    (int64[301]): of the 300 documents of one second; `quantization`: the values of the levels, in units of the record.

    >>> levels, offsets, scale = load_beats()
    >>> levels.size, len(offsets) - 1, scale.n_symbols, scale.max_error
    (36000, 300, 27, array([3.]))
    """
    values, offsets = load_ecg()
    sums = values.reshape(-1, _AVERAGED).sum(axis=1, dtype=np.int64)
    before = np.concatenate([[0], np.cumsum(np.pad(sums, _WINDOW // 2, mode="edge"))])
    around = before[_WINDOW:] - before[:-_WINDOW]
    levels, quantization = quantize((_WINDOW * sums - around) / (_WINDOW * _AVERAGED), step=_STEP)
    return levels, offsets // _AVERAGED, quantization


def run(n_tokens: int = 1024, plot: str | None = None, progress: bool | str = "auto") -> int:
    """Fit, encode, decode, compare, print the figures and the motifs. Returns 0 if every round trip is exact, 1 otherwise.

    `plot` is the path of a picture to write, None for none.
    """
    began = time.perf_counter()
    levels, offsets, quantization = load_beats()
    print(
        f"ECG, record 208 of the MIT-BIH Arrhythmia Database: {levels.size * _AVERAGED:,} samples at {RATE} Hz, five minutes,\n"
        f"averaged to {BEAT_RATE} Hz, without drift (the mean of one second around), rounded to levels of {_STEP}, at most"
        f" {quantization.max_error[0]:g} away:\n{levels.size:,} samples of {quantization.n_symbols} levels in"
        f" {offsets.size - 1} documents of one second. Lossless after quantising: what follows gives back every level.\n"
    )
    options: dict[str, Any] = {"alphabet": quantization.n_symbols, "n_candidates": 1}
    tokenizers: dict[str, Tokenizer] = {
        "classic": UBPEClassic(n_tokens, **options),
        "universal": UBPE(n_tokens, **options),
        "shortest": UBPE(n_tokens, objective="shortest", **options),
    }
    exact, encoded, rows = True, Ragged.from_lists([]), []
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
        way = {"tfidf": "tf-idf", "shortest": "fewest tokens"}.get(tokenizer._encodes_by, "merge rank")
        rows.append((name, way, encoded.total, fit, encode, decode, pause, same))
    print(f"vocabulary of {len(tokenizer._model.vocabulary)} tokens, the levels among them")
    print("           encodes by     tokens  samples a token      fit   encode   decode  compile  round trip")
    for name, way, n, fit, encode, decode, pause, same in rows:
        print(
            f"{name:10} {way:14} {n:6} {levels.size / n:16.2f} {fit * 1e3:6.1f}ms {encode * 1e3:6.1f}ms {decode * 1e3:6.2f}ms"
            f" {pause:6.2f} s  {'exact' if same else 'NOT EXACT'}"
        )
    print("\nShapes that recur: some tokens of the shortest encoding, the highest first. Between | | is the token, the same")
    print("every time, beside it the median of what comes before and after it.")
    for line in motifs(tokenizer, levels, offsets, encoded, quantization):
        print(line)
    if plot:
        from ubpe_numba.views.demo_picture import draw

        draw(plot, levels, offsets, tokenizer, rate=BEAT_RATE)
        print(f"\nthe picture of it: {plot}")
    print(f"\nall of it, compilation included: {time.perf_counter() - began:.1f} s")
    return 0 if exact else 1


def motifs(
    tokenizer: Tokenizer,
    levels: NDArray[np.int32],
    offsets: NDArray[np.int64],
    encoded: Ragged,
    quantization: Quantization,
    n: int = _MOTIFS,
) -> list[str]:
    """A table of tokens that say most about a signal: a header, and a line with a sketch for each of at most `n`."""
    vocabulary = tokenizer._model.vocabulary
    usage = tokenizer.usage(ids=encoded)
    signal, values = quantization.restore(levels), quantization.restore(tokenizer._model.alphabet.to_symbols(vocabulary.arena))
    chosen = choose_motifs(vocabulary, values, usage.counts, n, least=_LEAST).tolist()
    if not chosen:
        return [f"  none occurs {_LEAST} times"]
    index = tokenizer.index(encoded)
    rows = []
    for token in chosen:
        shape, found = values[vocabulary.offsets[token] : vocabulary.offsets[token + 1]], index[token]
        around = contexts_of(signal, offsets, found.documents, found.starts, shape.size, _SIDE)
        if shape.size > _WIDEST:
            drawn = sketch(shape, _WIDEST)
        else:  # the median of each column, NaN where most documents have ended or not yet begun; bars around the token
            known = np.isfinite(around).sum(axis=0) * 2 >= len(around)
            median = np.full(around.shape[1], np.nan)
            median[known] = np.nanmedian(around[:, known], axis=0)
            line, end = sketch(median), _SIDE + shape.size
            drawn = f"{line[:_SIDE]}|{line[_SIDE:end]}|{line[end:]}"
        reach = f"{shape.min():.0f}..{shape.max():.0f}"
        numbers = f"{usage.counts[token]:5} {usage.document_frequencies[token]:12}"
        numbers = f"{shape.size:7}  {shape.size / BEAT_RATE:5.2f} s  {reach:>8}  {numbers}"
        rows.append((shape.max() - shape.min(), token, drawn, numbers))
    width = max(len(row[2]) for row in rows)
    lines = [f"{token:5}  {drawn:{width}}  {numbers}" for _, token, drawn, numbers in sorted(rows, key=lambda row: -row[0])]
    return [f"token  {'':{width}}  samples    time    values  times in documents", *lines]


def sketch(shape: NDArray[np.float64], widest: int | None = None) -> str:
    """A shape in one line of blocks, the lowest value at the bottom, a space for NaN; a range below 36 does not reach the top.

    Of one that is longer than `widest` the largest of neighbours are drawn.

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
