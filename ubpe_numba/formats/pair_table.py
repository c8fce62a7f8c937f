"""What the formats of other libraries have in common: tokens with names and ids, and pairs of names in order of rank.

A name is text in which each symbol of the alphabet is one character: for a byte that of GPT-2's table, for an integer one of the
private use area. For example the bytes 32 and 97 ("a" after a space) are named ``Ġa``, the integers 0 and 1 U+E000 U+E001.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.documents.normalise import text_of
from ubpe_numba.errors import ModelFormatError
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.vocabulary import Vocabulary

_WORK = 1 << 28  # limit of the steps to decide which of several pairs makes each token: a few seconds
_PRIVATE, _N_PRIVATE = 0xE000, 6400  # the private use area; further integers are named by characters from U+10000 on


class Table(NamedTuple):
    """A tokenizer as the formats of other libraries describe it, with ids counted as here: symbols first, then pairs by rank."""

    kind: str  # "bytes", "str" or "int"
    symbols: list[int]  # of the alphabet, by id: bytes, code points or integers
    merges: list[tuple[int, int]]  # pairs of ids; pair i makes the id len(symbols) + i
    token_ids: list[int]  # the id in the other library of each of these ids
    special: dict[Any, int]  # special tokens and their ids in the other library
    known: dict[Any, int]  # likewise the known words, which are found in every text
    pattern: str | None  # splits text; None if text is not split
    whole: bool = False  # whether a word that equals a token becomes that token before any merge


def byte_characters() -> list[str]:
    """The character that names each byte in GPT-2's table: 188 printable bytes name themselves, the other 68 go from U+0100 on.

    >>> table = byte_characters()
    >>> table[65], table[32], table[10], len(set(table))
    ('A', 'Ġ', 'Ċ', 256)
    """
    themselves = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = iter(range(0x100, 0x200))
    return [chr(byte if byte in themselves else next(others)) for byte in range(256)]


def symbol_character(index: int) -> str:
    r"""The character that names symbol `index` of an alphabet of integers: the private use area first, then from U+10000 on.

    >>> symbol_character(0), hex(ord(symbol_character(6400)))
    ('\ue000', '0x10000')
    """
    return chr(_PRIVATE + index) if index < _N_PRIVATE else chr(0x10000 - _N_PRIVATE + index)


def symbol_index(character: str) -> int | None:
    """The inverse of `symbol_character`; None for a character that names no symbol."""
    point = ord(character)
    if _PRIVATE <= point < _PRIVATE + _N_PRIVATE:
        return point - _PRIVATE
    return point - 0x10000 + _N_PRIVATE if point >= 0x10000 else None


def read_vocab(vocab: Any, name: str = "vocab") -> dict[str, int]:
    """Check a dict of names and ids, called `name` in messages, and return it; ModelFormatError if it is not valid."""
    if not isinstance(vocab, dict) or not vocab:
        raise ModelFormatError(f"{name}: expected an object of tokens and their ids")
    most = 4 * len(vocab) + (1 << 17)
    owner: dict[int, str] = {}
    for token, i in vocab.items():
        if not isinstance(token, str) or type(i) is not int or not 0 <= i < most:
            raise ModelFormatError(f"{name}: {token!r}: expected an id in 0..{most - 1}, got {i!r}")
        if not token:
            raise ModelFormatError(f"{name}: a token is empty")
        if i in owner:
            raise ModelFormatError(f"{name}: {owner[i]!r} and {token!r} have the same id {i}")
        owner[i] = token
    return vocab


def from_names(
    vocab: dict[str, int], merges: Sequence[tuple[str, str]], kind: str, special: dict[str, int], known: dict[str, int],
    pattern: str | None, whole: bool = False,
) -> Table:  # fmt: skip
    """The table of tokens that have names; ids of names, `merges` by rank, the rest as in `Table`.

    Tokens that are neither symbols nor made by a pair, such as the special tokens of a `vocab.json`, become special tokens too.
    If several pairs make one token, only the one that can occur is kept (see `last_merge`). ModelFormatError for a pair that is
    there twice or whose parts or result have no id, for a name that is not valid, or for too much work.

    >>> from_names({"a": 0, "b": 1, "ab": 2, "<s>": 3}, [("a", "b")], "str", {}, {}, None)[1:6]
    ([97, 98], [(0, 1)], [0, 1, 2], {'<s>': 3}, {})
    """
    letters = byte_characters()
    value = {letter: byte for byte, letter in enumerate(letters)} if kind == "bytes" else {}
    by_name: dict[str, list[tuple[str, str]]] = {}
    parts: set[str] = set()
    for i, (left, right) in enumerate(merges):
        for token in (left, right, left + right):
            if token not in vocab:
                raise ModelFormatError(f"merges[{i}]: {token!r} is not in the vocabulary")
        by_name.setdefault(left + right, []).append((left, right))
        parts |= {left, right}
    added = {**special, **known}
    own = [token for token in sorted(vocab, key=vocab.__getitem__) if token not in added or token in parts or token in by_name]
    symbols, values = _symbols([token for token in own if len(token) == 1], kind, value)
    chosen = _pairs_that_occur(merges, by_name)
    ids = {token: i for i, token in enumerate(symbols)}
    ids |= {left + right: len(symbols) + i for i, (left, right) in enumerate(chosen)}
    for left, right in chosen:
        if left not in ids or right not in ids:
            missing = right if left in ids else left
            raise ModelFormatError(f"merges: {missing!r} is part of a pair, but no pair makes it")
    if clash := next((word for word in added if word in ids), None):
        raise ModelFormatError(f"special tokens: {clash!r} is made by merges too")
    rest = {token: vocab[token] for token in own if token not in ids}
    if kind == "bytes":  # their names are written in the characters of bytes too, if that is possible
        rest = {_bytes_of(token, value): i for token, i in rest.items()}
    return Table(
        kind,
        values,
        [(ids[left], ids[right]) for left, right in chosen],
        [vocab[token] for token in symbols] + [vocab[left + right] for left, right in chosen],
        {**special, **rest},
        known,
        pattern,
        whole,
    )


def _symbols(symbols: list[str], kind: str, value: dict[str, int]) -> tuple[list[str], list[int]]:
    """The names of the alphabet's symbols and the symbols; `value` holds the byte of each character. Integers are sorted."""
    if kind == "bytes" and (odd := next((token for token in symbols if token not in value), None)) is not None:
        raise ModelFormatError(f"vocab: {odd!r} is not the character of a byte")
    if not symbols:
        raise ModelFormatError("vocab: there is no token of a single symbol")
    if kind == "bytes":
        return symbols, [value[token] for token in symbols]
    if kind == "str":
        return symbols, [ord(token) for token in symbols]
    indices = [symbol_index(token) for token in symbols]
    values = list(range(len(symbols)))
    if sorted(i for i in indices if i is not None) != values:
        raise ModelFormatError("vocab: the characters are not those of an alphabet of integers")
    return [symbol_character(i) for i in values], values


