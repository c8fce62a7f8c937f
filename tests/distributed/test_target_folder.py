"""A folder of partitions, which is continued or refused."""

from pathlib import Path

import pytest

from ubpe_numba.distributed.target_folder import MANIFEST, TargetFolder

_SAYS = {"function": "encode", "model": "m", "settings": {"drop": False}, "parts": ["a", "b", "c"]}


def test_what_is_missing_is_to_be_done(tmp_path: Path) -> None:
    folder = TargetFolder(str(tmp_path / "deep" / "out"), 3)
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
    folder = TargetFolder(str(tmp_path), 3)
    folder.begin(_SAYS)
    with pytest.raises(ValueError, match=message):
        folder.begin({**_SAYS, **change})


def test_many_partitions_have_names_of_one_length() -> None:
    folder = TargetFolder("/out", 1_000_001)
    assert folder.file(7) == "/out/part-0000007.parquet" and folder.file(1_000_000) == "/out/part-1000000.parquet"
