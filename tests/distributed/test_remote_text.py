"""Fits whose shards are on hosts elsewhere: bit for bit the same as in one process, wherever documents are cut between hosts."""

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from fit_cases import corpora
from hypothesis import example, given, strategies as st
from reference import fit as reference
from remote_fits import (
    InProcess,
    Losing,
    Place,
    Sizes,
    chaos,
    cut,
    endless,
    here,
    remotely,
    same,
    settings_of,
)

from ubpe_numba.distributed import remote_text
from ubpe_numba.distributed.host import Host
from ubpe_numba.distributed.remote_text import fit_remotely
from ubpe_numba.documents.read import as_corpus
from ubpe_numba.fitting import fit, text
from ubpe_numba.runtime.messages import Progress
from ubpe_numba.vocabulary.alphabet import Alphabet


class Case(NamedTuple):
    """A fit to compare."""

    docs: list[list[int]]
    size: int
    places: list[Place]
    rules: dict[str, Any]  # and other arguments of the reference
    weights: list[int] | None = None
    boundaries: list[list[int]] | None = None
    plain: bool = False
    n_shards: int = 1  # a host
    n_threads: int = 1
    sizes: Sizes = Sizes()


RULES = {"n_tokens": 9, "n_candidates": 1, "min_count": 1, "overshoot": False, "max_token_length": None}


@st.composite
def cases(draw: st.DrawFn) -> Case:
    docs, size = draw(corpora())
    rules = {
        "n_tokens": size + draw(st.integers(0, 40)), "n_candidates": draw(st.sampled_from([1, 1, 2, 5, 50, 500])),
        "min_count": draw(st.sampled_from([1, 2, 3])), "overshoot": draw(st.booleans()),
        "max_token_length": draw(st.sampled_from([None, None, 1, 2, 3])),
    }  # fmt: skip
    weights = draw(
        st.none() | st.lists(st.sampled_from([0, 1, 2, 2**33]), min_size=len(docs), max_size=len(docs))
    )
    boundaries = draw(
        st.sampled_from([None, [draw(st.lists(st.integers(0, len(d)), max_size=3)) for d in docs]])
    )
    places = []
    for _ in range(draw(st.sampled_from([0, 1, 1, 2, 2, 3, 5]))):
        d = draw(st.integers(0, len(docs)))
        if d == len(docs) or draw(st.integers(0, 3)) == 0:
            places.append(Place(d))
        else:
            near_boundary = (
                [p + s for p in boundaries[d] for s in (-1, 0, 1) if 0 <= p + s <= len(docs[d])]
                if boundaries
                else []
            )
            position = st.sampled_from(near_boundary) if near_boundary else st.nothing()
            places.append(Place(d, True, draw(position | st.integers(0, len(docs[d])))))
    sizes = Sizes(
        dense=draw(st.sampled_from([1024, 1024, 0])), positions=draw(st.sampled_from([1.6, 1.03])),
        batch=draw(st.sampled_from([0, 10, 10**6])), most=draw(st.sampled_from([4, 1 << 16])), moves=draw(st.booleans()),
        room=draw(st.sampled_from([64, 1, 2])), one_epoch=draw(st.booleans()), near=draw(st.sampled_from([16, 10**9])),
    )  # fmt: skip
    pieces = draw(st.booleans()), draw(st.sampled_from([1, 1, 2, 3, 7])), draw(st.sampled_from([1, 2, 3]))
    return Case(docs, size, places, rules, weights, boundaries, *pieces, sizes)


CUTS = [Place(0, True, p) for p in (1, 2, 3, 20, 40)]
ENDS = [Place(0, True, 31), Place(1), Place(1, True), Place(2)]


@given(cases(), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.0, 0.01, 0.05, 0.2]))
@example(Case([[0] * 41], 1, CUTS, RULES), 0, 0.0)
@example(Case([[0] * 41], 1, CUTS, RULES, n_shards=7, sizes=Sizes(dense=0)), 0, 0.0)
@example(Case([[0, 1] * 30, []], 2, ENDS, RULES, [2**33, 1], n_shards=3), 0, 0.0)
@example(
    Case([[0, 1, 2] * 9], 3, [Place(0, True, 9), Place(0, True, 9), Place(0, True, 10)], RULES, None, [[9]]),
    0,
    0.0,
)
def test_hosts_equal_one_process_and_the_reference(case: Case, seed: int, rate: float) -> None:
    """Whole documents, cut ones and empty parts of them, with weights and boundaries; runs, periods, emptied shards.

    At a rate hosts are lost: several at once, before and after they did their part, and while others are made
    anew.
    """
    rules = dict(case.rules)
    plan = settings_of(
        rules.pop("n_tokens"), rules.pop("n_candidates"), case.n_threads, case.n_shards, **rules
    )
    parts, goes_on = cut(case.docs, case.places, case.weights, case.boundaries, case.plain)
    whole = as_corpus(
        case.docs, sample_weight=case.weights, boundaries=case.boundaries if case.docs else None
    )
    with pytest.MonkeyPatch.context() as patch:
        want = here(whole, case.size, plan)
        case.sizes.patch(patch)
        endless(patch)
        engine = Losing(parts, chaos(np.random.default_rng(seed), rate, len(parts)), case.n_threads)
        found, shards = remotely(engine, goes_on, case.size, plan)
    same(found, want)
    assert sum(shards.losses) == engine.n_renewed
    merges, _ = reference.fit(
        case.docs, case.size, **case.rules, weights=case.weights, boundaries=case.boundaries
    )
    assert found.pairs.tolist() == [[m.left, m.right] for m in merges] and found.counts.tolist() == [
        m.count for m in merges
    ]
    assert found.documents.tolist() == [m.documents for m in merges]


