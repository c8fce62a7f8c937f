"""Columns that folders name are those that pyarrow reads."""

from __future__ import annotations

from pathlib import Path

import pytest

pa = pytest.importorskip("pyarrow")

import pyarrow.dataset as ds  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

from ubpe_numba.distributed.files import columns_of_folders, files_of  # noqa: E402

NULL = "__HIVE_DEFAULT_PARTITION__"


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
    found = columns_of_folders(files_of([str(tmp_path / folder / "a.parquet") for folder in read["folder"].to_pylist()]))
    assert len(found) == len(folders)
    for name in read.column_names[1:]:
        column = pa.concat_arrays([columns[name] for columns in found])
        assert column.type == read.schema.field(name).type
        assert column.to_pylist() == read[name].to_pylist()
