"""Pairs of names as flat text, for tables of half a million, and the look-up of names in a vocabulary.

Names stand one behind the other, the left and the right part of each pair side by side::

    pairs     ("a", "b"), ("ab", "é")
    text      a b ab é, in UTF-8: 6 bytes
    starts    0 1 2  4 6
"""

from __future__ import annotations

import itertools
import json
from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.errors import ModelFormatError
from ubpe_numba.formats import model_file
from ubpe_numba.formats.kernels.json_pairs import read_json_pairs
from ubpe_numba.formats.kernels.numbers_of_pairs import numbers_of_pairs
from ubpe_numba.runtime.arrays import offsets_of, writable

#: Pairs of names by rank: all left parts, and all right parts.
Pairs = tuple[list[str], list[str]]
_KEY = b'"merges"'
_HERE = "-Infinity"  # what stands for the pairs while the rest is parsed; no valid file has it


class FlatNames(NamedTuple):
    """Names one behind the other: their bytes in UTF-8, uint8, and where each begins, int64[n + 1]."""

    text: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, names: list[str]) -> FlatNames:
        """The names of a list.

        >>> FlatNames.of(["a", "é"]).starts.tolist()
        [0, 1, 3]
        """
        text = "".join(names)
        data = writable(np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8))
        starts = offsets_of(np.fromiter(map(len, names), np.int64, len(names)))
        if data.size > starts[-1]:
            starts = np.append(np.flatnonzero(data & 0xC0 != 0x80), data.size)[starts]
        return cls(data, starts)

    def name(self, i: int) -> str:
        """One of the names."""
        return self.text[self.starts[i] : self.starts[i + 1]].tobytes().decode("utf-8", "surrogatepass")


class NamePairs:
    """Pairs of names by rank, the parts of each side by side: pair i is of the names 2 i and 2 i + 1 of `flat`."""

    def __init__(self, flat: FlatNames) -> None:
        self.flat = flat

    @classmethod
    def of(cls, pairs: Pairs | NamePairs) -> NamePairs:
        """Those of two lists, or pairs themselves."""
        if isinstance(pairs, NamePairs):
            return pairs
        return cls(FlatNames.of(list(itertools.chain.from_iterable(zip(*pairs, strict=True)))))

    def __len__(self) -> int:
        return self.flat.starts.size // 2

    def __getitem__(self, i: int) -> tuple[str, str]:
        return self.flat.name(2 * i), self.flat.name(2 * i + 1)

    def lists(self) -> Pairs:
        """All left parts, and all right parts."""
        found = [self[i] for i in range(len(self))]
        return [left for left, _ in found], [right for _, right in found]

    def of_those(self, which: np.ndarray) -> NamePairs:
        """Some of the pairs, bool[m]. O(bytes).

        >>> NamePairs.of((["a", "b"], ["é", "c"])).of_those(np.array([False, True])).lists()
        (['b'], ['c'])
        """
        sizes, chosen = np.diff(self.flat.starts), np.repeat(which, 2)
        return NamePairs(FlatNames(self.flat.text[np.repeat(chosen, sizes)], offsets_of(sizes[chosen])))

    def wholes(self) -> FlatNames:
        """What the parts of every pair join to."""
        return FlatNames(self.flat.text, self.flat.starts[::2].copy())

    def ids(self, vocab: dict[str, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The ids of left parts, right parts, and of what both join to, int64[m] each; -1 for what is not in the vocabulary.

        No name of the vocabulary is empty. ModelFormatError for names that are chosen to collide in a hash table. O(bytes).

        >>> NamePairs.of((["a"], ["b"])).ids({"a": 5, "ab": 6})
        (array([5]), array([-1]), array([6]))
        """
        names = FlatNames.of(list(vocab))
        values = np.concatenate([names.text, self.flat.text, np.zeros(8, np.uint8)])
        table = np.full(2 << len(vocab).bit_length(), -1, np.int64)
        found = np.empty((3, len(self)), np.int32)
        if not numbers_of_pairs(values, names.starts, self.flat.starts + names.text.size, table, found):
            raise ModelFormatError("vocab: the tokens collide in a hash table, as only tokens do that are chosen for that")
        ids = np.fromiter(itertools.chain(vocab.values(), [-1]), np.int64, len(vocab) + 1)
        left, right, made = ids[found]
        return left, right, made


def _is_text(data: bytes, begin: int, end: int) -> bool:
    """Whether bytes are UTF-8 as `json` reads it, which takes surrogates for characters."""
    try:
        str(memoryview(data)[begin:end], "utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def parse(data: str | bytes) -> Any:
    """Parse JSON as `model_file.parse_json`, but for an array of pairs of names with the key "merges", which becomes `NamePairs`.

    It is read by a kernel where it is written as usual, in a text of UTF-8. An empty array stays one: it may be of pairs of ids.
    """
    try:
        raw = data.encode() if isinstance(data, str) else data
    except UnicodeEncodeError:
        return model_file.parse_json(data)
    at = raw.rfind(_KEY) + len(_KEY)
    colon = raw[at : at + 64].lstrip(b" \t\r\n")[:1] == b":"
    if at < len(_KEY) or not colon:
        return model_file.parse_json(data)
    begin = raw.index(b":", at) + 1
    text = writable(np.frombuffer(raw, np.uint8))
    names, starts = np.empty(text.size - begin, np.uint8), np.empty((text.size - begin) // 5 * 2 + 3, np.int64)
    end, m = read_json_pairs(text, begin, names, starts)
    if end < 0 or m == 0 or not _is_text(raw, begin, end):
        return model_file.parse_json(data)
    starts = starts[: 2 * m + 1].copy()
    pairs = NamePairs(FlatNames(names[: starts[-1]].copy(), starts))

    found = iter([pairs])

    def put(name: str) -> NamePairs:
        here = next(found, None)
        if name != _HERE or here is None:
            raise ValueError(f"{name} is no number")
        return here

    try:
        return json.loads(raw[:begin] + _HERE.encode() + raw[end:], parse_constant=put, object_pairs_hook=model_file.unique)
    except (ValueError, RecursionError):
        return model_file.parse_json(data)  # which says what is not valid
