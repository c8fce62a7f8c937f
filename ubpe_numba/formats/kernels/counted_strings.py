"""Strings with their lengths before them, as files of gguf have them.

A length is a number of eight bytes, the low ones first::

    02 00 00 00 00 00 00 00  61 62      00 00 00 00 00 00 00 00      01 00 00 00 00 00 00 00  63
    two bytes: "ab"                     none: ""                     one byte: "c"

Read as one text, "abc", and the beginnings of strings in it, and the end: 0 2 2 3.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import kernel


@kernel
def counted_strings(data, i, text, starts, k):
    """Read strings from i on as number k and following; returns how many there are then, and the position after them.

    data uint8; text uint8 gets their bytes from starts[k] on; starts int64[n + 1], of which all up to starts[k] are there, gets
    where each ends. The caller allocates both. It stops after string n - 1, and before one that does not end within data, or
    for which text has no room. O(bytes).

    The example above from 0 on, k = 0, starts [0, ., ., .]: text "abc", starts [0, 2, 2, 3]; returns 3, 27. Without the last of
    its bytes: text "ab", starts [0, 2, 2, .]; returns 2, 18.
    """
    i = np.int64(i)
    k = np.int64(k)
    w = starts[k]
    while k < starts.size - 1 and i + 8 <= data.size:
        length = np.uint64(0)  # the bytes 02 01 00 00 00 00 00 00 are 258
        for b in range(8):
            length |= np.uint64(data[i + b]) << np.uint64(8 * b)
        if length > np.uint64(data.size - i - 8) or length > np.uint64(text.size - w):
            break
        i += 8
        for _ in range(np.int64(length)):
            text[w] = data[i]
            w += 1
            i += 1
        k += 1
        starts[k] = w
    return k, i
