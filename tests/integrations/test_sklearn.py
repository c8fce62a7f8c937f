"""Estimators of scikit-learn: its own checks, and plain references of what they count."""

import base64
import pickle
from collections import Counter
from operator import itemgetter
from typing import Any

from integrations.conftest import needed

sklearn = needed("sklearn")

import numpy as np  # noqa: E402
import pytest  # noqa: E402
from hypothesis import given, strategies as st  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer  # noqa: E402
from sklearn.frozen import FrozenEstimator  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import Pipeline  # noqa: E402
from sklearn.utils import estimator_html_repr, get_tags  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402
from sklearn.utils.validation import check_is_fitted  # noqa: E402
from tables import each, refused, refuses  # noqa: E402

from ubpe_numba import BPE, UBPE, Preprocessing, Ragged, UBPEClassic, quantize  # noqa: E402
from ubpe_numba.integrations.scikit_learn.columns import counts_of_parts  # noqa: E402
from ubpe_numba.sklearn import BagOfTokens, Quantizer, SeriesBag  # noqa: E402

DOCS = ["the tide is low", "a low tide", "", "the cat sat on a hat", "a cat in the hat"]
ONE_VIEW = {"levels": 4, "windows": 1, "differences": False, "segments": 1}


def series(n: int = 12, samples: int = 60, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.sin(np.arange(samples) / 5 + rng.uniform(0, 6, (n, 1))) + rng.normal(0, 0.2, (n, samples))


def tree(tok: Any, token: int) -> list[int]:
    """The token and all that it was merged of, by the definition."""
    parents = tok.vocabulary.parents(token)
    return [token] if parents is None else [token, *tree(tok, parents[0]), *tree(tok, parents[1])]


@each("estimator", [
    Quantizer(step=0.5, per_column=True),
    Quantizer(law="mu", clip=True, gaps=True),
    BagOfTokens(),
    BagOfTokens(UBPE(300, objective="shortest"), tf_idf=True, sparse_output=False),
    BagOfTokens(UBPEClassic(300), parts=True, binary=True),
    SeriesBag(**ONE_VIEW, sparse_output=False, log=False, parts=False, normalize=False),
    SeriesBag(**ONE_VIEW, gaps=True),
])  # fmt: skip
def test_checks_of_scikit_learn(estimator: Any) -> None:
    wrong = {}
    if isinstance(estimator, BagOfTokens) and tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 7):
        wrong = {"check_positive_only_tag_during_fit": "scikit-learn 1.6 takes a mean from integers in place"}
    results = check_estimator(estimator, on_skip=None, expected_failed_checks=wrong)  # raises for one that fails
    statuses = {result["status"] for result in results}
    assert {"passed"} <= statuses <= {"passed", "skipped", *(["xfail"] if wrong else [])} and len(results) >= 35
    skipped = {result["check_name"] for result in results if result["status"] == "skipped"}
    assert skipped <= {"check_array_api_input"}  # of other kinds of arrays than NumPy's


def test_quantizer_is_quantize() -> None:
    values = series()
    expected, scale = quantize(values.ravel(), levels=16)
    found = Quantizer().fit(values)
    assert found.quantization_ == scale and np.array_equal(found.transform(values), expected.reshape(values.shape))
    values = values.T  # rows are points of time
    expected, scale = quantize(values, step=0.25)
    found = Quantizer(step=0.25, per_column=True)
    assert np.array_equal(found.fit_transform(values), expected) and found.quantization_ == scale
    assert np.array_equal(found.inverse_transform(expected), scale.restore(expected))
    assert Quantizer(law="mu").fit(values).quantization_.levels == 256
    far = np.array([[2**62, 2**62 + 1], [2**62 + 2, 2**62 + 4]])
    assert Quantizer(step=1).fit_transform(far).tolist() == [[0, 1], [2, 4]]
    assert Quantizer(levels=2).fit_transform(np.array([[False, True]])).tolist() == [[0, 1]]


