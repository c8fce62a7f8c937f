"""Files that nobody else can exchange: what is read from them may be executed.

A file is trusted if only this user and root can have written it. That takes more than its own mode: whoever may rename a folder
on the way to it can put another in its place. So each folder and each symbolic link on the way has to belong to this user or to
root, and no one else may write to a folder, unless it is sticky as that for temporary files is, where only the owner of an entry
can rename or remove it. What passes cannot be changed by others between the check and its use, and the check need not be atomic.

    /home/ada/.cache/ubpe_numba     / root    home root    ada ada    .cache ada    ubpe_numba ada 0700      trusted
    /sticky/cache                   / root    sticky root, 1777       cache ada 0700                         trusted
    /sticky/eve/cache               / root    sticky root, 1777       eve eve                                refused
    /shared/cache                   / root    shared root, 0777       cache ada 0700                         refused

A group may write where it is this user's own (its number is the user's, as most Linux systems make it) or root's. Access lists
show in the bits of the group. On Windows nothing is checked: the folders of a user are private there.
"""

from __future__ import annotations

import os
import pathlib
import stat

_POSIX = hasattr(os, "getuid")
_MOST_LINKS = 40  # as Linux follows


def make_folder(path: pathlib.Path) -> None:
    """Create a folder that only this user can write to, mode 0700, with its parents; or check one that is there.

    Raises
    ------
    PermissionError
        If another user owns it or a folder on the way to it, or may write to one.
    OSError
        If it cannot be created.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    check_folder(path)


def check_folder(path: pathlib.Path) -> None:
    """Check that nobody else can have put anything into a folder. PermissionError names what is wrong, and where."""
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
    here, names, links = pathlib.Path(path.anchor), list(reversed(path.parts[1:])), 0
    _check_step(here, here.lstat(), user)
    while names:
        name = names.pop()
        if name == "..":  # of the target of a link: `here` has no links in it
            here = here.parent
            continue
        step = here / name
        status = step.lstat()
        _check_step(step, status, user)
        if stat.S_ISLNK(status.st_mode):
            links += 1
            if links > _MOST_LINKS:
                raise PermissionError(f"{path} leads through more than {_MOST_LINKS} symbolic links")
            target = pathlib.Path(os.readlink(step))
            if target.is_absolute():
                here, target = pathlib.Path(target.anchor), target.relative_to(target.anchor)
            names += reversed(target.parts)
        else:
            here = step


def _check_step(path: pathlib.Path, status: os.stat_result, user: int) -> None:
    if status.st_uid not in (0, user):
        raise PermissionError(f"{path}, on the way to it, belongs to another user")
    if not stat.S_ISLNK(status.st_mode) and not status.st_mode & stat.S_ISVTX:
        if status.st_mode & 0o002 or (status.st_mode & 0o020 and status.st_gid not in (0, user)):
            raise PermissionError(f"{path}, on the way to it, can be written to by others")


def read(path: pathlib.Path) -> bytes:
    """The content of a file that only this user and root can have written; of a trusted folder (`check_folder`).

    Raises
    ------
    PermissionError
        If the file is a symbolic link, not a regular file, has a second name elsewhere (a hard link), belongs to another user or
        may be written to by others. What is checked is what is read, not what the name says a moment later.
    OSError
        If it cannot be read.
    """
    if not _POSIX:
        return path.read_bytes()
    if path.is_symlink():
        raise PermissionError(f"{path} is a symbolic link")
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)  # a named pipe would wait for a writer
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
