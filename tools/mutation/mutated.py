"""A plugin of pytest for a run on a mutant (`mutate.py` loads it, and tells it by the environment what is mutated).

The name of a cached kernel is a hash of all sources of kernels: every mutant of a kernel would compile all of
them. Here a kernel that cannot reach what is mutated is taken from the cache of the unchanged sources, and
one that can is compiled, and kept for the mutant alone. Time that is spent compiling is not counted.
"""

from __future__ import annotations

import json
import os
import pathlib
import threading
import time
from typing import Any

import hypothesis
import pytest
from numba.core import event

from ubpe_numba.runtime.compiler import cache

_TASK = json.loads(os.environ.get("UBPE_MUTANT", "null"))
_Cache = cache.Cache
HANGS = 200  # seconds of the processor in one test; the exit code of a process that is ended then
IDLE = 180  # seconds in which it does nothing at all: it waits for what does not come


class _OfMutant(_Cache):
    """Keeps kernels in the folder of the mutant."""

    def path(self, key: object, folder: pathlib.Path | None = None) -> pathlib.Path:
        return super().path(key, pathlib.Path(_TASK["kept"]))


def _cache_of(function: Any) -> Any:
    names = [name for module, name in _TASK["mutated"] if module == function.__module__]
    # kernels of tests, made of what is mutated
    others = _TASK["kept"] and not function.__module__.startswith("ubpe_numba.")
    if not others and (
        not names or (function.__name__ not in names and "<locals>" not in function.__qualname__)
    ):
        return _Cache(function)
    return _OfMutant(function)


if _TASK is not None:
    cache.Cache = _cache_of  # type: ignore[assignment, misc]
    cache._stamp = lambda: _TASK["stamp"]  # type: ignore[assignment]


class _Clock(event.Listener):  # type: ignore[misc]
    """Seconds of the processor that were not spent compiling; kernels are compiled one at a time."""

    def __init__(self) -> None:
        self.started, self.depth, self.test = time.process_time(), 0, 0.0

    def seconds(self) -> float:
        return (self.began if self.depth else time.process_time()) - self.started

    def watch(self) -> None:
        """End the process if a test goes on or waits for long: machine code cannot be interrupted."""
        idle = 0
        while self.seconds() - self.test < HANGS and idle < IDLE:
            before = time.process_time()
            time.sleep(1)
            idle = idle + 1 if time.process_time() - before < 0.01 else 0
        os._exit(HANGS)

    def on_start(self, _: event.Event) -> None:
        self.depth += 1
        if self.depth == 1:
            self.began = time.process_time()

    def on_end(self, _: event.Event) -> None:
        self.depth -= 1
        if self.depth == 0:
            self.started += time.process_time() - self.began


_CLOCK = _Clock()
event.register("numba:compile", _CLOCK)
if _TASK is not None:
    threading.Thread(target=_CLOCK.watch, daemon=True).start()


def pytest_configure() -> None:
    """Failing examples are not made smaller, and random ones are the same in each run."""
    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    hypothesis.settings.register_profile(
        "mutant", deadline=None, derandomize=True, database=None, phases=phases
    )
    hypothesis.settings.load_profile("mutant")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests, and all tests of a file, in the order of the command: pytest would keep those of a file together."""
    order = {name: i for i, name in enumerate(_TASK["order"] if _TASK else [])}
    items.sort(key=lambda item: order.get(item.nodeid, order.get(item.nodeid.partition("::")[0], len(order))))


def pytest_runtest_logstart() -> None:
    """Note when a test begins."""
    _CLOCK.test = _CLOCK.seconds()


@pytest.hookimpl(trylast=True)
def pytest_runtest_logfinish() -> None:
    """End the run between two tests when its time of the processor is over: other work on the machine does not count."""
    if _CLOCK.seconds() > _TASK["seconds"]:
        pytest.exit("time is over", returncode=0)
