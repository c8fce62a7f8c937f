"""Steps of normalizers and pre-tokenizers as plain data; their engine, the package tokenizers.

The engine runs on one text at a time. A step is an object as in a `tokenizer.json`: a `type`, and the fields
of that type. The package tokenizers holds no surrogates: those of a text, among them the ill-formed bytes of
UTF-8, become characters that are not assigned, and are put back afterwards::

    text       "a" U+DCFF " b"        a, the byte 0xFF, a space, b
    as held    "a" U+404FF " b"       2,048 code points from U+40000 on, or later if the text has one of these
    pieces     "a" U+DCFF | "b"       by white space
"""

from __future__ import annotations

import contextlib
import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate, pairwise, repeat
from typing import Any, Self

import numpy as np

from ubpe_numba.documents.read import code_points
from ubpe_numba.errors import ModelFormatError, quoted, shortened
from ubpe_numba.runtime.arrays import describe
from ubpe_numba.runtime.lazy import require
from ubpe_numba.runtime.schema import pickled
from ubpe_numba.text.pretokenizer import check_size, positions

#: A piece of text, and the index of the origin of each of its characters; None if not needed.
Piece = tuple[str, "list[int] | None"]

# the fields of each type and their defaults; ... for those that must be given
NORMALIZERS: dict[str, dict[str, Any]] = {
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
PRE_TOKENIZERS: dict[str, dict[str, Any]] = {
    "Split": {"pattern": ..., "behavior": ..., "invert": False},
    "ByteLevel": {"add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    "Digits": {"individual_digits": False}, "Whitespace": {}, "WhitespaceSplit": {}, "BertPreTokenizer": {},
    "Punctuation": {"behavior": "Isolated"},
    "Metaspace": {"replacement": "▁", "prepend_scheme": "always", "split": True},
    "CharDelimiterSplit": {"delimiter": ...}, "FixedLength": {"length": 5}, "Marks": {"inside": "", "end": ""},
}  # fmt: skip
_CHOICES = {
    "behavior": ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"),
    "prepend_scheme": ("always", "first", "never"),
}
_MOST_DEPTH = 8  # of sequences of sequences
_LONGEST = 10_000  # characters of a pattern
_PANIC = "PanicException"  # the package met an impossible state; its class cannot be imported
_INSIDE = {"normalizer": "normalizers", "pre_tokenizer": "pretokenizers"}


def symbols_of(parts: list[str], like: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The symbols of all parts, in the form of `like`, and how many each has: the inverse of `text_in`."""
    text = "".join(parts)
    if like.dtype == np.uint8 and not text.isascii():
        data = [part.encode("utf-8", "surrogateescape") for part in parts]
        return np.frombuffer(b"".join(data), np.uint8), np.fromiter(map(len, data), np.int64, len(data))
    symbols = np.frombuffer(text.encode(), np.uint8) if like.dtype == np.uint8 else code_points(text)
    return symbols, np.fromiter(map(len, parts), np.int64, len(parts))


def places_of(text: str, like: np.ndarray) -> np.ndarray:
    """The index of each character, and the end, in the array that a text was read from."""
    return positions(text) if like.dtype == np.uint8 else np.arange(len(text) + 1)


def flat_steps(steps: Any, name: str, most: int, depth: int = 0) -> list[dict[str, Any]]:
    """The steps of an object, of a list, and of sequences in them, one after the other.

    `name` is "normalizer" or "pre_tokenizer". TypeError for other values than steps, ValueError for more than
    `most` or too deep ones.

    >>> flat_steps(["NFC", {"type": "Sequence", "normalizers": ["NFD"]}], "normalizer", 2)
    [{'type': 'NFC'}, {'type': 'NFD'}]
    """
    if isinstance(steps, str):
        steps = {"type": steps}
    if isinstance(steps, Mapping):
        if steps.get("type") != "Sequence":
            return [dict(steps)]
        steps = steps.get(_INSIDE[name])
    if isinstance(steps, (bytes, set, frozenset)) or not isinstance(steps, Iterable):
        raise TypeError(f"{name}: expected steps, got {describe(steps)}")
    if depth > _MOST_DEPTH:
        raise ValueError(f"{name}: more than {_MOST_DEPTH} sequences inside of one another")
    flat = [step for part in steps for step in flat_steps(part, name, most, depth + 1)]
    if len(flat) > most and not depth:
        raise ValueError(f"{name}: expected at most {most} steps, got {len(flat)}")
    return flat


def checked(step: Mapping[str, Any], fields: Mapping[str, Mapping[str, Any]], name: str) -> dict[str, Any]:
    """A step with all fields of its type.

    ValueError for an unknown type, and for missing, extra or invalid fields.

    >>> checked({"type": "Digits"}, PRE_TOKENIZERS, "pre_tokenizer")
    {'type': 'Digits', 'individual_digits': False}
    """
    kind = step.get("type")
    known = fields.get(kind) if isinstance(kind, str) else None
    if known is None:
        raise ValueError(
            f"{name}: {quoted(kind)} is not supported; there are {', '.join(fields)} and Sequence"
        )
    if odd := next((field for field in step if field != "type" and field not in known), None):
        raise ValueError(f"{name}: {kind}: unexpected field {quoted(odd)}")
    if lost := next((field for field, value in known.items() if value is ... and field not in step), None):
        raise ValueError(f"{name}: {kind}: the field {quoted(lost)} is missing")
    filled = {"type": kind, **{field: step.get(field, value) for field, value in known.items()}}
    if isinstance(filled.get("words"), (list, tuple)):
        filled["words"] = list(filled["words"])
    for field, default in known.items():
        if expected := _expected(field, filled[field], default):
            raise ValueError(f"{name}: {kind}: {field}: expected {expected}, got {quoted(filled[field])}")
    if "" in filled.get("words", ()):
        raise ValueError(f"{name}: {kind}: words: one is empty")
    if isinstance(pattern := filled.get("pattern"), Mapping):
        (text,) = pattern.values()
        if len(text) > _LONGEST:
            raise ValueError(
                f"{name}: {kind}: expected a pattern of at most {_LONGEST} characters, got {len(text)}"
            )
        if not text:
            raise ValueError(f"{name}: {kind}: the pattern is empty")
    return filled


def _expected(field: str, value: Any, default: Any) -> str:
    """The expectation that the value of a field does not meet; empty if it does."""
    is_text = isinstance(value, str)
    if field == "pattern":
        fits = isinstance(value, Mapping) and len(value) == 1 and next(iter(value)) in ("String", "Regex")
        return (
            ""
            if fits and isinstance(next(iter(value.values())), str)
            else "a pattern, an object of a String or a Regex"
        )
    if isinstance(default, bool) or field == "strip_accents":
        return "" if type(value) is bool or (value is None and default is None) else "true or false"
    if field in ("replacement", "delimiter"):
        return "" if is_text and len(value) == 1 else "a character"
    if field in ("inside", "end"):
        return "" if is_text and len(value) < 2 else "a character or none"
    if field in _CHOICES:
        return "" if value in _CHOICES[field] else f"one of {', '.join(_CHOICES[field])}"
    if field == "length":
        return "" if type(value) is int and value > 0 else "a positive integer"
    if field == "words":
        return "" if isinstance(value, list) and all(isinstance(word, str) for word in value) else "text"
    return (
        ""
        if is_text and (value or field != "prepend")
        else "a text"
        if field in ("content", "prepend")
        else "text"
    )


class Steps:
    """Steps as a value: equal if they are, written to a model file, and made again from it."""

    __slots__ = ("steps",)
    steps: tuple[dict[str, Any], ...]

    def state(self) -> list[dict[str, Any]]:
        """The steps as fields of a model file."""
        return [dict(step) for step in self.steps]

    @classmethod
    def from_state(cls, state: Any) -> Self:
        """Make it again from `state()`; ModelFormatError if that is not valid.

        Parameters
        ----------
        state : object
            The content of a file.
        """
        try:
            return cls(state)  # type: ignore[call-arg]
        except (TypeError, ValueError) as error:
            raise ModelFormatError(str(error)) from error

    def __reduce__(self) -> tuple[object, ...]:
        return pickled(type(self), self.state())

    def __eq__(self, other: object) -> bool:
        return self.steps == other.steps if isinstance(other, type(self)) else NotImplemented

    def __hash__(self) -> int:
        return hash(str(self.steps))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.state()!r})"


@contextlib.contextmanager
def refusing(what: str) -> Iterator[None]:
    """Raise a ValueError that begins with `what` for errors, and panics, of tokenizers in the block."""
    try:
        yield
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != _PANIC:
            raise
        raise ValueError(f"{what}: {shortened(error)}") from error


def package_of(parts: Mapping[str, Any], name: str) -> Any:
    """A tokenizer of the package tokenizers with these parts of a `tokenizer.json`.

    ImportError, or ValueError if it rejects them.
    """
    package = require("tokenizers", name, "hf")
    model = {"type": "BPE", "vocab": {}, "merges": []}
    with refusing(f"{name}: the package tokenizers refuses it"):
        return package.Tokenizer.from_str(json.dumps({"version": "1.0", "model": model, **parts}))


@functools.lru_cache(16)
def decoder_of(decoder: str) -> Callable[[list[str]], str]:
    """Join names of tokens by a decoder of a `tokenizer.json`, as its text; errors as of `package_of`.

    The result raises ValueError if the package fails, as for a pattern that does not end.

    >>> decoder_of('{"type": "Fuse"}')(["lo", "w"]), decoder_of("null")(["lo", "w"])
    ('low', 'lo w')
    """
    if decoder == "null":
        return " ".join
    run = package_of({"decoder": json.loads(decoder)}, "decoder").decoder.decode

    def join(names: list[str]) -> str:
        with refusing("ids: the decoder of this file fails on them"):
            return str(run(names))

    return join


class Engine:
    """Steps of a kind, "normalizer" or "pre_tokenizer", run by the package tokenizers.

    ImportError without the package, ValueError for steps that it refuses, and for a text on which a pattern
    does not end.
    """

    def __init__(self, name: str, steps: list[dict[str, Any]]) -> None:
        kinds = ", ".join(dict.fromkeys(step["type"] for step in steps))
        self._name = f"{name}: {kinds}"
        self._theirs = require("tokenizers", self._name, "hf")
        self._patterns = [step["pattern"]["Regex"] for step in steps if "Regex" in step.get("pattern", ())]
        for pattern in self._patterns:
            check_size(pattern, self._name)
            with refusing(f"{self._name}: {quoted(pattern)} is not a regular expression"):
                self._theirs.Regex(pattern)
        self._run = getattr(package_of({name: {"type": "Sequence", _INSIDE[name]: steps}}, self._name), name)
        self._normalizes = name == "normalizer"

    def pieces(self, text: str, trace: bool) -> list[Piece]:
        """The pieces of a text, none of which is empty; one piece at most of a normalizer."""
        lent = _lent(text)
        lent_text = _moved(text, 0xD800, lent) if lent else text
        try:
            if self._normalizes and not trace:
                done = list(filter(None, [self._run.normalize_str(lent_text)]))
            else:
                held = self._theirs.PreTokenizedString(lent_text)
                if self._normalizes:
                    held.normalize(self._run.normalize)
                else:
                    self._run.pre_tokenize(held)
                done = [piece for piece, _, _ in held.get_splits("normalized", "byte") if piece]
            pieces = [_moved(piece, lent, 0xD800) for piece in done] if lent else done
            if not trace:
                return list(zip(pieces, repeat(None)))
            held.tokenize(self._characters)
            origins = [start for start, _ in held.to_encoding(0, None).offsets]
        except BaseException as error:
            if type(error).__name__ != _PANIC:
                raise
            shown = f"{quoted(text, 20)}, {len(text)} characters"
            message = f"{self._name}: {', '.join(map(repr, self._patterns))} takes too long on {shown}"
            raise ValueError(
                f"{message:.400}: what repeats in it matches in many ways: {shortened(error)}"
            ) from error
        spans = pairwise(accumulate(map(len, pieces), initial=0))
        return [(piece, origins[begin:end]) for piece, (begin, end) in zip(pieces, spans, strict=True)]

    def _characters(self, piece: str) -> list[Any]:
        """A token for each character, so that the package returns its origin."""
        ends = accumulate((len(character.encode()) for character in piece), initial=0)
        return [self._theirs.Token(0, "", span) for span in pairwise(ends)]


def _lent(text: str) -> int:
    """The first of 2,048 code points without a character that a text does not contain.

    0 for a text without surrogates.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        for first in range(0x40000, 0xE0000, 0x800):
            if not re.search(f"[{chr(first)}-{chr(first + 0x7FF)}]", text):
                return first
        raise ValueError("a text with surrogates has characters in all parts of the planes 4 to 13") from None
    return 0


def _moved(text: str, first: int, to: int) -> str:
    """A text with each of 2,048 code points from `first` on as one from `to` on."""
    return re.sub(f"[{chr(first)}-{chr(first + 0x7FF)}]", lambda found: chr(ord(found[0]) - first + to), text)
