"""What the formats of other libraries have in common: tokens with names and ids, and pairs of names in order of rank.

A name is text in which each symbol of the alphabet is one character: for a byte that of GPT-2's table, for an integer one of the
private use area. For example the bytes 32 and 97 ("a" after a space) are named ``Ġa``, the integers 0 and 1 U+E000 U+E001.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.documents.normalise import text_of
from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.formats.creation_order import creation_order
from ubpe_numba.formats.name_pairs import NamePairs
from ubpe_numba.formats.name_pairs import Pairs as Pairs
from ubpe_numba.formats.pairs_that_occur import MergedAlone, last_of_each, pairs_that_occur, with_parts
from ubpe_numba.formats.run_order import run_order
from ubpe_numba.text.characters import BYTE_OF, byte_characters, named_bytes
from ubpe_numba.text.normalizer import Normalizer
from ubpe_numba.text.splitter import Splitter
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.decoding import Decoding
from ubpe_numba.vocabulary.unknown import Unknown
from ubpe_numba.vocabulary.vocabulary import Vocabulary

_PRIVATE, _N_PRIVATE = 0xE000, 6400  # the private use area; further integers are named by characters from U+10000 on
MOST_INTEGERS = _N_PRIVATE + 0x110000 - 0x10000


class Table(NamedTuple):
    """A tokenizer as the formats of other libraries describe it, with ids counted as here: symbols first, then pairs by rank."""

    kind: str  # "bytes", "str" or "int"
    symbols: list[int]  # of the alphabet, by id: bytes, code points or integers
    merges: np.ndarray  # int32[m, 2], pairs of ids; pair i makes the id len(symbols) + i
    token_ids: np.ndarray  # int64[V], the id in the other library of each of these ids
    special: dict[Any, int]  # special tokens and their ids in the other library
    known: dict[Any, int]  # likewise the known words, which are found in every text
    pattern: str | None  # splits text; None if text is not split
    whole: bool = False  # whether a word that equals a token becomes that token before any merge
    one_by_one: bool = False  # whether order matters even between merges of one pair: see creation_order.py
    splitter: Splitter | None = None  # instead of a pattern
    normalizer: Normalizer | None = None
    unknown: Unknown | None = None  # what becomes of characters that are no tokens
    decoding: Decoding | None = None  # how texts of tokens become one
    flags: dict[Any, int] = {}  # noqa: RUF012  # of special tokens and known words; see SpecialTokens
    shared: bool = False  # whether a special token or a known word may be a token of the vocabulary too
    runs: dict[int, int] = {}  # noqa: RUF012  # of which code points text must be cut behind every so many; see run_order.py
    stand_in: str | bytes | None = None  # what the constructor's `unknown` is to be: a symbol or a special token; None for none


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
    ids = vocab.values()
    if set(map(type, vocab)) == {str} and set(map(type, ids)) == {int} and "" not in vocab:
        if min(ids) >= 0 and max(ids) < most and len(set(ids)) == len(vocab):
            return vocab
    owner: dict[int, str] = {}
    for token, i in vocab.items():
        if not isinstance(token, str) or type(i) is not int or not 0 <= i < most:
            raise ModelFormatError(f"{name}: {quoted(token)}: expected an id in 0..{most - 1}, got {quoted(i)}")
        if not token:
            raise ModelFormatError(f"{name}: a token is empty")
        if i in owner:
            raise ModelFormatError(f"{name}: {quoted(owner[i])} and {quoted(token)} have the same id {i}")
        owner[i] = token
    return vocab


def two_parts(lines: list[str]) -> Pairs | None:
    """The two names in each line, with one space between; None if a line is not written like that.

    >>> two_parts(["a b", "ab c"]), two_parts(["a  b"])
    ((['a', 'ab'], ['b', 'c']), None)
    """
    if not set(map(str.count, lines, itertools.repeat(" "))) <= {1}:
        return None
    parts = " ".join(lines).split(" ") if lines else []
    return None if "" in parts else (parts[::2], parts[1::2])


def from_names(
    vocab: dict[str, int], merges: Pairs | NamePairs, kind: str, special: dict[str, int], known: dict[str, int],
    pattern: str | None, whole: bool = False, all_letters: bool = False, loose: bool = False, cut_runs: bool = False,
) -> Table:  # fmt: skip
    """The table of tokens that have names; ids of names, `merges` by rank, the rest as in `Table`.

    Tokens that are neither symbols nor made by a pair, such as the special tokens of a `vocab.json`, become special tokens too.
    If several pairs make one token, only the one that can occur is kept (see `pairs_that_occur`). ModelFormatError for a pair
    that is there twice or whose parts or result have no id, for a name that is not valid, or for too much work.

    A special token or known word of one character is a symbol too where a pair needs it, or with `all_letters`.

    `loose`, as Hugging Face reads its files: a special token or a known word may be a token of the vocabulary too, names may have
    characters of no byte, pairs may be there twice, of which the last counts, or have a part that nothing makes: no text has it.

    `whole` stays only if there is a token that merging does not make.

    With `cut_runs` the caller cuts text within the `runs` of the table, behind every so many of a character, if there are any.

    A name is looked up once; the rest is arithmetic on ids of `vocab`.

    >>> from_names({"a": 0, "b": 1, "ab": 2, "<s>": 3}, (["a"], ["b"]), "str", {}, {}, None)[1:6]
    ([97, 98], array([[0, 1]], dtype=int32), array([0, 1, 2]), {'<s>': 3}, {})
    """
    pairs_of_names = NamePairs.of(merges)
    left, right, made = pairs_of_names.ids(vocab)
    if (missing := np.flatnonzero((left < 0) | (right < 0) | (made < 0))).size:
        parts = pairs_of_names[int(missing[0])]
        token = next(token for token in (*parts, "".join(parts)) if token not in vocab)
        raise ModelFormatError(f"merges[{missing[0]}]: {quoted(token)} is not in the vocabulary")
    used = np.zeros(max(vocab.values()) + 1, bool)  # by ids of `vocab`, like `number`
    used[left] = used[right] = used[made] = True
    added = {**special, **known}
    value = BYTE_OF if kind == "bytes" else {}
    single = [token for token in vocab if len(token) == 1 and (not loose or kind != "bytes" or token in value)]
    letters = sorted((vocab[token], token) for token in single if all_letters or token not in added or used[vocab[token]])
    symbols, values = _symbols([token for _, token in letters], kind, value)
    symbol_ids = np.fromiter(map(vocab.__getitem__, symbols), np.int64, len(symbols))
    if loose and not (there := last_of_each(left, right) & with_parts(left, right, made, symbol_ids)).all():
        pairs_of_names, left, right, made = pairs_of_names.of_those(there), left[there], right[there], made[there]
    alone = MergedAlone(pairs_of_names, (left, right, made), letters)
    chosen = pairs_that_occur(pairs_of_names, left, right, made, alone)
    token_ids, pairs, number = _numbered(symbol_ids, left, right, made, chosen, used.size)
    one_by_one, runs = False, dict[int, int]()
    if (pairs.max(axis=1, initial=-1) >= len(symbols) + np.arange(len(pairs))).any() and pairs.min(initial=0) >= 0:
        found = _in_order_of_creation(alone, chosen, pairs, len(symbols), cut_runs)
        one_by_one, runs = found.one_by_one, {values[symbol]: n for symbol, n in found.longest.items()}
        left[chosen], right[chosen] = token_ids[found.pairs].T
        chosen = chosen[found.order]
        token_ids, pairs, number = _numbered(symbol_ids, left, right, made, chosen, used.size)
    if whole and chosen.size:
        whole = bool((alone.last(chosen) < 0).any())
    if (missing := np.flatnonzero(pairs.min(axis=1, initial=0) < 0)).size:
        part = pairs_of_names[int(chosen[missing[0]])][int(pairs[missing[0], 0] >= 0)]
        raise ModelFormatError(f"merges: {quoted(part)} is part of a pair, but no pair makes it")
    clash = next((word for word in added if word in vocab and number[vocab[word]] >= 0), None)
    if clash is not None and not loose:
        raise ModelFormatError(f"special tokens: {quoted(clash)} is made by merges too")
    names, ids = list(vocab), np.fromiter(vocab.values(), np.int64, len(vocab))
    others = np.flatnonzero(number[ids] < 0)
    rest = {names[i]: int(ids[i]) for i in others[np.argsort(ids[others])].tolist() if names[i] not in added}
    if kind == "bytes":  # their names are written in the characters of bytes too, if that is possible
        rest = {word: i for token, i in rest.items() if (word := _as_text(named_bytes(token))) not in added}
    return Table(kind, values, pairs, token_ids, {**special, **rest}, known, pattern, whole, one_by_one, shared=loose, runs=runs)


def _numbered(
    symbol_ids: np.ndarray, left: np.ndarray, right: np.ndarray, made: np.ndarray, chosen: np.ndarray, size: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The ids of all tokens, symbols first; the chosen pairs in numbers of tokens; the number of each id, -1 for none."""
    token_ids = np.concatenate([symbol_ids, made[chosen]])
    number = np.full(size, -1, np.int32)
    number[token_ids] = np.arange(token_ids.size)
    return token_ids, number[np.stack([left[chosen], right[chosen]], axis=1)], number


