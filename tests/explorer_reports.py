"""Reports of the explorer for tests, and what they were made of."""

import base64
import pathlib
import zlib
from typing import Any, NamedTuple

import numpy as np

from ubpe_numba import BPE, UBPE, Ragged
from ubpe_numba.cli.demo import load_ecg
from ubpe_numba.views.explorer.counts import segmentations_of
from ubpe_numba.views.explorer.report import explore

HOSTILE = '</script><b onclick="alert(1)">ECG & "co"</b> <!-- \u202e'
VERSES = [
    "In the beginning God created the heaven and the earth.\nAnd the earth was without form, and void; and darkness was upon the "
    "face of the deep.",
    "And the Spirit of God moved upon the face of the waters.\n<|end|></script><script>document.title = 'run'</script>\tä低い😀 "
    "\x07\u202e the end", "", "the the the heaven and the earth and the waters and the face of the deep \ud800 the earth",
    "And God saw the light, that it was good: and God divided the light from the darkness. And the evening and the morning.",
]  # fmt: skip


def unpacked(made: dict[str, Any]) -> np.ndarray:
    """The array that `packed` of the page was given, in the type that it chose."""
    dtype = np.dtype("<" + made["t"])
    planes = np.frombuffer(zlib.decompress(base64.b64decode(made["d"])), np.uint8).reshape(
        dtype.itemsize, made["n"]
    )
    array = np.ascontiguousarray(planes.T).view(dtype).reshape(made["n"])
    return np.cumsum(array, dtype=dtype) if made["c"] else array


class Made(NamedTuple):
    """A report and what it was made of; `docs` and `offsets` as `explore` took them."""

    path: pathlib.Path
    tok: Any
    docs: Any
    offsets: Any
    unit: str

    def cuts(self) -> dict[str, Ragged]:
        """The ids by each segmentation, in the order of the page."""
        options = {"allowed_special": "all", "disallowed_special": "none"}
        cutters = segmentations_of(self.tok)
        return {
            name: cutter.encode_batch(self.docs, self.offsets, **options) for name, cutter in cutters.items()
        }


def made(
    path: pathlib.Path, tok: Any, docs: Any, offsets: Any = None, unit: str = "", **options: Any
) -> Made:
    """A report at a path."""
    explore(tok, docs, path, offsets=offsets, progress=False, **options)
    return Made(path, tok, docs, offsets, unit)


def of_kind(name: str, folder: pathlib.Path) -> Made:
    """The report of a signal, whose title is hostile, of text, of DNA or of notes."""
    given = {"ecg": ecg, "text": text, "dna": dna, "notes": notes}[name]()
    unit = {"ecg": "sample", "text": "byte", "dna": "base", "notes": "note"}[name]
    kind = name if name in ("dna", "notes") else "auto"
    return made(
        folder / f"{name}.html", *given, unit=unit, kind=kind, title=HOSTILE if name == "ecg" else name
    )


def ecg() -> tuple[UBPE, np.ndarray, np.ndarray]:
    """A minute and more of the ECG at 120 Hz in levels of 6, and a tokenizer of it."""
    samples, ends = load_ecg()
    levels = np.round(samples.reshape(-1, 3).mean(1)[:9600] / 6).astype(np.int64)
    offsets = ends[:81] // 3
    return UBPE(400, objective="shortest").fit(levels, offsets=offsets, progress=False), levels, offsets


def text() -> tuple[BPE, list[str]]:
    """Verses with what is hostile in them, and a tokenizer of text with a special token."""
    return BPE.for_text(340, special_tokens=["<|end|>"]).fit(
        [v.replace("<|end|>", "") for v in VERSES], progress=False
    ), VERSES


def dna() -> tuple[BPE, np.ndarray, np.ndarray]:
    """Bases as the integers 0 to 3."""
    rng = np.random.default_rng(3)
    motifs = [rng.integers(0, 4, 12) for _ in range(6)]
    values = np.concatenate([np.append(motifs[i], rng.integers(0, 4, 3)) for i in rng.integers(0, 6, 200)])
    offsets = np.array([0, 700, 700, 1500, 2200, values.size])
    return BPE(90, alphabet=4).fit(values, offsets=offsets, progress=False), values, offsets


def notes() -> tuple[UBPE, list[list[int]]]:
    """Broken chords in three keys."""
    bar = [48, 52, 55, 60, 64, 55, 60, 64]
    tune = [p + k for k in (0, 5, 7, 0, -3, 5, 7, 0) for p in bar * 2]
    docs = [[p + k for p in tune] for k in (0, 2, -2)]
    return UBPE(150, objective="shortest").fit(docs, progress=False), docs
