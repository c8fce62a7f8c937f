"""The two files of GPT-2, `vocab.json` (tokens and ids) and `merges.txt` (pairs by rank), over bytes or over characters.

Bytes are written as the characters of GPT-2's table. In the older form (Sennrich et al., 2016) tokens consist of characters, and
``</w>`` marks the end of a word: here it stands for an ordinary character of the text, usually the space after the word.
"""

from __future__ import annotations

import itertools
import json
import operator
from typing import Any

from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.formats.model_file import parse_json
from ubpe_numba.formats.pair_table import Pairs, Table, from_names, read_vocab, two_parts

END = "</w>"
_HEADER = "#version: 0.2"


def read(vocab: Any, merges: str, kind: str, special: dict[str, int], pattern: str | None, end_of_word: str | None) -> Table:
    """Read `vocab`, JSON or a dict, and the text of `merges`. ModelFormatError names what is not valid.

    `end_of_word` is the character that ``</w>`` stands for, None if there is no such marker. In files of subword-nmt 0.2 the last
    character of a word and its marker are one symbol: then pairs that make these symbols are put before all others, which gives
    the same tokens, and characters that have no id of their own get the next free ids.
    """
    ids = read_vocab(parse_json(vocab) if isinstance(vocab, (str, bytes)) else vocab)
    pairs = _pairs(merges)
    if end_of_word is not None:
        ids, pairs = _unmarked(ids, pairs, end_of_word)
    if odd := next((word for word, i in special.items() if ids.get(word, i) != i), None):
        raise ModelFormatError(f"special_tokens: {quoted(odd)} has the id {ids[odd]} in the vocabulary, not {special[odd]}")
    return from_names(ids, pairs, kind, special, {}, pattern)


def _pairs(merges: str) -> Pairs:
    """The pairs of a text of merges, line by line; ModelFormatError names the first line that is not valid."""
    lines = merges.split("\n")
    is_headed = lines[0].startswith("#version")
    if "\r" not in merges and (found := two_parts(list(filter(None, lines[is_headed:])))) is not None:
        return found
    pairs: Pairs = [], []
    for number, line in enumerate(lines, 1):
        if not line.strip("\r") or (number == 1 and is_headed):
            continue
        parts = line.rstrip("\r").split(" ")
        if len(parts) != 2 or not all(parts):
            raise ModelFormatError(f"merges: line {number}: expected two tokens with a space between, got {quoted(line)}")
        for side, part in zip(pairs, parts, strict=True):
            side.append(part)
    return pairs


def _unmarked(ids: dict[str, int], pairs: Pairs, end: str) -> tuple[dict[str, int], Pairs]:
    """Ids and pairs with the character `end` in place of the marker ``</w>``."""
    plain = {token.removesuffix(END) + end * token.endswith(END): i for token, i in ids.items()}
    if len(plain) < len(ids):
        raise ModelFormatError(f"end_of_word: {quoted(end)} is a token already")
    lefts, rights = pairs[0], [part.removesuffix(END) + end * part.endswith(END) for part in pairs[1]]
    made = set(map(operator.add, lefts, rights))
    joined = [
        token for token in sorted(plain, key=plain.__getitem__) if len(token) == 2 and token[1] == end and token not in made
    ]
    free = max(plain.values()) + 1
    for letter in sorted({letter for token in joined for letter in token} - plain.keys()):
        plain[letter] = free
        free += 1
    return plain, ([token[0] for token in joined] + lefts, [end] * len(joined) + rights)


def write(vocab: dict[str, int], merges: Pairs, end_of_word: str | None) -> tuple[str, str]:
    """The contents of both files; ValueError for tokens that could not be read again: with white space, or with the marker."""
    lefts, rights = merges
    if end_of_word is not None:
        mark = {}
        for name in vocab:
            if END in name or end_of_word in name[:-1]:
                raise ValueError(
                    f"end_of_word: the token {quoted(name)} goes on behind the end of a word, or holds {quoted(END)}"
                )
            mark[name] = name.removesuffix(end_of_word) + END * name.endswith(end_of_word)
        vocab = {mark[name]: i for name, i in vocab.items()}
        lefts, rights = ([mark[name] for name in side] for side in merges)
    if any(map(str.isspace, set("".join([*lefts, *rights])))):
        pairs = itertools.chain(zip(merges[0], lefts, strict=True), zip(merges[1], rights, strict=True))
        name = next(name for name, written in pairs if any(map(str.isspace, written)))
        raise ValueError(f"merges: the token {quoted(name)} holds white space, which merges.txt cannot keep")
    lines = [_HEADER, *map(" ".join, zip(lefts, rights, strict=True))]
    return json.dumps(vocab, ensure_ascii=False), "\n".join(lines) + "\n"
