"""Corpora cut into parts anywhere, hosts of these parts in this process, and engines that lose them: for tests of remote fits."""

import pickle
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

from ubpe_numba import FitRules
from ubpe_numba.distributed import remote_text
from ubpe_numba.distributed.host import Host
from ubpe_numba.distributed.hosts import LostHostsError
from ubpe_numba.distributed.remote_text import RemoteText, fit_remotely
from ubpe_numba.documents.read import Corpus, as_corpus
from ubpe_numba.fitting import fit, text
from ubpe_numba.fitting.fit import Merges, Settings
from ubpe_numba.fitting.kernels import text_cells
from ubpe_numba.runtime.messages import Progress
from ubpe_numba.vocabulary.alphabet import Alphabet

Docs = Sequence[Sequence[int]]


class Place(NamedTuple):
    """Where documents are cut: before a document, or inside it, where it goes on in the next part."""

    document: int
    inside: bool = False
    position: int = 0


def cut(
    docs: Docs,
    places: Sequence[Place],
    weights: Sequence[int] | None = None,
    boundaries: Docs | None = None,
    plain: bool = False,
) -> tuple[list[Corpus], list[tuple[bool, bool]]]:
    """Documents in parts, and which of these begin with the rest of a document, as for `fit_remotely`.

    They are cut at places; no token crosses one that is at a boundary.

    `plain`: parts of which all documents weigh 1, or have no boundaries, have no weights, or no boundaries.

    >>> found = cut([[1, 2, 3], [4]], [Place(0, True, 2)])
    >>> [part.values.tolist() for part in found[0]], found[1]
    ([[1, 2], [3, 4]], [(False, False), (True, True)])
    """
    parts, goes_on = [], [(False, False)]
    begin, first = 0, 0  # a document, and a position in it
    for place in [*sorted(places), Place(len(docs))]:
        end, inside, last = place
        inside = inside and end < len(docs) and (weights is None or weights[end] > 0)
        pieces, own = [], []
        for d in range(begin, end + inside):
            a, b = first if d == begin else 0, last if inside and d == end else len(docs[d])
            pieces.append(list(docs[d][a:b]))
            own.append([p - a for p in boundaries[d] if a <= p <= b] if boundaries is not None else [])
        weight = None if weights is None else list(weights[begin : end + inside])
        if plain and weight is not None and all(w == 1 for w in weight):
            weight = None
        marked = boundaries is not None and pieces and not (plain and not any(own))
        parts.append(as_corpus(pieces, sample_weight=weight, boundaries=own if marked else None))
        crossed = boundaries is None or not inside or last not in boundaries[end]
        goes_on.append((inside, inside and (crossed or not 0 < last < len(docs[end]))))
        begin, first = end, last if inside else 0
    return parts, goes_on[:-1]


class Sizes(NamedTuple):
    """Sizes that tests make small, so that small corpora come to what only large ones do."""

    dense: int = 1024  # tokens whose pairs are counted in a table
    positions: float = 1.6  # in an arena, a cell
    batch: int = 1 << 16  # occurrences that are merged at once
    most: int = 1 << 16  # pairs that are kept
    moves: bool = False  # texts move to shorter arrays, however short they are
    room: int = 64  # cells at the end of a shard
    one_epoch: bool = True  # a small text is listed at once
    near: int = 10**9  # a shard begins where a segment does within its size by this

    def patch(self, patch: pytest.MonkeyPatch) -> None:
        """Set them."""
        patch.setattr(text_cells, "DENSE", self.dense)
        patch.setattr(text, "_POSITIONS", self.positions)
        patch.setattr(fit, "_SMALL", self.batch)
        patch.setattr(fit, "_FEW_PAIRS", self.most)
        patch.setattr(text, "ROOM", self.room)
        patch.setattr(text, "_NEAR", self.near)
        if self.moves:
            patch.setattr(text, "_LARGE", 0)
            patch.setattr(text, "_SHORT", 1)
        if not self.one_epoch:
            patch.setattr(fit, "_ONE_EPOCH", 0)
            patch.setattr(fit, "_ONE_EPOCH_WEIGHTED", 0)


def remotely(
    engine: Any,
    goes_on: Sequence[tuple[bool, bool]] | None,
    size: int,
    plan: Settings,
    checkpoint: Any = None,
) -> tuple[Merges, RemoteText]:
    """The fit of the parts of an engine, symbols 0 to `size` - 1."""
    return fit_remotely(
        engine, engine.ask("part"), Alphabet.dense(size), plan, Progress(False), goes_on, checkpoint
    )


