"""Fuzzing of the encoders: random vocabularies and documents, kernels against the plain reference, symbol for symbol.

By rank (linear search and linked list), by the articles' batch rule, top-1 by tf-idf, by fewest tokens, additive, with dropout,
in blocks and as a stream. Stops at the first difference and prints what reproduces it, or at ``--symbols``.

    python tests/fuzz/fuzz_encode.py --symbols 1e8 --seed 1
"""

from __future__ import annotations

import argparse
import itertools
import pathlib
import sys
import time
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import numpy as np

if __name__ == "__main__":
    sys.path[:0] = [str(pathlib.Path(__file__).parents[1]), str(pathlib.Path(__file__).parents[2])]

from ubpe_numba import BPE, Ragged, Vocabulary
from ubpe_numba.coding import giant_document
from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.coding.path_encoder import PathEncoder
from ubpe_numba.verification.reference import decode as reference_decode
from ubpe_numba.verification.reference import dropout, encode_pairs, encode_paths

Docs = list[list[int]]


class Case(NamedTuple):
    """A vocabulary, in order of creation or not, with weights of its tokens, and documents."""

    size: int
    pairs: list[tuple[int, int]]
    weights: list[float]
    docs: Docs


def make(seed: int) -> Case:
    """The case of a seed: the same on every machine."""
    rng = Random(seed)
    size = rng.choice([1, 2, 2, 3, 4, 7, 30])
    pairs: list[tuple[int, int]] = []
    lengths = [1] * size
    recent = rng.random() < 0.3  # deep tokens, built on the last ones
    for _ in range(rng.choice([1, 3, 8, 20, 60])):
        low = max(0, len(lengths) - 4) if recent else 0
        pair = rng.randrange(low, len(lengths)), rng.randrange(low if rng.random() < 0.5 else 0, len(lengths))
        if pair not in pairs and lengths[pair[0]] + lengths[pair[1]] <= 64:
            pairs.append(pair)
            lengths.append(lengths[pair[0]] + lengths[pair[1]])
    if rng.random() < 0.25:
        order = list(range(len(pairs)))
        rng.shuffle(order)
        new = {size + old: size + i for i, old in enumerate(order)}
        pairs = [(new.get(pairs[o][0], pairs[o][0]), new.get(pairs[o][1], pairs[o][1])) for o in order]
    kinds = [[0.0], [0.5], [0.25, 0.5, 1.0], [rng.random() * 8 for _ in range(50)]]
    choice = rng.choice(kinds)
    weights = [rng.choice(choice) for _ in pairs]
    flat = reference_decode.expand(pairs, size)
    docs = [_document(rng, size, flat) for _ in range(rng.randrange(1, 7))]
    return Case(size, pairs, weights, docs)


def _document(rng: Random, size: int, flat: list[tuple[int, ...]]) -> list[int]:
    """Random, periodic, of one symbol, made of tokens, or made of parts of these."""
    n = rng.choice([0, 1, 2, 5, 20, 60, 150])
    kind = rng.randrange(5)
    if kind == 0:
        return [rng.randrange(size) for _ in range(n)]
    if kind == 1:
        period = [rng.randrange(size) for _ in range(rng.randrange(1, 6))]
        return (period * n)[:n]
    if kind == 2:
        return [rng.randrange(size)] * n
    out: list[int] = []
    while len(out) < n:
        token = rng.choice(flat)
        out += token[: rng.randrange(1, len(token) + 1)] if kind == 4 else token
    return out[:n]


