"""The files of paths, folders, globs and lists of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ubpe_numba.distributed.files import files_of


def touch(folder: Path, *names: str) -> list[str]:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return [str(folder / name) for name in names]


def test_a_folder_and_its_folders(tmp_path: Path) -> None:
    want = touch(tmp_path, "part-2.parquet", "part-10.parquet", "x=1/part-0.PARQUET")
    touch(tmp_path, "_metadata", "_SUCCESS", ".part-0.parquet.crc", "_tmp/a.parquet", "part-3.parquet.part", "notes.txt", "a.csv")
    assert files_of(tmp_path)[1:] == (".parquet", want, str(tmp_path))
    assert files_of([str(tmp_path), tmp_path])[1:] == (".parquet", want * 2, "")
    touch(tmp_path, "_only/b.txt")
    assert files_of(tmp_path / "_only").suffix == ".txt"


def test_globs_find_files_and_folders_in_order(tmp_path: Path) -> None:
    want = touch(tmp_path, "a1.txt", "a2.txt", "a10.txt")
    touch(tmp_path, "_a.txt")
    assert files_of(str(tmp_path / "*.txt")).paths == want
    assert files_of(str(tmp_path / "[a]1*")).paths == [want[0], want[2]]
    inner = touch(tmp_path, "lang=en/b.txt", "lang=ru/c.txt")
    assert files_of(str(tmp_path / "lang=*"))[2:] == (inner, "")
    assert files_of(str(tmp_path / "**" / "[bc].txt")).paths == inner
    assert files_of([tmp_path / "lang=en", inner[1]])[2:] == (inner, "")
    odd = touch(tmp_path, "odd[1].txt")
    assert files_of(odd[0]).paths == odd


def test_a_list_keeps_its_order_and_paths_become_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touch(tmp_path, "b.txt", "a.txt")
    monkeypatch.chdir(tmp_path)
    assert files_of([Path("b.txt"), "a.txt", "b.txt"]).paths == [str(tmp_path / name) for name in ("b.txt", "a.txt", "b.txt")]


@pytest.mark.parametrize(
    "made, asked, message",
    [
        ([], "no.txt", r"no\.txt: there is no such file$"),
        ([], "*.txt", r"\*\.txt: no file matches$"),
        ([], ".", r"there is no \.parquet or \.txt file in this folder$"),
        (["a.csv", "b"], ".", r"in this folder, only \.csv, names without a suffix$"),
        (["_a.txt"], "*", r"no file matches$"),
    ],
)
def test_nothing_is_found(tmp_path: Path, made: list[str], asked: str, message: str) -> None:
    touch(tmp_path, *made)
    with pytest.raises(FileNotFoundError, match=message):
        files_of(os.path.join(tmp_path, asked))


@pytest.mark.parametrize(
    "name, advice", [("a.jsonl", "json.loads"), ("a.csv", "read_csv"), ("a.txt.gz", "compressed"), ("a", "read_text")]
)
def test_other_formats(tmp_path: Path, name: str, advice: str) -> None:
    with pytest.raises(ValueError, match=rf"parts: .*: expected a \.parquet or a \.txt file; .*{advice}"):
        files_of(touch(tmp_path, name, "b.txt"))


def test_two_formats(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"source: expected files of one format, got .*a\.parquet and .*b\.txt"):
        files_of(touch(tmp_path, "b.txt", "a.parquet"), "source")


def test_paths_that_are_not() -> None:
    with pytest.raises(FileNotFoundError, match=r"parts: .*some text: there is no such file; a str is a path: texts"):
        files_of("some text")
    with pytest.raises(ValueError, match=r"parts: nowhere://bucket/a\.parquet: Protocol not known"):
        files_of("nowhere://bucket/a.parquet")
    with pytest.raises(ValueError, match=r"parts: expected files of one store, got a\.txt and others"):
        files_of(["a.txt", "memory://a.txt"])
    with pytest.raises(TypeError, match="expected paths that are str, got b'a'"):
        files_of([BytesPath()])


class BytesPath(os.PathLike[bytes]):
    """A path of bytes."""

    def __fspath__(self) -> bytes:
        return b"a"
