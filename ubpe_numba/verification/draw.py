"""Random and adversarial data for comparisons: documents, tables of pairs, weights and text. The same for a seed everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from ubpe_numba.verification.reference.decode import expand
from ubpe_numba.verification.reference.fit import Pair, fit

#: Lengths of documents: none, few, and those on both sides of what kernels take at a time.
LENGTHS = (0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 20, 31, 32, 33, 40, 60, 63, 64, 65, 100, 127, 128, 129)
#: Weights of documents; counts of the larger ones are past what 32 bits and what float64 can hold.
COPIES = (0, 1, 1, 2, 5, 4095, 4096, 2**31 - 1, 2**33, 2**40)
#: Weights of tokens; few different ones, so that paths weigh the same, and of a few units of the fixed point.
WEIGHTS = ((0.0,), (0.5,), (0.25, 0.5, 1.0), (0.0, 0.25, 1.7, 3.0), (2.0**-26, 3 * 2.0**-26, 5 * 2.0**-25))
#: What patterns, windows and caches of text treat apart; their classes are the same in all versions of Unicode since 5.
PIECES = (
    *"abcABZ019 '-_./!\t\n\r\x00\x7f", "  ", " \n", "\r\n", "'s", "'LL", "'Ve", "12345", " ab",
    "\xa0", "\u3000", "\u2003", "\u2028", "\x85", "\x0b", "\x1c", "\u200b", "\ufeff", "\u0301", "\u20e3", "\xe9", "\xc9",
    "\u0130", "\xdf", "\u01c5", "\u02b0", "\u0431", "\u0416", "\u4e2d", "\u6587", "\u304b", "\u30ab", "\u30fb", "\u30fc",
    "\u3002", "\ud55c", "\u0e01", "\u093e", "\u0663", "\u0967", "\xbd", "\u2167", "\xb2", "\u017f", "'\u017f", "\u2019s",
    "\u2764\ufe0f", "\U0001f468", "\u200d", "\U0001d400",
)  # fmt: skip
#: Bytes that are not UTF-8: surrogates, longer than need be, beyond the last code point, beginnings and ends of characters.
STRAY = (
    b"\xed\xa0\x80", b"\xed\xb0\x80", b"\xc0\x80", b"\xe0\x80\x80", b"\xf0\x8f\xbf\xbf", b"\xf4\x90\x80\x80",
    b"\xff", b"\x80", b"\xe4\xb8", b"\xf0\x9f\x98", b"\xc5", b"\xd0", b"\xe3\x82",
)  # fmt: skip


class Table(NamedTuple):
    """Pairs of a vocabulary: pair i makes the token `size + i`."""

    size: int  # of the alphabet
    pairs: list[Pair]


def document(rng: Random, size: int, tokens: Sequence[Sequence[int]] = (), longest: int = 129) -> list[int]:
    """Random, periodic, of runs of one symbol, of tokens, or of beginnings of these."""
    n = rng.choice([length for length in LENGTHS if length <= longest])
    kind = rng.randrange(5 if tokens else 3)
    if kind == 0:
        return [rng.randrange(size) for _ in range(n)]
    if kind == 1:
        period = [rng.randrange(size) for _ in range(rng.randrange(1, 6))]
        return (period * n)[:n]
    out: list[int] = []
    while len(out) < n:
        if kind == 2:
            out += [rng.randrange(size)] * rng.choice([1, 2, 3, 16, n])
        else:
            token = rng.choice(tokens)
            out += token[: rng.randrange(1, len(token) + 1)] if kind == 4 else token
    return out[:n]


def documents(rng: Random, size: int, tokens: Sequence[Sequence[int]] = (), longest: int = 129, most: int = 5) -> list[list[int]]:
    """One or more documents, some of which may be empty."""
    return [document(rng, size, tokens, longest) for _ in range(rng.randrange(1, most + 1))]


def table(rng: Random, in_order: bool = False) -> Table:
    """Random pairs, tokens of at most 64 symbols; in order of creation, or in any other unless `in_order`."""
    size = rng.choice([1, 2, 2, 3, 4, 5, 7, 30, 300])
    pairs: list[Pair] = []
    lengths = [1] * size
    deep = rng.random() < 0.3  # tokens built on the last ones
    for _ in range(rng.choice([1, 3, 8, 20, 40])):
        low = max(0, len(lengths) - 4) if deep else 0
        pair = rng.randrange(low, len(lengths)), rng.randrange(low if rng.random() < 0.5 else 0, len(lengths))
        if pair not in pairs and lengths[pair[0]] + lengths[pair[1]] <= 64:
            pairs.append(pair)
            lengths.append(lengths[pair[0]] + lengths[pair[1]])
    if not in_order and rng.random() < 0.25:
        order = rng.sample(range(len(pairs)), len(pairs))
        new = {size + old: size + i for i, old in enumerate(order)}
        pairs = [(new.get(pairs[i][0], pairs[i][0]), new.get(pairs[i][1], pairs[i][1])) for i in order]
    return Table(size, pairs)


def table_without_twins(rng: Random) -> Table:
    """Pairs in order of creation whose sequences of symbols all differ, as those of a vocabulary that is searched for paths."""
    found = table(rng, in_order=True)
    pairs: list[Pair] = []
    sequences: list[tuple[int, ...]] = [(i,) for i in range(found.size)]
    new = {i: i for i in range(found.size)}
    for i, (left, right) in enumerate(found.pairs):
        if left in new and right in new and (made := sequences[new[left]] + sequences[new[right]]) not in sequences:
            new[found.size + i] = len(sequences)
            pairs.append((new[left], new[right]))
            sequences.append(made)
    return Table(found.size, pairs)


def tokens_of(made: Table) -> list[tuple[int, ...]]:
    """The symbols of every id."""
    return expand(made.pairs, made.size)


def text(rng: Random, pieces: Sequence[str]) -> bytes:
    """Pieces, runs of them, words of few letters; in every other document some bytes are wrong."""
    out = bytearray()
    for _ in range(rng.choice([0, 1, 5, 15, 40])):
        kind = rng.random()
        if kind < 0.8:
            out += rng.choice(pieces).encode()
        elif kind < 0.85:
            out += rng.choice(pieces).encode() * rng.choice([2, 3, 15, 16, 17, 33, 63, 64, 65])
        else:
            out += bytes(rng.choices(b"abc", k=rng.choice([2, 3, 15, 16, 17, 33, 63, 64, 65])))
    for _ in range(rng.choice([0, 0, 1, 3])):
        at = rng.randrange(len(out) + 1)
        out[at:at] = rng.choice(STRAY)
    return bytes(out)


def texts(rng: Random) -> list[bytes]:
    """Documents of few different pieces."""
    few = rng.sample(PIECES, rng.choice([2, 6, 20]))
    return [text(rng, few) for _ in range(rng.randrange(1, 5))]


def byte_pairs(rng: Random, found: Sequence[bytes]) -> list[Pair]:
    """Pairs over bytes that a fit learns from some texts, parts of characters among them, and a few at random."""
    merges, _ = fit([list(one) for one in found], 256, 256 + rng.choice([1, 8, 25]), min_count=1)
    pairs = [(merge.left, merge.right) for merge in merges]
    for _ in range(rng.choice([0, 0, 3])):
        pair = rng.randrange(256 + len(pairs)), rng.randrange(97, 100)
        if pair not in pairs:
            pairs.append(pair)
    return pairs or [(97, 98)]
