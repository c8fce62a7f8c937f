"""Models of sentencepiece: `.model` files of the kinds unigram, BPE and characters, read and written.

A file is a message of protobuf (protobuf.py):

    1  pieces: 1 text, 2 score, 3 type (1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused, 6 byte)
    2  training: 3 kind (1 unigram, 2 BPE, 3 words, 4 characters), 24 spaces as suffixes, 35 byte fallback,
       44 the decoded text of the unknown
    3  normalization: 1 a name, 2 a map of characters, 3 a space in front, 4 no extra spaces, 5 spaces as ▁

The id of a piece is its number. Symbols of the model are characters, and placeholders of private use for
bytes, the unknown and words of the user (text/sentencepiece.py).

*Unigram*: the score of a piece is its weight. An unknown character weighs 10 less than the least normal
piece. A piece of the user, n bytes long, weighs (n - 1) / 10, so that it wins against any others. In *BPE*,
two neighbors merge if they join to a normal piece, of the highest score first, of equal scores the leftmost.
So the pair of a piece is the last merge when it is encoded by itself (kernels/last_merges.py), and its rank
is that of its score::

    pieces   a -1   b -2   ab -3   bab -4   bb -5   abb -6
    pairs    ab = (a, b)   bab = (b, ab)   bb = (b, b)   abb: a b b becomes ab b, which is (ab, b)

In general, no order of ranks merges the leftmost of equal scores first. In all known models these pieces
consist of a single character, ▁, and `runs_in_order` finds an order for them. Others are allowed if it makes
no difference (`_check_ties`).
"""

from __future__ import annotations

import base64
import warnings
from collections import Counter
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.documents.read import code_points, text_of
from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.formats.pair_table import pairs_by_rank
from ubpe_numba.formats.protobuf import Messages, field
from ubpe_numba.runtime.arrays import offsets_of, places_of
from ubpe_numba.text.metaspace import MARK
from ubpe_numba.text.normalizer import Normalizer
from ubpe_numba.text.sentencepiece import BYTE_NAMES, BYTES, UNKNOWN, WORDS, needed_of
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.reserved import Reserved
from ubpe_numba.vocabulary.segmenter import Decoding, Segmenter
from ubpe_numba.vocabulary.unknown import Unknown
from ubpe_numba.vocabulary.vocabulary import Vocabulary

NORMAL, UNKNOWN_PIECE, CONTROL, USER, UNUSED, BYTE = 1, 2, 3, 4, 5, 6  # types of pieces
UNIGRAM, BPE, WORDS_ONLY, CHARACTERS = 1, 2, 3, 4  # kinds of models
_MOST = 1 << 20  # pieces
_MOST_FIELDS = 1 << 16  # of other messages
_LONGEST = 8000  # bytes of a piece, as in sentencepiece
SURFACE = " \u2047 "  # text of the unknown, unless a file says another
_PENALTY = np.float32(10.0)  # of the unknown
_MOST_WEIGHT = 1e6
# characters, and scores that several of these pieces have: trying an order takes 50 ms
_LONGEST_RUN, _MOST_RUNS = 32, 2
_NO_RANK = 1 << 30


class Pieces(NamedTuple):
    """The pieces and options of a file, as arrays over its pieces."""

    kind: int
    points: np.ndarray  # uint32: the characters of all pieces
    lengths: np.ndarray  # int64: how many each has
    scores: np.ndarray  # float32
    types: np.ndarray  # int64
    by_bytes: bool  # whether an unknown character becomes bytes
    surface: str  # text of the unknown
    text: dict[str, Any]  # the step that changes a text, for a Normalizer

    @property
    def names(self) -> list[str]:
        """The text of every piece."""
        text = text_of(self.points)
        return [text[a:b] for a, b in pairwise(offsets_of(self.lengths).tolist())]

    def points_of(self, chosen: np.ndarray) -> np.ndarray:
        """The characters of some pieces, int64 indices, one piece after the other, uint32."""
        return self.points[places_of(offsets_of(self.lengths)[chosen], self.lengths[chosen])]


