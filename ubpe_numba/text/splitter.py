"""Cutting text by several steps, one after the other, each of which cuts the pieces that the one before left.

A step is plain data, an object as Hugging Face writes it under `pre_tokenizer`. Most steps only cut; some leave characters out,
some put in others (`Metaspace`, a space before the text). So a text becomes pieces, and each character of a piece knows the index
of the one that it comes from::

    text                                                 "I am 27"
    WhitespaceSplit                                      I | am | 27
    Digits(individual_digits=True)                       I | am | 2 | 7
    comes from                                           0 | 2,3 | 5 | 6

Where steps only cut, and leave nothing out, pieces are places in an array (`Splitter.split`), and published patterns are cut by
kernels; else they are made in Python, text by text (`Splitter.pieces`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from importlib import import_module
from itertools import chain
from typing import Any, NamedTuple, Protocol

import numpy as np

from ubpe_numba.errors import ModelFormatError
from ubpe_numba.runtime.arrays import describe
from ubpe_numba.text.normalizer import WHITE_SPACE, as_regex, byte_characters, compiled, pattern_of, with_fields
from ubpe_numba.text.patterns import COVERING, VERSION_OF_OTHERS
from ubpe_numba.text.pretokenizer import Pretokenizer
from ubpe_numba.text.unicode_data import UNICODE_VERSION

__all__ = ["Splitter"]

_MOST_STEPS, _MOST_DEPTH = 64, 8
_BEHAVIORS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
_SCHEMES = ("always", "first", "never")
#: The versions of Unicode by which steps cut, where it is not that of patterns: of the language Rust itself; any.
_VERSIONS = {"Digits": "17.0.0", **dict.fromkeys(("CharDelimiterSplit", "Punctuation", "BertPreTokenizer"), UNICODE_VERSION)}
_SPACE = "[" + WHITE_SPACE.replace("\t\n\v\f\r ", r"\t\n\v\f\r\x20") + "]"

#: A piece of text, and the index that each of its characters comes from; None where nobody asks.
Piece = tuple[str, "list[int] | None"]
Span = tuple[int, int]


def _oniguruma() -> Any:
    """How patterns are read there; here only, as tables come with it that integers do not wait for."""
    return import_module("ubpe_numba.text.oniguruma")


class _Cut(NamedTuple):
    """Cutting around the matches of a pattern, as `behavior` says; `invert`: what is between them counts as the matches."""

    compiled: Any
    behavior: str
    invert: bool
    unicode: str  # the version that decides what the pattern matches

    def apply(self, pieces: list[Piece], at_start: bool) -> list[Piece]:
        out: list[Piece] = []
        for text, origins in pieces:
            for start, end in self.spans(text):
                out.append((text[start:end], None if origins is None else origins[start:end]))
        return out

    def spans(self, text: str) -> list[Span]:
        """Where the pieces of a text begin and end."""
        found: list[tuple[int, int, bool]] = []
        done = 0
        for start, end in _oniguruma().spans(self.compiled, text, self.unicode):
            if start > done:
                found.append((done, start, self.invert))
            found.append((start, end, not self.invert))
            done = end
        if done < len(text):
            found.append((done, len(text), self.invert))
        return [(start, end) for start, end in _joined(found, self.behavior) if end > start]


def _joined(found: list[tuple[int, int, bool]], behavior: str) -> Iterable[Span]:
    """The pieces of a text that is `found` to be matches (True) and what is between them.

    >>> found = [(0, 1, False), (1, 2, True), (2, 3, True), (3, 4, False)]
    >>> [list(_joined(found, behavior)) for behavior in ("MergedWithPrevious", "MergedWithNext", "Contiguous")]
    [[(0, 2), (2, 3), (3, 4)], [(0, 1), (1, 2), (2, 4)], [(0, 1), (1, 3), (3, 4)]]
    """
    if behavior == "Isolated":
        return [(start, end) for start, end, _ in found]
    if behavior == "Removed":
        return [(start, end) for start, end, is_match in found if not is_match]
    out: list[Span] = []
    before = False
    if behavior == "MergedWithNext":
        for start, end, is_match in reversed(found):
            if is_match and not before and out:
                out[-1] = start, out[-1][1]
            else:
                out.append((start, end))
            before = is_match
        return out[::-1]
    for start, end, is_match in found:
        joins = is_match == before if behavior == "Contiguous" else is_match and not before
        if joins and out:
            out[-1] = out[-1][0], end
        else:
            out.append((start, end))
        before = is_match
    return out


class _Metaspace(NamedTuple):
    """Spaces as another character, which is put before the text too, and pieces that begin with it."""

    replacement: str
    scheme: str
    split: _Cut | None

    def apply(self, pieces: list[Piece], at_start: bool) -> list[Piece]:
        out: list[Piece] = []
        for i, (text, origins) in enumerate(pieces):
            text = text.replace(" ", self.replacement)
            is_first = at_start and (i == 0 if origins is None else origins[0] == 0)
            puts = self.scheme == "always" or (self.scheme == "first" and is_first)
            if puts and not text.startswith(self.replacement):
                text, origins = self.replacement + text, None if origins is None else [*origins[:1], *origins]
            out.append((text, origins))
        return out if self.split is None else self.split.apply(out, at_start)


class _ByteLevel(NamedTuple):
    """A space before each piece, perhaps; GPT-2's pattern, perhaps; and bytes, each named by a character."""

    prefix: bool
    split: _Cut | None

    def apply(self, pieces: list[Piece], at_start: bool) -> list[Piece]:
        if self.prefix:
            pieces = [piece if piece[0].startswith(" ") else _after_space(*piece) for piece in pieces]
        if self.split is not None:
            pieces = self.split.apply(pieces, at_start)
        return [_as_bytes(*piece) for piece in pieces]


