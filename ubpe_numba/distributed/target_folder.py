"""The folder that encoded or decoded partitions are written to: a file for each, and a manifest that says what they are.

    _ubpe.json              the manifest: made by `encode` or `decode`, with which model and settings, of which partitions
    part-00000.parquet      a partition that is there whole
    .part-00001.parquet.4f00c2a9d1b7e655.tmp     one that is being written, or was when its process was killed

A run that finds files does the rest only. It is refused where the manifest says anything else than it would write itself.
"""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

from ubpe_numba.runtime.files import write_atomically

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
        if os.path.exists(where):
            _check_same(_read(where), manifest, self.path)
        else:
            if others := [name for name in sorted(os.listdir(self.path)) if not _is_temporary(name)]:
                raise FileExistsError(
                    f"target: {self.path}: expected a new or an empty folder, or one with {MANIFEST}, got {others[0]} in it"
                )
            self.remove_temporary()
            write_atomically(where, json.dumps(manifest, indent=1).encode())
        return [i for i in range(self.n_parts) if not os.path.exists(self.file(i))]

    def remove_temporary(self) -> None:
        """Remove what killed processes left."""
        for name in os.listdir(self.path):
            if _is_temporary(name):
                os.unlink(os.path.join(self.path, name))

    def finish(self) -> list[str]:
        """The files in the order of the partitions; FileNotFoundError if the workers wrote them elsewhere."""
        self.remove_temporary()
        files = [self.file(i) for i in range(self.n_parts)]
        for file in files:
            if not os.path.exists(file):
                raise FileNotFoundError(
                    f"target: a worker wrote {file}, but it is not here: all machines have to share the folder"
                )
        return files


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