def read(data: bytes) -> Pieces:
    """Read the content of a file; ModelFormatError, with the fault, if it is not valid.

    The parts fit together then.
    """
    top = Messages.of(data, _MOST)
    trainer, spec, back = (top.inside(number, _MOST_FIELDS) for number in (2, 3, 5))
    if _last(back.strings(2), b""):
        raise ModelFormatError(
            "denormalizer_spec: a map of characters that decoded text is changed by is not supported"
        )
    fields = top.inside(1, 4 * _MOST)
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
        points = code_points(text.tobytes().decode())
    except UnicodeDecodeError as error:
        raise ModelFormatError(
            f"piece {int(np.searchsorted(np.cumsum(sizes), error.start, 'right'))}: not UTF-8"
        ) from error
    begins = (text & 0xC0) != 0x80
    if not begins[offsets_of(sizes)[:-1]].all():
        raise ModelFormatError("a piece begins within a character")
    lengths = np.add.reduceat(begins.astype(np.int64), offsets_of(sizes)[:-1])
    if points.min() == 0:
        raise ModelFormatError("a piece holds the character U+0000")
    kind = int(_last(trainer.integers(3, UNIGRAM), UNIGRAM))
    if kind not in (UNIGRAM, BPE, CHARACTERS):
        what = (
            "words: it has no tokens for parts of them" if kind == WORDS_ONLY else f"an unknown kind, {kind}"
        )
        raise ModelFormatError(f"model_type: a model of {what}")
    flags = {
        name: bool(_last(message.integers(number, default), default))
        for name, message, number, default in (
            ("add_dummy_prefix", spec, 3, 1), ("treat_whitespace_as_suffix", trainer, 24, 0),
            ("remove_extra_whitespaces", spec, 4, 1), ("escape_whitespaces", spec, 5, 1), ("by_bytes", trainer, 35, 0),
        )
    }  # fmt: skip
    by_bytes, charsmap = flags.pop("by_bytes"), base64.b64encode(_last(spec.strings(2), b"")).decode()
    step = {"type": "SentencePiece", "precompiled_charsmap": charsmap, **flags}
    surface = _last(trainer.strings(44), SURFACE.encode()).decode("utf-8", "replace")
    return checked(Pieces(kind, points, lengths, scores, types, by_bytes, surface, step))


def _last(values: Any, default: Any) -> Any:
    """The last of several values, as for messages that occur several times."""
    return values[-1] if len(values) else default


def checked(pieces: Pieces) -> Pieces:
    """The pieces; ModelFormatError if they do not fit together."""
    names, types = pieces.names, pieces.types
    plain = np.isin(types, (NORMAL, USER, UNUSED))
    for chosen in (plain, ~plain):
        some = [names[i] for i in np.flatnonzero(chosen).tolist()]
        if len(set(some)) < len(some):
            raise ModelFormatError(f"the piece {quoted(Counter(some).most_common(1)[0][0])} is there twice")
    n_unknown = int((types == UNKNOWN_PIECE).sum())
    if n_unknown > 1 or (n_unknown == 0 and not pieces.by_bytes):
        raise ModelFormatError(f"expected one unknown piece, got {n_unknown}")
    byte_names = {names[i] for i in np.flatnonzero(types == BYTE).tolist()}
    if byte_names != (BYTE_NAMES.keys() if pieces.by_bytes else set()):
        raise ModelFormatError("byte_fallback: expected the 256 pieces of bytes with it, and none without")
    return pieces


# ---------------------------------------------------------------------------------------------------- the
# model


def model_of(pieces: Pieces) -> Model:
    """The model of the pieces of a file; ModelFormatError if it cannot be encoded exactly."""
    try:
        return _unigram(pieces) if pieces.kind == UNIGRAM else _bpe(pieces)
    except (TypeError, ValueError) as error:
        raise ModelFormatError(str(error)) from error


