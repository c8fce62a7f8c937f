"""Fuzzing of text: random vocabularies over bytes and random texts, kernels against the plain reference, id for id.

Every text is cut by each published pattern, as well-formed Unicode or as any bytes, and encoded document by
document (the way of short ones), all at once, on threads, as `str` and as `bytes`, from full caches and from
ones of few places; distinct segments are counted, and everything is decoded. Stops at the first difference
and prints what reproduces it, or at ``--bytes``, ``--seconds``.

    python tools/fuzz/fuzz_text.py --bytes 1e8 --seed 1
"""

from __future__ import annotations

import argparse
import functools
import itertools
import math
import pathlib
import sys
import time
from random import Random
from typing import NamedTuple

import numpy as np

from ubpe_numba import Preprocessing

if __name__ == "__main__":
    sys.path[:0] = [str(pathlib.Path(__file__).parents[2] / name) for name in ("tools", "tests", "")]

import byte_vocabularies
import text_samples
from reference import encode_pairs, words

from ubpe_numba.coding import word_encoder
from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.coding.word_encoder import WordEncoder
from ubpe_numba.runtime import thread_pool
from ubpe_numba.text.count_words import count_words
from ubpe_numba.text.cut import PATTERNS, scan
from ubpe_numba.tokenizers.bpe import BPE
from ubpe_numba.vocabulary.vocabulary import Vocabulary

#: What patterns, windows and caches treat apart.
PIECES = [*"abcABZ019 '-_./!"]
PIECES += [
    "\t",
    "\n",
    "\r",
    "  ",
    " \n",
    "\r\n",
    "'s",
    "'LL",
    "'Ve",
    "'\u017f",
    "\u2019s",
    "\u212a",
    "\u017f",
    "\xa0",
]
PIECES += [
    "\u3000",
    "\u2003",
    "\u2028",
    "\x85",
    "\x0b",
    "\x1c",
    "\u200b",
    "\ufeff",
    "\u0301",
    "\u20e3",
    "\xe9",
    "\xc9",
]
PIECES += [
    "\u0130",
    "\xdf",
    "\u01c5",
    "\u02b0",
    "\u0431",
    "\u0416",
    "\u4e2d",
    "\u6587",
    "\u304b",
    "\u30ab",
    "\u30fb",
]
PIECES += [
    "\u30fc",
    "\u3002",
    "\ud55c",
    "\uad6d",
    "\u0e01",
    "\u093e",
    "\u0663",
    "\u0967",
    "\xbd",
    "\u2167",
    "\xb2",
]
PIECES += [
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\u2764\ufe0f",
    "\U0001f1e9\U0001f1ea",
    "\U0001d400",
    "\U0010ffff",
]
PIECES += ["\x00", "\x7f", "12345", "ab", " ab"]
STRAY = [
    b"\xed\xa0\x80",
    b"\xed\xb0\x80",
    b"\xc0\x80",
    b"\xe0\x80\x80",
    b"\xf0\x8f\xbf\xbf",
    b"\xf4\x90\x80\x80",
    b"\xff",
    b"\x80",
]
STRAY += [b"\xe4\xb8", b"\xf0\x9f\x98", b"\xc5", b"\xd0", b"\xe3\x82"]
RUNS = [2, 3, 14, 15, 16, 17, 31, 47, 48, 49, 62, 63, 64, 65, 126, 127, 200]


class Case(NamedTuple):
    """A pattern, a vocabulary over bytes of these ids, and documents."""

    pattern: str
    byte_ids: list[int]
    pairs: list[tuple[int, int]]
    docs: list[bytes]


@functools.cache
def _points() -> list[int]:
    """Code points that the committed table and `regex` agree about."""
    return text_samples.known().tolist()


def make(seed: int) -> Case:
    """The case of a seed: the same on every machine whose `regex` knows the same Unicode."""
    rng = Random(seed)
    byte_ids = rng.sample(range(256), 256) if rng.random() < 0.5 else list(range(256))
    pairs = byte_vocabularies.vocabulary(rng, byte_ids)
    few = rng.sample(PIECES, rng.choice([2, 6, 20]))
    return Case(
        rng.choice(PATTERNS), byte_ids, pairs, [_document(rng, few) for _ in range(rng.randrange(1, 6))]
    )


