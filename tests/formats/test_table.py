"""Files of any format are recognised by their content, and loaded; damaged files are refused at once."""

import io
import json
import os
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from digests import digest
from foreign import END
from tables import refuses

from ubpe_numba import BPE, UBPE, Preprocessing, UBPEClassic, WordPiece, export, load
from ubpe_numba.errors import ModelFormatError
from ubpe_numba.formats import gguf, tiktoken
from ubpe_numba.formats.table import Source, recognise
from ubpe_numba.text import patterns

tokenizers = pytest.importorskip("tokenizers")
pytest.importorskip("tiktoken")

TEXTS = ["low lower lowest", "newest 123 | low", "", "low" + END]


def text_tokenizer(cls: Any = BPE, **params: Any) -> Any:
    return cls.for_text(280, pretokenizer="gpt2", special_tokens=[END], **params).fit(
        TEXTS[:3] * 4, progress=False
    )


def alike(found: Any, tok: Any) -> None:
    assert type(found) is type(tok)
    assert found.encode_batch(TEXTS, allowed_special="all") == tok.encode_batch(TEXTS, allowed_special="all")


def test_own_models_under_any_name(cls: Any, suffix: str, tmp_path: Path) -> None:
    tok, path = text_tokenizer(cls), tmp_path / "anything"
    tok.save(tmp_path / f"m{suffix}")
    os.rename(tmp_path / f"m{suffix}", path)
    with open(path, "rb") as file:
        assert load(file) == load(io.BytesIO(path.read_bytes())) == load(path, n_threads=1) == tok
    refuses(
        ValueError, "kind: .* is a model of this library as .*, which says it itself", load, path, kind="str"
    )
    other = "UBPE" if cls is not UBPE else "BPE"
    refuses(ValueError, f"tokenizer: .* is a {cls.__name__}, not a {other}", load, path, tokenizer=other)


def test_files_of_other_libraries(tmp_path: Path) -> None:
    tok = text_tokenizer()
    export(tok, "tokenizer.json", tmp_path / "a")
    assert isinstance(load(tmp_path / "a", tokenizer="UBPEClassic"), UBPEClassic)
    export(tok, "tiktoken", tmp_path / "b")
    refuses(
        ValueError,
        "pretokenizer: .* has ranks only: give the pattern by which its text is cut",
        load,
        tmp_path / "b",
    )
    for folder, names in (("pair", ("vocab.json", "merges.txt")), ("old", ("encoder.json", "vocab.bpe"))):
        (tmp_path / folder).mkdir()
        files = export(tok, "vocab+merges").values()
        for name, content in zip(names, files, strict=True):
            (tmp_path / folder / name).write_text(content)
        for path in (tmp_path / folder, *(tmp_path / folder / name for name in names)):
            alike(load(path), tok)
    refuses(
        ValueError, "tokenizer: .* is a BPE, not a UBPE", lambda: load(tmp_path / "pair", tokenizer="UBPE")
    )
    (tmp_path / "pair" / "tokenizer.json").write_text(export(tok, "tokenizer.json"))
    assert recognise(Source(str(tmp_path / "pair"))).name == "a tokenizer.json of Hugging Face"


def test_dumps_of_ubpe_are_told_apart(tmp_path: Path) -> None:
    docs = [[0, 1, 0, 1, 0, 1, 2], [0, 1, 2, 2]]
    for cls in (UBPE, UBPEClassic):
        tok = cls(8, 1, preprocessing=Preprocessing(break_tokens=[2])).fit(docs)
        (tmp_path / "dump").write_text(export(tok, "ubpe"))
        found = load(tmp_path / "dump")
        assert type(found) is cls and found.encode_batch(docs).to_lists() == tok.encode_batch(docs).to_lists()
    assert load(tmp_path / "dump", tokenizer="BPE")._model.vocabulary == found._model.vocabulary
    (tmp_path / "dump").write_text(export(BPE.from_merges([[0, 1]], alphabet=2), "ubpe"))
    assert isinstance(load(tmp_path / "dump"), UBPE) and isinstance(
        load(tmp_path / "dump", tokenizer="BPE"), BPE
    )
    refuses(
        ValueError,
        "pretokenizer: .* is a dump of ubpe, which says it itself",
        load,
        tmp_path / "dump",
        pretokenizer=None,
    )


