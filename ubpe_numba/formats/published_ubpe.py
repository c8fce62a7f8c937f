"""The dumps of the package `ubpe`, versions 0.2 and 0.3: reading and writing.

A dump is JSON: ``n_tokens``, ``alphabet`` (symbol -> id), ``mapper`` (learned id -> ids: a pair of any ids for a classic
tokenizer, a sequence of alphabet ids for a universal one) and ``weights`` (learned id -> idf). Version 0.3 may add known words,
break and stop tokens and a regular expression, which change how it encodes; such a dump is refused.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ubpe_numba.errors import ModelFormatError
from ubpe_numba.formats.model_file import claimable, parse_json
from ubpe_numba.vocabulary.alphabet import MAX_SIZE, Alphabet
from ubpe_numba.vocabulary.vocabulary import Vocabulary

_REFUSED = ("known_words", "break_tokens", "regex_str", "stop_tokens")


def read(text: str, kind: str | None, classic: bool) -> tuple[int, Alphabet, Vocabulary]:
    """Read a dump: its n_tokens, alphabet and vocabulary. ModelFormatError names the field that is not valid.

    `kind` is what the symbols are, ``"int"`` or ``"str"``; None means integers if all of them are numbers. `classic` says whether
    the dump is of a classic tokenizer.
    """
    dump = parse_json(text)
    if not isinstance(dump, dict):
        raise ModelFormatError("expected a JSON object")
    for field in ("alphabet", "mapper", "weights"):
        if not isinstance(dump.get(field), dict):
            raise ModelFormatError(f"{field}: expected a JSON object")
    for field in _REFUSED:
        if dump.get(field):
            raise ModelFormatError(f"{field}: a dump that splits documents is not supported")
    n_tokens = dump.get("n_tokens")
    if type(n_tokens) is not int or not 0 < n_tokens <= MAX_SIZE:
        raise ModelFormatError(f"n_tokens: expected a positive integer, got {n_tokens!r}")
    alphabet = _alphabet(dump["alphabet"], kind)
    sequences = _sequences(dump["mapper"], alphabet.size)
    weights = _weights(dump["weights"], alphabet.size, len(sequences))
    if classic:
        if (bad := next((i for i, s in enumerate(sequences) if len(s) != 2), None)) is not None:
            raise ModelFormatError(
                f"mapper[{alphabet.size + bad}]: expected a pair, got {len(sequences[bad])} ids; is it a universal tokenizer?"
            )
        return n_tokens, alphabet, Vocabulary.from_merges(alphabet.size, sequences, weights, max_symbols=claimable(len(text)))
    flat = [t for s in sequences for t in s]
    if (bad_id := next((t for t in flat if t >= alphabet.size), None)) is not None:
        raise ModelFormatError(f"mapper: expected alphabet ids, got {bad_id}; is it a classic tokenizer?")
    return n_tokens, alphabet, Vocabulary.from_sequences(alphabet.size, flat, [len(s) for s in sequences], weights)


def write(n_tokens: int, alphabet: Alphabet, vocabulary: Vocabulary, classic: bool) -> str:
    """A dump that both versions of the package load; of pairs if `classic` and the vocabulary has them."""
    n = vocabulary.n_alphabet
    symbols: list[Any] = alphabet.symbols.tolist()
    if alphabet.kind == "str":
        symbols = list(map(chr, symbols))
    if classic and vocabulary.merges is not None:
        sequences = vocabulary.merges.tolist()
    else:
        sequences = [vocabulary.sequence(t).tolist() for t in range(n, len(vocabulary))]
    return json.dumps(
        {
            "n_tokens": n_tokens,
            "alphabet": {symbol: i for i, symbol in enumerate(symbols)},
            "mapper": {n + i: s for i, s in enumerate(sequences)},
            "weights": {n + i: w for i, w in enumerate(vocabulary.weights[n:].tolist())},
        }
    )


def _alphabet(mapping: dict[str, Any], kind: str | None) -> Alphabet:
    if kind is None:
        kind = "int" if all(_is_integer(k) for k in mapping) else "str"
    try:
        symbols = {int(k) if kind == "int" else k: v for k, v in mapping.items()}
        if len(symbols) < len(mapping):
            raise ValueError("alphabet: two keys stand for the same symbol")
        return Alphabet.from_user(symbols, kind)
    except (TypeError, ValueError) as error:
        raise ModelFormatError(str(error)) from error


def _is_integer(text: str) -> bool:
    return text.removeprefix("-").isascii() and text.removeprefix("-").isdigit()


def _ids_from(mapping: dict[str, Any], first: int, field: str) -> None:
    """Raise ModelFormatError unless the keys are first, first + 1, ... in this order, which is that of the ranks."""
    for i, key in enumerate(mapping):
        if key != str(first + i):
            raise ModelFormatError(f"{field}: expected the id {first + i} in place {i}, got {key!r}")


def _sequences(mapper: dict[str, Any], first: int) -> list[list[int]]:
    _ids_from(mapper, first, "mapper")
    for key, value in mapper.items():
        if not isinstance(value, list) or not all(type(t) is int and 0 <= t < 2**31 for t in value):
            raise ModelFormatError(f"mapper[{key}]: expected a list of ids")
    return list(mapper.values())


def _weights(weights: dict[str, Any], first: int, n: int) -> np.ndarray:
    _ids_from(weights, first, "weights")
    if len(weights) != n or not all(type(w) in (int, float) for w in weights.values()):
        raise ModelFormatError(f"weights: expected {n} numbers, one for each id of mapper")
    try:
        return np.array(list(weights.values()), np.float64)
    except OverflowError as error:
        raise ModelFormatError(f"weights: expected numbers that fit float64 ({error})") from error