def _symbols(pieces: Pieces, used: np.ndarray, words: np.ndarray) -> tuple[Alphabet, np.ndarray]:
    """The alphabet of the pieces `used`, int64 indices, and their ids.

    It has characters, bytes, the unknown, and `words` of the user.

    The ids are int64 of all symbols, -1 for a character without a piece.
    """
    characters = np.unique(pieces.points_of(used))
    if (point := needed_of(characters, words.size, pieces.by_bytes)) >= 0:
        raise ModelFormatError(f"the character U+{point:04X} of a piece is reserved for something else")
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
    ids = np.concatenate(
        [ids, [byte_ids[name] for name in BYTE_NAMES if name in byte_ids], unknown, words]
    ).astype(np.int64)
    return Alphabet.from_symbols(np.concatenate(points).astype(np.int64), "str"), ids


def _segmenter(
    pieces: Pieces, alphabet: Alphabet, token_ids: np.ndarray, size: int, by_rank: bool
) -> Segmenter:
    """Steps before a text is encoded: sentencepiece's, and placeholders.

    Those of words of the user are symbols if `by_rank`.
    """
    names, types = pieces.names, pieces.types
    words = [names[i] for i in np.flatnonzero(types == USER).tolist()]
    n_others = int(np.isin(types, (BYTE, UNKNOWN_PIECE)).sum()) + len(words) * by_rank
    characters = text_of(alphabet.symbols[: alphabet.size - n_others])
    steps = [
        {**pieces.text, "words": words},
        {
            "type": "StandIns",
            "alphabet": characters,
            "words": words if by_rank else [],
            "by_bytes": pieces.by_bytes,
            "fused": by_rank,
            "unknown": pieces.surface,
        },
    ]
    removes, several = pieces.text["remove_extra_whitespaces"], MARK * 2
    odd = [
        word
        for word in words
        if by_rank and word.startswith(MARK) and (removes or pieces.text["add_dummy_prefix"])
    ]
    odd += [name for name in names if removes and name.startswith(several)]
    if odd:
        notice = f"the piece {quoted(odd[0])} at the beginning of ids: spaces before it are not those of sentencepiece in decode"
        warnings.warn(notice, UserWarning, stacklevel=2)
    special = {names[i]: i for i in np.flatnonzero(types == CONTROL).tolist()}
    unknown = np.flatnonzero(types == UNKNOWN_PIECE)
    segmenter = Segmenter(
        reserved=Reserved.from_user(special, None, "str", size),
        normalizer=Normalizer(steps),
        unknown=Unknown(None, int(unknown[0]), True) if unknown.size else None,
        file={"config": {"unk_token": names[unknown[0]]}}
        if unknown.size and names[unknown[0]] != "<unk>"
        else None,
    )
    return segmenter.numbered(token_ids, size)


def _unigram(pieces: Pieces) -> Model:
    """A model whose weights are the scores."""
    types = pieces.types
    used = np.flatnonzero(np.isin(types, (NORMAL, USER)))
    alphabet, ids = _symbols(pieces, used, np.zeros(0, np.int64))
    normal = pieces.scores[types == NORMAL]
    least = np.float64((normal.min() if normal.size else np.float32(np.finfo(np.float32).max)) - _PENALTY)
    points = pieces.points
    widths = 1 + (points >= 0x80).astype(np.int64) + (points >= 0x800) + (points >= 0x10000)
    sizes = np.add.reduceat(widths, offsets_of(pieces.lengths)[:-1])  # in bytes
    scores = np.where(types == USER, (0.1 * (sizes - 1)).astype(np.float32), pieces.scores).astype(np.float64)
    multiple = used[pieces.lengths[used] > 1]
    weights = np.where(ids >= 0, scores[ids], least)
    points = alphabet.symbols
    weights[points == UNKNOWN] = least
    if pieces.by_bytes:
        # of the first byte of a character, and of the others nothing
        weights[(points >= BYTES) & (points < UNKNOWN)] = least
        weights[(points >= BYTES + 0x80) & (points < BYTES + 0xC0)] = 0.0
    unknown = np.flatnonzero(types == UNKNOWN_PIECE)
    if (ids < 0).any():
        if pieces.by_bytes:
            for at in np.flatnonzero(ids < 0).tolist():
                if points[at] >= 0x80:
                    character = quoted(chr(points[at]))
                    raise ModelFormatError(
                        f"byte_fallback: the character {character} is in pieces, but is none itself"
                    )
                ids[at] = ids[int(np.flatnonzero(points == BYTES + points[at])[0])]  # it becomes its byte
        else:
            ids[ids < 0] = unknown[0]
    flat = alphabet.lookup(pieces.points_of(multiple))
    vocabulary = Vocabulary.from_sequences(
        alphabet.size,
        flat,
        pieces.lengths[multiple],
        log_probabilities=np.clip(np.concatenate([weights, scores[multiple]]), -_MOST_WEIGHT, _MOST_WEIGHT),
    )
    size = len(vocabulary)
    segmenter = _segmenter(pieces, alphabet, np.concatenate([ids, multiple]), size, by_rank=False)
    return Model(alphabet, vocabulary, segmenter)


