"""Tables of the formats of other libraries: tokens with names and ids, and pairs of names in order of rank.

A name is text in which each symbol of the alphabet is one character. For a byte it is that of GPT-2's table,
for an integer one of the private use area. For example the bytes 32 and 97 ("a" after a space) are named
``Ġa``, the integers 0 and 1 U+E000 U+E001.

Pairs of names are kept as flat text, for tables of half a million, the left and the right part of each pair
side by side::

    pairs     ("a", "b"), ("ab", "é")
    text      a b ab é, in UTF-8: 6 bytes
    starts    0 1 2  4 6

If several pairs make one token, only one of them can occur in a text: the pair that is merged last when the
token is encoded by itself. With the pairs 0 = (b, c), 1 = (a, b), 2 = (ab, c), 3 = (a, bc)::

    abc    (b, c) has the lowest rank: a bc    then (a, bc): pair 3 occurs, pair 2 never
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.documents.read import text_of
from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.formats.kernels.byte_strings import NONE, numbers_of_pairs
from ubpe_numba.formats.kernels.last_merges import enter_ranks, last_merges, pairs_of_ranks
from ubpe_numba.formats.merge_order import creation_order, run_order
from ubpe_numba.runtime.arrays import offsets_of, writable
from ubpe_numba.runtime.lazy import cached_property
from ubpe_numba.text.characters import BYTE_OF, byte_characters, named_bytes
from ubpe_numba.text.normalizer import Normalizer
from ubpe_numba.text.splitter import Splitter
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.segmenter import Decoding
from ubpe_numba.vocabulary.unknown import Unknown
from ubpe_numba.vocabulary.vocabulary import Vocabulary

# the private use area; further integers are named by characters from U+10000 on
_PRIVATE, _N_PRIVATE = 0xE000, 6400
MOST_INTEGERS = _N_PRIVATE + 0x110000 - 0x10000
#: Limit of the steps to find the pairs of tokens, the square of the length for each: some tenth of a second.
#: In real files the sum is up to 13 million (Llama 4, o200k).
WORK = 1 << 27
_NOT_YET = -2
_MOST_ROUNDS = 64  # of leaving out pairs whose parts nothing makes
#: Pairs of names by rank: all left parts, and all right parts.
Pairs = tuple[list[str], list[str]]


class Table(NamedTuple):
    """A tokenizer in the formats of other libraries, with our ids: symbols first, then pairs by rank."""

    kind: str  # "bytes", "str" or "int"
    symbols: list[int]  # of the alphabet, by id: bytes, code points or integers
    merges: np.ndarray  # int32[m, 2], pairs of ids; pair i makes the id len(symbols) + i
    token_ids: np.ndarray  # int64[V], the id in the other library of each of these ids
    special: dict[Any, int]  # special tokens and their ids in the other library
    known: dict[Any, int]  # as above, for the known words, which are found in every text
    pattern: str | None  # splits text; None if text is not split
    whole: bool = False  # whether a word that equals a token becomes it before any merge
    one_by_one: bool = False  # whether order matters even between merges of the same pair: see merge_order.py
    splitter: Splitter | None = None  # instead of a pattern
    normalizer: Normalizer | None = None
    unknown: Unknown | None = None  # the rule for characters without tokens
    decoding: Decoding | None = None  # how texts of tokens are joined
    flags: dict[Any, int] = {}  # noqa: RUF012  # of special tokens and known words; see Reserved
    shared: bool = False  # whether a special token or a known word may be a token of the vocabulary too
    runs: dict[int, int] = {}  # noqa: RUF012  # text is split after so many of a code point: merge_order.py
    stand_in: str | bytes | None = None  # the constructor's `unknown`: a symbol or a special token
    file: dict[str, Any] | None = None  # see Segmenter


def symbol_character(index: int) -> str:
    r"""The character that names symbol `index` of an alphabet of integers.

    The private use area comes first, then U+10000 and on.

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
    """Check a dict of names and ids, called `name` in messages, and return it.

    ModelFormatError if it is not valid.
    """
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
            raise ModelFormatError(
                f"{name}: {quoted(token)}: expected an id in 0..{most - 1}, got {quoted(i)}"
            )
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


# ---------------------------------------------------------------------------------------------------- pairs
# of names


