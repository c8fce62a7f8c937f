"""Where a comparison ran: versions, the processor as the compiler sees it, and which kernels were compiled."""

from __future__ import annotations

import platform
import re
import sys
from typing import Any, NamedTuple

import llvmlite
import numba
import numpy as np
from llvmlite import binding as llvm

from ubpe_numba import __version__
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.kernel_cache import kernel_sources


class Machine(NamedTuple):
    """Versions and the processor."""

    versions: dict[str, str]
    platform: str
    cpu: str
    cpu_features: list[str]
    n_threads: int


class Kernels(NamedTuple):
    """How many kernels this process has used, in versions of different arguments, and how many there are."""

    compiled: int  # in this process
    loaded: int  # from a cache
    used: int  # kernels, whatever their versions
    known: int  # of the package


def machine() -> Machine:
    """The versions of what takes part, and the processor as LLVM sees it: what numba compiles for, unless it is told otherwise.

    >>> sorted(machine().versions)
    ['NumPy', 'Python', 'llvmlite', 'numba', 'ubpe-numba']
    """
    versions = {
        "ubpe-numba": __version__,
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "NumPy": np.__version__,
        "Python": f"{platform.python_version()} ({platform.python_implementation()})",
    }
    cpu = numba.config.CPU_NAME or llvm.get_host_cpu_name()
    features = [name for name, has in sorted(llvm.get_host_cpu_features().items()) if has]
    if numba.config.CPU_FEATURES is not None:  # which the user has chosen
        features = [name.removeprefix("+") for name in numba.config.CPU_FEATURES.split(",") if name.startswith("+")]
    return Machine(versions, platform.platform(), cpu, features, thread_pool.resolve(None))


def kernels() -> Kernels:
    """The kernels that this process has used so far.

    >>> kernels().known > 50
    True
    """
    compiled = loaded = used = 0
    for name, module in list(sys.modules.items()):
        if name.startswith("ubpe_numba."):
            for dispatcher in vars(module).values():
                if _is_kernel(dispatcher) and dispatcher.py_func.__module__ == name and (n := len(dispatcher.signatures)):
                    hits = sum(dispatcher._cache_hits.values())
                    compiled, loaded, used = compiled + n - hits, loaded + hits, used + 1
    return Kernels(compiled, loaded, used, _known())


def _is_kernel(value: Any) -> bool:
    """Whether it is a kernel that Python calls, not one that only kernels call."""
    options = getattr(value, "targetoptions", None)
    return isinstance(options, dict) and not options.get("no_cpython_wrapper") and hasattr(value, "signatures")


def _known() -> int:
    """How many kernels the sources have."""
    return sum(len(re.findall(r"(?m)^@kernel(?:_with_scratch)?$", path.read_text("utf-8"))) for path in kernel_sources())
