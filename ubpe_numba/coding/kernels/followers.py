"""Which tokens may follow which in an encoding by merge rank.

Two tokens fit if E(s t) = (s, t). A sequence is an encoding if and only if all neighbors in it fit: proof in
linear_bpe.py, whose `fits` tests one pair. Let u be the end of s and v the beginning of t. The tokens do not
fit if a merge (u, v) -> k is made across their boundary while both exist. That is so if k < the parent of u
in s, and k <= the parent of v in t. The tokens t of this merge are v and all that begin with a pair c = (v,
.), c >= k. In the order in which each token is followed by those that begin with it, the largest pair first,
they are an interval, which begins at v. So a row of the mask is a union of few intervals.

Merges 2 = (0, 1), 3 = (1, 0), 4 = (0, 0): 2 and 4 begin with 0, and 3 begins with 1:

    order      0   4   2 | 1   3
    merge 2    .   .   .   1   3       v = 1, c = 3: 1 and 3 cannot follow a token that ends with 0, such as 3
    merge 4    0   4   .   .   .       v = 0, c = 4
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.coding.kernels.linear_bpe import NEVER
from ubpe_numba.runtime.compiler import kernel


@kernel
def lay_out(left, right, starts, sizes, reach):
    """Put the V tokens into the order above.

    `left` and `right` int32[m] are the pairs, parents before children. The kernel fills three arrays of the
    caller. `starts` int64[V] is the place of each token, `sizes` int64[V] how many begin with it, itself
    included, and `reach` int64[m] the tokens of the interval of each merge. O(V).

    The merges above: starts [0, 3, 2, 4, 1], sizes [3, 2, 1, 1, 1], reach [2, 2, 2].
    """
    n_alphabet = sizes.size - left.size
    sizes[:] = 1
    for i in range(left.size - 1, -1, -1):
        starts[n_alphabet + i] = sizes[left[i]]  # from the place of the token that it begins with
        sizes[left[i]] += sizes[n_alphabet + i]
        reach[i] = sizes[right[i]]  # of the remaining pairs
    place = np.int64(0)
    for symbol in range(n_alphabet):
        starts[symbol] = place
        place += sizes[symbol]
    for i in range(left.size):
        starts[n_alphabet + i] += starts[left[i]]


@kernel
def fill_rows(tokens, right, bounds, pairs, starts, reach, ids, marks, out):
    """Write 1 to the columns of all ids that may follow each token.

    Fills rows of `out`, uint8[n, ids], full of 0.

    `tokens` int64[n] are -1 if no token may follow. `right`, `starts` and `reach` as above. The tokens
    pairs[bounds[t] : bounds[t + 1]], int64, ascending, begin with t. `ids` int64[V] is the column of the
    token at each place, -1 for a token that never occurs. `marks` int64[V + 1] is scratch, full of 0,
    and left so but for the last, which is not read. O(V + merges of the right spine) for each token.

    The merges above, the token 0, and ids [0, 4, 2, 1, 3]: the row [0, 0, 1, 0, 0].
    """
    n_alphabet = ids.size - right.size
    for i in range(tokens.size):
        u = tokens[i]
        if u < 0:
            continue
        parent = NEVER
        while True:
            for j in range(bounds[u], bounds[u + 1]):
                if pairs[j] >= parent:
                    break
                k = pairs[j] - n_alphabet
                begin = starts[right[k]]
                marks[begin] += 1
                marks[begin + reach[k]] -= 1
            if u < n_alphabet:
                break
            parent = u
            u = np.int64(right[u - n_alphabet])
        n = np.int64(0)
        for place in range(ids.size):
            n += marks[place]
            marks[place] = 0
            if n == 0 and ids[place] >= 0:
                out[i, ids[place]] = 1
