"""The cache of compiled kernels: one checksummed file per kernel and signature.

Numba's own cache has three faults. It stamps only the file that a kernel is written in, so after a change of
a helper elsewhere it runs stale machine code. It raises when its directory cannot be written. It shares one
index file between processes. Here the name of a file is the hash of everything that the code depends on (all
kernel sources, versions, processor, flags, signature), and a file is replaced atomically. After any failure
the kernel is compiled again, with one warning per process.

A second cache, only read, is the package `ubpe-numba-kernels`, if it is installed. `tools/kernels_wheel.py`
builds it: kernels compiled for a level of processors that nearly all machines have reached. Code for
x86-64-v3 is as fast as code for the machine itself (0.98 to 1.03 of its time). A package that does not fit
(another version, changed sources) has other names, so nothing is found in it. It is trusted as this package
is.

Environment: `UBPE_CACHE_DIR` moves the cache, `UBPE_CACHE=0` turns it off. Compiled code is executed. So the
directory is private to the user, mode 0700, and rejected if anyone but this user and root can have written to
it. Its own mode is not enough: someone who may rename a folder on the way to it can replace it. So each
folder and each symbolic link on the way must belong to this user or to root, and others must not be able to
write to a folder. Sticky folders, as for temporary files, are accepted: there only the owner of an entry can
rename or remove it. A folder that passes cannot be changed by others between the check and its use, so the
check need not be atomic.

    /home/ada/.cache/ubpe_numba  / root    home root    ada ada    .cache ada    ubpe_numba ada 0700   trusted
    /sticky/cache                / root    sticky root, 1777       cache ada 0700                      trusted
    /sticky/eve/cache            / root    sticky root, 1777       eve eve                             refused
    /shared/cache                / root    shared root, 0777       cache ada 0700                      refused

A group may write if it is this user's own (its number is the user's, as on most Linux systems) or root's.
Access lists show in the bits of the group. On Windows nothing is checked: the folders of a user are private
there.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import pathlib
import platform
import stat
import sys
import tempfile
import warnings
from typing import Any

import llvmlite
import numba
import numpy as np
from llvmlite import binding as llvm
from numba import config

from ubpe_numba.runtime import border
from ubpe_numba.runtime.messages import warn

_PACKAGE = pathlib.Path(__file__).parents[2]
_warned = False
_POSIX = hasattr(os, "getuid")
_MOST_LINKS = 40  # as Linux follows

PACKAGE = "ubpe_numba_kernels"
STAMP = "stamp.txt"  # a file of it: what its kernels depend on
#: By machine: the processor that is compiled for, as LLVM calls it, and the features that a machine needs to
#: run the code.
_V3 = ("avx2", "bmi", "bmi2", "cx16", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sahf", "sse4.2", "xsave")
TARGETS: dict[str, tuple[str, tuple[str, ...]]] = {
    "x86_64": ("x86-64-v3", _V3),
    "amd64": ("x86-64-v3", _V3),
    "aarch64": ("generic", ()),
    "arm64": ("generic", ()),
}


def make_folder(path: pathlib.Path) -> None:
    """Create a folder that only this user can write to, mode 0700, with its parents.

    An existing folder is checked.

    PermissionError as `check_folder`, OSError if it cannot be created.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    check_folder(path)


def check_folder(path: pathlib.Path) -> None:
    """Check that nobody else can have put anything into a folder. PermissionError has the reason."""
    if not _POSIX:
        return
    user = os.getuid()
    status = path.stat()
    if status.st_uid != user:
        raise PermissionError(f"{path} belongs to another user")
    if status.st_mode & 0o022:
        raise PermissionError(f"{path} can be written to by others")
    _check_way(pathlib.Path(os.path.abspath(path)), user)


def _check_way(path: pathlib.Path, user: int) -> None:
    """Check all folders and links on the way to an absolute path."""
    here, names, links = pathlib.Path(), list(reversed(path.parts)), 0
    while names:
        name = names.pop()
        if name == "..":  # of the target of a link: links in `here` are resolved
            here = here.parent
            continue
        step = here / name
        status = step.lstat()
        _check_step(step, status, user)
        if stat.S_ISLNK(status.st_mode):
            links += 1
            if links > _MOST_LINKS:
                raise PermissionError(f"{path} leads through more than {_MOST_LINKS} symbolic links")
            names += reversed(pathlib.Path(os.readlink(step)).parts)
        else:
            here = step


