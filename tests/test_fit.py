"""The incremental fit against the plain reference, under every rule, on random and adversarial corpora."""

from __future__ import annotations

import collections
import os
import signal
import threading

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference import fit as reference
from reference.unique import merge_until_unique

from ubpe_numba import ARTICLE, BPE, UBPE, FitRules, UBPEClassic
from ubpe_numba.fitting import loop as fitting
from ubpe_numba.fitting import working_text as shards
from ubpe_numba.fitting.kernels import index as shard_index
from ubpe_numba.runtime import thread_pool

TIES = ["smallest", "first_seen", "fewest_documents"]


@st.composite
def corpora(draw: st.DrawFn) -> tuple[list[list[int]], int]:
    """Documents of one nature (random, periodic, one symbol, many empty, large alphabet), and the alphabet size."""
    size = draw(st.sampled_from([1, 2, 3, 7, 50, 1500]))
    symbol = st.integers(0, size - 1)
    random_document = st.lists(symbol, max_size=60)
    period = st.lists(symbol, min_size=1, max_size=4)
    periodic = st.builds(lambda p, n: (p * n)[:n], period, st.integers(0, 80))
    single = st.builds(lambda s, n: [s] * n, symbol, st.integers(0, 70))
    nature = draw(st.sampled_from([random_document, periodic, single, st.one_of(st.just([]), random_document)]))
    return draw(st.lists(nature, max_size=8)), size


def merges(tokenizer: UBPE | UBPEClassic | BPE) -> list[tuple[int, int, int, int]]:
    v = tokenizer.vocabulary
    assert v.merges is not None
    n = v.n_alphabet
    return [
        (int(a), int(b), int(c), int(d)) for (a, b), c, d in zip(v.merges, v.counts[n:], v.document_frequencies[n:], strict=True)
    ]


