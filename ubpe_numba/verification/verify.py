"""Comparison of what kernels give on this machine with digests of what plain references give."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.resources
import json
import os
import pathlib
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Iterable
from random import Random
from typing import Any

import llvmlite
import numba
import numpy as np
from llvmlite import binding as llvm

from ubpe_numba import __version__
from ubpe_numba.runtime.arrays import describe
from ubpe_numba.runtime.messages import Progress
from ubpe_numba.verification.cases import PARTS

DIGESTS = "digests.json"


@dataclasses.dataclass(frozen=True)
class Row:
    """One part: its cases, how many differ, the first of these with its inputs, and the seconds.

    Instead of the first difference it may hold an error.
    """

    name: str
    cases: int
    differences: int
    seconds: float
    first: str | None = None


@dataclasses.dataclass(frozen=True)
class Verification:
    """Result of `verify`; ``print`` shows it as a table.

    Attributes
    ----------
    passed : bool
        True if nothing differed.
    rows : tuple
        The parts, with the attributes ``name``, ``cases``, ``differences``, ``seconds`` and ``first`` (the
        first case that differed with its inputs, or None).
    machine : dict
        ``versions``, ``platform``, ``cpu`` and ``cpu_features`` as LLVM sees them, and how many versions of
        kernels were ``compiled`` and ``loaded`` from a cache.
    fresh : bool
        Whether every kernel was compiled for the comparison.

    Examples
    --------
    >>> Verification((), {"versions": {"numpy": "2.4.0"}}, fresh=True).passed
    True
    """

    rows: tuple[Row, ...]
    machine: dict[str, Any]
    fresh: bool = False

    @property
    def passed(self) -> bool:
        """True if nothing differed."""
        return not any(row.differences for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, for JSON.

        Returns
        -------
        dict
            Numbers, strings, lists and dicts.

        Examples
        --------
        >>> Verification((), {"cpu": "znver3"}).to_dict()
        {'passed': True, 'rows': (), 'machine': {'cpu': 'znver3'}, 'fresh': False}
        """
        return {"passed": self.passed, **dataclasses.asdict(self)}

    def __str__(self) -> str:
        """The table, the machine, and the conclusion."""
        machine = self.machine
        lines = [
            ", ".join(f"{name} {version}" for name, version in machine["versions"].items()),
            machine["platform"],
        ]
        lines += [
            f"CPU {machine['cpu']}, kernels: {machine['compiled']} compiled, {machine['loaded']} from the cache",
            "",
        ]
        lines.append(f"{'compared with digests of references':36} {'cases':>6} {'differences':>12}")
        lines += [f"{row.name:36} {row.cases:>6} {row.differences:>12}" for row in self.rows]
        lines += ["", *(f"{row.name}: {row.first[:600]}" for row in self.rows if row.first is not None)]
        lines.append("no difference" if self.passed else (
            "DIFFERENCES: results of this library on this machine cannot be trusted. 'ubpe-numba verify --json' prints the whole "
            "inputs; please report them."
        ))  # fmt: skip
        return "\n".join(lines)


def verify(*, fresh: bool = False, progress: bool | str = "auto") -> Verification:
    """Compare what kernels give on this machine with digests of what plain references give.

    Fits, encodings and decodings of random and adversarial documents run through the kernels, as numba
    compiles them for this processor. Their results are hashed, and compared with hashes that ship with the
    package and come from plain Python.

    Parameters
    ----------
    fresh : bool
        Compile every kernel again, in a separate process without a cache.
    progress : bool or "auto"
        A bar on standard error: always, never, or if that is a terminal.

    Returns
    -------
    Verification
        ``passed`` says whether nothing differed, and ``print`` shows a table. An error of the library counts
        as a difference.

    Raises
    ------
    RuntimeError
        With `fresh`, if the process ended without a result, as it does when a kernel crashes.

    Notes
    -----
    With kernels in the cache it takes some seconds, without them about half a minute.

    Examples
    --------
    >>> found = verify(progress=False)
    >>> found.passed, found.rows[0].name, found.rows[0].differences, found.machine["versions"]["ubpe-numba"]
    (True, 'fits: pairs, counts, idf', 0, '0.1.0')
    """
    if not isinstance(fresh, bool):
        raise TypeError(f"fresh: expected True or False, got {describe(fresh)}")
    bar = Progress(progress, "verify")
    if fresh:
        return _in_a_child(progress)
    known = json.loads((importlib.resources.files(__package__) / DIGESTS).read_text())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that a fit ended early, or that all idf are 0
        rows = []
        for i in bar.rounds(range(len(PARTS)), "verify", "part"):
            part, began, differences, first = PARTS[i], time.monotonic(), 0, None
            for case, wanted in enumerate(known[part.name]):
                inputs = part.draw(Random(f"{part.name} {case}"))
                try:
                    outcome = digest(part.run(inputs))
                except Exception as error:
                    # of a kernel whose result the library does not expect, or of the library
                    outcome = f"{type(error).__name__}: {error}"
                if outcome != wanted:
                    differences += 1
                    first = first or f"case {case}: {outcome}, expected {wanted}; inputs {inputs}"
            rows.append(
                Row(part.name, len(known[part.name]), differences, round(time.monotonic() - began, 3), first)
            )
    return Verification(tuple(rows), _machine())


def digest(results: Iterable[Any]) -> str:
    """A hash of the plain values that a case gives.

    >>> digest([[1, 2], [[0.5]]])
    'd930d3fe'
    """
    return hashlib.sha256(repr(list(results)).encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _machine() -> dict[str, Any]:
    """Versions, the processor as LLVM sees it, and numbers of compiled and loaded kernels."""
    versions = {
        "ubpe-numba": __version__, "numba": numba.__version__, "llvmlite": llvmlite.__version__, "NumPy": np.__version__,
        "Python": f"{platform.python_version()} ({platform.python_implementation()})",
    }  # fmt: skip
    features = [name for name, has in sorted(llvm.get_host_cpu_features().items()) if has]
    if numba.config.CPU_FEATURES is not None:  # set by the user
        features = [
            name.removeprefix("+") for name in numba.config.CPU_FEATURES.split(",") if name.startswith("+")
        ]
    compiled = loaded = 0
    for name, module in list(sys.modules.items()):
        for value in list(vars(module).values()) if name.startswith("ubpe_numba.") else ():
            if hasattr(value, "stats") and value.py_func.__module__ == name:
                hits = sum(value.stats.cache_hits.values())
                compiled, loaded = compiled + len(value.signatures) - hits, loaded + hits
    cpu = numba.config.CPU_NAME or llvm.get_host_cpu_name()
    return {
        "versions": versions, "platform": platform.platform(), "cpu": cpu, "cpu_features": features, "compiled": compiled,
        "loaded": loaded,
    }  # fmt: skip


def _in_a_child(progress: bool | str) -> Verification:
    """Run `verify` in a process that neither reads nor keeps compiled kernels."""
    script = (
        "import json, sys; from ubpe_numba.verification.verify import verify; "
        f"json.dump(verify(progress={progress!r}).to_dict(), sys.stdout)"
    )
    folder = str(pathlib.Path(__file__).parents[2])  # this very package
    path = os.pathsep.join([folder, *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "UBPE_CACHE": "0", "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-P", "-c", script], env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        data = json.loads(done.stdout)
    except ValueError:
        message = f"verify: the process that compiled all kernels ended with code {done.returncode}"
        raise RuntimeError(message) from None
    return Verification(tuple(Row(**row) for row in data["rows"]), data["machine"], fresh=True)
