"""A model as plain data, and its two file formats: readable JSON, and npz of flat arrays.

A model is a dict: ``tokenizer`` (class name), ``params`` (constructor arguments), ``alphabet`` and
``vocabulary`` (their `state()`), and ``text`` (`state()` of the segmenter) unless that is empty. After a fit
it has ``history`` (its `state()`), for an `ActionTokenizer` ``actions`` (numbers and strings), and
``metadata``, an object of the user's. Both formats hold the same. Reading a file never runs code from it, and
raises `ModelFormatError` if it is not valid.

JSON holds the dict with arrays as lists; npz holds each array as a member named ``part.field``, and the rest
as JSON in the member ``head``. For example ``{"vocabulary": {"n_alphabet": 2, "merges": [[0, 1]]}}`` becomes
the member ``vocabulary.merges`` and the head ``{"vocabulary": {"n_alphabet": 2}}``.

The version of a file is the lowest that fits. Version 2 adds occurrences or probabilities, 3 treatments of
text that releases for version 2 would reject, and 4 the history of a fit. Version 5 adds symbols that share
an id, and 6 frames, mirrors, and tokens of runs. ``actions`` and ``metadata`` leave the version as it is: a
reader that does not know them reads the tokenizer.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable
from typing import Any, BinaryIO

import numpy as np

from ubpe_numba.errors import ModelFormatError, quoted, shortened
from ubpe_numba.runtime.files import npz_of, read_arrays, suffix_of, write_atomically
from ubpe_numba.vocabulary.vocabulary import OPTIONAL

FORMAT, VERSION = "ubpe-numba", 6
_SUFFIXES = (".json", ".npz")
# names, and formats of `export`
_OF_OTHERS = {"tokenizer.json": "tokenizer.json", "vocab.json": "vocab+merges"}
_PARTS = ("tokenizer", "params", "alphabet", "vocabulary", "text", "history", "actions", "metadata")
_OPTIONAL_PARTS = ("text", "history", "actions", "metadata")
_TEXT_OF_VERSION_1 = frozenset(["pretokenizer", "special_tokens", "encoding", "token_ids"])
_ARRAYS = {  # the members of an npz file other than the head, and the kinds of their dtypes
    "alphabet.symbols": "iu",
    "vocabulary.merges": "iu",
    "vocabulary.symbols": "iu",
    "vocabulary.lengths": "iu",
    "alphabet.folded_symbols": "iu",
    "alphabet.folded_ids": "iu",
    "vocabulary.weights": "f",
    "vocabulary.counts": "iu",
    "vocabulary.document_frequencies": "iu",
    "text.token_ids": "iu",
    "vocabulary.occurrences": "iu",
    "vocabulary.log_probabilities": "f",
    "history.lengths": "iu",
    "history.counts": "iu",
    "history.document_frequencies": "iu",
}
# members of files of signals
_OF_SIGNALS = {"kinds": "u", "lengths": "i", "arena": "i", "cost": "i", "counts": "i"}


def save(path: str | os.PathLike[str], model: dict[str, Any]) -> int:
    """Write a model in the format of the suffix, .json or .npz; returns the size of the file in bytes.

    Raises ValueError for another suffix, OSError if the file cannot be written.
    """
    try:
        suffix = suffix_of(path, _SUFFIXES)
    except ValueError as error:
        raise ValueError(f"{error}; export(tok, format, path) writes files of other libraries") from None
    if (name := os.path.basename(path)) in _OF_OTHERS:
        way = f"export(tok, {quoted(_OF_OTHERS[name])}, ...) writes it; give the model another name, such as model.json"
        raise ValueError(f"path: {name} is a file of other libraries, in another format: {way}")
    head, arrays = _split(model)
    if suffix == ".json":
        for name, array in arrays.items():
            part, _, field = name.partition(".")
            is_text = (
                name in ("alphabet.symbols", "alphabet.folded_symbols") and head["alphabet"]["kind"] == "str"
            )
            # JSON would join surrogates to one character
            if is_text and not ((array >= 0xD800) & (array < 0xE000)).any():
                head[part][field] = "".join(map(chr, array.tolist()))
            else:
                head[part][field] = array.tolist()
        lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in head.items() if k != "vocabulary"]
        fields = [f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in head["vocabulary"].items()]
        # a line for each part and each of its fields
        lines.append('"vocabulary": {\n' + ",\n".join(fields) + "\n }")
        data = ("{\n " + ",\n ".join(lines) + "\n}\n").encode()
    else:
        data = npz_of({"head": np.frombuffer(json.dumps(head).encode(), np.uint8), **arrays})
    write_atomically(path, data)
    return len(data)


def claimable(n_bytes: int) -> int:
    """The number of symbols that a file of `n_bytes` may claim, for its alphabet or all its tokens.

    The limit keeps a small file from allocating gigabytes: 30 pairs can make a token of 2**30 symbols. In
    real vocabularies a token takes 10 to 40 bytes of the file and has a few symbols.
    """
    return 2**22 + 64 * n_bytes


def _split(model: dict[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The model without its arrays, and the arrays by their names ``part.field``."""
    version = 2 if any(name in model["vocabulary"] for name in OPTIONAL) else 1
    if not _TEXT_OF_VERSION_1.issuperset(model.get("text") or ()):
        version = 3
    if "history" in model:
        version = 4
    if "folded_ids" in model["alphabet"]:
        version = 5
    if {"frame", "mirror", "runs"}.intersection(model.get("text") or ()):
        version = 6
    head: dict[str, Any] = {"format": FORMAT, "version": version}
    arrays: dict[str, np.ndarray] = {}
    for part in _PARTS:
        value = model.get(part)
        if value is None:
            continue
        if isinstance(value, dict):
            arrays |= {f"{part}.{k}": v for k, v in value.items() if isinstance(v, np.ndarray)}
            value = {k: v for k, v in value.items() if not isinstance(v, np.ndarray)}
        head[part] = value
    return head, arrays


