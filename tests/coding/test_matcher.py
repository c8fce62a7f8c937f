"""When tables are made; what is in them is tested with the automaton."""

from __future__ import annotations

import numpy as np

from ubpe_numba.coding.path_encoder import Matcher
from ubpe_numba.vocabulary.vocabulary import Vocabulary


def test_states_that_follow_are_listed_once_many_symbols_were_read() -> None:
    matcher = Matcher(Vocabulary.from_merges(4, [[0, 1], [2, 3], [4, 5]]))
    assert matcher.tables(0)[4].size == 0
    *_, rows, matches = matcher.tables(1000)
    assert rows.size > 0 and rows.size % 4 == 0
    assert matcher.tables(0)[4] is rows and matcher.tables(0)[5] is matches


def test_large_tables_are_not_listed() -> None:
    v = Vocabulary.from_merges(2000, [[i, j] for i in range(1999) for j in (i, i + 1)])
    assert Matcher(v).tables(9_000_000)[4].size == 0


def test_mirrored_tokens_and_a_vocabulary_that_cannot_be_written() -> None:
    v = Vocabulary.from_merges(3, [[0, 1], [3, 2]])
    v.arena.flags.writeable = False
    plain, mirrored = Matcher(v), Matcher(v, mirrored=True)
    assert plain.tables(0)[-1].tolist() == [(1, 0), (1, 1), (1, 2), (2, 3), (1, 0), (3, 4), (2, 3), (1, 0)]
    assert mirrored.tables(0)[-1].tolist() == [(1, 0), (1, 1), (1, 2), (2, 3), (1, 1), (3, 4), (1, 2)]
    assert plain.longest == mirrored.longest == 3 and np.array_equal(v.sequence(4), [0, 1, 2])
