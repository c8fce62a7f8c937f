"""What a host of a fit is made of on its worker: several partitions, read as the tokenizer's fit reads documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ubpe_numba.distributed.cluster import with_name
from ubpe_numba.distributed.opaque import opened
from ubpe_numba.distributed.partitions import no_documents
from ubpe_numba.documents.corpus import Corpus, as_corpus
from ubpe_numba.documents.normalise import Documents
from ubpe_numba.errors import UnknownSymbolError
from ubpe_numba.fitting.host import Host
from ubpe_numba.fitting.messages import Loaded, Origin, Part, Setup
from ubpe_numba.runtime.arrays import offsets_of


class PartitionsHost(Host):
    """A host whose errors name the partition, and count documents from its beginning, or symbols if all are one document.

    Parameters
    ----------
    corpus, n_threads
        As for `Host`.
    names
        Of its partitions.
    sizes
        int64[p]: the documents of each, or the symbols.
    joined
        Whether they are one document together.
    """

    def __init__(self, corpus: Corpus, n_threads: int, names: Sequence[str], sizes: np.ndarray, joined: bool) -> None:
        super().__init__(corpus, n_threads)
        self.names, self.first, self.joined = list(names), offsets_of(sizes), joined

    def part(self) -> Part:
        """See `Host`."""
        return super().part()._replace(name=name_of_range(self.names))

    def load(self, setup: Setup, origin: Origin | None = None) -> Loaded:
        """See `Host`."""
        try:
            return super().load(setup, origin)
        except UnknownSymbolError as error:
            at = error.position if self.joined else error.document
            i = int(np.searchsorted(self.first, at, side="right")) - 1
            at -= int(self.first[i])
            document, position = (0, at) if self.joined else (at, error.position)
            raise with_name(UnknownSymbolError(document, position, error.symbol, error.hint), self.names[i]) from None


def name_of_range(names: Sequence[str]) -> str:
    """What messages call consecutive partitions.

    >>> name_of_range(["partition 3", "partition 4"]), name_of_range(["a.parquet"])
    ('partition 3 to partition 4', 'a.parquet')
    """
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"


def make_host(parts: list[Any], how: bytes) -> Host:
    """A host of partitions, on the worker where it is called.

    Parameters
    ----------
    parts
        Documents as `Tokenizer.fit` takes them.
    how
        Opaque: the tokenizer; of the weights and the boundaries of each partition, as `fit`
        takes them, or None, and of one document those of all; of what messages call each partition; and of whether they are one
        document together.

    Raises
    ------
    TypeError, ValueError
        As `Tokenizer.fit`, with the name of the partition before the message.
    """
    from distributed import get_worker

    tokenizer, marks, names, joined = opened(how)
    corpora, sizes, called = [], [], names
    if joined:
        sizes, called = [len(part) for part in parts], [name_of_range(names)]
        parts = [np.concatenate(parts)]
    for i, ((weights, boundaries), name) in enumerate(zip(marks, called, strict=True)):
        documents, parts[i] = parts[i], None  # one after the other may be given back
        try:
            if no_documents(documents):  # they are of any kind
                corpora.append(as_corpus([], None, weights, boundaries))
            else:
                corpora.append(tokenizer._corpus(documents, None, weights, boundaries))
        except (TypeError, ValueError) as error:
            raise with_name(error, name) from None
    if not joined:
        sizes = [corpus.given.offsets.size - 1 for corpus in corpora]
    return PartitionsHost(_side_by_side(corpora, called), get_worker().state.nthreads, names, np.array(sizes, np.int64), joined)


def _side_by_side(corpora: list[Corpus], names: Sequence[str]) -> Corpus:
    """One corpus of all documents; TypeError, naming two partitions, if they are not of one kind."""
    filled = [(c, name) for c, name in zip(corpora, names, strict=True) if c.given.offsets[-1] > c.given.offsets[0]]
    for corpus, name in filled[1:]:
        first, first_name = filled[0]
        if corpus.given.kind != first.given.kind:
            raise TypeError(
                f"parts: expected documents of one kind, got {first.given.kind} ({first_name}) and {corpus.given.kind} ({name})"
            )
    if len(corpora) == 1:
        return corpora[0]
    kind = filled[0][0].given.kind if filled else "int"
    values, offsets = _joined([(c.values, c.offsets) for c in corpora])
    given = Documents(values, offsets, kind)
    if not all(c.given.values is c.values for c in corpora):  # for alphabets: documents of weight 0 too
        given = Documents(*_joined([(c.given.values, c.given.offsets) for c in corpora]), kind)
    elif any(c.given.offsets is not c.offsets for c in corpora):  # segments are not documents
        given = Documents(values, offsets_of(np.concatenate([np.diff(c.given.offsets) for c in corpora])), kind)
    document_of = weights = None
    if any(c.document_of is not None for c in corpora):
        numbers = [np.arange(c.offsets.size - 1) if c.document_of is None else c.document_of for c in corpora]
        begins = offsets_of(np.array([0 if n.size == 0 else int(n[-1]) + 1 for n in numbers]))
        document_of = np.concatenate([n + at for n, at in zip(numbers, begins.tolist(), strict=False)]).astype(np.int32)
    if any(c.weights is not None for c in corpora):
        weights = np.concatenate([np.ones(c.offsets.size - 1, np.int64) if c.weights is None else c.weights for c in corpora])
    sizes = sum(c.n_documents for c in corpora), sum(c.n_symbols for c in corpora)
    return Corpus(given, values, offsets, document_of, weights, *sizes)


def _joined(arrays: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Values and offsets of documents one after the other."""
    values = np.concatenate([v[o[0] : o[-1]] for v, o in arrays])
    return values, offsets_of(np.concatenate([np.diff(o) for _, o in arrays]))
