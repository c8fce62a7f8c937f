"""Encoding by merge rank, in linear time, without performing a single merge.

For tables in order of creation (parents have lower ids than children). A text has one encoding E, by the lowest rank first, left
to right. Two facts make it cheap:

* Any run of neighbouring tokens of E(text) is the encoding of the symbols it covers. Boundaries are only ever removed, so those
  that survive were there at every rank. Let rank r replace (a, b). If a differs from b, its occurrences are disjoint and all are
  replaced, so none lies across a surviving boundary, and those inside are replaced in the run alone just as well. If a is b, a
  run of a's is paired from its start; a surviving boundary lies at an even distance from it, so the part behind it is paired
  alike.
* Conversely, if every two neighbours (s, t) satisfy E(s t) = (s, t), the whole sequence is E(text): by induction over the ranks
  no replacement lies across a boundary, since it would already do so in the encoding of the two neighbours alone.

So the last token of E(prefix) is unique for every prefix, and a search for tokens whose neighbours all fit, the longest first
and with backtracking, enters each position once. The same argument lets two encodings of overlapping stretches be joined at any
token they share. The local test walks down the two spines that meet at the boundary.

Source of the idea: H. van Antwerpen and A. Neubeck, "So many tokens, so little time", 2024.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.jit import helper, kernel, kernel_with_scratch
from ubpe_numba.runtime.tables.edges import find_edge
from ubpe_numba.runtime.tables.pairs import find, pair_of
from ubpe_numba.runtime.tables.trie import NONE, step

_NEVER = np.int64(1) << 40


@helper
def fits(entries, left, right, n_alphabet, s, t):
    """Whether E(s t) = (s, t), for two tokens that encode to themselves. O(depth of the two spines).

    Just before id k is made, the boundary lies between the part u of s's right spine and v of t's left spine that exist then.
    The merge (u, v) -> k happens across it if u still stands there, also not taken by its left neighbour in the same pass
    (k < parent of u), and so does v (k <= parent of v: the pass reaches the boundary first).
    """
    u = np.int64(s)
    v = np.int64(t)
    parent_u = _NEVER
    parent_v = _NEVER
    while True:
        i = find(entries, pair_of(u, v))
        if i >= 0:
            k = entries[2 * i + 1]
            if k < parent_u and k <= parent_v:
                return False
        if u < n_alphabet and v < n_alphabet:
            return True
        if u >= v:
            parent_u = u
            u = np.int64(right[u - n_alphabet])
        else:
            parent_v = v
            v = np.int64(left[v - n_alphabet])


@kernel
def stable_tokens(entries, left, right, n_alphabet, stable):
    """Which tokens encode to themselves: `stable` uint8[V]. The others never occur. O(m * depth).

    A token (a, b) -> z does if a and b do and nothing but z itself joins them.
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
                j = find(entries, pair_of(u, v))
                if j >= 0 and entries[2 * j + 1] < parent_u and entries[2 * j + 1] <= parent_v:
                    ok = False
                    break
        stable[z] = ok


@kernel
def prefer_stable(trie, arena, offsets, n_alphabet, stable):
    """Let the trie hold the stable one of several tokens with the same symbols: at most one is. O(symbols)."""
    for t in range(n_alphabet, offsets.size - 1):
        if stable[t]:
            node = np.int64(arena[offsets[t]])
            i = np.int64(0)
            for j in range(offsets[t] + 1, offsets[t + 1]):
                i = find_edge(trie, node, arena[j])
                node = trie[2 * i + 1] & 0xFFFFFFFF
            trie[2 * i + 1] = (np.int64(t) << 32) | node


@kernel
def stable_prefixes(trie, arena, offsets, n_alphabet, stable, prefixes):
    """The longest stable token that is a proper prefix of each token, -1 for symbols: `prefixes` int32[V]. O(symbols)."""
    prefixes[:n_alphabet] = -1
    for t in range(n_alphabet, offsets.size - 1):
        node = np.int64(arena[offsets[t]])
        best = np.int32(node)
        for j in range(offsets[t] + 1, offsets[t + 1] - 1):
            payload = step(trie, node, arena[j])
            node = payload & 0xFFFFFFFF
            token = np.int32(payload >> 32)
            if token != NONE and stable[token]:
                best = token
        prefixes[t] = best


@helper
def _longest(trie, document, start, stable):
    """The longest stable token that starts at `start`. O(depth)."""
    node = np.int64(document[start])
    best = np.int32(node)
    e = start + 1
    while e < document.size:
        payload = step(trie, node, document[e])
        if payload < 0:
            break
        node = payload & 0xFFFFFFFF
        token = np.int32(payload >> 32)
        if token != NONE and stable[token]:
            best = token
        e += 1
    return best


@helper
def encode_document(document, entries, left, right, n_alphabet, trie, stable, prefixes, lengths, dead, out, w):
    """Encode one document into `out` from w on; returns where the ids end. Arguments and cost as for `encode_rank`.

    `dead` uint8, a bit per position from which no sequence goes on: zero for all of the document.
    """
    n = document.size
    first = w
    p = np.int64(0)
    token = np.int32(-1)
    if n > 0:
        token = _longest(trie, document, p, stable)
    while p < n:
        while token >= 0:
            e = p + lengths[token]
            if (dead[e >> 3] >> (e & 7)) & 1 == 0 and (w == first or fits(entries, left, right, n_alphabet, out[w - 1], token)):
                break
            token = prefixes[token]
        if token >= 0:
            out[w] = token
            w += 1
            p += lengths[token]
            if p < n:
                token = _longest(trie, document, p, stable)
        else:
            dead[p >> 3] |= np.uint8(1 << (p & 7))
            w -= 1
            p -= lengths[out[w]]
            token = prefixes[out[w]]
    return w


@kernel_with_scratch
def encode_rank(symbols, offsets, entries, left, right, n_alphabet, trie, stable, prefixes, lengths, out, out_offsets):
    """Encode every document; returns the number of ids written.

    symbols int32 (alphabet ids), offsets int64[d + 1]; entries, pair -> id (pairtable.py); left, right int32[m]; trie (trie.py,
    stable tokens only win there); stable, prefixes as above; lengths int64[V]; out int32, room for all symbols; out_offsets
    int64[d + 1]. O(symbols * tokens that start at a position * depth of a token).
    """
    w = np.int64(0)
    out_offsets[0] = 0
    longest_document = np.int64(0)
    for d in range(offsets.size - 1):
        longest_document = max(longest_document, offsets[d + 1] - offsets[d])
    dead = np.zeros((longest_document >> 3) + 1, np.uint8)
    for d in range(offsets.size - 1):
        document = symbols[offsets[d] : offsets[d + 1]]
        dead[: (document.size >> 3) + 1] = 0
        w = encode_document(
            document, entries, left, right, n_alphabet, trie, stable, prefixes, lengths, dead, out, w
        )  # fmt: skip
        out_offsets[d + 1] = w
    return w
