"""What is said of kernels that are compiled: on a terminal a line that goes again, in the log one message a kernel."""

from __future__ import annotations

import io
import os
import pathlib
import subprocess
import sys
import time

import pytest

from ubpe_numba import BPE
from ubpe_numba.runtime import messages

SCRIPT = """
import logging, sys
logging.basicConfig(level=logging.INFO, filename=sys.argv[1])
from ubpe_numba.runtime import messages
messages._PATIENCE = 0.0
from ubpe_numba import BPE
print(BPE.from_merges([[0, 1]], alphabet=2).encode([0, 1, 0]).tolist())
"""


def on_a_terminal(script: str, *arguments: str, **environment: str) -> str:
    """What a script writes to standard error, which is a terminal."""
    pty = pytest.importorskip("pty", reason="there are no pseudo-terminals on this system", exc_type=ImportError)
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", script, *arguments], stdout=subprocess.PIPE, stderr=slave, env={**os.environ, **environment}
    )
    os.close(slave)
    written = b""
    while True:
        try:
            part = os.read(master, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        written += part
    os.close(master)
    assert process.communicate()[0].decode().strip() == "[2, 0]" and process.returncode == 0, written
    return written.decode()


def test_a_line_on_a_terminal_once_per_machine(tmp_path: pathlib.Path) -> None:
    cache, logged = {"UBPE_CACHE_DIR": str(tmp_path / "cache")}, tmp_path / "log"
    shown = on_a_terminal(SCRIPT, str(logged), **cache)
    assert "\rubpe_numba: compiling kernels, once per machine ..." in shown
    assert shown.endswith("\r") and not shown.rsplit("...", 1)[1].strip()  # it is gone at the end
    assert "INFO:ubpe_numba:compiled the kernel coding.kernels.linear_bpe." in logged.read_text()
    logged.unlink()
    assert on_a_terminal(SCRIPT, str(logged), **cache) == "" and logged.read_text() == ""  # from the cache


def test_without_a_cache_it_says_so(tmp_path: pathlib.Path) -> None:
    assert "in each process, since UBPE_CACHE=0" in on_a_terminal(SCRIPT, str(tmp_path / "log"), UBPE_CACHE="0")


def test_nothing_where_it_is_not_wanted(tmp_path: pathlib.Path) -> None:
    """Not with UBPE_PROGRESS=0, and not where standard error is no terminal; the log has it all the same."""
    cache, logged = str(tmp_path / "cache"), tmp_path / "log"
    assert on_a_terminal(SCRIPT, str(logged), UBPE_CACHE_DIR=cache, UBPE_PROGRESS="0") == ""
    assert "compiled the kernel" in logged.read_text()
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "other")],
        env={**os.environ, "UBPE_CACHE_DIR": str(tmp_path / "another")}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr == "" and "compiled the kernel" in (tmp_path / "other").read_text()


class Written:
    """What a program may put in the place of standard error: it can be written to, and no more."""

    def write(self, text: str) -> None:
        """Nothing is to be written."""
        raise AssertionError(text)


@pytest.mark.parametrize("kind", ["none", "closed", "no method"])
def test_without_a_standard_error_kernels_are_compiled_and_fits_run(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", {"none": None, "closed": closed, "no method": Written()}[kind])
    monkeypatch.setattr(messages, "_PATIENCE", 0.0)
    assert messages.notice("a_kernel")(lambda a: a + 1)(1) == 2
    assert BPE(3).fit(["abab"]).encode("ab").tolist() == [2]


def test_a_terminal_that_is_gone_while_a_kernel_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(Written):
        n = 0

        def isatty(self) -> bool:
            return True

        def write(self, text: str) -> None:
            self.n += 1
            raise OSError(5, "Input/output error")

    gone = Gone()
    monkeypatch.setattr(sys, "stderr", gone)
    monkeypatch.setattr(messages, "_PATIENCE", 0.0)
    monkeypatch.delenv("UBPE_PROGRESS", raising=False)
    with messages.notice("a_kernel"):
        deadline = time.monotonic() + 10
        while not gone.n and time.monotonic() < deadline:
            time.sleep(0.01)
    assert gone.n == 2
