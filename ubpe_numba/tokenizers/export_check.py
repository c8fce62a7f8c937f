"""What all bridges share: tokenizers from tables of any origin, names for tokens, and the trial of what is exported."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.errors import ModelFormatError
from ubpe_numba.formats import samples
from ubpe_numba.formats.model_file import claimable
from ubpe_numba.formats.pair_table import Table, name_ids, names, symbol_character, symbol_index
from ubpe_numba.text.pretokenizer import Pretokenizer
from ubpe_numba.tokenizers.files import Exchange
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.segmenter import Segmenter
from ubpe_numba.vocabulary.special_tokens import SpecialTokens
from ubpe_numba.vocabulary.vocabulary import Vocabulary

Self = TypeVar("Self", bound="Foreign")


class Foreign(Exchange):
    """A pair table, seen from other libraries."""

    @classmethod
    def _from_table(cls: type[Self], table: Table, n_bytes: int, symbols: Any, params: dict[str, Any]) -> Self:
        """The tokenizer of a table that may be of any origin; `n_bytes` is the size of the file that it comes from."""
        try:
            alphabet = Alphabet.from_symbols(table.symbols, table.kind)
            if symbols is not None:
                given = Alphabet.from_user(symbols, "int")
                if table.kind != "int" or given.size != alphabet.size:
                    raise ModelFormatError(f"alphabet: expected {alphabet.size} integers for a model of 'int', got {given.size}")
                alphabet = Alphabet.from_symbols(given.symbols[alphabet.symbols], "int")
            vocabulary = Vocabulary.from_merges(alphabet.size, list(table.merges), max_symbols=claimable(n_bytes))
            if not vocabulary.in_order_of_creation:
                raise ModelFormatError("merges: a token is in a pair of lower rank than its own, so order would matter")
            special, known = table.special, table.known
            if table.kind == "int":
                special, known = ({_integers(w, alphabet): i for w, i in words.items()} for words in (special, known))
            segmenter = Segmenter(
                Pretokenizer.of(table.pattern),
                SpecialTokens.from_user(special, known, table.kind, len(vocabulary)),
                None,
                "utf-8" if table.kind == "bytes" else None,
            )
            ids = table.token_ids if table.token_ids != list(range(len(vocabulary))) else None
            make: Any = cls  # the constructors differ
            tokenizer: Self = make(len(vocabulary), **params)
            tokenizer._settings()
            tokenizer._become(alphabet, vocabulary, segmenter.numbered(ids, len(vocabulary)))
        except (TypeError, ValueError) as error:
            raise ModelFormatError(str(error)) from error
        if table.whole:
            tokenizer._check_whole()
        return tokenizer

    def _check_whole(self) -> None:
        """ModelFormatError unless every token, encoded by itself, comes out as itself."""
        encoded = self._encode_ids(Ragged._trusted(self.vocabulary_.arena.copy(), self.vocabulary_.offsets.copy()))
        if (bad := np.flatnonzero(encoded.lengths != 1)).size:
            token = self.alphabet_.output(self.alphabet_.to_symbols(self.vocabulary_.sequence(int(bad[0]))))
            raise ModelFormatError(f"the token {token!r} ({self._ids_of_tokens()[bad[0]]}) is not what its parts are merged to")

    @abstractmethod
    def _encode_ids(self, documents: Ragged) -> Ragged:
        """Encode documents of alphabet ids."""

    def _ids_of_tokens(self) -> list[int]:
        ids = self.segmenter_.token_ids
        return list(range(len(self.vocabulary_))) if ids is None else [int(i) for i in ids]

    def _check_order(self) -> None:
        """ValueError unless parents precede children: else others merge one pair at a time where we merge all of a rank."""
        self._check_fitted()
        if not self.vocabulary_.in_order_of_creation:
            raise ValueError("vocabulary: its pairs are not in order of creation; other libraries merge them differently")

    def _named(self) -> tuple[dict[str, int], list[tuple[str, str]]]:
        """Names of tokens with their ids, and of pairs."""
        self._check_order()
        called = names(self.alphabet_, self.vocabulary_)
        assert self.vocabulary_.merges is not None  # Tokenizer._set sees to that
        merges = [(called[a], called[b]) for a, b in self.vocabulary_.merges.tolist()]
        return name_ids(called, self._ids_of_tokens()), merges

    def _pattern(self) -> str | None:
        return None if self.segmenter_.pretokenizer is None else self.segmenter_.pretokenizer.pattern

    def _table(self) -> Table:
        return Table(self.alphabet_.kind, [], [], [], {}, {}, self._pattern())

    def _words(self) -> tuple[dict[str, int], dict[str, int]]:
        """Special tokens and known words as text. ValueError for those that are none."""
        found: tuple[dict[str, int], dict[str, int]] = {}, {}
        special = self.segmenter_.special
        if special is None:
            return found
        for word, i, known in zip(special.words, special.ids.tolist(), special.always.tolist(), strict=True):
            try:
                text = word if isinstance(word, str) else word.decode() if isinstance(word, bytes) else self._characters(word)
                text.encode()
            except UnicodeError as error:
                raise ValueError(f"special_tokens: {word!r} is not text") from error
            found[known][text] = i
        return found

    def _characters(self, word: tuple[int, ...]) -> str:
        """Integers as the characters that stand for them."""
        ids = self.alphabet_.lookup(np.array(word, np.int64))
        if (ids < 0).any():
            raise ValueError(f"special_tokens: {word!r} holds integers outside the alphabet, which no character stands for")
        return "".join(symbol_character(i) for i in ids.tolist())

    def _samples(self) -> list[Any]:
        """Documents as users give them: of bytes, `str`, or arrays of integers."""
        alphabet = self.alphabet_
        docs = [alphabet.to_symbols(np.array(ids, np.int32)) for ids in samples.documents(alphabet, self.vocabulary_)]
        out: list[Any] = [alphabet.output(symbols) for symbols in docs]
        for word in [] if self.segmenter_.special is None else self.segmenter_.special.words:
            if isinstance(word, tuple):
                between = [*docs[0].tolist(), *word, *docs[-1].tolist()]
                out.append(np.array(between, np.int64))
            else:
                word = word.encode() if isinstance(word, str) and alphabet.kind == "bytes" else word
                out.append(out[0] + word + out[-1])
        return out

    def _all_of(self, docs: list[Any]) -> list[list[int]]:
        encode: Any = self.encode_batch  # type: ignore[attr-defined]  # of the tokenizer that has this mixin
        found: list[list[int]] = encode(docs, allowed_special="all").to_lists()
        return found

    def _check_same(self, other: Foreign, what: str) -> None:
        """ValueError, with the first sample, if another tokenizer of this library gives other ids."""
        docs = self._samples()
        _compare(docs, self._all_of(docs), other._all_of(docs), what)

    def _check_foreign(self, encode: Callable[[list[str]], list[list[int]]], what: str) -> None:
        """The same for another library, which takes text."""
        docs, texts = [], []
        for doc in self._samples():
            try:
                if isinstance(doc, np.ndarray):
                    text = self._characters(tuple(doc.tolist()))
                else:
                    text = doc.decode() if isinstance(doc, bytes) else doc
            except UnicodeError:  # random bytes, or part of a character
                continue
            docs.append(doc)
            texts.append(text)
        _compare(docs, self._all_of(docs), encode(texts), what)


def _compare(docs: list[Any], mine: list[list[int]], theirs: list[list[int]], what: str) -> None:
    for doc, a, b in zip(docs, mine, theirs, strict=True):
        if a != b:
            shown = doc.tolist() if isinstance(doc, np.ndarray) else doc
            raise ValueError(f"export refused: {shown!r:.200} is {a!s:.200} here, but {b!s:.200} by {what}")


def _integers(word: Any, alphabet: Alphabet) -> tuple[int, ...]:
    found = [symbol_index(character) for character in word]
    if any(i is None or i >= alphabet.size for i in found):
        raise ModelFormatError(f"special_tokens: {word!r} is not made of integers")
    return tuple(int(alphabet.symbols[i]) for i in found)
