"""Tables for encoding text by merge rank, for vocabularies over the 256 bytes.

They are compact, since cache misses determine the speed.

The words "stable" and "prefix" are explained in linear_bpe.py. A token has two parts, and continues in the
trie from the end of its left part. So only the bytes of right parts are walked, a third of all.

Whole characters. Encoding by merge rank makes a character's token from its bytes, unless a merge across one
of its ends comes first. This merge makes a token that is *askew*: it ends inside a character and has
something before it, or begins inside one and has something after it. An askew token of a lower id can break
the character up. If none fits there, the character is used as a whole, and the merges inside it are not
performed.

    text      x  E4 B8 AD  y        with the tokens 300 = E4 B8, 400 = E4 B8 AD, 350 = AD "y"
                 --------
                    400             350 begins with the last byte, has "y" after it, and comes before 400: the
                    bytes one by one
    text      x  E4 B8 AD  z        no token that is askew has AD "z" in it: 400

For each pair of neighboring bytes, `into` and `out_of` hold the lowest id of the askew tokens with this pair
across an end of the character. `into` is for tokens that end inside a character, `out_of` for those that
begin inside one. The condition is stricter than needed, which costs time but never gives a wrong id.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ubpe_numba.coding.kernels.linear_bpe import NEVER, find_prefixes, find_stable
from ubpe_numba.coding.kernels.packed import FREE, NO_PAIR, child_of, edge_of, enter_pairs, find_child, id_of
from ubpe_numba.runtime.compiler import helper, kernel, section
from ubpe_numba.runtime.machine.intrinsics import address, load8, load32, store32

UNBROKEN = 1 << 30  # more than any id


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
def find_whole_characters(arena, lengths, stable, solid, into, out_of):
    """Fill the three tables. O(tokens, and the bytes at their ends).

    `arena` uint8 holds the bytes of all V tokens; `lengths` is int32[V], `stable` uint8[V]. Output: `solid`
    int32[65536] is the stable token of a code point or -1. `into` and `out_of` int32[65536] have an item at
    `left byte << 8 | right byte`, UNBROKEN if no askew token has this pair.

    The tokens above: solid[0x4E2D] = 400; into is full of UNBROKEN; out_of[0xAD << 8 | "y"] = 350.
    """
    solid[:] = -1
    into[:] = UNBROKEN
    out_of[:] = UNBROKEN
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
            into[key] = min(into[key], t)
        if i > a and i < b:
            key = np.int64(arena[i - 1]) << 8 | np.int64(arena[i])
            out_of[key] = min(out_of[key], t)
        first = np.int64(arena[a])
        width = b - a
        if stable[t] and i == a and k == a and 0xC2 <= first < 0xF0 and width == _width(first):
            point = code_point(first, np.int64(arena[a + 1]), np.int64(arena[b - 1]), width)
            if width == 2 or point >= 0x800:
                solid[point] = t


@helper
def characters(text, p, end, row, byte_ids, solid, into, out_of):
    """Write the symbols of text[p:end] to address `row`, int32; returns how many.

    Characters that nothing can break up become one symbol, others bytes.

    All arguments except p and end are addresses. O(bytes); see the example above.
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
                    if symbol >= 0 and before >= 0 and load32(into, 4 * (before << 8 | byte)) <= symbol:
                        symbol = np.int64(-1)
                    if symbol >= 0 and p + width < end and load32(out_of, 4 * (last << 8 | after)) <= symbol:
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


class TextTables(NamedTuple):
    """Tables of encoding text; m pairs, V = 256 + m tokens. Kernels take it as a plain tuple."""

    byte_ids: np.ndarray  #: int32[256], the alphabet id of every byte
    #: int32[65536], the token of two bytes, at `first << 8 | second`; NO_PAIR if there is none
    two_bytes: np.ndarray
    pairs: np.ndarray  #: uint64[8 * buckets], pair -> id (packed.py)
    solid: np.ndarray  #: int32[65536], characters that are tokens, and the tokens that may break them up
    into: np.ndarray  #: int32[65536]
    out_of: np.ndarray  #: int32[65536]
    trie: np.ndarray  #: uint64[capacity], of stable tokens (packed.py)
    token_of: np.ndarray  #: int32[nodes]
    left: np.ndarray  #: int32[m], the two ids that make up each learned token
    right: np.ndarray  #: int32[m]
    #: int32[V], the longest stable token that is a proper prefix of a stable token, -1 if there is none
    prefixes: np.ndarray
    lengths: np.ndarray  #: int32[V], bytes
    #: uint64[capacity], a trie like `trie`, of tokens that a word may be as a whole though merges do not make
    #: them
    whole: np.ndarray
    #: int32[nodes], the token of each node, -1 for none; length 1 if there are none
    whole_of: np.ndarray


