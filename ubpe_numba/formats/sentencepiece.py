"""Models of sentencepiece: `.model` files of the kinds unigram, BPE and characters, read and written.

A file is a message of protobuf (protobuf.py):

    1  pieces: 1 text, 2 score (float), 3 type (1 normal, 2 unknown, 3 control, 4 defined by the user, 5 unused, 6 byte)
    2  how it was trained: 3 kind (1 unigram, 2 BPE, 3 words, 4 characters), 24 spaces as suffixes, 35 byte fallback, 44 what the
       unknown decodes to
    3  what is done to a text before: 1 a name, 2 a map of characters, 3 a space in front, 4 no superfluous spaces, 5 spaces as ▁

The id of a piece is its number. sentencepiece_model.py makes a model of the pieces.
"""

from __future__ import annotations

import base64
import struct
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.formats.protobuf import Messages, field
from ubpe_numba.runtime.arrays import offsets_of, places_of
from ubpe_numba.text.private_use import BYTE_NAMES, BYTES, UNKNOWN, WORDS, byte_name
from ubpe_numba.vocabulary.model import Model

NORMAL, UNKNOWN_PIECE, CONTROL, USER, UNUSED, BYTE = 1, 2, 3, 4, 5, 6  # types of pieces
UNIGRAM, BPE, WORDS_ONLY, CHARACTERS = 1, 2, 3, 4  # kinds of models
_MOST = 1 << 20  # pieces
_MOST_FIELDS = 1 << 16  # of other messages
_LONGEST = 8000  # bytes of a piece, as sentencepiece has it
SURFACE = " \u2047 "  # what the unknown decodes to unless a file says something else


class Pieces(NamedTuple):
    """What a file says, as arrays over its pieces."""

    kind: int
    points: np.ndarray  # uint32: the characters of all pieces
    lengths: np.ndarray  # int64: how many each has
    scores: np.ndarray  # float32
    types: np.ndarray  # int64
    by_bytes: bool  # whether an unknown character becomes bytes
    surface: str  # what the unknown decodes to
    text: dict[str, Any]  # the step that changes a text, for a Normalizer

    @property
    def names(self) -> list[str]:
        """The text of every piece."""
        text = self.points.tobytes().decode("utf-32-le")
        return [text[a:b] for a, b in pairwise(offsets_of(self.lengths).tolist())]

    def points_of(self, chosen: np.ndarray) -> np.ndarray:
        """The characters of some pieces, int64 indices, one piece after the other, uint32."""
        return self.points[places_of(offsets_of(self.lengths)[chosen], self.lengths[chosen])]


def read(data: bytes) -> Pieces:
    """Read the content of a file; ModelFormatError says what is not valid in it. The parts fit together then."""
    top = Messages.of(data).fields(_MOST)
    trainer, spec = (top.inside(number).fields(_MOST_FIELDS) for number in (2, 3))
    fields = top.inside(1).fields(4 * _MOST)
    text, sizes = fields.texts(1)
    scores, types = fields.floats(2, 0.0), fields.integers(3, NORMAL)
    if not sizes.size:
        raise ModelFormatError("not a model of sentencepiece: it has no pieces")
    for bad, what in (
        (sizes == 0, "it is empty"),
        (sizes >= _LONGEST, f"it has {_LONGEST} bytes or more"),
        (~np.isfinite(scores), "its score is no finite number"),
        ((types < NORMAL) | (types > BYTE), "it is of an unknown type"),
    ):
        if bad.any():
            raise ModelFormatError(f"piece {int(np.argmax(bad))}: {what}")
    try:
        points = np.frombuffer(text.tobytes().decode().encode("utf-32-le"), np.uint32)
    except UnicodeDecodeError as error:
        raise ModelFormatError(f"piece {int(np.searchsorted(np.cumsum(sizes), error.start, 'right'))}: not UTF-8") from error
    begins = (text & 0xC0) != 0x80
    if not begins[offsets_of(sizes)[:-1]].all():
        raise ModelFormatError("a piece begins within a character")
    lengths = np.add.reduceat(begins.astype(np.int64), offsets_of(sizes)[:-1])
    if points.min() == 0:
        raise ModelFormatError("a piece holds the character U+0000")
    kind = int(_last(trainer.integers(3, UNIGRAM), UNIGRAM))
    if kind not in (UNIGRAM, BPE, CHARACTERS):
        what = "words: it has no tokens for parts of them" if kind == WORDS_ONLY else f"an unknown kind, {kind}"
        raise ModelFormatError(f"model_type: a model of {what}")
    step = {
        "type": "SentencePiece",
        "precompiled_charsmap": base64.b64encode(_last(spec.strings(2), b"")).decode(),
        "add_dummy_prefix": bool(_last(spec.integers(3, 1), 1)),
        "treat_whitespace_as_suffix": bool(_last(trainer.integers(24, 0), 0)),
        "remove_extra_whitespaces": bool(_last(spec.integers(4, 1), 1)),
        "escape_whitespaces": bool(_last(spec.integers(5, 1), 1)),
    }
    surface = _last(trainer.strings(44), SURFACE.encode()).decode("utf-8", "replace")
    by_bytes = bool(_last(trainer.integers(35, 0), 0))
    pieces = Pieces(kind, points, lengths, scores, types, by_bytes, surface, step)
    check(pieces)
    return pieces


