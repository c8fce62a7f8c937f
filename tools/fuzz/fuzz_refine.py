"""Fuzzing of `UBPE.refine`: random documents and arguments, and what has to hold of every vocabulary that it makes.

Documents are of integers, `str` or bytes, of few symbols or many: random, periodic, runs, copies, words; with
weights, boundaries, special and break tokens, patterns that cut. Of each result tokens, size and lengths are
held against plain counts of all substrings, fewest tokens against a plain search, documents are decoded,
other numbers of threads have to give the same, and weights the same as copies. Stops at the first difference
and prints what reproduces it, or at ``--cases``, ``--seconds``.

    python tools/fuzz/fuzz_refine.py --seconds 20 --seed 1
"""

from __future__ import annotations

import argparse
import itertools
import math
import pathlib
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

import numpy as np

if __name__ == "__main__":
    sys.path[:0] = [str(pathlib.Path(__file__).parents[2] / name) for name in ("tools", "tests", "")]

from flat_arguments import arguments_of

from ubpe_numba import UBPE
from ubpe_numba.runtime import thread_pool
from ubpe_numba.text.pretokenizer import Pretokenizer

WORDS = (
    "a",
    "the",
    "cat",
    "cats",
    "catalogue",
    "dog",
    "12",
    "2024",
    "don't",
    "é",
    "naïve",
    ",",
    "...",
    "aaaaaaaaaaaa",
    "\n",
)


class Case(NamedTuple):
    """Documents, how they weigh and where no token may cross, arguments of the tokenizer and of `refine`."""

    docs: list[Any]
    weights: list[int] | None
    boundaries: list[list[int]] | None
    params: dict[str, Any]
    options: dict[str, Any]


def make(seed: int) -> Case:
    """The case of a seed."""
    rng = Random(seed)
    kind = rng.choice(["int", "int", "str", "bytes", "text", "text"])
    size = rng.choice([1, 2, 2, 3, 4, 20, 300])
    params: dict[str, Any] = {"n_threads": 1}
    boundaries = None
    if kind == "text":
        docs: list[Any] = [
            " ".join(rng.choices(WORDS[: rng.choice([2, 6, 15])], k=rng.choice([0, 1, 5, 20])))
            for _ in range(8)
        ]
        docs = docs * rng.choice([1, 5])
        params["pretokenizer"] = rng.choice([None, "gpt2", "cl100k", r"\w+|\s", "(?s)..."])
        params["encoding"] = rng.choice(["utf-8", None])
        params["special_tokens"] = rng.choice([None, ["the", "."]])
        params["break_tokens"] = (
            None if params["encoding"] or not any(" " in doc for doc in docs) else rng.choice([None, [" "]])
        )
        params["normalizer"] = rng.choice([None, "NFC"])
    else:
        docs = [sequence(rng, size) for _ in range(rng.choice([0, 1, 2, 9, 40]))]
        docs += docs[: rng.choice([0, 1, 9])]
        if rng.random() < 0.3:
            boundaries = [
                sorted(rng.sample(range(len(doc) + 1), min(len(doc), rng.choice([0, 2])))) for doc in docs
            ]
        if kind == "int" and rng.random() < 0.3:
            ids = rng.sample(range(-(10**12), 10**12), size)
            docs = [[ids[s] for s in doc] for doc in docs]
        elif kind != "int":
            docs = ["".join(chr(0x61 + s) for s in doc) for doc in docs]
            docs = [doc.encode("utf-8") for doc in docs] if kind == "bytes" else docs
            if kind == "bytes" and size == 300:
                boundaries = None
    weights = [rng.choice([0, 1, 1, 2, 5]) for _ in docs] if rng.random() < 0.4 else None
    symbols = {s for doc in docs for s in doc}
    if kind == "int":
        params["alphabet"] = np.array(sorted(symbols or {0}), np.int64)
    of_bytes = kind == "bytes" or params.get("encoding") is not None
    params["n_tokens"] = (256 if of_bytes else max(1, len(symbols))) + rng.choice([0, 1, 2, 5, 20, 100, 1000])
    params["max_token_length"] = rng.choice([None, None, None, 1, 2, 5])
    options: dict[str, Any] = {
        "robust": rng.choice(["auto", True, False]),
        "min_count": rng.choice(["auto", 2, 3, 10]),
        "max_token_length": rng.choice([None, None, 1, 2, 3, 8]),
        "objective": rng.choice(["shortest", "shortest", "likelihood"]),
    }
    return Case(docs, weights, boundaries, params, options)


