"""Vocabularies in `.gguf` files of llama.cpp, read by the package gguf: only the fields before the tensors are looked at.

The kind ``llama`` is sentencepiece's BPE and ``t5`` its unigram, with the same types of pieces (sentencepiece.py); ``gpt2`` is
BPE over bytes with names of GPT-2's table and merges, cut by the pattern that the field `tokenizer.ggml.pre` names.
"""

from __future__ import annotations

import base64
from importlib import import_module
from typing import Any

import numpy as np

from ubpe_numba.errors import ModelFormatError
from ubpe_numba.formats import sentencepiece
from ubpe_numba.formats.pair_table import Table, from_names, read_vocab, two_parts
from ubpe_numba.formats.sentencepiece import BPE, BYTE, CONTROL, UNIGRAM, UNKNOWN_PIECE, USER, Pieces
from ubpe_numba.text.patterns import NAMED

_PREFIX = "tokenizer.ggml."
_LETTERS = r"[^\r\n\p{L}\p{N}]?\p{L}+"
_REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_ENDINGS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|"
_PATTERNS = {  # by names of llama.cpp
    "gpt-2": NAMED["gpt2"],
    "gpt2": NAMED["gpt2"],
    "llama-bpe": rf"{_ENDINGS}{_LETTERS}|\p{{N}}{{1,3}}{_REST}",
    "llama3": rf"{_ENDINGS}{_LETTERS}|\p{{N}}{{1,3}}{_REST}",
    "qwen2": rf"{_ENDINGS}{_LETTERS}|\p{{N}}{_REST}",
    "gpt-4o": NAMED["o200k"],
}


def read(path: Any) -> Pieces | Table:
    """What a file says: pieces of sentencepiece's kinds, or the table of a BPE over bytes.

    ModelFormatError names what is not valid or not supported; ImportError without the package gguf.
    """
    try:
        reader = import_module("gguf").GGUFReader
    except ImportError as error:
        raise ImportError("from_gguf needs the package gguf: pip install 'ubpe-numba[gguf]'") from error
    try:
        fields = reader(path).fields
        found = {name.removeprefix(_PREFIX): fields[name].contents() for name in fields if name.startswith(_PREFIX)}
    except OSError:
        raise
    except Exception as error:  # whatever the package meets in a file that is not valid
        raise ModelFormatError(f"not a file of gguf: {type(error).__name__}: {error}") from error
    kind, names = found.get("model"), found.get("tokens")
    if not isinstance(names, list) or not names or not all(isinstance(name, str) and name for name in names):
        raise ModelFormatError("tokenizer.ggml.tokens: expected a list of tokens")
    types = np.array(found.get("token_type", [sentencepiece.NORMAL] * len(names)), np.int64)
    if types.shape != (len(names),) or types.min() < sentencepiece.NORMAL or types.max() > BYTE:
        raise ModelFormatError("tokenizer.ggml.token_type: expected a type of 1 to 6 for every token")
    if kind in ("llama", "t5"):
        return _pieces(found, names, types, kind == "t5")
    if kind == "gpt2":
        return _table(found, names, types)
    raise ModelFormatError(f"tokenizer.ggml.model: {kind!r:.60} is not supported; there are llama, t5 and gpt2")


def _pieces(found: dict[str, Any], names: list[str], types: np.ndarray, unigram: bool) -> Pieces:
    """Pieces as in a file of sentencepiece."""
    scores = np.array(found.get("scores", []), np.float32)
    if scores.shape != (len(names),) or not np.isfinite(scores).all():
        raise ModelFormatError("tokenizer.ggml.scores: expected a finite number for every token")
    step = {
        "type": "SentencePiece",
        "precompiled_charsmap": base64.b64encode(bytes(found.get("precompiled_charsmap", b""))).decode(),
        "add_dummy_prefix": bool(found.get("add_space_prefix", True)),
        "treat_whitespace_as_suffix": False,
        "remove_extra_whitespaces": bool(found.get("remove_extra_whitespaces", unigram)),
        "escape_whitespaces": True,
    }
    points = np.frombuffer("".join(names).encode("utf-32-le", "surrogatepass"), np.uint32)
    lengths = np.fromiter(map(len, names), np.int64, len(names))
    kind = UNIGRAM if unigram else BPE
    pieces = Pieces(kind, points, lengths, scores, types, bool((types == BYTE).any()), sentencepiece.SURFACE, step)
    sentencepiece.check(pieces)
    return pieces


def _table(found: dict[str, Any], names: list[str], types: np.ndarray) -> Table:
    """The table of a BPE over bytes."""
    name = found.get("pre", "gpt-2")
    if name not in _PATTERNS:
        raise ModelFormatError(f"tokenizer.ggml.pre: the pattern of {name!r:.60} is not known; there are {', '.join(_PATTERNS)}")
    merges = found.get("merges")
    pairs = two_parts(merges) if isinstance(merges, list) and all(isinstance(merge, str) for merge in merges) else None
    if pairs is None:
        raise ModelFormatError("tokenizer.ggml.merges: expected a list of two tokens each")
    vocab = {token: i for i, token in enumerate(names)}
    if len(vocab) < len(names):
        raise ModelFormatError("tokenizer.ggml.tokens: a token is there twice")
    special = {names[i]: i for i in np.flatnonzero(np.isin(types, (CONTROL, UNKNOWN_PIECE))).tolist()}
    known = {names[i]: i for i in np.flatnonzero(types == USER).tolist()}
    table = from_names(read_vocab(vocab), pairs, "bytes", special, known, _PATTERNS[name])
    return table._replace(whole=name in ("llama-bpe", "llama3"))
