"""Counts of tokens as sparse matrices, and the names of their columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.samples import KEPT, refuse_masked, several
from ubpe_numba.errors import UnknownTokenError
from ubpe_numba.tokenizers.token_table import TokenTable


def series_of(X: Any, gaps: bool) -> tuple[Any, bool]:
    """Series given as X, those with masked samples joined to an array, and whether it is a list of series of several lengths.

    >>> series_of([[1, 2], [3]], gaps=False)
    ([[1, 2], [3]], True)
    """
    rows = several(X)
    if not gaps:
        for row in [X] if rows is None else rows:
            refuse_masked(row, "X", KEPT)
    if rows is not None and len({np.shape(row) for row in rows}) > 1:
        return rows, True
    return np.ma.stack(rows) if rows is not None and any(map(np.ma.isMaskedArray, rows)) else X, False


def counts_of(ids: Ragged, n_columns: int) -> Any:
    """How often each id occurs in each document, float64 csr_matrix[d, n_columns] with sorted columns.

    >>> counts_of(Ragged.from_lists([[2, 0, 2], []]), 3).toarray().tolist()
    [[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]]
    """
    columns = ids.compact()
    shape = len(ids), n_columns
    made = sparse.csr_matrix((np.ones(columns.total), columns.values, columns.offsets), shape=shape, copy=True)
    made.sum_duplicates()  # in place: without the copy in the arrays of `ids`
    return made


def counts_of_parts(ids: Ragged, lengths: np.ndarray, n_parts: int, n_columns: int) -> Any:
    """Counts for each of `n_parts` equal parts of documents, csr_matrix[d, n_parts * n_columns].

    The parts are side by side. A token belongs to the part in which its middle is; `lengths` are those of tokens, in symbols.
    In the example document the middle of the second token is at 3 of 4 symbols.

    >>> counts_of_parts(Ragged.from_lists([[1, 1]]), np.array([1, 2]), 2, 2).toarray().tolist()
    [[0.0, 1.0, 0.0, 1.0]]
    """
    tokens = ids.compact()
    sizes = lengths[tokens.values]
    ends = np.concatenate([[0], np.cumsum(sizes)])
    edges = ends[tokens.offsets]
    begins, symbols = (np.repeat(each, np.diff(tokens.offsets)) for each in (edges[:-1], np.diff(edges)))
    doubled = 2 * (ends[1:] - begins) - sizes  # twice the place of the middle
    part = np.minimum(doubled * n_parts // (2 * np.maximum(symbols, 1)), n_parts - 1)
    columns = part * n_columns + tokens.values
    made = sparse.csr_matrix((np.ones(columns.size), columns, tokens.offsets), shape=(len(ids), n_parts * n_columns), copy=True)
    made.sum_duplicates()
    return made


def parts_of_tokens(v: TokenTable) -> Any:
    """Of which ids each id was merged, csr_matrix[V, V]; ValueError where only flat sequences are known.

    Row t says how often each id occurs in the merge tree of t, to which it belongs itself. Counts of ids times this are the
    counts of all tokens that were there at any time of the merging.

    >>> from ubpe_numba import BPE
    >>> parts_of_tokens(BPE.from_merges([[0, 1], [2, 0]], alphabet="ab").vocabulary).toarray().astype(int).tolist()
    [[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 1, 0], [2, 1, 1, 1]]
    """
    if v.merges is None or v.merged is None:
        raise ValueError("parts: the vocabulary knows flat sequences only, not what tokens were merged of")
    merged, first = np.unique(v.merged, return_index=True)  # of several merges of one id the first
    size, rows = len(v), np.repeat(merged, 2)
    step = sparse.csr_matrix((np.ones(rows.size), (rows, v.merges[first].ravel())), shape=(size, size))
    whole = below = sparse.identity(size, format="csr")
    while (below := below @ step).nnz:  # a level of the trees in each round
        whole = whole + below
    return sparse.csr_matrix(whole)


def distinct(names: list[str]) -> list[str]:
    """The names, those that are there before followed by their number.

    >>> distinct(["a", "b", "a"])
    ['a', 'b', 'a #2']
    """
    seen: set[str] = set()
    made = []
    for i, name in enumerate(names):
        while name in seen:
            name += f" #{i}"
        seen.add(name)
        made.append(name)
    return made


def of_ids(tok: Any, size: int) -> list[str]:
    """Names of the ids of a tokenizer: a text or the integers; ``<i>`` for an id that represents nothing.

    >>> from ubpe_numba import BPE, Preprocessing
    >>> of_ids(BPE.from_merges([[0, 1]], alphabet="ab", preprocessing=Preprocessing(special_tokens=["<end>"])), 4)
    ['a', 'b', 'ab', '<end>']
    """
    is_bytes = tok._fitted().alphabet.kind == "bytes"
    names = []
    for i in range(size):
        try:
            symbols = tok.decode([i], as_bytes=True).decode("utf-8", "backslashreplace") if is_bytes else tok.decode([i])
        except UnknownTokenError:
            symbols = f"<{i}>"
        names.append(symbols if isinstance(symbols, str) else " ".join(map(str, symbols.tolist())))
    return distinct(names)