def sequence(rng: Random, size: int) -> list[int]:
    """Symbols: from anywhere, periodic, runs, or few sequences again and again."""
    n, kind = rng.choice([0, 1, 2, 7, 30, 30, 120]), rng.random()
    if kind < 0.3:
        return rng.choices(range(size), k=n)
    if kind < 0.5:
        period = rng.choices(range(size), k=rng.choice([1, 2, 3, 10]))
        return (period * n)[:n]
    if kind < 0.7:
        return [s for _ in range(n // 8 + 1) for s in [rng.randrange(size)] * rng.choice([1, 1, 2, 8, 30])]
    few = [rng.choices(range(size), k=rng.choice([2, 3, 5, 17])) for _ in range(4)]
    return [s for _ in range(n // 6 + 1) for s in rng.choice(few)]


# ---------------------------------------------------------------------------------------------- plain
# references


def segments_of(case: Case) -> Iterator[tuple[tuple[Any, ...], int]]:
    """What no token crosses, as symbols, and how often it occurs."""
    for i, doc in enumerate(case.docs):
        weight = 1 if case.weights is None else case.weights[i]
        cuts = [] if case.boundaries is None else case.boundaries[i]
        for a, z in itertools.pairwise([0, *cuts, len(doc)]):
            for piece in pieces_of(doc[a:z], case.params) if isinstance(doc, str) else [doc[a:z]]:
                yield tuple(piece.encode() if case.params.get("encoding") else piece), weight


def pieces_of(text: str, params: dict[str, Any]) -> Iterator[str]:
    """The segments of a text by special tokens, break tokens and pattern."""
    special, breaks, pattern = (
        params.get(name) for name in ("special_tokens", "break_tokens", "pretokenizer")
    )
    pieces = [text]
    for word in sorted([*(special or []), *(breaks or [])], key=len, reverse=True):
        lone = [word] if word in (breaks or []) else []
        pieces = [part for piece in pieces for part in interleaved(piece.split(word), lone)]
    for piece in pieces:
        if pattern is None or not piece:
            yield piece
            continue
        values = np.frombuffer(piece.encode("utf-32-le"), np.uint32).astype(np.int32)
        cuts = Pretokenizer(pattern).split(values, np.array([0, values.size])).tolist()
        for a, z in itertools.pairwise(cuts):
            yield piece[a:z]


def interleaved(parts: list[str], between: list[str]) -> list[str]:
    """Parts with what stands between them.

    >>> interleaved(["a", "b"], ["."])
    ['a', '.', 'b']
    """
    return [x for part in parts for x in (part, *between)][: len(parts) * (1 + len(between)) - len(between)]


def substrings_of(segments: list[tuple[tuple[Any, ...], int]], longest: int) -> Counter[tuple[Any, ...]]:
    """How often each substring of two symbols or more occurs, occurrences that overlap counted."""
    counts: Counter[tuple[Any, ...]] = Counter()
    for symbols, weight in segments:
        for a in range(len(symbols)):
            for z in range(a + 2, min(len(symbols), a + longest) + 1):
                counts[symbols[a:z]] += weight
    return counts


def fewest(symbols: tuple[Any, ...], tokens: set[tuple[Any, ...]], longest: int) -> int:
    """The fewest tokens of a sequence."""
    behind = [0] * (len(symbols) + 1)
    for a in reversed(range(len(symbols))):
        ends = (z for z in range(a + 2, min(len(symbols), a + longest) + 1) if symbols[a:z] in tokens)
        behind[a] = 1 + min([behind[a + 1], *(behind[z] for z in ends)])
    return behind[0]


# ---------------------------------------------------------------------------------------------- checks


def learned(tok: UBPE) -> list[tuple[Any, ...]]:
    """The learned tokens, as symbols of documents."""
    alphabet, vocabulary = tok._model.alphabet, tok._model.vocabulary
    symbols = alphabet.symbols.tolist() if alphabet.kind != "str" else [chr(s) for s in alphabet.symbols]
    sequences = (vocabulary.sequence(t).tolist() for t in range(vocabulary.n_alphabet, len(vocabulary)))
    return [tuple(symbols[s] for s in sequence) for sequence in sequences]


def check(case: Case) -> int:
    """AssertionError at what does not hold, saying what; returns how many symbols there were."""
    docs, weights, boundaries, params, options = case
    given = {"sample_weight": weights, "boundaries": boundaries, "progress": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tok = UBPE(objective="shortest", **arguments_of(params)).fit(docs, **given)
    before = tok.fingerprint
    found = tok.refine(docs, **given, **options)
    assert tok.fingerprint == before, "the tokenizer is as it was"
    check_tokens(case, tok, found)
    check_encoding(case, found)
    with tempfile.TemporaryDirectory() as folder:
        found.save(f"{folder}/model.npz")
        assert UBPE.load(f"{folder}/model.npz").fingerprint == found.fingerprint, "saved and loaded"
    serial = thread_pool.SERIAL_BELOW
    try:
        thread_pool.SERIAL_BELOW = 0
        for n_threads in (2, 3, 8):
            again = tok.set_params(n_threads=n_threads).refine(docs, **given, **options)
            assert again.set_params(n_threads=1).fingerprint == found.fingerprint, f"{n_threads} threads"
    finally:
        thread_pool.SERIAL_BELOW = serial
        tok.set_params(n_threads=1)
    # copies are documents, weights are not
    if weights is not None and options["robust"] is False and goes_with_copies(case):
        copies = [doc for doc, weight in zip(docs, weights, strict=True) for _ in range(weight)]
        cuts = (
            None
            if boundaries is None
            else [c for c, weight in zip(boundaries, weights, strict=True) for _ in range(weight)]
        )
        again = tok.refine(copies, boundaries=cuts, progress=False, **options)
        assert learned(again) == learned(found), "copies in place of weights"
    return sum(map(len, docs))


def goes_with_copies(case: Case) -> bool:
    """Whether copies of documents are promised to give the same as weights: by one way, where no limit of memory is near."""
    options, edges = case.options, sum(len(doc) ** 2 for doc in case.docs)
    named = "auto" not in (str(options[name]) for name in ("robust", "min_count"))
    return named and options["objective"] == "shortest" and edges < 2**20


def check_tokens(case: Case, tok: UBPE, found: UBPE) -> None:
    """Size, lengths, counts and sums of tokens."""
    options, tokens = case.options, learned(found)
    room = case.params["n_tokens"] - tok._model.vocabulary.n_alphabet
    longest = options["max_token_length"] or case.params["max_token_length"] or 2**62
    assert len(set(tokens)) == len(tokens), "tokens are distinct"
    assert len(tokens) <= room, "no more than are wanted"
    assert all(2 <= len(token) <= longest for token in tokens), "lengths"
    segments = [(symbols, weight) for symbols, weight in segments_of(case) if weight]
    counts = substrings_of(segments, longest)
    # words that occur once may fill what room is left
    least = 2 if case.params.get("pretokenizer") is None else 1
    often = sum(count >= least for count in counts.values())
    assert all(counts[token] >= least for token in tokens), f"tokens occur {least} times"
    if options["objective"] == "shortest" or least == 2:
        assert len(tokens) == min(room, often), f"{len(tokens)} tokens of {room}, {often} occur {least} times"
    if options["objective"] != "shortest":
        return
    if options["robust"] is False:
        total = total_of(segments, tokens)
        if max(map(len, learned(tok)), default=0) <= longest:
            own = total_of(segments, learned(tok))
            assert total <= own, f"{total} tokens, before {own}"


def total_of(segments: list[tuple[tuple[Any, ...], int]], tokens: list[tuple[Any, ...]]) -> int:
    """The fewest tokens of all segments, by weight."""
    inside, longest = set(tokens), max(map(len, tokens), default=1)
    return sum(fewest(symbols, inside, longest) * weight for symbols, weight in segments)


def check_encoding(case: Case, found: UBPE) -> None:
    """Documents are decoded, and what the vocabulary says of them is so."""
    options = {"allowed_special": "all"} if case.params.get("special_tokens") else {}
    encoded = found.encode_batch(case.docs, boundaries=case.boundaries, **options)
    decoded = found.decode_batch(encoded)
    assert [doc if isinstance(doc, (str, bytes)) else list(doc) for doc in decoded] == case.docs, "decoded"
    if found.objective == "shortest" and not case.params.get("special_tokens"):
        weights = [1] * len(case.docs) if case.weights is None else case.weights
        counts = np.zeros(len(found._model.vocabulary), np.int64)
        for ids, weight in zip(encoded.to_lists(), weights, strict=True):
            np.add.at(counts, ids, weight)
        assert found._model.vocabulary.occurrences.tolist() == counts.tolist(), "occurrences"
        segments = list(segments_of(case))
        assert int(counts.sum()) == total_of(segments, learned(found)), "the fewest tokens"


def fuzz(n_cases: float, seed: int, seconds: float = math.inf, report: float = 60.0) -> int:
    """Check so many cases, or for so many seconds; returns how many were.

    AssertionError with a reproducer at the first difference.
    """
    began = said = time.monotonic()
    for done in itertools.count():
        if done >= n_cases or time.monotonic() - began > seconds:
            return done
        i = (seed << 32) + done
        case = make(i)
        try:
            check(case)
        except Exception as error:
            raise AssertionError(f"{type(error).__name__}: {error}\n{case!r}\nmake({i})") from error
        if time.monotonic() - said > report:
            said = time.monotonic()
            print(f"{done} cases, {done / (said - began):.3g} a second", flush=True)
    raise AssertionError("never reached")


def main() -> None:
    """Parse and run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=float, default=math.inf, help="how many cases (default: no limit)")
    parser.add_argument(
        "--seconds", type=float, default=math.inf, help="stop after this time (default: no limit)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="another seed is another run (default %(default)s)"
    )
    options = parser.parse_args()
    try:
        print(f"{fuzz(options.cases, options.seed, options.seconds)} cases, no difference")
    except AssertionError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