@pytest.mark.parametrize("nature", ["zipf", "dna", "period"])
def test_large_corpora_on_hosts(nature: str) -> None:
    """Hundreds of merges over several epochs, in one document that is cut, and in many; some hosts are lost on the way."""
    rng = np.random.default_rng(5)
    n = 20_000
    values = {
        "zipf": np.minimum(rng.zipf(1.2, n), 5000),
        "dna": rng.integers(0, 4, n),
        "period": np.tile(rng.integers(0, 9, 37), 540),
    }[nature]
    size = int(values.max()) + 1
    for docs, n_candidates in (
        ([values], 1),
        (np.split(values, np.sort(rng.integers(0, values.size, 50))), 20),
    ):
        half = len(docs) // 2
        parts, goes_on = cut(
            [doc.tolist() for doc in docs],
            [Place(half, True, len(docs[half]) // 2), Place(len(docs) - 1, True, 3)],
        )
        want = here(as_corpus(docs), size, settings_of(size + 200, n_candidates))
        engine = Losing(parts, chaos(rng, 0.01, len(parts)))
        same(remotely(engine, goes_on, size, settings_of(size + 200, n_candidates, 2, 3))[0], want)


def test_hosts_have_as_many_shards_as_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the size of their parts; a host that is made anew where there are other threads has as many as before."""
    monkeypatch.setattr(fit, "_PER_SHARD", 10)
    doc = np.random.default_rng(1).integers(0, 3, 90).tolist()
    parts, goes_on = cut([doc], [Place(0, True, 60)])
    plan = settings_of(20, n_shards=None)

    class Smaller(Losing):
        def renew(self, lost: Sequence[int]) -> None:
            """With one thread."""
            self.n_threads = 1
            super().renew(lost)

    engine = Smaller(parts, lambda number, method, host: "before" if number == 12 else None, n_threads=3)
    found, shards = remotely(engine, goes_on, 3, plan)
    same(found, here(as_corpus([doc]), 3, plan))
    assert [a.n_shards for a in shards.loaded] == [3, 3] and sum(shards.losses) == 1


def test_interrupts_and_errors_go_through() -> None:
    """Ctrl-C while a message is on its way, and what a host raises; no thread is left that waits."""
    doc = np.random.default_rng(1).integers(0, 3, 100).tolist()
    parts, goes_on = cut([doc], [Place(0, True, 30), Place(0, True, 65)])
    plan = settings_of(16, n_threads=2, n_shards=2)
    undisturbed = Losing(parts, lambda number, method, host: None)
    remotely(undisturbed, goes_on, 3, plan)
    threads = threading.active_count()
    for number in range(3, undisturbed.n_messages, 4):
        for error in (KeyboardInterrupt, MemoryError):

            def raises(
                now: int, method: str, host: int, at: int = number, error: type[BaseException] = error
            ) -> None:
                if now == at:
                    raise error

            with pytest.raises(error):
                remotely(Losing(parts, raises), goes_on, 3, plan)
    assert threading.active_count() <= threads


def test_pauses_for_progress_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver may return to Python after every batch, and shows how far it has come."""
    doc = np.random.default_rng(1).integers(0, 3, 200).tolist()
    parts, goes_on = cut([doc], [Place(0, True, 60)])
    plan = settings_of(30, 5)
    monkeypatch.setattr(remote_text, "_PAUSE", -1.0)
    monkeypatch.setattr(text, "BUDGET", 1)
    seen: list[int] = []

    class Seen(Progress):
        def update(self, size: int, count: int) -> None:
            """Note down the size."""
            seen.append(size)

    engine = InProcess([Host(part, 1) for part in parts])
    found, _ = fit_remotely(engine, engine.ask("part"), Alphabet.dense(3), plan, Seen(False), goes_on)
    same(found, here(as_corpus([doc]), 3, plan))
    assert seen == sorted(seen) and len(set(seen)) > 3
