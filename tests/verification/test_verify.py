"""The self-check passes, can fail, is reproducible, and says what it left out."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import ubpe_numba
from ubpe_numba.verification import fits, pairs, paths, texts
from ubpe_numba.verification import verify as module
from ubpe_numba.verification.part import Inputs, Pairs, Part
from ubpe_numba.verification.result import Verification


def verify_only(*parts: Part, monkeypatch: pytest.MonkeyPatch, **options: Any) -> Verification:
    monkeypatch.setattr(module, "PARTS", parts)
    return ubpe_numba.verify(**{"seconds": 1e6, "progress": False, **options})


def test_nothing_differs() -> None:
    found = ubpe_numba.verify(seed=1, seconds=1e6, progress=False)
    assert found.passed and found.complete and not found.left_out, str(found)
    assert [row.name for row in found.rows] == [part.name for part in module.PARTS] and len(found.rows) == 26
    assert all(row.symbols > 1000 and not row.first for row in found.rows)
    assert found.kernels.used >= 60 and str(found).endswith("no difference")


def test_every_part_is_compared() -> None:
    known = [value for home in (fits, pairs, paths, texts) for value in vars(home).values() if isinstance(value, Part)]
    assert len(known) == len(module.PARTS) and {id(part) for part in known} == {id(part) for part in module.PARTS}
    assert len({part.name for part in known}) == len(known)


def in_first_item(kernel: Callable[..., Any], argument: int) -> Callable[..., Any]:
    """A kernel that writes something else to the first place of one of its arrays."""

    def broken(*args: Any) -> Any:
        result = kernel(*args)
        array = args[argument]
        if array.size:
            array[0] = 0 if array[0] else 1
        return result

    return broken


def of_swapped_pairs(fit: Callable[..., Any], _: int) -> Callable[..., Any]:
    """A fit that takes the parts of pairs in the wrong order."""

    def broken(*args: Any) -> Any:
        merges = fit(*args)
        return merges._replace(pairs=merges.pairs[:, ::-1].copy())

    return broken


def without_a_place(cut: Callable[..., Any], _: int) -> Callable[..., Any]:
    """A cut that joins the last two segments."""
    return lambda *args: cut(*args)[[0, *range(1, cut(*args).size - 2), -1]] if cut(*args).size > 2 else cut(*args)


def raising(*_: Any) -> Callable[..., Any]:
    """A kernel that cannot be called."""

    def broken(*_: Any) -> Any:
        raise ZeroDivisionError("of a kernel")

    return broken


FIT = ("ubpe_numba.fitting.learn", "fit", of_swapped_pairs, 0)
RANK = ("ubpe_numba.coding.kernels.by_rank", "encode_rank", in_first_item, -2)
DECODE = ("ubpe_numba.coding.kernels.decode", "decode", in_first_item, -3)
TFIDF = ("ubpe_numba.coding.kernels.best_path", "best_paths", in_first_item, -3)
WORDS = ("ubpe_numba.coding.word_encoder", "encode_words", in_first_item, -2)
#: What is broken, and the row that has to see it.
BROKEN = [
    *((part, *FIT) for part in vars(fits).values() if isinstance(part, Part)),
    *((part, *RANK) for part in (pairs.RANK, pairs.MANY, pairs.STREAM, pairs.WORDS, texts.UTF8)),
    *((part, *DECODE) for part in (pairs.DECODE, pairs.MANY, texts.ENCODED, texts.UTF8)),
    *((part, *TFIDF) for part in (paths.BEST, paths.MANY, paths.LARGE)),
    *((part, *WORDS) for part in (texts.ENCODED, texts.MANY)),
    (pairs.OTHER_RULES, "ubpe_numba.coding.kernels.by_pairs", "encode_pairs", in_first_item, -2),
    (pairs.OTHER_RULES, "ubpe_numba.coding.kernels.one_by_one", "encode_one_by_one", in_first_item, -2),
    (pairs.DROPOUT, "ubpe_numba.coding.kernels.dropout", "encode_dropout", in_first_item, -2),
    (pairs.COUNTS, "ubpe_numba.coding.kernels.count_tokens", "count_tokens", in_first_item, -2),
    (pairs.COUNTS, "ubpe_numba.documents.counts", "find_distinct", raising, 0),
    (paths.BEST, "ubpe_numba.coding.kernels.packed_path", "packed_paths", in_first_item, -2),
    (paths.BEST, "ubpe_numba.coding.kernels.forward_path", "forward_paths", raising, 0),
    (paths.N_BEST, "ubpe_numba.coding.kernels.k_cheapest", "read_tails", in_first_item, -1),
    (paths.SUMS, "ubpe_numba.coding.kernels.expected_counts", "boundary_probabilities", in_first_item, -1),
    (paths.SUMS, "ubpe_numba.coding.kernels.expected_counts", "expected_counts", in_first_item, -2),
    (texts.CUTS, "ubpe_numba.verification.texts", "scan", without_a_place, 0),
    (texts.PIECES, "ubpe_numba.coding.kernels.word_pieces", "cut_words", in_first_item, -2),
]


def test_every_part_is_broken_once() -> None:
    assert {part.name for part, *_ in BROKEN} == {part.name for part in module.PARTS}


@pytest.mark.parametrize("part, home, name, how, argument", BROKEN, ids=[f"{case[0].name}-{case[2]}" for case in BROKEN])
def test_a_broken_kernel_is_seen(
    part: Part, home: str, name: str, how: Callable[..., Any], argument: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = part._replace(cases=min(part.cases, 30))
    assert verify_only(part, monkeypatch=monkeypatch).passed
    monkeypatch.setattr(import_module(home), name, how(getattr(import_module(home), name), argument))
    found = verify_only(part, monkeypatch=monkeypatch)
    row = found.rows[0]
    assert not found.passed and row.differences > 0 and row.cases == part.cases
    assert row.first is not None and row.first.inputs == part.inputs(0, row.first.case)
    assert "DIFFERENCES" in str(found) and f"{part.name}, case {row.first.case}, {row.first.what}: {row.first.where}"[:40] in str(
        found
    )


def test_a_broken_reference_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = pairs.encode_pairs.encode_rank
    monkeypatch.setattr(pairs.encode_pairs, "encode_rank", lambda doc, merges: right(doc, merges)[::-1])
    found = verify_only(pairs.RANK, monkeypatch=monkeypatch)
    assert not found.passed and found.rows[0].first is not None and "expected" in found.rows[0].first.where


def test_a_difference_can_be_told_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inputs of every part, bytes and lone surrogates among them."""

    def differ(given: Inputs) -> Pairs:
        yield "nothing", 1, 2

    found = verify_only(*(part._replace(compare=differ, cases=2) for part in module.PARTS), monkeypatch=monkeypatch)
    assert all((row.cases, row.differences) == (2, 2) for row in found.rows)
    data = found.to_dict()
    assert json.loads(json.dumps(data)) == data
    again = Verification.from_dict(data)
    assert again.to_dict() == data and again.rows[0].first is not None and again.rows[0].first.where == "1, expected 2"