def _after_space(text: str, origins: list[int] | None) -> Piece:
    return " " + text, None if origins is None else [*origins[:1], *origins]


def _as_bytes(text: str, origins: list[int] | None) -> Piece:
    """A piece whose characters name the bytes of the text."""
    data = text.encode("utf-8", "surrogateescape")
    if origins is not None:
        sizes = [len(c.encode("utf-8", "surrogateescape")) for c in text]
        origins = [i for i, size in zip(origins, sizes, strict=True) for _ in range(size)]
    return data.decode("latin-1").translate(_NAME_OF), origins


_NAME_OF = dict(enumerate(byte_characters()))
_BYTE_OF = {ord(name): byte for byte, name in enumerate(byte_characters())}


class _FixedLength(NamedTuple):
    """Pieces of so many characters."""

    length: int

    def apply(self, pieces: list[Piece], at_start: bool) -> list[Piece]:
        n = self.length
        return [
            (text[i : i + n], None if origins is None else origins[i : i + n])
            for text, origins in pieces
            for i in range(0, len(text), n)
        ]


class _Marks(NamedTuple):
    """A mark before each character of a piece but its first, and one behind it; ``""`` for none."""

    inside: str
    end: str

    def apply(self, pieces: list[Piece], at_start: bool) -> list[Piece]:
        out: list[Piece] = []
        for text, origins in pieces:
            if origins is not None:
                inner = [i for i in origins for _ in range(1 + len(self.inside))][len(self.inside) :]
                origins = inner + origins[-1:] * len(self.end)
            out.append((self.inside.join(text) + self.end, origins))
        return out


class _InTurn(NamedTuple):
    """Several cuts, one after the other."""

    cuts: tuple[_Cut, ...]

    def apply(self, pieces: list[Piece], at_start: bool) -> list[Piece]:
        for cut in self.cuts:
            pieces = cut.apply(pieces, at_start)
        return pieces


class Step(Protocol):
    """One step: pieces of a stretch of text become others."""

    def apply(self, pieces: list[Piece], at_start: bool) -> list[Piece]:
        """The pieces, none of which is empty; `at_start`: whether the stretch begins a document."""


