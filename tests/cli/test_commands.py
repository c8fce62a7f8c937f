"""The commands fit, encode, decode, convert, inspect and verify do what the library does."""

import json
import pathlib
import sys

import numpy as np
import pytest
from command_line import INTS, TEXT, fails
from digests import digest
from tables import each

from ubpe_numba import BPE, UBPE, Preprocessing, UBPEClassic, export
from ubpe_numba.cli.main import main
from ubpe_numba.verification import verify as module
from ubpe_numba.verification.cases import PARTS


def test_fit_is_the_library_s_fit(here: pathlib.Path) -> None:
    same = BPE(
        280,
        alphabet=bytes(range(256)),
        preprocessing=Preprocessing(encoding="utf-8", special_tokens=["<end>"]),
    ).fit(TEXT)
    assert BPE.load("text.json").fingerprint == same.fingerprint
    assert UBPEClassic.load("ints.npz").fingerprint == UBPEClassic(8).fit(INTS).fingerprint


def test_options_of_fit_are_those_of_the_library(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "more.txt").write_bytes(b"slow slower slowest")
    options = [
        "--n-tokens",
        "270",
        "--n-candidates",
        "3",
        "--tokenizer",
        "UBPE",
        "--objective",
        "shortest",
        "--threads",
        "1",
    ]
    more = ["--pretokenizer", "gpt2", "--max-token-length", "4", "--min-count", "3", "--memory-limit", "0.5G"]
    assert main(["fit", *options, *more, "-o", "u.npz", "a.txt", "more.txt"]) == 0
    tok = UBPE.load("u.npz")
    assert np.diff(tok._model.vocabulary.offsets).max() <= 4 and tok._model.vocabulary.counts[256:].min() >= 3
    assert tok.objective == "shortest" and tok._prepared.pretokenizer.name == "gpt2"
    assert f"u.npz: UBPE of {len(tok._model.vocabulary)} tokens" in capsys.readouterr().err


def test_the_curve_of_a_fit_is_written_as_csv_and_png(here: pathlib.Path) -> None:
    for name in ("c.csv", "c.png"):
        assert main(["fit", "--quiet", "--n-tokens", "262", "--curve", name, "-o", "c.json", "a.txt"]) == 0
    tok = BPE(262, alphabet=bytes(range(256)), preprocessing=Preprocessing(encoding="utf-8")).fit(TEXT)
    curve = zip(*(part.tolist() for part in tok.history_.compression(256)), strict=True)
    assert (here / "c.csv").read_text().splitlines() == [
        "n_tokens,symbols_per_token",
        *(f"{n},{r}" for n, r in curve),
    ]
    assert (here / "c.png").read_bytes().startswith(b"\x89PNG")


def test_models_of_characters(here: pathlib.Path) -> None:
    BPE(12, alphabet="abc\n").fit(["abcab", "abc\n"]).save("chars.json")
    (here / "x.txt").write_bytes(b"abcabc\nab")
    assert main(["encode", "chars.json", "x.txt", "-o", "c.npz"]) == 0
    assert (
        main(["decode", "chars.json", "c.npz", "-o", "back.txt"]) == 0
        and (here / "back.txt").read_bytes() == b"abcabc\nab"
    )


def test_special_tokens_are_refused_allowed_or_ordinary(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "s.txt").write_bytes(b"low<end>")
    told = fails(["encode", "text.json", "a.txt", "s.txt"], capsys)
    assert told == "error: s.txt: document 0, position 3: '<end>' is a special token; see --special\n"
    assert main(["encode", "text.json", "--special", "allow", "s.txt"]) == 0
    assert capsys.readouterr().out.split()[-1] == str(BPE.load("text.json").vocabulary.special["<end>"])
    assert main(["encode", "text.json", "--special", "ordinary", "s.txt"]) == 0
    ordinary = BPE.load("text.json").encode("low<end>", disallowed_special="none")
    assert capsys.readouterr().out.split() == [str(i) for i in ordinary]