@helper
def id_in_buckets(pairs, left, right):
    """The id of a pair in the table `pairs` of `TextTables`, or NEVER: what `find_stable` and `fits` look up.

    O(1) expected.
    """
    token = id_of(address(pairs), pairs.size // 8 - 1, left, right)
    return NEVER if token == NO_PAIR else token


@helper
def whole_word(text, begin, end, whole, whole_of):
    """The token that text[begin:end] is as a whole, before any merge, or -1; text: address. O(bytes)."""
    if whole_of.size == 1:
        return np.int64(-1)
    edges = address(whole)
    mask = whole.size - 1
    node = load8(text, begin)
    for i in range(begin + 1, end):
        node = child_of(edges, mask, node, load8(text, i))
        if node < 0:
            return np.int64(-1)
    return np.int64(whole_of[node])


@kernel
def enter_whole_words(arena, starts, tokens, whole, whole_of):
    """Enter tokens into a trie of their own; returns the number of nodes. O(bytes).

    `arena` uint8 and `starts` int64[V + 1] hold the bytes of all V tokens. `tokens` int32 are those to enter.
    `whole` uint64 of FREE and `whole_of` int32 of -1 have room for 256 and all their bytes. The caller
    allocates all. The token 300 = "ab": the edge from 97 by 98 to node 256, whole_of[256] = 300; returns 257.
    """
    edges = address(whole)
    mask = whole.size - 1
    n = np.int64(256)
    for t in tokens:
        node = np.int64(arena[starts[t]])
        for j in range(starts[t] + 1, starts[t + 1]):
            byte = np.int64(arena[j])
            i = find_child(edges, mask, node, byte)
            if whole[i] == FREE:
                whole[i] = edge_of(node, byte, n)
                n += 1
            node = np.int64(whole[i] & np.uint64(0xFFFFFFFF))
        whole_of[node] = t
    return n


@section
def _enter_tokens(arena, lengths, left, right, stable, byte_ids, trie, token_of, node_of, parents):
    """Enter the stable tokens into a trie; returns the number of nodes. O(bytes of the right parts).

    arena uint8, the bytes of all tokens one after the other, in order of ids; scratch: node_of int32[V] and
    parents int32, as long as token_of. The others as the fields of `TextTables`, trie and token_of to be
    filled.
    """
    edges = address(trie)
    mask = trie.size - 1
    for byte in range(256):
        token_of[byte] = byte_ids[byte]
        node_of[byte_ids[byte]] = byte
    n = np.int64(256)
    end = np.int64(256)
    for t in range(256, lengths.size):
        end += lengths[t]
        if not stable[t]:
            continue
        node = np.int64(node_of[left[t - 256]])
        for j in range(end - lengths[right[t - 256]], end):
            byte = np.int64(arena[j])
            i = find_child(edges, mask, node, byte)
            if trie[i] == FREE:
                trie[i] = edge_of(node, byte, n)
                parents[n] = node
                token_of[n] = -1
                n += 1
            node = np.int64(trie[i] & np.uint64(0xFFFFFFFF))
        node_of[t] = node
        token_of[node] = t
    return n


@kernel
def build(arena, tables, stable, node_of, parents):
    """Fill the tables; returns the number of nodes of the trie. O(bytes of the right parts + m * depth).

    `arena` uint8 holds the bytes of all tokens one after the other. `tables` is a `TextTables` as a plain
    tuple, allocated by the caller. Its byte_ids, left, right and lengths are given, pairs and trie are empty
    tables with room enough, and the others are uninitialized. Output: `stable` uint8[V], whether a token
    encodes to itself. Scratch: `node_of` int32[V], `parents` int32, as long as token_of.

    Merge ("a", "b") -> 256, and each byte is its own id: two_bytes["a" << 8 | "b"] = 256. The trie has the
    edge from 97 by 98 to node 256, token_of[256] = 256, prefixes[256] = 97. `stable` is full of 1. Returns
    257.
    """
    byte_ids, two_bytes, pairs, solid, into, out_of, trie, token_of, left, right, prefixes, lengths, _, _ = (
        tables
    )
    two_bytes[:] = NO_PAIR
    for byte in range(256):
        node_of[byte_ids[byte]] = byte
    for i in range(left.size):
        if left[i] < 256 and right[i] < 256:
            two_bytes[np.int64(node_of[left[i]]) << 8 | np.int64(node_of[right[i]])] = 256 + i
    enter_pairs(left, right, 256, pairs)
    find_stable(id_in_buckets, pairs, left, right, 256, stable)
    n = _enter_tokens(arena, lengths, left, right, stable, byte_ids, trie, token_of, node_of, parents)
    find_prefixes(256, n, node_of, parents, token_of, stable, prefixes)
    find_whole_characters(arena, lengths, stable, solid, into, out_of)
    return n