def test_quantizer_of_series_of_any_lengths_and_with_gaps() -> None:
    rows: list[Any] = [np.array([0, 5, 9]), np.ma.array([2, 7], mask=[0, 1]), np.array([7])]
    expected, scale = quantize(rows, step=2, gaps=True)
    found = Quantizer(step=2, gaps=True).fit([rows[0]]).fit(rows)
    assert found.quantization_ == scale and list(map(list, found.transform(rows))) == list(map(list, expected))
    assert [list(part) for part in found.inverse_transform(expected)[::2]] == [[0, 4, 8], [8]]
    for matrix in (np.ma.array([[0, 7, 9]], mask=[[0, 1, 0]]), [[0, np.nan, 9]], [np.ma.array([0, 7, 9], mask=[0, 1, 0])]):
        assert found.transform(matrix).tolist() == [[0, scale.gap, 4]]
        assert np.isnan(found.inverse_transform(found.transform(matrix))).tolist() == [[False, True, False]]
    assert list(map(list, Quantizer(step=2).fit_transform(Ragged.from_lists([[1, 5], [3]])))) == [[0, 2], [2]]


def test_quantizer_says_what_is_outside() -> None:
    fitted = Quantizer(levels=4).fit([[0.0, 1.0]])
    assert fitted.transform([[-3.0, 9.0]]).tolist() == [[0, 3]]
    strict = clone(fitted).set_params(clip=False).fit([[0.0, 1.0]])
    refused([
        (lambda: strict.transform([[0.5, 9.0]]), ValueError, r"position 1: expected a sample in 0\.\.1, got 9"),
        (lambda: fitted.inverse_transform([[0, 4]]), ValueError, r"expected a symbol in 0\.\.3, got 4"),
        (lambda: Quantizer(levels=4, step=1).fit([[0.0, 1.0]]), ValueError, "levels: expected one of step and levels"),
        (lambda: Quantizer().inverse_transform([[0, 1]]), NotFittedError, "not fitted"),
        (lambda: Quantizer().fit([np.ma.array([0, 1], mask=[0, 1])] * 2), ValueError, "X: expected every sample, .*gaps=True"),
        (lambda: Quantizer(per_column=True).fit([[0, 1], [2]]), ValueError, "X: expected rows of one length"),
    ])  # fmt: skip


@each("docs", [
    DOCS, [doc.encode() for doc in DOCS], [[3, 1, 3, 1, 900], [], [1, 3, 1]], Ragged.from_lists([[3, 1, 3, 1], [1, 3]]),
    np.array([[0, 1, 0, 1], [2, 1, 2, 1]]), np.array([[0, 1, 0, 1], [2, 1, 2, 1]], np.float32),
])  # fmt: skip
@each("tokenizer", [BPE(24), UBPEClassic(24), UBPE(24, objective="shortest")])
def test_bags_count_tokens(tokenizer: Any, docs: Any) -> None:
    if isinstance(docs, list) and not isinstance(docs[0], str):  # alphabets of 256 bytes, and of 901 integers
        tokenizer = clone(tokenizer).set_params(n_tokens=910)
    bag = BagOfTokens(tokenizer)
    found = bag.fit_transform(docs)
    whole = docs.astype(int) if isinstance(docs, np.ndarray) else docs
    tok = clone(tokenizer).fit(whole)
    assert bag.tokenizer_.fingerprint == tok.fingerprint and "_model" not in vars(tokenizer)
    for row, ids in zip(found.toarray(), tok.encode_batch(whole), strict=True):
        assert row.tolist() == np.bincount(ids, minlength=len(tok._model.vocabulary)).tolist()
    assert (bag.transform(docs) != found).nnz == 0
    names = bag.get_feature_names_out()
    assert len(set(names.tolist())) == found.shape[1] == names.size


def test_weights_are_those_of_scikit_learn() -> None:
    counts = BagOfTokens(BPE(24)).fit_transform(DOCS)
    expected = TfidfTransformer(sublinear_tf=True).fit(counts)
    bag = BagOfTokens(BPE(24), tf_idf=True).fit(DOCS)
    assert np.array_equal(bag.transform(DOCS).toarray(), expected.transform(counts).toarray())
    assert np.array_equal(bag.idf_, expected.idf_) and BagOfTokens().fit(DOCS).idf_ is None
    once = BagOfTokens(BPE(24), binary=True).fit_transform(DOCS)
    assert np.array_equal(once.toarray(), counts.toarray() > 0)


