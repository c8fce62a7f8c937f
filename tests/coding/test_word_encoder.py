"""Encoding text word by word: the ids of its segments, from the cache and without it; caches and tables."""

from itertools import pairwise
from random import Random

import byte_vocabularies
import numpy as np
import pytest
from hypothesis import given, strategies as st
from numba import njit
from reference import encode_pairs
from tables import each
from text_samples import text_of

from ubpe_numba import BPE
from ubpe_numba.coding import word_encoder
from ubpe_numba.coding.kernels import merge_words as word_cache
from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.coding.word_encoder import WordEncoder
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.machine.intrinsics import address
from ubpe_numba.text import cut
from ubpe_numba.text.count_words import count_words
from ubpe_numba.text.cut import BLOCK, PATTERNS, scan
from ubpe_numba.vocabulary.vocabulary import Vocabulary


def fitted(documents: list[bytes], n_learned: int) -> BPE:
    """A tokenizer over bytes, learned from the documents cut as GPT-2 does."""
    return BPE(256 + n_learned, alphabet=256).fit(count_words(*text_of(*documents), "gpt2"), progress=False)


def encoder_of(vocabulary: Vocabulary, byte_ids: np.ndarray | None = None) -> WordEncoder:
    return WordEncoder(PairEncoder(vocabulary, batch=False), byte_ids)


@given(st.integers(0, 2**32))
def test_characters_that_tokens_break_up(seed: int) -> None:
    """Tokens of parts of characters, unstable tokens, bytes in any order, ill-formed bytes; words of all sizes."""
    rng = Random(seed)
    byte_ids = list(range(256))
    if seed % 3 == 0:
        rng.shuffle(byte_ids)
    pairs = byte_vocabularies.vocabulary(rng, byte_ids)
    with pytest.MonkeyPatch.context() as patch:  # words must push each other out
        patch.setattr(word_encoder, "_BUCKETS", 64)
        patch.setattr(word_encoder, "_LINES", 16)
        encoder = encoder_of(Vocabulary.from_merges(256, pairs), np.array(byte_ids))
        words = byte_vocabularies.segments(rng)
        cuts = np.cumsum([0, *map(len, words)])
        begins = sorted(
            [0, len(words), *(rng.randrange(len(words) + 1) for _ in range(rng.choice([0, 3, 9])))]
        )
        text = np.frombuffer(b"".join(words), np.uint8)
        ids = [encoder.encode(text, cuts[begins], cuts, 1) for _ in range(2)]
    ranked = {pair: (i, 256 + i) for i, pair in enumerate(pairs)}
    of_words = [encode_pairs.encode_rank([byte_ids[b] for b in word], ranked) for word in words]
    want = [[t for ids in of_words[a:b] for t in ids] for a, b in pairwise(begins)]
    assert ids[0].to_lists() == want == ids[1].to_lists()


@each(
    "pairs, words, want",
    # E0 83 A9 has the code point of é, but is no UTF-8; U+24005 without its second byte is U+0905: they are
    # no other character
    [
        ([(0xE0, 0x83), (256, 0xA9)], [b"\xe0\x83\xa9 ", "é".encode()], [257, 32, 0xC3, 0xA9]),
        ([(0xF0, 0xA4), (0x80, 0x85), (256, 257), (0xE0, 0xA5), (259, 0x85)], ["\U00024005".encode(), "\u0905".encode()],
         [258, 0xE0, 0xA4, 0x85]),
    ],
)  # fmt: skip
def test_bytes_that_are_like_a_character_are_none(
    pairs: list[tuple[int, int]], words: list[bytes], want: list[int]
) -> None:
    cuts = np.cumsum([0, *map(len, words)])
    assert (
        encoder_of(Vocabulary.from_merges(256, pairs)).encode(*text_of(b"".join(words)), cuts).values.tolist()
        == want
    )


@each("n", [BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK])
def test_blocks_that_are_full(n: int) -> None:
    """Every byte is a segment, and the last block is full, or lacks one, or holds one."""
    values, offsets = text_of((b"a," * BLOCK)[:n])
    cuts = np.arange(n + 1)
    assert np.array_equal(scan(values, offsets, "gpt2"), cuts)
    encoder = encoder_of(Vocabulary.from_merges(256, []))
    for segments in ("gpt2", cuts):
        assert count_words(values, offsets, segments).weights.tolist() == [n - n // 2, n // 2]
        assert np.array_equal(encoder.encode(values, offsets, segments).values, values)


def test_long_words() -> None:
    """Megabytes without a boundary take linear time and are encoded as documents are."""
    rng = np.random.default_rng(3)
    documents = [
        b"a" * 3_000_000,
        rng.choice([97, 98], 1_000_000).astype(np.uint8).tobytes(),
        b"ab" * 500_000,
    ]
    tokenizer = fitted([document[:4000] for document in documents], 200)
    ids = encoder_of(tokenizer._model.vocabulary).encode(*text_of(*documents), "gpt2")
    assert ids == tokenizer.encode_batch(documents)


def test_a_long_document_is_shared_by_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cut, "_PART", 1000)
    monkeypatch.setattr(thread_pool, "SERIAL_BELOW", 100)
    encoder = encoder_of(Vocabulary.from_merges(256, [[98, 97], [32, 256], [97, 10], [10, 97]]))
    text = np.frombuffer(b"".join(b"ba baba\nab %d baa\n" % i for i in range(2000)), np.uint8)
    offsets = np.array([0, 0, 9000, 9000, 9000, text.size, text.size])
    for pattern in PATTERNS:
        for way in (pattern, scan(text, offsets, pattern)):
            assert cut.places_between_parts(text, offsets, way).size > 20
            one, three = (encoder.encode(text, offsets, way, n) for n in (1, 3))
            assert (
                one.values.tolist() == three.values.tolist()
                and one.offsets.tolist() == three.offsets.tolist()
            )


@njit
def _is_in_line(line, text, i, n):
    return word_cache.is_in_line(address(line), address(text), i, n)


@each("n", [17, 18, 24, 25, 31, 33, 40, 47, word_cache.LONG])
def test_a_line_holds_its_word_and_no_other(n: int) -> None:
    """Wherever the word lies in the text; one that differs in any byte is another."""
    rng = np.random.default_rng(n)
    text, ids = rng.integers(0, 256, 300).astype(np.uint8), np.arange(16, dtype=np.int32)
    line = np.zeros(16, np.uint64)
    line[0], line[8:] = n | 5 << 32, ids.view(np.uint64)
    line.view(np.uint8)[8 : 8 + n] = text[100 : 100 + n]
    assert (
        _is_in_line(line, text, 100, n)
        and not _is_in_line(line, text, 101, n)
        and not _is_in_line(line, text, 100, n - 1)
    )
    text[200 : 200 + n] = text[100 : 100 + n]
    assert _is_in_line(line, text, 200, n)
    for k in range(n):
        text[200 + k] ^= 1
        assert not _is_in_line(line, text, 200, n)
        text[200 + k] ^= 1
