"""A fit whose shards live on hosts elsewhere: the driver is here, a synchronisation a batch of merges."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ubpe_numba.documents.counts import MOST
from ubpe_numba.fitting.all_shards import AllShards
from ubpe_numba.fitting.engine import Engine
from ubpe_numba.fitting.kernels import rounds
from ubpe_numba.fitting.loop import CorpusSize, Loop, Merges, Room, Settings
from ubpe_numba.fitting.messages import Part, Setup
from ubpe_numba.fitting.remote_shards import RemoteShards
from ubpe_numba.fitting.run_rounds import run_rounds
from ubpe_numba.runtime.messages import Progress
from ubpe_numba.vocabulary.alphabet import Alphabet

_PAUSE = 0.1  # seconds between two looks at the progress


def fit_remotely(
    engine: Engine,
    parts: Sequence[Part],
    alphabet: Alphabet,
    settings: Settings,
    progress: Progress,
    goes_on: Sequence[tuple[bool, bool]] | None = None,
    near: int | None = None,
) -> tuple[Merges, RemoteShards]:
    """Learn merges from the parts of a corpus that hosts hold; the same as `learn.fit` learns of the whole corpus.

    Parameters
    ----------
    engine
        Of n hosts (host.py) that have not loaded their parts.
    parts
        What they told of them.
    alphabet, settings, progress
        As for `learn.fit`; no memory limit, and ties go to the smaller pair.
    goes_on
        Of each host, whether its first document is the last one of the host before, and whether tokens may stand across the
        border between the two. None: no document is cut.
    near
        As for `shards.cut`.

    Returns
    -------
    The merges, and the shards, which know how many synchronisations and losses there were.

    Raises
    ------
    ValueError
        For rules that only a fit in one process has, and for 2**62 symbols or more, before any work.
    RuntimeError
        If hosts are lost again and again, or the part of a lost one is not the same any more.

    Notes
    -----
    One synchronisation a batch of merges, and up to seven an epoch.
    """
    check_rules(settings)
    if max(sum(part.by_weight for part in parts), sum(part.n_documents for part in parts)) >= MOST:
        raise ValueError("sample_weight: expected less than 2**62 symbols and documents in all, by weight")
    size = CorpusSize(
        sum(part.n_symbols for part in parts),
        sum(part.by_weight for part in parts),
        sum(part.n_symbols + part.n_segments + 1 for part in parts),
        any(part.has_weights for part in parts),
    )
    room = Room.of(size, alphabet.size, settings, 1)
    setup = Setup(alphabet, any(part.weighted for part in parts), room.merges, settings.n_shards, near)
    shards = RemoteShards(engine, parts, setup, [(False, False)] * engine.n if goes_on is None else goes_on)
    return _RemoteLoop(shards, size, room, settings).run(progress), shards


def check_rules(settings: Settings) -> None:
    """ValueError for what only a fit in one process has."""
    if settings.rules.ties != "smallest":
        raise ValueError(
            f"rules: ties={settings.rules.ties!r} is decided by a look at the text, which a distributed fit does not have in one "
            "place; use ties='smallest', or fit on one machine"
        )


class _RemoteLoop(Loop):
    """The driver of such a fit."""

    def __init__(self, shards: RemoteShards, size: CorpusSize, room: Room, settings: Settings) -> None:
        self.remote = shards
        symbol_counts = shards.symbol_counts
        n_parts = min(settings.n_threads, shards.k)  # of a single shard there is one
        settings = settings._replace(n_threads=n_parts)
        everything = AllShards(shards.ask, shards.engine.n, shards, shards.borders, symbol_counts)
        super().__init__(everything, size, symbol_counts.size, room, settings, n_parts, None)
        self.state["elsewhere"] = 1
        shards.driver, shards.task = self.driver, self.task

    def _rounds(self) -> int:
        """Rounds, the batches of which are merged elsewhere; back for progress every so often."""
        began = time.monotonic()
        while (reason := self._driver_alone()) in (rounds.BATCH, rounds.CROSSING):
            if reason == rounds.CROSSING and not self.remote.hand_over(self.task):
                return rounds.FULL
            self.remote.merge(self.task)
            self.state["stage"] = rounds.MERGED
            if time.monotonic() - began > _PAUSE:
                return rounds.PAUSE
        return reason

    def _driver_alone(self) -> int:
        """What the driver does before or after a batch; returns why it stopped."""
        shared = self.driver, self.task, self.remote.shards, self.remote.weighted, self.remote.borders
        return run_rounds(shared, None, self.control, self.threads)

    def _begin_epoch(self) -> None:
        self.remote.until_done(super()._begin_epoch)

    def _compact(self, more_room: bool) -> None:
        self.task.width[:] = 1
        self.remote.compact(more_room)

    def _grow(self, need: int, listed: int) -> None:
        super()._grow(need, listed)
        self.remote.driver, self.remote.task = self.driver, self.task
