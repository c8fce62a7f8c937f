"""Folders of transformers: a `tokenizer.json` with changes gives the result of `AutoTokenizer`.

The changes come from the files next to it.

`tokenizer_config.json` names a class, or `config.json` the type of a model, which has one. Most classes use
only the vocabulary of a file, and make the other parts from fields of the configuration. The table of
`transformers_classes.json`, written by tools/transformers_classes.py, holds their results: parts, and for
each class the values of fields for which it makes one of them.
"""

from __future__ import annotations

import json
import pathlib
import re
import warnings
from collections.abc import Mapping
from functools import cache
from typing import Any

from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.vocabulary.reserved import FLAGS

_ROLES = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
_LISTS = ("extra_special_tokens", "additional_special_tokens")
#: Fields that are kept: defaults of a call, and names of special tokens.
CONFIG = (
    *_ROLES,
    *_LISTS,
    "padding_side",
    "truncation_side",
    "model_max_length",
    "model_input_names",
    "clean_up_tokenization_spaces",
    "chat_template",
)
#: What `clean_up_tokenization_spaces` replaces in decoded text.
CLEAN = (
    [(f" {sign}", sign) for sign in ".?!,"]
    + [(" ' ", "'")]
    + [(f" {end}", end) for end in ("n't", "'m", "'s", "'ve", "'re")]
)
_NAMES = ["input_ids", "attention_mask"]


#: What tools/transformers_classes.py has written.
_table = cache(
    lambda: json.loads(
        pathlib.Path(__file__).with_name("transformers_classes.json").read_text(encoding="utf-8")
    )
)


def class_of(config: Mapping[str, Any], kind: Any = "", of_bytes: bool = False) -> str:
    """The class that transformers takes for a folder, "" for one that takes a file as it is.

    `kind` is the `model_type` of config.json; `of_bytes`, whether the file has a ByteLevel step.

    >>> class_of({"tokenizer_class": "BertTokenizerFast"}), class_of({}, "gpt2"), class_of({"tokenizer_class": "Mine"})
    ('BertTokenizer', 'GPT2Tokenizer', '')
    """
    table, own_class = _table(), str(config.get("tokenizer_class") or "").removesuffix("Fast")
    own = table["types"].get(kind)  # "" for a type of no class
    name = own_class or table["defaults"].get(kind, own) or ""
    if own_class and own is not None and own_class != own:
        name = own and (own if kind in table["wrong"] else own_class)
    if name == own_class == "LlamaTokenizer" and of_bytes and kind not in table["wrong"]:
        return ""
    return name if name in table["classes"] or name in table["others"] else ""


def is_known(name: str) -> bool:
    """Whether the parts that a class makes are known."""
    return name in _table()["classes"]


def as_transformers(file: dict[str, Any], config: Mapping[str, Any], name: str | None) -> dict[str, Any]:
    """Change the object of a file as a class of transformers does; return the defaults of a call.

    `name` is that of `class_of`, None to leave the parts as they are. Added tokens with other flags, or that
    the file does not have, become those of the file. ModelFormatError for fields that are not valid, a
    warning for ignored fields.
    """
    table, defaults = _table(), config_of(config)
    if config.get("split_special_tokens"):
        raise ModelFormatError("split_special_tokens is not supported; encode(allowed_special='none') is")
    if name in table["others"] or config.get("auto_map"):
        what = "auto_map" if config.get("auto_map") else "tokenizer_class"
        warnings.warn(
            f"tokenizer_config.json: {what}: code of {quoted(config.get(what, name))} is not followed, only the tokenizer.json",
            stacklevel=2,
        )
        name = ""
    row, model = table["classes"].get(name, {}), file.get("model")
    vocab = model.get("vocab") if isinstance(model, dict) else None
    if isinstance(vocab, list):
        vocab = {str(piece[0]): i for i, piece in enumerate(vocab) if isinstance(piece, list) and piece}
    if not isinstance(vocab, dict):
        return defaults  # which a reader refuses
    if name is not None:
        defaults.setdefault("model_input_names", row.get("names", _NAMES))
    defaults |= {
        role: token["content"] for role, token in row.get("tokens", {}).items() if role not in config
    }
    if "padding_side" in row and not file.get("padding"):
        defaults.setdefault("padding_side", "left")
    try:
        ids = _with_tokens(file, config, row, vocab)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise ModelFormatError(f"it is not valid: {error!r}") from error
    for field, value in row.get("fixed", {}).items():
        if config.get(field, value) not in (value, None):
            warnings.warn(
                f"tokenizer_config.json: {field}: {quoted(config[field])} is not followed, which transformers does",
                stacklevel=2,
            )
    if row:
        _make(file, row, {**row["fields"], **config}, defaults, ids)
    if defaults.get("clean_up_tokenization_spaces") and file["model"].get("type") != "BPE":
        if not file.get("decoder"):
            warnings.warn(
                "tokenizer_config.json: clean_up_tokenization_spaces: it is not followed for a file without a decoder",
                stacklevel=2,
            )
            return defaults
        steps = [{"type": "Replace", "pattern": {"String": old}, "content": new} for old, new in CLEAN]
        file["decoder"] = {"type": "Sequence", "decoders": [file["decoder"], {"type": "Fuse"}, *steps]}
    return defaults


