"""Containers of other libraries as `read.py` takes them: arrays, lists of documents, arrays of Arrow, or flat arrays at once.

Nothing is imported here: a class tells by its module what it is.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.documents.arrow import Column, Kind, checked, read_arrow_document, wrong_table
from ubpe_numba.runtime.arrays import check_offsets, describe, has_arrow, offsets_of, plain

_AWKWARD_TEXTS: dict[str | None, Kind] = {"string": "utf8", "bytestring": "bytes"}


def _of_pandas(docs: Any, cls: str, name: str) -> Any:
    if cls in _PANDAS:
        return _PANDAS[cls](docs, name)
    if cls == "DataFrameGroupBy":
        raise TypeError(
            f"{name}: expected documents, got groups of a DataFrame; select a column: groupby(...)['column']"
        )
    if cls.endswith("Array") and hasattr(docs, "isna"):  # NumPy would make float64 of missing values
        return _of_series(sys.modules["pandas"].Series(docs, copy=False), name)
    return docs


def _of_series(series: Any, name: str) -> Any:
    dtype = series.dtype
    if hasattr(dtype, "pyarrow_dtype") or getattr(dtype, "storage", "") == "pyarrow":
        return series.array.__arrow_array__()
    of = getattr(getattr(dtype, "categories", None), "dtype", dtype)
    of = getattr(of, "numpy_dtype", of if of is not dtype else None)
    if getattr(of, "kind", "") in ("i", "u"):  # integers that may be missing
        if (at := np.flatnonzero(np.asarray(series.isna()))).size:
            raise ValueError(f"{name}: position {at[0]} is missing; drop missing values first")
        return series.to_numpy(of)
    array = series.to_numpy()
    return array if array.dtype.kind not in "OUST" else list(array)


def _integers_of(series: Any, name: str) -> NDArray[Any] | None:
    """The integers of a Series; None if it holds something else."""
    values = _of_series(series, name)
    if has_arrow(type(values)):
        with contextlib.suppress(TypeError):  # of another type
            return read_arrow_document(values, name)
    return plain(values) if isinstance(values, np.ndarray) and values.dtype.kind in "iu" else None


def _of_frame(frame: Any, name: str) -> Any:
    """The only column of a frame, of documents."""
    types = {dtype: j for j, dtype in enumerate(frame.dtypes)}
    integers = [_integers_of(frame.iloc[:0, j], name) is not None for j in types.values()]
    if len(frame.columns) != 1 or integers[0]:
        raise wrong_table(frame.columns, integers, name)
    return _of_series(frame.iloc[:, 0], name)


def _of_groups(groups: Any, name: str) -> Any:
    """The values of each group of a column, groups in their order."""
    values = _integers_of(groups.obj, name)
    if values is None:
        raise TypeError(
            f"{name}: expected groups of integers, each of them a document, got groups of {groups.obj.dtype}"
        )
    order, offsets = order_of_groups(groups)
    return checked(Column(values[order], offsets, "int"), name)


def order_of_groups(groups: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The positions of the rows of groups of pandas, group by group, and offsets, int64[groups + 1]."""
    number = groups.ngroup().to_numpy()
    member = np.flatnonzero(number >= 0)  # of no group: where the key is missing
    of = number[member].astype(np.int64)
    lengths = np.bincount(of)
    if lengths.size != groups.ngroups:  # categories that do not occur are groups, and have no numbers
        lengths = np.array([len(group) for _, group in groups], np.int64)
    return member[np.argsort(of, kind="stable")], offsets_of(lengths)


def _of_awkward(docs: Any, cls: str, name: str) -> Any:
    if not hasattr(docs, "layout"):
        return docs
    layout, index = _resolved(docs.layout)
    if not layout.is_list:
        if index is None or not layout.is_numpy or layout.purelist_depth > 1:
            return docs
        if (missing := np.flatnonzero(index < 0)).size:
            raise ValueError(f"{name}: position {missing[0]} is null; drop or fill nulls first")
        return _picked(np.asarray(layout.data), index)
    starts, stops = np.asarray(layout.starts.data, np.int64), np.asarray(layout.stops.data, np.int64)
    nulls = None
    if index is not None:
        nulls = index < 0
        starts, stops = _picked(starts, index), np.where(nulls, _picked(starts, index), _picked(stops, index))
    kind = _AWKWARD_TEXTS.get(layout.parameter("__array__"), "int")
    content, inner = _resolved(layout.content)
    values = (
        np.zeros(0, np.int64)
        if content.is_unknown
        else np.asarray(content.data)
        if content.is_numpy
        else None
    )
    if values is None or values.ndim != 1 or values.dtype.kind not in "iu":
        way = "; awkward.flatten(docs) has its rows as documents" if content.is_list else ""
        raise TypeError(
            f"{name}: expected lists of integers, strings or bytes, got an awkward array of type {docs.type}{way}"
        )
    holes = None
    if inner is not None:
        values, holes = plain(_picked(values, inner)), inner < 0
    held = Column(plain(values), np.zeros(1, np.int64), kind, None, holes)
    _check_ranges(starts, stops - starts, values.size, name)
    return checked(held.ranges(starts, stops - starts, nulls), name)


