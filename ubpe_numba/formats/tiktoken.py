r"""Ranks: `.tiktoken` files, Mistral's `tekken.json`, packages of npm, and what belongs to published files of ranks.

A `.tiktoken` file has a line for each token, its bytes in base64 and its rank, which is its id::

    YQ== 0
    YWI= 1        b"a" has the rank 0, b"ab" 1

There are no pairs: a segment that is a token becomes that; in others tiktoken merges two neighbours if the bytes of both are a
token, of the lowest rank first. The pair of a token is the last one merged when it is encoded by itself (kernels/last_merges.py).
A token that does not become itself so is never made, but by whole segments.
"""

from __future__ import annotations

import binascii
import functools
import hashlib
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

    Of published patterns the spelling of tiktoken's own encodings.

    >>> covering("a+")
    '(?:a+)|(?:(?!a+)(?s:.))+'
    """
    if pattern is None:
        return EVERYTHING
    if (name := name_of(pattern)) in COVERING:
        return FOR_TIKTOKEN.get(name, NAMED[name])
    return f"(?:{pattern})|(?:(?!{pattern})(?s:.))+"


def uncovered(pattern: str) -> str | None:
    """The inverse of `covering`; a pattern that `covering` does not make is returned as it is, ValueError if it drops text."""
    inner = pattern[3 : (len(pattern) - len("(?:)|(?:(?!)(?s:.))+")) // 2 + 3]
    if pattern == EVERYTHING or (inner and covering(inner) == pattern):
        return None if pattern == EVERYTHING else inner
    if name_of(pattern) not in COVERING and (char := left_out(pattern)):
        told = f"pretokenizer: {quoted(pattern)} may match nothing at {quoted(char)}: tiktoken drops such text"
        raise ValueError(f"{told}; load it with pretokenizer={quoted(pattern, 40)}, which keeps it")
    return pattern


def read(given: Mapping[bytes, int] | Flat, special: dict[str, int], pattern: str | None) -> Table:
    """The table of tokens with ranks, `Flat` or a mapping; `special` tokens with their ids.

    ModelFormatError if a rank is no integer or a rank or a token occurs twice, a token cannot be made of two others, tokens are
    too long, or they are chosen to collide in a hash table.

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
        found = creation_order(number[pairs[occurs]], n)
        if found is not None:  # pairs of tokens that are never made come last
            order = np.concatenate([np.flatnonzero(occurs)[found], unmade[np.argsort(lengths[unmade], kind="stable")]])
            number = np.arange(size, dtype=np.int32)
            number[n + order] = np.arange(n, size)
            pairs, ids, one_by_one = number[pairs[order]], np.concatenate([ids[:n], ids[n:][order]]), False
    return Table("bytes", values[:n].tolist(), pairs, ids, special, {}, pattern, bool(unmade.size), one_by_one)


def _split(tokens: list[bytes], ranks: np.ndarray, unmade: np.ndarray) -> list[tuple[int, int]]:
    """Two tokens for each token that merging does not make, int64[k], of lower rank if there are such.

    A segment that equals such a token becomes it, since tiktoken looks for that first. No two neighbours ever join to it
    otherwise, so that it does not matter which two these are. ModelFormatError for one that no two tokens join to.
    """
    number = {token: i for i, token in enumerate(tokens)}
    found: list[tuple[int, int]] = []
    for t in unmade.tolist():
        token = tokens[t]
        cuts = ((number.get(token[:i]), number.get(token[i:])) for i in range(1, len(token)))
        pairs = [(max(left, right), left, right) for left, right in cuts if left is not None and right is not None]
        if not pairs:
            raise ModelFormatError(
                f"the token {quoted(token)} of rank {ranks[t]} is not made of others of lower rank: no two tokens join "
                "to it, only a whole segment becomes it, which needs a pair here; take the tokenizer.json of the model if there "
                "is one"
            )
        found.append(min(pairs)[1:])
    return found


