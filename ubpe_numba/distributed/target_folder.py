"""The folder that encoded or decoded partitions are written to: a file for each, and a manifest that says what they are.

    _ubpe.json              the manifest: made by `encode` or `decode`, with which model and settings, of which partitions
    part-00000.parquet      a partition that is there whole
    .part-00001.parquet.4f00c2a9d1b7e655.tmp     one that is being written, or was when its process was killed

A run that finds files does the rest only. It is refused where the manifest says anything else than it would write itself.

Several runs may write to one folder at once: by the manifest they write the same, each under temporary names of its own, and a
partition that one of them has finished the others leave out. Nothing is locked, and no clock is asked, as neither can be relied
on where file systems are shared by a network. A temporary file is removed by the first run that sees all partitions there whole,
whether its process was killed or is at work still: nobody needs it any more, and a task whose temporary file is gone finds the
partition there and has nothing left to do (`write_part`).
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from ubpe_numba.runtime.files import atomically

MANIFEST = "_ubpe.json"
_FORMAT = 1


class TargetFolder(NamedTuple):
    """A folder for `n_parts` files, by its absolute path."""

    path: str
    n_parts: int

    def file(self, i: int) -> str:
        """The path of partition i.

        >>> TargetFolder("/data/ids", 3).file(2)
        '/data/ids/part-00002.parquet'
        """
        return os.path.join(self.path, f"part-{i:0{max(5, len(str(self.n_parts - 1)))}}.parquet")

    def begin(self, manifest: dict[str, Any]) -> list[int]:
        """Make the folder with the manifest, or find that one that is there has the same; the partitions that are missing.

        Raises
        ------
        ValueError
            If the manifest that is there says something else, naming what, or is none.
        FileExistsError
            If there is no manifest, but something else.
        OSError
            If the folder cannot be made or written to.
        """
        os.makedirs(self.path, exist_ok=True)
        where = os.path.join(self.path, MANIFEST)
        manifest = {"format": _FORMAT, **manifest}
        others = [name for name in sorted(os.listdir(self.path)) if not _is_temporary(name)]
        if not os.path.exists(where):  # asked after the folder was listed: another run may begin at the same time
            if others:
                raise FileExistsError(
                    f"target: {self.path}: expected a new or an empty folder, or one with {MANIFEST}, got {others[0]} in it"
                )
            with suppress(FileExistsError, FileNotFoundError), atomically(where, new=True) as file:
                file.write(json.dumps(manifest, indent=1).encode())
        _check_same(_read(where), manifest, self.path)
        return [i for i in range(self.n_parts) if not os.path.exists(self.file(i))]

    def finish(self) -> list[str]:
        """The files in the order of the partitions, without the temporary ones; FileNotFoundError if they are elsewhere."""
        files = [self.file(i) for i in range(self.n_parts)]
        for file in files:
            if not os.path.exists(file):
                raise FileNotFoundError(
                    f"target: a worker wrote {file}, but it is not here: all machines have to share the folder"
                )
        for name in os.listdir(self.path):
            if _is_temporary(name):
                with suppress(FileNotFoundError, PermissionError):  # another run was first; on Windows a file is open there
                    os.unlink(os.path.join(self.path, name))
        return files


def write_part(path: str, write: Callable[[str], None]) -> None:
    """In a worker: let the file of a partition be written by a function that writes `atomically`, unless it is there whole."""
    if os.path.exists(path):
        return
    try:
        write(path)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ESTALE) or not os.path.exists(path):
            raise


def _is_temporary(name: str) -> bool:
    """Whether a file is one that `atomically` writes before it has its name."""
    return name.endswith(".tmp") and name.startswith((".part-", f".{MANIFEST}"))


def _read(where: str) -> dict[str, Any]:
    """The manifest; ValueError if it is none."""
    try:
        with open(where, "rb") as file:
            found = json.load(file)
    except ValueError as error:
        raise ValueError(f"target: {where}: not a manifest: {error}") from error
    if not isinstance(found, dict) or found.get("format") != _FORMAT:
        raise ValueError(f"target: {where}: not a manifest of format {_FORMAT}")
    return found


def _check_same(found: dict[str, Any], wanted: dict[str, Any], path: str) -> None:
    """ValueError, naming the first difference, unless two manifests say the same."""
    for key in wanted:
        old, new = found.get(key), wanted[key]
        if old == new:
            continue
        if key == "parts" and isinstance(old, list):
            at = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), None)
            if at is None:
                raise ValueError(f"target: {path}: was made of {len(old)} partitions, the source now has {len(new)}")
            old, new, key = old[at], new[at], f"partition {at}"
        raise ValueError(f"target: {path}: was made with another {key}: {old}, now {new}; give another folder")