@each("tokenizer", [BPE(24), BPE(24, preprocessing=Preprocessing(special_tokens=["<end>"])), UBPE(24)])
def test_parts_are_those_of_the_merge_tree(tokenizer: Any) -> None:
    bag = BagOfTokens(tokenizer, parts=True).fit(DOCS)
    tok, size = bag.tokenizer_, len(bag.get_feature_names_out())
    for row, ids in zip(bag.transform(DOCS).toarray(), tok.encode_batch(DOCS), strict=True):
        expected = Counter(part for token in ids.tolist() for part in tree(tok, token))
        assert row.tolist() == [expected[i] for i in range(size)]


def test_parts_where_ids_are_not_tokens() -> None:
    """A vocabulary from elsewhere, whose ids stand in another order than its tokens."""
    ranks = {b"a": 5, b"b": 7, b"ab": 9}
    ranks |= {bytes([i]): 10 + i for i in range(256) if bytes([i]) not in ranks}
    lines = [base64.b64encode(token) + b" %d\n" % rank for token, rank in sorted(ranks.items(), key=itemgetter(1))]
    tok = BPE.load(b"".join(lines), pretokenizer=None)
    bag = BagOfTokens(FrozenEstimator(tok), parts=True).fit(["abab", "b"])
    found = bag.transform(["abab", "b"]).toarray()
    assert np.flatnonzero(found[0]).tolist() == [5, 7, 9] and found[0, [5, 7, 9]].tolist() == [2, 2, 2]
    assert np.flatnonzero(found[1]).tolist() == [7] and bag.get_feature_names_out()[[5, 7, 9]].tolist() == ["a", "b", "ab"]


def test_a_frozen_tokenizer_stays() -> None:
    tok = BPE(24, preprocessing=Preprocessing(special_tokens=["<end>"])).fit(DOCS)
    before = tok.fingerprint
    bag = clone(BagOfTokens(FrozenEstimator(tok))).fit(["a hat"])
    assert bag.tokenizer_ is tok and tok.fingerprint == before
    names = bag.get_feature_names_out()
    assert names[tok.vocabulary.special["<end>"]] == "<end>" and bag.transform(DOCS).shape == (5, names.size)
    refuses(Exception, "has no vocabulary yet", lambda: BagOfTokens(FrozenEstimator(BPE())).fit(DOCS))
    flat = UBPE(24, objective="shortest").fit(DOCS).refine(DOCS)
    with pytest.raises(ValueError, match="parts: the vocabulary knows flat sequences only"):
        BagOfTokens(FrozenEstimator(flat), parts=True).fit(DOCS)
    tok = BPE.from_merges([[0, 1], [1, 0], [2, 0], [0, 3]], alphabet="ab")  # aba twice
    assert BagOfTokens(FrozenEstimator(tok)).fit(["ab"]).get_feature_names_out().tolist()[-2:] == ["aba", "aba #5"]


def test_documents_of_any_form_are_read_once() -> None:
    expected = BagOfTokens(BPE(24), tf_idf=True).fit_transform(DOCS).toarray()
    pandas = needed("pandas")
    texts = [np.array(DOCS, dtype=dtype) for dtype in (object, str, np.dtypes.StringDType())]
    for docs in (iter(DOCS), pandas.Series(DOCS), *texts):
        assert np.array_equal(BagOfTokens(BPE(24), tf_idf=True).fit_transform(docs).toarray(), expected)
    assert np.array_equal(BagOfTokens(BPE(24), tf_idf=True).fit(DOCS).transform(texts[0]).toarray(), expected)


