"""What the adapters of `peers.py`, `text_peers.py` and `encoders.py` share: their form, documents in other forms, memory.

Documents go from process to process as values and offsets: document i is `values[offsets[i]:offsets[i + 1]]`.
"""

from __future__ import annotations

import contextlib
import itertools
import pathlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

Job = dict[str, Any]  # what is measured; `harness.py` lists the keys
Arrays = tuple[np.ndarray, np.ndarray]  # values and offsets


class Adapter(NamedTuple):
    """How a package does a job."""

    # values and offsets into what the package takes; not timed
    convert: Callable[[np.ndarray, np.ndarray], Any]
    run: Callable[[Any], Any]  # this is timed
    unpack: Callable[[Any], Arrays]  # the result as values and offsets, to compare it


def cut(whole: Any, offsets: np.ndarray) -> Iterator[Any]:
    """The documents in `whole`."""
    return (whole[a:b] for a, b in itertools.pairwise(offsets.tolist()))


def lists(values: np.ndarray, offsets: np.ndarray) -> list[list[int]]:
    """Documents as lists of Python integers."""
    return list(cut(values.tolist(), offsets))


def ragged(documents: Iterable[Any]) -> Arrays:
    """Documents of integers, or bytes, as values and offsets."""
    documents = [np.asarray(list(document), np.int64) for document in documents]
    return np.concatenate(documents), np.cumsum([0] + [document.size for document in documents])


def memory(field: str) -> int:
    """VmRSS or VmHWM of this process in bytes; 0 where there is no /proc.

    Not ru_maxrss: it inherits the parent's memory through fork and exec.
    """
    status = pathlib.Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def reset_peak() -> None:
    """Let VmHWM begin anew; where this fails, it includes earlier peaks, and the figure is too high."""
    with contextlib.suppress(OSError):
        pathlib.Path("/proc/self/clear_refs").write_text("5")
