"""Alphabet ids of one text that come in chunks become ids of tokens: as soon as these are final, or frame by frame."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.coding.kernels import final_prefix
from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.documents.ragged import Ragged

Encode = Callable[[Ragged], Ragged]
_NONE = np.zeros(0, np.int32)


class FramedIds:
    """A text is cut after every `frame` symbols, and each frame is encoded as a document."""

    def __init__(self, frame: int, encode: Encode) -> None:
        self.frame, self.encode = frame, encode
        self.rest = _NONE

    def push(self, text: NDArray[np.int32]) -> NDArray[np.int32]:
        """The ids of the frames that are whole with these symbols."""
        rest = np.concatenate([self.rest, text])
        n = rest.size // self.frame
        found = self.encode(Ragged._trusted(rest, np.arange(n + 1, dtype=np.int64) * self.frame)).values if n else _NONE
        self.rest = rest[n * self.frame :]  # at the end: after an error the text is as it was before
        return found

    def finish(self) -> NDArray[np.int32]:
        """The ids of the last frame."""
        return self.encode(one(self.rest.copy())).values if self.rest.size else _NONE


class CertainIds:
    """What comes out is, put together, the encoding of the whole text; ids come out when no later symbol can change them."""

    def __init__(self, encoder: PairEncoder, encode: Encode) -> None:
        self.encoder, self.encode = encoder, encode
        self.rest, self.before, self.wanted = _NONE, -1, 0
        self.waiting: list[NDArray[np.int32]] = []
        self.n_waiting = 0

    def push(self, text: NDArray[np.int32]) -> NDArray[np.int32]:
        """The ids that are final with these symbols."""
        if self.rest.size + self.n_waiting + text.size < self.wanted:
            self.waiting.append(text.copy())  # the memory of the caller, who may use it again
            self.n_waiting += text.size
            return _NONE
        rest, before = np.concatenate([self.rest, *self.waiting, text]), self.before
        ids = self.encode(one(rest)).values
        n = final_ids(self.encoder, rest, ids, before)
        if n:
            rest, before = rest[int(self.encoder.lengths[ids[:n]].sum()) :], int(ids[n - 1])
        found, wanted = ids[:n].copy(), 2 * rest.size  # so that what is encoded again and again adds up to a constant factor
        # at the end: after an error the text is as it was before
        self.rest, self.before, self.wanted, self.waiting, self.n_waiting = rest, before, wanted, [], 0
        return found

    def finish(self) -> NDArray[np.int32]:
        """The ids that were kept back."""
        rest = np.concatenate([self.rest, *self.waiting])
        return self.encode(one(rest)).values if rest.size else _NONE


def final_ids(encoder: PairEncoder, text: np.ndarray, ids: np.ndarray, before: int) -> int:
    """How many of the `ids` of `text` are final; `before` is the final token that ends where it starts, -1 for none."""
    n, longest = text.size, int(encoder.lengths.max())
    if n <= longest:
        return 0
    starts = np.cumsum(encoder.lengths[ids]) - encoder.lengths[ids]
    reach = 4 * longest
    while True:
        # if the encodings of all these prefixes go through the start of this token, none of the text before it matters
        i = max(0, int(np.searchsorted(starts, n - reach, side="right")) - 1)
        start = int(starts[i])
        last = encoder.last_tokens(text[start:], int(ids[i - 1]) if i else before)
        first = n - longest + 1 - start
        end = int(final_prefix.common_ancestor(last, encoder.lengths, first, np.zeros(last.size, np.uint8)))
        if end >= 0:
            return int(np.searchsorted(starts, start + end))
        assert i, "where the text before is final, every prefix goes through it"
        reach *= 4


def one(text: np.ndarray) -> Ragged:
    """A text as the only document."""
    return Ragged._trusted(text, np.array([0, text.size]))
