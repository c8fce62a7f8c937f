"""Results as they finish, errors with a name, and what happens when workers, the scheduler or the user stop."""

import os
import signal
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from dask import delayed
from polling import eventually
from tables import refuses

from ubpe_numba.distributed.cluster import reaching, results, using
from ubpe_numba.errors import UnknownSymbolError


def _twice(i: int) -> int:
    return 2 * i


def _fail(error: Exception) -> None:
    raise error


def _die_once(path: str) -> int:
    """Kill the process the first time that a task does this."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return 7
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _work_a_while(begun: str) -> None:
    Path(begun).touch()
    time.sleep(1)


def _tasks(n: int) -> list[Any]:
    return [delayed(_twice, pure=False)(i, dask_key_name=f"ubpe-test-{uuid4().hex}-{i}") for i in range(n)]


def test_every_result_comes_once_with_its_index(client: Any, capsys: pytest.CaptureFixture[str]) -> None:
    found = sorted(results(client, _tasks(20), [str(i) for i in range(20)], True, "counting"))
    assert found == [(i, 2 * i) for i in range(20)]
    shown = capsys.readouterr().err
    assert "counting" in shown and "20" in shown and list(results(client, [], [], False, "test")) == []


@pytest.mark.parametrize("error, message", [
    (ValueError("no column"), "b.parquet: no column"),
    (UnknownSymbolError(3, 4, "x"), "b.parquet: document 3, position 4: symbol 'x' is not in the alphabet"),
    (OSError(28, "No space left on device", "/t/part"), "[Errno 28] b.parquet: No space left on device: '/t/part'"),
])  # fmt: skip
def test_an_error_of_a_task_keeps_its_class_and_gets_a_name(
    client: Any, error: Exception, message: str
) -> None:
    bad = delayed(_fail, pure=False)(error)
    with pytest.raises(type(error)) as raised:
        list(results(client, [*_tasks(2), bad], ["a", "c", "b.parquet"], False, "test"))
    assert str(raised.value) == message and getattr(raised.value, "position", None) == getattr(
        error, "position", None
    )


def test_a_task_that_kills_its_worker_is_done_by_another_or_one_error(mortal: Any, tmp_path: Path) -> None:
    tasks = [*_tasks(4), delayed(_die_once, pure=False)(str(tmp_path / "died"))]
    assert sorted(results(mortal, tasks, list("abcde"), False, "test")) == [
        (0, 0),
        (1, 2),
        (2, 4),
        (3, 6),
        (4, 7),
    ]
    assert (tmp_path / "died").exists()
    with pytest.raises(RuntimeError, match="^x: 4 workers died while they ran it, the last at tcp://"):
        list(results(mortal, [delayed(_die, pure=False)()], ["x"], False, "test"))


def test_what_is_not_done_is_cancelled(client: Any, tmp_path: Path) -> None:
    begun = [str(tmp_path / str(i)) for i in range(30)]
    long = [delayed(_work_a_while, pure=False)(path) for path in begun]
    first = results(client, [*_tasks(1), *long], list(map(str, range(31))), False, "test")
    assert next(first) == (0, 0) and eventually(lambda: any(map(os.path.exists, begun)))
    first.close()
    assert eventually(lambda: not any(client.processing().values()))
    assert sorted(results(client, _tasks(4), list("abcd"), False, "test")) == [(0, 0), (1, 2), (2, 4), (3, 6)]


def test_a_client_is_checked() -> None:
    from distributed import Client

    with Client(processes=False, n_workers=1, dashboard_address=":0", set_as_default=False) as client:
        pass
    with (
        pytest.raises(ConnectionError, match="^client: the scheduler at .* cannot be reached"),
        using(client),
    ):
        pass


def test_a_dead_scheduler_is_one_error_soon(mortal: Any) -> None:
    waiting = results(mortal, [delayed(abs)(-7), delayed(time.sleep)(9)], ["a", "b"], False, "test")
    assert next(waiting) == (0, 7)
    address = mortal.scheduler.addr
    mortal.cluster.close()
    refuses(ConnectionError, f"^client: the scheduler at {address} cannot be reached", next, waiting)
    with pytest.raises(ConnectionError), reaching(mortal):
        mortal.run(os.getpid)
