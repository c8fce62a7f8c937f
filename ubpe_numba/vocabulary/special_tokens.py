"""Special tokens and known words: sequences of symbols that are always one token, in any context.

A special token is found only in calls that allow it, a known word in every document. Words from elsewhere may have flags: white
space beside them belongs to them, they are found only where no word goes on beside them, only in normalised text, or never.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.documents.read import Documents, as_document, text_of, utf8_document
from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.runtime.arrays import describe, offsets_of
from ubpe_numba.runtime.schema import check_fields, integers_of
from ubpe_numba.runtime.tables import automaton
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.kernels import find_words
from ubpe_numba.vocabulary.word_sides import is_of_word, n_spaces, readable

__all__ = ["SpecialTokens", "Word"]

Word = str | bytes | tuple[int, ...]

#: Flags of a word: white space to its left or right belongs to it, it is no part of a longer word, it is found in changed text,
#: it is found in no text: only its id is known.
LSTRIP, RSTRIP, SINGLE_WORD, NORMALIZED, ONLY_DECODED = 1, 2, 4, 8, 16
FLAGS = {"lstrip": LSTRIP, "rstrip": RSTRIP, "single_word": SINGLE_WORD, "normalized": NORMALIZED}  # as a tokenizer.json has them
_SIDES = LSTRIP | RSTRIP | SINGLE_WORD

_SEARCH = 16  # up to this many words are searched with `bytes.find` first; only if one occurs does the automaton run
_SPARE = 1 << 16  # ids may leave this many gaps, and as many again as there are tokens; a gap costs 25 bytes


class _Finder(NamedTuple):
    """The automaton that finds the words (`runtime/tables/automaton.py` has its layout)."""

    alphabet: Alphabet  # of the symbols in the words
    edges: np.ndarray
    states: np.ndarray
    word_of: np.ndarray  # int32: the index of the word that each token of the automaton is, -1 for a symbol that is none


class SpecialTokens:
    """Words with ids, never cut and never part of another token.

    Attributes
    ----------
    kind : str
        What they are made of: ``"int"``, ``"str"`` or ``"bytes"``.
    words : tuple
        w words: `str`, `bytes` or tuples of integers.
    ids : int32[w]
        Their ids.
    always : bool[w]
        True for known words, which are found in every document; special tokens are found only if they are allowed.
    values, offsets : ndarray, int64[w + 1]
        The symbols of all words, as `Documents` holds them.
    flags : uint8[w] or None
        The flags of each word; None if there are none.
    has_normalized : bool
        Whether some are found in normalised text.
    found : bool[w]
        Which words are found in texts at all.
    shared : bool
        Whether a word may have the id of a token of the vocabulary.
    lengths : int64[w]
        The symbols of each word.
    number : dict
        The index of each word.
    choices : dict
        Which words a call looks for, of choices that were made before (`stretches.py`).
    """

    def __init__(
        self,
        kind: str,
        words: tuple[Word, ...],
        ids: np.ndarray,
        always: np.ndarray,
        flags: Mapping[Word, int] | None = None,
        shared: bool = False,
    ) -> None:
        """Store the words; ValueError for one that is empty or there twice."""
        self.kind, self.words, self.ids, self.always, self.shared = kind, words, ids, always, shared
        self.flags = np.array([flags.get(word, 0) for word in words], np.uint8) if flags else None
        self.has_normalized = self.flags is not None and bool((self.flags & NORMALIZED).any())
        self.found = np.ones(len(words), bool) if self.flags is None else self.flags & ONLY_DECODED == 0
        rows = list(map(utf8_document if kind == "bytes" else as_document, words))
        for word, row in zip(words, rows, strict=True):
            if row.values.size == 0:
                raise ValueError(f"special_tokens: {quoted(word)} is empty")
        self.values = np.concatenate([row.values for row in rows])
        if kind == "int" and -(2**31) <= self.values.min() <= self.values.max() < 2**31:
            self.values = self.values.astype(np.int32)  # so that decoded documents are no wider than without special tokens
        self.offsets = offsets_of(np.array([row.values.size for row in rows]))
        self.lengths = np.diff(self.offsets)
        self.number = {word: i for i, word in enumerate(words)}
        self.choices: dict[Any, tuple[np.ndarray, np.ndarray]] = {}
        if len({row.values.tobytes() for row in rows}) < len(words):
            raise ValueError("special_tokens: one is there twice, or is a known word too")
        self._normalized: tuple[Callable[[str], str] | None, tuple[SpecialTokens, np.ndarray]] | None = None
        self._finder: _Finder | None = None  # no cached_property: that of Python 3.11 has a lock, which a fork may copy held

    @classmethod
    def from_user(
        cls,
        special: Any,
        known: Any,
        kind: str,
        size: int | None,
        flags: Mapping[Word, int] | None = None,
        shared: bool = False,
        first: bool = False,
    ) -> SpecialTokens | None:
        """Read the arguments `special_tokens` and `known_words` of a tokenizer; None if there are no words.

        Both (`special` and `known`) are lists of words or mappings of words to ids. Words of a list get the next ids from `size`
        on, special tokens first; `size` is the number of other ids of the tokenizer, or None before a fit (all ids are then 0).
        With `first` special tokens, a list, get the ids 0, 1, ... instead, and the other ids are taken to follow them. Raises
        TypeError for other types and for words that are not of the `kind`, ValueError for a word or an id that is there
        twice, or an id far above the others.
        """
        words: list[Word] = []
        given: list[int | None] = []
        always: list[bool] = []
        for name, value in (("special_tokens", special), ("known_words", known)):
            if value is None:
                continue
            if isinstance(value, (str, bytes, Set)) or not isinstance(value, Iterable):  # ids need an order; a set has none
                raise TypeError(f"{name}: expected a list of words or a mapping of words to ids, got {describe(value)}")
            in_front = first and name == "special_tokens"
            if in_front and isinstance(value, Mapping):
                raise ValueError("special_first: special_tokens is a mapping, which says the ids itself; expected a list")
            for word in value:
                number = len(words) if in_front else None
                words.append(_word(word, kind, name))
                given.append(_id(value[word], name, word) if isinstance(value, Mapping) else number)
                always.append(name == "known_words")
        if not words:
            return None
        if size is None:
            return cls(kind, tuple(words), np.zeros(len(words), np.int32), np.array(always), flags, shared)
        if first:
            size += always.count(False)
        taken = {i for i in given if i is not None}
        free = iter(i for i in range(size, size + len(words) + len(taken)) if i not in taken)
        ids = [next(free) if i is None else i for i in given]
        if len(set(ids)) < len(ids):
            raise ValueError("special_tokens: two have the same id")
        most = 2 * (size + len(words)) + _SPARE
        if max(ids) >= most:
            raise ValueError(f"special_tokens: expected ids below {most}, got {quoted(max(ids))}")
        return cls(kind, tuple(words), np.array(ids, np.int32), np.array(always), flags, shared)

    def with_ids(self, ids: np.ndarray) -> SpecialTokens:
        """The same words with other ids."""
        flags = None if self.flags is None else dict(zip(self.words, self.flags.tolist(), strict=True))
        return SpecialTokens(self.kind, self.words, ids.astype(np.int32), self.always, flags, self.shared)

    @property
    def has_flags(self) -> bool:
        """Whether a word may be found where there is more than its symbols, or others."""
        return self.flags is not None and bool((self.flags & ~np.uint8(ONLY_DECODED)).any())

    def is_normalized(self) -> np.ndarray:
        """Which words are found in normalised text, after all others: bool[w]."""
        return np.zeros(len(self.words), bool) if self.flags is None else (self.flags & NORMALIZED) > 0

    def normalized(self, change: Callable[[str], str] | None) -> tuple[SpecialTokens, np.ndarray]:
        """The words that are found in normalised text, changed as text is, and int64, the index of each here.

        Of those that become equal the first is found; one that becomes empty stays as it is.
        """
        if self._normalized is not None and self._normalized[0] == change:
            return self._normalized[1]
        index: dict[Word, int] = {}
        for i in np.flatnonzero(self.is_normalized()).tolist():
            word = self.words[i]
            changed = change(word) if change is not None and isinstance(word, str) else word
            index.setdefault(changed or word, i)
        chosen = np.array(list(index.values()), np.int64)
        assert self.flags is not None  # some are normalised
        flags = dict(zip(index, self.flags[chosen].tolist(), strict=True))
        made = SpecialTokens(self.kind, tuple(index), self.ids[chosen], self.always[chosen], flags, self.shared), chosen
        self._normalized = change, made
        return made

    def within(self, documents: Documents, at: np.ndarray, words: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of words found as `find` returns them those that their flags allow: where, which, and how many symbols, each int64[k].

        White space that belongs to a word is part of it, but for that which is a word itself. As in the package tokenizers, a
        word that is not allowed still hides those that it overlaps. O(words), and the white space beside them.
        """
        sizes = self.lengths[words]
        if self.flags is None or not (self.flags[words] & _SIDES).any():
            return at, words, sizes
        values, offsets, _ = documents
        found: list[tuple[int, int, int]] = []
        done = spaces_end = 0  # the latter: where white space behind a word ends, in which there may be words, too
        bounds = offsets[np.searchsorted(offsets, at, side="right")[:, None] + np.array([-1, 0])].tolist()
        for start, word, size, (begin, end) in zip(at.tolist(), words.tolist(), sizes.tolist(), bounds, strict=True):
            flags, stop, first = int(self.flags[word]), start + size, max(done, begin)
            if flags & SINGLE_WORD:
                before = readable(values[max(begin, start - 4) : start])[-1:]
                if is_of_word(before) or is_of_word(readable(values[stop : min(end, stop + 4)])[:1]):
                    continue
            if flags & RSTRIP:
                if n_spaces(values[stop : min(end, stop + 3)], False):  # a character of white space goes on for up to three
                    if stop >= spaces_end:
                        spaces_end = stop + n_spaces(values[stop:end], False)
                    stop = spaces_end
            if flags & LSTRIP:
                start = max(done, start - n_spaces(values[first:start], True))
            if start >= stop:
                continue
            if start < done:  # in the white space of the word before
                before_it, other, _ = found[-1]
                found[-1] = before_it, other, start - before_it
            found.append((start, word, stop - start))
            done = stop
        return tuple(np.array(found, np.int64).reshape(-1, 3).T)  # type: ignore[return-value]

    def find(self, documents: Documents, active: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where `active` words (bool[w]) occur: ascending flat positions int64[k], and the index of the word at each, int64[k].

        Of overlapping words the leftmost is found, and of those at one position the longest (see `find_words`). O(symbols).
        """
        values, offsets, _ = documents
        none = np.zeros(0, np.int64)
        if values.size == 0 or not active.any() or self._absent(values, active):
            return none, none
        self._finder = self._finder or self._automaton()
        alphabet, edges, states, word_of = self._finder
        lengths, chosen = self.lengths, active.view(np.uint8)
        found = np.empty(values.size, np.int32)
        n = find_words.find_words(alphabet.lookup(values), offsets, edges, states, word_of, lengths, chosen, found)
        at = np.flatnonzero(found >= 0) if n else none
        return at, found[at].astype(np.int64)

    def _absent(self, values: np.ndarray, active: np.ndarray) -> bool:
        """Whether a plain search shows that no active word occurs; False if one may occur, or if that was not searched."""
        if self.kind == "int" or len(self.words) > _SEARCH or values.dtype != self.values.dtype:
            return False
        data = values.tobytes()
        return not any(data.find(self._symbols(int(i)).tobytes()) >= 0 for i in np.flatnonzero(active))

    def _symbols(self, word: int) -> np.ndarray:
        return self.values[self.offsets[word] : self.offsets[word + 1]]

    def _automaton(self) -> _Finder:
        alphabet = Alphabet.from_symbols(np.unique(self.values), self.kind)
        lengths = self.lengths
        symbols, n = alphabet.lookup(self.values), alphabet.size
        multiple = np.flatnonzero(lengths > 1)
        word_of = np.full(n + multiple.size, -1, np.int32)
        word_of[n:] = multiple
        single = np.flatnonzero(lengths == 1)
        word_of[symbols[self.offsets[single]]] = single
        arena = np.concatenate([np.arange(n, dtype=np.int32), symbols[np.repeat(lengths > 1, lengths)]])
        edges, states, *_ = automaton.automaton_of(n, arena, np.concatenate([np.ones(n, np.int64), lengths[multiple]]))
        return _Finder(alphabet, edges, states, word_of)

    def chosen(self, names: Any, name: str, all_of: np.ndarray) -> np.ndarray:
        """Which words, bool[w], the argument `allowed_special` or `disallowed_special` names.

        `names` is ``"all"`` (the words `all_of`, bool[w]), ``"none"``, or an iterable of special tokens; `name` is that of the
        argument. Raises TypeError for other types, ValueError for another word or a word that is no special token.
        """
        out = np.zeros(len(self.words), bool)
        if isinstance(names, str):
            if names not in ("all", "none"):
                raise ValueError(f"{name}: expected 'all', 'none' or a set of special tokens, got {quoted(names)}")
            return all_of.copy() if names == "all" else out
        if not isinstance(names, Iterable):
            raise TypeError(f"{name}: expected 'all', 'none' or a set of special tokens, got {describe(names)}")
        for word in names:
            i = self.number.get(tuple(word) if isinstance(word, list) else word)
            if i is None or self.always[i] or not self.found[i]:
                raise ValueError(f"{name}: {quoted(word)} is not a special token of this tokenizer")
            out[i] = True
        return out

    def state(self) -> dict[str, Any]:
        """What a model file holds: kind, words (see `_to_json`), ids, and which of them are known words."""
        words = [_to_json(word) for word in self.words]
        state = {"kind": self.kind, "words": words, "ids": self.ids.tolist(), "known": self.always.tolist()}
        if self.flags is not None:
            state["flags"] = self.flags.tolist()
        return state | {"shared": True} if self.shared else state

    @classmethod
    def from_state(cls, state: Any, size: int) -> SpecialTokens:
        """Make them again from what `state` returned, for a vocabulary of `size` ids. ModelFormatError if it is not valid."""
        if not isinstance(state, dict):
            raise ModelFormatError("special_tokens: expected an object")
        check_fields(
            {"flags": [], "shared": False, **state}, ("kind", "words", "ids", "known", "flags", "shared"), "special_tokens"
        )
        kind, words, known = state["kind"], state["words"], state["known"]
        ids = integers_of(state["ids"], "special_tokens: ids")
        if kind not in ("int", "str", "bytes") or not isinstance(words, list) or not isinstance(known, list):
            raise ModelFormatError("special_tokens: expected a kind, and lists of words and ids")
        if not 0 < len(words) == ids.size == len(known) or ids.ndim != 1 or not all(type(k) is bool for k in known):
            raise ModelFormatError("special_tokens: expected as many ids as words, and for each whether it is a known word")
        try:
            pairs = [(_from_json(word, kind), int(i), k) for word, i, k in zip(words, ids.tolist(), known, strict=True)]
            special = {word: i for word, i, k in pairs if not k}
            always = {word: i for word, i, k in pairs if k}
            if len(special) + len(always) < len(pairs):
                raise ValueError("special_tokens: one is there twice")
            bits = integers_of(state.get("flags", [0] * len(words)), "special_tokens: flags")
            if bits.shape != ids.shape or bits.min() < 0 or bits.max() > 31 or type(state.get("shared", False)) is not bool:
                raise ValueError("special_tokens: flags: expected as many as words, each in 0..31")
            some = bits if kind != "int" else bits & ONLY_DECODED
            flags = {word: int(mask) for (word, _, _), mask in zip(pairs, some, strict=True) if mask}
            made = cls.from_user(special, always, kind, size, flags, state.get("shared", False))
        except (TypeError, ValueError) as error:
            raise ModelFormatError(str(error)) from error
        assert made is not None  # there are words
        return made


def _word(word: Any, kind: str, name: str) -> Word:
    """A word as `str`, `bytes` or a tuple of integers; TypeError if it is not of the kind."""
    if isinstance(word, str) and kind != "int":
        return word
    if isinstance(word, (bytes, bytearray)) and kind == "bytes":
        return bytes(word)
    if kind == "int" and not isinstance(word, (str, bytes)):
        return tuple(as_document(word, name=f"{name}: {quoted(word)}").values.tolist())
    raise TypeError(f"{name}: expected words of {'integers' if kind == 'int' else kind}, got {quoted(word)}")


def _id(value: Any, name: str, word: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name}: {quoted(word)}: expected an id, got {describe(value)}")
    if value < 0:
        raise ValueError(f"{name}: {quoted(word)}: expected an id of at least 0, got {quoted(value)}")
    return int(value)


def _to_json(word: Word) -> Any:
    """A word for JSON: a str, or ``{"points": [...]}`` if it holds surrogates; ``{"bytes": [...]}``; or a list of integers."""
    if isinstance(word, str):
        return word if word.isascii() or word.encode("utf-8", "replace").decode() == word else {"points": [ord(c) for c in word]}
    return {"bytes": list(word)} if isinstance(word, bytes) else list(word)


def _from_json(found: Any, kind: str) -> Word:
    """The inverse of `_to_json`; ModelFormatError for anything else."""
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
