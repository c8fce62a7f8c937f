"""`Quantizer`: signals as symbols, an estimator of scikit-learn around `Quantization`."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from ubpe_numba.documents.quantization import Quantization, refuse_masked
from ubpe_numba.runtime.arrays import told

_LEVELS = 16


@told
class Quantizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Round the numbers of a matrix to levels, which are symbols for tokenizers; `quantize` as a step of a pipeline.

    Parameters
    ----------
    step : number, optional
        The distance of levels, as for `quantize`; with ``per_column`` also one for each column.
    levels : int, optional
        The number of levels; by default 16, with the law ``"mu"`` 256. Either `step` or `levels`.
    law : {"linear", "mu"}
        Levels of one width, or narrow ones near 0, as for `quantize`.
    mu : float
        How much narrower those near 0 are.
    low, high : number, optional
        The range of the levels; by default that of what is fitted. With ``per_column`` also one for each column.
    per_column : bool
        Whether each column has a scale of its own, as channels of a signal have whose rows are points of time. Otherwise all of
        the matrix has one, as series have that are rows. Symbols of columns with scales of their own may be equal.
    clip : bool
        Whether numbers outside of the range go to the first or last level. Otherwise `transform` refuses them.

    Attributes
    ----------
    quantization_ : Quantization
        The scale; `max_error` bounds the error, `n_symbols` is what the argument `alphabet` of a tokenizer asks for.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of str
        The names of columns; only there if all are `str`.

    Examples
    --------
    >>> import numpy as np
    >>> from ubpe_numba import BPE
    >>> from ubpe_numba.sklearn import Quantizer
    >>> series = np.sin(np.arange(200).reshape(4, 50) / 4)
    >>> quantizer = Quantizer(levels=8).fit(series)
    >>> symbols = quantizer.transform(series)
    >>> symbols[0, :8].tolist()
    [4, 4, 5, 6, 7, 7, 7, 7]
    >>> back = quantizer.inverse_transform(symbols)
    >>> bool(np.abs(back - series).max() <= quantizer.quantization_.max_error[0])
    True

    Rows are documents of a tokenizer:

    >>> tok = BPE(40, alphabet=quantizer.quantization_.n_symbols).fit(symbols)
    >>> tok.encode_batch(symbols)
    Ragged(4 documents, 23 values)
    """

    quantization_: Quantization

    def __init__(
        self,
        *,
        step: Any = None,
        levels: int | None = None,
        law: Literal["linear", "mu"] = "linear",
        mu: float = 255,
        low: Any = None,
        high: Any = None,
        per_column: bool = False,
        clip: bool = True,
    ) -> None:
        self.step = step
        self.levels = levels
        self.law = law
        self.mu = mu
        self.low = low
        self.high = high
        self.per_column = per_column
        self.clip = clip

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Choose the scale.

        Parameters
        ----------
        X : int or float [n, columns]
            The numbers, all finite.
        y : None
            Ignored.

        Raises
        ------
        TypeError, ValueError
            As scikit-learn raises it for other matrices, and `quantize` for other arguments.

        Examples
        --------
        >>> from ubpe_numba.sklearn import Quantizer
        >>> Quantizer(step=1).fit([[0.2, 3.1]]).quantization_.n_symbols
        4
        """
        numbers = self._checked(X, reset=True)
        levels = self.levels
        if levels is None and self.step is None and self.law == "linear":
            levels = _LEVELS
        self.quantization_ = Quantization.learn(
            numbers if self.per_column else numbers.ravel(),
            step=self.step, levels=levels, law=self.law, mu=self.mu, low=self.low, high=self.high,
        )  # fmt: skip
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.int32]:
        """Cut by the scale.

        Parameters
        ----------
        X : int or float [n, columns]
            The numbers.

        Returns
        -------
        int32[n, columns]
            A level for each, 0..n_symbols - 1; a data frame where `set_output` asks for it.

        Raises
        ------
        ValueError
            For a number that is not finite, or outside of the range without `clip`; for another number of columns.

        Examples
        --------
        >>> from ubpe_numba.sklearn import Quantizer
        >>> Quantizer(levels=4).fit([[0.0, 1.0]]).transform([[0.3, 7.0]]).tolist()
        [[1, 3]]
        """
        check_is_fitted(self)
        numbers = self._checked(X, reset=False)
        flat: NDArray[np.int32] = self.quantization_.apply(numbers if self.per_column else numbers.ravel(), clip=self.clip)
        return flat.reshape(numbers.shape)

    def inverse_transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Give each symbol the middle of its level.

        Parameters
        ----------
        X : int [n, columns]
            Symbols as `transform` gives them.

        Returns
        -------
        float64[n, columns]
            At most ``quantization_.max_error`` away from numbers within the range.

        Raises
        ------
        TypeError, ValueError
            For anything but symbols of the scale.

        Examples
        --------
        >>> from ubpe_numba.sklearn import Quantizer
        >>> Quantizer(levels=4).fit([[0.0, 1.0]]).inverse_transform([[1, 3]]).tolist()
        [[0.375, 0.875]]
        """
        check_is_fitted(self)
        symbols = check_array(X, dtype=None, input_name="X")
        flat: NDArray[np.float64] = self.quantization_.restore(symbols if self.per_column else symbols.ravel())
        return flat.reshape(symbols.shape)

    def _checked(self, X: Any, *, reset: bool) -> NDArray[Any]:
        """The matrix; integers stay integers, which steps cut exactly."""
        refuse_masked(X, "X")
        numbers: NDArray[Any] = validate_data(self, X, reset=reset)
        return numbers.astype(np.int8) if numbers.dtype.kind == "b" else numbers

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []  # symbols are int32 whatever the numbers are
        return tags
