"""Fits whose shards are on hosts elsewhere: bit for bit the same as in one process, wherever documents are cut between hosts."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from fit_cases import corpora
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference import fit as reference
from remote_fits import Cut, InProcess, Losing, Place, Sizes, chaos, cut, endless, here, remotely, same, settings_of

from ubpe_numba.distributed import remote_text
from ubpe_numba.distributed.host import Host
from ubpe_numba.distributed.remote_text import fit_remotely
from ubpe_numba.documents.read import as_corpus
from ubpe_numba.errors import UnknownSymbolError
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
    near: int | None = 10**9


RULES = {"n_tokens": 9, "n_candidates": 1, "min_count": 1, "overshoot": False, "max_token_length": None}


@st.composite
def cases(draw: st.DrawFn) -> Case:
    docs, size = draw(corpora())
    rules = {
        "n_tokens": size + draw(st.integers(0, 40)),
        "n_candidates": draw(st.sampled_from([1, 1, 2, 5, 50, 500])),
        "min_count": draw(st.sampled_from([1, 2, 3])),
        "overshoot": draw(st.booleans()),
        "max_token_length": draw(st.sampled_from([None, None, 1, 2, 3])),
    }
    weights = draw(st.none() | st.lists(st.sampled_from([0, 1, 2, 2**33]), min_size=len(docs), max_size=len(docs)))
    boundaries = draw(st.sampled_from([None, [draw(st.lists(st.integers(0, len(d)), max_size=3)) for d in docs]]))
    places = []
    for _ in range(draw(st.sampled_from([0, 1, 1, 2, 2, 3, 5]))):
        d = draw(st.integers(0, len(docs)))
        if d == len(docs) or draw(st.integers(0, 3)) == 0:
            places.append(Place(d))
        else:
            near_boundary = [p + s for p in boundaries[d] for s in (-1, 0, 1) if 0 <= p + s <= len(docs[d])] if boundaries else []
            position = st.sampled_from(near_boundary) if near_boundary else st.nothing()
            places.append(Place(d, True, draw(position | st.integers(0, len(docs[d])))))
    sizes = Sizes(
        dense=draw(st.sampled_from([1024, 1024, 0])),
        positions=draw(st.sampled_from([1.6, 1.03])),
        batch=draw(st.sampled_from([0, 10, 10**6])),
        most=draw(st.sampled_from([4, 1 << 16])),
        moves=draw(st.booleans()),
        room=draw(st.sampled_from([64, 1, 2])),
        one_epoch=draw(st.booleans()),
    )
    pieces = draw(st.booleans()), draw(st.sampled_from([1, 1, 2, 3, 7])), draw(st.sampled_from([1, 2, 3]))
    return Case(docs, size, places, rules, weights, boundaries, *pieces, sizes, draw(st.sampled_from([None, 10**9])))


def cut_and_planned(case: Case) -> tuple[Cut, Any]:
    rules = dict(case.rules)
    plan = settings_of(rules.pop("n_tokens"), rules.pop("n_candidates"), case.n_threads, case.n_shards, **rules)
    return cut(case.docs, case.places, case.weights, case.boundaries, case.plain), plan


def whole(case: Case) -> Any:
    return as_corpus(case.docs, sample_weight=case.weights, boundaries=case.boundaries if case.docs else None)


@given(cases())
@example(Case([[0] * 41], 1, [Place(0, True, p) for p in (1, 2, 3, 20, 40)], RULES))
@example(Case([[0] * 41], 1, [Place(0, True, p) for p in (1, 2, 3, 20, 40)], RULES, n_shards=7, sizes=Sizes(dense=0)))
@example(Case([[0, 1] * 30, []], 2, [Place(0, True, 31), Place(1), Place(1, True), Place(2)], RULES, [2**33, 1], n_shards=3))
@example(Case([[0, 1, 2] * 9], 3, [Place(0, True, 9), Place(0, True, 9), Place(0, True, 10)], RULES, None, [[9]]))
@settings(max_examples=120)
def test_hosts_equal_one_process_and_the_reference(case: Case) -> None:
    """Whole documents, cut ones and empty parts of them, with weights and boundaries; runs, periods, emptied shards."""
    (parts, goes_on), plan = cut_and_planned(case)
    with pytest.MonkeyPatch.context() as patch:
        want = here(whole(case), case.size, plan)
        case.sizes.patch(patch)
        engine = InProcess([Host(part, case.n_threads) for part in parts])
        found, _ = remotely(engine, goes_on, case.size, plan, case.near)
    same(found, want)
    merges, _ = reference.fit(case.docs, case.size, **case.rules, weights=case.weights, boundaries=case.boundaries)
    assert found.pairs.tolist() == [[m.left, m.right] for m in merges]
    assert found.counts.tolist() == [m.count for m in merges]
    assert found.documents.tolist() == [m.documents for m in merges]


@given(cases(), st.integers(0, 2**32 - 1), st.sampled_from([0.01, 0.05, 0.2]), st.integers(1, 3))
@settings(max_examples=120)
def test_losses_at_random_change_nothing(case: Case, seed: int, rate: float, together: int) -> None:
    """Several hosts at once, before and after they did their part, and while others are made anew; answers that are added up."""
    (parts, goes_on), plan = cut_and_planned(case)
    with pytest.MonkeyPatch.context() as patch:
        want = here(whole(case), case.size, plan)
        case.sizes.patch(patch)
        endless(patch)
        engine = Losing(parts, chaos(np.random.default_rng(seed), rate, len(parts)), case.n_threads, together)
        found, shards = remotely(engine, goes_on, case.size, plan, case.near)
    same(found, want)
    assert sum(shards.losses) == engine.n_renewed


# ------------------------------------------------------------------------------------------------ single cases


@pytest.mark.parametrize("nature", ["zipf", "dna", "one symbol", "period", "large alphabet"])
@pytest.mark.parametrize("n_candidates", [1, 20])
def test_large_corpora_on_hosts(nature: str, n_candidates: int) -> None:
    """Hundreds of merges over several epochs, in one document that is cut, and in many; some hosts are lost on the way."""
    rng = np.random.default_rng(5)
    n = 20_000
    values = {
        "zipf": np.minimum(rng.zipf(1.3, n), 200),
        "dna": rng.integers(0, 4, n),
        "one symbol": np.zeros(n, np.int64),
        "period": np.tile(rng.integers(0, 9, 37), n // 37),
        "large alphabet": np.minimum(rng.zipf(1.2, n), 5000),
    }[nature]
    size = int(values.max()) + 1
    for docs in ([values], np.split(values, np.sort(rng.integers(0, values.size, 50)))):
        lists = [doc.tolist() for doc in docs]
        half = len(docs) // 2
        parts, goes_on = cut(lists, [Place(half, True, len(lists[half]) // 2), Place(len(docs) - 1, True, 3)])
        want = here(as_corpus(docs), size, settings_of(size + 200, n_candidates))
        for n_threads, n_shards in ((1, 1), (2, 3)):
            engine = Losing(parts, chaos(rng, 0.01, len(parts)))
            found, _ = remotely(engine, goes_on, size, settings_of(size + 200, n_candidates, n_threads, n_shards))
            same(found, want)


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
    assert [a.n_shards for a in shards.loaded] == [3, 3]
    assert sum(shards.losses) == 1


def test_nothing_to_learn_from() -> None:
    for docs in ([], [[]], [[], []], [[0]]):
        for places in ([], [Place(0)], [Place(len(docs)), Place(len(docs))]):
            parts, goes_on = cut(docs, places)
            found, _ = remotely(InProcess([Host(part, 1) for part in parts]), goes_on, 3, settings_of(9))
            same(found, here(as_corpus(docs), 3, settings_of(9)))
            assert found.symbols.tolist() == [docs == [[0]], 0, 0]


@pytest.mark.parametrize("ties", ["first_seen", "fewest_documents"])
def test_rules_that_need_the_text_are_refused(ties: str) -> None:
    engine = Losing([as_corpus([[0, 1]])], lambda number, method, host: None)
    with pytest.raises(ValueError, match=f"rules: ties='{ties}' .* use ties='smallest', or fit on one machine"):
        remotely(engine, None, 2, settings_of(9, ties=ties))
    assert engine.sent == [("part", 0)]  # before any work


def test_symbols_outside_the_alphabet() -> None:
    parts = [as_corpus([[0, 1], [1, 2]]), as_corpus([[1, 0], [0, 1, 7, 0]])]
    with pytest.raises(UnknownSymbolError) as caught:
        remotely(InProcess([Host(part, 1) for part in parts]), None, 3, settings_of(9))
    assert (caught.value.document, caught.value.position) == (1, 2)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_interrupts_and_errors_go_through(n_threads: int) -> None:
    """Ctrl-C while a message is on its way, and what a host raises; no thread is left that waits."""
    doc = np.random.default_rng(1).integers(0, 3, 100).tolist()
    parts, goes_on = cut([doc], [Place(0, True, 30), Place(0, True, 65)])
    plan = settings_of(16, n_threads=n_threads, n_shards=2)
    undisturbed = Losing(parts, lambda number, method, host: None)
    remotely(undisturbed, goes_on, 3, plan)
    threads = threading.active_count()
    for number in range(3, undisturbed.n_messages, 3):
        for error in (KeyboardInterrupt, MemoryError):

            def raises(now: int, method: str, host: int, at: int = number, error: type[BaseException] = error) -> None:
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
    assert seen == sorted(seen)
    assert len(set(seen)) > 3
