"""Fuzzing of the encoders: random vocabularies and documents, kernels against the plain reference, symbol for symbol.

By rank (linear search and linked list), by the articles' batch rule, top-1 by tf-idf, by fewest tokens,
additive, with dropout, words of text, and some of it in blocks, on threads and as a stream. Stops at the
first difference and prints what reproduces it, or at ``--symbols``. With ``--reference`` references run in a
process of another interpreter, of which PyPy is the fastest.

    python tools/fuzz/fuzz_encode.py --symbols 1e9 --seed 1 --reference pypy3
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import pathlib
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np

if __name__ == "__main__":
    sys.path[:0] = [str(pathlib.Path(__file__).parents[2] / name) for name in ("tools", "tests", "")]

from fuzz import encode_cases
from fuzz.encode_cases import Case, Docs
from fuzz.reference_process import answers

from ubpe_numba import BPE, Preprocessing, Ragged
from ubpe_numba.coding import run
from ubpe_numba.coding.join import join
from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.coding.path_encoder import PathEncoder
from ubpe_numba.runtime import thread_pool
from ubpe_numba.vocabulary.vocabulary import Vocabulary

CHUNKS = (1, 0, 2, 7, 64, 1024)  # symbols that are pushed into a stream, in turns

Found = Iterator[tuple[str, Docs, Docs]]  # by which way, what was found and what was wanted


def by_rank(case: Case, want: list[Docs]) -> Found:
    """The linear search where there is one, and whole, in blocks, on threads and as a stream the same."""
    encoder = PairEncoder(Vocabulary.from_merges(case.size, case.pairs), batch=False)
    docs = _ragged(case.docs)
    yield "whole", encoder.encode(docs, 1).to_lists(), want[0]
    with _on_threads(case):
        yield "threads", encoder.encode(docs, 3).to_lists(), want[0]
    if not encoder.linear:
        return
    if (blocks := run.blocks_of(docs.offsets, 2, 3)) is not None:
        parts = encoder.encode(Ragged(docs.values, blocks[0]), 1)

        def encode(text: np.ndarray) -> np.ndarray:
            return encoder.encode(Ragged.from_lists([text]), 1).values

        yield "blocks", join(encode, docs, blocks, parts, encoder.lengths, 2).to_lists(), want[0]
    at = max(range(len(case.docs)), key=lambda i: len(case.docs[i]))
    tok = BPE.from_merges(case.pairs, alphabet=case.size)
    found = [token for part in tok.stream().over(_chunks(case.docs[at])) for token in part.tolist()]
    yield "stream", [found], [want[0][at]]


def by_batch(case: Case, want: list[Docs]) -> Found:
    """The articles' rule of several pairs a pass."""
    encoder = PairEncoder(Vocabulary.from_merges(case.size, case.pairs), batch=True)
    yield "whole", encoder.encode(_ragged(case.docs), 1).to_lists(), want[0]


def by_dropout(case: Case, want: list[Docs]) -> Found:
    """By rank with omissions."""
    encoder = PairEncoder(Vocabulary.from_merges(case.size, case.pairs), batch=False)
    found = encoder.encode_dropout(_ragged(case.docs), encode_cases.DROPOUT, len(case.pairs), 1)
    yield "whole", found.to_lists(), want[0]


def by_path(case: Case, want: list[Docs]) -> Found:
    """The three objectives, one of them on threads too."""
    weights = np.array([0.0] * case.size + [w - 1.0 for w in case.weights])
    encoder = PathEncoder(Vocabulary.from_merges(case.size, case.pairs, case.weights), weights)
    docs = _ragged(case.docs)
    for objective, wanted in zip(("tfidf", "shortest", "additive"), want, strict=True):
        yield objective, encoder.encode(docs, objective, 1).to_lists(), wanted
    with _on_threads(case):
        yield "threads", encoder.encode(docs, "shortest", 2).to_lists(), want[1]


