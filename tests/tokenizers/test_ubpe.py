"""The objectives of `UBPE`."""

import math
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from reference import encode_paths
from tables import refuses

from ubpe_numba import UBPE, Preprocessing
from ubpe_numba.bounds import boundary_probabilities

DOCS = ["abab", "ab", "ba", "abba", "a", "b"]


def test_samples_and_boundaries_follow_the_probabilities_of_segmentations() -> None:
    tok = UBPE(5, 1, objective="likelihood").fit(DOCS, progress=False)
    v = tok._model.vocabulary
    tokens = {tuple(v.sequence(t).tolist()): t for t in range(len(v))}
    for alpha in (0.3, 1.0):
        weights = [math.exp(alpha * w) for w in v.log_probabilities.tolist()]
        want = encode_paths.shares([0, 1, 0, 1, 1], tokens, weights)
        batch = tok.encode_batch(["ababb"] * 20_000, sample=alpha, seed=3)
        drawn = Counter(map(tuple, batch.to_lists()))
        assert sum((drawn[p] - 20_000 * float(x)) ** 2 / (20_000 * float(x)) for p, x in want.items()) < 30
        assert tuple(tok.encode("ababb", sample=alpha, seed=3).tolist()) == tuple(batch[0].tolist())
        found = boundary_probabilities(tok, "ababb", alpha=alpha)
        wanted = [float(x) for x in encode_paths.boundaries([0, 1, 0, 1, 1], tokens, weights)]
        assert found.tolist() == pytest.approx(wanted, abs=1e-12)
    ids, starts = tok.encode("abab", sample=0.2, seed=0, return_offsets=True)
    assert tok.decode(ids) == "abab" and starts.tolist() == [0, 2, 3]
    assert boundary_probabilities(tok, "").tolist() == [] and tok.encode("", sample=1.0).tolist() == []
    cut = UBPE(6, 1, objective="likelihood", preprocessing=Preprocessing(break_tokens=["c"])).fit(
        [*DOCS, "c"], progress=False
    )
    parts = [boundary_probabilities(cut, part) for part in ("abb", "c", "ab")]  # between which no token lies
    assert boundary_probabilities(cut, "abbcab").tolist() == pytest.approx(np.concatenate(parts).tolist())


def test_every_objective_is_sampled_additive_ones_by_their_weights() -> None:
    tok = UBPE(5, 1, objective=[0.0, 0.0, 1.0, -40.0]).fit(DOCS, progress=False)
    assert set(map(tuple, tok.encode_batch(["abba"] * 500, sample=1.0).to_lists())) == {
        (2, 1, 0),
        (0, 1, 1, 0),
    }
    assert tok.encode("abba", sample=0.001, seed=5).size >= 2
    text = UBPE.for_text(265, pretokenizer="gpt2").fit(["low lower lowest"] * 3, progress=False)
    refuses(
        ValueError, "boundary_probabilities: a tokenizer with a pattern", boundary_probabilities, text, "low"
    )
    for objective in ("tfidf", "shortest", "likelihood"):
        text.set_params(objective=objective)
        for seed in range(5):
            assert text.decode(text.encode("slow lower", sample=0.1, seed=seed)) == "slow lower"


@pytest.mark.filterwarnings("ignore:every idf is 0")
def test_where_every_idf_is_0_as_many_bags_as_asked_for_are_given() -> None:
    tok = UBPE(5, 1).fit(["abbbaaabbbbbbaaababa"] * 2, progress=False)
    assert [len(tok.encode_nbest(["bbbabba"], n, distinct="bag")[0][0]) for n in (1, 2, 3)] == [1, 2, 3]


def test_threads_that_share_a_tokenizer_draw_by_their_own_alphas() -> None:
    docs = np.random.default_rng(0).integers(0, 3, (20, 60))
    tok = UBPE(20, 2, objective="likelihood").fit(docs)
    alphas = [0.1, 0.5, 1.0, 3.0]
    want = {alpha: tok.encode_batch(docs, sample=alpha).to_lists() for alpha in alphas}
    assert len({str(ids) for ids in want.values()}) == len(alphas)

    def same(alpha: float) -> bool:
        return all(tok.encode_batch(docs, sample=alpha).to_lists() == want[alpha] for _ in range(100))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(same, alphas * 2))
    finally:
        sys.setswitchinterval(interval)
