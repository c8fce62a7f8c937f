"""Vocabularies for the fewest tokens: tokens per 1000 symbols of documents not seen, by the exact shortest path over each.

Even documents are learned from, odd ones are held out. All ways have as many tokens, the alphabet and what
they learn, if there is so much to learn. Prints a Markdown table of the held-out halves; then one of how it
came about: tokens per 1000 symbols of the half that was learned from, learned tokens, seconds, and the peak
of memory beyond the corpus. A cell has its own process.
"""

from __future__ import annotations

import argparse
import importlib.util
import multiprocessing
import os
import pathlib
import resource
import sys
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import fewest_corpora
import numpy as np
from adapters import memory, reset_peak
from fewest_corpora import CORPORA, Half, Halves, Units
from fewest_peers import PEERS

import ubpe_numba
from ubpe_numba import BPE, UBPE, Ragged
from ubpe_numba.coding.path_encoder import PathEncoder
from ubpe_numba.vocabulary.vocabulary import Vocabulary

_LONGEST_KMER = 16


class Task(NamedTuple):
    """What a way learns from, and how many tokens, alphabet included."""

    seen: Half
    n_alphabet: int
    pattern: str | None
    size: int
    n_threads: int

    @property
    def n(self) -> int:
        """How many tokens are to be learned."""
        return self.size - self.n_alphabet

    @property
    def options(self) -> dict[str, Any]:
        """Arguments of our tokenizers."""
        return {"alphabet": self.n_alphabet, "n_threads": self.n_threads}


class Row(NamedTuple):
    """What a way gave: tokens per 1000 symbols of either half, learned tokens, seconds, bytes; or what went wrong."""

    held: float = float("nan")
    seen: float = float("nan")
    n: int = 0
    seconds: float = 0.0
    bytes: int = 0
    error: str = ""

    def __str__(self) -> str:
        if self.error:
            return self.error
        return f"{self.seen:.2f}, {self.n}, {self.seconds:.1f} s, {self.bytes / 1e6:.0f} MB"


def main() -> None:
    """Measure what is asked for, and print it."""
    options = _options()
    ways = dict(OURS)
    for name, (module, learn) in PEERS.items():
        if importlib.util.find_spec(module) is None:
            print(f"NOT INSTALLED, LEFT OUT: {name} (see benchmarks/README.md)", file=sys.stderr, flush=True)
        else:
            ways[name] = lambda task, learn=learn: learn(task.seen.units, task.n_alphabet, task.n)
    if options.ways:
        if unknown := [way for way in options.ways.split(",") if way not in {*OURS, *PEERS}]:
            sys.exit(f"no such way: {', '.join(unknown)}; there are {', '.join([*OURS, *PEERS])}")
        ways = {way: ways[way] for way in options.ways.split(",") if way in ways}
    ubpe_numba.warmup()  # processes begin as copies of this one
    _head(ways)
    details, notes = [], []
    for name in options.corpora.split(","):
        corpus = fewest_corpora.halves(name, options.symbols)
        notes.append(_about(name, corpus))
        for size in map(int, options.sizes.split(",")):
            rows = {
                way: _apart(f"{name} {size} {way}", learn, corpus, size, options)
                for way, learn in ways.items()
            }
            least = min((round(row.held, 2) for row in rows.values() if not row.error), default=0.0)
            cells = ["-" if row.error else _marked(row.held, least) for row in rows.values()]
            label = f"| {pathlib.Path(name).name} {size} | "
            print(label + " | ".join(cells) + " |", flush=True)
            details.append(label + " | ".join(map(str, rows.values())) + " |")
    print(
        "\ntokens per 1000 symbols of the half that was learned from, learned tokens, seconds, peak of memory\n"
    )
    _head(ways)
    print("\n".join([*details, "", *notes]))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    known = ",".join(CORPORA)
    paths = f"paths of .npz files and of texts; with {fewest_corpora.WORDS} behind it, of words"
    parser.add_argument("--corpora", default=known, help=f"some of %(default)s, and {paths}")
    parser.add_argument("--sizes", default="1024,4096,16384", help="of vocabularies: %(default)s")
    parser.add_argument("--ways", help=f"some of {','.join([*OURS, *PEERS])}")
    parser.add_argument(
        "--symbols", type=int, help="of a corpus, about: dna and kjv 1.5 M, python-words 8 M, else all"
    )
    parser.add_argument(
        "--threads", type=int, default=1, help="of a way, and processors that it may use: %(default)s"
    )
    parser.add_argument(
        "--seconds", type=float, default=600, help="of a way, then it is left out: %(default)s"
    )
    parser.add_argument(
        "--gigabytes", type=float, default=12, help="of memory of a way, likewise: %(default)s"
    )
    options = parser.parse_args()
    if missing := [name for name in options.corpora.split(",") if not fewest_corpora.is_known(name)]:
        parser.error(f"no such corpus, and no such file: {', '.join(missing)}; there are {known}")
    return options


def _head(ways: dict[str, Any]) -> None:
    print("| corpus, size | " + " | ".join(ways) + " |\n|" + " --- |" * (len(ways) + 1), flush=True)


def _marked(value: float, least: float) -> str:
    """The value, bold if it is the least."""
    return f"**{value:.2f}**" if round(value, 2) == least else f"{value:.2f}"


def _about(name: str, corpus: Halves) -> str:
    of = "words" if corpus.pattern else "documents"
    sizes = [
        f"{half.units.total} symbols in {len(half.units.documents)} {of}"
        for half in (corpus.seen, corpus.held)
    ]
    return f"- {pathlib.Path(name).name}: {corpus.source}, alphabet of {corpus.n_alphabet}; {', held out '.join(sizes)}"


