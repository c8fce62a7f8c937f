"""N-grams of a stream of symbols, numbered and counted order by order, in a hash table per order.

A gram of order k is known by two numbers. The first is the gram of order k - 1 of its first k - 1 symbols,
the second its last symbol: an edge of `runtime/tables/trie.py`. So an order needs one look-up per symbol,
whatever its length. Before the stream is the empty gram 0 of every order, the only gram of order 0. The
stream 2 0 1 0 1 has these numbers of grams that end at each of its places::

    stream    2  0  1  0  1
    order 0   0  0  0  0  0
    order 1   1  2  3  2  3     counts 0, 2, 2: the first symbol is not predicted
    order 2   1  2  3  4  3     1: nothing, 2. 2: 2, 0. 3: 0, 1, twice. 4: 1, 0
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import kernel
from ubpe_numba.runtime.tables.trie import edge_key, find_edge


@kernel
def count_grams(stream, grams, edges, counts, contexts, before):
    """Number and count the grams of the next order; returns how many numbers there are.

    `stream` is int32[n]. `grams` int32[n] are the grams of the last order that end at each place, replaced by
    those of this order. `edges` EDGE[capacity] is full of -1, a power of two of at least 2 n. `counts` and
    `contexts` int32[n + 1], zeros, get the occurrences of each gram, and the gram of its first symbols.
    `before` int32[n + 1], zeros, gets how many different grams of this order end in each of the last. The
    caller allocates all. O(n).

    For order 2 above: counts [0, 0, 1, 2, 1], contexts [0, 0, 1, 2, 3]. `before` is [0, 0, 2, 1]: before a 0
    there is a 2 or a 1.
    """
    n_grams = np.int64(1)
    context = np.int64(0)
    for i in range(stream.size):
        suffix = np.int64(grams[i])
        at = find_edge(edges, context, stream[i])
        if edges[at].key == -1:
            edges[at].key = edge_key(context, stream[i])
            edges[at].value = n_grams
            contexts[n_grams] = context
            n_grams += 1
        gram = edges[at].value
        if i > 0:
            counts[gram] += 1
            before[suffix] += counts[gram] == 1
        grams[i] = gram
        context = suffix
    return n_grams


@kernel
def find_grams(stream, grams, edges):
    """Replace the grams of the last order at each place of a stream by those of this order.

    -1 for a gram that is not in the table.

    stream and grams int32[n]; edges as `count_grams` left them. O(n).

    The stream 2 0 0, with the table of order 2 in the drawing: grams [1, 2, 2] become [1, 2, -1].
    """
    context = np.int64(0)
    for i in range(stream.size):
        suffix = np.int64(grams[i])
        grams[i] = -1 if context < 0 else edges[find_edge(edges, context, stream[i])].value
        context = suffix
