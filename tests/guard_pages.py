"""Arrays that end, or begin, where memory must not be touched: an access behind the last item, or before the first, is fatal.

    guarded(array)                 | pages of the array: 0xA5 ... 0xA5, items | page without any rights |
    guarded(array, end=False)      | page without any rights | items, 0xA5 ... 0xA5 |

The other side of the items is filled, and `intact` tells whether it still is. Where pages cannot be
protected, both sides are.
"""

import ctypes
import mmap
import sys
from typing import Any, ClassVar

import numpy as np

PROTECTS = sys.platform.startswith("linux")
_FILL = 0xA5


class Guarded:
    """Makes arrays and keeps their memory."""

    _libc: ClassVar[Any] = ctypes.CDLL(None, use_errno=True) if PROTECTS else None

    def __init__(self) -> None:
        self._made: list[tuple[np.ndarray, int, int]] = []

    def __call__(self, array: np.ndarray, end: bool = True) -> np.ndarray:
        """A copy of an array, between guards; aligned as its items need it if its size is a multiple of that."""
        page = mmap.PAGESIZE
        inner = max(page, -(-array.nbytes // page) * page)
        memory = mmap.mmap(-1, inner + 2 * page)
        whole = np.frombuffer(memory, np.uint8)
        whole[:] = _FILL
        first = page + (inner - array.nbytes if end else 0)
        items = whole[first : first + array.nbytes].view(array.dtype).reshape(array.shape)
        items[...] = array
        if self._libc is not None:
            for at in (0, page + inner):
                assert (
                    self._libc.mprotect(ctypes.c_void_p(whole.ctypes.data + at), ctypes.c_size_t(page), 0)
                    == 0
                )
        self._made.append((whole, first, first + array.nbytes))
        return items

    def intact(self) -> bool:
        """Whether nothing around the items was written."""
        page = mmap.PAGESIZE if PROTECTS else 0
        return all(
            (whole[page:first] == _FILL).all() and (whole[last : whole.size - page] == _FILL).all()
            for whole, first, last in self._made
        )
