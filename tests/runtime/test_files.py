"""Files are written whole or not at all, and only regular files are read."""

import errno
import io
import os
import sys
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from saved_models import fitted
from tables import each, refuses

from ubpe_numba import BPE
from ubpe_numba.errors import ModelFormatError
from ubpe_numba.runtime.files import atomically, open_regular, write_atomically

if os.name == "posix":

    def test_only_regular_files_are_read(suffix: str, tmp_path: Path) -> None:
        """Links to a pipe without a writer, to endless devices and to themselves; and a file of 20 GB that is one hole."""
        os.mkfifo(tmp_path / "pipe")
        for i, target in enumerate([tmp_path / "pipe", "/dev/zero", "/dev/random", "/dev/null"]):
            link = tmp_path / f"{i}{suffix}"
            link.symlink_to(target)
            refuses(ModelFormatError, "not a regular file", BPE.load, link)
        loop = tmp_path / f"loop{suffix}"
        loop.symlink_to(loop)
        refuses(OSError, "ymbolic", BPE.load, loop)
        sparse = tmp_path / f"sparse{suffix}"
        with open(sparse, "wb") as f:
            f.truncate(20 * 10**9)
        tracemalloc.start()
        refuses(ModelFormatError, "which is none of|not a valid npz", BPE.load, sparse)
        assert tracemalloc.get_traced_memory()[1] < 50e6
        tracemalloc.stop()
        fitted(BPE).save(tmp_path / f"good{suffix}")
        (tmp_path / f"link{suffix}").symlink_to(f"good{suffix}")
        assert BPE.load(tmp_path / f"link{suffix}").fingerprint == fitted(BPE).fingerprint


@pytest.mark.parametrize("links", [True, False])
def test_a_new_file_replaces_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    def fail(*names: object) -> None:
        raise PermissionError("no links on this file system")

    if not links:
        monkeypatch.setattr(os, "link", fail)
    with atomically(tmp_path / "a", new=True) as file:
        file.write(b"first")
    with pytest.raises(FileExistsError), atomically(tmp_path / "a", new=True) as file:
        file.write(b"second")
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"first"]


def test_an_error_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    """Not the temporary one beside it."""
    path = tmp_path / "none" / "a.json"
    with pytest.raises(FileNotFoundError) as caught:
        write_atomically(path, b"")
    assert caught.value.filename == str(path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError) as caught:
        write_atomically(tmp_path / "folder", b"")
    assert str(caught.value) == f"[Errno {errno.EISDIR}] Is a directory: {str(tmp_path / 'folder')!r}"


@each("number", [errno.ENOSPC, errno.EFBIG, errno.EDQUOT])
@each("name", ["write", "fsync", "replace"])
def test_a_full_disk_names_the_file(
    name: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Errors of `write` have no name by themselves."""

    def fail(*args: Any) -> None:
        raise OSError(number, os.strerror(number))

    path = tmp_path / "a.json"
    if name != "write":
        monkeypatch.setattr(os, name, fail)
    with pytest.raises(OSError) as caught, atomically(path) as f:
        f.write(b"data") if name != "write" else fail()
    assert name == "replace" or str(caught.value) == f"[Errno {number}] {os.strerror(number)}: {str(path)!r}"
    assert not list(tmp_path.iterdir())


def test_an_error_of_what_is_read_meanwhile_is_not_the_targets(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="Input/output") as caught, atomically(tmp_path / "a.json"):
        raise OSError(errno.EIO, os.strerror(errno.EIO))
    assert caught.value.filename is None


def test_too_little_memory_to_read_a_file_says_nothing_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*args: Any, **options: Any) -> Any:
        raise MemoryError

    fitted(BPE).save(tmp_path / "model.npz")
    for owner, name in ((zipfile.ZipFile, "read"), (np.lib.format, "read_array_header_1_0")):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, none)
            refuses(MemoryError, "", lambda: BPE.load(tmp_path / "model.npz"))
    assert BPE.load(tmp_path / "model.npz").fingerprint == fitted(BPE).fingerprint


@each("room", [0, 100, 400])
def test_too_little_memory_to_write_a_file_is_a_memory_error(
    room: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it cannot grow, a BytesIO loses what it holds and is closed, of which zipfile makes a ValueError."""

    class Full(io.BytesIO):
        def write(self, data: Any) -> int:
            if self.tell() + len(data) > room:
                self.close()
                raise MemoryError
            return super().write(data)

    tok = fitted(BPE)
    tok.save(tmp_path / "model.npz")
    old = (tmp_path / "model.npz").read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(io, "BytesIO", Full)
        refuses(MemoryError, "", lambda: tok.save(tmp_path / "model.npz"))
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("model.npz", old)]


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="descriptors are counted in /proc")
# the file closes itself, as nothing else knows of it
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
@pytest.mark.parametrize("name", ["save", "read"])
def test_an_interruption_after_any_call_leaves_no_descriptor_and_no_file(name: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")

    def read() -> None:
        with open_regular(path) as f:
            f.read()

    work = read if name == "read" else lambda: write_atomically(path, b"new")
    left = -1

    def interrupt(frame: Any, event: str, arg: Any) -> None:
        nonlocal left
        if event == "c_return":  # where Python raises a Ctrl-C
            left -= 1
            if left == 0:
                raise KeyboardInterrupt

    before, n, done = len(os.listdir("/proc/self/fd")), 0, False
    while not done:
        n += 1
        left = n
        sys.setprofile(interrupt)
        try:
            work()
        except KeyboardInterrupt:
            pass
        finally:
            sys.setprofile(None)
        done = left > 0
        assert len(os.listdir("/proc/self/fd")) == before, n
        assert [p.name for p in tmp_path.iterdir()] == ["x"] and path.read_bytes() in (b"old", b"new"), n
    assert n > 5


def test_all_is_written_before_it_is_flushed_to_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = []
    monkeypatch.setattr(os, "fsync", lambda handle: sizes.append(os.fstat(handle).st_size))
    write_atomically(tmp_path / "x", b"new")
    assert sizes[0] == 3


@pytest.mark.skipif(os.name != "posix", reason="modes and links of POSIX")
def test_a_file_that_is_there_keeps_its_mode_and_its_links(tmp_path: Path) -> None:
    path, link, hollow = tmp_path / "model", tmp_path / "latest", tmp_path / "hollow"
    path.write_bytes(b"old")
    link.symlink_to("model")
    hollow.symlink_to("later")
    path.chmod(0o640)
    with atomically(link) as f:
        assert os.fstat(f.fileno()).st_mode & 0o777 == 0o640  # from the beginning
        f.write(b"new")
    write_atomically(hollow, b"new")
    assert link.is_symlink() and hollow.is_symlink() and path.stat().st_mode & 0o777 == 0o640
    assert path.read_bytes() == (tmp_path / "later").read_bytes() == b"new"
    assert sorted(child.name for child in tmp_path.iterdir()) == ["hollow", "later", "latest", "model"]


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_a_read_only_file_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(PermissionError, match="a read-only file") as caught:
        write_atomically(path, b"new")
    assert (
        caught.value.filename == str(path) and [*tmp_path.iterdir()] == [path] and path.read_bytes() == b"old"
    )
