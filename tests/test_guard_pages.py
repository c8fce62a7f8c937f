"""Kernels that load and store at addresses, which bounds checks do not see: every array stands at the edge of its memory."""

from itertools import pairwise
from random import Random
from typing import Any

import byte_vocabularies
import numpy as np
import pytest
from guard_pages import Guarded
from reference import encode_pairs, words as reference
from text_samples import SAMPLES

from ubpe_numba.coding.decode import SPARE as DECODE_SPARE, Decoder
from ubpe_numba.coding.kernels import decode as decode_kernels, merge_words as word_cache
from ubpe_numba.coding.kernels.words import SCRATCH, SPARE, encode_words
from ubpe_numba.coding.word_encoder import tables_of
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.text.cut import BLOCK, PATTERNS, kernel_of
from ubpe_numba.text.kernels import count_words as counting
from ubpe_numba.tokenizers.bpe import BPE
from ubpe_numba.vocabulary.vocabulary import Vocabulary

SIZES = [*range(301), 4095, 4096, 4097, 4159, 4160, 4161]


def text_of(rng: Random, n: int) -> bytes:
    """Text of n bytes, of many scripts, cut anywhere, some of them stray."""
    data = SAMPLES.encode("utf-8", "surrogatepass") * (1 + n // 1000)
    at = rng.randrange(len(data) - n)
    found = bytearray(data[at : at + n])
    for _ in range(n // 50):
        found[rng.randrange(n)] = rng.randrange(256)
    return bytes(found)


def array(data: bytes) -> np.ndarray:
    """At least 8 bytes, which kernels rely on."""
    return np.frombuffer(data.ljust(8, b"x"), np.uint8)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_cutting_stays_within_its_arrays(pattern: str) -> None:
    rng = Random(1)
    kernel, classes = kernel_of(pattern)
    for n in SIZES:
        data = text_of(rng, n)
        # documents in the middle of an array, at odd places
        begin = rng.choice([0, 0, 1, 3, 7]) if n > 7 else 0
        stop = n - rng.choice([0, 0, 1, 63]) if n > 70 else n
        want = begin + np.cumsum([len(s) for s in reference.split(data[begin:stop], pattern)], dtype=np.int64)
        for end in (True, False):
            guard = Guarded()
            values, offsets = guard(array(data), end), guard(np.array([begin, stop]), end)
            room = max(1, rng.choice([1, 3, want.size, want.size + 1, stop - begin + 1]))
            state, ends, table = (
                guard(np.array([0, begin]), end),
                guard(np.zeros(room, np.int64), end),
                guard(classes, end),
            )
            found: list[int] = []
            while (got := kernel(values, offsets, table, state, ends)) == room:
                found += ends.tolist()
            assert [*found, *ends[:got].tolist()] == want.tolist() and guard.intact()


#: Bytes of words that encoding treats apart.
LENGTHS = [
    1,
    2,
    7,
    8,
    9,
    14,
    15,
    16,
    17,
    24,
    31,
    32,
    47,
    48,
    49,
    62,
    63,
    64,
    65,
    95,
    96,
    97,
    125,
    126,
    127,
    128,
    129,
    4000,
]


def words_of(rng: Random, n: int) -> list[bytes]:
    """About n words: of letters, of characters and parts of them, of all lengths above."""
    words = [
        rng.choice(
            [
                lambda k: b"ab" * k,
                lambda k: "中é".encode() * k,
                lambda k: text_of(rng, k),
                lambda k: b"\x80" * k,
            ]
        )(k)[:k]
        for k in [*rng.choices(LENGTHS[:-1], k=n), rng.choice(LENGTHS)]
    ]
    return words + rng.choices(words, k=n)


def encoded_between_guards(
    tables: Any,
    stable: np.ndarray,
    arena: np.ndarray,
    words: list[bytes],
    end: bool,
    buckets: int,
    lines: int,
) -> list[int]:
    """The ids of words, by kernels whose arrays are exactly as large as they promise to need."""
    guard = Guarded()
    segments = np.cumsum([0, *map(len, words)])
    n = int(segments[-1])
    values = guard(array(b"".join(words)), end)
    caches = guard(np.zeros(8 * buckets, np.uint64), end), guard(np.zeros(16 * lines, np.uint64), end)
    word_cache.enter_tokens(
        guard(arena, end),
        guard(tables.lengths, end),
        guard(stable, end),
        caches[0],
        guard(np.zeros(4, np.int32)),
    )
    dead = guard(np.zeros((max(map(len, words)) + 7) // 8 + 1, np.uint8), end)
    out, out_offsets = guard(np.zeros(n + SPARE, np.int32), end), guard(np.zeros(2, np.int64), end)
    state, scratch = guard(np.zeros(3, np.int64), end), guard(np.full(SCRATCH, 2**64 - 1, np.uint64), end)
    rest = (tuple(guard(table, end) for table in tables), caches, scratch, dead, state, out, out_offsets)
    offsets = guard(np.array([0, n]), end)
    assert (
        encode_words(values, offsets, guard(segments, end), *rest) == len(words)
        and guard.intact()
        and not dead.any()
    )
    return out[: state[1]].tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("seed", range(12))
def test_encoding_words(seed: int) -> None:
    rng = Random(seed)
    byte_ids = rng.sample(range(256), 256)
    pairs = byte_vocabularies.vocabulary(rng, byte_ids)
    merges = {pair: (i, 256 + i) for i, pair in enumerate(pairs)}
    vocabulary = Vocabulary.from_merges(256, pairs)
    made = tables_of(vocabulary, np.array(byte_ids, np.int32))
    for n in (1, 2, 31, 33, 255, 256, 257, 600):
        words = (
            words_of(rng, n)
            if n > 2
            else [bytes(rng.choices(b"ab\x80", k=rng.choice(LENGTHS))) for _ in range(n)]
        )
        known = {w: encode_pairs.encode_rank([byte_ids[b] for b in w], merges) for w in set(words)}
        want = [i for w in words for i in known[w]]
        for end in (True, False):
            # all words in one bucket and one line, or room for most
            sizes = rng.choice([(1, 1), (2, 1), (64, 64)])
            assert encoded_between_guards(*made, words, end, *sizes) == want


@pytest.mark.parametrize("end", [True, False])
def test_encoding_many_words_and_long_ones(end: bool) -> None:
    """More segments than a block, a megabyte in all, and a word of a million bytes."""
    rng = Random(5)
    pairs = [(97, 98), (256, 256), (257, 257), (257, 97), (32, 97)]
    made = tables_of(Vocabulary.from_merges(256, pairs), np.arange(256, dtype=np.int32))
    merges = {pair: (i, 256 + i) for i, pair in enumerate(pairs)}
    kinds = words_of(rng, 60)
    known = {word: encode_pairs.encode_rank(list(word), merges) for word in kinds}
    words = rng.choices(kinds, k=BLOCK + 100)
    words = words[: np.searchsorted(np.cumsum([len(word) for word in words]), 1 << 20)]
    assert encoded_between_guards(*made, words, end, 256, 16) == [i for word in words for i in known[word]]
    long = b"ab" * 500_000
    assert encoded_between_guards(*made, [b"a", long], end, 1, 1) == [97] + [258] * 125_000


@pytest.mark.parametrize("end", [True, False])
def test_counting_stays_within_its_arrays(end: bool) -> None:
    """With a table that is full before all segments are counted, at every size."""
    rng = Random(3)
    for n in [*range(1, 140), 600, 2000]:
        guard = Guarded()
        words = rng.choices([word for word in words_of(rng, 20) if len(word) < 200], k=n)
        segments = guard(np.cumsum([0, *map(len, words)]), end)
        values, weights = guard(array(b"".join(words)), end), guard(np.ones(n, np.int64), end)
        table, kept = (guard(np.zeros(k, np.int64), end) for k in (counting.ENTRY * 4, 4))
        count, batch = guard(np.zeros(1, np.int64), end), guard(np.zeros(counting.ROOM, np.int64), end)
        done = 0
        while (
            done := done + counting.tally(values, segments[done:], weights[done:], table, kept, count, batch)
        ) < n:
            larger, more = (
                guard(np.zeros(2 * table.size, np.int64), end),
                guard(np.zeros(2 * kept.size, np.int64), end),
            )
            counting.spread(table, larger)
            more[: kept.size] = kept
            table, kept = larger, more
        m = int(count[0])
        offsets = guard(np.cumsum([0, *(kept[1 : 2 * m : 2] - kept[: 2 * m : 2])]), end)
        spelled, totals = guard(np.zeros(offsets[-1], np.uint8), end), guard(np.zeros(m, np.int64), end)
        counting.collect(values, table, kept, offsets, spelled, totals)
        distinct = list(dict.fromkeys(words))
        assert [spelled[a:b].tobytes() for a, b in pairwise(offsets)] == distinct
        assert totals.tolist() == [words.count(word) for word in distinct] and guard.intact()


@pytest.mark.parametrize("end", [True, False])
@pytest.mark.parametrize("alphabet", [b"ab", [7, 8], [7, 2**40]])
def test_decoding_stays_within_its_arrays(alphabet: Any, end: bool) -> None:
    """Into room that ends with the last symbol: the kernel stops before, wherever it is."""
    rng = np.random.default_rng(4)
    tok = BPE.from_merges([[0, 1], [2, 2], [3, 3], [4, 4], [5, 5], [6, 6], [5, 0], [8, 3]], alphabet=alphabet)
    decoder = Decoder(tok._model.vocabulary, tok._model.alphabet, tok._model.segmenter)
    wants = np.split(decoder.arena[: decoder.starts[-1]], decoder.starts[1:-1])
    guard = Guarded()
    tables = [guard(table, end) for table in decoder.tables]
    sizes = guard(decoder.sizes, end)
    for n in [*range(64), 255, 256, 257, 511, 512, 513, 1024, 4096, 5000]:
        ids = guard(rng.integers(0, len(wants), n).astype(np.int32), end)
        want = np.concatenate([wants[i] for i in ids] + [np.zeros(0, np.uint8)])
        offsets = guard(np.array([0, n // 3, n]), end)
        assert decode_kernels.decoded_size(ids, 0, n, 1, sizes)[0] == want.size
        for spare in (0, 1, 31, 63, DECODE_SPARE - 1, DECODE_SPARE, DECODE_SPARE + 1):
            out, ends = guard(np.zeros(want.size + spare, np.uint8), end), guard(np.zeros(2, np.int64), end)
            done, size = decode_kernels.decode(ids, offsets, 0, *tables, out, 0, ends)
            assert done == n or spare < DECODE_SPARE
            assert np.array_equal(out[:size], want[:size])
        out = guard(np.zeros(want.size // decoder.dtype.itemsize, decoder.dtype), end)
        decoder.decode_into(Ragged(ids, offsets), out, 1)
        assert np.array_equal(out.view(np.uint8), want)
        if n:
            ids[rng.integers(n)] = rng.choice([-1, -(2**31), len(wants), 2**31 - 1])
            room = guard(np.zeros(want.size + DECODE_SPARE, np.uint8), end)
            assert decode_kernels.decode(ids, offsets, 0, *tables, room, 0, ends)[0] < n
            decode_kernels.decoded_size(ids, 0, n, 3, sizes)
        assert guard.intact()
