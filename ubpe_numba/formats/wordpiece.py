"""WordPiece models: a `tokenizer.json`, BERT's `vocab.txt`, and our own files; read and written.

A `vocab.txt` has one piece per line, in UTF-8, whose id is the number of the line, from 0 on. White space at
the end of a line does not belong to the piece, as in the package ``tokenizers``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.formats.huggingface import added_of, decoding_of, file_of, outer, steps_of
from ubpe_numba.formats.pair_table import Table, read_vocab
from ubpe_numba.runtime.arrays import describe
from ubpe_numba.runtime.schema import check_fields, integers_of
from ubpe_numba.text.characters import WHITE_SPACE
from ubpe_numba.text.normalizer import Normalizer
from ubpe_numba.text.splitter import Splitter
from ubpe_numba.text.steps import refusing
from ubpe_numba.vocabulary.reserved import FLAGS

UNKNOWN = "[UNK]"  # in a vocab.txt
#: The way on from pieces over words to text.
AS_BERT = (
    "for BERT's give WordPiece preprocessing=Preprocessing('BertPreTokenizer', normalizer='BertNormalizer')"
)
PIECE = re.compile(rb"\[UNK\]|##[A-Za-z].*")  # that only a file of this kind has


class Words(NamedTuple):
    """Vocabulary and options of a file: arguments of `WordPiece` and its `Preprocessing`.

    Also `Segmenter.file`.
    """

    vocabulary: dict[str, int]
    unknown: str = UNKNOWN
    prefix: str = "##"
    longest: int = 100
    normalizer: Normalizer | None = None
    pretokenizer: Splitter | None = None
    special_tokens: dict[str, int] = {}  # noqa: RUF012  # never changed
    known_words: dict[str, int] = {}  # noqa: RUF012
    flags: dict[str, tuple[str, ...]] = {}  # noqa: RUF012
    file: dict[str, Any] | None = None


def read(file: dict[str, Any], config: Mapping[str, Any] | None = None) -> Words:
    """Read the object of a file; ModelFormatError, with the fault, if it is not valid or not supported."""
    model = file["model"]
    vocab = read_vocab(model.get("vocab"), "model: vocab")
    unknown, prefix = model.get("unk_token", "[UNK]"), model.get("continuing_subword_prefix", "##")
    longest: Any = model.get("max_input_chars_per_word", 100)
    if not isinstance(unknown, str) or unknown not in vocab:
        raise ModelFormatError(f"model: unk_token: expected a piece of the vocabulary, got {quoted(unknown)}")
    if not isinstance(prefix, str) or type(longest) is not int or not 1 <= longest < 2**31:
        raise ModelFormatError(
            "model: expected a text as continuing_subword_prefix and a number as max_input_chars_per_word"
        )
    normalizer, splitter = steps_of(file)
    special, known, flags = added_of(file.get("added_tokens", []), vocab, normalizer)
    if splitter is None:
        raise ModelFormatError("pre_tokenizer: expected one that cuts text into words")
    named = {word: tuple(name for name, bit in FLAGS.items() if mask & bit) for word, mask in flags.items()}
    decoding_of(file.get("decoder"), (), (), False, False)
    return Words(
        vocab,
        unknown,
        prefix,
        longest,
        normalizer,
        splitter,
        special,
        known,
        named,
        outer(file, config or {}),
    )


def write(words: Words, post_processor: dict[str, Any] | None = None) -> str:
    """The content of a tokenizer.json; `post_processor` puts special tokens around a document.

    The caller checks that it encodes alike. ValueError for a vocabulary without a pretokenizer, or words that
    are not text or have two ids.
    """
    if words.pretokenizer is None:
        raise ValueError(f"pretokenizer: a tokenizer.json says how text becomes words; {AS_BERT}")
    added = sorted([*words.special_tokens.items(), *words.known_words.items()], key=lambda item: item[1])
    vocab = {**words.vocabulary, **dict(added)}
    if len(set(vocab.values())) < len(vocab) or not words.vocabulary.items() <= vocab.items():
        raise ValueError(
            "special_tokens: one is a piece with another id, or has that of another piece; Hugging Face allows one"
        )
    n = len(words.vocabulary)
    if [i for word, i in added if word not in words.vocabulary] == list(range(n, len(vocab))):
        vocab = words.vocabulary  # they get these ids there, and are not pieces
    model = {
        "type": "WordPiece",
        "unk_token": words.unknown,
        "continuing_subword_prefix": words.prefix,
        "max_input_chars_per_word": words.longest,
        "vocab": dict(sorted(vocab.items(), key=lambda item: item[1])),
    }
    none = np.zeros(0, np.int64)
    flags = {word: sum(FLAGS[name] for name in names) for word, names in words.flags.items()}
    table = Table(
        "str",
        [],
        none,
        none,
        {},
        {},
        None,
        splitter=words.pretokenizer,
        normalizer=words.normalizer,
        flags=flags,
    )
    table = table._replace(file=words.file)
    file = file_of(table, words.special_tokens, words.known_words, model, post_processor)
    decoder = (words.file or {}).get(
        "decoder", {"type": "WordPiece", "prefix": words.prefix, "cleanup": False}
    )
    text = json.dumps({**file, "decoder": decoder}, ensure_ascii=False)
    with refusing("vocabulary: a piece is no text"):
        text.encode()
    return text


_PARAMS = ("unknown", "prefix", "longest")
# in model files unless empty
_TEXT = ("normalizer", "pretokenizer", "special_tokens", "known_words", "flags", "file")


def state_of(words: Words) -> dict[str, Any]:
    """Plain data for a model file of ours."""
    params: dict[str, Any] = {name: getattr(words, name) for name in _PARAMS}
    params |= {name: step.state() for name in _TEXT[:2] if (step := getattr(words, name)) is not None}
    params |= {name: value for name in _TEXT[2:] if (value := getattr(words, name))}
    vocabulary = {"pieces": list(words.vocabulary), "ids": list(words.vocabulary.values())}
    return {"tokenizer": "WordPiece", "params": params, "alphabet": {}, "vocabulary": vocabulary}


def from_state(state: dict[str, Any]) -> dict[str, Any]:
    """The arguments of the constructor that `state_of` wrote; ModelFormatError if they are not valid."""
    there = tuple(name for name in _TEXT if name in state["params"])
    for part, fields in (("params", (*_PARAMS, *there)), ("alphabet", ()), ("vocabulary", ("pieces", "ids"))):
        check_fields(state[part], fields, part)
    listed, ids = state["vocabulary"]["pieces"], integers_of(state["vocabulary"]["ids"], "ids").tolist()
    if not isinstance(listed, list) or len(listed) != len(ids):
        raise ModelFormatError(f"vocabulary: expected as many pieces as ids, {len(ids)}")
    first: dict[str, int] = {}
    for i, piece in enumerate(listed):
        if not isinstance(piece, str):
            raise ModelFormatError(f"vocabulary: position {i}: expected str, got {describe(piece)}")
        if first.setdefault(piece, i) != i:
            raise ModelFormatError(
                f"vocabulary: a piece is there twice: {quoted(piece)}, as {first[piece]} and {i}"
            )
    return {"vocabulary": dict(zip(listed, ids, strict=True)), **state["params"]}


# ----------------------------------------------------------------------------------------------------
# vocab.txt


def parse_vocab_txt(data: bytes) -> dict[str, int]:
    r"""Ids of pieces of the content of a file.

    >>> parse_vocab_txt(b"[UNK]\nun\n##able\n")
    {'[UNK]': 0, 'un': 1, '##able': 2}
    """
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    try:
        text = b"\n".join(lines).decode()
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ModelFormatError(f"line {line}: not UTF-8") from error
    if not lines:
        raise ModelFormatError("no pieces")
    return {line.rstrip(WHITE_SPACE): i for i, line in enumerate(text.split("\n"))}


def of_vocab_txt(data: bytes) -> Words:
    """The words of the content of a file; ModelFormatError without a piece for unknown words."""
    if UNKNOWN not in (pieces := parse_vocab_txt(data)):
        message = f"there is no piece {UNKNOWN}, which words become that no pieces make"
        raise ModelFormatError(
            f"{message}; WordPiece(pieces, unknown=...) takes a dict of pieces and ids, and another one"
        )
    return Words(pieces)


def vocab_txt(pieces: Mapping[str, int]) -> str:
    """The lines of pieces whose ids are 0, 1, ...

    ValueError for other ids, and for pieces that could not be read again.
    """
    listed = sorted(pieces, key=pieces.__getitem__)
    text = "".join(f"{piece}\n" for piece in listed)
    read_back = parse_vocab_txt(text.encode("utf-8", "replace"))
    if odd := [piece for piece in listed if read_back.get(piece) != pieces[piece]]:
        rule = "ids are the numbers of lines, white space at the end is lost, and lines are UTF-8"
        raise ValueError(
            f"export refused: a vocab.txt cannot hold {quoted(odd[0])} with the id {pieces[odd[0]]}: {rule}"
        )
    return text
