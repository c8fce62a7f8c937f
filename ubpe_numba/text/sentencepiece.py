"""sentencepiece's changes of a text before encoding, by kernels.

They are its map of characters, white space, and placeholders.

A map is the blob `precompiled_charsmap` of a model. It has the size of a double-array trie in bytes, the trie
(see kernels/sentencepiece.py), and the replacements, each followed by a zero. It is data from elsewhere:
searches are bounded, and a map whose replacements could blow up a text is rejected.

Models of sentencepiece, and those that come from them, encode an unknown character as the bytes of its UTF-8,
or as one unknown token. Some words are one symbol from the start. Characters of private use are placeholders
for these (see kernels/sentencepiece.py). So the text is split, encoded and decoded like any other, and
restored at the end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from ubpe_numba.documents.read import code_points, text_of
from ubpe_numba.runtime.arrays import offsets_of
from ubpe_numba.runtime.tables.trie import EDGE, trie_of
from ubpe_numba.text.kernels import sentencepiece as kernels
from ubpe_numba.text.kernels.sentencepiece import BYTES, MOST_WORDS, UNKNOWN, WORDS

__all__ = [
    "BYTES",
    "BYTE_NAMES",
    "MOST_WORDS",
    "UNKNOWN",
    "WORDS",
    "SentencePieceText",
    "StandIns",
    "byte_name",
    "needed_of",
]

_LONGEST = 64  # characters of a replacement; the longest of Unicode's normal forms has 18
_INSIDE = 0x110000  # beyond all characters: ends a word of a single character


def byte_name(byte: int) -> str:
    """The name of the token that is a byte, in models that have them for characters that they do not know.

    >>> byte_name(10)
    '<0x0A>'
    """
    return f"<0x{byte:02X}>"


#: The names of all 256, ascending, and the bytes.
BYTE_NAMES = {byte_name(byte): byte for byte in range(256)}


class ByKernel:
    """A change of text by a kernel, of documents as arrays or of a single text."""

    _kernel: Callable[..., int]
    _tables: tuple[object, ...]  # arguments of the kernel between the text and the results

    def __call__(self, text: str, trace: bool = True) -> tuple[str, list[int]]:
        """The changed text, and for each of its characters the index of its origin."""
        points = np.frombuffer(bytearray(text.encode("utf-32-le", "surrogatepass")), np.uint32)
        done, _, origins = self.run(points, np.array([0, points.size]))
        return text_of(done), origins.tolist()

    def run(self, points: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Changed documents, uint32 code points and int64[d + 1], and the origin of each point, int64."""
        ends = np.empty(offsets.size, np.int64)
        room = points.size + points.size // 8 + 2 * offsets.size + 16
        while True:
            out, origins = np.empty(room, np.uint32), np.empty(room, np.int64)
            n = int(self._kernel(points, offsets, *self._tables, out, origins, ends))
            if n <= room:
                return out[:n], ends, origins[:n]
            room = n


