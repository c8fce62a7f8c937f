"""Cheapest paths of tokens that match documents within a tolerance, costs to go, and worth of tokens to them.

A document of n samples has n + 1 rows, one before every sample and one at the end. A row has a state for each
error that the last decoded sample may have: column e is the level of that sample less its own, plus the
tolerance. Tokens of levels leave from the cheapest state of a row and match from any; relative tokens leave
from each. Let the tolerance be 1, the levels 0, 3, ..., and [0, 0] a relative token. Then the document [3, 4,
3] of levels costs 2: [3], error 0, and [0, 0], errors -1 and 0.

A token costs its price, an integer, and `price` for the square of each error, in values of FINE to a level.
Sums are exact, so among equal paths the first stays, in the order of rows, of kinds, and of groups of tokens.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import helper, kernel
from ubpe_numba.signals.kernels.match import FINE, bases_of, level, listed, matched, useful

INF = 1 << 60
#: Costs of a document from which on its later rows begin at 0 again; checked every so many samples.
HIGH, OFTEN = 1 << 58, 1024
#: How the cheapest path to a state came: its last token, and the column from which that left.
BACK = np.dtype([("token", np.int32), ("column", np.int32)])
#: A token of a path: its beginning, its document, the columns before and after it.
PART = np.dtype(
    [
        ("token", np.int64),
        ("start", np.int64),
        ("document", np.int64),
        ("before", np.int64),
        ("after", np.int64),
    ]
)


@helper
def extend(x, i, start, end, row, costs, room, back, tables, tolerance, price, skip, lists):
    """Extend the paths to a row of costs, before the sample i, by every token that matches x[i:].

    `skip` is left out.

    `costs` is int64[rows, 2 tolerance + 1], `back` BACK of that shape, `room` int64[rows], the highest cost
    of the columns of each row that may be reached. `tables` and `lists` are those of `listed`. `start` and
    `end` are those of the document, before which nothing was decoded.
    """
    _, _, entries, ends, _, grid, step, _, _, _, fewest = tables
    picked = lists[1]
    columns = 2 * tolerance + 1
    cheapest = np.int64(np.argmin(costs[row]))
    least = costs[row, cheapest]
    if least >= INF:
        return
    before = level(x[i - 1]) - tolerance if i > start else np.int64(0)
    first, last = bases_of(x, i, start, grid, step, tolerance)
    limit = -least - fewest
    lengths = useful(room, row, end - i, -1, limit)
    for kind in range(2):
        low = first if kind == 1 else np.int64(0)
        high = last if kind == 1 else np.int64(0)
        at = -before if kind == 1 else cheapest
        for o in range(
            listed(x, i, end, row, kind, low, high, tolerance, tables, lists, lengths, room, -1, limit)
        ):
            p = picked[o]
            n = np.int64(ends[p, 0])
            if entries[p].token == skip:
                continue
            b, z, shift, s1, s2 = matched(
                x, i, p, tables, tolerance, low, high, at, costs, row, 1, costs, -1, 0
            )
            origin = b
            while b <= z:
                d = (b - origin) * FINE
                c = costs[row, b + at] + entries[p].cost + price * (s2 - 2 * d * s1 + n * d * d)
                if c < costs[row + n, b + shift]:
                    costs[row + n, b + shift] = c
                    back[row + n, b + shift].token = entries[p].token
                    back[row + n, b + shift].column = b + at
                    e = b + shift
                    if step < columns:
                        e %= step
                        while e < columns:
                            c = max(c, costs[row + n, e])
                            e += step
                    room[row + n] = c
                b += 1


@helper
def lower(costs, room, row, last):
    """Subtract the least cost of a row from all costs of rows row..last that are reached.

    Only if it is at least HIGH.

    costs int64[rows, columns], room int64[rows]: those of `ahead`. O((last - row) * columns). With HIGH = 5
    the rows [5, 7] and [INF, 8] become [0, 2] and [INF, 3].
    """
    least = costs[row, np.argmin(costs[row])]
    if least < HIGH or least >= INF:
        return
    for r in range(row, last + 1):
        if room[r] < INF:
            room[r] -= least
        for e in range(costs.shape[1]):
            if costs[r, e] < INF:
                costs[r, e] -= least


@kernel
def ahead(x, offsets, known, tables, tolerance, price, costs, room, back, lists, path):
    """The cheapest way to every state of documents, and a cheapest path through each document.

    Returns the beginning of the paths in `path`.

    `x` is int32, `offsets` int64[d + 1]. `known` int64[d] is -1, or the column of the sample before the
    document, which continues from it. `tables` and `lists` are those of `listed`. `costs` int64[x + d, 2
    tolerance + 1], `room` int64[x + d] and `back` BACK are those of `extend`. The rows of document k begin at
    offsets[k] - offsets[0] + k. `path` PART[x] is filled from its end. The caller allocates all. O(samples *
    tolerance + the cost of `listed`). If costs reach HIGH, the least is subtracted from all costs that are
    reached there. So sums stay below INF in documents of any length; earlier rows keep their costs.

    The document above: [3] at 0, columns 1 and 1, and [0, 0] at 1, columns 1 and 1.
    """
    starts = tables[1]
    groups = tables[4]
    longest = np.int64(1)
    for g in range(groups.size):
        longest = max(longest, groups[g].most)
    columns = 2 * tolerance + 1
    for r in range(costs.shape[0]):
        room[r] = INF
        for e in range(columns):
            costs[r, e] = INF
    documents = offsets.size - 1
    for k in range(documents):
        row = offsets[k] - offsets[0] + k
        end = offsets[k + 1]
        costs[row, known[k] if known[k] >= 0 else tolerance] = 0
        start = offsets[k] - 1 if known[k] >= 0 else offsets[k]
        for i in range(offsets[k], end):
            r = row + i - offsets[k]
            if (i - offsets[k]) % OFTEN == 0:
                lower(costs, room, r, min(r + longest, row + end - offsets[k]))
            extend(x, i, start, end, r, costs, room, back, tables, tolerance, price, -1, lists)
    m = np.int64(path.size)
    for k in range(documents - 1, -1, -1):
        r = offsets[k + 1] - offsets[0] + k
        i = offsets[k + 1]
        e = np.int64(np.argmin(costs[r]))
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
def costs_to_go(x, offsets, tables, tolerance, price, costs, room, lists):
    """The cheapest way from every state to the end of its document.

    Costs are int64, with the rows and columns of `ahead`.

    Arguments as there. `room` int64[x + d] gets the least cost of each row. The end costs 0 from every
    column. Columns that no path reaches may have more than the least. O(samples * tolerance + the cost of
    `listed`).

    The document above: 2 from its first row, 1 from the second in every column that exists.
    """
    _, _, entries, ends, _, grid, step, _, _, _, fewest = tables
    picked = lists[1]
    columns = 2 * tolerance + 1
    for k in range(offsets.size - 1):
        origin_row = k - offsets[0]
        begin = offsets[k]
        end = offsets[k + 1]
        for e in range(columns):
            costs[end + origin_row, e] = 0
        room[end + origin_row] = 0
        for i in range(end - 1, begin - 1, -1):
            row = i + origin_row
            for e in range(columns):
                costs[row, e] = INF
            before = level(x[i - 1]) - tolerance if i > begin else np.int64(0)
            first, last = bases_of(x, i, begin, grid, step, tolerance)
            for kind in range(2):
                for e in range(kind, columns * kind):  # tokens of levels leave from every column
                    costs[row, e] = costs[row, 0]
                low = first if kind == 1 else np.int64(0)
                high = last if kind == 1 else np.int64(0)
                at = -before if kind == 1 else np.int64(0)
                limit = costs[row, 0] - fewest
                lengths = useful(room, row, end - i, 1, limit)
                for o in range(
                    listed(x, i, end, row, kind, low, high, tolerance, tables, lists, lengths, room, 1, limit)
                ):
                    p = picked[o]
                    n = np.int64(ends[p, 0])
                    b, z, shift, s1, s2 = matched(
                        x, i, p, tables, tolerance, low, high, at, costs, row, -1, costs, 1, 0
                    )
                    origin = b
                    while b <= z:
                        d = (b - origin) * FINE
                        c = (
                            costs[row + n, b + shift]
                            + entries[p].cost
                            + price * (s2 - 2 * d * s1 + n * d * d)
                        )
                        costs[row, b + at] = min(costs[row, b + at], c)
                        b += 1
            room[row] = costs[row, np.argmin(costs[row])]


@kernel
def savings(x, offsets, tables, tolerance, price, costs, to_go, room, lists, block, taken, saved, count):
    """Savings by each of n candidates alone, at places that do not overlap, by blocks of `block` samples.

    `tables` and `lists` are those of the candidates, with the grid of the vocabulary. `costs`, `to_go` and
    `room` are those of `ahead` and `costs_to_go` with the vocabulary. `taken` int64[n] is scratch, 0 at
    first. Savings are added to `saved` int64[n, blocks], numbers of places to `count` int64[n]. The caller
    allocates all. O(samples * tolerance + the cost of `listed`).

    The candidate [3, 3, 3] of levels, of cost 1, saves 1 in the document above.
    """
    _, _, entries, ends, _, grid, step, _, _, _, fewest = tables
    picked = lists[1]
    for k in range(offsets.size - 1):
        origin_row = k - offsets[0]
        begin = offsets[k]
        end = offsets[k + 1]
        best = costs[end + origin_row, np.argmin(costs[end + origin_row])]
        for i in range(begin, end):
            row = i + origin_row
            cheapest = np.int64(np.argmin(costs[row]))
            before = level(x[i - 1]) - tolerance if i > begin else np.int64(0)
            first, last = bases_of(x, i, begin, grid, step, tolerance)
            limit = best - costs[row, cheapest] - fewest
            lengths = useful(room, row, end - i, 1, limit)
            for kind in range(2):
                low = first if kind == 1 else np.int64(0)
                high = last if kind == 1 else np.int64(0)
                at = -before if kind == 1 else cheapest
                for o in range(
                    listed(x, i, end, row, kind, low, high, tolerance, tables, lists, lengths, room, 1, limit)
                ):
                    p = picked[o]
                    n = np.int64(ends[p, 0])
                    t = entries[p].token
                    if i < taken[t]:
                        continue
                    b, z, shift, s1, s2 = matched(
                        x, i, p, tables, tolerance, low, high, at, costs, row, 1, to_go, 1, best
                    )
                    origin = b
                    least = best
                    while b <= z:
                        d = (b - origin) * FINE
                        c = costs[row, b + at] + entries[p].cost + to_go[row + n, b + shift]
                        least = min(least, c + price * (s2 - 2 * d * s1 + n * d * d))
                        b += 1
                    if least < best:
                        taken[t] = i + n
                        saved[t, i // block] += best - least
                        count[t] += 1


@kernel
def losses(x, offsets, path, tables, tolerance, price, cost, to_go, lists, ways, room, back, block, lost):
    """Add the losses of paths without one of their tokens to `lost` int64[V, blocks].

    A block has `block` samples.

    `path` PART is that of `ahead`, `to_go` that of `costs_to_go`. `ways` int64 and `back` BACK are [the
    longest token + 1, columns], and `room` int64 of their rows: scratch. At every place of a token, the best
    way through its samples without it counts, and the way on from there, which may use the token again. With
    relative tokens this is an estimate. The caller allocates all. O(samples of the path
    * tolerance + the cost of `listed`).

    [0, 0] of the document above loses 1: it would be [3, 3] one by one.
    """
    starts = tables[1]
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
            extend(x, i + d, offsets[k], i + length, d, ways, room, back, tables, tolerance, price, t, lists)
        least = np.int64(INF)
        for e in range(columns):
            if ways[length, e] < INF:
                least = min(least, ways[length, e] + to_go[row, e])
        paid = cost[t] + to_go[row, path[p].after]
        if least < INF and least > paid:
            lost[t, i // block] += least - paid
