"""Lines of text files by byte ranges: none is lost, none is there twice, wherever the ranges end."""

from __future__ import annotations

from pathlib import Path

import pytest
from fsspec.implementations.memory import MemoryFileSystem
from hypothesis import given
from hypothesis import strategies as st
from reference.text_lines import MARK, lines

from ubpe_numba.distributed.files import Files, byte_ranges_of, files_of

PIECES = st.sampled_from([b"a", b"\n", b"\r", b"\r\n", b"\xef", MARK, b"\x00", "é".encode()])
ODD = [
    b"", b"\n", b"\r\n", b"\r", b"\n\n\n", b"a", b"a\r", b"a\r\r\n", b"a\n\r", MARK, MARK + b"\n", MARK + b"a",
    MARK[:2], MARK[:1] + b"\n",
    b"a" + MARK, b"\n" + MARK, MARK + MARK + b"a\n", b"long " * 40 + b"\nb", b"\n" * 9 + b"long " * 9,
]  # fmt: skip


def check(data: bytes, size: int) -> None:
    store = MemoryFileSystem()
    store.pipe_file("/a.txt", data)
    parts = byte_ranges_of(Files(store, ".txt", ["/a.txt"], ""), size, "bytes")
    assert sum(part.size for part in parts) == len(data)
    assert [line for part in parts for line in part.documents().to_pylist()] == lines(data)


@pytest.mark.parametrize("data", ODD)
def test_odd_files(data: bytes) -> None:
    for size in range(3, len(data) + 4):
        check(data, size)


@given(st.lists(PIECES, max_size=12).map(b"".join), st.integers(3, 20))
def test_ranges_hold_every_line_once(data: bytes, size: int) -> None:
    check(data, size)


@pytest.mark.parametrize("kind", ["str", "bytes"])
def test_documents_of_a_file(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes("né\r\n\n😀 x\nlast".encode())
    parts = byte_ranges_of(files_of(path), 6, kind)
    assert [part.name for part in parts] == [f"{path}, bytes {a}..{b}" for a, b in ((0, 5), (6, 11), (12, 16))]
    found = [doc for part in parts for doc in part.documents().to_pylist()]
    want = ["né", "", "😀 x", "last"]
    assert found == (want if kind == "str" else [line.encode() for line in want])


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(MARK + b"ab\ncd\xff\n")
    (part,) = byte_ranges_of(files_of(path), 100, "str")
    with pytest.raises(ValueError, match=r"line 1 is not UTF-8 \(invalid start byte\); a tokenizer of bytes"):
        part.documents()
    assert part._replace(kind="bytes").documents().to_pylist() == [b"ab", b"cd\xff"]


def test_an_empty_file_is_one_part(tmp_path: Path) -> None:
    path = tmp_path / "empty.txt"
    path.touch()
    (part,) = byte_ranges_of(files_of(path), 10, "str")
    assert part.name == f"{path}, no bytes"
    assert part.documents().to_pylist() == []
