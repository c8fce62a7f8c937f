"""The plain-Python references against the worked examples of the articles, and against each other."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.unique import merge_until_unique

from ubpe_numba.verification.reference.decode import decode, expand
from ubpe_numba.verification.reference.encode_pairs import encode_batch, encode_rank
from ubpe_numba.verification.reference.encode_paths import all_paths, best_path, encode_shortest, encode_top, fixed, path_weight
from ubpe_numba.verification.reference.fit import count_pairs, fit, idf, order_pairs, replace
from ubpe_numba.verification.reference.trim import is_closed, keep_oldest, rearrange

TIES = ["smallest", "first_seen", "fewest_documents"]
TRIMS = ["closed", "one_level", "published_0_2", "published_0_3"]
MODULES = [module.name for module in pkgutil.iter_modules(reference.__path__, "reference.") if "test_" not in module.name]
DOCS = st.lists(st.lists(st.integers(0, 3), max_size=12), max_size=5)
EXAMPLES = settings(deadline=None, derandomize=True, max_examples=60)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_every_module(name):
    results = doctest.testmod(importlib.import_module(name))
    assert results.failed == 0
    assert results.attempted > 0


# --- worked examples -------------------------------------------------------------------------------------


def apply_run(text, pairs, first_id):
    """Merge `pairs` in turn, each of which must be one of the most frequent then; return all texts."""
    texts = [text]
    for token, pair in enumerate(pairs, start=first_id):
        counts = count_pairs([texts[-1]])
        assert counts[pair] == max(counts.values()), (token, pair)
        assert counts[pair] >= 2, (token, pair)
        texts.append(replace(texts[-1], {pair: token}))
    return texts


def is_unique(text):
    return all(count == 1 for count in count_pairs([text]).values())


def test_the_articles_hug_pug_pun_bun_hugs():
    """Capital letters stand for learned tokens, as in the article. Its order of ties is its own."""
    steps = ["hA pA pun bun hAs", "B pA pun bun Bs", "BCACun bun Bs", "BCACD bD Bs", "BCACEbEBs"]
    pairs = [(ord(left), ord(right)) for left, right in ["ug", "hA", " p", "un", "D "]]
    symbols = [ord(letter) for letter in "hug pug pun bun hugs"]
    capitals = {ord("A") + step: 256 + step for step in range(5)}

    pairs = [(capitals.get(left, left), capitals.get(right, right)) for left, right in pairs]
    texts = apply_run(symbols, pairs, first_id=256)

    assert [[capitals.get(ord(letter), ord(letter)) for letter in step] for step in steps] == texts[1:]
    assert is_unique(texts[-1])
    assert decode(texts[-1], expand(pairs, 256)) == symbols
    assert merge_until_unique(symbols, 256)[0][0][:3] == (ord("u"), ord("g"), 3)


def test_the_overviews_low_lower_lowest():
    """The overview's table, with the true counts: (e, r) occurs 7 times, and three pairs tie at 11."""
    frequencies = {
        "low": 5, "lower": 2, "lowest": 1,
        "new": 6, "newer": 3, "newest": 2,
        "wide": 3, "wider": 2, "widest": 1,
    }  # fmt: skip
    end = "$"  # end of word
    letters = sorted(set("".join(frequencies) + end))
    words = [word + end for word, frequency in frequencies.items() for _ in range(frequency)]
    docs = [[letters.index(letter) for letter in word] for word in words]
    counts = {letters[left] + letters[right]: count for (left, right), count in count_pairs(docs).items()}

    assert counts["er"] == 7
    assert counts["lo"] == counts["ow"] == counts["we"] == 8
    assert {pair for pair, count in counts.items() if count == max(counts.values())} == {"ne", "ew", "w$"}
    assert counts["ne"] == 11

    (first,), _ = fit(docs, len(letters), len(letters) + 1)
    assert (letters[first.left] + letters[first.right], first.count, first.documents) == ("ew", 11, 11)


