"""Reserved sequences: special tokens, known words, break and stop tokens, in one table with one search.

A row of the table is a sequence of symbols, with its effect. Words are removed from documents and become
their ids. Symbols stay in the alphabet, each as a token of its own that no other token crosses::

    symbols  "<s>[m]|."
    begin    end    id    flags
        0      3     7    SPECIAL      a special token: found only in calls that allow it
        3      6     8    LSTRIP       a known word, found in every document, with the white space before it
        6      7    -1    BREAK        a break token: documents are split at it, before the pre-tokenizer
        7      8    -1    STOP         a stop token: segments are split at it; without a pre-tokenizer as BREAK

Over integers a special token may have a name in the place of symbols: no document holds it. Words from
elsewhere may have further flags: they are not parts of longer words (SINGLE_WORD), they are searched in
normalized text (NORMALIZED), or never searched, only decoded (ONLY_DECODED).
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Hashable, Iterable, Mapping, Set
from typing import Any

import numpy as np

from ubpe_numba.documents.flat import Named
from ubpe_numba.documents.read import Corpus, Documents, as_document, text_of, utf8_document
from ubpe_numba.errors import ModelFormatError, listed, quoted
from ubpe_numba.runtime.arrays import describe, distinct, offsets_of
from ubpe_numba.runtime.schema import Field, Schema, integers_of, pickled
from ubpe_numba.vocabulary.alphabet import SPARE, Alphabet, shown_symbol
from ubpe_numba.vocabulary.vocabulary import Vocabulary

__all__ = ["Reserved", "SpecialChoice", "Word"]

Word = str | bytes | tuple[int, ...]
#: The arguments `allowed_special` and `disallowed_special` of a call of `encode`.
SpecialChoice = tuple[Any, Any]

#: The table: begin and end of the symbols of a row, the id that they become (-1: they stay symbols), and
#: flags.
RESERVED = np.dtype([("begin", np.int64), ("end", np.int64), ("id", np.int32), ("flags", np.uint16)])
#: Flags of words in model files and in `tokenizer.json`. White space to the left or right belongs to the
#: word. It is not part of a longer word. It is found in normalized text. It is found in no text.
LSTRIP, RSTRIP, SINGLE_WORD, NORMALIZED, ONLY_DECODED = 1, 2, 4, 8, 16
# as a tokenizer.json has them
FLAGS = {"lstrip": LSTRIP, "rstrip": RSTRIP, "single_word": SINGLE_WORD, "normalized": NORMALIZED}
#: Flags of rows: a special token, not a known word; a break token; a stop token.
SPECIAL, BREAK, STOP = 32, 64, 128
_SIDES = LSTRIP | RSTRIP | SINGLE_WORD
_STORED = _SIDES | NORMALIZED | ONLY_DECODED

_NONE = np.zeros(0, np.int64)
# up to this many words are searched with `bytes.find` first; only if one occurs does the automaton run
_SEARCH = 16
_CHUNK = 1 << 20  # symbols that are looked up at a time
_PIECE, _LARGEST_PIECE = 64, 1 << 12  # symbols that are looked at together for white space; at least three
_DTYPES = {"int": np.int64, "str": np.uint32, "bytes": np.uint8}
_EXPECTED = {"int": "integers", "str": "single characters", "bytes": "single bytes"}
# types of symbols other than integers
_CHARACTERS: dict[str, Any] = {"int": (), "str": str, "bytes": (bytes, bytearray, str)}


class Reserved:
    """The reserved sequences of a tokenizer: w words, then break and stop tokens. Frozen.

    Attributes
    ----------
    kind : str
        What they are made of: ``"int"``, ``"str"`` or ``"bytes"``.
    words : tuple
        The words: `str`, `bytes` or tuples of integers.
    rows, values : RESERVED[n], ndarray
        The table, words first, and the symbols that its rows point to, as `Documents` holds them.
    ids, flags, lengths, offsets : int32[w], uint16[w], int64[w], int64[w + 1]
        Ids, flags and numbers of symbols of the words, and where their symbols begin in `values`.
    always, found, late, named : bool[w]
        Which words are known words, found in every document; are found in texts at all; are found in
        normalized text; are names.
    has_symbols, has_stops, has_flags : bool
        Whether the table has break or stop tokens; stop tokens; a word that matches more than its symbols, or
        other symbols.
    shared : bool
        Whether a word may have the id of a token of the vocabulary.
    number : dict
        The index of each word.
    """

    def __init__(
        self, kind: str, words: tuple[Word, ...], ids: np.ndarray, flags: np.ndarray,
        breaks: np.ndarray = _NONE,
        stops: np.ndarray = _NONE, shared: bool = False,
    ) -> None:  # fmt: skip
        """Store words with ids and flags, and symbols, int64[k] ascending.

        ValueError for an empty or duplicate word.
        """
        self.kind, self.words, self.shared = kind, words, shared
        read = utf8_document if kind == "bytes" else as_document
        is_name = np.array([kind == "int" and isinstance(word, str) for word in words], bool)
        parts = [_NONE if named else read(word).values for word, named in zip(words, is_name, strict=True)]
        for word in words:
            if not word:
                raise ValueError(f"special_tokens: {quoted(word)} is empty")
        if len(
            {
                word if named else part.tobytes()
                for word, part, named in zip(words, parts, is_name, strict=True)
            }
        ) < len(words):
            raise ValueError("special_tokens: one is there twice, or is a known word too")
        symbols = np.concatenate([breaks, stops])
        self.values = np.concatenate([*parts, symbols.astype(_DTYPES[kind])])
        if kind == "int" and -(2**31) <= self.values.min(initial=0) <= self.values.max(initial=0) < 2**31:
            # so that decoded documents are not wider than without words
            self.values = self.values.astype(np.int32)
        w, bounds = (
            len(words),
            offsets_of(np.array([part.size for part in parts] + [1] * symbols.size, np.int64)),
        )
        self.rows = np.zeros(w + symbols.size, RESERVED)
        self.rows["begin"], self.rows["end"] = bounds[:-1], bounds[1:]
        self.rows["id"] = np.concatenate([ids, np.full(symbols.size, -1)])
        flags = flags | np.where(is_name, ONLY_DECODED, 0).astype(np.uint16)
        self.rows["flags"] = np.concatenate([flags, np.full(breaks.size, BREAK), np.full(stops.size, STOP)])
        self.ids, self.flags = self.rows["id"][:w].copy(), self.rows["flags"][:w].copy()
        self.offsets, self.lengths = bounds[: w + 1], np.diff(bounds[: w + 1])
        self.always, self.found = self.flags & SPECIAL == 0, self.flags & ONLY_DECODED == 0
        self.late, self.named = self.flags & NORMALIZED > 0, is_name
        self.has_symbols, self.has_stops = symbols.size > 0, stops.size > 0
        self.has_flags = bool((self.flags & (_SIDES | NORMALIZED)).any())
        self.number = {word: i for i, word in enumerate(words)}
        # made when they are needed; no cached_property: that of Python 3.11 has a lock, which a fork may copy
        # held
        self._choices: dict[Any, tuple[np.ndarray, np.ndarray]] = {}
        self._symbols: dict[int, Alphabet] = {}
        self._normalized: tuple[Callable[[str], str] | None, tuple[Reserved, np.ndarray]] | None = None
        self._finder: tuple[Alphabet, np.ndarray, np.ndarray, np.ndarray] | None = None

    def __reduce__(self) -> tuple[object, ...]:
        symbols = self.symbols(BREAK), self.symbols(STOP)
        return pickled(
            Reserved, copy.copy(self.kind), self.words, self.ids, self.flags, *symbols, self.shared
        )

    # ---------------------------------------------------------------------------------------------- reading
    # arguments

    @classmethod
    def from_user(
        cls, special: Any, known: Any, kind: str, size: int | None, flags: Mapping[Word, int] | None = None,
        shared: bool = False,
        first: bool = False, breaks: Any = None, stops: Any = None,
    ) -> Reserved | None:  # fmt: skip
        """Read `special_tokens`, `known_words`, `break_tokens` and `stop_tokens`; None if all are empty.

        `special` and `known` are lists of words or mappings of words to ids. Words of a list get the next ids
        from `size` on, special tokens first. `size` is the number of other ids of the tokenizer, or None
        before a fit (all ids are then 0). With `first`, special tokens in a list get the ids 0, 1, ...
        instead, and the other ids follow them. `breaks` and `stops` are iterables of symbols: integers,
        characters, or bytes (integers, `bytes` of length 1 or ASCII characters). A symbol in both is a break
        token. TypeError for other types and for words that are not of the `kind`. ValueError for a duplicate
        word or id, an id far above the others, or a symbol out of range.

        >>> made = Reserved.from_user(["<s>"], ["ab"], "str", 5, breaks="|")
        >>> made.rows.tolist(), made.symbols(BREAK).tolist()
        ([(0, 3, 5, 32), (3, 5, 6, 0), (5, 6, -1, 64)], [124])
        """
        if isinstance(kind, Named):  # names that documents do not have get further numbers
            others = [*_names(breaks, "break_tokens"), *_names(stops, "stop_tokens")]
            if not kind.number.keys() >= {*others}:
                kind = Named(tuple(dict.fromkeys((*kind.names, *others))), kind)
        words: list[Word] = []
        ids_or_none: list[int | None] = []
        masks: list[int] = []
        for name, value in (("special_tokens", special), ("known_words", known)):
            if value is None:
                continue
            # ids need an order; a set has none
            if isinstance(value, (str, bytes, Set)) or not isinstance(value, Iterable):
                raise TypeError(
                    f"{name}: expected a list of words or a mapping of words to ids, got {describe(value)}"
                )
            in_front = first and name == "special_tokens"
            if in_front and isinstance(value, Mapping):
                raise ValueError(
                    "special_first: special_tokens is a mapping, which says the ids itself; expected a list"
                )
            for word in value:
                number = len(words) if in_front else None
                if isinstance(value, Mapping):
                    number = value[word]
                    if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
                        raise TypeError(f"{name}: {quoted(word)}: expected an id, got {describe(number)}")
                    if number < 0:
                        raise ValueError(
                            f"{name}: {quoted(word)}: expected an id of at least 0, got {quoted(number)}"
                        )
                    number = int(number)
                words.append(_word(word, kind, name))
                ids_or_none.append(number)
                masks.append((flags or {}).get(words[-1], 0) | (SPECIAL if name == "special_tokens" else 0))
        n_first = sum(m & SPECIAL > 0 for m in masks) if first else 0
        ids = [0] * len(words) if size is None else _ids(ids_or_none, size + n_first, shared)
        alone, ending = _symbols(breaks, kind, "break_tokens"), _symbols(stops, kind, "stop_tokens")
        if not words and not alone.size + ending.size:
            return None
        ending = ending[~np.isin(ending, alone)]
        return cls(
            kind, tuple(words), np.array(ids, np.int32), np.array(masks, np.uint16), alone, ending, shared
        )

    def with_ids(self, ids: np.ndarray) -> Reserved:
        """Replace the ids of the words."""
        return Reserved(
            self.kind, self.words, ids, self.flags, self.symbols(BREAK), self.symbols(STOP), self.shared
        )

    def symbols_only(self) -> Reserved | None:
        """The break and stop tokens alone; None if there are none."""
        none = np.zeros(0, np.int32)
        return (
            Reserved(self.kind, (), none, none, self.symbols(BREAK), self.symbols(STOP))
            if self.has_symbols
            else None
        )

    # ---------------------------------------------------------------------------------------------- words

    def active(self, chosen: SpecialChoice | None) -> tuple[np.ndarray, np.ndarray]:
        """bool[w] twice, not to be written to: the words to look for, and those of them that are an error.

        O(words), once.

        None: all that texts may hold, and none is an error. Kept for choices that name no word: a short
        document does not wait for a look at a hundred thousand words. TypeError or ValueError for a choice
        that is not valid.
        """
        if chosen is None:
            return self.found, np.zeros(len(self.words), bool)
        named = not all(isinstance(part, str) for part in chosen)
        if not named and chosen in self._choices:
            return self._choices[chosen]
        some = self.found & ~self.always
        allowed = self._chosen(chosen[0], "allowed_special", some)
        forbidden = self._chosen(chosen[1], "disallowed_special", some & ~allowed)
        masks = self.always | allowed | forbidden, forbidden
        if not named:
            self._choices[chosen] = masks
        return masks

    def _chosen(self, names: Any, name: str, all_of: np.ndarray) -> np.ndarray:
        """The words that an argument names, bool[w].

        ``"all"`` means those of `all_of`, ``"none"`` no word; otherwise special tokens.
        """
        out = np.zeros(len(self.words), bool)
        if isinstance(names, str):
            if names not in ("all", "none"):
                raise ValueError(
                    f"{name}: expected 'all', 'none' or a set of special tokens, got {quoted(names)}"
                )
            return all_of.copy() if names == "all" else out
        if not isinstance(names, Iterable):
            raise TypeError(
                f"{name}: expected 'all', 'none' or a set of special tokens, got {describe(names)}"
            )
        for word in names:
            i = self.number.get(tuple(word) if isinstance(word, list) else word)
            if i is None or self.always[i] or not self.found[i]:
                has = (
                    listed([w for w, is_of_all in zip(self.words, all_of, strict=True) if is_of_all], 8)
                    or "none"
                )
                raise ValueError(
                    f"{name}: {quoted(word)} is not a special token of this tokenizer, which has {has}"
                )
            out[i] = True
        return out

    def normalized(self, change: Callable[[str], str] | None) -> tuple[Reserved, np.ndarray]:
        """The words that are found in normalized text, normalized, and the index of each here, int64.

        If several become equal, the first is found. A word that becomes empty stays as it is.
        """
        cached = self._normalized
        if cached is None or cached[0] != change:
            index: dict[Word, int] = {}
            for i in np.flatnonzero(self.late).tolist():
                word = self.words[i]
                changed = change(word) if change is not None and isinstance(word, str) else word
                index.setdefault(changed or word, i)
            at = np.array(list(index.values()), np.int64)
            reserved = Reserved(self.kind, tuple(index), self.ids[at], self.flags[at], shared=self.shared)
            cached = self._normalized = change, (reserved, at)
        return cached[1]

    def shown(self, change: Callable[[str], str], restore: Callable[[str], str]) -> dict[int, str]:
        """Words that are found in normalized text with another text: that text, restored, by id."""
        changed, index = self.normalized(change) if self.late.any() else (self, _NONE)
        pairs = zip(index.tolist(), changed.words, strict=False)
        return {int(self.ids[i]): text for i, word in pairs if (text := restore(str(word))) != self.words[i]}

    def left_out(self, shown: Mapping[int, str]) -> np.ndarray:
        """The ids, int64, of words whose text is a special token, if others are `shown` as other text."""
        is_special = ~self.always & (self.found | self.named)
        others = [i for i, word in shown.items() if word in self.number and is_special[self.number[word]]]
        own: np.ndarray = self.ids[is_special].astype(np.int64)
        return np.append(own[~np.isin(own, [*shown])], np.array(others, np.int64))

    def find(self, documents: Documents, active: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Find `active` words (bool[w]): ascending flat positions and word indices, int64[k] each.

        Among overlapping words the leftmost is found, and among those at one position the longest (see
        `find_words`). O(symbols).
        """
        values, offsets, _ = documents
        if values.size == 0 or not active.any():
            return _NONE, _NONE
        if self.kind != "int" and len(self.words) <= _SEARCH and values.dtype == self.values.dtype:
            data, bounds = values.tobytes(), self.offsets  # a plain search is faster if it finds nothing
            if not any(
                self.values[bounds[i] : bounds[i + 1]].tobytes() in data for i in np.flatnonzero(active)
            ):
                return _NONE, _NONE
        from ubpe_numba.runtime.tables import automaton  # here: most documents do not have these words
        from ubpe_numba.vocabulary.kernels import find_words

        # the alphabet of the symbols in words, their automaton, and the word of each of its tokens
        if self._finder is None:
            symbols, lengths = self.values[: self.offsets[-1]], self.lengths
            alphabet = Alphabet.from_symbols(np.unique(symbols), self.kind)
            ids, n = alphabet.lookup(symbols), alphabet.size
            multiple, single = np.flatnonzero(lengths > 1), np.flatnonzero(lengths == 1)
            word_of = np.full(n + multiple.size, -1, np.int32)  # -1 for other symbols
            word_of[n:] = multiple
            word_of[ids[self.offsets[single]]] = single
            arena = np.concatenate([np.arange(n, dtype=np.int32), ids[np.repeat(lengths > 1, lengths)]])
            edges, states, *_ = automaton.automaton_of(
                n, arena, np.concatenate([np.ones(n, np.int64), lengths[multiple]])
            )
            self._finder = alphabet, edges, states, word_of
        alphabet, edges, states, word_of = self._finder
        word_at = np.empty(values.size, np.int32)
        rest = word_of, self.lengths, active.view(np.uint8), word_at
        n = find_words.find_words(alphabet.lookup(values), offsets, edges, states, *rest)
        at = np.flatnonzero(word_at >= 0) if n else _NONE
        return at, word_at[at].astype(np.int64)

    def within(
        self, documents: Documents, at: np.ndarray, words: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of words found by `find`, those that their flags allow: where, which, number of symbols.

        All are int64[k].

        White space that belongs to a word is part of it, and may also begin another word. As in the package
        tokenizers, a word that is not allowed still hides those that it overlaps. O(words + the white space
        around them).
        """
        sizes = self.lengths[words]
        if not (self.flags[words] & _SIDES).any():
            return at, words, sizes
        values, offsets, _ = documents
        spans: list[tuple[int, int, int]] = []
        # the latter: the end of white space after a word, in which words may also begin
        done = spaces_end = 0
        bounds = offsets[np.searchsorted(offsets, at, side="right")[:, None] + np.array([-1, 0])].tolist()
        for start, word, size, (begin, end) in zip(
            at.tolist(), words.tolist(), sizes.tolist(), bounds, strict=True
        ):
            flags, stop, first = int(self.flags[word]), start + size, max(done, begin)
            if flags & SINGLE_WORD:
                before = _readable(values[max(begin, start - 4) : start])[-1:]
                if is_of_word(before) or is_of_word(_readable(values[stop : min(end, stop + 4)])[:1]):
                    continue
            # a character of white space has up to three symbols
            if flags & RSTRIP and n_spaces(values[stop : min(end, stop + 3)], False):
                if stop >= spaces_end:
                    spaces_end = stop + n_spaces(values[stop:end], False)
                stop = spaces_end
            if flags & LSTRIP:
                start = max(done, start - n_spaces(values[first:start], True))
            if start < stop:
                spans.append((start, word, stop - start))
                done = stop
        return tuple(np.array(spans, np.int64).reshape(-1, 3).T)  # type: ignore[return-value]

    # ---------------------------------------------------------------------------------------------- break and
    # stop tokens

    def symbols(self, flags: int) -> np.ndarray:
        """The break tokens, the stop tokens, or both, by flags: int64[k], each part ascending."""
        rows = self.rows[len(self.words) :]  # which follow the words, of which there may be many
        symbols: np.ndarray = self.values[rows["begin"][rows["flags"] & flags > 0]].astype(np.int64)
        return symbols

    def symbol_ids(self, alphabet: Alphabet) -> np.ndarray:
        """The ids of break and stop tokens, int32[k].

        ValueError for a token that is not a symbol of the alphabet, or that shares its id with another
        symbol. Documents are split before they become ids, so all symbols of an id must be among these
        tokens.
        """
        symbols, n_breaks = self.symbols(BREAK | STOP), self.symbols(BREAK).size
        ids = alphabet.lookup(symbols)
        if (missing := np.flatnonzero(ids < 0)).size:
            i = int(missing[0])
            name, shown = (
                "break_tokens" if i < n_breaks else "stop_tokens",
                shown_symbol(symbols[i], self.kind),
            )
            raise ValueError(
                f"{name}: {quoted(shown)} is not in the alphabet of {alphabet.size} symbols. Set alphabet=."
            )
        if not alphabet.is_lossless:
            folded = np.flatnonzero(np.isin(alphabet.folded_ids, ids))
            same = np.concatenate(
                [alphabet.folded_symbols[folded], alphabet.symbols[alphabet.folded_ids[folded]]]
            )
            if (alone := np.setdiff1d(same, symbols)).size:
                name, shown = "break_tokens" if n_breaks else "stop_tokens", shown_symbol(alone[0], self.kind)
                raise ValueError(
                    f"{name}: {quoted(shown)} has the same id as one of them: give all symbols of an id"
                )
        return ids

    def held_by(self, alphabet: Alphabet, vocabulary: Vocabulary) -> bool:
        """Whether a learned token holds a break or stop token."""
        learned = vocabulary.arena[int(vocabulary.offsets[vocabulary.n_alphabet]) :]
        return bool(np.isin(learned, self.symbol_ids(alphabet)).any())

    def cuts(self, values: np.ndarray, offsets: np.ndarray, flags: int) -> np.ndarray:
        """The places of `offsets` and those before and after each symbol of these flags.

        int64[s + 1], distinct and ascending.

        `values` are symbols of documents, from ``offsets[0]`` to ``offsets[-1]``. O(symbols in documents).
        """
        symbols = self.symbols(flags)
        if not symbols.size:
            return distinct(offsets)
        wanted = self._symbols[flags] = self._symbols.get(flags) or Alphabet.from_symbols(symbols, self.kind)
        marked = np.zeros(values.size + 1, bool)
        for start in range(int(offsets[0]), int(offsets[-1]), _CHUNK):
            part = values[start : min(start + _CHUNK, int(offsets[-1]))]
            is_wanted = wanted.lookup(part) >= 0
            marked[start : start + part.size] |= is_wanted
            marked[start + 1 : start + part.size + 1] |= is_wanted
        marked[offsets] = True
        return np.flatnonzero(marked)

    def part(self, corpus: Corpus) -> Corpus:
        """The corpus with its segments split at break and stop tokens; documents stay as they are."""
        offsets = corpus.offsets
        cuts = self.cuts(corpus.values, offsets, BREAK | STOP)
        inner = cuts[~np.isin(cuts, offsets)]
        at = np.searchsorted(offsets, inner)
        row = np.repeat(np.arange(offsets.size - 1), 1 + np.bincount(at - 1, minlength=offsets.size - 1))
        return corpus._replace(
            offsets=np.insert(offsets, at, inner),
            document_of=(row if corpus.document_of is None else corpus.document_of[row]).astype(np.int32),
            weights=None if corpus.weights is None else corpus.weights[row],
        )

    def symbol_arguments(self) -> tuple[Any, Any]:
        """The arguments `break_tokens` and `stop_tokens` of a tokenizer."""
        both: list[Any] = [self.symbols(flag).tolist() for flag in (BREAK, STOP)]
        if isinstance(self.kind, Named):
            both = [[*map(self.kind.names.__getitem__, symbols)] for symbols in both]
        elif self.kind != "int":
            both = ["".join(map(chr, symbols)) if self.kind == "str" else bytes(symbols) for symbols in both]
        return both[0] or None, both[1] or None

    # ---------------------------------------------------------------------------------------------- model
    # files

    def state(self) -> dict[str, Any]:
        """Fields of a model file, by names of arguments, if not empty.

        Words are an object, symbols lists of integers.
        """
        fields: dict[str, Any] = {
            "break_tokens": self.symbols(BREAK).tolist(),
            "stop_tokens": self.symbols(STOP).tolist(),
        }
        if self.words:
            flags = self.flags & _STORED
            # str, or {"points": [...]} with surrogates; {"bytes": [...]}; lists of integers
            words: list[Any] = []
            for word in self.words:
                if not isinstance(word, str):
                    words.append({"bytes": list(word)} if isinstance(word, bytes) else list(word))
                elif word.isascii() or word.encode("utf-8", "replace").decode() == word:
                    words.append(word)
                else:
                    words.append({"points": [ord(c) for c in word]})
            fields["special_tokens"] = _WORDS.write(
                {
                    "kind": self.kind, "words": words, "ids": self.ids.tolist(),
                    "known": self.always.tolist(), "flags": flags.tolist() if flags.any() else None,
                    "shared": self.shared,
                }
            )  # fmt: skip
        return {name: part for name, part in fields.items() if part}

    @classmethod
    def from_state(cls, words: Any, breaks: Any, stops: Any, kind: str, size: int) -> Reserved | None:
        """The inverse of `state`, for a vocabulary of `size` ids and documents of a `kind`.

        None if there are none.

        ModelFormatError for fields that are not valid.
        """
        symbol_lists: list[Any] = []
        for name, value in (("break_tokens", breaks), ("stop_tokens", stops)):
            symbols = _NONE if value is None else integers_of(value, name)
            if symbols.ndim != 1 or symbols.dtype == np.uint64 or (symbols[1:] <= symbols[:-1]).any():
                raise ModelFormatError(f"{name}: expected ascending integers")
            limit = (
                len(kind.names) - 1
                if isinstance(kind, Named)
                else {"int": None, "str": 0x10FFFF, "bytes": 255}[kind]
            )
            if symbols.size and limit is not None and not 0 <= symbols[0] <= symbols[-1] <= limit:
                raise ModelFormatError(f"{name}: expected symbols in 0..{limit}")
            symbol_lists.append(symbols.astype(np.int64))
        if words is None:
            none = np.zeros(0, np.int32)
            return cls(kind, (), none, none, *symbol_lists) if sum(map(len, symbol_lists)) else None
        fields = _WORDS.read(words)
        ids, known, flags = fields["ids"], fields["known"], fields["flags"]
        if not 0 < len(fields["words"]) == ids.size == len(known):
            raise ModelFormatError(
                "special_tokens: expected as many ids as words, and for each whether it is a known word"
            )
        if flags is not None and flags.shape != ids.shape:
            raise ModelFormatError("special_tokens: flags: expected as many as words, each in 0..31")
        if fields["kind"] != kind:
            raise ModelFormatError(f"special_tokens: expected words of {kind}, got {fields['kind']}")
        masks = np.where(known, 0, SPECIAL)
        if flags is not None:
            masks |= flags & (ONLY_DECODED if kind == "int" else _STORED)
        argument = "special_tokens", "known_words"
        try:
            names = [
                _word(_from_json(w, kind), kind, argument[k])
                for w, k in zip(fields["words"], known, strict=True)
            ]
            numbers = np.array(_ids(ids.tolist(), size, fields["shared"]), np.int32)
            return cls(
                kind,
                tuple(names),
                numbers,
                masks.astype(np.uint16),
                symbol_lists[0],
                symbol_lists[1],
                fields["shared"],
            )
        except (TypeError, ValueError) as error:
            raise ModelFormatError(str(error)) from error


_WORDS = Schema(
    "special_tokens",
    {
        "kind": Field("'int', 'str' or 'bytes'", lambda kind: kind in ("int", "str", "bytes")),
        "words": Field("a list", lambda words: isinstance(words, list)),
        "ids": Field("a list of ids", lambda ids: ids.ndim == 1 and ids.min(initial=0) >= 0, integers_of),
        "known": Field(
            "a list of true and false",
            lambda known: isinstance(known, list) and all(type(k) is bool for k in known),
        ),
        "flags": Field(
            "numbers in 0..31",
            lambda bits: bits.min(initial=0) >= 0 and bits.max(initial=0) < 32,
            integers_of,
            None,
        ),
        "shared": Field("true or false", lambda shared: type(shared) is bool, default=False),
    },
)


def _word(word: Any, kind: str, name: str) -> Word:
    """A word as `str`, `bytes` or a tuple of integers; TypeError if it is not of the kind."""
    if isinstance(word, str) and (kind != "int" or name == "special_tokens"):
        return word
    if isinstance(word, (bytes, bytearray)) and kind == "bytes":
        return bytes(word)
    if kind == "int" and not isinstance(word, (str, bytes)) and not isinstance(kind, Named):
        return tuple(as_document(word, name=f"{name}: {quoted(word)}").values.tolist())
    expected = "names" if isinstance(kind, Named) else f"words of {'integers' if kind == 'int' else kind}"
    raise TypeError(f"{name}: expected {expected}, got {quoted(word)}")


def _ids(given: list[int | None], size: int, shared: bool) -> list[int]:
    """The ids of words: given ids, and for the others the next free ids from `size` on.

    Two words may have the same id if `shared`.
    """
    taken = {*given}
    free = (i for i in itertools.count(size) if i not in taken)
    ids = [next(free) if i is None else i for i in given]
    if not shared and len(set(ids)) < len(ids):
        raise ValueError("special_tokens: two have the same id")
    most = 2 * (size + len(given)) + SPARE
    if max(ids, default=0) >= most:
        raise ValueError(f"special_tokens: expected ids below {most}, got {quoted(max(ids))}")
    return ids


def _symbols(value: Any, kind: str, name: str) -> np.ndarray:
    """The symbols that a user passes, of this kind, int64, ascending, without duplicates."""
    if value is None:
        return _NONE
    if isinstance(kind, Named):
        return np.unique(np.array([kind.number[symbol] for symbol in _names(value, name)], np.int64))
    if not isinstance(value, Iterable) or (kind == "int" and isinstance(value, (str, bytes, bytearray))):
        raise TypeError(f"{name}: expected {_EXPECTED[kind]}, got {describe(value)}")
    symbols: list[int] = []
    for symbol in value:
        is_character = isinstance(symbol, _CHARACTERS[kind]) and len(symbol) == 1
        if is_character and (kind == "str" or not isinstance(symbol, str) or symbol.isascii()):
            symbols.append(ord(symbol))
            continue
        if kind != "str" and isinstance(symbol, (int, np.integer)) and not isinstance(symbol, bool):
            if not (0 <= symbol < 256 or (kind == "int" and -(2**63) <= symbol < 2**63)):
                raise ValueError(f"{name}: {quoted(int(symbol))} is out of range")
            symbols.append(int(symbol))
            continue
        hint = "; known_words keeps longer ones whole" if isinstance(symbol, (str, bytes)) else ""
        raise TypeError(f"{name}: expected {_EXPECTED[kind]}, got {quoted(symbol)}{hint}")
    return np.unique(as_document(symbols, name=name).values.astype(np.int64))


def _names(value: Any, name: str) -> list[Any]:
    """The named symbols that a user passes; bytes and a `str` are split into single characters.

    TypeError for others.
    """
    if isinstance(value, bytes):
        return [value[i : i + 1] for i in range(len(value))]
    names = [] if value is None else list(value) if isinstance(value, Iterable) else [[]]
    if not all(isinstance(symbol, Hashable) for symbol in names):
        raise TypeError(f"{name}: expected names, got {quoted(value)}")
    return names


def _from_json(found: Any, kind: str) -> Word:
    """A word of a model file (see `Reserved.state`); ModelFormatError for anything else."""
    if isinstance(found, str):
        return found
    if isinstance(found, dict) and len(found) == 1:
        (form, numbers), = found.items()  # fmt: skip
        numbers = integers_of(numbers, "special_tokens: words").tolist()
        if form == "bytes" and all(0 <= b < 256 for b in numbers):
            return bytes(numbers)
        if form == "points" and all(0 <= p < 0x110000 for p in numbers):
            return text_of(np.array(numbers, np.uint32))
    if isinstance(found, list) and kind == "int":
        return tuple(integers_of(found, "special_tokens: words").tolist())
    raise ModelFormatError("special_tokens: words: expected str, or lists of integers")


# ----------------------------------------------------------------------------- white space around words


def is_of_word(character: str) -> bool:
    """Whether a character, or none, is part of a word by the Unicode version of tokenizers."""
    if not character:
        return False
    from ubpe_numba.text import pretokenizer, unicode_classes  # here only: not for integers
    from ubpe_numba.text.patterns import VERSION_OF_OTHERS

    if not character.isascii():
        character = unicode_classes.as_of(VERSION_OF_OTHERS, character)
    return pretokenizer.compiled(r"\w", "single_word").match(character) is not None


def n_spaces(values: np.ndarray, at_end: bool) -> int:
    r"""Number of symbols of white space at the beginning of a text, or at its end.

    O(white space): seen in pieces.

    >>> text = np.frombuffer(b"a \n", np.uint8)
    >>> n_spaces(text, True), n_spaces(text, False)
    (2, 0)
    """
    from ubpe_numba.text.characters import WHITE_SPACE  # here only: not for integers

    n, size = 0, _PIECE
    while True:
        piece = values[max(values.size - n - size, 0) : values.size - n] if at_end else values[n : n + size]
        text = _readable(piece, "surrogateescape")
        rest = text.rstrip(WHITE_SPACE) if at_end else text.lstrip(WHITE_SPACE)
        here = piece.size - (
            len(rest.encode("utf-8", "surrogateescape")) if values.dtype == np.uint8 else len(rest)
        )
        n, size = n + here, min(2 * size, _LARGEST_PIECE)
        if here == 0 or here + 2 < piece.size:  # up to two bytes of a character may belong to the next piece
            return n


def _readable(values: np.ndarray, errors: str = "ignore") -> str:
    r"""A few symbols as text; parts of characters by `errors`.

    >>> _readable(np.frombuffer(b"\xa9 a\xc3", np.uint8))
    ' a'
    """
    return values.tobytes().decode("utf-8", errors) if values.dtype == np.uint8 else text_of(values)
