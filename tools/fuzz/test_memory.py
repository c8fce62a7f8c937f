"""A slice of the fuzzer of memory, in a process of its own."""

from __future__ import annotations

import pathlib
import subprocess
import sys


def test_states_and_memory_that_other_threads_change() -> None:
    driver = pathlib.Path(__file__).with_name("fuzz_memory.py")
    done = subprocess.run(
        [sys.executable, "-P", str(driver), "--seed", "1", "--work", "8"],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