def _bpe(pieces: Pieces) -> Model:
    """A model of pairs by rank."""
    types = pieces.types
    used = np.flatnonzero((types == NORMAL) | ((types == UNUSED) & (pieces.lengths > 1)))
    if pieces.kind == CHARACTERS:
        used = used[pieces.lengths[used] == 1]
    alphabet, ids = _symbols(pieces, used, np.flatnonzero(types == USER))
    if (ids < 0).any():
        character = chr(alphabet.symbols[int(np.argmax(ids < 0))])
        raise ModelFormatError(f"the character {quoted(character)} is in pieces, but is none itself")
    by_rank, pairs = merged_pieces(pieces, used, alphabet)
    vocabulary = Vocabulary.from_merges(alphabet.size, pairs)
    segmenter = _segmenter(pieces, alphabet, np.concatenate([ids, by_rank]), len(vocabulary), by_rank=True)
    return Model(alphabet, vocabulary, segmenter._replace(one_by_one=not vocabulary.in_order_of_creation))


def merged_pieces(pieces: Pieces, used: np.ndarray, alphabet: Alphabet) -> tuple[np.ndarray, np.ndarray]:
    """The pieces that merging makes, by rank, int64[m], and the two tokens of each, int32[m, 2].

    `used` are pieces, int64 indices, whose characters are in the alphabet. ModelFormatError for too much
    work, and for ties that the order of ranks cannot say.
    """
    by_rank = used[pieces.lengths[used] > 1]
    by_rank = by_rank[np.argsort(-pieces.scores[by_rank], kind="stable")]
    by_rank, tied = runs_in_order(pieces, by_rank)
    n = alphabet.size
    arena = np.concatenate([np.arange(n, dtype=np.int32), alphabet.lookup(pieces.points_of(by_rank))])
    starts = offsets_of(np.concatenate([np.ones(n, np.int64), pieces.lengths[by_rank]]))
    pairs = pairs_by_rank(np.append(arena.view(np.uint8), np.zeros(8, np.uint8)), arena, 4 * starts, n)
    mask = pairs[:, 0] >= 0  # the others, which their own symbols are not merged to, are in no text
    mask &= ~_taken_apart(pieces, by_rank, pairs, mask, n)
    number = np.concatenate([np.arange(n), n + np.cumsum(mask) - 1]).astype(np.int32)
    by_rank, pairs, tied = by_rank[mask], number[pairs[mask]], tied[mask]
    _check_ties(pieces, by_rank, pairs, tied)
    return by_rank, pairs


