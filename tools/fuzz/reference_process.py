"""Plain references in a process of their own, under any interpreter: PyPy runs them ten times as fast as CPython.

`answers` starts ``<interpreter> reference_process.py <module> <first>``. The process writes what
`module.answer` says of one number after the other, each as a length and a `marshal`, and is stopped with the
generator. This file, the modules that it runs and the references need no package, and nothing that Python 3.9
does not have.
"""

from __future__ import annotations

import importlib
import itertools
import marshal
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

LENGTH = 8  # bytes before each answer
VERSION = 2  # of marshal: one that every interpreter reads, without references to objects


def answers(interpreter: str | None, module: str, first: int) -> Iterator[Any]:
    """What `answer` of a module says of `first` and of each number behind it, in a process of the interpreter.

    Parameters
    ----------
    interpreter
        A path, or a name to search for; None: no process, but this one.
    module
        By its name, as seen from the folder `tests`.
    first
        The first number.

    Raises
    ------
    FileNotFoundError
        If there is no such interpreter.
    RuntimeError
        If the process ends, with what it says.
    """
    if interpreter is None:
        yield from map(importlib.import_module(module).answer, itertools.count(first))
    path = shutil.which(interpreter)
    if path is None:
        raise FileNotFoundError(f"interpreter: there is no {interpreter!r}")
    command = [path, str(pathlib.Path(__file__).resolve()), module, str(first)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=1 << 20
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        try:
            while len(head := process.stdout.read(LENGTH)) == LENGTH:
                yield marshal.loads(process.stdout.read(int.from_bytes(head, "little")))
            raise RuntimeError(
                f"{interpreter}: the process of the references ended: {process.stderr.read().decode()}"
            )
        finally:
            process.kill()


def main() -> None:
    """Write answers until nobody reads them."""
    root = pathlib.Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(root / name) for name in ("tools", "tests", "")]
    answer = importlib.import_module(sys.argv[1]).answer
    for number in itertools.count(int(sys.argv[2])):
        data = marshal.dumps(answer(number), VERSION)
        try:
            sys.stdout.buffer.write(len(data).to_bytes(LENGTH, "little") + data)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            return


if __name__ == "__main__":
    main()