def _last(values: Any, default: Any) -> Any:
    """The last of several values, as for messages that are there several times."""
    return values[-1] if len(values) else default


def check(pieces: Pieces) -> None:
    """ModelFormatError for pieces that do not fit together."""
    names, types = pieces.names, pieces.types
    plain = np.isin(types, (NORMAL, USER, UNUSED))
    for chosen in (np.flatnonzero(plain), np.flatnonzero(~plain)):
        if len(set(map(names.__getitem__, chosen.tolist()))) < chosen.size:
            seen: set[str] = set()
            twice = next(name for name in map(names.__getitem__, chosen.tolist()) if name in seen or seen.add(name))  # type: ignore[func-returns-value]
            raise ModelFormatError(f"the piece {quoted(twice)} is there twice")
    n_unknown = int((types == UNKNOWN_PIECE).sum())
    if n_unknown > 1 or (n_unknown == 0 and not pieces.by_bytes):
        raise ModelFormatError(f"expected one unknown piece, got {n_unknown}")
    found = {names[i] for i in np.flatnonzero(types == BYTE).tolist()}
    if found != (BYTE_NAMES.keys() if pieces.by_bytes else set()):
        raise ModelFormatError("byte_fallback: expected the 256 pieces of bytes with it, and none without")


# ---------------------------------------------------------------------------------------------------- writing


