"""Characters of two or three bytes that are tokens, and whether anything in a text can break one of them up.

Encoding by merge rank makes a character's token from its bytes, unless a merge across one of its ends comes first. Such a merge
makes a token that is *askew*: it ends in the first bytes of a character and has something before them, or begins with the last
bytes of one and has something behind them. An askew token of a lower id than the character's can break it up; where none could
lie, the character is taken whole, and the merges inside it are never performed.

    text      x  E4 B8 AD  y        with the tokens 300 = E4 B8, 400 = E4 B8 AD, 350 = AD "y"
                 --------
                    400             350 begins with the last byte, has "y" behind it, and comes before 400: the bytes one by one
    text      x  E4 B8 AD  z        no token that is askew has AD "z" in it: 400

For each pair of neighbouring bytes, `behind` and `ahead` hold the lowest id of the askew tokens in which the pair lies at the end
of the character: `behind` at the first byte of a character that the token has not all of, `ahead` behind the last. That is more
than needed, which costs time but never a wrong id.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import helper, section
from ubpe_numba.runtime.machine.intrinsics import load8, load32, store32

NEVER = 1 << 30  # more than any id


@helper
def _width(first):
    """How many bytes a character has whose first byte is this: 0xE4 -> 3. O(1)."""
    return np.int64(2) if first < 0xE0 else (np.int64(3) if first < 0xF0 else np.int64(4))


@helper
def code_point(first, second, last, width):
    """The code point of two or three bytes: C3 A9 (last is second) -> 0xE9; E4 B8 AD -> 0x4E2D. O(1)."""
    if width == 2:
        return (first & 0x1F) << 6 | last & 0x3F
    return (first & 0x0F) << 12 | (second & 0x3F) << 6 | last & 0x3F


@section
def find_whole_characters(arena, lengths, stable, solid, behind, ahead):
    """Fill the three tables. O(tokens, and the bytes at their ends).

    arena uint8, the bytes of all V tokens; lengths int32[V]; stable uint8[V]. Output: solid int32[65536], the stable token of
    a code point or -1; behind and ahead int32[65536], at `left byte << 8 | right byte`, NEVER if there is no such token.

    The tokens above: solid[0x4E2D] = 400; behind is full of NEVER; ahead[0xAD << 8 | "y"] = 350.
    """
    solid[:] = -1
    behind[:] = NEVER
    ahead[:] = NEVER
    b = np.int64(256)
    for t in range(256, lengths.size):
        a = b
        b += lengths[t]
        i = a
        while i < b and arena[i] & 0xC0 == 0x80:
            i += 1
        k = b - 1
        while k > i and arena[k] & 0xC0 == 0x80:
            k -= 1
        if k >= i and k > a and arena[k] >= 0xC0 and b - k < _width(arena[k]):
            key = np.int64(arena[k - 1]) << 8 | np.int64(arena[k])
            behind[key] = min(behind[key], t)
        if i > a and i < b:
            key = np.int64(arena[i - 1]) << 8 | np.int64(arena[i])
            ahead[key] = min(ahead[key], t)
        first = np.int64(arena[a])
        width = b - a
        if stable[t] and i == a and k == a and 0xC2 <= first < 0xF0 and width == _width(first):
            point = code_point(first, np.int64(arena[a + 1]), np.int64(arena[b - 1]), width)
            if width == 2 or point >= 0x800:
                solid[point] = t


@helper
def characters(text, p, end, row, byte_ids, solid, behind, ahead):
    """Write the symbols of text[p:end] to address `row`, int32: characters that nothing can break up, else bytes.

    Returns how many. All arguments but p and end are addresses. O(bytes); the example is drawn above.
    """
    n = np.int64(0)
    before = np.int64(-1)
    while p < end:
        byte = load8(text, p)
        width = np.int64(1)
        symbol = np.int64(-1)
        last = byte
        if 0xC2 <= byte < 0xF0 and p + _width(byte) <= end:
            width = _width(byte)
            second = load8(text, p + 1)
            last = load8(text, p + width - 1)
            after = load8(text, p + width) if p + width < end else np.int64(0)
            if second & 0xC0 == 0x80 and last & 0xC0 == 0x80 and after & 0xC0 != 0x80:
                point = code_point(byte, second, last, width)
                if width == 2 or point >= 0x800:
                    symbol = load32(solid, 4 * point)
                    if symbol >= 0 and before >= 0 and load32(behind, 4 * (before << 8 | byte)) <= symbol:
                        symbol = np.int64(-1)
                    if symbol >= 0 and p + width < end and load32(ahead, 4 * (last << 8 | after)) <= symbol:
                        symbol = np.int64(-1)
        if symbol < 0:
            width = np.int64(1)
            last = byte
            symbol = load32(byte_ids, 4 * byte)
        store32(row, 4 * n, symbol)
        n += 1
        p += width
        before = last
    return n
