"""A fit on many machines.

Text is counted there and fitted here; other documents stay there, and the fit exchanges messages.
"""

from __future__ import annotations

import logging
import pickle
import zlib
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from dask import delayed
from dask.optimization import cull
from dask.utils import ensure_dict

from ubpe_numba.distributed.cluster import check_workers, using
from ubpe_numba.distributed.counting import counted, lines_of, unfitted
from ubpe_numba.distributed.host import Part, make_host, name_of_range
from ubpe_numba.distributed.hosts import DaskEngine
from ubpe_numba.distributed.remote_text import Checkpoint, fit_remotely, until_done
from ubpe_numba.distributed.sources import Partitions, partitions_of
from ubpe_numba.documents.read import Documents, as_document
from ubpe_numba.fitting.fit import Settings, learn, learned
from ubpe_numba.runtime.arrays import describe, offsets_of
from ubpe_numba.runtime.messages import Progress
from ubpe_numba.tokenizers.base import Tokenizer
from ubpe_numba.tokenizers.seam import (
    check_alphabet,
    corpus_of_fit,
    preprocessing_of,
    settings_of,
    way_of_encoding,
    weighs_by_text,
    with_fit,
)
from ubpe_numba.vocabulary.alphabet import Alphabet, alphabet_of

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["fit"]

AnyTokenizer = TypeVar("AnyTokenizer", bound=Tokenizer)
# arguments by which text becomes segments to be counted
_CUT = ("pretokenizer", "special_tokens", "known_words", "normalizer")
#: Weights and boundaries of partitions, as `make_host` takes them. Also whether the document before
#: continues, and whether tokens may cross.
Given = tuple[list[tuple[Any, Any]], tuple[bool, bool]]

_SYMBOL = 12  # bytes of a worker, while it reads partitions included
_PROCESS = 300_000_000  # and of its process, in addition to a partition as it is read
_USABLE = 0.9  # of a worker's limit: a little more, and its nanny ends it

log = logging.getLogger("ubpe_numba")


