"""`.tiktoken` files: a line for each token, its bytes in base64 and its rank, which is its id.

The files hold no pairs: a segment that is a token becomes that; in others tiktoken merges two neighbours if the bytes of both are
a token, that of the lowest rank first. The pair of a token is the last one merged when it is encoded by itself
(kernels/pairs_of_ranks.py): what is merged inside a stretch of text, as long as no merge crosses its ends, is the same as in the
stretch by itself, so that a token is made of its pair wherever it is made. A token that does not become itself so is never made,
but by whole segments.
"""

from __future__ import annotations

import base64
import binascii
import functools
import itertools
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.formats import base64_lines
from ubpe_numba.formats.creation_order import creation_order
from ubpe_numba.formats.kernels.pairs_of_ranks import pairs_of_ranks
from ubpe_numba.formats.kernels.parts import NONE
from ubpe_numba.formats.pair_table import Table
from ubpe_numba.formats.pairs_that_occur import WORK
from ubpe_numba.runtime.arrays import offsets_of
from ubpe_numba.runtime.schema import integers_of
from ubpe_numba.text.patterns import COVERING, name_of, published_for_tiktoken

EVERYTHING = "(?s:.+)"  # tiktoken always splits text; this pattern leaves it whole


def covering(pattern: str | None) -> str:
    """The pattern for tiktoken, which drops text between matches: a second alternative matches that text.

    Of published patterns the spelling of tiktoken's own encodings.

    >>> covering("a+")
    '(?:a+)|(?:(?!a+)(?s:.))+'
    """
    if pattern is None:
        return EVERYTHING
    if name_of(pattern) in COVERING:
        return published_for_tiktoken(pattern)
    return f"(?:{pattern})|(?:(?!{pattern})(?s:.))+"