def digest(seed: int) -> str:
    drawn = [repr(part.inputs(seed, case)) for part in module.PARTS for case in range(3)]
    return hashlib.sha256("".join(drawn).encode("utf-8", "surrogatepass")).hexdigest()


def test_a_seed_gives_the_same_cases_in_every_process() -> None:
    script = "from verification.test_verify import digest; print(digest(5))"
    environment = {**os.environ, "PYTHONHASHSEED": "3", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
    assert done.stdout.strip() == digest(5) != digest(6), done.stderr


def clocked(monkeypatch: pytest.MonkeyPatch, *parts: tuple[str, int, float]) -> tuple[list[Part], list[str]]:
    """Parts of a name, a number of cases and the seconds of each, by a clock that only they move on; what ran, in order."""
    clock, ran = [0.0], []

    def part(name: str, cases: int, seconds: float) -> Part:
        def compare(given: Inputs) -> Pairs:
            ran.append(name)
            clock[0] += seconds
            yield "nothing", 1, 1

        return Part(name, cases, lambda rng: {"documents": [[0]]}, compare)

    monkeypatch.setattr(module.time, "monotonic", lambda: clock[0])
    return [part(*given) for given in parts], ran


def test_what_there_is_no_time_for_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    parts, ran = clocked(monkeypatch, ("quick", 5, 0.001), ("compiled", 9, 4.0), ("late", 9, 1.0), ("never", 9, 1.0))
    found = verify_only(*parts, monkeypatch=monkeypatch, seconds=17.5)
    assert ran == ["quick"] * 5 + ["compiled"] * 4 + ["late"] * 2
    assert [row.cases for row in found.rows] == [5, 4, 2, 0]
    assert found.passed and not found.complete and found.left_out == ["never"]
    assert "not compared, for time: never" in str(found) and "4 of 9" in str(found)


def test_a_few_cases_of_each_come_first_and_then_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    parts, ran = clocked(monkeypatch, ("a", 100, 1.0), ("b", 100, 1.0), ("c", 5, 1.0))
    found = verify_only(*parts, monkeypatch=monkeypatch, seconds=40.0)
    assert ran[:12] == ["a"] * 4 + ["b"] * 4 + ["c"] * 4  # one more each, which is as brief as it may be
    assert found.rows[2].cases == 5 and sum(row.cases for row in found.rows) == 40
    assert found.rows[1].cases > 12 and found.rows[0].cases > 12
    assert not found.left_out and str(found).endswith("no difference in what was compared. More time: --seconds")


def test_without_any_time_nothing_is_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    parts, _ = clocked(monkeypatch, ("a", 1, 1.0))
    found = verify_only(*parts, monkeypatch=monkeypatch, seconds=1e-12)
    assert found.passed and found.complete
    parts[0] = parts[0]._replace(cases=0)
    found = verify_only(*parts, monkeypatch=monkeypatch)
    assert not found.passed and "NOTHING WAS COMPARED" in str(found)


def test_fresh_reads_no_cache() -> None:
    """A fraction of a second, in which the first kernels are compiled: what is in use then was compiled there."""
    found = ubpe_numba.verify(fresh=True, seconds=0.2, seed=3, progress=False)
    assert found.passed and found.fresh and found.seed == 3 and found.kernels.loaded == 0 and found.kernels.compiled > 5
    assert found.left_out and found.rows[0].cases and "all kernels compiled anew" in str(found)


def test_a_child_that_ends_without_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(RuntimeError, match="verify: the process that compiled all kernels ended with code 1, without a result"):
        ubpe_numba.verify(fresh=True)


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ({"seed": -1}, ValueError, "seed: expected 0 or more, got -1"),
        ({"seed": 1.5}, TypeError, "seed: expected an integer, got 1.5"),
        ({"seconds": 0}, ValueError, "seconds: expected a number above 0, got 0"),
        ({"seconds": float("nan")}, ValueError, "seconds: expected a number above 0, got nan"),
        ({"seconds": "9"}, TypeError, "seconds: expected a number, got str"),
        ({"progress": "yes"}, ValueError, "progress: expected 'auto', True or False, got 'yes'"),
        ({"fresh": 2}, TypeError, "fresh: expected True or False, got 2"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ubpe_numba.verify(**arguments)
