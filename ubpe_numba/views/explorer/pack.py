"""Integer and float arrays as text of a page: the narrowest type, differences where they pay, byte planes, deflate, base64.

`page/unpack.js` is the inverse. An array of 16-bit integers 1, 2, 258::

    differences     1, 1, 256            where a sample deflates better so
    byte planes     1 1 0 | 0 0 1        the low bytes of all, then the high ones: similar bytes stand together
"""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np

_SAMPLE = 1 << 16  # elements that decide whether differences pay
_INTEGERS = ("<u1", "<i1", "<u2", "<i2", "<u4", "<i4")
_EXACT = 1 << 53  # integers up to it are exact in a float64, the number of JavaScript


def packed(array: np.ndarray) -> dict[str, Any]:
    """An array as plain data that JSON can hold.

    `array`: 1-D; integers within +-2**53. Returns ``t``: the type, ``n``: the number of elements, ``c``: 1 if differences are
    kept, ``d``: the data.

    >>> made = packed(np.array([5, 6, 7], np.int64))
    >>> made["t"], made["n"], unpacked(made).tolist()
    ('u1', 3, [5, 6, 7])
    """
    flat = np.ascontiguousarray(array)
    if flat.dtype.kind in "iu":
        flat = _narrow(flat)
    elif flat.dtype.kind == "b":
        flat = flat.astype("<u1")
    else:
        flat = flat.astype("<f8" if flat.dtype.itemsize > 4 else "<f4", copy=False)
    differences = flat.dtype.kind in "iu" and _pays(flat)
    data = _deflated(_differences(flat) if differences else flat, 6)
    return {"t": flat.dtype.str.lstrip("<|"), "n": int(flat.size), "c": int(differences), "d": base64.b64encode(data).decode()}


def unpacked(made: dict[str, Any]) -> np.ndarray:
    """The array that `packed` was given, in the type that it chose.

    >>> unpacked(packed(np.array([-1.5])))
    array([-1.5])
    """
    dtype = np.dtype("<" + made["t"])
    planes = np.frombuffer(zlib.decompress(base64.b64decode(made["d"])), np.uint8).reshape(dtype.itemsize, made["n"])
    array = np.ascontiguousarray(planes.T).view(dtype).reshape(made["n"])
    return np.cumsum(array, dtype=dtype) if made["c"] else array


def _narrow(array: np.ndarray) -> np.ndarray:
    """The integers in the narrowest type that JavaScript has an array of, in float64 if there is none."""
    low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
    for name in _INTEGERS:
        limits = np.iinfo(name)
        if limits.min <= low and high <= limits.max:
            return array.astype(name, copy=False)
    if max(-low, high) > _EXACT:
        raise ValueError(f"array: integers {low}..{high} are not exact in float64")
    return array.astype("<f8")


def _differences(array: np.ndarray) -> np.ndarray:
    """Each element minus the one before it, modulo the width of the type; the first stays."""
    unsigned = array.view(array.dtype.str.replace("i", "u"))
    made = unsigned.copy()
    made[1:] -= unsigned[:-1]
    return made


def _pays(array: np.ndarray) -> bool:
    if array.size < 8:
        return False
    sample = array[:_SAMPLE]
    return len(_deflated(_differences(sample), 1)) < len(_deflated(sample, 1))


def _deflated(array: np.ndarray, level: int) -> bytes:
    planes = array.view(np.uint8).reshape(array.size, array.dtype.itemsize).T
    return zlib.compress(np.ascontiguousarray(planes).data, level)
