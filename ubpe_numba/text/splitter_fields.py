"""The steps of splitters as plain data: the fields of each type, their checks, and what is made of them."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ubpe_numba.errors import quoted
from ubpe_numba.text.characters import WHITE_SPACE, tables
from ubpe_numba.text.patterns import COVERING, MOST_WORK, VERSION_OF_OTHERS, work_of
from ubpe_numba.text.pretokenizer import Pretokenizer
from ubpe_numba.text.splitter_steps import ByteLevel, Cut, FixedLength, InTurn, Marks, Metaspace, Step
from ubpe_numba.text.step_fields import with_fields
from ubpe_numba.text.step_patterns import Budget, as_regex, compiled, oniguruma, pattern_of
from ubpe_numba.text.unicode_data import UNICODE_VERSION

__all__ = ["step_of"]

_BEHAVIORS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
_SCHEMES = ("always", "first", "never")
#: The versions of Unicode by which steps cut, where it is not that of patterns: of the language Rust itself; any.
_VERSIONS = {"Digits": "17.0.0", **dict.fromkeys(("CharDelimiterSplit", "Punctuation", "BertPreTokenizer"), UNICODE_VERSION)}
_SPACE = "[" + WHITE_SPACE.replace("\t\n\v\f\r ", r"\t\n\v\f\r\x20") + "]"

_FIELDS: dict[str, dict[str, Any]] = {  # of each type, and their values where they are left out; ... where they must be given
    "Split": {"pattern": ..., "behavior": ..., "invert": False},
    "ByteLevel": {"add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    "Digits": {"individual_digits": False}, "Whitespace": {}, "WhitespaceSplit": {}, "BertPreTokenizer": {},
    "Punctuation": {"behavior": "Isolated"},
    "Metaspace": {"replacement": "▁", "prepend_scheme": "always", "split": True},
    "CharDelimiterSplit": {"delimiter": ...}, "FixedLength": {"length": 5}, "Marks": {"inside": "", "end": ""},
}  # fmt: skip


def step_of(given: dict[str, Any], budget: Budget) -> tuple[dict[str, Any], Step, tuple[Pretokenizer, ...] | None]:
    """A step with all its fields, what does it, and pre-tokenizers that do it too if it only cuts.

    What its pattern costs is charged to the budget; no more is proved of patterns when that is spent.
    """
    if given.get("type") == "Metaspace":
        given = _as_scheme(given)
    step = with_fields(given, _FIELDS, "pre_tokenizer")
    kind = step["type"]
    name = f"pre_tokenizer: {kind}"
    for field in ("invert", "add_prefix_space", "trim_offsets", "use_regex", "individual_digits", "split"):
        if type(step.get(field, False)) is not bool:
            raise ValueError(f"{name}: {field}: expected true or false, got {quoted(step[field])}")
    for field in ("replacement", "delimiter"):
        if not isinstance(step.get(field, "x"), str) or len(step.get(field, "x")) != 1:
            raise ValueError(f"{name}: {field}: expected a character, got {quoted(step[field])}")
    for field, values in (("behavior", _BEHAVIORS), ("prepend_scheme", _SCHEMES)):
        if step.get(field, values[0]) not in values:
            raise ValueError(f"{name}: {field}: expected one of {', '.join(values)}, got {quoted(step[field])}")
    if kind == "ByteLevel":
        cutter = Pretokenizer("gpt2")
        split = Cut(_compiled_once(cutter.pattern), "Isolated", False, VERSION_OF_OTHERS) if step["use_regex"] else None
        alone: tuple[Pretokenizer, ...] = () if split is None else (cutter,)
        return step, ByteLevel(step["add_prefix_space"], split), None if step["add_prefix_space"] else alone
    if kind == "Metaspace":
        cut = (
            Cut(compiled(_quoted(step["replacement"]), name), "MergedWithNext", False, UNICODE_VERSION) if step["split"] else None
        )
        return step, Metaspace(step["replacement"], step["prepend_scheme"], cut), None
    if kind == "Marks":
        if not all(isinstance(step[side], str) and len(step[side]) < 2 for side in ("inside", "end")):
            raise ValueError(f"{name}: inside, end: expected a character or none")
        return step, Marks(step["inside"], step["end"]), None
    if kind == "FixedLength":
        if type(step["length"]) is not int or step["length"] < 1:
            raise ValueError(f"{name}: length: expected a positive integer, got {quoted(step['length'])}")
        return step, FixedLength(step["length"]), None
    cuts = _cuts(step, name)
    version = _VERSIONS.get(kind, VERSION_OF_OTHERS)
    if kind == "Split" and "String" in step["pattern"]:
        version = UNICODE_VERSION
    read = budget.compiled if kind == "Split" else compiled
    runs = [Cut(read(pattern, name), behavior, invert, version) for pattern, behavior, invert in cuts]
    found = [_cutter(pattern, behavior, invert, version, budget) for pattern, behavior, invert in cuts]
    cutters = None if None in found else tuple(cutter for cutter in found if cutter is not None)
    return step, InTurn(tuple(runs)), cutters


def _as_scheme(given: dict[str, Any]) -> dict[str, Any]:
    """A Metaspace step of any version in the fields of today's: once it said `add_prefix_space` instead of a scheme."""
    step = {field: value for field, value in given.items() if field not in ("add_prefix_space", "str_rep")}
    if "prepend_scheme" not in step and given.get("add_prefix_space") is False:
        step["prepend_scheme"] = "never"
    return step


