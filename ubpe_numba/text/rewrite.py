"""Text in flat arrays, changed and cut by what works on one `str` at a time: normalizers, and splitters that do more than cut.

Stretches of text are `values`, uint8[n] (UTF-8) or uint32[n] (code points), and `cuts` int64[s + 1]. What comes out are arrays of
the same kind, and, where they are asked for, `origins` int64: for each new symbol the place in `values` of the one that it comes
from. Bytes that are no UTF-8 stay what they are.
"""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np

from ubpe_numba.documents.read import code_points, text_of
from ubpe_numba.runtime.arrays import offsets_of, writable
from ubpe_numba.text.normalizer import Normalizer, Step, apply_steps, traced_steps
from ubpe_numba.text.pretokenizer import positions
from ubpe_numba.text.splitter import Splitter


class Rewritten(NamedTuple):
    """Text that was changed: the symbols, where each stretch begins and ends, likewise each segment, and origins or None."""

    values: np.ndarray
    cuts: np.ndarray
    segments: np.ndarray
    origins: np.ndarray | None


def normalized(normalizer: Normalizer, values: np.ndarray, cuts: np.ndarray, trace: bool) -> Rewritten:
    """Every stretch changed by itself; segments are the stretches. O(symbols).

    >>> text = np.frombuffer("½ a".encode(), np.uint8)
    >>> found = normalized(Normalizer("NFKC"), text, np.array([0, 4]), True)
    >>> found.values.tobytes().decode("utf-8"), found.cuts.tolist(), found.origins.tolist()
    ('1⁄2 a', [0, 7], [0, 0, 0, 0, 0, 2, 3])
    """
    if normalizer.keeps_ascii and values.size and int(values.max()) < 0x80:
        return Rewritten(values, cuts, cuts, np.arange(values.size) if trace else None)
    if not trace and (pair := normalizer.one_replaced) is not None and (ord(pair[0]) < 0x80 or values.dtype != np.uint8):
        return _replaced(*pair, values, cuts)
    origins = np.arange(values.size) if trace else None
    is_points = values.dtype == np.uint32
    for by_arrays, group in groupby(normalizer.runs, lambda step: is_points and hasattr(step, "run")):
        if by_arrays:
            for step in group:
                values, cuts, came = step.run(writable(values), cuts)  # type: ignore[attr-defined]
                origins = None if origins is None else origins[came]
        else:
            values, cuts, came = _by_text(tuple(group), values, cuts, trace)
            origins = None if origins is None else origins[came]
    return Rewritten(values, cuts, cuts, origins)


def _by_text(steps: tuple[Step, ...], values: np.ndarray, cuts: np.ndarray, trace: bool) -> tuple[np.ndarray, ...]:
    """Every stretch changed as a `str`: symbols, cuts, and origins where they are traced."""
    parts: list[str] = []
    origins: list[np.ndarray] = [np.zeros(0, np.int64)]
    for begin, end in pairwise(cuts.tolist()):
        text = _text(values[begin:end])
        if trace:
            part, came = traced_steps(steps, text)
            origins.append(begin + _places(text, values)[came].repeat(_sizes(part, values)))
        else:
            part = apply_steps(steps, text)
        parts.append(part)
    new, lengths = _joined(parts, values)
    return new, offsets_of(lengths), np.concatenate(origins)


def _replaced(found: str, content: str, values: np.ndarray, cuts: np.ndarray) -> Rewritten:
    """Every stretch with another text for one character, which is one symbol. O(symbols).

    >>> _replaced(" ", "__", np.frombuffer(b"a b ", np.uint8), np.array([0, 2, 4])).values.tobytes()
    b'a__b__'
    """
    is_found = values == ord(found)
    at = np.flatnonzero(is_found)
    symbols, _ = _joined([content], values)
    more = symbols.size - 1
    new = np.repeat(values, np.where(is_found, symbols.size, 1)) if more else values.copy()
    starts = at + more * np.arange(at.size)
    for i, symbol in enumerate(symbols.tolist()):
        new[starts + i] = symbol
    new_cuts = cuts + more * np.searchsorted(at, cuts)
    return Rewritten(new, new_cuts, new_cuts, None)


def split(splitter: Splitter, values: np.ndarray, cuts: np.ndarray, at_start: np.ndarray, trace: bool) -> Rewritten:
    r"""Every stretch cut by itself; `at_start` bool[s] says which of them begin a document. O(symbols).

    >>> text = np.frombuffer(b"I am 27", np.uint8)
    >>> found = split(Splitter("WhitespaceSplit"), text, np.array([0, 7]), np.array([True]), True)
    >>> found.values.tobytes(), found.segments.tolist(), found.origins.tolist()
    (b'Iam27', [0, 1, 3, 5], [0, 2, 3, 5, 6])
    """
    parts: list[str] = []
    numbers = [0]  # of pieces, up to each stretch
    origins: list[np.ndarray] = []
    for (begin, end), first in zip(pairwise(cuts.tolist()), at_start.tolist(), strict=True):
        text = _text(values[begin:end])
        if trace:
            pieces = splitter.traced(text, first)
            parts += [piece for piece, _ in pieces]
            came = np.array([i for _, origin in pieces for i in origin], np.int64)
            origins.append(begin + _places(text, values)[came])
        else:
            parts += splitter.pieces(text, first)
        numbers.append(len(parts))
    if splitter.bytewise and values.dtype == np.uint8:
        lengths = np.fromiter(map(len, parts), np.int64, len(parts))
        new = np.frombuffer(splitter.data_of("".join(parts)), np.uint8)
    else:
        new, lengths = _joined(parts, values)
    segments = offsets_of(lengths)
    if not trace:
        return Rewritten(new, segments[numbers], segments, None)
    places = np.concatenate([np.zeros(0, np.int64), *origins])  # of characters
    if values.dtype == np.uint8 and not splitter.bytewise:
        places = places.repeat(_sizes("".join(parts), values))
    return Rewritten(new, segments[numbers], segments, places)


def _text(values: np.ndarray) -> str:
    return values.tobytes().decode("utf-8", "surrogateescape") if values.dtype == np.uint8 else text_of(values)


def _joined(parts: list[str], like: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The symbols of all parts, in the form of `like`, and how many each has."""
    text = "".join(parts)
    if like.dtype != np.uint8:
        return code_points(text), np.fromiter(map(len, parts), np.int64, len(parts))
    if text.isascii():
        return np.frombuffer(text.encode(), np.uint8), np.fromiter(map(len, parts), np.int64, len(parts))
    data = [part.encode("utf-8", "surrogateescape") for part in parts]
    return np.frombuffer(b"".join(data), np.uint8), np.fromiter(map(len, data), np.int64, len(data))


def _places(text: str, like: np.ndarray) -> np.ndarray:
    """Where each character stands in the array that a text was read from."""
    return positions(text) if like.dtype == np.uint8 else np.arange(len(text) + 1)


def _sizes(text: str, like: np.ndarray) -> np.ndarray:
    """How many symbols each character becomes."""
    return np.diff(_places(text, like))
