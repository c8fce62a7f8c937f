"""Equal documents, or segments of text, counted partition by partition.

The counts are added up on the workers.

Each partition is counted on its worker. The counts are added up in a tree, `_SPLIT_EVERY` at a time, in the
order of the partitions. So documents keep the order of their first appearance, as in one process.

    partitions    0      1      2      3
    counted      a b    a c    b d    a
    two a time   [0 1]: a b c  [2 3]: b d a        -> a b c d
"""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

import numpy as np
from dask import delayed

from ubpe_numba.distributed.cluster import results, using, with_name
from ubpe_numba.distributed.sources import Partitions, corpus_of, documents_of, no_documents, partitions_of
from ubpe_numba.documents.counts import Counts, count_documents, distinct, side_by_side
from ubpe_numba.documents.read import Documents
from ubpe_numba.runtime.arrays import describe, positive
from ubpe_numba.runtime.messages import Progress
from ubpe_numba.tokenizers.base import Tokenizer
from ubpe_numba.tokenizers.seam import preprocessing_of, settings_of
from ubpe_numba.vocabulary.alphabet import Alphabet

if TYPE_CHECKING:
    from distributed import Client


_SPLIT_EVERY = 8  # counts are added up at a time


def count(
    parts: Any,
    tokenizer: Tokenizer | None = None,
    *,
    column: str | None = None,
    client: Client | None = None,
    min_count: int = 1,
    blocksize: int | str | None = None,
    progress: bool | str = "auto",
) -> Counts:
    """Count equal documents, or the segments into which a tokenizer splits them, on many machines.

    Parameters
    ----------
    parts
        The partitions: a list of `dask.delayed` values, of futures, or of partitions in memory. Each holds
        documents as for `fit`, or `Counts`. Also a `dask.bag` of documents; a 2-D `dask.array`, whose rows
        are documents; a column of a `dask.dataframe`; or paths of Parquet files or of text files (``.txt``).
        Lines of text files are documents: UTF-8, or any bytes if the tokenizer has an encoding or an alphabet
        of bytes.
    tokenizer
        None: documents are counted. A tokenizer: segments are counted, as in its `fit`, of normalized and
        split text, without special tokens. It need not be fitted.
    column
        The column of documents, if `parts` are tables.
    client
        The cluster; None is Dask's current client, or else processes on this machine for this call.
    min_count
        Documents that occur less often are left out, before they are sent here.
    blocksize, progress
        Of files: bytes that are one partition, 64 MiB by default, as ``"16 MiB"`` or a number. ``"auto"``
        shows progress on a terminal, True always, False never.

    Returns
    -------
    Counts
        As `count_documents` gives them for all documents in the order of the partitions.
        ``tokenizer.fit(counts)`` then equals a fit on the documents, if `min_count` is 1.

    Raises
    ------
    TypeError, ValueError, OSError, UnknownSymbolError
        For arguments, partitions and documents that are not valid, naming the partition and the document in
        it.
    ConnectionError
        If the scheduler is lost.

    Notes
    -----
    Memory of a worker: counts of n distinct documents with s symbols take 24 n + b s bytes. Here b is 1 for
    bytes, 4 for characters, and the width of integers. To count, or to add up eight counts, takes at most 48
    n + 8 s more. Dask writes waiting counts to disk when its limit of memory requires it.

    A fit on counted documents of integers learns the alphabet from the distinct ones. If symbols reach
    65,536, pass it: ``alphabet=``. A dataframe made of Python lists becomes one of strings, ``"[1, 2]"``,
    unless Dask's option ``dataframe.convert-string`` is False.

    Examples
    --------
    >>> from dask.distributed import Client
    >>> client = Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", set_as_default=False)
    >>> counts = count([["ab", "b"], ["ab"]], client=client)
    >>> counts.to_lists(), counts.weights.tolist()
    (['ab', 'b'], [2, 1])
    >>> client.close()
    """
    if tokenizer is not None:
        if not isinstance(tokenizer, Tokenizer):
            raise TypeError(
                f"tokenizer: expected a BPE, UBPE or UBPEClassic, or None, got {describe(tokenizer)}"
            )
        tokenizer = unfitted(tokenizer)
    partitions = partitions_of(parts, column, lines=lines_of(tokenizer), blocksize=blocksize)
    return counted(partitions, tokenizer, client, min_count=min_count, progress=progress).counts


def counted(
    partitions: Partitions, tokenizer: Tokenizer | None = None, client: Client | None = None, *,
    min_count: int = 1,
    progress: bool | str = "auto",
) -> Counted:  # fmt: skip
    """Count partitions that have been read; in addition to the counts, all that a fit needs.

    Arguments and errors as for `count`.
    """
    Progress(progress)  # raises for another value
    least = positive(min_count, "min_count")
    if partitions.joined:
        raise ValueError(
            "parts: expected several documents, got a 1-D dask.array. Rows of a 2-D array are documents."
        )
    if tokenizer is not None:
        settings_of(tokenizer)  # raises for arguments that are not valid, before anything is read
    if not partitions.delayed:
        return Counted(count_documents([]), 0, "")
    bare = None
    if tokenizer is not None:  # without what leaves documents whole, which is done when all are counted
        bare = copy.copy(tokenizer)
        bare.n_threads = 1
        if preprocessing_of(bare).pretokenizer is None:
            bare.preprocessing = dataclasses.replace(
                preprocessing_of(bare), break_tokens=None, stop_tokens=None
            )
    how = delayed(
        pickle.dumps((bare, partitions.column), 5), name=f"ubpe-tokenizer-{uuid4().hex}", traverse=False
    )
    named = zip(partitions.delayed, partitions.names, strict=True)
    leaves = [_task("count", count_part, part, how, name) for part, name in named]
    row = leaves
    while len(row) > _SPLIT_EVERY:
        row = [_task("add", add, row[i : i + _SPLIT_EVERY]) for i in range(0, len(row), _SPLIT_EVERY)]
    # the first tell of progress
    tasks = [*(_task("counted", bool, leaf) for leaf in leaves), _task("add", add, row, least)]
    with using(client if client is not None else partitions.client) as used:
        totals = dict(
            results(used, tasks, [*partitions.names, "parts"], progress, "count", 3 * partitions.remote)
        )
    total: Counted = totals[len(leaves)]
    return total


