"""Digests of fits and encodings on the corpora of the benchmarks and on real tokenizers, to compare two checkouts.

`python benchmarks/identity.py > before.json` in one checkout, the same in the other, and a comparison of the
two files: equal lines are equal merges, weights, fingerprints and ids. Real tokenizers are those of
`tools/wild_files.py` that are there.
"""

from __future__ import annotations

import json
import pathlib
import sys
import tempfile
import warnings
from typing import Any

sys.path += [str(pathlib.Path(__file__).parent.parent / name) for name in ("tests", "tools")]

import numpy as np
from corpora import TEXTS, text
from digests import digest, learned
from suite import common
from wild_files import FILES, located
from wild_texts import mixed

import ubpe_numba
from ubpe_numba import BPE, UBPE, FitRules, UBPEClassic

N = 1_000_000  # bytes of a text


def of_integers() -> dict[str, str]:
    """Fits and encodings of the corpora of integers, by all objectives."""
    found = {}
    for name in ("dna", "ecg", "wav"):
        docs = np.array_split(common.load(name).values[:400_000], 50)
        for cls, options in (
            (BPE, {}), (UBPEClassic, {"n_candidates": 20}), (UBPE, {"n_candidates": 20}), (UBPE, {"objective": "shortest"}),
            (UBPE, {"objective": "likelihood"}), (UBPEClassic, {"rules": FitRules(order="idf")}),
        ):  # fmt: skip
            tok = cls(2048, n_threads=2, **options).fit(docs, progress=False)
            found[f"{name} {cls.__name__} {options}"] = digest(
                learned(tok), tok.encode_batch(docs), tok.encode(docs[3])
            )
    return found


def of_texts() -> dict[str, str]:
    """Training and encoding of the texts, by the named patterns."""
    found = {}
    for name in TEXTS:
        lines = text(name, N)[0].split("\n")
        for pattern in ("gpt2", "cl100k", "o200k"):
            tok = BPE.for_text(8192, pretokenizer=pattern, n_threads=2).fit(lines, progress=False)
            found[f"{name} {pattern}"] = digest(learned(tok), tok.encode_batch(lines), tok.encode(lines[0]))
    return found


def of_real_tokenizers(scratch: pathlib.Path) -> dict[str, str]:
    """Loading of real tokenizers, and their ids of texts of all kinds."""
    found: dict[str, Any] = {}
    for file in FILES:
        if (path := located(file, scratch)) is not None:
            tok = ubpe_numba.load(path)
            ids = tok.encode_batch(mixed()[:400], disallowed_special="none")
            found[f"{file.name} of {file.package}"] = digest(tok.fingerprint, ids, tok.decode_batch(ids))
    return found


def main() -> None:
    """Print all digests."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(of_integers() | of_texts() | of_real_tokenizers(pathlib.Path(folder)), indent=1))


if __name__ == "__main__":
    main()