def uncovered(pattern: str) -> str | None:
    """The inverse of `covering`; a pattern that `covering` does not make is returned as it is."""
    inner = pattern[3 : (len(pattern) - len("(?:)|(?:(?!)(?s:.))+")) // 2 + 3]
    return None if pattern == EVERYTHING else inner if inner and covering(inner) == pattern else pattern


class Ranks(NamedTuple):
    """The tokens of a file, in any order, and their ranks."""

    values: np.ndarray  # uint8: the bytes of all tokens
    lengths: np.ndarray  # int64[V], each at least 1
    ranks: np.ndarray  # int64[V]

    @classmethod
    def of(cls, ranks: Mapping[bytes, int]) -> Ranks:
        """The same from a mapping, without a token of no bytes; ModelFormatError for ranks that are no integers."""
        lengths = np.fromiter(map(len, ranks), np.int64, len(ranks))
        numbers = integers_of(list(ranks.values()), "ranks").astype(np.int64)
        return cls(np.frombuffer(b"".join(ranks), np.uint8), lengths[lengths > 0], numbers[lengths > 0])


def read_file(data: bytes, special: dict[str, int], pattern: str | None) -> Table:
    """The table of a file, as `read`; ModelFormatError names the first line that is not valid."""
    if (found := base64_lines.read(data)) is not None:
        try:
            return read(Ranks(*found), special, pattern)
        except ModelFormatError:
            if not _is_any_twice(*found[:2]):  # which is to be said first
                raise
    return read(Ranks.of(_parse_lines(data)), special, pattern)


def _is_any_twice(values: np.ndarray, lengths: np.ndarray) -> bool:
    """Whether two tokens are equal."""
    data, bounds = values.tobytes(), offsets_of(lengths).tolist()
    return len({data[a:b] for a, b in itertools.pairwise(bounds)}) < lengths.size


def _parse_lines(data: bytes) -> dict[bytes, int]:
    """The tokens of a file and their ranks, line by line: for files that are written in an unusual way or not valid."""
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(data.split(b"\n"), 1):
        parts = line.split()
        if not parts:
            continue
        try:
            token = b"" if parts[0] == b"=" else base64.b64decode(parts[0], validate=True)  # Whisper has a token of no bytes
        except (binascii.Error, ValueError) as error:
            raise ModelFormatError(f"line {number}: not base64: {error}") from error
        if len(parts) != 2 or not parts[1].isdigit() or len(parts[1]) > 10:
            raise ModelFormatError(f"line {number}: expected a token in base64 and its rank, got {quoted(line[:60])}")
        if token in ranks:
            raise ModelFormatError(f"line {number}: the token {quoted(token)} is there twice")
        ranks[token] = int(parts[1])
    return ranks


def write(ranks: dict[bytes, int]) -> bytes:
    r"""The content of a file of tokens and their ranks.

    >>> write({b"a": 0})
    b'YQ== 0\n'
    """
    by_rank = sorted(ranks, key=ranks.__getitem__)
    encoded = map(functools.partial(binascii.b2a_base64, newline=False), by_rank)
    return b"".join(map(b"%b %d\n".__mod__, zip(encoded, map(ranks.__getitem__, by_rank), strict=True)))


def read(given: Ranks, special: dict[str, int], pattern: str | None) -> Table:
    """The table of tokens with ranks; `special` tokens with their ids.

    ModelFormatError if a rank or a token is there twice, a token cannot be made of two others, tokens are too long, or they are
    chosen to collide in a hash table.

    >>> read(Ranks.of({b"a": 0, b"b": 1, b"ab": 2}), {}, None)[:4]
    ('bytes', [97, 98], array([[0, 1]], dtype=int32), array([0, 1, 2]))
    """
    tokens, n = _in_order(given)
    starts, size = offsets_of(tokens.lengths), tokens.lengths.size
    if float((tokens.lengths[n:].astype(np.float64) ** 2).sum()) > WORK:
        raise ModelFormatError("tokens are too long to find out what they are made of")
    values = np.concatenate([tokens.values, np.zeros(8, np.uint8)])
    pairs = np.empty((size - n, 2), np.int32)
    one, two = np.full(1 << 8, NONE, np.int32), np.full(1 << 16, NONE, np.int32)
    table = np.full(2 << size.bit_length(), -1, np.int64)
    ends, ranks, parts = np.empty((3, int(tokens.lengths.max())), np.int32)
    twice = int(pairs_of_ranks(values, starts, n, one, two, table, ends, ranks, parts, pairs))
    if twice >= 0:
        token = values[starts[twice] : starts[twice + 1]].tobytes()
        raise ModelFormatError(f"the token {quoted(token)} of rank {tokens.ranks[twice]} is there twice")
    if twice < -1:
        raise ModelFormatError("the tokens collide in a hash table, as only tokens do that are chosen for that")
    unmade = np.flatnonzero(pairs[:, 0] < 0)
    if unmade.size:
        pairs[unmade] = _split(tokens, unmade + n)
    one_by_one, ids = bool((pairs.max(axis=1, initial=0) >= np.arange(n, size)).any()), tokens.ranks
    if one_by_one and (order := _order(pairs, unmade, tokens.lengths[n:], n)) is not None:
        number = np.arange(size, dtype=np.int32)
        number[n + order] = np.arange(n, size)
        pairs, ids, one_by_one = number[pairs[order]], np.concatenate([ids[:n], ids[n:][order]]), False
    return Table("bytes", values[:n].tolist(), pairs, ids, special, {}, pattern, bool(unmade.size), one_by_one)


def _order(pairs: np.ndarray, unmade: np.ndarray, lengths: np.ndarray, n: int) -> np.ndarray | None:
    """The pairs of m tokens in an order of creation that encodes alike, int64[m], those of tokens never made last; or None."""
    occurs = np.ones(len(pairs), bool)
    occurs[unmade] = False
    number = np.concatenate([np.arange(n), n + np.cumsum(occurs) - 1])
    found = creation_order(number[pairs[occurs]], n)
    if found is None:
        return None
    return np.concatenate([np.flatnonzero(occurs)[found], unmade[np.argsort(lengths[unmade], kind="stable")]])


def _split(tokens: Ranks, unmade: np.ndarray) -> list[tuple[int, int]]:
    """Two tokens for each of those, int64[k], that merging does not make, of lower rank if there are such.

    A segment that equals such a token becomes it, since tiktoken looks for that first. No two neighbours ever join to it
    otherwise, so that it does not matter which two these are. ModelFormatError for one that no two tokens join to.
    """
    data, bounds = tokens.values.tobytes(), offsets_of(tokens.lengths).tolist()
    number = {data[a:b]: i for i, (a, b) in enumerate(itertools.pairwise(bounds))}
    found: list[tuple[int, int]] = []
    for t in unmade.tolist():
        token = data[bounds[t] : bounds[t + 1]]
        cuts = ((number.get(token[:i]), number.get(token[i:])) for i in range(1, len(token)))
        pairs = [(max(left, right), left, right) for left, right in cuts if left is not None and right is not None]
        if not pairs:
            raise ModelFormatError(
                f"the token {quoted(token)} of rank {tokens.ranks[t]} is not made of others of lower rank: no two tokens join "
                "to it, only a whole segment becomes it, which needs a pair here; take the tokenizer.json of the model if there "
                "is one"
            )
        found.append(min(pairs)[1:])
    return found


def _in_order(given: Ranks) -> tuple[Ranks, int]:
    """The tokens by rank, those of one byte before all others, and how many these are; ModelFormatError for equal ranks."""
    values, lengths, ranks = given
    if not lengths.size:
        raise ModelFormatError("expected at least one token")
    starts = offsets_of(lengths)
    by_rank = np.argsort(ranks, kind="stable")
    if (equal := np.flatnonzero(np.diff(ranks[by_rank]) == 0)).size:
        pair = by_rank[equal[0] : equal[0] + 2]
        first, second = (values[starts[i] : starts[i + 1]].tobytes() for i in pair)
        raise ModelFormatError(f"the tokens {quoted(first)} and {quoted(second)} have the same rank {ranks[pair[0]]}")
    single = lengths[by_rank] == 1
    order = np.concatenate([by_rank[single], by_rank[~single]])
    if not np.array_equal(order, np.arange(order.size)):
        to = offsets_of(lengths[order])[:-1]
        values = values[np.arange(values.size) + np.repeat(starts[order] - to, lengths[order])]
    return Ranks(values, lengths[order], ranks[order]), int(single.sum())
