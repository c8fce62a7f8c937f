"""`tokenizer.json` of Hugging Face's tokenizers: BPE over bytes, characters, or integers written as characters.

Only models whose ids can be reproduced exactly are read: no normalizer, no dropout, no byte fallback, no affixes, and text that
is split by one pattern. Tokens that a post-processor adds around a document (such as one of its beginning) are ignored: `encode`
gives the ids that Hugging Face gives with ``add_special_tokens=False``.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

from ubpe_numba.errors import ModelFormatError
from ubpe_numba.formats.model_file import parse_json
from ubpe_numba.formats.pair_table import Pairs, Table, from_names, read_vocab, symbol_index, two_parts
from ubpe_numba.text.patterns import NAMED

_quoted = json.encoder.encode_basestring  # a str as JSON, with characters beyond ASCII
_UNUSED = {  # options of a model that must not be in use, and their values if they are not
    "continuing_subword_prefix": (None, ""), "end_of_word_suffix": (None, ""), "byte_fallback": (None, False),
    "dropout": (None, 0, 0.0),
}  # fmt: skip
_UNSUPPORTED_FLAGS = ("lstrip", "rstrip", "single_word")  # of an added token


def read(text: str | bytes, kind: str | None) -> Table:
    """Read the content of a tokenizer.json. ModelFormatError names what is not valid or not supported.

    `kind` is what the symbols are: ``"bytes"``, ``"str"`` or ``"int"``. None means bytes if there is a ByteLevel step, integers
    if every symbol is a character that names one (see `symbol_character`), else characters.
    """
    file = parse_json(text)
    model = file.get("model") if isinstance(file, dict) else None
    if not isinstance(model, dict) or model.get("type", "BPE") != "BPE":
        raise ModelFormatError("model: expected one of type BPE")
    for name, values in _UNUSED.items():
        if model.get(name) not in values:
            raise ModelFormatError(f"model: {name}={model[name]!r} is not supported")
    if file.get("normalizer") is not None:
        raise ModelFormatError("normalizer: not supported, what it changes could not be decoded")
    pattern, bytewise = _pre_tokenizer(file.get("pre_tokenizer"))
    vocab = read_vocab(model.get("vocab"), "model: vocab")
    special, known = _added(file.get("added_tokens"), vocab)
    if kind is None:
        kind = "bytes" if bytewise else "int" if _names_integers([*vocab.keys() - special.keys() - known.keys()]) else "str"
    if kind not in ("bytes", "str", "int") or bytewise is not (kind == "bytes"):
        raise ModelFormatError(f"kind: {kind!r}, but the file has {'a' if bytewise else 'no'} ByteLevel step")
    if kind == "int" and pattern is not None:
        raise ModelFormatError("pre_tokenizer: integers are not cut")
    return from_names(vocab, _merges(model.get("merges")), kind, special, known, pattern, model.get("ignore_merges") is True)


def _names_integers(tokens: list[str]) -> bool:
    """Whether there are tokens of one character, and every such character names an integer."""
    letters = [token for token in tokens if len(token) == 1]
    return bool(letters) and all(symbol_index(letter) is not None for letter in letters)


def _merges(merges: Any) -> Pairs:
    """Pairs of names from a list of ``"a b"`` or ``["a", "b"]``."""
    if not isinstance(merges, list):
        raise ModelFormatError("model: merges: expected a list")
    types = set(map(type, merges))
    if types == {str} and (found := two_parts(merges)) is not None:
        return found
    if types == {list} and set(map(len, merges)) == {2}:
        parts = list(itertools.chain.from_iterable(merges))
        if set(map(type, parts)) == {str} and "" not in parts:
            return parts[::2], parts[1::2]
    pairs: Pairs = [], []
    for i, merge in enumerate(merges):
        parts = merge.split(" ") if isinstance(merge, str) else merge
        if not isinstance(parts, list) or len(parts) != 2 or not all(isinstance(part, str) and part for part in parts):
            raise ModelFormatError(f"model: merges[{i}]: expected two tokens, got {merge!r:.60}")
        for side, part in zip(pairs, parts, strict=True):
            side.append(part)
    return pairs


def _pre_tokenizer(step: Any) -> tuple[str | None, bool]:
    """The pattern that splits text, None for none, and whether the text is encoded as bytes."""
    pattern, bytewise = None, False
    steps: Any = [] if step is None else [step]
    if isinstance(step, dict) and step.get("type") == "Sequence":
        steps = step.get("pretokenizers")
    if not isinstance(steps, list) or not all(isinstance(part, dict) for part in steps):
        raise ModelFormatError("pre_tokenizer: expected an object")
    for part in steps:
        found = None
        if part.get("type") == "ByteLevel" and part.get("add_prefix_space") is False and not bytewise:
            bytewise = True
            found = NAMED["gpt2"] if part.get("use_regex", True) is True else None
        elif part.get("type") == "Split" and part.get("behavior") == "Isolated" and part.get("invert") is False:
            regex = part.get("pattern")
            found = regex.get("Regex") if isinstance(regex, dict) else None
            if not isinstance(found, str) or bytewise:
                raise ModelFormatError("pre_tokenizer: expected a Split by a Regex, before ByteLevel")
        else:
            raise ModelFormatError(f"pre_tokenizer: {json.dumps(part):.120} is not supported")
        if found is not None and pattern is not None:
            raise ModelFormatError("pre_tokenizer: text that is cut twice is not supported")
        pattern = found or pattern
    return pattern, bytewise


def _added(tokens: Any, vocab: dict[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    """The ids of added tokens: of those that are special, and of the others (known words here)."""
    found: tuple[dict[str, int], dict[str, int]] = {}, {}
    if not isinstance(tokens, list) and tokens is not None:
        raise ModelFormatError("added_tokens: expected a list")
    for i, token in enumerate(tokens or []):
        if not isinstance(token, dict) or not isinstance(token.get("content"), str) or type(token.get("id")) is not int:
            raise ModelFormatError(f"added_tokens[{i}]: expected an object with content and id")
        word = token["content"]
        if any(token.get(flag) for flag in _UNSUPPORTED_FLAGS):
            raise ModelFormatError(f"added_tokens[{i}]: {word!r}: {', '.join(_UNSUPPORTED_FLAGS)} are not supported")
        if word in found[0] or word in found[1] or vocab.get(word, token["id"]) != token["id"]:
            raise ModelFormatError(f"added_tokens[{i}]: {word!r} is there twice, or has two ids")
        found[not token.get("special")][word] = token["id"]
    return found


def write(table: Table, vocab: dict[str, int], merges: Pairs, special: dict[str, int], known: dict[str, int]) -> str:
    """The content of a tokenizer.json: ids of names, pairs of names by rank, special tokens, known words.

    Of `table` only `kind` and `pattern` are used.
    """
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    steps: list[dict[str, Any]] = []
    if table.pattern == NAMED["gpt2"] and table.kind == "bytes":
        level["use_regex"] = True
    elif table.pattern is not None:
        steps.append({"type": "Split", "pattern": {"Regex": table.pattern}, "behavior": "Isolated", "invert": False})
    if table.kind == "bytes":
        steps.append(level)
    words = sorted([(i, word, True) for word, i in special.items()] + [(i, word, False) for word, i in known.items()])
    flags = dict.fromkeys((*_UNSUPPORTED_FLAGS, "normalized"), False)
    file: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": i, "content": word, **flags, "special": is_special} for i, word, is_special in words],
        "normalizer": None,
        "pre_tokenizer": None if not steps else steps[0] if len(steps) == 1 else {"type": "Sequence", "pretokenizers": steps},
        "post_processor": None,
        "decoder": level | {"use_regex": True} if table.kind == "bytes" else {"type": "Fuse"},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {},
            "merges": [],
        },
    }
    # json would write the two large parts by a loop in Python, since they are indented
    text, ids = json.dumps(file, ensure_ascii=False, indent=1), {**vocab, **special, **known}
    by_id = sorted(ids, key=ids.__getitem__)
    names = ",\n   ".join(map(": ".join, zip(map(_quoted, by_id), map(str, map(ids.__getitem__, by_id)), strict=True)))
    sides = zip(map(_quoted, merges[0]), map(_quoted, merges[1]), strict=True)
    pairs = "\n   ],\n   [\n    ".join(map(",\n    ".join, sides))
    parts = f"\n   {names}\n  " if ids else "", f"\n   [\n    {pairs}\n   ]\n  " if merges[0] else ""
    before, end = text.rsplit('"vocab": {},\n  "merges": []', 1)
    return f'{before}"vocab": {{{parts[0]}}},\n  "merges": [{parts[1]}]{end}'