def _taken_apart(
    pieces: Pieces, by_rank: np.ndarray, pairs: np.ndarray, made: np.ndarray, n: int
) -> np.ndarray:
    """Mask of the unused pieces, bool[m], which sentencepiece takes apart again after all merges.

    `made` bool[m]: pieces that merges make, of n symbols. That is as if they were absent, unless a used piece
    of lower rank takes one of them, or one of its parts together with a neighbour: then ModelFormatError.
    """
    unused = made & (pieces.types[by_rank] == UNUSED)
    for side in (0, 1):
        # the lowest rank of a used piece that begins, or ends, with a token
        last = np.full(n + by_rank.size, -1, np.int64)
        places = np.flatnonzero(made & ~unused)
        last[pairs[places, side]] = places
        at = np.flatnonzero(unused)
        bad = (last[pairs[at, 1 - side]] > at) | (last[n + at] >= 0)
        if bad.any():
            i = int(by_rank[at[np.argmax(bad)]])
            raise ModelFormatError(
                f"piece {i}: {quoted(pieces.names[i])} is unused, so it is taken apart again, which other pieces depend on; "
                "that is not supported: leave it out of the file, or make it a normal piece, if its ids may differ"
            )
    return np.asarray(unused)


def runs_in_order(pieces: Pieces, by_rank: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pieces of equal score that repeat one character, in an order that merges from the left.

    From the left a run of characters becomes pieces of the largest length, mostly 16, and a rest. By rank,
    powers of two come first, which leaves the rest as ever smaller powers. Then these join from the left, if
    pieces that end with the larger one come first. That is 12 = 8 + 4, then 14 = 12 + 2, 10 and 6, then 15 =
    14 + 1, 13, 11, 9, 7, 5 and 3. The order is tried on all lengths. Returns all pieces, int64, and a mask:
    pieces that share their score with others, and are not put in order here.
    """
    scores = pieces.scores[by_rank]
    points, starts = pieces.points_of(by_rank), offsets_of(pieces.lengths[by_rank])
    new = np.concatenate([[True], scores[1:] != scores[:-1], [True]])
    out, tied, left = by_rank.copy(), ~(new[:-1] & new[1:]), _MOST_RUNS
    for begin, end in pairwise(np.flatnonzero(new).tolist()):
        chosen = by_rank[begin:end]
        lengths = pieces.lengths[chosen]
        if (
            chosen.size < 2
            or lengths.max() > _LONGEST_RUN
            or np.ptp(points[starts[begin] : starts[end]])
            or not left
        ):
            continue
        left -= 1
        low = lengths & -lengths
        power = low == lengths
        order = np.lexsort([np.where(power, lengths, -lengths), np.where(power, 0, -low), ~power])
        by_order = {length: rank for rank, length in enumerate(lengths[order].tolist())}
        from_left = dict.fromkeys(by_order, 0)
        if all(
            parts_of_run(n, by_order) == parts_of_run(n, from_left) for n in range(3 * int(lengths.max()))
        ):
            out[begin:end], tied[begin:end] = chosen[order], False
    return out, tied


def parts_of_run(n: int, ranks: dict[int, int]) -> list[int]:
    """Lengths of the parts that a run of n characters is merged to, by the ranks of lengths.

    Equal ranks merge from the left.

    >>> parts_of_run(7, {2: 0, 4: 1, 3: 2}), parts_of_run(7, {2: 0, 4: 0, 3: 0})
    ([4, 3], [4, 3])
    """
    parts = [1] * n
    while len(parts) > 1:
        rank, at = min((ranks.get(a + b, _NO_RANK), i) for i, (a, b) in enumerate(pairwise(parts)))
        if rank == _NO_RANK:
            break
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return parts


def _check_ties(pieces: Pieces, by_rank: np.ndarray, pairs: np.ndarray, tied: np.ndarray) -> None:
    """ModelFormatError if the order of pieces of equal score matters.

    It does if one ends with a token with which a piece of lower rank begins.

    If two pieces overlap, sentencepiece merges the left piece first. `tied` bool[m]: whether the score is
    that of another piece too.
    """
    places = np.flatnonzero(tied)
    scores = pieces.scores[by_rank[places]]
    for chosen in np.split(places, np.flatnonzero(np.diff(scores)) + 1):
        first = dict(zip(pairs[chosen, 0].tolist()[::-1], chosen.tolist()[::-1], strict=True))
        for i, right in zip(chosen.tolist(), pairs[chosen, 1].tolist(), strict=True):
            if first.get(right, i) < i:
                names = pieces.names
                a, b = names[by_rank[i]], names[by_rank[first[right]]]
                raise ModelFormatError(
                    f"the pieces {quoted(a)} and {quoted(b)} have the same score, and which is merged first depends on where"
                )


# ---------------------------------------------------------------------------------------------------- writing


def write(model: Model, unigram: bool) -> bytes:
    """The content of a file for a model of characters.

    By its scores if `unigram`, else by the ranks of its merges.

    Unused ids become control pieces, special tokens too; without an unknown piece one is added as the last.
    ValueError, with the fault, if sentencepiece cannot express the model. The caller checks that the file
    encodes alike.
    """
    step, stand_ins = _steps(model)
    alphabet, vocabulary, segmenter = model
    rows: dict[int, tuple[str, float, int]] = {}
    special = segmenter.special
    if special is not None:
        for word, i, known in zip(special.words, special.ids.tolist(), special.always.tolist(), strict=True):
            if known and unigram:
                raise ValueError(
                    f"known_words: {quoted(word)}: a unigram model has none that are always found"
                )
            rows[i] = str(word), 0.0, USER if known else CONTROL
    n, size = vocabulary.n_alphabet, len(vocabulary)
    ids = segmenter.ids(size).tolist()
    points = alphabet.symbols[vocabulary.arena].astype(np.uint32)
    if points.min() == 0 or ((points >= 0xD800) & (points < 0xE000)).any():
        raise ValueError("alphabet: U+0000 and surrogates cannot be in pieces of sentencepiece")
    text, starts = text_of(points), vocabulary.offsets.tolist()
    scores = [-float(size)] * n + [-float(rank) for rank in range(size - n)]
    if unigram:
        assert vocabulary.log_probabilities is not None  # the caller has checked that
        scores = vocabulary.log_probabilities.tolist()
    users, placeholders = set(step["words"]), placeholder_names(segmenter)
    of_bytes = {chr(BYTES + byte) for byte in range(256)} if stand_ins.get("by_bytes") else set()
    for i, score, (begin, end) in zip(ids, scores, pairwise(starts), strict=True):
        name = text[begin:end]
        if stand_ins and name in placeholders:
            rows[i] = (
                placeholders[name],
                0.0,
                UNKNOWN_PIECE if ord(name) == UNKNOWN else BYTE if name in of_bytes else USER,
            )
        elif segmenter.unknown is None or i != segmenter.unknown.id:
            rows[i] = name, score, USER if unigram and name in users else NORMAL
    for i in range(max(rows)):
        rows.setdefault(i, (f"<gap_{i}>", 0.0, CONTROL))
    if not any(type_ == UNKNOWN_PIECE for _, _, type_ in rows.values()):
        rows[len(rows)] = "<unk>", 0.0, UNKNOWN_PIECE
    by_bytes = any(type_ == BYTE for _, _, type_ in rows.values())
    trainer = {
        3: UNIGRAM if unigram else BPE,
        4: len(rows),
        24: int(step["treat_whitespace_as_suffix"]),
        35: int(by_bytes),
    }
    surface = stand_ins.get("unknown", SURFACE)
    flags = {3: "add_dummy_prefix", 4: "remove_extra_whitespaces", 5: "escape_whitespaces"}
    normal = field(1, b"identity") + field(2, base64.b64decode(step["precompiled_charsmap"]))
    normal += b"".join(field(number, int(step[name])) for number, name in flags.items())
    spec = b"".join(field(number, value) for number, value in trainer.items()) + field(44, surface.encode())
    listed = (rows[i] for i in range(len(rows)))
    pieces = (
        field(1, field(1, name.encode()) + field(2, score) + field(3, type_)) for name, score, type_ in listed
    )
    return b"".join([*pieces, field(2, spec), field(3, normal)])


def placeholder_names(segmenter: Segmenter) -> dict[Any, str]:
    """The names of characters that are placeholders: for bytes, words of the user and the unknown."""
    step: dict[str, Any] = {} if segmenter.normalizer is None else segmenter.normalizer.steps[-1]
    if segmenter.unknown is None and step.get("type") != "StandIns":
        return {}
    replaced = dict(() if segmenter.decoding is None else segmenter.decoding.replace)
    config = (segmenter.file or {}).get("config", {})
    names: dict[Any, str] = {chr(UNKNOWN): replaced.get(chr(UNKNOWN), config.get("unk_token", "<unk>"))}
    if step.get("by_bytes"):
        names |= {chr(BYTES + byte): name for name, byte in BYTE_NAMES.items()}
    return names | {
        chr(WORDS + i): word for i, word in enumerate(step.get("words", ()) if "alphabet" in step else ())
    }


def as_huggingface(segmenter: Segmenter) -> tuple[Normalizer | None, Unknown, Decoding]:
    """Steps, rule and decoding of a `tokenizer.json` for the steps of a model of pairs.

    ValueError without these steps.
    """
    assert segmenter.normalizer is not None  # as `model_of` made it
    step, stand_ins = segmenter.normalizer.steps
    if step["treat_whitespace_as_suffix"] or step["words"] or not step["escape_whitespaces"]:
        raise ValueError(
            "normalizer: a tokenizer.json has no place for white space as a suffix or words of the user; export to "
            "'sentencepiece'"
        )
    steps: list[dict[str, Any]] = []
    if step["precompiled_charsmap"]:
        steps.append({"type": "Precompiled", "precompiled_charsmap": step["precompiled_charsmap"]})
    if step["remove_extra_whitespaces"]:
        steps.append({"type": "Strip", "strip_left": True, "strip_right": True})
        steps.append({"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "})
    steps += [{"type": "Prepend", "prepend": MARK}] if step["add_dummy_prefix"] else []
    steps.append({"type": "Replace", "pattern": {"String": " "}, "content": MARK})
    unknown = segmenter.unknown or Unknown(None)
    rule = unknown._replace(byte_ids=np.zeros(256, np.int32) if stand_ins["by_bytes"] else None)
    starts = step["add_dummy_prefix"] or step["remove_extra_whitespaces"]
    shown = placeholder_names(segmenter)[chr(UNKNOWN)], stand_ins["unknown"]
    return Normalizer(steps), rule, Decoding(((MARK, " "), shown), " " if starts else "", int(starts))


_PLAIN_TEXT = {  # the step of a model that changes nothing
    "precompiled_charsmap": "",
    "add_dummy_prefix": False,
    "treat_whitespace_as_suffix": False,
    "remove_extra_whitespaces": False,
    "escape_whitespaces": False,
    "words": [],
}


def _steps(model: Model) -> tuple[dict[str, Any], dict[str, Any]]:
    """The step of sentencepiece and the step of placeholders, empty for a model without.

    ValueError for any other step.
    """
    alphabet, _, segmenter = model
    if alphabet.kind != "str":
        raise ValueError(
            f"alphabet: models of sentencepiece are of characters, not {alphabet.kind}; 'tokenizer.json' holds others"
        )
    if segmenter.pretokenizer is not None:
        raise ValueError("pretokenizer: sentencepiece does not cut text")
    if segmenter.whole_words or segmenter.decoding is not None:
        raise ValueError(
            "sentencepiece has no place for tokens that only whole words become, or for another way to decode"
        )
    steps = () if segmenter.normalizer is None else segmenter.normalizer.steps
    if not steps:
        return _PLAIN_TEXT, {}
    if [step["type"] for step in steps] != ["SentencePiece", "StandIns"]:
        raise ValueError(f"normalizer: sentencepiece has no place for {quoted(steps[0]['type'])}")
    return steps[0], steps[1]
