"""Refining a vocabulary: the loss that leaving out a token costs, and fewer ids for documents that were not seen."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from corpora import corpora
from hypothesis import given, settings
from hypothesis import strategies as st
from pair_tables import Table, documents, tables
from reference import decode as reference_decode
from reference.refine import worth

from ubpe_numba import BPE, UBPE, NotFittedError, Ragged, UnknownSymbolError, Vocabulary
from ubpe_numba.coding.path_encoder import PathEncoder
from ubpe_numba.fitting import refine
from ubpe_numba.runtime.progress import Progress


@given(st.data(), tables())
@settings(max_examples=150)
def test_worth_against_the_reference(data: st.DataObject, table: Table) -> None:
    size, pairs, _ = table
    docs = data.draw(documents(size, 25))
    flat = reference_decode.expand(pairs, size)
    tokens = {s: i for i, s in enumerate(flat)}
    want: Counter[int] = Counter()
    lost: Counter[int] = Counter()
    for doc in docs:
        for token, (count, saved) in worth(doc, tokens).items():
            want[token] += count
            lost[token] += saved
    v = Vocabulary.from_merges(size, pairs)
    counts, losses = refine.worth_of(Ragged.from_lists(docs), Ragged(v.arena, v.offsets), size, 1)
    assert counts.tolist() == [want[size + i] for i in range(len(pairs))]
    assert losses.tolist() == [lost[size + i] for i in range(len(pairs))]


@given(st.lists(st.lists(st.integers(0, 2), max_size=8), max_size=6))
def test_joined_neighbours_by_count(docs: list[list[int]]) -> None:
    tokens = Ragged.from_lists([[0], [1], [0, 1]])
    found = [tuple(token.tolist()) for token in refine.joined(Ragged.from_lists([[9], *docs])[1:], tokens, 100)]
    counts: Counter[tuple[int, int]] = Counter(pair for doc in docs for pair in zip(doc, doc[1:], strict=False))
    twice = sorted((-n, pair) for pair, n in counts.items() if n >= 2)
    sequences = [tuple(tokens[a].tolist() + tokens[b].tolist()) for _, (a, b) in twice]
    assert found == list(dict.fromkeys(s for s in sequences if s != (0, 1)))


@pytest.mark.parametrize("name", ["text/60", "ecg/0", "dna", "wav", "periodic"])
def test_refined_vocabularies_need_fewer_tokens(name: str) -> None:
    docs, size = corpora(60_000)[name]
    docs = [doc[i : i + 500] for doc in docs for i in range(0, len(doc), 500)]
    seen, unseen = docs[::2], docs[1::2]
    n = size + 300
    tok = UBPE(n, alphabet=size, objective="additive", token_weights="log_frequency").fit(seen, progress=False)
    fewer = tok.refine(seen, progress=False)
    assert fewer is not tok and tok.objective == "additive" and fewer.objective == "shortest"
    assert len(fewer.vocabulary) <= n and fewer.vocabulary.merges is None
    sequences = [tuple(fewer.vocabulary.sequence(t)) for t in range(len(fewer.vocabulary))]
    assert len(set(sequences)) == len(sequences)
    ranked = BPE(n, alphabet=size).fit(seen, progress=False)
    batch = fewer.encode_batch(unseen)
    assert fewer.decode_batch(batch) == Ragged.from_lists(unseen)
    if name != "periodic":
        assert len(fewer.vocabulary) == len(tok.vocabulary) == n
        assert batch.total < 0.995 * ranked.encode_batch(unseen).total
    without_idf = Vocabulary.from_sequences(size, fewer.vocabulary.arena[size:], np.diff(fewer.vocabulary.offsets)[size:])
    own = PathEncoder(without_idf).encode(Ragged.from_lists(seen), "shortest", 1)
    assert fewer.vocabulary.counts[size:].tolist() == np.bincount(own.values, minlength=len(sequences))[size:].tolist()
    holding = Counter(t for ids in own.to_lists() for t in set(ids))
    assert fewer.vocabulary.document_frequencies[size:].tolist() == [holding[t] for t in range(size, len(sequences))]
    for n_threads in (1, 3):
        assert tok.set_params(n_threads=n_threads).refine(seen, progress=False).fingerprint == fewer.fingerprint


def test_refine_of_unknown_symbols_nothing_and_one_document(tmp_path: Any) -> None:
    with pytest.raises(NotFittedError):
        UBPE().refine(["ab"])
    tok = UBPE(8, objective="shortest").fit(["abcabc", "bcabca", ""], progress=False)
    with pytest.raises(UnknownSymbolError, match="document 1, position 0: symbol 'x'"):
        tok.refine(["ab", "xb"])
    for nothing in ([], [""], ["a"]):
        assert tok.refine(nothing, progress=False).vocabulary.n_learned == 0
    fewer = tok.refine("abcabc", progress=False)
    fewer.save(tmp_path / "m.json")
    assert UBPE.load(tmp_path / "m.json").fingerprint == fewer.fingerprint
    with pytest.raises(ValueError, match="only a vocabulary of pairs in order of creation can be continued"):
        fewer.fit_more(["abc"], 9)


def test_refine_ties_keep_the_earlier_learned():
    tokens = Ragged.from_lists([[0], [1], [2], [3], [0, 1], [2, 3]])
    docs = Ragged.from_lists([[0, 1, 2, 3]] * 3)
    assert refine.worthiest(docs, tokens, 4, 1, 1, Progress(False)).tolist() == [0]
