"""Unigram models of a `tokenizer.json`: pieces with scores, over characters.

They are encoded as tokenizers does, by sums in float64 from the beginning of every segment (objective ``"tokenizers"``). A
character that is no piece scores 10 less than the least piece, and becomes the unknown one, several in a row once; or, with
`byte_fallback`, its bytes. Names of bytes in a text are text here, not bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ubpe_numba.errors import ModelFormatError
from ubpe_numba.formats import huggingface
from ubpe_numba.formats.model_file import parse_json
from ubpe_numba.text.normalizer import Normalizer
from ubpe_numba.text.stand_ins import BYTES, UNKNOWN, WORDS
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.decoding import Decoding
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.segmenter import Segmenter
from ubpe_numba.vocabulary.special_tokens import SpecialTokens
from ubpe_numba.vocabulary.unknown import Unknown
from ubpe_numba.vocabulary.vocabulary import Vocabulary

_MOST = 1e6  # of a score, either way
_PENALTY = 10.0


def model_of(text: str | bytes) -> Model:
    """The model of a file. ModelFormatError names what is not valid or not supported."""
    file = parse_json(text)
    model = file.get("model") if isinstance(file, dict) else None
    if not isinstance(model, dict) or model.get("type") != "Unigram":
        raise ModelFormatError("model: expected one of type Unigram")
    names, scores = _pieces(model.get("vocab"))
    unknown = model.get("unk_id")
    if unknown is not None and (type(unknown) is not int or not 0 <= unknown < len(names)):
        raise ModelFormatError(f"model: unk_id: expected the id of a piece, got {unknown!r}")
    vocab = {name: i for i, name in enumerate(names)}
    if len(vocab) < len(names):
        raise ModelFormatError("model: vocab: a piece is there twice")
    normalizer, splitter = huggingface._steps(file.get("normalizer"), file.get("pre_tokenizer"))
    special, known, flags = huggingface._added(file.get("added_tokens"), vocab, normalizer is not None)
    if splitter is not None and splitter.bytewise:
        raise ModelFormatError("pre_tokenizer: ByteLevel is not supported with Unigram")
    by_bytes = model.get("byte_fallback") is True and all(name in vocab for name in huggingface._BYTES)
    taken = {*special, *known, *(huggingface._BYTES if by_bytes else ())} | ({names[unknown]} if unknown is not None else set())
    used = [(name, i) for name, i in vocab.items() if name not in taken and name]
    characters = sorted(set("".join(name for name, _ in used)))
    if characters and ord(characters[-1]) >= WORDS:
        raise ModelFormatError(f"model: vocab: U+{ord(characters[-1]):04X} is needed to stand for something else")
    least = float(scores.min()) - _PENALTY
    ids = [vocab.get(c, -1) if c not in taken else -1 for c in characters]
    weights = [scores[i] if i >= 0 else least for i in ids]
    if -1 in ids and (by_bytes or unknown is None):
        raise ModelFormatError(f"model: vocab: the character {characters[ids.index(-1)]!r} is in pieces, but is none itself")
    if by_bytes:  # the first byte of a character has the score of the unknown, the others nothing
        characters += map(chr, range(BYTES, BYTES + 256))
        ids += map(vocab.__getitem__, huggingface._BYTES)
        weights += [0.0 if byte & 0xC0 == 0x80 else least for byte in range(256)]
        if splitter is not None and {step["type"] for step in splitter.steps} != {"Metaspace"}:
            raise ModelFormatError("byte_fallback: a Unigram model with it may be cut by Metaspace only")
        step = {"type": "StandIns", "alphabet": "".join(characters[:-256]) + " " * (splitter is not None), "by_bytes": True}
        normalizer = Normalizer([*(normalizer.steps if normalizer else ()), step])
    if unknown is not None:
        characters.append(chr(UNKNOWN))
        ids = [unknown if i < 0 else i for i in [*ids, unknown]]
        weights.append(least)
    if not characters:
        raise ModelFormatError("model: vocab: there are no pieces")
    alphabet = Alphabet.from_symbols("".join(characters), "str")
    several = [(name, i) for name, i in used if len(name) > 1]
    flat = alphabet.lookup(np.frombuffer("".join(name for name, _ in several).encode("utf-32-le", "surrogatepass"), np.uint32))
    ids += [i for _, i in several]
    found = np.concatenate([weights, scores[[i for _, i in several]]])
    vocabulary = Vocabulary.from_sequences(
        alphabet.size, flat, [len(name) for name, _ in several], log_probabilities=np.clip(found, -_MOST, _MOST)
    )
    size, own = len(vocabulary), set(ids)
    shared = any(i in own for words in (special, known) for i in words.values())
    decoding = huggingface._decoding(file.get("decoder"))
    if unknown is not None:
        decoding = decoding or Decoding()
        decoding = decoding._replace(replace=(*decoding.replace, (chr(UNKNOWN), names[unknown])))
    segmenter = Segmenter(
        pretokenizer=splitter,
        special=SpecialTokens.from_user(special, known, "str", size, dict[Any, int](flags), shared),
        normalizer=normalizer,
        unknown=None if unknown is None else Unknown(None, unknown, True),
        decoding=decoding,
    )
    return Model(alphabet, vocabulary, segmenter.numbered(np.array(ids), size))


def _pieces(vocab: Any) -> tuple[list[str], np.ndarray]:
    """The texts of pieces and their scores, float64."""
    if not isinstance(vocab, list) or not vocab:
        raise ModelFormatError("model: vocab: expected a list of pieces and scores")
    if set(map(type, vocab)) != {list} or set(map(len, vocab)) != {2}:
        raise ModelFormatError("model: vocab: expected pairs of a piece and a score")
    names = [pair[0] for pair in vocab]
    values = [pair[1] for pair in vocab]
    if set(map(type, names)) != {str} or not set(map(type, values)) <= {float, int}:
        raise ModelFormatError("model: vocab: expected pairs of a piece and a score")
    try:
        scores = np.array(values, np.float64)
    except OverflowError as error:
        raise ModelFormatError("model: vocab: a score is too large") from error
    if not np.isfinite(scores).all():
        raise ModelFormatError("model: vocab: a score is no finite number")
    return names, scores