def from_document(head: Any, arrays: dict[str, Any]) -> dict[str, Any]:
    """The model of a parsed JSON file and of arrays, the inverse of `_split`.

    ModelFormatError if one of them is not valid.
    """
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise ModelFormatError(f'not a model of this library: no "format": "{FORMAT}"')
    if type(head.get("version")) is not int or not 1 <= head["version"] <= VERSION:
        raise ModelFormatError(
            f"version {quoted(head.get('version'))}; this library reads versions 1 to {VERSION}"
        )
    model: dict[str, Any] = {}
    for part in _PARTS:
        if part not in head:
            if part in _OPTIONAL_PARTS:
                continue
            raise ModelFormatError(f"the field {quoted(part)} is missing")
        model[part] = head[part]
        if not isinstance(model[part], str if part == "tokenizer" else dict):
            raise ModelFormatError(f"{part}: expected {'a name' if part == 'tokenizer' else 'an object'}")
    for name, array in arrays.items():
        part, _, field = name.partition(".")
        if part not in model:
            raise ModelFormatError(f"npz: unexpected member {quoted(name)}")
        model[part][field] = array
    return model


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of JSON with these keys and values, for `json.loads(..., object_pairs_hook=unique)`.

    ModelFormatError for a duplicate key: readers, and so models, would differ in the value they use.

    >>> unique([("a", 1), ("b", 2)])
    {'a': 1, 'b': 2}
    """
    document = dict(pairs)
    if len(document) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ModelFormatError(f"JSON: the key {quoted(twice)} is there twice in an object")
    return document


def parse_json(data: str | bytes, number: Callable[[str], Any] = float) -> Any:
    """Parse JSON; ModelFormatError for invalid or too deep JSON, NaN, infinities, or a duplicate key.

    `number` converts the text of a number other than an integer.
    """

    def refuse(name: str) -> None:
        raise ModelFormatError(f"JSON: the number {name} is not allowed")

    try:
        return json.loads(data, parse_constant=refuse, parse_float=number, object_pairs_hook=unique)
    except ModelFormatError:
        raise
    except (ValueError, RecursionError) as error:
        raise ModelFormatError(f"not valid JSON: {shortened(error)}") from error


def from_npz(f: BinaryIO) -> dict[str, Any]:
    """The model of an npz file; ModelFormatError if it is not one."""
    arrays = read_arrays(f, {"head": "u", **_ARRAYS, **_OF_SIGNALS}, all_of=("head",))
    head = parse_json(arrays.pop("head").tobytes())
    if isinstance(head, dict) and head.get("format") == "ubpe-numba signals":
        return {"tokenizer": "SignalTokenizer", "head": head, "arrays": arrays}
    return from_document(head, arrays)
