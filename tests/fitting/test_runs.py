"""Runs of named symbols: doubling tokens first, and no other token holds such a symbol."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from reference import fit as reference
from tables import each, refuses

from ubpe_numba import BPE, FitRules, Preprocessing, UBPEClassic, load
from ubpe_numba.errors import ModelFormatError

PIECES = st.lists(st.sampled_from([1, 2, 3]), max_size=12) | st.builds(
    lambda s, n: [s] * n, st.sampled_from([0, 4]), st.integers(0, 40)
)
DOCUMENTS = st.lists(
    st.lists(PIECES, max_size=5).map(lambda parts: [s for part in parts for s in part]), max_size=5
)


@given(DOCUMENTS, st.integers(0, 12), st.sampled_from([[0], [0, 4]]), st.booleans(), st.sampled_from([1, 4]))
@example([[0, 0, 0], [], [0, 0]], 5, [0], False, 1)
def test_fits_equal_the_reference(
    docs: list[list[int]], more: int, runs: list[int], weighted: bool, n_candidates: int
) -> None:
    """Tokens of runs with what they count, then the merges of what is between runs; a run is a number in binary."""
    weights = [1 + 2 * (i % 2) for i in range(len(docs))] if weighted else None
    seeds: list[tuple[int, int]] = []
    want: list[tuple[int, ...]] = []
    for symbol in runs:
        token = symbol
        while True:
            texts = reference.fit(docs, 5, 0, old=seeds)[1]
            count = reference.count_pairs(texts, weights)[token, token]
            if not count:
                break
            want.append((token, token, count, reference.count_documents(texts, weights)[token, token]))
            seeds.append((token, token))
            token = 4 + len(seeds)
    k = len(seeds)
    between = [[reference.BARRIER if s in runs else s for s in doc] for doc in docs]
    learned, _ = reference.fit(between, 5, 5 + more, n_candidates, weights=weights)
    want += [(a + k * (a >= 5), b + k * (b >= 5), *counts) for a, b, *counts in learned]
    tok: Any = UBPEClassic(5 + k + more, n_candidates, alphabet=5, preprocessing=Preprocessing(runs=runs))
    tok.fit(docs, sample_weight=weights, progress=False)
    v = tok._model.vocabulary
    assert [
        (*pair, c, d)
        for pair, c, d in zip(v.merges.tolist(), v.counts[5:], v.document_frequencies[5:], strict=True)
    ] == want
    encoded = tok.encode_batch(docs)
    total = np.bincount(encoded.values, np.repeat(weights or [1] * len(docs), encoded.lengths), len(v))
    assert v.occurrences.tolist() == total.tolist() and tok.decode_batch(encoded).to_lists() == docs
    assert tok.history_.lengths[-1:].tolist() == ([total.sum()] if len(want) else [])
    for doc, ids in zip(docs, encoded.to_lists(), strict=True):
        if doc and {*doc} <= {runs[0]}:
            assert len(ids) == len(doc).bit_count()


def test_a_gap_is_a_few_tokens_and_takes_few_ids(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    bases = "".join(rng.choice([*"ACGT"], 2000))
    genome = bases + "N" * 1_000_000 + bases[::-1] + "N" * 77 + bases
    tok = BPE(300, preprocessing=Preprocessing(runs="N")).fit([genome])
    tok.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again == tok and again.preprocessing == tok.preprocessing
    ids = again.encode(genome)
    assert again.decode(ids) == genome and len(tok.encode("N" * 1_000_000)) == 7
    assert sum("N" in token for token in again.vocabulary) == 20
    assert len(again.truncate(250).encode("N" * 1_000_000)) == 7
    data = BPE(20, alphabet=b"ACGN", preprocessing=Preprocessing(runs=b"N")).fit([b"ACNNNNNNGACNNNGAC"])
    data.save(tmp_path / "bytes.json")
    assert load(tmp_path / "bytes.json") == data
    head = json.loads((tmp_path / "bytes.json").read_text())
    head["text"]["runs"] = "N\u2014"
    # no error of the codec
    with pytest.raises(ModelFormatError, match="runs: expected symbols of an alphabet of bytes"):
        load(json.dumps(head))
    assert [data.decode([i]) for i in data.encode(b"NNNNNNN")] == [b"NNNN", b"NN", b"N"]


def with_runs(runs: Any, mirror: Any = None, **params: Any) -> BPE:
    return BPE(9, preprocessing=Preprocessing(runs=runs, mirror=mirror), **params)


def test_both_strands_with_gaps() -> None:
    """Runs count in both directions, either strand has the tokens of the other, and no token is too long."""
    bases = "".join(np.random.default_rng(0).choice([*"ACGT"], 300))
    genome = bases + "N" * 77 + bases[:90]
    symbols = Preprocessing(runs="N", mirror={"A": "T", "C": "G"})
    tok = BPE(60, alphabet="ACGTN", rules=FitRules(max_token_length=9), preprocessing=symbols).fit(
        [genome, "NNNN"]
    )
    here, there = tok.encode(genome), tok.encode(genome.translate(str.maketrans("ACGT", "TGCA"))[::-1])
    assert np.array_equal(here, tok.vocabulary.mirror[there[::-1]]) and (here == 7).sum() == 9
    assert [*tok.vocabulary][5:8] == ["NN", "NNNN", "N" * 8] and tok.vocabulary.counts[5:7].tolist() == [
        158,
        76,
    ]


@each("call, error, words", [
    (lambda: with_runs([7], alphabet=3).fit([[0, 1]]), ValueError, "runs: the symbol 7 is not in the alphabet of 3 symbols"),
    (lambda: with_runs("N").fit([[0, 1]]), TypeError, "runs: expected symbols of the documents"),
    (lambda: with_runs([1], {1: 2}).fit([[0, 1, 2]]), ValueError, "runs: the symbol 1 is .*, or mirrored"),
    (lambda: Preprocessing("gpt2", runs=" "), ValueError, "runs: expected None where a pretokenizer cuts text"),
    (lambda: with_runs([1]).fit([[0, 7, *[1] * 7]]), ValueError, "n_tokens: expected at least 10, for 8 symbols"),
    (lambda: with_runs([1]).fit([[0, 1, 1]], frame=3), ValueError, "frame: runs of symbols do not keep to frames"),
    (lambda: with_runs([1]).fit([[0, 1, 1]]).fit_more([[0, 1]], 10), ValueError, "runs: a vocabulary with tokens of"),
    (lambda: with_runs([1]).fit([[0, 1, 1]]).with_objective("shortest").refine([[0, 1]]), ValueError, "refine: .* symbols of"),
])  # fmt: skip
def test_what_knows_no_runs_is_refused(call: Any, error: type[Exception], words: str) -> None:
    refuses(error, words, call)