class Splitter:
    """Where text is cut, by any number of steps.

    Parameters
    ----------
    steps
        Objects as in a `tokenizer.json`, one or a list: Split (by a String or a Regex, with every behaviour, inverted or not),
        ByteLevel, Digits, Whitespace, WhitespaceSplit, Punctuation, Metaspace, BertPreTokenizer, CharDelimiterSplit, FixedLength,
        Sequence; and Marks, which puts a character between those of a piece (`inside`) or behind it (`end`).

    Attributes
    ----------
    steps : tuple
        The steps, in order, with all their fields and without sequences.
    cutters : tuple of Pretokenizer, or None
        What does the same one after the other, where all steps only cut and leave nothing out.
    bytewise : bool
        Whether there is a ByteLevel step.
    is_lossless : bool
        Whether the pieces of every text, one behind the other, are the text.

    Raises
    ------
    TypeError, ValueError
        For what is no step, naming it.
    ImportError
        Without `regex`, which patterns need.

    Notes
    -----
    Immutable; equal if the steps are. A pattern of a file is run like any other, and some take exponential time.

    Examples
    --------
    >>> steps = Splitter(["WhitespaceSplit", {"type": "Digits", "individual_digits": True}])
    >>> steps.pieces("I am 27")
    ['I', 'am', '2', '7']
    """

    __slots__ = ("_runs", "bytewise", "cutters", "steps")
    steps: tuple[dict[str, Any], ...]
    cutters: tuple[Pretokenizer, ...] | None
    bytewise: bool
    name = kernel = None  # of a pattern: there is none
    unicode = ""

    def __init__(self, steps: Any) -> None:
        found = _flat(steps, 0)
        if len(found) > _MOST_STEPS:
            raise ValueError(f"pre_tokenizer: expected at most {_MOST_STEPS} steps, got {len(found)}")
        made = [_step(step) for step in found]
        self.steps = tuple(step for step, _, _ in made)
        self._runs = tuple(run for _, run, _ in made)
        self.bytewise = any(step["type"] == "ByteLevel" for step in self.steps)
        cutters = [cutters for _, _, cutters in made]
        behind = self.steps[self._n_text() :]
        if any(step["type"] in ("ByteLevel", "Metaspace") for step in behind):
            raise ValueError("pre_tokenizer: behind a ByteLevel step there can only be steps that cut")
        self.cutters = None
        if not behind and all(part is not None for part in cutters):
            self.cutters = tuple(chain.from_iterable(part for part in cutters if part is not None))

    def _n_text(self) -> int:
        """How many steps there are up to the first ByteLevel, included: the others see names of bytes."""
        return next((i + 1 for i, step in enumerate(self.steps) if step["type"] == "ByteLevel"), len(self.steps))

    @property
    def is_lossless(self) -> bool:
        """Whether the pieces of every text, one behind the other, are the text."""
        return self.cutters is not None or all(_keeps_all(step) for step in self.steps)

    @property
    def asks_for_start(self) -> bool:
        """Whether it treats the beginning of a document in a way of its own."""
        return any(step.get("prepend_scheme") == "first" for step in self.steps)

    @property
    def _is_late_start(self) -> bool:
        """Whether it does after a step, which may leave out what was at the beginning."""
        return any(step.get("prepend_scheme") == "first" for step in self.steps[1:])

    def split(self, values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """Cut documents into segments, as `Pretokenizer.split`, where steps only cut: `cutters` is not None.

        Parameters
        ----------
        values, offsets
            As there.
        """
        assert self.cutters is not None
        for cutter in self.cutters:
            offsets = cutter.split(values, offsets)
        return np.unique(offsets) if not self.cutters else offsets

    def pieces(self, text: str, at_start: bool = True) -> list[str]:
        """The pieces of a text, bytes as they are named by GPT-2's table if there is a ByteLevel step.

        Parameters
        ----------
        text
            A stretch of a document.
        at_start
            Whether it begins the document.
        """
        if self._is_late_start:
            return [piece for piece, _ in self.traced(text, at_start)]
        return [piece for piece, _ in self._pieces([(text, None)], at_start)]

    def traced(self, text: str, at_start: bool = True) -> list[tuple[str, list[int]]]:
        """The same, and for each character of a piece the index of the one in the text that it comes from.

        Parameters
        ----------
        text, at_start
            As for `pieces`.
        """
        return [(piece, origins or []) for piece, origins in self._pieces([(text, list(range(len(text))))], at_start)]

    def _pieces(self, pieces: list[Piece], at_start: bool) -> list[Piece]:
        for run in self._runs:
            pieces = run.apply([piece for piece in pieces if piece[0]], at_start)
        return [piece for piece in pieces if piece[0]]

    def data_of(self, piece: str) -> bytes:
        """The bytes of a piece: those that its characters name if there is a ByteLevel step, else its UTF-8.

        Parameters
        ----------
        piece
            One of `pieces`.
        """
        return piece.translate(_BYTE_OF).encode("latin-1") if self.bytewise else piece.encode("utf-8", "surrogateescape")

    def state(self) -> list[dict[str, Any]]:
        """What a model file holds of it: the steps."""
        return [dict(step) for step in self.steps]

    @classmethod
    def from_state(cls, state: Any) -> Splitter:
        """Make it again from `state()`; ModelFormatError if that is not valid.

        Parameters
        ----------
        state
            What a file holds.
        """
        try:
            return cls(state)
        except (TypeError, ValueError) as error:
            raise ModelFormatError(str(error)) from error

    def __reduce__(self) -> tuple[object, ...]:
        return Splitter, (self.state(),)

    def __eq__(self, other: object) -> bool:
        return self.steps == other.steps if isinstance(other, Splitter) else NotImplemented

    def __hash__(self) -> int:
        return hash(str(self.steps))

    def __repr__(self) -> str:
        return f"Splitter({self.state()!r})"


# ---------------------------------------------------------------------------------------------------- steps as plain data


def _flat(steps: Any, depth: int) -> list[dict[str, Any]]:
    """The steps of an object, of a list, and of sequences in them, one after the other."""
    if isinstance(steps, str):
        steps = {"type": steps}
    if isinstance(steps, Mapping):
        if steps.get("type") != "Sequence":
            return [dict(steps)]
        steps = steps.get("pretokenizers")
    if isinstance(steps, (bytes, set, frozenset)) or not isinstance(steps, Iterable):
        raise TypeError(f"pre_tokenizer: expected steps, got {describe(steps)}")
    if depth > _MOST_DEPTH:
        raise ValueError(f"pre_tokenizer: more than {_MOST_DEPTH} sequences inside of one another")
    return [step for part in steps for step in _flat(part, depth + 1)]


_FIELDS: dict[str, dict[str, Any]] = {  # of each type, and their values where they are left out; ... where they must be given
    "Split": {"pattern": ..., "behavior": ..., "invert": False},
    "ByteLevel": {"add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    "Digits": {"individual_digits": False}, "Whitespace": {}, "WhitespaceSplit": {}, "BertPreTokenizer": {},
    "Punctuation": {"behavior": "Isolated"},
    "Metaspace": {"replacement": "▁", "prepend_scheme": "always", "split": True},
    "CharDelimiterSplit": {"delimiter": ...}, "FixedLength": {"length": 5}, "Marks": {"inside": "", "end": ""},
}  # fmt: skip


def _step(given: dict[str, Any]) -> tuple[dict[str, Any], Step, tuple[Pretokenizer, ...] | None]:
    """A step with all its fields, what does it, and pre-tokenizers that do it too if it only cuts."""
    if given.get("type") == "Metaspace":
        given = _as_scheme(given)
    step = with_fields(given, _FIELDS, "pre_tokenizer")
    kind = step["type"]
    name = f"pre_tokenizer: {kind}"
    for field in ("invert", "add_prefix_space", "trim_offsets", "use_regex", "individual_digits", "split"):
        if type(step.get(field, False)) is not bool:
            raise ValueError(f"{name}: {field}: expected true or false, got {step[field]!r:.80}")
    for field in ("replacement", "delimiter"):
        if not isinstance(step.get(field, "x"), str) or len(step.get(field, "x")) != 1:
            raise ValueError(f"{name}: {field}: expected a character, got {step[field]!r:.80}")
    for field, values in (("behavior", _BEHAVIORS), ("prepend_scheme", _SCHEMES)):
        if step.get(field, values[0]) not in values:
            raise ValueError(f"{name}: {field}: expected one of {', '.join(values)}, got {step[field]!r:.80}")
    if kind == "ByteLevel":
        cutter = Pretokenizer("gpt2")
        split = _Cut(_lazily(cutter.pattern), "Isolated", False, VERSION_OF_OTHERS) if step["use_regex"] else None
        alone: tuple[Pretokenizer, ...] = () if split is None else (cutter,)
        return step, _ByteLevel(step["add_prefix_space"], split), None if step["add_prefix_space"] else alone
    if kind == "Metaspace":
        cut = (
            _Cut(compiled(_quoted(step["replacement"]), name), "MergedWithNext", False, UNICODE_VERSION)
            if step["split"]
            else None
        )
        return step, _Metaspace(step["replacement"], step["prepend_scheme"], cut), None
    if kind == "Marks":
        if not all(isinstance(step[side], str) and len(step[side]) < 2 for side in ("inside", "end")):
            raise ValueError(f"{name}: inside, end: expected a character or none")
        return step, _Marks(step["inside"], step["end"]), None
    if kind == "FixedLength":
        if type(step["length"]) is not int or step["length"] < 1:
            raise ValueError(f"{name}: length: expected a positive integer, got {step['length']!r:.80}")
        return step, _FixedLength(step["length"]), None
    cuts = _cuts(step, name)
    version = _VERSIONS.get(kind, VERSION_OF_OTHERS)
    if kind == "Split" and "String" in step["pattern"]:
        version = UNICODE_VERSION
    runs = [_Cut(compiled(pattern, name), behavior, invert, version) for pattern, behavior, invert in cuts]
    found = [_cutter(pattern, behavior, invert, version) for pattern, behavior, invert in cuts]
    cutters = None if None in found else tuple(cutter for cutter in found if cutter is not None)
    return step, _InTurn(tuple(runs)), cutters


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
    tables = import_module("ubpe_numba.text.unicode_of_tokenizers")
    points = np.flatnonzero(np.frombuffer(tables.flags(), np.uint8) & tables.PUNCTUATION)
    runs = np.split(points, np.flatnonzero(np.diff(points) > 1) + 1)
    exact = "".join(f"\\U{run[0]:08x}-\\U{run[-1]:08x}" for run in runs)
    return rf"[!-/:-@\[-`{{-~\p{{P}}\u166d\U000111c9](?<=[{exact}])"


def _quoted(text: str) -> str:
    """A pattern that matches this text only, in every engine: `str` characters that have a meaning are escaped."""
    return "".join(c if c.isalnum() or ord(c) > 0x7F else f"\\x{ord(c):02x}" for c in text)


def _cutter(pattern: str, behavior: str, invert: bool, version: str) -> Pretokenizer | None:
    """What cuts the same, where all is kept and only matches and what is between them are pieces."""
    if behavior != "Isolated" and not (behavior == "Removed" and invert):
        return None
    plain = pattern.replace("-", "").replace("_", "").isalnum()  # which would be taken for the name of a pattern
    cutter = Pretokenizer(f"(?:{pattern})" if plain else pattern, version)
    if cutter.name is None and _oniguruma().may_be_empty(_lazily(cutter.pattern)):
        return None
    return cutter if behavior == "Isolated" or cutter.name in COVERING else None


def _keeps_all(step: dict[str, Any]) -> bool:
    """Whether a step neither leaves anything out nor puts anything in."""
    if step["type"] == "ByteLevel":
        return not step["add_prefix_space"]
    return step["type"] in ("Digits", "FixedLength") or step.get("behavior", "Removed") != "Removed"


@functools.cache
def _lazily(pattern: str) -> Any:
    return compiled(pattern, "pre_tokenizer")
