"""The same vocabularies and ids with every interpreter, NumPy and numba: compared with what was found once."""

from __future__ import annotations

import gzip
import hashlib
import pathlib
from typing import Any

import pytest

from ubpe_numba import BPE, UBPE, Ragged, UBPEClassic
from ubpe_numba.cli.demo import load_beats

TEXT = pathlib.Path(__file__).parent.parent / "docs" / "data" / "kjv_genesis_exodus.txt.gz"
SPECIAL = ["<|end|>"]


def beats() -> Ragged:
    """The ECG that ships with the package."""
    levels, offsets, _ = load_beats()
    return Ragged(levels, offsets)


def verses() -> list[str]:
    """The lines of Genesis and Exodus."""
    return gzip.decompress(TEXT.read_bytes()).decode().splitlines()


def digest(ids: Ragged) -> str:
    """A hash of a batch of ids."""
    whole = ids.compact()
    return hashlib.sha256(whole.values.astype("<i4").tobytes() + whole.offsets.astype("<i8").tobytes()).hexdigest()[:16]


CASES: dict[str, tuple[Any, Any]] = {
    "BPE": (lambda: BPE(1024), beats),
    "UBPEClassic": (lambda: UBPEClassic(1024, n_candidates=20), beats),
    "UBPE": (lambda: UBPE(1024, n_candidates=20), beats),
    "shortest": (lambda: UBPE(1024, objective="shortest"), beats),
    "likelihood": (lambda: UBPE(1024, objective="likelihood"), beats),
    "gpt2": (lambda: BPE.for_text(2048, pretokenizer="gpt2", special_tokens=SPECIAL), verses),
    "o200k": (lambda: BPE.for_text(2048, pretokenizer="o200k"), verses),
    "characters": (lambda: UBPE(2048, n_candidates=10), verses),
}
FOUND = {
    "BPE": ("f386b5021fb3468e80995a604815bee7", "bfbe130f4a210ae7"),
    "UBPEClassic": ("d60cb6967299489fa3aa5f39aeaafaa3", "180cda83dd90a069"),
    "UBPE": ("bb1ff6d497b4ae157f3c659d684d894e", "b266fc86708a7a2b"),
    "shortest": ("77ac8c70b718109f80ae55570a3bac6d", "fce94792bb219c89"),
    "likelihood": ("1aed4ab05c8359bbd808fa899ba1ccd1", "7a3b5f54b4217791"),
    "gpt2": ("5336ff479f18c30751ec650a3abf6956", "858ac6b54c4472f2"),
    "o200k": ("c2cde60e2a7c1b55efc0966ec8a49244", "6202c5eae1054c5f"),
    "characters": ("3764e2305507f3dfecc762c796ade09c", "40a983e295f0818b"),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("n_threads", [1, 2])
def test_vocabulary_and_ids(name: str, n_threads: int) -> None:
    make, read = CASES[name]
    docs = read()
    tok = make().set_params(n_threads=n_threads).fit(docs, progress=False)
    assert (tok.fingerprint, digest(tok.encode_batch(docs))) == FOUND[name]
