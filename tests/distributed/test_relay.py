"""Messages to many hosts, passed on by the first of each group: answers, sums, exceptions, losses, and whole fits."""

import os
import signal
import threading
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from echo_host import Echo
from polling import eventually

pytest.importorskip("distributed")

import dask
import dask.array

from ubpe_numba import BPE
from ubpe_numba.distributed import fit, fitting, hosts
from ubpe_numba.distributed.hosts import DaskEngine
from ubpe_numba.distributed.messages import LostHostsError
from ubpe_numba.distributed.relay import HostActor, pack

pytestmark = pytest.mark.xdist_group("cluster")

N = 22  # hosts, in groups that begin with these:
LEADS = [0, 5, 11, 16]


def add_up(method: str, answers: list[Any]) -> list[Any]:
    if method == "spoil":
        raise ArithmeticError(f"{len(answers)} answers")
    return [sum(answers)] if method == "number_of" else answers


def engine_of(client: Any, n: int = N) -> DaskEngine:
    return DaskEngine(client, [dask.delayed(Echo)(k) for k in range(n)], add_up)


def hosts_beside(engine: DaskEngine, k: int) -> list[int]:
    """All hosts in the process of host k."""
    processes = engine.ask("process")
    return [i for i in range(engine.n) if processes[i] == processes[k]]


@pytest.fixture(scope="module")
def engine(client: Any) -> Iterator[DaskEngine]:
    made = engine_of(client)
    yield made
    made.close()


def test_groups_are_consecutive_and_even(client: Any, engine: DaskEngine) -> None:
    assert [group.start for group in engine._groups] == LEADS
    assert [k for group in engine._groups for k in group] == list(range(N))
    few = engine_of(client, 16)
    assert [len(group) for group in few._groups] == [1] * 16
    assert few.ask("number_of") == list(range(16))  # nothing is added up
    few.close()


@pytest.mark.parametrize("through_scheduler", [False, True])
def test_answers_come_in_order_of_hosts(client: Any, through_scheduler: bool) -> None:
    engine = engine_of(client)
    if through_scheduler:
        engine.direct.clear()
    sent, received = list(engine.sent), list(engine.received)
    large = np.arange(10_000)
    for k, (number, args) in enumerate(engine.ask("hear", 1, large)):
        assert (number, args[0]) == (k, 1)
        np.testing.assert_array_equal(args[1], large)
    grown = [
        [after > before for after, before in zip(*way, strict=True)] for way in ((engine.sent, sent), (engine.received, received))
    ]
    assert grown == [[k in LEADS for k in range(N)]] * 2
    assert engine.tell(7, "hear") == (7, ())
    assert engine.ask("heard_so_far") == [2 if k == 7 else 1 for k in range(N)]  # nothing is delivered twice
    assert len(set(engine.ask("process"))) == 2
    engine.close()


def test_answers_are_added_up_in_their_groups(engine: DaskEngine) -> None:
    assert engine.ask("number_of") == [sum(group) for group in engine._groups]
    assert engine.tell(7, "number_of") == 7
    with pytest.raises(ArithmeticError, match="5 answers"):
        engine.ask("spoil")


def test_hosts_of_one_worker_share_no_array(engine: DaskEngine) -> None:
    for size in (3, 100_000):
        for k, found in enumerate(engine.ask("add_own", np.zeros(size, np.int64))):
            assert (found == k).all()
            assert found.flags.aligned


@pytest.mark.parametrize("which", [(5,), (6, 12), (4, 5), (21,), tuple(range(N))])
def test_the_first_exception_is_raised(engine: DaskEngine, which: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="host") as caught:
        engine.ask("fail", *which)
    assert caught.value.args == ("host", which[0])
    assert "raise ValueError" in caught.value.__notes__[0]
    assert engine.ask("fail") == list(range(N))
    with pytest.raises(AttributeError, match="no_such_method"):
        engine.ask("no_such_method")


@pytest.mark.parametrize("which", [5, 7, 21])
def test_one_host_is_gone(client: Any, monkeypatch: pytest.MonkeyPatch, which: int) -> None:
    """Its worker is still there, and so are all others, the first of a group among them."""
    monkeypatch.setattr(hosts, "_RETURN", 0.1)
    engine = engine_of(client)
    actor = engine._actors[which]
    assert actor is not None
    actor.release()
    key = actor.key
    assert eventually(lambda: not any(client.run(lambda dask_worker: key in dask_worker.state.actors).values()))
    for _ in range(2):
        with pytest.raises(LostHostsError) as caught:
            engine.ask("hear")
        assert caught.value.hosts == [which]
    engine.renew([which])
    assert engine.ask("number_of") == [sum(group) for group in engine._groups]
    engine.close()


@pytest.mark.parametrize("which", [0, 1])
def test_a_worker_killed_during_a_call(mortal: Any, which: int) -> None:
    engine = engine_of(mortal)
    lost = hosts_beside(engine, which)
    assert 1 < len(lost) < N
    engine.ask("hear")
    with pytest.raises(LostHostsError) as caught:
        engine.ask("die", which)
    assert caught.value.hosts == lost
    engine.renew(lost)
    assert engine.ask("heard_so_far") == [int(k not in lost) for k in range(N)]
    assert engine.ask("number_of") == [sum(group) for group in engine._groups]
    with pytest.raises(LostHostsError) as caught:
        engine.ask("die", *range(N))  # everywhere
    assert caught.value.hosts == list(range(N))
    engine.renew(caught.value.hosts)
    assert engine.ask("fail") == list(range(N))
    engine.close()


