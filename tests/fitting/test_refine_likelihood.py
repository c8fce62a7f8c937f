"""Refining a vocabulary for the likelihood: what a token's absence costs, and the vocabulary that is left."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from corpora import corpora
from hypothesis import given
from hypothesis import strategies as st
from pair_tables import Table, tables
from reference import decode as reference_decode
from reference.encode_paths import all_paths

from ubpe_numba import UBPE, Ragged
from ubpe_numba.coding.path_encoder import PathEncoder
from ubpe_numba.fitting.refine import likelihood_losses
from ubpe_numba.vocabulary.vocabulary import Vocabulary


@given(st.data(), tables())
def test_losses_equal_those_of_the_likeliest_path_without_the_token(data: st.DataObject, table: Table) -> None:
    size, pairs, _ = table
    sequences = [s for s in reference_decode.expand(pairs, size) if len(s) <= 9]
    tokens = {s: i for i, s in enumerate(dict.fromkeys(sequences))}
    flat = [s for s in tokens if len(s) > 1]
    vocabulary = Vocabulary.from_sequences(size, [i for s in flat for i in s], [len(s) for s in flat])
    n = len(vocabulary)
    counts = data.draw(st.lists(st.floats(0.01, 1000.0), min_size=n, max_size=n))
    total = sum(counts)
    found = likelihood_losses(PathEncoder(vocabulary), np.array(counts))
    for t, loss in zip(range(size, n), found.tolist(), strict=True):
        sequence = vocabulary.sequence(t).tolist()
        others = [path for path in all_paths(sequence, tokens) if t not in path]
        likelihoods = [sum(math.log(counts[u] / total) for u in path) for path in others]
        own = math.log(counts[t] / total)
        if max(likelihoods) > own + 1e-6:
            assert loss == -1.0
            continue
        best = [path for path, x in zip(others, likelihoods, strict=True) if x > max(likelihoods) - 1e-6]
        wanted = [
            counts[t] * (own - sum(math.log((counts[u] + counts[t]) / (total + counts[t] * (len(path) - 1))) for u in path))
            for path in best
        ]
        assert loss == -1.0 or any(math.isclose(loss, x, rel_tol=1e-9, abs_tol=1e-9) for x in wanted)


@pytest.mark.parametrize("name", ["text/60", "periodic"])
def test_pruned_vocabularies_are_likelier(name: str) -> None:
    docs, size = corpora(20_000)[name]
    docs = [doc[i : i + 500] for doc in docs for i in range(0, len(doc), 500)]
    seen, unseen = docs[::2], docs[1::2]
    tok = UBPE(size + 200, 1, alphabet=size, objective="shortest").fit(seen, progress=False)
    options: dict[str, Any] = {"robust": True, "min_count": 4} if name == "text/60" else {}
    likely = tok.refine(seen, objective="likelihood", progress=False, **options)
    v = likely._model.vocabulary
    assert likely.objective == "likelihood" and tok.objective == "shortest" and v.merges is None
    assert len(v) <= size + 200 and v.log_probabilities is not None and v.occurrences is not None
    assert abs(math.fsum(np.exp(v.log_probabilities)) - 1.0) < 1e-9
    encoded = likely.encode_batch(unseen)
    assert likely.decode_batch(encoded) == Ragged.from_lists(unseen)
    ids = likely.encode_batch(seen)
    assert v.occurrences.tolist() == np.bincount(ids.compact().values, minlength=len(v)).tolist()
    if name != "periodic":
        assert len(v) == size + 200
        plain = tok.reweight(seen)
        assert bits(likely, unseen) < bits(plain, unseen)
    again = tok.set_params(n_threads=3).refine(seen, objective="likelihood", progress=False, **options)
    assert again.fingerprint == likely.fingerprint


def bits(tok: UBPE, docs: list[np.ndarray]) -> float:
    """Of the best paths, by the probabilities of the tokenizer."""
    logs = tok._model.vocabulary.log_probabilities
    assert logs is not None
    return float(-logs[tok.encode_batch(docs).compact().values].sum())


def test_text_that_is_cut_is_pruned_by_its_segments() -> None:
    docs = ["low lower lowest", "slow slower slowest", "newest widest lowest new", "<end>low new"] * 5
    tok = UBPE.for_text(285, pretokenizer="gpt2", special_tokens=["<end>"], objective="shortest").fit(docs, progress=False)
    likely = tok.refine(docs, objective="likelihood", progress=False)
    size = min(285, 256 + likely._model.vocabulary.n_learned)
    assert likely._model.vocabulary.merges is None and len(likely._model.vocabulary) == size > len(tok._model.vocabulary)
    assert likely.vocabulary.special == {"<end>": size}
    ids = likely.encode("slowest <end>newer", allowed_special="all")
    assert size in ids.tolist() and likely.decode(ids) == "slowest <end>newer"
    batch = likely.encode_batch(docs, allowed_special="all")
    used = np.bincount(batch.compact().values, minlength=size + 1)
    assert likely._model.vocabulary.occurrences.tolist() == used[:size].tolist()  # type: ignore[union-attr]
