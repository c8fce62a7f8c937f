"""Files of any format are recognised by their content, and loaded; damaged files are refused at once."""

from __future__ import annotations

import io
import json
import os
import pathlib
from pathlib import Path
from typing import Any

import pytest
from foreign import END, MIXED, line, same
from hypothesis import given, settings
from hypothesis import strategies as st

from ubpe_numba import BPE, UBPE, Preprocessing, UBPEClassic, WordPiece, export, load
from ubpe_numba.errors import ModelFormatError
from ubpe_numba.formats.table import FORMATS, Source, recognise

tokenizers = pytest.importorskip("tokenizers")
pytest.importorskip("tiktoken")

TEXTS = ["low lower lowest", "newest 123 | low", "", "low" + END]

PAIRS = {"pair": ("vocab.json", "merges.txt"), "old": ("encoder.json", "vocab.bpe")}


def text_tokenizer(cls: Any = BPE, **params: Any) -> Any:
    return cls.for_text(280, pretokenizer="gpt2", special_tokens=[END], **params).fit(TEXTS[:3] * 4, progress=False)


def alike(found: Any, tok: Any) -> None:
    assert type(found) is type(tok)
    assert (
        found.encode_batch(TEXTS, allowed_special="all").to_lists() == tok.encode_batch(TEXTS, allowed_special="all").to_lists()
    )


def name_of(path: Path) -> str:
    return recognise(Source(str(path))).name


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_own_models_under_any_name(cls: Any, suffix: str, tmp_path: Path) -> None:
    tok = text_tokenizer(cls)
    tok.save(tmp_path / f"m{suffix}")
    os.rename(tmp_path / f"m{suffix}", tmp_path / "anything")
    found = load(tmp_path / "anything", n_threads=1)
    assert found.fingerprint == tok.fingerprint and found.n_threads == 1
    with open(tmp_path / "anything", "rb") as file:
        assert load(file) == load(io.BytesIO((tmp_path / "anything").read_bytes())) == tok
    assert "this library" in name_of(tmp_path / "anything")
    with pytest.raises(ValueError, match="kind: .* is a model of this library as .*, which says it itself"):
        load(tmp_path / "anything", kind="str")
    other = "UBPE" if cls is not UBPE else "BPE"
    with pytest.raises(ValueError, match=f"tokenizer: .* is a {cls.__name__}, not a {other}"):
        load(tmp_path / "anything", tokenizer=other)
    with pytest.raises(ModelFormatError, match="max_symbols"):
        load(tmp_path / "anything", max_symbols=10)


def test_files_of_other_libraries(tmp_path: Path) -> None:
    tok = text_tokenizer()
    export(tok, "tokenizer.json", tmp_path / "a")
    alike(load(tmp_path / "a"), tok)
    assert isinstance(load(tmp_path / "a", tokenizer="UBPEClassic"), UBPEClassic)
    export(tok, "tiktoken", tmp_path / "b")
    alike(load(tmp_path / "b", pretokenizer="gpt2", special_tokens={END: tok.vocabulary.special[END]}), tok)
    with pytest.raises(ValueError, match="pretokenizer: .* has ranks only: give the pattern by which its text is cut"):
        load(tmp_path / "b")
    (tmp_path / "pair").mkdir()
    export(tok, "vocab+merges", tmp_path / "pair")
    (tmp_path / "old").mkdir()
    for name, old in (("vocab.json", "encoder.json"), ("merges.txt", "vocab.bpe")):
        (tmp_path / "old" / old).write_bytes((tmp_path / "pair" / name).read_bytes())
    for path in (tmp_path / folder / name for folder, names in PAIRS.items() for name in ("", *names)):
        alike(load(path), tok)
    with pytest.raises(ValueError, match="tokenizer: .* is a BPE, not a UBPE"):
        load(tmp_path / "pair", tokenizer="UBPE")
    (tmp_path / "pair" / "tokenizer.json").write_text(export(tok, "tokenizer.json"))
    alike(load(tmp_path / "pair"), tok)
    assert name_of(tmp_path / "pair" / "tokenizer.json") == "a tokenizer.json of Hugging Face"


