"""Containers of other libraries as arrays, lists of documents, Arrow arrays, or flat arrays.

`read.py` takes these.

Nothing is imported here: the module of a class shows its library.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.documents.arrow import read_arrow_document, wrong_table
from ubpe_numba.documents.flat import Documents, has_arrow, place_of, signed
from ubpe_numba.runtime.arrays import check_offsets, describe, offsets_of, places_of, plain

_AWKWARD_TEXTS = {"string": "utf8", "bytestring": "bytes"}


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
    return _lists(values[order], offsets, name)


def order_of_groups(groups: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The positions of the rows of groups of pandas, group by group, and offsets, int64[groups + 1]."""
    number = groups.ngroup().to_numpy()
    member = np.flatnonzero(number >= 0)  # without a group: the key is missing
    of = number[member].astype(np.int64)
    lengths = np.bincount(of)
    if lengths.size != groups.ngroups:  # categories that do not occur are groups without numbers
        lengths = np.array([len(group) for _, group in groups], np.int64)
    return member[np.argsort(of, kind="stable")], offsets_of(lengths)


def _lists(values: NDArray[Any], offsets: NDArray[np.int64], name: str, kind: str = "int") -> Documents:
    return Documents(signed(plain(values), lambda at: place_of(name, offsets, at)), offsets, kind)


def _of_awkward(docs: Any, cls: str, name: str) -> Any:
    if not hasattr(docs, "layout"):
        return docs
    awkward = sys.modules["awkward"]
    if fault := awkward.validity_error(docs):
        fault = fault.partition('"): ')[2].partition(" (in compiled")[0]
        raise ValueError(f"{name}: not a valid awkward array: {fault}")
    layout, missing = _present(awkward.to_packed(docs).layout)
    if not (layout.is_list or layout.is_numpy):
        return docs
    if missing is not None:
        place = "document" if layout.is_list or layout.purelist_depth > 1 else "position"
        raise ValueError(f"{name}: {place} {missing} is null; drop or fill nulls first")
    if layout.is_numpy:
        return np.asarray(layout.data)
    layout = layout.to_ListOffsetArray64(True)
    offsets = np.array(layout.offsets.data, np.int64)
    items, missing = _present(layout.content)
    values = np.zeros(0, np.int64) if items.is_unknown else np.asarray(items.data) if items.is_numpy else None
    if values is None or values.ndim != 1 or values.dtype.kind not in "iu":
        way = "; awkward.flatten(docs) has its rows as documents" if items.is_list else ""
        raise TypeError(
            f"{name}: expected lists of integers, strings or bytes, got an awkward array of type "
            f"{docs.type}{way}"
        )
    if missing is not None:
        raise ValueError(f"{place_of(name, offsets, missing)} is null; drop or fill nulls first")
    return _lists(values, offsets, name, _AWKWARD_TEXTS.get(layout.parameter("__array__"), "int"))


def _present(layout: Any) -> tuple[Any, int | None]:
    """A layout of awkward without the indices around it, and its first missing element or None."""
    missing = np.zeros(0, np.int64)
    while layout.is_option or layout.is_indexed:
        if layout.is_option:
            missing = np.append(missing, np.flatnonzero(layout.mask_as_bool(valid_when=False)))
        layout = layout.project()
    return layout, int(missing[0]) if missing.size else None


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
        return _lists(values[offsets[0] : offsets[-1]], offsets - offsets[0], name)
    starts, sizes, n = offsets[:-1], np.asarray(lengths).astype(np.int64), values.size
    # Compared with the rest: a sum of two arbitrary numbers may overflow. Empty arrays may be anywhere.
    outside = (sizes < 0) | ((sizes > 0) & ((starts < 0) | (starts > n) | (sizes > n - starts)))
    if (at := np.flatnonzero(outside)).size:
        i = at[0]
        raise ValueError(f"{name}: document {i} has {sizes[i]} values from {starts[i]} on, of {n}")
    return _lists(values[places_of(starts, sizes)], offsets_of(sizes), name)


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
#: For an object, the name of its class or base class, and its name in messages: the content of a container.
#: This is `Documents`, an array, a list, a tuple, or an object that exports Arrow arrays. Other objects are
#: returned as they are. TypeError, with advice, for other objects of these packages; ValueError, with
#: document and position, for missing values.
READERS: dict[str, Callable[[Any, str, str], Any]] = {
    "pandas": _of_pandas,
    "awkward": _of_awkward,
    "torch": _of_torch,
    "datasets": _of_datasets,
    "polars": _of_polars,
    # as Arrow a table
    "xarray": lambda docs, cls, name: np.asarray(docs) if cls in ("DataArray", "Variable") else docs,
}
