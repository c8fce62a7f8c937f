"""The state of the library: what was made of it is made again when it has changed."""

import functools
import hashlib
import pathlib

import ubpe_numba


@functools.cache
def fingerprint() -> str:
    """A hash of the sources and the data of the package, as 16 hexadecimal digits."""
    root = pathlib.Path(ubpe_numba.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]
