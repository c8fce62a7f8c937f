"""The model of the pieces of a file of sentencepiece (sentencepiece.py).

Symbols are characters, and characters that stand for bytes, for the unknown and for words of the user
(text/private_use.py). The id of a piece is its number.

*Unigram*: the score of a piece is its weight. A character that is no piece weighs 10 less than the least normal piece; a piece of
the user, n bytes long, (n - 1) / 10, so that it wins against any others. *BPE*: two neighbours merge if what they join to is a
normal piece, that of the highest score first, of equal scores the leftmost. If every piece, encoded by itself, becomes itself,
that is merging pairs by rank (sentencepiece_pairs.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.formats.sentencepiece import BYTE, CHARACTERS, CONTROL, NORMAL, UNIGRAM, UNKNOWN_PIECE, UNUSED, USER, Pieces
from ubpe_numba.formats.sentencepiece_pairs import pairs_by_rank
from ubpe_numba.runtime.arrays import offsets_of
from ubpe_numba.text.normalizer import Normalizer
from ubpe_numba.text.private_use import BYTE_NAMES, BYTES, UNKNOWN, WORDS, needed_of
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.segmenter import Segmenter
from ubpe_numba.vocabulary.special_tokens import SpecialTokens
from ubpe_numba.vocabulary.unknown import Unknown
from ubpe_numba.vocabulary.vocabulary import Vocabulary

__all__ = ["model_of"]

_PENALTY = np.float32(10.0)  # of the unknown
_MOST_WEIGHT = 1e6


class _Symbols(NamedTuple):
    """The alphabet of a model: characters first, then the bytes, the unknown, and words of the user."""

    alphabet: Alphabet
    token_ids: np.ndarray  # int64 of all symbols, -1: has no piece
    n_characters: int
    words: list[str]


def model_of(pieces: Pieces) -> Model:
    """The model of what a file says; ModelFormatError for what cannot be encoded exactly."""
    try:
        return _unigram(pieces) if pieces.kind == UNIGRAM else _bpe(pieces)
    except (TypeError, ValueError) as error:
        raise ModelFormatError(str(error)) from error


def _symbols(pieces: Pieces, used: np.ndarray, words: np.ndarray) -> _Symbols:
    """The alphabet of the pieces `used`, int64 indices, with the pieces `words` as symbols."""
    characters = np.unique(pieces.points_of(used))
    if (point := needed_of(characters, words.size, pieces.by_bytes)) >= 0:
        raise ModelFormatError(f"the character U+{point:04X} of a piece is needed to stand for something else")
    ids = np.full(characters.size, -1)
    single = used[pieces.lengths[used] == 1]
    ids[np.searchsorted(characters, pieces.points_of(single))] = single
    names = pieces.names
    byte_ids = {names[i]: i for i in np.flatnonzero(pieces.types == BYTE).tolist()}
    unknown = np.flatnonzero(pieces.types == UNKNOWN_PIECE)
    points = [
        characters,
        np.arange(BYTES, BYTES + len(byte_ids)),
        np.full(unknown.size, UNKNOWN),
        np.arange(WORDS, WORDS + words.size),
    ]
    ids = np.concatenate([ids, [byte_ids[name] for name in BYTE_NAMES if name in byte_ids], unknown, words]).astype(np.int64)
    alphabet = Alphabet.from_symbols(np.concatenate(points).astype(np.int64), "str")
    return _Symbols(alphabet, ids, characters.size, [names[i] for i in words.tolist()])


def _segmenter(pieces: Pieces, symbols: _Symbols, token_ids: np.ndarray, size: int, fused: bool) -> Segmenter:
    """What is done to a text before: sentencepiece's step, and characters that stand for others."""
    characters = symbols.alphabet.symbols[: symbols.n_characters].astype(np.uint32).tobytes().decode("utf-32-le")
    users = np.flatnonzero(pieces.types == USER)
    names = pieces.names
    steps = [
        {**pieces.text, "words": [names[i] for i in users.tolist()]},
        {"type": "StandIns", "alphabet": characters, "words": symbols.words, "by_bytes": pieces.by_bytes, "fused": fused,
         "unknown": pieces.surface},
    ]  # fmt: skip
    special = {names[i]: i for i in np.flatnonzero(pieces.types == CONTROL).tolist()}
    unknown = np.flatnonzero(pieces.types == UNKNOWN_PIECE)
    made = Segmenter(
        special=SpecialTokens.from_user(special, None, "str", size),
        normalizer=Normalizer(steps),
        unknown=Unknown(None, int(unknown[0]), True) if unknown.size else None,
    )
    return made.numbered(token_ids, size)


