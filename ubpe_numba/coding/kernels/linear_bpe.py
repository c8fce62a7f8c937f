"""Encoding by merge rank, in linear time, without performing a single merge.

For tables in order of creation (parents have lower ids than children). A text has one encoding E, by the
lowest rank first, left to right. Two facts make it cheap:

* Any run of neighboring tokens of E(text) is the encoding of the symbols it covers. Boundaries are only ever
removed, so a surviving boundary exists at every rank. Let rank r replace (a, b). If a differs from b, its
occurrences are disjoint and all are replaced. None lies across a surviving boundary, and those inside are
replaced in the run alone just as well. If a is b, a run of a's is paired from its start. A surviving boundary
is an even number of symbols from it, so the part after it is paired in the same way.
* Conversely, if every two neighbors (s, t) satisfy E(s t) = (s, t), the whole sequence is E(text). By
induction over the ranks: no replacement lies across a boundary, since it would do so in the encoding of the
two neighbors alone.

So the last token of E(prefix) is unique for every prefix, and a search for tokens whose neighbours all fit,
the longest first and with backtracking, enters each position once. The same argument lets two encodings of
overlapping stretches be joined at any token they share. The local test walks down the two spines that meet at
the boundary.

The search of [0, 1, 2] with the merges 3 = (1, 2) and 4 = (0, 1), in this order:

    position   longest token   fits after the last token?    out        dead
    0          4               first of the document         [4]
    2          2               no: 3 joins 1 and 2 before    [4]        2, since no shorter token starts there
    0          0               (prefix of 4)                 [0]
    1          3               yes                           [0, 3]

A document of up to SHORT symbols is merged pair by pair, each merge with one look at all places. The search
would take half as long again, since its every step depends on the previous step.

A dead position is one from which no sequence of fitting tokens leads on; a token that ends there is not tried
again. `dead` has a bit a position, position p in bit p & 7 of byte p >> 3: here dead[0] = 0b00000100.

In a long run of a symbol, such as silence in sound, backtracking enters one position after another. Each
time the longest token is as long as the run: O(run ** 2). So if two of these tokens overlap, the run is
noted: for 1, 2, 3 ... of its symbols, the longest token and the node of the trie. `run` is int64[RUN_HEAD +
most symbols]; here for a run of 0 at 7..70, token 3 = (0, 0):

    begin   end   symbol   depth   0                1                2 ...
    7       71    0        2       0 << 32 | 0      3 << 32 | 2      .            depth: so many are known

The tables are a plain tuple, whose type numba finds in C, for m pairs and V = n_alphabet + m tokens:

    pairs        int64, buckets of tables/pairs.py, pair -> id
    left, right  int32[m], the two ids that make up each learned token
    n_alphabet   int
    trie         EDGE[capacity] (tables/trie.py), of the stable tokens, which encode to themselves
    prefixes     int32[V], the longest stable token that is a proper prefix of a stable token, -1 for symbols
    lengths      int64[V], symbols

Source of the idea: H. van Antwerpen and A. Neubeck, "So many tokens, so little time", 2024.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import helper, kernel, section
from ubpe_numba.runtime.machine.intrinsics import (
    address,
    fill_16,
    leading_zeros,
    load32,
    put_in_16,
    store32,
    trailing_zeros,
)
from ubpe_numba.runtime.tables.pairs import enter, pair_of, value_of
from ubpe_numba.runtime.tables.trie import NONE, edge_key, find_edge, step

SHORT = 32  # symbols of a document that is merged pair by pair: the search takes longer to begin
LONG_RUN = 64  # symbols: of shorter ones the longest token is soon found
RUN_HEAD = 4
MOST_OF_RUN = 1 << 22  # symbols whose nodes are noted, at most
_BEGIN, _END, _SYMBOL, _DEPTH = 0, 1, 2, 3


@helper
def longest_from(trie, document, node, best, e):
    """Continue to position e from a node of the trie; `best` is the longest token so far. See `_longest`."""
    while e < document.size:
        payload = step(trie, node, np.int64(document[e]))
        if payload < 0:
            break
        node = payload & 0xFFFFFFFF
        token = np.int32(payload >> 32)
        if token != NONE:
            best = token
        e += 1
    return best


@section
def note_run(trie, document, p, run):
    """Note the run of equal symbols around position p, if it is long; begin and end of the noted run.

    `run` as above. O(symbols of the run). With the token 3 = (0, 0), 64 zeros from position 7 on give the
    example above.
    """
    symbol = np.int64(document[p])
    begin = np.int64(p)
    while begin > 0 and document[begin - 1] == symbol:
        begin -= 1
    end = np.int64(p) + 1
    while end < document.size and document[end] == symbol:
        end += 1
    if end - begin >= LONG_RUN:
        if run[_SYMBOL] != symbol:
            run[_SYMBOL] = symbol
            run[_DEPTH] = 1
            run[RUN_HEAD] = (symbol << 32) | symbol
        depth = run[_DEPTH]
        best = run[RUN_HEAD + depth - 1] >> 32
        node = run[RUN_HEAD + depth - 1] & 0xFFFFFFFF
        while depth < min(end - begin, run.size - RUN_HEAD):
            payload = step(trie, node, symbol)
            if payload < 0:
                break
            node = payload & 0xFFFFFFFF
            if payload >> 32 != NONE:
                best = payload >> 32
            run[RUN_HEAD + depth] = (best << 32) | node
            depth += 1
        run[_BEGIN] = begin
        run[_END] = end
        run[_DEPTH] = depth
    return run[_BEGIN], run[_END]


@section
def longest_in_run(trie, document, start, run):
    """The longest stable token that starts at a position of the run noted.

    O(depth of the trie after the run).

    In the run above, for any position except the last: two symbols are known, token 3, and the trie leads no
    further.
    """
    known = min(run[_END] - start, run[_DEPTH])
    entry = run[RUN_HEAD + known - 1]
    return longest_from(trie, document, entry & 0xFFFFFFFF, np.int32(entry >> 32), start + known)


NEVER = np.int64(1) << 40  # more than any id
NO_PAIR = (1 << 27) - 1  # the same where ids are sought by vectors


@helper
def id_in_entries(pairs, left, right):
    """The id of a pair in the table `pairs`, or NEVER: the look-up of `find_stable` and `fits`.

    O(1) expected.
    """
    token = value_of(pairs, pair_of(left, right))
    return token if token >= 0 else NEVER


@helper
def _crosses(k, parent_u, parent_v, backward):
    """Whether the merge that makes k comes before both border tokens are merged; see `fits`. O(1)."""
    if backward is not None:
        if k < backward.size and backward[k]:
            return k <= parent_u and k < parent_v
    return k < parent_u and k <= parent_v


@helper
def fits(id_in, pairs, left, right, n_alphabet, s, t, backward=None):
    """Whether E(s t) = (s, t), for two tokens that encode to themselves. O(depth of the two spines).

    `pairs`, `left`, `right` and `n_alphabet` are those of the tables. `id_in(pairs, u, v)`, a helper, looks a
    pair up. Merges 2 = (0, 1), 3 = (1, 0). Then 0 and 1 do not fit, since 2 joins them. Tokens 2 and 0 fit.
    Tokens 0 and 3 do not, since 2 takes the 1 of 3 before 3 is made.

    Just before id k is made, the boundary lies between the part u of s's right spine and v of t's left spine
    that exist then. The merge (u, v) -> k happens across it if both still exist. Token u must not be taken by
    its left neighbor in the same pass (k < parent of u). For v, k <= parent of v suffices: the pass reaches
    the boundary first. A pass marked in `backward`, bool[V] or None, merges runs from their ends, so the
    conditions are exchanged.
    """
    u = np.int64(s)
    v = np.int64(t)
    parent_u = NEVER
    parent_v = NEVER
    while True:
        k = id_in(pairs, u, v)
        if _crosses(k, parent_u, parent_v, backward):
            return False
        if u < n_alphabet and v < n_alphabet:
            return True
        if u >= v:
            parent_u = u
            u = np.int64(right[u - n_alphabet])
        else:
            parent_v = v
            v = np.int64(left[v - n_alphabet])


@helper
def find_stable(id_in, pairs, left, right, n_alphabet, stable, backward=None):
    """Find the tokens that encode to themselves: fills `stable` uint8[V].

    The others never occur. O(m * depth).

    The arguments as for `fits`. A token (a, b) -> z does if a and b do and nothing but z itself joins them.
    Merges 2 = (0, 1), 3 = (1, 1), 4 = (0, 3): stable = [1, 1, 1, 1, 0], since [0, 1, 1] encodes to [2, 1].
    """
    stable[:n_alphabet] = 1
    for i in range(left.size):
        a = np.int64(left[i])
        b = np.int64(right[i])
        z = np.int64(n_alphabet + i)
        ok = stable[a] and stable[b]
        if ok:
            # as in `fits`, below the top pair, which is z itself
            u = a
            v = b
            parent_u = z
            parent_v = z
            while u >= n_alphabet or v >= n_alphabet:
                if u >= v:
                    parent_u = u
                    u = np.int64(right[u - n_alphabet])
                else:
                    parent_v = v
                    v = np.int64(left[v - n_alphabet])
                k = id_in(pairs, u, v)
                if _crosses(k, parent_u, parent_v, backward):
                    ok = False
                    break
        stable[z] = ok


@section
def enter_stable(arena, lengths, left, right, n_alphabet, stable, trie, node_of, parents, token_of):
    """Enter the stable tokens into a trie full of -1; returns the number of nodes.

    O(symbols of the right parts).

    A token continues from the node of its left part, which is stable too. At most one of several tokens with
    the same symbols is stable. Scratch, filled: `node_of` int64[V]; `parents` int64 and `token_of` int32, for
    the nodes from n_alphabet on. The others as for `build_tables`.

    Merges 2 = (0, 1), 3 = (2, 0). Node 2, the child of 0 by 1, is token 2. Node 3, the child of 2 by 0, is
    token 3.
    """
    for symbol in range(n_alphabet):
        node_of[symbol] = symbol
        token_of[symbol] = symbol
    n = np.int64(n_alphabet)
    end = np.int64(n_alphabet)
    for t in range(n_alphabet, lengths.size):
        end += lengths[t]
        if not stable[t]:
            continue
        node = node_of[left[t - n_alphabet]]
        i = np.int64(0)
        for j in range(end - lengths[right[t - n_alphabet]], end):
            symbol = np.int64(arena[j])
            i = find_edge(trie, node, symbol)
            if trie[i].key == -1:
                trie[i].key = edge_key(node, symbol)
                trie[i].value = (np.int64(NONE) << 32) | n
                parents[n] = node
                token_of[n] = -1
                n += 1
            node = trie[i].value & 0xFFFFFFFF
        trie[i].value = (np.int64(t) << 32) | node
        node_of[t] = node
        token_of[node] = t
    return n


@helper
def find_prefixes(n_alphabet, n_nodes, node_of, parents, token_of, stable, prefixes):
    """Fill `prefixes` int32[V]: the longest stable token that is a proper prefix of a stable token.

    The others get -1.

    Nodes of a trie are numbered in order of creation, so a node's answer follows from that of its parent,
    which is already known. The answers replace `parents`. The others as `enter_stable` fills them. O(nodes +
    V).

    Merges 2 = (0, 1), 3 = (2, 0): prefixes = [-1, -1, 0, 2].
    """
    for node in range(n_alphabet, n_nodes):
        above = parents[node]
        parents[node] = token_of[above] if token_of[above] >= 0 else parents[above]
    for t in range(prefixes.size):
        prefixes[t] = parents[node_of[t]] if t >= n_alphabet and stable[t] else -1


@kernel
def build_tables(arena, tables, stable, node_of, parents, token_of):
    """Fill the tables of encoding by rank: pairs, trie and prefixes.

    O(symbols of the right parts + m * depth).

    `arena` int32 holds the symbols of all tokens one after the other. `tables` as above, allocated by the
    caller. `left`, `right`, `n_alphabet` and `lengths` are given; `pairs` are empty buckets, and the
    trie is full of -1. Its capacity is a power of two, at least twice the number of symbols of right parts.
    Scratch: `stable` uint8[V] and `node_of` int64[V]. `parents` int64 and `token_of` int32 have an item per
    symbol of the alphabet and of the right parts.

    Merge (0, 1) -> 2, arena [0, 1, 0, 1], lengths [1, 1, 2]. Then `pairs` has (0, 1) -> 2, and the trie the
    edge from 0 by 1 to token 2. `stable` = [1, 1, 1], `prefixes` = [-1, -1, 0].
    """
    pairs, left, right, n_alphabet, trie, prefixes, lengths = tables
    enter(left, right, n_alphabet, pairs)
    find_stable(id_in_entries, pairs, left, right, n_alphabet, stable)
    n = enter_stable(arena, lengths, left, right, n_alphabet, stable, trie, node_of, parents, token_of)
    find_prefixes(n_alphabet, n, node_of, parents, token_of, stable, prefixes)


@helper
def _longest(trie, document, start):
    """The longest stable token that starts at position `start` of a document. O(depth of the trie).

    Merges 2 = (0, 1), 3 = (2, 0): of the document [1, 0, 1, 1] at 1 the trie leads to 2, and not on by 1: 2.
    """
    node = np.int64(document[start])
    return longest_from(trie, document, node, np.int32(node), start + 1)


@helper
def merge_one_by_one(pairs, document, scratch, out, w):
    """Encode a document of up to SHORT symbols by rank; returns w + the number of ids.

    The ids are written at out[w:]. O(n**2).

    `scratch` int64[RUN_HEAD + SHORT] is used as int32. It holds, for each place with a token, the id that the
    token makes with the next one, or NO_PAIR, which is more than any id. The tokens follow, between two
    NO_PAIR. Merges 3 = (1, 2), 4 = (0, 1): for [0, 1, 2] these ids are 4, 3 and none. Token 4 is made at 0,
    place 1 is gone, and no other merge is left. As in merge_words.py, ids and places of the last merge are
    kept until the next merge is chosen: the processor waits for vectors if single items were just written.
    """
    n = document.size
    pair_ids = address(scratch)
    tokens = pair_ids + 4 * (SHORT + 1)
    fill_16(pair_ids, np.int64(NO_PAIR))
    fill_16(pair_ids + 64, np.int64(NO_PAIR))
    store32(tokens, -4, np.int64(NO_PAIR))
    for i in range(n):
        store32(tokens, 4 * i, np.int64(document[i]))
        if i > 0:
            together = id_in_entries(pairs, np.int64(document[i - 1]), np.int64(document[i]))
            store32(pair_ids, 4 * i - 4, min(together, NO_PAIR))
    store32(tokens, 4 * n, np.int64(NO_PAIR))
    alive = (np.uint64(2) << np.uint64(n)) - np.uint64(1)
    at, before, gone = np.int64(-1), np.int64(-1), np.int64(-1)
    id_at, id_before = np.int64(0), np.int64(0)
    while True:
        best = put_in_16(pair_ids, before, id_before, at, id_at, gone, np.int64(NO_PAIR))
        first = np.int64(0)
        if n > 16:
            other = put_in_16(
                pair_ids + 64, before - 16, id_before, at - 16, id_at, gone - 16, np.int64(NO_PAIR)
            )
            if other >> 4 < best >> 4:
                best, first = other, np.int64(16)
        token = best >> 4
        if token == NO_PAIR:
            break
        at = (best & 15) + first
        above = alive & (np.uint64(0xFFFFFFFFFFFFFFFE) << np.uint64(at))
        gone = np.int64(trailing_zeros(above))
        above &= above - np.uint64(1)
        alive ^= np.uint64(1) << np.uint64(gone)
        before = 63 - np.int64(leading_zeros(alive & ((np.uint64(1) << np.uint64(at)) - np.uint64(1))))
        store32(tokens, 4 * at, token)
        id_before = min(id_in_entries(pairs, load32(tokens, 4 * before), token), NO_PAIR)
        id_at = min(id_in_entries(pairs, token, load32(tokens, 4 * np.int64(trailing_zeros(above)))), NO_PAIR)
    alive ^= np.uint64(1) << np.uint64(n)
    while alive != 0:
        out[w] = load32(tokens, 4 * np.int64(trailing_zeros(alive)))
        alive &= alive - np.uint64(1)
        w += 1
    return w


@kernel
def encode_rank(symbols, offsets, tables, dead, run, out, out_offsets):
    """Encode every document; returns the number of ids written.

    `symbols` int32 are alphabet ids, `offsets` int64[d + 1]. `tables` as above. `out` int32, with room for
    all symbols, and `out_offsets` int64[d + 1] get the result. Scratch: `dead` uint8[longest document // 8 +
    1], and `run` int64. `run` has RUN_HEAD items and one per symbol of the longest document, but at least
    SHORT and at most MOST_OF_RUN. The caller allocates all. O(symbols * tokens that start at a position *
    depth of a token). Merge (0, 1) -> 2: documents [0, 1, 0] and [1, 0, 1] -> out [2, 0, 1, 2], out_offsets
    [0, 2, 4].
    """
    return encode_documents(symbols, offsets, tables, dead, run, out, out_offsets, None)


@helper
def encode_documents(symbols, offsets, tables, dead, run, out, out_offsets, backward):
    """Body of `encode_rank`; `backward` as for `fits`."""
    pairs, left, right, n_alphabet, trie, prefixes, lengths = tables
    w = np.int64(0)
    out_offsets[0] = 0
    for d in range(offsets.size - 1):
        document = symbols[offsets[d] : offsets[d + 1]]
        if backward is None:
            if document.size <= SHORT and lengths.size <= NO_PAIR:
                w = merge_one_by_one(pairs, document, run, out, w)
                out_offsets[d + 1] = w
                continue
        dead[: (document.size >> 3) + 1] = 0
        run[:RUN_HEAD] = -1
        run_begin = np.int64(0)
        run_end = np.int64(0)
        long_end = np.int64(0)  # of the last token as long as a long run
        n = document.size
        first = w
        p = np.int64(0)
        token = np.int32(-1)
        if n > 0:
            token = _longest(trie, document, p)
        while p < n:
            while token >= 0:
                e = p + lengths[token]
                if (dead[e >> 3] >> (e & 7)) & 1 == 0 and (
                    w == first
                    or fits(id_in_entries, pairs, left, right, n_alphabet, out[w - 1], token, backward)
                ):
                    break
                token = prefixes[token]
            if token >= 0:
                out[w] = token
                w += 1
                p += lengths[token]
                if p < n:
                    if p < run_end and p >= run_begin:
                        token = longest_in_run(trie, document, p, run)
                    else:
                        token = _longest(trie, document, p)
                        if lengths[token] >= LONG_RUN:
                            if p < long_end:
                                run_begin, run_end = note_run(trie, document, p, run)
                            long_end = p + lengths[token]
            else:
                dead[p >> 3] |= np.uint8(1 << (p & 7))
                w -= 1
                p -= lengths[out[w]]
                token = prefixes[out[w]]
        out_offsets[d + 1] = w
    return w
