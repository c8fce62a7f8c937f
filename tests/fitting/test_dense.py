"""The dense phase of a fit, forced on small texts, against the fit without it."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from fit_cases import NO_TABLES
from hypothesis import example, given, strategies as st
from tables import refuses

from ubpe_numba import BPE, FitRules
from ubpe_numba.documents.read import as_corpus
from ubpe_numba.errors import UnknownSymbolError
from ubpe_numba.fitting import dense, fit as fitting, memory
from ubpe_numba.fitting.kernels import text_cells
from ubpe_numba.runtime.messages import Progress
from ubpe_numba.vocabulary.alphabet import Alphabet

NEVER = 10**18


class Way(NamedTuple):
    """How the dense phase is made: while a pair occurs once in so many bytes, in pieces of so many cells, which begin near."""

    part: int = 10**9
    piece: int = 1 << 24
    near: int = 4096
    widest: int = 1024
    threads: int = 1
    shards: int | None = None  # of the loop that goes on
    limit: int | None = None  # of memory, bytes a symbol


WAYS = st.builds(
    Way, st.sampled_from([10**9, 200, 8]), st.sampled_from([1 << 24, 1000, 100, 7]), st.sampled_from([4096, 30, 4]),
    st.sampled_from([1024, 6]), st.sampled_from([1, 2, 3]), st.sampled_from([None, None, 2, 3]),
    st.sampled_from([None, 30, 8, 4]),
)  # fmt: skip
SIZES = [1, 2, 3, 4, 30, 180, 191, 251, 252, 253, 254, 255, 256, 260, 1000]


def drawn(seed: int, size: int, nature: str, n: int, n_documents: int) -> tuple[np.ndarray, np.ndarray]:
    """Symbols below `size` of one nature, and offsets of documents, of which some are empty."""
    rng = np.random.default_rng(seed)
    flat = (rng.random(n) ** rng.integers(1, 4) * size).astype(np.int64)
    runs = np.repeat(flat, rng.integers(1, 9, n) ** 2)[:n]
    periods = np.concatenate([np.resize(flat[i : i + 1 + i % 5], 40) for i in range(1 + n // 40)])[:n]
    docs = {"flat": flat, "runs": runs, "periods": periods, "one": flat[:1].repeat(n)}[nature]
    return docs, np.r_[0, np.sort(rng.integers(0, docs.size + 1, n_documents)), docs.size]


def learned(
    way: Way | None,
    docs: np.ndarray,
    offsets: np.ndarray,
    segments: bool,
    size: int,
    rules: FitRules,
    n_tokens: int,
) -> list[Any]:
    """All that a fit leaves; without a way, without a dense phase.

    Nothing if a limit of memory is too low.
    """
    threads, shards, limit = (1, None, None) if way is None else way[4:]
    limit = None if limit is None else limit * docs.size + 60 * offsets.size + 8 * (size + 2) ** 2
    settings = fitting.Settings(
        n_tokens, 1, rules, threads, rules.max_token_length or 2**62, None if limit else shards, limit
    )
    with pytest.MonkeyPatch.context() as patch:
        for name, value in NO_TABLES.items():
            patch.setattr(memory, name, value)
        patch.setattr(fitting, "SWEPT", NEVER if way is None else 1)
        for name, value in zip(("PART", "_PIECE", "_NEAR", "_WIDEST"), way or (), strict=False):
            patch.setattr(dense, name, value)
        corpus = as_corpus(docs, offsets)
        if segments:  # documents of several segments, which no token may leave
            corpus = corpus._replace(document_of=(np.arange(offsets.size - 1) // 3).astype(np.int32))
        try:
            found = fitting.fit(corpus, Alphabet.dense(size), settings, None)
        except MemoryError:
            assert limit is not None and limit < 20 * docs.size + 60 * offsets.size + 8 * (size + 2) ** 2
            return []
    return [(x.dtype, x.tolist()) if isinstance(x, np.ndarray) else x for x in found]


@given(
    st.integers(0, 2**32), st.sampled_from(SIZES), st.sampled_from(["flat", "runs", "periods", "one"]), st.integers(1, 12_000),
    st.sampled_from([0, 0, 3, 200]), WAYS, st.sampled_from([1, 2, 2, 5]), st.booleans(),
    st.sampled_from([None, None, 1, 2, 3, 7, 100]), st.integers(0, 300), st.booleans(),
)  # fmt: skip
@example(0, 4, "flat", 100, 0, Way(), 2, False, None, 0, False)  # nothing is merged
def test_sweeps_change_nothing(
    seed: int, size: int, nature: str, n: int, n_documents: int, way: Way, min_count: int, overshoot: bool, longest: int | None,
    more: int, segments: bool,
) -> None:  # fmt: skip
    rules = FitRules(min_count=min_count, overshoot=overshoot, max_token_length=longest)
    given = *drawn(seed, size, nature, n, n_documents), segments, size, rules, size + more
    assert (found := learned(way, *given)) == learned(None, *given) or not found


def test_the_largest_ids_of_narrow_cells() -> None:
    size = text_cells.NARROW - 20
    docs = np.random.default_rng(0).choice([0, 1, 2, size - 2, size - 1], (3, 400))
    settings = fitting.Settings(text_cells.NARROW, 1, FitRules(), 2, n_shards=2)
    narrow, wide = (
        fitting.loop_of(as_corpus(docs), Alphabet.dense(size), settings, cell=cell).run(None)
        for cell in (np.int16, np.int32)
    )
    assert narrow.lengths.size == text_cells.NARROW
    assert [np.asarray(x).tolist() for x in narrow] == [np.asarray(x).tolist() for x in wide]


def test_a_large_fit_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the public calls, on two threads, with its progress; it is continued, and a wrong symbol is named as ever."""
    docs, offsets = drawn(0, 4, "flat", 300_000, 5)
    docs, one = docs.astype(np.uint8), BPE(150, alphabet=4, n_threads=2)
    whole = BPE(150, alphabet=4).fit(docs, offsets=offsets, progress=False)
    swept: Any = []
    merge = dense.DenseText.merge
    monkeypatch.setattr(
        dense.DenseText, "merge", lambda self, batch: merge(self, swept.extend(batch) or batch)
    )
    monkeypatch.setattr(fitting, "SWEPT", 1000)
    shown: Any = []
    monkeypatch.setattr(Progress, "update", lambda _, done, count: shown.append((done, count)))
    assert one.fit(docs, offsets=offsets, progress=True).fingerprint == whole.fingerprint
    assert len(shown) > 4 and shown == sorted(shown) and shown[0][0] < 60
    assert [count for _, count in shown] == [one.history_.counts[done - 5] for done, _ in shown]
    assert one.history_.lengths.tolist() == whole.history_.lengths.tolist()
    part = (
        BPE(60, alphabet=4)
        .fit(docs, offsets=offsets, progress=False)
        .fit_more(docs, 150, offsets=offsets, progress=False)
    )
    assert part.fingerprint == whole.fingerprint and len(swept) > 100
    limited = BPE(150, alphabet=4).fit(docs, offsets=offsets, memory_limit=10_500_000, progress=False)
    assert limited.fingerprint == whole.fingerprint
    given = {"offsets": offsets, "memory_limit": 8_500_000}
    refuses(MemoryError, "300007 symbols and separators need at least 9.95 MB", one.fit, docs, **given)
    docs[offsets[3] + 7] = 9
    refuses(UnknownSymbolError, "document 3, position 7", one.fit, docs, offsets=offsets, progress=False)