def test_dumps_of_ubpe_are_told_apart(tmp_path: Path) -> None:
    docs = [[0, 1, 0, 1, 0, 1, 2], [0, 1, 2, 2]]
    for cls in (UBPE, UBPEClassic):
        tok = cls(8, 1, preprocessing=Preprocessing(break_tokens=[2])).fit(docs)
        (tmp_path / "dump").write_text(export(tok, "ubpe"))
        found = load(tmp_path / "dump")
        assert type(found) is cls and found.encode_batch(docs).to_lists() == tok.encode_batch(docs).to_lists()
    assert load(tmp_path / "dump", tokenizer="BPE")._model.vocabulary == found._model.vocabulary
    (tmp_path / "dump").write_text(export(BPE.from_merges([[0, 1]], alphabet=2), "ubpe"))
    assert isinstance(load(tmp_path / "dump"), UBPE) and isinstance(load(tmp_path / "dump", tokenizer="BPE"), BPE)
    with pytest.raises(ValueError, match="pretokenizer: .* is a dump of ubpe, which says it itself"):
        load(tmp_path / "dump", pretokenizer=None)


def test_word_pieces(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_bytes("[PAD]\r\n[UNK]\r\nun\r\n##able\r\nü\r\n".encode())
    found = load(tmp_path)
    assert isinstance(found, WordPiece) and found.encode(["unable", "ü", "x"]).tolist() == [2, 3, 4, 1]
    assert found._model.vocabulary == WordPiece.load(tmp_path / "vocab.txt")._model.vocabulary
    with pytest.raises(ValueError, match="tokenizer: .* is a WordPiece, not a BPE"):
        load(tmp_path, tokenizer="BPE")


def test_a_tokenizer_json_without_added_tokens(tmp_path: Path) -> None:
    file = json.loads(export(BPE.from_merges([[0, 1]], alphabet="ab"), "tokenizer.json", unk_token=False))
    del file["added_tokens"]
    (tmp_path / "x").write_text(json.dumps(file))
    assert load(tmp_path / "x", kind="str").encode("aab").tolist() == [0, 2]
    (tmp_path / "x").write_text('{"model": {"x": 1}, "y": 2}')
    with pytest.raises(ModelFormatError, match="an object of 'model', 'y', which is none of"):
        load(tmp_path / "x")


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_models_of_sentencepiece(kind: str, tmp_path: Path) -> None:
    spm = pytest.importorskip("sentencepiece")
    model, lines = io.BytesIO(), ["low lower lowest newest widest"] * 20
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, vocab_size=30, model_type=kind, minloglevel=2, hard_vocab_limit=False
    )
    (tmp_path / "tokenizer.model").write_bytes(model.getvalue())
    found, theirs = load(tmp_path), spm.SentencePieceProcessor(model_proto=model.getvalue())
    assert type(found) is (UBPE if kind == "unigram" else BPE)
    for text in ("low widest", "", " newer\u3000lowest ", "x"):
        assert found.encode(text).tolist() == theirs.encode(text)
    with pytest.raises(ValueError, match="tokenizer: "):
        load(tmp_path, tokenizer="BPE" if kind == "unigram" else "UBPE")


