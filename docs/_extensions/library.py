"""The state of the library and of these extensions: what was made of them is made again when they have changed."""

import functools
import hashlib
import pathlib
import shutil
from collections.abc import Iterator

from sphinx.application import Sphinx

import ubpe_numba


@functools.cache
def fingerprint() -> str:
    """A hash of the sources and the data of the package, as 16 hexadecimal digits."""
    return hash_of(*_files(pathlib.Path(ubpe_numba.__file__).parent))


def hash_of(*parts: bytes) -> str:
    """A hash of some bytes, as 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()[:16]


def _files(root: pathlib.Path) -> Iterator[bytes]:
    for path in sorted(root.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield from (path.relative_to(root).as_posix().encode(), path.read_bytes())


def _forget_old(app: Sphinx) -> None:
    """Remove what notebooks gave with another state of the library."""
    current = pathlib.Path(app.config.nb_execution_cache_path)
    for folder in current.parent.glob("*"):
        if folder.name != current.name:
            shutil.rmtree(folder)


def setup(app: Sphinx) -> dict[str, bool]:
    """Read all pages again if the library, an extension or the gallery is another one than at the last build."""
    here = pathlib.Path(__file__).parent
    app.add_config_value(
        "made_of", fingerprint() + hash_of(*_files(here), *_files(here.parent / "gallery")), "env"
    )
    app.connect("builder-inited", _forget_old)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