# The article's table of merges over its two sentences, in bytes.
LOREM_MERGES = [
    (32, 101), (111, 114), (32, 97), (110, 105), (113, 117), (99, 111), (100, 111), (32, 262), (32, 261),
    (257, 101), (108, 97), (32, 117), (108, 105), (99, 105), (105, 115), (115, 101), (105, 112), (110, 271),
    (264, 273), (270, 32), (268, 260), (258, 276), (267, 116), (266, 98), (32, 279), (263, 108), (259, 109),
    (258, 100), (257, 32), (256, 120), (97, 116), (32, 109), (109, 111), (116, 101), (44, 32), (115, 105),
]  # fmt: skip
LOREM = [
    b"Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod",
    b"tempor incididunt ut labore et dolore magna aliqua.",
    b"Ut enim ad minim veniam, quis nostrud exercitation ullamco laboris nisi ut",
    b"aliquip ex ea commodo consequat.",
]


@pytest.mark.parametrize("between_sentences", [b" ", b"\n", b"\n\n"])
def test_the_articles_lorem_ipsum(between_sentences):
    """The wrapped lines were joined by one space; how the sentences were joined, the table does not show."""
    text = list(b" ".join(LOREM[:2]) + between_sentences + b" ".join(LOREM[2:]))
    texts = apply_run(text, LOREM_MERGES, first_id=256)
    assert is_unique(texts[-1])
    flat = expand(LOREM_MERGES, 256)
    assert decode(texts[-1], flat) == text
    assert bytes(flat[274]) == b" conse"
    assert texts[-1].count(274) == 2


def test_lorem_lines_are_not_joined_by_newlines():
    """Kept as wrapped, " aliqu" (277) would stand there once only, and could not have been merged."""
    with pytest.raises(AssertionError, match="277"):
        apply_run(list(b"\n".join(LOREM)), LOREM_MERGES, first_id=256)


# --- fitting ---------------------------------------------------------------------------------------------


@EXAMPLES
@given(DOCS, st.integers(1, 4), st.sampled_from(TIES), st.integers(1, 2), st.booleans())
def test_fit_is_lossless_and_says_what_it_replaced(docs, n_candidates, ties, min_count, overshoot):
    merges, corpus = fit(docs, 4, 9, n_candidates, ties, min_count, overshoot)
    flat = expand([merge[:2] for merge in merges], 4)
    assert [decode(doc, flat) for doc in corpus] == docs
    assert len(set(flat)) == len(flat)
    assert all(merge.count >= merge.documents >= 1 and merge.count >= min_count for merge in merges)
    assert overshoot or len(merges) <= 5


@EXAMPLES
@given(DOCS, st.sampled_from(TIES))
def test_fit_merges_the_best_pair_of_each_turn(docs, ties):
    merges, corpus = fit(docs, 4, 9, ties=ties)
    for token, merge in enumerate(merges, start=4):
        assert order_pairs(docs, ties, min_count=2)[0] == merge[:2]
        assert count_pairs(docs)[merge[:2]] == merge.count
        docs = [replace(doc, {merge[:2]: token}) for doc in docs]
    assert docs == corpus


@EXAMPLES
@given(st.lists(st.integers(0, 3), max_size=40))
def test_unique_is_fit_without_a_limit(text):
    merges, rest = merge_until_unique(text, 4)
    assert (merges, [rest]) == fit([text], 4, 10**9)
    assert is_unique(rest)


@pytest.mark.parametrize(
    ("n_tokens", "overshoot", "n_merges"),
    [
        (3, False, 0), (4, False, 0), (5, False, 1), (6, False, 2), (7, False, 3), (8, False, 3),
        (3, True, 0), (4, True, 2), (5, True, 2), (6, True, 3), (8, True, 3),
    ],
)  # fmt: skip
def test_the_size_ends_the_fit_within_a_round_or_behind_it(n_tokens, overshoot, n_merges):
    """Over four symbols (0, 1) and (2, 3) are merged in one round, (4, 4) in the next, then nothing."""
    docs = [[0, 1, 0, 1]] * 2 + [[2, 3]] * 3
    merges, _ = fit(docs, 4, n_tokens, n_candidates=2, overshoot=overshoot)
    assert [merge[:2] for merge in merges] == [(0, 1), (2, 3), (4, 4)][:n_merges]


