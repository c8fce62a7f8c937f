"""What is in the caches of words, against the words that were entered; and segments that are too long for the room there is."""

from __future__ import annotations

import numpy as np
from numba import njit
from tables import each

from ubpe_numba.coding.kernels import merge_words as word_cache
from ubpe_numba.coding.kernels.words import encode_words
from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.coding.word_encoder import WordEncoder
from ubpe_numba.runtime.machine.intrinsics import address
from ubpe_numba.vocabulary.vocabulary import Vocabulary


@njit
def _enter_short(bucket, lo, hi, ids, n):
    word_cache.enter_short(address(bucket), lo, hi, address(ids), n)


@njit
def _is_in_line(line, text, i, n):
    return word_cache.is_in_line(address(line), address(text), i, n)


def test_a_bucket_holds_the_last_two_words() -> None:
    bucket, ids = np.zeros(8, np.uint64), np.array([11, 12, 13, 14], np.int32)
    words = [(np.uint64(0x1122334455667788 + k), np.uint64(0x0102030405060708 + k)) for k in range(3)]
    for k, (lo, hi) in enumerate(words):
        for _ in range(2):  # the second time it is there
            _enter_short(bucket, lo, hi, ids + 10 * k, k + 1)
        assert bucket[:2].tolist() == [lo, hi]
        assert bucket[2:4].view(np.int32).tolist() == [11 + 10 * k, 12 + 10 * k, 13 + 10 * k, k + 1]
        if k:
            assert bucket[4:6].tolist() == list(words[k - 1])
            assert bucket[6:].view(np.int32).tolist() == [1 + 10 * k, 2 + 10 * k, 3 + 10 * k, k]


@each("n", [17, 18, 24, 25, 31, 33, 40, 47, word_cache.LONG])
def test_a_line_holds_its_word_and_no_other(n: int) -> None:
    """Wherever the word lies in the text; one that differs in any byte is another."""
    rng = np.random.default_rng(n)
    text, ids = rng.integers(0, 256, 300).astype(np.uint8), np.arange(16, dtype=np.int32)
    line = np.zeros(16, np.uint64)
    line[0], line[8:] = n | 5 << 32, ids.view(np.uint64)
    line.view(np.uint8)[8 : 8 + n] = text[100 : 100 + n]
    assert _is_in_line(line, text, 100, n)
    assert not _is_in_line(line, text, 101, n) and not _is_in_line(line, text, 100, n - 1)
    text[200 : 200 + n] = text[100 : 100 + n]
    assert _is_in_line(line, text, 200, n)
    for k in range(n):
        text[200 + k] ^= 1
        assert not _is_in_line(line, text, 200, n)
        text[200 + k] ^= 1


def test_a_segment_that_is_longer_than_the_room_is_left_to_the_caller() -> None:
    """`dead` has a bit for each of its bytes, and 8 more: nothing is written behind it."""
    encoder = WordEncoder(PairEncoder(Vocabulary.from_merges(256, [(97, 97)]), batch=False))
    caches, scratch, _ = encoder.scratch()
    for room in (1024, 4096):
        for n in (room - 1, room, room + 1, room + 9, room + 16, room + 17):
            dead, state = np.zeros(room // 8 + 1, np.uint8), np.zeros(3, np.int64)
            values, out = np.full(n, 97, np.uint8), np.empty(n + 64, np.int32)
            offsets = segments = np.array([0, n])
            done = encode_words(
                values, offsets, segments, encoder.tables, caches, scratch, dead, state, out, np.zeros(2, np.int64)
            )
            assert done == (n <= room)
