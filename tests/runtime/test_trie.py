"""Edges in a hash table: those of a dict, and those of neighbouring nodes by one symbol side by side."""

import numpy as np
from hypothesis import given, strategies as st

from ubpe_numba.runtime.tables.trie import NONE, trie_of


def table(tokens: list[list[int]], n_alphabet: int) -> tuple[np.ndarray, dict[tuple[int, int], int]]:
    """The trie of the learned tokens, and its edges as a dict."""
    arena = np.array([*range(n_alphabet), *(symbol for token in tokens for symbol in token)], np.int32)
    lengths = np.array([1] * n_alphabet + [len(token) for token in tokens], np.int64)
    edges: dict[tuple[int, int], int] = {}
    n = n_alphabet
    for t, token in enumerate(tokens, n_alphabet):
        node = token[0]
        for symbol in token[1:]:
            if (node, symbol) not in edges:
                edges[node, symbol] = NONE << 32 | n
                n += 1
            last, node = (node, symbol), edges[node, symbol] & 0xFFFFFFFF
        edges[last] = t << 32 | node
    return trie_of(n_alphabet, arena, lengths), edges


TOKENS = st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=9), max_size=60)
RUNS = st.lists(st.integers(2, 90).map(lambda n: [0] * n))


@given(TOKENS | RUNS)
def test_edges_are_those_of_a_dict(tokens: list[list[int]]) -> None:
    trie, edges = table(tokens, 4)
    used = trie[trie["key"] >= 0]
    found = {
        (int(key) >> 31, int(key) & 0x7FFFFFFF): int(value)
        for key, value in zip(used["key"], used["value"], strict=True)
    }
    assert found == edges and trie.size & (trie.size - 1) == 0 and used.size * 2 <= trie.size


def test_a_long_run_of_one_symbol_is_in_an_eighth_of_the_blocks() -> None:
    """A walk along it would otherwise miss the cache at each step, where the table is larger than that."""
    trie, edges = table([[0] * 2**16], 2)
    home = np.flatnonzero(trie["key"] >= 0)
    of_node = home[np.argsort(trie["key"][home])]
    moves = np.count_nonzero(np.diff(of_node >> 3))
    assert len(edges) == 2**16 - 1 and moves < 2**16 / 3
