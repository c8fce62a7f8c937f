"""A fit whose shards are on hosts elsewhere: the text as its loop sees it.

It consists of the last answers of the hosts.

The kernels of the driver read a `Shards` without text: states, neighbors and counts of a batch, laid out as
if it were here.

    host 0: shards 0, 1     delta  3 2 | 5 1           the driver's      state      0 | 1 | 2
    host 1: shard 2         delta  3 4          ──>                      delta      3 2 | 5 1 | 3 4
                                                                         base.cells 0     1     2     3

A batch is one synchronization. A pair that is merged across a border takes two messages more: the shard on
the left takes the token over, the shard on the right gives it. `starts` holds the beginnings of shards, in
symbols of the corpus, and `passed` the tokens that have passed from one host to another. So a lost host is
made again from the symbols that it held.

    part of host 0      part of host 1                 3 has passed from host 1 to host 0:
    . . . . . 1 2    |  3 4 5 . . .                    starts [0, 8], passed [3]
"""

from __future__ import annotations

import io
import json
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from ubpe_numba.distributed.cluster import BUILD
from ubpe_numba.distributed.encoding import publish
from ubpe_numba.distributed.host import Batch, Fills, Loaded, Part, Setup, Stepped
from ubpe_numba.distributed.hosts import DaskEngine, LostHostsError
from ubpe_numba.distributed.sources import store_of
from ubpe_numba.documents.read import MOST
from ubpe_numba.fitting.fit import Loop, Merges, Settings, room_for
from ubpe_numba.fitting.kernels import rounds, text_cells
from ubpe_numba.fitting.kernels.borders import Borders, borders_of, left_neighbours
from ubpe_numba.fitting.kernels.merge import MERGED_BY_WEIGHT, Weighted
from ubpe_numba.fitting.kernels.pair_table import Driver, Task
from ubpe_numba.fitting.kernels.text_cells import BASE, MERGED, SHARD_STATE, Shards
from ubpe_numba.fitting.text import add_across, add_up, pairs_across, run_rounds, sorted_across
from ubpe_numba.runtime.arrays import offsets_of
from ubpe_numba.runtime.files import npz_of
from ubpe_numba.runtime.messages import Progress
from ubpe_numba.runtime.tables.pairs import EMPTY
from ubpe_numba.vocabulary.alphabet import Alphabet

T = TypeVar("T")

_MOST_LOSSES = 10  # in a row, for one message
_PAUSE = 0.1  # seconds between two looks at the progress
EVERY = 180.0  # seconds between two checkpoints, in addition to those at epochs
_FIELDS = ("left", "right", "count", "documents", "replaced")  # of a merge
_NAMES = {"head", "learned", "lengths", "symbols", "cuts", "starts", "tails", "tail_offsets"}


def fit_remotely(
    engine: DaskEngine, parts: Sequence[Part], alphabet: Alphabet, settings: Settings, progress: Progress,
    goes_on: Sequence[tuple[bool, bool]], checkpoint: Checkpoint | None = None,
) -> tuple[Merges, RemoteText]:  # fmt: skip
    """Learn merges from the parts of a corpus that hosts hold, as `fit` learns them from the whole corpus.

    The n hosts of the engine have not loaded their `parts`. `goes_on` has for each host whether its first
    document continues the last one of the host before, and whether tokens may cross the border between the
    two. `checkpoint` is the file from which the fit continues, and to which it is written. Returns the text,
    which counts losses, and the merges. ValueError for 2**62 symbols or more. RuntimeError if hosts are lost
    repeatedly, or the part of a lost host has changed.
    """
    n_symbols, by_weight = sum(part.n_symbols for part in parts), sum(part.by_weight for part in parts)
    if max(by_weight, sum(part.n_documents for part in parts)) >= MOST:
        raise ValueError("sample_weight: expected less than 2**62 symbols and documents in all, by weight")
    settings, room = room_for(n_symbols, alphabet.size, settings, 1)
    setup = Setup(alphabet, any(part.weighted for part in parts), room[2], settings.n_shards)
    text = RemoteText(engine, parts, setup, goes_on, checkpoint)
    n_parts = min(settings.n_threads, text.k)  # of a single shard there is one
    size = alphabet.size, n_symbols, by_weight, any(part.has_weights for part in parts)
    loop = _RemoteLoop(text, room, settings._replace(n_threads=n_parts), *size, n_parts)
    if checkpoint is not None:
        checkpoint.restore(loop)
    return loop.run(progress), text


