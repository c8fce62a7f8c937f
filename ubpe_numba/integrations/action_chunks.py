"""Chunks of actions in every accepted form become float64 blocks; a policy's ids become arrays.

Tensors of torch are recognized without an import of torch: on any device, with or without a gradient, of any
type of floats.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.runtime.arrays import describe
from ubpe_numba.runtime.lazy import require

_FORMS = "[steps, dimensions], [chunks, steps, dimensions] or a list of chunks"


def as_blocks(chunks: Any, name: str = "chunks") -> list[NDArray[np.float64]]:
    """Chunks as arrays [n, steps, dimensions], in order: one if all have the same shape, else many.

    Without chunks there is one array, of length 0. Raises TypeError for anything but numbers. Raises
    ValueError, with chunk, step and dimension, for another shape, a chunk without steps or dimensions, or a
    number that is not finite.

    >>> [block.shape for block in as_blocks(np.zeros((4, 2)))]
    [(1, 4, 2)]
    >>> [block.shape for block in as_blocks([np.zeros((4, 2)), np.zeros((3, 2))])]
    [(1, 4, 2), (1, 3, 2)]
    """
    chunks = without_torch(chunks)
    if isinstance(chunks, np.ndarray) and chunks.dtype != object:
        numbers = _numbers(chunks, name)
        if numbers.ndim not in (2, 3):
            raise ValueError(f"{name}: expected {_FORMS}, got {describe(chunks)}")
        blocks = [numbers if numbers.ndim == 3 else numbers[None]]
    else:
        if isinstance(chunks, (str, bytes, Mapping)) or not isinstance(chunks, Iterable):
            raise TypeError(f"{name}: expected {_FORMS}, got {describe(chunks)}")
        each = [_one(chunk, f"{name}: chunk {i}") for i, chunk in enumerate(chunks)]
        same = len({chunk.shape for chunk in each}) == 1
        blocks = [np.stack(each)] if same else [chunk[None] for chunk in each] or [np.zeros((0, 1, 1))]
    first = 0
    for block in blocks:
        if len(block) and 0 in block.shape:
            raise ValueError(
                f"{name}: chunk {first}: expected steps and dimensions, got {describe(block[0])}"
            )
        if not np.isfinite(block).all():
            chunk, step, dimension = np.argwhere(~np.isfinite(block))[0]
            value = block[chunk, step, dimension]
            raise ValueError(
                f"{name}: chunk {first + chunk}, step {step}, dimension {dimension}: expected a finite "
                f"number, got {value}"
            )
        first += len(block)
    return blocks


def _one(chunk: Any, where: str) -> NDArray[np.float64]:
    chunk = without_torch(chunk)
    try:
        numbers = _numbers(np.asarray(chunk), where)
    except ValueError as error:  # rows of different lengths
        raise ValueError(f"{where}: expected [steps, dimensions], got {describe(chunk)} ({error})") from None
    if numbers.ndim != 2:
        raise ValueError(f"{where}: expected [steps, dimensions], got {describe(numbers)}")
    return numbers


def _numbers(array: NDArray[Any], where: str) -> NDArray[np.float64]:
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{where}: expected floats or integers, got {describe(array)}")
    if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        raise ValueError(f"{where}: expected every number, got an array with masked ones")
    return np.asarray(array, np.float64)


def without_torch(value: Any) -> Any:
    """The array of a tensor of torch, the arrays of a nested tensor or of a list of tensors.

    Anything else is returned as it is.
    """
    if isinstance(value, (list, tuple)) and any(map(_is_tensor, value)):
        return [without_torch(part) for part in value]
    if not _is_tensor(value):
        return value
    if value.is_nested:
        return [without_torch(part) for part in value.unbind()]
    if value.is_meta:
        raise TypeError("expected numbers, got a tensor of the device meta, which has none")
    plain = value.detach().cpu().resolve_neg()
    return (plain.double() if plain.is_floating_point() else plain).numpy()  # NumPy does not know bfloat16


def _is_tensor(value: Any) -> bool:
    return any(cls.__module__ == "torch" and cls.__name__ == "Tensor" for cls in type(value).__mro__)


def fft() -> Any:
    """The module of scipy's transforms; ImportError that names the extra."""
    return require("scipy.fft", "ActionTokenizer", "actions")


def coefficients_of(blocks: list[NDArray[np.float64]], scale: float) -> list[NDArray[np.float64]]:
    """Rounded coefficients of chunks, [n, frequencies, dimensions] for each block.

    ValueError if floats cannot hold them.
    """
    results, first = [], 0
    for block in blocks:
        with np.errstate(over="ignore", invalid="ignore"):  # infinities are errors below
            part: NDArray[np.float64] = np.rint(fft().dct(block, axis=1, norm="ortho") * scale)
        if not (finite := np.isfinite(part).all(axis=(1, 2))).all():
            raise ValueError(
                f"chunks: chunk {first + int(np.argmin(finite))}: numbers too large for a scale of {scale:g}"
            )
        results.append(part)
        first += len(block)
    return results


def document_lengths(blocks: list[NDArray[np.float64]], row: int | None) -> NDArray[np.int64]:
    """How long the documents of chunks are: a chunk each, or, with the length of a row, a frequency each."""
    if row is not None:
        return np.full(sum(block.size for block in blocks) // row, row, np.int64)
    return np.concatenate(
        [np.full(len(block), block.shape[1] * block.shape[2], np.int64) for block in blocks]
    )


def check_dimensions(blocks: list[NDArray[np.float64]], action_dim: int | None) -> None:
    """ValueError for a chunk whose actions have another number of dimensions."""
    first = 0
    for block in blocks:
        if len(block) and action_dim is not None and block.shape[2] != action_dim:
            raise ValueError(
                f"chunks: chunk {first}: expected {action_dim} dimensions, action_dim, got {block.shape[2]}"
            )
        first += len(block)
