"""Refined vocabularies: fewer ids for documents that were not seen, whatever way documents are given, and what is refused."""

import itertools
import logging
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from corpora import corpora
from hypothesis import given, strategies as st
from pair_tables import Table, tables
from reference import decode as reference_decode
from reference.encode_paths import all_paths
from tables import each, refuses

from ubpe_numba import BPE, UBPE, FitRules, Ragged, count_documents
from ubpe_numba.coding.path_encoder import PathEncoder
from ubpe_numba.errors import NotFittedError, UnknownSymbolError
from ubpe_numba.fitting.refine import likelihood_losses
from ubpe_numba.fitting.units import units_of
from ubpe_numba.vocabulary.vocabulary import Vocabulary


def halves(name: str) -> tuple[list[list[int]], list[list[int]], int]:
    """Every second document of a corpus, and the others; and the size of the alphabet."""
    docs, size = corpora(20_000)[name]
    docs = [doc[i : i + 500] for doc in docs for i in range(0, len(doc), 500)]
    return docs[::2], docs[1::2], size


def sequences(tok: UBPE) -> list[tuple[int, ...]]:
    """All tokens as sequences of symbols."""
    return [tuple(tok._model.vocabulary.sequence(t)) for t in range(len(tok._model.vocabulary))]


@pytest.mark.parametrize("name", ["text/60", "periodic"])
def test_refined_vocabularies_need_fewer_tokens(name: str) -> None:
    seen, unseen, size = halves(name)
    n = size + 300
    tok = UBPE(n, alphabet=size, objective="log_frequency").fit(seen, progress=False)
    options: dict[str, Any] = {} if name == "periodic" else {"robust": True, "min_count": 4}
    fewer = tok.refine(seen, progress=False, **options)
    assert fewer is not tok and tok.objective == "log_frequency" and fewer.objective == "shortest"
    assert len(fewer._model.vocabulary) <= n and fewer._model.vocabulary.merges is None
    found = sequences(fewer)
    assert len(set(found)) == len(found)
    ranked = BPE(n, alphabet=size).fit(seen, progress=False)
    batch = fewer.encode_batch(unseen)
    assert fewer.decode_batch(batch) == Ragged.from_lists(unseen)
    if name != "periodic":
        assert len(fewer._model.vocabulary) == len(tok._model.vocabulary) == n
        assert batch.total < 0.995 * ranked.encode_batch(unseen).total
    without_idf = Vocabulary.from_sequences(
        size, fewer._model.vocabulary.arena[size:], np.diff(fewer._model.vocabulary.offsets)[size:]
    )
    own = PathEncoder(without_idf).encode(Ragged.from_lists(seen), "shortest", 1)
    assert (
        fewer._model.vocabulary.counts[size:].tolist()
        == np.bincount(own.values, minlength=len(found))[size:].tolist()
    )
    holding = Counter(t for ids in own.to_lists() for t in set(ids))
    assert fewer._model.vocabulary.document_frequencies[size:].tolist() == [
        holding[t] for t in range(size, len(found))
    ]
    assert (
        tok.set_params(n_threads=3).refine(seen, progress=False, **options).fingerprint == fewer.fingerprint
    )


def test_robust_leaves_out_what_one_document_needs() -> None:
    rng = np.random.default_rng(3)
    docs = [rng.integers(0, 4, 200) for _ in range(40)]
    docs[5] = np.tile(rng.integers(4, 8, 12), 20)  # no other document holds these symbols
    tok = UBPE(60, alphabet=8, objective="shortest").fit(docs, progress=False)
    robust = tok.refine(docs, robust=True, min_count=2, progress=False)
    plain = tok.refine(docs, robust=False, min_count=2, progress=False)
    assert not any(max(token) > 3 for token in sequences(robust)[8:]) and any(
        max(token) > 3 for token in sequences(plain)[8:]
    )
    assert plain.encode_batch(docs).total < robust.encode_batch(docs).total