class _RemoteLoop(Loop):
    """A loop that begins an epoch again after hosts were lost.

    It also moves hosts to workers that have joined.
    """

    text: RemoteText

    def _begin_epoch(self) -> None:
        self.state["elsewhere"] = 1
        text = self.text
        text.driver, text.task, text.has_begun = self.driver, self.task, True
        if text.checkpoint is not None:
            text.checkpoint.save(text)
        text.until_done(super()._begin_epoch, lost=text.engine.crowded())


class Checkpoint:
    """The checkpoint at a path or URL: its content, if it is of this build and these parameters.

    Later the content that is written.

    A fit that is continued makes its hosts from the same ranges of partitions, encodes these with the merges,
    and begins an epoch. The file also holds the beginnings of the tokens of each host, and the symbols after
    its part that belong to it. `cuts` are the first partition of each host and the number of partitions, once
    they are known. `found` are the arrays of the file, or None. ValueError for a file that is not a
    checkpoint, or is of another fit.
    """

    def __init__(self, url: Any, parameters: dict[str, Any]) -> None:
        self.store, self.path = store_of(url, "checkpoint")
        self.head, self._there, self.saved = dict[str, Any](), dict[str, Any](), time.monotonic()
        self.found: dict[str, np.ndarray] | None = None
        self.cuts: list[int] | None = None
        if self.store.exists(self.path):
            data = self.store.cat_file(self.path)
            try:
                with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
                    self.found = {name: arrays[name] for name in _NAMES}
                self._there = json.loads(self.found["head"].tobytes())
            except Exception as error:  # of a damaged archive there are many
                raise ValueError(f"checkpoint: {self.path}: not a checkpoint: {error}") from error
            self.cuts = self.found["cuts"].tolist()
        # in a fit without merges symbols are not counted either: it begins again
        self.has_merges = self.found is not None and self.found["learned"].shape[1] > 0
        self.agree(version=BUILD, **parameters)

    def agree(self, **about: Any) -> None:
        """Note facts of this fit, as JSON.

        ValueError, with the first difference, if the file is of another fit.
        """
        for name, value in about.items():
            self.head[name] = value
            if self.found is not None and (old := self._there.get(name)) != value:
                if isinstance(value, list) and isinstance(old, list) and len(old) == len(value):
                    at = next(i for i, (a, b) in enumerate(zip(old, value, strict=True)) if a != b)
                    name, old, value = f"{name}, partition {at}", old[at], value[at]
                raise ValueError(
                    f"checkpoint: {self.path}: was made with another {name}: {old}, now {value}. Remove the "
                    "file or use another."
                )

    def begins(self, text: RemoteText) -> tuple[np.ndarray, list[np.ndarray], list[np.ndarray]]:
        """The merges, and for each host the borders of its tokens, and the symbols after its part.

        Borders are in symbols of the part.
        """
        state = self.found
        assert state is not None
        starts, ends = state["starts"], state["tail_offsets"]
        ranges = [starts[h : h + 2] - text.origins[h] for h in range(len(text.parts))]
        tails = [state["tails"][ends[h] : ends[h + 1]] for h in range(len(text.parts))]
        return np.ascontiguousarray(state["learned"][:2].T.astype(np.int32)), ranges, tails

    def restore(self, loop: _RemoteLoop) -> None:
        """Let a loop that has not begun continue from the file."""
        state = self.found
        if state is None or not self.has_merges:
            return
        n, m = loop.n_alphabet, state["learned"].shape[1]
        loop.state["next_id"] = loop.state["round_start"] = n + m
        loop._grow(0, 0)
        for name, row in zip(_FIELDS, state["learned"], strict=True):
            loop.driver.learned[name][n : n + m] = row
        loop.driver.lengths[: n + m] = state["lengths"]
        loop.task.width[: n + m] = 1
        loop.text.symbol_counts, loop.text.counted = state["symbols"], True

    def save(self, text: RemoteText) -> None:
        """Write the merges of all whole rounds; a UserWarning if that fails, as the fit can continue."""
        state, n = text.driver.state[0], text.setup.alphabet.size
        end = int(state["next_id"] if state["candidates"] == 1 else state["round_start"])
        learned = text.driver.learned[n:end]
        tails = [np.array(text.taken_over(h), np.int32) for h in range(len(text.parts))]
        arrays: dict[str, np.ndarray] = {
            "head": np.frombuffer(json.dumps(self.head).encode(), np.uint8),
            "learned": np.stack([learned[name].astype(np.int64) for name in _FIELDS]),
            "lengths": text.driver.lengths[:end],
            "symbols": text.symbol_counts,
            "cuts": np.array(self.cuts, np.int64),
            "starts": text.starts[text.first],
            "tails": np.concatenate(tails),
            "tail_offsets": offsets_of(np.array([tail.size for tail in tails])),
        }
        data = npz_of(arrays)
        try:
            publish(self.store, self.path, lambda file: file.write(data))
        except Exception as error:
            warnings.warn(f"checkpoint: {self.path}: not written: {error}", stacklevel=2)
        self.saved = time.monotonic()


