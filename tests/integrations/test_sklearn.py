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
from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer  # noqa: E402
from sklearn.frozen import FrozenEstimator  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import Pipeline, make_pipeline  # noqa: E402
from sklearn.utils import estimator_html_repr, get_tags  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402
from sklearn.utils.validation import check_is_fitted  # noqa: E402
from tables import each, refused, refuses  # noqa: E402

from ubpe_numba import BPE, UBPE, Preprocessing, Ragged, Scale, UBPEClassic  # noqa: E402
from ubpe_numba.sklearn import BagOfTokens  # noqa: E402

DOCS = ["the tide is low", "a low tide", "", "the cat sat on a hat", "a cat in the hat"]


def series(n: int = 12, samples: int = 60, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.sin(np.arange(samples) / 5 + rng.uniform(0, 6, (n, 1))) + rng.normal(0, 0.2, (n, samples))


def tree(tok: Any, token: int) -> list[int]:
    """The token and all that it was merged of, by the definition."""
    parents = tok.vocabulary.parents(token)
    return [token] if parents is None else [token, *tree(tok, parents[0]), *tree(tok, parents[1])]


@each("estimator", [
    BagOfTokens(),
    BagOfTokens(UBPE(300, objective="shortest"), tf_idf=True, sparse_output=False),
    BagOfTokens(UBPEClassic(300), parts=True, binary=True),
])  # fmt: skip
def test_checks_of_scikit_learn(estimator: Any) -> None:
    wrong = {}
    if tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 7):
        wrong = {"check_positive_only_tag_during_fit": "scikit-learn 1.6 takes a mean from integers in place"}
    # raises for one that fails
    results = check_estimator(estimator, on_skip=None, expected_failed_checks=wrong)
    statuses = {result["status"] for result in results}
    assert {"passed"} <= statuses <= {"passed", "skipped", *(["xfail"] if wrong else [])} and len(
        results
    ) >= 35
    skipped = {result["check_name"] for result in results if result["status"] == "skipped"}
    assert skipped <= {"check_array_api_input"}  # of other kinds of arrays than NumPy's


def test_a_scale_is_a_step_of_pipelines() -> None:
    values, far = series(), np.array([[2**62, 2**62 + 1], [2**62 + 2, 2**62 + 4]])
    scale = Scale(channels="one", clip=True)
    found = make_pipeline(scale, BagOfTokens(BPE(40))).fit(values)
    flat = Scale().fit(values.ravel())
    assert (
        scale.state() == {**flat.state(), "channels": "one", "clip": True}
        and scale.n_channels == 1
        and found[0] is scale
    )
    assert np.array_equal(scale.transform(values), flat.transform(values.ravel()).reshape(values.shape))
    assert np.abs(scale.inverse_transform(scale.transform(values)) - values).max() <= scale.max_error
    assert Scale(step=1, channels="one").fit_transform(far).tolist() == [[0, 1], [2, 4]]
    rows: list[Any] = [np.array([0, 5, 9]), np.ma.array([2, 7], mask=[0, 1]), np.array([7])]
    parts = Scale(step=2, channels="one", gaps=True).fit_transform(rows)
    assert list(map(list, parts)) == [[0, 2, 4], [1, 5], [4]]
    search = GridSearchCV(Pipeline([("scale", scale), ("bag", BagOfTokens(BPE(40))), ("last", LogisticRegression())]),
                          {"scale__levels": [4, 8]}, cv=2).fit(values, np.arange(12) % 2)  # fmt: skip
    check_is_fitted(search.best_estimator_[0])
    again = clone(scale)
    refuses(ValueError, "not fitted: fit comes first", again.transform, values)
    assert (
        again.get_params() == scale.get_params()
        and get_tags(clone(scale).set_params(gaps=True)).input_tags.allow_nan
    )
    refuses(ValueError, "level: not a parameter of Scale; there are step, levels", scale.set_params, level=4)


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
    lines = [
        base64.b64encode(token) + b" %d\n" % rank for token, rank in sorted(ranks.items(), key=itemgetter(1))
    ]
    tok = BPE.load(b"".join(lines), pretokenizer=None)
    bag = BagOfTokens(FrozenEstimator(tok), parts=True).fit(["abab", "b"])
    found = bag.transform(["abab", "b"]).toarray()
    assert np.flatnonzero(found[0]).tolist() == [5, 7, 9] and found[0, [5, 7, 9]].tolist() == [2, 2, 2]
    assert np.flatnonzero(found[1]).tolist() == [7] and bag.get_feature_names_out()[[5, 7, 9]].tolist() == [
        "a",
        "b",
        "ab",
    ]


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
    assert BagOfTokens(FrozenEstimator(tok)).fit(["ab"]).get_feature_names_out().tolist()[-2:] == [
        "aba",
        "aba #5",
    ]


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
        (lambda: BagOfTokens().fit(np.array([[0.5, 1.0]])), TypeError, "round or quantize first"),
        (lambda: BagOfTokens().fit(np.array([[np.inf, 1.0]])), TypeError, "round or quantize first"),
        (lambda: BagOfTokens("bpe").fit(DOCS), TypeError, "tokenizer: expected a tokenizer or a FrozenEstimator of one, got"),
        (lambda: BagOfTokens().transform(DOCS), NotFittedError, "not fitted"),
        (lambda: fitted.transform(np.array([[0, 1]])), ValueError, "X: expected 3 columns, as in fit, got 2"),
        (lambda: BagOfTokens().fit(DOCS).transform(["z"]), ValueError, "document 0.*'z'"),
    ])  # fmt: skip
    assert not hasattr(fitted.fit(DOCS), "n_features_in_")


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
    assert (
        "tokens" in repr(pipe) and "n_tokens=40" in repr(pipe) and cls.__name__ in estimator_html_repr(pipe)
    )
    assert pickle.loads(pickle.dumps(pipe)).transform(TEXTS) == ids


def test_searches_over_sizes_and_over_tokenizers() -> None:
    bag = CountVectorizer(analyzer=words_of)
    pipe = Pipeline([("tokens", BPE(alphabet=ALPHABET)), ("bag", bag), ("classifier", LogisticRegression())])
    choices = [BPE(30, alphabet=ALPHABET), UBPE(40, alphabet=ALPHABET)]
    for grid, best in (({"tokens__n_tokens": [30, 40]}, 30), ({"tokens": choices}, choices[0])):
        search = GridSearchCV(pipe, grid, cv=2, error_score="raise").fit(TEXTS, LABELS)
        assert search.best_score_ == 1.0 and [*search.best_params_.values()] == [best]
        assert len(search.best_estimator_["tokens"]._model.vocabulary) == 30
