"""The data of the self-check are adversarial as they are said to be."""

from __future__ import annotations

from itertools import groupby

from ubpe_numba.verification import fits, pairs, paths, texts
from ubpe_numba.verification.part import Part


def documents(part: Part) -> list[list[int]]:
    return [doc for case in range(part.cases) for doc in part.inputs(0, case)["documents"]]


def longest_run(doc: list[int]) -> int:
    return max((len(list(run)) for _, run in groupby(doc)), default=0)


def test_lengths_runs_and_periods() -> None:
    for part in (pairs.RANK, pairs.DECODE):
        lengths = set(map(len, documents(part)))
        assert {0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129} <= lengths
    docs = documents(pairs.RANK)
    assert max(map(longest_run, docs)) == 129
    assert sum(len(doc) > 20 and any(doc[p:] == doc[:-p] for p in (2, 3, 4, 5)) and longest_run(doc) < 5 for doc in docs) > 20


def test_tables() -> None:
    given = [pairs.RANK.inputs(0, case) for case in range(pairs.RANK.cases)]
    assert {one["size"] for one in given} >= {1, 2, 3, 4, 5, 300} and max(len(one["pairs"]) for one in given) > 30
    shuffled = [one for one in given if any(max(pair) >= one["size"] + i for i, pair in enumerate(one["pairs"]))]
    assert len(shuffled) > 20
    sizes = {fits.PAIRS.inputs(0, case)["size"] for case in range(fits.PAIRS.cases)}
    assert sizes == {1, 2, 3, 4, 5, 7, 50, 1500}  # pairs of more than 1024 symbols are counted otherwise


def test_weights_counts_and_extremes() -> None:
    weights = [w for case in range(50) for w in fits.WEIGHTED.inputs(0, case)["weights"] or []]
    assert {0, 1, 4095, 4096, 2**31 - 1, 2**33, 2**40} <= set(weights)
    symbols = {symbol for doc in documents(fits.SYMBOLS_OF_TYPES) for symbol in doc}
    assert {-(2**63), 2**63 - 1, -(2**31), 2**31 - 1, 2**32 - 1} <= symbols
    assert max(len(paths.LARGE.inputs(0, case)["documents"][0]) for case in range(3)) > 2 * 4095
    equal = [case for case in range(50) if len(set(paths.BEST.inputs(0, case)["idf"])) == 1]
    assert len(equal) > 10  # of ties all over


def test_text() -> None:
    given = [texts.CUTS.inputs(0, case) for case in range(texts.CUTS.cases)]
    assert len({one["pattern"] for one in given}) == 9
    docs = [doc for one in given for doc in one["documents"]]
    wrong = [doc for doc in docs if doc != doc.decode("utf-8", "ignore").encode()]
    assert b"" in docs and len(docs) // 4 < len(wrong) < len(docs)
    assert max(map(len, docs)) > 500


def test_large_corpora_are_as_large_as_threads_want() -> None:
    for part, least in ((fits.LARGE, 1_000_000), (pairs.MANY, 200_000), (paths.MANY, 200_000), (texts.MANY, 200_000)):
        for case in range(part.cases):
            given = part.inputs(0, case)
            assert sum(map(len, given["documents"])) * given["copies"] >= least