def _document(rng: Random, few: list[str]) -> bytes:
    """Pieces, code points from anywhere, runs, words of the vocabulary's kind; in every other document some bytes are wrong."""
    out = bytearray()
    for _ in range(rng.choice([0, 1, 5, 30, 200])):
        kind = rng.random()
        if kind < 0.7:
            out += rng.choice(few).encode()
        elif kind < 0.8:
            out += chr(rng.choice(_points())).encode("utf-8", "surrogatepass")
        elif kind < 0.9:
            out += byte_vocabularies.word(rng, 8)
        elif kind < 0.92:
            out += rng.choice(few).encode() * rng.choice(RUNS)
        else:
            out += bytes(rng.choices(b"abc", k=rng.choice(RUNS)))
    for _ in range(rng.choice([0, 0, 1, 4])):
        at = rng.randrange(len(out) + 1)
        if rng.random() < 0.5:
            out[at:at] = rng.choice(STRAY)
        else:
            del out[at : at + 1]
    return bytes(out)


def check(case: Case) -> None:
    """AssertionError at a difference, saying of what."""
    pattern, byte_ids, pairs, docs = case
    merges = {pair: (i, 256 + i) for i, pair in enumerate(pairs)}
    split = [words.split(doc, pattern) for doc in docs]
    ids = {
        s: encode_pairs.encode_rank([byte_ids[b] for b in s], merges) for segments in split for s in segments
    }
    want = [[i for s in segments for i in ids[s]] for segments in split]

    values, offsets = text_samples.text_of(*docs)
    cuts = [0, *itertools.accumulate(len(s) for segments in split for s in segments)]
    assert scan(values, offsets, pattern, 1).tolist() == cuts, "cuts"
    counts = count_words(values, offsets, pattern, 1)
    assert dict(zip(counts.to_lists(), counts.weights.tolist(), strict=True)) == words.count_segments(
        docs, pattern
    ), "counts"

    vocabulary = Vocabulary.from_merges(256, pairs)
    encoder = WordEncoder(PairEncoder(vocabulary, batch=False), np.array(byte_ids, np.int32))
    serial, buckets, lines = thread_pool.SERIAL_BELOW, word_encoder._BUCKETS, word_encoder._LINES
    try:
        thread_pool.SERIAL_BELOW, word_encoder._BUCKETS, word_encoder._LINES = 0, 1, 1
        for n_threads in (1, 2, 3, 1):
            assert encoder.encode(values, offsets, pattern, n_threads).to_lists() == want, (
                f"small caches, {n_threads} threads"
            )
    finally:
        thread_pool.SERIAL_BELOW, word_encoder._BUCKETS, word_encoder._LINES = serial, buckets, lines

    alphabet = bytes(sorted(range(256), key=byte_ids.__getitem__))
    tok = BPE.from_merges(
        pairs, alphabet=alphabet, preprocessing=Preprocessing(pretokenizer=pattern, encoding="utf-8")
    )
    texts = [doc.decode("utf-8", "replace") for doc in docs]
    for _ in range(2):  # the general way first, then the one of short documents
        assert [tok.encode(doc).tolist() for doc in docs] == want, "one by one"
        assert [tok.decode(found, as_bytes=True) for found in want] == docs, "decoded"
        for doc, text, found in zip(docs, texts, want, strict=True):
            assert text.encode() != doc or tok.encode(text).tolist() == found, "str"
    assert tok.encode_batch(docs).to_lists() == want, "batch"


def fuzz(n_bytes: float, seed: int, seconds: float = math.inf, report: float = 60.0) -> int:
    """Check cases until so many bytes were encoded, or for so many seconds; returns how many bytes were.

    AssertionError with a reproducer at the first difference.
    """
    done, began, said = 0, time.monotonic(), time.monotonic()
    for i in itertools.count(seed << 32):
        if done >= n_bytes or time.monotonic() - began > seconds:
            break
        case = make(i)
        try:
            check(case)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{case!r}\nmake({i})") from None
        done += sum(map(len, case.docs))
        if time.monotonic() - said > report:
            said = time.monotonic()
            print(f"{done:.4g} bytes, {done / (said - began):.3g} a second", flush=True)
    return done


def main() -> None:
    """Parse and run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bytes", type=float, default=1e8, help="bytes to encode (default %(default)g)")
    parser.add_argument(
        "--seconds", type=float, default=math.inf, help="stop after this time (default: no limit)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="another seed is another run (default %(default)s)"
    )
    options = parser.parse_args()
    try:
        print(f"{fuzz(options.bytes, options.seed, options.seconds)} bytes, no difference")
    except AssertionError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
