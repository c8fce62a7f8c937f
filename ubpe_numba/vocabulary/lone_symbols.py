"""Symbols that stand alone: each occurrence is a token of its own, and no token crosses it.

A bar line in music, a control event, the end of a line. They stay symbols of the alphabet and keep their ids, unlike special
tokens and known words, which are taken out of a document. Documents are cut before and behind each of them::

    0 is a break token:   5 6 5 6 0 5 6  ->  5 6 5 6 | 0 | 5 6

Break tokens cut before a pre-tokenizer does, which then sees the parts; stop tokens cut its segments. Without one they are the
same.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.documents.corpus import Corpus
from ubpe_numba.documents.read import as_document
from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.runtime.arrays import describe, distinct
from ubpe_numba.runtime.schema import integers_of
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.vocabulary import Vocabulary

_CHUNK = 1 << 20  # symbols that are looked up at a time
_EXPECTED = {"int": "integers", "str": "single characters", "bytes": "single bytes"}


class LoneSymbols(NamedTuple):
    """The break and stop tokens of a tokenizer.

    Attributes
    ----------
    kind : str
        What symbols are: ``"int"``, ``"str"`` or ``"bytes"``.
    breaks, stops : int64[k]
        Symbols, as `Alphabet.symbols` holds them, ascending; none is in both.
    """

    kind: str
    breaks: np.ndarray
    stops: np.ndarray

    @classmethod
    def from_user(cls, breaks: Any, stops: Any, kind: str) -> LoneSymbols | None:
        """Read the arguments `break_tokens` and `stop_tokens` of a tokenizer of this kind; None if there are no symbols.

        Both are iterables of symbols: integers, characters, or bytes (integers, `bytes` of length 1 or ASCII characters); a `str`
        or `bytes` is one of its symbols. A symbol in both breaks. TypeError, ValueError for anything else.

        >>> LoneSymbols.from_user([9, 7], None, "int").breaks.tolist()
        [7, 9]
        """
        first, second = _symbols(breaks, kind, "break_tokens"), _symbols(stops, kind, "stop_tokens")
        second = second[~np.isin(second, first)]
        return cls(kind, first, second) if first.size + second.size else None

    @property
    def all(self) -> np.ndarray:
        """Break and stop tokens together, int64[k]."""
        return np.concatenate([self.breaks, self.stops])

    def ids(self, alphabet: Alphabet) -> np.ndarray:
        """The ids of all, int32[k]; ValueError for one that is no symbol of the alphabet, or whose id another symbol has, too.

        Documents are cut before they become ids: all symbols of an id have to be among these.
        """
        found = alphabet.lookup(self.all)
        if (missing := np.flatnonzero(found < 0)).size:
            i = int(missing[0])
            name, symbol = "break_tokens" if i < self.breaks.size else "stop_tokens", int(self.all[i])
            shown = chr(symbol) if self.kind == "str" else symbol
            raise ValueError(f"{name}: {quoted(shown)} is not in the alphabet of {alphabet.size} symbols; give the alphabet too")
        if not alphabet.is_lossless:
            folded = np.flatnonzero(np.isin(alphabet.folded_ids, found))
            same = np.concatenate([alphabet.folded_symbols[folded], alphabet.symbols[alphabet.folded_ids[folded]]])
            if (alone := np.setdiff1d(same, self.all)).size:
                shown = chr(alone[0]) if self.kind == "str" else int(alone[0])
                name = "break_tokens" if self.breaks.size else "stop_tokens"
                raise ValueError(f"{name}: {quoted(shown)} has the same id as one of them: give all symbols of an id")
        return found

    def held_by(self, alphabet: Alphabet, vocabulary: Vocabulary) -> bool:
        """Whether a learned token holds one of these symbols."""
        learned = vocabulary.arena[int(vocabulary.offsets[vocabulary.n_alphabet]) :]
        return bool(np.isin(learned, self.ids(alphabet)).any())

    def cuts(self, values: np.ndarray, offsets: np.ndarray, symbols: np.ndarray) -> np.ndarray:
        """The places of `offsets` and those before and behind each of `symbols`, int64[s + 1], each once, ascending.

        `values` are symbols of documents, from ``offsets[0]`` to ``offsets[-1]``. O(symbols in documents).
        """
        if not symbols.size:
            return distinct(offsets)
        wanted = Alphabet.from_symbols(symbols, self.kind)
        marked = np.zeros(values.size + 1, bool)
        for start in range(int(offsets[0]), int(offsets[-1]), _CHUNK):
            part = values[start : min(start + _CHUNK, int(offsets[-1]))]
            found = wanted.lookup(part) >= 0
            marked[start : start + part.size] |= found
            marked[start + 1 : start + part.size + 1] |= found
        marked[offsets] = True
        return np.flatnonzero(marked)

    def part(self, corpus: Corpus) -> Corpus:
        """The corpus with its segments cut; documents stay what they are."""
        offsets = corpus.offsets
        cuts = self.cuts(corpus.values, offsets, self.all)
        inner = cuts[~np.isin(cuts, offsets)]
        at = np.searchsorted(offsets, inner)
        row = np.repeat(np.arange(offsets.size - 1), 1 + np.bincount(at - 1, minlength=offsets.size - 1))
        return corpus._replace(
            offsets=np.insert(offsets, at, inner),
            document_of=(row if corpus.document_of is None else corpus.document_of[row]).astype(np.int32),
            weights=None if corpus.weights is None else corpus.weights[row],
        )

    def arguments(self) -> tuple[Any, Any]:
        """The arguments `break_tokens` and `stop_tokens` of a tokenizer."""
        both: list[Any] = [symbols.tolist() for symbols in (self.breaks, self.stops)]
        if self.kind != "int":
            both = ["".join(map(chr, symbols)) if self.kind == "str" else bytes(symbols) for symbols in both]
        return both[0] or None, both[1] or None

    def state(self) -> dict[str, Any]:
        """What a model file holds: lists of integers by the names of the arguments, where not empty."""
        parts = {"break_tokens": self.breaks.tolist(), "stop_tokens": self.stops.tolist()}
        return {name: symbols for name, symbols in parts.items() if symbols}

    @classmethod
    def from_state(cls, breaks: Any, stops: Any, kind: str) -> LoneSymbols | None:
        """Make them again from what `state` returned, or None; ModelFormatError if it is not valid."""
        given = []
        for name, value in (("break_tokens", breaks), ("stop_tokens", stops)):
            symbols = np.zeros(0, np.int64) if value is None else integers_of(value, name)
            if symbols.ndim != 1 or symbols.dtype == np.uint64 or (symbols[1:] <= symbols[:-1]).any():
                raise ModelFormatError(f"{name}: expected ascending integers")
            given.append(symbols)
        made = cls(kind, *(symbols.astype(np.int64) for symbols in given))
        return made if made.all.size else None


def _symbols(value: Any, kind: str, name: str) -> np.ndarray:
    """Symbols of the kind from what a user gives, int64, ascending, each once."""
    if value is None:
        return np.zeros(0, np.int64)
    if not isinstance(value, Iterable) or (kind == "int" and isinstance(value, (str, bytes, bytearray))):
        raise TypeError(f"{name}: expected {_EXPECTED[kind]}, got {describe(value)}")
    symbols = [_symbol(symbol, kind, name) for symbol in value]
    return np.unique(as_document(symbols, name=name).values.astype(np.int64))


def _symbol(symbol: Any, kind: str, name: str) -> int:
    if isinstance(symbol, (str, bytes, bytearray)) and len(symbol) == 1:
        number = ord(symbol)
        if (kind == "str" and isinstance(symbol, str)) or (kind == "bytes" and (number < 128 or not isinstance(symbol, str))):
            return number
    elif kind != "str" and isinstance(symbol, (int, np.integer)) and not isinstance(symbol, bool):
        if (kind == "int" and -(2**63) <= symbol < 2**63) or 0 <= symbol < 256:
            return int(symbol)
        raise ValueError(f"{name}: {quoted(int(symbol))} is out of range")
    hint = "; known_words keeps longer ones whole" if isinstance(symbol, (str, bytes)) else ""
    raise TypeError(f"{name}: expected {_EXPECTED[kind]}, got {quoted(symbol)}{hint}")