@pytest.mark.parametrize(
    "data, match",
    [
        (b"", "a file that begins with b'', which is none of: a model of this library as npz;"),
        (b"\0" * 100, "which is none of"),
        (b"{}", "a file that begins with b'{}'"), (b'{"a": 1, "b": {}}', "an object of 'a', 'b', which is none of"),
        (b"{", "x: not valid JSON"), (b'{"a":' * 100_000, "x: not valid JSON"), (b"[]", "which is none of"),
        (b'{"a": NaN}', "the number NaN"), (b"#version: 0.2\na b\n", "which is none of"), (b"YQ== 0 1\n", "which is none of"),
        (b'{"format": "other", "tokenizer": "BPE"}', "a model of this library as JSON: not a model of this library"),
        (b'{"format": "ubpe-numba", "tokenizer": "BPE", "version": 99}', "as JSON: version 99; this library reads"),
        (b"PK\x03\x04" + b"\0" * 99, "a model of this library as npz: not a valid npz file"),
        (b'{"model": {"type": "Other"}, "added_tokens": []}', "a tokenizer.json of Hugging Face: model: expected"),
        (b'{"model": [], "added_tokens": []}', "a tokenizer.json of Hugging Face: "),
        (b'{"n_tokens": 3, "alphabet": [], "mapper": 0, "weights": {}}', "a dump of ubpe: alphabet: expected a JSON object"),
        (b'{"n_tokens": 3, "alphabet": {"0": 0}, "mapper": {"1": [[2]]}, "weights": {}}', "a dump of ubpe: mapper"),
        (b'{"n_tokens": 3, "alphabet": {}, "mapper": {}, "weights": {}, "known_words": 3}', "a dump of ubpe: alphabet"),
        (b"\n\x05\n\x03abcd", "a model of sentencepiece: "), (b"\n\x0e\n\x05<unk>\x15", "a model of sentencepiece: "),
        (b"[UNK]\n\xff\n", "a vocab.txt of WordPiece: line 2: not UTF-8"),
    ],
    ids=range(21),
)  # fmt: skip
def test_files_that_are_refused(data: bytes, match: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(ModelFormatError, match=match) as caught:
        load(tmp_path / "x")
    assert str(caught.value).startswith(str(tmp_path / "x"))


def test_the_last_of_equal_pieces_counts(tmp_path: Path) -> None:
    """As BERT reads it."""
    (tmp_path / "x").write_bytes(b"[UNK]\n\n[UNK]")
    assert load(tmp_path / "x").pieces == {"[UNK]": 2, "": 1}


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing")
    with pytest.raises(ModelFormatError, match=r"a folder with none of tokenizer\.json, "):
        load(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFormatError, match="not a regular file"):
        load(tmp_path / "pipe")
    with pytest.raises(ValueError, match="tokenizer: expected BPE, UBPEClassic, UBPE, WordPiece or None, got 'GPT'"):
        load(tmp_path, tokenizer="GPT")


def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path: Path) -> None:
    tok = text_tokenizer()
    tok.save(tmp_path / "m.json")
    (tmp_path / "x").write_bytes(b"\xef\xbb\xbf" + (tmp_path / "m.json").read_bytes())
    assert load(tmp_path / "x").fingerprint == tok.fingerprint


@pytest.mark.parametrize("n_blanks", [5, 4096, 65_535, 65_536, 300_000])
def test_blanks_before_an_object_do_not_matter(n_blanks: int, tmp_path: Path) -> None:
    tok = text_tokenizer()
    tok.save(tmp_path / "m.json")
    export(tok, "tokenizer.json", tmp_path / "h.json")
    for name in ("m.json", "h.json"):
        for mark in (b"", b"\xef\xbb\xbf"):
            (tmp_path / "x").write_bytes(mark + b" \t\r\n"[n_blanks % 4 :] + b" " * n_blanks + (tmp_path / name).read_bytes())
            alike(load(tmp_path / "x"), tok)
    (tmp_path / "x").write_bytes(b" " * n_blanks + b"[{}]")
    with pytest.raises(ModelFormatError, match="which is none of"):
        load(tmp_path / "x")


