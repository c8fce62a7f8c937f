"""Vocabularies of WordPiece: arguments that are read, the model that they make, and pieces learned from words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Set
from itertools import pairwise
from typing import Any

import numpy as np

from ubpe_numba.coding.decode import left_ids
from ubpe_numba.coding.places import UNITS, Places, in_units
from ubpe_numba.coding.plan import Plan, Tables
from ubpe_numba.coding.wordpiece import PieceEncoder, TextWords
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import Documents, code_points, kept
from ubpe_numba.errors import UnknownTokenError, quoted
from ubpe_numba.runtime.arrays import describe, offsets_of, place_of, positive
from ubpe_numba.text.splitter import Splitter
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.reserved import FLAGS, SPECIAL, Reserved
from ubpe_numba.vocabulary.segmenter import Decoding, Segmenter
from ubpe_numba.vocabulary.unknown import Unknown
from ubpe_numba.vocabulary.vocabulary import Vocabulary

_NONE = Documents(np.zeros(0, np.uint32), np.zeros(1, np.int64), "str")


class WordPlan(Plan):
    """How documents of words, or texts that a segmenter cuts into words, become ids of pieces.

    `added` has the ids of special tokens and known words, and `encoder` the pieces.
    """

    def __init__(
        self, tables: Tables, added: Mapping[str, int], has_flags: bool, encoder: PieceEncoder, n_threads: int | None
    ) -> None:
        super().__init__(tables, self._encode_ids, "raise", n_threads)
        self.segmenter, self.added, self.has_flags, self.encoder = tables.model.segmenter, added, has_flags, encoder
        by_length = sorted(added, key=len, reverse=True)
        self._special = re.compile("|".join(map(re.escape, by_length))) if by_length else None  # where there are no flags

    def _encode_ids(self, documents: Ragged) -> Ragged:
        alphabet, _, segmenter = self.model
        assert segmenter.token_ids is not None
        words = [str(alphabet.output(alphabet.to_symbols(word))) for word in documents]
        found, order = self.encoder.encode(words, self.n_threads), np.argsort(segmenter.token_ids).astype(np.int32)
        return Ragged._trusted(order[np.searchsorted(segmenter.token_ids, found.values, sorter=order)], found._offsets)

    def _encode(
        self, docs: Any, offsets: Any, return_offsets: Any, options: Mapping[str, Any], name: str
    ) -> tuple[Documents, Ragged, Places | None]:
        """Read documents, or the one "doc", and give their ids, and the places of pieces if `return_offsets` requests them."""
        units, first = options.get("units"), None if name == "doc" else 0
        chosen = options.get("allowed_special", "all"), options.get("disallowed_special", "none")
        if offsets is not None:
            raise TypeError("offsets: expected None, documents are lists of words or texts")
        if return_offsets not in (False, True, "spans"):
            raise ValueError(f"return_offsets: expected True, False or 'spans', got {quoted(return_offsets)}")
        if units not in (None, *UNITS):
            raise ValueError(f"units: expected {' or '.join(map(repr, UNITS))}, got {quoted(units)}")
        if name == "docs" and (isinstance(docs, (Mapping, Set)) or not isinstance(docs, Iterable)):
            raise TypeError(f"{name}: expected lists of words, or texts, got {describe(docs)}; give them as a list")
        documents: list[Any] = [docs] if name == "doc" or isinstance(docs, str) else list(kept(docs))
        plain = chosen == ("all", "none") and not self.has_flags
        number, texts = [-1] * len(documents), None  # which of the texts each document is, -1 for one of words
        cutter = self.segmenter.pretokenizer
        if isinstance(cutter, Splitter) and (return_offsets or not plain or cutter.asks_for_start):
            is_text = [isinstance(words, str) for words in documents]
            number = np.where(is_text, np.cumsum(is_text) - 1, -1).tolist()
            given = [words for words in documents if isinstance(words, str)]
            texts = TextWords.of(self.segmenter, given, bool(return_offsets), chosen)
        listed: list[str] = []
        ends = [0]
        special: dict[int, int] = {}  # the ids of the words of a text that are special tokens
        for d, words in enumerate(documents):
            if type(words) is list:  # the usual case, without the question whether it can be iterated
                listed.extend(words)
            elif isinstance(words, str) and cutter is not None:
                if texts is None:
                    self._cut(words, listed, special)
                else:
                    texts.put(number[d], listed, special)
            elif isinstance(words, (str, bytes)) or not isinstance(words, Iterable):
                where = name if first is None else f"{name}: document {first + d}"
                hint = "; cut it first, for example with str.split" if isinstance(words, str) else ""
                raise TypeError(f"{where}: expected words, got {describe(words)}{hint}")
            else:
                listed.extend(words)
            ends.append(len(listed))
        bounds = np.array(ends)
        starts = np.zeros(0, np.int64)
        try:
            if return_offsets:
                found, starts = self.encoder.encode_with_starts(listed, self.n_threads)
            else:
                found = self.encoder.encode(listed, self.n_threads)
        except TypeError as error:
            at = next((i for i, word in enumerate(listed) if not isinstance(word, str)), None)
            if at is None:
                raise
            raise TypeError(f"{place_of(name, bounds, at, first)}: expected str, got {describe(listed[at])}") from error
        if special:  # stand as empty words, which have no pieces
            here = np.fromiter(special, np.int64, len(special))
            lengths = np.diff(found._offsets)
            lengths[here] = 1
            places = found._offsets[here]
            ids = np.insert(found.values, places, np.fromiter(special.values(), np.int32, len(special)))
            starts = np.insert(starts, places, 0) if return_offsets else starts
            found = Ragged._trusted(ids, offsets_of(lengths))
        encoded = Ragged._trusted(found.values, found._offsets[bounds])
        if not return_offsets:
            return _NONE, encoded, None
        parts = zip(documents, number, pairwise(ends), strict=True)
        whole = [doc if n >= 0 else "".join(listed[a:b]) for doc, n, (a, b) in parts]
        joined = Documents(code_points("".join(whole)), offsets_of(np.array([0, *map(len, whole)])[1:]), "str")
        spans = _spans(encoded, found, starts, listed, bounds, np.array(number, np.int64), texts)
        return joined, encoded, spans if units is None else in_units(spans, encoded._offsets, joined, units)

    def _cut(self, text: str, words: list[str], special: dict[int, int]) -> None:
        """Append the words of a text to `words`: an empty one for a special token, whose id `special` gets by its number.

        As `TextWords` does, in less time for one text, where there are no flags, no positions are needed, and the pretokenizer
        treats the beginning of a text as any other place.
        """
        normalizer, cutter = self.segmenter.normalizer, self.segmenter.pretokenizer
        assert isinstance(cutter, Splitter)  # the caller has checked that
        done = 0
        found = [] if self._special is None else [(*match.span(), match[0]) for match in self._special.finditer(text)]
        for begin, end, word in [*found, (len(text), len(text), None)]:
            part = text[done:begin] if normalizer is None else normalizer.apply(text[done:begin])
            words += cutter.pieces(part)
            if word is not None:
                special[len(words)] = self.added[word]
                words.append("")
            done = end


def _spans(
    encoded: Ragged, found: Ragged, starts: np.ndarray, listed: list[str], bounds: np.ndarray, number: np.ndarray,
    texts: TextWords | None,
) -> Places:  # fmt: skip
    """Begin and end of each id in its document: `found` has the ids of each word, `starts` are positions in words.

    Words `bounds[d] : bounds[d + 1]` of `listed` are document d, which is the text `number[d]` of `texts` unless that is -1.
    """
    word = np.repeat(np.arange(len(listed)), found.lengths)
    sizes = np.fromiter(map(len, listed), np.int64, len(listed))
    stops = np.append(starts[1:], starts[:1])
    last = found._offsets[1:][found.lengths > 0] - 1
    stops[last] = sizes[word[last]]
    first = np.repeat(bounds[:-1], encoded.lengths)
    before = offsets_of(sizes)[word] - offsets_of(sizes)[first]
    spans = np.stack([starts + before, stops + before])
    if texts is not None:
        owners = np.repeat(number, encoded.lengths)
        rows = owners >= 0
        spans[:, rows] = texts.spans(owners[rows], (word - first)[rows], starts[rows], stops[rows])
    return spans


class WordByWord:
    """Decoder of one document in parts, as `DecoderStream` takes it."""

    dtype = np.dtype(np.uint32)

    def __init__(self, names: Mapping[int, str], spaced: Callable[..., str]) -> None:
        self._names, self._spaced, self._begun = names, spaced, False

    def ids(self, documents: Documents, gone: np.ndarray | None = None, known: bool = True) -> Ragged:
        """Ids given by the user, without those that are `gone`; UnknownTokenError for one that no piece has."""
        if gone is not None:
            return left_ids(documents, gone, self.ids)
        if documents.kind == "str":
            raise TypeError("ids: expected integers, got str; text is for encode")
        begin, end = int(documents.offsets[0]), int(documents.offsets[-1])
        ids = documents.values[begin:end].tolist()
        there = list(map(self._names.__contains__, ids))
        if not all(there):
            at = begin + there.index(False)
            document = int(np.searchsorted(documents.offsets, at, side="right")) - 1
            raise UnknownTokenError(document, at - int(documents.offsets[document]), ids[at - begin], max(self._names) + 1)
        return Ragged._trusted(documents.values.astype(np.int32, copy=False), documents.offsets)

    def decode(self, ids: Ragged, n_threads: int | None) -> tuple[np.ndarray, np.ndarray]:
        """The code points of the next ids."""
        text = "".join(map(self._spaced, ids.values.tolist()))
        if not self._begun and ids.values.size:
            first = int(ids.values[0])
            text = self._spaced(first, True) + text[len(self._spaced(first)) :]
            self._begun = True
        return code_points(text), np.array([0, len(text)])


def model_of(pieces: dict[str, int], prefix: str, unknown: int, cutter: Segmenter) -> Model:
    """The model: characters, of which those that are pieces have ids, and pieces of several characters."""
    alphabet = Alphabet.from_user("".join(sorted(set("".join(pieces)))) or "\0")
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
    """The id of every piece; TypeError for other things, ValueError for one that is there twice or an id out of range."""
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
                raise ValueError(f"{name}: a piece is there twice: {quoted(piece)}, as {pieces[piece]} and {i}")
    for piece, i in pieces.items():
        if not isinstance(piece, str) or isinstance(i, bool) or not isinstance(i, (int, np.integer)):
            raise TypeError(f"{name}: expected str and their ids, got {quoted(piece)}: {quoted(i)}")
        if not 0 <= i < 2**31:
            raise ValueError(f"{name}: {quoted(piece)}: expected an id in 0..2**31 - 1, got {quoted(i)}")
    return {str(piece): int(i) for piece, i in pieces.items()}


def added_tokens(special: Mapping[str, int], known: Mapping[str, int], flags: Mapping[str, Iterable[str]]) -> Reserved | None:
    """Special tokens and known words as a segmenter has them."""
    if not special and not known:
        return None
    words = (*special, *known)
    masks = np.array([sum(map(FLAGS.__getitem__, flags.get(word, ()))) for word in words], np.uint16)
    masks[: len(special)] |= SPECIAL
    return Reserved("str", words, np.array([*special.values(), *known.values()], np.int32), masks)


def word_counts(words: Any) -> dict[str, int]:
    """How often each word of a corpus occurs; TypeError or ValueError for words or counts that are not valid."""
    if isinstance(words, (str, bytes)):
        raise TypeError(f"words: expected words, got {describe(words)}; cut it first, for example with str.split")
    counts = dict(words) if isinstance(words, Mapping) else Counter(words)
    for word, count in counts.items():
        if not isinstance(word, str):
            raise TypeError(f"words: expected str, got {describe(word)}")
        positive(count, f"words[{quoted(word)}]")
    if sum(count * len(word) for word, count in counts.items()) >= 2**62:
        raise ValueError("words: expected less than 2**62 characters in all, by counts")
    counts.pop("", None)
    return counts