def _check_step(path: pathlib.Path, status: os.stat_result, user: int) -> None:
    if status.st_uid not in (0, user):
        raise PermissionError(f"{path}, on the way to it, belongs to another user")
    if not stat.S_ISLNK(status.st_mode) and not status.st_mode & stat.S_ISVTX:
        if status.st_mode & 0o002 or (status.st_mode & 0o020 and status.st_gid not in (0, user)):
            raise PermissionError(f"{path}, on the way to it, can be written to by others")


def read_private(path: pathlib.Path) -> bytes:
    """Read a file that only this user and root can have written; its folder is trusted (`check_folder`).

    PermissionError if the file is a symbolic link, is not a regular file, or has a second name elsewhere (a
    hard link). Also if it belongs to another user or may be written to by others. The open file is checked,
    wherever its name leads later.
    """
    if not _POSIX:
        return path.read_bytes()
    if path.is_symlink():
        raise PermissionError(f"{path} is a symbolic link")
    # a named pipe would wait for a writer
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(file, "rb") as f:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            raise PermissionError(f"{path} is not a regular file")
        if status.st_uid not in (0, os.getuid()):
            raise PermissionError(f"{path} belongs to another user")
        if status.st_nlink > 1:
            raise PermissionError(f"{path} has another name elsewhere")
        if status.st_mode & 0o022:
            raise PermissionError(f"{path} can be written to by others")
        return f.read()


@functools.cache
def prebuilt() -> tuple[pathlib.Path, str] | None:
    """The folder of `ubpe-numba-kernels` and its processor.

    None if it is missing or, with one warning, does not fit.
    """
    spec = importlib.util.find_spec(PACKAGE)
    # an explicit NUMBA_CPU_NAME wins
    if config.CPU_NAME is not None or spec is None or not spec.submodule_search_locations:
        return None
    folder = pathlib.Path(spec.submodule_search_locations[0])
    processor, needed = TARGETS.get(platform.machine().lower(), ("", ()))
    has = llvm.get_host_cpu_features() if needed else {}
    stamp = folder / STAMP
    if not processor or not all(has.get(feature) for feature in needed):
        reason = "this processor cannot run its code"
    elif not stamp.exists() or stamp.read_text() != _stamp():
        reason = "it was built for other versions of ubpe-numba, numba or Python, or with other settings"
    else:
        return folder, processor
    way = "kernels are compiled on this machine instead. Install the wheel that fits"
    warn(f"ubpe-numba-kernels: {reason}; {way}", RuntimeWarning)
    return None


def kernel_sources() -> list[pathlib.Path]:
    """Files that compiled code may depend on.

    These are compiler options, this cache, and the folders of kernels and helpers.

    >>> [path.name for path in kernel_sources() if path.parent.name == "machine"][:2]
    ['__init__.py', 'bytes.py']
    """
    runtime = _PACKAGE / "runtime"
    folders = [runtime / "machine", runtime / "tables", *_PACKAGE.glob("*/kernels")]
    return sorted(
        [
            *(runtime / "compiler" / f"{name}.py" for name in ("__init__", "cache", "passes")),
            *(file for folder in folders for file in folder.glob("*.py")),
            _PACKAGE / "inside" / "native.py",
        ]
    )


@functools.cache
def _stamp() -> str:
    """Hash of everything that compiled code depends on except signature and processor.

    numba adds these to each key.
    """
    h = hashlib.sha256()
    for path in kernel_sources():
        h.update(path.relative_to(_PACKAGE).as_posix().encode() + b"\0" + path.read_bytes())
    flags = (config.BOUNDSCHECK, config.OPT, config.DEBUGINFO_DEFAULT, border.names("passes") is None)
    python = sys.implementation.cache_tag, getattr(sys, "abiflags", ""), np.__version__.partition(".")[0]
    h.update(repr((numba.__version__, llvmlite.__version__, python, flags)).encode())
    return h.hexdigest()


