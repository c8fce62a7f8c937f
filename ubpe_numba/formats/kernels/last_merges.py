"""Kernels that find the last merge of each token of a table when it is encoded by itself.

Merges inside a stretch of text that do not cross its ends are those of the stretch alone. So no other pair of
parts can make the token in any text. `last_merges` is for pairs by rank, `pairs_of_ranks` for tokens of bytes
or characters by rank.

The parts of a token are kept in arrays over its symbols, at the first symbol of a part. `ends` is its end,
and the beginning of the next part. `ranks` is the rank of its merge with the next, NONE without one. Other
entries are unused. "lower", after the merges of "er" and then "lo"; "lo" + "w" is a pair of rank 7, "w" +
"er" one of rank 9:

    symbol     l    o    w    e    r
    ends       2    .    3    5    .
    ranks      7    .    9   NONE  .
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.formats.kernels.byte_strings import CROWDED, NONE, number_of
from ubpe_numba.runtime.compiler import helper, kernel, section
from ubpe_numba.runtime.machine.intrinsics import address
from ubpe_numba.runtime.tables.pairs import enter, pair_of, value_of


@helper
def lowest_rank(ends, ranks, n):
    """Beginning of the leftmost part with the lowest rank, and of its predecessor, -1 if none.

    (0, -1) if no rank is below NONE, and for the arrays above; ends, ranks int32 of a token of n symbols.
    O(parts).
    """
    at, before, previous = np.int64(0), np.int64(-1), np.int64(-1)
    i = np.int64(0)
    best = ranks[0]
    while i < n:
        if ranks[i] < best:
            best = ranks[i]
            at = i
            before = previous
        previous = i
        i = np.int64(ends[i])
    return at, before


@section
def _rank(entries, left, right):
    """Rank of a pair of ids, int32, NONE if it is not in the table or an id is -1. O(1) expected."""
    if left < 0 or right < 0:
        return np.int32(NONE)
    rank = value_of(entries, pair_of(left, right))
    return np.int32(rank) if rank >= 0 else np.int32(NONE)


@kernel
def enter_ranks(left, right, entries):
    """Enter pairs by rank, int32[m] each, into empty buckets (runtime/tables/pairs.py): (0, 1) -> 0. O(m)."""
    enter(left, right, 0, entries)


@helper
def _point(text, i, end):
    """Code point of the character of UTF-8 at i, and the position after it, `end` at most."""
    lead = np.int64(text[i])
    size = np.int64(1) + np.int64(lead >= 0xC0) + np.int64(lead >= 0xE0) + np.int64(lead >= 0xF0)
    point = lead if size == 1 else lead & (0x7F >> size)
    stop = min(i + size, end)
    for j in range(i + 1, stop):
        point = point << 6 | (np.int64(text[j]) & 0x3F)
    return point, stop


@kernel
def last_merges(text, starts, which, id_of, made, entries, ends, ranks, parts, last):
    """Rank of the last merge of each of some tokens, encoded by itself, -1 if more parts remain.

    `text` uint8 and `starts` int64 are tokens in UTF-8; `which` int64[k] selects some. `id_of` int32 is the
    id of the symbol of a code point, -1 for none. `made` int32[m] are the tokens that pairs make, by rank.
    `entries` are as `enter_ranks` fills them. `ends`, `ranks` and `parts` int32 are scratch of the bytes of
    the longest token; `parts` are ids. `last` int64[k] gets the ranks. The caller allocates all of it.
    O(length**2) per token.

    Let a, b, c, ab, bc, abc have the ids 0 to 5, with the pairs a b, b c, a bc, ab c. After the first merge
    abc is ab c, so its last pair is 3; it never is a bc, the pair of rank 2.
    """
    for t in range(which.size):
        at = np.int64(starts[which[t]])
        end = np.int64(starts[which[t] + 1])
        n = np.int64(0)
        while at < end:
            point, at = _point(text, at, end)
            parts[n] = id_of[point] if point < id_of.size else np.int32(-1)
            ranks[n] = NONE
            n += 1
            ends[n - 1] = n
        for i in range(n - 1):
            ranks[i] = _rank(entries, parts[i], parts[i + 1])
        last[t] = -1
        while ends[0] < n:
            at, before = lowest_rank(ends, ranks, n)
            rank = ranks[at]
            if rank == NONE:
                break
            end = np.int64(ends[ends[at]])
            if at == 0 and end == n:
                last[t] = rank
            parts[at] = made[rank]
            ends[at] = end
            ranks[at] = NONE
            if end < n:
                ranks[at] = _rank(entries, parts[at], parts[end])
            if before >= 0:
                ranks[before] = _rank(entries, parts[before], parts[at])


@kernel
def pairs_of_ranks(values, symbols, starts, n_symbols, two, table, ends, ranks, parts, pairs):
    """The two tokens that are merged last when each token is encoded by itself; a token's number is its rank.

    Two neighbors merge if their symbols are a token, of the lowest rank first, as in tiktoken and
    sentencepiece. `values` uint8 are the symbols of all tokens, of 1 byte or of 4, and 8 bytes more.
    `symbols` int32 is the token that each symbol is by itself, NONE if none. `starts` int64[V + 1] are the
    beginnings of tokens, in bytes: first the `n_symbols` of a single symbol, then by rank. Tokens of two
    bytes are entered in `two` int32[65536], filled with NONE. Others are entered in `table`
    (byte_strings.py), int64[2 * capacity] of at least 2 * V entries, filled with -1. `ends`, `ranks` and
    `parts` int32 are scratch of the longest token; `parts` are numbers.

    The result is `pairs` int32[V - n_symbols, 2], the numbers of the two, -1 twice for a token that its parts
    are not merged to. The caller allocates all of it. Returns -1, or the number of a duplicate token, or -2
    if a token does not find a place in the table. O(length**2) per token, in all O(bytes) for real
    vocabularies.

    Let the tokens be a, b, c, ab, bc, abc, n_symbols 3. Then abc is a b c, then ab c, since ab has the lower
    rank, so pairs are [[0, 1], [1, 2], [3, 2]]. Without ab and bc, those of abc are [-1, -1].
    """
    text = address(values)
    width = (values.size - 8) // symbols.size
    for t in range(starts.size - 1):
        begin = starts[t]
        n = starts[t + 1] - begin
        token = np.int32(NONE)
        if t < n_symbols:
            token = token if symbols[begin // width] == t else np.int32(t)
        elif n == 2:
            pair = (np.int64(values[begin]) << 8) | values[begin + 1]
            token = two[pair]
            two[pair] = t
        else:
            token = number_of(text, begin, n, starts, table, t)
            if token == CROWDED:
                return np.int64(-2)
        if token != NONE:
            return np.int64(t)
    for t in range(n_symbols, starts.size - 1):
        first = starts[t] // width
        n = starts[t + 1] // width - first
        for i in range(n):
            ends[i] = i + 1
            parts[i] = symbols[first + i]
            ranks[i] = NONE
        for i in range(n - 1):
            if width == 1:
                ranks[i] = two[(np.int64(values[first + i]) << 8) | values[first + i + 1]]
            else:
                ranks[i] = number_of(text, width * (first + i), 2 * width, starts, table, np.int64(-1))
        while ends[ends[0]] < n:
            at, before = lowest_rank(ends, ranks, n)
            if ranks[at] == NONE:
                break
            parts[at] = ranks[at]
            end = np.int64(ends[ends[at]])
            ends[at] = end
            if ends[ends[0]] == n:
                break  # two are left, which make the token
            ranks[at] = NONE
            if end < n:
                ranks[at] = number_of(
                    text, width * (first + at), width * (ends[end] - at), starts, table, np.int64(-1)
                )
            if before >= 0:
                ranks[before] = number_of(
                    text, width * (first + before), width * (end - before), starts, table, np.int64(-1)
                )
        pairs[t - n_symbols, 0] = -1
        pairs[t - n_symbols, 1] = -1
        if ends[ends[0]] == n and parts[0] != NONE and parts[ends[0]] != NONE:
            pairs[t - n_symbols, 0] = parts[0]
            pairs[t - n_symbols, 1] = parts[ends[0]]
    return np.int64(-1)