class _Ordered(NamedTuple):
    """An order of pairs that encodes as they do by rank: `order` int64[m], `pairs` int64[m, 2], in the order given.

    `one_by_one`: they have to be merged one by one. `longest`: of which symbols text must be cut behind every so many.
    """

    order: np.ndarray
    pairs: np.ndarray
    one_by_one: bool
    longest: dict[int, int]


def _in_order_of_creation(alone: MergedAlone, chosen: np.ndarray, pairs: np.ndarray, n_symbols: int, cut_runs: bool) -> _Ordered:
    """The order of `chosen` pairs; those that make a token of a run may become others, with `cut_runs`.

    Pairs that never occur in any text, since the token that they make is not what its own symbols become, come last.
    """
    occurs = alone.last(chosen) >= 0
    never = np.flatnonzero(~occurs)
    never = never[np.argsort(alone.lengths[chosen[never]], kind="stable")]
    there = np.flatnonzero(occurs)
    among = np.cumsum(occurs) - 1  # the number of each pair among those that occur
    number = np.concatenate([np.arange(n_symbols), n_symbols + among])
    inner = number[pairs[occurs]]
    order = creation_order(inner, n_symbols)
    if order is not None:
        return _Ordered(np.concatenate([there[order], never]), pairs, False, {})
    runs = run_order(inner, n_symbols) if cut_runs else None
    if runs is not None and not alone.hold_longer_runs(chosen, runs.longest):
        order = creation_order(runs.pairs, n_symbols)
        if order is not None:
            outer = np.concatenate([np.arange(n_symbols), n_symbols + there[runs.order]])
            new = pairs.copy()
            new[there[runs.order]] = outer[runs.pairs]
            return _Ordered(np.concatenate([there[runs.order][order], never]), new, False, runs.longest)
    return _Ordered(np.concatenate([there, never]), pairs, True, {})


