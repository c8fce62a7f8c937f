"""A fit keeps to `memory_limit`, with the same result, or refuses with an estimate."""

from __future__ import annotations

import logging
import subprocess
import sys

import numpy as np
import pytest
from tables import each

from ubpe_numba import BPE, FitRules, UBPEClassic
from ubpe_numba.fitting import fit as fitting


@pytest.fixture
def no_tables(monkeypatch):
    """No allowance for tables and no batches of small merges, so that small corpora reach the limit too."""
    monkeypatch.setattr(fitting, "_TABLES", 0)
    monkeypatch.setattr(fitting, "_SMALL", 0)


def corpora():
    rng = np.random.default_rng(0)
    yield [rng.zipf(1.5, 3000) % 40 for _ in range(5)], 40
    yield [rng.zipf(1.3, 20_000) % 1500], 1500  # more tokens than are counted in a dense table
    yield [np.tile([0, 1, 2], 900), np.zeros(800, int), np.tile([0, 1], 700)], 3


@each("docs, size", list(corpora()))
@each("candidates", [1, 4])
def test_a_limit_does_not_change_the_result(no_tables, caplog, docs, size, candidates):
    caplog.set_level(logging.INFO, "ubpe_numba")
    n = sum(map(len, docs))
    expected = UBPEClassic(size + 150, candidates).fit(docs).fingerprint
    kept = refused = 0
    for per_symbol in (40, 24, 18, 15, 12, 10, 8):
        try:
            tok = UBPEClassic(size + 150, candidates).fit(docs, memory_limit=per_symbol * n, progress=False)
        except MemoryError:
            refused += 1
        else:
            assert not refused, "less memory was enough than before"
            assert tok.fingerprint == expected
            kept += 1
    assert kept
    assert refused


@each("n", [4, 1800, 8000])
@pytest.mark.parametrize("cls", [BPE, UBPEClassic])
def test_a_small_text_is_held_by_what_the_docstring_says(cls, n):
    """42 MB and a few bytes a symbol: a batch of merges is closed earlier, since it cannot come to more than the text has."""
    docs = [np.random.default_rng(n).integers(0, 256, n)]
    limit = 42_000_000 + 7 * n + 11
    assert cls(300, alphabet=256).fit(docs, memory_limit=limit).fingerprint == cls(300, alphabet=256).fit(docs).fingerprint


@each("seed", range(8))
def test_what_the_docstring_says_is_enough(seed, monkeypatch):
    monkeypatch.setattr(fitting, "_TABLES", 0)
    rng = np.random.default_rng(seed)
    n = int(rng.choice([10, 1000, 20_000, 50_000]))
    x = [rng.integers(0, 4, n), np.zeros(n, int), np.arange(n) % 3, rng.zipf(1.3, n) % 1500][seed % 4]
    docs = np.array_split(x, rng.choice([1, 3, n // 3 + 1]))
    common = int(np.unique(2000 * x[:-1] + x[1:], return_counts=True)[1].max())
    for candidates in (1, 50):
        expected = UBPEClassic(1600, candidates, alphabet=1500).fit(docs).fingerprint
        for limit in (15 * n + 19 * (len(docs) + 1) + 24 * common, 27 * n + 31 * (len(docs) + 1)):
            assert UBPEClassic(1600, candidates, alphabet=1500).fit(docs, memory_limit=limit).fingerprint == expected
    weights = {"sample_weight": [2] * len(docs)}
    expected = BPE(1600, alphabet=1500).fit(docs, **weights).fingerprint
    fits = BPE(1600, alphabet=1500).fit(docs, **weights, memory_limit=27 * n + 31 * (len(docs) + 1))
    assert fits.fingerprint == expected


def test_a_limit_that_is_felt_is_logged(no_tables, caplog):
    rng = np.random.default_rng(1)
    with caplog.at_level(logging.INFO, "ubpe_numba"):
        UBPEClassic(200, 4, alphabet=40).fit(rng.geometric(0.08, 60_000) % 40, memory_limit=9 * 60_000)
    assert any("only pairs that occur" in record.getMessage() for record in caplog.records)


@pytest.mark.parametrize("options", [{}, {"sample_weight": [2]}])
def test_refused_up_front(options):
    tok = BPE(20, alphabet=4).fit([[0, 1, 0, 1]])
    before = tok.fingerprint
    with pytest.raises(MemoryError, match=r"^memory_limit: 1000002 symbols and separators need at least [\d.]+ MB"):
        tok.fit([np.zeros(1_000_000, np.int32)], memory_limit=1000, **options)
    assert tok.fingerprint == before


def test_fit_more_keeps_to_it(no_tables):
    docs = [np.random.default_rng(2).zipf(1.4, 20_000) % 50]
    rules = FitRules()
    expected = BPE(200, rules=rules).fit(docs).fingerprint
    tok = BPE(100, rules=rules).fit(docs).fit_more(docs, 200, memory_limit=20_000 * 20)
    assert tok.set_params(n_tokens=200).fingerprint == expected
    with pytest.raises(MemoryError, match="memory_limit"):
        tok.fit_more(docs, 250, memory_limit=1000)


PEAK = """
import resource, sys
import numpy as np
from ubpe_numba import BPE
rng = np.random.default_rng(0)
docs = (rng.zipf(1.2, 8_000_000) % 60).astype(np.uint8)
BPE(70, alphabet=60, n_threads=1).fit(docs[:10_000], progress=False)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
BPE(1500, alphabet=60, n_threads=1).fit(docs, memory_limit=int(sys.argv[1]), progress=False)
print(1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in other units elsewhere")
def test_the_process_keeps_to_it():
    limit = 135_000_000
    done = subprocess.run([sys.executable, "-c", PEAK, str(limit)], capture_output=True, text=True, check=True)
    assert int(done.stdout) < limit


def test_the_least_and_the_most_that_a_limit_can_be():
    """Positions may be left out but for one of four bytes for every fourth cell; where they may not, less is refused."""
    n = 1_000_000
    fixed = fitting.Memory.within(50 * n, n, 10, True).fixed
    most = fixed + (fitting._MOST - 4) * n
    assert fitting.Memory.within(fixed + n, n, 10, True).limit == fixed + n
    for limit, divisible in ((fixed + n - 1, True), (most - 1, False)):
        with pytest.raises(MemoryError):
            fitting.Memory.within(limit, n, 10, divisible)
    assert fitting.Memory.within(most - 1, n, 10, True) is not None
    assert fitting.Memory.within(most, n, 10, True) is fitting.Memory.within(most, n, 10, False) is None