def by_rank(case: Case) -> tuple[Any, Any]:
    """The linear search where there is one, and whole, in blocks and as a stream the same."""
    encoder = PairEncoder(Vocabulary.from_merges(case.size, case.pairs), batch=False)
    ranks = {p: (i, case.size + i) for i, p in enumerate(case.pairs)}
    want = [encode_pairs.encode_rank(d, ranks) for d in case.docs]
    docs = Ragged.from_lists(case.docs)
    found = [encoder.encode(docs, 1).to_lists()]
    if encoder.linear:
        if (blocks := giant_document.blocks_of(docs.offsets, 2, 3)) is not None:
            parts = encoder.encode(Ragged(docs.values, blocks.offsets), 1)

            def encode(text: np.ndarray) -> np.ndarray:
                return encoder.encode(Ragged.from_lists([text]), 1).values

            found.append(giant_document.join(encode, docs, blocks, parts, encoder.lengths, 2).to_lists())
        tok = BPE.from_merges(case.pairs, alphabet=case.size)
        text = [s for d in case.docs for s in d]
        found.append([[i for part in tok.encode_stream(case.docs) for i in part.tolist()]])
        return found, [want] * (len(found) - 1) + [[tok.encode(text).tolist()]]
    return found, [want]


def by_batch(case: Case) -> tuple[Any, Any]:
    """The articles' rule of several pairs a pass."""
    ranks = {p: (i, case.size + i) for i, p in enumerate(case.pairs)}
    encoder = PairEncoder(Vocabulary.from_merges(case.size, case.pairs), batch=True)
    return encoder.encode(Ragged.from_lists(case.docs), 1).to_lists(), [encode_pairs.encode_batch(d, ranks) for d in case.docs]


def by_dropout(case: Case) -> tuple[Any, Any]:
    """By rank with omissions."""
    ranks = {p: (i, case.size + i) for i, p in enumerate(case.pairs)}
    encoder = PairEncoder(Vocabulary.from_merges(case.size, case.pairs), batch=False)
    found = encoder.encode_dropout(Ragged.from_lists(case.docs), 0.3, len(case.pairs), 1).to_lists()
    return found, [dropout.encode_dropout(d, ranks, 0.3, len(case.pairs), i) for i, d in enumerate(case.docs)]


def by_path(case: Case) -> tuple[Any, Any]:
    """The three objectives."""
    tokens = {s: i for i, s in enumerate(reference_decode.expand(case.pairs, case.size))}
    idf = {case.size + i: w for i, w in enumerate(case.weights)}
    signed = {t: w - 1.0 for t, w in idf.items()}
    weights = np.array([signed.get(t, 0.0) for t in range(case.size + len(case.pairs))])
    encoder = PathEncoder(Vocabulary.from_merges(case.size, case.pairs, case.weights), weights)
    docs = Ragged.from_lists(case.docs)
    found = [encoder.encode(docs, objective, 1).to_lists() for objective in ("tfidf", "shortest", "additive")]
    want = [
        [list(encode_paths.encode_top(d, tokens, idf, 1)[0][0]) for d in case.docs],
        [list(encode_paths.encode_shortest(d, tokens, idf)) for d in case.docs],
        [list(encode_paths.encode_additive(d, tokens, signed)) for d in case.docs],
    ]
    return found, want


CHECKS: list[Callable[[Case], tuple[Any, Any]]] = [by_rank, by_batch, by_dropout, by_path]


def fuzz(n_symbols: float, seed: int, report: float = 60.0) -> int:
    """Check cases until `n_symbols` symbols were compared, each check counting; returns how many were.

    AssertionError with a reproducer at the first difference.
    """
    done, began, said = 0, time.monotonic(), time.monotonic()
    for i in itertools.count(seed << 32):
        if done >= n_symbols:
            break
        case = make(i)
        for check in CHECKS:
            found, want = check(case)
            assert found == want, f"{check.__name__} differs:\n{case!r}\nmake({i})\nfound {found}\nwanted {want}"
            done += sum(map(len, case.docs)) * (3 if check is by_path else 1)
        if time.monotonic() - said > report:
            said = time.monotonic()
            print(f"{done:.4g} symbols, {done / (said - began):.3g} a second", flush=True)
    return done


def main() -> None:
    """Parse and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--symbols", type=float, default=1e8, help="symbols to compare (default %(default)g)")
    parser.add_argument("--seed", type=int, default=0, help="another seed is another run (default %(default)s)")
    options = parser.parse_args()
    try:
        print(f"{fuzz(options.symbols, options.seed)} symbols, no difference")
    except AssertionError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
