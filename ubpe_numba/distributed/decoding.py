"""`decode`: ids of a cluster become documents again, partition by partition, in files or here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ubpe_numba.distributed.arrow_values import list_array
from ubpe_numba.distributed.recoding import check_compression, check_tokenizer, recoded, source_of
from ubpe_numba.distributed.table_files import NewColumn
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.errors import quoted
from ubpe_numba.runtime.arrays import describe
from ubpe_numba.tokenizers.base import Tokenizer

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["decode"]


class Decoding(NamedTuple):
    """Ids to documents, with what `decode_batch` does about bytes that are no UTF-8."""

    errors: str

    def __call__(self, tokenizer: Tokenizer, docs: Any) -> Any:
        """The documents of ids."""
        return tokenizer.decode_batch(docs, errors=self.errors)

    def column(self, tokenizer: Tokenizer, found: Any) -> Any:
        """Documents as lists of int32 or int64, strings, or binary, by the kind of the model."""
        import pyarrow as pa

        if isinstance(found, Ragged):
            return list_array(found)
        model = tokenizer.model_
        if model.alphabet.kind == "int":
            return pa.array(found, pa.list_(pa.int64()))
        kind = pa.binary() if model.alphabet.kind == "bytes" and model.segmenter.encoding is None else pa.string()
        try:
            return pa.array(found, kind)
        except UnicodeEncodeError as error:
            raise ValueError(
                f"errors: with {quoted(self.errors)} texts have surrogates, which files cannot hold; use 'replace'"
            ) from error


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
        False: the documents are one more column of a table, behind all others. True: they stand in the place of `ids`.
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
    Files are continued as by `encode`, and memory is bounded likewise: 16 MB of ids, and what they stand for.

    Examples
    --------
    >>> from distributed import Client
    >>> from ubpe_numba import BPE
    >>> tok = BPE.from_merges([[0, 1]], alphabet="ab")
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0") as client:
    ...     decode(tok, [[[2], []], [[1, 2]]], client=client)
    ['ab', '', 'bab']
    """
    check_tokenizer(tokenizer)
    check_compression(compression)
    for name, value in (("column", column), ("errors", errors)):
        if not isinstance(value, str):
            raise TypeError(f"{name}: expected a str, got {describe(value)}")
    found = source_of(source, ids, "ids", "bytes", blocksize, default="ids")
    new = NewColumn(found.column or column, column, drop or found.column is None, "column")
    for where, names in found.tables.items():
        new.check(names, where)
    settings = {"ids": found.column, "column": column, "drop": drop, "compression": compression, "errors": errors}
    return recoded(  # type: ignore[no-any-return]
        "decode", tokenizer, Decoding(errors), found, new, target, settings, compression, client, progress
    )