@given(
    corpora(),
    st.integers(0, 60),
    st.sampled_from([1, 2, 5, 50]),
    st.sampled_from(TIES),
    st.sampled_from([1, 2, 3]),
    st.booleans(),
)
@example(([[0, 0, 0, 0, 0, 0, 0]], 1), 5, 1, "smallest", 2, False)
@example(([[0, 1] * 20, [1, 0] * 20], 2), 9, 5, "first_seen", 1, True)
@settings(max_examples=400)
def test_equals_reference(
    corpus: tuple[list[list[int]], int], more: int, n_candidates: int, ties: str, min_count: int, overshoot: bool
) -> None:
    docs, size = corpus
    want, final = reference.fit(docs, size, size + more, n_candidates, ties, min_count, overshoot)
    rules = FitRules(ties=ties, min_count=min_count, overshoot=overshoot)
    tok = UBPEClassic(size + more, n_candidates, alphabet=size, rules=rules).fit(docs, progress=False)
    assert merges(tok) == [tuple(m) for m in want]
    weights = [reference.idf(len(docs), m.documents) for m in want]
    assert tok.vocabulary.weights[size:].tolist() == pytest.approx(weights, rel=1e-14)
    if n_candidates == 1 and docs:
        assert tok.encode_batch(docs).to_lists() == final


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("n_candidates", [1, 20])
@pytest.mark.parametrize("nature", ["zipf", "dna", "walk", "large alphabet"])
def test_large_corpora_with_many_epochs(nature: str, n_candidates: int, ties: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of symbols, hundreds of merges; both ways of counting pairs, batches, growing tables, a small arena."""
    rng = np.random.default_rng(11)
    n = 6000
    values = {
        "zipf": np.minimum(rng.zipf(1.3, n), 200),
        "dna": rng.integers(0, 4, n),
        "walk": np.cumsum(rng.integers(-1, 2, n)) % 64,
        "large alphabet": np.minimum(rng.zipf(1.2, n), 5000),
    }[nature]
    cuts = np.sort(rng.integers(0, n + 1, 39))
    docs = [d.tolist() for d in np.split(values, cuts)]
    size = int(values.max()) + 1
    more = 150 if n_candidates == 1 else 500
    want, _ = reference.fit(docs, size, size + more, n_candidates, ties)
    usual = fitting._SMALL
    for dense, batch, positions in ((shard_index.DENSE, usual, 1.6), (0, usual, 1.6), (0, 0, 1.0), (1024, 0, 1.03)):
        monkeypatch.setattr(shard_index, "DENSE", dense)
        monkeypatch.setattr(fitting, "_SMALL", batch)
        monkeypatch.setattr(shards, "_POSITIONS", positions)
        monkeypatch.setattr(shards, "_LARGE", 0 if batch == 0 else 1 << 20)
        tok = UBPEClassic(size + more, n_candidates, alphabet=size, rules=FitRules(ties=ties)).fit(docs, progress=False)
        assert merges(tok) == [tuple(m) for m in want]


@given(st.lists(st.integers(0, 3), max_size=200))
def test_until_unique(text: list[int]) -> None:
    """The third article: merge until no pair occurs twice; the text decodes from what is left."""
    tok = BPE(n_tokens=None, alphabet=4).fit([text], progress=False)
    want, final = merge_until_unique(text, 4)
    assert merges(tok) == [tuple(m) for m in want]
    ids = tok.encode(text)
    assert ids.tolist() == final
    counts = collections.Counter(zip(ids.tolist(), ids[1:].tolist(), strict=False))
    assert max(counts.values(), default=0) <= 1
    assert tok.decode(ids).tolist() == text


def test_hug_pug_pun_bun_hugs() -> None:
    """The third article's example: (u, g) first, five merges in all, and the text comes back."""
    text = "hug pug pun bun hugs"
    tok = BPE(n_tokens=None).fit([text], progress=False)
    assert tok.vocabulary.counts[tok.vocabulary.n_alphabet :].tolist() == [3, 2, 2, 2, 2]
    assert tok.decode(tok.vocabulary.merges[0]) == "ug"
    assert tok.encode(text).size == 9
    assert tok.decode(tok.encode(text)) == text


def test_low_lower_newest() -> None:
    """The overview's corpus with its counts put right: (e, r) 7; (n, e), (e, w) and (w, </w>) 11."""
    words = {"low": 5, "lower": 2, "lowest": 1, "new": 6, "newer": 3, "newest": 2, "wide": 3, "wider": 2, "widest": 1}
    docs = [f"{word}|" for word, n in words.items() for _ in range(n)]
    tok = BPE(n_tokens=12).fit(docs, progress=False)
    v = tok.vocabulary
    assert int(v.counts[v.n_alphabet]) == 11
    assert tok.decode(v.merges[0]) in ("ne", "ew", "w|")
    everything = UBPEClassic(n_tokens=200, n_candidates=1).fit(docs, progress=False)
    n = everything.vocabulary.n_alphabet
    by_text = {everything.decode([n + i]): int(c) for i, c in enumerate(everything.vocabulary.counts[n:])}
    assert by_text["er"] == 7


def test_article_preset_fits_and_overshoots() -> None:
    """Whole rounds while the last id is below n_tokens, then the highest idf first, cut to size."""
    docs = [[0, 1, 2, 3] * 5, [3, 2, 1, 0] * 5, [0, 2, 0, 2, 1, 3] * 4]
    plain = UBPE(8, 10, alphabet=4, rules=ARTICLE.replace(order="creation")).fit(docs, progress=False)
    assert len(plain.vocabulary) > 8
    tok = UBPE(8, 10, alphabet=4, rules=ARTICLE).fit(docs, progress=False)
    assert len(tok.vocabulary) == 8
    assert np.all(np.diff(tok.vocabulary.weights[4:]) <= 0)


def test_interrupted_fit_leaves_the_tokenizer_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C arrives between two slices of rounds."""
    tok = BPE(20, alphabet=4).fit([[0, 1, 2, 3] * 10], progress=False)
    before = tok.fingerprint

    def interrupt(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(fitting.rounds, "run", interrupt)
    with pytest.raises(KeyboardInterrupt):
        tok.fit([[1, 1, 1, 1, 2]], progress=False)
    assert tok.fingerprint == before


def test_pauses_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel may come back after any round."""
    rng = np.random.default_rng(3)
    docs = [rng.integers(0, 9, 300).tolist() for _ in range(5)]
    whole = UBPEClassic(200, 5, alphabet=9).fit(docs, progress=False)
    monkeypatch.setattr(fitting, "_BUDGET", 1)
    assert UBPEClassic(200, 5, alphabet=9).fit(docs, progress=False).fingerprint == whole.fingerprint


def test_progress_is_shown(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """With tqdm, and with a plain line where tqdm is missing."""
    docs = [[0, 1, 2, 3] * 50]
    BPE(10, alphabet=4).fit(docs, progress=True)
    assert "fit" in capsys.readouterr().err
    monkeypatch.setitem(__import__("sys").modules, "tqdm", None)
    BPE(10, alphabet=4).fit(docs, progress=True)
    assert "fit: 10 tokens" in capsys.readouterr().err
    BPE(10, alphabet=4).fit(docs, progress=False)
    assert capsys.readouterr().err == ""


def test_ctrl_c_does_not_wait_for_a_kernel():
    """What counts a large corpus may take seconds: its thread is left to end by itself."""
    hold, ended = threading.Event(), threading.Event()

    def kernel(begin: int, end: int) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        hold.wait(60)
        ended.set()

    with pytest.raises(KeyboardInterrupt):
        thread_pool.run(kernel, [(0, 1)], 1, thread_pool.LONG)
    assert not ended.is_set()
    hold.set()
    assert thread_pool.run(lambda a, b: a + b, [(1, 2)], 1, thread_pool.LONG) == [3]
