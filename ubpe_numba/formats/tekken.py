"""Tekken, Mistral's files of tiktoken's ranks: JSON of a pattern, tokens in base64 with ranks, and special tokens.

The first ids are those of special tokens, as many as the file says; those that it does not name are called ``<SPECIAL_17>``. The
id of a token is its rank and their number. Of the tokens only the first are used, so that there are as many ids as the file says.
"""

from __future__ import annotations

import binascii
from typing import Any

from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.formats import tiktoken
from ubpe_numba.formats.model_file import parse_json
from ubpe_numba.formats.pair_table import Table

_MOST = 1 << 22  # ids
_SPARE = 1 << 14  # so many more special tokens than others are allowed: those without names cost a file nothing
#: The first special tokens of files that name none, up to version 7 of the format.
_UNNAMED = (
    "<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]",
    "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]",
)  # fmt: skip


def read(text: str | bytes | dict[str, Any]) -> Table:
    """The table of a file, or of the object that it is. ModelFormatError names what is not valid."""
    file = text if isinstance(text, dict) else parse_json(text)
    config = file.get("config") if isinstance(file, dict) else None
    vocab = file.get("vocab") if isinstance(file, dict) else None
    if not isinstance(config, dict) or not isinstance(vocab, list):
        raise ModelFormatError("not a file of tekken: expected the fields config and vocab")
    size, n_special = (config.get(name) for name in ("default_vocab_size", "default_num_special_tokens"))
    pattern = config.get("pattern")
    if type(size) is not int or type(n_special) is not int or not 0 <= n_special < size <= n_special + len(vocab) <= _MOST:
        raise ModelFormatError(f"config: {len(vocab)} tokens, but {quoted(size)} ids of which {quoted(n_special)} are special")
    if n_special > len(vocab) + _SPARE:
        raise ModelFormatError(f"config: {n_special} special tokens are too many beside {len(vocab)} others")
    if not isinstance(pattern, str) or not pattern:
        raise ModelFormatError("config: pattern: expected a regular expression")
    named = file.get("special_tokens")
    words = list(_UNNAMED[:n_special]) if named is None else _named(named, n_special)
    words += [f"<SPECIAL_{i}>" for i in range(len(words), n_special)]
    special = {word: i for i, word in enumerate(words)}
    if len(special) < n_special:
        raise ModelFormatError("special_tokens: one is there twice")
    ranks: dict[bytes, int] = {}
    for i, token in enumerate(vocab):
        rank = token.get("rank") if isinstance(token, dict) else None
        if type(rank) is not int or not 0 <= rank < len(vocab):
            raise ModelFormatError(f"vocab[{i}]: expected an object with a rank below {len(vocab)}")
        if rank >= size - n_special:
            continue
        try:
            data = binascii.a2b_base64(token["token_bytes"], strict_mode=True)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFormatError(f"vocab[{i}]: token_bytes: expected base64: {error}") from error
        if not data or data in ranks:
            raise ModelFormatError(f"vocab[{i}]: the token {quoted(data)} is empty, or there twice")
        ranks[data] = n_special + rank
    return tiktoken.read(tiktoken.Ranks.of(ranks), special, tiktoken.uncovered(pattern))


def _named(tokens: Any, most: int) -> list[str]:
    """The special tokens that a file names, in order of ids."""
    if not isinstance(tokens, list) or len(tokens) > most:
        raise ModelFormatError(f"special_tokens: expected a list of at most {most}")
    for i, token in enumerate(tokens):
        if not isinstance(token, dict) or token.get("rank") != i or not isinstance(token.get("token_str"), str):
            raise ModelFormatError(f"special_tokens[{i}]: expected an object with the rank {i} and token_str")
    return [token["token_str"] for token in tokens]
