"""Arguments of `Preprocessing` that reserve sequences and symbols, checked and in one form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ubpe_numba.errors import quoted
from ubpe_numba.runtime.arrays import describe
from ubpe_numba.vocabulary.reserved import FLAGS


def checked(
    special_tokens: Any, known_words: Any, break_tokens: Any, stop_tokens: Any, flags: Any, runs: Any = None
) -> dict[str, Any]:
    """The arguments, as a dict; TypeError or ValueError for invalid values.

    >>> found = checked(["<s>"], None, "|-", [], {"<s>": ["lstrip"]})
    >>> {name: value for name, value in found.items() if value is not None}
    {'special_tokens': ['<s>'], 'break_tokens': '-|', 'flags': {'<s>': ('lstrip',)}}
    """
    arguments = {
        "special_tokens": _words(special_tokens, "special_tokens"),
        "known_words": _words(known_words, "known_words"),
    }
    words = [*(arguments["special_tokens"] or ()), *(arguments["known_words"] or ())]
    arguments |= {
        "break_tokens": _symbols(break_tokens, "break_tokens"),
        "stop_tokens": _symbols(stop_tokens, "stop_tokens"),
    }
    arguments |= {"flags": _flags(flags, words), "runs": _symbols(runs, "runs")}
    for name in ("break_tokens", "stop_tokens"):
        if arguments["runs"] is not None and (
            both := [symbol for symbol in arguments["runs"] if symbol in (arguments[name] or ())]
        ):
            raise ValueError(
                f"runs: {quoted(both[0])} is one of {name} too, which are always a token of their own"
            )
    return arguments


def _taken(given: Iterable[Any], name: str) -> list[Any]:
    """The items of an iterable, as a list; ValueError for an iterator that gives nothing."""
    if not (listed := list(given)) and isinstance(given, Iterator):
        raise ValueError(
            f"{name}: the iterator gave nothing; was it used up before? A list can be read again"
        )
    return listed


def _words(given: Any, name: str) -> Any:
    """Words as a list, or with their ids as a dict, None if there are none; TypeError for others.

    Arrays become tuples.
    """
    if given is None:
        return None
    # ids need an order; a set has none
    if isinstance(given, (str, bytes, set, frozenset)) or not isinstance(given, Iterable):
        raise TypeError(
            f"{name}: expected a list of words or a mapping of words to ids, got {describe(given)}"
        )
    if isinstance(given, Mapping):
        return dict(given) or None
    words = [tuple(word.tolist()) if isinstance(word, np.ndarray) else word for word in _taken(given, name)]
    return words or None


def _symbols(given: Any, name: str) -> Any:
    """Distinct symbols in order, as str or bytes, or a list of integers; otherwise TypeError.

    A fit refuses what no alphabet has.
    """
    if isinstance(given, np.ndarray):
        given = given.tolist()
    if isinstance(given, bytes):
        return bytes(sorted({*given})) or None
    if given is None or isinstance(given, Mapping):
        return given
    if not isinstance(given, Iterable):
        raise TypeError(
            f"{name}: expected symbols in a list, got {describe(given)}; a single one is [{given!r}]"
        )
    listed = _taken(given, name)
    kind = {type(symbol) for symbol in listed}
    if kind in ({int}, {str}, {bytes}):
        listed = sorted({*listed})
        if kind != {int} and all(len(symbol) == 1 for symbol in listed):
            return ("" if kind == {str} else b"").join(listed)
    return listed or None


def _flags(given: Any, words: list[Any]) -> dict[Any, tuple[str, ...]] | None:
    """The flags of words.

    TypeError unless it is a mapping to names, ValueError for an unknown word or name.
    """
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise TypeError(f"flags: expected words and names of flags, got {describe(given)}")
    flag_names: dict[Any, tuple[str, ...]] = {}
    for word, names in given.items():
        if word not in words:
            raise ValueError(f"flags: {quoted(word)} is neither a special token nor a known word")
        listed = [*names] if isinstance(names, Iterable) and not isinstance(names, str) else [None]
        if not all(isinstance(name, str) for name in listed):
            raise TypeError(f"flags: {quoted(word)}: expected names, got {describe(names)}")
        if other := [name for name in listed if name not in FLAGS]:
            raise ValueError(f"flags: {quoted(word)}: expected {', '.join(FLAGS)}, got {quoted(other[0])}")
        if listed:
            flag_names[word] = tuple(name for name in FLAGS if name in listed)
    return flag_names or None
