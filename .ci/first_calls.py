"""The first fit, encode and decode of integers in this process: prints the CPU seconds, and fails if a kernel is compiled."""

import sys
import time
import warnings

import numpy  # noqa: F401  # what is counted begins after these two imports
from numba.core import event


class Compiled(event.Listener):
    """Names of the functions that numba compiles."""

    names: list[str] = []  # noqa: RUF012  # of this one process

    def on_start(self, event: object) -> None:  # noqa: D102
        self.names.append(event.data["dispatcher"].py_func.__name__)

    def on_end(self, event: object) -> None:  # noqa: D102
        pass


warnings.simplefilter("error")
event.register("numba:compile", Compiled())
begin = time.process_time()
from ubpe_numba import BPE  # noqa: E402

tok = BPE(8).fit([[0, 1, 2, 0, 1, 2, 1, 0] * 3] * 3, progress=False)
for _ in range(20):
    assert tok.decode(tok.encode([0, 1, 2])).tolist() == [0, 1, 2]
seconds = time.process_time() - begin
print(
    f"first fit, encode and decode: {seconds:.2f} s of CPU, {len(Compiled.names)} kernels compiled",
    *Compiled.names,
)
sys.exit(1 if Compiled.names else 0)
