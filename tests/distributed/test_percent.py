"""Progress of a fit in the terminal, and as tasks that Dask's dashboard shows."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("distributed")

from ubpe_numba import BPE
from ubpe_numba.distributed import fit
from ubpe_numba.distributed.cluster import Percent
from ubpe_numba.runtime.messages import Progress

pytestmark = pytest.mark.xdist_group("cluster")


class FakeClient:
    """Remembers what is submitted."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    def map(self, function: Any, items: Any, key: list[str]) -> list[Any]:
        """Note the keys down."""
        assert [function(i) for i in items] == [i > 0 for i in items]
        self.keys += key
        return list(key)


@pytest.mark.parametrize("total", [0, 1, 7, 100, 101, 30_000])
def test_a_task_for_each_hundredth(total: int) -> None:
    client = FakeClient()
    shown = Percent(Progress(False), client)  # type: ignore[arg-type]
    shown.start(256, 256 + total)
    for done in range(0, total, max(1, total // 13)):
        shown.update(256 + done, 3)
        assert len(client.keys) == 100 * done // total
    shown.finish(256 + total)
    assert len(set(client.keys)) == 100
    assert all(key.startswith("ubpe-percent-") for key in client.keys)
    assert len(shown.futures) == 100


def test_more_than_was_wanted() -> None:
    client = FakeClient()
    shown = Percent(Progress(False), client)  # type: ignore[arg-type]
    shown.start(4, 8)
    shown.update(12, 1)  # a whole round goes past the end
    shown.finish(12)
    assert len(client.keys) == 100


def tasks_of_percent(dask_scheduler: Any) -> int:
    return sum("ubpe-percent" in str(key) for key in dask_scheduler.tasks)


def test_the_bar_and_the_tasks_of_a_fit(client: Any, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    update = Percent.update

    def noted(self: Any, done: int, count: int) -> None:
        update(self, done, count)
        seen.append(
            client.run_on_scheduler(lambda dask_scheduler: sum("ubpe-percent" in str(key) for key in dask_scheduler.tasks))
        )

    monkeypatch.setattr(Percent, "update", noted)
    monkeypatch.setattr("ubpe_numba.distributed.remote_text._PAUSE", 0)
    docs = np.random.default_rng(1).integers(0, 9, (20, 300))
    fit(BPE(60), [docs[:10], docs[10:]], client, progress=True)
    shown = capsys.readouterr().err
    assert "fit" in shown
    assert "60" in shown
    assert seen == sorted(seen)
    assert 0 < seen[-1] <= 100
    fit(BPE(60), [docs[:10], docs[10:]], client, progress=False)
    assert capsys.readouterr().err == ""


def test_the_terminal_is_told_what_the_dashboard_is() -> None:
    told: list[tuple[Any, ...]] = []

    class Terminal(Progress):
        """Remembers what it is told."""

        def start(self, done: int, total: int) -> None:
            told.append(("start", done, total))

        def update(self, done: int, count: int) -> None:
            told.append(("update", done, count))

        def finish(self, done: int) -> None:
            told.append(("finish", done))

    shown = Percent(Terminal(False), FakeClient())  # type: ignore[arg-type]
    shown.start(4, 8)
    shown.update(6, 3)
    shown.finish(7)
    assert told == [("start", 4, 8), ("update", 6, 3), ("finish", 7)]