def flat_names(names: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Names as one text of UTF-8, uint8, and the beginnings of names, and the end, int64[n + 1].

    >>> flat_names(["a", "é"])[1].tolist()
    [0, 1, 3]
    """
    data = writable(np.frombuffer("".join(names).encode("utf-8", "surrogatepass"), np.uint8))
    starts = offsets_of(np.fromiter(map(len, names), np.int64, len(names)))
    if data.size > starts[-1]:
        starts = np.append(np.flatnonzero(data & 0xC0 != 0x80), data.size)[starts]
    return data, starts


class NamePairs:
    """Pairs of names by rank in flat text, as above: pair i is the names 2 i and 2 i + 1."""

    def __init__(self, text: np.ndarray, starts: np.ndarray) -> None:
        self.text, self.starts = text, starts

    @classmethod
    def of(cls, pairs: Pairs | NamePairs) -> NamePairs:
        """Pairs of two lists, or pairs themselves."""
        if isinstance(pairs, NamePairs):
            return pairs
        return cls(*flat_names(list(itertools.chain.from_iterable(zip(*pairs, strict=True)))))

    def __len__(self) -> int:
        return self.starts.size // 2

    def __getitem__(self, i: int) -> tuple[str, str]:
        begin, middle, end = self.starts[2 * i : 2 * i + 3].tolist()
        data = self.text[begin:end].tobytes()
        left, right = data[: middle - begin], data[middle - begin :]
        return left.decode("utf-8", "surrogatepass"), right.decode("utf-8", "surrogatepass")

    def lists(self) -> Pairs:
        """All left parts, and all right parts."""
        names = [self[i] for i in range(len(self))]
        return [left for left, _ in names], [right for _, right in names]

    def of_those(self, which: np.ndarray) -> NamePairs:
        """Some of the pairs, bool[m]. O(bytes).

        >>> NamePairs.of((["a", "b"], ["é", "c"])).of_those(np.array([False, True])).lists()
        (['b'], ['c'])
        """
        sizes, chosen = np.diff(self.starts), np.repeat(which, 2)
        return NamePairs(self.text[np.repeat(chosen, sizes)], offsets_of(sizes[chosen]))

    def ids(self, vocab: dict[str, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Ids of left parts, right parts, and of the joined names, int64[m] each; -1 for unknown names.

        No name of the vocabulary is empty. ModelFormatError for names that are chosen to collide in a hash
        table. O(bytes).

        >>> NamePairs.of((["a"], ["b"])).ids({"a": 5, "ab": 6})
        (array([5]), array([-1]), array([6]))
        """
        text, starts = flat_names(list(vocab))
        values = np.concatenate([text, self.text, np.zeros(8, np.uint8)])
        table = np.full(4 << len(vocab).bit_length(), -1, np.int64)
        numbers = np.empty((3, len(self)), np.int32)
        if not numbers_of_pairs(values, starts, self.starts + text.size, table, numbers):
            raise ModelFormatError(
                "vocab: the tokens collide in a hash table, as only tokens do that are chosen for that"
            )
        ids = np.fromiter(itertools.chain(vocab.values(), [-1]), np.int64, len(vocab) + 1)
        left, right, joined = ids[numbers]
        return left, right, joined


# ---------------------------------------------------------------------------------------------------- pairs
# that occur


def with_parts(left: np.ndarray, right: np.ndarray, made: np.ndarray, symbols: np.ndarray) -> np.ndarray:
    """Mask of the pairs whose parts are symbols, or made by other pairs of the mask: bool[m].

    O(pairs) per level.

    `left`, `right`, `made` int64[m] are the ids of the parts and of the joined token, `symbols` the ids of
    symbols. Other pairs never occur. ModelFormatError for more than 64 levels.

    >>> with_parts(np.array([0, 7, 8]), np.array([1, 7, 0]), np.array([6, 8, 9]), np.array([0, 1])).tolist()
    [True, False, False]
    """
    is_symbol = np.zeros(max(map(int, map(np.max, (left, right, made)))) + 1 if left.size else 0, bool)
    is_symbol[symbols[symbols < is_symbol.size]] = True
    there = np.ones(left.size, bool)
    for _ in range(_MOST_ROUNDS):
        known = is_symbol.copy()
        known[made[there]] = True
        known_pairs = there & known[left] & known[right]
        if known_pairs.sum() == there.sum():
            return there
        there = known_pairs
    raise ModelFormatError(
        f"merges: there are more than {_MOST_ROUNDS} levels of pairs whose parts nothing makes"
    )


def last_of_each(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Mask of the last occurrence of each distinct pair, bool[m]. O(m log m).

    >>> last_of_each(np.array([5, 6, 5]), np.array([7, 7, 7])).tolist()
    [False, True, True]
    """
    keys = left << 32 | right
    order = np.argsort(keys, kind="stable")
    is_last = np.ones(left.size, bool)
    is_last[order[:-1]] = np.diff(keys[order]) != 0
    return is_last


def pairs_by_rank(values: np.ndarray, symbols: np.ndarray, starts: np.ndarray, n: int) -> np.ndarray:
    """The two tokens merged last when each token but the first n is encoded by itself.

    int32[V - n, 2]; -1 for none.

    Arguments as of the kernel `pairs_of_ranks`. ModelFormatError for tokens that are too long, chosen to
    collide in a hash table, or equal.

    >>> values = np.array([*b"abab", *bytes(8)], np.uint8)  # the tokens a, b, ab
    >>> pairs_by_rank(values, np.array([0, 1, 0, 1], np.int32), np.array([0, 1, 2, 4]), 2)
    array([[0, 1]], dtype=int32)
    """
    sizes = np.diff(starts) // ((values.size - 8) // symbols.size)
    if float((sizes[n:].astype(np.float64) ** 2).sum()) > WORK:
        raise ModelFormatError("tokens are too long to find out what they are made of")
    pairs, two = np.empty((sizes.size - n, 2), np.int32), np.full(1 << 16, NONE, np.int32)
    table = np.full(4 << sizes.size.bit_length(), -1, np.int64)
    ends, ranks, parts = np.empty((3, int(sizes.max())), np.int32)
    twice = pairs_of_ranks(values, symbols, starts, n, two, table, ends, ranks, parts, pairs)
    if twice >= 0:
        raise ModelFormatError(
            f"the token {quoted(values[starts[twice] : starts[twice + 1]].tobytes())} is there twice"
        )
    if twice != -1:
        raise ModelFormatError(
            "the tokens collide in a hash table, as only tokens do that are chosen for that"
        )
    return pairs


class MergedAlone:
    """Encoding of tokens of pairs, each by itself; its tables are made when they are first needed.

    `by_rank` are the ids of the parts of every pair and of the token that it makes, int64[m] each, `letters`
    the ids of symbols and these.
    """

    def __init__(
        self, pairs: NamePairs, by_rank: tuple[np.ndarray, ...], letters: list[tuple[int, str]]
    ) -> None:
        self.pairs, self.letters = pairs, letters
        self._starts, self._by_rank = pairs.starts[::2].copy(), by_rank

    @cached_property
    def lengths(self) -> np.ndarray:
        """Symbols of the token of every pair, int64[m]."""
        return np.add.reduceat(
            (self.pairs.text & 0xC0 != 0x80).view(np.uint8), self._starts[:-1], dtype=np.int64
        )

    @cached_property
    def _tables(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Pairs as `last_merges` looks them up; the symbol's id of each code point; results by token.

        -1 for a code point without a symbol.
        """
        left, right, _ = self._by_rank
        entries = np.full(4 << max(2, left.size.bit_length()), -1, np.int64)
        enter_ranks(left.astype(np.int32), right.astype(np.int32), entries)
        id_of = np.full(0x110000, -1, np.int32)
        id_of[[ord(letter) for _, letter in self.letters]] = [i for i, _ in self.letters]
        return entries, id_of, np.full(int(self._by_rank[2].max()) + 1, _NOT_YET, np.int64)

    def last(self, which: np.ndarray) -> np.ndarray:
        """The rank of the last merge in the tokens of some pairs, int64; -1 if several tokens remain."""
        rank_of = self._by_rank[2]
        entries, id_of, known = self._tables
        todo = which[known[rank_of[which]] == _NOT_YET]
        if todo.size:
            if float((self.lengths[todo].astype(np.float64) ** 2).sum()) > WORK:
                raise ModelFormatError("merges: too many tokens, or too long ones, are made by several pairs")
            ends, ranks, parts = np.empty((3, int(np.diff(self._starts).max())), np.int32)
            last = np.empty(todo.size, np.int64)
            tokens = rank_of.astype(np.int32)
            last_merges(self.pairs.text, self._starts, todo, id_of, tokens, entries, ends, ranks, parts, last)
            known[rank_of[todo]] = last
        last_ranks: np.ndarray = known[rank_of[which]]
        return last_ranks


def pairs_that_occur(
    pairs_of_names: NamePairs, left: np.ndarray, right: np.ndarray, made: np.ndarray, alone: MergedAlone
) -> np.ndarray:
    """For every token its pair that can occur, or its first if none can: ascending ranks, int64.

    It is the last pair that is merged when the token is encoded by itself. `left`, `right`, `made` int64[m]
    are the ids of the parts and of the token that they join to.
    """
    keys = left << 32 | right
    ordered = np.sort(keys)
    if (ordered[1:] == ordered[:-1]).any():
        order = np.argsort(keys, kind="stable")
        i = order[np.flatnonzero(np.diff(keys[order]) == 0)].min()
        raise ModelFormatError(f"merges: the pair {quoted(pairs_of_names[int(i)])} is there twice")
    is_only = np.bincount(made)[made] == 1
    if is_only.all():
        return np.arange(made.size)
    several = np.flatnonzero(~is_only)
    rank = np.full(int(made.max()) + 1, -1)
    rank[made[several[::-1]]] = several[::-1]  # the first of each token, which is written last
    first = np.sort(rank[rank >= 0])
    last = alone.last(first)
    return np.sort(np.concatenate([np.flatnonzero(is_only), np.where(last < 0, first, last)]))


# ---------------------------------------------------------------------------------------------------- tables


def from_names(
    vocab: dict[str, int], merges: Pairs | NamePairs, kind: str, special: dict[str, int], known: dict[str, int],
    pattern: str | None, whole: bool = False, all_letters: bool = False, loose: bool = False, cut_runs: bool = False,
) -> Table:  # fmt: skip
    """The table of tokens that have names; ids of names, `merges` by rank, the rest as in `Table`.

    Tokens that are neither symbols nor made by a pair, such as the special tokens of a `vocab.json`, become
    special tokens too. If several pairs make one token, only the pair that can occur is kept (see
    `pairs_that_occur`). ModelFormatError for a pair that occurs twice or whose parts or result lack ids, for
    a name that is not valid, or for too much work.

    A special token or known word of a single character is also a symbol if a pair needs it, or with
    `all_letters`. `loose` reads files as Hugging Face does. Then a special token or a known word may be a
    token of the vocabulary too, and names may have characters of no byte. Pairs may occur twice, of which the
    last counts, or have a part that nothing makes: no text has it. With `cut_runs` the caller splits text
    within the `runs` of the table, after every so many of a character.

    >>> from_names({"a": 0, "b": 1, "ab": 2, "<s>": 3}, (["a"], ["b"]), "str", {}, {}, None)[1:6]
    ([97, 98], array([[0, 1]], dtype=int32), array([0, 1, 2]), {'<s>': 3}, {})
    """
    pairs_of_names = NamePairs.of(merges)
    left, right, joined = pairs_of_names.ids(vocab)
    if (missing := np.flatnonzero((left < 0) | (right < 0) | (joined < 0))).size:
        parts = pairs_of_names[int(missing[0])]
        token = next(token for token in (*parts, "".join(parts)) if token not in vocab)
        raise ModelFormatError(f"merges[{missing[0]}]: {quoted(token)} is not in the vocabulary")
    used = np.zeros(max(vocab.values()) + 1, bool)  # by ids of `vocab`, like `number`
    used[left] = used[right] = used[joined] = True
    added = {**special, **known}
    value = BYTE_OF if kind == "bytes" else {}
    single = [
        token for token in vocab if len(token) == 1 and (not loose or kind != "bytes" or token in value)
    ]
    letters = sorted(
        (vocab[token], token) for token in single if all_letters or token not in added or used[vocab[token]]
    )
    symbols, values = _symbols([token for _, token in letters], kind, value)
    symbol_ids = np.fromiter(map(vocab.__getitem__, symbols), np.int64, len(symbols))
    if loose and not (there := last_of_each(left, right) & with_parts(left, right, joined, symbol_ids)).all():
        pairs_of_names, left, right, joined = (
            pairs_of_names.of_those(there),
            left[there],
            right[there],
            joined[there],
        )
    alone = MergedAlone(pairs_of_names, (left, right, joined), letters)
    chosen = pairs_that_occur(pairs_of_names, left, right, joined, alone)
    token_ids, pairs, number = _numbered(symbol_ids, left, right, joined, chosen, used.size)
    one_by_one, runs = False, dict[int, int]()
    if (pairs.max(axis=1, initial=-1) >= len(symbols) + np.arange(len(pairs))).any() and pairs.min(
        initial=0
    ) >= 0:
        order, pairs, one_by_one, longest = _in_order_of_creation(
            alone, chosen, pairs, len(symbols), cut_runs
        )
        runs = {values[symbol]: n for symbol, n in longest.items()}
        left[chosen], right[chosen] = token_ids[pairs].T
        chosen = chosen[order]
        token_ids, pairs, number = _numbered(symbol_ids, left, right, joined, chosen, used.size)
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
        spelled = (
            (t if t.isascii() or not BYTE_OF.keys() >= set(t) else named_bytes(t), i) for t, i in rest.items()
        )
        rest = {word: i for word, i in spelled if word not in added}
    return Table(
        kind,
        values,
        pairs,
        token_ids,
        {**special, **rest},
        known,
        pattern,
        whole,
        one_by_one,
        shared=loose,
        runs=runs,
    )


def _numbered(
    symbol_ids: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    made: np.ndarray,
    chosen: np.ndarray,
    size: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The ids of all tokens, symbols first; chosen pairs by numbers of tokens; the number of each id.

    -1 for an id without a number.
    """
    token_ids = np.concatenate([symbol_ids, made[chosen]])
    number = np.full(size, -1, np.int32)
    number[token_ids] = np.arange(token_ids.size)
    return token_ids, number[np.stack([left[chosen], right[chosen]], axis=1)], number


def _in_order_of_creation(
    alone: MergedAlone, chosen: np.ndarray, pairs: np.ndarray, n_symbols: int, cut_runs: bool
) -> tuple[np.ndarray, np.ndarray, bool, dict[int, int]]:
    """Order of `chosen` pairs that encodes as they do by rank.

    Those of a run may become others, with `cut_runs`.

    The result is int64[m] their order, int64[m, 2] the pairs in the original order, and whether they must be
    merged one by one. Then the number of symbols after which text must be split, by symbol. Pairs that never
    occur, since their token is not the encoding of its own symbols, come last.
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
        return np.concatenate([there[order], never]), pairs, False, {}
    if cut_runs and (in_runs := run_order(inner, n_symbols)) is not None:
        new, by_run, longest = in_runs
        too_long = [alone.letters[symbol][1] * (n + 1) for symbol, n in longest.items()]
        long = chosen[alone.lengths[chosen] > min(longest.values())]
        tokens = ["".join(alone.pairs[i]) for i in long.tolist()]
        held = any(run in token for run in too_long for token in tokens)
        if not held and (order := creation_order(new, n_symbols)) is not None:
            outer = np.concatenate([np.arange(n_symbols), n_symbols + there[by_run]])
            changed = pairs.copy()
            changed[there[by_run]] = outer[new]
            return np.concatenate([there[by_run][order], never]), changed, False, longest
    return np.concatenate([there, never]), pairs, True, {}


def _symbols(symbols: list[str], kind: str, value: dict[str, int]) -> tuple[list[str], list[int]]:
    """The names of the alphabet's symbols and the symbols; `value` holds the byte of each character.

    Integers are sorted.
    """
    if (
        kind == "bytes"
        and (odd := next((token for token in symbols if token not in value), None)) is not None
    ):
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


def names(alphabet: Alphabet, vocabulary: Vocabulary) -> list[str]:
    """The name of every token, by id; ValueError for a symbol without a character."""
    if alphabet.kind == "bytes":
        points = np.array([ord(letter) for letter in byte_characters()], np.uint32)[alphabet.symbols]
    elif alphabet.kind == "str":
        points = alphabet.symbols.astype(np.uint32)
        if (bad := np.flatnonzero((points >= 0xD800) & (points < 0xE000))).size:
            raise ValueError(f"alphabet: the surrogate U+{points[bad[0]]:04X} cannot be written to a file")
    else:
        if alphabet.size > MOST_INTEGERS:
            raise ValueError(
                f"alphabet: at most {MOST_INTEGERS} integers have characters, there are {alphabet.size}"
            )
        index = np.arange(alphabet.size, dtype=np.uint32)
        points = np.where(index < _N_PRIVATE, index + _PRIVATE, index + (0x10000 - _N_PRIVATE)).astype(
            np.uint32
        )
    text = text_of(points[vocabulary.arena])
    starts = vocabulary.offsets.tolist()
    return [text[a:b] for a, b in itertools.pairwise(starts)]


def name_ids(names: list[str], ids: list[int]) -> dict[str, int]:
    """A dict of names and ids in order of ids.

    ValueError if two tokens of different ids have the same name.
    """
    if (np.diff(ids) > 0).all() and len(out := dict(zip(names, ids, strict=True))) == len(ids):
        return out
    out = {}
    for i, name in sorted(zip(ids, names, strict=True)):
        if out.setdefault(name, i) != i:
            raise ValueError(
                f"vocabulary: the tokens {out[name]} and {i} have the same symbols; other libraries allow one"
            )
    return out
