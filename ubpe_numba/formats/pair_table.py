"""What the formats of other libraries have in common: named tokens with ids, and pairs of names in order of rank."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.documents.normalise import text_of
from ubpe_numba.errors import ModelFormatError
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.vocabulary import Vocabulary

_WORK = 1 << 28  # steps that may be spent on finding out which of several pairs makes a token
_PRIVATE, _N_PRIVATE = 0xE000, 6400  # the private use area; further symbols go from U+10000 on


class Table(NamedTuple):
    """A tokenizer as other libraries know it.

    `symbols` are those of the alphabet (code points, bytes or integers), by id; `merges` pairs of ids, pair i of which makes
    the id ``len(symbols) + i``; `token_ids` what these ids are called elsewhere; `special` and `known` words with their ids,
    `known` those that are found in every text; `pattern` cuts text, None if it is not cut. `whole`: a word that is a token is
    taken for it before any merging.
    """

    kind: str
    symbols: list[int]
    merges: list[tuple[int, int]]
    token_ids: list[int]
    special: dict[Any, int]
    known: dict[Any, int]
    pattern: str | None
    whole: bool = False


def byte_characters() -> list[str]:
    """The character that GPT-2 writes for each byte: printable ones for themselves, the other 68 from U+0100 on.

    >>> table = byte_characters()
    >>> table[65], table[32], table[10], len(set(table))
    ('A', 'Ġ', 'Ċ', 256)
    """
    themselves = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = iter(range(0x100, 0x200))
    return [chr(byte if byte in themselves else next(others)) for byte in range(256)]


def symbol_character(index: int) -> str:
    r"""The character that stands for symbol `index` of an alphabet of integers: private use first, then U+10000 and beyond.

    >>> symbol_character(0), hex(ord(symbol_character(6400)))
    ('\ue000', '0x10000')
    """
    return chr(_PRIVATE + index) if index < _N_PRIVATE else chr(0x10000 - _N_PRIVATE + index)


def symbol_index(character: str) -> int | None:
    """The inverse of `symbol_character`; None for a character that stands for none."""
    point = ord(character)
    if _PRIVATE <= point < _PRIVATE + _N_PRIVATE:
        return point - _PRIVATE
    return point - 0x10000 + _N_PRIVATE if point >= 0x10000 else None


def read_vocab(vocab: Any, name: str = "vocab") -> dict[str, int]:
    """Check an object of token names and ids."""
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
    """The table of named tokens, a character for each symbol.

    Tokens that no pair makes and that are no symbol, such as the special tokens of a `vocab.json`, become special tokens too.
    ModelFormatError for a pair that is there twice, whose parts or whole have no id.
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
    symbols = [token for token in own if len(token) == 1]
    if kind == "bytes" and (odd := next((token for token in symbols if token not in value), None)) is not None:
        raise ModelFormatError(f"vocab: {odd!r} is not the character of a byte")
    if not symbols:
        raise ModelFormatError("vocab: there is no token of a single symbol")
    if kind == "bytes":
        values = [value[token] for token in symbols]
    elif kind == "int":
        indices = [symbol_index(token) for token in symbols]
        symbols = [symbol_character(i) for i in range(len(symbols))]
        values = list(range(len(symbols)))
        if sorted(i for i in indices if i is not None) != values:
            raise ModelFormatError("vocab: the characters are not those of an alphabet of integers")
    else:
        values = [ord(token) for token in symbols]
    rank = {pair: i for i, pair in enumerate(merges)}
    if len(rank) < len(merges):
        twice = next(pair for i, pair in enumerate(merges) if rank[pair] != i)
        raise ModelFormatError(f"merges: the pair {twice!r} is there twice")
    last = len(merges)
    work = 0
    chosen: list[tuple[str, str]] = []
    for token, pairs in by_name.items():
        if len(pairs) > 1:  # only one of them can ever be met; see `last_merge`
            work += len(token) ** 2
            if work > _WORK:
                raise ModelFormatError("merges: too many tokens, or too long ones, are made by several pairs")
            made = last_merge(token, lambda left, right: rank.get((left, right), last), last)
            chosen.append(made if made in pairs else pairs[0])
        else:
            chosen.append(pairs[0])
    chosen.sort(key=rank.__getitem__)
    ids = {token: i for i, token in enumerate(symbols)}
    ids |= {left + right: len(symbols) + i for i, (left, right) in enumerate(chosen)}
    for left, right in chosen:
        if left not in ids or right not in ids:
            missing = right if left in ids else left
            raise ModelFormatError(f"merges: {missing!r} is part of a pair, but no pair makes it")
    if clash := next((word for word in added if word in ids), None):
        raise ModelFormatError(f"special tokens: {clash!r} is made by merges too")
    rest = {token: vocab[token] for token in own if token not in ids}
    if kind == "bytes":  # written in characters of bytes, like any token, unless it cannot be
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


def _bytes_of(token: str, value: dict[str, int]) -> Any:
    """The bytes that a token of byte characters means, as `str` where they are ASCII; the token itself if it is of others."""
    if not all(letter in value for letter in token):
        return token
    data = bytes(value[letter] for letter in token)
    return data.decode() if data.isascii() else data


def last_merge(token: Any, rank: Callable[[Any, Any], int], none: int) -> tuple[Any, Any] | None:
    """The pair that makes a token at last when it is encoded by itself; None if it is never made.

    `token` is a str or bytes, `rank` gives the rank of a pair of parts, `none` if there is no such pair. Of several pairs with
    the same outcome no other can ever stand side by side: what is merged inside a piece of text, as long as nothing is merged
    across its ends, is what would be merged in it alone. O(length**2).

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
    """What every token is called: a character for each symbol. ValueError for symbols that have none."""
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
    """The object of names and ids, by id. ValueError if two tokens of different ids have one name."""
    out: dict[str, int] = {}
    for i, name in sorted(zip(ids, names, strict=True)):
        if out.setdefault(name, i) != i:
            raise ValueError(f"vocabulary: the tokens {out[name]} and {i} stand for the same symbols; other libraries allow one")
    return out
