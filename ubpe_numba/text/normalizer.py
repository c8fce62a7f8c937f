"""Changing text before it is encoded, as a model asks for it: Unicode normal forms, lower case, replacements, prefixes.

A step is plain data, an object as Hugging Face writes it in a `tokenizer.json`. Applied to a text it gives another, and for each
character of that the index of the character that it comes from, so that spans can refer to the text as given::

    text       "e" U+0301 " x"      NFC, then Replace " " by "▁"
    NFC        é   " "  x           from  0, 2, 3
    Replace    é   ▁    x           from  0, 2, 3

The forms of Unicode are Python's, for the characters of the version that the package tokenizers has (unicode_of_tokenizers.py).
"""

from __future__ import annotations

import base64
import binascii
import functools
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from itertools import accumulate
from typing import Any, NamedTuple, Protocol

import numpy as np

from ubpe_numba.errors import ModelFormatError
from ubpe_numba.runtime.arrays import describe

__all__ = ["Normalizer"]

Change = Callable[[str], str]
#: A text changed, and for each of its characters the index of the one that it comes from.
Traced = tuple[str, list[int]]

#: White space as Rust has it (the property White_Space): Python's `str.isspace` has four control characters more.
WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
_MOST_STEPS = 256
_MOST_DEPTH = 8  # of sequences of sequences


class Step(Protocol):
    """One change of text."""

    def apply(self, text: str) -> str:
        """The text changed."""

    def traced(self, text: str) -> Traced:
        """The same, and where its characters come from."""


class _Normal(NamedTuple):
    """A normal form of Unicode."""

    form: Any

    def apply(self, text: str) -> str:
        done = unicodedata.normalize(self.form, text)
        if text.isascii() or done == text:
            return done
        tables = _tables()
        flags, is_inert = tables.flags(), tables.INERT
        inert = [char for char in set(text) if flags[ord(char)] & is_inert]
        if not inert:
            return done
        parts = re.split(f"([{''.join(map(re.escape, inert))}])", text)
        return "".join(part if i % 2 else unicodedata.normalize(self.form, part) for i, part in enumerate(parts))

    def traced(self, text: str) -> Traced:
        return _by_parts(text, self.apply, _starts_part)


class _Lowercase(NamedTuple):
    """Lower case, each character by itself: no final sigma."""

    def apply(self, text: str) -> str:
        text = text.replace("\u03a3", "\u03c3")
        return text.lower() if text.isascii() else text.translate(_tables().lower_case()).lower()

    def traced(self, text: str) -> Traced:
        return _by_parts(text, self.apply, lambda _: True)


class _Replace(NamedTuple):
    """Another text for each match of a pattern, or of a text."""

    pattern: Any  # compiled; None: `found` literally
    found: str
    content: str

    def apply(self, text: str) -> str:
        if self.pattern is None:
            return text.replace(self.found, self.content)
        out: list[str] = []
        done = 0
        for start, end in import_module("ubpe_numba.text.oniguruma").spans(self.pattern, text):
            out += text[done:start], self.content
            done = end
        return "".join([*out, text[done:]])

    def traced(self, text: str) -> Traced:
        pattern = re.compile(re.escape(self.found)) if self.pattern is None else self.pattern
        found = import_module("ubpe_numba.text.oniguruma").spans(pattern, text)
        out: list[str] = []
        origins: list[int] = []
        done = 0
        for start, end in found:
            out += text[done:start], self.content
            origins += [*range(done, start), *[min(start, len(text) - 1)] * len(self.content)]
            done = end
        return "".join([*out, text[done:]]), [*origins, *range(done, len(text))]


class _Prepend(NamedTuple):
    """A text before every text that is not empty."""

    content: str

    def apply(self, text: str) -> str:
        return self.content + text if text else text

    def traced(self, text: str) -> Traced:
        return self.apply(text), [*[0] * (len(self.content) if text else 0), *range(len(text))]


