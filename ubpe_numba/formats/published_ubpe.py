"""The dumps of the package `ubpe`, versions 0.2 and 0.3: reading and writing.

A dump is JSON: ``n_tokens``, ``alphabet`` (symbol -> id), ``mapper`` (learned id -> ids) and ``weights``
(learned id -> idf). The ids of a mapper are a pair of any ids for a classic tokenizer, a sequence of alphabet
ids for a universal one. In version 0.3 there may be

- ``known_words`` (id -> word), whose ids lie between those of the alphabet and the learned ids. The longest
  word at the leftmost place is removed from a document first, as known words are here;
- ``break_tokens``, symbols that are then isolated; those outside of the alphabet do nothing;
- ``regex_str``, an expression of Python's `re` whose matches in the rest are encoded. Other text is lost
  (python_pattern.py rejects these texts). In documents of integers it does nothing;
- ``stop_tokens``, symbols that are then isolated.

Each part is encoded by itself, as segments are here. Unlike there, a document may be empty or a single known
word.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ubpe_numba.errors import ModelFormatError, quoted, shortened
from ubpe_numba.formats.model_file import claimable
from ubpe_numba.text.pretokenizer import PythonPattern
from ubpe_numba.vocabulary.alphabet import MAX_SIZE, Alphabet
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.reserved import BREAK, STOP, Reserved
from ubpe_numba.vocabulary.segmenter import Segmenter
from ubpe_numba.vocabulary.vocabulary import Vocabulary


def read(dump: dict[str, Any], n_bytes: int, kind: str | None, classic: bool) -> tuple[int, Model]:
    """Read a dump: its n_tokens and the model. ModelFormatError names the field that is not valid.

    `kind` is that of the symbols, ``"int"`` or ``"str"``; None means integers if all of them are numbers.
    `classic`: whether the dump is of a classic tokenizer.
    """
    for field in ("alphabet", "mapper", "weights"):
        if not isinstance(dump.get(field), dict):
            raise ModelFormatError(f"{field}: expected a JSON object")
    n_tokens = dump.get("n_tokens")
    if type(n_tokens) is not int or not 0 < n_tokens <= MAX_SIZE:
        raise ModelFormatError(f"n_tokens: expected a positive integer, got {quoted(n_tokens)}")
    alphabet = _alphabet(dump["alphabet"], kind)
    words = _known_words(dump.get("known_words") or {}, alphabet)
    first = alphabet.size + len(words)
    _check_ids(dump["mapper"], first, "mapper")
    for key, value in dump["mapper"].items():
        if not isinstance(value, list) or not all(type(t) is int and 0 <= t < 2**31 for t in value):
            raise ModelFormatError(f"mapper[{shortened(key, 40)}]: expected a list of ids")
    sequences = list(dump["mapper"].values())
    weights = _weights(dump["weights"], first, len(sequences))
    for i, sequence in enumerate(sequences if words else ()):
        if any(alphabet.size <= t < first for t in sequence):
            raise ModelFormatError(f"mapper[{first + i}]: a known word cannot be part of a token")
    sequences = [[t if t < first else t - len(words) for t in sequence] for sequence in sequences]
    if classic:
        if (bad := next((i for i, s in enumerate(sequences) if len(s) != 2), None)) is not None:
            raise ModelFormatError(
                f"mapper[{first + bad}]: expected a pair, got {len(sequences[bad])} ids; is it universal?"
            )
        vocabulary = Vocabulary.from_merges(alphabet.size, sequences, weights, max_symbols=claimable(n_bytes))
    else:
        flat = [t for s in sequences for t in s]
        if (bad_id := next((t for t in flat if t >= alphabet.size), None)) is not None:
            raise ModelFormatError(f"mapper: expected alphabet ids, got {bad_id}; is it a classic tokenizer?")
        vocabulary = Vocabulary.from_sequences(alphabet.size, flat, [len(s) for s in sequences], weights)
    return n_tokens, Model(alphabet, vocabulary, _segmenter(dump, alphabet, words, len(vocabulary)))


def write(model: Model, classic: bool) -> str:
    """A dump that the package loads; of pairs if `classic` and the vocabulary has them.

    Both versions load it unless it has fields that only 0.3 knows. ValueError if a dump cannot express the
    model.
    """
    alphabet, vocabulary, segmenter = model
    alphabet.refuse_folded()
    n = vocabulary.n_alphabet
    names = alphabet.names
    if names is not None and not (
        all(isinstance(name, str) for name in names) and any(len(name) != 1 for name in names)
    ):
        raise ValueError(
            "export refused: symbols of a dump are integers, characters or words, some of several characters"
        )
    keys = alphabet.symbols.tolist() if names is None else names
    more = _fields(model)
    if classic and vocabulary.merges is not None:
        sequences = vocabulary.merges.tolist()
    else:
        sequences = [vocabulary.sequence(t).tolist() for t in range(n, len(vocabulary))]
    ids = segmenter.ids(len(vocabulary)).tolist()
    return json.dumps(
        {
            "n_tokens": len(vocabulary) + len(more.get("known_words", ())),
            "alphabet": {chr(s) if alphabet.kind == "str" else s: i for i, s in enumerate(keys)},
            **more,
            "mapper": {ids[n + i]: [ids[t] for t in s] for i, s in enumerate(sequences)},
            "weights": {ids[n + i]: w for i, w in enumerate(vocabulary.weights[n:].tolist())},
        }
    )


def _fields(model: Model) -> dict[str, Any]:
    """The fields of a dump that only version 0.3 knows, those that say something."""
    alphabet, vocabulary, segmenter = model
    cutter, special, lone = segmenter.pretokenizer, segmenter.special, segmenter.lone
    n, size = alphabet.size, len(vocabulary)
    n_words = 0 if special is None else len(special.words)
    ids = segmenter.ids(size)
    if segmenter.encoding or (cutter is not None and not isinstance(cutter, PythonPattern)):
        raise ValueError(
            "export refused: a dump has no place for a pretokenizer that is not from a dump, nor for an encoding"
        )
    if unsaid := segmenter.state().keys() & {"normalizer", "unknown", "whole_words"}:
        raise ValueError(f"export refused: a dump has no place for {', '.join(sorted(unsaid))}")
    if alphabet.kind == "bytes" and segmenter.state():
        raise ValueError(
            "export refused: a dump of bytes is one of integers, and has no place for words, break or stop tokens"
        )
    expected = np.concatenate([np.arange(n), np.arange(n + n_words, size + n_words)])
    if special is not None and not special.always.all():
        raise ValueError("export refused: a dump has no place for special tokens, only for known words")
    if not np.array_equal(ids, expected) or (
        special is not None and set(special.ids.tolist()) != set(range(n, n + n_words))
    ):
        raise ValueError(
            "known_words: in a dump they have the ids after the alphabet, and learned tokens those after them"
        )
    fields: dict[str, Any] = {}
    if special is not None:
        words = [word if isinstance(word, str) else list(word) for word in special.words]
        fields["known_words"] = dict(zip(special.ids.tolist(), words, strict=True))
    if lone is not None:
        both = {"break_tokens": lone.symbols(BREAK), "stop_tokens": lone.symbols(STOP)}
        fields |= {
            name: list(map(chr, symbols.tolist())) if alphabet.kind == "str" else symbols.tolist()
            for name, symbols in both.items()
            if symbols.size
        }
    return fields if cutter is None else {**fields, "regex_str": cutter.pattern}


def _segmenter(dump: dict[str, Any], alphabet: Alphabet, words: dict[Any, int], size: int) -> Segmenter:
    """How documents are split, for a vocabulary of `size` ids."""
    kind, pattern = alphabet.kind, dump.get("regex_str") or None
    if pattern is not None and not isinstance(pattern, str):
        raise ModelFormatError(f"regex_str: expected a str, got {quoted(pattern)}")
    try:
        cutter = None if pattern is None or kind == "int" else PythonPattern(pattern)
    except ValueError as error:
        raise ModelFormatError(str(error).replace("pretokenizer", "regex_str", 1)) from error
    try:
        breaks, stops = (_tokens(dump, name, alphabet) for name in ("break_tokens", "stop_tokens"))
        reserved = Reserved.from_user(None, words, kind, size, breaks=breaks, stops=stops)
    except (TypeError, ValueError) as error:
        raise ModelFormatError(str(error).replace("special_tokens", "known_words", 1)) from error
    ids = (
        np.concatenate([np.arange(alphabet.size), np.arange(alphabet.size, size) + len(words)])
        if words
        else None
    )
    return Segmenter(cutter, reserved).numbered(ids, size)


def _known_words(words: Any, alphabet: Alphabet) -> dict[Any, int]:
    """The id of each known word: `str`, or tuples of integers."""
    if not isinstance(words, dict):
        raise ModelFormatError("known_words: expected a JSON object")
    known: dict[Any, int] = {}
    first, last = alphabet.size, alphabet.size + len(words) - 1
    ids = {str(i): i for i in range(first, last + 1)}
    for key, word in words.items():
        is_text = isinstance(word, str)
        if alphabet.kind == "int" and isinstance(word, list) and all(type(symbol) is int for symbol in word):
            word = tuple(word)
        elif alphabet.kind == "int" or not is_text:
            raise ModelFormatError(
                f"known_words[{shortened(key, 40)}]: expected {'integers' if alphabet.kind == 'int' else 'a str'}"
            )
        if word in known or not word:
            raise ModelFormatError(
                f"known_words[{shortened(key, 40)}]: {quoted(word)} is empty or there twice"
            )
        if key not in ids:
            raise ModelFormatError(f"known_words: expected the ids {first}..{last}, got {quoted(key)}")
        known[word] = ids[key]
    return known


def _tokens(dump: dict[str, Any], name: str, alphabet: Alphabet) -> list[Any]:
    """Break or stop tokens that are in the alphabet: ubpe ignores others."""
    tokens = dump.get(name) or []
    if not isinstance(tokens, list) or not all(
        type(t) is (int if alphabet.kind == "int" else str) for t in tokens
    ):
        raise ModelFormatError(f"{name}: expected a list of symbols")
    if alphabet.kind == "int":
        usable = [t for t in tokens if -(2**63) <= t < 2**63]
        known = alphabet.lookup(np.array(usable, np.int64)) >= 0
    else:
        usable = [t for t in tokens if len(t) == 1]
        known = alphabet.lookup(np.array(list(map(ord, usable)), np.uint32)) >= 0
    return [t for t, is_known in zip(usable, known.tolist(), strict=True) if is_known]


def _alphabet(mapping: dict[str, Any], kind: str | None) -> Alphabet:
    if kind is None:
        bare = [key.removeprefix("-") for key in mapping]
        kind = "int" if all(text.isascii() and text.isdigit() for text in bare) else "str"
    try:
        symbols = {int(k) if kind == "int" else k: v for k, v in mapping.items()}
        if len(symbols) < len(mapping):
            raise ValueError("alphabet: two keys are one symbol")
        if kind == "str" and any(len(name) != 1 for name in mapping):
            kind = "name"
        alphabet = Alphabet.of_names(symbols) if kind == "name" else Alphabet.from_user(symbols, kind)
        if not alphabet.is_lossless:
            raise ValueError(f"alphabet: two symbols have the same id {alphabet.folded_ids[0]}")
        return alphabet
    except (TypeError, ValueError) as error:
        raise ModelFormatError(str(error)) from error


def _check_ids(mapping: dict[str, Any], first: int, field: str) -> None:
    """ModelFormatError unless the keys are first, first + 1, ... in this order, that of the ranks."""
    for i, key in enumerate(mapping):
        if key != str(first + i):
            raise ModelFormatError(f"{field}: expected the id {first + i} in place {i}, got {quoted(key)}")


def _weights(weights: dict[str, Any], first: int, n: int) -> np.ndarray:
    _check_ids(weights, first, "weights")
    if len(weights) != n or not all(type(w) in (int, float) for w in weights.values()):
        raise ModelFormatError(f"weights: expected {n} numbers, one for each id of mapper")
    try:
        return np.array(list(weights.values()), np.float64)
    except OverflowError as error:
        raise ModelFormatError(f"weights: expected numbers that fit float64 ({error})") from error
