"""A folder with models and input files for the tests of the command line."""

import json
import pathlib

import pytest
from command_line import INTS, TEXT

from ubpe_numba.cli.main import main


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A model of text and one of integers."""
    folder = tmp_path_factory.mktemp("cli")
    (folder / "a.txt").write_bytes(TEXT)
    (folder / "a.jsonl").write_text("\n".join(map(json.dumps, INTS)))
    fit = ["fit", "--quiet", "--n-tokens"]
    assert (
        main([*fit, "280", "-o", f"{folder}/text.json", "--special-token", "<end>", f"{folder}/a.txt"]) == 0
    )
    assert (
        main([*fit, "8", "-o", f"{folder}/ints.npz", "--tokenizer", "UBPEClassic", f"{folder}/a.jsonl"]) == 0
    )
    return folder


@pytest.fixture
def here(home: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.chdir(home)
    return home
