"""The best path by tf-idf through the lattice of all segmentations of a document.

A path weighs the sum over its distinct tokens of (1 + ln count) * idf. The weight that a token adds depends
on how often the rest of the path holds it, so weights are not additive along a path. As in the UBPE articles,
the search goes from the end and keeps the best tail per position. It is exact for that recursion, whose
result is not always the best path of all.

Why it is linear: the best tails form a tree, in which every position points to the next position of its tail.
The tails still reachable from the left soon share a common suffix, whose counts lie in one dense array. To
find how often a tail holds token t, a walk visits only the few nodes before that suffix. It stops at the
first t: each node knows how often its token occurs from there on.

The tree of the document [0, 1, 0, 1, 1] with the tokens 2 = [0, 1] of idf 1 and 3 = [0, 1, 0] of idf 0.5:

    s          0    1    2    3    4    5, the end
    token      2    1    2    1    1
    following  2    2    4    4    5                    0 --2--> 2 --2--> 4 --1--> 5
    own        2    0    1    0    0                    1 --1--> 2        ^
    children   0    0    2    0    2    1               3 --------1-------+

The best tail of 0 is [2, 2, 1]; its `own` is 2, since it holds token 2 twice. At s = 0 the longest suffix of
a token that starts there has 3 symbols, so nothing to the left will need a position beyond 3. All remaining
tails pass through 4: the common suffix starts at `root` = 4 and holds token 1 once.

Weights are in fixed point, rint(idf * 2**24 * (1 + ln count)) held in float64, so that equal multisets weigh
equally. Source: UBPE tokenizers, part 2.
"""

from __future__ import annotations

import math

import numpy as np

from ubpe_numba.runtime.compiler import helper, kernel
from ubpe_numba.runtime.tables.automaton import list_of, next_state

#: The best tail of a position: its weight in fixed point, its number of tokens, and a mask of its tokens, bit
#: t & 31 for a learned token t.
TAIL = np.dtype([("weight", np.float64), ("n_tokens", np.int32), ("seen", np.int32)])
NODE = np.dtype(
    [
        ("following", np.int32),  # the rest of the tail after its first token
        ("token", np.int32),  # that token
        ("own", np.int32),  # how often the tail holds it
        ("children", np.int32),  # number of tails that continue here
        ("child_xor", np.int32),  # the XOR of their positions: the only one, if there is one
    ]
)
#: The answer of the last long walk for a token.
ASKED = np.dtype(
    [
        # the node that asked: its position in all documents + 1; 0 before the first walk of this kind
        ("at", np.int64),
        ("count", np.int64),  # occurrences of the token in its tail
    ]
)

# steps after which the answer is worth remembering; of documents that are not longer no counts are written
LONG_WALK = 32
_CUT = np.int32(1 << 30)  # child count of a node that left the tree


@helper
def weight_of(scaled_idf, count, logs):
    """Fixed-point weight of `count` occurrences; `scaled_idf` is idf * 2**24, `logs[c]` is 1 + ln c. O(1).

    An idf of 0.5: 0 -> 0, 1 -> 2**23, 2 -> rint(2**23 * 1.693...).
    """
    if count == 0:
        return 0.0
    if count < logs.size:
        return np.rint(scaled_idf * logs[count])
    return np.rint(scaled_idf * (1.0 + math.log(count)))


@helper
def gain_of(scaled_idf, count, logs):
    """The weight of a further occurrence after `count` occurrences, in fixed point. O(1)."""
    return weight_of(scaled_idf, count + 1, logs) - weight_of(scaled_idf, count, logs)


