"""Which ways to cut a report has."""

from __future__ import annotations

import pytest

from ubpe_numba import BPE, UBPE
from ubpe_numba.views.explorer.counts import segmentations_of

DOCS = [[1, 2, 3, 1, 2, 3, 1, 2], [3, 1, 2], [2, 2, 1]] * 4


def test_its_own_comes_first_then_all_that_the_vocabulary_allows() -> None:
    tok = UBPE(12, objective="shortest").fit(DOCS, progress=False)
    assert list(segmentations_of(tok)) == ["shortest", "rank", "tfidf"] and segmentations_of(tok)["shortest"] is tok
    assert list(segmentations_of(BPE(12).fit(DOCS, progress=False)))[:2] == ["rank", "shortest"]
    likely = UBPE(12, objective="likelihood").fit(DOCS, progress=False)
    assert list(segmentations_of(likely)) == ["likelihood", "rank", "shortest", "tfidf"]
    assert "rank" not in segmentations_of(tok.refine(DOCS, progress=False))
    assert list(segmentations_of(BPE.from_merges([[0, 1]], alphabet="ab"))) == ["rank", "shortest"]


def test_some_may_be_named() -> None:
    tok = UBPE(12, objective="shortest").fit(DOCS, progress=False)
    assert list(segmentations_of(tok, ["rank", "shortest", "rank"])) == ["rank", "shortest"]
    assert list(segmentations_of(tok, "rank")) == ["rank"]


def test_errors_name_the_argument() -> None:
    tok = UBPE(12, objective="shortest").fit(DOCS, progress=False)
    for given in ("other", ["shortest", "other"], []):
        with pytest.raises(ValueError, match="^segmentations: "):
            segmentations_of(tok, given)
    with pytest.raises(TypeError, match="^segmentations: expected names of objectives, got 3"):
        segmentations_of(tok, [3])  # type: ignore[list-item]
    flat = tok.refine(DOCS, progress=False)
    with pytest.raises(ValueError, match="^segmentations: "):
        segmentations_of(flat, ["rank"])
