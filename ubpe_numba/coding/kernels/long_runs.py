"""The longest token in a long run of one symbol, noted once for a run; for by_rank.py.

In a long run of one symbol, silence in sound, backtracking enters one position after the other, and each time the longest token
is as long as the run: O(run ** 2). So where two such tokens overlap, the run is noted, and for 1, 2, 3 ... of its symbols the
longest token and the node of the trie: `run` is int64[RUN_HEAD + most symbols], drawn for a run of 0 at 7..70, token 3 = (0, 0):

    begin   end   symbol   depth   0                1                2 ...
    7       71    0        2       0 << 32 | 0      3 << 32 | 2      .            depth: so many are known
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import helper, section
from ubpe_numba.runtime.tables.trie import NONE, step

LONG_RUN = 64  # symbols: of shorter ones the longest token is soon found
RUN_HEAD = 4
MOST_OF_RUN = 1 << 22  # symbols whose nodes are noted, at most
_BEGIN, _END, _SYMBOL, _DEPTH = 0, 1, 2, 3


@helper
def longest_from(trie, document, node, best, e):
    """Go on to position e from a node of the trie, where the longest token was `best`. See `by_rank._longest`."""
    while e < document.size:
        payload = step(trie, node, document[e])
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
    """Note the run of one symbol around position p, if it is long; where the run that is noted begins and ends.

    run as drawn above. O(symbols of the run). With the token 3 = (0, 0), 64 times 0 from position 7 on give what is drawn.
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
    """The longest stable token that starts at a position of the run noted. O(depth of the trie behind the run).

    In the run drawn above, of any position but the last: two symbols are known, token 3, and the trie leads no further.
    """
    known = min(run[_END] - start, run[_DEPTH])
    entry = run[RUN_HEAD + known - 1]
    return longest_from(trie, document, entry & 0xFFFFFFFF, np.int32(entry >> 32), start + known)
