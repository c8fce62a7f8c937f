"""The fuzzing of the lower bound reports a bound that is wrong."""

from __future__ import annotations

from typing import Any

import pytest
from fuzz import fuzz_bounds
from fuzz.fuzz_bounds import fuzz, make


@pytest.mark.parametrize("more, message", [(1, "tokens do|above the programme"), (-10, "far below")])
def test_a_wrong_bound_is_found_and_can_be_made_again(
    monkeypatch: pytest.MonkeyPatch, more: int, message: str
) -> None:
    right = fuzz_bounds.bound_of_units

    def wrong(*args: Any) -> Any:
        found = right(*args)
        return found._replace(tokens=found.tokens + more * (found.tokens > 0))

    monkeypatch.setattr(fuzz_bounds, "bound_of_units", wrong)
    with pytest.raises(AssertionError, match=rf"({message}).*\nProblem.*\nmake\(\d+\)"):
        fuzz(100, seed=1)
    assert make(5) == make(5) != make(6)
