"""The command line reads documents from files of every format and from standard input."""

from __future__ import annotations

import pathlib

import numpy as np
from command_line import TEXT, process

from ubpe_numba import BPE
from ubpe_numba.cli.main import main


def test_fit_memory_maps(here: pathlib.Path) -> None:
    values = np.random.default_rng(0).integers(0, 9, 600).astype(">i2")
    np.save("big.npy", values.reshape(20, 30))
    (here / "big.bin").write_bytes(values.tobytes())
    options = ["--quiet", "--n-tokens", "20", "--alphabet", "12"]
    assert main(["fit", *options, "-o", "npy.json", "big.npy"]) == 0
    assert main(["fit", *options, "-o", "raw.json", "--dtype", ">i2", "--record", "30", "big.bin"]) == 0
    same = BPE(20, alphabet=12).fit(values.reshape(20, 30))
    assert BPE.load("npy.json").vocabulary == BPE.load("raw.json").vocabulary == same.vocabulary


def test_fit_reads_lines(here: pathlib.Path) -> None:
    assert main(["fit", "--quiet", "--n-tokens", "260", "--lines", "-o", "l.json", "a.txt"]) == 0
    lines = TEXT.split(b"\n")
    same = BPE(260, alphabet=bytes(range(256)), encoding="utf-8").fit(lines)
    assert BPE.load("l.json").fingerprint == same.fingerprint and BPE.load("l.json").vocabulary.n_documents == len(lines)


def test_standard_input_of_lines_and_ids(here: pathlib.Path) -> None:
    """What the other options tell needs no --format."""
    ids = process("encode", "text.json", "--lines", "-", input=TEXT + b"\n")
    again = process("decode", "text.json", "--lines", "-", input=ids.stdout)
    assert again.stdout == TEXT + b"\n", (ids.stderr, again.stderr)
