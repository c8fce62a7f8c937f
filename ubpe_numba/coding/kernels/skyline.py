"""The merges of every token of a document as blocks: place of each part, and vocabulary sizes.

Over the symbols 0, 1, 2, take the pairs ``[[0, 1], [3, 2]]``: token 3 exists from vocabulary size 4 on, token
4 from 5 on. The document 0 1 2 0 is 4 0 by both merges, 3 2 0 by the first, and itself without merges:

    size 5      4 4 4 | 0       start  stop  born  absorbed  token
    size 4      3 3 | 2 | 0         0     3     5         6      4
    size 3      0 | 1 | 2 | 0       0     2     4         5      3
                                    0     1     3         4      0
                                    ...
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import kernel

#: A record of `unmerge`: the symbols start..stop - 1 are this token by every vocabulary of born..absorbed - 1
#: tokens.
BLOCK = np.dtype(
    [
        ("start", np.int64),
        ("stop", np.int64),
        ("born", np.int32),
        ("absorbed", np.int32),
        ("token", np.int32),
    ],
    align=True,
)


@kernel
def unmerge(ids, parts, lengths, born, top, blocks):
    """Write the tokens of a document and all their parts to blocks BLOCK[k]; returns how many.

    `ids` int32[n], 0..V-1. `parts` int32[V, 2]: the two ids that each token was merged from, -1 for symbols.
    `lengths` int64[V]: symbols per id. `born` int32[V]: the vocabulary size from which it exists. `top`: the
    size at which the tokens of the document end. The caller allocates all. `blocks` needs `2 * length - 1`
    entries for each merged token, otherwise 1; entries that do not fit are left out. Each token is followed
    by its parts, then their parts, larger ones first: `blocks` is also the queue of tokens to divide. O(k).
    Above: ids [4, 0] and top 6 give the tokens 4, 3, 2, 0, 1, 0.
    """
    n, start = 0, 0
    for i in range(ids.size):
        if n == blocks.size:
            return n
        t = ids[i]
        blocks[n]["start"], blocks[n]["stop"] = start, start + lengths[t]
        blocks[n]["born"], blocks[n]["absorbed"], blocks[n]["token"] = born[t], top, t
        start += lengths[t]
        at, n = n, n + 1
        while at < n and n + 2 <= blocks.size:
            t = blocks[at]["token"]
            if parts[t, 0] >= 0:
                begin = blocks[at]["start"]
                for side in range(2):
                    part = parts[t, side]
                    blocks[n]["start"], blocks[n]["stop"] = begin, begin + lengths[part]
                    blocks[n]["born"], blocks[n]["absorbed"], blocks[n]["token"] = born[part], born[t], part
                    begin += lengths[part]
                    n += 1
            at += 1
    return n