def test_a_key_that_is_there_twice(tmp_path: Path) -> None:
    """In the JSON of other libraries too: of the two ids of a token the last one would count, and nothing would be said."""
    tok = text_tokenizer()
    export(tok, "tokenizer.json", tmp_path / "h.json")
    tok.save(tmp_path / "m.json")
    (tmp_path / "d.json").write_text(export(BPE.from_merges([[0, 1]], alphabet=2), "ubpe"))
    export(tok, "vocab+merges", tmp_path)
    (tmp_path / "tekken.json").write_text('{"config": {"pattern": "a", "pattern": "b"}, "vocab": []}')
    for name, key in (("h.json", "a"), ("h.json", "type"), ("m.json", "kind"), ("d.json", "n_tokens"), ("vocab.json", "a")):
        text = (tmp_path / name).read_text()
        at = text.index(f'"{key}":')
        (tmp_path / name).write_text(f'{text[:at]}"{key}": 0, {text[at:]}')
        with pytest.raises(ModelFormatError, match=f"{name}: .*the key '{key}' is there twice"):
            load(tmp_path / name)
        (tmp_path / name).write_text(text)
    with pytest.raises(ModelFormatError, match="tekken.json: .*the key 'pattern' is there twice"):
        load(tmp_path / "tekken.json")


def test_every_format_has_a_name_and_is_recognised_alone(tmp_path: Path) -> None:
    """No file is of two formats."""
    tok, paths = text_tokenizer(), []
    tok.save(tmp_path / "m.json")
    tok.save(tmp_path / "m.npz")
    export(tok, "tokenizer.json", tmp_path / "tokenizer.json")
    export(tok, "tiktoken", tmp_path / "ranks")
    export(tok, "vocab+merges", tmp_path)
    (tmp_path / "dump").write_text(export(BPE.from_merges([[0, 1]], alphabet=2), "ubpe"))
    (tmp_path / "vocab.txt").write_text("[UNK]\nthe\n")
    paths = sorted(tmp_path.iterdir())
    found = [[row.name for row in FORMATS if row.is_it(Source(str(path)))] for path in paths]
    assert all(len(names) == 1 for names in found)
    assert {names[0] for names in found} <= {row.name for row in FORMATS} and len({row.name for row in FORMATS}) == len(FORMATS)
    assert json.loads((tmp_path / "dump").read_text())["n_tokens"] == 3