def _with_tokens(
    file: dict[str, Any], config: Mapping[str, Any], row: dict[str, Any], vocab: dict[str, int]
) -> dict[str, int]:
    """Put the added tokens of a configuration into a file; returns the ids of all its tokens."""
    own, decoder = file.get("added_tokens") or [], config.get("added_tokens_decoder") or {}
    roles: dict[str, Any] = {**row.get("tokens", {}), **config}
    many: Any = next(filter(None, map(config.get, _LISTS)), [])
    if isinstance(many, dict):  # of roles that only some models have
        roles, many = roles | {f"{role}_token": token for role, token in many.items()}, []
    more = sorted(role for role in roles if role.endswith("_token") and role not in _ROLES)
    tokens = [
        token for role in (*_ROLES, *more) if isinstance(token := roles.get(role), (str, dict)) and token
    ]
    tokens += many or row.get("extra", [])
    named: list[dict[str, Any]] = [
        token if isinstance(token, dict) else {"content": token} for token in tokens
    ]
    if not row and not decoder and not named:
        return vocab
    words = [dict(decoder[i]) for i in sorted(decoder, key=int)]
    if row and not words:
        words = [dict(token) for token in sorted(own, key=lambda token: token["id"])]
    rows = {} if row else {token["content"]: token for token in own}
    special, seen = {word["content"] for word in named}, {word["content"] for word in words} | rows.keys()
    words += [
        dict.fromkeys(FLAGS, False) | word | {"special": True}
        for word in named
        if word["content"] not in seen
    ]
    free = len(vocab) + len([content for content in rows if content and content not in vocab])
    for word in words:
        content, is_special = word["content"], word.get("special", False)
        flags = {flag: word.get(flag, flag == "normalized" and not is_special) for flag in FLAGS}
        if content in rows:
            rows[content].update(flags, special=is_special or rows[content]["special"])
        else:
            rows[content] = {
                "id": vocab.get(content, free),
                "content": content,
                **flags,
                "special": content in special or is_special,
            }
            free += content not in vocab
    file["added_tokens"] = [*rows.values()]
    return vocab | {content: token["id"] for content, token in rows.items()}


def _make(
    file: dict[str, Any],
    row: dict[str, Any],
    values: dict[str, Any],
    kept: dict[str, Any],
    ids: dict[str, int],
) -> None:
    """Put the parts that a class makes in place of those of a file."""
    steps = file.get("normalizer") or {}
    charsmap = next(
        (
            step["precompiled_charsmap"]
            for step in steps.get("normalizers", [steps])
            if "precompiled_charsmap" in step
        ),
        None,
    )
    values["$charsmap"] = charsmap is not None
    names = {f"${role}": kept.get(role) for role in _ROLES} | {"$charsmap": charsmap}
    names |= {f"#{role}": ids.get(kept.get(role, "")) for role in _ROLES}

    def value_of(match: re.Match[str]) -> str:
        name = match[1]
        return json.dumps(
            ids.get(name[2:], names["#unk_token"]) if name[:2] == "#=" else names.get(name, name)
        )

    for place in ("normalizer", "pre_tokenizer", "post_processor", "decoder", "model"):
        fields, cases = row["without" if place == "post_processor" and not file.get(place) else place]
        case = json.dumps([values[field] for field in fields])
        if case not in cases:
            raise ModelFormatError(f"{', '.join(fields)}: expected true or false, got {case}")
        part = json.loads(re.sub('"([$#][^"]*)"', value_of, json.dumps(_table()["parts"][cases[case]])))
        if place != "model":
            file[place] = file.get(place) if part == "$file" else part
        elif part["type"] != file["model"].get("type"):
            raise ModelFormatError(
                f"tokenizer_class: expected a model of {part['type']}, got {quoted(file['model'].get('type'))}"
            )
        else:
            file["model"] = part | {
                name: file["model"][name] for name in ("vocab", "merges") if name in file["model"]
            }


def config_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """The defaults of a call, and the names of special tokens.

    They come from a `tokenizer_config.json` or an object of transformers.
    """
    defaults: dict[str, Any] = {}
    for name in CONFIG:
        value: Any = given.get(name)
        what, kind = "", name.rpartition("_")[2]
        if value in (None, ""):
            continue
        if kind == "length" and not (type(value) in (int, float) and value >= 1):
            what = "a number of at least 1"
        elif kind == "side" and value not in ("left", "right"):
            what = "'left' or 'right'"
        elif kind == "tokens":
            many = (
                value.values()
                if isinstance(value, dict)
                else value
                if isinstance(value, (list, tuple))
                else [None]
            )
            what = "" if all(value := [*map(_text_of, many)]) else "a list of tokens"
        elif kind == "token":
            what = "" if (value := _text_of(value)) else "a token"
        if what:
            raise ModelFormatError(f"{name}: expected {what}, got {quoted(given[name])}")
        if not (kind == "length" and value >= 1 << 31):  # which means unlimited
            defaults[name] = int(value) if kind == "length" else value
    return defaults


def _text_of(token: Any) -> str:
    """The text of a token of a configuration, a `str` or an object; "" for something else."""
    text = token.get("content") if isinstance(token, dict) else getattr(token, "content", token)
    return text if isinstance(text, str) else ""
