"""Ten seconds of sixteen threads, a million short calls, and that both find what they look for."""

from __future__ import annotations

import pathlib
import subprocess
import sys
from random import Random

import pytest
from fuzz import soak_threads

from ubpe_numba import BPE


def run(*arguments: str) -> None:
    driver = str(pathlib.Path(soak_threads.__file__))
    done = subprocess.run([sys.executable, driver, *arguments], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0 and "0 findings" in done.stdout, done.stdout + done.stderr


def test_ten_seconds_without_a_finding() -> None:
    run("--seconds", "10", "--seed", "3")


def test_a_million_short_calls_leave_nothing() -> None:
    run("--calls", "1000000")


def test_a_wrong_result_is_found() -> None:
    known = soak_threads.Known(Random(1))
    known.check(known.make(), Random(1), 30)
    known.ids = [[*ids, 0] for ids in known.ids]
    with pytest.raises(AssertionError):
        known.check(known.make(), Random(1), 30)


def test_what_grows_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    kept, encode = [], BPE.encode
    monkeypatch.setattr(BPE, "encode", lambda tok, doc: kept.append([doc]) or encode(tok, doc))
    assert any(finding.startswith("blocks") for finding in soak_threads.leaks(20_000))
