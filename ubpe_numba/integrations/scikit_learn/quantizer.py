"""`Quantizer`: signals as symbols, an estimator of scikit-learn around `Quantization`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from ubpe_numba.documents.quantization import Quantization
from ubpe_numba.integrations.scikit_learn.columns import series_of
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
    gaps : bool
        Whether missing numbers, NaN or masked, get a symbol, ``quantization_.gap``, and come back as NaN, as for `quantize`.

    Attributes
    ----------
    quantization_ : Quantization
        The scale; `max_error` bounds the error, `n_symbols` is what the argument `alphabet` of a tokenizer asks for.
    n_features_in_ : int
        The number of columns. Not there if series of several lengths were fitted.
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
        gaps: bool = False,
    ) -> None:
        self.step = step
        self.levels = levels
        self.law = law
        self.mu = mu
        self.low = low
        self.high = high
        self.per_column = per_column
        self.clip = clip
        self.gaps = gaps

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Choose the scale.

        Parameters
        ----------
        X : int or float [n, columns], list
            The numbers, all finite but for gaps. A list of arrays or a `Ragged` holds series of any lengths, with one scale.
        y : None
            Ignored.

        Raises
        ------
        TypeError, ValueError
            As scikit-learn raises it for other matrices, and `quantize` for other arguments; for series of several lengths with
            `per_column`.

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
            numbers if self.per_column or isinstance(numbers, list) else numbers.ravel(),
            step=self.step, levels=levels, law=self.law, mu=self.mu, low=self.low, high=self.high, gaps=self.gaps,
        )  # fmt: skip
        return self

    def transform(self, X: ArrayLike) -> Any:
        """Cut by the scale.

        Parameters
        ----------
        X : int or float [n, columns], list
            The numbers, or series of any lengths.

        Returns
        -------
        int32[n, columns], or list of int32
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
        return self._each(lambda rows: self.quantization_.apply(rows, clip=self.clip), self._checked(X, reset=False))

    def inverse_transform(self, X: ArrayLike) -> Any:
        """Give each symbol the middle of its level.

        Parameters
        ----------
        X : int [n, columns], list
            Symbols as `transform` gives them.

        Returns
        -------
        float64[n, columns], or list of float64
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
        rows, uneven = series_of(X, gaps=False)
        return self._each(self.quantization_.restore, rows if uneven else check_array(rows, dtype=None, input_name="X"))

    def _each(self, call: Callable[[Any], Any], rows: Any) -> Any:
        """The results for a matrix, in its shape, or for a list of series."""
        return call(rows) if self.per_column or isinstance(rows, list) else call(rows.ravel()).reshape(rows.shape)

    def _checked(self, X: Any, *, reset: bool) -> Any:
        """The matrix, or series of several lengths; integers stay integers, which steps cut exactly."""
        rows, uneven = series_of(X, self.gaps)
        if uneven and self.per_column:
            raise ValueError("X: expected rows of one length with per_column=True; per_column=False has one scale for all series")
        if uneven:
            if reset:
                self.__dict__.pop("n_features_in_", None)  # there is no number that all have
            return rows
        numbers: NDArray[Any] = validate_data(self, rows, reset=reset, ensure_all_finite="allow-nan" if self.gaps else True)
        numbers = np.ma.array(numbers, mask=rows.mask) if np.ma.is_masked(rows) else numbers
        return numbers.astype(np.int8) if numbers.dtype.kind == "b" else numbers

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.gaps
        tags.transformer_tags.preserves_dtype = []  # symbols are int32 whatever the numbers are
        return tags
