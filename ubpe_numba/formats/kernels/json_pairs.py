r"""Reading the pairs of a `tokenizer.json`, half a million lists of two texts, or texts with a space, out of its bytes.

`json` makes a list and two `str` of each, and takes longer than all the rest of an import. This accepts JSON in every detail, and
stops at anything that may be invalid or unusual, which is left to `json`::

    [["a", "b"], ["\u00e9", "c"], "ab \""]        names a b é c ab "        starts 0 1 2 4 5 7 8
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import helper, kernel, section

_QUOTE, _COMMA, _SPACE, _OPEN, _CLOSE = 0x22, 0x2C, 0x20, 0x5B, 0x5D
_ENDED = -1


@helper
def _blanks(data, i):
    """The first place from i on that is no white space. O(blanks)."""
    while i < data.size and (data[i] == 0x20 or data[i] == 0x0A or data[i] == 0x0D or data[i] == 0x09):
        i += 1
    return i


@helper
def _four_digits(data, i):
    """The number of four hexadecimal digits at i, -1 if there are none."""
    if i + 4 > data.size:
        return np.int64(-1)
    value = np.int64(0)
    for k in range(4):
        digit = np.int64(data[i + k])
        lower = digit | 0x20
        if 0x30 <= digit <= 0x39:
            value = value << 4 | (digit - 0x30)
        elif 0x61 <= lower <= 0x66:
            value = value << 4 | (lower - 0x61 + 10)
        else:
            return np.int64(-1)
    return value


@helper
def _plain(byte):
    r"""Character that a byte after a backslash means, other than `\u`; -1 for none."""
    if byte == _QUOTE or byte == 0x5C or byte == 0x2F:
        return np.int64(byte)
    if byte == ord("n"):
        return np.int64(0x0A)
    if byte == ord("t"):
        return np.int64(0x09)
    if byte == ord("r"):
        return np.int64(0x0D)
    if byte == ord("b"):
        return np.int64(0x08)
    return np.int64(0x0C) if byte == ord("f") else np.int64(-1)


@helper
def _character(data, i):
    r"""Character of the digits after `\u` at i, and the position after them; -1 for no character, or half of a pair."""
    point = _four_digits(data, i)
    i += 4
    if 0xD800 <= point < 0xE000:
        if point >= 0xDC00 or i + 2 > data.size or data[i] != 0x5C or data[i + 1] != ord("u"):
            return np.int64(-1), i
        low = _four_digits(data, i + 2)
        i += 6
        point = 0x10000 + ((point - 0xD800) << 10) + low - 0xDC00 if 0xDC00 <= low < 0xE000 else np.int64(-1)
    return point, i


@section
def _text(data, i, names, w, starts, k, split):
    """Read the text that begins with a quote at i; returns the position after it, _ENDED if it is invalid, and the end of names.

    names uint8, starts int64: the bytes of the text go to names[w:]; with `split`, at a space a new name begins, the start of
    which is starts[k]. There must be one space then, and no empty name. O(bytes).
    """
    first = w
    n_spaces = 0
    if i >= data.size or data[i] != _QUOTE:
        return np.int64(_ENDED), w
    i += 1
    while i < data.size:
        byte = np.int64(data[i])
        i += 1
        if byte == _QUOTE:
            ok = w > first and (not split or (n_spaces == 1 and w > starts[k]))
            return i if ok else np.int64(_ENDED), w
        if byte < 0x20:
            break
        if byte == 0x5C:
            if i >= data.size:
                break
            escape = data[i]
            i += 1
            if escape == ord("u"):
                point, i = _character(data, i)
                if point < 0:
                    break
                if point >= 0x80:
                    size = 2 + np.int64(point >= 0x800) + np.int64(point >= 0x10000)
                    names[w] = (0xF00 >> size & 0xFF) | point >> 6 * (size - 1)
                    for j in range(1, size):
                        names[w + j] = 0x80 | (point >> 6 * (size - 1 - j) & 0x3F)
                    w += size
                    continue
                byte = point
            else:
                byte = _plain(escape)
                if byte < 0:
                    break
        if split and byte == _SPACE:
            n_spaces += 1
            if n_spaces > 1 or w == first:
                break
            starts[k] = w
            continue
        names[w] = byte
        w += 1
    return np.int64(_ENDED), w


@kernel
def read_json_pairs(data, begin, names, starts):
    """Read an array of pairs that begins at `begin`; returns the position after it and the number of pairs, or -1 for any other.

    data uint8; names uint8, as long as data is from `begin` on, gets the names, left and right part of every pair side by side;
    starts int64, room for two in five bytes of data from `begin` on, and one, gets where each begins, and the end. The caller
    allocates both. O(bytes).

    `[["a", "b"], "ab c"]` -> 21, 2; names "ababc", starts [0, 1, 2, 4, 5].
    """
    w = np.int64(0)
    m = np.int64(0)
    starts[0] = 0
    i = _blanks(data, np.int64(begin))
    if i >= data.size or data[i] != _OPEN:
        return np.int64(_ENDED), m
    i = _blanks(data, i + 1)
    if i < data.size and data[i] == _CLOSE:
        return i + 1, m
    while i < data.size:
        k = 2 * m
        if data[i] == _QUOTE:
            i, w = _text(data, i, names, w, starts, k + 1, True)
        elif data[i] == _OPEN:
            i, w = _text(data, _blanks(data, i + 1), names, w, starts, k + 1, False)
            starts[k + 1] = w
            if i == _ENDED:
                break
            i = _blanks(data, i)
            if i >= data.size or data[i] != _COMMA:
                break
            i, w = _text(data, _blanks(data, i + 1), names, w, starts, k + 1, False)
            if i == _ENDED:
                break
            i = _blanks(data, i)
            if i >= data.size or data[i] != _CLOSE:
                break
            i += 1
        else:
            break
        if i == _ENDED:
            break
        m += 1
        starts[k + 2] = w
        i = _blanks(data, i)
        if i >= data.size or (data[i] != _COMMA and data[i] != _CLOSE):
            break
        if data[i] == _CLOSE:
            return i + 1, m
        i = _blanks(data, i + 1)
    return np.int64(_ENDED), m