def test_least_counts_and_lengths_of_tokens() -> None:
    docs, _, size = halves("dna")
    tok = UBPE(size + 60, alphabet=size, objective="shortest").fit(docs, progress=False)
    text = [tuple(doc) for doc in docs]
    for robust in (True, False):
        found = sequences(tok.refine(docs, min_count=40, robust=robust, max_token_length=4, progress=False))[
            size:
        ]
        assert len(found) == 60 and max(map(len, found)) <= 4
        for token in found:
            assert sum(doc[i : i + len(token)] == token for doc in text for i in range(len(doc))) >= 40
    short = tok.set_params(rules=FitRules(max_token_length=3)).refine(docs, progress=False)
    assert max(map(len, sequences(short))) == 3


def test_weights_are_repeated_documents() -> None:
    docs, _, size = halves("text/60")
    docs, weights = [doc[:100] for doc in docs[:30]], [1 + i % 3 for i in range(30)]
    repeated = [doc for doc, weight in zip(docs, weights, strict=True) for _ in range(weight)]
    tok = UBPE(size + 100, alphabet=size, objective="shortest").fit(docs, progress=False)
    options = {"progress": False, "robust": False, "min_count": 2}
    weighed = tok.refine(docs, sample_weight=weights, **options)
    assert sequences(weighed) == sequences(tok.refine(repeated, **options))
    assert (
        weighed._model.vocabulary.counts.tolist()
        == tok.refine(repeated, **options)._model.vocabulary.counts.tolist()
    )
    counted = tok.refine(count_documents(docs, sample_weight=weights), **options)
    assert sorted(sequences(counted)) == sorted(sequences(weighed))


def test_no_token_crosses_a_boundary() -> None:
    docs = [[0, 1, 2, 3] * 20] * 8
    boundaries = [list(range(2, 80, 4))] * 8
    tok = UBPE(8, alphabet=4, objective="shortest").fit(docs, boundaries=boundaries, progress=False)
    fewer = tok.refine(docs, boundaries=boundaries, progress=False)
    assert all(token[i : i + 2] != (1, 2) for token in sequences(fewer) for i in range(len(token)))


def test_unknown_symbols_nothing_and_one_document(tmp_path: Any) -> None:
    refuses(NotFittedError, "", lambda: UBPE().refine(["ab"]))
    tok = UBPE(8, objective="shortest").fit(["abcabc", "bcabca", ""], progress=False)
    refuses(UnknownSymbolError, "document 1, position 0: symbol 'x'", tok.refine, ["ab", "xb"])
    for nothing, objective in itertools.product(([], [""], ["a"]), ("shortest", "likelihood")):
        assert tok.refine(nothing, objective=objective, progress=False)._model.vocabulary.n_learned == 0
    assert tok.truncate(3).refine(["abc"], progress=False)._model.vocabulary.n_learned == 0
    fewer = tok.refine("abcabc", progress=False)
    fewer.save(tmp_path / "m.json")
    assert UBPE.load(tmp_path / "m.json").fingerprint == fewer.fingerprint
    refuses(
        ValueError,
        "only a vocabulary of pairs in order of creation can be continued",
        fewer.fit_more,
        ["abc"],
        9,
    )