def test_nothing_to_merge():
    assert fit([], 2, 9) == ([], [])
    assert fit([[], [0]], 2, 9) == ([], [[], [0]])
    assert fit([[0, 1]], 2, 9) == ([], [[0, 1]])
    with pytest.raises(ValueError, match="ties"):
        fit([[0, 0, 0]], 1, 9, ties="largest")


# --- trimming --------------------------------------------------------------------------------------------


def pair_table(docs):
    merges, _ = fit(docs, 4, 14, n_candidates=2, min_count=1)
    return [merge[:2] for merge in merges], [idf(len(docs), merge.documents) for merge in merges]


@EXAMPLES
@given(DOCS, st.integers(4, 14))
def test_closed_trimming_leaves_a_closed_table(docs, n_tokens):
    pairs, weights = pair_table(docs)
    table = rearrange(pairs, weights, 4, n_tokens, "closed")
    assert is_closed(table, 4)
    assert len(table) <= max(0, n_tokens - 4)
    assert [weight for _, weight in table] == sorted((weight for _, weight in table), reverse=True)
    assert set(expand([pair for pair, _ in table], 4)) <= set(expand(pairs, 4))
    assert is_closed([(pair, 0.0) for pair in keep_oldest(pairs, n_tokens - 4)], 4)


@EXAMPLES
@given(DOCS, st.integers(4, 14))
def test_all_trims_agree_on_flat_tables_and_where_nothing_goes(docs, n_tokens):
    pairs, weights = pair_table(docs)
    flat = expand(pairs, 4)[4:]
    tables = [rearrange(flat, weights, 4, n_tokens, trim) for trim in TRIMS]
    assert all(table == tables[0] for table in tables)
    assert len(tables[0]) == min(len(flat), n_tokens - 4)

    tables = [rearrange(pairs, weights, 4, 4 + len(pairs), trim) for trim in TRIMS]
    assert all(table == tables[0] for table in tables)
    assert len(tables[0]) == len(pairs)


def test_trims_that_break_the_table():
    """4 = (0, 1), 5 = (4, 0), 6 = (5, 0), 7 = (1, 1): one level deletes 4 and 5, and 6 dangles."""
    pairs, weights = [(0, 1), (4, 0), (5, 0), (1, 1)], [1.0, 2.0, 3.0, 4.0]
    tables = {trim: rearrange(pairs, weights, 4, 7, trim) for trim in TRIMS}
    assert tables["closed"] == tables["published_0_3"] == [((1, 1), 4.0)]
    assert tables["one_level"] == tables["published_0_2"] == [((1, 1), 4.0), ((5, 0), 3.0)]
    assert not is_closed(tables["one_level"], 4)  # 5 is the old number of (4, 0), and now that of (5, 0)


def test_trims_that_drop_too_much():
    """(1, 1) could stay under every rule, but some rules count a token twice that is listed twice, and drop one too many."""
    pairs, weights = [(0, 1), (1, 0), (2, 3), (1, 1)], [1.0, 2.0, 3.0, 4.0]  # (2, 3) holds both before it
    tables = {trim: rearrange(pairs, weights, 2, 3, trim) for trim in TRIMS}
    assert tables["closed"] == tables["one_level"] == tables["published_0_3"] == [((1, 1), 4.0)]
    assert tables["published_0_2"] == []

    pairs, weights = [(0, 1), (2, 0), (3, 2), (1, 1)], [1.0, 3.0, 2.0, 4.0]  # (3, 2) waits on the stack twice
    tables = {trim: rearrange(pairs, weights, 2, 5, trim) for trim in TRIMS}
    assert tables["closed"] == [((1, 1), 4.0)]
    assert tables["published_0_3"] == []


# --- encoding --------------------------------------------------------------------------------------------


@EXAMPLES
@given(DOCS, st.sampled_from(TIES))
def test_rank_encoding_repeats_the_fit(docs, ties):
    merges, corpus = fit(docs, 4, 12, ties=ties)
    ranked = {merge[:2]: (rank, 4 + rank) for rank, merge in enumerate(merges)}
    assert [encode_rank(doc, ranked) for doc in docs] == corpus


