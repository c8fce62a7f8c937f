"""Encoding of text: every segment by merge rank, on threads, with a cache of encoded segments."""

from __future__ import annotations

import threading
from itertools import pairwise
from typing import Any

import numpy as np
from numba import typeof

from ubpe_numba.coding.kernels import merge_words, text_tables
from ubpe_numba.coding.kernels.packed import NOBODY, NODES, byte_trie, pair_buckets
from ubpe_numba.coding.kernels.text_tables import TextTables
from ubpe_numba.coding.kernels.words import SCRATCH, SPARE, encode_words
from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.coding.run import put_together
from ubpe_numba.documents.ragged import Ragged, trusted
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.arrays import offsets_of, requested_threads, resolve_threads
from ubpe_numba.runtime.border import address_of
from ubpe_numba.text.cut import as_text, in_blocks, kernel_of, places_between_parts
from ubpe_numba.text.pretokenizer import Pretokenizer
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.vocabulary import Vocabulary

_BUCKETS = 1 << 17  # of the cache of short segments, 64 bytes each: 8 MB a thread
_LINES = 1 << 13  # of that of long ones, 128 bytes each: 1 MB
# bytes of text whose ids go to memory that a thread keeps: new memory for each call does not scale with
# threads
_CHUNK = 1 << 20
_DEAD = 1 << 12  # bytes of scratch memory for long segments, at first
# special tokens and known words that a short text is searched for, unless all begin alike, as with "<|"
_MOST_WORDS = 16
Scratch = tuple[tuple[np.ndarray, np.ndarray], np.ndarray, np.ndarray]