def here(corpus: Corpus, size: int, plan: Settings) -> Merges:
    """The fit of the whole corpus in one piece, in this process."""
    return fit.fit(corpus, Alphabet.dense(size), plan._replace(n_shards=1, n_threads=1), Progress(False))


def same(found: Merges, want: Merges) -> None:
    """Assert that two fits are equal in every field, their types too."""
    for name, a, b in zip(Merges._fields, found, want, strict=True):
        assert np.array_equal(a, b), name
        assert np.asarray(a).dtype == np.asarray(b).dtype, name
    assert np.array_equal(found.occurrences(), want.occurrences())


def settings_of(
    n_tokens: int, n_candidates: int = 1, n_threads: int = 1, n_shards: int | None = 1, **rules: Any
) -> Settings:
    """Settings of a small fit."""
    longest = rules.pop("max_token_length", None) or 2**62
    return Settings(n_tokens, n_candidates, FitRules(**rules), n_threads, longest, n_shards)


class InProcess:
    """Hosts in this process, one after the other; each works on threads of its own."""

    def __init__(self, hosts: Sequence[Any]) -> None:
        self.hosts = list(hosts)
        self.n = len(self.hosts)

    def ask(self, method: str, *args: Any) -> list[Any]:
        """See `DaskEngine`."""
        return [getattr(host, method)(*args) for host in self.hosts]

    def tell(self, k: int, method: str, *args: Any) -> Any:
        """See `DaskEngine`."""
        return getattr(self.hosts[k], method)(*args)

    def crowded(self) -> list[int]:
        """See `DaskEngine`."""
        return []

    def renew(self, lost: Sequence[int]) -> None:
        """See `DaskEngine`."""
        raise LostHostsError(lost, "they are in this process")


class Losing(InProcess):
    """Hosts in this process that share no memory with their driver, and are lost when it is asked for.

    parts: of which hosts are made, again and again; fate: asked before every message with its number, its
    method and the host, "before": the host is lost before it gets the message, "after": when it has done it;
    `sent`: method and host of every message, those to lost hosts too.
    """

    def __init__(
        self, parts: Sequence[Corpus], fate: Callable[[int, str, int], str | None], n_threads: int = 1
    ) -> None:
        self.parts, self.fate, self.n_threads = list(parts), fate, n_threads
        self.n_messages = self.n_renewed = 0
        self.sent: list[tuple[str, int]] = []
        super().__init__([Host(part, n_threads, index=k) for k, part in enumerate(self.parts)])

    def ask(self, method: str, *args: Any) -> list[Any]:
        """See `DaskEngine`: all hosts that are not lost do what the message says."""
        found, lost = [], []
        for k in range(self.n):
            try:
                found.append(self.tell(k, method, *args))
            except LostHostsError:
                lost.append(k)
        if lost:
            raise LostHostsError(lost)
        return found

    def tell(self, k: int, method: str, *args: Any) -> Any:
        """See `DaskEngine`."""
        number, self.n_messages = self.n_messages, self.n_messages + 1
        self.sent.append((method, k))
        fate = None if self.hosts[k] is None else self.fate(number, method, k)
        if self.hosts[k] is None or fate == "before":
            self.hosts[k] = None
            raise LostHostsError([k])
        answer = _sent(super().tell(k, method, *_sent(args)))
        if fate == "after":
            self.hosts[k] = None
            raise LostHostsError([k])
        return answer

    def renew(self, lost: Sequence[int]) -> None:
        """Make them anew."""
        for k in lost:
            self.hosts[k] = Host(self.parts[k], self.n_threads, index=k)
            self.n_renewed += 1


def _sent(value: Any) -> Any:
    """What arrives elsewhere: nothing is shared with what was sent."""
    return pickle.loads(pickle.dumps(value, protocol=5))


def chaos(
    rng: np.random.Generator, rate: float, n_hosts: int, most: int = 30
) -> Callable[[int, str, int], str | None]:
    """A fate by chance: this part of all messages, but the first, and no more than `most` of them, lose their hosts."""
    left = most

    def fate(number: int, method: str, host: int) -> str | None:
        nonlocal left
        if number < n_hosts or left == 0 or rng.random() >= rate:
            return None
        left -= 1
        return ("before", "after")[int(rng.integers(2))]

    return fate


def endless(patch: pytest.MonkeyPatch) -> None:
    """Let fits go on whatever they lose."""
    patch.setattr(remote_text, "_MOST_LOSSES", 1000)
