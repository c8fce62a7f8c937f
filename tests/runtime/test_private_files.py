"""Folders and files are trusted only where nobody else can have put anything; with two users where the tests run as root."""

from __future__ import annotations

import os
import pathlib
import stat
import sys
from collections.abc import Callable, Iterator

import pytest

from ubpe_numba.runtime.compiler import cache

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="folders of a user are private on Windows")
ROOT_USER = sys.platform != "win32" and os.getuid() == 0
needs_two = pytest.mark.skipif(not ROOT_USER, reason="NOT RUN: two users are needed, and only root can become them")
ADA, EVE = 12_345, 23_456


@pytest.fixture
def open_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[pathlib.Path]:
    """A folder that every user may enter and write to, sticky as /tmp is, in folders that everyone may pass."""
    folder = pathlib.Path("/tmp") / f"ubpe-two-users-{os.getpid()}"
    folder.mkdir()
    folder.chmod(0o1777)
    yield folder
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    folder.rmdir()


def as_user(user: int, call: Callable[[], object]) -> str:
    """What a call says in a process of another user: the text of its error, or "fine"."""
    out, end = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
            os.umask(0o022)
            try:
                call()
                text = "fine"
            except OSError as error:
                text = str(error)
            os.write(end, text.encode())
        finally:
            os._exit(0)
    os.close(end)
    with os.fdopen(out, "rb") as f:
        said = f.read().decode()
    os.waitpid(pid, 0)
    return said


def test_a_folder_is_made_for_its_user_alone(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "a" / "b"
    for _ in range(2):
        cache.make_folder(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for mode in (0o720, 0o702, 0o777, 0o1777):
        folder.chmod(mode)
        with pytest.raises(PermissionError, match="b can be written to by others"):
            cache.make_folder(folder)


def test_a_folder_on_the_way_that_others_may_write_to_is_refused_unless_it_is_sticky(tmp_path: pathlib.Path) -> None:
    way = tmp_path / "way"
    cache.make_folder(way / "cache")
    way.chmod(0o777)
    with pytest.raises(PermissionError, match="way, on the way to it, can be written to by others"):
        cache.check_folder(way / "cache")
    way.chmod(0o1777)
    cache.check_folder(way / "cache")


def test_own_links_are_followed_and_what_they_lead_through_is_checked(tmp_path: pathlib.Path) -> None:
    far, link, relative = tmp_path / "far", tmp_path / "link", tmp_path / "relative"
    cache.make_folder(far / "cache")
    link.symlink_to(far / "cache")
    relative.symlink_to(pathlib.Path("far") / ".." / "link")
    for folder in (link, relative):
        cache.check_folder(folder)
    far.chmod(0o777)
    for folder in (link, relative):
        with pytest.raises(PermissionError, match="far, on the way to it"):
            cache.check_folder(folder)


def test_a_path_with_dots_is_checked_where_it_leads(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("cache", "here"):
        cache.make_folder(tmp_path / name)
    monkeypatch.chdir(tmp_path / "here")
    cache.check_folder(pathlib.Path("..") / "cache")
    with pytest.raises(FileNotFoundError):
        cache.check_folder(pathlib.Path("..") / "other")


def test_a_file_is_read_if_only_its_user_can_have_written_it(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "kernel"
    file.write_bytes(b"code")
    file.chmod(0o644)
    assert cache.read_private(file) == b"code"
    for mode in (0o664, 0o646):
        file.chmod(mode)
        with pytest.raises(PermissionError, match="kernel can be written to by others"):
            cache.read_private(file)


def test_files_that_are_somewhere_else_too_are_not_read(tmp_path: pathlib.Path) -> None:
    file, link, second, pipe = (tmp_path / name for name in ("kernel", "link", "second", "pipe"))
    file.write_bytes(b"code")
    link.symlink_to(file)
    with pytest.raises(PermissionError, match="link is a symbolic link"):
        cache.read_private(link)
    os.link(file, second)
    for name in (file, second):
        with pytest.raises(PermissionError, match="has another name elsewhere"):
            cache.read_private(name)
    os.mkfifo(pipe)
    with pytest.raises(PermissionError, match="pipe is not a regular file"):
        cache.read_private(pipe)
    with pytest.raises(OSError):
        cache.read_private(tmp_path)


@needs_two
def test_a_folder_of_another_user_is_refused(open_folder: pathlib.Path) -> None:
    home = open_folder / "home"
    assert as_user(ADA, lambda: cache.make_folder(home)) == "fine"
    with pytest.raises(PermissionError, match="home, on the way to it, belongs to another user"):
        cache.make_folder(home / ".cache")  # nor does root use one below that of a user
    theirs = open_folder / "theirs"
    assert as_user(EVE, lambda: cache.make_folder(theirs)) == "fine"
    assert as_user(ADA, lambda: cache.make_folder(theirs)) == f"{theirs} belongs to another user"
    theirs.chmod(0o777)
    below = theirs / "mine"
    assert as_user(ADA, lambda: cache.make_folder(below)) == f"{theirs}, on the way to it, belongs to another user"


@needs_two
def test_a_link_of_another_user_is_refused(open_folder: pathlib.Path) -> None:
    mine, link = open_folder / "mine", open_folder / "link"
    assert as_user(ADA, lambda: cache.make_folder(mine)) == "fine"
    assert as_user(EVE, lambda: link.symlink_to(mine)) == "fine"
    assert as_user(ADA, lambda: cache.make_folder(link)) == f"{link}, on the way to it, belongs to another user"
    assert as_user(ADA, lambda: cache.check_folder(mine)) == "fine"


@needs_two
def test_a_file_of_another_user_is_not_read(open_folder: pathlib.Path) -> None:
    mine = open_folder / "mine"
    cache.make_folder(mine)
    file = mine / "kernel"
    file.write_bytes(b"code")
    os.chown(mine, ADA, ADA)
    os.chown(file, EVE, EVE)
    assert as_user(ADA, lambda: cache.check_folder(mine)) == "fine"
    assert as_user(ADA, lambda: cache.read_private(file)) == f"[Errno 13] Permission denied: '{file}'" or (
        as_user(ADA, lambda: cache.read_private(file)) == f"{file} belongs to another user"
    )
    os.chown(file, 0, 0)
    file.chmod(0o644)
    assert as_user(ADA, lambda: cache.read_private(file)) == "fine"


@needs_two
def test_a_group_may_write_on_the_way_only_if_it_is_the_users_own(open_folder: pathlib.Path) -> None:
    mine = open_folder / "mine"
    assert as_user(ADA, lambda: cache.make_folder(mine / "cache")) == "fine"
    mine.chmod(0o775)
    assert as_user(ADA, lambda: cache.check_folder(mine / "cache")) == "fine"
    os.chown(mine, ADA, EVE)
    mine.chmod(0o775)
    said = as_user(ADA, lambda: cache.check_folder(mine / "cache"))
    assert said == f"{mine}, on the way to it, can be written to by others"
