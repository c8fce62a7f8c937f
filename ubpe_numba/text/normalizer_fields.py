"""The steps of normalizers as plain data: the fields of each type, their checks, and what is made of them."""

from __future__ import annotations

import base64
import binascii
from importlib import import_module
from typing import Any

from ubpe_numba.errors import quoted
from ubpe_numba.runtime.arrays import describe
from ubpe_numba.text.characters import as_nmt, clean, ideograph_apart, names_of, without_accent, without_mark
from ubpe_numba.text.normalizer_steps import Characters, Lowercase, NormalForm, Prepend, Replace, Step, Steps, Strip
from ubpe_numba.text.step_fields import with_fields
from ubpe_numba.text.step_patterns import Budget, as_regex, oniguruma, pattern_of

__all__ = ["step_of"]

_FIELDS: dict[str, dict[str, Any]] = {  # of each type, and their values where they are left out; ... where they must be given
    "NFC": {}, "NFD": {}, "NFKC": {}, "NFKD": {}, "Lowercase": {}, "StripAccents": {}, "Nmt": {}, "ByteLevel": {},
    "Replace": {"pattern": ..., "content": ...}, "Prepend": {"prepend": ...}, "Strip": {"strip_left": True, "strip_right": True},
    "BertNormalizer": {"clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True},
    "Precompiled": {"precompiled_charsmap": ...},
    "SentencePiece": {
        "precompiled_charsmap": "", "add_dummy_prefix": True, "remove_extra_whitespaces": True, "escape_whitespaces": True,
        "treat_whitespace_as_suffix": False, "words": (),
    },
    "StandIns": {"alphabet": ..., "words": (), "by_bytes": False, "fused": False, "unknown": "\ufffd"},
}  # fmt: skip


def step_of(given: dict[str, Any], budget: Budget) -> tuple[dict[str, Any], Step]:
    """A step with all its fields, and what does it; its pattern is charged to the budget."""
    step = with_fields(given, _FIELDS, "normalizer")
    kind = step["type"]
    name = f"normalizer: {kind}"
    if kind in ("NFC", "NFD", "NFKC", "NFKD"):
        return step, NormalForm(kind)
    if kind == "Replace":
        pattern, is_regex = pattern_of(step["pattern"], name)
        step["content"] = _text(step["content"], f"{name}: content")
        if not pattern:
            raise ValueError(f"{name}: the pattern is empty")
        engine = budget.compiled(as_regex(pattern, name), name) if is_regex else None
        if is_regex and oniguruma().may_be_empty(engine, name):
            raise ValueError(f"{name}: {quoted(pattern)} matches where there is nothing, which is not supported")
        return step, Replace(engine, pattern, step["content"])
    if kind == "Prepend":
        return step, Prepend(_text(step["prepend"], f"{name}: prepend"))
    if kind in ("SentencePiece", "StandIns"):
        return _of_sentencepiece(step, name)
    if kind == "Precompiled":
        return step, import_module("ubpe_numba.text.sentencepiece").Precompiled(_blob(step["precompiled_charsmap"], name))
    for field, value in step.items():
        if field != "type" and type(value) is not bool and not (value is None and field == "strip_accents"):
            raise ValueError(f"{name}: {field}: expected true or false, got {quoted(value)}")
    if kind == "Strip":
        return step, Strip(step["strip_left"], step["strip_right"])
    if kind == "BertNormalizer":
        return step, _bert(**{field: value for field, value in step.items() if field != "type"})
    if kind == "Lowercase":
        return step, Lowercase()
    return step, Characters({"StripAccents": without_mark, "Nmt": as_nmt, "ByteLevel": _as_bytes}[kind])


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name}: expected a text, got {describe(value)}")
    return value


def _of_sentencepiece(step: dict[str, Any], name: str) -> tuple[dict[str, Any], Step]:
    """A step that sentencepiece's models need: its own, or characters that stand for others."""
    step["words"] = words = list(step["words"]) if isinstance(step["words"], (list, tuple)) else [None]
    for field, value in step.items():
        texts = words if field == "words" else [value]
        wanted = bool if isinstance(_FIELDS[step["type"]].get(field), bool) else str
        if not all(type(text) is wanted for text in texts):
            raise ValueError(f"{name}: {field}: expected {'true or false' if wanted is bool else 'text'}, got {quoted(value)}")
    if "" in words:
        raise ValueError(f"{name}: words: one is empty")
    fields = {field: value for field, value in step.items() if field not in ("type", "precompiled_charsmap")}
    if step["type"] == "StandIns":
        return step, import_module("ubpe_numba.text.private_use").StandIns(**fields)
    blob = _blob(step["precompiled_charsmap"], name)
    return step, import_module("ubpe_numba.text.sentencepiece").SentencePieceText(blob, **fields)


def _blob(charsmap: Any, name: str) -> bytes:
    try:
        return base64.b64decode(charsmap, validate=True)
    except (TypeError, ValueError, binascii.Error) as error:
        raise ValueError(f"{name}: expected a map in base64: {error}") from error


def _as_bytes(character: str) -> str:
    return names_of(character.encode("utf-8", "surrogatepass"))


def _bert(clean_text: bool, handle_chinese_chars: bool, strip_accents: bool | None, lowercase: bool) -> Step:
    """What BERT does to a text: the parts that are asked for, in its order."""
    steps: list[Step] = [Characters(clean)] if clean_text else []
    if handle_chinese_chars:
        steps.append(Characters(ideograph_apart))
    if lowercase if strip_accents is None else strip_accents:
        steps += [NormalForm("NFD"), Characters(without_accent)]
    if lowercase:
        steps.append(Lowercase())
    return Steps(tuple(steps))
