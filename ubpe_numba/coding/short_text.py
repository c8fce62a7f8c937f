"""One short document of text that a kernel cuts: see short_document.py."""

from __future__ import annotations

import struct
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from ubpe_numba.coding.kernels.encode_words import SPARE, encode_words
from ubpe_numba.coding.short_document import LONGEST, Desks
from ubpe_numba.coding.word_encoder import WordEncoder
from ubpe_numba.runtime.compiler import direct
from ubpe_numba.text import cut
from ubpe_numba.text.pretokenizer import Pretokenizer
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.segmenter import Segmenter
from ubpe_numba.vocabulary.special_tokens import SpecialTokens

_MOST_WORDS = 16  # special tokens and known words that a short text is searched for, unless all begin alike, as with "<|"
_pack_header = struct.Struct("8q").pack_into


class ShortText(Desks):
    """Encodes `bytes`, and `str` as UTF-8, that a kernel cuts, by merge rank.

    Parameters
    ----------
    words : WordEncoder
        Its tables are shared, and the caches that it keeps for the calling thread.
    segmenter : Segmenter
        With a pretokenizer that has a kernel.
    holds_special : callable or None
        Whether a text holds special tokens or known words; None where there are none.
    """

    def __init__(self, words: WordEncoder, segmenter: Segmenter, holds_special: Callable[[bytes], bool] | None) -> None:
        super().__init__()
        self.tables, self.scratch = words.tables, words.scratch
        self.token_ids, self.encoding = segmenter.token_ids, segmenter.encoding
        assert segmenter.pretokenizer is not None
        assert segmenter.pretokenizer.kernel is not None
        split, self.classes = cut.kernel_of(segmenter.pretokenizer.kernel)
        self.holds_special = holds_special
        self.only_ascii = segmenter.normalizer is not None  # which a normalizer that there may be does not change
        _, _, splitting, text, segments, rest, _ = self._new()
        self.split = direct(split, *splitting)
        self.encode = direct(encode_words, *text, segments, self.tables, *self.scratch(), *rest)

    def _new(self) -> Any:
        """A desk: memory of the text and of the header, arguments of the kernel that cuts, those of the one that encodes, ids.

        The header, int64[8], is what a call sets: the offsets of the document, then the states of cutting and of encoding.
        """
        text, header = np.zeros(LONGEST + 8, np.uint8), np.zeros(8, np.int64)
        offsets, segments = header[:2], np.zeros(LONGEST + 1, np.int64)
        splitting = (text, offsets, self.classes, header[2:4], segments[1:])
        out = np.empty(LONGEST + SPARE, np.int32)
        return text.data, header.data, splitting, (text, offsets), segments, (header[4:7], out, np.empty(2, np.int64)), out

    def __call__(self, doc: Any) -> np.ndarray | None:
        """The ids, int32[n]; None for what is unusual."""
        if type(doc) is bytes:
            data = doc
        elif type(doc) is str and self.encoding is not None and len(doc) <= LONGEST:
            data = doc.encode("utf-8", "surrogatepass")
        else:
            return None
        if (
            (n := len(data)) > LONGEST
            or (self.only_ascii and not data.isascii())
            or (self.holds_special is not None and self.holds_special(data))
        ):
            return None
        desk = self._take()
        memory, header, splitting, text, segments, rest, out = desk
        memory[:n] = data
        _pack_header(header, 0, 0, n, 0, 0, 0, 0, 0, 0)
        n_segments = self.split(*splitting)
        self.encode(*text, segments[: n_segments + 1], self.tables, *self.scratch(), *rest)
        found = out[: header[5]]
        ids: np.ndarray = found.copy() if self.token_ids is None else self.token_ids.take(found)
        self.free.append(desk)
        return ids


def _search(special: SpecialTokens) -> Callable[[bytes], bool] | None:
    """What says whether bytes hold one of the words, allowed or not; None where that would take long."""
    parts = zip(special.found.tolist(), pairwise(special.offsets.tolist()), strict=True)
    words = [special.values[a:b].tobytes() for is_found, (a, b) in parts if is_found]
    least, most = min(words), max(words)  # what these two begin with alike, all do
    prefix = least[: next((i for i, (a, b) in enumerate(zip(least, most, strict=False)) if a != b), len(least))]
    if len(words) > _MOST_WORDS and not prefix:
        return None
    return lambda data: prefix in data and any(word in data for word in words)


def _is_short(segmenter: Segmenter) -> bool:
    """Whether a text of ASCII characters is cut by a kernel as it is, with nothing found in normalised text, and ids for all."""
    cutter, normalizer, special = segmenter.pretokenizer, segmenter.normalizer, segmenter.special
    late = special is not None and bool((special.is_normalized() & special.found).any())
    is_kept = normalizer is None or normalizer.keeps_ascii
    return isinstance(cutter, Pretokenizer) and cutter.kernel is not None and is_kept and segmenter.unknown is None and not late


def short_text(model: Model, words: WordEncoder) -> ShortText | None:
    """What encodes short documents of a model that cuts text; None if there is no such way."""
    special = model.segmenter.special
    if not _is_short(model.segmenter):
        return None
    if special is None or not special.found.any():
        return ShortText(words, model.segmenter, None)
    holds_special = _search(special)
    return None if holds_special is None else ShortText(words, model.segmenter, holds_special)
