"""Pieces of equal score in models of sentencepiece: runs of spaces are merged as from the left, others are refused."""

from __future__ import annotations

import pytest
from sentencepiece_models import BPE as PAIRS
from sentencepiece_models import NORMAL, SPECIAL, model, same_ids

from ubpe_numba import BPE, ModelFormatError
from ubpe_numba.formats.sentencepiece import parts_of_run


@pytest.mark.parametrize("most", [2, 3, 4, 8, 12, 16])
def test_runs_of_equal_score(most: int) -> None:
    """Pieces of 2 to 16 spaces that have the same score, as Llama has them: merged from the left."""
    pieces = [*SPECIAL, ("▁", -1e9, NORMAL), ("a", -3.0, NORMAL), ("▁a", -1.0, NORMAL)]
    pieces += [("▁" * n, -1e9, NORMAL) for n in range(2, most + 1) if n != 15]
    data = model(pieces, PAIRS)
    if most & (most - 1):
        with pytest.raises(ModelFormatError, match="have the same score"):
            BPE.from_sentencepiece(data)
    else:
        same_ids(data, BPE.from_sentencepiece(data), [" " * n + "a" * (n % 3) for n in range(100)])


def test_two_runs_of_equal_score() -> None:
    pieces = [*SPECIAL, ("▁", -1e9, NORMAL), ("a", -3.0, NORMAL), ("▁▁▁▁", -2.0, NORMAL), ("▁▁", -2.0, NORMAL)]
    data = model(pieces, PAIRS)
    same_ids(data, BPE.from_sentencepiece(data), [" " * n + "a" * (n % 3) for n in range(20)])


def test_parts_of_runs() -> None:
    assert parts_of_run(19, dict.fromkeys(range(2, 17), 0)) == [16, 3]
    assert parts_of_run(5, {2: 0}) == [2, 2, 1]
