"""The files that a user names: a path, a folder, a glob, or a list of them."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ubpe_numba.errors import quoted

PARQUET, TEXT = ".parquet", ".txt"
_SUFFIXES = (PARQUET, TEXT)
_ADVICE = {
    ".jsonl": "; read it with dask.bag.read_text(...).map(json.loads), or dask.dataframe.read_json",
    ".json": "; read it with dask.bag.read_text(...).map(json.loads), or dask.dataframe.read_json",
    ".csv": "; read it with dask.dataframe.read_csv, and pass the column",
    ".gz": "; compressed text has no byte ranges: dask.bag.read_text reads it",
    ".bz2": "; compressed text has no byte ranges: dask.bag.read_text reads it",
    ".xz": "; compressed text has no byte ranges: dask.bag.read_text reads it",
    ".zst": "; compressed text has no byte ranges: dask.bag.read_text reads it",
}


class Files(NamedTuple):
    """Files of one format, absolute paths: those of a folder or a glob in natural order (2 before 10), others as they were given.

    `suffix` is ``".parquet"`` or ``".txt"``. `folders` are those that each file is in: below the folder that was given, or, of a
    file that was given itself or matches a glob, all of them.
    """

    suffix: str
    paths: list[str]
    folders: list[str]


def is_path(value: object) -> bool:
    """Whether a user's argument names files."""
    return isinstance(value, (str, os.PathLike))


def files_of(given: Any, name: str = "parts") -> Files:
    """The files of a path or a list of paths.

    Of a folder, and of its folders, all ``.parquet`` files are taken, or all ``.txt`` files if there are none; names that
    begin with a dot or an underscore are left out, as Dask and Spark leave them out (``_SUCCESS``), and so are other files.
    ValueError for two formats, for a file that is neither, and where nothing is found; FileNotFoundError for a path without a
    file; TypeError for paths that are not `str`. All name the path.
    """
    found: list[str] = []
    folders: list[str] = []
    for one in [given] if is_path(given) else given:
        paths = _expanded(one, name)
        found += paths
        inside = map(os.path.dirname, paths)
        folders += [os.path.relpath(folder, one) for folder in inside] if os.path.isdir(one) else inside
    suffixes = {os.path.splitext(path)[1].lower(): path for path in reversed(found)}
    for suffix, path in suffixes.items():
        if suffix not in _SUFFIXES:
            raise ValueError(
                f"{name}: {path}: expected a .parquet or a .txt file{_ADVICE.get(suffix, '; see dask.bag.read_text')}"
            )
    if len(suffixes) > 1:
        raise ValueError(f"{name}: expected files of one format, got {suffixes[PARQUET]} and {suffixes[TEXT]}")
    return Files(next(iter(suffixes)), found, folders)


def _expanded(given: Any, name: str) -> list[str]:
    """The files of one path, folder or glob; at least one."""
    path = os.fspath(given)
    if not isinstance(path, str):
        raise TypeError(f"{name}: expected paths that are str, got {quoted(path)}")
    if "://" in path:
        raise ValueError(f"{name}: {path}: expected a file that all workers see; dask.dataframe and dask.bag read from stores")
    path = os.path.abspath(path)
    if os.path.isdir(path):
        return _of_folder(path, name)
    if os.path.exists(path):
        return [path]
    if not glob.has_magic(path):
        hint = "" if os.sep in os.fspath(given) else "; a str is a path: texts are given as lists of them, a list a partition"
        raise FileNotFoundError(f"{name}: {path}: there is no such file{hint}")
    matches = _natural(match for match in glob.glob(path, recursive=True) if not _hidden(os.path.basename(match)))
    inner = [[match] if not os.path.isdir(match) else _of_folder(match, name) for match in matches]
    if not inner:
        raise FileNotFoundError(f"{name}: {path}: no file matches")
    return [file for files in inner for file in files]


def _of_folder(folder: str, name: str) -> list[str]:
    """The files of a folder and its folders that belong to it."""
    found: dict[str, list[str]] = {}
    for path in Path(folder).rglob("*"):
        if path.is_file() and not any(_hidden(part) for part in path.relative_to(folder).parts):
            found.setdefault(path.suffix.lower(), []).append(str(path))
    for suffix in _SUFFIXES:
        if suffix in found:
            return _natural(iter(found[suffix]))
    others = f", only {', '.join(sorted(suffix or 'names without a suffix' for suffix in found))}" if found else ""
    raise FileNotFoundError(f"{name}: {folder}: there is no .parquet or .txt file in this folder{others}")


def _natural(paths: Iterator[str]) -> list[str]:
    """In the order in which Dask reads the files of a folder."""
    from dask.utils import natural_sort_key

    return sorted(paths, key=natural_sort_key)


def _hidden(name: str) -> bool:
    return name.startswith((".", "_"))