def test_bags_refuse_what_they_cannot_read() -> None:
    scipy = needed("scipy.sparse")
    fitted = BagOfTokens().fit(np.array([[0, 1, 0], [1, 0, 1]]))
    assert fitted.transform([[0, 1], [1]]).shape[0] == 2
    refused([
        (lambda: BagOfTokens().fit(scipy.csr_matrix([[1]])), TypeError, "X: sparse input is not supported"),
        (lambda: BagOfTokens().fit(np.array([[0.5, 1.0]])), TypeError, "round or quantise first"),
        (lambda: BagOfTokens().fit(np.array([[np.inf, 1.0]])), TypeError, "round or quantise first"),
        (lambda: BagOfTokens("bpe").fit(DOCS), TypeError, "tokenizer: expected a tokenizer or a FrozenEstimator of one, got"),
        (lambda: BagOfTokens().transform(DOCS), NotFittedError, "not fitted"),
        (lambda: fitted.transform(np.array([[0, 1]])), ValueError, "X: expected a matrix of 3 columns, as in fit, got one of 2"),
        (lambda: BagOfTokens().fit(DOCS).transform(["z"]), ValueError, "document 0.*'z'"),
    ])  # fmt: skip
    assert not hasattr(fitted.fit(DOCS), "n_features_in_")


@given(st.data(), st.integers(1, 30), st.integers(1, 40))
def test_counts_of_parts_by_the_middle(data: st.DataObject, n_symbols: int, n_parts: int) -> None:
    lists, expected = [], []
    for _ in range(data.draw(st.integers(1, 4))):
        row, at, counts = [], 0, Counter()
        while at < n_symbols:
            size = data.draw(st.integers(1, min(5, n_symbols - at)))
            counts[min(int((at + size / 2) * n_parts / n_symbols + 1e-9), n_parts - 1) * 5 + size - 1] += 1
            row.append(size - 1)
            at += size
        lists.append(row)
        expected.append([counts[i] for i in range(5 * n_parts)])
    found = counts_of_parts(Ragged.from_lists(lists), np.arange(1, 6), n_parts, 5)
    assert found.toarray().tolist() == expected


@each("window", [1, 7])
@each("differences", [False, True])
@each("parts", [False, True])
def test_series_are_counted_as_by_hand(window: int, differences: bool, parts: bool) -> None:
    rows = series(samples=45)
    bag = SeriesBag(levels=6, windows=window, differences=differences, segments=1, n_tokens=20, parts=parts, log=False)
    found = bag.fit_transform(rows).toarray()
    means = np.array([[row[i : i + window].mean() for i in range(0, 45, window)] for row in rows])
    values = np.diff(means) if differences else means
    values = (values - values.mean(axis=1, keepdims=True)) / values.std(axis=1, keepdims=True)
    low, high = values.min(), values.max()
    levels = np.minimum((values - low) / (high - low) * 6, 5).astype(int)
    tok = BPE(20, alphabet=6).fit(levels)
    assert np.array_equal(bag.views_[0].tokenizer._model.vocabulary.merges, tok._model.vocabulary.merges)
    for row, ids in zip(found, tok.encode_batch(levels), strict=True):
        counts = Counter(part for token in ids.tolist() for part in (tree(tok, token) if parts else [token]))
        assert row.tolist() == [counts[i] for i in range(len(tok._model.vocabulary))]
    assert bag.get_feature_names_out()[-1] == " ".join(map(str, tok.decode([len(tok._model.vocabulary) - 1]).tolist()))


def test_what_is_counted_in_segments_is_counted_in_all() -> None:
    rows = series()
    options = {**ONE_VIEW, "n_tokens": 30, "log": False}
    whole = SeriesBag(**options).fit_transform(rows).toarray()
    parts = SeriesBag(**options | {"segments": 3}).fit_transform(rows).toarray()
    assert np.array_equal(parts.reshape(len(rows), 3, -1).sum(axis=1), whole)
    both = SeriesBag(**options | {"segments": (1, 3)}).fit(rows)
    assert np.array_equal(both.transform(rows).toarray(), np.hstack([whole, parts]))
    assert both.get_feature_names_out()[whole.shape[1]] == "part 1 of 3: 0"
    logged = SeriesBag(**options | {"log": True}).fit_transform(rows).toarray()
    assert np.array_equal(logged, np.log1p(whole))
    bag = SeriesBag(n_tokens=20).fit(rows)
    names = bag.get_feature_names_out()
    assert len(bag.views_) == 24 and names.size == len(set(names.tolist())) == bag.transform(rows).shape[1]


