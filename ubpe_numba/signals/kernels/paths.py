"""Cheapest paths of tokens that match documents within a tolerance, costs to go, and worth of tokens to them.

A document of n samples has n + 1 rows, one before every sample and one at the end, and a row a state for each error that the last
decoded sample may have: column e is the level of that sample less its own, plus the tolerance. Tokens of levels leave from the
cheapest state of a row and match from any; relative ones leave from each. With the tolerance 1, levels 0, 3, ... and the relative
token [0, 0] the document [3, 4, 3] of levels costs 2: [3], error 0, and [0, 0], errors -1 and 0.

A token costs its price, an integer, and `price` for the square of each error, in values of FINE to a level: sums are exact, so of
equal paths the one that is found first stays, in the order of rows, of roots, and of groups of tokens.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import helper, kernel
from ubpe_numba.signals.kernels.match import FINE, level, matches

INF = 1 << 60
#: How the cheapest path to a state came: its last token, and the column from which that left.
BACK = np.dtype([("token", np.int32), ("column", np.int32)])
#: A token of a path: where it begins, in which document, the columns before and after it.
PART = np.dtype([("token", np.int64), ("start", np.int64), ("document", np.int64), ("before", np.int64), ("after", np.int64)])


@helper
def errors_of(x, i, arena, a, n, base):
    """Sums of the errors of n symbols from a on, and of their squares, at the samples from i on, where `base` was decoded before.

    Errors are x less what is decoded: of the samples [70, 60] as [64, 64] with base 0 6 and -4, so 2 and 52. O(n).
    """
    s1 = np.int64(0)
    s2 = np.int64(0)
    for k in range(n):
        w = np.int64(x[i + k]) - np.int64(arena[a + k]) - base
        s1 += w
        s2 += w * w
    return s1, s2


@helper
def extend(x, i, start, end, row, costs, room, back, tables, tolerance, price, skip, scratch):
    """Lengthen the paths to a row of costs, before the sample i, by every token that matches x[i:end], but not by `skip`.

    costs int64[rows, 2 tolerance + 1], room int64[rows], the highest cost of each row, back BACK of that shape; tables: those of
    `matches`, and cost int64[V]; `start`: of the first sample of the document, before which nothing was decoded. O(matches).
    """
    index, cost = tables
    arena, starts = index[0], index[1]
    found = scratch[2]
    columns = 2 * tolerance + 1
    half = np.int64(FINE * tolerance + FINE // 2)
    least = np.int64(INF)
    cheapest = np.int64(0)
    first = np.int64(columns)
    last = np.int64(-1)
    for e in range(columns):
        c = costs[row, e]
        if c < INF:
            last = np.int64(e)
            first = min(first, last)
        if c < least:
            least = c
            cheapest = np.int64(e)
    before = np.int64(0)
    if i > start:
        before = level(x[i - 1]) - tolerance
    for root in range(2):
        if least >= INF or (root == 1 and i == start):
            break
        low = (before + first) * FINE if root == 1 else np.int64(0)
        high = (before + last) * FINE if root == 1 else np.int64(0)
        n = matches(root, low, high, x, i, end, half, index, least, cost, room, row, scratch)
        for j in range(n):
            t = found[j].token
            if t == skip:
                continue
            a = starts[t]
            length = starts[t + 1] - a
            to = row + length
            shift = (np.int64(arena[a + length - 1]) >> 6) - level(x[i + length - 1]) + tolerance
            b = found[j].low >> 6
            origin = b << 6
            s1 = np.int64(0)
            s2 = np.int64(-1)
            while b <= found[j].high >> 6:
                source = b - before if root == 1 else cheapest
                c = costs[row, source] + cost[t]
                e = b + shift
                if c < costs[to, e]:
                    if s2 < 0:
                        s1, s2 = errors_of(x, i, arena, a, length, origin)
                    d = (b << 6) - origin
                    c += price * (s2 - 2 * d * s1 + length * d * d)
                    if c < costs[to, e]:
                        costs[to, e] = c
                        most = c
                        for k in range(columns):
                            most = max(most, costs[to, k])
                        room[to] = most
                        back[to, e].token = t
                        back[to, e].column = source
                b += 1


@kernel
def ahead(x, offsets, known, tables, tolerance, price, costs, room, back, scratch, path):
    """The cheapest way to every state of documents, and a cheapest path through each; returns where in `path` they begin.

    x int32; offsets int64[d + 1]; known int64[d]: -1, or the column of the sample before the document, which goes on from that;
    tables as in `extend`; costs int64[x + d, 2 tolerance + 1], room int64[x + d], back BACK as there: the rows of document k
    begin at offsets[k] - offsets[0] + k; scratch as `matches` has it; path PART[x], filled from its end. The caller allocates
    all. O(samples * tolerance + matches).

    The document above: [3] at 0, columns 1 and 1, and [0, 0] at 1, columns 1 and 1.
    """
    starts = tables[0][1]
    columns = 2 * tolerance + 1
    for r in range(costs.shape[0]):
        room[r] = INF
        for e in range(columns):
            costs[r, e] = INF
    documents = offsets.size - 1
    for k in range(documents):
        row = offsets[k] - offsets[0] + k
        costs[row, known[k] if known[k] >= 0 else tolerance] = 0
        start = offsets[k] - 1 if known[k] >= 0 else offsets[k]
        for i in range(offsets[k], offsets[k + 1]):
            r = row + i - offsets[k]
            extend(x, i, start, offsets[k + 1], r, costs, room, back, tables, tolerance, price, -1, scratch)
    m = np.int64(path.size)
    for k in range(documents - 1, -1, -1):
        r = offsets[k + 1] - offsets[0] + k
        i = offsets[k + 1]
        e = np.int64(0)
        for j in range(columns):
            if costs[r, j] < costs[r, e]:
                e = np.int64(j)
        while i > offsets[k]:
            t = np.int64(back[r, e].token)
            length = starts[t + 1] - starts[t]
            m -= 1
            i -= length
            r -= length
            path[m].token = t
            path[m].start = i
            path[m].document = k
            path[m].after = e
            e = np.int64(back[r + length, e].column)
            path[m].before = e
    return m


@kernel
def costs_to_go(x, offsets, tables, tolerance, price, costs, room, scratch):
    """The cheapest way from every state to the end of its document: costs int64, of the rows and columns of `ahead`.

    Arguments as there; room int64[x + d] gets the least cost of each row, negative. The end costs 0 from every column.
    O(samples * tolerance + matches).

    The document above: 2 from its first row, 1 from the second in every column that exists.
    """
    index, cost = tables
    arena, starts = index[0], index[1]
    found = scratch[2]
    columns = 2 * tolerance + 1
    half = np.int64(FINE * tolerance + FINE // 2)
    for k in range(offsets.size - 1):
        origin_row = k - offsets[0]
        for e in range(columns):
            costs[offsets[k + 1] + origin_row, e] = 0
        room[offsets[k + 1] + origin_row] = 0
        for i in range(offsets[k + 1] - 1, offsets[k] - 1, -1):
            row = i + origin_row
            for e in range(columns):
                costs[row, e] = INF
            before = np.int64(0)
            if i > offsets[k]:
                before = level(x[i - 1]) - tolerance
            for root in range(2 if i > offsets[k] else 1):
                offer = -costs[row, 0]  # of every column, after the tokens of levels
                low = before * FINE if root == 1 else np.int64(0)
                high = (before + columns - 1) * FINE if root == 1 else np.int64(0)
                n = matches(root, low, high, x, i, offsets[k + 1], half, index, offer, cost, room, row, scratch)
                for j in range(n):
                    t = found[j].token
                    a = starts[t]
                    length = starts[t + 1] - a
                    shift = (np.int64(arena[a + length - 1]) >> 6) - level(x[i + length - 1]) + tolerance
                    b = found[j].low >> 6
                    origin = b << 6
                    s1 = np.int64(0)
                    s2 = np.int64(-1)
                    while b <= found[j].high >> 6:
                        e = b - before if root == 1 else np.int64(0)
                        c = costs[row + length, b + shift] + cost[t]
                        if c < costs[row, e]:
                            if s2 < 0:
                                s1, s2 = errors_of(x, i, arena, a, length, origin)
                            d = (b << 6) - origin
                            costs[row, e] = min(costs[row, e], c + price * (s2 - 2 * d * s1 + length * d * d))
                        b += 1
                if root == 0:
                    for e in range(1, columns):
                        costs[row, e] = costs[row, 0]
            least = costs[row, 0]
            for e in range(1, columns):
                least = min(least, costs[row, e])
            room[row] = -least


@kernel
def savings(x, offsets, tables, tolerance, price, costs, to_go, room, scratch, block, until, saved, count):
    """Savings by each of n candidates alone, at places that do not overlap, by blocks of `block` samples.

    tables of the candidates; costs; to_go, room: of `ahead` and `costs_to_go` with the vocabulary; until int64[n], scratch, 0 at
    first; to saved int64[n, blocks] and count int64[n] is added: what is saved, and at how many places. The caller allocates all.
    O(samples + matches).

    The candidate [3, 3, 3] of levels, of cost 1, saves 1 in the document above.
    """
    index, cost = tables
    arena, starts = index[0], index[1]
    found = scratch[2]
    columns = 2 * tolerance + 1
    half = np.int64(FINE * tolerance + FINE // 2)
    for k in range(offsets.size - 1):
        origin_row = k - offsets[0]
        best = np.int64(INF)
        for e in range(columns):
            best = min(best, costs[offsets[k + 1] + origin_row, e])
        for i in range(offsets[k], offsets[k + 1]):
            row = i + origin_row
            cheapest = np.int64(0)
            first = np.int64(columns)
            last = np.int64(-1)
            for e in range(columns):
                if costs[row, e] < INF:
                    last = np.int64(e)
                    first = min(first, last)
                if costs[row, e] < costs[row, cheapest]:
                    cheapest = np.int64(e)
            if costs[row, cheapest] >= best:
                continue
            offer = costs[row, cheapest] - best
            before = np.int64(0)
            if i > offsets[k]:
                before = level(x[i - 1]) - tolerance
            for root in range(2 if i > offsets[k] else 1):
                low = (before + first) * FINE if root == 1 else np.int64(0)
                high = (before + last) * FINE if root == 1 else np.int64(0)
                n = matches(root, low, high, x, i, offsets[k + 1], half, index, offer, cost, room, row, scratch)
                for j in range(n):
                    t = found[j].token
                    if i < until[t]:
                        continue
                    a = starts[t]
                    length = starts[t + 1] - a
                    shift = (np.int64(arena[a + length - 1]) >> 6) - level(x[i + length - 1]) + tolerance
                    b = found[j].low >> 6
                    origin = b << 6
                    s1 = np.int64(0)
                    s2 = np.int64(-1)
                    least = best
                    while b <= found[j].high >> 6:
                        source = b - before if root == 1 else cheapest
                        c = costs[row, source] + cost[t] + to_go[row + length, b + shift]
                        if c < least:
                            if s2 < 0:
                                s1, s2 = errors_of(x, i, arena, a, length, origin)
                            d = (b << 6) - origin
                            least = min(least, c + price * (s2 - 2 * d * s1 + length * d * d))
                        b += 1
                    if least < best:
                        until[t] = i + length
                        saved[t, i // block] += best - least
                        count[t] += 1


@kernel
def losses(x, offsets, path, tables, tolerance, price, to_go, scratch, ways, room, back, block, lost):
    """Losses of paths without one of their tokens, by blocks of `block` samples: added to lost int64[V, blocks].

    path PART, of `ahead`; to_go: of `costs_to_go`; ways int64, back BACK: [the longest token + 1, columns], room int64 of its
    rows, scratch. At every place of a token the best way through its samples without it counts, and the way on from there, which
    may need the token again: an estimate where there are relative tokens. The caller allocates all. O(samples of the path +
    matches).

    [0, 0] of the document above loses 1: it would be [3, 3] one by one.
    """
    starts, cost = tables[0][1], tables[1]
    columns = 2 * tolerance + 1
    for p in range(path.size):
        t = path[p].token
        i = path[p].start
        k = path[p].document
        length = starts[t + 1] - starts[t]
        row = i + length + k - offsets[0]
        for d in range(length + 1):
            room[d] = INF
            for e in range(columns):
                ways[d, e] = INF
        ways[0, path[p].before] = 0
        for d in range(length):
            extend(x, i + d, offsets[k], i + length, d, ways, room, back, tables, tolerance, price, t, scratch)
        least = np.int64(INF)
        for e in range(columns):
            if ways[length, e] < INF:
                least = min(least, ways[length, e] + to_go[row, e])
        paid = cost[t] + to_go[row, path[p].after]
        if least < INF and least > paid:
            lost[t, i // block] += least - paid
