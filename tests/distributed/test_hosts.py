"""Messages to hosts on workers: answers, exceptions, workers that are killed, a scheduler that is gone, Ctrl-C."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from echo_host import Echo
from polling import eventually

pytest.importorskip("distributed")

import dask

from ubpe_numba.distributed import hosts
from ubpe_numba.distributed.hosts import DaskEngine
from ubpe_numba.distributed.messages import LostHostsError

pytestmark = pytest.mark.xdist_group("cluster")


def made_of(n: int) -> list[Any]:
    return [dask.delayed(Echo)(k) for k in range(n)]


def kill(engine: DaskEngine, k: int) -> None:
    os.kill(engine.tell(k, "process"), signal.SIGKILL)


def left_on_workers(client: Any) -> list[Any]:
    def found(dask_worker: Any) -> list[Any]:
        return [*dask_worker.state.actors, *dask_worker.data]

    return [key for keys in client.run(found).values() for key in keys]


@pytest.fixture
def engine(client: Any) -> Iterator[DaskEngine]:
    made = DaskEngine(client, made_of(3))  # more than workers
    yield made
    made.close()


def test_answers_come_in_order_of_hosts(engine: DaskEngine) -> None:
    assert engine.n == 3
    assert engine.direct == set(engine.where)  # the client reaches every worker itself
    assert engine.ask("hear", 1, "two") == [(k, (1, "two")) for k in range(3)]
    assert engine.tell(1, "hear") == (1, ())
    assert engine.ask("heard_so_far") == [1, 2, 1]  # nothing is delivered twice
    assert len(set(engine.ask("process"))) == 2  # both workers


@pytest.mark.parametrize("through_scheduler", [False, True])
@pytest.mark.parametrize("size", [0, 7, 3_001, 600_000])
def test_arrays_arrive_aligned_and_writable(engine: DaskEngine, size: int, through_scheduler: bool) -> None:
    if through_scheduler:
        engine.direct.clear()
    values = np.arange(size)
    for found in engine.ask("add_one", values):
        np.testing.assert_array_equal(found, values + 1)
        assert found.flags.writeable
        assert found.flags.aligned
    np.testing.assert_array_equal(values, np.arange(size))
    several = np.arange(size, dtype=np.int32), np.full(size, 3, np.uint8), np.arange(size)
    for _, got in engine.ask("hear", *several, (several, None)):
        for a, b in zip((*got[:3], *got[3][0]), (*several, *several), strict=True):
            np.testing.assert_array_equal(a, b)
            assert a.ctypes.data % 8 == 0
    values.setflags(write=False)
    assert engine.ask("read_only", values) == [True] * 3


def test_bytes_are_counted(engine: DaskEngine) -> None:
    sent, received, rounds = list(engine.sent), list(engine.received), engine.rounds
    engine.tell(2, "hear", np.zeros(100_000))
    assert engine.sent[:2] == sent[:2]
    assert engine.received[:2] == received[:2]
    assert 800_000 < engine.sent[2] - sent[2] < 801_000
    assert 800_000 < engine.received[2] - received[2] < 801_000
    engine.ask("hear", np.zeros(1000))
    assert 8000 < engine.sent[1] - sent[1] < 9000
    assert engine.rounds == rounds + 2


def test_the_first_exception_is_raised_when_all_have_answered(engine: DaskEngine) -> None:
    with pytest.raises(ValueError, match="host") as caught:
        engine.ask("fail", 1, 2)
    assert type(caught.value) is ValueError
    assert caught.value.args == ("host", 1)
    assert "raise ValueError" in caught.value.__notes__[0]
    assert engine.ask("fail") == [0, 1, 2]


def test_what_cannot_be_pickled_is_an_exception(engine: DaskEngine) -> None:
    with pytest.raises(RuntimeError, match="OddError: 1 and 2"):
        engine.ask("fail_oddly")
    with pytest.raises(Exception, match="pickle"):
        engine.ask("answer_oddly")
    with pytest.raises(AttributeError, match="no_such_method"):
        engine.ask("no_such_method")
    with pytest.raises(Exception, match="pickle"):
        engine.ask("hear", lambda: None)
    assert engine.ask("fail") == [0, 1, 2]


def test_a_host_that_cannot_be_made(client: Any) -> None:
    def broken(number: int) -> Echo:
        raise OSError("the partition cannot be read", number)

    with pytest.raises(OSError, match="the partition cannot be read"):
        DaskEngine(client, [dask.delayed(Echo)(0), dask.delayed(broken)(1)])
    assert eventually(lambda: not left_on_workers(client))


def test_close_leaves_nothing_on_the_workers(client: Any) -> None:
    assert eventually(lambda: not left_on_workers(client))
    made = DaskEngine(client, made_of(2))
    assert made.ask("fail") == [0, 1]
    assert len(left_on_workers(client)) == 2
    made.close()
    made.close()
    assert eventually(lambda: not left_on_workers(client))
    with pytest.raises(LostHostsError):
        made.ask("fail")


def test_a_worker_killed_between_calls(mortal: Any) -> None:
    engine = DaskEngine(mortal, made_of(2))
    for which in (1, 0):
        kill(engine, which)
        began = time.monotonic()
        with pytest.raises(LostHostsError) as caught:
            engine.ask("hear")
        assert time.monotonic() - began < 20
        assert caught.value.hosts == [which]
        assert engine.tell(1 - which, "fail") == 1 - which  # the other is still there, and has answered
        engine.renew(caught.value.hosts)
        assert engine.ask("fail") == [0, 1]
        assert engine.ask("heard_so_far")[which] == 0  # made anew
        assert len(set(engine.ask("process"))) == 2  # not on the worker of the other
    engine.close()
    assert eventually(lambda: not left_on_workers(mortal))


@pytest.mark.parametrize("through_scheduler", [False, True])
def test_a_worker_killed_during_a_call(mortal: Any, through_scheduler: bool) -> None:
    engine = DaskEngine(mortal, made_of(2))
    if through_scheduler:
        engine.direct.clear()
    with pytest.raises(LostHostsError) as caught:
        engine.ask("die", 0)
    assert caught.value.hosts == [0]
    engine.renew([0])
    assert engine.ask("fail") == [0, 1]
    engine.ask("hear")
    with pytest.raises(LostHostsError) as caught:
        engine.ask("die", 0, 1)  # both
    assert caught.value.hosts == [0, 1]
    engine.renew([0, 1])
    assert engine.ask("fail") == [0, 1]


def test_a_connection_that_says_nothing_any_more(mortal: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine is gone without a word: the scheduler knows, the connection of the client stays open."""
    monkeypatch.setattr(hosts, "LOOK", 0.1)
    engine = DaskEngine(mortal, made_of(2))
    addresses = list(engine.where)
    waiting = threading.Event()
    found: list[Any] = []

    def call() -> None:
        waiting.set()
        try:
            engine.ask("sleep", 60)
        except LostHostsError as lost:
            found.extend(lost.hosts)

    thread = threading.Thread(target=call)
    thread.start()
    waiting.wait()
    time.sleep(0.3)
    scheduler = mortal.cluster.scheduler
    mortal.cluster.sync(scheduler.remove_worker, addresses[1], stimulus_id="test", close=False)
    mortal.cluster.sync(scheduler.remove_worker, addresses[0], stimulus_id="test", close=False)
    thread.join(20)
    assert not thread.is_alive()
    assert found == [0, 1]


def test_no_worker_at_all(mortal: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosts, "_PATIENCE", 0.5)
    monkeypatch.setattr(hosts, "_RETURN", 0.1)
    engine = DaskEngine(mortal, made_of(2))
    mortal.cluster.scale(0)
    assert eventually(lambda: not mortal.scheduler_info(n_workers=-1)["workers"])
    with pytest.raises(LostHostsError) as caught:
        engine.ask("hear")
    with pytest.raises(RuntimeError, match="has had no worker for"):
        engine.renew(caught.value.hosts)


def test_a_scheduler_that_is_gone(mortal: Any) -> None:
    engine = DaskEngine(mortal, made_of(2))
    address = mortal.scheduler.address
    mortal.cluster.close()
    with pytest.raises(ConnectionError, match=address):
        engine.ask("hear")
    with pytest.raises(ConnectionError, match=address):
        engine.renew([0])
    engine.close()


def test_ctrl_c_comes_through_at_once(client: Any) -> None:
    engine = DaskEngine(client, made_of(2))
    timer = threading.Timer(0.5, lambda: signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT))
    began = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        engine.ask("sleep", 8)
    assert time.monotonic() - began < 6
    engine.close()
    assert eventually(lambda: not left_on_workers(client))