def _check_ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64], size: int, name: str) -> None:
    """ValueError unless documents are inside of `size` values: these libraries do not look.

    Empty ones may be anywhere.
    """
    # Compared with what is left: a sum of two arbitrary numbers may overflow.
    outside = (lengths < 0) | ((lengths > 0) & ((starts < 0) | (starts > size) | (lengths > size - starts)))
    if (at := np.flatnonzero(outside)).size:
        i = at[0]
        raise ValueError(f"{name}: document {i} has {lengths[i]} values from {starts[i]} on, of {size}")


def _resolved(layout: Any) -> tuple[Any, NDArray[np.int64] | None]:
    """A layout of awkward and the indices of its elements in it: -1 for one that is missing, None if they are all, in order."""
    if layout.is_option:
        layout = layout.to_IndexedOptionArray64()
    if not layout.is_indexed:
        return layout, None
    index = np.asarray(layout.index.data, np.int64)
    layout, inner = _resolved(layout.content)
    return layout, index if inner is None else np.where(index < 0, -1, _picked(inner, index))


def _picked(values: NDArray[Any], index: NDArray[np.int64]) -> NDArray[Any]:
    """The values at these indices, anything where one is negative."""
    return values[np.maximum(index, 0)] if values.size else np.zeros(index.size, values.dtype)


def _of_torch(docs: Any, cls: str, name: str) -> Any:
    if not getattr(docs, "is_nested", False):
        return docs
    if not str(docs.layout).endswith("jagged"):
        return list(docs.unbind())
    values = np.asarray(docs.values())
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise TypeError(
            f"{name}: expected a nested tensor of 1-D tensors of integers, got values as {describe(values)}"
        )
    offsets, lengths = np.asarray(docs.offsets()).astype(np.int64), docs.lengths()
    if lengths is None:
        check_offsets(offsets, values.size, f"{name}: offsets of the nested tensor")
        return checked(Column(values[offsets[0] : offsets[-1]], offsets - offsets[0], "int"), name)
    sizes = np.asarray(lengths).astype(np.int64)
    _check_ranges(offsets[:-1], sizes, values.size, name)
    return checked(Column(values, offsets, "int").ranges(offsets[:-1], sizes, None), name)


def _of_datasets(docs: Any, cls: str, name: str) -> Any:
    if (
        cls != "Column"
        or not hasattr(docs.source, "select_columns")
        or docs.source.format["type"] == "custom"
    ):
        return docs  # of rows that a function of the user makes, or of a column inside of another
    return docs.source.select_columns(docs.column_name).with_format("arrow")[:].column(0)


def _of_polars(docs: Any, cls: str, name: str) -> Any:
    if cls.endswith("GroupBy"):
        raise TypeError(
            f"{name}: expected documents, got groups of a polars frame; give .agg('column')['column']"
        )
    column = docs.to_series(0) if cls == "DataFrame" and docs.width == 1 else docs
    # as an Arrow array it would be the addresses of objects of Python
    if str(getattr(column, "dtype", "")) == "Object":
        return list(column)
    return docs


#: Classes of pandas with a reader of their own.
_PANDAS: dict[str, Callable[[Any, str], Any]] = {
    **dict.fromkeys(("Series", "IntegerArray", "Categorical"), _of_series),
    "DataFrame": _of_frame,
    "SeriesGroupBy": _of_groups,
}
#: Of an object, the name of its class or of that which it is made of, and its name in messages: the content
#: of a container, which is `Documents`, an array, a list or a tuple, or an object that hands out Arrow
#: arrays; an object that is no container itself. TypeError for other objects of these packages says how to
#: give them, ValueError for missing values names document and position.
READERS: dict[str, Callable[[Any, str, str], Any]] = {
    "pandas": _of_pandas,
    "awkward": _of_awkward,
    "torch": _of_torch,
    "datasets": _of_datasets,
    "polars": _of_polars,
    # as Arrow a table
    "xarray": lambda docs, cls, name: np.asarray(docs) if cls in ("DataArray", "Variable") else docs,
}