@EXAMPLES
@given(DOCS, st.lists(st.integers(0, 3), max_size=12))
def test_pair_encoding_is_lossless_and_complete(docs, doc):
    pairs, weights = pair_table(docs)
    pairs = [pair for pair, _ in rearrange(pairs, weights, 4, 14, "closed")]
    ranked = {pair: (rank, 4 + rank) for rank, pair in enumerate(pairs)}
    for ids in (encode_rank(doc, ranked), encode_batch(doc, ranked)):
        assert decode(ids, expand(pairs, 4)) == doc
        assert not set(pairs) & set(count_pairs([ids]))


@EXAMPLES
@given(DOCS, st.lists(st.integers(0, 3), max_size=10), st.integers(1, 4))
def test_paths_are_lossless_and_ordered_by_weight(docs, doc, top_n):
    pairs, idfs = pair_table(docs)
    flat = expand(pairs, 4)
    vocabulary = {sequence: token for token, sequence in enumerate(flat)}
    weights = dict(enumerate(idfs, start=4))

    paths = set(all_paths(doc, vocabulary))
    assert all(decode(list(path), flat) == doc for path in paths)

    best = path_weight(best_path(doc, vocabulary, weights), weights)
    assert best == max(path_weight(path, weights) for path in paths)
    assert encode_top(doc, vocabulary, weights, 1)[0][1] <= best

    top = encode_top(doc, vocabulary, weights, top_n)
    assert len(top) == min(top_n, len(paths))
    assert len({path for path, _ in top} & paths) == len(top)
    assert [weight for _, weight in top] == [path_weight(path, weights) for path, _ in top]
    assert top == sorted(top, key=lambda item: (-item[1], len(item[0])))
    assert encode_top(doc, vocabulary, weights, 10**6)[0][1] == best

    def rank_short(path):
        return len(path), -sum(fixed(weights.get(token, 0.0), 1) for token in path)

    shortest = encode_shortest(doc, vocabulary, weights)
    assert shortest in paths
    assert rank_short(shortest) == min(map(rank_short, paths))


def test_top_1_may_miss_the_best_path():
    """At position 2, (A, 2) beats (0, B); yet after another A a second one is worth less than B."""
    doc, vocabulary, weights = [0, 1, 0, 1, 2], {(0, 1): 5, (1, 2): 6}, {5: 1.0, 6: 0.75}
    assert [path for path, _ in encode_top(doc, vocabulary, weights, 1)] == [(5, 5, 2)]
    assert [path for path, _ in encode_top(doc, vocabulary, weights, 2)] == [(5, 0, 6), (5, 5, 2)]
    assert best_path(doc, vocabulary, weights) == (5, 0, 6)


def test_ties_between_paths():
    """Without weights: fewer tokens, then (top-1) the shorter first token or (n-best) the better rest."""
    vocabulary = {(0, 0): 5}
    assert encode_top([0, 0, 0], vocabulary, {}, 1) == [((0, 5), 0)]
    assert encode_top([0, 0, 0], vocabulary, {}, 3) == [((0, 5), 0), ((5, 0), 0), ((0, 0, 0), 0)]
    assert best_path([0, 0, 0], vocabulary, {}) == (0, 5)
    assert encode_shortest([0, 0, 0], vocabulary, {}) == (5, 0)
    # 6, on the better rest (0, 6), goes before 5 on the second of its rests, (6, 5)
    top = encode_top([0] * 7, {(0, 0): 5, (0, 0, 0): 6}, {}, 3)
    assert [path for path, _ in top] == [(0, 6, 6), (5, 5, 6), (6, 0, 6)]


def test_an_empty_document_has_one_empty_path():
    assert encode_rank([], {}) == encode_batch([], {}) == []
    assert list(all_paths([], {})) == [()]
    assert best_path([], {}, {}) == encode_shortest([], {}, {}) == ()
    assert encode_top([], {}, {}, 3) == [((), 0)]
    assert path_weight((), {}) == 0
    assert decode([], []) == []
