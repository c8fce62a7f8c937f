"""The text of a fit as its driver sees it: hosts count and list pairs in their shards, here they are added up.

The pairs across borders, where a document is cut between shards, are in no shard; they are added here, and only here:

    host 0, shards 0 and 1        host 1, shard 2              counts of (1, 2)
    ... 1 2 -1   -1 1 2 ... 1 -1  -1 2 3 ...                   host 0: 2, host 1: 0, across: 1 (1 | 2), in all 3
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from ubpe_numba.fitting.kernels import index
from ubpe_numba.fitting.kernels.borders import Borders, left_neighbours
from ubpe_numba.fitting.kernels.merge import Weighted
from ubpe_numba.fitting.kernels.text_cells import Shards
from ubpe_numba.fitting.working_text import PairLists


class View(Protocol):
    """What kernels of the driver read of the shards: the text itself, or what hosts elsewhere have answered."""

    shards: Shards
    weighted: Weighted | None


class AllShards:
    """All shards of a fit.

    Parameters
    ----------
    ask
        Asks the hosts that hold them; see `Engine`.
    n_lists
        How many lists of pairs the hosts have together: one of each shard here, one of each host elsewhere.
    view
        Their arrays.
    borders
        Between them; None of a single shard.
    symbol_counts
        int64[alphabet]: how often each symbol occurs, by weight.
    lasts_only
        Whether those are counts of the last symbols of segments, to which the first dense table of pairs adds the others.
    """

    def __init__(
        self,
        ask: Callable[..., list[Any]],
        n_lists: int,
        view: View,
        borders: Borders | None,
        symbol_counts: np.ndarray,
        lasts_only: bool = False,
    ) -> None:
        self.ask, self.n_lists, self.view, self.borders = ask, n_lists, view, borders
        self.symbol_counts, self._lasts_only = symbol_counts, lasts_only
        self.k = view.shards.state.size

    def count_dense(self, n_tokens: int) -> np.ndarray:
        """Count every pair in a table, the pair (a, b) at a * V + b: int64[V * V], by weight; `list_dense` comes next."""
        first, *others = self.ask("count_dense", n_tokens)
        total: np.ndarray = first.astype(np.int64, copy=False)
        for more in others:
            total += more.astype(np.int64, copy=False)  # as uint64 it would be added as floats
        if self.borders is not None:
            left, right, weight = self._across()
            np.add.at(total, left * n_tokens + right, weight)
        if self._lasts_only:
            self.symbol_counts += total.reshape(n_tokens, n_tokens).sum(axis=1)
            self._lasts_only = False
        return total

    def count_symbols(self) -> None:
        """Complete `symbol_counts`, in a fit that asks for no pairs."""
        if self._lasts_only:
            self.count_dense(self.symbol_counts.size)

    def list_dense(self, n_tokens: int, pairs: np.ndarray, slots: np.ndarray) -> None:
        """List where the pairs with a slot, that is not -1, occur; pairs int64[n] at a * V + b, slots int32[n]."""
        self.ask("list_dense", n_tokens, pairs, slots)

    def sort_pairs(self, n_tokens: int) -> int:
        """Sort where pairs begin by their left token; how many there are, those across borders apart."""
        left, right, weight = self._across()
        order = np.argsort(left, kind="stable")
        self._sorted_across = (left << 32 | right)[order], weight[order]
        self._n_tokens = n_tokens
        return sum(self.ask("sort_pairs", n_tokens))

    def count_sorted(self, threshold: int, floor: int) -> tuple[np.ndarray, np.ndarray, int]:
        """The pairs that may reach the threshold, by left token.

        Returns
        -------
        Pairs and counts, int64; of several shards upper bounds, as a shard does not list what is rare in it. And an upper bound
        of how many other pairs reach `floor`: 0 only if there are none.
        """
        least = max(1, -(-threshold // self.n_lists))  # a pair that reaches the threshold reaches this in one list at least
        found: list[PairLists] = self.ask("count_sorted", least, floor)
        if self.k == 1:
            n = int(found[0].ends[0])
            return found[0].pairs[:n], found[0].counts[:n], found[0].below
        lists = _with_across(found, *self._sorted_across)
        most = int((lists.ends - lists.begins).sum())
        scratch = np.zeros((3, self._n_tokens), np.int64)
        pairs, bounds = np.empty(most, np.int64), np.empty(most, np.int64)
        arrays = lists.pairs, lists.counts, lists.begins, lists.ends
        n = index.add_up(*arrays, least, threshold, scratch, pairs, bounds)
        return pairs[:n], bounds[:n], int(threshold > floor)  # rarer pairs were not counted: there may be some

    def list_sorted(self, pairs: np.ndarray) -> np.ndarray:
        """List where `pairs`, by left token, occur; their counts by weight, int64. `give_slots` comes next."""
        total: np.ndarray = np.sum(self.ask("list_sorted", pairs), axis=0)
        for pair, weight in zip(*(a.tolist() for a in self._sorted_across), strict=True):
            total[pairs == pair] += weight
        return total

    def give_slots(self, slots: np.ndarray) -> None:
        """Enter the pairs that were listed last at their slots, int32; those with slot -1 are left out."""
        self.ask("give_slots", slots)

    def _across(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The pairs across borders: left and right tokens, and weights; int64."""
        left_of = np.empty(self.k, np.int64)
        if self.borders is None:
            return left_of[:0], left_of[:0], left_of[:0]
        left_neighbours(self.view.shards, self.borders, left_of)
        state, k = self.view.shards.state, np.flatnonzero(left_of >= 0)
        return state["last"][left_of[k]], state["first"][k], self.borders.weight[k]


def _with_across(found: list[PairLists], pairs: np.ndarray, counts: np.ndarray) -> PairLists:
    """The lists of all hosts and one more."""
    of, at = found[0], int(found[0].ends[-1])
    if len(found) > 1 or at + pairs.size > of.pairs.size:  # those of this process have room at their end
        sizes = [part.ends - part.begins for part in found]
        at = int(sum(of_host.sum() for of_host in sizes))
        ends = np.cumsum(np.concatenate(sizes))
        flat = [np.empty(at + pairs.size, np.int64) for _ in range(2)]
        begins = ends - np.concatenate(sizes)
        i = 0
        for part in found:
            for begin, end in zip(part.begins.tolist(), part.ends.tolist(), strict=True):
                flat[0][begins[i] : ends[i]], flat[1][begins[i] : ends[i]] = part.pairs[begin:end], part.counts[begin:end]
                i += 1
        of = PairLists(flat[0], flat[1], begins, ends, 0)
    of.pairs[at : at + pairs.size], of.counts[at : at + pairs.size] = pairs, counts
    return of._replace(begins=np.append(of.begins, at), ends=np.append(of.ends, at + pairs.size))
