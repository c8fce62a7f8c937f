"""Trees of merges against their definition."""

from typing import Any

import numpy as np
from hypothesis import given, strategies as st
from pair_tables import Table, tables
from reference.decode import merge_tree
from tables import each, refuses

from ubpe_numba import BPE, UBPE
from ubpe_numba.types import MergeTree


def nested(tree: MergeTree, node: int = 0) -> tuple[Any, ...]:
    below = np.flatnonzero(tree.above == node).tolist()
    assert all(tree.depths[i] == tree.depths[node] + 1 for i in below)
    return (int(tree.tokens[node]), *(nested(tree, i) for i in below))


@given(tables(), st.data())
def test_equal_to_the_definition(table: Table, data: st.DataObject) -> None:
    size, merges, _ = table
    v = BPE.from_merges(merges, size).vocabulary
    token = data.draw(st.integers(0, len(v) - 1))
    tree = v.tree(token)
    assert nested(tree) == merge_tree(merges, size, token)
    assert tree.above[0] == -1 and (tree.above[1:] < np.arange(1, tree.tokens.size)).all()
    leaves = tree.tokens < size
    assert tree.tokens[leaves].tolist() == v[token].tolist()  # symbols from left to right
    assert tree.starts[leaves].tolist() == list(range(v[token].size))
    for t, start in zip(tree.tokens.tolist(), tree.starts.tolist(), strict=True):
        part = v[t]
        assert v[token][start : start + part.size].tolist() == part.tolist()
    depth = data.draw(st.integers(0, 3))
    cut = v.tree(token, depth)
    assert cut.tokens.tolist() == tree.tokens[tree.depths <= depth].tolist()
    assert v.parents(token) == (None if token < size else merges[token - size])


def test_tokens_without_a_tree_are_refused() -> None:
    v = BPE.from_merges([[0, 1]], 2).vocabulary
    flat = UBPE(3, objective="shortest").fit([[0, 1, 0, 1]]).refine([[0, 1, 0, 1]]).vocabulary
    for call in (v.parents, v.tree):
        for token in (-1, 3):
            refuses(IndexError, rf"token {token}: expected 0\.\.2", call, token)
    for call in (flat.parents, flat.tree):
        refuses(ValueError, "flat sequences only", call, 2)
    assert flat.parents(1) is None and flat.tree(1).tokens.tolist() == [1]
    refuses(ValueError, "depth: expected at least 0, got -1", v.tree, 2, -1)


@each("bad", [1.0, "1", True, np.array([1])])
def test_what_is_no_integer_is_named(bad: Any) -> None:
    vocabulary = BPE.from_merges([[0, 1]], 2).vocabulary
    for ask in (vocabulary.parents, vocabulary.tree, vocabulary.__getitem__):
        refuses(TypeError, "token: expected an integer, got", ask, bad)
    refuses(TypeError, "depth: expected an integer, got", vocabulary.tree, 2, bad)
    assert vocabulary.parents(np.uint8(2)) == (0, 1) and vocabulary.tree(
        np.int64(2), np.int8(0)
    ).tokens.tolist() == [2]
