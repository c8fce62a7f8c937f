"""The fit against the plain reference, under every rule, in rounds of any size, continued, and within a limit of memory."""

import contextlib
import logging
import sys
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
from fit_cases import (
    CLASSES,
    LENGTHS,
    NO_TABLES,
    TIES,
    check_history,
    in_package,
    large_corpus,
    make,
    marked,
    merges,
)
from hypothesis import example, given, strategies as st
from processes import python
from reference import fit as reference
from reference.words import encode_segments, two_stages
from tables import each, refuses

from ubpe_numba import BPE, UBPE, FitRules, Preprocessing, UBPEClassic, count_documents, export
from ubpe_numba.errors import NotFittedError, UnknownSymbolError
from ubpe_numba.fitting import fit as fitting, learn_more, memory, text as shards
from ubpe_numba.fitting.kernels import choose, pair_table, rounds, text_cells

Marked = tuple[list[list[int]], int, dict[str, Any]]


def pieces(doc: list[int], positions: list[int]) -> list[list[int]]:
    return [doc[a:b] for a, b in pairwise(sorted({0, *positions, len(doc)}))]


class Way(NamedTuple):
    """How a fit is made, which changes nothing; shards end where a document does that is nearer than a shard / `near`."""

    n_shards: int = 1
    near: int = 16
    dense: int = 1024  # tokens that are counted in a dense table
    batch: int = fitting._SMALL  # occurrences that are merged at once
    most: int = fitting._FEW_PAIRS  # pairs that are kept
    # merges after which the fit is continued by another call, in the middle of a round too
    first: int = 10**9
    # visits of a batch; of 0, shards deal their neighbours in every one
    shared_above: int = rounds.PARALLEL_ABOVE
    positions: float = shards._POSITIONS  # room for them
    one_epoch: int = fitting._ONE_EPOCH
    budget: int = shards.BUDGET  # the kernel may return to Python after any round


