"""Results are what they were: the table of digests, and model files of earlier releases."""

import json
import pathlib
import warnings
from typing import Any

import pytest
from digests import TABLE, cases, digest

import ubpe_numba

FILES = pathlib.Path(__file__).with_name("files")
FOUND: dict[str, str] = json.loads(TABLE.read_text())
SAVED: dict[str, Any] = json.loads((FILES / "manifest.json").read_text())


@pytest.mark.parametrize("kind", dict.fromkeys(name.split()[0] for name in cases()))
def test_results_are_what_they_were(kind: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {name: case() for name, case in cases().items() if name.split()[0] == kind}
    assert {name: hashed for name, hashed in found.items() if FOUND[name] != hashed} == {}


def test_files_of_earlier_releases() -> None:
    for name, known in SAVED.items():
        tok = ubpe_numba.load(FILES / name)
        ids = tok.encode_batch(known["sample"])
        found = {
            "class": type(tok).__name__, "fingerprint": getattr(tok, "fingerprint", None), "sample": known["sample"],
            "ids": digest(ids), "decoded": digest(tok.decode_batch(ids)),
        }  # fmt: skip
        if known["fingerprint"] is None:  # of a class that had none
            found["fingerprint"] = None
        assert found == known, name
