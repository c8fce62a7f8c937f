"""Fits cut into shards: bit for bit the same for any number of shards and threads, wherever documents are cut."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fit_cases import TIES, corpora
from hypothesis import example, given
from hypothesis import strategies as st
from reference import fit as reference

from ubpe_numba import BPE, FitRules
from ubpe_numba.documents import read
from ubpe_numba.documents.read import as_corpus
from ubpe_numba.fitting import fit, text
from ubpe_numba.fitting.kernels import text_cells
from ubpe_numba.runtime.messages import Progress
from ubpe_numba.vocabulary.alphabet import Alphabet

SHARDS = (1, 2, 3, 16)


def sharded(docs: Any, size: int, n_shards: int, threads: int, near: int, arguments: dict[str, Any], **marks: Any) -> list[Any]:
    """The merges of a fit cut into shards: at an end of a document nearer than a shard / `near`, else anywhere."""
    rules = FitRules(**{name: arguments[name] for name in ("ties", "min_count", "overshoot")})
    longest = arguments["max_token_length"] or 2**62
    plan = fit.Settings(arguments["n_tokens"], arguments["n_candidates"], rules, threads, longest, n_shards)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "_NEAR", near)
        patch.setattr(text, "_LARGE", 0)  # texts move to shorter arrays, however short they are
        patch.setattr(text, "_SHORT", 1)
        patch.setattr(text_cells, "DENSE", arguments.get("dense", 1024))
        patch.setattr(fit, "_SMALL", arguments.get("batch", fit._SMALL))
        patch.setattr(fit, "_FEW_PAIRS", arguments.get("most", fit._FEW_PAIRS))
        found = fit.fit(as_corpus(docs, **marks), Alphabet.dense(size), plan, Progress(False))
    return [(int(a), int(b), int(c), int(d)) for (a, b), c, d in zip(found.pairs, found.counts, found.documents, strict=True)]


@st.composite
def cases(draw: st.DrawFn) -> tuple[Any, ...]:
    docs, size = draw(corpora())
    arguments = {
        "n_tokens": size + draw(st.integers(0, 40)),
        "n_candidates": draw(st.sampled_from([1, 1, 2, 5, 50])),
        "ties": draw(st.sampled_from(TIES)),
        "min_count": draw(st.sampled_from([1, 2, 3])),
        "overshoot": draw(st.booleans()),
        "max_token_length": draw(st.sampled_from([None, None, 1, 2, 3])),
        "batch": draw(st.sampled_from([0, 10, 10**6])),  # occurrences that are merged at once
        "most": draw(st.sampled_from([4, 1 << 16])),  # pairs that are kept
    }
    weights = draw(st.none() | st.lists(st.sampled_from([0, 1, 2, 2**33]), min_size=len(docs), max_size=len(docs)))
    positions = [draw(st.lists(st.integers(0, len(d)), max_size=3)) for d in docs]
    boundaries = draw(st.sampled_from([None, positions]))
    return docs, size, arguments, weights, boundaries, draw(st.sampled_from([1024, 0])), draw(st.sampled_from([16, 10**9]))


@given(cases(), st.sampled_from([1, 2, 3]))
@example(([[0] * 41], 1, {"n_tokens": 9, "n_candidates": 1, "ties": "smallest", "min_count": 1, "overshoot": False,
                          "max_token_length": None}, None, None, 1024, 10**9), 2)  # fmt: skip
def test_shards_equal_the_reference(case: tuple[Any, ...], threads: int) -> None:
    """Runs of one symbol, periodic and empty documents, cut in their middle; some shards become empty."""
    docs, size, arguments, weights, boundaries, dense, near = case
    asked = {name: value for name, value in arguments.items() if name not in ("batch", "most")}
    want, _ = reference.fit(docs, size, **asked, weights=weights, boundaries=boundaries)
    for n_shards in SHARDS:
        found = sharded(
            docs, size, n_shards, threads, near, {**arguments, "dense": dense}, sample_weight=weights, boundaries=boundaries
        )
        assert found == [tuple(m) for m in want], n_shards


@pytest.mark.parametrize("n_shards", [1, 2, 3])
def test_more_pairs_of_one_count_than_are_kept(n_shards: int) -> None:
    """In de Bruijn sequences all pairs are equally frequent: the counts in one shard do not tell which pairs to keep."""
    circle = np.concatenate([np.concatenate([[a], *([a, b] for b in range(a + 1, 20))]) for a in range(20)])  # each pair once
    half = np.tile(circle, 12)
    arguments: dict[str, Any] = {
        "n_tokens": 60, "n_candidates": 1, "ties": "smallest", "min_count": 2, "overshoot": False,
    }  # fmt: skip
    want = [tuple(m) for m in reference.fit([half.tolist(), (half + 20).tolist()], 40, **arguments)[0]]
    for dense in (0, 1024):
        options = {**arguments, "max_token_length": None, "most": 100, "dense": dense}
        assert sharded([half, half + 20], 40, n_shards, 2, 16, options) == want


def test_offsets_past_32_bits(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "check_cuts", lambda *_: None)  # a document of 4 GB before them would take its time
    path = tmp_path / "sparse"
    with open(path, "wb") as f:
        f.truncate(2**33)
        f.seek(2**32 + 5)
        f.write(bytes([1, 2, 1, 2, 3]))
    docs = np.memmap(path, np.uint8, "r")
    offsets = np.array([2**32 + 4, 2**32 + 6, 2**32 + 10])
    tok = BPE(12, alphabet=4).fit(docs, offsets=offsets, progress=False)
    assert tok._model.vocabulary.counts[4:].max(initial=0) <= 1
    tok = BPE(5, alphabet=4).fit(docs, offsets=offsets[[0, 2]], progress=False)
    assert tok._model.vocabulary.merges.tolist() == [[1, 2]]
    assert [d.tolist() for d in tok.decode_batch(tok.encode_batch(docs, offsets))] == [[0, 1], [2, 1, 2, 3]]


def test_cuts_lie_between_documents_where_they_are_near() -> None:
    offsets = np.array([0, 100, 195, 200, 300, 1000])
    assert text.cut(offsets, 5).at.tolist() == [0, 200, 400, 600, 800, 1000]
    assert text.cut(offsets, 5).inside.tolist() == [False, False, True, True, True, False]
    assert text.cut(offsets, 1).at.tolist() == [0, 1000]
    assert text.cut(np.array([7]), 4).at.tolist() == [7, 7]
    assert text.cut(np.array([5, 5, 5]), 3).segment.tolist() == [0, 2]
    many = text.cut(np.arange(0, 2**40, 2**30), 64)  # offsets past 2**31
    assert many.at[-1] == 2**40 - 2**30
    assert np.all(np.diff(many.at) > 2**33)
