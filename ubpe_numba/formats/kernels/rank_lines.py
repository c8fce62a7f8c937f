"""Reading the lines of a `.tiktoken` file, tokens in base64 and their ranks.

Lines are read that are written as in published files; whatever else a file may have, or is not valid, is left
to Python::

    YQ== 0        97               tokens a ab    lengths 1 2    ranks 0 12
    YWI= 12       97 98
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import kernel

_DIGITS = np.full(256, 64, np.uint8)  # of base64, by their characters
_DIGITS[np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", np.uint8)] = (
    np.arange(64)
)


@kernel
def read_lines(text, tokens, lengths, ranks):
    """Read all lines; returns the bytes of the tokens, -1 if a line is unusual or not valid. O(bytes).

    `text` uint8[size] holds lines of base64, at least 4 characters, one space, 1 to 10 digits and a line
    feed. `tokens` uint8[size] gets the bytes of the tokens one after the other. `lengths` and `ranks` int64
    have an item per line feed. The caller allocates all. The lines above give 3; "YQ 0" gives -1.
    """
    i, end = np.int64(0), np.int64(0)
    for line in range(lengths.size):
        begin, padding = end, np.int64(0)
        while i + 4 < text.size and text[i] != ord(" "):
            if padding:
                return np.int64(-1)
            if text[i + 3] == ord("="):
                padding = np.int64(2) if text[i + 2] == ord("=") else np.int64(1)
            word = np.int64(0)
            for k in range(4):
                digit = np.int64(_DIGITS[text[i + k]]) if k < 4 - padding else np.int64(0)
                if digit == 64:
                    return np.int64(-1)
                word = word << 6 | digit
            tokens[end] = word >> 16
            tokens[end + 1] = word >> 8 & 0xFF
            tokens[end + 2] = word & 0xFF
            end += 3 - padding
            i += 4
        if i >= text.size or text[i] != ord(" "):
            return np.int64(-1)
        i += 1
        first, rank = i, np.int64(0)
        while i < text.size and ord("0") <= text[i] <= ord("9"):
            rank = 10 * rank + text[i] - ord("0")
            i += 1
        if end == begin or i == first or i - first > 10 or i >= text.size or text[i] != ord("\n"):
            return np.int64(-1)
        lengths[line] = end - begin
        ranks[line] = rank
        i += 1
    return end if i == text.size else np.int64(-1)
