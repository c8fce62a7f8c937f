"""Contents of model files and pickles: named fields, read and written by one table.

Pickles depend on values only.

A schema lists the fields of a part, each with its expectation, and with a default, which is not written:

>>> n = Field("an integer in 0..9", lambda value: type(value) is int and 0 <= value <= 9)
>>> schema = Schema("size", {"n": n, "unit": Field("a str", lambda value: type(value) is str, default=None)})
>>> schema.read({"n": 3})
{'n': 3, 'unit': None}
>>> schema.write({"n": 3, "unit": None})
{'n': 3}
>>> schema.read({"n": 12})
Traceback (most recent call last):
...
ubpe_numba.errors.ModelFormatError: size: n: expected an integer in 0..9, got 12
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.errors import ModelFormatError, quoted


class Field(NamedTuple):
    """A field: a test of its value, and the words of a message if it fails.

    Instead of a test, `make` makes the value or raises the error itself.

    `make` gets the value and the name for messages, such as `integers_of`, and runs before the test. A field
    without a default is required; default values pass without a test, and are not written.
    """

    expected: str = "anything"
    test: Callable[[Any], bool] | None = None
    make: Callable[[Any, str], Any] | None = None
    default: Any = ...


class Schema(NamedTuple):
    """The fields of a part of a model file."""

    name: str
    fields: Mapping[str, Field]

    def read(self, state: Any) -> dict[str, Any]:
        """All fields of plain data, checked, with defaults filled in.

        ModelFormatError with part, field, expectation and value.
        """
        if not isinstance(state, dict):
            raise ModelFormatError(f"{self.name}: expected an object")
        defaults = {name: field.default for name, field in self.fields.items() if field.default is not ...}
        check_fields({**defaults, **state}, self.fields, self.name)
        fields = {}
        for name, field in self.fields.items():
            value = state.get(name, field.default)
            if value is not field.default:
                value = value if field.make is None else field.make(value, f"{self.name}: {name}")
                if field.test is not None and not field.test(value):
                    got = (
                        f"got {quoted(state[name])}"
                        if np.ndim(value) == 0
                        else f"got shape {np.shape(value)}"
                    )
                    raise ModelFormatError(f"{self.name}: {name}: expected {field.expected}, {got}")
            fields[name] = value
        return fields

    def write(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Values as a dict, without defaults."""
        return {
            name: values[name] for name, field in self.fields.items() if values[name] is not field.default
        }


def check_fields(part: dict[str, Any], names: Iterable[str], what: str) -> None:
    """Raise ModelFormatError unless `part`, called `what` in messages, has exactly the fields `names`."""
    for name in names:
        if name not in part:
            raise ModelFormatError(f"{what}: the field {quoted(name)} is missing")
    for name in part:
        if name not in names:
            raise ModelFormatError(f"{what}: unexpected field {quoted(name)}")


def integers_of(values: Any, name: str) -> np.ndarray:
    """An integer array from an array, from a list of `int`, or from a list of equally long lists of `int`.

    Raises ModelFormatError for other types and for values beyond int64.
    """
    if not isinstance(values, np.ndarray):
        return _array_of(values, name, "integers", (int, np.integer), np.dtype(np.int64))
    if values.size == 0:
        return values.astype(np.int64)
    if values.dtype.kind not in "iu":
        raise ModelFormatError(f"{name}: expected integers, got dtype {values.dtype}")
    if values.dtype == np.uint64 and int(values.max()) >= 2**63:
        raise ModelFormatError(f"{name}: expected less than 2**63, got {int(values.max())}")
    return values


def numbers_of(values: Any, name: str) -> np.ndarray:
    """A float64 array from an array or nested lists of floats or integers; otherwise ModelFormatError."""
    if not isinstance(values, np.ndarray):
        return _array_of(values, name, "numbers", (int, float, np.integer, np.floating), np.dtype(np.float64))
    if values.dtype.kind not in "fiu":
        raise ModelFormatError(f"{name}: expected numbers, got dtype {values.dtype}")
    return values.astype(np.float64)


def _array_of(values: Any, name: str, what: str, types: tuple[type, ...], dtype: np.dtype[Any]) -> np.ndarray:
    """An array from a list of numbers of some types, without bool, or of equally long lists.

    ModelFormatError for others.
    """
    if not isinstance(values, (list, tuple)):
        raise ModelFormatError(f"{name}: expected {what}, got {type(values).__name__}")
    rows: list[Any] = [v.tolist() if isinstance(v, np.ndarray) else v for v in values]
    nested = all(isinstance(row, (list, tuple)) for row in rows)
    wrong = {
        t
        for t in map(type, chain.from_iterable(rows) if nested else rows)
        if t is bool or not issubclass(t, types)
    }
    if wrong or (nested and len(set(map(len, rows))) > 1):
        raise ModelFormatError(
            f"{name}: expected {what}, got "
            f"{', '.join(sorted(t.__name__ for t in wrong)) or 'rows of different lengths'}"
        )
    try:
        return np.array(rows, dtype)
    except OverflowError as error:
        raise ModelFormatError(f"{name}: expected {what} that fit {dtype} ({error})") from error


def plain_copy(value: Any) -> Any:
    """A copy whose pickle depends only on the values.

    It does not depend on shared objects, nor on the origin of arrays.

    Strings are interned; bytes, lists, tuples and dicts are copied. Arrays become views with NumPy's own
    dtype object: an unpickled array has a different dtype object, which pickle would write once more. Other
    objects stay. O(items), arrays are not copied.

    >>> import pickle
    >>> one, two = "".join(["a", "b"]), "".join(["a", "b"])
    >>> pickle.dumps([one, one]) == pickle.dumps([one, two])
    False
    >>> pickle.dumps(plain_copy([one, one])) == pickle.dumps(plain_copy([one, two]))
    True
    """
    kind = type(value)
    if kind is str:
        return sys.intern(value)
    if kind is bytes:
        return bytes(bytearray(value))
    if kind is np.ndarray and value.dtype.kind in "biuf":
        view = value.view(np.dtype(value.dtype.str))
        view.setflags(write=False)  # pickle writes writable memory otherwise
        return view
    if kind is dict:
        return {plain_copy(key): plain_copy(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)) and (kind in (list, tuple) or hasattr(value, "_fields")):
        parts = map(plain_copy, value)
        return kind(parts) if kind in (list, tuple) else kind(*parts)
    return value


def pickled(make: Callable[..., Any], *arguments: Any) -> tuple[Any, ...]:
    """The result of `__reduce__` for an object that `make(*arguments)` makes.

    It includes nothing that the object computed later.
    """
    return make, plain_copy(arguments)
