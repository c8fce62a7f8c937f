"""Counts of tokens as sparse matrices, and the names of their columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.errors import UnknownTokenError
from ubpe_numba.tokenizers.seam import model_of
from ubpe_numba.tokenizers.token_table import TokenTable


def counts_of(ids: Ragged, n_columns: int) -> Any:
    """How often each id occurs in each document, float64 csr_matrix[d, n_columns] with sorted columns.

    >>> counts_of(Ragged.from_lists([[2, 0, 2], []]), 3).toarray().tolist()
    [[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]]
    """
    columns = ids.compact()
    shape = len(ids), n_columns
    matrix = sparse.csr_matrix(
        (np.ones(columns.total), columns.values, columns.offsets), shape=shape, copy=True
    )
    matrix.sum_duplicates()  # in place: without the copy in the arrays of `ids`
    return matrix


def parts_of_tokens(v: TokenTable) -> Any:
    """The ids that each id was merged from, csr_matrix[V, V]; ValueError if only sequences are known.

    Row t counts each id in the merge tree of t, t included. Counts of ids times this matrix are the counts of
    all tokens that existed at any time of the merging.

    >>> from ubpe_numba import BPE
    >>> parts_of_tokens(BPE.from_merges([[0, 1], [2, 0]], alphabet="ab").vocabulary).toarray().astype(int).tolist()
    [[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 1, 0], [2, 1, 1, 1]]
    """
    if v.merges is None or v.merged is None:
        raise ValueError("parts: the vocabulary knows flat sequences only, not what tokens were merged of")
    merged, first = np.unique(v.merged, return_index=True)  # the first of several merges of an id
    size, rows = len(v), np.repeat(merged, 2)
    step = sparse.csr_matrix((np.ones(rows.size), (rows, v.merges[first].ravel())), shape=(size, size))
    whole = below = sparse.identity(size, format="csr")
    while (below := below @ step).nnz:  # a level of the trees in each round
        whole = whole + below
    return sparse.csr_matrix(whole)


def distinct(names: list[str]) -> list[str]:
    """The names, duplicates followed by their number.

    >>> distinct(["a", "b", "a"])
    ['a', 'b', 'a #2']
    """
    seen: set[str] = set()
    unique = []
    for i, name in enumerate(names):
        while name in seen:
            name += f" #{i}"
        seen.add(name)
        unique.append(name)
    return unique


def of_ids(tok: Any, size: int) -> list[str]:
    """Names of the ids of a tokenizer: a text or the integers; ``<i>`` for an id that represents nothing.

    >>> from ubpe_numba import BPE, Preprocessing
    >>> of_ids(BPE.from_merges([[0, 1]], alphabet="ab", preprocessing=Preprocessing(special_tokens=["<end>"])), 4)
    ['a', 'b', 'ab', '<end>']
    """
    is_bytes = model_of(tok).alphabet.kind == "bytes"
    names = []
    for i in range(size):
        try:
            symbols = (
                tok.decode([i], as_bytes=True).decode("utf-8", "backslashreplace")
                if is_bytes
                else tok.decode([i])
            )
        except UnknownTokenError:
            symbols = f"<{i}>"
        names.append(symbols if isinstance(symbols, str) else " ".join(map(str, symbols.tolist())))
    return distinct(names)
