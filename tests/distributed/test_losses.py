"""Hosts that are lost: at every message, again and again, while others are made anew; and what cannot be made good."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from remote_fits import InProcess, Losing, Place, Sizes, cut, here, remotely, same, settings_of

from ubpe_numba.distributed import remote_text
from ubpe_numba.distributed.host import Host
from ubpe_numba.distributed.hosts import LostHostsError
from ubpe_numba.distributed.remote_text import RemoteText, until_done
from ubpe_numba.documents.read import Corpus, as_corpus

Fate = Callable[[int, str, int], str | None]


def fate_at(numbers: Sequence[int], when: str) -> Fate:
    return lambda number, method, host: when if number in numbers else None


class Fit:
    """A small fit of a few hosts, with pairs handed over, epochs and everything else that has messages of its own."""

    def __init__(self, weights: bool, n_candidates: int, sizes: Sizes) -> None:
        rng = np.random.default_rng(4)
        # a run that is handed over piece by piece, a text, and a document that holds less than a host can
        # take over
        docs = [[0] * 19, [*rng.integers(0, 3, 12).tolist(), *[1, 2] * 6], [2, 1, 1, 2], []]
        places = [Place(0, True, 9), Place(0, True, 10), Place(1, True, 15)]
        given = [3, 2**33, 1, 5] if weights else None
        self.sizes, (self.parts, self.goes_on) = sizes, cut(docs, places, given)
        self.plan = settings_of(12, n_candidates, 1, 2, min_count=1)
        self.want = here(as_corpus(docs, sample_weight=given), 3, self.plan)

    def run(self, fate: Fate, kind: type[Losing] = Losing) -> tuple[RemoteText, Any]:
        """Fit, and hold the result equal to that of one process."""
        engine = kind(self.parts, fate)
        with pytest.MonkeyPatch.context() as patch:
            self.sizes.patch(patch)
            found, shards = remotely(engine, self.goes_on, 3, self.plan)
        same(found, self.want)
        return shards, engine


FITS = {
    "plain": (False, 1, Sizes()),
    "weighted": (True, 2, Sizes()),
    "epochs": (
        False,
        1,
        Sizes(dense=0, positions=1.03, batch=0, most=4, moves=True, room=2, one_epoch=False),
    ),
    "weighted epochs": (True, 1, Sizes(positions=1.03, batch=0, most=4, moves=True, room=1, one_epoch=False)),
}


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("name", FITS)
def test_a_loss_at_every_message(name: str, when: str) -> None:
    """Each host is lost once at each message that it gets, before it does what it is told or when it has done it."""
    fit = Fit(*FITS[name])
    undisturbed = fit.run(fate_at((), when))[1]
    wanted = (
        {"compact", "sort_pairs", "count_sorted", "list_sorted", "give_slots"}
        if name == "epochs"
        else {"list_dense"}
    )
    assert {method for method, _ in undisturbed.sent} >= {"load", "take_over", "give_first", "step"} | wanted
    for number in range(
        len(fit.parts) + (when == "after"), undisturbed.n_messages, 3 if "epochs" in name else 1
    ):
        shards, engine = fit.run(fate_at([number], when))
        assert sum(shards.losses) == engine.n_renewed == shards.losses[undisturbed.sent[number][1]] == 1


def test_a_host_that_shares_its_loss_with_the_giver_of_a_token() -> None:
    """The message to one host may tell of the loss of another one, and must reach the first nevertheless."""

    class Gossip(Losing):
        told: Any = ()

        def tell(self, k: int, method: str, *args: Any) -> Any:
            other = (k + 1) % self.n
            if method == "give_first" and (method, k) not in self.told:
                self.told = (*self.told, (method, k))
                self.hosts[other] = None
                raise LostHostsError([other])
            return super().tell(k, method, *args)

    shards, engine = Fit(*FITS["plain"]).run(fate_at((), ""), Gossip)
    assert sum(shards.losses) == len(engine.told) > 0


@pytest.mark.parametrize("docs, weights, boundaries", [
    ([[0, 1, 2, 0, 1, 2, 1], [1, 1]], [1, 2], None),  # longer
    ([[0, 1, 2, 0, 1, 1], [1, 1]], [1, 2], None),  # another symbol
    ([[0, 1, 2, 0], [1, 2, 1, 1]], [1, 2], None),  # cut elsewhere
    ([[0, 1, 2, 0, 1, 2], [1, 1]], [2, 1], None), ([[0, 1, 2, 0, 1, 2], [1, 1]], [1, 2], [[2], []]),
])  # fmt: skip
def test_a_part_that_is_another_one_when_it_is_read_again(docs: Any, weights: Any, boundaries: Any) -> None:
    first = as_corpus([[0, 1, 2, 0, 1, 2], [1, 1]], sample_weight=[1, 2])
    other: Corpus = as_corpus(docs, sample_weight=weights, boundaries=boundaries)
    for number in (2, 4, 8):  # before texts are loaded, and after that
        engine = Losing([as_corpus([[0, 1]]), first], fate_at([number + 1], "before"))
        engine.parts = [other, other]
        with pytest.raises(RuntimeError, match="the part of host 1: not the same when it was read again"):
            remotely(engine, [(False, False)] * 2, 3, settings_of(9, min_count=1))


def test_losses_without_end_are_an_error() -> None:
    # (2, 3) is merged across the cut
    parts, goes_on = cut([[0, 1, 0, 1, 2, 0, 1, 0, 1]], [Place(0, True, 5)])
    for message in (("load", 1), ("count_dense", 1), ("list_dense", 0), ("step", 1), ("take_over", 0)):
        engine = Losing(parts, lambda n, method, k, m=message: "before" if (method, k) == m else None)
        with pytest.raises(RuntimeError, match=rf"fit: .*lost.* host {message[1]}"):
            remotely(engine, goes_on, 3, settings_of(9, min_count=1))
        assert engine.n_renewed <= remote_text._MOST_LOSSES
    for method in ("part", "list_again"):  # while they are made anew
        engine = Losing(parts, lambda n, now, k, m=method: "before" if n > 9 and now in (m, "step") else None)
        with pytest.raises(RuntimeError, match=r"fit: .*lost .*times"):
            remotely(engine, goes_on, 3, settings_of(9, min_count=1))
        assert engine.n_renewed <= 2 * remote_text._MOST_LOSSES


def test_many_losses_of_different_messages_are_no_endless_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is of one message."""
    monkeypatch.setattr(remote_text, "_MOST_LOSSES", 5)
    steps = 0

    def every_other(number: int, method: str, host: int) -> str | None:
        nonlocal steps
        steps += (method, host) == ("step", 0)
        return "after" if (method, host) == ("step", 0) and steps % 2 else None

    shards, _ = Fit(*FITS["plain"]).run(every_other)
    assert sum(shards.losses) > remote_text._MOST_LOSSES


def test_losses_before_a_fit_begins() -> None:
    """Hosts are asked what they hold; one that is lost then, or that is lost again while it is made anew, is asked once more."""

    class Unsteady(Losing):
        n_failed = 0

        def renew(self, lost: Sequence[int]) -> None:
            """Not at the first attempt."""
            self.n_failed += 1
            if self.n_failed == 1:
                raise LostHostsError(lost, "no worker")
            super().renew(lost)

    parts = [as_corpus([[0, 1]]), as_corpus([[2]])]
    want = InProcess([Host(part) for part in parts]).ask("part")
    for kind in (Losing, Unsteady):
        for when in ("before", "after"):
            engine = kind(parts, fate_at([0, 3], when))
            assert until_done(lambda asked=engine: asked.ask("part"), engine.renew) == want
    hopeless = Unsteady(parts, fate_at(range(99), "before"))
    with pytest.raises(RuntimeError, match="10 times in a row: lost: host 0, host 1"):
        until_done(lambda: hopeless.ask("part"), hopeless.renew)
