"""Encoding by merge rank if mirrored pairs of equal tokens are merged from the ends of runs.

See linear_bpe.py.

With the mirror {0: 1} and the merges 2 = (0, 0), 3 = (1, 1), [0, 0, 0] becomes [2, 0]. Its mirror [1, 1, 1]
becomes the mirror of that, [1, 3].
"""

from __future__ import annotations

from ubpe_numba.coding.kernels.linear_bpe import (
    encode_documents,
    enter_stable,
    find_prefixes,
    find_stable,
    id_in_entries,
)
from ubpe_numba.runtime.compiler import kernel
from ubpe_numba.runtime.tables.pairs import enter


@kernel
def build_tables(arena, tables, stable, node_of, parents, token_of, backward):
    """Fill the tables as `linear_bpe.build_tables` does, in the same time.

    O(symbols of the right parts + m * depth).

    backward bool[V]: the tokens whose pairs are merged from the ends of runs, above that of 3; the others as
    there.
    """
    pairs, left, right, n_alphabet, trie, prefixes, lengths = tables
    enter(left, right, n_alphabet, pairs)
    find_stable(id_in_entries, pairs, left, right, n_alphabet, stable, backward)
    n = enter_stable(arena, lengths, left, right, n_alphabet, stable, trie, node_of, parents, token_of)
    find_prefixes(n_alphabet, n, node_of, parents, token_of, stable, prefixes)


@kernel
def encode_rank(symbols, offsets, tables, dead, run, out, out_offsets, backward):
    """Encode every document as `linear_bpe.encode_rank` does; returns the number of ids written.

    O(symbols * depth) and more.

    The arrays are those of `linear_bpe.encode_rank`, and backward bool[V] as for `build_tables`. Example
    above.
    """
    return encode_documents(symbols, offsets, tables, dead, run, out, out_offsets, backward)
