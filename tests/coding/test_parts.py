"""Counts and truncated documents: equal to the whole encoding, and work in proportion to the result."""

import functools
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from pair_tables import Table, documents, tables
from tables import each, refuses
from text_samples import POINTS, SAMPLES

from ubpe_numba import BPE, UBPE, FitRules, Preprocessing, Ragged, UBPEClassic
from ubpe_numba.coding import parts
from ubpe_numba.coding.plan import Plan
from ubpe_numba.documents.read import Documents
from ubpe_numba.errors import UnknownSymbolError
from ubpe_numba.text.cut import PATTERNS
from ubpe_numba.vocabulary.alphabet import Alphabet

WORDS = ["<s>", "the", "ab", " \n", "x" * 12]


@contextmanager
def small(group: int = 5) -> Iterator[None]:
    """Parts as small as they are exact."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (
            ("GROUP", group),
            ("DOCUMENTS", 2),
            ("LONG", 1),
            ("_FIRST", 1),
            ("_PER_ID", 1),
            ("_SHARE", 1),
        ):
            patch.setattr(parts, name, value)
        yield


SPECIAL = Preprocessing(special_tokens=[[0, 0], [0] * 5])


@functools.cache
def fitted(size: int) -> list[Any]:
    """By the articles' rule, and by best paths."""
    corpus = [[0] * 9, [*range(size)] * 3, [0, size - 1] * 4]
    paths = [("shortest", None), ("tfidf", None), ("shortest", SPECIAL)]
    made = [
        UBPE(size + 6, 4, alphabet=size, objective=path, preprocessing=special) for path, special in paths
    ]
    return [tok.fit(corpus, progress=False) for tok in (UBPEClassic(size + 6, 4, alphabet=size), *made)]


def of_integers(table: Table) -> list[Any]:
    """By rank, with special tokens, by the batch rule, out of order of creation, and by best paths."""
    size, pairs, weights = table
    return [
        BPE.from_merges(pairs, alphabet=size), BPE.from_merges(pairs, alphabet=size, preprocessing=SPECIAL),
        UBPEClassic.from_merges(pairs, alphabet=size, weights=weights, rules=FitRules.PUBLISHED_0_2), *fitted(size),
    ]  # fmt: skip


@functools.cache
def of_text(pattern: str) -> list[Any]:
    made = []
    for special, kind in ((None, BPE), (WORDS, BPE), (WORDS[:1], UBPE)):
        tok = kind.for_text(300, pretokenizer=pattern, special_tokens=special)
        made.append(tok.fit([SAMPLES, "the cat sat on the mat, the cat that sat\n" * 3], progress=False))
    return made


texts = st.lists(
    st.sampled_from([*POINTS, *WORDS, *SAMPLES.split("\n"), "the cat sat ", "end.\nThe "]), max_size=40
).map("".join)


def check_counts(tok: Any, docs: list[Any], group: int, **options: Any) -> None:
    expected = tok.encode_batch(docs, **options).lengths.tolist()
    with small(group):
        for given_docs in (docs, *([iter(docs)] if docs else []), tuple(docs)):
            found = tok.count(given_docs, **options)
            assert found.dtype == np.int64 and found.tolist() == expected


def check_truncation(tok: Any, docs: list[Any], n: int, **options: Any) -> None:
    whole = [ids.tolist() for ids in tok.encode_batch(docs, **options)]
    for side, cut in (("right", slice(n)), ("left", slice(-n, None))):
        with small():
            found = tok(docs, truncation=True, max_length=n, truncation_side=side, **options).input_ids
        assert [ids.tolist() for ids in found] == [ids[cut] for ids in whole]


@given(st.data(), tables(), st.integers(1, 30), st.integers(1, 12))
def test_integers(data: st.DataObject, table: Table, group: int, n: int) -> None:
    docs = data.draw(documents(table[0], 300))
    options = {"allowed_special": data.draw(st.sampled_from(["all", "none"])), "disallowed_special": "none"}
    for tok in of_integers(table):
        check_counts(tok, docs, group, **options)
        check_truncation(tok, docs, n, **options)
    if docs:
        flat, offsets = (
            np.concatenate([np.array(doc, np.int32) for doc in docs]),
            np.cumsum([0, *map(len, docs)]),
        )
        expected = tok.encode_batch(docs, **options).lengths.tolist()
        with small(group):
            assert tok.count(flat, offsets, **options).tolist() == expected
            assert tok.count(Ragged.from_lists(docs), **options).tolist() == expected
            assert tok.count(flat, **options).tolist() == [tok.encode(flat, **options).size]


