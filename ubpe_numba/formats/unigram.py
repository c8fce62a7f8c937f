"""Unigram models of a `tokenizer.json`, read and written: pieces with scores.

Pieces are over characters, or over bytes after ByteLevel.

They are encoded as in tokenizers, by sums in float64 from the beginning of every segment (objective
``"tokenizers"``). An unknown character scores 10 less than the least piece, and becomes the unknown piece,
several in a row once; or, with `byte_fallback`, its bytes. Names of bytes in a text are text here, not bytes.

Scores are read as the JSON reader of Hugging Face's libraries (serde_json) rounds them. It reads the digits
as one integer of 64 bits, rounds that to float64, and divides by a power of ten, which rounds again. For
numbers with 17 digits, one in eight becomes a float64 next to the nearest. Sums of scores decide between
paths of equal probability, so scores are read in the same way, and written with digits that are read back
exactly::

    -15.275492379532281    nearest  -15.275492379532281    read there as  -15.27549237953228
    15275492379532281 is not a float64: 15275492379532280; divided by 10**15
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ubpe_numba.documents.read import code_points
from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.formats.huggingface import added_of, cut_of, decoding_of, file_of, outer, processed, steps_of
from ubpe_numba.formats.model_file import parse_json
from ubpe_numba.formats.pair_table import Table, names
from ubpe_numba.text.characters import BYTE_OF
from ubpe_numba.text.normalizer import Normalizer
from ubpe_numba.text.patterns import VERSION_OF_OTHERS
from ubpe_numba.text.pretokenizer import Pretokenizer
from ubpe_numba.text.sentencepiece import BYTE_NAMES, BYTES, UNKNOWN, byte_name, needed_of
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.reserved import LSTRIP, NORMALIZED, RSTRIP, SINGLE_WORD, Reserved
from ubpe_numba.vocabulary.segmenter import Decoding, Segmenter
from ubpe_numba.vocabulary.unknown import Unknown
from ubpe_numba.vocabulary.vocabulary import Vocabulary

_MOST = 1e6  # of a score, either way
_PENALTY = 10.0


def model_of(text: str | bytes, config: Mapping[str, Any] | None = None, document: Any = None) -> Model:
    """The model of a file, `document` if it is parsed.

    ModelFormatError, with the fault, for a file that is not valid or not supported.
    """
    file = parse_json(text) if document is None else document
    model = file["model"]
    listed, scores = _pieces(model.get("vocab"), text)
    unknown = model.get("unk_id")
    if unknown is not None and (type(unknown) is not int or not 0 <= unknown < len(listed)):
        raise ModelFormatError(f"model: unk_id: expected the id of a piece, got {quoted(unknown)}")
    vocab = {name: i for i, name in enumerate(listed)}
    if (twice := next((name for i, name in enumerate(listed) if vocab[name] != i), None)) is not None:
        places = f"{listed.index(twice)} and {vocab[twice]}"
        raise ModelFormatError(f"model: vocab: the piece {quoted(twice)} is there twice, as {places}")
    normalizer, splitter = steps_of(file)
    special, known, flags = added_of(file.get("added_tokens", []), vocab, normalizer)
    bytewise = splitter is not None and splitter.bytewise
    by_bytes = (
        not bytewise and model.get("byte_fallback") is True and any(name in vocab for name in BYTE_NAMES)
    )
    if by_bytes and (missing := next((name for name in BYTE_NAMES if name not in vocab), None)) is not None:
        raise ModelFormatError(
            f"model: byte_fallback: the piece {missing} is missing; expected those of all 256 bytes"
        )
    changes = normalizer is not None or splitter is not None  # text may become a character that is special
    unheard = {
        w for w in special if not flags.get(w, 0) & (SINGLE_WORD | NORMALIZED) and (len(w) > 1 or not changes)
    }
    word = "" if unknown is None else listed[unknown]
    taken = {*unheard, *(BYTE_NAMES if by_bytes else ())} | {word} & {*special}
    used = [(name, i) for name, i in vocab.items() if name not in taken and name]
    if bytewise:
        used, unknown = _of_bytes(used, unknown), None
    characters = sorted(set("".join(name for name, _ in used)))
    if (point := needed_of(np.array(list(map(ord, characters)), np.int64), 0, by_bytes)) >= 0:
        raise ModelFormatError(f"model: vocab: U+{point:04X} is reserved for something else")
    least = float(scores.min()) - _PENALTY
    own = dict(used)
    ids = [own.get(c, -1) for c in characters]
    weights = [scores[i] if i >= 0 else least for i in ids]
    if by_bytes:
        ids = [
            vocab[byte_name(ord(c))] if i < 0 and c.isascii() else i
            for c, i in zip(characters, ids, strict=True)
        ]
    if -1 in ids and (by_bytes or unknown is None):
        raise ModelFormatError(
            f"model: vocab: the character {quoted(characters[ids.index(-1)])} is in pieces, but is none"
        )
    if by_bytes and any(
        mask & NORMALIZED and mask & (LSTRIP | RSTRIP | SINGLE_WORD) for mask in flags.values()
    ):
        raise ModelFormatError(
            "added_tokens: lstrip, rstrip, single_word of one that is normalized: not with byte_fallback"
        )
    changed = normalizer is not None and flags.get(word, 0) & NORMALIZED and normalizer.apply(word) != word
    if by_bytes and word and (word not in special | known or flags.get(word, 0) & SINGLE_WORD or changed):
        requirement = "an added token without single_word, that the normalizer leaves as it is"
        raise ModelFormatError(f"model: unk_id: expected {requirement}, with byte_fallback")
    if by_bytes:  # the first byte of a character has the score of the unknown, the others nothing
        characters += map(chr, range(BYTES, BYTES + 256))
        ids += map(vocab.__getitem__, BYTE_NAMES)
        weights += [0.0 if byte & 0xC0 == 0x80 else least for byte in range(256)]
        if splitter is not None and {step["type"] for step in splitter.steps} != {"Metaspace"}:
            raise ModelFormatError("byte_fallback: a Unigram model with it may be cut by Metaspace only")
        if splitter is not None and any(step["replacement"] not in own for step in splitter.steps):
            raise ModelFormatError("byte_fallback: the character that Metaspace puts for a space is no piece")
        step = {
            "type": "StandIns",
            "alphabet": "".join(characters[:-256]) + " " * (splitter is not None),
            "by_bytes": True,
        }
        normalizer = Normalizer([*(normalizer.steps if normalizer else ()), step])
    if unknown is not None and not by_bytes and processed(file.get("post_processor")).trims:
        raise ModelFormatError(
            "post_processor: trim_offsets is not supported with a Unigram model that has an unknown piece"
        )
    if unknown is not None:
        characters.append(chr(UNKNOWN))
        ids = [unknown if i < 0 else i for i in [*ids, unknown]]
        weights.append(least)
    if not characters:
        raise ModelFormatError("model: vocab: there are no pieces")
    kind = "bytes" if bytewise else "str"
    alphabet = Alphabet.from_symbols([ord(c) for c in characters], kind)
    several = [(name, i) for name, i in used if len(name) > 1]
    flat = alphabet.lookup(code_points("".join(name for name, _ in several)))
    ids += [i for _, i in several]
    all_scores = np.concatenate([weights, scores[[i for _, i in several]]])
    vocabulary = Vocabulary.from_sequences(
        alphabet.size,
        flat,
        [len(name) for name, _ in several],
        log_probabilities=np.clip(all_scores, -_MOST, _MOST),
    )
    size, taken_ids = len(vocabulary), set(ids)
    shared = any(i in taken_ids for words in (special, known) for i in words.values())
    decoding = decoding_of(file.get("decoder"), listed, special | known, bytewise, by_bytes)
    pattern, splitter = cut_of(splitter)
    if unknown is not None:
        decoding = decoding or Decoding()
        decoding = decoding._replace(replace=((chr(UNKNOWN), listed[unknown]), *decoding.replace))
    segmenter = Segmenter(
        pretokenizer=splitter if pattern is None else Pretokenizer(pattern, VERSION_OF_OTHERS),
        reserved=Reserved.from_user(special, known, kind, size, dict[Any, int](flags), shared),
        encoding="utf-8" if bytewise else None,
        normalizer=normalizer,
        unknown=None if unknown is None else Unknown(None, unknown, True),
        decoding=decoding,
        file=outer(file, config or {}),
    )
    return Model(alphabet, vocabulary, segmenter.numbered(np.array(ids), size))


def _of_bytes(used: list[tuple[str, int]], unknown: int | None) -> list[tuple[str, int]]:
    """Pieces whose characters are those of bytes, as characters U+0000 to U+00FF; others are in no text."""
    byte_of = {letter: chr(byte) for letter, byte in BYTE_OF.items()}
    odd = set("".join(name for name, _ in used)) - byte_of.keys()
    used = [(name, i) for name, i in used if odd.isdisjoint(name)]
    if unknown is not None and sum(len(name) == 1 for name, _ in used) < 256:
        raise ModelFormatError(
            "model: vocab: with ByteLevel and unk_id, expected the characters of all 256 bytes"
        )
    table = str.maketrans(byte_of)
    return [(name.translate(table), i) for name, i in used]


def _pieces(vocab: Any, text: str | bytes) -> tuple[list[str], np.ndarray]:
    """The texts of pieces and their scores, float64; the file is read again for exact numbers."""
    if not isinstance(vocab, list) or not vocab:
        raise ModelFormatError("model: vocab: expected a list of pieces and scores")
    kinds = [tuple(map(type, pair)) if type(pair) is list else () for pair in vocab]
    if odd := {*kinds} - {(str, float), (str, int)}:
        at = min(map(kinds.index, odd))
        raise ModelFormatError(
            f"model: vocab[{at}]: expected a pair of a piece and a score, got {quoted(vocab[at])}"
        )
    names = [pair[0] for pair in vocab]
    scores = np.array([read_number(str(pair[1])) for pair in parse_json(text, str)["model"]["vocab"]])
    if not np.isfinite(scores).all():
        raise ModelFormatError("model: vocab: a score is no finite number")
    return names, scores


def write(
    model: Model,
    table: Table,
    scores: np.ndarray,
    special: dict[str, int],
    known: dict[str, int],
    *,
    unk_id: int | None = None,
    post_processor: dict[str, Any] | None = None,
) -> str:
    """The content of a tokenizer.json for a model whose tokens have these scores, float64[V].

    The tokens of `table` are not used.

    `unk_id` is the special token for unknown characters, unless the model has a rule of its own.

    ValueError if a Unigram model cannot express the model. The caller checks that it encodes alike.
    """
    alphabet, vocabulary, segmenter = model
    table, by_bytes, called = _without_stand_ins(table)
    n, listed = vocabulary.n_alphabet, scores.tolist()
    ids = segmenter.ids(len(vocabulary)).tolist()
    unknown = -1 if segmenter.unknown is None else segmenter.unknown.id
    least = min(listed)
    if unknown >= 0 or by_bytes:  # scores of unknown characters follow from the least of a piece
        least = listed[int(alphabet.lookup(np.array([UNKNOWN if unknown >= 0 else BYTES]))[0])] + _PENALTY
    rows = {i: (word, least) for word, i in (special | known).items()}
    for t, (i, name) in enumerate(zip(ids, names(alphabet, vocabulary), strict=True)):
        score = listed[t]
        if t < n and i == unknown:
            name, score = rows.get(i, (called, least))
        elif t < n and by_bytes and BYTES <= ord(name) < UNKNOWN:
            name, score = byte_name(ord(name) - BYTES), least
        if rows.get(i, (name,))[0] != name:
            raise ValueError(f"special_tokens: {quoted(rows[i][0])} has the id {i} of another token")
        rows[i] = name, score
    if len({name for name, _ in rows.values()}) < len(rows):
        raise ValueError(
            "vocabulary: two tokens, or a special one, have the same symbols; a Unigram model allows one"
        )
    if max(rows) >= len(rows):
        raise ValueError(
            "token_ids: a Unigram model has ids without gaps; give special tokens the next ids after the vocabulary"
        )
    unk_id = unknown if unknown >= 0 else unk_id
    if by_bytes and unk_id is None:
        raise ValueError(
            "unk_token: tokenizers takes the bytes of unknown characters only with one: give a special token"
        )
    # words after them get these ids there, and are not pieces
    n_pieces = 1 + max(*ids, -1 if unk_id is None else unk_id)
    texts = write_numbers(np.array([rows[i][1] for i in range(n_pieces)]))
    pieces = ",\n".join(
        f"[{json.dumps(rows[i][0], ensure_ascii=False)}, {text}]" for i, text in enumerate(texts)
    )
    parts: dict[str, Any] = {"type": "Unigram", "unk_id": unk_id, "byte_fallback": by_bytes, "vocab": []}
    file = json.dumps(file_of(table, special, known, parts, post_processor), ensure_ascii=False)
    return f"{file.removesuffix(']}}')}\n{pieces}]}}}}"


def _without_stand_ins(table: Table) -> tuple[Table, bool, str]:
    """A table without the additions of `model_of`; whether unknown characters are bytes; a name.

    The name is that of the unknown piece.
    """
    steps = [] if table.normalizer is None else table.normalizer.steps
    by_bytes = bool(steps) and steps[-1]["type"] == "StandIns" and bool(steps[-1]["by_bytes"])
    steps = steps[: len(steps) - by_bytes]
    if odd := next((step["type"] for step in steps if step["type"] in ("SentencePiece", "StandIns")), None):
        raise ValueError(f"normalizer: Hugging Face has no place for {quoted(odd)}; export to sentencepiece")
    rule, called = table.decoding or Decoding(), "<unk>"
    if rule.replace and rule.replace[0][0] == chr(UNKNOWN):
        called = rule.replace[0][1]
        rule = rule._replace(replace=rule.replace[1:])
    return table._replace(normalizer=Normalizer(steps) if steps else None, decoding=rule), by_bytes, called


# ---------------------------------------------------------------------------------------------------- scores

_POWERS = [float(f"1e{k}") for k in range(309)]


def read_number(text: str) -> float:
    """Float64 of a number, rounded as there; infinite if it is too large.

    >>> read_number("-15.275492379532281"), float("-15.275492379532281")
    (-15.27549237953228, -15.275492379532281)
    """
    digits, _, power = text.lower().partition("e")
    whole, _, part = digits.removeprefix("-").partition(".")
    chars = (whole + part).lstrip("0")
    most = 20 if int(chars[:20] or 0) < 2**64 else 19  # once a digit is too much, those after it are left out
    value, exponent = float(int(chars[:most] or 0)), int(power or 0) - len(part) + max(len(chars) - most, 0)
    while exponent < -308 and value:
        value, exponent = value / _POWERS[308], exponent + 308
    if value and exponent > 308:
        return math.inf
    value = (value * _POWERS[exponent] if exponent >= 0 else value / _POWERS[-exponent]) if value else 0.0
    return -value if text.startswith("-") else value


def write_numbers(values: np.ndarray) -> list[str]:
    """Texts of finite numbers, float64[n], that are read as these: the shortest if that suffices.

    One in two hundred numbers of 53 bits is not the result of a division of this kind; a neighbor of it is
    read then.

    >>> write_numbers(np.array([-0.5, -15.275492379532281])), read_number("-15.27549237953228101")
    (['-0.5', '-15.27549237953228101'], -15.275492379532281)
    """
    numbers, wrong = values.tolist(), np.arange(values.size)
    texts = [""] * values.size
    for form in ("%r", "%.18g", "%.19g", "%.20g", "%.21g"):
        for i in wrong.tolist():
            texts[i] = form % numbers[i]
        wrong = wrong[[read_number(texts[i]) != numbers[i] for i in wrong.tolist()]]
    return texts
