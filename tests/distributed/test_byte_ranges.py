"""Lines of text files by byte ranges: none is lost, none is there twice, wherever the ranges end."""

from __future__ import annotations

import io
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.text_lines import MARK, lines, lines_of_range

from ubpe_numba.distributed.files import byte_ranges_of, lines_of, lines_that_begin

PIECES = st.sampled_from([b"a", b"\n", b"\r", b"\r\n", b"\xef", MARK, b"\x00", "é".encode()])
ODD = [
    b"", b"\n", b"\r\n", b"\r", b"\n\n\n", b"a", b"a\r", b"a\r\r\n", b"a\n\r", MARK, MARK + b"\n", MARK + b"a",
    MARK[:2], MARK[:1] + b"\n",
    b"a" + MARK, b"\n" + MARK, MARK + MARK + b"a\n", b"long " * 40 + b"\nb", b"\n" * 9 + b"long " * 9,
]  # fmt: skip


def plain(file: io.BytesIO, begin: int, end: int) -> list[bytes]:
    start, data = lines_that_begin(file, begin, end)
    assert not data or file.getvalue()[start : start + len(data)] == data
    values, offsets = lines_of(data)
    assert values.dtype == "uint8" and offsets.dtype == "int64" and offsets[-1] == values.size
    return [values[a:b].tobytes() for a, b in pairwise(offsets)]


def check(data: bytes, size: int) -> None:
    found = []
    for begin in range(0, max(len(data), 1), size):
        end = min(begin + size, len(data))
        found.append(plain(io.BytesIO(data), begin, end))
        assert found[-1] == lines_of_range(data, begin, end)
    assert [line for part in found for line in part] == lines(data)


@pytest.mark.parametrize("data", ODD)
def test_odd_files(data: bytes) -> None:
    for size in range(1, len(data) + 2):
        check(data, size)


@given(st.lists(PIECES, max_size=12).map(b"".join), st.integers(1, 20))
def test_ranges_hold_every_line_once(data: bytes, size: int) -> None:
    check(data, size)


def test_a_last_line_that_goes_far_past_its_range(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ubpe_numba.distributed.files._AHEAD", 3)
    for tail in (b"", b"\n", b"\r\n", b"\nnext"):
        for size in (1, 2, 7):
            check(b"ab\n" + b"x" * 20 + tail, size)


@pytest.mark.parametrize("kind", ["str", "bytes"])
def test_documents_of_a_file(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes("né\r\n\n😀 x\nlast".encode())
    parts = byte_ranges_of([str(path)], 6, kind)
    assert [part.name for part in parts] == [f"{path}, bytes {a}..{b}" for a, b in ((0, 5), (6, 11), (12, 16))]
    found = [doc for part in parts for doc in part.documents().to_pylist()]
    want = ["né", "", "😀 x", "last"]
    assert found == (want if kind == "str" else [line.encode() for line in want])


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(MARK + b"ab\ncd\xff\n")
    first, second = byte_ranges_of([str(path)], 6, "str")
    assert first.documents().to_pylist() == ["ab"]
    with pytest.raises(ValueError, match=r"byte 8 of the file is not UTF-8 \(invalid start byte\); a tokenizer of bytes"):
        second.documents()
    assert second._replace(kind="bytes").documents().to_pylist() == [b"cd\xff"]


def test_an_empty_file_is_one_part(tmp_path: Path) -> None:
    path = tmp_path / "empty.txt"
    path.touch()
    (part,) = byte_ranges_of([str(path)], 10, "str")
    assert part.name == f"{path}, no bytes"
    assert part.documents().to_pylist() == []


def test_a_file_that_became_shorter_gives_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(b"ab\ncd\nef\n")
    parts = byte_ranges_of([str(path)], 3, "bytes")
    path.write_bytes(b"ab\n")
    assert [part.documents().to_pylist() for part in parts] == [[b"ab"], [], []]