def test_channels_have_vocabularies_of_their_own() -> None:
    left, right = series(seed=1), series(seed=2)
    both = np.stack([left, right], axis=1)
    bag = SeriesBag(**ONE_VIEW, n_tokens=20).fit(both)
    expected = [SeriesBag(**ONE_VIEW, n_tokens=20).fit_transform(one).toarray() for one in (left, right)]
    assert np.array_equal(bag.transform(both).toarray(), np.hstack(expected))
    assert bag.n_features_in_ == 2 and bag.get_feature_names_out()[-1].startswith("channel 1: ")
    assert bag.transform(both[:, :, :30]).shape == (12, 40)  # of other lengths, too
    refuses(ValueError, "2 features", bag.transform, both[:, :1])
    refuses(ValueError, "X: expected 3 dimensions as in fit", bag.transform, left[:, :2])


def test_series_of_other_lengths_are_counted_each_for_itself() -> None:
    rows = series(samples=40)
    mixed = [row[: 40 - 7 * (i % 3)] for i, row in enumerate(rows)]
    bag = SeriesBag(n_tokens=20, segments=(1, 3)).fit(rows).fit(mixed)
    found = bag.transform(mixed).toarray()
    assert all(np.array_equal(found[i], bag.transform(row[None]).toarray()[0]) for i, row in enumerate(mixed))
    assert SeriesBag(n_tokens=20).fit(rows).transform(mixed).shape[0] == len(rows)
    again = SeriesBag(**ONE_VIEW, n_tokens=20).fit(mixed)
    two = SeriesBag(**ONE_VIEW, n_tokens=20).fit([np.stack([row, -row]) for row in mixed])
    assert np.array_equal(
        two.transform([np.stack([mixed[1], -mixed[1]])]).toarray()[:, :20], again.transform([mixed[1]]).toarray()
    )
    for bad, message in (
        ([rows[0], rows[1][:9] * np.nan], "X: series of 9 samples, the first is 1: .*NaN"),
        ([rows[0], np.stack([rows[1][:30]] * 2)], "X: series of 30 samples, the first is 1: "),
        ([np.stack([rows[0]] * 2), np.stack([rows[1][:30]] * 3)], "X: expected 3 channels in all series, got 2 in 0"),
    ):
        with pytest.raises(ValueError, match=message):
            SeriesBag(n_tokens=20).fit(bad)
    refuses(ValueError, "X: expected 2 channels in all series, got 1 in 1", two.transform, [rows[:1], rows[:1, :30]])


@each("window", [1, 3])
def test_gaps_of_series_are_left_out_of_means_and_crossed_by_no_token(window: int) -> None:
    rows = series(samples=42)
    options = {**ONE_VIEW, "windows": window, "n_tokens": 20, "log": False, "gaps": True}
    holes = rows.copy()
    holes[0], holes[1, 10:22], holes[2, ::2] = np.nan, np.nan, np.nan
    bag = SeriesBag(**options).fit(holes)
    found, (view,) = bag.transform(holes).toarray(), bag.views_
    assert (bag.transform(np.ma.array(np.nan_to_num(holes), mask=np.isnan(holes))).toarray() == found).all()
    assert (bag.transform([*np.ma.masked_invalid(holes), np.zeros(9)]).toarray()[:-1] == found).all()
    means = np.array([[row[i : i + window] for i in range(0, 42, window)] for row in holes])
    there = ~np.isnan(means)
    values = np.where(there, means, 0).sum(2) / np.where(there.any(2), there.sum(2), np.nan)
    gap = view.quantization.gap
    assert found[:, gap].tolist() == np.isnan(values).sum(1).tolist() and bag.get_feature_names_out()[gap] == "gap"
    for row, counts in zip(values[1:], found[1:], strict=True):
        levels = view.quantization.apply((row - np.nanmean(row)) / np.nanstd(row), clip=True)
        ids = view.tokenizer.encode(levels).tolist()
        assert counts.tolist() == [sum(tree(view.tokenizer, i).count(t) for i in ids) for t in range(len(counts))]
    assert sum(name.split().count(str(gap)) for name in bag.get_feature_names_out()) == 0
    whole = SeriesBag(**options).fit(rows).transform(rows).toarray()
    assert not whole[:, gap].any()
    without = SeriesBag(**options | {"gaps": False, "n_tokens": 19}).fit_transform(rows).toarray()
    assert np.array_equal(np.delete(whole, gap, axis=1), without)


