"""Masks of the ids that may follow others in an encoding by merge rank."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.coding.kernels.followers import fill_rows, lay_out
from ubpe_numba.coding.plan import Tables
from ubpe_numba.documents.read import as_document
from ubpe_numba.runtime.arrays import offsets_of
from ubpe_numba.vocabulary.segmenter import PLAIN


def followers(tables: Tables, way: str, ids: Any) -> NDArray[np.bool_]:
    """The mask of `Tokenizer.followers`, of a tokenizer that encodes this `way`."""
    vocabulary, segmenter = tables.model.vocabulary, tables.model.segmenter
    special = segmenter.special
    others = segmenter._replace(reserved=None, token_ids=None, encoding=None, file=None, runs=None)
    is_whole = others == PLAIN and tables.isolated(True) is None
    if special is not None:  # known words are encoded as such, wherever their symbols are
        is_whole &= not (special.has_flags or special.shared or special.always.any())
    if way != "rank" or not (is_whole and vocabulary.in_order_of_creation):
        changed = "documents that are cut, changed, mirrored or framed, or pairs out of order; fit without"
        got = changed if way == "rank" else f"{way!r}; tok.with_objective('rank') encodes so"
        raise ValueError(f"followers: expected whole documents, encoded by rank, got {got}")
    first: NDArray[np.bool_]
    first, token_of, *arguments = tables.kept.get("followers") or _tables(tables)
    if ids is None:
        return first.copy()
    shaped = np.asarray(ids, None if np.size(ids) else np.int64)
    values = tables.decoder.ids(as_document(shaped.reshape(-1), name="ids"), known=True).values
    rows = np.zeros((values.size, first.size), np.bool_)
    arguments += [np.zeros(len(vocabulary) + 1, np.int64), rows.view(np.uint8)]
    fill_rows(token_of[values], *arguments)
    if special is not None:
        rows[:, special.ids] = True
        rows[np.isin(values, special.ids)] = first
    return rows.reshape(*shaped.shape, first.size)


def _tables(tables: Tables) -> tuple[Any, ...]:
    """Which ids may come first, the token of each id or -1, and arguments of `fill_rows`.

    The arguments are those after the tokens.
    """
    segmenter, (_, left, right, n, _, prefixes, _) = tables.model.segmenter, tables.pairs().tables
    size, special = prefixes.size, segmenter.special
    starts, sizes, reach = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size - n, np.int64)
    lay_out(left, right, starts, sizes, reach)
    occurs = (prefixes >= 0) | (np.arange(size) < n)  # the others do not encode to themselves
    ids = np.where(occurs, np.arange(size) if segmenter.token_ids is None else segmenter.token_ids, -1)
    token_of = np.full(tables.decoder.sizes.size, -1)
    token_of[ids[occurs]] = np.flatnonzero(occurs)
    first = token_of >= 0
    if special is not None:
        first[special.ids] = True
    at_place = np.empty(size, np.int64)
    at_place[starts] = ids
    pairs, bounds = n + np.argsort(left, kind="stable"), offsets_of(np.bincount(left, minlength=size))
    result = tables.kept["followers"] = first, token_of, right, bounds, pairs, starts, reach, at_place
    return result
