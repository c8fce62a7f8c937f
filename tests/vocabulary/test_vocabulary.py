"""Vocabularies are validated and frozen."""

from typing import Any

import numpy as np
from tables import each, refuses

from ubpe_numba import BPE
from ubpe_numba.errors import ModelFormatError
from ubpe_numba.vocabulary.vocabulary import Vocabulary


@each("merges, match", [
    ([[0, 3], [2, 1]], r"the token \d is built on itself"), ([[0, 1], [0, 1]], r"the pair \[0, 1\] is there twice"),
    ([[0, 9]], r"merges\[0\]: expected ids in 0..2, got \[0, 9\]"), ([[0, -1]], r"merges\[0\]: expected ids in 0..2"),
    ([0, 1], r"merges: expected shape \(m, 2\), got \(2,\)"), ([[0.0, 1.0]], "merges: expected integers, got float"),
    (None, "merges: expected integers"), ([[True, False]], "merges: expected integers"),
    # 2**27, and they one more
    ([[0, 0], *([i, i] for i in range(2, 27)), [2, 0]], "have more than 134217728 symbols in all"),
    # an integer, if NumPy is asked
    ([[0, 1], [2]], "merges: expected integers"), ([[0, True]], "merges: expected integers"),
])  # fmt: skip
def test_from_merges_refuses(merges: Any, match: str) -> None:
    refuses(ModelFormatError, match, BPE.from_merges, merges, "ab")


def test_vocabularies_are_validated_and_frozen() -> None:
    made = Vocabulary.from_merges(2, [[3, 1], [0, 1]])
    assert [made.sequence(t).tolist() for t in range(4)] == [[0], [1], [0, 1, 1], [0, 1]]
    for t in (-1, 4):
        refuses(IndexError, rf"token {t}: expected 0\.\.3", made.sequence, t)
    refuses(AttributeError, "frozen", setattr, made, "weights", np.zeros(4))
    refuses(ValueError, "read-only", made.arena.__setitem__, 0, 1)


@each("name", ["n_documents", "n_symbols"])
@each("wrong", [-1, 1.5, True, "2", None])
def test_numbers_of_documents_and_symbols_are_validated(name: str, wrong: Any) -> None:
    refuses(
        ModelFormatError,
        f"{name}: expected an integer of at least 0",
        Vocabulary.from_merges,
        2,
        [[0, 1]],
        **{name: wrong},
    )
