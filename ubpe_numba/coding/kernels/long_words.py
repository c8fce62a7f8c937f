"""Encoding a long word of text by merge rank: the search with backtracking of by_rank.py, on the compact tables."""

from __future__ import annotations

import numpy as np

from ubpe_numba.coding.kernels.by_rank import fits
from ubpe_numba.coding.kernels.text_tables import id_in_buckets, whole_word
from ubpe_numba.runtime.compiler import helper, section
from ubpe_numba.runtime.machine.intrinsics import address, load8
from ubpe_numba.runtime.tables.packed import child_of


@helper
def _longest(text, p, end, trie, token_of):
    """The longest stable token that starts at text[p], and ends at `end` at the latest. O(its bytes)."""
    edges = address(trie)
    mask = trie.size - 1
    node = load8(text, p)
    best = np.int64(token_of[node])
    p += 1
    while p < end:
        node = child_of(edges, mask, node, load8(text, p))
        if node < 0:
            break
        token = np.int64(token_of[node])
        if token >= 0:
            best = token
        p += 1
    return best


@section
def encode_long_word(text, begin, end, tables, dead, out, w):
    """Encode text[begin:end] into `out` from w on; returns where the ids end.

    text: address; tables, a `TextTables` as a plain tuple; dead uint8[bytes of the word // 8 + 1] of zeros, which is left so; out
    int32, room for all bytes. The example and the cost are those of `encode_document` in by_rank.py.
    """
    _, _, pairs, _, _, _, trie, token_of, left, right, prefixes, lengths, whole, whole_of = tables
    token = whole_word(text, begin, end, whole, whole_of)
    if token >= 0:
        out[w] = token
        return w + 1
    first = w
    p = begin
    spoiled = False
    token = _longest(text, p, end, trie, token_of)
    while p < end:
        while token >= 0:
            e = p + lengths[token] - begin
            if not spoiled or (dead[e >> 3] >> (e & 7)) & 1 == 0:
                if w == first or fits(id_in_buckets, pairs, left, right, 256, out[w - 1], token):
                    break
            token = np.int64(prefixes[token])
        if token >= 0:
            out[w] = token
            w += 1
            p += lengths[token]
            if p < end:
                token = _longest(text, p, end, trie, token_of)
        else:
            dead[(p - begin) >> 3] |= np.uint8(1 << ((p - begin) & 7))
            spoiled = True
            w -= 1
            p -= lengths[out[w]]
            token = np.int64(prefixes[out[w]])
    if spoiled:
        dead[: ((end - begin) >> 3) + 1] = 0
    return w
