"""Documents of symbols that have names: words, atoms, activities, moves. They are numbered as they are read.

    ["open", "read", "read"]  ->  Documents([0, 1, 1], [0, 3], Named(("open", "read")))

A name is any hashable object except None and numbers other than integers. Names that are all `str`, `bytes`
or integers are numbered in their order, others as they come.
"""

from __future__ import annotations

import contextlib
import sys
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set, Sized
from itertools import chain, count
from math import isfinite
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.documents.flat import MISSING, ROUND, Documents, Named, has_arrow, place_of
from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.runtime.arrays import describe, offsets_of

_COLUMNS = ("str", "utf8", "categor", "enum", "dictionary")  # in names of types of columns of words
#: Types whose objects cannot be names.
_NO_NAMES = (bool, float, complex, type(None), np.generic)
_ROWS = 1 << 14  # that are compared at a time: of which all fits into the processor's cache
_FEW, _WIDE = 1024, 256  # columns of fewer words, and arrays of more bytes a word, become lists


def read_words(docs: Any, offsets: NDArray[np.int64] | None, surely: bool) -> tuple[Any, Documents | None]:
    """The documents of a call, and their `Documents` if their symbols have names.

    An iterator is replaced by one that yields all documents.

    `surely`: the symbols have names, as for a tokenizer of words; otherwise the first symbol decides.
    """
    docs = _unpacked(docs)
    if not surely:
        # may be read once only
        if isinstance(docs, Iterable) and not isinstance(docs, Sized) and not hasattr(docs, "agg"):
            docs, held = iter(docs), list[Any]()
            for doc in docs:  # up to the first that is not empty
                held.append(doc)
                if _filled(doc):
                    break
            docs = chain(held, docs)
        else:
            held = docs
        if not _holds_words(held, offsets is not None):
            return docs, None
    return docs, words_documents(docs, offsets)


def _holds_words(docs: Any, flat: bool) -> bool:
    """Whether the first symbol of documents, or of a `flat` one, is a name."""
    # of a table
    if (
        isinstance(docs, (str, bytes, Mapping, Set))
        or hasattr(docs, "are_segments")
        or hasattr(docs, "columns")
    ):
        return False
    if isinstance(docs, np.ndarray) and docs.dtype.kind in "US" and (flat or docs.ndim == 2):
        return True
    if type(docs).__name__.endswith("GroupBy"):
        return type(docs).__name__ == "SeriesGroupBy" and _holds_words(docs.obj, True)  # of pandas
    if "list" in _type_of(docs) and any(kind in _type_of(docs) for kind in _COLUMNS):
        return True
    if not isinstance(docs, Iterable) or getattr(getattr(docs, "dtype", None), "kind", "O") not in "OUS":
        return False
    doc: Any = docs if flat else next(filter(_filled, docs), None)
    if isinstance(doc, (str, bytes)):  # of NumPy too: a document of characters
        return False
    is_column = isinstance(doc, (list, tuple)) or any(
        kind in _type_of(doc) for kind in ("<u", "|s", "object", *_COLUMNS)
    )
    return is_column and isinstance(doc, Sized) and len(doc) > 0 and is_word(next(iter(cast(Any, doc))))


def _unpacked(docs: Any) -> Any:
    """The array of words in a container, as of xarray; others as they are."""
    return np.asarray(docs) if getattr(getattr(docs, "dtype", None), "kind", "") in ("U", "S") else docs


def _filled(doc: Any) -> bool:
    """Whether a document is not empty; one without a length, such as an item of a tensor, is not."""
    shape = getattr(doc, "shape", None)
    return (not isinstance(doc, Sized) or len(doc) > 0) if shape is None else 0 not in shape


def _type_of(column: Any) -> str:
    """The type of the items of another library's column, as it is written there, in lower case.

    Empty without a type.
    """
    return str(getattr(column, "dtype", getattr(column, "type", ""))).lower()


def is_word(item: object) -> bool:
    """Whether an object is a symbol with a name, and no number.

    >>> is_word("open"), is_word(("note", 60)), is_word(3), is_word([1])
    (True, True, False, False)
    """
    is_name = isinstance(item, Hashable) and not isinstance(item, (int, *_NO_NAMES))
    return is_name or isinstance(item, (np.str_, np.bytes_))


