"""Writing files so that a reader finds the old one or the new one, and nothing between."""

from __future__ import annotations

import os
import pathlib
import secrets


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write beside the target, flush to the disk, rename. A kill at any moment leaves the old file or the new one.

    Raises OSError (no space, no permission, no such directory), with the temporary file removed.
    """
    target = pathlib.Path(path)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(handle, "wb") as f:
            f.write(data)
            f.flush()
            os.fsync(f.fileno())
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise
    if os.name == "posix":
        directory = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(directory)  # the rename itself must reach the disk too
        finally:
            os.close(directory)