def fit(
    tok: AnyTokenizer,
    parts: Any,
    client: Client | None = None,
    *,
    column: str | None = None,
    sample_weight: Any = None,
    boundaries: Any = None,
    blocksize: int | str | None = None,
    checkpoint: Any = None,
    progress: bool | str = "auto",
) -> AnyTokenizer:
    """Fit a tokenizer on documents on many machines; the same model, bit for bit, as `tok.fit`.

    Text that is split into segments (a pre-tokenizer, special tokens, known words, a normalizer) is counted
    on the workers, see `count`, and the fit on the counts runs here. Other documents are loaded once by the
    workers, which keep them. The fit then runs here and there, with a synchronization per batch of merges. A
    worker gets consecutive partitions. If sizes are known beforehand (files, arrays), workers get about the
    same size, otherwise the same number.

    Parameters
    ----------
    tok
        A `BPE`, `UBPE` or `UBPEClassic`, which becomes fitted.
    parts
        The partitions, as for `count`. Also a 1-D `dask.array`, which is a single document.
    client, column, blocksize, progress
        As for `count`.
    sample_weight
        A list with an entry per partition: integers, one for each of its documents, as for `tok.fit`.
        Partitions that are `Counts` have weights of their own.
    boundaries
        A list with an entry per partition: positions that no token may cross, as for `tok.fit`. For a 1-D
        `dask.array` the positions themselves.
    checkpoint
        A path or URL of a file with the merges so far, written at every epoch and every three minutes. If it
        exists, the same call continues from it, after the client or the whole cluster has ended. ValueError
        if it is of another corpus, other partitions, another version or other arguments. ValueError for text
        that is counted, since its fit is here: save the result of `count`.

    Returns
    -------
    Tokenizer
        `tok` itself, with `history_`.

    Raises
    ------
    TypeError, ValueError, OSError
        For arguments, partitions and documents that are not valid, with the partition and the document in it.
        For options that only a fit in one place supports: ties by place or rarity, an `objective` of
        probabilities, break tokens in a divided document.
    UnknownSymbolError
        For a symbol outside the given alphabet, with the document of the partition.
    MemoryError
        If the symbols do not fit into the memory of the workers. If sizes are known, this is raised before
        reading.
    ConnectionError, RuntimeError
        If the scheduler is lost, or workers again and again, or a partition is not the same when it is read
        again.

    Notes
    -----
    Ctrl-C stops the fit and leaves the tokenizer unchanged. A lost worker is replaced: its partitions are
    read again, and encoded with the merges so far. Synchronizations and bytes are logged at the end (logger
    ``ubpe_numba``, INFO).

    Examples
    --------
    >>> from dask.distributed import Client
    >>> from ubpe_numba import BPE
    >>> client = Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", set_as_default=False)
    >>> tok = fit(BPE(5), [[[0, 1, 2, 0, 1]], [[0, 1], [2, 0, 1]]], client)
    >>> tok.vocabulary.merges.tolist()
    [[0, 1], [2, 3]]
    >>> client.close()
    """
    if not isinstance(tok, Tokenizer):
        raise TypeError(f"tok: expected a BPE, UBPE or UBPEClassic, got {describe(tok)}")
    if preprocessing_of(tok).runs is not None:
        raise ValueError("runs: a distributed fit has no tokens of runs; fit on one machine, or without them")
    settings, bar, read = settings_of(tok), Progress(progress), unfitted(tok)
    partitions = partitions_of(parts, column, lines=lines_of(read), blocksize=blocksize)
    cluster = client if client is not None else partitions.client
    if preprocessing_of(tok).mirror is not None:
        raise ValueError("mirror: a fit on a cluster counts documents as they are; fit here, by tok.fit")
    if not partitions.delayed:
        raise ValueError("parts: expected one partition at least")
    if cut_by := [name for name in _CUT if getattr(preprocessing_of(tok), name) is not None]:
        if partitions.joined:
            raise ValueError(
                f"{cut_by[0]}: documents that are cut are counted, and a 1-D dask.array is one; give several"
            )
        if sample_weight is not None or boundaries is not None:
            name = "boundaries" if sample_weight is None else "sample_weight"
            raise ValueError(
                f"{name}: split text is counted, without {name}. Pass partitions of Counts, or fit here."
            )
        if checkpoint is not None:
            raise ValueError(
                f"checkpoint: with {cut_by[0]} the fit runs here on counts. Save the result of `count`."
            )
        with using(cluster) as used:
            totals = counted(partitions, read, used, progress=progress)
        corpus = corpus_of_fit(read, totals.counts, None, None, None)
        # of integers it depends on how many symbols all documents have
        if tok.alphabet is None and len(totals.counts):
            flat = totals.counts.flat
            alphabet = Alphabet.learn(flat, max(totals.n_symbols, int(flat.offsets[-1])))
        else:
            alphabet = alphabet_of(read.alphabet, corpus.given)
        check_alphabet(tok, alphabet, settings)
        return with_fit(tok, alphabet, settings, *learn(corpus, alphabet, settings, bar), corpus, bar)
    apart = "the documents, which a distributed fit does not have in one place"
    if settings.rules.ties != "smallest":
        raise ValueError(
            f"rules: ties={settings.rules.ties!r} looks at {apart}. Use ties='smallest', or fit here."
        )
    if weighs_by_text(tok):
        way = "fit with objective='shortest', and call reweight on a part of them"
        raise ValueError(f"objective: {way_of_encoding(tok)!r} estimates probabilities on {apart}; {way}")
    if partitions.joined and (
        preprocessing_of(tok).break_tokens is not None or preprocessing_of(tok).stop_tokens is not None
    ):
        raise ValueError(
            "break_tokens, stop_tokens: a document that is cut between partitions has none; give boundaries"
        )
    with using(cluster) as used:
        n, saved = len(partitions.delayed), None
        if checkpoint is not None:
            parameters = repr(settings._replace(n_threads=1, n_shards=None, memory_limit=None))
            given_with = zlib.crc32(pickle.dumps((sample_weight, boundaries), 5))
            about = {
                "class": type(tok).__name__,
                "parameters": parameters,
                "weights or boundaries": given_with,
            }
            saved = Checkpoint(checkpoint, {**about, "number of partitions": n})
        workers = check_workers(used, set())
        n_hosts = max(1, min(n, len(workers)))
        sizes = partitions.sizes
        cuts = [n * h // n_hosts for h in range(n_hosts + 1)] if sizes is None else even_cuts(sizes, n_hosts)
        if saved is not None:
            saved.cuts = cuts = saved.cuts or cuts
        ranges = list(pairwise(cuts))
        if sizes is not None:
            check_memory([sum(sizes[a:b]) for a, b in ranges], workers)
        beside = weights_and_boundaries(partitions, parts, sample_weight, boundaries, ranges)
        return _fit_there(tok, read, settings, partitions, ranges, beside, used, bar, saved)


def _fit_there(
    tok: AnyTokenizer, read: Tokenizer, settings: Settings, partitions: Partitions,
    ranges: list[tuple[int, int]],
    beside: list[Given], client: Client, bar: Progress, checkpoint: Checkpoint | None,
) -> AnyTokenizer:  # fmt: skip
    """A fit whose hosts are workers, each with a range of consecutive partitions."""
    goes_on = [on for _, on in beside]
    hosts, make = [], delayed(make_host, pure=False)
    for k, ((a, b), (own, _)) in enumerate(zip(ranges, beside, strict=True)):
        how = read, partitions.column, own, partitions.names[a:b], partitions.joined, k
        hosts.append(make(partitions.delayed[a:b], pickle.dumps(how, 5)))
    engine = DaskEngine(
        client, hosts, lambda k, key: _name_of(partitions, ranges[k], key), 3 * partitions.remote
    )
    try:
        parts: list[Part] = until_done(lambda: engine.ask("part"), engine.renew)
        check_memory([part.n_symbols for part in parts], check_workers(client, set()))
        alphabet = _alphabet(read, engine, parts)
        n_documents = sum(part.n_documents for part in parts)
        n_documents -= sum(part.first_weight for part, (on, _) in zip(parts, goes_on, strict=True) if on)
        check_alphabet(tok, alphabet, settings)
        if checkpoint is not None:
            checkpoint.agree(corpus=[check for part in parts for check in part.checks])
            checkpoint.agree(alphabet=zlib.crc32(pickle.dumps(alphabet, 5)))
        merges, shards = fit_remotely(engine, parts, alphabet, settings, bar, goes_on, checkpoint=checkpoint)
        log.info(
            "fit: %d hosts, %d synchronizations, %d bytes sent and %d received here for each on average, %d "
            "hosts lost",
            *(
                engine.n,
                engine.rounds,
                engine.sent // engine.n,
                engine.received // engine.n,
                sum(shards.losses),
            ),
        )
        vocabulary = learned(merges, n_documents, sum(part.by_weight for part in parts))
        return with_fit(tok, alphabet, settings, *vocabulary)
    finally:
        engine.close()


def check_memory(n_symbols: Sequence[int], workers: Mapping[str, Any]) -> None:
    """MemoryError, with the need, if hosts of `n_symbols` do not fit into the workers' memory.

    >>> check_memory([10**9, 10**9], {"a": {"memory_limit": 16 * 10**9}})
    Traceback (most recent call last):
    MemoryError: fit: 2000000000 symbols need 24 GB on a worker that has 14.1 GB for them; 2 workers of this size would do
    """
    limits = [
        max(1.0, _USABLE * info["memory_limit"] - _PROCESS)
        for info in workers.values()
        if info["memory_limit"]
    ]
    if not limits or len(limits) < len(workers):
        return
    held = [0] * len(limits)
    for n in sorted(n_symbols, reverse=True):
        held[held.index(min(held))] += n
    for n, limit in zip(sorted(held, reverse=True), sorted(limits, reverse=True), strict=True):
        if _SYMBOL * n > limit:
            wanted = -(-_SYMBOL * sum(n_symbols) // int(min(limits)))
            raise MemoryError(
                f"fit: {n} symbols need {_SYMBOL * n / 1e9:.3g} GB on a worker that has {limit / 1e9:.3g} "
                f"GB for them; {wanted} workers of this size would do"
            )


def _name_of(partitions: Partitions, which: tuple[int, int], key: Any) -> str | None:
    """Name of the partition that task `key` processes, for messages; None if there is none.

    Without a key the range of names.
    """
    begin, end = which
    if key is None:
        return name_of_range(partitions.names[begin:end])
    for part, name in zip(partitions.delayed[begin:end], partitions.names[begin:end], strict=True):
        if hasattr(part, "key") and key in cull(ensure_dict(part.__dask_graph__()), [part.key])[0]:
            return name
    return None


def _alphabet(tok: Tokenizer, engine: DaskEngine, parts: Sequence[Part]) -> Alphabet:
    """The alphabet of the tokenizer or, without one, that of a fit on all documents."""
    filled = [part for part in parts if part.n_given]
    kinds = {part.kind for part in filled} or {part.kind for part in parts if part.kind != "int"} or {"int"}
    if len(kinds) > 1 and filled:
        raise TypeError(f"parts: expected documents of one kind, got {' and '.join(sorted(kinds))}")
    kind = min(kinds)
    if tok.alphabet is not None:
        return Alphabet.from_user(tok.alphabet, kind if filled else None)
    n_symbols, values = (
        sum(part.n_given for part in filled),
        np.array([end for p in filled for end in (p.low, p.high)], np.int64),
    )
    alphabet = Alphabet.learn(Documents(values, np.array([0, values.size]), kind), n_symbols)
    if not filled or kind == "bytes" or (kind == "int" and alphabet.is_identity):
        return alphabet
    values = np.unique(np.concatenate(until_done(lambda: engine.ask("distinct"), engine.renew)))
    return Alphabet.learn(Documents(values, np.array([0, values.size]), kind), n_symbols)


def even_cuts(sizes: Sequence[int], n_hosts: int) -> list[int]:
    """Divide partitions of these sizes evenly: host h gets ``cuts[h]`` to ``cuts[h + 1]`` - 1.

    Each host gets at least one.

    >>> even_cuts([9, 1, 1, 1, 5, 1], 3)
    [0, 1, 4, 6]
    """
    ends, host = offsets_of(np.array(sizes, np.int64)), np.arange(n_hosts + 1)
    # as floats they may be beyond the end
    wanted = np.array([int(ends[-1]) * h // n_hosts for h in range(n_hosts + 1)])
    after = np.searchsorted(ends, wanted).clip(1)
    cuts = after - (wanted - ends[after - 1] < ends[after] - wanted)
    cuts = np.maximum.accumulate(cuts - host) + host  # one partition for each at least
    first_parts: list[int] = np.minimum(cuts, len(sizes) - n_hosts + host).tolist()
    return [0, *first_parts[1:-1], len(sizes)]


def weights_and_boundaries(
    partitions: Partitions, parts: Any, sample_weight: Any, boundaries: Any, ranges: list[tuple[int, int]]
) -> list[Given]:
    """Weights and boundaries of ranges of partitions, and how each continues; other arguments as for `fit`.

    TypeError or ValueError, naming the argument.
    """
    if not partitions.joined:
        n, each = len(partitions.delayed), []
        for name, value in (("sample_weight", sample_weight), ("boundaries", boundaries)):
            if value is not None and (not isinstance(value, (list, tuple)) or len(value) != n):
                raise ValueError(
                    f"{name}: expected a list of {n} entries, one for each partition, got {describe(value)}"
                )
            each.append([None] * n if value is None else list(value))
        return [
            (list(zip(each[0][begin:end], each[1][begin:end], strict=True)), (False, False))
            for begin, end in ranges
        ]
    if sample_weight is not None:
        raise ValueError("sample_weight: a 1-D dask.array is one document, which has none; give several")
    if boundaries is None:
        return [([(None, None)], (begin > 0, begin > 0)) for begin, _ in ranges]
    document = as_document(boundaries, name="boundaries")
    if document.kind != "int":
        raise TypeError(f"boundaries: expected integers, got {describe(boundaries)}")
    positions = np.unique(document.values).astype(np.int64)
    sizes = np.array(parts.chunks[0], np.float64)
    if np.isnan(sizes).any():
        raise ValueError(
            "boundaries: the sizes of the array's chunks are not known; call its compute_chunk_sizes()"
        )
    ends = offsets_of(sizes.astype(np.int64))
    if positions.size and not 0 <= positions[0] <= positions[-1] <= ends[-1]:
        raise ValueError(f"boundaries: expected positions in 0..{ends[-1]}")
    pairs: list[Given] = []
    for begin, end in ranges:
        inside = positions[(positions > ends[begin]) & (positions < ends[end])]
        pairs.append(
            ([(None, inside - ends[begin])], (begin > 0, begin > 0 and int(ends[begin]) not in positions))
        )
    return pairs