def test_series_bags_refuse_wrong_parameters() -> None:
    rows = series(4)
    for parameter, value, message in (
        ("levels", 1, "levels: expected at least 2, got 1"),
        ("levels", (), "levels: expected at least one value"),
        ("levels", 4.0, "levels: expected an int, got 4.0"),
        ("windows", 0, "windows: expected at least 1, got 0"),
        ("segments", (1, 0), "segments: expected at least 1, got 0"),
        ("differences", 1, "differences: expected booleans, got 1"),
        ("n_tokens", 0, "n_tokens: expected at least 1, got 0"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            SeriesBag(**{parameter: value}).fit(rows)
    with pytest.raises(ValueError, match=r"X: expected \[n, samples\] or \[n, channels, samples\]"):
        SeriesBag().fit(np.zeros((2, 2, 2, 2)))
    for call in (lambda: SeriesBag().transform(rows), SeriesBag().get_feature_names_out):
        refuses(NotFittedError, "", call)


def test_series_of_any_size_have_the_same_shapes_unless_it_is_to_matter() -> None:
    """Squares of large numbers are infinite, and those of small ones 0; the series is then not a constant one."""
    values = np.round(series() * 64) / 64
    options = {**ONE_VIEW, "windows": (1, 2), "differences": (False, True)}
    bag = SeriesBag(**options)
    expected = bag.fit_transform(values)
    for power in (-1040, -900, -3, 3, 900, 1015):
        assert (bag.fit_transform(np.ldexp(values, power)) != expected).nnz == 0
    kept = SeriesBag(**options, normalize=False).fit(values)
    assert (kept.transform(8 * values) != kept.transform(values)).nnz > 0
    flat = bag.fit_transform(np.full((3, 30), 0.1))
    assert (flat != flat[[0, 0, 0]]).nnz == 0


TEXTS = ["the cat sat on", "the dog sat on", "a cat ran to me", "a dog ran to me"] * 5
LABELS = [0, 0, 1, 1] * 5
ALPHABET = "abcdefghijklmnopqrstuvwxyz "


def words_of(ids: Any) -> list[str]:
    return [str(i) for i in ids.tolist()]


def test_what_it_is_and_whether_it_is_fitted(cls: Any) -> None:
    tags = get_tags(cls())
    assert tags.estimator_type is None and not tags.target_tags.required and tags.requires_fit
    assert tags.transformer_tags is not None and tags.input_tags.string
    tok = cls(40, alphabet=ALPHABET)
    check_is_fitted(clone(tok).fit(TEXTS, progress=False))
    copy = clone(tok.fit(TEXTS, progress=False))
    assert copy == cls(40, alphabet=ALPHABET)
    refuses(NotFittedError, "", check_is_fitted, copy)


def test_a_pipeline_that_ends_in_a_tokenizer(cls: Any) -> None:
    pipe = Pipeline([("tokens", cls(40, alphabet=ALPHABET))])
    ids = pipe.fit_transform(TEXTS, LABELS)
    assert ids == cls(40, alphabet=ALPHABET).fit(TEXTS, progress=False).encode_batch(TEXTS)
    assert pipe.transform(TEXTS) == ids and pipe.inverse_transform(ids) == TEXTS
    assert "tokens" in repr(pipe) and "n_tokens=40" in repr(pipe) and cls.__name__ in estimator_html_repr(pipe)
    assert pickle.loads(pickle.dumps(pipe)).transform(TEXTS) == ids


def test_searches_over_sizes_and_over_tokenizers() -> None:
    bag = CountVectorizer(analyzer=words_of)
    pipe = Pipeline([("tokens", BPE(alphabet=ALPHABET)), ("bag", bag), ("classifier", LogisticRegression())])
    choices = [BPE(30, alphabet=ALPHABET), UBPE(40, alphabet=ALPHABET)]
    for grid, best in (({"tokens__n_tokens": [30, 40]}, 30), ({"tokens": choices}, choices[0])):
        search = GridSearchCV(pipe, grid, cv=2, error_score="raise").fit(TEXTS, LABELS)
        assert search.best_score_ == 1.0 and [*search.best_params_.values()] == [best]
        assert len(search.best_estimator_["tokens"]._model.vocabulary) == 30