@each(("arguments", "error", "message"), [
    ({"robust": 1}, TypeError, "robust: expected True, False or 'auto', got 1"),
    ({"min_count": 1}, ValueError, "min_count: expected 2 or more, got 1"),
    ({"min_count": "2"}, TypeError, "min_count: expected an int or 'auto'"),
    ({"max_token_length": 0}, ValueError, "max_token_length"),
    ({"seconds": float("nan")}, ValueError, "seconds: expected 0 or more, got nan"),
    ({"seconds": "1"}, TypeError, "seconds: expected a number or None, got '1'"),
    ({"memory_limit": 10**6}, MemoryError, "memory_limit: refining needs 134 MB, the limit is 1 MB"),
    ({"objective": "rank"}, ValueError, "objective: expected 'shortest' or 'likelihood', got 'rank'"),
])  # fmt: skip
def test_what_is_refused(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    tok = UBPE(8, objective="shortest").fit(["abcabc", "bcabca"], progress=False)
    refuses(error, message, tok.refine, ["abc"], **arguments)


def test_a_time_that_is_over_at_once_still_gives_a_full_vocabulary() -> None:
    docs, _, size = halves("wav")
    tok = UBPE(size + 100, alphabet=size, objective="shortest").fit(docs, progress=False)
    fewer = tok.refine(docs, seconds=0, progress=False)
    assert (
        len(fewer._model.vocabulary) == size + 100
        and fewer.encode_batch(docs).total <= tok.encode_batch(docs).total
    )
    assert (
        tok.refine(docs[:4], seconds=10**400, progress=False).fingerprint
        == tok.refine(docs[:4], progress=False).fingerprint
    )


def test_the_log_says_what_is_left_out_for_a_limit_of_memory(
    caplog: pytest.LogCaptureFixture, monkeypatch: Any
) -> None:
    from ubpe_numba.fitting import refine

    docs, _, size = halves("wav")
    tok = UBPE(size + 50, alphabet=size, objective="shortest").fit(docs, progress=False)
    monkeypatch.setattr(refine, "_FEWEST_EDGES", 16)
    monkeypatch.setattr(refine, "_EDGES", 160_000)
    with caplog.at_level(logging.INFO, "ubpe_numba"):
        fewer = tok.refine(docs, progress=False)
    said = " ".join(record.getMessage() for record in caplog.records)
    assert "sequences, within its limit of memory" in said and len(fewer._model.vocabulary) == size + 50
    with caplog.at_level(logging.INFO, "ubpe_numba"):
        tok.refine([[0] * 400], progress=False)
    assert "candidates of more than 17 symbols are left out" in caplog.text


def test_of_a_part_of_the_documents_an_eighth_is_held_out_too() -> None:
    ids = Ragged.from_lists([[i % 251, i // 251] * 50 for i in range(4000)])
    # of each as many as of the others: a half could be without any
    for n in (390_000, 200_000, 100_000, 50_000, 12_345):
        part = units_of(ids, None, None).sample(n)
        assert 0.9 * n < part.documents.total <= 1.05 * n
        assert len(part.held) == 8 and (abs(part.held.sum(axis=1) * 8 / len(part.documents) - 1) < 0.25).all()
    first = [int(doc[1]) for doc in part.documents]
    assert min(first) < 2 and max(first) > 13  # from everywhere
    weights = np.ones(4000, np.int64)
    weights[[5, 3999]] = 7
    part = units_of(ids, None, weights).sample(50_000)
    assert (
        part.weights.max() == 7
        and (part.weights == 7).sum() == 2
        and max(int(doc[1]) for doc in part.documents[:-1]) > 13
    )
    assert len(units_of(ids, None, weights).sample(1).documents) == 1
    # segments of one document, in a part: of 4096 symbols, or a 64th
    for n, largest in ((128, 64), (8192, 128)):
        segments = Ragged.from_lists([[0] * 64] * n)
        assert units_of(segments, np.zeros(n, int), None).most.tolist() == [largest]


def test_where_there_is_room_for_all_words_each_is_one_token() -> None:
    """And the rest are parts of them, for new words, for each thread number the same."""
    rng = np.random.default_rng(5)
    stems = ["".join(map(chr, rng.integers(97, 109, 5))) for _ in range(40)]
    ends = ["".join(map(chr, rng.integers(109, 123, 3))) for _ in range(12)]
    pairs = [
        (int(a), int(b))
        for a, b in zip(rng.integers(0, 40, 3000), (12 * rng.random(3000) ** 2).astype(int), strict=True)
    ]
    unseen = {(i, int(rng.integers(12))) for i in range(40)}
    words = [stems[a] + ends[b] for a, b in pairs if (a, b) not in unseen]
    texts = ["".join(words[i : i + 10]) for i in range(0, len(words), 10)]
    cut: dict[str, Any] = {"pretokenizer": ".{8}", "objective": "shortest"}
    distinct = len(set(words))
    tok = UBPE.for_text(256 + distinct + 60, **cut).fit(texts, progress=False)
    fewer = tok.refine(texts, progress=False)
    assert fewer.encode_batch(texts).total == len(words)
    new = [stems[a] + ends[b] for a, b in sorted(unseen)]
    assert fewer.encode_batch(new).total == 2 * len(new)
    assert tok.set_params(n_threads=3).refine(texts, progress=False).fingerprint == fewer.fingerprint
    likely = tok.refine(texts, objective="likelihood", progress=False)  # by the segments of text, too
    assert likely.usage(texts).counts.tolist() == likely.vocabulary.occurrences.tolist()


@given(st.data(), tables())
def test_losses_equal_those_of_the_likeliest_path_without_the_token(
    data: st.DataObject, table: Table
) -> None:
    size, pairs, _ = table
    sequences = [s for s in reference_decode.expand(pairs, size) if len(s) <= 9]
    tokens = {s: i for i, s in enumerate(dict.fromkeys(sequences))}
    flat = [s for s in tokens if len(s) > 1]
    vocabulary = Vocabulary.from_sequences(size, [i for s in flat for i in s], [len(s) for s in flat])
    n = len(vocabulary)
    counts = data.draw(st.just([1.0] * n) | st.lists(st.floats(0.01, 1000.0), min_size=n, max_size=n))
    total = math.fsum(counts)
    logs = [math.log(count / total) for count in counts]
    found = likelihood_losses(PathEncoder(vocabulary), np.array(counts))
    for t, loss in zip(range(size, n), found.tolist(), strict=True):
        others = [path for path in all_paths(vocabulary.sequence(t).tolist(), tokens) if t not in path]
        prices = [
            (-sum(round(logs[u] * 2**24) for u in path), [-vocabulary.sequence(u).size for u in path])
            for path in others
        ]
        path = others[prices.index(min(prices))]  # of several the one whose first tokens are longer
        likelier = sum(
            math.log((counts[u] + counts[t]) / (total + counts[t] * (len(path) - 1))) for u in path
        )
        wanted = -1.0 if sum(logs[u] for u in path) > logs[t] else counts[t] * (logs[t] - likelier)
        assert math.isclose(loss, wanted, rel_tol=1e-9, abs_tol=1e-9)


def test_pruned_vocabularies_are_likelier() -> None:
    seen, unseen, size = halves("text/60")
    tok = UBPE(size + 200, 1, alphabet=size, objective="shortest").fit(seen, progress=False)
    options: dict[str, Any] = {"robust": True, "min_count": 4}
    likely = tok.refine(seen, objective="likelihood", progress=False, **options)
    v = likely._model.vocabulary
    assert likely.objective == "likelihood" and tok.objective == "shortest" and v.merges is None
    assert len(v) <= size + 200 and v.log_probabilities is not None and v.occurrences is not None
    assert abs(math.fsum(np.exp(v.log_probabilities)) - 1.0) < 1e-9
    ids = likely.encode_batch(seen)
    assert v.occurrences.tolist() == np.bincount(ids.compact().values, minlength=len(v)).tolist()
    assert len(v) == size + 200 and bits(likely, unseen) < bits(tok.reweight(seen), unseen)
    again = tok.set_params(n_threads=3).refine(seen, objective="likelihood", progress=False, **options)
    assert again.fingerprint == likely.fingerprint


def bits(tok: UBPE, docs: list[np.ndarray]) -> float:
    """Of the best paths, by the probabilities of the tokenizer."""
    logs = tok._model.vocabulary.log_probabilities
    assert logs is not None
    return float(-logs[tok.encode_batch(docs).compact().values].sum())
