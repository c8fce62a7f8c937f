"""Patterns in steps: read from their field, and regular expressions, which are written for Oniguruma, compiled by `regex`.

They come from files of anyone, so what they may cost is limited: each pattern by itself, and all steps together (`Budget`).
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from ubpe_numba.errors import quoted, shortened
from ubpe_numba.runtime.lazy import require
from ubpe_numba.text.pattern_size import size_of

__all__ = ["Budget", "as_regex", "check_size", "compiled", "oniguruma", "pattern_of"]

_LONGEST = 10_000  # characters of a pattern in a file
_MOST_SIZE = 40_000  # as `size_of` counts: some tenths of a second, and 40 MB
_MOST_TOGETHER = 12_000  # likewise of all steps of a normalizer or splitter; published ones have less than 3,000
_MOST_WORK = 110_000  # of the proofs for the patterns of all steps: a tenth of a second


class Budget:
    """What the patterns of all steps of a normalizer or splitter may cost together."""

    def __init__(self) -> None:
        self.size, self.work = _MOST_TOGETHER, _MOST_WORK

    def compiled(self, pattern: str, name: str) -> Any:
        """As the function; ValueError too if the patterns up to this one are too large together."""
        check_size(pattern, name)
        self.size -= size_of(pattern)
        if self.size < 0:
            raise ValueError(f"{name}: all patterns together are too long, or repeat too often; use fewer, or smaller counts")
        return compiled(pattern, name)


def pattern_of(pattern: Any, name: str) -> tuple[str, bool]:
    """The pattern of a step, ``{"String": s}`` or ``{"Regex": s}``, and whether it is a regular expression; else ValueError."""
    if isinstance(pattern, Mapping) and len(pattern) == 1:
        (kind, value), = pattern.items()  # fmt: skip
        if kind in ("String", "Regex") and isinstance(value, str):
            if len(value) > _LONGEST:
                raise ValueError(f"{name}: expected a pattern of at most {_LONGEST} characters, got {len(value)}")
            return value, kind == "Regex"
    raise ValueError(f"{name}: expected a pattern, an object of a String or a Regex, got {quoted(pattern)}")


def oniguruma() -> Any:
    """How patterns are read there; loaded here only, as tables come with it that integers do not wait for."""
    return import_module("ubpe_numba.text.oniguruma")


def as_regex(pattern: str, name: str) -> str:
    """A pattern of a file as one for `regex`; ValueError for one that may match otherwise there."""
    try:
        made: str = oniguruma().as_regex(pattern)
    except ValueError as error:
        told = f"{name}: {quoted(pattern)} is not a regular expression that can be read here: {shortened(error)}"
        raise ValueError(told) from error
    return made


def compiled(pattern: str, name: str) -> Any:
    """A regular expression of the package `regex`; ValueError if it is none, ImportError without the package."""
    engine = require("regex", f"{name}: a pattern", "text")
    check_size(pattern, name)
    try:
        return engine.compile(pattern)
    except (engine.error, RecursionError, OverflowError, MemoryError) as error:
        raise ValueError(f"{name}: {quoted(pattern)} is not a regular expression: {shortened(error)}") from error


def check_size(pattern: str, name: str) -> None:
    """ValueError for a pattern that would take seconds or gigabytes to compile."""
    if len(pattern) > _MOST_SIZE or size_of(pattern) > _MOST_SIZE:
        raise ValueError(
            f"{name}: {quoted(pattern)} is too long, or repeats too often: written out it has more than {_MOST_SIZE} signs; "
            "use smaller counts, or * and + in place of them"
        )
