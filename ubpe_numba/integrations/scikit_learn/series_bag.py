"""`SeriesBag`: series of numbers as counts of the shapes that recur in them, an estimator of scikit-learn."""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from ubpe_numba.documents.quantization import Quantization
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.errors import quoted
from ubpe_numba.integrations.scikit_learn import columns as names
from ubpe_numba.integrations.scikit_learn.columns import counts_of_parts, parts_of_tokens, series_of
from ubpe_numba.runtime.arrays import describe, offsets_of, positive, told
from ubpe_numba.tokenizers.bpe import BPE
from ubpe_numba.vocabulary.preprocessing import Preprocessing


class SeriesView(NamedTuple):
    """One way of a `SeriesBag` to look at one channel, fitted.

    `channel`: the channel that is looked at, 0 where series have one; `window`: of how many samples a mean is taken;
    `differences`: whether it is differences of neighbours that are cut into levels; `quantization`: the levels, of normalised
    values where the bag normalises; `tokenizer`: the tokens of levels.
    """

    channel: int
    window: int
    differences: bool
    quantization: Quantization
    tokenizer: BPE


@told
class SeriesBag(TransformerMixin, BaseEstimator):
    """Count the shapes that recur in series of numbers: rounded to levels and merged by `BPE`, as a sparse matrix.

    A series is seen in several ways: smoothed by means over windows, as it is or as its differences, on scales of several numbers
    of levels. In each of these views a vocabulary is learned, and the tokens of all are counted side by side. With a linear
    classifier after it this is a classifier of series; `benchmarks/series.md` compares it with others.

    Parameters
    ----------
    levels : int or sequence of int
        The numbers of levels, between the least and the greatest value of all series that are fitted.
    windows : int or sequence of int
        Of how many samples means are taken. The last window may be shorter.
    differences : bool or sequence of bool
        Whether the values themselves are looked at, or the differences of neighbours, or, by default, both.
    segments : int or sequence of int
        Into how many equal parts a series is divided, in each of which tokens are counted for themselves. With 1 it does not
        matter where a shape is.
    n_tokens : int
        The size of each vocabulary, levels included; smaller where no pair occurs twice.
    parts : bool
        Whether a token also counts as all the tokens that it was merged of, so that longer shapes do not hide the shorter ones.
    log : bool
        Whether ``log(1 + count)`` takes the place of counts.
    normalize : bool
        Whether each series gets mean 0 and deviation 1, after smoothing and differences. Then its height and size do not matter.
    gaps : bool
        Whether missing samples, NaN or masked, are left out of means and have a token that no other crosses, which is counted as
        ``gap``. A window is missing if all of its samples are, a difference if one of the two is.
    sparse_output : bool
        Whether `transform` gives a `scipy.sparse.csr_matrix`. An array is what `set_output` wants for data frames.

    Attributes
    ----------
    views_ : list of SeriesView
        The ways in which each channel is seen: `channel`, `window`, `differences`, `quantization` and `tokenizer`.
    n_features_in_ : int
        The number of samples of a series; of channels, if series have channels. Not there if series of several
        lengths were fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import RidgeClassifierCV
    >>> from sklearn.pipeline import make_pipeline
    >>> from ubpe_numba.sklearn import SeriesBag
    >>> rng = np.random.default_rng(0)
    >>> wave = np.sin(np.arange(100) / 4)
    >>> X = np.array([np.roll(np.sign(wave) if square else wave, shift) for square in (0, 1) for shift in range(20)])
    >>> X, y = X + rng.normal(0, 0.1, X.shape), np.repeat([0, 1], 20)
    >>> model = make_pipeline(SeriesBag(), RidgeClassifierCV()).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2])
    1.0

    One view has features that can be read, levels from the lowest, 0, to the highest:

    >>> bag = SeriesBag(levels=4, windows=1, differences=False, segments=1, n_tokens=8, log=False)
    >>> counts = bag.fit_transform([[0, 0, 1, 3, 1, 0, 0, 1, 3, 1], [3, 1, 0, 0, 1, 3, 3, 3, 3, 3]])
    >>> dict(zip(bag.get_feature_names_out().tolist(), counts.toarray()[0].astype(int).tolist()))
    {'0': 4, '1': 4, '2': 0, '3': 2, '0 0': 2, '2 2': 0, '1 3': 2, '0 0 1 3': 2}
    """

    views_: list[SeriesView]

    def __init__(
        self,
        *,
        levels: Any = (4, 8, 16),
        windows: Any = (1, 2, 4, 8),
        differences: Any = (False, True),
        segments: Any = (1, 4),
        n_tokens: int = 128,
        parts: bool = True,
        log: bool = True,
        normalize: bool = True,
        gaps: bool = False,
        sparse_output: bool = True,
    ) -> None:
        self.levels = levels
        self.windows = windows
        self.differences = differences
        self.segments = segments
        self.n_tokens = n_tokens
        self.parts = parts
        self.log = log
        self.normalize = normalize
        self.gaps = gaps
        self.sparse_output = sparse_output

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Learn scales and vocabularies.

        Parameters
        ----------
        X : float[n, samples] or float[n, channels, samples], or list
            The series, all samples finite but for gaps. Each channel has vocabularies of its own. A list of arrays, of [samples]
            or [channels, samples], or a `Ragged` holds series of any lengths.
        y : None
            Ignored.

        Raises
        ------
        TypeError, ValueError
            As scikit-learn raises it for other arrays; for parameters that are not as described, naming the parameter.

        Examples
        --------
        >>> from ubpe_numba.sklearn import SeriesBag
        >>> bag = SeriesBag(levels=4, windows=(1, 2), differences=False).fit([[1.0, 2, 4, 9], [0, 2, 1, 0]])
        >>> [(view.window, view.quantization.levels) for view in bag.views_]
        [(1, 4), (2, 4)]
        """
        levels = _integers(self.levels, "levels", 2)
        windows = _integers(self.windows, "windows", 1)
        _integers(self.segments, "segments", 1)
        differences = _one_or_more(self.differences, "differences")
        if any(not isinstance(value, (bool, np.bool_)) for value in differences):
            raise TypeError(f"differences: expected booleans, got {quoted(self.differences)}")
        size = positive(self.n_tokens, "n_tokens")
        groups = self._groups(X, reset=True)
        n_channels = groups[0][1].shape[1]
        views = []
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "n_tokens: the fit ended")  # wide windows of short series leave few pairs
            for channel, window, difference in product(range(n_channels), windows, differences):
                values = self._values(groups, channel, window, bool(difference))
                for n in levels:
                    scale = Quantization.learn(np.concatenate(values), levels=n, gaps=self.gaps)
                    breaks = Preprocessing(break_tokens=[scale.gap]) if self.gaps else None
                    tokenizer = BPE(max(size, scale.n_symbols), alphabet=scale.n_symbols, preprocessing=breaks)
                    tokenizer.fit(_documents(values, scale), progress=False)
                    views.append(SeriesView(channel, window, bool(difference), scale, tokenizer))
        self.views_ = views
        return self

    def transform(self, X: ArrayLike) -> Any:
        """Count the tokens of series.

        Parameters
        ----------
        X : float[n, samples] or float[n, channels, samples], or list
            As many samples as in `fit`; of series with channels, as many channels. In a list, series of any lengths.

        Returns
        -------
        csr_matrix or ndarray, float64[n, features]
            The counts, in the order of `get_feature_names_out`; of values outside of the scale as of the first or last level.

        Raises
        ------
        ValueError
            For another shape, or a sample that is not finite.

        Examples
        --------
        >>> from ubpe_numba.sklearn import SeriesBag
        >>> bag = SeriesBag(levels=2, windows=1, differences=False, segments=2, n_tokens=2, log=False)
        >>> bag.fit_transform([[0.0, 0, 0, 9], [0, 9, 9, 9]]).toarray().tolist()
        [[2.0, 0.0, 1.0, 1.0], [1.0, 1.0, 0.0, 2.0]]
        """
        check_is_fitted(self)
        groups = self._groups(X, reset=False)
        blocks: list[Any] = []
        seen: tuple[int, int, bool] | None = None
        for view in self.views_:
            if seen != view[:3]:
                seen = view[:3]
                values = self._values(groups, *view[:3])
            ids = view.tokenizer.encode_batch(_documents(values, view.quantization))
            v = view.tokenizer.vocabulary
            whole = parts_of_tokens(v) if self.parts else sparse.identity(len(v))
            for n in _integers(self.segments, "segments", 1):
                counts = counts_of_parts(ids, v.lengths, n, len(v))
                blocks.append(counts @ sparse.block_diag([whole] * n, format="csr"))
        found = sparse.csr_matrix(sparse.hstack(blocks, format="csr"))
        found.sort_indices()
        if self.log:
            found.data = np.log1p(found.data)
        return found if self.sparse_output else found.toarray()

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The levels that each feature represents, and where it is counted.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of str
            A name for each column: with several channels, windows and so on these come first, such as
            ``"channel 0, window 4, differences, 8 levels, part 2 of 4: 3 3 5"``.

        Examples
        --------
        >>> from ubpe_numba.sklearn import SeriesBag
        >>> bag = SeriesBag(levels=2, windows=(1, 2), differences=False, segments=1, n_tokens=2)
        >>> bag.fit([[0.0, 0, 0, 9]]).get_feature_names_out().tolist()
        ['window 1: 0', 'window 1: 1', 'window 2: 0', 'window 2: 1']
        """
        check_is_fitted(self)
        several = [len({view[i] for view in self.views_}) > 1 for i in range(3)]
        many_levels = len({view.quantization.levels for view in self.views_}) > 1
        segments = _integers(self.segments, "segments", 1)
        made: list[str] = []
        for view in self.views_:
            about = [f"channel {view.channel}"] * several[0] + [f"window {view.window}"] * several[1]
            about += ["differences" if view.differences else "values"] * several[2]
            about += [f"{view.quantization.levels} levels"] * many_levels
            vocabulary = view.tokenizer._fitted().vocabulary
            tokens = names.distinct([" ".join(map(str, vocabulary.sequence(i).tolist())) for i in range(len(vocabulary))])
            if view.quantization.gap is not None:
                tokens[view.quantization.gap] = "gap"
            for n in segments:
                for part in range(n):
                    words = about + [f"part {part + 1} of {n}"] * (segments != [1])
                    start = ", ".join(words) + ": " if words else ""
                    made += [start + token for token in tokens]
        return np.array(made, dtype=object)

    def _groups(self, X: Any, *, reset: bool) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Series of one length together: their places in X, and their samples float64[n, channels, samples]."""
        finite = "allow-nan" if self.gaps else True
        given, uneven = series_of(X, self.gaps)
        if uneven:
            if reset:
                self.__dict__.pop("n_features_in_", None)  # there is no number that all have
                self._ndim = np.ndim(X[0]) + 1
            sizes, found = np.array([np.shape(row)[-1] for row in given]), []
            for size in np.unique(sizes).tolist():
                rows = np.flatnonzero(sizes == size)
                try:
                    group = np.array([_plain(given[i]) for i in rows.tolist()])
                    group = check_array(group, dtype=np.float64, allow_nd=True, ensure_all_finite=finite, input_name="X")
                    found.append((rows, self._checked(group, False)))
                except ValueError as error:
                    raise ValueError(f"X: series of {size} samples, the first is {rows[0]}: {error}") from None
                expected = found[0][1].shape[1] if reset else self.views_[-1].channel + 1
                if (got := found[-1][1].shape[1]) != expected:
                    raise ValueError(f"X: expected {expected} channels in all series, got {got} in {rows[0]}")
            return found
        whole = validate_data(self, _plain(given), dtype=np.float64, allow_nd=True, ensure_all_finite=finite, reset=reset)
        channels = self._checked(whole, reset)
        return [(np.arange(len(channels)), channels)]

    def _checked(self, values: NDArray[np.float64], reset: bool) -> NDArray[np.float64]:
        """Series of one length as float64[n, channels, samples]."""
        if values.ndim > 3 or 0 in values.shape:
            raise ValueError(f"X: expected [n, samples] or [n, channels, samples], got {describe(values)}")
        if values.ndim == 3 and values.shape[1] > values.shape[2]:
            got = f"{values.shape[1]} channels of {values.shape[2]} samples; X.transpose(0, 2, 1) if samples come first"
            raise ValueError(f"X: expected [n, channels, samples], got {got}")
        if reset:
            self._ndim = values.ndim
        elif values.ndim != self._ndim:
            raise ValueError(f"X: expected {self._ndim} dimensions as in fit, got {describe(values)}")
        return values[:, None] if values.ndim == 2 else values

    def _values(self, groups: Any, channel: int, window: int, differences: bool) -> list[NDArray[np.float64]]:
        """Values of one channel of each series that become levels."""
        made = [np.zeros(0)] * sum(len(rows) for rows, _ in groups)
        for rows, channels in groups:
            for row, values in zip(rows.tolist(), self._seen(channels[:, channel], window, differences), strict=True):
                made[row] = values
        return made

    def _seen(self, series: NDArray[np.float64], window: int, differences: bool) -> NDArray[np.float64]:
        """Values of series float64[n, samples] that become levels."""
        values, there = series, ~np.isnan(series)
        if self.normalize:  # by a power of two, which changes nothing but that no sum or square overflows or vanishes
            values = np.ldexp(values, -np.frexp(_largest(values))[1])
        starts = np.arange(0, values.shape[1], window)
        n = np.add.reduceat(there, starts, axis=1, dtype=np.float64)
        values = np.add.reduceat(np.where(there, values, 0.0), starts, axis=1) / np.where(n, n, np.nan)
        if differences:
            values = np.diff(values, axis=1) if values.shape[1] > 1 else 0.0 * values
        if not self.normalize:
            return values
        centred = values - _means(values)
        deviation: NDArray[np.float64] = np.sqrt(_means((centred - _means(centred)) ** 2))
        # a constant series deviates by rounding only, which is not to become a shape
        return centred / np.where(deviation <= 1e-12 * _largest(values), np.inf, deviation)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "views_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.gaps
        tags.input_tags.three_d_array = True
        tags.transformer_tags.preserves_dtype = []  # counts are float64 whatever the series are
        return tags


def _plain(series: Any) -> Any:
    """Series with NaN in place of masked samples."""
    return np.ma.filled(series.astype(np.float64), np.nan) if isinstance(series, np.ma.MaskedArray) else series


def _largest(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The largest absolute value of each series, gaps left out."""
    found: NDArray[np.float64] = np.fmax.reduce(np.abs(values), axis=1, keepdims=True, initial=0.0)
    return found


def _means(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of each series, gaps left out."""
    there = ~np.isnan(values)
    found: NDArray[np.float64] = np.where(there, values, 0.0).sum(axis=1, keepdims=True)
    found /= np.maximum(there.sum(axis=1, keepdims=True), 1)
    return found


def _documents(values: list[NDArray[np.float64]], scale: Quantization) -> Ragged:
    """A document of levels for each series."""
    return Ragged(scale.apply(np.concatenate(values), clip=True), offsets_of(np.array([part.size for part in values])))


def _one_or_more(value: Any, name: str) -> list[Any]:
    """The values of a parameter that may be one or a sequence."""
    found = list(value) if isinstance(value, (list, tuple, range, np.ndarray)) else [value]
    if not found:
        raise ValueError(f"{name}: expected at least one value, got {quoted(value)}")
    return found


def _integers(value: Any, name: str, least: int) -> list[int]:
    """The integers of such a parameter, each at least `least`."""
    found = [positive(one, name) for one in _one_or_more(value, name)]
    if min(found) < least:
        raise ValueError(f"{name}: expected at least {least}, got {min(found)}")
    return found
