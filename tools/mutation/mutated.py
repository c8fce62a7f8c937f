"""A plugin of pytest for a run on a mutant (`mutate.py` loads it, and tells it by the environment what is mutated).

The name of a cached kernel is a hash of all sources of kernels: every mutant of a kernel would compile all of them. Here a
kernel that cannot reach the mutated file is taken from the cache of the unchanged sources, and one that can is compiled and not
kept.
"""

from __future__ import annotations

import json
import os
import time
from typing import Any

import hypothesis
import pytest

from ubpe_numba.runtime.compiler import cache

_TASK = json.loads(os.environ.get("UBPE_MUTANT", "null"))
_STARTED = time.process_time()
_attach = cache.attach


def _attach_unless_mutated(dispatcher: Any) -> Any:
    return dispatcher if dispatcher.py_func.__module__ in _TASK["mutated"] else _attach(dispatcher)


if _TASK is not None:
    cache.attach = _attach_unless_mutated
    cache._stamp = lambda: _TASK["stamp"]  # type: ignore[assignment]


def pytest_configure() -> None:
    """Failing examples are not made smaller, and random ones are the same in each run."""
    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    hypothesis.settings.register_profile("mutant", deadline=None, derandomize=True, database=None, phases=phases)
    hypothesis.settings.load_profile("mutant")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests, and all tests of a file, in the order of the command: pytest would keep those of a file together."""
    order = {name: i for i, name in enumerate(_TASK["order"] if _TASK else [])}
    items.sort(key=lambda item: order.get(item.nodeid, order.get(item.nodeid.partition("::")[0], len(order))))


@pytest.hookimpl(trylast=True)
def pytest_runtest_logfinish() -> None:
    """End the run between two tests when its time of the processor is over: other work on the machine does not count."""
    if time.process_time() - _STARTED > _TASK["seconds"]:
        pytest.exit("time is over", returncode=0)