@contextlib.contextmanager
def made_so(way: Way) -> Iterator[None]:
    """Fits in this way; texts move to shorter arrays, however short they are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "plan", lambda n_cells, n_threads, n_shards=None: (2, way.n_shards))
        for name in ("_ONE_EPOCH", "_ONE_EPOCH_WEIGHTED"):
            patch.setattr(fitting, name, way.one_epoch)
        patch.setattr(fitting, "_SMALL", way.batch)
        patch.setattr(fitting, "_FEW_PAIRS", way.most)
        patch.setattr(text_cells, "DENSE", way.dense)
        patch.setattr(rounds, "PARALLEL_ABOVE", way.shared_above)
        sizes = {
            "_NEAR": way.near,
            "_LARGE": 0,
            "_SHORT": 1,
            "_POSITIONS": way.positions,
            "BUDGET": way.budget,
        }
        for name, value in sizes.items():
            patch.setattr(shards, name, value)
        yield


WAYS = st.tuples(
    st.sampled_from([1, 2, 3, 16, 64]),
    *map(
        st.sampled_from,
        ([16, 10**9], [1024, 0], [0, 10, 10**6], [4, 1 << 16], [0, 1, 2, 3, 8, 10**9], [0, 400]),
    ),
).map(lambda drawn: Way(*drawn))
PLAIN: dict[str, Any] = {"weights": None, "boundaries": None}


@given(
    marked(), LENGTHS, st.integers(0, 60), st.sampled_from([1, 2, 5, 50]), st.sampled_from(TIES), st.sampled_from([1, 2, 3]),
    st.booleans(), st.sampled_from(CLASSES), st.lists(WAYS, min_size=2, max_size=3), st.sampled_from([None, None, 2, 3, 4]),
)  # fmt: skip
@example(([[0, 0, 0, 0, 0, 0, 0]], 1, PLAIN), None, 5, 1, "smallest", 2, False, UBPEClassic, [], None)
@example(([[0, 1] * 20, [1, 0] * 20], 2, PLAIN), None, 9, 5, "first_seen", 1, True, UBPEClassic, [], None)
@example(
    ([[0] * 41], 1, PLAIN), None, 8, 1, "smallest", 1, False, BPE, [Way(n, 10**9) for n in (2, 3, 16)], None
)
@example(
    ([[1, 0, 1, 2, *[1] * 4, 0, 2, 0, 2, 0]], 3, PLAIN),
    None,
    6,
    5,
    "smallest",
    2,
    False,
    UBPEClassic,
    [Way(first=1)],
    None,
)
@example(
    ([[0, 1, 2, 3] * 9 + [4, 5] * 7], 6, PLAIN), None, 9, 1, "smallest", 2, False, BPE, [Way(2), Way(3)], 2
)
def test_fits_equal_the_reference(
    corpus: Marked, longest: int | None, more: int, n_candidates: int, ties: str, min_count: int, overshoot: bool, cls: Any,
    ways: list[Way], frame: int | None,
) -> None:  # fmt: skip
    """With weights, boundaries, frames, a longest token or without: merges, weights of tokens, history, the text as it ends."""
    docs, size, marks = corpus
    if frame and marks["boundaries"] is not None:
        marks = marks | {"boundaries": [[at // frame * frame for at in cuts] for cuts in marks["boundaries"]]}
    n_tried, limits = 1 if cls is BPE else n_candidates, {"max_token_length": longest, "frame": frame}
    want, final = reference.fit(
        docs, size, size + more, n_tried, ties, min_count, overshoot, **marks, **limits
    )
    rules = FitRules(ties=ties, min_count=min_count, overshoot=overshoot, max_token_length=longest)
    tok = make(cls, size + more, n_candidates, alphabet=size, rules=rules).fit(
        docs, **in_package(marks), frame=frame
    )
    v = tok._model.vocabulary
    assert merges(tok) == [tuple(merge) for merge in want]
    assert longest is None or np.diff(v.offsets).max() <= longest
    weights = [1] * len(docs) if marks["weights"] is None else marks["weights"]
    assert v.n_documents == sum(weights)
    assert v.n_symbols == sum(len(doc) * weight for doc, weight in zip(docs, weights, strict=True))
    assert v.weights[size:].tolist() == pytest.approx(
        [reference.idf(sum(weights), m.documents) for m in want], rel=1e-14
    )
    check_history(tok, docs, size, want, marks, frame)
    if n_tried == 1 and cls is not UBPE:  # encoding the pieces is what the fit did to them
        cuts = [[]] * len(docs) if marks["boundaries"] is None else marks["boundaries"]
        weighing = [pieces(doc, cut) for doc, cut, weight in zip(docs, cuts, weights, strict=True) if weight]
        assert [[int(i) for piece in doc for i in tok.encode(piece)] for doc in weighing] == final
    for way in ways:
        with made_so(way):
            first = more if overshoot else min(way.first, more)
            again = make(cls, size + first, n_candidates, alphabet=size, rules=rules).fit(
                docs, **in_package(marks), frame=frame
            )
            if first < more:
                assert again.fit_more(docs, size + more, **in_package(marks)) is again
        assert (merges(again), again.fingerprint) == (merges(tok), tok.fingerprint)
        assert [column.tolist() for column in again.history_[:4]] == [
            column.tolist() for column in tok.history_[:4]
        ]


@each("n_shards", [1, 2, 3])
def test_more_pairs_of_one_count_than_are_kept(n_shards: int) -> None:
    """In de Bruijn sequences all pairs are equally frequent: the counts in one shard do not tell which pairs to keep."""
    # each pair once
    circle = np.concatenate([np.concatenate([[a], *([a, b] for b in range(a + 1, 20))]) for a in range(20)])
    docs = [np.tile(circle, 12), np.tile(circle, 12) + 20]
    want, _ = reference.fit([doc.tolist() for doc in docs], 40, 60)
    for dense in (0, 1024):
        with made_so(Way(n_shards, dense=dense, most=100)):
            assert merges(BPE(60, alphabet=40).fit(docs, progress=False)) == want


@pytest.mark.parametrize("nature, n_candidates, ties, longest, with_weights", [
    ("zipf", 20, "first_seen", 5, True), ("dna", 1, "fewest_documents", None, False), ("walk", 1, "smallest", 4, True),
    ("periodic", 5, "first_seen", None, True), ("large alphabet", 20, "smallest", None, False),
])  # fmt: skip
def test_large_corpora_in_every_way_equal_the_reference(
    nature: str, n_candidates: int, ties: str, longest: int | None, with_weights: bool
) -> None:
    """Hundreds of merges, in shards: both ways of counting, small merges in batches, arrays that grow, a fit in three steps."""
    docs, size, marks = large_corpus(nature, with_weights)
    step = 30 if n_candidates == 1 else 90
    n_tokens = size + 3 * step
    want, _ = reference.fit(docs, size, n_tokens, n_candidates, ties, **marks, max_token_length=longest)
    rules = FitRules(ties=ties, max_token_length=longest)
    given = in_package(marks)
    whole = UBPEClassic(n_tokens, n_candidates, alphabet=size, rules=rules).fit(docs, **given)
    assert merges(whole) == want
    check_history(whole, docs, size, want, marks)
    for way in (
        Way(one_epoch=0), Way(3, one_epoch=0, budget=1), Way(8, dense=0, one_epoch=0),
        Way(2, dense=0, batch=0, positions=1.0, one_epoch=0), Way(16, batch=0, positions=1.03), Way(2, batch=100, budget=1),
    ):  # fmt: skip
        with made_so(way):
            tok = UBPEClassic(size + step, n_candidates, alphabet=size, rules=rules).fit(docs, **given)
            for i in (2, 3):
                tok.fit_more(docs, size + i * step, **given)
            assert (merges(tok), tok.fingerprint) == (merges(whole), whole.fingerprint)
            again = UBPEClassic(n_tokens, n_candidates, alphabet=size, rules=rules).fit(docs, **given)
            assert again.fingerprint == whole.fingerprint


def test_without_a_limit_until_no_pair_occurs_twice() -> None:
    """The third article, whose example has five merges."""
    article = BPE(None).fit(["hug pug pun bun hugs"], progress=False)._model.vocabulary
    assert article.counts[article.n_alphabet :].tolist() == [3, 2, 2, 2, 2]


@each("ties", TIES)
def test_counts_past_what_floats_tell_apart(ties: str) -> None:
    """(0, 1) occurs 9000 * 2**40 times, (2, 3) once more; that is past 2**53."""
    docs = [[0, 1] * 9000, [2, 3] * 9000, [2, 3]]
    weights = [2**40, 2**40, 1]
    want, _ = reference.fit(docs, 4, 6, ties=ties, weights=weights)
    assert want[0] == (2, 3, 9000 * 2**40 + 1, 2**40 + 1)
    assert (
        merges(BPE(6, alphabet=4, rules=FitRules(ties=ties)).fit(docs, sample_weight=weights, progress=False))
        == want
    )


def test_threads_are_chosen_by_size() -> None:
    plan = fitting.plan
    assert plan(10_000, 8) == (1, 1) and plan(1_200_000, 8) == (2, 2) and plan(20_000_000, 64) == (22, 22)
    assert plan(10**10, 2) == (2, 10)  # more cells than one shard can number
    assert plan(2**30, 1) == (1, 2)


@each("n_candidates", [1, 5])
def test_pairs_that_are_new_and_rare_are_found_when_no_frequent_one_is_left(n_candidates: int) -> None:
    """A pair that a merge made, rarer than all that were listed before: it is the only one that a next epoch has."""
    docs = [[0, 1, 2]] * 10 + [[1, 2]] * 310 + [[0, 1]] * 190
    want, _ = reference.fit(docs, 3, 20, n_candidates)
    assert [merge.count for merge in want] == [320, 190, 10]
    for limit in (None, 10**9):  # with a limit not all pairs of a small text are listed at first
        tok = UBPEClassic(20, n_candidates, alphabet=3).fit(docs, progress=False, memory_limit=limit)
        assert merges(tok) == [tuple(merge) for merge in want]


def test_pairs_that_are_too_long_count_as_borders() -> None:
    """(8, 5) waits for a round because (7, 8), which may not be merged, is as frequent; so (7, 6) comes before it."""
    docs = [[0, 1, 2, 3, 4, 5]] * 3 + [[1, 2, 6]] * 3 + [[3, 4]]
    tok = UBPEClassic(12, 10, alphabet=7, rules=FitRules(max_token_length=3)).fit(docs, progress=False)
    assert [merge[:3] for merge in merges(tok)] == [(1, 2, 6), (3, 4, 4), (0, 7, 3), (7, 6, 3), (8, 5, 3)]
    assert [tuple(merge) for merge in reference.fit(docs, 7, 12, 10, max_token_length=3)[0]] == merges(tok)


BIG = 300  # candidates, of which so many are looked at that pairs are listed


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The arrays of the driver of each fit, as it leaves them."""
    found: list[Any] = []
    run = fitting.Loop.run

    def noted(self: fitting.Loop, progress: Any) -> Any:
        made = run(self, progress)
        found.append(self.driver)
        return made

    monkeypatch.setattr(fitting.Loop, "run", noted)
    return found