@kernel
def best_paths(symbols, offsets, tables, tails, tree, counts, out, out_offsets, weights):
    """The best path of every document; returns the number of ids written.

    `symbols` int32 are alphabet ids, `offsets` int64[d + 1]. `tables` is a plain tuple: the `MatchTables` of
    coding/path_encoder.py, `scaled_idf` and `logs`. `scaled_idf` float64[V] is idf * 2**24, 0 for symbols.
    `logs` float64 is 1 + ln c at index c, for the first few thousand c. `out` int32 has room for all symbols.
    `out_offsets` is int64[d + 1]. `weights` float64[d] are in fixed point. At a position the heavier tail
    wins, then fewer tokens, then the shorter first token. The caller allocates all. As in viterbi.py, states
    and lists are read ahead, and no branch depends on which tail is better.

    Scratch: `tails` has a TAIL for each position within reach, as two float64, whose type numba finds faster.
    Their number is a power of two, at least the longest token + 2. `tree` is NODE[longest document + 1].
    `counts` int64[3 * V] of zeros holds an ASKED per token, then the counts of the common suffix as int32.
    These counts are separate because every match reads one: in one record with the rest, long documents took
    5 % longer. O(symbols + matches) and the short walks.

    Tokens 2 = [0, 1] and 3 = [0, 1, 0] of idf 1 and 0.5: [0, 1, 0, 1, 1] -> [2, 2, 1] of weight 1.693... *
    2**24. The path [3, 1, 1] weighs 0.5 * 2**24.
    """
    edges, states, listed, owners, rows, matches, scaled_idf, logs = tables
    size = scaled_idf.size
    # occurrences of a token in the suffix that all live tails share
    common = counts[2 * size :].view(np.int32)
    tails, asked = tails.view(TAIL), counts[: 2 * size].view(ASKED)
    ring = np.int64(tails.size - 1)
    w = np.int64(0)
    out_offsets[0] = 0
    for d in range(offsets.size - 1):
        document = symbols[offsets[d] : offsets[d + 1]]
        n = document.size
        root = np.int64(n)  # the common suffix starts here
        tree[n].children = 0
        tree[n].child_xor = 0
        tails[n & ring].weight = 0.0
        tails[n & ring].n_tokens = 0
        tails[n & ring].seen = 0
        alive = np.int64(n)  # nodes above this position left the tree unless they carry others
        state = np.int64(-1)
        ahead = ahead_length = ahead_depth = np.int64(0)
        for s in range(n + 1 if n > 0 else -1, -1, -1):
            i = ahead
            length = ahead_length
            far = n if n <= LONG_WALK else s + ahead_depth
            ahead, ahead_length = list_of(listed, matches, state)
            ahead_depth = np.int64(states[max(state, 0)].depth)
            state = next_state(edges, states, listed, owners, rows, state, document[max(s - 2, 0)])
            if s >= n:
                continue
            best_end = np.int64(s + 1)
            best = tails[best_end & ring].weight
            best_n = tails[best_end & ring].n_tokens + 1
            best_token = document[s]
            best_own = np.int64(0)  # counts of single symbols are never read
            while length > 1:  # longest first
                t = matches[i].token
                e = s + length
                i += 1
                length = np.int64(matches[i].length)
                tail = tails[e & ring].weight
                tail_n = tails[e & ring].n_tokens + 1
                x = tail
                count = np.int64(0)
                if scaled_idf[t] > 0.0:
                    count = np.int64(common[t])
                    # at most the weight it would add if only the common part of the tail held it, apart from
                    # rounding
                    x += gain_of(scaled_idf[t], count, logs)
                    if (tails[e & ring].seen >> (t & 31)) & 1:
                        if x + 2.0 < best:
                            continue
                        v = e
                        steps = 0
                        known = asked[t].at - 1 - offsets[d]
                        while v != root:
                            if tree[v].token == t:
                                count = np.int64(tree[v].own)
                                break
                            if v == known:
                                count = np.int64(asked[t].count)
                                break
                            v = np.int64(tree[v].following)
                            steps += 1
                        if steps > LONG_WALK:
                            asked[t].at = e + offsets[d] + 1
                            asked[t].count = count
                        if count > common[t]:
                            x = tail + gain_of(scaled_idf[t], count, logs)
                better = (x > best) | (
                    (x == best) & ((tail_n < best_n) | ((tail_n == best_n) & (e < best_end)))
                )
                best = max(best, x)
                best_n = tail_n if better else best_n
                best_end = e if better else best_end
                best_token = t if better else best_token
                best_own = count + 1 if better else best_own
            tree[s].own = best_own
            tails[s & ring].weight = best
            tails[s & ring].n_tokens = best_n
            tails[s & ring].seen = tails[best_end & ring].seen | (np.int64(best_own > 0) << (best_token & 31))
            tree[s].following = best_end
            tree[s].token = best_token
            tree[s].children = 0
            tree[s].child_xor = 0
            tree[best_end].children += 1
            tree[best_end].child_xor ^= np.int32(s)
            # positions that nothing to the left can reach carry no tail of their own any more
            while alive > far:
                v = alive
                alive -= 1
                while v != root and v > far and tree[v].children == 0:
                    u = np.int64(tree[v].following)
                    tree[u].children -= 1
                    tree[u].child_xor ^= np.int32(v)
                    tree[v].children = _CUT
                    v = u
            while root > far and tree[root].children == 1:
                root = np.int64(tree[root].child_xor)
                common[tree[root].token] += 1
        p = np.int64(0)
        while p < n:
            out[w] = tree[p].token
            w += 1
            p = np.int64(tree[p].following)
        out_offsets[d + 1] = w
        weights[d] = tails[0].weight
        while root < n:
            common[tree[root].token] = 0
            root = np.int64(tree[root].following)
    return w


@kernel
def path_weights(ids, offsets, worth, logs, counts, weights):
    """Weigh paths, ids int32 and offsets int64[m + 1], without rounding to fixed point: weights float64[m].

    worth float64[V], of tokens; logs float64, 1 + ln c at c, by which a token counts that occurs c times;
    empty if it counts c times. Scratch: counts int32[V] of zeros, left so. The caller allocates all. O(ids).
    Worth 0.5 of token 2: the paths [2, 0] and [2, 2] weigh 0.5 and 0.5 * 1.693..., or with empty logs 1.0.

    Rounded-off parts are kept and added at the end (D. Knuth's two-sum): paths of the same tokens in any
    order weigh the same.
    """
    for i in range(offsets.size - 1):
        total = lost = 0.0
        for j in range(offsets[i], offsets[i + 1]):
            counts[ids[j]] += 1
        for j in range(offsets[i], offsets[i + 1]):
            count = np.int64(counts[ids[j]])
            if count > 0:
                if logs.size == 0:
                    x = worth[ids[j]] * np.float64(count)
                else:
                    x = worth[ids[j]] * (logs[count] if count < logs.size else 1.0 + math.log(count))
                more = total + x
                added = more - total
                lost += (total - (more - added)) + (x - added)
                total = more
            counts[ids[j]] = 0
        weights[i] = total + lost