class RemoteText:
    """All shards of a fit whose hosts are elsewhere; parameters as `fit_remotely` has them.

    `loaded` are the answers of the hosts when they had loaded their parts, `losses` how often each host was
    lost.
    """

    driver: Driver
    task: Task
    scratch = 0

    def __init__(
        self, engine: DaskEngine, parts: Sequence[Part], setup: Setup, goes_on: Sequence[tuple[bool, bool]],
        checkpoint: Checkpoint | None = None,
    ) -> None:  # fmt: skip
        self.checkpoint, self.engine, self.parts, self.setup = checkpoint, engine, list(parts), setup
        self.number = 0  # of the last message of rounds
        self.losses = [0] * engine.n
        self.has_begun = False  # the driver and its task are known
        self.origins = offsets_of(np.array([part.n_symbols for part in self.parts]))
        resumed = checkpoint is not None and checkpoint.has_merges
        message = (
            ("resume", setup, *checkpoint.begins(self))
            if checkpoint is not None and resumed
            else ("load", setup)
        )
        self.loaded: list[Loaded] = self.until_done(lambda: self.engine.ask(*message))
        self.symbol_counts: np.ndarray = np.sum([answer.symbol_counts for answer in self.loaded], axis=0)
        # otherwise hosts have counted the last symbols of segments, and the first table of pairs has the
        # others
        self.counted = setup.alphabet.size > text_cells.DENSE
        sizes = [answer.state.size for answer in self.loaded]
        self.first = offsets_of(np.array(sizes))  # shard of each host
        self.k = k = int(self.first[-1])
        self.host_of = np.repeat(np.arange(len(sizes)), sizes)
        begins = [
            answer.at[:-1] + origin
            for answer, origin in zip(self.loaded, self.origins.tolist(), strict=False)
        ]
        self.starts = np.concatenate([*begins, self.origins[-1:]])
        self.passed: list[list[int]] = [[] for _ in range(len(sizes) + 1)]  # before host h, in order
        if checkpoint is not None and resumed:
            self.passed[1:] = [tail.tolist() for tail in checkpoint.begins(self)[2]]
        merges, i32, i64 = setup.merges, np.int32, np.int64
        base = np.zeros(k + 1, BASE)
        base["separators"][1:] = np.cumsum(np.concatenate([answer.segments for answer in self.loaded]) + 1)
        none = np.zeros(1, i32)
        # of `np.concatenate` the records would be shorter, and kernels compiled for these
        state = np.zeros(k, SHARD_STATE)
        state[:] = np.concatenate([answer.state for answer in self.loaded])
        self.shards = Shards(
            base=base, state=state, cells=none, separators=none,
            segment_of_block=none, arena=none, neighbours=none, delta=none, slices=np.zeros((k, 2), i32),
            counters=np.zeros((k, 3, 1), i32), cursors=np.zeros((k, 2, 1), i32),
            delta_end=np.zeros((k, 2 * merges + 1), i64),
            merged=np.zeros((k, merges), MERGED), dealt=none, dealt_end=np.zeros((k, 1), i64),
        )  # fmt: skip
        self._see_arenas([answer.arenas for answer in self.loaded])
        self.weighted: Weighted | None = None
        if setup.weighted:
            sums, merged = np.zeros((k, 2, 1), i64), np.zeros((k, merges), MERGED_BY_WEIGHT)
            self.weighted = Weighted(np.zeros(1, i64), none, sums, np.zeros(1, i64), merged)
        self.borders = self._borders(goes_on) if k > 1 else None
        # the last symbols of hosts are left parts of pairs across borders
        if self.borders is not None and not self.counted:
            left_of = np.empty(k, np.int64)
            left_neighbours(self.shards, self.borders, left_of)
            across = self.first[1:-1][left_of[self.first[1:-1]] >= 0]
            np.subtract.at(
                self.symbol_counts, self.shards.state["last"][left_of[across]], self.borders.weight[across]
            )

    def _borders(self, goes_on: Sequence[tuple[bool, bool]]) -> Borders:
        """The borders between all shards.

        Hosts set those inside them, `goes_on` those between them.
        """
        k, merges = self.k, self.setup.merges
        documents = np.concatenate([answer.documents for answer in self.loaded])
        weights = np.concatenate([answer.weights for answer in self.loaded])
        continued, joined = np.zeros(k + 1, bool), np.zeros(k + 1, bool)
        for answer, first, between in zip(self.loaded, self.first.tolist(), goes_on, strict=False):
            n = answer.state.size
            joined[first : first + n] = answer.inside[:n]
            continued[first + 1 : first + n] = (answer.documents[:-1, 1] == answer.documents[1:, 0]) & (
                answer.documents[1:, 0] >= 0
            )
            continued[first], joined[first] = between
        weight = np.ones(k + 1, np.int64)
        weight[1:k] = weights[:-1, 1]
        return borders_of(continued, joined, documents[:, 0] == documents[:, 1], weight, merges)

    def count_symbols(self) -> None:
        """See `Text`: before any merge; a host that is made again has not loaded its part."""
        if not self.counted:
            self.until_done(
                lambda: self.engine.ask("load", self.setup) and self.count_dense(self.setup.alphabet.size)
            )

    def count_dense(self, n_tokens: int) -> np.ndarray:
        """See `Text`."""
        first, *others = self.engine.ask("count_dense", n_tokens)
        total: np.ndarray = first.astype(np.int64, copy=False)
        for more in others:
            total += more.astype(np.int64, copy=False)  # as uint64 it would be added as floats
        left, right, weight = pairs_across(self.shards, self.borders)
        np.add.at(total, left * n_tokens + right, weight)
        if not self.counted:
            self.symbol_counts += total.reshape(n_tokens, n_tokens).sum(axis=1)
            self.counted = True
        return total

    def list_dense(self, n_tokens: int, pairs: np.ndarray, slots: np.ndarray) -> None:
        """See `Text`."""
        self.engine.ask("list_dense", n_tokens, pairs, slots)

    def sort_pairs(self, n_tokens: int) -> int:
        """See `Text`."""
        self._across, self._n_tokens = sorted_across(self.shards, self.borders), n_tokens
        return sum(self.engine.ask("sort_pairs", n_tokens))

    def count_sorted(self, threshold: int, floor: int) -> tuple[np.ndarray, np.ndarray, int]:
        """See `Text`."""
        # a pair that reaches the threshold reaches this in one host at least
        least = max(1, -(-threshold // self.engine.n))
        answers: list[tuple[np.ndarray, np.ndarray, int]] = self.engine.ask("count_sorted", least, floor)
        if self.k == 1:
            return answers[0]
        pairs = [*(answer[0] for answer in answers), self._across[0]]
        counts = [*(answer[1] for answer in answers), self._across[1]]
        ends = offsets_of(np.array([array.size for array in pairs]))
        lists = np.concatenate(pairs), np.concatenate(counts), ends[:-1].copy(), ends[1:]
        # rarer pairs were not counted: there may be some
        return *add_up(*lists, least, threshold, self._n_tokens), int(threshold > floor)

    def list_sorted(self, pairs: np.ndarray) -> np.ndarray:
        """See `Text`."""
        total: np.ndarray = np.sum(self.engine.ask("list_sorted", pairs), axis=0)
        add_across(total, pairs, self._across)
        return total

    def give_slots(self, slots: np.ndarray) -> None:
        """See `Text`."""
        self.engine.ask("give_slots", slots)

    def until_done(self, message: Callable[[], T], listed: bool = False, lost: Sequence[int] = ()) -> T:
        """As the function of this name; hosts that are made again have pairs `listed`, if there are any."""
        return until_done(message, lambda hosts: self.make_anew(hosts, listed), lost)

    def make_anew(self, hosts: list[int], listed: bool = False) -> None:
        """Make hosts again, with the merges of the others and pairs `listed` at their slots."""
        for h in hosts:
            self.losses[h] += 1
        self.engine.renew(hosts)
        for h in hosts:
            self._restore(h, listed)

    def _restore(self, h: int, listed: bool) -> None:
        part: Part = self.engine.tell(h, "part")
        if part != self.parts[h]:
            before = self.parts[h]
            raise RuntimeError(
                f"parts: {before.name or f'the part of host {h}'}: not the same when it was read again, as "
                f"a worker was lost ({part.n_symbols} symbols, before {before.n_symbols})"
            )
        if not self.has_begun:
            return
        first, last = self.first[h : h + 2].tolist()
        n, next_id, learned = (
            self.setup.alphabet.size,
            int(self.driver.state["next_id"][0]),
            self.driver.learned,
        )
        tail = self.taken_over(h)
        merges = np.stack([learned["left"][n:next_id], learned["right"][n:next_id]], axis=1).astype(np.int32)
        setup = self.setup._replace(n_shards=self.loaded[h].n_shards)
        starts = self.starts[first : last + 1] - self.origins[h]
        loaded: Loaded = self.engine.tell(h, "load", setup, merges, starts, np.array(tail, np.int32))
        self.shards.state[first:last] = loaded.state
        arenas = np.diff(self.shards.base["arena"])
        arenas[first:last] = loaded.arenas
        self._see_arenas([arenas])
        if listed:  # those of the batch included, ascending
            keys, slots = self.driver.entries[:, ::2].ravel(), self.driver.slots.ravel()
            there = np.flatnonzero(keys != EMPTY)
            there = there[slots[there] >= 0]
            task, n = self.task, int(self.task.batch["n"][0])
            pairs = np.concatenate([keys[there], task.left[:n].astype(np.int64) << 32 | task.right[:n]])
            slots = np.concatenate([slots[there], task.slot[:n].astype(np.int32)])
            order = np.argsort(pairs)
            self.engine.tell(h, "list_again", self.number, next_id, pairs[order], slots[order])

    def taken_over(self, h: int) -> list[int]:
        """Alphabet ids of the symbols of tokens that host h has taken over from those after it."""
        learned, tail, stack = self.driver.learned, [], self.passed[h + 1][::-1]
        while stack:
            if (token := stack.pop()) < self.setup.alphabet.size:
                tail.append(token)
            else:
                stack += [int(learned["right"][token]), int(learned["left"][token])]
        return tail

    def _see_arenas(self, arenas: Sequence[np.ndarray]) -> None:
        self.shards.base["arena"][1:] = np.cumsum(np.concatenate(arenas))

    def grow(self, tokens: int, slots: int) -> None:
        """See `Text`: hosts grow by themselves."""

    def compact(self, width: np.ndarray, shrink: bool, more_room: bool) -> None:
        """See `Text`; hosts always give back memory."""
        width[:] = 1
        answers = self.until_done(lambda: self.engine.ask("compact", more_room))
        np.concatenate([state for state, _ in answers], out=self.shards.state)
        self._see_arenas([arenas for _, arenas in answers])

    def rounds(self, driver: Driver, task: Task, ties: int | None, control: np.ndarray, threads: int) -> int:
        """See `Text`: the driver works here, batches are merged elsewhere.

        Returns every so often for progress.
        """
        self.driver, self.task = driver, task
        began = time.monotonic()
        while True:
            shared = driver, task, self.shards, self.weighted, self.borders
            reason = run_rounds(shared, ties, control, threads)
            if reason not in (rounds.BATCH, rounds.CROSSING):
                return reason
            if reason == rounds.CROSSING and not self._hand_over():
                return rounds.FULL
            self._merge()
            driver.state["stage"] = rounds.MERGED
            if self.checkpoint is not None and time.monotonic() - self.checkpoint.saved > EVERY:
                self.checkpoint.save(self)
            if time.monotonic() - began > _PAUSE:
                return rounds.PAUSE

    def _merge(self) -> None:
        """One batch, one synchronisation: hosts write the slices of the batch before, and merge."""
        task, row = self.task, self.task.batch[0]
        n = int(row["n"])
        batch = Batch(int(row["first_id"]), task.left[:n].copy(), task.right[:n].copy(), task.slot[:n].copy())
        if self.borders is not None:
            self.borders.before["first"], self.borders.before["last"] = (
                self.shards.state["first"],
                self.shards.state["last"],
            )
        answers: list[Stepped] = self._step(_fills(task), batch)
        shards, ends = self.shards, np.concatenate([part.delta_end for part in answers])
        shards.base["cells"][1:] = np.cumsum(ends[:, -1])
        shards.delta_end[:, : 2 * n + 1] = ends
        np.concatenate([part.merged for part in answers], out=shards.merged[:, :n])
        np.concatenate([part.state for part in answers], out=shards.state)
        room = 2 * int(shards.base["cells"][-1])
        if room > shards.delta.size:
            shards = self.shards = shards._replace(delta=np.empty(2 * room, np.int32))
        np.concatenate([part.delta for part in answers], out=shards.delta[:room])
        if self.weighted is not None:
            by_weight = np.concatenate([part.delta_by_weight for part in answers])
            self.weighted.merged[:, :n] = np.concatenate([part.merged_by_weight for part in answers])
            self.weighted = self.weighted._replace(delta=by_weight)
        row["filled"] = 0

    def _step(self, fills: Fills | None, batch: Batch | None) -> list[Any]:
        self.number += 1
        return self.until_done(lambda: self.engine.ask("step", self.number, fills, batch), listed=True)

    def _hand_over(self) -> bool:
        """Before a batch: hand over the tokens that it merges across borders.

        False if that needs a compacted text.
        """
        task = self.task
        if task.batch["filled"][0] > 0:  # a pair that is merged across a border is entered into its slice
            self._step(_fills(task), None)
            task.batch["filled"] = 0
        left_of, n = np.empty(self.k, np.int64), int(task.batch["n"][0])
        for k in range(1, self.k):
            left_neighbours(self.shards, self.borders, left_of)
            j = int(left_of[k])
            if j < 0:
                continue
            left, right = int(self.shards.state["last"][j]), int(self.shards.state["first"][k])
            matches = np.flatnonzero((task.left[:n] == left) & (task.right[:n] == right))
            if matches.size:
                done = self._tell(j, "take_over", int(task.slot[matches[0]]), right, left == right)
                if done < 0:
                    return False
                if done:
                    # note down that the first token of shard k has gone to shard j
                    self.starts[j + 1 : k + 1] = self.starts[k] + int(self.driver.lengths[right])
                    for host in range(int(self.host_of[j]) + 1, int(self.host_of[k]) + 1):
                        self.passed[host].append(right)
                    self._tell(k, "give_first")
        return True

    def _tell(self, k: int, method: str, *args: Any) -> int:
        """Send a message about shard k to its host, store the states of its shards; returns its answer."""
        host = int(self.host_of[k])
        first, last = self.first[host : host + 2].tolist()
        self.number += 1
        losses = self.losses[host]

        def tell() -> tuple[int, np.ndarray | None]:
            if method == "give_first" and self.losses[host] > losses:
                return 0, None  # the host was made again without the token
            answer: tuple[int, np.ndarray] = self.engine.tell(host, method, self.number, k - first, *args)
            return answer

        done, state = self.until_done(tell, listed=True)
        if state is not None:
            self.shards.state[first:last] = state
        return done


def until_done(
    message: Callable[[], T], make_anew: Callable[[list[int]], object], lost: Sequence[int] = ()
) -> T:
    """The answer to a message to hosts, repeated after lost hosts were made again.

    RuntimeError if that happens too often.
    """
    hosts = set(lost)
    for _ in range(_MOST_LOSSES):
        try:
            if hosts:
                make_anew(sorted(hosts))
            hosts = set()
            return message()
        except LostHostsError as error:
            reason, hosts = error, hosts | {*error.hosts}
    raise RuntimeError(
        f"fit: hosts were lost {_MOST_LOSSES} times in a row: {reason}; do their parts fit into memory?"
    )


def _fills(task: Task) -> Fills | None:
    """The new pairs of the last batch in a task, the lists of all parts as one.

    None if their slices are written.
    """
    n = int(task.batch["filled"][0])
    if n == 0:
        return None
    ends = task.new_end[:, : 2 * n + 1]
    first, left, twins = (
        int(task.batch["filled_first"][0]),
        task.filled_left[:n].copy(),
        task.twin_slot[:n].copy(),
    )
    sizes = np.diff(ends, axis=1)
    order = np.argsort(np.concatenate([np.repeat(np.arange(2 * n), row) for row in sizes]), kind="stable")
    token = np.concatenate([task.new_token[p, : ends[p, -1]] for p in range(len(ends))])[order]
    slot = np.concatenate([task.new_slot[p, : ends[p, -1]] for p in range(len(ends))])[order]
    return Fills(first, left, token, slot, offsets_of(sizes.sum(axis=0)), twins)