def _cuts(step: dict[str, Any], name: str) -> list[tuple[str, str, bool]]:
    """The patterns of a step that cuts, how each cuts, and whether it is inverted."""
    kind = step["type"]
    if kind == "Split":
        pattern, is_regex = pattern_of(step["pattern"], name)
        if not pattern:
            raise ValueError(f"{name}: the pattern is empty")
        if is_regex:
            pattern = as_regex(pattern, name)
        return [(pattern if is_regex else _quoted(pattern), step["behavior"], step["invert"])]
    if kind == "Digits":
        return [(r"\p{N}" if step["individual_digits"] else r"\p{N}+", "Isolated", False)]
    if kind == "Punctuation":
        return [(_punctuation(), step["behavior"], False)]
    if kind == "CharDelimiterSplit":
        return [(_quoted(step["delimiter"]), "Removed", False)]
    if kind == "Whitespace":
        return [(r"\w+|[^\w\s]+", "Removed", True)]
    spaces = (_SPACE, "Removed", False)
    return [spaces] if kind == "WhitespaceSplit" else [spaces, (_punctuation(), "Isolated", False)]


@functools.cache
def _punctuation() -> str:
    """Every character that is punctuation for Hugging Face, by its table; behind a class of more, which is quickly left."""
    points = np.flatnonzero(np.frombuffer(tables().flags(), np.uint8) & tables().PUNCTUATION)
    runs = np.split(points, np.flatnonzero(np.diff(points) > 1) + 1)
    exact = "".join(f"\\U{run[0]:08x}-\\U{run[-1]:08x}" for run in runs)
    return rf"[!-/:-@\[-`{{-~\p{{P}}\u166d\U000111c9](?<=[{exact}])"


def _quoted(text: str) -> str:
    """A pattern that matches this text only, in every engine: `str` characters that have a meaning are escaped."""
    return "".join(c if c.isalnum() or ord(c) > 0x7F else f"\\x{ord(c):02x}" for c in text)


def _cutter(pattern: str, behavior: str, invert: bool, version: str, budget: Budget) -> Pretokenizer | None:
    """What cuts the same, where all is kept and only matches and what is between them are pieces; None too without budget."""
    if behavior != "Isolated" and not (behavior == "Removed" and invert):
        return None
    plain = pattern.replace("-", "").replace("_", "").isalnum()  # which would be taken for the name of a pattern
    pattern = f"(?:{pattern})" if plain else pattern
    if budget.work < MOST_WORK:
        return None
    budget.work -= work_of(pattern)
    cutter = Pretokenizer(pattern, version)
    if cutter.name is None and oniguruma().may_be_empty(_compiled_once(cutter.pattern), "pre_tokenizer"):
        return None
    return cutter if behavior == "Isolated" or cutter.name in COVERING else None


@functools.cache
def _compiled_once(pattern: str) -> Any:
    return compiled(pattern, "pre_tokenizer")
