"""Columns that are named by folders, as Hive, Spark and Dask write them: ``year=2024/lang=de/part-0.parquet``.

They are read as `pyarrow.dataset` reads them with ``partitioning="hive"``: names and values are decoded as in a URL; where the
values of all files are integers of 32 bits they are read as such (``0x1f`` is one, too), others are strings; `NULL` is null, and
so is what the folders of a file do not name. Of two folders of one name the first counts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ubpe_numba.errors import quoted

NULL = "__HIVE_DEFAULT_PARTITION__"


def columns_of_folders(folders: list[str]) -> list[dict[str, Any]]:
    """The columns of each file by the folder that it is in: arrays of Arrow of one element, in order of first appearance.

    ValueError, with the folder, for what is not UTF-8 when it is decoded.

    >>> first, second = columns_of_folders(["year=2024/lang=de", "year=2023"])
    >>> {name: (value.type, value[0].as_py()) for name, value in first.items()}
    {'year': (DataType(int32), 2024), 'lang': (DataType(string), 'de')}
    >>> [value[0].as_py() for value in second.values()]
    [2023, None]
    """
    each = [_values(folder) for folder in folders]
    columns = {
        name: _typed([values.get(name) for values in each]) for name in dict.fromkeys(n for values in each for n in values)
    }
    return [{name: column.take([i]) for name, column in columns.items()} for i in range(len(folders))]  # a slice travels whole


def _values(folder: str) -> dict[str, str | None]:
    """What the names of a folder and those that it is in say.

    >>> _values("data/year=2024/__/lang=a%20b/year=1")
    {'year': '2024', 'lang': 'a b'}
    """
    found: dict[str, str | None] = {}
    for part in Path(folder).parts:
        name, sign, value = part.partition("=")
        if not sign:
            continue
        try:
            name, value = unquote(name, errors="strict"), unquote(value, errors="strict")
        except UnicodeDecodeError as error:
            raise ValueError(f"{folder}: {quoted(part)} is not UTF-8 when it is decoded as in a URL") from error
        found.setdefault(name, None if value == NULL else value)
    return found


def _typed(values: list[str | None]) -> Any:
    """A column of all files."""
    import pyarrow as pa

    strings = pa.array(values, pa.string())
    if strings.null_count == len(strings):
        return pa.nulls(len(strings))
    try:
        return strings.cast(pa.int32())
    except pa.ArrowInvalid:
        return strings
