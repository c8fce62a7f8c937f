"""Fuzzing of fits: random small corpora under every rule, the kernels' merges against the plain reference.

Every problem is fitted by its class in one shard, and once more in another way: in shards and on threads,
with the limits of the kernels set low, from documents given otherwise, or in two steps by `fit_more`. Pairs,
counts, documents, lengths, weights, occurrences, ids of the corpus and tables ordered by idf have to be those
of the reference. Stops at the first difference and prints what reproduces it, or at ``--fits``. With
``--reference`` references run in a process of another interpreter.

    python tools/fuzz/fuzz_fit.py --fits 1e6 --seed 1 --reference pypy3
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import pathlib
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import numpy as np

if __name__ == "__main__":
    sys.path[:0] = [str(pathlib.Path(__file__).parents[2] / name) for name in ("tools", "tests", "")]

from fuzz.fit_problems import Docs, Learned, Problem
from fuzz.reference_process import answers

from ubpe_numba import BPE, UBPE, FitRules, Ragged, UBPEClassic
from ubpe_numba.fitting import fit, text
from ubpe_numba.fitting.kernels import text_cells

CLASSES: dict[str, Any] = {"BPE": BPE, "UBPEClassic": UBPEClassic, "UBPE": UBPE}

Way = Callable[[Problem, Random], Any]


def plain(problem: Problem, rng: Random) -> Any:
    """One shard, in this thread, documents as lists."""
    return tokenizer(problem, 1).fit(problem.docs, **marks(problem))


def in_shards(problem: Problem, rng: Random) -> Any:
    """As many shards as threads, of few symbols each, with borders inside of documents."""
    with changed(fit, _PER_SHARD=rng.choice([1, 3, 8, 30])):
        return tokenizer(problem, rng.choice([2, 3, 5])).fit(problem.docs, **marks(problem))


def with_low_limits(problem: Problem, rng: Random) -> Any:
    """Pairs counted by sorting, many epochs, small batches, lists that have to grow."""
    limits = changed(
        fit,
        _ONE_EPOCH=0,
        _ONE_EPOCH_WEIGHTED=0,
        _SMALL=rng.choice([0, 1 << 16]),
        _FEW_PAIRS=rng.choice([1, 4]),
    )
    sizes = changed(text, _POSITIONS=rng.choice([1.0, 1.03]), _LARGE=0)
    with (
        limits,
        sizes,
        changed(text_cells, DENSE=rng.choice([0, 1024])),
        changed(fit, _PER_SHARD=rng.choice([8, 500_000])),
    ):
        return tokenizer(problem, rng.choice([1, 1, 3])).fit(problem.docs, **marks(problem))


def given_otherwise(problem: Problem, rng: Random) -> Any:
    """Documents as flat arrays of any width, as a Ragged, as arrays, or from an iterator."""
    tok = tokenizer(problem, 1)
    dtype = rng.choice([np.int16, np.uint16, np.int32, np.int64, np.uint64])
    values = np.fromiter(itertools.chain.from_iterable(problem.docs), dtype)
    offsets = np.cumsum([0, *map(len, problem.docs)])
    kind = rng.randrange(4)
    if kind == 0:
        return tok.fit(values, offsets=offsets, **marks(problem))
    if kind == 1:
        return tok.fit(Ragged(values.astype(np.int32), offsets), **marks(problem))
    arrays = [np.array(doc, dtype) for doc in problem.docs]
    return tok.fit(iter(arrays) if kind == 2 and arrays else arrays, **marks(problem))


def in_two_steps(problem: Problem, rng: Random) -> Any:
    """A shorter fit, then `fit_more` on the same corpus."""
    if problem.order == "idf" or problem.overshoot or problem.n_tokens is None:
        return plain(problem, rng)
    first = problem.size + rng.randrange(problem.n_tokens - problem.size + 1)
    tok = tokenizer(problem._replace(n_tokens=first), rng.choice([1, 2])).fit(problem.docs, **marks(problem))
    return tok.fit_more(problem.docs, problem.n_tokens, **marks(problem))


WAYS: list[Way] = [in_shards, in_shards, with_low_limits, given_otherwise, in_two_steps]


def tokenizer(problem: Problem, n_threads: int) -> Any:
    """A tokenizer of the class of a problem, not yet fitted."""
    p = problem
    rules = FitRules(
        ties=p.ties,
        min_count=p.min_count,
        overshoot=p.overshoot,
        order=p.order,
        trim=p.trim,
        max_token_length=p.longest,
    )
    params = {"alphabet": p.size, "rules": rules, "n_threads": n_threads}
    if p.cls != "BPE":
        params["n_candidates"] = p.n_candidates
    if p.cls == "UBPE":
        params["objective"] = "shortest"  # no warning where every idf is 0
    return CLASSES[p.cls](p.n_tokens, **params)


def marks(problem: Problem) -> dict[str, Any]:
    """What goes with the documents, by the names of `fit`."""
    return {"sample_weight": problem.weights, "boundaries": problem.boundaries, "progress": False}


@contextlib.contextmanager
def changed(module: Any, **values: Any) -> Iterator[None]:
    """Constants of a module are other ones."""
    before = {name: getattr(module, name) for name in values}
    vars(module).update(values)
    try:
        yield
    finally:
        vars(module).update(before)


# ---------------------------------------------------------------------------------------------- checks


def check(problem: Problem, want: Learned, way: Way, rng: Random) -> None:
    """AssertionError at a difference, saying of what."""
    try:
        tok = way(problem, rng)
    except ValueError as error:
        if want.table is None and "removed tokens" in str(error):
            return
        raise
    assert want.table is not None, "a table that dangles was not refused"
    v, n = tok._model.vocabulary, problem.size
    idf = v.weights[n:]
    sequences = [tuple(v.sequence(token).tolist()) for token in range(n, len(v))]
    same(sequences, [sequence for sequence, _ in want.table], "sequences")
    same(np.allclose(idf, [weight for _, weight in want.table], rtol=1e-14, atol=0.0), True, "weights")
    history = tok.history_
    same(history.counts.tolist(), [count for _, _, count, _ in want.merges], "counts")
    same(
        history.document_frequencies.tolist(), [documents for _, _, _, documents in want.merges], "documents"
    )
    same(history.lengths.tolist(), want.lengths, "lengths")
    weights = [1] * len(problem.docs) if problem.weights is None else problem.weights
    same(v.n_documents, sum(weights), "number of documents")
    same(
        v.n_symbols,
        sum(len(doc) * weight for doc, weight in zip(problem.docs, weights, strict=True)),
        "number of symbols",
    )
    if problem.order == "idf":
        return
    same([(a, b) for a, b in v.merges.tolist()], [(a, b) for a, b, _, _ in want.merges], "pairs")
    of_tokens: Counter[int] = Counter()
    for doc, weight in zip(want.corpus, filter(None, weights), strict=True):
        for token in doc:
            of_tokens[token] += weight
    same(v.occurrences.tolist(), [of_tokens[token] for token in range(len(v))], "occurrences")
    if problem.cls == "BPE" and problem.boundaries is None:
        same(tok.encode_batch(docs_that_weigh(problem)).to_lists(), want.corpus, "ids")


def same(found: Any, want: Any, name: str) -> None:
    """AssertionError if two values differ."""
    assert found == want, f"{name}: found {found}, wanted {want}"


def docs_that_weigh(problem: Problem) -> Docs:
    """The documents whose weight is not 0."""
    weights = [1] * len(problem.docs) if problem.weights is None else problem.weights
    return [doc for doc, weight in zip(problem.docs, weights, strict=True) if weight]


def fuzz(n_fits: float, seed: int, reference: str | None = None, report: float = 60.0) -> Counter[str]:
    """Check fits until there were so many, two of each problem; returns how many were, by class and way.

    AssertionError with a reproducer at the first difference. `reference` is the interpreter of the
    references; None: in this process.
    """
    done: Counter[str] = Counter()
    total, began, said, first = 0, time.monotonic(), time.monotonic(), seed << 32
    with (
        warnings.catch_warnings(),
        contextlib.closing(answers(reference, "fuzz.fit_problems", first)) as every,
    ):
        warnings.filterwarnings("ignore", "docs: there are no documents", UserWarning)
        for i, (fields, learned) in enumerate(every, first):
            problem, want, rng = Problem(*fields), Learned(*learned), Random(i)
            for way in (plain, rng.choice(WAYS)):
                try:
                    check(problem, want, way, rng)
                except Exception as error:
                    what = f"{way.__name__} differs: {type(error).__name__}: {error}"
                    raise AssertionError(f"{what}\n{problem!r}\nmake({i})\nwanted {want!r}") from error
                done[f"{problem.cls} {way.__name__}"] += 1
                total += 1
            if time.monotonic() - said > report:
                said = time.monotonic()
                print(f"{total} fits, {total / (said - began):.3g} a second", flush=True)
            if total >= n_fits:
                break
    return done


def main() -> None:
    """Parse and run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fits", type=float, default=1e5, help="fits to compare (default %(default)g)")
    parser.add_argument(
        "--seed", type=int, default=0, help="another seed is another run (default %(default)s)"
    )
    parser.add_argument(
        "--reference", help="interpreter that runs the references, a path or a name (default: this process)"
    )
    options = parser.parse_args()
    try:
        done = fuzz(options.fits, options.seed, options.reference)
    except AssertionError as error:
        sys.exit(str(error))
    for name, n in sorted(done.items()):
        print(f"{name:30} {n:9,}")
    print(f"{done.total()} fits, no difference")


if __name__ == "__main__":
    main()
