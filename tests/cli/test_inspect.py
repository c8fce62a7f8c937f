"""The command inspect: what it says about a model, and about a corpus encoded with it."""

from __future__ import annotations

import json
import pathlib
import re

import pytest
from command_line import TEXT

from ubpe_numba import BPE
from ubpe_numba.cli.main import main


def test_inspect_says_what_the_library_says(here: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    tok = BPE.load("text.json")
    assert main(["inspect", "text.json", "--json", "--top", "3", "--sort", "count", "--on", "a.txt"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["fingerprint"] == tok.fingerprint and found["special_tokens"] == {"<end>": tok.vocabulary.special["<end>"]}
    assert len(found["tokens"]) == 3 and found["tokens"][0]["count"] == tok._model.vocabulary.counts.max()
    assert found["encoded"]["tokens"] == tok.encode(TEXT).size and found["encoded"]["symbols"] == len(TEXT)
    assert main(["inspect", "text.json"]) == 0
    out = capsys.readouterr().out
    assert tok.fingerprint in out and "256 bytes and 14 pairs" in out and "  'er'\n" in out
    assert main(["inspect", "ints.npz", "--on", "a.jsonl", "--sort", "weight"]) == 0
    assert "integers" in capsys.readouterr().out


def test_inspect_has_a_curve(here: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    docs = [[0, 1, 0, 1, 1, 0, 0, 1] * 4, [1, 1, 0, 1]]
    tok = BPE(7, alphabet=2).fit(docs)
    tok.save("two.json")
    (here / "two.jsonl").write_text("\n".join(map(json.dumps, docs)))
    assert main(["inspect", "two.json", "--json", "--on", "two.jsonl"]) == 0
    curve = json.loads(capsys.readouterr().out)["encoded"]["curve"]
    sizes, ratios = tok.history_.compression(tok._model.vocabulary.n_alphabet)
    assert curve == [[4, pytest.approx(ratios[sizes.tolist().index(4)])]]
    assert main(["inspect", "two.json", "--on", "two.jsonl"]) == 0
    assert re.search(r"^  at 4 tokens +\d+\.\d+ symbols a token$", capsys.readouterr().out, re.M)
