"""Encoding and decoding for callers that have only the address of a header.

Arguments and results are int64; nothing is raised.

A header is int64: words of a fixed meaning, named below, and from TABLES on the tables of the encoding
kernel, two words each (coding/kernels/addresses.py). `encode_at` reads a document, calls the kernel at word
ENCODER, and copies ids:

    word     0          1          2        3    4     5, 6   7, 8  9, 10  11     12
             encode_at  decode_at  unknown  low  size  known  keys  order  fixed  each
    word     13      14    15       16, 17  18
             number  most  encoder  starts  arena

An encoder is a kernel of (header, work, n): n alphabet ids lie in the work memory, and its own ids go there.
The work memory of a document of n symbols, in words of 8 bytes, of which the first four are 0 at first:

    0, 1        offsets of the document: 0 and n
    2, 3        offsets of its ids, as kernels write them
    4 ...       alphabet ids, int32[n]                          (n + 1) >> 1 words
    then        ids, int32[n]                                   as many
    then        scratch of the encoder, `fixed` and `each` * (n + 1) bytes

So nothing of a caller is read again once it was written, and callers may share documents, and even a buffer
of results.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.coding.kernels.addresses import (
    NO_MEMORY,
    allocate,
    array_at,
    call_at,
    claim,
    copy_bytes,
    release,
    table_at,
    word_at,
)
from ubpe_numba.coding.kernels.best_path import LONG_WALK, NODE, best_paths
from ubpe_numba.coding.kernels.k_best import COST, cheapest_paths
from ubpe_numba.coding.kernels.linear_bpe import NO_PAIR, RUN_HEAD, SHORT, encode_rank, merge_one_by_one
from ubpe_numba.coding.kernels.merge_by_heap import merge_by_heap
from ubpe_numba.coding.kernels.merge_by_pass import encode_pairs
from ubpe_numba.coding.kernels.viterbi import forward_paths, packed_paths
from ubpe_numba.runtime.compiler import helper, kernel, kernel_with_scratch
from ubpe_numba.runtime.machine.intrinsics import (
    address,
    atomic_store,
    atomic_swap,
    load8,
    load16,
    load32,
    load64,
)
from ubpe_numba.runtime.tables.automaton import LISTED, MATCH, STATE
from ubpe_numba.runtime.tables.trie import EDGE

#: Result if not all ids or symbols fit.
NO_ROOM = -(1 << 62)
#: Words of a header; of KNOWN, KEYS, ORDER and STARTS the first of two.
ENCODE, DECODE, UNKNOWN, LOW, SIZE, KNOWN, KEYS, ORDER = 0, 1, 2, 3, 4, 5, 7, 9
FIXED, EACH, NUMBER, MOST, ENCODER, STARTS, ARENA, TABLES = 11, 12, 13, 14, 15, 16, 18, 19
#: Values of UNKNOWN other than an id that replaces unknown symbols.
RAISE, SKIP = -1, -2


@helper
def symbol_at(doc, size, is_unsigned):
    """The integer of `size` bytes at an address, int64; as signed if it is unsigned and has 8 bytes. O(1)."""
    if size == 8:
        x = np.int64(load64(doc, np.int64(0)))
    elif size == 4:
        x = load32(doc, np.int64(0))
        if is_unsigned:
            x &= np.int64(0xFFFFFFFF)
    elif size == 2:
        x = load16(doc, np.int64(0))
        if not is_unsigned:
            x = (x ^ np.int64(0x8000)) - np.int64(0x8000)
    else:
        x = load8(doc, np.int64(0))
        if not is_unsigned:
            x = (x ^ np.int64(0x80)) - np.int64(0x80)
    return x


@helper
def _known(x, low, size, known, keys, order):
    """The alphabet id of a symbol, -1 if it has none. O(1), or O(log keys).

    The symbols `low`, ..., `low + size - 1` are their own ids, minus `low`. With `known` int32, the id is
    entry x - low. With `keys` int64, ascending, it is the item of `order` int32 at the same place.
    """
    at = np.uint64(x) - np.uint64(low)  # values below `low` become large
    if known.size:
        return known[at] if at < np.uint64(known.size) else np.int32(-1)
    if keys.size:
        first = np.int64(0)
        last = np.int64(keys.size - 1)
        while first < last:
            middle = (first + last) >> 1
            if keys[middle] < x:
                first = middle + 1
            else:
                last = middle
        return order[first] if keys[first] == x else np.int32(-1)
    return np.int32(at) if at < np.uint64(size) else np.int32(-1)


@helper
def begin(header, n):
    """Allocate the work memory of a document of n symbols; its address, 0 if there is none.

    `release` frees it.
    """
    work = claim(32 + 16 * ((n + 1) >> 1) + word_at(header, FIXED) + word_at(header, EACH) * (n + 1))
    if work != 0:
        array_at(work, 4, np.int64)[:] = 0
    return work


@helper
def read_symbols(header, work, doc, stride, n, kind):
    """Write the alphabet ids of a document to the work memory; returns how many, or -1 - i.

    The document is given as to `encode_at`. -1 - i: the symbol at i is unknown. O(n).
    """
    ids = array_at(work + 32, n, np.int32)
    low = word_at(header, LOW)
    size = word_at(header, SIZE)
    unknown = word_at(header, UNKNOWN)
    known = table_at(header, KNOWN, np.int32)
    keys = table_at(header, KEYS, np.int64)
    order = table_at(header, ORDER, np.int32)
    width = kind & 15
    is_unsigned = kind >= 16
    m = np.int64(0)
    for i in range(n):
        x = symbol_at(doc + i * stride, width, is_unsigned)
        symbol = np.int64(-1)
        if not (is_unsigned and x < 0):  # beyond int64
            symbol = np.int64(_known(x, low, size, known, keys, order))
        if symbol < 0:
            if unknown == RAISE:
                return -1 - np.int64(i)
            if unknown == SKIP:
                continue
            symbol = unknown
        ids[m] = symbol
        m += 1
    array_at(work, 4, np.int64)[1] = m
    return m


@helper
def ids_at(work, m):
    """The address of the ids of a document that was read as m alphabet ids. O(1)."""
    return work + 32 + 8 * ((m + 1) >> 1)


@kernel
def encode_at(header, doc, stride, n, kind, out, room):
    """Write the ids of n symbols at an address, `stride` bytes apart, to int32 at `out`; returns how many.

    `kind` is the number of bytes per symbol, plus 16 if unsigned. Other results: -1 - i if the symbol at i is
    unknown; NO_ROOM if there are more than `room` ids (nothing is written); NO_MEMORY. With `out` 0 the ids
    are only counted. All are int64. O(n) and the encoder.
    """
    work = begin(header, n)
    if work == 0:
        return np.int64(NO_MEMORY)
    w = read_symbols(header, work, doc, stride, n, kind)
    if w >= 0:
        m = w
        w = call_at(word_at(header, ENCODER), (header, work, m))
        if w > 0 and out != 0:
            if w > room:
                w = np.int64(NO_ROOM)
            else:
                copy_bytes(out, ids_at(work, m), 4 * w)
    release(work)
    return w


@helper
def _places(work, n):
    """The document as kernels take it, the place of its ids, and the address of scratch memory.

    The first two are symbols and offsets, then ids and offsets.
    """
    out = ids_at(work, n)
    document = array_at(work + 32, n, np.int32), array_at(work, 2, np.int64)
    return document, (array_at(out, n, np.int32), array_at(work + 16, 2, np.int64)), out + 8 * ((n + 1) >> 1)


@helper
def _merges(header):
    """The table of pairs, their two ids, and the first id of a pair."""
    a = np.int64(TABLES)
    entries, left = table_at(header, a, np.int64), table_at(header, a + 2, np.int32)
    return entries, left, table_at(header, a + 4, np.int32), word_at(header, NUMBER)


@helper
def _matches(header):
    """The tables of the automaton that lists tokens, as coding/path_encoder.py has them."""
    a = np.int64(TABLES)
    edges, states, listed = (
        table_at(header, a, EDGE),
        table_at(header, a + 2, STATE),
        table_at(header, a + 4, LISTED),
    )
    owners, rows = table_at(header, a + 6, np.int32), table_at(header, a + 8, np.int32)
    return edges, states, listed, owners, rows, table_at(header, a + 10, MATCH)


@kernel
def by_rank(header, work, n):
    """An encoder: by merge rank, of tables in order of creation. `number`: symbols of the alphabet."""
    document, result, s = _places(work, n)
    a = np.int64(TABLES)
    trie, prefixes, lengths = (
        table_at(header, a + 6, EDGE),
        table_at(header, a + 8, np.int32),
        table_at(header, a + 10, np.int64),
    )
    run = array_at(s, RUN_HEAD + SHORT + n + 1, np.int64)
    # in place: to hand over so many arrays takes longer than some merges
    if n <= SHORT and lengths.size <= NO_PAIR:
        return merge_one_by_one(table_at(header, a, np.int64), document[0], run, result[0], np.int64(0))
    dead = array_at(s + 8 * (RUN_HEAD + SHORT + n + 1), (n >> 3) + 1, np.uint8)
    return encode_rank(*document, (*_merges(header), trie, prefixes, lengths), dead, run, *result)


@kernel
def by_heap(header, work, n):
    """An encoder by merge rank for ranks in any order; ranks are compared after every merge.

    `number`: symbols of the alphabet.
    """
    document, result, s = _places(work, n)
    heap = array_at(s, 3 * n, np.int64)
    links = array_at(s + 24 * n, 5 * n, np.int32).reshape((5, n))
    return merge_by_heap(
        *document, np.int64(0), _merges(header), True, 0.0, np.uint64(0), links, heap, *result
    )


@kernel_with_scratch
def by_pass(header, work, n):
    """An encoder: by merge rank in any order, a pass a rank, or by batch.

    `number`: symbols of the alphabet; `most`: by batch.
    """
    document, result, _ = _places(work, n)
    conflicts = table_at(header, np.int64(TABLES + 6), np.int32)
    return encode_pairs(*document, _merges(header), conflicts, word_at(header, MOST) != 0, *result)


@kernel
def by_tfidf(header, work, n):
    """An encoder: by the best path of tf-idf. `number`: tails within reach.

    Clearing the counts of all tokens takes longer than encoding a short document. So counts are kept on desks
    that a call leaves as it took them. The last table holds the desks: 8 words and the counts each. The first
    word is 1 while a call has the desk. The next word is the number of symbols read there so far, since
    positions must not repeat. A call that finds all desks taken clears counts of its own, and so does a child
    process forked meanwhile. Documents that write no counts all use the first desk.
    """
    document, result, s = _places(work, n)
    a = np.int64(TABLES)
    scaled, logs = table_at(header, a + 12, np.float64), table_at(header, a + 14, np.float64)
    desks = table_at(header, a + 16, np.int64)
    size = 3 * np.int64(scaled.size)
    desk = np.int64(0 if n <= LONG_WALK else -1)
    for i in range(size + 8, desks.size, size + 8):
        if desk < 0 and atomic_swap(desks, i, 0, 1):
            desk = np.int64(i)
    begin = own = np.int64(0)
    if desk > 0:
        begin = desks[desk + 1]
        desks[desk + 1] += n
    elif desk < 0:
        own = allocate(size)
        if own == 0:
            return np.int64(NO_MEMORY)
    counts = array_at(own if desk < 0 else address(desks) + 8 * (desk + 8), size, np.int64)
    offsets = document[1]
    offsets[0], offsets[1] = begin, begin + n
    n_tails = 2 * word_at(header, NUMBER)
    tails, weights = array_at(s, n_tails, np.float64), array_at(s + 8 * n_tails, 1, np.float64)
    tree = array_at(s + 8 * (n_tails + 1), n + 1, NODE)
    symbols = array_at(work + 32 - 4 * begin, begin + n, np.int32)
    w = best_paths(symbols, offsets, (*_matches(header), scaled, logs), tails, tree, counts, *result, weights)
    if desk > 0:
        atomic_store(desks, desk, 0)
    elif desk < 0:
        release(own)
    return w


@kernel
def by_sums(header, work, n):
    """An encoder: by the cheapest path.

    `number`: tails within reach; `most`: symbols that packed costs are exact for.
    """
    document, result, s = _places(work, n)
    ring = word_at(header, NUMBER)
    matches = _matches(header)
    a = np.int64(TABLES + 12)
    if n <= word_at(header, MOST):
        sums, tree = array_at(s, ring, np.uint64), array_at(s + 8 * ring, n, np.int32)
        return packed_paths(*document, *matches, table_at(header, a, np.uint64), sums, tree, *result)
    edges, states, _, _, _, _ = matches
    costs, sums = table_at(header, a + 2, np.float64), array_at(s, ring, COST).reshape((ring, 1))
    array_at(s + 16 * ring, ring, np.int64)[:] = 0
    sums_at, heads = (
        array_at(s + 16 * ring, ring, np.int64),
        array_at(s + 24 * ring, 2 * ring, np.int64).reshape((2, ring)),
    )
    parent, token = (
        array_at(s + 40 * ring, n + 1, np.int32),
        array_at(s + 40 * ring + 4 * (n + 1), n + 1, np.int32),
    )
    return cheapest_paths(*document, edges, states, costs, sums, sums_at, heads, parent, token, *result)


@kernel
def by_forward(header, work, n):
    """An encoder: by the most probable path, from the beginning.

    `number`: heads within reach; `most`: sums of float32.
    """
    document, result, s = _places(work, n)
    ring = word_at(header, NUMBER)
    scores, sums = table_at(header, np.int64(TABLES + 12), np.float64), array_at(s, 2 * ring, np.float64)
    tree = array_at(s + 16 * ring, n, np.int32)
    return forward_paths(
        *document, *_matches(header), scores, word_at(header, MOST) != 0, sums, tree, *result
    )


@kernel
def decode_at(header, ids, stride, n, out, room):
    """Write the symbols of n ids at an address, int32 `stride` bytes apart, to `out`; returns how many bytes.

    Other results: -1 - i if no token has the id at i; NO_ROOM if there are more than `room` bytes. With `out`
    0 bytes are only counted. `starts` (in bytes) and `arena` are used. All are int64. O(ids +
    bytes).
    """
    starts = table_at(header, STARTS, np.int64)
    arena = word_at(header, ARENA)
    w = np.int64(0)
    for i in range(n):
        t = load32(ids, np.int64(i) * stride)
        if t < 0 or t >= starts.size - 1:
            return -1 - np.int64(i)
        size = starts[t + 1] - starts[t]
        if out != 0:
            if w + size > room:
                return np.int64(NO_ROOM)
            copy_bytes(out + w, arena + starts[t], size)
        w += size
    return w
