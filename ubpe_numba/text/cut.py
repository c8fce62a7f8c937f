"""Splitting text, UTF-8 bytes, into segments by a named pattern.

A text is `values`, uint8[n], and `offsets`, int64[d + 1], of consecutive documents: document i is
`values[offsets[i]:offsets[i + 1]]`. Segments are int64[s + 1], the places at which one segment ends and the
next begins, those of all documents in a row. Every document is split by itself, so the beginning of each
document is among them; an empty document gives no segment::

    values     i t ' s   o k a y          two documents: "it's ok", "ay"
    offsets    0             7   9
    segments   0   2   4     7   9        gpt2: it, 's, " ok" | ay

Bytes that are not UTF-8 are split as the pattern splits the text decoded with `surrogatepass`, and with
`surrogateescape` if that fails. So the three bytes of a surrogate are one code point, and any other stray
byte is one too; neither belongs to a class.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np

from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.arrays import check_offsets, describe, frozen, plain, writable

#: The patterns that have a kernel; each is compiled when it is first used.
PATTERNS = ("gpt2", "cl100k", "o200k", "llama3", "qwen2", "qwen35", "tekken", "deepseek", "starcoder")
# the tables of classes that they read, where not the plain one
_CLASSES = {"qwen35": "marks", "deepseek": "deepseek"}

BLOCK = 1 << 14  # segments at a time: they stay in the cache of the processor between cutting and use
_PART = 1 << 19  # bytes of a part of a long document
_REACH = 1 << 16  # bytes that are searched for a place at which a part may begin
#: A safe place to divide a document. Every pattern has a boundary after the newline, since no segment holds a
#: newline and a letter after it. Without white space before the newline it does not matter that a document
#: ends there.
_END_OF_LINE = re.compile(rb"[!-~]\n(?=[A-Za-z])")
_COPIED = 1 << 12  # bytes: to copy a shorter text takes less time than `writable` does
_PADDING = np.zeros(64, np.uint8)


def scan(values: np.ndarray, offsets: np.ndarray, pattern: str, n_threads: int | None = None) -> np.ndarray:
    """Cut every document into segments, as the pattern does. O(bytes).

    `pattern` is one of `PATTERNS`, ``gpt2@16.0.0`` one by the classes of that version of Unicode. Returns
    int64[s + 1], the places from `offsets[0]` to `offsets[-1]`, the same for any number of threads. TypeError
    or ValueError for other arrays.

    >>> text = np.frombuffer(b"I'm 12345 dogs", np.uint8)
    >>> scan(text, np.array([0, len(text)]), "cl100k").tolist()
    [0, 1, 3, 4, 7, 9, 14]
    """
    values, offsets = checked_text(values, offsets)

    def one(begin: int, end: int) -> list[np.ndarray]:
        return [block[1:].copy() for block in in_blocks(values, offsets[begin : end + 1], pattern)]

    parts = thread_pool.run(one, thread_pool.chunks_of(offsets, n_threads), n_threads)
    return np.concatenate([offsets[:1], *(block for part in parts for block in part)])


def places_between_parts(values: np.ndarray, offsets: np.ndarray, cut: str | np.ndarray) -> np.ndarray:
    r"""Places within long documents, int64[p], at which they may be divided.

    The parts are split as the whole is.

    Arguments as for `in_blocks`. Parts have half a megabyte and more; a document without safe places stays
    whole. O(documents), and the search around each place.

    >>> text = np.frombuffer(b"one line\n" * 200_000, np.uint8)
    >>> places_between_parts(text, np.array([0, 1_800_000]), "gpt2").tolist()
    [524295, 1048590]
    """
    places = []
    for document in np.flatnonzero(offsets[1:] - offsets[:-1] >= 2 * _PART).tolist():
        at, end = int(offsets[document]) + _PART, int(offsets[document + 1]) - _PART
        while at <= end:
            if isinstance(cut, str):
                match = _END_OF_LINE.search(values.data, at, min(at + _REACH, end))
                place = None if match is None else match.end()
            else:
                place = int(cut[np.searchsorted(cut, at)])
            if place is not None and place <= end:
                places.append(place)
                at = place + _PART
            else:
                at += _REACH
    return np.array(places, np.int64)


def as_text(values: np.ndarray) -> np.ndarray:
    """Bytes for kernels, which read 64 at a time: at least 64, in a writable array.

    `values` uint8[n], contiguous; a short text is copied and padded, a long one that is read-only is not
    copied.

    >>> as_text(np.frombuffer(b"abc", np.uint8)).size
    67
    """
    return np.concatenate([values, _PADDING]) if values.size < _COPIED else writable(frozen(values))


def checked_text(values: Any, offsets: Any) -> tuple[np.ndarray, np.ndarray]:
    """The arrays as kernels take them; TypeError or ValueError for others."""
    if not isinstance(values, np.ndarray) or values.dtype != np.uint8 or values.ndim != 1:
        raise TypeError(f"values: expected a 1-D array of uint8, got {describe(values)}")
    if not isinstance(offsets, np.ndarray) or offsets.dtype != np.int64 or offsets.ndim != 1:
        raise TypeError(f"offsets: expected a 1-D array of int64, got {describe(offsets)}")
    check_offsets(offsets, values.size)
    return as_text(plain(values)), writable(plain(offsets))


def in_blocks(values: np.ndarray, offsets: np.ndarray, cut: str | np.ndarray) -> Iterator[np.ndarray]:
    """The segments of some documents, up to BLOCK at a time.

    The last place of a block is the first of the next.

    `values` as `as_text` returns them, `offsets` int64[d + 1], `cut` a pattern or the segments of a longer
    text. Each block is a view that lasts until the next. A text of fewer than BLOCK segments takes one call
    of the kernel.
    """
    if not isinstance(cut, str):
        first, last = np.searchsorted(cut, offsets[[0, -1]]).tolist()
        yield from (cut[i : min(i + BLOCK, last) + 1] for i in range(first, last, BLOCK))
        return
    kernel, classes = kernel_of(cut)
    state = np.array([0, offsets[0]])
    block = np.empty(min(BLOCK, int(offsets[-1] - offsets[0]) + 1) + 1, np.int64)
    block[0] = offsets[0]
    room = n = block.size - 1
    while n == room:
        n = kernel(values, offsets, classes, state, block[1:])
        yield block[: n + 1]
        block[0] = block[n]


@functools.cache
def kernel_of(pattern: str) -> tuple[Callable[..., int], np.ndarray]:
    """The kernel of a pattern and its table of classes, imported when first used."""
    name, _, version = pattern.partition("@")
    kernels = import_module(f"ubpe_numba.text.kernels.split_{'deepseek' if name == 'deepseek' else 'gpt'}")
    classes = import_module("ubpe_numba.text.unicode_classes")
    table = classes.class_table(version or classes.UNICODE_VERSION, _CLASSES.get(name, ""))
    return getattr(kernels, "split_qwen2" if name == "qwen35" else f"split_{name}"), table
