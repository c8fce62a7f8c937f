"""How a driver talks to hosts in its own process, and what it is told of lost ones."""

from __future__ import annotations

import pickle

import pytest

from ubpe_numba.fitting.engine import InProcess, LostHostsError


class Adder:
    """A host that adds up what it is told."""

    def __init__(self) -> None:
        self.sum = 0

    def add(self, *numbers: int) -> int:
        """The sum of everything so far."""
        self.sum += sum(numbers)
        return self.sum


def test_messages_reach_hosts_in_order() -> None:
    engine = InProcess([Adder(), Adder(), Adder()])
    assert engine.n == 3
    assert engine.ask("add", 1, 2) == [3, 3, 3]
    assert engine.ask("add", each=[(1,), (), (5, 5)]) == [4, 3, 13]
    assert engine.tell(1, "add", 4) == 7
    assert engine.ask("add") == [4, 7, 13]


def test_hosts_of_this_process_are_not_made_anew() -> None:
    with pytest.raises(LostHostsError, match="host 0, host 2: they are in this process") as caught:
        InProcess([Adder(), Adder(), Adder()]).renew([0, 2])
    assert caught.value.hosts == [0, 2]


def test_lost_hosts_are_named_and_travel() -> None:
    error = LostHostsError([3, 1], "killed")
    assert str(error) == "lost: host 3, host 1: killed"
    assert str(LostHostsError([0])) == "lost: host 0"
    again = pickle.loads(pickle.dumps(error))
    assert (again.hosts, again.reason, str(again)) == ([3, 1], "killed", str(error))
