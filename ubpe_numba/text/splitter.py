"""Splitting text by several steps, each of which splits the pieces of the previous step.

A step is plain data, an object as Hugging Face writes it under `pre_tokenizer`. Most steps only split; some
leave characters out, some insert others (`Metaspace`, a space before the text). So a text becomes pieces, and
each character of a piece knows the index of its origin::

    text                                                 "I am 27"
    WhitespaceSplit                                      I | am | 27
    Digits(individual_digits=True)                       I | am | 2 | 7
    comes from                                           0 | 2,3 | 5 | 6

If steps only split, by published patterns or by patterns that `regex` reads as Oniguruma does, pieces are
places in an array (`Splitter.split`), and kernels split by published patterns. Otherwise the package
tokenizers splits text by text (steps.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain, pairwise
from typing import Any

import numpy as np

from ubpe_numba.documents.read import code_points
from ubpe_numba.runtime.arrays import distinct, offsets_of
from ubpe_numba.text.characters import bytes_of, names_of
from ubpe_numba.text.dialect import portable
from ubpe_numba.text.patterns import COVERING, NAMED, VERSION_OF_OTHERS, name_of
from ubpe_numba.text.pretokenizer import Pretokenizer, positions, size_of, text_in
from ubpe_numba.text.steps import (
    PRE_TOKENIZERS,
    Engine,
    Piece,
    Steps,
    checked,
    flat_steps,
    places_of,
    symbols_of,
)
from ubpe_numba.text.unicode_data import UNICODE_VERSION

#: One part of the work: the pieces of a piece, given its text, its origins and whether it begins a document.
Stage = Callable[[str, "list[int] | None", bool], Iterable[Piece]]

_MOST_STEPS = 64
_MOST_TOGETHER = 12_000  # of the sizes of all patterns; published patterns have less than 3,000
_DIGITS_VERSION = "17.0.0"  # of Unicode: Digits does not use the regex engine, but the language Rust itself
_READ_AS = {  # of BLOOM: `regex` does not know sets in sets
    " ?[^(\\s|[.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c])]+": " ?[^(\\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+"
}


class Splitter(Steps):
    """Splits of text by any number of steps: a `pretokenizer` beyond one pattern (`Pretokenizer`).

    `BPE`, `UBPEClassic` and `UBPE` accept a `Splitter`, `WordPiece` also the steps themselves.

    Parameters
    ----------
    steps
        One step or a list of steps; each splits the pieces of the previous step. A step is an object as in a
        `tokenizer.json` of Hugging Face, with the field ``"type"`` and those of its type; fields that have a
        default may be left out. A `str` is a step without fields.

        ``"Split"``
            At the matches of ``pattern``, ``{"String": ...}`` or ``{"Regex": ...}``, which are ``"Removed"``,
            ``"Isolated"``, ``"MergedWithPrevious"``, ``"MergedWithNext"`` or ``"Contiguous"`` (``behavior``).
            With ``invert`` the text between matches replaces them.
        ``"Whitespace"``, ``"WhitespaceSplit"``, ``"BertPreTokenizer"``
            Words and runs of punctuation; text between white space; the same, and every punctuation character
            by itself. White space is left out.
        ``"Punctuation"``, ``"Digits"``
            Punctuation, with a ``behavior``; runs of digits, or with ``individual_digits`` each.
        ``"CharDelimiterSplit"``, ``"FixedLength"``
            At the character ``delimiter``, which is left out; every ``length`` characters.
        ``"ByteLevel"``
            By GPT-2's pattern unless ``use_regex`` is False, then bytes as characters, by its table. A space
            is put before a text that has none there, unless ``add_prefix_space`` is False.
        ``"Metaspace"``
            Spaces become ``replacement``, which is also put before the text (``prepend_scheme``), and words
            begin with it.
        ``"Sequence"``
            A list of ``pretokenizers``.
        ``"Marks"``
            A character between those of a piece (``inside``), or after it (``end``); no `tokenizer.json` has
            it.

    Attributes
    ----------
    steps : tuple
        The steps, in order, with all their fields and without sequences.
    is_lossless : bool
        Whether the pieces of every text, joined, are the text. If not, `decode` gives the pieces only.

    Raises
    ------
    ImportError
        Without the package tokenizers (``pip install "ubpe-numba[hf]"``), or `regex` for patterns that it can
        run.

    Notes
    -----
    Immutable; equal if the steps are. Published patterns, and those that `regex` reads as the engine of
    Hugging Face does, split here if all text is kept; other steps use the package tokenizers.

    Examples
    --------
    >>> from ubpe_numba import WordPiece, Preprocessing
    >>> from ubpe_numba.text import Splitter
    >>> steps = Splitter(["WhitespaceSplit", {"type": "Digits", "individual_digits": True}])
    >>> steps.pieces("I am 27")
    ['I', 'am', '2', '7']
    >>> WordPiece(["[UNK]", "I", "am", "2", "7"], preprocessing=Preprocessing(pretokenizer=steps)).encode("I am 27").tolist()
    [1, 2, 3, 4]
    """

    __slots__ = ("_stages", "bytewise", "cutters")
    # patterns that split alike one after the other, if steps only split and keep all
    cutters: tuple[Pretokenizer, ...] | None
    bytewise: bool  # whether there is a ByteLevel step
    name = kernel = None  # of a pattern: there is none
    unicode = ""

    def __init__(self, steps: Any) -> None:
        flat = flat_steps(steps, "pre_tokenizer", _MOST_STEPS)
        for step in flat:
            # an earlier version had `add_prefix_space` instead of a scheme
            if step.get("type") == "Metaspace":
                if step.pop("add_prefix_space", None) is False:
                    step.setdefault("prepend_scheme", "never")
                step.pop("str_rep", None)
        self.steps = tuple(checked(step, PRE_TOKENIZERS, "pre_tokenizer") for step in flat)
        kinds = [step["type"] for step in self.steps]
        if kinds.count("Marks") > 1:  # each doubles the text
            raise ValueError("pre_tokenizer: Marks: expected at most one such step; leave out the others")
        self.bytewise = "ByteLevel" in kinds
        # later steps see names of bytes
        n_text = kinds.index("ByteLevel") + 1 if self.bytewise else len(kinds)
        if {"ByteLevel", "Metaspace"} & {*kinds[n_text:]}:
            raise ValueError("pre_tokenizer: after a ByteLevel step there can only be steps that cut")
        cutters = [_cutters(step, None) for step in self.steps]
        custom = [cutter for part in cutters for cutter in part or () if cutter.name is None]
        if sum(size_of(cutter.pattern) for cutter in custom) > _MOST_TOGETHER:
            raise ValueError(
                "pre_tokenizer: Split: all patterns together are too long, or repeat too often; use fewer, or smaller counts"
            )
        self.cutters = None
        if n_text == len(kinds) and all(part is not None for part in cutters):
            self.cutters = tuple(chain.from_iterable(part for part in cutters if part is not None))
        self._stages = _stages(self.steps)

    @property
    def is_lossless(self) -> bool:
        """Whether the pieces of every text, joined, are the text."""
        return self.cutters is not None or all(
            step["type"] in ("Digits", "FixedLength")
            or (step["type"] == "ByteLevel" and not step["add_prefix_space"])
            or step.get("behavior", "Removed") != "Removed"
            for step in self.steps
        )

    @property
    def asks_for_start(self) -> bool:
        """Whether it treats the beginning of a document in a way of its own."""
        return any(step.get("prepend_scheme") == "first" for step in self.steps)

    def split(self, values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """Cut documents into segments where steps only cut: `cutters` is not None.

        Arguments as for `Pretokenizer.split`.
        """
        assert self.cutters is not None
        for cutter in self.cutters:
            offsets = cutter.split(values, offsets)
        return distinct(offsets) if not self.cutters else offsets

    def pieces(self, text: str, at_start: bool = True) -> list[str]:
        """The pieces of a text, without empty ones.

        Bytes have the names of GPT-2's table if there is a ByteLevel step.

        Parameters
        ----------
        text
            A stretch of a document.
        at_start
            Whether it begins the document.
        """
        return [piece for piece, _ in self._pieces(text, None, at_start)]

    def traced(self, text: str, at_start: bool = True) -> list[tuple[str, list[int]]]:
        """The pieces, and for each character of a piece the index of its origin in the text.

        Parameters
        ----------
        text, at_start
            As for `pieces`.
        """
        return [
            (piece, origins or []) for piece, origins in self._pieces(text, list(range(len(text))), at_start)
        ]

    def _pieces(self, text: str, origins: list[int] | None, at_start: bool) -> list[Piece]:
        pieces: list[Piece] = [(text, origins)] if text else []
        for stage in self._stages:
            pieces = [part for i, piece in enumerate(pieces) for part in stage(*piece, at_start and i == 0)]
        return pieces


def _cutters(
    step: dict[str, Any], version: str | None = VERSION_OF_OTHERS
) -> tuple[Pretokenizer, ...] | None:
    """Patterns that split as a step does, if it keeps all of a text and is known here; or None.

    `version` is that of Unicode for the pattern of ByteLevel.
    """
    kind = step["type"]
    if kind == "ByteLevel" and not step["add_prefix_space"]:
        return (Pretokenizer("gpt2", version),) if step["use_regex"] else ()
    if kind == "Digits":
        return (Pretokenizer("digits1" if step["individual_digits"] else "digits", _DIGITS_VERSION),)
    inverted = kind == "Split" and step["behavior"] == "Removed" and step["invert"]
    if kind != "Split" or not (inverted or step["behavior"] == "Isolated"):
        return None
    ((of, text),) = step["pattern"].items()
    version = VERSION_OF_OTHERS
    if of == "String":
        version = UNICODE_VERSION
        pattern = "".join(c if c.isalnum() or ord(c) > 0x7F else f"\\x{ord(c):02x}" for c in text)
    else:
        name = name_of(text, oniguruma=True) if text not in NAMED else None
        pattern = NAMED[name] if name else _READ_AS.get(text, text)
        if name is None and pattern == text:
            try:
                portable(text, oniguruma=True)
            except ValueError:
                return None
    if pattern.replace("-", "").replace("_", "").isalnum():  # which would be taken for the name of a pattern
        pattern = f"(?:{pattern})"
    cutter = Pretokenizer(pattern, version)
    return (cutter,) if not inverted or cutter.name in COVERING else None


def _stages(steps: Iterable[dict[str, Any]]) -> list[Stage]:
    """The parts of the work: cutting text, naming bytes after ByteLevel, cutting these names, marks."""
    stages: list[Stage] = []
    waiting: list[dict[str, Any]] = []
    for step in [*steps, None]:
        if step is not None and step["type"] not in ("ByteLevel", "Marks"):
            waiting.append(step)
            continue
        if step is not None and step["type"] == "ByteLevel":
            if step["add_prefix_space"]:
                waiting.append(
                    {"type": "Metaspace", "replacement": " ", "prepend_scheme": "always", "split": False}
                )
            waiting.append(step | {"add_prefix_space": False})
        stages += _cut_by(waiting)
        waiting = []
        if step is not None:
            stages.append(
                _named if step["type"] == "ByteLevel" else partial(_marked, step["inside"], step["end"])
            )
    return stages


def _cut_by(steps: list[dict[str, Any]]) -> list[Stage]:
    """Splitting by these steps, by patterns that are known here, or by tokenizers.

    A ByteLevel step only splits.
    """
    cutters = [_cutters(step) for step in steps]
    if all(part is not None for part in cutters):
        known = list(chain.from_iterable(part for part in cutters if part is not None))
        return [partial(_by_patterns, known)] if known else []
    gpt2 = {"type": "Split", "pattern": {"Regex": NAMED["gpt2"]}, "behavior": "Isolated", "invert": False}
    plain = [
        gpt2 if step["type"] == "ByteLevel" else step for step in steps if step.get("use_regex") is not False
    ]
    first = others = Engine("pre_tokenizer", plain)
    if any(step.get("prepend_scheme") == "first" for step in plain):
        never = [
            step | {"prepend_scheme": "never"} if step.get("prepend_scheme") == "first" else step
            for step in plain
        ]
        others = Engine("pre_tokenizer", never)
    return [partial(_by_engine, first, others)]


def _by_patterns(
    cutters: list[Pretokenizer], text: str, origins: list[int] | None, at_start: bool
) -> Iterable[Piece]:
    cuts = np.array([0, len(text)])
    for cutter in cutters:
        cuts = cutter.split(code_points(text), cuts)
    return [(text[a:b], None if origins is None else origins[a:b]) for a, b in pairwise(cuts.tolist())]


def _by_engine(
    first: Engine, others: Engine, text: str, origins: list[int] | None, at_start: bool
) -> Iterable[Piece]:
    parts = (first if at_start else others).pieces(text, origins is not None)
    return parts if origins is None else [(piece, [origins[i] for i in came or ()]) for piece, came in parts]


def _named(text: str, origins: list[int] | None, at_start: bool) -> Iterable[Piece]:
    """A piece with its bytes as characters that name them."""
    if origins is not None:
        origins = [
            i for i, char in zip(origins, text, strict=True) for _ in char.encode("utf-8", "surrogateescape")
        ]
    return [(names_of(text.encode("utf-8", "surrogateescape")), origins)]


def _marked(inside: str, end: str, text: str, origins: list[int] | None, at_start: bool) -> Iterable[Piece]:
    """A piece with a mark before each character but its first, and one after it."""
    if origins is not None:
        inner = [i for i in origins for _ in range(1 + len(inside))][len(inside) :]
        origins = inner + origins[-1:] * len(end)
    return [(inside.join(text) + end, origins)]


def split_text(
    splitter: Splitter, values: np.ndarray, cuts: np.ndarray, at_start: np.ndarray, trace: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
    r"""Every stretch split by itself: values, cuts, segments, and origins if traced. O(symbols).

    `at_start` bool[s] marks the stretches that begin a document; others and results as for
    `normalizer.normalized`.

    >>> text = np.frombuffer(b"I am 27", np.uint8)
    >>> values, _, segments, origins = split_text(Splitter("WhitespaceSplit"), text, np.array([0, 7]), np.array([True]), True)
    >>> values.tobytes(), segments.tolist(), origins.tolist()
    (b'Iam27', [0, 1, 3, 5], [0, 2, 3, 5, 6])
    """
    parts: list[str] = []
    numbers = [0]  # of pieces, up to each stretch
    origins: list[np.ndarray] = [np.zeros(0, np.int64)]
    for (begin, end), first in zip(pairwise(cuts.tolist()), at_start.tolist(), strict=True):
        text = text_in(values[begin:end])
        if trace:
            pieces = splitter.traced(text, first)
            parts += [piece for piece, _ in pieces]
            came = np.array([i for _, origin in pieces for i in origin], np.int64)
            origins.append(begin + places_of(text, values)[came])
        else:
            parts += splitter.pieces(text, first)
        numbers.append(len(parts))
    if splitter.bytewise and values.dtype == np.uint8:
        lengths = np.fromiter(map(len, parts), np.int64, len(parts))
        new = np.frombuffer(bytes_of("".join(parts)), np.uint8)
    else:
        new, lengths = symbols_of(parts, values)
    segments = offsets_of(lengths)
    if not trace:
        return new, segments[numbers], segments, None
    places = np.concatenate(origins)  # of characters
    if values.dtype == np.uint8 and not splitter.bytewise:
        places = places.repeat(np.diff(positions("".join(parts))))
    return new, segments[numbers], segments, places
