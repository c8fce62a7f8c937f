"""Best paths by dynamic programming (Viterbi) for additive costs of tokens.

Costs are packed; there is also sentencepiece's order.

A token costs a pair of numbers, and pairs are compared like words in a dictionary. The cost (1, -idf) means
fewest tokens, then the larger sum of idf. The cost (-weight, 1) means the largest sum of weights, then fewest
tokens. Here the pair is packed into one integer, first * 2**k + second; k_best.py is for costs that do not
fit.

Sums of packed costs compare as the pairs of sums do, under two conditions. Two compared tails must differ by
less than 2**k in the second number and by less than 2**(62 - k) in the first. Only differences count: sums of
long documents wrap around, but their differences are right. So sums are unsigned, and differences signed.

So the size of the sums does not matter. Let the first cost of a token be at most c and its length at most l.
From any position a path may continue symbol by symbol, and a path that passes over a position can be split
into symbols there. So the tails of two positions at most l apart differ by less than 2 * l * c; from this
`pack` finds k. The second number is limited only by the length of the document: `pack` returns the length up
to which it is exact.

Costs (1, -3), (1, 0) and (1, -5) of the tokens 0, 1 and 2 = [0, 1], with k = 8, and the document [0, 1, 0]:

    position     0                     1                2             3
    lists        2 0                   1                0
    costs        256-5, 256-3          256              256-3
    sums         2*256-8: token 2      2*256-3          256-3         0

`forward_paths` finds the most probable path as sentencepiece does: from the beginning, in float32, and among
equal sums the longest last token. `packed_paths` finds a path that is as probable, or more so by some units
of float32. The two differ for equal sums, which are frequent when tokens are made of the same tokens in
another order. Only `forward_paths` gives sentencepiece's ids.

It is the mirror image of that search: an automaton over tokens as they are, not reversed, lists the tokens
that end at a position. Symbols 0 and 1 of score -3, tokens 2 = [0, 1] and 3 = [1, 0] of score -2, the
document [0, 1, 0]:

    end        1       2       3
    tokens     0       2 1     3 0
    best      -3      -2      -5       of [2, 0] and of [0, 3]: token 3 is longer than the symbol 0
    token      0       2       3       [0, 3]; from the end, with the longest first token, it is [2, 0]

Sums of long documents would lose the digits that distinguish paths. So, as in sentencepiece 0.2.3, once the
best sum of a position exceeds 100000, it is subtracted from all sums from there on. A token that passes over
this position also loses that amount, and is compared with shorter tokens only after it.

tokenizers searches in the same order, with sums in float64, and never takes anything off.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import helper, kernel
from ubpe_numba.runtime.tables.automaton import list_of, next_state


def pack(first, second, longest):
    """Packed costs uint64[V] of two costs float64[V], and the longest document that is exact.

    The second result is its number of symbols.

    `longest`: symbols of the longest token. 0 symbols: packing is impossible.

    >>> costs, most = pack(np.array([1.0, 1.0]), np.array([-3.0, 0.0]), 2)
    >>> costs.view(np.int64).tolist() == [2**58 - 3, 2**58], most == (2**58 - 1) // 6
    (True, True)
    """
    if not (np.abs(first).max() < 2.0**60 and np.abs(second).max() < 2.0**60):
        return np.zeros(first.size, np.uint64), 0
    spread = (2 * longest + 4) * int(np.abs(first).max())
    k = max(0, 62 - spread.bit_length())
    packed = first.astype(np.int64) * (1 << k) + second.astype(np.int64)
    return packed.view(np.uint64), ((1 << k) - 1) // (2 * max(1, int(np.abs(second).max())))


@kernel
def packed_paths(
    symbols, offsets, edges, states, listed, owners, rows, matches, costs, sums, tree, out, out_offsets
):
    """The cheapest path of every document; returns the number of ids written.

    `symbols` int32 (alphabet ids), offsets int64[d + 1]. `edges`, states, listed, owners, rows and matches as
    automaton.py builds them. `costs` uint64, those of the tokens of `matches`, as `pack` makes them, and
    documents not longer than it says. `out` int32, room for all symbols. `out_offsets` int64[d + 1]. The
    caller allocates all. Ties: the longest first token; above [2, 0].

    Scratch: sums uint64[a power of two], of the tails within reach, two more positions than the longest token
    at least; tree int32[longest document], the best entry of a position. O(symbols + matches).

    No branch depends on which token is cheaper, only on how many there are. The list of the next position is
    known in advance, and the state of the next but one. So nothing waits for them after a wrong prediction:
    the loop begins two positions early.
    """
    ring = np.int64(sums.size - 1)
    w = np.int64(0)
    out_offsets[0] = 0
    for d in range(offsets.size - 1):
        document = symbols[offsets[d] : offsets[d + 1]]
        n = np.int64(document.size)
        sums[n & ring] = 0
        state = np.int64(-1)
        ahead = ahead_length = np.int64(0)
        for s in range(n + 1 if n > 0 else -1, -1, -1):
            i = ahead
            length = ahead_length
            ahead, ahead_length = list_of(listed, matches, state)
            state = next_state(edges, states, listed, owners, rows, state, document[max(s - 2, 0)])
            if s >= n:
                continue
            best = i
            least = sums[(s + length) & ring] + costs[i]
            while length > 1:
                i += 1
                length = np.int64(matches[i].length)
                x = sums[(s + length) & ring] + costs[i]
                better = np.int64(x - least) < 0
                best = i if better else best
                least = x if better else least
            sums[s & ring] = least
            tree[s] = best
        s = np.int64(0)
        while s < n:
            i = np.int64(tree[s])
            out[w] = matches[i].token
            w += 1
            s += np.int64(matches[i].length)
        out_offsets[d + 1] = w
    return w


_FAR = 100_000.0


@helper
def _rounded(x, single):
    """A number of float64, rounded to float32 if `single`: 0.1 -> 0.10000000149011612. O(1)."""
    return np.float64(np.float32(x)) if single else x


@kernel
def forward_paths(
    symbols,
    offsets,
    edges,
    states,
    listed,
    owners,
    rows,
    matches,
    scores,
    single,
    sums,
    tree,
    out,
    out_offsets,
):
    """The most probable path of every document; returns the number of ids written.

    `symbols` int32 are alphabet ids, `offsets` int64[d + 1]. `edges`, `states`, `listed`, `owners`, `rows`
    and `matches` are those of automaton.py for mirrored tokens. `scores` float64 are those of the tokens of
    `matches`. `single`: whether sums are those of float32, as in sentencepiece. `out` int32 has room for all
    symbols. `out_offsets` is int64[d + 1]. Scratch: `sums` float64[2 * a power of two] holds the heads within
    reach, at least the longest token + 2, and the amounts subtracted there. `tree` int32, with room for the
    longest document, holds the best entry per position. The caller allocates all. O(symbols + matches);
    within reach of a position with a subtraction, O(longest token) per symbol.

    Rounding a sum of two float32 to float64 and then to float32 gives the same as rounding to float32 at
    once.

    The example above: [0, 3].
    """
    ring = np.int64((sums.size >> 1) - 1)
    taken = sums[ring + 1 :]
    w = np.int64(0)
    out_offsets[0] = 0
    for d in range(offsets.size - 1):
        document = symbols[offsets[d] : offsets[d + 1]]
        n = np.int64(document.size)
        sums[0] = 0.0
        far = np.int64(0)  # the last position where sums were taken off
        state = np.int64(-1)
        ahead = ahead_length = np.int64(0)
        for s in range(-2 if n > 0 else 0, n):  # states and lists ahead, as in `packed_paths`
            i = ahead
            length = ahead_length
            ahead, ahead_length = list_of(listed, matches, state)
            state = next_state(edges, states, listed, owners, rows, state, document[min(s + 2, n - 1)])
            if s < 0:
                continue
            here = sums[s & ring]
            taken[s & ring] = 0.0
            if single and abs(here) > _FAR:
                taken[s & ring] = here
                sums[s & ring] = 0.0
                far = s
            start = s + 1 - length
            best = i
            most = _rounded(sums[start & ring] + scores[i], single)
            while length > 1:
                i += 1
                length = np.int64(matches[i].length)
                if start < far:
                    for p in range(start + 1, s + 2 - length):
                        most = _rounded(most - taken[p & ring], single)
                    start = s + 1 - length
                x = _rounded(sums[(s + 1 - length) & ring] + scores[i], single)
                better = x > most
                best = i if better else best
                most = x if better else most
            sums[(s + 1) & ring] = most
            tree[s] = best
        begin = w + n  # the ids of a document are written from the end of its room, and moved to the others
        s = n
        while s > 0:
            i = np.int64(tree[s - 1])
            begin -= 1
            out[begin] = matches[i].token
            s -= np.int64(matches[i].length)
        for v in range(begin, n + w):
            out[w] = out[v]
            w += 1
        out_offsets[d + 1] = w
    return w