def _pairs_that_occur(merges: Sequence[tuple[str, str]], by_name: dict[str, list[tuple[str, str]]]) -> list[tuple[str, str]]:
    """For every token the one of its pairs that can occur (see `last_merge`), by rank; `by_name` has the pairs of each token."""
    rank = {pair: i for i, pair in enumerate(merges)}
    if len(rank) < len(merges):
        twice = next(pair for i, pair in enumerate(merges) if rank[pair] != i)
        raise ModelFormatError(f"merges: the pair {twice!r} is there twice")
    last = len(merges)
    work = 0
    chosen: list[tuple[str, str]] = []
    for token, pairs in by_name.items():
        made: tuple[str, str] | None = pairs[0]
        if len(pairs) > 1:
            work += len(token) ** 2
            if work > _WORK:
                raise ModelFormatError("merges: too many tokens, or too long ones, are made by several pairs")
            made = last_merge(token, lambda left, right: rank.get((left, right), last), last)
        chosen.append(made if made in pairs else pairs[0])
    return sorted(chosen, key=rank.__getitem__)


def _bytes_of(token: str, value: dict[str, int]) -> Any:
    """The bytes that a name stands for, as `str` if they are ASCII; the name itself if it has a character of no byte."""
    if not all(letter in value for letter in token):
        return token
    data = bytes(value[letter] for letter in token)
    return data.decode() if data.isascii() else data


def last_merge(token: Any, rank: Callable[[Any, Any], int], none: int) -> tuple[Any, Any] | None:
    """The last pair that is merged when a token is encoded by itself; None if that does not end in the token.

    `token` is a str or bytes, `rank` gives the rank of a pair of parts, `none` if there is no such pair. No other pair whose
    parts join to the token can ever occur in a text: the merges inside a stretch of text, as long as none crosses its ends, are
    those of the stretch alone. O(length**2).

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


def names(alphabet: Alphabet, vocabulary: Vocabulary) -> list[str]:
    """The name of every token, by id; ValueError if a symbol of the alphabet has no character."""
    if alphabet.kind == "bytes":
        points = np.array([ord(letter) for letter in byte_characters()], np.uint32)[alphabet.symbols]
    elif alphabet.kind == "str":
        points = alphabet.symbols.astype(np.uint32)
        if (bad := np.flatnonzero((points >= 0xD800) & (points < 0xE000))).size:
            raise ValueError(f"alphabet: the surrogate U+{points[bad[0]]:04X} cannot be written to a file")
    else:
        most = _N_PRIVATE + 0x110000 - 0x10000
        if alphabet.size > most:
            raise ValueError(f"alphabet: at most {most} integers have characters to stand for them, there are {alphabet.size}")
        index = np.arange(alphabet.size, dtype=np.uint32)
        points = np.where(index < _N_PRIVATE, index + _PRIVATE, index + (0x10000 - _N_PRIVATE)).astype(np.uint32)
    text = text_of(points[vocabulary.arena])
    starts = vocabulary.offsets.tolist()
    return [text[a:b] for a, b in itertools.pairwise(starts)]


def name_ids(names: list[str], ids: list[int]) -> dict[str, int]:
    """A dict of names and ids in order of ids; ValueError if two tokens of different ids have the same name."""
    out: dict[str, int] = {}
    for i, name in sorted(zip(ids, names, strict=True)):
        if out.setdefault(name, i) != i:
            raise ValueError(f"vocabulary: the tokens {out[name]} and {i} stand for the same symbols; other libraries allow one")
    return out