def rows_of(docs: Any, name: str) -> list[Sequence[Any]]:
    """Documents of words as lists.

    From lists, arrays, columns of Arrow, pandas and polars, a matrix, or an iterator of these.
    """
    if hasattr(docs, "columns") or type(docs).__name__.endswith("GroupBy"):
        raise TypeError(f"{name}: expected documents of words, got {describe(docs)}; give one column of it")
    return [_row(doc, f"{name}: document {i}") for i, doc in enumerate(_listed(docs))]


def _listed(column: Any) -> Any:
    """A column of another library as a list; others as they are."""
    method = next((name for name in ("to_pylist", "to_list", "tolist") if hasattr(column, name)), None)
    return getattr(column, method)() if method else column


def _row(doc: Any, where: str) -> Sequence[Any]:
    """One document of words as a list or tuple."""
    row = _listed(doc)
    if isinstance(row, (list, tuple)):
        return row
    way = f"; {quoted(doc)}.split() makes words of a text" if isinstance(doc, str) and len(doc) < 30 else ""
    raise TypeError(f"{where}: expected a list of words, got {describe(doc)}{way}")


def words_document(doc: Any, name: str = "doc") -> Documents:
    """Read one document of words.

    >>> words_document(["b", "a", "b"])
    Documents(values=array([1, 0, 1], dtype=int32), offsets=array([0, 3]), kind='int')
    """
    doc = _unpacked(doc)
    return _of_column(doc, name) or _numbered([_row(doc, name)], name, None)


def words_documents(docs: Any, offsets: NDArray[np.int64] | None, name: str = "docs") -> Documents:
    """Read documents of words; with `offsets`, not checked here, one flat document that these divide."""
    if offsets is None:
        return _of_columns(docs, name) or _numbered(rows_of(docs, name), name, 0)
    return words_document(docs, name)._replace(offsets=offsets)


def _of_columns(docs: Any, name: str) -> Documents | None:
    """Documents of libraries that hold words as numbers, or in one array.

    None for others, and for few words.
    """
    from ubpe_numba.documents import arrow, containers  # here: lists need no columns

    if type(docs).__name__ == "SeriesGroupBy":
        order, offsets = containers.order_of_groups(docs)
        return words_documents(docs.obj.iloc[order], offsets, name)
    if hasattr(getattr(docs, "dtype", None), "pyarrow_dtype"):
        docs = docs.array.__arrow_array__()
    if isinstance(docs, np.ndarray) and docs.ndim == 2:
        column = _of_column(docs.ravel(), name)
        return None if column is None else column._replace(offsets=np.arange(len(docs) + 1) * docs.shape[1])
    if not isinstance(docs, (list, tuple)):
        if "list" in _type_of(docs) and has_arrow(type(docs)):
            with contextlib.suppress(ImportError):  # without pyarrow they become lists
                columns = arrow.read_arrow(docs, name, words=True)
                return _ordered(*columns) if isinstance(columns.kind, Named) else None
        return None
    if not docs or not all(getattr(doc, "shape", ()) or hasattr(doc, "type") for doc in docs):
        return None
    lengths = np.array([*map(len, docs)])
    arrays = docs if {*map(type, docs)} == {np.ndarray} else ()
    if arrays and all(doc.dtype.kind == "U" and doc.ndim == 1 and doc.itemsize <= _WIDE for doc in arrays):
        column = _of_column(np.concatenate(docs), name)
        return None if column is None else column._replace(offsets=offsets_of(lengths))
    parts = [_of_column(doc, name) for doc in docs] if lengths.sum() >= _FEW * len(docs) else []
    numbers = dict[Any, int]()
    values: list[NDArray[np.int32]] = []
    for part in parts:
        if part is None:
            return None
        names = cast(Named, part.kind).names
        values.append(
            np.array([numbers.setdefault(word, len(numbers)) for word in names], np.int32)[part.values]
        )
    return _ordered(np.concatenate(values), offsets_of(lengths), Named(tuple(numbers))) if values else None