@functools.cache
def directory() -> pathlib.Path:
    """The directory of the cache, which need not exist; it does not change during the process."""
    if own := os.environ.get("UBPE_CACHE_DIR"):
        # no shell has replaced ~ in a file of settings
        return pathlib.Path(os.path.expanduser(own)).absolute()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or tempfile.gettempdir()
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    folder = pathlib.Path(os.path.expanduser(base)) / "ubpe_numba"
    if folder.is_absolute():
        return folder
    # no home: a user without an entry and a variable, as in containers; XDG_CACHE_HOME is ignored if it is
    # relative, as it says
    user = os.getuid() if hasattr(os, "getuid") else "user"
    return pathlib.Path(tempfile.gettempdir()) / f"ubpe_numba-{user}"


def _warn(failure: str, error: BaseException) -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            f"kernel cache: {failure} ({error}); kernels are compiled anew in this process", RuntimeWarning, 5
        )


class Cache:
    """The cache of a kernel, as its dispatcher asks for it; one file per signature.

    A file is 32 bytes of SHA-256, then the payload. A shared index, which two processes could corrupt, does
    not exist.
    """

    def __init__(self, function: Any) -> None:
        # kernels of two wings may share a name
        module = function.__module__.partition(".")[2].replace(".kernels.", ".")
        self._base = f"{module}.{function.__name__}"
        self._code = hashlib.sha256(function.__code__.co_code).hexdigest()

    @property
    def cache_path(self) -> str:
        """The folder, for the statistics of a dispatcher."""
        return str(directory())

    def path(self, key: object, folder: pathlib.Path | None = None) -> pathlib.Path:
        """The file of a key, in the user's cache or in another folder."""
        name = hashlib.sha256(repr((_stamp(), self._code, key)).encode()).hexdigest()[:32]
        return (folder or directory()) / f"{self._base}.{name}.nbc"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """A compiled kernel of the cache, or None.

        Numba would set up all its knowledge of Python and NumPy before it reads a kernel, a quarter of a
        second. Machine code only needs the addresses of functions that it calls, and few kernels call
        functions that are not known from the start.
        """
        names = border.names("cache")
        try:
            path = self._find(sig, target_context.codegen())
            if path is None:
                return None
            # a package of kernels is trusted like the code next to it
            data = read_private(path) if path.parent == directory() else path.read_bytes()
            if hashlib.sha256(data[32:]).digest() != data[:32]:
                raise ValueError(f"{path.name} is damaged")
            symbols, payload = names.loads(data[32:])
            if None in map(llvm.address_of_symbol, symbols):
                target_context.refresh()
                # of a library that is not installed: LLVM would end the process
                if None in map(llvm.address_of_symbol, symbols):
                    return None
            return names.CompileResult._rebuild(target_context, *payload)
        except Exception as e:
            _warn("a compiled kernel could not be read", e)
            return None

    def _find(self, sig: Any, codegen: Any) -> pathlib.Path | None:
        """The file of a kernel in the user's cache or in a package of kernels; None if in neither."""
        triple, *processor = codegen.magic_tuple()
        path = self.path((sig, triple, *processor))
        if path.exists():
            check_folder(path.parent)
            return path
        if (other := prebuilt()) is None:
            return None
        folder, processor_of_all = other
        path = self.path((sig, triple, processor_of_all, ""), folder)
        return path if path.exists() else None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled kernel, with the names of the functions that it calls."""
        try:
            if not data.library.has_dynamic_globals:
                make_folder(directory())
                functions = data.library._final_module.functions
                symbols = [f.name for f in functions if f.is_declaration and not f.name.startswith("llvm.")]
                payload = border.names("cache").dumps((symbols, data._reduce()))
                path = self.path((sig, *data.codegen.magic_tuple()))
                handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=self._base[:40])
                try:
                    with os.fdopen(handle, "wb") as f:
                        f.write(hashlib.sha256(payload).digest() + payload)
                    os.replace(temporary, path)
                except BaseException:
                    os.unlink(temporary)
                    raise
        except Exception as e:
            _warn(f"a compiled kernel could not be kept in {directory()}; set UBPE_CACHE_DIR", e)

    def flush(self) -> None:
        """Do nothing: this cache does not use an index."""
