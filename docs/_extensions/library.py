"""The state of the library and of these extensions: what was made of them is made again when they have changed."""

import functools
import hashlib
import pathlib
import shutil

from sphinx.application import Sphinx

import ubpe_numba


@functools.cache
def fingerprint() -> str:
    """A hash of the sources and the data of the package, as 16 hexadecimal digits."""
    return _hash(pathlib.Path(ubpe_numba.__file__).parent)


def _hash(root: pathlib.Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _forget_old(app: Sphinx) -> None:
    """Remove what notebooks gave with another state of the library."""
    current = pathlib.Path(app.config.nb_execution_cache_path)
    for folder in current.parent.glob("*"):
        if folder.name != current.name:
            shutil.rmtree(folder)


def setup(app: Sphinx) -> dict[str, bool]:
    """Read all pages again if the library or an extension is another one than at the last build."""
    app.add_config_value("made_of", fingerprint() + _hash(pathlib.Path(__file__).parent), "env")
    app.connect("builder-inited", _forget_old)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