def _of_column(doc: Any, name: str) -> Documents | None:
    """One document of a library that holds words as numbers, or of an array.

    None for others, and for few words.
    """
    if isinstance(doc, (list, tuple)) or not isinstance(doc, Sized) or len(doc) < _FEW:
        return None
    from ubpe_numba.documents import arrow  # here, as above

    if isinstance(doc, np.ndarray):
        if doc.dtype.kind not in "US" or doc.ndim != 1 or not 0 < doc.itemsize <= _WIDE:
            return None
        values, kind = _numbered_array(doc)
        return _ordered(values, np.array([0, doc.size]), kind)
    if type(doc).__module__.startswith("pandas"):
        with contextlib.suppress(TypeError):  # of objects without a hash
            values, words = sys.modules["pandas"].factorize(doc)
            if values.min() >= 0 and not any(issubclass(cls, _NO_NAMES) for cls in {*map(type, words)}):
                return _ordered(values, np.array([0, values.size]), Named(tuple(words.tolist())))
        return None  # with the place of the missing value
    if has_arrow(type(doc)) and any(kind in _type_of(doc) for kind in _COLUMNS):
        with contextlib.suppress(ImportError):
            return _ordered(*arrow.read_arrow_words(doc, name))
    return None


def _numbered_array(words: NDArray[Any]) -> tuple[NDArray[np.int32], Named]:
    """The number of each string of an array, as they come, and all strings. O(bytes) expected."""
    from ubpe_numba.documents.kernels.distinct import find_distinct  # here: integers need no kernel

    words = np.ascontiguousarray(words, words.dtype.newbyteorder("="))
    symbols = words.view(np.uint32 if words.dtype.kind == "U" else np.uint8).reshape(words.size, -1)
    values, numbers = np.empty(words.size, np.int32), dict[Any, int]()
    hashes, first_of = np.empty(_ROWS, np.uint64), np.empty(_ROWS, np.int64)
    number = np.empty(_ROWS, np.int32)
    for start in range(0, words.size, _ROWS):
        some = symbols[start : start + _ROWS].astype(np.uint32)
        n, table = len(some), np.full(2 * _ROWS, -1, np.int32)
        find_distinct(some.ravel(), np.arange(n + 1) * some.shape[1], table, hashes, first_of)
        first = np.flatnonzero(first_of[:n] == np.arange(n))
        number[first] = [numbers.setdefault(word, len(numbers)) for word in words[start + first].tolist()]
        values[start : start + n] = number[first_of[:n]]
    return values, Named(tuple(numbers))


def _ordered(values: NDArray[Any], offsets: NDArray[np.int64], kind: Any) -> Documents:
    """Documents of words with the numbers that this module's description says; names that do not occur go.

    O(values).
    """
    names = kind.names
    counts = np.bincount(values, minlength=len(names))
    order: list[int] = np.flatnonzero(counts).tolist()
    if len({type(names[i]) for i in order}) == 1 and isinstance(names[order[0]], (str, bytes, int)):
        order.sort(key=names.__getitem__)
    else:
        first = np.full(len(names), values.size)
        first[values[::-1]] = np.arange(values.size)[::-1]
        order.sort(key=first.__getitem__)
    rank = np.empty(len(names), np.int32)
    rank[order] = np.arange(len(order))
    return Documents(rank[values], offsets, Named(tuple(names[i] for i in order)))


def _numbered(rows: list[Sequence[Any]], name: str, first: int | None) -> Documents:
    """Documents of lists of names.

    O(symbols + names log names); TypeError, with the place, for other objects than names.
    """
    flat: list[Any] = list(chain.from_iterable(rows))
    offsets = offsets_of(np.fromiter(map(len, rows), np.int64, len(rows)))
    numbers: defaultdict[Any, int] = defaultdict(count().__next__)  # a new name gets the next number
    types = set(map(type, flat))
    of_numpy = np.str_, np.bytes_, np.integer
    odd = {
        cls
        for cls in types
        if cls.__hash__ is None or (issubclass(cls, _NO_NAMES) and not issubclass(cls, of_numpy))
    }
    try:
        if odd:
            raise TypeError
        values = np.fromiter(map(numbers.__getitem__, flat), np.int32, len(flat))
    except TypeError:  # also of a tuple that holds a list
        at = next(i for i, item in enumerate(flat) if type(item) in odd or not _has_hash(item))
        item = flat[at]
        is_missing = item is None or (isinstance(item, float) and item != item)
        way = MISSING if is_missing else ROUND if isinstance(item, float) else ""
        where = place_of(name, offsets, at, first)
        got = f"{quoted(item)} ({type(item).__name__})"
        raise TypeError(f"{where}: expected a word, or another hashable symbol, got {got}{way}") from None
    return _ordered(
        values,
        offsets,
        Named(tuple(item.item() if isinstance(item, np.generic) else item for item in numbers)),
    )


