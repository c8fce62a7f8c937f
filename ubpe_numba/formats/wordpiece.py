"""WordPiece models of a `tokenizer.json`: the vocabulary, what is done to text before, and added tokens."""

from __future__ import annotations

from typing import Any, NamedTuple

from ubpe_numba.errors import ModelFormatError
from ubpe_numba.formats import huggingface
from ubpe_numba.formats.model_file import parse_json
from ubpe_numba.formats.pair_table import read_vocab
from ubpe_numba.text.normalizer import Normalizer
from ubpe_numba.text.splitter import Splitter


class Words(NamedTuple):
    """What a file says; the fields are arguments of `WordPiece`."""

    vocabulary: dict[str, int]
    unknown: str
    prefix: str
    longest: int
    normalizer: Normalizer | None
    pretokenizer: Splitter
    special_tokens: dict[str, int]


def read(text: str | bytes) -> Words:
    """Read the content of a file. ModelFormatError names what is not valid or not supported."""
    file = parse_json(text)
    model = file.get("model") if isinstance(file, dict) else None
    if not isinstance(model, dict) or model.get("type") != "WordPiece":
        raise ModelFormatError("model: expected one of type WordPiece")
    vocab = read_vocab(model.get("vocab"), "model: vocab")
    unknown, prefix = model.get("unk_token", "[UNK]"), model.get("continuing_subword_prefix", "##")
    longest: Any = model.get("max_input_chars_per_word", 100)
    if not isinstance(unknown, str) or unknown not in vocab:
        raise ModelFormatError(f"model: unk_token: expected a piece of the vocabulary, got {unknown!r:.60}")
    if not isinstance(prefix, str) or type(longest) is not int or not 1 <= longest < 2**31:
        raise ModelFormatError("model: expected a text as continuing_subword_prefix and a number as max_input_chars_per_word")
    normalizer, splitter = huggingface._steps(file.get("normalizer"), file.get("pre_tokenizer"))
    special, known, flags = huggingface._added(file.get("added_tokens"), vocab, normalizer is not None)
    if flags:
        raise ModelFormatError(
            f"added_tokens: {next(iter(flags))!r}: lstrip, rstrip, single_word and normalized are not supported"
        )
    if splitter is None:
        raise ModelFormatError("pre_tokenizer: expected one that cuts text into words")
    return Words(vocab, unknown, prefix, longest, normalizer, splitter, {**special, **known})
