"""Vocabularies in `.gguf` files of llama.cpp: only the fields before the tensors are read (gguf_fields.py).

The kind ``llama`` is sentencepiece's BPE and ``t5`` its unigram, with the same types of pieces (sentencepiece.py); ``gpt2`` is
BPE over bytes with names of GPT-2's table and merges, cut by the pattern that the field `tokenizer.ggml.pre` names; ``bert`` is
WordPiece, with a mark before the pieces that begin a word and none before the others. The patterns are those that the models were
published with: llama.cpp has simpler ones for o200k and tekken.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.formats import sentencepiece
from ubpe_numba.formats.gguf_fields import read_fields
from ubpe_numba.formats.pair_table import Table, from_names, read_vocab, two_parts
from ubpe_numba.formats.sentencepiece import BPE, BYTE, CONTROL, UNIGRAM, UNKNOWN_PIECE, USER, Pieces
from ubpe_numba.formats.wordpiece import Words
from ubpe_numba.text.normalizer import Normalizer
from ubpe_numba.text.patterns import NAMED
from ubpe_numba.text.splitter import Splitter
from ubpe_numba.vocabulary.special_tokens import ONLY_DECODED

_PREFIX = "tokenizer.ggml."
_NAMES = {  # of patterns, and what llama.cpp calls tokenizers that cut so
    "gpt2": (
        "gpt2 gpt-2 phi-2 jina-es jina-de jina-v1-en jina-v2-es jina-v2-de jina-v2-code roberta-bpe gigachat a.x-4.0 mellum "
        "modern-bert exaone4 mpt olmo jais trillion granite-docling"
    ),
    "llama3": ("llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano dbrx smaug-bpe glm4 chatglm-bpe"),
    "qwen2": "qwen2 deepseek-r1-qwen kormo f2llmv2 megrez stablelm2 hunyuan solar-open grok-2",
    "qwen35": "qwen35",
    "o200k": "gpt-4o llama4 kanana2 talkie minimax-m2",
    "tekken": "tekken",
    "deepseek": "deepseek-v3 hunyuan-dense joyai-llm hy_v4",
    "starcoder": "starcoder refact command-r smollm codeshell exaone minerva-7b mellum2",
}
_PATTERN_OF = {name: pattern for pattern, names in _NAMES.items() for name in names.split()}
#: Of these a word that equals a token becomes it before any merge.
_WHOLE = frozenset(
    ["llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "jina-v5-nano", "tekken"]
)
_LOWER = {capital: capital + 32 for capital in range(ord("A"), ord("Z") + 1)}
_START = "\u2581"  # before pieces that begin a word


def read(path: Any) -> Pieces | Table | Words:
    """What a file says: pieces of sentencepiece's kinds, the table of a BPE over bytes, or words of WordPiece.

    ModelFormatError names what is not valid or not supported; OSError if the file cannot be read.
    """
    found = read_fields(path, _PREFIX)
    kind, names = found.get("model"), found.get("tokens")
    if not isinstance(names, list) or not names or not all(names):
        raise ModelFormatError("tokenizer.ggml.tokens: expected a list of tokens")
    types = _numbers(found, "token_type", "iu", [sentencepiece.NORMAL] * len(names)).astype(np.int64)
    if types.shape != (len(names),) or types.min() < sentencepiece.NORMAL or types.max() > BYTE:
        raise ModelFormatError("tokenizer.ggml.token_type: expected a type of 1 to 6 for every token")
    if not isinstance(kind, str):
        raise ModelFormatError("tokenizer.ggml.model: expected a text")
    if kind in ("llama", "t5"):
        return _pieces(found, names, types, kind == "t5")
    if kind == "gpt2":
        return _table(found, names, types)
    if kind == "bert":
        return _words(found, names, types)
    raise ModelFormatError(
        f"tokenizer.ggml.model: {quoted(kind)} is not supported; there are llama, t5, gpt2 and bert. Read the file that the "
        "model was published with, if there is one"
    )


def _numbers(found: dict[str, Any], name: str, kinds: str, default: Any) -> np.ndarray:
    """An array of numbers, with a dtype of one of these kinds, as "iu"."""
    values = found.get(name, np.array(default))
    if not isinstance(values, np.ndarray) or values.dtype.kind not in kinds:
        what = "integers" if kinds == "iu" else "numbers"
        raise ModelFormatError(f"tokenizer.ggml.{name}: expected an array of {what}")
    return values


def _flag(found: dict[str, Any], name: str, default: bool) -> bool:
    value = found.get(name, default)
    if type(value) not in (bool, int):
        raise ModelFormatError(f"tokenizer.ggml.{name}: expected true or false")
    return bool(value)


def _pieces(found: dict[str, Any], names: list[str], types: np.ndarray, unigram: bool) -> Pieces:
    """Pieces as in a file of sentencepiece."""
    unknown = np.flatnonzero(types == UNKNOWN_PIECE)
    if unknown.size > 1:  # placeholders have this type too: one is the unknown piece, the others are in no text
        one = found.get("unknown_token_id", int(unknown[0]))
        types = np.where((types == UNKNOWN_PIECE) & (np.arange(types.size) != one), CONTROL, types)
    with np.errstate(over="ignore"):
        scores = _numbers(found, "scores", "fiu", []).astype(np.float32)
    if scores.shape != (len(names),) or not np.isfinite(scores).all():
        raise ModelFormatError("tokenizer.ggml.scores: expected a finite number for every token")
    charsmap = _numbers(found, "precompiled_charsmap", "iu", np.zeros(0, np.uint8))
    if charsmap.itemsize > 1 and not ((charsmap >= 0) & (charsmap < 256)).all():
        raise ModelFormatError("tokenizer.ggml.precompiled_charsmap: expected bytes")
    step = {
        "type": "SentencePiece",
        "precompiled_charsmap": base64.b64encode(charsmap.astype(np.uint8).tobytes()).decode(),
        "add_dummy_prefix": _flag(found, "add_space_prefix", True),
        "treat_whitespace_as_suffix": False,
        "remove_extra_whitespaces": _flag(found, "remove_extra_whitespaces", unigram),
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
    if not isinstance(name, str) or name not in _PATTERN_OF:
        raise ModelFormatError(
            f"tokenizer.ggml.pre: the pattern of {quoted(name)} is not known; read the tokenizer.json of the model, which says "
            f"how text is cut. Known are {', '.join(_PATTERN_OF)}"
        )
    merges = found.get("merges")
    pairs = two_parts(merges) if isinstance(merges, list) else None
    if pairs is None:
        raise ModelFormatError("tokenizer.ggml.merges: expected a list of two tokens each")
    vocab = {token: i for i, token in enumerate(names)}
    if len(vocab) < len(names):
        raise ModelFormatError("tokenizer.ggml.tokens: a token is there twice")
    special = {names[i]: i for i in np.flatnonzero(np.isin(types, (CONTROL, UNKNOWN_PIECE))).tolist()}
    known = {names[i]: i for i in np.flatnonzero(types == USER).tolist()}
    table = from_names(read_vocab(vocab), pairs, "bytes", special, known, NAMED[_PATTERN_OF[name]], loose=True)
    unheard = dict.fromkeys(table.special.keys() - special.keys(), ONLY_DECODED)
    return table._replace(whole=name in _WHOLE, flags=unheard)


def _words(found: dict[str, Any], names: list[str], types: np.ndarray) -> Words:
    """Words of WordPiece as of BERT; without a field that says so, text is lower case where no piece has a capital of ASCII."""
    special = set(np.flatnonzero(np.isin(types, (CONTROL, UNKNOWN_PIECE, USER))).tolist())
    unknown = found.get("unknown_token_id", 100)
    if type(unknown) is not int or not 0 <= unknown < len(names):
        raise ModelFormatError(f"tokenizer.ggml.unknown_token_id: expected the id of a token, got {quoted(unknown)}")
    bare = special | ({unknown} if not names[unknown].startswith(_START) else set())
    pieces = [name if i in bare else _piece(name) for i, name in enumerate(names)]
    vocab = {piece: i for i, piece in enumerate(pieces)}
    if len(vocab) < len(pieces):
        raise ModelFormatError("tokenizer.ggml.tokens: a token is there twice")
    own = "".join(piece for i, piece in enumerate(pieces) if i not in special and not _is_name(piece))
    lowercase = _flag(found, "normalizer.lowercase", own == own.translate(_LOWER))
    strip = _flag(found, "normalizer.strip_accents", lowercase)
    normalizer = Normalizer([{"type": "BertNormalizer", "lowercase": lowercase, "strip_accents": strip}])
    splitter = Splitter([{"type": "BertPreTokenizer"}])
    return Words(vocab, pieces[unknown], "##", 100, normalizer, splitter, {pieces[i]: i for i in sorted({*special, unknown})})


def _piece(name: str) -> str:
    """A piece as BERT's vocabulary has it.

    >>> _piece("\u2581un"), _piece("able"), _piece("[unused1]"), _piece("\u2581")
    ('un', '##able', '[unused1]', '##▁')
    """
    if name.startswith(_START) and name != _START:
        return name[1:]
    return name if _is_name(name) else f"##{name}"


def _is_name(name: str) -> bool:
    """Whether it looks like the name of a token, and not like a piece of text; these have no mark in some files."""
    return len(name) > 2 and name[0] == "[" and name[-1] == "]"
