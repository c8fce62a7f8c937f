"""Files: read only if they are files, and written so that a reader finds the old one or the new one, and nothing between."""

from __future__ import annotations

import contextlib
import errno
import os
import pathlib
import secrets
import stat
from collections.abc import Iterator
from typing import BinaryIO

from ubpe_numba.errors import ModelFormatError


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open for reading what is a file, or a link to one.

    A pipe could be waited for without end, a device read without end: ModelFormatError. OSError where it cannot be opened.
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
        raise ModelFormatError(f"{os.fspath(path)}: not a regular file")
    return os.fdopen(handle, "rb")


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write beside the target, flush to the disk, rename. A kill at any moment leaves the old file or the new one.

    Raises OSError (no space, no permission, no such directory), with the temporary file removed.
    """
    with atomically(path) as f:
        f.write(data)


@contextlib.contextmanager
def atomically(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """`write_atomically` for what is written bit by bit: the target changes when the block ends, if no exception ends it."""
    target = pathlib.Path(path)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(handle, "wb") as f:
            yield f
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
