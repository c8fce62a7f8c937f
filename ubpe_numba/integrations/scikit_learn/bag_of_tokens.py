"""`BagOfTokens`: documents as counts of their tokens, an estimator of scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from ubpe_numba.integrations.scikit_learn import columns as names
from ubpe_numba.integrations.scikit_learn.columns import counts_of, parts_of_tokens
from ubpe_numba.runtime.arrays import describe, told
from ubpe_numba.tokenizers.base import Tokenizer
from ubpe_numba.tokenizers.bpe import BPE


@told
class BagOfTokens(TransformerMixin, BaseEstimator):
    """Count the tokens of documents, as a sparse matrix: one row per document, one column per id.

    Parameters
    ----------
    tokenizer : BPE, UBPE, UBPEClassic or FrozenEstimator, optional
        Its clone is fitted on the documents. One that is fitted already and is to stay as it is goes into
        scikit-learn's ``FrozenEstimator(tok)``. By default ``BPE()``.
    tf_idf : bool
        Whether rows are weighted as by scikit-learn's ``TfidfTransformer(sublinear_tf=True)``: ``1 +
        ln(count)`` times the inverse document frequency of the id among the encodings of the documents that
        were fitted, and length 1.
    binary : bool
        Whether 1 takes the place of all counts above 0; before weights.
    parts : bool
        Whether a token also counts as all the tokens that it was merged from. Shapes then count, whether or
        not they are part of longer tokens.
    sparse_output : bool
        Whether `transform` gives a `scipy.sparse.csr_matrix`. An array is what `set_output` wants for data
        frames.

    Attributes
    ----------
    tokenizer_ : BPE, UBPE, UBPEClassic
        The fitted tokenizer.
    idf_ : float64[features] or None
        The inverse document frequencies; None without `tf_idf`.
    n_features_in_ : int
        The number of columns; only there if the documents are a matrix.

    Examples
    --------
    >>> from ubpe_numba import BPE
    >>> from ubpe_numba.sklearn import BagOfTokens
    >>> docs = ["the tide is low", "a low tide", "the cat sat on a hat", "a cat in the hat"]
    >>> bags = BagOfTokens(BPE(40), tf_idf=True).fit_transform(docs)
    >>> bags.shape, (bags @ bags.T).toarray()[0].round(2).tolist()
    ((4, 26), [1.0, 0.49, 0.21, 0.27])

    With a classifier, and a fitted tokenizer:

    >>> from sklearn.frozen import FrozenEstimator
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> tok = BPE(24).fit(docs)
    >>> model = make_pipeline(BagOfTokens(FrozenEstimator(tok)), LogisticRegression()).fit(docs, [0, 0, 1, 1])
    >>> model.predict(["tide", "the hat"]).tolist()
    [0, 1]
    """

    tokenizer_: Any

    def __init__(
        self,
        tokenizer: Any = None,
        *,
        tf_idf: bool = False,
        binary: bool = False,
        parts: bool = False,
        sparse_output: bool = True,
    ) -> None:
        self.tokenizer = tokenizer
        self.tf_idf = tf_idf
        self.binary = binary
        self.parts = parts
        self.sparse_output = sparse_output

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the tokenizer, and weights if requested.

        Parameters
        ----------
        X : documents
            As tokenizers take them, and arrays of texts, of which each is a document. A matrix of floats that
            all are integers is one of integers.
        y : None
            Ignored.

        Raises
        ------
        TypeError, ValueError
            As `BPE.fit` raises it for documents; if `tokenizer` is not a tokenizer; for `parts` of a
            vocabulary without pairs.

        Examples
        --------
        >>> from ubpe_numba.sklearn import BagOfTokens
        >>> BagOfTokens().fit(["abab", "ab"]).get_feature_names_out().tolist()
        ['a', 'b', 'ab']
        """
        self._fit(_documents(X))
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, and count the tokens of the same documents.

        Parameters
        ----------
        X : documents
            As for `fit`.
        y : None
            Ignored.

        Returns
        -------
        csr_matrix or ndarray, float64[n, features]
            As of `transform`.

        Examples
        --------
        >>> from ubpe_numba.sklearn import BagOfTokens
        >>> BagOfTokens(binary=True, sparse_output=False).fit_transform(["abab", "b"]).tolist()
        [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
        """
        docs = _documents(X)
        counts = self._fit(docs)
        return self._weighted(self._counts(docs) if counts is None else counts)

    def transform(self, X: Any) -> Any:
        """Count the tokens of documents.

        Parameters
        ----------
        X : documents
            Of the kind that was fitted.

        Returns
        -------
        csr_matrix or ndarray, float64[n, features]
            The counts, or weights, in the order of `get_feature_names_out`.

        Raises
        ------
        TypeError, ValueError
            As `BPE.encode_batch` raises it, also for unknown symbols if the tokenizer does not set their
            treatment. For a matrix with another number of columns than in `fit`.

        Examples
        --------
        >>> from ubpe_numba.sklearn import BagOfTokens
        >>> BagOfTokens(parts=True).fit(["abab", "ab"]).transform(["abab", "b"]).toarray().tolist()
        [[2.0, 2.0, 2.0], [0.0, 1.0, 0.0]]
        """
        check_is_fitted(self)
        docs = _documents(X)
        width, expected = _width(docs), getattr(self, "n_features_in_", None)
        if None not in (width, expected) and width != expected:
            raise ValueError(
                f"X: expected {expected} columns, as in fit, got {width}. Documents of any length: list(X)."
            )
        return self._weighted(self._counts(docs))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of all ids.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of str
            A name for each column: the text, or integers with spaces between them; ``" #7"`` follows the name
            of id 7 if a lower id has the same.

        Examples
        --------
        >>> from ubpe_numba.sklearn import BagOfTokens
        >>> BagOfTokens().fit([[0, 1, 0, 1], [1]]).get_feature_names_out().tolist()
        ['0', '1', '0 1']
        """
        check_is_fitted(self)
        return np.array(names.of_ids(self.tokenizer_, self._n_features_out), dtype=object)

    @property
    def idf_(self) -> NDArray[np.float64] | None:
        """The inverse document frequencies; None without `tf_idf`."""
        check_is_fitted(self)
        return None if self._weights is None else self._weights.idf_

    def _fit(self, docs: Any) -> Any:
        """Fit to documents; their counts, if they were needed."""
        tokenizer: Any = BPE() if self.tokenizer is None else self.tokenizer
        frozen = isinstance(tokenizer, FrozenEstimator)
        if not isinstance(tokenizer.estimator if frozen else tokenizer, Tokenizer):
            raise TypeError(
                f"tokenizer: expected a tokenizer or a FrozenEstimator of one, got {describe(tokenizer)}"
            )
        fitted = tokenizer.estimator if frozen else clone(tokenizer).fit(docs)
        whole = parts_of_tokens(fitted.vocabulary) if self.parts else None
        self.tokenizer_, self._n_features_out, self._whole, self._weights = (
            fitted,
            len(fitted.vocabulary),
            whole,
            None,
        )
        self.__dict__.pop("n_features_in_", None)
        if (width := _width(docs)) is not None:
            self.n_features_in_ = width
        if not self.tf_idf:
            return None
        counts = self._counts(docs)
        self._weights = TfidfTransformer(sublinear_tf=True).fit(counts)
        return counts

    def _counts(self, docs: Any) -> Any:
        counts = counts_of(self.tokenizer_.encode_batch(docs), self._n_features_out)
        if self._whole is not None:
            counts = counts @ self._whole
            counts.sort_indices()
        if self.binary:
            counts.data[:] = 1
        return counts

    def _weighted(self, counts: Any) -> Any:
        if self._weights is not None:
            counts = self._weights.transform(counts)
        return counts if self.sparse_output else counts.toarray()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "tokenizer_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.no_validation = True  # by tokenizers, whose documents may have any lengths
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _documents(X: Any) -> Any:
    """Documents that can be read twice; floats that are integers as such."""
    if sparse.issparse(X):
        raise TypeError(
            f"X: sparse input is not supported: expected documents, got {describe(X)}; toarray() has its rows"
        )
    if isinstance(X, Iterator):
        return list(X)
    if isinstance(X, np.ndarray) and X.dtype.kind in "OTU" and X.ndim == 1:
        return X.tolist()  # a document each, as scikit-learn has lists of texts
    if isinstance(X, np.ndarray) and X.dtype.kind == "f" and X.ndim == 2 and np.isfinite(X).all():
        whole = X.astype(np.int64)
        if np.array_equal(whole, X):
            return whole
    return X


def _width(docs: Any) -> int | None:
    """The number of columns of documents that are a matrix."""
    return docs.shape[1] if isinstance(docs, np.ndarray) and docs.ndim == 2 else None
