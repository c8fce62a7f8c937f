"""sentencepiece's way to change a text before it is encoded, by a kernel: its map of characters, white space, the mark of spaces.

A map is the blob `precompiled_charsmap` of a model: the size of a double-array trie in bytes, the trie (drawn in
kernels/sentencepiece.py), and the texts that replace what it finds, each with a zero behind it. It is data from elsewhere:
searches are bounded, and a map whose replacements could blow up a text is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ubpe_numba.documents.read import text_of
from ubpe_numba.runtime.arrays import offsets_of
from ubpe_numba.runtime.tables.trie import EDGE, trie_of
from ubpe_numba.text.kernels import sentencepiece as kernels

__all__ = ["INSIDE", "ByKernel", "CharsMap", "SentencePieceText", "words_trie"]

_LONGEST = 64  # characters of a replacement; the longest of Unicode's normal forms has 18
#: The symbol that ends words of one character in `words_trie`.
INSIDE = 0x110000  # beyond all characters: ends a word of one


class CharsMap(NamedTuple):
    """A map of characters, or none: what the kernels look up.

    `units` int64 of the trie, `begins` int32 the character of `replacements` that begins at a byte, -1 where none does,
    `replacements` uint32 code points, each text with a 0 behind it.
    """

    units: np.ndarray
    begins: np.ndarray
    replacements: np.ndarray

    @classmethod
    def of(cls, blob: bytes) -> CharsMap:
        """Read a blob; an empty one maps nothing. ValueError if it is not valid.

        `blob`: as a model holds it.
        """
        if not blob:
            return cls(np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(1, np.uint32))
        size = int.from_bytes(blob[:4], "little")
        if len(blob) < 8 or not 4 <= size <= len(blob) - 4 or size % 4:
            raise ValueError("precompiled_charsmap: not a map: the size of its trie does not go with its own")
        units = np.frombuffer(blob, "<u4", size // 4, 4).astype(np.int64)
        try:
            text = np.frombuffer(blob[4 + size :].decode().encode("utf-32-le"), np.uint32)
        except UnicodeDecodeError as error:
            raise ValueError(f"precompiled_charsmap: replacements: {error}") from error
        replacements = np.append(text, np.uint32(0))
        ends = np.flatnonzero(replacements == 0)
        if np.diff(ends, prepend=-1).max() - 1 > _LONGEST:  # less the zero that ends it
            raise ValueError(f"precompiled_charsmap: a replacement has more than {_LONGEST} characters")
        widths = 1 + (text >= 0x80).astype(np.int64) + (text >= 0x800) + (text >= 0x10000)
        starts = offsets_of(widths)
        begins = np.full(int(starts[-1]) + 1, -1, np.int32)
        begins[starts] = np.arange(starts.size)
        return cls(units, begins, replacements)


class ByKernel:
    """A change of text by a kernel, of documents as arrays or of one text."""

    def apply(self, text: str) -> str:
        """The text changed; surrogates that stand alone are characters that no map or alphabet has."""
        return self.traced(text)[0]

    def traced(self, text: str) -> tuple[str, list[int]]:
        """The text changed, and for each of its characters the index of the one that it comes from."""
        points = np.frombuffer(bytearray(text.encode("utf-32-le", "surrogatepass")), np.uint32)
        done, _, origins = self.run(points, np.array([0, points.size]))
        return text_of(done), origins.tolist()

    def run(self, points: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Documents changed, uint32 code points and int64[d + 1], and for each point where it comes from, int64."""
        ends = np.empty(offsets.size, np.int64)
        room = points.size + points.size // 8 + 2 * offsets.size + 16
        while True:
            out, origins = np.empty(room, np.uint32), np.empty(room, np.int64)
            n = self._call(points, offsets, out, origins, ends)
            if n <= room:
                return out[:n], ends, origins[:n]
            room = n

    def _call(self, *arrays: np.ndarray) -> int:
        """Call the kernel: points, offsets, then out, origins and ends, which it fills; the room that it needs."""
        raise NotImplementedError


class SentencePieceText(ByKernel):
    """What sentencepiece encodes instead of a text.

    `charsmap`: the blob of its map, empty for none; `words`: pieces defined by the user, which the map leaves as they are;
    `add_dummy_prefix`, `treat_whitespace_as_suffix`: a space before the text; with both behind it instead;
    `remove_extra_whitespaces`: spaces at the ends are removed, and all but one of several; `escape_whitespaces`: spaces become
    U+2581. Raises ValueError for a map that is not valid.

    >>> step = SentencePieceText(b"", add_dummy_prefix=True, remove_extra_whitespaces=True, escape_whitespaces=True)
    >>> step.apply(" a  b "), step.traced(" a  b ")[1]
    ('▁a▁b', [1, 1, 2, 4])
    """

    def __init__(
        self,
        charsmap: bytes,
        words: Sequence[str] = (),
        *,
        add_dummy_prefix: bool = False,
        treat_whitespace_as_suffix: bool = False,
        remove_extra_whitespaces: bool = False,
        escape_whitespaces: bool = False,
    ) -> None:
        self._map = CharsMap.of(charsmap)
        self._words = words_trie(words)
        self._prefix, self._remove = add_dummy_prefix, remove_extra_whitespaces
        self._flags = (
            (kernels.PREFIX if add_dummy_prefix else 0)
            | (kernels.SUFFIX if treat_whitespace_as_suffix else 0)
            | (kernels.REMOVE if remove_extra_whitespaces else 0)
            | (kernels.ESCAPE if escape_whitespaces else 0)
        )

    def restore(self, text: str, errors: str = "replace") -> str:
        """Text as sentencepiece decodes it: marks are spaces again, and the one before the text is gone.

        `text`: what pieces stand for; `errors`: ignored.

        sentencepiece takes one mark from each piece before the text; here are no pieces, and all marks are taken. That differs
        for pieces that begin with several marks ("▁▁", which it shows as " "), and for words of the user, whose mark is kept.
        """
        text = text.lstrip("\u2581") if self._remove else text.removeprefix("\u2581") if self._prefix else text
        return text.replace("\u2581", " ")

    def _call(self, points: np.ndarray, offsets: np.ndarray, *results: np.ndarray) -> int:  # type: ignore[override]
        return int(kernels.normalize(points, offsets, *self._map, self._words, INSIDE, self._flags, *results))


def words_trie(words: Sequence[str]) -> np.ndarray:
    """The trie of words as code points; those of one character with `INSIDE` behind it."""
    if not words:
        return np.zeros(0, EDGE)
    rows = [np.frombuffer(word.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.int32) for word in words]
    rows = [row if row.size > 1 else np.append(row, np.int32(INSIDE)) for row in rows]
    n = INSIDE + 1
    lengths = np.concatenate([np.ones(n, np.int64), [row.size for row in rows]])
    made: np.ndarray = trie_of(n, np.concatenate([np.zeros(n, np.int32), *rows]), lengths)
    return made
