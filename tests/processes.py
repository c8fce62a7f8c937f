"""Scripts in interpreters of their own."""

import os
import pathlib
import subprocess
import sys

import ubpe_numba

PACKAGES = pathlib.Path(ubpe_numba.__file__).parents[1]

#: What scripts begin with that fork.
FORKS = """
import os, signal, time

def wait(pid, seconds=30):
    "The exit code of a child; -1000 if it hangs, in which case it is killed."
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return -1000

def child(function):
    "Fork, call, exit 0; 1 and the error on standard error if it raises. Returns the pid."
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        function()
        code = 0
    except BaseException as error:
        os.write(2, f"child: {error!r}".encode())
    finally:
        os._exit(code)
"""
#: What scripts begin with that count in `compiled` the kernels that they compile.
COMPILED = """
import sys, warnings
from numba.core import event
compiled = []
class Count(event.Listener):
    def on_start(self, e): compiled.append(e.data["dispatcher"].py_func.__name__)
    def on_end(self, e): pass
event.register("numba:compile", Count())
"""


def python(
    script: str,
    *arguments: str,
    path: pathlib.Path | None = None,
    options: tuple[str, ...] = (),
    seconds: float = 900,
    **extra: str,
) -> str:
    """What a script prints, with this package and a folder on the path; AssertionError if it fails, hangs or complains."""
    paths = [str(folder) for folder in (PACKAGES, path, os.environ.get("PYTHONPATH")) if folder]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **extra}
    command = [sys.executable, *options, "-c", script, *arguments]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=seconds, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), (
        f"exit code {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    )
    return done.stdout.strip()