def _symbols(symbols: list[str], kind: str, value: dict[str, int]) -> tuple[list[str], list[int]]:
    """The names of the alphabet's symbols and the symbols; `value` holds the byte of each character. Integers are sorted."""
    if kind == "bytes" and (odd := next((token for token in symbols if token not in value), None)) is not None:
        raise ModelFormatError(f"vocab: {quoted(odd)} is not the character of a byte")
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


def _as_text(data: bytes) -> str | bytes:
    """Bytes as `str` if they are ASCII."""
    return data.decode() if data.isascii() else data


def names(alphabet: Alphabet, vocabulary: Vocabulary) -> list[str]:
    """The name of every token, by id; ValueError if a symbol of the alphabet has no character."""
    if alphabet.kind == "bytes":
        points = np.array([ord(letter) for letter in byte_characters()], np.uint32)[alphabet.symbols]
    elif alphabet.kind == "str":
        points = alphabet.symbols.astype(np.uint32)
        if (bad := np.flatnonzero((points >= 0xD800) & (points < 0xE000))).size:
            raise ValueError(f"alphabet: the surrogate U+{points[bad[0]]:04X} cannot be written to a file")
    else:
        if alphabet.size > MOST_INTEGERS:
            raise ValueError(
                f"alphabet: at most {MOST_INTEGERS} integers have characters to stand for them, there are {alphabet.size}"
            )
        index = np.arange(alphabet.size, dtype=np.uint32)
        points = np.where(index < _N_PRIVATE, index + _PRIVATE, index + (0x10000 - _N_PRIVATE)).astype(np.uint32)
    text = text_of(points[vocabulary.arena])
    starts = vocabulary.offsets.tolist()
    return [text[a:b] for a, b in itertools.pairwise(starts)]


def name_ids(names: list[str], ids: list[int]) -> dict[str, int]:
    """A dict of names and ids in order of ids; ValueError if two tokens of different ids have the same name."""
    if (np.diff(ids) > 0).all() and len(out := dict(zip(names, ids, strict=True))) == len(ids):
        return out
    out = {}
    for i, name in sorted(zip(ids, names, strict=True)):
        if out.setdefault(name, i) != i:
            raise ValueError(f"vocabulary: the tokens {out[name]} and {i} stand for the same symbols; other libraries allow one")
    return out