@each("form", ["tokenizer.json", "tiktoken", "vocab+merges", "ubpe"])
def test_commands_take_files_of_other_libraries(
    here: pathlib.Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """`encode`, `inspect` and `convert` know them by their content; ranks have to be converted with their pattern."""
    model, docs = ("ints.npz", "a.jsonl") if form == "ubpe" else ("text.json", "a.txt")
    other = f"a-{form}"
    assert main(["convert", model, "--to", form, "-o", other]) == 0
    words = {"tiktoken": ["--special-token", "<end>=270"]}.get(form, [])
    if form in ("tiktoken", "vocab+merges"):
        words += ["--pretokenizer", "none"]
    if form == "tiktoken":
        assert f"pretokenizer: {other} has ranks only" in fails(["encode", other, docs], capsys)
    assert main(["convert", other, *words, "-o", f"{other}.json"]) == 0
    if form != "ubpe":
        mine, theirs = (
            BPE.load(name).encode("low<end>low", allowed_special="all") for name in (model, f"{other}.json")
        )
        assert mine.tolist() == theirs.tolist()
    assert main(["encode", model, docs]) == 0
    want = capsys.readouterr().out
    for name in (f"{other}.json", *([] if words else [other])):
        assert (
            main(["encode", name, docs]) == 0
            and capsys.readouterr().out == want
            and main(["inspect", name]) == 0
        )
        assert capsys.readouterr().out.startswith("tokenizer ")


@each("form", ["tokenizer.json", "sentencepiece"])
def test_models_of_probabilities_are_converted(
    here: pathlib.Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    own = UBPE(40, objective="tokenizers" if form == "tokenizer.json" else form).fit(
        ["low lower lowest wide", "widest low\n", "wider st"] * 3, progress=False
    )
    own.save("u.npz")
    assert (
        main(["convert", "u.npz", "--to", form, "-o", "other"]) == 0
        and main(["convert", "other", "-o", "again.npz"]) == 0
    )
    text = "low lower widest"
    assert UBPE.load("again.npz").encode(text).tolist() == own.encode(text).tolist()
    assert "has no merges, which tiktoken needs" in fails(
        ["convert", "u.npz", "--to", "tiktoken", "-o", "x"], capsys
    )


def test_break_and_stop_tokens(here: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    lone = ["--break-token", "0", "--stop-token", "3", "--quiet"]
    assert main(["fit", "a.jsonl", "--alphabet", "300", "--n-tokens", "310", *lone, "-o", "b.json"]) == 0
    tok = BPE.load("b.json")
    assert tok.preprocessing == Preprocessing(break_tokens=[0], stop_tokens=[3])
    assert main(["fit", "a.txt", "--n-tokens", "270", "--break-token", " ", "--quiet", "-o", "c.json"]) == 0
    assert BPE.load("c.json")._prepared.break_tokens == b" " and main(["inspect", "b.json"]) == 0
    shown = capsys.readouterr().out
    assert "\nbreak tokens     0\n" in shown and "\nstop tokens      3\n" in shown
    message = fails(["fit", "a.jsonl", "--break-token", "x", "-o", "d.json"], capsys)
    assert message == "error: --break-token: the documents are integers, got 'x'\n"


def test_a_curve_without_matplotlib_is_refused_before_the_fit(
    here: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    message = fails(["fit", "a.txt", "-o", "unseen.json", "--curve", "c.png"], capsys, code=1)
    assert "pip install 'ubpe-numba[plot]'" in message and not (here / "unseen.json").exists()


def test_a_fit_that_ends_far_below_what_was_asked_for_says_so(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["fit", "--quiet", "a.jsonl", "-o", "short.json", "--n-tokens"]
    for more, rule in (
        ([], "2 times"),
        (["--min-count", "3", "--max-token-length", "2"], "3 times and would make"),
    ):
        for size in ("5000", "20000"):  # where the library warns, too
            assert main([*asked, size, *more]) == 0
            n, told = len(BPE.load("short.json")._model.vocabulary), capsys.readouterr().err
            start = f"warning: --n-tokens: {size} asked for, {n} made: no other pair occurs {rule}"
            assert told.startswith(start) and told.count("\n") == 1
    assert main([*asked, "6"]) == 0  # as many as there are
    assert main(["fit", "--quiet", "a.jsonl", "-o", "short.json"]) == 0  # no size is asked for
    assert not capsys.readouterr().err


def test_symbols_are_the_alphabet_and_fold_others(
    here: pathlib.Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    dna = b"ACGTacgtNNACGT\nggggACACacac\n"
    (here / "dna.txt").write_bytes(dna)
    assert (
        main(
            [
                "fit",
                "--quiet",
                "--lines",
                "dna.txt",
                "--symbols",
                "ACGTN,acgtn",
                "--n-tokens",
                "9",
                "-o",
                "dna.json",
            ]
        )
        == 0
    )
    tok = BPE.load("dna.json")
    same = BPE(9, alphabet=b"ACGTN", preprocessing=Preprocessing(encoding="utf-8")).fit(
        dna.upper().splitlines()
    )
    assert tok._model.vocabulary == same._model.vocabulary and not tok.is_lossless
    assert tok.encode("acgTN").tolist() == same.encode(b"ACGTN").tolist()
    assert main(["encode", "dna.json", "--lines", "dna.txt", "-o", "dna.npz"]) == 0
    assert (
        main(["decode", "dna.json", "--lines", "dna.npz"]) == 0
        and capsysbinary.readouterr().out == dna.upper()
    )
    assert main(["inspect", "dna.json", "--top", "0"]) == 0
    assert b"9: 5 bytes (5 more with ids of these) and 4 pairs" in capsysbinary.readouterr().out


def test_special_tokens_first_and_what_stands_for_unknown_symbols(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "acgt.txt").write_bytes(b"ACGTACGT\nGGACACAC\n")
    words = ["--special-token", "[UNK]", "--special-token", "[CLS]", "--special-first", "--unknown", "[UNK]"]
    words += ["--symbols", "ACGT", "--n-tokens", "6", "-o", "first.json"]
    assert main(["fit", "--quiet", "--lines", "acgt.txt", *words]) == 0
    tok = BPE.load("first.json")
    assert tok.vocabulary.special == {"[UNK]": 0, "[CLS]": 1} and tok.unknown == "[UNK]"
    (here / "odd.txt").write_bytes(b"ACXGT\n")
    assert main(["encode", "first.json", "--lines", "odd.txt"]) == 0
    assert capsys.readouterr().out.split() == [str(i) for i in tok.encode("ACXGT")]
    assert main(["fit", "--quiet", "a.jsonl", "--n-tokens", "8", "--unknown", "2", "-o", "near.json"]) == 0
    assert BPE.load("near.json").encode([7]).tolist() == [2]
    for said in ("skip", "raise"):
        assert (
            main(["fit", "--quiet", "a.jsonl", "--n-tokens", "8", "--unknown", said, "-o", "near.json"]) == 0
        )
        assert BPE.load("near.json").unknown == said


def test_exports_to_hugging_face_have_an_unknown_token_and_a_template(here: pathlib.Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    words = Preprocessing(special_tokens=["[SEP]", "[UNK]", "[CLS]"], special_first=True)
    tok = BPE(8, alphabet="ACGT", preprocessing=words).fit(["ACGTACGT", "GGACACAC"])
    tok.save("dna.npz")
    options = ["--unk-token", "[UNK]", "--template", "[CLS] $A [SEP]", "--template", "[CLS] $A $B"]
    assert main(["convert", "dna.npz", "--to", "tokenizer.json", *options, "-o", "there.json"]) == 0
    template = "[CLS] $A [SEP]", "[CLS] $A $B"
    said = export(tok, "tokenizer.json", unk_token="[UNK]", template=template)
    assert (here / "there.json").read_text() == said
    there = tokenizers.Tokenizer.from_file("there.json")
    assert there.encode("ACXG").tokens[0] == "[CLS]" and 1 in there.encode("ACXG").ids
    assert (
        main(["convert", "dna.npz", "--to", "tokenizer.json", "--unk-token", "A", "-o", "symbol.json"]) == 0
    )
    ids = tokenizers.Tokenizer.from_file("symbol.json").encode("XCGTX").ids
    assert ids == tok.encode("XCGTX", unknown="A").tolist()


def test_inspect_says_what_the_library_says(here: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    tok = BPE.load("text.json")
    assert main(["inspect", "text.json", "--json", "--top", "3", "--sort", "count", "--on", "a.txt"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["fingerprint"] == tok.fingerprint and found["special_tokens"] == {
        "<end>": tok.vocabulary.special["<end>"]
    }
    assert len(found["tokens"]) == 3 and found["tokens"][0]["count"] == tok._model.vocabulary.counts.max()
    assert found["encoded"]["tokens"] == tok.encode(TEXT).size and found["encoded"]["symbols"] == len(TEXT)
    assert (
        main(["inspect", "text.json"])
        == main(["inspect", "ints.npz", "--on", "a.jsonl", "--sort", "weight"])
        == 0
    )
    out = capsys.readouterr().out
    assert tok.fingerprint in out and digest(out) == "4594ca294530", out


def test_inspect_has_a_curve(here: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    docs = [[0, 1, 0, 1, 1, 0, 0, 1] * 4, [1, 1, 0, 1]]
    tok = BPE(7, alphabet=2).fit(docs)
    tok.save("two.json")
    (here / "two.jsonl").write_text("\n".join(map(json.dumps, docs)))
    assert main(["inspect", "two.json", "--json", "--on", "two.jsonl"]) == 0
    curve = json.loads(capsys.readouterr().out)["encoded"]["curve"]
    sizes, ratios = tok.history_.compression(tok._model.vocabulary.n_alphabet)
    assert curve == [[4, pytest.approx(ratios[sizes.tolist().index(4)])]]


def test_verify_prints_a_table_or_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "PARTS", PARTS[1:2])
    assert main(["verify"]) == 0
    out, err = capsys.readouterr()
    assert PARTS[1].name in out and "numba" in out and out.endswith("no difference\n") and not err
    monkeypatch.setattr(module, "PARTS", (PARTS[1]._replace(run=lambda given: iter([0])),))
    assert main(["verify", "--json", "--quiet"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert not found["passed"] and found["machine"]["cpu"]
    assert found["rows"][0]["differences"] == PARTS[1].cases and "case 0: " in found["rows"][0]["first"]