# ------------------------------------------------------------------------------------------------------- ways
# to learn


def by_rank(task: Task) -> BPE:
    """BPE; its encoding is that by rank."""
    units = task.seen.units
    return BPE(task.size, **task.options).fit(units.documents, sample_weight=units.weights, progress=False)


def bpe(task: Task) -> Ragged:
    """The same vocabulary."""
    return learned(by_rank(task))


def refine(task: Task) -> Ragged:
    """`UBPE.refine` as users call it: on documents, which the tokenizer cuts."""
    documents: Any = task.seen.documents
    plain = UBPE(task.size, objective="shortest", **task.options)
    if task.pattern is not None:
        documents = [document.astype(np.uint8).tobytes() for document in documents]
        plain = UBPE.for_text(
            task.size, pretokenizer=task.pattern, objective="shortest", n_threads=task.n_threads
        )
    plain.fit(documents, progress=False)
    return learned(plain.refine(documents, progress=False))


def kmers(task: Task) -> Ragged:
    """The most frequent sequences of k symbols, of the k that gives the fewest tokens of what is learned from."""
    best, fewest = Ragged.from_lists([]), task.seen.units.total + 1
    for k in range(2, _LONGEST_KMER + 1):
        if task.n_alphabet**k < 1 << 62:
            found = most_frequent(task.seen.units, task.n_alphabet, k, task.n)
            if (total := count(found, task.seen.units, task)) < fewest:
                best, fewest = found, total
    return best


def most_frequent(units: Units, n_alphabet: int, k: int, n: int) -> Ragged:
    """The `n` most frequent sequences of `k` symbols, among equals the smaller; overlapping occurrences count.

    >>> units = Units(Ragged.from_lists([[0, 1, 0, 1], [1, 1]]), np.array([2, 3]))
    >>> most_frequent(units, 2, 2, 2).to_lists()
    [[0, 1], [1, 1]]
    """
    values = units.documents.values.astype(np.int64)
    unit = np.repeat(np.arange(len(units.documents)), units.documents.lengths)
    room = max(0, values.size - k + 1)
    codes = np.zeros(room, np.int64)
    for j in range(k):
        codes = codes * n_alphabet + values[j : j + room]
    inside = unit[:room] == unit[k - 1 : k - 1 + room]
    distinct, which = np.unique(codes[inside], return_inverse=True)
    counts = np.zeros(distinct.size, np.int64)
    np.add.at(counts, which, units.weights[unit[:room][inside]])
    top = distinct[np.lexsort((distinct, -counts))[:n]]
    symbols = top[:, None] // n_alphabet ** np.arange(k - 1, -1, -1) % n_alphabet
    return Ragged.from_lengths(symbols.ravel().astype(np.int32), np.full(top.size, k))


OURS: dict[str, Callable[[Task], Any]] = {
    "BPE by rank": by_rank,
    "BPE shortest": bpe,
    "refine": refine,
    "k-mers": kmers,
}


def learned(tokenizer: BPE | UBPE) -> Ragged:
    """The learned tokens of a tokenizer, as sequences of symbols."""
    vocabulary = tokenizer._model.vocabulary
    return vocabulary[vocabulary.n_alphabet :]


# ----------------------------------------------------------------------------------------------------------
# measuring


def count(found: BPE | Ragged, units: Units, task: Task) -> int:
    """Into how many tokens units are cut: by rank, or by the shortest path over learned tokens."""
    if isinstance(found, BPE):
        encoded = found.encode_batch(units.documents)
    else:
        tokens = found.compact()
        vocabulary = Vocabulary.from_sequences(task.n_alphabet, tokens.values, tokens.lengths)
        encoded = PathEncoder(vocabulary).encode(units.documents, "shortest", task.n_threads)
    return int((encoded.lengths * units.weights).sum())


def _apart(
    label: str, learn: Callable[[Task], Any], corpus: Halves, size: int, options: argparse.Namespace
) -> Row:
    """What a way gives, in a copy of this process; `label` says what it is."""
    task = Task(corpus.seen, corpus.n_alphabet, corpus.pattern, size, options.threads)
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    process = context.Process(
        target=_measure, args=(there, learn, task, corpus.held.units, options.gigabytes)
    )
    process.start()
    there.close()
    try:
        row = here.recv() if here.poll(options.seconds) else Row(error=f"more than {options.seconds:.0f} s")
    except EOFError:
        row = Row(error="its process died")
    process.terminate()
    process.join()
    said = row.error.upper() if row.error else f"{row.held:.2f} ({row})"
    print(f"{label}: {said}", file=sys.stderr, flush=True)
    return row


def _measure(
    out: Connection, learn: Callable[[Task], Any], task: Task, held: Units, gigabytes: float
) -> None:
    """Send the row of a way, from a process that ends thereafter."""
    os.dup2(2, 1)  # some packages print
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: task.n_threads])
    most = int(gigabytes * 1e9)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    try:
        out.send(_row(learn, task, held))
    except Exception as error:
        traceback.print_exc()
        out.send(Row(error=f"{type(error).__name__}: {error}".partition("\n")[0]))


def _row(learn: Callable[[Task], Any], task: Task, held: Units) -> Row:
    """Learn, timed, then count."""
    reset_peak()
    before, began = memory("VmRSS"), time.perf_counter()
    found = learn(task)
    seconds, grown = time.perf_counter() - began, memory("VmHWM") - before
    n = len(learned(found) if isinstance(found, BPE) else found)
    if n > task.n:
        raise ValueError(f"{n} tokens were learned, not {task.n}")
    per_1000 = [1000 * count(found, units, task) / units.total for units in (held, task.seen.units)]
    return Row(*per_1000, n, seconds, grown)


if __name__ == "__main__":
    main()
