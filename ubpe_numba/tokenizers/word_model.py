"""Vocabularies of WordPiece: arguments that are read, their model, and pieces from words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.coding.decode import left_ids
from ubpe_numba.coding.places import UNITS, Places, in_units
from ubpe_numba.coding.plan import Plan, Tables
from ubpe_numba.coding.wordpiece import PieceEncoder
from ubpe_numba.documents.flat import place_in, place_of
from ubpe_numba.documents.ragged import Ragged, trusted
from ubpe_numba.documents.read import Documents, code_points, kept, with_pairs
from ubpe_numba.errors import SpecialTokenError, UnknownTokenError, quoted
from ubpe_numba.formats.wordpiece import AS_BERT
from ubpe_numba.runtime.arrays import describe, distinct, offsets_of, positive
from ubpe_numba.text.splitter import Splitter
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.reserved import FLAGS, SPECIAL, Reserved, SpecialChoice
from ubpe_numba.vocabulary.segmenter import Decoding, Segmenter
from ubpe_numba.vocabulary.stretches import traced
from ubpe_numba.vocabulary.unknown import Unknown
from ubpe_numba.vocabulary.vocabulary import Vocabulary

_END = "\0"  # the text after every word
_NONE = Documents(np.zeros(0, np.uint32), np.zeros(1, np.int64), "str")


class WordPlan(Plan):
    """How documents of words, or texts that a segmenter splits into words, become ids of pieces."""

    def __init__(self, tables: Tables, encoder: PieceEncoder, n_threads: int | None) -> None:
        super().__init__(tables, self._encode_ids, "raise", n_threads)
        self.encoder = encoder
        self._refused: dict[SpecialChoice, tuple[frozenset[int], frozenset[str]]] = {}

    def _encode_ids(self, documents: Ragged) -> Ragged:
        token_ids = self.model.segmenter.token_ids
        assert token_ids is not None
        ids, order = (
            self.encoder.encode(documents, 0, self.n_threads, False)[0],
            np.argsort(token_ids).astype(np.int32),
        )
        return trusted(order[np.searchsorted(token_ids, ids.values, sorter=order)], ids._offsets)

    def _encode(
        self, docs: Any, offsets: Any, return_offsets: Any, options: Mapping[str, Any], name: str
    ) -> tuple[Documents, Ragged, Places | None]:
        """Read documents, or the single one "doc", and give their ids.

        Also the places of pieces if `return_offsets` requests them.
        """
        units, first = options.get("units"), None if name == "doc" else 0
        chosen = options.get("allowed_special", "none"), options.get("disallowed_special", "all")
        if offsets is not None:
            raise TypeError("offsets: expected None, documents are lists of words or texts")
        if return_offsets not in (False, True, "spans"):
            raise ValueError(f"return_offsets: expected True, False or 'spans', got {quoted(return_offsets)}")
        if units not in (None, *UNITS):
            raise ValueError(f"units: expected {' or '.join(map(repr, UNITS))}, got {quoted(units)}")
        if name == "docs" and (isinstance(docs, (Mapping, Set)) or not isinstance(docs, Iterable)):
            raise TypeError(
                f"{name}: expected lists of words, or texts, got {describe(docs)}; give them as a list"
            )
        trace = bool(return_offsets)
        rows = [docs] if name == "doc" or isinstance(docs, str) else [*kept(docs)]
        are_lists = {*map(type, rows)} == {list}  # the usual case, without further questions
        without, forbidden = self._refusal(chosen)
        # one of them is empty, for each document
        texts, lists = [""] * (len(rows) * are_lists), rows if are_lists else []
        for d, doc in enumerate(() if are_lists else rows):
            words: list[str] | None = None
            doc = with_pairs(doc) if isinstance(doc, str) else doc
            if isinstance(doc, str) and self.model.segmenter.pretokenizer is not None:
                words = None if trace else self._words_of(doc)
            elif isinstance(doc, (str, bytes)) or not isinstance(doc, Iterable):
                where = name if first is None else f"{name}: document {d}"
                hint = (
                    f"; cut it first, for example with str.split; {AS_BERT}" if isinstance(doc, str) else ""
                )
                raise TypeError(f"{where}: expected words, got {describe(doc)}{hint}")
            else:
                words = list(doc)
                _refuse(forbidden, d, words)
            texts.append("" if words is not None else doc)
            lists.append(words or [])
        for d, words in enumerate(lists if are_lists and forbidden else ()):
            _refuse(forbidden, d, words)
        encoded, spans = self._of_words(lists, trace, name, first, without)
        if any(texts):
            ids, places = self._of_texts(texts, trace, chosen, without)
            at = np.repeat(encoded._offsets[:-1], ids.lengths)
            spans = np.insert(spans, at, places, axis=1) if trace else spans
            encoded = trusted(np.insert(encoded.values, at, ids.values), encoded._offsets + ids._offsets)
        if not trace:
            return _NONE, encoded, None
        documents = _joined([text or "".join(words) for text, words in zip(texts, lists, strict=True)])
        return (
            documents,
            encoded,
            spans if units is None else in_units(spans, encoded._offsets, documents, units),
        )

    def _refusal(self, chosen: SpecialChoice) -> tuple[frozenset[int], frozenset[str]]:
        """The ids of special tokens that are not allowed, and the words of those that are an error."""
        special = self.model.segmenter.special
        if special is None:
            return frozenset(), frozenset()
        named = all(isinstance(part, str) for part in chosen)
        if (refusal := self._refused.get(chosen) if named else None) is None:
            active, forbidden = special.active(chosen)
            words = frozenset(str(special.words[i]) for i in np.flatnonzero(forbidden))
            refusal = frozenset(special.ids[~active | forbidden].tolist()), words
            if named:
                self._refused[chosen] = refusal
        return refusal

    def _words_of(self, text: str) -> list[str] | None:
        """The words of a text without special tokens, in less time than `_of_texts`; None for other texts."""
        segmenter = self.model.segmenter
        cutter, special = segmenter.pretokenizer, segmenter.special
        if (
            not isinstance(cutter, Splitter)
            or cutter.asks_for_start
            or (special is not None and special.has_flags)
        ):
            return None
        if special is not None and any(str(word) in text for word in special.words):
            return None
        return cutter.pieces(text if segmenter.normalizer is None else segmenter.normalizer.apply(text))

    def _of_words(
        self, lists: list[list[str]], trace: bool, name: str, first: int | None, without: frozenset[int]
    ) -> tuple[Ragged, Places]:
        """The ids of documents of words and, if traced, the places of their pieces.

        Places refer to the words put together.
        """
        one = len(lists) == 1
        words = lists[0] if one else list(chain.from_iterable(lists))
        bounds = (
            np.array([0, len(words)])
            if one
            else offsets_of(np.fromiter(map(len, lists), np.int64, len(lists)))
        )
        try:
            points = code_points(_END.join(words) + _END * bool(words))
        except TypeError:
            at = next(i for i, word in enumerate(words) if not isinstance(word, str))
            raise TypeError(
                f"{place_of(name, bounds, at, first)}: expected str, got {describe(words[at])}"
            ) from None
        (ends,) = (points == ord(_END)).nonzero()  # a third of the time of asking every word for its length
        if ends.size != len(words):  # one has a NUL in it
            ends = np.cumsum(np.fromiter(map(len, words), np.int64, len(words)) + 1) - 1
        offsets = np.zeros(ends.size + 1, np.int64)
        np.add(ends, 1, out=offsets[1:])
        ids, edges = self._pieces(points, offsets, 1, trace, without)
        encoded = trusted(ids.values, ids._offsets[bounds])
        if not trace:
            return encoded, edges
        return encoded, np.stack([edges[:-1], edges[1:]]) - np.repeat(
            edges[encoded._offsets[:-1]], encoded.lengths
        )

    def _of_texts(
        self, texts: list[str], trace: bool, chosen: SpecialChoice, without: frozenset[int]
    ) -> tuple[Ragged, Places]:
        """The ids of texts, and, if they are traced, where their pieces are in them as given."""
        segmenter, documents = self.model.segmenter, _joined(texts)
        pieces = segmenter.stretches(documents, "documents", chosen, trace)
        words = distinct(segmenter.segments(pieces))
        ids, edges = self._pieces(pieces.values, words, 0, trace, without)
        before = ids._offsets[np.searchsorted(words, pieces.cuts)]  # of each stretch: the ids before it
        values, offsets, at = ids.values, before[pieces.first], before[pieces.before]
        if segmenter.special is not None:
            values = np.insert(values, at, segmenter.special.ids[pieces.words])
            offsets = offsets + np.searchsorted(pieces.owners, np.arange(offsets.size))
        if not trace:
            return trusted(values, offsets), edges
        origins = traced(pieces).origins
        assert origins is not None  # it is traced
        spans = np.stack([origins[edges[:-1]], origins[edges[1:] - 1] + 1])
        spans = np.insert(spans, at, np.stack([pieces.at, pieces.at + pieces.sizes]), axis=1)
        return trusted(values, offsets), spans - np.repeat(documents.offsets[:-1], np.diff(offsets))

    def _pieces(
        self, values: np.ndarray, words: np.ndarray, gap: int, trace: bool, without: frozenset[int]
    ) -> tuple[Ragged, np.ndarray]:
        """The ids of words of code points, int64[w + 1], and, if traced, the borders of pieces.

        The borders are int64[n + 1]: where pieces begin, and the end of the last.
        """
        characters = trusted(self.model.alphabet.lookup(values), words)
        ids, sizes = self.encoder.encode(characters, gap, self.n_threads, trace, without)
        return ids, words if sizes is None else offsets_of(sizes)


def _refuse(forbidden: frozenset[str], document: int, words: list[Any]) -> None:
    """SpecialTokenError for a list of words that has a forbidden one.

    Positions are those in the words put together.
    """
    try:
        if forbidden.isdisjoint(words):
            return
    except TypeError:  # a word that is not a str is rejected later
        return
    i = next(i for i, word in enumerate(words) if word in forbidden)
    raise SpecialTokenError(document, len("".join(map(str, words[:i]))), words[i])


def _joined(texts: list[str]) -> Documents:
    return Documents(
        code_points("".join(texts)), offsets_of(np.fromiter(map(len, texts), np.int64, len(texts))), "str"
    )


class WordByWord(NamedTuple):
    """Reader of ids as a decoder is for `DecoderStream`, of pieces with these names."""

    names: Mapping[int, str]

    def ids(self, documents: Documents, gone: np.ndarray | None = None, known: bool = True) -> Ragged:
        """Ids given by the user, without those that are `gone`; UnknownTokenError for unused ids."""
        if gone is not None:
            return left_ids(documents, gone, self.ids)
        if documents.kind == "str":
            raise TypeError("ids: expected integers, got str; text is for encode")
        begin, end = int(documents.offsets[0]), int(documents.offsets[-1])
        ids = documents.values[begin:end].tolist()
        there = list(map(self.names.__contains__, ids))
        if not all(there):
            at = begin + there.index(False)
            raise UnknownTokenError(*place_in(documents.offsets, at), ids[at - begin], max(self.names) + 1)
        return trusted(documents.values.astype(np.int32, copy=False), documents.offsets)


def model_of(pieces: dict[str, int], prefix: str, unknown: int, cutter: Segmenter) -> Model:
    """The model: characters, of which those that are pieces have ids, and pieces of several characters."""
    alphabet = Alphabet.from_symbols(sorted(set(map(ord, "".join(pieces)))) or [0], "str")
    longer = {piece: i for piece, i in pieces.items() if len(piece) > 1}
    text = alphabet.lookup(code_points("".join(longer)))
    lengths = np.fromiter(map(len, longer), np.int64, len(longer))
    ids = np.full(alphabet.size + lengths.size, -1, np.int32)
    singles = {piece: i for piece, i in pieces.items() if len(piece) == 1}
    ids[alphabet.lookup(code_points("".join(singles)))] = [*singles.values()]
    ids[alphabet.size :] = [*longer.values()]
    decoding = Decoding(((prefix, ""),)) if prefix else None
    segmenter = cutter._replace(token_ids=ids, unknown=Unknown(None, unknown), decoding=decoding)
    return Model(alphabet, Vocabulary.from_sequences(alphabet.size, text, lengths), segmenter)


def read_pieces(given: Any, name: str = "pieces") -> dict[str, int]:
    """The id of every piece.

    TypeError for other types, ValueError for a duplicate piece or an id out of range.
    """
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        way = "; WordPiece.train learns them" if name == "pieces" else ""
        raise TypeError(f"{name}: expected words, or a mapping of words to ids, got {describe(given)}{way}")
    if isinstance(given, Mapping):
        pieces = dict(given)
    else:
        listed = list(given)
        pieces = {}
        for i, piece in enumerate(listed):
            if not isinstance(piece, str):
                raise TypeError(f"{name}: position {i}: expected str, got {describe(piece)}")
            if pieces.setdefault(piece, i) != i:
                raise ValueError(
                    f"{name}: a piece is there twice: {quoted(piece)}, as {pieces[piece]} and {i}"
                )
    for piece, i in pieces.items():
        if not isinstance(piece, str) or isinstance(i, bool) or not isinstance(i, (int, np.integer)):
            raise TypeError(f"{name}: expected str and their ids, got {quoted(piece)}: {quoted(i)}")
        if not 0 <= i < 2**31:
            raise ValueError(f"{name}: {quoted(piece)}: expected an id in 0..2**31 - 1, got {quoted(i)}")
    return {str(piece): int(i) for piece, i in pieces.items()}


def added_tokens(
    special: Mapping[str, int], known: Mapping[str, int], flags: Mapping[str, Iterable[str]]
) -> Reserved | None:
    """Special tokens and known words as a segmenter has them."""
    if not special and not known:
        return None
    words = (*special, *known)
    masks = np.array([sum(map(FLAGS.__getitem__, flags.get(word, ()))) for word in words], np.uint16)
    masks[: len(special)] |= SPECIAL
    return Reserved("str", words, np.array([*special.values(), *known.values()], np.int32), masks)


def word_counts(words: Any) -> dict[str, int]:
    """How often each word of a corpus occurs.

    TypeError or ValueError for words or counts that are not valid.
    """
    if isinstance(words, (str, bytes)):
        raise TypeError(
            f"words: expected words, got {describe(words)}; cut it first, for example with str.split"
        )
    if not isinstance(words, Mapping):  # words, or lists of them
        words = Counter(
            chain.from_iterable(part if isinstance(part, (list, tuple)) else [part] for part in words)
        )
    counts = dict(words)
    for word, count in counts.items():
        if not isinstance(word, str):
            raise TypeError(f"words: expected str, got {describe(word)}")
        positive(count, f"words[{quoted(word)}]")
    if sum(count * len(word) for word, count in counts.items()) >= 2**62:
        raise ValueError("words: expected less than 2**62 characters in all, by counts")
    counts.pop("", None)
    return counts
