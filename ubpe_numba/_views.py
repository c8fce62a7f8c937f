"""Views that the compiler has a version of: kernels are compiled once, for writable contiguous arrays."""

from __future__ import annotations

import numpy as np


class _Interface:
    """What NumPy makes an array of, keeping the owner of the memory alive."""

    def __init__(self, interface: dict[str, object], owner: np.ndarray) -> None:
        self.__array_interface__ = interface
        self.owner = owner


def writable(array: np.ndarray) -> np.ndarray:
    """The same memory, marked as writable, for kernels that only read it.

    A read-only array has another type for the compiler, and copying a memory-mapped corpus to change that would double it.
    """
    if array.flags.writeable:
        return array
    interface = dict(array.__array_interface__)
    interface["data"] = (interface["data"][0], False)
    return np.asarray(_Interface(interface, array))
