"""A folder of partitions, which is continued or refused."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Barrier

import pytest
from fsspec.implementations.local import LocalFileSystem

from ubpe_numba.distributed.map_partitions import MANIFEST, TargetFolder, write_part
from ubpe_numba.runtime.files import atomically

DISK = LocalFileSystem()
_SAYS = {"function": "encode", "model": "m", "settings": {"drop": False}, "parts": ["a", "b", "c"]}


def test_what_is_missing_is_to_be_done(tmp_path: Path) -> None:
    folder = TargetFolder(DISK, str(tmp_path / "deep" / "out"), 3)
    assert folder.begin(_SAYS) == [0, 1, 2]
    Path(folder.file(1)).touch()
    (Path(folder.path) / ".part-00002.parquet.00ff.tmp").touch()
    assert folder.begin(_SAYS) == [0, 2]
    with pytest.raises(FileNotFoundError, match="^target: a worker wrote .*part-00000.parquet, but it is not here"):
        folder.finish()
    for i in (0, 2):
        Path(folder.file(i)).touch()
    assert folder.finish() == [folder.file(i) for i in range(3)]
    assert sorted(path.name for path in Path(folder.path).iterdir()) == [MANIFEST, *(f"part-0000{i}.parquet" for i in range(3))]


@pytest.mark.parametrize(
    "change, message",
    [
        ({"model": "n"}, "made with another model: m, now n"),
        ({"function": "decode"}, "made with another function: encode, now decode"),
        ({"parts": ["a", "x", "c"]}, "made with another partition 1: b, now x"),
        ({"parts": ["a"]}, "made of 3 partitions, the source now has 1"),
    ],
)
def test_another_run_is_refused(tmp_path: Path, change: dict[str, object], message: str) -> None:
    folder = TargetFolder(DISK, str(tmp_path), 3)
    folder.begin(_SAYS)
    with pytest.raises(ValueError, match=message):
        folder.begin({**_SAYS, **change})


def test_of_runs_that_begin_at_once_one_makes_the_manifest(tmp_path: Path) -> None:
    begun, models = Barrier(4), ["m", "m", "n", "n"]

    def begin(folder: TargetFolder, model: str) -> bool:
        begun.wait(30)
        try:
            return folder.begin({**_SAYS, "model": model}) == [0, 1, 2]
        except ValueError:  # was made with another model
            return False

    with ThreadPoolExecutor(4) as pool:
        for i in range(50):
            folder = TargetFolder(DISK, str(tmp_path / str(i)), 3)
            fine = list(pool.map(begin, [folder] * 4, models))
            said = json.loads((tmp_path / str(i) / MANIFEST).read_text())["model"]
            assert fine == [model == said for model in models]
            assert os.listdir(folder.path) == [MANIFEST]


def test_runs_at_once_leave_each_other_alone(tmp_path: Path) -> None:
    folder = TargetFolder(DISK, str(tmp_path), 3)
    folder.begin(_SAYS)

    def slowly(path: str) -> None:
        with atomically(path) as file:
            file.write(b"who")
            file.flush()
            assert folder.begin(_SAYS) == [1, 2]  # another run begins, and has to wait for nothing
            assert len(list(tmp_path.glob(".part-00001*.tmp"))) == 1
            for i in (1, 2):
                write_part(DISK, folder.file(i), partial(quickly, folder.file(i)))
            folder.finish()
            assert not list(tmp_path.glob(".part*"))
            file.write(b"le")

    def quickly(path: str) -> None:
        with atomically(path) as file:
            file.write(b"whole")

    def never(path: str) -> None:
        raise AssertionError(f"{path} is written again")

    write_part(DISK, folder.file(0), lambda: quickly(folder.file(0)))
    write_part(DISK, folder.file(1), lambda: slowly(folder.file(1)))
    for i in range(3):
        write_part(DISK, folder.file(i), partial(never, folder.file(i)))
    assert {Path(file).read_bytes() for file in folder.finish()} == {b"whole"}


def test_a_part_that_nobody_could_write_is_an_error(tmp_path: Path) -> None:
    def removed(path: str) -> None:
        with atomically(path):
            for one in tmp_path.iterdir():
                one.unlink()

    with pytest.raises(FileNotFoundError, match="part-0"):
        write_part(DISK, str(tmp_path / "part-0"), lambda: removed(str(tmp_path / "part-0")))
    assert list(tmp_path.iterdir()) == []


def test_many_partitions_have_names_of_one_length() -> None:
    folder = TargetFolder(DISK, "/out", 1_000_001)
    assert folder.file(7) == "/out/part-0000007.parquet" and folder.file(1_000_000) == "/out/part-1000000.parquet"
