"""`SignalStream`: one channel in chunks; ids are returned once they are certain.

In all possible continuations, the last tokens begin at most the longest token before the end. So each
continuation has its cheapest path through one of the states there. Their paths form a tree, and up to the
lowest common ancestor of them all the path is certain. Costs are sums of integers, so the search continues
from that state as it would in the whole.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.documents.scale import Scale
from ubpe_numba.signals.kernels.paths import INF
from ubpe_numba.signals.recordings import recordings_of, runs_of, values_of, warn_of_clipped
from ubpe_numba.signals.tokens import Found, Goal, cheapest

if TYPE_CHECKING:
    from ubpe_numba.signals.vocabulary import Fitted

_NONE = np.zeros(0, np.int32)


class SignalStream:
    """Encodes one channel that comes in chunks; made by `SignalTokenizer.stream`.

    Put together, what `push` and `finish` return is what `encode` gives for all chunks together, wherever
    these end.

    Examples
    --------
    >>> from ubpe_numba.signals import SignalTokenizer
    >>> tok = SignalTokenizer(24, step=1).fit(x := np.arange(90) % 30)
    >>> stream = tok.stream()
    >>> ids = [stream.push(part) for part in np.split(x, 9)] + [stream.finish()]
    >>> np.array_equal(np.concatenate(ids), tok.encode(x))
    True
    """

    def __init__(self, scale: Scale, fit: Fitted, goal: Goal, clip: bool) -> None:
        self._scale, self._goal, self._clip, self._integers = scale, goal, clip, fit.integers
        self._tokens, self._cost, self._gap_ids = fit.tokens, fit.cost, fit.gap
        self._least = 2 * fit.tokens.longest + 64  # samples that are waited for
        self._begin_anew()
        self._gap, self._ended, self._wanted = 0, False, self._least

    def _begin_anew(self) -> None:
        # the sample before the first that waits is among them if its column is known
        self._values, self._known = _NONE, -1
        self._waiting: list[NDArray[np.int32]] = []
        self._n_waiting = 0

    def push(self, chunk: Any) -> NDArray[np.int32]:
        """Take the next samples.

        Parameters
        ----------
        chunk
            Samples as `SignalTokenizer.encode` takes them, NaN for missing samples. ValueError for one
            outside of the scale unless `clip` was given to `stream`, and after `finish`; the stream is then
            as before.

        Returns
        -------
        int32[n]
            The ids that are certain now, and were not before; often none.
        """
        if self._ended:
            raise ValueError("chunk: the stream has ended; tokenizer.stream() begins another one")
        [part], _ = recordings_of([np.atleast_1d(np.asanyarray(chunk))], None)
        missing = np.zeros(len(part.values), bool) if part.missing is None else part.missing[:, 0]
        symbols, n_clipped = values_of(self._scale, part, self._clip, self._integers, "chunk")
        values = symbols[:, 0]
        warn_of_clipped(n_clipped)
        offsets, is_gap = runs_of(missing)
        ids = []
        for a, z, gap in zip(offsets[:-1].tolist(), offsets[1:].tolist(), is_gap.tolist(), strict=True):
            if gap:
                ids.append(self._flushed())
                self._gap += z - a
            elif a < z:
                ids.append(self._gap_ids(self._gap) if self._gap else _NONE)
                self._gap = 0
                self._waiting.append(values[a:z])
                self._n_waiting += z - a
        if self._n_waiting >= self._wanted:
            ids.append(self._certain())
        return np.concatenate(ids) if ids else _NONE

    def finish(self) -> NDArray[np.int32]:
        """End the stream; returns the ids that are left, int32[n]."""
        rest = np.concatenate([self._flushed(), self._gap_ids(self._gap) if self._gap else _NONE])
        self._gap, self._ended = 0, True
        return rest

    def _searched(self) -> tuple[Found, int]:
        """The cheapest paths of the waiting samples, and their beginning in the values."""
        self._values, self._waiting = np.concatenate([self._values, *self._waiting]), []
        first = int(self._known >= 0)
        offsets = np.array([first, self._values.size], np.int64)
        return cheapest(self._tokens, self._cost, self._goal, self._values, offsets, self._known), first

    def _flushed(self) -> NDArray[np.int32]:
        """Encode all that waits."""
        if not self._n_waiting:
            self._begin_anew()
            return _NONE
        paths, _ = self._searched()
        self._begin_anew()
        self._wanted = self._least
        return paths.parts["token"].astype(np.int32)

    def _certain(self) -> NDArray[np.int32]:
        """The ids up to the state that all paths share."""
        paths, first = self._searched()
        n = self._values.size - first
        low = n + 1 - self._tokens.longest  # at least 65: so many samples were waited for
        rows, columns = np.nonzero(paths.costs[low:] < INF)
        live = set(zip((-rows - low).tolist(), columns.tolist(), strict=True))
        heap = list(live)
        heapq.heapify(heap)
        while len(heap) > 1:
            row, column = heapq.heappop(heap)
            came = self._before(paths, -row, column)
            if came not in live:
                live.add(came)
                heapq.heappush(heap, came)
        row, column = heap[0]
        ids: list[int] = []
        at = heap[0]
        while at[0]:
            ids.append(int(paths.back[-at[0], at[1]]["token"]))
            at = self._before(paths, -at[0], at[1])
        if ids:
            self._values, self._known = self._values[first - row - 1 :].copy(), column
            self._n_waiting = n + row
            self._wanted = self._n_waiting + self._least
        else:
            self._wanted = 2 * self._n_waiting
        return np.array(ids[::-1], np.int32)

    def _before(self, found: Found, row: int, column: int) -> tuple[int, int]:
        """The state from which one is reached, with its row negative."""
        if row == 0:
            return 0, column
        back = found.back[row, column]
        return -(row - int(self._tokens.lengths[back["token"]])), int(back["column"])
