"""Files: read only if they are files, and written so that a reader finds the old one or the new one, and nothing between."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import pathlib
import secrets
import stat
import zipfile
from collections.abc import Iterable, Iterator
from typing import BinaryIO

import numpy as np

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


def read_arrays(f: BinaryIO, known: dict[str, str], all_of: Iterable[str] | None = None) -> dict[str, np.ndarray]:
    """The arrays of an npz file: those that are `known`, with the kinds of their dtypes, all or at least `all_of`.

    Members are stored, not compressed, so that no file claims more memory than its own size. ModelFormatError otherwise.
    """
    n_bytes = os.fstat(f.fileno()).st_size
    try:
        with zipfile.ZipFile(f) as archive:
            arrays = {}
            for info in archive.infolist():
                name = info.filename.removesuffix(".npy")
                kinds = known.get(name)
                if kinds is None or name in arrays:
                    raise ModelFormatError(f"npz: unexpected member {info.filename!r}")
                if info.compress_type != zipfile.ZIP_STORED or info.file_size > n_bytes:
                    raise ModelFormatError(f"npz: member {info.filename!r} is compressed or claims too many bytes")
                arrays[name] = _array(name, archive.read(info), kinds)
    except ModelFormatError:
        raise
    except Exception as error:  # of a damaged archive zipfile lets out whatever it stumbles over, OverflowError included
        raise ModelFormatError(f"not a valid npz file: {error}") from error
    for name in known if all_of is None else all_of:
        if name not in arrays:
            raise ModelFormatError(f"npz: the member {name!r} is missing")
    return arrays


def _array(name: str, data: bytes, kinds: str) -> np.ndarray:
    """An .npy member: its header must say exactly what follows it."""
    stream = io.BytesIO(data)
    try:
        if np.lib.format.read_magic(stream) != (1, 0):
            raise ModelFormatError(f"npz: {name}: expected format 1.0")
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    except ModelFormatError:
        raise
    except Exception as error:  # NumPy parses the header as Python text, and lets out whatever the parser raises
        raise ModelFormatError(f"npz: {name}: not a valid array header: {error}") from error
    n = 1
    for size in shape:
        n *= size
    if dtype.kind not in kinds or dtype.hasobject or fortran or len(shape) not in (1, 2):
        raise ModelFormatError(f"npz: {name}: unexpected dtype {dtype} or shape {shape}")
    if not all(type(size) is int and size >= 0 for size in shape) or n * dtype.itemsize != len(data) - stream.tell():
        raise ModelFormatError(f"npz: {name}: shape {shape} does not match {len(data) - stream.tell()} bytes")
    return np.frombuffer(data, dtype, offset=stream.tell()).reshape(shape)
