"""BERT's file of a piece a line."""

from __future__ import annotations

import pathlib

import pytest

from ubpe_numba.errors import ModelFormatError
from ubpe_numba.formats import wordpiece


@pytest.mark.parametrize(("data", "pieces"), [
    (b"a\n##b", {"a": 0, "##b": 1}),
    (b"a\r\n##b\r\n", {"a": 0, "##b": 1}),
    ("\u3000b\n \n\n\u2028x\u2028\x85\nc\x1f \n".encode(), {"\u3000b": 0, "": 2, "\u2028x": 3, "c\x1f": 4}),
    (b"a\nb\na\n", {"a": 2, "b": 1}),
])  # fmt: skip
def test_lines_are_pieces(tmp_path: pathlib.Path, data: bytes, pieces: dict[str, int]) -> None:
    (tmp_path / "vocab.txt").write_bytes(data)
    assert wordpiece.read_vocab_txt(tmp_path / "vocab.txt") == pieces


def test_lines_are_pieces_as_for_tokenizers(tmp_path: pathlib.Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    ends = [chr(i) for i in range(0x3001) if chr(i) != "\n"]
    (tmp_path / "vocab.txt").write_text("".join(f"p{i}{end}\n" for i, end in enumerate(ends)), encoding="utf-8", newline="\n")
    model = tokenizers.models.WordPiece.from_file(str(tmp_path / "vocab.txt"), unk_token="p0")
    assert wordpiece.read_vocab_txt(tmp_path / "vocab.txt") == tokenizers.Tokenizer(model).get_vocab()


def test_what_is_written_is_read_again(tmp_path: pathlib.Path) -> None:
    pieces = {"\u2028é": 2, "": 1, " x\r y": 0, "\x85z\x1f": 3}
    wordpiece.write_vocab_txt(tmp_path / "vocab.txt", pieces)
    assert wordpiece.read_vocab_txt(tmp_path / "vocab.txt") == pieces


@pytest.mark.parametrize(("data", "match"), [
    (b"", "vocab.txt: no pieces"),
    (b"a\nb\xff\nc\n", "vocab.txt: line 2: not UTF-8"),
    (b"a\n\xed\xa0\x80\n", "vocab.txt: line 2: not UTF-8"),
])  # fmt: skip
def test_other_files_are_refused(tmp_path: pathlib.Path, data: bytes, match: str) -> None:
    (tmp_path / "vocab.txt").write_bytes(data)
    with pytest.raises(ModelFormatError, match=match):
        wordpiece.read_vocab_txt(tmp_path / "vocab.txt")


@pytest.mark.parametrize(("pieces", "match"), [
    ({"a": 0, "b": 2}, r"the ids of a vocab.txt are 0..1, this vocabulary goes up to 2"),
    ({"a\nb": 0}, "cannot hold the line break"),
    ({"a\u3000": 0}, "or white space at the end, in 'a"),
    ({"a\ud800": 0}, "cannot hold the surrogate"),
])  # fmt: skip
def test_what_could_not_be_read_again_is_refused(tmp_path: pathlib.Path, pieces: dict[str, int], match: str) -> None:
    (tmp_path / "vocab.txt").write_text("old")
    with pytest.raises(ValueError, match=match):
        wordpiece.write_vocab_txt(tmp_path / "vocab.txt", pieces)
    assert (tmp_path / "vocab.txt").read_text() == "old"
