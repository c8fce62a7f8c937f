"""Text as the symbols of a model: words of its own, and what it has for characters that it does not know, as characters.

Models of sentencepiece, and those that come from them, encode a character that they do not know as the bytes of its UTF-8, or as
one unknown token; and there are words that are one symbol from the start. Characters of private use stand for these (drawn in
kernels/sentencepiece.py), so that such a text is cut, encoded and decoded like any other, and is made text again at the end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ubpe_numba.text.kernels import sentencepiece as kernels
from ubpe_numba.text.kernels.sentencepiece import BYTES, MOST_WORDS, UNKNOWN, WORDS
from ubpe_numba.text.sentencepiece import INSIDE, ByKernel, words_trie

__all__ = ["BYTES", "BYTE_NAMES", "MOST_WORDS", "UNKNOWN", "WORDS", "StandIns", "byte_name", "needed_of"]


def byte_name(byte: int) -> str:
    """The name of the token that is a byte, in models that have them for characters that they do not know.

    >>> byte_name(10)
    '<0x0A>'
    """
    return f"<0x{byte:02X}>"


#: The names of all 256, ascending, and the bytes.
BYTE_NAMES = {byte_name(byte): byte for byte in range(256)}


def needed_of(points: np.ndarray, n_words: int, by_bytes: bool) -> int:
    """The largest of the code points that a model with so many words needs to stand for something else; -1 if it needs none.

    >>> needed_of(np.array([0x61, 0x100001]), 1, True), hex(needed_of(np.array([0x61, 0x100001]), 2, True))
    (-1, '0x100001')
    """
    number = points.astype(np.int64)
    needed = ((number >= WORDS) & (number < WORDS + n_words)) | (number == UNKNOWN)
    if by_bytes:
        needed |= (number >= BYTES) & (number < UNKNOWN)
    return int(number[needed].max(initial=-1))


class StandIns(ByKernel):
    """The characters that stand for what a model has instead of characters.

    `alphabet`: the characters that the model knows; none of those that it needs to stand for something else (`needed_of`);
    `words`: what is one symbol from the start, wherever it stands; the longest at a place, from left to right; `by_bytes`:
    whether a character that is not known becomes the bytes of its UTF-8, or one unknown symbol; `fused`: whether several unknown
    symbols in a row become one; `unknown`: what the unknown is when a text is restored. Raises ValueError for a character of the
    alphabet that stands for something else, or too many words.

    >>> step = StandIns("ax", ["[x]"], by_bytes=True)
    >>> [hex(ord(c)) for c in step.apply("axé[x]")]
    ['0x61', '0x78', '0x10fec3', '0x10fea9', '0x100000']
    >>> step.restore(step.apply("axé[x]"))
    'axé[x]'
    """

    def __init__(
        self, alphabet: str, words: Sequence[str] = (), *, by_bytes: bool = False, fused: bool = False, unknown: str = "\ufffd"
    ) -> None:
        if len(words) > MOST_WORDS:
            raise ValueError(f"words: expected at most {MOST_WORDS}, got {len(words)}")
        self._shown, self._unknown = [word.replace("\u2581", " ") for word in words], unknown
        points = np.frombuffer(alphabet.encode("utf-32-le", "surrogatepass"), np.uint32)
        if (point := needed_of(points, len(words), by_bytes)) >= 0:
            raise ValueError(f"alphabet: U+{point:04X} is needed to stand for something else")
        self._known = np.zeros(0x110000, np.uint8)
        self._known[points] = 1
        self._trie = words_trie(words)
        self._flags = kernels.BY_BYTES * by_bytes | kernels.FUSED * fused
        several = f"[{chr(BYTES)}-{chr(UNKNOWN - 1)}]+|" if by_bytes else ""
        named = f"{chr(WORDS)}-{chr(WORDS + len(words) - 1)}" if words else ""
        self._found = re.compile(f"{several}[{named}{chr(UNKNOWN)}]")

    def restore(self, text: str, errors: str = "replace") -> str:
        """Text as it was before `apply`; in words U+2581 is a space again.

        `text`: with characters that stand for others; `errors`: what becomes of bytes that are no UTF-8, as for `bytes.decode`.
        """

        def shown(found: re.Match[str]) -> str:
            first = ord(found[0][0])
            if first == UNKNOWN:
                return self._unknown
            if first - WORDS < len(self._shown):
                return self._shown[first - WORDS]
            return bytes(ord(c) - BYTES for c in found[0]).decode("utf-8", errors)

        return self._found.sub(shown, text)

    def _call(self, points: np.ndarray, offsets: np.ndarray, *results: np.ndarray) -> int:  # type: ignore[override]
        return int(kernels.stand_in(points, offsets, self._known, self._trie, INSIDE, self._flags, *results))