def test_word_pieces_and_unigrams_of_hugging_face(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    words = tokenizers.Tokenizer(tokenizers.models.WordPiece({"[UNK]": 0, "un": 1, "##able": 2, "the": 3}, unk_token="[UNK]"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    grams = tokenizers.Tokenizer(tokenizers.models.Unigram([("<unk>", 0.0), ("a", -1.0), ("ab", -1.5), ("b", -2.0)], 0, False))
    for other, expected in ((words, WordPiece), (grams, UBPE)):
        other.save(str(tmp_path / "x"))
        found = load(tmp_path / "x")
        assert type(found) is expected
        for text in ("unable the", "abab", ""):
            assert found.encode(text).tolist() == other.encode(text).ids
        with pytest.raises(ValueError, match="kind: a model of"):
            load(tmp_path / "x", kind="str")
        with pytest.raises(ValueError, match="tokenizer: "):
            load(tmp_path / "x", tokenizer="BPE")


def test_every_export_is_imported_as_the_same(tok: Any, tmp_path: pathlib.Path) -> None:
    cutter = tok._model.segmenter.pretokenizer
    same(tok, BPE.load(export(tok, "tokenizer.json", tmp_path / "tokenizer.json")), MIXED)
    same(tok, BPE.load(tmp_path / "tokenizer.json"), MIXED)
    same(tok, BPE.load(tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))), MIXED)
    data = export(tok, "tiktoken", tmp_path / "x.tiktoken")
    same(tok, BPE.load(data, pretokenizer=cutter, special_tokens=tok.vocabulary.special), MIXED)
    same(tok, BPE.load(str(tmp_path / "x.tiktoken"), pretokenizer=cutter, special_tokens=tok.vocabulary.special), MIXED)
    same(tok, BPE.load(export(tok, "tiktoken.Encoding")), MIXED)
    vocab, merges = export(tok, "vocab+merges", tmp_path).values()
    same(tok, BPE.load((vocab, merges), pretokenizer=cutter, special_tokens=tok.vocabulary.special), MIXED)
    again = BPE.load((tmp_path / "vocab.json", tmp_path / "merges.txt"), pretokenizer=cutter)
    assert again.vocabulary.special[END] == tok.vocabulary.special[END]  # tokens that no pair makes are special
    for name in ("m.npz", "m.json"):
        again.save(tmp_path / name)
        assert BPE.load(tmp_path / name).fingerprint == again.fingerprint
        assert BPE.load((tmp_path / name).read_bytes()).fingerprint == again.fingerprint
    classic = UBPEClassic.load(export(tok, "tokenizer.json"))
    assert classic.encode_batch(MIXED).to_lists() == tok.encode_batch(MIXED).to_lists()


@pytest.mark.filterwarnings("ignore:added_tokens.*in the file, but:UserWarning")
@settings(max_examples=150)
@given(st.data())
def test_damaged_files_load_or_are_refused(data: st.DataObject) -> None:
    whole = DAMAGED[data.draw(st.integers(0, 1))]
    at = data.draw(st.integers(0, len(whole) - 1))
    piece = data.draw(st.binary(max_size=4))
    broken = whole[:at] + piece + whole[at + data.draw(st.integers(0, 4)) :]
    try:
        tok = BPE.load(broken, pretokenizer=None) if whole is DAMAGED[1] else BPE.load(broken)
    except ModelFormatError:
        return
    except ValueError as error:
        if "pretokenizer: bytes is a model of this library" not in str(error):
            raise
        return
    ids = range(len(tok._model.vocabulary)) if tok._model.segmenter.token_ids is None else tok._model.segmenter.token_ids.tolist()
    assert all(len(tok.decode([i])) for i in ids)


DAMAGED = (
    json.dumps(
        json.loads(
            export(
                BPE.from_merges([[0, 1], [3, 2]], b"abc", preprocessing=Preprocessing(special_tokens=["<s>"])),
                "tokenizer.json",
                unk_token=False,
            )
        )
    ).encode(),
    b"".join(line(bytes([b]), i) for i, b in enumerate(b"abc")) + line(b"ab", 3) + line(b"abc", 4),
)


def test_the_file_is_named(tmp_path: pathlib.Path) -> None:
    """That of a path, whichever reader refuses it; a text and bytes have no name."""
    path = tmp_path / "x"
    twice = b'{"model": {"type": "BPE", "vocab": {"a": 0, "a": 1}, "merges": []}}'
    calls: list[tuple[Any, bytes]] = [
        (BPE.load, twice), (UBPE.load, twice), (WordPiece.load, twice), (BPE.load, b"x"), (WordPiece.load, b"[UNK]\n\xff"),
        (lambda path: BPE.load(path, pretokenizer=None), b"YQ== 0\nYQ== 1\n"), (BPE.load, b'{"model": \xff}'),
    ]  # fmt: skip
    for read, data in calls:
        path.write_bytes(data)
        for where in (path, str(path)):
            with pytest.raises(ModelFormatError) as caught:
                read(where)
            assert str(caught.value).startswith(f"{path}: ") and str(caught.value).count(str(path)) == 1
    path.write_bytes(b'{"a": 0, "a": 1}')
    with pytest.raises(ModelFormatError, match=f"^{path} and str: vocab.json with merges.txt: .*there twice"):
        BPE.load((path, "#version: 0.2\na b\n"))
    path.write_bytes(b"a b c\n")
    with pytest.raises(ModelFormatError, match=f"^str and {path}: vocab.json with merges.txt: "):
        BPE.load(('{"a": 0}', path))
    with pytest.raises(ModelFormatError, match="^bytes: JSON: the key 'a' is there twice"):
        BPE.load(twice)