class _Strip(NamedTuple):
    """No white space at the left end, at the right, or both."""

    left: bool
    right: bool

    def apply(self, text: str) -> str:
        text = text.lstrip(WHITE_SPACE) if self.left else text
        return text.rstrip(WHITE_SPACE) if self.right else text

    def traced(self, text: str) -> Traced:
        done = self.apply(text)
        first = len(text) - len(text.lstrip(WHITE_SPACE)) if self.left else 0
        return done, list(range(first, first + len(done)))


class _Characters(NamedTuple):
    """Each character as another text, or none."""

    of: Callable[[str], str]

    def apply(self, text: str) -> str:
        table = {ord(c): self.of(c) for c in set(text)}
        return text.translate(table)

    def traced(self, text: str) -> Traced:
        return _by_parts(text, self.apply, lambda _: True)


class _Steps(NamedTuple):
    """One step after the other."""

    steps: tuple[Step, ...]

    def apply(self, text: str) -> str:
        for step in self.steps:
            text = step.apply(text)
        return text

    def traced(self, text: str) -> Traced:
        origins = list(range(len(text)))
        for step in self.steps:
            text, came = step.traced(text)
            origins = [origins[i] for i in came]
        return text, origins


class Normalizer:
    r"""What a text is changed to before it is cut and encoded.

    Parameters
    ----------
    steps
        Objects as in a `tokenizer.json`, one or a list: ``{"type": "NFC"}`` (NFD, NFKC, NFKD, Lowercase, StripAccents, Nmt,
        ByteLevel), ``{"type": "Replace", "pattern": {"String": " "}, "content": "▁"}`` (or ``{"Regex": ...}``), Prepend, Strip,
        BertNormalizer, Precompiled, Sequence; and two that models of sentencepiece need, SentencePiece and StandIns. A `str` is
        such an object without fields.

    Attributes
    ----------
    steps : tuple
        The steps, in order, with all their fields and without sequences.
    is_lossless : bool
        Whether no step changes a text: without steps.

    Raises
    ------
    TypeError, ValueError
        For what is no step, naming it.
    ImportError
        Without `regex`, which patterns need.

    Notes
    -----
    Immutable; equal if the steps are. Lower case is that of each character by itself. White space is Unicode's White_Space.

    Examples
    --------
    >>> steps = Normalizer(["NFC", {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}])
    >>> steps.apply("e\u0301 x"), steps.traced("e\u0301 x")[1].tolist()
    ('é▁x', [0, 2, 3])
    """

    __slots__ = ("_run", "steps")
    steps: tuple[dict[str, Any], ...]

    def __init__(self, steps: Any) -> None:
        found = _flat(steps, 0)
        if len(found) > _MOST_STEPS:
            raise ValueError(f"normalizer: expected at most {_MOST_STEPS} steps, got {len(found)}")
        made = [_step(step) for step in found]
        self.steps = tuple(step for step, _ in made)
        self._run = _Steps(tuple(run for _, run in made))

    @classmethod
    def of(cls, value: Any) -> Normalizer | None:
        """Read the argument `normalizer` of a tokenizer.

        Parameters
        ----------
        value : Normalizer, steps or None
            A normalizer, what makes one, or None for none.
        """
        if value is None or isinstance(value, cls):
            return value
        made = cls(value)
        return made if made.steps else None

    @property
    def is_lossless(self) -> bool:
        """Whether no step changes a text."""
        return not self.steps

    @property
    def keeps_ascii(self) -> bool:
        """Whether text of ASCII characters is never changed."""
        return all(step["type"] in ("NFC", "NFD", "NFKC", "NFKD", "StripAccents") for step in self.steps)

    @property
    def one_replaced(self) -> tuple[str, str] | None:
        """The character and its content, where all that is done is to put a text for one character."""
        only = self._run.steps[0] if len(self._run.steps) == 1 else None
        if isinstance(only, _Replace) and only.pattern is None and len(only.found) == 1:
            return only.found, only.content
        return None

    def apply(self, text: str) -> str:
        """The text changed. O(characters of every step).

        Parameters
        ----------
        text
            A stretch of a document: what lies between special tokens.
        """
        return self._run.apply(text)

    def traced(self, text: str) -> tuple[str, np.ndarray]:
        """The text changed, and int64, for each of its characters the index of the one that it comes from; ascending.

        Parameters
        ----------
        text
            As for `apply`.

        Notes
        -----
        What is put in comes from the character behind it, at the end from the last; what is made of several from the first.
        """
        done, origins = self._run.traced(text)
        return done, np.array(origins, np.int64)

    def run(self, points: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Texts changed as arrays: code points, offsets, and where each comes from. None where a step works on `str` only.

        Parameters
        ----------
        points, offsets
            uint32 code points, contiguous and writable, and int64[d + 1].
        """
        runs = [getattr(step, "run", None) for step in self._run.steps]
        if None in runs:
            return None
        origins = np.arange(points.size)
        for run in runs:
            points, offsets, came = run(points, offsets)  # type: ignore[misc]
            origins = origins[came]
        return points, offsets, origins

    @property
    def restores(self) -> bool:
        """Whether `restore` takes anything back."""
        return any(hasattr(step, "restore") for step in self._run.steps)

    def restore(self, text: str, errors: str = "replace") -> str:
        """Text as it is shown: what steps of sentencepiece's models did is taken back, which only they can.

        Parameters
        ----------
        text
            What tokens stand for.
        errors
            What becomes of bytes that are no UTF-8, as for `bytes.decode`.
        """
        for step in self._run.steps:
            if (restore := getattr(step, "restore", None)) is not None:
                text = restore(text, errors)
        return text

    def state(self) -> list[dict[str, Any]]:
        """What a model file holds of it: the steps."""
        return [dict(step) for step in self.steps]

    @classmethod
    def from_state(cls, state: Any) -> Normalizer:
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
        return Normalizer, (self.state(),)

    def __eq__(self, other: object) -> bool:
        return self.steps == other.steps if isinstance(other, Normalizer) else NotImplemented

    def __hash__(self) -> int:
        return hash(str(self.steps))

    def __repr__(self) -> str:
        return f"Normalizer({self.state()!r})"


# ---------------------------------------------------------------------------------------------------- steps as plain data


def pattern_of(pattern: Any, name: str) -> tuple[str, bool]:
    """The pattern of a step, ``{"String": s}`` or ``{"Regex": s}``, and whether it is a regular expression; else ValueError."""
    if isinstance(pattern, Mapping) and len(pattern) == 1:
        (kind, value), = pattern.items()  # fmt: skip
        if kind in ("String", "Regex") and isinstance(value, str):
            return value, kind == "Regex"
    raise ValueError(f"{name}: expected a pattern, an object of a String or a Regex, got {pattern!r:.80}")


def as_regex(pattern: str, name: str) -> str:
    """A pattern of a file as one for `regex`; ValueError for one that may match otherwise there."""
    try:
        made: str = import_module("ubpe_numba.text.oniguruma").as_regex(pattern)
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


def _flat(steps: Any, depth: int) -> list[dict[str, Any]]:
    """The steps of an object, of a list, and of sequences in them, one after the other."""
    if isinstance(steps, str):
        steps = {"type": steps}
    if isinstance(steps, Mapping):
        if steps.get("type") != "Sequence":
            return [dict(steps)]
        steps = steps.get("normalizers")
    if isinstance(steps, (bytes, set, frozenset)) or not isinstance(steps, Iterable):
        raise TypeError(f"normalizer: expected steps, got {describe(steps)}")
    if depth > _MOST_DEPTH:
        raise ValueError(f"normalizer: more than {_MOST_DEPTH} sequences inside of one another")
    return [step for part in steps for step in _flat(part, depth + 1)]


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


def with_fields(step: dict[str, Any], fields: Mapping[str, Mapping[str, Any]], name: str) -> dict[str, Any]:
    """A step with all fields of its type; ValueError for an unknown type, a field that is missing or one too many."""
    kind = step.get("type")
    known = fields.get(kind) if isinstance(kind, str) else None
    if known is None:
        raise ValueError(f"{name}: {kind!r:.80} is not supported; there are {', '.join(fields)} and Sequence")
    if odd := next((field for field in step if field != "type" and field not in known), None):
        raise ValueError(f"{name}: {kind}: unexpected field {odd!r:.80}")
    if lost := next((field for field, value in known.items() if value is ... and field not in step), None):
        raise ValueError(f"{name}: {kind}: the field {lost!r} is missing")
    return {"type": kind, **{field: step.get(field, value) for field, value in known.items()}}


def _step(given: dict[str, Any]) -> tuple[dict[str, Any], Step]:
    """A step with all its fields, and what does it."""
    step = with_fields(given, _FIELDS, "normalizer")
    kind = step["type"]
    name = f"normalizer: {kind}"
    if kind in ("NFC", "NFD", "NFKC", "NFKD"):
        return step, _Normal(kind)
    if kind == "Replace":
        pattern, is_regex = pattern_of(step["pattern"], name)
        step["content"] = _text(step["content"], f"{name}: content")
        if not pattern:
            raise ValueError(f"{name}: the pattern is empty")
        engine = compiled(as_regex(pattern, name), name) if is_regex else None
        if is_regex and import_module("ubpe_numba.text.oniguruma").may_be_empty(engine):
            raise ValueError(f"{name}: {pattern!r:.80} matches where there is nothing, which is not supported")
        return step, _Replace(engine, pattern, step["content"])
    if kind == "Prepend":
        return step, _Prepend(_text(step["prepend"], f"{name}: prepend"))
    if kind in ("SentencePiece", "StandIns"):
        return _of_sentencepiece(step, name)
    if kind == "Precompiled":
        return step, _precompiled(step["precompiled_charsmap"], name)
    for field, value in step.items():
        if field != "type" and type(value) is not bool and not (value is None and field == "strip_accents"):
            raise ValueError(f"{name}: {field}: expected true or false, got {value!r:.80}")
    if kind == "Strip":
        return step, _Strip(step["strip_left"], step["strip_right"])
    if kind == "BertNormalizer":
        return step, _bert(**{field: value for field, value in step.items() if field != "type"})
    if kind == "Lowercase":
        return step, _Lowercase()
    return step, _Characters({"StripAccents": _without_mark, "Nmt": _as_nmt, "ByteLevel": _as_bytes}[kind])


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
            raise ValueError(f"{name}: {field}: expected {'true or false' if wanted is bool else 'text'}, got {value!r:.80}")
    if "" in words:
        raise ValueError(f"{name}: words: one is empty")
    fields = {field: value for field, value in step.items() if field not in ("type", "precompiled_charsmap")}
    if step["type"] == "StandIns":
        made: Step = import_module("ubpe_numba.text.stand_ins").StandIns(**fields)
        return step, made
    blob = _blob(step["precompiled_charsmap"], name)
    made = import_module("ubpe_numba.text.charsmap").SentencePieceText(blob, **fields)
    return step, made


def _precompiled(charsmap: Any, name: str) -> Step:
    """The step of sentencepiece's map of characters, in base64."""
    made: Step = import_module("ubpe_numba.text.charsmap").Precompiled(_blob(charsmap, name))
    return made


def _blob(charsmap: Any, name: str) -> bytes:
    try:
        return base64.b64decode(charsmap, validate=True)
    except (TypeError, ValueError, binascii.Error) as error:
        raise ValueError(f"{name}: expected a map in base64: {error}") from error


# ---------------------------------------------------------------------------------------------------- where characters come from


def _by_parts(text: str, change: Change, starts: Callable[[str], bool]) -> Traced:
    """A text changed part by part: all that a part becomes comes from its first character.

    A part begins at each character that `starts` one; parts are changed independently of each other.
    """
    done = change(text)
    if done == text:
        return done, list(range(len(text)))
    places = [i for i, c in enumerate(text) if i == 0 or starts(c)]
    parts = [text[a:b] for a, b in zip(places, [*places[1:], len(text)], strict=True)]
    changed = list(map(change, parts))
    if "".join(changed) != done:  # a character that no table here knows joins two parts
        return done, [min(i, len(text) - 1) for i in range(len(done))]
    origins: list[int] = []
    for start, part, new in zip(places, parts, changed, strict=True):
        origins += range(start, start + len(part)) if new == part else [start] * len(new)
    return done, origins


def _starts_part(character: str) -> bool:
    """Whether no normal form joins or swaps a character with the one before it: no mark, no later part of a Hangul syllable."""
    point = ord(character)
    if point < 0x300:
        return True
    if 0x1160 <= point < 0x1200 or 0xD7B0 <= point < 0xD800 or 0x3099 <= point <= 0x309A or 0xFF9E <= point <= 0xFF9F:
        return False
    return not unicodedata.combining(character) and unicodedata.category(character)[0] != "M"


# ---------------------------------------------------------------------------------------------------- characters


@functools.cache
def _tables() -> Any:
    """How the package tokenizers sees characters: a module that few texts need."""
    return import_module("ubpe_numba.text.unicode_of_tokenizers")


def _without_mark(character: str) -> str:
    return "" if _tables().flags()[ord(character)] & _tables().MARK else character


def _without_accent(character: str) -> str:
    return "" if _tables().flags()[ord(character)] & _tables().NONSPACING else character


_NMT_LEFT_OUT = frozenset([*range(0x01, 0x09), 0x0B, *range(0x0E, 0x20), 0x7F, 0x8F, 0x9F])
_NMT_SPACES = frozenset([9, 10, 12, 13, 0x1680, *range(0x200B, 0x2010), 0x2028, 0x2029, 0x2581, 0xFEFF, 0xFFFD])


def _as_nmt(character: str) -> str:
    point = ord(character)
    return "" if point in _NMT_LEFT_OUT else " " if point in _NMT_SPACES else character


def byte_characters() -> list[str]:
    """The character that names each byte in GPT-2's table: 188 printable bytes name themselves, the other 68 go from U+0100 on.

    >>> table = byte_characters()
    >>> table[65], table[32], table[10], len(set(table))
    ('A', 'Ġ', 'Ċ', 256)
    """
    themselves = frozenset([*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)])
    numbers = list(accumulate((byte not in themselves for byte in range(256)), initial=0))
    return [chr(byte if byte in themselves else 0x100 + numbers[byte]) for byte in range(256)]


_NAMES = byte_characters()


def _as_bytes(character: str) -> str:
    return "".join([_NAMES[byte] for byte in character.encode("utf-8", "surrogatepass")])


def _clean(character: str) -> str:
    if _tables().flags()[ord(character)] & _tables().CONTROL:
        return ""
    return " " if character in WHITE_SPACE else character


_IDEOGRAPHS = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


def _apart(character: str) -> str:
    return f" {character} " if any(first <= ord(character) <= last for first, last in _IDEOGRAPHS) else character


def _bert(clean_text: bool, handle_chinese_chars: bool, strip_accents: bool | None, lowercase: bool) -> Step:
    """What BERT does to a text: the parts that are asked for, in its order."""
    steps: list[Step] = [_Characters(_clean)] if clean_text else []
    if handle_chinese_chars:
        steps.append(_Characters(_apart))
    if lowercase if strip_accents is None else strip_accents:
        steps += [_Normal("NFD"), _Characters(_without_accent)]
    if lowercase:
        steps.append(_Lowercase())
    return _Steps(tuple(steps))
