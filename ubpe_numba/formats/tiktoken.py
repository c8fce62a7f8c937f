"""`.tiktoken` files: a line for each token, its bytes in base64 and its rank, which is its id.

The files hold no pairs: tiktoken merges two neighbours if the bytes of both are a token, that of the lowest rank first. This
equals merging pairs by rank if every token, encoded by itself, becomes itself; the pair of a token is then the last one merged in
doing so (`last_merge`). `read` finds these pairs; that every token becomes itself is checked once the tokenizer is made.
"""

from __future__ import annotations

import base64
import binascii
import itertools

from ubpe_numba.errors import ModelFormatError
from ubpe_numba.formats.pair_table import Table, last_merge
from ubpe_numba.text.pretokenizer import NAMED

_WORK = 1 << 28  # limit of the steps to find the pairs, the square of the length for each token: a few seconds

EVERYTHING = "(?s:.+)"  # tiktoken always splits text; this pattern leaves it whole
_COVERING = ("gpt2", "cl100k", "o200k", "whitespace")  # patterns that match every character


def covering(pattern: str | None) -> str:
    """The pattern for tiktoken, which drops text between matches: a second alternative matches that text.

    >>> covering("a+")
    '(?:a+)|(?:(?!a+)(?s:.))+'
    """
    if pattern is None or pattern in [NAMED[name] for name in _COVERING]:
        return pattern or EVERYTHING
    return f"(?:{pattern})|(?:(?!{pattern})(?s:.))+"


def uncovered(pattern: str) -> str | None:
    """The inverse of `covering`; a pattern that `covering` does not make is returned as it is."""
    inner = pattern[3 : (len(pattern) - len("(?:)|(?:(?!)(?s:.))+")) // 2 + 3]
    return None if pattern == EVERYTHING else inner if inner and covering(inner) == pattern else pattern


def parse(data: bytes) -> dict[bytes, int]:
    """The tokens of a file and their ranks; ModelFormatError names the first line that is not valid."""
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(data.split(b"\n"), 1):
        parts = line.split()
        if not parts:
            continue
        try:
            token = base64.b64decode(parts[0], validate=True)
        except (binascii.Error, ValueError) as error:
            raise ModelFormatError(f"line {number}: not base64: {error}") from error
        if len(parts) != 2 or not parts[1].isdigit() or len(parts[1]) > 10 or not token:
            raise ModelFormatError(f"line {number}: expected a token in base64 and its rank, got {line[:60]!r}")
        if token in ranks:
            raise ModelFormatError(f"line {number}: the token {token!r} is there twice")
        ranks[token] = int(parts[1])
    return ranks


def write(ranks: dict[bytes, int]) -> bytes:
    r"""The content of a file of tokens and their ranks.

    >>> write({b"a": 0})
    b'YQ== 0\n'
    """
    by_rank = sorted(ranks.items(), key=lambda item: item[1])
    return b"".join(base64.b64encode(token) + b" %d\n" % rank for token, rank in by_rank)


def read(ranks: dict[bytes, int], special: dict[str, int], pattern: str | None) -> Table:
    """The table of tokens with ranks; `special` tokens with their ids.

    ModelFormatError if a rank is there twice, a token cannot be made of others of lower rank, or tokens are too long.

    >>> read({b"a": 0, b"b": 1, b"ab": 2}, {}, None)[:4]
    ('bytes', [97, 98], [(0, 1)], [0, 1, 2])
    """
    order = sorted(ranks, key=ranks.__getitem__)
    if not order:
        raise ModelFormatError("expected at least one token")
    for first, second in itertools.pairwise(order):
        if ranks[first] == ranks[second]:
            raise ModelFormatError(f"the tokens {first!r} and {second!r} have the same rank {ranks[first]}")
    symbols = [token for token in order if len(token) == 1]
    learned = [token for token in order if len(token) > 1]
    if sum(len(token) ** 2 for token in learned) > _WORK:
        raise ModelFormatError("tokens are too long to find out what they are made of")
    ids = {token: i for i, token in enumerate([*symbols, *learned])}
    none = max(ranks.values()) + 1
    pairs: list[tuple[int, int]] = []
    for token in learned:
        cuts = [i for i in range(1, len(token)) if token[:i] in ids and token[i:] in ids]
        if len(cuts) == 1:
            made = token[: cuts[0]], token[cuts[0] :]
        else:
            found = last_merge(token, lambda left, right: ranks.get(left + right, none), none) if cuts else None
            if found is None:
                raise ModelFormatError(f"the token {token!r} of rank {ranks[token]} is not made of others of lower rank")
            made = found
        pairs.append((ids[made[0]], ids[made[1]]))
    return Table("bytes", [token[0] for token in symbols], pairs, [ranks[token] for token in ids], special, {}, pattern, True)