class SentencePieceText(ByKernel):
    """The text that sentencepiece encodes: mapped by `charsmap`, except for the user's `words`.

    `charsmap` is the blob of a map (empty for none). `add_dummy_prefix` puts a space before the text, with
    `treat_whitespace_as_suffix` after it instead; `remove_extra_whitespaces` removes spaces at the ends and
    all but one of several; `escape_whitespaces` makes them U+2581. ValueError for a map that is not valid.

    >>> step = SentencePieceText(b"", add_dummy_prefix=True, remove_extra_whitespaces=True, escape_whitespaces=True)
    >>> step(" a  b ")
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
        self._prefix, self._remove = add_dummy_prefix, remove_extra_whitespaces
        flags = (
            (kernels.PREFIX if add_dummy_prefix else 0)
            | (kernels.SUFFIX if treat_whitespace_as_suffix else 0)
            | (kernels.REMOVE if remove_extra_whitespaces else 0)
            | (kernels.ESCAPE if escape_whitespaces else 0)
        )
        self._kernel, self._tables = (
            kernels.normalize,
            (*read_charsmap(charsmap), _words_trie(words), _INSIDE, flags),
        )

    def restore(self, text: str, errors: str = "replace") -> str:
        """Text as sentencepiece decodes it: marks are spaces again, without the space before the text.

        `errors` is ignored.

        sentencepiece removes one mark from each piece before the text. Here pieces are unknown, and all marks
        are removed. That differs for pieces that begin with several marks ("▁▁", which it shows as " "), and
        for words of the user, whose mark is kept.
        """
        text = (
            text.lstrip("\u2581") if self._remove else text.removeprefix("\u2581") if self._prefix else text
        )
        return text.replace("\u2581", " ")


class StandIns(ByKernel):
    """Text with placeholders for all that a model has instead of the characters of its `alphabet`.

    `words` are one symbol from the start: the longest at a place, from left to right. A character that is not
    known becomes the bytes of its UTF-8 (`by_bytes`), or one unknown symbol, several in a row one if `fused`;
    `unknown` is its text when restored. ValueError for a character of the alphabet that is needed as a
    placeholder (`needed_of`), or too many words.

    >>> step = StandIns("ax", ["[x]"], by_bytes=True)
    >>> [hex(ord(c)) for c in step("axé[x]")[0]]
    ['0x61', '0x78', '0x10fec3', '0x10fea9', '0x100000']
    >>> step.restore(step("axé[x]")[0])
    'axé[x]'
    """

    def __init__(
        self,
        alphabet: str,
        words: Sequence[str] = (),
        *,
        by_bytes: bool = False,
        fused: bool = False,
        unknown: str = "\ufffd",
    ) -> None:
        if len(words) > MOST_WORDS:
            raise ValueError(f"words: expected at most {MOST_WORDS}, got {len(words)}")
        self._shown, self._unknown = [word.replace("\u2581", " ") for word in words], unknown
        points = code_points(alphabet)
        if (point := needed_of(points, len(words), by_bytes)) >= 0:
            raise ValueError(f"alphabet: U+{point:04X} is reserved for something else")
        known = np.zeros(0x110000, np.uint8)
        known[points] = 1
        flags = kernels.BY_BYTES * by_bytes | kernels.FUSED * fused
        self._kernel, self._tables = kernels.stand_in, (known, _words_trie(words), _INSIDE, flags)
        several = f"[{chr(BYTES)}-{chr(UNKNOWN - 1)}]+|" if by_bytes else ""
        named = f"{chr(WORDS)}-{chr(WORDS + len(words) - 1)}" if words else ""
        self._found = re.compile(f"{several}[{named}{chr(UNKNOWN)}]")

    def restore(self, text: str, errors: str = "replace") -> str:
        """Text as it was before; in words U+2581 is a space again.

        `errors` as for `bytes.decode`, for invalid UTF-8.
        """

        def shown(found: re.Match[str]) -> str:
            first = ord(found[0][0])
            if first == UNKNOWN:
                return self._unknown
            if first - WORDS < len(self._shown):
                return self._shown[first - WORDS]
            return bytes(ord(c) - BYTES for c in found[0]).decode("utf-8", errors)

        return self._found.sub(shown, text)


def needed_of(points: np.ndarray, n_words: int, by_bytes: bool) -> int:
    """The largest code point that a model with so many words needs as a placeholder; -1 for none.

    >>> needed_of(np.array([0x61, 0x100001]), 1, True), hex(needed_of(np.array([0x61, 0x100001]), 2, True))
    (-1, '0x100001')
    """
    number = points.astype(np.int64)
    needed = ((number >= WORDS) & (number < WORDS + n_words)) | (number == UNKNOWN)
    if by_bytes:
        needed |= (number >= BYTES) & (number < UNKNOWN)
    return int(number[needed].max(initial=-1))


def read_charsmap(blob: bytes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A map of characters as the kernels take it; an empty one maps nothing. ValueError if it is not valid.

    Returns the units of the trie, int64. Then, for each byte of the replacements, the character that begins
    there, int32, -1 for none. Last the replacements, uint32 code points, each text followed by a 0.
    """
    if not blob:
        return np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(1, np.uint32)
    size = int.from_bytes(blob[:4], "little")
    if len(blob) < 8 or not 4 <= size <= len(blob) - 4 or size % 4:
        raise ValueError("precompiled_charsmap: not a map: the size of its trie contradicts its own")
    units = np.frombuffer(blob, "<u4", size // 4, 4).astype(np.int64)
    try:
        text = code_points(blob[4 + size :].decode())
    except UnicodeDecodeError as error:
        raise ValueError(f"precompiled_charsmap: replacements: {error}") from error
    replacements = np.append(text, np.uint32(0))
    ends = np.flatnonzero(replacements == 0)
    if np.diff(ends, prepend=-1).max() - 1 > _LONGEST:  # less the zero that ends it
        raise ValueError(f"precompiled_charsmap: a replacement has more than {_LONGEST} characters")
    starts = offsets_of(1 + (text >= 0x80).astype(np.int64) + (text >= 0x800) + (text >= 0x10000))
    begins = np.full(int(starts[-1]) + 1, -1, np.int32)
    begins[starts] = np.arange(starts.size)
    return units, begins, replacements


def _words_trie(words: Sequence[str]) -> np.ndarray:
    """The trie of words as code points; words of a single character are followed by `_INSIDE`."""
    if not words:
        return np.zeros(0, EDGE)
    rows = [code_points(word).astype(np.int32) for word in words]
    rows = [row if row.size > 1 else np.append(row, np.int32(_INSIDE)) for row in rows]
    n = _INSIDE + 1
    lengths = np.concatenate([np.ones(n, np.int64), [row.size for row in rows]])
    trie: np.ndarray = trie_of(n, np.concatenate([np.zeros(n, np.int32), *rows]), lengths)
    return trie