def test_word_pieces(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_bytes("[PAD]\r\n[UNK]\r\nun\r\n##able\r\nü\r\n".encode())
    found = load(tmp_path)
    assert isinstance(found, WordPiece) and found.encode(["unable", "ü", "x"]).tolist() == [2, 3, 4, 1]
    assert found._model.vocabulary == WordPiece.load(tmp_path / "vocab.txt")._model.vocabulary
    refuses(ValueError, "tokenizer: .* is a WordPiece, not a BPE", load, tmp_path, tokenizer="BPE")
    (tmp_path / "added_tokens.json").write_text('{"<q>": 9}')
    with pytest.warns(UserWarning, match="added_tokens.json is not read"):
        load(tmp_path)


def test_a_tokenizer_json_without_added_tokens(tmp_path: Path) -> None:
    file = json.loads(export(BPE.from_merges([[0, 1]], alphabet="ab"), "tokenizer.json", unk_token=False))
    del file["added_tokens"]
    (tmp_path / "x").write_text(json.dumps(file))
    assert load(tmp_path / "x", kind="str").encode("aab").tolist() == [0, 2]


@pytest.mark.parametrize(
    "data, match",
    [
        (b"", "a file that begins with b'', which is none of: a model of this library as npz;"),
        (b"\0" * 100, "which is none of"), (b"\xff\xfe\xff", "which is none of"), ("{}".encode("utf-16"), "which is none of"),
        (b"{}", "a file that begins with b'{}'"), (b'{"a": 1, "b": {}}', "an object of 'a', 'b', which is none of"),
        (b"null", "which is none of"), (b"[" * 200_000, "which is none of"), (b"\xef\xbb\xbf \n{}", "which is none of"),
        (b"{", "x: not valid JSON"), (b'{"a":' * 100_000, "x: not valid JSON"), (b"{} {}", "not valid JSON"),
        (b'{"\xe9"', "not valid JSON"), (b'{"a": ' + b"9" * 5000, "not valid JSON"),
        (b'{"a": NaN}', "the number NaN is not allowed"), (b'{"format": -Infinity}', "the number -Infinity is not allowed"),
        (b"#version: 0.2\na b\n", "vocab.json"), (b"a b</w> 9\n", "fastBPE"), (b"a 9\nb 8\nc 7\n", "fairseq"),
        (b"#version: 0.2\na b\na b</w>\n", "subword-nmt"), (b"minbpe v1\n", "minbpe"), (b"a\t0\n\xc3\t-3.1\nb\t0\n", r"\.model"),
        (b"YQ== 0 1\n", "which is none of"),
        (b'{"format": "other", "tokenizer": "BPE"}', "a model of this library as JSON: not a model of this library"),
        (b'{"format": "ubpe-numba", "tokenizer": "BPE", "version": 99}', "as JSON: version 99; this library reads"),
        (b"PK\x05\x06" + bytes(18), "which is none of"),
        (b"PK\x03\x04" + b"\0" * 99, "a model of this library as npz: not a valid npz file"),
        (b'{"model": {"type": "Other"}, "added_tokens": []}', "a tokenizer.json of Hugging Face: model: expected"),
        (b'{"model": {"x": 1}, "y": 2}', "an object of 'model', 'y', which is none of"),
        (b'{"n_tokens": 3, "alphabet": [], "mapper": 0, "weights": {}}', "a dump of ubpe: alphabet: expected a JSON object"),
        (b'{"n_tokens": 3, "alphabet": {"0": 0}, "mapper": {"1": [[2]]}, "weights": {}}', "a dump of ubpe: mapper"),
        (b"\n\x05\n\x03abcd", "a model of sentencepiece: "), (b"\n\x0e\n\x05<unk>\x15", "a model of sentencepiece: "),
        (b"[UNK]\n\xff\n", "a vocab.txt of WordPiece: line 2: not UTF-8"),
        (b"<unk>\n##a\n", r"there is no piece \[UNK\], .*WordPiece\(pieces, unknown=...\) takes a dict"),
        (b"GGUF" + bytes(20), "version 0 of gguf is not supported: there are versions 2 and 3"),
        (b'export default {"pat_str": 5', "not valid JSON|which is none of"),
    ],
    ids=range(37),
)  # fmt: skip
def test_files_that_are_refused(data: bytes, match: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(ModelFormatError, match=match) as caught:
        load(tmp_path / "x")
    assert str(caught.value).startswith(str(tmp_path / "x"))


def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    refuses(ModelFormatError, "not a regular file", lambda: load(tmp_path / "pipe"))
    with pytest.raises(
        ValueError,
        match="tokenizer: expected BPE, UBPEClassic, UBPE, WordPiece, SignalTokenizer or None, got 'GPT'",
    ):
        load(tmp_path, tokenizer="GPT")


def test_a_mark_and_blanks_before_an_object_do_not_matter(tmp_path: Path) -> None:
    """A file that is all blanks is read in pieces."""
    tok, path = text_tokenizer(), tmp_path / "x"
    tok.save(tmp_path / "m.json")
    export(tok, "tokenizer.json", tmp_path / "h.json")
    for n in (0, 5, 4095, 4096, 65_535, 65_536, 300_000):
        blanks = b" \t\r\n"[n % 4 :] + b" " * n
        for name in ("m.json", "h.json"):
            for mark in (b"", b"\xef\xbb\xbf"):
                path.write_bytes(mark + blanks + (tmp_path / name).read_bytes())
                alike(load(path), tok)
        path.write_bytes(blanks + b"[{}]")
        refuses(ModelFormatError, "which is none of", load, path)
    path.write_bytes(b" " * 30_000_000)
    tracemalloc.start()
    refuses(ModelFormatError, "which is none of", load, path)
    assert tracemalloc.get_traced_memory()[1] < 2e6
    tracemalloc.stop()


def test_a_key_that_is_there_twice(tmp_path: Path) -> None:
    """In the JSON of other libraries too, at any level: of the two ids of a token the last one would count."""
    tok = text_tokenizer()
    export(tok, "tokenizer.json", tmp_path / "h.json")
    tok.save(tmp_path / "m.json")
    (tmp_path / "d.json").write_text(export(BPE.from_merges([[0, 1]], alphabet=2), "ubpe"))
    export(tok, "vocab+merges", tmp_path)
    (tmp_path / "tekken.json").write_text('{"config": {"pattern": "a", "pattern": "b"}, "vocab": []}')
    for place in (
        "h.json a",
        "h.json type",
        "m.json kind",
        "m.json format",
        "d.json n_tokens",
        "vocab.json a",
    ):
        name, key = place.split()
        text = (tmp_path / name).read_text()
        at = text.index(f'"{key}":')
        (tmp_path / name).write_text(f'{text[:at]}"{key}": 0, {text[at:]}')
        refuses(ModelFormatError, f"{name}: .*the key '{key}' is there twice", load, tmp_path / name)
        (tmp_path / name).write_text(text)
    refuses(
        ModelFormatError,
        "tekken.json: .*the key 'pattern' is there twice",
        lambda: load(tmp_path / "tekken.json"),
    )
    with pytest.raises(ModelFormatError, match="the key 'kkkk") as caught:
        load(json.dumps({"k" * 10_000: 1, "@": 2}).replace("@", "k" * 10_000))
    assert len(str(caught.value)) < 300


def test_the_file_is_named(tmp_path: Path) -> None:
    """Once, whichever reader refuses it; a text and bytes have no name."""
    path = tmp_path / "x"
    twice = b'{"model": {"type": "BPE", "vocab": {"a": 0, "a": 1}, "merges": []}}'
    for cls, data in ((BPE, twice), (WordPiece, b"[UNK]\n\xff"), (BPE, b'{"model": \xff}')):
        path.write_bytes(data)
        for where in (path, str(path)):
            with pytest.raises(ModelFormatError, match=f"^{path}: ") as caught:
                cls.load(where)
            assert str(caught.value).count(str(path)) == 1
    path.write_bytes(b'{"a": 0, "a": 1}')
    with pytest.raises(ModelFormatError, match=f"^{path} and str: vocab.json with merges.txt: .*there twice"):
        BPE.load((path, "#version: 0.2\na b\n"))
    path.write_bytes(b"a b c\n")
    refuses(ModelFormatError, f"^str and {path}: vocab.json with merges.txt: ", BPE.load, ('{"a": 0}', path))
    refuses(ModelFormatError, "^bytes: JSON: the key 'a' is there twice", BPE.load, twice)


def test_tables_of_other_libraries_are_as_they_were_published() -> None:
    """Patterns, special tokens and their ids: a hash, another one where a table is meant to change."""
    words = {row: tiktoken.published_special(row) for row in tiktoken._SPECIAL}
    tables = patterns.NAMED, patterns.FOR_TIKTOKEN, tiktoken._KNOWN, words, gguf._STEPS, sorted(gguf._WHOLE)
    assert digest(*tables) == "15a167c3db54"
