"""Checking what a model file, or a table given by the user, holds. Everything that is wrong is a ModelFormatError."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np

from ubpe_numba.errors import ModelFormatError


def check_size(value: object, name: str, least: int) -> None:
    """Raise ModelFormatError unless `value` is an integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ModelFormatError(f"{name}: expected an integer of at least {least}, got {value!r}")


def check_fields(part: dict[str, Any], names: Iterable[str], what: str) -> None:
    """Raise ModelFormatError unless `part` has exactly these fields."""
    for name in names:
        if name not in part:
            raise ModelFormatError(f"{what}: the field {name!r} is missing")
    for name in part:
        if name not in names:
            raise ModelFormatError(f"{what}: unexpected field {name!r}")


def integers_of(values: Any, name: str) -> np.ndarray:
    """An integer array of one or two dimensions, from an array or from lists of nothing but `int`."""
    if not isinstance(values, np.ndarray):
        if not isinstance(values, (list, tuple)):
            raise ModelFormatError(f"{name}: expected integers, got {type(values).__name__}")
        rows: list[Any] = [v.tolist() if isinstance(v, np.ndarray) else v for v in values]
        nested = all(isinstance(row, (list, tuple)) for row in rows)
        wrong = set(map(type, chain.from_iterable(rows) if nested else rows)) - {int}
        wrong = {t for t in wrong if not issubclass(t, np.integer)}
        if wrong or (nested and len(set(map(len, rows))) > 1):
            found = ", ".join(sorted(t.__name__ for t in wrong)) or "rows of different lengths"
            raise ModelFormatError(f"{name}: expected integers, got {found}")
        try:
            return np.array(rows, np.int64)
        except OverflowError as error:
            raise ModelFormatError(f"{name}: expected integers that fit int64 ({error})") from error
    if values.size == 0:
        return values.astype(np.int64)
    if values.dtype.kind not in "iu":
        raise ModelFormatError(f"{name}: expected integers, got dtype {values.dtype}")
    if values.dtype == np.uint64 and int(values.max()) >= 2**63:
        raise ModelFormatError(f"{name}: expected less than 2**63, got {int(values.max())}")
    return values


def numbers_of(values: Any, name: str) -> np.ndarray:
    """A float64 array from an array of floats or integers, or from a list of `int` and `float`."""
    if isinstance(values, np.ndarray):
        if values.dtype.kind not in "fiu":
            raise ModelFormatError(f"{name}: expected numbers, got dtype {values.dtype}")
        return values.astype(np.float64)
    wrong = set(map(type, values)) - {int, float} if isinstance(values, (list, tuple)) else {type(values)}
    if wrong := {t for t in wrong if not issubclass(t, (np.integer, np.floating))}:
        raise ModelFormatError(f"{name}: expected numbers, got {', '.join(sorted(t.__name__ for t in wrong))}")
    try:
        return np.array(values, np.float64)
    except OverflowError as error:
        raise ModelFormatError(f"{name}: expected numbers that fit float64 ({error})") from error
