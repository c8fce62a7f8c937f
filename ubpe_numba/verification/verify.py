"""The comparison of kernels, as they are compiled here, with plain references."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import time
import warnings
from collections.abc import Sequence

from ubpe_numba.runtime.arrays import describe, integer
from ubpe_numba.runtime.progress import Progress
from ubpe_numba.verification import fits, pairs, paths, texts
from ubpe_numba.verification.machine import kernels, machine
from ubpe_numba.verification.part import Part, n_symbols, place_of_difference
from ubpe_numba.verification.result import Difference, Row, Verification

#: What is compared: what is used most and compiled soonest first.
PARTS: tuple[Part, ...] = (
    fits.PAIRS, pairs.RANK, pairs.DECODE, texts.ENCODED, texts.UTF8, paths.BEST, fits.SYMBOLS_OF_TYPES, pairs.MANY, texts.MANY,
    paths.MANY, pairs.WORDS, pairs.COUNTS, pairs.STREAM, pairs.DROPOUT, pairs.OTHER_RULES, texts.PIECES, fits.CONTINUED,
    fits.BY_IDF, fits.WEIGHTED, texts.CUTS, paths.LARGE, paths.N_BEST, paths.SUMS, fits.TIES, fits.LARGE, fits.SHARDS,
)  # fmt: skip
_FIRST = 3  # cases of every part before more of any,
_BRIEF = 0.1  # and those that begin within so many seconds after them: many where nothing is compiled


def verify(*, seed: int = 0, seconds: float = 25.0, fresh: bool = False, progress: bool | str = "auto") -> Verification:
    """Compare what is compiled on this machine with plain references, on random and adversarial data.

    Fits, encodings and decodings of the kernels, as numba compiles them here for this processor, are held against the obvious
    Python of ``ubpe_numba/verification/reference``, symbol for symbol.

    Parameters
    ----------
    seed : int
        Of the data: the same seed gives the same cases on every machine. Another seed gives others.
    seconds : float
        After so many seconds no other case begins; what is compiled then is compiled to its end. A few cases of everything come
        first, in order of importance, then the rest. Without time for a part the result says so.
    fresh : bool
        Compile every kernel anew, in a process of its own that reads no cache, instead of taking kernels of this machine's
        cache. The child's time begins when it has started.
    progress : bool or "auto"
        A bar on standard error: always, never, or if that is a terminal.

    Returns
    -------
    Verification
        What was compared; ``passed`` says whether nothing differed, and ``print`` shows a table.

    Raises
    ------
    TypeError, ValueError
        If an argument is not valid.
    RuntimeError
        With `fresh`, if the process ended without a result, as it does when a kernel crashes.

    Notes
    -----
    With kernels in the cache it takes some seconds, without them half a minute. An error that is raised counts as a difference.

    Examples
    --------
    >>> found = verify(seconds=2, progress=False)
    >>> found.passed
    True
    >>> found.machine.versions["ubpe-numba"]
    '0.1.0'
    """
    seed = integer(seed, "seed")
    if seed < 0:
        raise ValueError(f"seed: expected 0 or more, got {seed}")
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise TypeError(f"seconds: expected a number, got {describe(seconds)}")
    if not seconds > 0:
        raise ValueError(f"seconds: expected a number above 0, got {seconds}")
    if not isinstance(fresh, bool):
        raise TypeError(f"fresh: expected True or False, got {describe(fresh)}")
    bar = Progress(progress, "verify")
    if fresh:
        return _in_a_child(seed, float(seconds), progress)
    began = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that a fit ended early, or that all idf are 0
        rows = _compare(PARTS, seed, began, float(seconds), bar)
    return Verification(tuple(rows), machine(), kernels(), seed, round(time.monotonic() - began, 2))


def _compare(parts: Sequence[Part], seed: int, began: float, seconds: float, bar: Progress) -> list[Row]:
    """A row for each part: first a few cases of each, then of each as many as its share of the time allows, then the others."""
    rows = [Row(part.name, 0, part.cases, 0, 0, 0.0) for part in parts]
    end = began + seconds
    n = len(parts)
    for turn in bar.rounds(range(3 * n), "verify", "part"):
        i, now = turn % n, time.monotonic()
        if turn < n:
            rows[i] = _more(parts[i], rows[i], seed, _FIRST, end)
            now = time.monotonic()
        share = _BRIEF if turn < n else (end - now) / (n - i) if turn < 2 * n else end - now
        rows[i] = _more(parts[i], rows[i], seed, parts[i].cases, min(end, now + share))
    return rows


def _more(part: Part, row: Row, seed: int, most: int, end: float) -> Row:
    """A row after further cases, up to `most` in all, none of which begins after `end`."""
    began = time.monotonic()
    cases, symbols, differences, first = row.cases, row.symbols, row.differences, row.first
    while cases < min(most, part.cases) and time.monotonic() < end:
        inputs = part.inputs(seed, cases)
        n = n_symbols(inputs)
        try:
            for what, found, wanted in part.compare(inputs):
                symbols += n
                if found != wanted:
                    differences += 1
                    first = first or Difference(cases, what, place_of_difference(found, wanted), inputs)
        except Exception as error:  # of a kernel that gives what the library does not expect, or of the library
            differences += 1
            first = first or Difference(cases, "an error", f"{type(error).__name__}: {error}", inputs)
        cases += 1
    return Row(row.name, cases, row.planned, symbols, differences, round(row.seconds + time.monotonic() - began, 3), first)


def _in_a_child(seed: int, seconds: float, progress: bool | str) -> Verification:
    """The same in a process that reads no kernels, neither from the cache nor of a package of them, and keeps none."""
    script = (
        "import json, sys; from ubpe_numba.verification.verify import verify; "
        f"json.dump(verify(seed={seed}, seconds={seconds}, progress={progress!r}).to_dict(), sys.stdout)"
    )
    folder = str(pathlib.Path(__file__).parents[2])  # this very package, wherever it was found
    path = os.pathsep.join([folder, *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "UBPE_CACHE": "0", "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-P", "-c", script], env=environment, stdout=subprocess.PIPE, text=True)
    try:
        data = json.loads(done.stdout)
    except ValueError:
        raise RuntimeError(
            f"verify: the process that compiled all kernels ended with code {done.returncode}, without a result"
        ) from None
    return Verification.from_dict({**data, "fresh": True})
