"""Tokenizers as steps of scikit-learn's pipelines and searches."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from integrations.conftest import needed

needed("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.feature_extraction.text import CountVectorizer  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import Pipeline  # noqa: E402
from sklearn.utils import estimator_html_repr, get_tags  # noqa: E402
from sklearn.utils.validation import check_is_fitted  # noqa: E402

DOCS = ["the cat sat on", "the dog sat on", "a cat ran to me", "a dog ran to me"] * 5
LABELS = [0, 0, 1, 1] * 5
ALPHABET = "abcdefghijklmnopqrstuvwxyz "


def words_of(ids: Any) -> list[str]:
    return [str(i) for i in ids.tolist()]


def test_what_it_is_and_whether_it_is_fitted(cls: Any) -> None:
    tags = get_tags(cls())
    assert tags.estimator_type is None and not tags.target_tags.required and tags.requires_fit
    assert tags.transformer_tags is not None and tags.input_tags.string
    tok = cls(40, alphabet=ALPHABET)
    check_is_fitted(clone(tok).fit(DOCS, progress=False))
    copy = clone(tok.fit(DOCS, progress=False))
    assert copy == cls(40, alphabet=ALPHABET)
    with pytest.raises(NotFittedError):
        check_is_fitted(copy)


def test_a_pipeline_that_ends_in_a_tokenizer(cls: Any) -> None:
    pipe = Pipeline([("tokens", cls(40, alphabet=ALPHABET))])
    ids = pipe.fit_transform(DOCS, LABELS)
    assert ids == cls(40, alphabet=ALPHABET).fit(DOCS, progress=False).encode_batch(DOCS)
    assert pipe.transform(DOCS) == ids and pipe.inverse_transform(ids) == DOCS
    assert "tokens" in repr(pipe) and "n_tokens=40" in repr(pipe) and cls.__name__ in estimator_html_repr(pipe)
    assert pickle.loads(pickle.dumps(pipe)).transform(DOCS) == ids


def test_searches_over_sizes_and_over_tokenizers(cls: Any) -> None:
    bag = CountVectorizer(analyzer=words_of)
    pipe = Pipeline([("tokens", cls(alphabet=ALPHABET)), ("bag", bag), ("classifier", LogisticRegression())])
    choices = [cls(30, alphabet=ALPHABET), cls(40, alphabet=ALPHABET)]
    for grid, best in (({"tokens__n_tokens": [30, 40]}, 30), ({"tokens": choices}, choices[0])):
        search = GridSearchCV(pipe, grid, cv=2, error_score="raise").fit(DOCS, LABELS)
        assert search.best_score_ == 1.0 and [*search.best_params_.values()] == [best]
        assert len(search.best_estimator_["tokens"]._model.vocabulary) == 30


def test_a_search_that_ends_in_a_tokenizer(cls: Any) -> None:
    def fewest(tok: Any, docs: list[str], y: Any = None) -> float:
        return -float(tok.transform(docs).total)

    search = GridSearchCV(cls(alphabet=ALPHABET), {"n_tokens": [28, 60]}, scoring=fewest, cv=2, error_score="raise").fit(DOCS)
    assert search.best_params_ == {"n_tokens": 60}