class WordEncoder:
    """Encoding of text by merge rank, every segment by itself.

    `pairs` is a linear encoder over an alphabet of 256 that `takes` accepts. `byte_ids` int32[256] is the
    alphabet id of every byte, a permutation; None: the byte itself. With `whole_words`, a segment that equals
    a token is that token, before any merge. Since segments recur, up to 262,144 short and 8,192 long segments
    stay encoded from call to call. They take 9 MB for each calling thread, and include the vocabulary from
    the start. A thread also keeps room for the ids of a megabyte of text, at most 4 MB. Threads may share an
    encoder.

    >>> from ubpe_numba.vocabulary.vocabulary import Vocabulary
    >>> pairs = PairEncoder(Vocabulary.from_merges(256, [[98, 97], [32, 256]]), batch=False)
    >>> text = np.frombuffer(b"ba baba", np.uint8)
    >>> WordEncoder(pairs).encode(text, np.array([0, 7]), "gpt2").to_lists()  # ba, " ba", ba
    [[256, 257, 256]]
    """

    def __init__(
        self, pairs: PairEncoder, byte_ids: np.ndarray | None = None, whole_words: bool = False
    ) -> None:
        assert self.takes(pairs)
        ids = np.arange(256, dtype=np.int32) if byte_ids is None else byte_ids.astype(np.int32)
        tables, self._stable, self._arena = tables_of(pairs.vocabulary, ids, whole_words)
        self.tables = tuple(tables)
        self._lengths = tables.lengths
        self._local = threading.local()

    @staticmethod
    def takes(pairs: PairEncoder) -> bool:
        """Whether this encoder fits text: by rank, over the 256 bytes, with ids that fit packed tables."""
        known = pairs.vocabulary
        if not pairs.linear or known.merges is None or known.n_alphabet != 256 or len(known) >= NOBODY:
            return False
        # nodes of the trie, in which a token adds one for each byte of its right part
        return int(pairs.lengths[known.merges[:, 1]].sum()) + 256 < NODES

    def encode(
        self,
        values: np.ndarray,
        offsets: np.ndarray,
        segments: str | np.ndarray,
        n_threads: int | None = None,
    ) -> Ragged:
        """Encode documents to the ids of their segments, as `PairEncoder.encode` makes them.

        The text is uint8, the offsets int64.

        `segments`: a name of `cut.PATTERNS`, or segments as `cut.scan` returns them. None of the three is
        checked.
        """
        values = as_text(values)
        if offsets[-1] - offsets[0] < thread_pool.SERIAL_BELOW:
            requested_threads(n_threads)  # raises for a bad n_threads
            return trusted(*self._encode(values, offsets, segments))
        workers = resolve_threads(n_threads)
        places = places_between_parts(values, offsets, segments) if workers > 1 else np.empty(0, np.int64)
        starts = np.insert(offsets, np.searchsorted(offsets, places), places)
        per_thread = max(4, int(offsets[-1] - offsets[0]) // (_CHUNK // 2) // workers)
        chunks = thread_pool.chunks_of(starts, n_threads, per_thread)
        parts = thread_pool.run(
            lambda a, b: self._encode(values, starts[a : b + 1], segments), chunks, n_threads
        )
        ids, ends = put_together(parts, n_threads)
        return trusted(ids, ends[np.arange(offsets.size) + np.searchsorted(places, offsets)])

    def _encode(
        self, values: np.ndarray, offsets: np.ndarray, cut: str | np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Encode in one thread."""
        caches, scratch, dead = self.scratch()
        size = int(offsets[-1] - offsets[0])
        # remove the room first: a signal handler may encode meanwhile, in this thread
        buffers = self._local.__dict__
        room = buffers.pop("room", None)
        if room is None:
            room = np.empty(_CHUNK + SPARE, np.int32)
        out = room if size <= _CHUNK else np.empty(size + SPARE, np.int32)
        out_offsets = np.empty(offsets.size, np.int64)
        state = np.zeros(3, np.int64)
        for block in in_blocks(values, offsets, cut):
            state[2] = 0
            while (
                encode_words(
                    values, offsets, block, self.tables, caches, scratch, dead, state, out, out_offsets
                )
                < block.size - 1
            ):
                # for a segment that is longer than any before
                dead = np.zeros(int(np.diff(block).max()) // 8 + 2, np.uint8)
        documents, n = state[:2].tolist()
        out_offsets[documents:] = n
        ids = out[:n].copy()
        buffers["room"] = room
        return ids, out_offsets

    def scratch(self) -> Scratch:
        """The calling thread's `caches`, `scratch` and `dead` of `encode_words`, made on first use."""
        scratch: Scratch | None = getattr(self._local, "scratch", None)
        if scratch is None:
            scratch = self._local.scratch = self.new_scratch()
        return scratch

    def new_scratch(self) -> Scratch:
        """New arguments `caches`, `scratch` and `dead` of `encode_words`, 9 MB."""
        short, long = _aligned(8 * _BUCKETS), _aligned(16 * _LINES)
        merge_words.enter_tokens(self._arena, self._lengths, self._stable, short, np.empty(4, np.int32))
        return (short, long), _aligned(SCRATCH), np.zeros(_DEAD, np.uint8)


def _aligned(n: int) -> np.ndarray:
    """Zeros, uint64[n], aligned to the cache lines of the processor."""
    room = np.zeros(n + 8, np.uint64)
    skip = -room.ctypes.data % 64 // 8
    return room[skip : skip + n]


def tables_of(
    vocabulary: Vocabulary, byte_ids: np.ndarray, whole_words: bool = False
) -> tuple[TextTables, np.ndarray, np.ndarray]:
    """The tables of a vocabulary over 256 bytes; `stable` uint8[V]; and its arena as bytes, uint8.

    `byte_ids` int32[256], a permutation, is the alphabet id of every byte. With `whole_words`, a word that
    equals a token is that token, even if merges do not make it; this token is not stable.
    """
    assert vocabulary.merges is not None
    m = vocabulary.n_learned
    byte_of = np.empty(256, np.uint8)
    byte_of[byte_ids] = np.arange(256)
    arena = byte_of[vocabulary.arena]
    lengths = np.diff(vocabulary.offsets).astype(np.int32)
    n_edges = int(lengths[vocabulary.merges[:, 1]].sum())
    two_bytes, solid, into, out_of = (np.empty(1 << 16, np.int32) for _ in range(4))
    left, right = vocabulary.merges[:, 0].copy(), vocabulary.merges[:, 1].copy()
    token_of, prefixes = np.empty(256 + n_edges, np.int32), np.empty(256 + m, np.int32)
    pairs, trie = pair_buckets(m), byte_trie(n_edges)
    whole = byte_trie(0), np.full(1, -1, np.int32)
    tables = TextTables(
        byte_ids,
        two_bytes,
        pairs,
        solid,
        into,
        out_of,
        trie,
        token_of,
        left,
        right,
        prefixes,
        lengths,
        *whole,
    )
    stable, node_of, parents = (
        np.empty(256 + m, np.uint8),
        np.empty(256 + m, np.int32),
        np.empty_like(token_of),
    )
    n = text_tables.build(arena, tuple(tables), stable, node_of, parents)
    tables = tables._replace(token_of=token_of[:n].copy())
    if whole_words and (unstable := np.flatnonzero(stable == 0)).size:
        room = int(lengths[unstable].sum())
        trie, token_of = byte_trie(room), np.full(256 + room, -1, np.int32)
        n = text_tables.enter_whole_words(
            arena, vocabulary.offsets.copy(), unstable.astype(np.int32), trie, token_of
        )
        tables = tables._replace(whole=trie, whole_of=token_of[:n].copy())
    return tables, stable, arena


def short_text(model: Model, words: WordEncoder) -> Any:
    """Make the encoder of a short text, `bytes` or `str`; see short.py.

    It is for models with a kernel that splits ASCII text as it is.

    None for models that find words in normalized text or have tokens without an id, and if a search for
    special tokens would take long. Texts with special tokens or known words are left to the general reader.
    """
    from ubpe_numba.coding import short  # here only: the first texts need not wait for it

    segmenter = model.segmenter
    cutter, normalizer, special, ids = (
        segmenter.pretokenizer,
        segmenter.normalizer,
        segmenter.special,
        segmenter.token_ids,
    )
    late = special is not None and bool((special.late & special.found).any())
    is_kept = normalizer is None or normalizer.keeps_ascii
    if not isinstance(cutter, Pretokenizer) or cutter.kernel is None:
        return None
    if not is_kept or segmenter.unknown is not None or late:
        return None
    keys = []
    if special is not None and special.found.any():
        parts = zip(special.found.tolist(), pairwise(special.offsets.tolist()), strict=True)
        keys = [special.values[a:b].tobytes() for is_found, (a, b) in parts if is_found]
        least, most = min(keys), max(keys)  # what these two begin with alike, all do
        if prefix := least[
            : next((i for i, (a, b) in enumerate(zip(least, most, strict=False)) if a != b), len(least))
        ]:
            keys = [prefix]
        elif len(keys) > _MOST_WORDS:
            return None
    forms = short.kernels.OF_BYTES | (0 if segmenter.encoding is None else short.kernels.UTF8)
    forms |= 0 if normalizer is None else short.kernels.ONLY_ASCII
    split, classes = kernel_of(cutter.kernel)
    # of its own: other threads run while the general reader uses theirs
    caches, scratch, dead = words.new_scratch()
    text, room, segments = np.zeros(8, np.uint8), np.zeros(9, np.int64), np.zeros(short.LONGEST + 1, np.int64)
    out, offsets = np.zeros(short.LONGEST + SPARE, np.int32), np.zeros(2, np.int64)
    arguments = text, offsets, segments, words.tables, caches, scratch, dead, offsets, out, offsets
    codes = [(split, (text, offsets, classes, offsets, segments)), (encode_words, arguments)]
    ends, marks = (
        offsets_of(np.array(list(map(len, keys)), np.int64)),
        np.frombuffer(b"".join(keys), np.uint8),
    )
    ids = np.zeros(0, np.int32) if ids is None else ids.astype(np.int32)
    header: list[int] = [0, *(address_of(kernel, tuple(map(typeof, args))) for kernel, args in codes)]
    header += [array.ctypes.data for array in (room, segments, out)]
    arrays = classes, *words.tables, *caches, scratch, dead, marks, ends, ids
    return short.text_encoder(forms, header + short.table_words(*arrays), arrays, room, segments, out)
