"""What readers of files do: lines, tables of names that may collide, pairs that make tokens."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Pair = tuple[Any, Any]
WORD = 2**64 - 1
FIRST, SECOND = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93
MOST, COMPARED = 256, 64
MARK = b"\xef\xbb\xbf"


def lines(data: bytes) -> list[bytes]:
    r"""All lines, without their ends and without a byte order mark at the beginning.

    >>> lines(b"ab\r\n\ncd")
    [b'ab', b'', b'cd']
    """
    *ended, last = data.removeprefix(MARK).split(b"\n")
    return [line.removesuffix(b"\r") for line in ended] + ([last] if last else [])


def mixed(word: int) -> int:
    """A bijection of 64 bits."""
    word = ((word ^ word >> 32) * FIRST) & WORD
    word = ((word ^ word >> 29) * SECOND) & WORD
    return word ^ word >> 32


def key_of(name: bytes) -> int:
    """The bytes themselves of up to 8, of more a hash, eight by eight."""
    key = int.from_bytes(name[:8], "little")
    for k in range(8, len(name), 8):
        key = mixed(key) ^ int.from_bytes(name[k : k + 8], "little")
    return key


def hash_of(name: bytes) -> int:
    """The hash of a string, of its key and length; the highest bits choose the place."""
    return ((key_of(name) ^ len(name)) * FIRST) & WORD


def have_places(names: Sequence[bytes], capacity: int) -> bool:
    """Whether all strings, no two equal, find a place: free, and behind few others.

    >>> have_places([b"a", b"b"], 4), have_places(list(itertools.islice(of_one_home(), 300)), 1024)
    (True, False)
    """
    table: dict[int, bytes] = {}
    for name in names:
        at, cost = (hash_of(name) >> 32) * capacity >> 32, 0
        while at in table:
            alike = key_of(table[at]) == key_of(name) and len(table[at]) == len(name)
            cost += 1 + COMPARED * alike
            if cost > MOST:
                return False
            at = (at + 1) % capacity
        table[at] = name
    return True


def of_one_home() -> Iterator[bytes]:
    """Strings of 8 characters of ASCII whose hashes begin with 32 zeros.

    >>> {hash_of(name) >> 32 for name in itertools.islice(of_one_home(), 3)}
    {0}
    """
    for k in itertools.count():
        name = (k * pow(FIRST, -1, 2**64) & WORD ^ 8).to_bytes(8, "little")
        if name.isascii():
            yield name


def of_one_hash() -> Iterator[bytes]:
    """Strings of 16 characters of ASCII that have the same key.

    >>> {key_of(name) for name in itertools.islice(of_one_hash(), 3)}
    {0}
    """
    for k in itertools.count():
        first = b"%08d" % k
        second = mixed(int.from_bytes(first, "little")).to_bytes(8, "little")
        if second.isascii():
            yield first + second


def last_merge(token: Any, rank: Callable[[Any, Any], int], none: int) -> Pair | None:
    """The last pair that is merged when a token is encoded by itself; None if that does not end in the token.

    `token` is a str or bytes, `rank` gives the rank of a pair of parts, `none` if there is no such pair.

    >>> ranks = {("a", "b"): 0, ("b", "c"): 1, ("a", "bc"): 2, ("ab", "c"): 3}
    >>> last_merge("abc", lambda x, y: ranks.get((x, y), 9), 9)
    ('ab', 'c')
    """
    parts = [token[i : i + 1] for i in range(len(token))]
    while len(parts) > 1:
        best, at = min((rank(left, right), i) for i, (left, right) in enumerate(itertools.pairwise(parts)))
        if best == none:
            return None
        if len(parts) == 2:
            return parts[0], parts[1]
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return None