def unfitted(tokenizer: Tokenizer) -> Tokenizer:
    """A tokenizer of the same arguments, whose alphabet can be read repeatedly.

    The alphabet may be an iterator.
    """
    params = tokenizer.get_params()
    if hasattr(tokenizer.alphabet, "__next__"):
        params["alphabet"] = list(tokenizer.alphabet)
    return type(tokenizer)(**params)


def lines_of(tokenizer: Tokenizer | None) -> str:
    """Kind of the lines of text files in the fit of a tokenizer: ``"bytes"`` or ``"str"``.

    ``"str"`` if characters are symbols.
    """
    if tokenizer is None or preprocessing_of(tokenizer).encoding is not None or tokenizer.alphabet is None:
        return (
            "bytes" if tokenizer is not None and preprocessing_of(tokenizer).encoding is not None else "str"
        )
    return "str" if Alphabet.from_user(tokenizer.alphabet).kind == "str" else "bytes"


def _task(what: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """A task whose name Dask's dashboard shows as ``ubpe-count`` and the like."""
    return delayed(function, pure=False, traverse=False)(
        *arguments, dask_key_name=f"ubpe-{what}-{uuid4().hex}"
    )


# arguments by which segments are not documents
_CHANGES = ("pretokenizer", "special_tokens", "known_words", "normalizer")


class Counted(NamedTuple):
    """The counts of a partition or several."""

    counts: Counts  # of documents or segments, in order of first appearance
    n_symbols: int  # of all documents; of partitions that were `Counts` already 0
    name: str  # the first partition that has documents, for messages


def count_part(docs: Any, how: bytes, name: str) -> Counted:
    """The counts of a partition."""
    try:
        tokenizer, column = pickle.loads(how)
        return Counted(*_counts(documents_of(docs, column), tokenizer), name)
    except Exception as error:
        raise with_name(error, name) from None


def _counts(docs: Any, tokenizer: Tokenizer | None) -> tuple[Counts, int]:
    """The counts of documents, and how many symbols they have; 0 of `Counts`."""
    if tokenizer is None:
        counts = Counts.merge(docs) if isinstance(docs, Counts) else count_documents(docs)
        return counts, 0 if isinstance(docs, Counts) else int(counts.weights @ np.diff(counts.flat.offsets))
    if no_documents(docs):  # they are of any kind, which only a tokenizer that is given all of them knows
        return count_documents([]), 0
    corpus = corpus_of(tokenizer, docs)
    documents = corpus.given
    changed = any(getattr(preprocessing_of(tokenizer), name) is not None for name in _CHANGES)
    are_segments = changed or (isinstance(docs, Counts) and docs.are_segments)
    flat = Documents(corpus.values, corpus.offsets, documents.kind)
    weights = np.ones(corpus.offsets.size - 1, np.int64) if corpus.weights is None else corpus.weights
    # documents without symbols: one, which is empty
    if (missing := corpus.n_documents - int(weights.sum())) > 0:
        flat, weights = (
            flat._replace(offsets=np.append(flat.offsets, flat.offsets[-1])),
            np.append(weights, missing),
        )
    counts = Counts.of(flat, weights)
    counts.are_segments = are_segments
    if tokenizer.alphabet is not None:
        alphabet = Alphabet.from_user(
            tokenizer.alphabet, documents.kind if documents.offsets[-1] > documents.offsets[0] else None
        )
        alphabet.check_kind(documents)
        if (alphabet.lookup(counts.flat.values) < 0).any():
            alphabet.to_ids(documents)  # raises, naming document, position and symbol
    return counts, 0 if isinstance(docs, Counts) else int(documents.offsets[-1] - documents.offsets[0])


def add(parts: list[Counted], min_count: int = 1) -> Counted:
    """The sum of counts, without documents that occur less than `min_count` times.

    TypeError, with two partitions, unless all have the same kind.
    """
    filled = [part for part in parts if len(part.counts)]
    n_symbols = sum(part.n_symbols for part in parts)
    if not filled:
        return parts[0]._replace(n_symbols=n_symbols)
    kinds = ["integers" if part.counts.kind == "int" else part.counts.kind for part in filled]
    kinds = [
        f"segments of {kind}" if part.counts.are_segments else kind
        for kind, part in zip(kinds, filled, strict=True)
    ]
    for kind, part in zip(kinds, filled, strict=True):
        if kind != kinds[0]:
            raise TypeError(
                f"parts: expected documents of one kind, got {kinds[0]} ({filled[0].name}) and {kind} "
                f"({part.name})"
            )
    flat, weights = side_by_side([part.counts for part in filled])
    stay, total = distinct(flat, weights)
    often = total >= min_count
    counts = Counts(flat.take(stay[often]), total[often], filled[0].counts.are_segments)
    return Counted(counts, n_symbols, filled[0].name)