def test_a_worker_killed_between_calls(mortal: Any) -> None:
    engine = engine_of(mortal)
    for which in (7, 0):
        lost = hosts_beside(engine, which)
        os.kill(engine.tell(which, "process"), signal.SIGKILL)
        with pytest.raises(LostHostsError) as caught:
            engine.ask("hear")
        assert caught.value.hosts == lost
        engine.renew(lost)
        assert engine.ask("fail") == list(range(N))
    engine.close()


def test_a_machine_that_says_nothing_any_more(mortal: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scheduler knows, the connections stay open: those of the driver, and those of the first of a group."""
    monkeypatch.setattr(hosts, "LOOK", 0.1)
    monkeypatch.setattr(hosts, "_RETURN", 0.1)
    engine = engine_of(mortal)
    lost, address = hosts_beside(engine, 7), engine.where[7]
    waiting = threading.Event()
    found: list[Any] = []

    def call() -> None:
        waiting.set()
        try:
            engine.ask("sleep", 60.0, lost)
        except LostHostsError as error:
            found.extend(error.hosts)

    thread = threading.Thread(target=call)
    thread.start()
    waiting.wait()
    time.sleep(0.3)
    mortal.cluster.sync(mortal.cluster.scheduler.remove_worker, address, stimulus_id="test", close=False)
    thread.join(20)
    assert not thread.is_alive()
    assert found == lost
    engine.renew(lost)
    assert engine.ask("fail") == list(range(N))


def test_a_scheduler_that_is_gone(mortal: Any) -> None:
    engine = engine_of(mortal)
    address = mortal.scheduler.address
    mortal.cluster.close()
    with pytest.raises(ConnectionError, match=address):
        engine.ask("hear")
    engine.close()
    with pytest.raises(ConnectionError, match=address):
        engine.ask("hear")


def test_ctrl_c_comes_through_at_once(client: Any) -> None:
    engine = engine_of(client)
    timer = threading.Timer(0.5, lambda: signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT))
    began = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        engine.ask("sleep", 4.0, [0, 7])
    assert time.monotonic() - began < 3.5
    engine.close()


def test_what_was_given_up_is_not_delivered_late() -> None:
    host = Echo(3)
    actor, message = HostActor(host), pack(("hear", ()))
    assert actor.answer(5, message).open() == (True, (3, ()))
    assert actor.answer(5, message).open() == (True, (3, ()))
    fine, error = actor.answer(4, message).open()
    assert not fine
    assert "given up" in str(error)
    assert host.heard == 2


def test_a_large_partition_in_memory_is_no_reason_for_a_warning(client: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        engine = DaskEngine(client, [dask.delayed(Echo)(0, np.zeros(2_000_000))])
    assert engine.ask("fail") == [0]
    engine.close()


# -------------------------------------------------------------------------------------------------- fits


def documents(joined: bool) -> tuple[Any, Any]:
    """Documents as they are fitted here, and in partitions."""
    rng = np.random.default_rng(8)
    if joined:
        values = rng.integers(0, 5, 3000)
        values[1000:1500] = 2  # a run across several borders
        return [values], dask.array.from_array(values, chunks=100)
    parts = [[rng.integers(0, 5, size).tolist() for size in rng.integers(0, 60, 4)] for _ in range(40)]
    return [doc for part in parts for doc in part], parts


@pytest.mark.parametrize("joined", [False, True])
def test_a_fit_with_many_hosts(client: Any, monkeypatch: pytest.MonkeyPatch, joined: bool) -> None:
    monkeypatch.setattr(fitting, "check_workers", lambda client, told: {str(i): {"memory_limit": 0} for i in range(30)})
    here, there = documents(joined)
    want = BPE(60).fit(here)
    found = fit(BPE(60), there, client, progress=False)
    assert found.fingerprint == want.fingerprint
    for a, b in zip(found.history_, want.history_, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("joined", [False, True])
def test_a_fit_that_loses_many_hosts_at_once(mortal: Any, monkeypatch: pytest.MonkeyPatch, joined: bool) -> None:
    monkeypatch.setattr(fitting, "check_workers", lambda client, told: {str(i): {"memory_limit": 0} for i in range(30)})
    here, there = documents(joined)
    ask, steps = DaskEngine.ask, 0

    def ask_or_kill(self: DaskEngine, method: str, *args: Any) -> list[Any]:
        nonlocal steps
        steps += method == "step"
        if method == "step" and steps == 6:
            os.kill(next(iter(mortal.run(os.getpid).values())), signal.SIGKILL)
        return ask(self, method, *args)

    monkeypatch.setattr(DaskEngine, "ask", ask_or_kill)
    found = fit(BPE(60), there, mortal, progress=False)
    assert steps > 7
    assert found.fingerprint == BPE(60).fit(here).fingerprint