def _has_hash(item: Any) -> bool:
    try:
        hash(item)
    except TypeError:
        return False
    return True


def aligned(documents: Documents, kind: Named, name: str) -> Documents:
    """Documents numbered as the names of a `kind` are; other names follow these. O(symbols + names).

    >>> found = aligned(words_document(["b", "x", "b"]), Named(("a", "b")), "doc")
    >>> found.values.tolist(), found.kind.names
    ([1, 2, 1], ('a', 'b', 'x'))
    """
    values, offsets, named = documents
    if offsets[-1] == offsets[0]:
        return documents._replace(kind=kind)
    if not isinstance(named, Named):
        if named != "int":
            raise TypeError(f"{name}: the tokenizer was fitted on words, expected lists of them, got {named}")
        some, values = np.unique(values, return_inverse=True)
        named = Named(tuple(some.tolist()))
    if named is kind or named.base is kind:
        return documents
    whole = Named((*kind.names, *(word for word in named.names if word not in kind.number)), kind)
    table = np.fromiter(map(whole.number.__getitem__, named.names), np.int32, len(named.names))
    return Documents(table[values], offsets, whole)


def names_of(given: Any) -> tuple[Any, ...]:
    """The names of a fixed alphabet; ValueError for duplicates, TypeError for objects that cannot be names.

    >>> names_of(["open", "read"])
    ('open', 'read')
    """
    if isinstance(given, (bool, int, float, str, bytes, Set)) or given is None:
        got = describe(given)
        raise TypeError(
            f"alphabet: the documents are of words, expected a list of all, or a mapping to ids, got {got}"
        )
    documents = words_document(list(given), "alphabet")
    names: tuple[Any, ...] = documents.kind.names  # type: ignore[attr-defined]
    counts = np.bincount(documents.values, minlength=len(names))
    if (twice := np.flatnonzero(counts > 1)).size:
        raise ValueError(f"alphabet: symbol {quoted(names[twice[0]])} is there twice")
    return tuple(names[i] for i in documents.values.tolist())


def to_state(names: Iterable[Any], inside: bool = False) -> list[Any]:
    """Names for a model file: `str` and `int` as they are, others by their type.

    TypeError for types that cannot be stored.

    `inside` of a tuple may also be a bool, None, and a finite float.

    >>> to_state(["open", 3, b"x", ("note", 60, False)])
    ['open', 3, {'bytes': [120]}, {'tuple': ['note', 60, False]}]
    """
    items: list[Any] = []
    for name in names:
        is_part = inside and (type(name) in (bool, type(None)) or (type(name) is float and isfinite(name)))
        if type(name) in (str, int) or is_part:
            items.append(name)
        elif type(name) is bytes:
            items.append({"bytes": list(name)})
        elif type(name) is tuple:
            items.append({"tuple": to_state(name, inside=True)})
        else:
            held = "str, int, bytes, and tuples of them, bools, None and floats"
            raise TypeError(f"alphabet: a model file holds names that are {held}, not {quoted(name)}")
    return items


def from_state(state: Any, inside: bool = False) -> tuple[Any, ...]:
    """The inverse of `to_state`; ModelFormatError for anything else.

    >>> from_state(["open", 3, {"bytes": [120]}, {"tuple": ["note", 60]}])
    ('open', 3, b'x', ('note', 60))
    """
    items: list[Any] = []
    for item in state if isinstance(state, list) else [None]:
        if type(item) in (str, int) or (inside and type(item) in (bool, type(None), float)):
            items.append(item)
            continue
        ((form, value),) = item.items() if isinstance(item, dict) and len(item) == 1 else [("", None)]
        if (
            form == "bytes"
            and isinstance(value, list)
            and all(type(b) is int and 0 <= b < 256 for b in value)
        ):
            items.append(bytes(value))
        elif form == "tuple" and isinstance(value, list):
            items.append(from_state(value, inside=True))
        else:
            raise ModelFormatError("symbols: expected names")
    return tuple(items)
