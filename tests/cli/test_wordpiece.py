"""The commands on a WordPiece do what the class does."""

import json
import pathlib

import pytest
from command_line import fails
from tables import each

from ubpe_numba import Preprocessing, WordPiece, export
from ubpe_numba.cli.main import main

TEXT = "Unable [CLS] un!"


@pytest.fixture
def words(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> WordPiece:
    """A tokenizer.json, a vocab.txt and a text in the current folder."""
    monkeypatch.chdir(tmp_path)
    steps = Preprocessing({"type": "BertPreTokenizer"}, {"[CLS]": 1}, normalizer={"type": "BertNormalizer"})
    tok = WordPiece(["[UNK]", "[CLS]", "un", "##able", "!"], preprocessing=steps)
    export(tok, "tokenizer.json", "tokenizer.json")
    export(tok, "vocab.txt", "vocab.txt")
    pathlib.Path("a.txt").write_text(TEXT)
    return tok


def test_documents_are_encoded_and_decoded(words: WordPiece, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["encode", "tokenizer.json", "a.txt", "--special", "allow", "-o", "a.ids"]) == 0
    assert pathlib.Path("a.ids").read_text().split() == [
        str(i) for i in words.encode(TEXT, allowed_special="all")
    ]
    assert main(["decode", "tokenizer.json", "a.ids"]) == 0 and capsys.readouterr().out == "unable [CLS] un !"
    pathlib.Path("bad.ids").write_text("1\n2 99\n")
    assert "bad.ids: document 1, position 1: token id 99" in fails(
        ["decode", "tokenizer.json", "bad.ids", "-o", "o.jsonl"], capsys
    )


def test_facts_are_shown(words: WordPiece, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", "tokenizer.json", "--json", "--on", "a.txt"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (
        found["size"] == 5
        and found["encoded"]["tokens"] == words.encode(TEXT, disallowed_special="none").size
    )
    assert main(["inspect", "vocab.txt", "--top", "1"]) == 0 and "5 pieces" in capsys.readouterr().out


@each("options", [["-o", "m.json"], ["-o", "m.npz"], ["-o", "m.hf", "--to", "tokenizer.json"]])
def test_files_are_converted(words: WordPiece, options: list[str]) -> None:
    assert main(["convert", "tokenizer.json", *options]) == 0
    assert main(["encode", options[1], "a.txt", "--special", "allow", "-o", "b.ids"]) == 0
    assert pathlib.Path("b.ids").read_text().split() == [
        str(i) for i in words.encode(TEXT, allowed_special="all")
    ]
    assert (
        main(["convert", options[1], "-o", "again.txt"]) == 0
        and WordPiece.load("again.txt").pieces == words.pieces
    )


def test_what_makes_no_sense_is_refused_in_a_line(
    words: WordPiece, capsys: pytest.CaptureFixture[str]
) -> None:
    for command, told in (
        ("encode tokenizer.json a.txt", "is a special token; see --special"),
        ("encode vocab.txt a.txt", "how text becomes words"),
        ("inspect vocab.txt --on a.txt", "how text becomes words"),
        ("inspect vocab.txt --sort weight", "no weight"),
        ("convert tokenizer.json -o x.tiktoken", "a WordPiece has no merges, which tiktoken needs"),
    ):
        assert told in fails(command.split(), capsys)


def test_an_export_takes_a_template_only(words: WordPiece, capsys: pytest.CaptureFixture[str]) -> None:
    made = ["convert", "tokenizer.json", "--to", "tokenizer.json", "-o", "around.json"]
    assert main([*made, "--template", "[CLS] $A"]) == 0
    assert pathlib.Path("around.json").read_text() == export(words, "tokenizer.json", template="[CLS] $A")
    assert "unk_token: the unknown token of a WordPiece is its own" in fails(
        [*made, "--unk-token", "[UNK]"], capsys
    )
