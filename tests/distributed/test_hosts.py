"""Messages to hosts on workers: answers, exceptions, workers that are killed, a scheduler that is gone, Ctrl-C."""

import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

import dask
import numpy as np
import pytest
from echo_host import Echo, left_on
from polling import eventually
from tables import refuses

from ubpe_numba.distributed import hosts
from ubpe_numba.distributed.hosts import DaskEngine, LostHostsError


def made_of(n: int) -> list[Any]:
    return [dask.delayed(Echo)(k) for k in range(n)]


@pytest.fixture
def engine(client: Any) -> Iterator[DaskEngine]:
    made = DaskEngine(client, made_of(3))  # more than workers
    yield made
    made.close()
    assert eventually(lambda: not left_on(client))


def test_answers_come_in_order_of_hosts(engine: DaskEngine) -> None:
    assert engine.direct == set(engine.where)  # the client reaches every worker itself
    assert engine.ask("hear", 1, "two") == [(k, (1, "two")) for k in range(3)] and engine.tell(1, "hear") == (
        1,
        (),
    )
    assert engine.ask("heard_so_far") == [1, 2, 1]  # nothing is delivered twice
    assert len(set(engine.ask("process"))) == 2  # both workers
    assert engine.rounds == 4
    engine.close()
    refuses(LostHostsError, "", engine.ask, "hear")


@pytest.mark.parametrize(
    "size, through_scheduler", [(0, False), (3_001, True), (600_000, False), (600_000, True)]
)
def test_arrays_arrive_aligned_and_writable(engine: DaskEngine, size: int, through_scheduler: bool) -> None:
    if through_scheduler:
        engine.direct.clear()
    values, sent, received = np.arange(size), engine.sent, engine.received
    for k, found in enumerate(engine.ask("add_own", values)):  # hosts of one worker share no array
        np.testing.assert_array_equal(found, values + k)
        assert found.flags.writeable and found.flags.aligned and found.ctypes.data % 16 == 0
    assert all(0 <= n - 3 * values.nbytes < 1000 for n in (engine.sent - sent, engine.received - received))
    several = np.arange(size, dtype=np.int32), np.full(size, 3, np.uint8), values
    for _, got in engine.ask("hear", *several):
        for a, b in zip(got, several, strict=True):
            np.testing.assert_array_equal(a, b)
            assert a.ctypes.data % 16 == 0
    values.setflags(write=False)
    assert engine.ask("read_only", values) == [True] * 3


def test_the_first_exception_is_raised_when_all_have_answered(engine: DaskEngine) -> None:
    with pytest.raises(ValueError, match="host") as caught:
        engine.ask("fail", 1, 2)
    assert type(caught.value) is ValueError and caught.value.args == ("host", 1)
    assert "raise ValueError" in caught.value.__notes__[0]
    refuses(AttributeError, "no_such_method", engine.ask, "no_such_method")
    refuses(Exception, "pickle", engine.ask, "hear", lambda: None)
    assert engine.ask("fail") == [0, 1, 2]


def test_a_host_that_cannot_be_made(client: Any) -> None:
    def broken(number: int) -> Echo:
        raise OSError("the partition cannot be read", number)

    refuses(
        OSError,
        "the partition cannot be read",
        lambda: DaskEngine(client, [dask.delayed(Echo)(0), dask.delayed(broken)(1)]),
    )
    assert eventually(lambda: not left_on(client))


@pytest.mark.parametrize("through_scheduler", [False, True])
def test_workers_killed_between_calls_and_in_them(mortal: Any, through_scheduler: bool) -> None:
    engine = DaskEngine(mortal, made_of(2))
    for which in ((1,), (0, 1)):
        if through_scheduler:
            engine.direct.clear()
        with pytest.raises(LostHostsError) as caught:
            engine.ask("die", *which)
        assert caught.value.hosts == list(which)
        engine.renew(caught.value.hosts)
        assert engine.ask("fail") == [0, 1]
        assert len(set(engine.ask("process"))) == 2  # not on the worker of the other
    engine.ask("hear")
    os.kill(engine.tell(0, "process"), signal.SIGKILL)
    with pytest.raises(LostHostsError) as caught:
        engine.ask("hear")
    assert caught.value.hosts == [0]
    engine.renew([0])
    assert engine.ask("heard_so_far") == [0, 2]  # one made anew, one has answered
    engine.close()
    assert eventually(lambda: not left_on(mortal))


def test_machines_that_are_gone_without_a_word_and_no_worker_at_all(
    mortal: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scheduler knows, the connections of the client stay open."""
    monkeypatch.setattr(hosts, "LOOK", 0.1)
    monkeypatch.setattr(hosts, "_PATIENCE", 0.5)
    monkeypatch.setattr(hosts, "_RETURN", 0.1)
    engine = DaskEngine(mortal, made_of(2))

    def gone() -> None:
        for where in engine.where:
            mortal.cluster.sync(
                mortal.cluster.scheduler.remove_worker, where, stimulus_id="test", close=False
            )

    threading.Timer(0.3, gone).start()
    with pytest.raises(LostHostsError) as caught:
        engine.ask("sleep", 60)
    assert caught.value.hosts == [0, 1]
    mortal.cluster.scale(0)
    assert eventually(lambda: not mortal.scheduler_info(n_workers=-1)["workers"])
    refuses(RuntimeError, "has had no worker for", engine.renew, caught.value.hosts)
