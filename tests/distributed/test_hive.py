"""Columns that folders name are those that pyarrow reads."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")

import pyarrow.dataset as ds  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

from ubpe_numba.distributed.files import NULL, columns_of_folders  # noqa: E402


@pytest.mark.parametrize(
    "folders",
    [
        ["y=1", "y=2"],
        ["y=01", "y=-2", "y=0x1f", "y=-2147483648"],
        ["y=1", "y=a"],
        ["y=1", "y=2147483648"],
        ["y=1", "y="],
        ["y=+1", "y=1_0", "y= 1", "y=1.5", "y=٣"],
        ["y=1", f"y={NULL}"],
        ["y=a", f"y={NULL}", "none"],
        ["y=1/z=a", "y=2", "x"],
        ["y=1/z=2", "z=1/y=2"],
        ["y=1/__/y=2"],
        ["k%3D=c=d", "y=a%20b+c", "y=%zz"],
        [f"year={y}/month={m:02}/lang={lang}" for y in (2023, 2024) for m in (1, 12) for lang in ("de", "fr")],
        ["x/y", "x/z"],
    ],
    ids=str,
)
def test_names_and_types_are_those_of_pyarrow(tmp_path: Path, folders: list[str]) -> None:
    for folder in folders:
        (tmp_path / folder).mkdir(parents=True)
        pq.write_table(pa.table({"folder": [folder]}), tmp_path / folder / "a.parquet")
    read = ds.dataset(tmp_path, partitioning="hive", ignore_prefixes=[]).to_table()
    order = read["folder"].to_pylist()
    assert sorted(order) == sorted(folders)
    found = columns_of_folders(order)
    assert all(list(columns) == read.column_names[1:] for columns in found)
    for name in read.column_names[1:]:
        column = pa.concat_arrays([columns[name] for columns in found])
        assert column.type == read.schema.field(name).type
        assert column.to_pylist() == read[name].to_pylist()


def test_a_file_takes_its_own_values_along_only() -> None:
    few, many = (columns_of_folders([f"y={i}/z=a{i}" for i in range(n)]) for n in (2, 2000))
    assert len(pickle.dumps(many[1])) == len(pickle.dumps(few[1]))


def test_a_column_of_nulls_only_has_no_type() -> None:
    """Pyarrow does not read such a dataset."""
    (columns,) = columns_of_folders([f"y={NULL}"])
    assert columns["y"].equals(pa.nulls(1))


def test_what_is_not_utf8_has_its_place() -> None:
    with pytest.raises(ValueError, match=r"^a/y=%FF: 'y=%FF' is not UTF-8 when it is decoded as in a URL"):
        columns_of_folders(["a/y=%FF"])


def test_absolute_folders(tmp_path: Path) -> None:
    (columns,) = columns_of_folders([str(tmp_path / "a=1" / "b")])
    got: dict[str, Any] = {name: value.to_pylist() for name, value in columns.items()}
    assert got["a"] == [1]
