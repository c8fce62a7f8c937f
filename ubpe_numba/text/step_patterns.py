"""Patterns in steps: read from their field, and regular expressions, which are written for Oniguruma, compiled by `regex`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

__all__ = ["as_regex", "compiled", "oniguruma", "pattern_of"]


def pattern_of(pattern: Any, name: str) -> tuple[str, bool]:
    """The pattern of a step, ``{"String": s}`` or ``{"Regex": s}``, and whether it is a regular expression; else ValueError."""
    if isinstance(pattern, Mapping) and len(pattern) == 1:
        (kind, value), = pattern.items()  # fmt: skip
        if kind in ("String", "Regex") and isinstance(value, str):
            return value, kind == "Regex"
    raise ValueError(f"{name}: expected a pattern, an object of a String or a Regex, got {pattern!r:.80}")


def oniguruma() -> Any:
    """How patterns are read there; loaded here only, as tables come with it that integers do not wait for."""
    return import_module("ubpe_numba.text.oniguruma")


def as_regex(pattern: str, name: str) -> str:
    """A pattern of a file as one for `regex`; ValueError for one that may match otherwise there."""
    try:
        made: str = oniguruma().as_regex(pattern)
    except ValueError as error:
        raise ValueError(f"{name}: {pattern!r:.80} is not a regular expression that can be read here: {error}") from error
    return made


def compiled(pattern: str, name: str) -> Any:
    """A regular expression of the package `regex`; ValueError if it is none, ImportError without the package."""
    try:
        engine = import_module("regex")
    except ImportError as error:
        raise ImportError(f"{name}: patterns need the package regex: pip install 'ubpe-numba[text]'") from error
    try:
        return engine.compile(pattern)
    except (engine.error, RecursionError, OverflowError) as error:
        raise ValueError(f"{name}: {pattern!r:.80} is not a regular expression: {error}") from error
