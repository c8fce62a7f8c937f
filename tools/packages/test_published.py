"""Id for id against the packages of the articles' author: ubpe-native 0.2.2 and 0.3.0, whichever is installed.

They need Python 3.12. Set UBPE_BENCH_DATA and UBPE_DIFFERENTIAL=full for the long run on real corpora.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from corpora import corpora

from ubpe_numba import UBPE, FitRules, Preprocessing, UBPEClassic, export
from ubpe_numba.vocabulary.weights import keep_by_weight, renumber

INSTALLED = sys.version_info >= (3, 12) and importlib.util.find_spec("ubpe_native") is not None
VERSION = importlib.metadata.version("ubpe-native") if INSTALLED else ""
PRESET = FitRules.PUBLISHED_0_3 if VERSION.startswith("0.3") else FitRules.PUBLISHED_0_2
FULL = os.environ.get("UBPE_DIFFERENTIAL") == "full"

pytestmark = pytest.mark.skipif(
    not INSTALLED, reason="needs ubpe-native 0.2.2 or 0.3.0 (Python 3.12 or later)"
)

CORPORA = corpora(4000 if FULL else 1500)
SIZES = (20, 90, 250) if FULL else (20, 90)
seen = {"fits": 0, "broken": 0, "paths": 0, "ties": 0}


def published(
    docs: list[list[int]], size: int, n_tokens: int, n_candidates: int, classic: bool, trim: bool
) -> Any:
    """The same fit by the published package."""
    import ubpe_native

    cls = ubpe_native.UBPEClassic if classic else ubpe_native.UBPE
    quiet = {"quiet": True} if VERSION.startswith("0.3") else {"use_tqdm": False}
    tokenizer = cls(alphabet={i: i for i in range(size)}, n_tokens=n_tokens)
    tokenizer.fit([list(d) for d in docs], n_candidates=n_candidates, rearrange_tokens=trim, **quiet)
    return tokenizer


@pytest.mark.parametrize("classic", [True, False], ids=["classic", "universal"])
@pytest.mark.parametrize("n_candidates", [1, 5, 50])
@pytest.mark.parametrize("name", CORPORA)
def test_same_vocabulary_and_encoding(name: str, n_candidates: int, classic: bool) -> None:
    """Merges, order, ids and weights (relative 1e-12), trimmed and not; encodings but for paths of equal weight."""
    docs, size = CORPORA[name]
    cls = UBPEClassic if classic else UBPE
    for more in SIZES:
        for trim in (False, True):
            theirs = published(docs, size, size + more, n_candidates, classic, trim)
            table = {k: tuple(v) for k, v in theirs.tokens_mapper["backward"].items()}
            rules = PRESET if trim else PRESET.replace(order="creation")
            seen["fits"] += 1
            ours = cls(size + more, n_candidates, alphabet=size, rules=rules)
            if classic and trim:
                # the raw table, since one that is not closed is equal too but refused by fit
                raw = UBPEClassic(
                    size + more, n_candidates, alphabet=size, rules=PRESET.replace(order="creation")
                )
                v = fitted(raw, docs)._model.vocabulary
                assert v.merges is not None
                stay = keep_by_weight(v.weights[size:], v.merges, size, size + more, rules.trim)
                pairs, dangling = renumber(v.merges, size, stay)
                assert list(map(tuple, pairs.tolist())) == list(table.values())
                assert list(table) == list(range(size, size + len(pairs)))
                if dangling:
                    seen["broken"] += 1
                    with pytest.raises(ValueError, match="point to removed tokens"):
                        fitted(ours, docs)
                    continue
            v = fitted(ours, docs)._model.vocabulary
            mine = v.merges.tolist() if classic else [v.sequence(t).tolist() for t in range(size, len(v))]
            assert {size + i: tuple(s) for i, s in enumerate(mine)} == table
            weights = [theirs.tokens_weights[t] for t in table]
            np.testing.assert_allclose(v.weights[size:], weights, rtol=1e-12, atol=0)
            for doc in docs[:3] if more < 200 else docs[:1]:
                doc = doc[:120]
                [(path, _)] = theirs.encode(doc)
                got = ours.encode(doc).tolist()
                assert ours.decode(got).tolist() == doc
                if classic:
                    assert got == path
                else:
                    seen["paths"] += 1
                    if got != path:
                        seen["ties"] += 1
                        assert_first_difference_is_a_tie(theirs, ours, doc)
            loaded = cls.load(theirs.dumps(), kind="int")
            np.testing.assert_allclose(loaded._model.vocabulary.weights, v.weights, rtol=1e-12)
            assert loaded.encode(docs[0]).tolist() == ours.encode(docs[0]).tolist()
            # 0.2.2 loads into dicts that all its instances share
            type(theirs).tokens_mapper = {"backward": {}, "forward": {}}
            again = type(theirs).loads(export(ours, "ubpe"))
            assert {k: tuple(s) for k, s in again.tokens_mapper["backward"].items()} == table


@pytest.mark.skipif(
    not VERSION.startswith("0.3"), reason="needs ubpe-native 0.3: older ones do not split documents"
)
@pytest.mark.parametrize("classic", [True, False], ids=["classic", "universal"])
@pytest.mark.parametrize(
    "names", [["break_tokens"], ["stop_tokens"], ["break_tokens", "stop_tokens"]], ids="-".join
)
def test_same_fit_with_break_and_stop_tokens(names: list[str], classic: bool) -> None:
    import ubpe_native

    rng = np.random.default_rng(len(names) + classic)
    docs = [[1, 2, *rng.integers(0, 6, 80).tolist()] for _ in range(20)]
    params: dict[str, Any] = {name: [0, 5][i : i + 1] for i, name in enumerate(names)}
    cls = ubpe_native.UBPEClassic if classic else ubpe_native.UBPE
    theirs = cls(alphabet={i: i for i in range(6)}, n_tokens=40, **params)
    theirs.fit([list(doc) for doc in docs], n_candidates=4, rearrange_tokens=False, quiet=True)
    ours = (UBPEClassic if classic else UBPE)(
        40, 4, alphabet=6, rules=PRESET.replace(order="creation"), preprocessing=Preprocessing(**params)
    )
    v = fitted(ours, docs)._model.vocabulary
    mine = v.merges.tolist() if classic else [v.sequence(t).tolist() for t in range(6, len(v))]
    assert list(map(tuple, mine)) == list(theirs.tokens_mapper["backward"].values())
    np.testing.assert_allclose(v.weights[6:], list(theirs.tokens_weights.values()), rtol=1e-12, atol=0)
    again = cls.loads(export(ours, "ubpe"))
    for doc in docs:
        assert ours.encode(doc).tolist() == theirs.encode(doc)[0][0] == again.encode(doc)[0][0]


def fitted(tokenizer: Any, docs: list[list[int]]) -> Any:
    """Fit without the warning of UBPE where every idf is 0."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return tokenizer.fit(docs, progress=False)


def assert_first_difference_is_a_tie(theirs: Any, ours: Any, doc: list[int]) -> None:
    """The search runs from the end: at the last position where the best tails differ, the two weigh the same.

    What is before it may differ for that alone, also in weight.
    """
    for p in range(len(doc) - 1, -1, -1):
        [(path, weight)] = theirs.encode(doc[p:])
        got = ours.encode(doc[p:]).tolist()
        if got != path:
            assert tfidf(got, ours._model.vocabulary.weights) == pytest.approx(weight, rel=1e-9)
            return


def tfidf(path: list[int], weights: np.ndarray) -> float:
    """Weight of a path: sum over distinct tokens of (1 + ln count) * idf."""
    tokens, counts = np.unique(path, return_counts=True)
    return float(np.sum((1 + np.log(counts)) * weights[tokens]))


def test_enough_fits_were_compared(capsys: pytest.CaptureFixture[str]) -> None:
    """At least 100, and how many is printed."""
    with capsys.disabled():
        print(
            f"\nubpe-native {VERSION}: {seen['fits']} fits equal, {seen['broken']} of them trimmed to tables that are not closed;"
            f" {seen['paths']} best paths, {seen['ties']} differ, all from a tie on"
        )
    assert seen["fits"] >= 100
