"""Folders and files are trusted only where nobody else can have put anything; with two users where the tests run as root."""

import os
import pathlib
import stat
import sys
from collections.abc import Callable, Iterator

import pytest

from ubpe_numba.runtime.compiler import cache

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="folders of a user are private on Windows")
ROOT_USER = sys.platform != "win32" and os.getuid() == 0
needs_two = pytest.mark.skipif(
    not ROOT_USER, reason="NOT RUN: two users are needed, and only root can become them"
)
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


def said(call: Callable[[], object]) -> str:
    """What a call says: the text of its error, or "fine"."""
    try:
        call()
    except OSError as error:
        return str(error)
    return "fine"


def as_user(user: int, call: Callable[[], object]) -> str:
    """What a call says in a process of another user."""
    out, end = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
            os.umask(0o022)
            os.write(end, said(call).encode())
        finally:
            os._exit(0)
    os.close(end)
    with os.fdopen(out, "rb") as f:
        text = f.read().decode()
    os.waitpid(pid, 0)
    return text


def test_a_folder_is_made_for_its_user_alone(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "a" / "b"
    for _ in range(2):
        cache.make_folder(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for mode in (0o720, 0o702, 0o777, 0o1777):
        folder.chmod(mode)
        assert said(lambda: cache.make_folder(folder)) == f"{folder} can be written to by others"


def test_the_way_to_a_folder_is_checked_where_it_leads(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No folder on the way may be written to by others, unless it is sticky; own links are followed."""
    far, here, link, relative = (tmp_path / name for name in ("far", "here", "link", "relative"))
    for folder in (far / "cache", here):
        cache.make_folder(folder)
    link.symlink_to(far / "cache")
    relative.symlink_to(pathlib.Path("here") / ".." / "link")
    monkeypatch.chdir(here)
    ways = (far / "cache", link, relative, pathlib.Path("..") / "far" / "cache")
    for mode, told in (
        (0o700, "fine"),
        (0o777, f"{far}, on the way to it, can be written to by others"),
        (0o1777, "fine"),
    ):
        far.chmod(mode)
        assert [said(lambda folder=folder: cache.check_folder(folder)) for folder in ways] == [told] * 4
    assert "No such file" in said(lambda: cache.check_folder(pathlib.Path("..") / "other"))


def test_a_file_is_read_if_only_its_user_can_have_written_it_and_it_is_nowhere_else(
    tmp_path: pathlib.Path,
) -> None:
    file, link, second, pipe = (tmp_path / name for name in ("kernel", "link", "second", "pipe"))
    file.write_bytes(b"code")
    file.chmod(0o644)
    link.symlink_to(file)
    os.mkfifo(pipe)
    assert cache.read_private(file) == b"code"
    for name, words in (
        (link, "link is a symbolic link"),
        (pipe, "pipe is not a regular file"),
        (tmp_path, ""),
    ):
        assert words in said(lambda name=name: cache.read_private(name)) != "fine"
    for mode in (0o664, 0o646):
        file.chmod(mode)
        assert "kernel can be written to by others" in said(lambda: cache.read_private(file))
    file.chmod(0o644)
    os.link(file, second)
    for name in (file, second):
        assert "has another name elsewhere" in said(lambda name=name: cache.read_private(name))


@needs_two
def test_a_folder_of_another_user_is_refused(open_folder: pathlib.Path) -> None:
    home = open_folder / "home"
    assert as_user(ADA, lambda: cache.make_folder(home)) == "fine"
    told = said(lambda: cache.make_folder(home / ".cache"))  # nor does root use one below that of a user
    assert told == f"{home}, on the way to it, belongs to another user"
    theirs = open_folder / "theirs"
    assert as_user(EVE, lambda: cache.make_folder(theirs)) == "fine"
    assert as_user(ADA, lambda: cache.make_folder(theirs)) == f"{theirs} belongs to another user"
    theirs.chmod(0o777)
    below = theirs / "mine"
    assert (
        as_user(ADA, lambda: cache.make_folder(below))
        == f"{theirs}, on the way to it, belongs to another user"
    )


@needs_two
def test_a_link_of_another_user_is_refused(open_folder: pathlib.Path) -> None:
    mine, link = open_folder / "mine", open_folder / "link"
    assert (
        as_user(ADA, lambda: cache.make_folder(mine)) == "fine"
        and as_user(EVE, lambda: link.symlink_to(mine)) == "fine"
    )
    assert (
        as_user(ADA, lambda: cache.make_folder(link)) == f"{link}, on the way to it, belongs to another user"
    )
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
