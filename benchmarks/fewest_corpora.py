"""What `fewest.py` compares on: documents, the even ones to learn from and the odd ones held out, and their words."""

from __future__ import annotations

import gzip
import pathlib
from typing import Any, NamedTuple

import numpy as np
from suite import common

from ubpe_numba import Ragged, count_documents
from ubpe_numba.text import Pretokenizer

#: Names, and of how many symbols at most, about: whole documents evenly from all over the corpus.
CORPORA: dict[str, int | None] = {
    "dna": 1_500_000,
    "ecg-deltas": None,
    "ecg": None,
    "wav": None,
    "kjv": 1_500_000,
    "kjv-words": None,
    "python-words": 8_000_000,
}
WORDS = "-words"  # at the end of the name of a text, or of a path: it is cut by the pattern
_PATTERN = "gpt2"


class Units(NamedTuple):
    """What is segmented by itself: documents, or distinct words and how often each occurs."""

    documents: Ragged  # compact, of symbols 0..A-1
    weights: np.ndarray  # int64[d]

    @property
    def total(self) -> int:
        """How many symbols there are."""
        return int((self.documents.lengths * self.weights).sum())


class Half(NamedTuple):
    """Half of the documents of a corpus, compact, and their units."""

    documents: Ragged
    units: Units


class Halves(NamedTuple):
    """A corpus in halves."""

    seen: Half
    held: Half
    n_alphabet: int
    pattern: str | None  # that cuts the words
    source: str


def halves(name: str, n_symbols: int | None) -> Halves:
    """A corpus by its name or path, of about `n_symbols` at most, if that is given, else as `CORPORA` says."""
    pattern = _PATTERN if name.endswith(WORDS) else None
    documents, n_alphabet, source = _documents(name)
    documents = _thinned(documents, n_symbols or CORPORA.get(name))
    seen, held = (_half(documents[i::2].compact(), pattern) for i in (0, 1))
    return Halves(seen, held, n_alphabet, pattern, source)


def is_known(name: str) -> bool:
    """Whether there is such a corpus: a name of `CORPORA`, or a file."""
    return name in CORPORA or pathlib.Path(name.removesuffix(WORDS)).is_file()


def _half(documents: Ragged, pattern: str | None) -> Half:
    if pattern is None:
        return Half(documents, Units(documents, np.ones(len(documents), np.int64)))
    symbols = documents.values.astype(np.uint8)
    cuts = Pretokenizer(pattern).split(symbols, documents.offsets)
    counts = count_documents(symbols, offsets=cuts)
    return Half(documents, Units(Ragged.from_lists(counts.documents), counts.weights))


def _documents(name: str) -> tuple[Ragged, int, str]:
    """Documents of symbols 0..A-1, A, and where they come from."""
    if name not in CORPORA:
        return _of_file(pathlib.Path(name.removesuffix(WORDS)))
    if name.startswith("kjv"):
        text, source = common.text()
        return _of_bytes(parts_of(text), source)
    if name.startswith("python"):
        files = common.stdlib_files(CORPORA[name] or 0)
        return _of_bytes(files, f"{len(files)} sources of the standard library")
    corpus = common.load(name.partition("-")[0])
    documents = Ragged(corpus.values.astype(np.int32), np.asarray(corpus.offsets, np.int64))
    if name == "ecg-deltas":
        return (*deltas(documents), f"differences of the {corpus.source}")
    return documents, corpus.alphabet_size, corpus.source


def deltas(documents: Ragged) -> tuple[Ragged, int]:
    """The differences of neighbours in documents, from the smallest difference on, and the size of their alphabet.

    >>> documents, n_alphabet = deltas(Ragged.from_lists([[3, 5, 4], [9], [7, 7]]))
    >>> documents.to_lists(), n_alphabet
    ([[3, 0], [], [1]], 4)
    """
    found = Ragged.from_lists([np.diff(document) for document in documents])
    least = int(found.values.min(initial=0))
    values = found.values - np.int32(least)
    return Ragged(values, found.offsets), int(values.max(initial=0)) + 1


def parts_of(text: bytes) -> list[bytes]:
    r"""The documents of a text, which NUL ends, or its lines with their ends if it has no NUL.

    >>> parts_of(b"a\nb\x00c"), parts_of(b"a\nb")
    ([b'a\nb', b'c'], [b'a\n', b'b'])
    """
    parts = text.split(b"\0") if b"\0" in text else text.splitlines(keepends=True)
    return [part for part in parts if part]


def _of_bytes(parts: list[bytes], source: str) -> tuple[Ragged, int, str]:
    values = np.frombuffer(b"".join(parts), np.uint8).astype(np.int32)
    return Ragged.from_lengths(values, [len(part) for part in parts]), 256, source


def _of_file(path: pathlib.Path) -> tuple[Ragged, int, str]:
    """An .npz file as the corpora have it, `alphabet_size` only if it is known, or a text, which may be compressed (.gz)."""
    if path.suffix != ".npz":
        raw = path.read_bytes()
        return _of_bytes(parts_of(gzip.decompress(raw) if path.suffix == ".gz" else raw), path.name)
    with np.load(path) as data:
        given: dict[str, Any] = dict(data)
    values = given["values"].astype(np.int32)
    size = int(given["alphabet_size"]) if "alphabet_size" in given else int(values.max(initial=0)) + 1
    return Ragged(values, given["offsets"].astype(np.int64)), size, path.name


def _thinned(documents: Ragged, n_symbols: int | None) -> Ragged:
    """Every so many-th document, so that about `n_symbols` are left, less than twice as many."""
    return documents[:: max(1, documents.total // n_symbols)] if n_symbols else documents
