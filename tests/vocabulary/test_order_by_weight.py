"""Vocabularies rearranged by idf and cut, under every rule, against the plain reference."""

import numpy as np
from hypothesis import given, strategies as st
from pair_tables import Table, tables
from reference import fit as reference
from reference.trim import is_closed, rearrange
from sample_corpora import SIGNAL, fitted
from tables import refuses

from ubpe_numba import UBPE, FitRules, UBPEClassic
from ubpe_numba.vocabulary.weights import keep_by_weight, renumber

RULES = ["closed", "one_level", "published_0_2", "published_0_3"]


@given(st.sampled_from(RULES), tables(), st.integers(0, 30))
def test_trimmed_pair_tables_equal_the_reference(trim: str, table: Table, more: int) -> None:
    size, pairs, weights = table
    want = rearrange(pairs, weights, size, size + more, trim)
    stay = keep_by_weight(np.array(weights), np.array(pairs), size, size + more, trim)
    got, dangling = renumber(np.array(pairs), size, stay)
    assert list(map(tuple, got.tolist())) == [sequence for sequence, _ in want]
    assert [weights[i] for i in stay] == [w for _, w in want]
    if trim == "closed":
        assert dangling == 0
    if dangling == 0:
        assert is_closed(want, size)


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), max_size=20), st.integers(0, 25))
def test_trimmed_sequences_equal_the_reference(weights: list[float], more: int) -> None:
    sequences = [(0,) * (i + 2) for i in range(len(weights))]
    want = [s for s, _ in rearrange(sequences, weights, 1, 1 + more, "closed")]
    stay = keep_by_weight(np.array(weights), None, 1, 1 + more, "closed")
    assert [sequences[i] for i in stay] == want


def test_a_table_that_is_not_closed_is_refused() -> None:
    """The articles' one-level rule leaves tokens built on removed ones: they could not be decoded."""
    docs = [[0, 1, 0, 1, 0, 1, 0, 1], [0, 1, 2], [0, 1, 0, 1], [2, 2]]
    merges, _ = reference.fit(docs, 3, 8, 1, "first_seen", 1)
    weights = [reference.idf(len(docs), m.documents) for m in merges]
    assert not is_closed(rearrange([(m.left, m.right) for m in merges], weights, 3, 6, "one_level"), 3)
    rules = FitRules("first_seen", 1, True, "idf", "one_level")
    refuses(
        ValueError,
        r"trim='one_level' leaves \d+ parts of pairs",
        UBPEClassic(6, 1, alphabet=3, rules=rules).fit,
        docs,
    )
    tok = UBPEClassic(6, 1, alphabet=3, rules=rules.replace(trim="closed")).fit(docs, progress=False)
    assert tok.decode(tok.encode(docs[0])).tolist() == docs[0]


def test_a_table_by_idf_cannot_be_cut_by_creation() -> None:
    tok = fitted(UBPEClassic, SIGNAL, None).truncate(200, by="idf")
    refuses(
        ValueError,
        "not in order of creation; use by='idf'",
        tok.truncate,
        tok._model.vocabulary.n_alphabet + 1,
    )
    fitted(UBPE, SIGNAL, None).truncate(200, by="idf").truncate(30)  # flat sequences need no others