def _unigram(pieces: Pieces) -> Model:
    """A model whose weights are the scores."""
    types = pieces.types
    used = np.flatnonzero(np.isin(types, (NORMAL, USER)))
    symbols = _symbols(pieces, used, np.zeros(0, np.int64))
    normal = pieces.scores[types == NORMAL]
    least = np.float64((normal.min() if normal.size else np.float32(np.finfo(np.float32).max)) - _PENALTY)
    sizes = _utf8_sizes(pieces)
    scores = np.where(types == USER, (0.1 * (sizes - 1)).astype(np.float32), pieces.scores).astype(np.float64)
    multiple = used[pieces.lengths[used] > 1]
    weights = np.where(symbols.token_ids >= 0, scores[symbols.token_ids], least)
    points = symbols.alphabet.symbols
    weights[points == UNKNOWN] = least
    if pieces.by_bytes:
        weights[(points >= BYTES) & (points < UNKNOWN)] = least  # of the first byte of a character, and of the others nothing
        weights[(points >= BYTES + 0x80) & (points < BYTES + 0xC0)] = 0.0
    unknown = np.flatnonzero(types == UNKNOWN_PIECE)
    ids = symbols.token_ids.copy()
    if (ids < 0).any():
        if pieces.by_bytes:
            character = chr(points[int(np.argmax(ids < 0))])
            raise ModelFormatError(f"byte_fallback: the character {quoted(character)} is in pieces, but is none itself")
        ids[ids < 0] = unknown[0]
    flat = symbols.alphabet.lookup(pieces.points_of(multiple))
    vocabulary = Vocabulary.from_sequences(
        symbols.alphabet.size, flat, pieces.lengths[multiple],
        log_probabilities=np.clip(np.concatenate([weights, scores[multiple]]), -_MOST_WEIGHT, _MOST_WEIGHT),
    )  # fmt: skip
    size = len(vocabulary)
    segmenter = _segmenter(pieces, symbols, np.concatenate([ids, multiple]), size, fused=False)
    return Model(symbols.alphabet, vocabulary, segmenter)


def _utf8_sizes(pieces: Pieces) -> np.ndarray:
    """How many bytes each piece has, int64."""
    points = pieces.points
    widths = 1 + (points >= 0x80).astype(np.int64) + (points >= 0x800) + (points >= 0x10000)
    return np.add.reduceat(widths, offsets_of(pieces.lengths)[:-1])


def _bpe(pieces: Pieces) -> Model:
    """A model of pairs by rank."""
    types = pieces.types
    used = np.flatnonzero((types == NORMAL) | ((types == UNUSED) & (pieces.lengths > 1)))
    if pieces.kind == CHARACTERS:
        used = used[pieces.lengths[used] == 1]
    symbols = _symbols(pieces, used, np.flatnonzero(types == USER))
    if (symbols.token_ids < 0).any():
        character = chr(symbols.alphabet.symbols[int(np.argmax(symbols.token_ids < 0))])
        raise ModelFormatError(f"the character {quoted(character)} is in pieces, but is none itself")
    by_rank, pairs = pairs_by_rank(pieces, used, symbols.alphabet)
    vocabulary = Vocabulary.from_merges(symbols.alphabet.size, pairs)
    segmenter = _segmenter(pieces, symbols, np.concatenate([symbols.token_ids, by_rank]), len(vocabulary), fused=True)
    return Model(symbols.alphabet, vocabulary, segmenter._replace(one_by_one=not vocabulary.in_order_of_creation))