@each("nature, longest, ties", [
    ("random", None, "smallest"), ("pairs", 3, "smallest"), ("triples", None, "fewest_documents"), ("steps", 3, "first_seen"),
])  # fmt: skip
def test_many_candidates_equal_the_reference(
    nature: str, longest: int | None, ties: str, driver: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of long pairs too, which rule others out and are never merged; of equal counts behind the last candidate."""
    rng = np.random.default_rng(7)
    values = {
        "random": rng.integers(0, 200, 9000),
        "pairs": (2 * rng.integers(0, 90, (3000, 1)) + [0, 1]).ravel(),
        "triples": (3 * rng.integers(0, 150, (2500, 1)) + [0, 1, 2]).ravel(),
        "steps": (rng.integers(0, 300, (1500, 1)) + np.arange(4)).ravel() % 300,
    }[nature]
    docs = [part.tolist() for part in np.split(values, np.sort(rng.integers(0, values.size, 30)))]
    size = int(values.max()) + 1
    want, _ = reference.fit(docs, size, size + 400, BIG, ties, max_token_length=longest)
    for n_shards in (1, 3):
        monkeypatch.setattr(fitting, "plan", lambda n_cells, n_threads, shards=None, n=n_shards: (1, n))
        tok = UBPEClassic(
            size + 400, BIG, alphabet=size, rules=FitRules(ties=ties, max_token_length=longest), n_threads=1
        )
        tok.fit(docs, progress=False)
        assert merges(tok) == [tuple(m) for m in want]
        assert (driver[-1].conflicts["first_left"] > 0).any()  # they were listed


@each("n", [1000, 8000])
def test_a_round_looks_at_few_pairs_for_each_that_it_keeps(n: int, driver: list[Any]) -> None:
    """All candidates are kept: each was compared with all before it, n * n / 2 looks."""
    docs = np.tile(np.arange(2 * n).reshape(n, 2), (3, 1))
    tok = UBPEClassic(3 * n, n, alphabet=2 * n, n_threads=1).fit(list(docs), progress=False)
    assert (
        tok._model.vocabulary.merges is not None
        and tok._model.vocabulary.merges.tolist() == docs[:n].tolist()
    )
    assert driver[-1].state["round"][0] == 1 and driver[-1].state["visited"][0] < 40 * n


def test_the_first_place_of_the_first_table_is_listed_too() -> None:
    entries = np.full((1, 8), -1)
    entries[0, :2] = 3 << 32 | 4, 7
    for left, right, wanted in [(1, 3, ("left", 4)), (4, 1, ("right", 3))]:
        tokens, listed = (
            np.ones(6, pair_table.CONFLICT).view(np.recarray),
            np.ones(4, pair_table.LISTED).view(np.recarray),
        )
        choose.list_pairs.py_func(entries, tokens, listed, 6, 5)
        assert choose.keep.py_func(entries, tokens, listed, left, right) == 1
        side, token = wanted
        assert tokens[side][token] == 7 and tokens.left.sum() + tokens.right.sum() == 7


CANDIDATES = st.sampled_from([1, 2, 5, 50])
DOCS = [[0, 1, 2, 0, 1, 2, 0, 1, 1, 1], [], [2, 0, 1, 2, 0, 2, 2, 1, 1], [0, 0, 2, 0, 0, 2], [0, 1, 2, 2]]


@given(
    marked(),
    LENGTHS,
    st.integers(0, 8),
    st.integers(0, 12),
    st.integers(0, 12),
    CANDIDATES,
    st.sampled_from(TIES),
)
def test_fit_more_on_another_corpus_equals_the_reference(
    corpus: Marked, longest: int | None, split: int, first: int, more: int, n_candidates: int, ties: str
) -> None:
    """No round is left to finish after another corpus: a new round begins, on the other corpus encoded by the old merges."""
    docs, size, marks = corpus
    old = [
        merge[:2]
        for merge in reference.fit(docs[:split], size, size + first, ties=ties, max_token_length=longest)[0]
    ]
    docs = docs[split:]
    marks = {name: values and values[split:] for name, values in marks.items()}
    n_tokens = size + len(old) + more
    params = {"rules": FitRules(ties=ties, max_token_length=longest)}
    for cls, n_tried in ((BPE, 1), (UBPEClassic, n_candidates)):
        want, _ = reference.fit(
            docs, size, n_tokens, n_tried, ties, **marks, max_token_length=longest, old=old
        )
        tok = cls.from_merges(old, size, **({} if cls is BPE else {"n_candidates": n_tried}), **params)
        tok.fit_more(docs, n_tokens, **in_package(marks))
        assert merges(tok)[len(old) :] == [tuple(merge) for merge in want]
        assert [merge[:2] for merge in merges(tok)[: len(old)]] == old


def refused(
    tok: Any, error: type[Exception], match: str, docs: Any = DOCS, n_tokens: Any = 20, **params: Any
) -> None:
    before = tok._model.vocabulary, tok.fingerprint, repr(tok), repr(getattr(tok, "history_", None))
    refuses(error, match, tok.fit_more, docs, n_tokens, **params)
    assert (tok._model.vocabulary, tok.fingerprint, repr(tok), repr(getattr(tok, "history_", None))) == before


@each("cls", CLASSES)
def test_a_refused_fit_more_changes_nothing(cls: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    refuses(NotFittedError, "", lambda: cls(9).fit_more(DOCS, 10))
    tok = make(cls, 6, 2, alphabet=3).fit(DOCS, progress=False)
    assert merges(tok.fit_more(DOCS, 6, progress=False)) == merges(
        make(cls, 6, 2, alphabet=3).fit(DOCS, progress=False)
    )
    refused(tok, ValueError, "^n_tokens", n_tokens=5)
    refused(tok, ValueError, "^n_tokens", n_tokens=2**31)
    refused(tok, TypeError, "^n_tokens", n_tokens=7.5)
    refused(tok, UnknownSymbolError, "document 1, position 2: symbol 3", docs=[[0, 1], [0, 1, 3]])
    refused(tok, ValueError, "^sample_weight", sample_weight=[1])
    refused(tok, ValueError, "^boundaries", boundaries=[[99], *[[]] * 4])
    monkeypatch.setattr(fitting.rounds, "run", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    refused(tok, KeyboardInterrupt, "^$")
    monkeypatch.undo()
    by_idf = make(cls, 7, 2, alphabet=3, rules=FitRules(order="idf")).fit(DOCS, progress=False)
    refused(by_idf, ValueError, "order|pairs")  # of UBPE, sequences are left
    refused(UBPE.load(export(UBPE(7, 2, alphabet=3).fit(DOCS, progress=False), "ubpe")), ValueError, "pairs")
    refused(BPE.from_merges([[4, 2], [0, 1]], 3), ValueError, "order")


WORDS = ["by", " by", " the", " way", " the way", "\n", "\n\n", "  ", " 12", "3456", "'s", "é", "<s>", ","]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=30).map("".join), max_size=6)
PATTERNS = [None, "gpt2", "cl100k", "starcoder"]
TALES = ["by the way, by the by", "on the way", "by the way <s> on the way 1234"] * 3


def made(cls: Any, first: str | None, n_tokens: int, **params: Any) -> Any:
    parts = Preprocessing(first, {"<s>": 999}, encoding="utf-8")
    return make(cls, n_tokens, 1, alphabet=bytes(range(256)), preprocessing=parts, **params)


@given(
    TEXTS, TEXTS, st.sampled_from(PATTERNS), st.sampled_from(PATTERNS), st.integers(0, 9), st.integers(0, 12), st.data(),
    st.sampled_from([5, learn_more._PART]), st.sampled_from(CLASSES),
)  # fmt: skip
def test_two_stages_equal_the_reference(
    docs: list[str],
    held_out: list[str],
    first: Any,
    second: Any,
    n: int,
    more: int,
    data: st.DataObject,
    part: int,
    cls: Any,
) -> None:
    texts = [doc.encode() for doc in docs]
    weights = data.draw(
        st.none() | st.lists(st.sampled_from([0, 1, 3]), min_size=len(docs), max_size=len(docs))
    )
    cuts = (
        [data.draw(st.lists(st.integers(0, len(text)), max_size=3)) for text in texts]
        if data.draw(st.booleans())
        else None
    )
    given = {"sample_weight": weights, "boundaries": cuts, "progress": False}
    tok = made(cls, first, 256 + n).fit(texts, **given)
    size = len(tok._model.vocabulary)
    one, two = two_stages(texts, (first, second), (256 + n, size + more), b"<s>", weights, cuts)
    old = merges(tok)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learn_more, "_PART", part)
        tok.fit_more(texts, size + more, pretokenizer=second, **given)
    assert old == [tuple(merge) for merge in one] and merges(tok) == old + [tuple(merge) for merge in two]
    assert tok.preprocessing == Preprocessing(second, {"<s>": 999}, encoding="utf-8")
    if cls is BPE:
        ranked = {merge[:2]: (i, 256 + i) for i, merge in enumerate((*one, *two))}
        for doc in held_out:
            plain = doc.replace("<s>", "")
            assert tok.encode(plain).tolist() == encode_segments(
                plain.encode(), second, ranked, list(range(256))
            )


def test_other_pretokenizers_that_are_refused_change_nothing_and_none_may_follow() -> None:
    tok = BPE.for_text(262, pretokenizer="gpt2").fit(TALES, progress=False)
    before = tok.fingerprint, repr(tok)
    segments = count_documents(TALES)
    segments.are_segments = True
    for error, match, docs, pretokenizer in (
        (ValueError, "docs: with another pretokenizer tokens cross the counted segments", segments, None),
        (ValueError, "pretokenizer: the new one changes text", TALES, [{"type": "Metaspace"}]),
        (ValueError, "pretokenizer: there is no 'gtp2'", TALES, "gtp2"),
        (TypeError, "docs", [[1, 2]], None),
    ):
        refuses(error, match, tok.fit_more, docs, 270, pretokenizer=pretokenizer, progress=False)
        assert (tok.fingerprint, repr(tok)) == before
    characters = BPE(20, preprocessing=Preprocessing("gpt2")).fit(TALES, progress=False)
    characters.fit_more(TALES, 30, pretokenizer=None, progress=False)
    assert characters.preprocessing is None and characters.decode(characters.encode(TALES[0])) == TALES[0]
    refuses(
        ValueError,
        "pretokenizer: it cuts text",
        BPE(4).fit([[0, 1, 0, 1]]).fit_more,
        [[0, 1]],
        5,
        pretokenizer="gpt2",
    )
    changing = BPE(30, preprocessing=Preprocessing([{"type": "Metaspace"}])).fit(TALES, progress=False)
    refuses(
        ValueError,
        "pretokenizer: the present one changes text",
        changing.fit_more,
        TALES,
        40,
        pretokenizer=None,
    )


@pytest.fixture
def no_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """No allowance for tables and no batches of small merges, so that small corpora reach the limit too."""
    for name, value in NO_TABLES.items():
        monkeypatch.setattr(memory, name, value)
    monkeypatch.setattr(fitting, "_SMALL", 0)


RNG = np.random.default_rng(0)


@pytest.mark.usefixtures("no_tables")
@pytest.mark.parametrize("docs, size, candidates", [
    ([RNG.zipf(1.5, 3000) % 40 for _ in range(5)], 40, 4),
    ([RNG.zipf(1.3, 20_000) % 1500], 1500, 1),  # more tokens than are counted in a dense table
    ([np.tile([0, 1, 2], 900), np.zeros(800, int), np.tile([0, 1], 700)], 3, 4),
], ids=["zipf", "large alphabet", "periodic"])  # fmt: skip
def test_a_limit_does_not_change_the_result(caplog: Any, docs: Any, size: int, candidates: int) -> None:
    """What is refused by one limit is so by all smaller ones; a limit that is felt is logged; a fit that goes on keeps to it."""
    n = sum(map(len, docs))
    whole = UBPEClassic(size + 150, candidates).fit(docs, progress=False)
    kept = []
    with caplog.at_level(logging.INFO, "ubpe_numba"):
        for per_symbol in (40, 18, 15, 12, 10, 8, 6, 5):
            with contextlib.suppress(MemoryError):
                tok = UBPEClassic(size + 150, candidates).fit(
                    docs, memory_limit=per_symbol * n, progress=False
                )
                assert tok.fingerprint == whole.fingerprint
                kept.append(per_symbol)
    assert kept == [40, 18, 15, 12, 10, 8, 6, 5][: len(kept)] and 0 < len(kept) < 8
    assert size != 40 or "only pairs that occur" in caplog.text
    part = UBPEClassic(size + 50, candidates).fit(docs, progress=False)
    assert merges(part.fit_more(docs, size + 150, memory_limit=40 * n, progress=False)) == merges(whole)
    if size > 3:  # of the periodic text hardly anything is left
        refuses(MemoryError, "memory_limit", part.fit_more, docs, size + 151, memory_limit=1000)


@each("seed", range(4))
def test_what_the_docstring_says_is_enough(seed: int, request: pytest.FixtureRequest) -> None:
    """11 MB and a few bytes a symbol: a batch of merges is closed earlier, since it cannot come to more than the text has."""
    rng = np.random.default_rng(seed)
    n = [10, 1000, 50_000, 20_000][seed]
    x = [rng.integers(0, 4, n), np.zeros(n, int), np.arange(n) % 3, rng.zipf(1.3, n) % 1500][seed]
    docs = np.array_split(x, [1, 3, 3, n // 3 + 1][seed])
    few, small = [rng.integers(0, 256, min(n, 8000))], UBPEClassic(300, alphabet=256)
    expected = small.fit(few, progress=False).fingerprint
    assert (
        small.fit(few, memory_limit=11_000_000 + 7 * few[0].size + 11, progress=False).fingerprint == expected
    )
    tok = UBPEClassic(1600, 50, alphabet=1500)
    expected = tok.fit(docs, progress=False).fingerprint
    request.getfixturevalue("no_tables")
    common = int(np.unique(2000 * x[:-1] + x[1:], return_counts=True)[1].max())
    for limit in (15 * n + 19 * (len(docs) + 1) + 24 * common, 27 * n + 31 * (len(docs) + 1)):
        assert tok.fit(docs, memory_limit=limit, progress=False).fingerprint == expected
    weighed = BPE(1600, alphabet=1500).fit(docs, sample_weight=[2] * len(docs), progress=False)
    given = {"sample_weight": [2] * len(docs), "memory_limit": 27 * n + 31 * (len(docs) + 1)}
    assert BPE(1600, alphabet=1500).fit(docs, **given, progress=False).fingerprint == weighed.fingerprint


PEAK = """
import resource, sys
import numpy as np
from ubpe_numba import BPE
rng = np.random.default_rng(0)
docs = (rng.zipf(1.2, 8_000_000) % 60).astype(np.uint8)
BPE(70, alphabet=60, n_threads=1).fit(docs[:10_000], progress=False)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
BPE(400, alphabet=60, n_threads=1).fit(docs, memory_limit=int(sys.argv[1]), progress=False)
print(1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in other units elsewhere")
def test_the_process_keeps_to_it() -> None:
    limit = 135_000_000
    assert int(python(PEAK, str(limit))) < limit