def _in_order(data: bytes, lengths: np.ndarray, ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """The tokens by rank, those of one byte before all others, as `pairs_of_ranks` takes them: their bytes and beginnings.

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
    return np.append(values, np.zeros(8, np.uint8)), offsets_of(lengths[order]), ranks[order], int((~is_long).sum())


# ---------------------------------------------------------------------------------------------------- lines of base64


def flat(ranks: Mapping[bytes, int]) -> Flat:
    """Tokens and ranks as `parse_lines` gives them; ModelFormatError if a rank is no integer."""
    return b"".join(ranks), np.fromiter(map(len, ranks), np.int64, len(ranks)), integers_of([*ranks.values()], "ranks")


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
            token = binascii.a2b_base64(parts[0], strict_mode=True) if parts[0] != b"=" else b""  # one token of Whisper
        except ValueError as error:
            raise ModelFormatError(f"line {number}: not base64: {error}") from error
        if len(parts) != 2 or not parts[1].isdigit() or len(parts[1]) > 10:
            raise ModelFormatError(f"line {number}: expected a token in base64 and its rank, got {quoted(line[:60])}")
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
    encoded = map(functools.partial(binascii.b2a_base64, newline=False), by_rank)
    return b"".join(map(b"%b %d\n".__mod__, zip(encoded, map(ranks.__getitem__, by_rank), strict=True)))


# ---------------------------------------------------------------------------------------------------- tekken

_MOST = 1 << 22  # ids
_SPARE = 1 << 14  # so many more special tokens than others are allowed: those without names cost a file nothing
#: The first special tokens of files that name none, up to version 7 of the format.
_UNNAMED = (
    "<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]",
    "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]",
)  # fmt: skip


def read_tekken(file: Any) -> Table:
    """The table of the object of a `tekken.json`, with a pattern, tokens in base64 and special tokens; ModelFormatError.

    The first ids are those of special tokens, as many as the file says; those without names are called ``<SPECIAL_17>``. The id
    of a token is its rank and their number. Only the first tokens are used, so that there are as many ids as the file says.
    """
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
    words = list(_UNNAMED[:n_special]) if named is None else []
    if named is not None and (not isinstance(named, list) or len(named) > n_special):
        raise ModelFormatError(f"special_tokens: expected a list of at most {n_special}")
    for i, token in enumerate(named or ()):
        if not isinstance(token, dict) or token.get("rank") != i or not isinstance(token.get("token_str"), str):
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


# ---------------------------------------------------------------------------------------------------- packages of npm

JAVASCRIPT_FIELDS = ("pat_str", "special_tokens", "bpe_ranks")
_MODULES = (b"export default {", b"module.exports = {")


def javascript_object(head: bytes, data: Any) -> bytes | None:
    r"""The JSON of a module of JavaScript with ranks, None for a file that does not begin like one; `data` reads all of it.

    >>> text = b'export default {"pat_str": "a+"};'
    >>> javascript_object(text, lambda: text)
    b'{"pat_str": "a+"}'
    """
    if not head.startswith(_MODULES) or not any(f'"{field}"'.encode() in head[:4096] for field in JAVASCRIPT_FIELDS):
        return None
    whole: bytes = data()
    return whole[whole.index(b"{") :].rstrip(b" \t\r\n;")


def read_javascript(document: dict[str, Any]) -> tuple[bytes, str | None, dict[str, int]]:
    r"""The content of a `.tiktoken` file, the pattern and the special tokens of the object of a package; ModelFormatError.

    The packages are tiktoken and js-tiktoken, the object a file of JSON or a module. ``"bpe_ranks"`` has lines of a mark, the
    rank of the first token, and tokens in base64.

    >>> read_javascript({"pat_str": r"\s|\S", "special_tokens": {"<e>": 9}, "bpe_ranks": "! 0 YQ== Yg==\n! 7 YWI="})
    (b'YQ== 0\nYg== 1\nYWI= 7\n', '\\s|\\S', {'<e>': 9})
    """
    pattern, special, ranks = (document.get(field) for field in JAVASCRIPT_FIELDS)
    if not isinstance(pattern, str) or not isinstance(ranks, str):
        raise ModelFormatError("pat_str, bpe_ranks: expected text")
    if not isinstance(special, dict) or not all(type(i) is int for i in special.values()):
        raise ModelFormatError("special_tokens: expected an object of ids")
    lines: list[str] = []
    for number, line in enumerate(ranks.split("\n"), 1):
        if not line:
            continue
        first, *tokens = line.split(" ")[1:] or [""]
        if not (line.isascii() and first.isdigit()) or len(first) > 10:
            raise ModelFormatError(f"bpe_ranks: line {number}: expected a mark, a rank and tokens, got {quoted(line[:60])}")
        lines += [f"{token} {rank}\n" for rank, token in enumerate(tokens, int(first))]
    return "".join(lines).encode(), uncovered(pattern), special


# ---------------------------------------------------------------------------------------------------- published files

#: Special tokens of published files, which hold only ranks: `name` is <|name|>, `name_2:5` is name_2 to name_4, a number the next
#: id. Ids are those that the packages give which the files are from: tiktoken, llama_models, dashscope, qwen_tokenizer,
#: openai-whisper (of 99 languages, in its order; its model large-v3 has one more).
_SPECIAL = {
    "gpt2": "50256 endoftext",
    "cl100k": "100257 endoftext fim_prefix fim_middle fim_suffix 100276 endofprompt",
    "o200k": "199999 endoftext 200018 endofprompt",
    "llama3": """128000 begin_of_text end_of_text reserved_special_token_0:2 finetune_right_pad_id step_id start_header_id
        end_header_id eom_id eot_id python_tag image reserved_special_token_2:246""",
    "llama4": """200000 begin_of_text end_of_text fim_prefix fim_middle fim_suffix header_start header_end eom eot step
        text_post_train_reserved_special_token_0:6 python_start python_end finetune_right_pad
        text_post_train_reserved_special_token_8:69 image_start image_end vision_reserved_special_token_0:2 tile_x_separator
        tile_y_separator vision_reserved_special_token_2:6 image vision_reserved_special_token_6:7 patch
        vision_reserved_special_token_7:1048 reasoning_reserved_special_token_0:8 reasoning_thinking_start reasoning_thinking_end
        reserved_special_token_0:904""",
    "qwen2": "151643 endoftext im_start im_end extra_0:205",
    "qwen35": """248044 endoftext im_start im_end object_ref_start object_ref_end box_start box_end quad_start quad_end
        vision_start vision_end vision_pad image_pad video_pad <tool_call> </tool_call> fim_prefix fim_middle fim_suffix fim_pad
        repo_name file_sep <tool_response> </tool_response> <think> </think> audio_start audio_end <tts_pad> <tts_text_bos>
        <tts_text_eod> <tts_text_bos_single> audio_pad""",
    "whisper": """50257 endoftext startoftranscript
        en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi ml cy
        sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am yi lo
        uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su
        translate transcribe startoflm startofprev nospeech notimestamps""",
}
_KNOWN = {  # by SHA-256: the name of a pattern, and of a row of _SPECIAL
    "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930": ("gpt2", "gpt2"),  # r50k_base
    "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069": ("gpt2", "gpt2"),  # p50k_base
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7": ("cl100k", "cl100k"),  # cl100k_base
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d": ("o200k", "o200k"),  # o200k_base
    "82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55": ("llama3", "llama3"),  # tokenizer.model of Llama 3
    "d0bdbaf59b0762c8c807617e2d8ea51420eb1b1de266df2495be755c8e0ed6ed": ("o200k", "llama4"),  # tokenizer.model of Llama 4
    "b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186": ("qwen2", "qwen2"),  # qwen.tiktoken
    "8dde380a6405e935f5de16a99eb61c824f3f814dd1ed298784c72babb7a03cdd": ("qwen35", "qwen35"),  # qwen3_6.tiktoken
    "b34b360dbb493e781e479794586d661700670d65564001f23024971d1f2fa126": ("gpt2", "whisper"),  # multilingual.tiktoken of Whisper
}


def published(data: bytes) -> tuple[str, dict[str, int]] | None:
    """Pattern and special tokens that belong to a published file of this content; None if it is not known."""
    known = _KNOWN.get(hashlib.sha256(data).hexdigest())
    return None if known is None else (known[0], published_special(known[1]))


def published_special(row: str) -> dict[str, int]:
    """The special tokens of a row of _SPECIAL and their ids.

    >>> published_special("o200k")
    {'<|endoftext|>': 199999, '<|endofprompt|>': 200018}
    """
    found: dict[str, int] = {}
    free = 0
    words = _SPECIAL[row].split()
    words += [f"{i // 50}.{i % 50 * 2:02}" for i in range(1501)] if row == "whisper" else []  # times, in seconds
    for word in words:
        if word.isdigit():
            free = int(word)
            continue
        name, _, end = word.partition(":")
        stem, _, begin = name.rpartition("_")
        for one in [f"{stem}_{i}" for i in range(int(begin), int(end))] if end else [name]:
            found[one if one[0] == "<" else f"<|{one}|>"] = free
            free += 1
    return found
