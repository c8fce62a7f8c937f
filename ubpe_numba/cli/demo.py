"""The demo, `python -m ubpe_numba demo`: a real signal is tokenized and decoded again.

Five minutes of ECG that ship with the package are encoded in three ways, decoded, and compared with the original.
"""

from __future__ import annotations

import importlib.resources
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.tokenizers.base import Tokenizer
from ubpe_numba.tokenizers.bpe import UBPEClassic
from ubpe_numba.tokenizers.ubpe import UBPE

RATE = 360  # samples a second
_BARS = " ▁▂▃▄▅▆▇█"


def load_ecg() -> tuple[np.ndarray, np.ndarray]:
    """The bundled record: samples uint8[108000] at 360 Hz, and offsets int64[301] of its 300 documents of one second.

    >>> values, offsets = load_ecg()
    >>> values.size, len(offsets) - 1
    (108000, 300)
    """
    path = importlib.resources.files("ubpe_numba") / "cli" / "data" / "ecg.npz"
    with path.open("rb") as f, np.load(f) as data:
        return data["values"], data["offsets"]


def run(n_tokens: int = 1024, plot: str | None = None, progress: bool = True) -> int:
    """Fit, encode, decode, compare, and print the figures. Returns 0 if every round trip is exact, 1 otherwise.

    `plot` is the path of a picture to write, None for none.
    """
    values, offsets = load_ecg()
    seconds = values.size / RATE
    print(f"ECG record 208: {values.size} samples of 8 bits at {RATE} Hz, {offsets.size - 1} documents of one second")
    classic, universal, shortest = UBPEClassic(n_tokens), UBPE(n_tokens), UBPE(n_tokens, objective="shortest")
    began = time.perf_counter()
    names = {"classic": classic, "universal": universal, "shortest": shortest}
    exact = True
    rows = []
    encoded: dict[str, Ragged] = {}
    for name, tokenizer in names.items():
        _, first = _timed(tokenizer.fit, values, offsets=offsets, progress="auto" if progress and tokenizer is classic else False)
        _, fit = _timed(tokenizer.fit, values, offsets=offsets, progress=False)
        batch, first_encode = _timed(tokenizer.encode_batch, values, offsets)
        _, encode = _timed(tokenizer.encode_batch, values, offsets)
        back, first_decode = _timed(tokenizer.decode_batch, batch)
        _, decode = _timed(tokenizer.decode_batch, batch)
        same = np.array_equal(back.values, values) and np.array_equal(back.offsets, offsets)
        exact &= same
        encoded[name] = batch
        pause = first + first_encode + first_decode - fit - encode - decode
        rows.append((name, batch.total, batch.total / seconds, fit, encode, decode, max(pause, 0.0), same))
    print(f"vocabulary: {len(universal.vocabulary)} tokens, {universal.vocabulary.n_alphabet} of them samples\n")
    print("            tokens  tokens/s of signal     fit  encode  decode   compile  round trip")
    for name, n, rate, fit, encode, decode, pause, same in rows:
        print(
            f"{name:10} {n:7} {rate:13.1f} ({RATE / rate:4.2f}x) {fit * 1e3:5.1f}ms {encode * 1e3:5.1f}ms {decode * 1e3:5.2f}ms"
            f" {pause:7.2f} s  {'exact' if same else 'NOT EXACT'}"
        )
    print("\nthe five longest motifs (samples, times found by the universal encoding, idf):")
    for line in motifs(universal, encoded["universal"]):
        print("  " + line)
    if plot:
        from ubpe_numba.views.plot import draw

        draw(plot, values[: 3 * RATE], universal.encode_batch(values[: 3 * RATE], offsets[:4]), universal.vocabulary)
        print(f"\nthe first three seconds, coloured by token: {plot}")
    print(f"\nall of it, compilation included: {time.perf_counter() - began:.1f} s")
    return 0 if exact else 1


def motifs(tokenizer: Tokenizer, encoded: Ragged, n: int = 5) -> list[str]:
    """Lines of text about the `n` longest tokens that occur in an encoding, each with a sketch of its samples."""
    vocabulary = tokenizer.vocabulary
    found = np.bincount(encoded.values, minlength=len(vocabulary))
    lengths = np.where(found > 0, np.diff(vocabulary.offsets), 0)
    order = np.lexsort((-found, -lengths))[:n]
    lines = []
    for token in order.tolist():
        samples = tokenizer.alphabet_.to_symbols(vocabulary.sequence(token)).astype(np.int64)
        low, high = int(samples.min()), int(samples.max())
        levels = (samples - low) * (len(_BARS) - 2) // max(1, high - low) + 1
        shape = "".join(_BARS[level] for level in levels.tolist())
        lines.append(
            f"{token:5}: {samples.size:3} samples x {found[token]:4}, idf {vocabulary.weights[token]:.2f}, {low}..{high}  {shape}"
        )
    return lines


def _timed(work: Callable[..., Any], *args: Any, **options: Any) -> tuple[Any, float]:
    """The result of a call, and the seconds it took."""
    began = time.perf_counter()
    return work(*args, **options), time.perf_counter() - began
