"""Mistakes in the place of arguments of public calls crash nothing, and those of these kinds have no result."""

from __future__ import annotations

import pytest
from fuzz.misuse import survey


def test_no_mistake_ends_the_process() -> None:
    found = survey(60, seed=1)
    assert len(found) == 60 and not [row for row in found if row[1] == "crashed"]


@pytest.mark.parametrize(
    "kind",
    [r"[^r]\.(?!.*_iter).*\((docs|batch): used up", r"\(y: "],
    ids=["iterators that were used up", "no labels"],
)
def test_a_mistake_of_this_kind_is_refused(kind: str) -> None:
    found = survey(40, seed=1, only=kind)
    assert len(found) > 15 and not [row for row in found if row[1] not in ("right", "refused", "unclear")]
