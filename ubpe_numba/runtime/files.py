"""Files: only regular files are read, and writing is atomic.

A reader finds the old file or the new one, never a part of it.
"""

from __future__ import annotations

import contextlib
import errno
import io
import math
import os
import pathlib
import secrets
import stat
import zipfile
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import numpy as np

from ubpe_numba.errors import ModelFormatError, quoted, shortened
from ubpe_numba.runtime.arrays import describe

BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # that files of UTF-8 may begin with
_PIECE = 1 << 16
_LONGEST_HEADER = 1000  # characters in front of an array; NumPy writes less than 150 for those of models
#: Errors of the system that come from writing, never from reading meanwhile.
_OF_WRITING = {getattr(errno, name, -1) for name in ("ENOSPC", "EFBIG", "EDQUOT", "EROFS", "EBADF")}


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file, or a link to one, for reading in binary.

    Raises ModelFormatError for anything else, since opening a pipe may block and a device may never end;
    OSError if it cannot be opened, IsADirectoryError for a folder.
    """
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    flags = sum(getattr(os, name, 0) for name in ("O_RDONLY", "O_NONBLOCK", "O_BINARY", "O_CLOEXEC"))
    # one call, of `next`: a Ctrl-C is raised when a call returns, and would leave an open descriptor without
    # an owner
    raw = next(map(io.FileIO, map(os.open, [path], [flags])))
    if not stat.S_ISREG(os.fstat(raw.fileno()).st_mode):
        raw.close()
        raise ModelFormatError(f"{os.fspath(path)}: not a regular file")
    return io.BufferedReader(raw)


def is_object(f: BinaryIO) -> bool:
    r"""Whether a file holds a JSON object: its first byte after white space is ``{``.

    It is read in pieces of `_PIECE` bytes up to there, and no further.

    >>> is_object(io.BytesIO(b" \n{}")), is_object(io.BytesIO(b" []")), is_object(io.BytesIO(b" "))
    (True, False, False)
    """
    piece = f.read(_PIECE).removeprefix(BYTE_ORDER_MARK)
    while piece and not (rest := piece.lstrip(b" \t\r\n")):
        piece = f.read(_PIECE)
    return bool(piece) and rest.startswith(b"{")


@contextlib.contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Put the path before the message of a ModelFormatError that the block raises."""
    try:
        yield
    except ModelFormatError as error:
        raise ModelFormatError(f"{os.fspath(path)}: {error}") from error


@contextlib.contextmanager
def naming_target(path: str) -> Iterator[None]:
    """Add the file's name to system errors of writes in the block, and to errors of a closed file."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno in _OF_WRITING:
            error.filename = path
        raise


def _named(path: Any) -> str:
    """A path as text; TypeError or ValueError for other values."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise TypeError(f"path: expected the path of a file, got {describe(path)}")
    if "\0" in (name := os.fsdecode(path)):
        raise ValueError(f"path: expected the path of a file, got {quoted(name)}, with a null character")
    return name


def suffix_of(path: str | os.PathLike[str], known: tuple[str, ...]) -> str:
    """The suffix of a path in lower case; ValueError if it is not one of those `known`.

    >>> suffix_of("model.NPZ", (".json", ".npz"))
    '.npz'
    """
    suffix = pathlib.Path(_named(path)).suffix.lower()
    if suffix not in known:
        raise ValueError(
            f"path: expected a name that ends in {' or '.join(known)}, got "
            f"{shortened(repr(os.fspath(path)), 500)}"
        )
    return suffix


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a temporary file in the same folder, flush it to the disk, and rename it.

    A kill leaves the old file or the new file.

    Raises OSError (disk full, permission denied, folder missing), with the target, after removing the
    temporary file.
    """
    with atomically(path) as f:
        f.write(data)


@contextlib.contextmanager
def atomically(path: str | os.PathLike[str], *, new: bool = False) -> Iterator[BinaryIO]:
    """`write_atomically` for data written in pieces.

    The target is replaced when the block ends without an exception.

    As with `open(path, "w")`, a link is followed, and an existing file keeps its mode and, if the system
    allows it, its owner. PermissionError for a file without permission to write. With `new` nothing is
    replaced, even if another process wrote the file meanwhile: FileExistsError.
    """
    target = pathlib.Path(os.path.realpath(_named(path)))
    old = os.stat(target) if target.is_file() else None
    if old is not None and not (old.st_mode & 0o222 and os.access(target, os.W_OK)):  # root may write to any
        raise PermissionError(errno.EACCES, "a read-only file, which is not replaced", str(target))
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    try:
        # a file object, and nothing between it and its block: a Ctrl-C that comes just after the call leaves
        # no open file
        with naming_target(str(target)), open(temporary, "xb") as f:
            if old is not None and os.name == "posix":
                with contextlib.suppress(OSError):
                    os.fchown(f.fileno(), old.st_uid, old.st_gid)
                os.fchmod(f.fileno(), stat.S_IMODE(old.st_mode))
            yield f
            f.flush()
            os.fsync(f.fileno())
        (_link if new else os.replace)(temporary, target)
    except BaseException as error:
        if isinstance(error, OSError) and error.filename in (temporary, str(temporary)):
            error.filename = str(target)
            del error.filename2
        with contextlib.suppress(OSError):  # there is none when that was the error
            os.unlink(temporary)
        raise
    if os.name == "posix":  # have the rename itself on the disk
        handles: list[int] = []
        try:
            handles.extend(map(os.open, [target.parent], [os.O_RDONLY]))  # one call, as in `open_regular`
            os.fsync(handles[0])
        finally:
            for handle in handles:
                os.close(handle)


def _link(temporary: pathlib.Path, target: pathlib.Path) -> None:
    """Give a file its name; FileExistsError if the name is in use.

    One step, on file systems of networks too.
    """
    try:
        os.link(temporary, target)
    except (FileExistsError, FileNotFoundError):
        raise
    except OSError:  # a file system without links; two steps
        if target.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
        os.replace(temporary, target)
    else:
        os.unlink(temporary)


def npz_of(arrays: dict[str, np.ndarray]) -> bytes:
    """The content of an npz file of these arrays, not compressed."""
    buffer = io.BytesIO()
    try:
        # `np.savez` of NumPy 2.0 cannot be told to refuse objects
        with zipfile.ZipFile(buffer, "w") as archive:
            for name, array in arrays.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)
    except ValueError as error:
        if not buffer.closed:
            raise
        # closed by that, which zipfile then tells
        raise MemoryError("no memory for the bytes of an npz file") from error
    return buffer.getvalue()


def read_arrays(
    f: BinaryIO, known: dict[str, str], all_of: Iterable[str] | None = None
) -> dict[str, np.ndarray]:
    """Read the arrays of an npz file that may hold anything.

    `known` maps each allowed name to the allowed kinds of its dtype, as `"iu"`; `all_of` are the names that
    must be there, None: all of `known`. Raises ModelFormatError for anything else, and for compressed
    members: an uncompressed one cannot claim more memory than the file has bytes.
    """
    n_bytes = f.seek(0, os.SEEK_END)
    try:
        with zipfile.ZipFile(f) as archive:
            arrays = {}
            for info in archive.infolist():
                name = info.filename.removesuffix(".npy")
                kinds = known.get(name)
                if kinds is None or name in arrays:
                    raise ModelFormatError(f"npz: unexpected member {quoted(info.filename)}")
                if info.compress_type != zipfile.ZIP_STORED or info.file_size > n_bytes:
                    raise ModelFormatError(
                        f"npz: member {quoted(info.filename)} is compressed or claims too many bytes"
                    )
                arrays[name] = _array(name, archive.read(info), kinds)
    except (ModelFormatError, MemoryError):  # the second says nothing of the file
        raise
    except Exception as error:  # zipfile raises many types for a damaged archive, OverflowError included
        raise ModelFormatError(f"not a valid npz file: {shortened(error)}") from error
    for name in known if all_of is None else all_of:
        if name not in arrays:
            raise ModelFormatError(f"npz: the member {quoted(name)} is missing")
    return arrays


def _array(name: str, data: bytes, kinds: str) -> np.ndarray:
    """Read an .npy member, whose header must fit the bytes after it exactly; `kinds` as in `read_arrays`."""
    stream = io.BytesIO(data)
    try:
        if np.lib.format.read_magic(stream) != (1, 0):
            raise ModelFormatError(f"npz: {name}: expected format 1.0")
        # many thousand operators or brackets are a MemoryError of Python's parser, which would look like a
        # lack of memory
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream, max_header_size=_LONGEST_HEADER)
    except (ModelFormatError, MemoryError):
        raise
    except Exception as error:  # NumPy parses the header as Python source and raises any error of the parser
        raise ModelFormatError(f"npz: {name}: not a valid array header: {shortened(error)}") from error
    if dtype.kind not in kinds or dtype.hasobject or fortran or len(shape) not in (1, 2):
        raise ModelFormatError(f"npz: {name}: unexpected dtype {shortened(dtype)} or shape {quoted(shape)}")
    if (
        not all(type(size) is int and size >= 0 for size in shape)
        or math.prod(shape) * dtype.itemsize != len(data) - stream.tell()
    ):
        raise ModelFormatError(
            f"npz: {name}: shape {quoted(shape)} does not match {len(data) - stream.tell()} bytes"
        )
    return np.frombuffer(data, dtype, offset=stream.tell()).reshape(shape)