def write(model: Model, unigram: bool) -> bytes:
    """The content of a file for a model of characters, by its scores if `unigram`, else by the ranks of its merges.

    Ids that nothing has become control pieces, special tokens too; without an unknown piece one is added as the last. ValueError
    for what sentencepiece has no place for, naming it. That it encodes alike is for the caller to check.
    """
    step, stand_ins = _steps(model)
    alphabet, vocabulary, segmenter = model
    rows: dict[int, tuple[str, float, int]] = {}
    special = segmenter.special
    if special is not None:
        for word, i, known in zip(special.words, special.ids.tolist(), special.always.tolist(), strict=True):
            if known and unigram:
                raise ValueError(f"known_words: {quoted(word)}: a unigram model has none that are always found")
            rows[i] = str(word), 0.0, USER if known else CONTROL
    n, size = vocabulary.n_alphabet, len(vocabulary)
    ids = range(size) if segmenter.token_ids is None else segmenter.token_ids.tolist()
    points = alphabet.symbols[vocabulary.arena].astype(np.uint32)
    if points.min() == 0 or ((points >= 0xD800) & (points < 0xE000)).any():
        raise ValueError("alphabet: U+0000 and surrogates cannot be in pieces of sentencepiece")
    text, starts = points.tobytes().decode("utf-32-le"), vocabulary.offsets.tolist()
    scores = [-float(size)] * n + [-float(rank) for rank in range(size - n)]
    if unigram:
        assert vocabulary.log_probabilities is not None  # the caller has checked that
        scores = vocabulary.log_probabilities.tolist()
    words, users, characters = stand_ins.get("words", []), set(step["words"]), frozenset(stand_ins.get("alphabet", ""))
    unknown = next((i for i, c in zip(ids, text[:n], strict=False) if ord(c) == UNKNOWN), -1)
    for i, score, (begin, end) in zip(ids, scores, pairwise(starts), strict=True):
        name = text[begin:end]
        first = ord(name[0])
        if stand_ins and first >= WORDS and name[0] not in characters:
            if first == UNKNOWN:
                rows[i] = "<unk>", 0.0, UNKNOWN_PIECE
            else:
                rows[i] = (byte_name(first - BYTES), 0.0, BYTE) if first >= BYTES else (words[first - WORDS], 0.0, USER)
        elif i != unknown:
            rows[i] = name, score, USER if unigram and name in users else NORMAL
    for i in range(max(rows)):
        rows.setdefault(i, (f"<gap_{i}>", 0.0, CONTROL))
    if not any(type_ == UNKNOWN_PIECE for _, _, type_ in rows.values()):
        rows[len(rows)] = "<unk>", 0.0, UNKNOWN_PIECE
    by_bytes = any(type_ == BYTE for _, _, type_ in rows.values())
    trainer = {3: UNIGRAM if unigram else BPE, 4: len(rows), 24: int(step["treat_whitespace_as_suffix"]), 35: int(by_bytes)}
    surface = stand_ins.get("unknown", SURFACE)
    flags = {3: "add_dummy_prefix", 4: "remove_extra_whitespaces", 5: "escape_whitespaces"}
    normal = field(1, b"identity") + field(2, base64.b64decode(step["precompiled_charsmap"]))
    normal += b"".join(field(number, int(step[name])) for number, name in flags.items())
    spec = b"".join(field(number, value) for number, value in trainer.items()) + field(44, surface.encode())
    return b"".join([*map(_row, map(rows.__getitem__, range(len(rows)))), field(2, spec), field(3, normal)])


def _row(piece: tuple[str, float, int]) -> bytes:
    """The field of a piece."""
    name, score, type_ = piece
    data = name.encode()
    if len(data) < 110:  # all but a few: lengths of one byte
        return b"\n%c\n%c%b\x15%b\x18%c" % (len(data) + 9, len(data), data, struct.pack("<f", score), type_)
    return field(1, field(1, data) + field(2, score) + field(3, type_))


_PLAIN_TEXT = {  # what a model that changes nothing says
    "precompiled_charsmap": "", "add_dummy_prefix": False, "treat_whitespace_as_suffix": False,
    "remove_extra_whitespaces": False, "escape_whitespaces": False, "words": [],
}  # fmt: skip


def _steps(model: Model) -> tuple[dict[str, Any], dict[str, Any]]:
    """The step of sentencepiece and that of characters that stand for others; the latter is empty for a model that has none.

    ValueError for a model that sentencepiece has no place for.
    """
    alphabet, _, segmenter = model
    if alphabet.kind != "str":
        raise ValueError(f"alphabet: models of sentencepiece are of characters, not of {alphabet.kind}")
    if segmenter.pretokenizer is not None:
        raise ValueError("pretokenizer: sentencepiece does not cut text")
    if segmenter.whole_words or segmenter.decoding is not None:
        raise ValueError("sentencepiece has no place for tokens that only whole words become, or for another way to decode")
    steps = () if segmenter.normalizer is None else segmenter.normalizer.steps
    if not steps:
        return _PLAIN_TEXT, {}
    if [step["type"] for step in steps] != ["SentencePiece", "StandIns"]:
        raise ValueError(f"normalizer: sentencepiece has no place for {quoted(steps[0]['type'])}")
    return steps[0], steps[1]
