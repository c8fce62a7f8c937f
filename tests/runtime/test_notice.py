"""What is said of kernels that are compiled: on a terminal a line that goes again, in the log one message a kernel."""

import io
import os
import pathlib
import subprocess
import sys
import time
from typing import Any

import pytest

from ubpe_numba import BPE
from ubpe_numba.runtime import messages

SCRIPT = """
import logging, sys
logging.basicConfig(level=logging.INFO, filename=sys.argv[1])
from ubpe_numba.runtime import messages
messages._PATIENCE = 0.0
from ubpe_numba import BPE
print(BPE.from_merges([[0, 1]], alphabet=2).decode([2, 0]).tolist())
"""


def on_a_terminal(script: str, *arguments: str, **environment: str) -> str:
    """What a script writes to standard error, which is a terminal."""
    pty = pytest.importorskip(
        "pty", reason="there are no pseudo-terminals on this system", exc_type=ImportError
    )
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        stdout=subprocess.PIPE,
        stderr=slave,
        env={**os.environ, **environment},
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
    assert process.communicate()[0].decode().strip() == "[0, 1, 0]" and process.returncode == 0, written
    return written.decode()


def test_a_line_on_a_terminal_once_per_machine(tmp_path: pathlib.Path) -> None:
    cache, logged = {"UBPE_CACHE_DIR": str(tmp_path / "cache")}, tmp_path / "log"
    shown = on_a_terminal(SCRIPT, str(logged), **cache)
    assert "\rubpe_numba: compiling kernels, once per machine ..." in shown
    assert shown.endswith("\r") and not shown.rsplit("...", 1)[1].strip()  # it is gone at the end
    assert "INFO:ubpe_numba:compiled the kernel coding.kernels.decode." in logged.read_text()
    logged.unlink()
    assert on_a_terminal(SCRIPT, str(logged), **cache) == "" and logged.read_text() == ""  # from the cache


class Terminal(io.StringIO):
    """A terminal that keeps what is written, and may be gone."""

    gone, n = False, 0

    def isatty(self) -> bool:
        """It is one."""
        return True

    def write(self, text: str) -> int:
        """Keep a text, unless the terminal is gone."""
        self.n += 1
        if self.gone:
            raise OSError(5, "Input/output error")
        return super().write(text)


def shown_on(terminal: Any, monkeypatch: pytest.MonkeyPatch, lines: int = 0) -> None:
    """Compile a kernel until so many lines are there."""
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(messages, "_PATIENCE", 0.0)
    with messages.notice("a_kernel"):
        end = time.monotonic() + (10 if lines else 0.1)
        while getattr(terminal, "n", 0) < max(lines, 1) and time.monotonic() < end:
            time.sleep(0.01)


def test_what_is_shown_and_logged(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Not with UBPE_PROGRESS=0, and not where standard error is no terminal; the log has it all the same."""
    caplog.set_level("INFO", "ubpe_numba")
    monkeypatch.delenv("UBPE_PROGRESS", raising=False)
    monkeypatch.setenv("UBPE_CACHE", "0")
    shown_on(terminal := Terminal(), monkeypatch, 1)
    assert "in each process, since UBPE_CACHE=0" in terminal.getvalue()
    gone = Terminal()
    gone.gone = True  # while a kernel is compiled
    shown_on(gone, monkeypatch, 1)
    assert gone.n == 2
    closed = io.StringIO()
    closed.close()
    # it can be written to, and no more
    for odd in (None, closed, type("Written", (), {"write": lambda self, text: 1 / 0})()):
        shown_on(odd, monkeypatch)
        assert messages.notice("a_kernel")(lambda a: a + 1)(1) == 2 and BPE(3).fit(["abab"]).encode(
            "ab"
        ).tolist() == [2]
    shown_on(plain := io.StringIO(), monkeypatch)
    monkeypatch.setenv("UBPE_PROGRESS", "0")
    shown_on(quiet := Terminal(), monkeypatch)
    assert (
        plain.getvalue() == quiet.getvalue() == "" and caplog.text.count("compiled the kernel a_kernel") == 10
    )
