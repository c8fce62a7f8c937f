"""`encode` and `decode`: documents of a cluster become ids, and ids documents, partition by partition, in files or here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ubpe_numba.coding.streams import check_options
from ubpe_numba.distributed.map_partitions import NewColumn, check_arguments, recoded, source_of
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.runtime.arrays import describe
from ubpe_numba.tokenizers.base import Tokenizer

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["decode", "encode"]

#: Options of `encode_batch` whose draws depend on the number of a document in its batch.
_DRAWS = ("dropout", "sample", "alpha", "seed")


def encode(
    tokenizer: Tokenizer,
    source: Any,
    target: Any = None,
    *,
    column: str | None = None,
    ids: str = "ids",
    drop: bool = False,
    blocksize: int | str | None = None,
    compression: str | None = None,
    client: Client | None = None,
    progress: bool | str = "auto",
    **options: Any,
) -> Ragged | list[str]:
    """Encode documents on a cluster, partition by partition: to Parquet files, as a run that can be continued, or to ids here.

    Parameters
    ----------
    tokenizer
        A fitted tokenizer. It travels once to every worker.
    source
        As `parts` of `count`: paths of Parquet or text files, a dataframe, a column, a bag or a 2-D array of Dask, or a list of
        partitions. All other columns of tables are kept; so are those that folders of Parquet files name (``year=2024/``),
        after the file's own, unless the file has a column of this name itself.
    target
        A folder that all machines see: one Parquet file for each partition, ``part-00000.parquet`` and so on in their order, and
        a manifest, ``_ubpe.json``. None: the ids are brought here.
    column
        The column of documents where `source` is tables: Parquet files, a dataframe, or a list of tables or of
        `Delayed` that give them. Not
        needed if there is one column.
    ids
        The column that ids are written to, ``list<int32>``.
    drop
        False: the ids are one more column of a table, after all others. True: they take the place of `column`.
    blocksize
        Of files: bytes of documents in a partition, as for `count`.
    compression
        Of the files: ``"snappy"``, ``"lz4"``, ``"zstd"`` (the smallest, and slowest) or ``"none"``. None: ids are packed as
        differences (``DELTA_BINARY_PACKED``), which takes half the bytes and little time, other columns by snappy.
    client
        A `distributed.Client`. None: Dask's current one, or if there is none processes on this machine.
    progress
        ``"auto"`` shows progress on a terminal (with tqdm where installed), True always, False never.
    **options
        `unknown`, `allowed_special` and `disallowed_special`, as for `Tokenizer.encode_batch`.

    Returns
    -------
    list of str or Ragged
        The paths of the files in the order of the partitions; without `target` the ids of all documents, in order.

    Raises
    ------
    NotFittedError
        Without a vocabulary.
    UnknownSymbolError, SpecialTokenError, TypeError, ValueError
        As `encode_batch`, with the partition before the message; `document` is the row in its file, or in the partition.
        For `dropout` and `sample`, whose draws depend on the number of a document in the whole. For a target that was made by
        another model, with other settings or of another source.
    OSError
        For a file that cannot be read or written, with its path.
    ConnectionError
        If the scheduler is lost.

    Notes
    -----
    A file appears under its name when all of it is on the disk, so a run that was killed, or stopped by an error, is continued by
    the same call: what is there is not written again. It may also be made several times at once, on one machine or several.
    Parquet files of a source are recognised by their footers; of other sources only the names and the number of partitions are
    compared.

    A worker holds the compressed row group that it reads, 16 MB of its documents and their ids, and the rows that belong to them.
    Partitions that are no files are in its memory as Dask made them.

    Examples
    --------
    >>> import tempfile
    >>> from distributed import Client
    >>> from ubpe_numba import BPE
    >>> tok = BPE.from_merges([[0, 1]], alphabet="ab")
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0") as client:
    ...     here = encode(tok, [["ab", ""], ["bab"]], client=client)
    ...     files = encode(tok, [["ab", ""], ["bab"]], tempfile.mkdtemp(), client=client)
    >>> here.to_lists(), [path[-18:] for path in files]
    ([[2], [], [1, 2]], ['part-00000.parquet', 'part-00001.parquet'])
    """
    check_arguments(tokenizer, compression)
    for name in _DRAWS:
        if name in options:
            raise ValueError(f"{name}: draws depend on the number of a document in the whole, which a partition does not know")
    check_options(options)
    tokenizer.encode_batch([], **options)  # raises for a value that is not valid, before anything is written
    if not isinstance(ids, str):
        raise TypeError(f"ids: expected a name, got {describe(ids)}")
    lines = "bytes" if tokenizer._model.alphabet.kind == "bytes" else "str"
    found = source_of(source, column, "column", lines, blocksize)
    new = NewColumn(found.column or ids, ids, drop or found.column is None, "ids")
    shown = {
        name: sorted(map(repr, value)) if isinstance(value, (set, frozenset, list, tuple)) else str(value)
        for name, value in options.items()
    }
    settings = {"column": found.column, "ids": ids, "drop": drop, "compression": compression, "options": shown}
    return recoded("encode", tokenizer, options, found, new, target, settings, client, progress)  # type: ignore[no-any-return]


def decode(
    tokenizer: Tokenizer,
    source: Any,
    target: Any = None,
    *,
    ids: str | None = None,
    column: str = "document",
    drop: bool = False,
    errors: str = "replace",
    blocksize: int | str | None = None,
    compression: str | None = None,
    client: Client | None = None,
    progress: bool | str = "auto",
) -> Ragged | list[Any]:
    """Decode ids on a cluster, partition by partition: the way back from what `encode` wrote.

    Parameters
    ----------
    tokenizer
        A fitted tokenizer. It travels once to every worker.
    source
        As for `encode`, of documents of ids: a folder that `encode` wrote, for example.
    target
        As for `encode`. None: the documents are brought here.
    ids
        The column of ids where `source` is tables: ``"ids"`` unless given, or the only one. It is needed where `Delayed` give
        tables.
    column
        The column that documents are written to: lists of integers, strings, or binary, by the kind of the model.
    drop
        False: the documents are one more column of a table, after all others. True: they take the place of `ids`.
    errors
        As for `Tokenizer.decode`.
    blocksize, compression, client, progress
        As for `encode`.

    Returns
    -------
    list of str, Ragged or list
        The paths of the files in the order of the partitions; without `target` all documents, in order, as by `decode_batch`.

    Raises
    ------
    NotFittedError
        Without a vocabulary.
    UnknownTokenError
        For an id outside the vocabulary, with its partition, row and position.
    TypeError, ValueError, OSError, ConnectionError
        As `encode`.

    Notes
    -----
    Files are continued as by `encode`, and memory is bounded likewise: 16 MB of ids, and their documents.

    Examples
    --------
    >>> from distributed import Client
    >>> from ubpe_numba import BPE
    >>> tok = BPE.from_merges([[0, 1]], alphabet="ab")
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0") as client:
    ...     decode(tok, [[[2], []], [[1, 2]]], client=client)
    ['ab', '', 'bab']
    """
    check_arguments(tokenizer, compression)
    for name, value in (("column", column), ("errors", errors)):
        if not isinstance(value, str):
            raise TypeError(f"{name}: expected a str, got {describe(value)}")
    found = source_of(source, ids, "ids", "bytes", blocksize, default="ids")
    new = NewColumn(found.column or column, column, drop or found.column is None, "column")
    settings = {"ids": found.column, "column": column, "drop": drop, "compression": compression, "errors": errors}
    return recoded("decode", tokenizer, {"errors": errors}, found, new, target, settings, client, progress)  # type: ignore[no-any-return]