def by_words(case: Case, want: list[Docs]) -> Found:
    """All at once, and one by one: the general way first, then the one of short documents."""
    tok = BPE.from_merges(
        case.pairs,
        alphabet=bytes(range(256)),
        preprocessing=Preprocessing(pretokenizer="gpt2", encoding="utf-8"),
    )
    docs = [bytes(doc) for doc in case.docs]
    yield "batch", tok.encode_batch(docs).to_lists(), want[0]
    yield "one by one", [tok.encode(doc).tolist() for doc in docs], want[0]


def _ragged(docs: Docs) -> Ragged:
    values = np.fromiter(itertools.chain.from_iterable(docs), np.int32)
    return Ragged(values, np.cumsum([0, *map(len, docs)]))


def _chunks(doc: list[int]) -> Iterator[list[int]]:
    """Stretches of a document, of the sizes `CHUNKS`."""
    begin, sizes = 0, itertools.cycle(CHUNKS)
    while begin < len(doc):
        end = begin + next(sizes)
        yield doc[begin:end]
        begin = end


def on_threads(case: Case) -> bool:
    """Whether work of a case is shared among threads too, however small: one in four, since that costs as much as the rest."""
    return sum(map(len, case.docs)) % 4 == 0


@contextlib.contextmanager
def _on_threads(case: Case) -> Iterator[None]:
    serial = thread_pool.SERIAL_BELOW
    if on_threads(case):
        thread_pool.SERIAL_BELOW = 0
    try:
        yield
    finally:
        thread_pool.SERIAL_BELOW = serial


CHECKS: dict[str, Callable[[Case, list[Docs]], Found]] = {
    check.__name__: check for check in (by_rank, by_batch, by_dropout, by_path, by_words)
}


def fuzz(n_symbols: float, seed: int, reference: str | None = None, report: float = 60.0) -> Counter[str]:
    """Check cases until `n_symbols` symbols were compared; returns how many were, by shape and check, each objective counting.

    AssertionError with a reproducer at the first difference. `reference` is the interpreter of the
    references; None: in this process.
    """
    done: Counter[str] = Counter()
    total, began, said = 0, time.monotonic(), time.monotonic()
    first = seed << 32
    with contextlib.closing(answers(reference, "fuzz.encode_cases", first)) as every:
        for i, (fields, want) in enumerate(every, first):
            case = Case(*fields)
            for check, wanted in zip(case.checks, want, strict=True):
                compare(case, check, wanted, f"make({i})")
                n = sum(map(len, case.docs)) * len(wanted)
                done[f"{case.shape} {check}"] += n
                total += n
            if time.monotonic() - said > report:
                said = time.monotonic()
                print(f"{total:.4g} symbols, {total / (said - began):.3g} a second", flush=True)
            if total >= n_symbols:
                break
    return done


def compare(case: Case, check: str, want: list[Docs], name: str) -> None:
    """AssertionError at a difference between a check and the results that are wanted of it, with what reproduces it."""
    for way, found, wanted in CHECKS[check](case, want):
        if found != wanted:
            raise AssertionError(f"{check} differs, {way}:\n{case!r}\n{name}\nfound {found}\nwanted {wanted}")


def main() -> None:
    """Parse and run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--symbols", type=float, default=1e8, help="symbols to compare (default %(default)g)")
    parser.add_argument(
        "--seed", type=int, default=0, help="another seed is another run (default %(default)s)"
    )
    parser.add_argument(
        "--reference", help="interpreter that runs the references, a path or a name (default: this process)"
    )
    options = parser.parse_args()
    try:
        done = fuzz(options.symbols, options.seed, options.reference)
    except AssertionError as error:
        sys.exit(str(error))
    for name, n in sorted(done.items()):
        print(f"{name:20} {n:14,}")
    print(f"{done.total()} symbols, no difference")


if __name__ == "__main__":
    main()