@given(
    st.data(), st.sampled_from(PATTERNS), st.lists(texts, max_size=3), st.integers(1, 90), st.integers(1, 20)
)
def test_text(data: st.DataObject, pattern: str, docs: list[str], group: int, n: int) -> None:
    for tok in of_text(pattern):
        allowed = data.draw(st.sampled_from(["all", "none"]))
        options = {"allowed_special": allowed, "disallowed_special": "none"}
        check_counts(tok, docs, group, **options)
        check_truncation(tok, docs, n, **options)
        if docs:
            with small():
                found = tok(
                    docs[0], truncation=True, max_length=n, return_offsets=True, **options
                ).offset_mapping
            spans = tok.encode(docs[0], return_offsets="spans", units="characters", **options)[1]
            assert found.tolist() == spans[:n].tolist()


def test_errors_are_those_of_the_whole() -> None:
    tok = BPE.from_merges([[0, 1]], alphabet="ab")
    with small(2):
        for docs in (["ab", "ab", "bx"], iter(["ab", "ab", "bx"])):
            refuses(UnknownSymbolError, "document 2, position 1: symbol 'x'", tok.count, docs)
        refuses(ValueError, "offsets", tok.count, np.zeros(9, np.int64), np.array([0, 10]))
        refuses(TypeError, "unexpected", tok.count, ["ab"], return_offsets=True)
        refuses(
            UnknownSymbolError, "position 1: symbol 'x'", tok, "ax" + "ab" * 50, truncation=True, max_length=9
        )
        # which is not read
        assert tok("ab" * 50 + "x", truncation=True, max_length=2).input_ids.tolist() == [2, 2]
    assert tok.count(["ab", "axb"], unknown="skip").tolist() == [1, 1] and tok.count([]).tolist() == []


@each("left", [False, True])
@each("kind", ["path", "text", "special"])
def test_what_is_read_does_not_depend_on_the_document(
    monkeypatch: pytest.MonkeyPatch, kind: str, left: bool
) -> None:
    line = "the cat sat on the mat; it's 12 o'clock.\n"
    if kind == "text":
        tok: Any = BPE.for_text(300, special_tokens=["<end>"]).fit([line], progress=False)
        doc: Any = line * 40_000
    else:
        doc = np.random.default_rng(0).integers(0, 4, 1_600_000)
        words = Preprocessing(special_tokens=[[-1, -2]]) if kind == "special" else None
        made = functools.partial(UBPE, objective="shortest") if kind == "path" else BPE
        tok = made(30, alphabet=4, preprocessing=words).fit([doc[:10_000]], progress=False)
    read = []
    inner, to_ids = Plan._encode, Alphabet.to_ids

    def encoded(self: Plan, docs: Any, *rest: Any) -> Any:
        read.append(sum(map(len, docs)) if isinstance(docs, list) else len(docs))
        return inner(self, docs, *rest)

    def looked_up(self: Alphabet, given_docs: Documents, *rest: Any, **options: Any) -> Any:
        read.append(given_docs.values.size)
        return to_ids(self, given_docs, *rest, **options)

    monkeypatch.setattr(Plan, "_encode", encoded)
    monkeypatch.setattr(Alphabet, "to_ids", looked_up)
    found = tok(doc, truncation=True, max_length=100, truncation_side="left" if left else "right")
    assert found.input_ids.size == 100 and 0 < sum(read) < len(doc) // 4


def test_counts_are_made_in_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "GROUP", 1 << 18)
    doc = np.random.default_rng(0).integers(0, 4, 4_000_000).astype(np.int32)  # of 16 MB
    tok = BPE(30, alphabet=4, n_threads=1).fit([doc[:10_000]], progress=False)
    text = b"the cat sat on the mat; it's 12 o'clock.\n" * 100_000
    of_text = BPE.for_text(300, special_tokens=["<end>"], n_threads=1).fit([text[:2000]], progress=False)
    for count in (
        lambda: tok.count(doc),
        lambda: tok.count(doc[a : a + 1000].copy() for a in range(0, doc.size, 1000)),
        lambda: of_text.count(text),
    ):
        count()  # tables are made
        tracemalloc.start()
        try:
            total = count().sum()
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert total > 500_000 and peak < 8_000_000
