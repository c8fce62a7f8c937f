"""How many files a reader who follows a call passes through: traces the calls of Python functions over the files of the package.

Three journeys: a fit, the first encode of a text tokenizer, loading a model and encoding n-best. Kernels are
compiled and modules imported before. For each journey, prints the number of files entered, the number of
calls that cross from one file to another (a kernel counts as called from outside), and how many of these lead
back into a file entered before. With -v, lists the calls.
"""

from __future__ import annotations

import argparse
import collections
import os
import pathlib
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from types import FrameType
from typing import NamedTuple

import numpy as np

import ubpe_numba
from ubpe_numba import BPE, UBPE

_ROOT = str(pathlib.Path(ubpe_numba.__file__).parent) + os.sep


class Call(NamedTuple):
    """A call that crosses files; `caller` is "" where the call comes from outside of the package."""

    caller: str
    file: str
    function: str


def journeys(folder: pathlib.Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """Names and journeys, for each of which all kernels are loaded."""
    rng = np.random.default_rng(0)
    docs = [rng.integers(0, 20, 300) for _ in range(20)]
    universal = UBPE(n_tokens=64).fit(docs, progress=False)
    yield "fit", lambda: UBPE(n_tokens=64).fit(docs, progress=False)

    text = ["the cat sat on the mat, the dog sat on the log"] * 3
    BPE.for_text(280).fit(text, progress=False).encode("warm")
    fresh = BPE.for_text(280).fit(text, progress=False)
    yield "first encode of text", lambda: fresh.encode("the dog and the cat")

    path = folder / "model.npz"
    universal.save(path)
    UBPE.load(path).encode_nbest([docs[0]], 5)[0]
    yield "load and n-best", lambda: UBPE.load(path).encode_nbest([docs[0]], 5)[0]


def trace(journey: Callable[[], object]) -> list[Call]:
    """The calls of a journey that cross files, in order."""
    calls: list[Call] = []

    def profile(frame: FrameType, event: str, _: object) -> None:
        name = frame.f_code.co_name
        if event != "call" or name == "<module>" or not (file := _file(frame)):
            return
        caller = frame.f_back
        while caller is not None and not _file(caller):
            caller = caller.f_back
        if (origin := _file(caller) if caller is not None else "") != file:
            calls.append(Call(origin, file, getattr(frame.f_code, "co_qualname", name)))

    sys.setprofile(profile)
    try:
        journey()
    finally:
        sys.setprofile(None)
    return calls


def _file(frame: FrameType) -> str:
    """The file of a frame within the package, "" for one outside."""
    path = frame.f_code.co_filename
    return path[len(_ROOT) :] if path.startswith(_ROOT) else ""


def main() -> None:
    """Trace and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="list the calls, the most frequent first"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        for name, journey in journeys(pathlib.Path(folder)):
            calls = trace(journey)
            files = len({call.file for call in calls})
            print(f"{name}: {files} files, {len(calls)} calls cross files, {len(calls) - files} of them back")
            if options.verbose:
                for call, n in collections.Counter(calls).most_common():
                    print(f"  {n:4d}  {call.caller or 'outside'} -> {call.file}  {call.function}")


if __name__ == "__main__":
    main()
