"""Tables for encoding text by merge rank (kernels/text_tables.py): made of a vocabulary, if it is small enough."""

from __future__ import annotations

import numpy as np

from ubpe_numba.coding.kernels import text_tables as kernels
from ubpe_numba.coding.kernels.text_tables import TextTables
from ubpe_numba.runtime.tables.packed import NOBODY, NODES, byte_trie, pair_buckets
from ubpe_numba.vocabulary.vocabulary import Vocabulary


def is_small(vocabulary: Vocabulary) -> bool:
    """Whether ids and nodes of a vocabulary with pairs fit the packed tables."""
    return len(vocabulary) < NOBODY and _most_edges(vocabulary) + 256 < NODES


def _most_edges(vocabulary: Vocabulary) -> int:
    """How many edges the trie may have: a token adds one for each byte of its right part."""
    assert vocabulary.merges is not None
    return int(np.diff(vocabulary.offsets)[vocabulary.merges[:, 1]].sum())


def tables_of(
    vocabulary: Vocabulary, byte_ids: np.ndarray, whole_words: bool = False
) -> tuple[TextTables, np.ndarray, np.ndarray]:
    """The tables of a vocabulary over 256 bytes that `is_small`; `stable` uint8[V]; and its arena as bytes, uint8.

    `byte_ids` int32[256], a permutation: the alphabet id of every byte. `whole_words`: whether a word that equals a token is that
    token, even if merges do not make it; such a token is not stable.
    """
    assert vocabulary.merges is not None
    m = vocabulary.n_learned
    byte_of = np.empty(256, np.uint8)
    byte_of[byte_ids] = np.arange(256)
    arena = byte_of[vocabulary.arena]
    n_edges = _most_edges(vocabulary)
    two_bytes, solid, behind, ahead = (np.empty(1 << 16, np.int32) for _ in range(4))
    left, right = vocabulary.merges[:, 0].copy(), vocabulary.merges[:, 1].copy()
    token_of, prefixes = np.empty(256 + n_edges, np.int32), np.empty(256 + m, np.int32)
    lengths = np.diff(vocabulary.offsets).astype(np.int32)
    pairs, trie = pair_buckets(m), byte_trie(n_edges)
    whole = byte_trie(0), np.full(1, -1, np.int32)
    tables = TextTables(byte_ids, two_bytes, pairs, solid, behind, ahead, trie, token_of, left, right, prefixes, lengths, *whole)
    stable, node_of, parents = np.empty(256 + m, np.uint8), np.empty(256 + m, np.int32), np.empty_like(token_of)
    n = kernels.build(arena, tuple(tables), stable, node_of, parents)
    tables = tables._replace(token_of=token_of[:n].copy())
    if whole_words and (unstable := np.flatnonzero(stable == 0)).size:
        room = int(lengths[unstable].sum())
        trie, token_of = byte_trie(room), np.full(256 + room, -1, np.int32)
        n = kernels.enter_whole_words(arena, vocabulary.offsets.copy(), unstable.astype(np.int32), trie, token_of)
        tables = tables._replace(whole=trie, whole_of=token_of[:n].copy())
    return tables, stable, arena
