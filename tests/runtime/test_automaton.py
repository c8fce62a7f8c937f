"""The list of states that follow, against the way along edges and failures."""

import numpy as np
from hypothesis import given, strategies as st
from pair_tables import Table, documents, tables

from ubpe_numba import Ragged
from ubpe_numba.coding.lattice import Lattice
from ubpe_numba.coding.path_encoder import PathEncoder
from ubpe_numba.vocabulary.vocabulary import Vocabulary


@given(st.data(), tables())
def test_paths_and_sums_are_the_same_with_the_list(data: st.DataObject, table: Table) -> None:
    size, pairs, weights = table
    docs = Ragged.from_lists(data.draw(documents(size, 40)))
    v = Vocabulary.from_merges(size, pairs, weights)
    added = np.linspace(-3.0, -1.0, len(v))
    plain, listed = PathEncoder(v, added), PathEncoder(v, added)
    plain.matcher._read, listed.matcher._read = -(1 << 40), 1 << 40
    assert listed.matcher.tables(1)[4].size > 0 == plain.matcher.tables(1)[4].size
    for objective in ("shortest", "additive"):
        assert plain.encode(docs, objective, 1) == listed.encode(docs, objective, 1)
    one, other = Lattice.of(plain, 1.0), Lattice.of(listed, 1.0)
    for found, again in zip(
        one.expected_counts(docs, None, 1), other.expected_counts(docs, None, 1), strict=True
    ):
        assert np.array_equal(found, again)
    assert one.sample(docs, 5, 1) == other.sample(docs, 5, 1)
