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
What each step does is in splitter_steps.py, how it is read in splitter_fields.py.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from ubpe_numba.errors import ModelFormatError
from ubpe_numba.runtime.arrays import distinct
from ubpe_numba.runtime.schema import pickled
from ubpe_numba.text.characters import bytes_of
from ubpe_numba.text.pretokenizer import Pretokenizer
from ubpe_numba.text.splitter_fields import step_of
from ubpe_numba.text.splitter_steps import Piece
from ubpe_numba.text.step_fields import flat_steps
from ubpe_numba.text.step_patterns import Budget

__all__ = ["Splitter"]

_MOST_STEPS = 64


class Splitter:
    """Where text is cut, by any number of steps: an argument `pretokenizer`, where one pattern (`Pretokenizer`) does not do.

    `BPE`, `UBPEClassic` and `UBPE` take a `Splitter`, `WordPiece` the steps themselves, too.

    Parameters
    ----------
    steps
        One step or a list of steps; each cuts the pieces that the one before left. A step is an object as in a `tokenizer.json`
        of Hugging Face, with the field ``"type"`` and those of its type; fields that have a default may be left out. A `str` is a
        step without fields.

        ``"Split"``
            At the matches of ``pattern``, ``{"String": ...}`` or ``{"Regex": ...}``, which are ``"Removed"``, ``"Isolated"``,
            ``"MergedWithPrevious"``, ``"MergedWithNext"`` or ``"Contiguous"`` (``behavior``); with ``invert`` what is between
            matches takes their place.
        ``"Whitespace"``, ``"WhitespaceSplit"``, ``"BertPreTokenizer"``
            Words and runs of other signs; what white space separates; the same, and every punctuation sign by itself. White space
            is left out.
        ``"Punctuation"``, ``"Digits"``
            Punctuation signs, with a ``behavior``; runs of digits, or with ``individual_digits`` each.
        ``"CharDelimiterSplit"``, ``"FixedLength"``
            At the character ``delimiter``, which is left out; every ``length`` characters.
        ``"ByteLevel"``
            By GPT-2's pattern unless ``use_regex`` is False, then bytes as characters, by its table. A space is put before a text
            that has none there, unless ``add_prefix_space`` is False.
        ``"Metaspace"``
            Spaces become ``replacement``, which is put before the text, too (``prepend_scheme``), and words begin with it.
        ``"Sequence"``
            A list of ``pretokenizers``.
        ``"Marks"``
            A character between those of a piece (``inside``), or behind it (``end``); no `tokenizer.json` has it.

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

    Where steps leave something out or put something in, `decode` gives the pieces only: `Tokenizer.is_lossless` is False.

    Examples
    --------
    >>> from ubpe_numba import Splitter, WordPiece
    >>> steps = Splitter(["WhitespaceSplit", {"type": "Digits", "individual_digits": True}])
    >>> steps.pieces("I am 27")
    ['I', 'am', '2', '7']
    >>> WordPiece(["[UNK]", "I", "am", "2", "7"], pretokenizer=steps).encode("I am 27").tolist()
    [1, 2, 3, 4]
    """

    __slots__ = ("_runs", "bytewise", "cutters", "steps")
    steps: tuple[dict[str, Any], ...]
    cutters: tuple[Pretokenizer, ...] | None
    bytewise: bool
    name = kernel = None  # of a pattern: there is none
    unicode = ""

    def __init__(self, steps: Any) -> None:
        budget = Budget()
        flat = flat_steps(steps, "pre_tokenizer", "pretokenizers", _MOST_STEPS)
        if sum(step.get("type") == "Marks" for step in flat) > 1:  # each doubles the text
            raise ValueError("pre_tokenizer: Marks: expected at most one such step; leave out the others")
        made = [step_of(step, budget) for step in flat]
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

        Returns
        -------
        int64[s + 1]
            As there.
        """
        assert self.cutters is not None
        for cutter in self.cutters:
            offsets = cutter.split(values, offsets)
        return distinct(offsets) if not self.cutters else offsets

    def pieces(self, text: str, at_start: bool = True) -> list[str]:
        """The pieces of a text, bytes as they are named by GPT-2's table if there is a ByteLevel step.

        Parameters
        ----------
        text
            A stretch of a document.
        at_start
            Whether it begins the document.

        Returns
        -------
        list of str
            None of them is empty.
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

        Returns
        -------
        list of pairs
            The pieces, each with the indices of its characters.
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

        Returns
        -------
        bytes
            What is encoded, where the tokenizer is one of bytes.
        """
        return bytes_of(piece) if self.bytewise else piece.encode("utf-8", "surrogateescape")

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
        return pickled(Splitter, self.state())

    def __eq__(self, other: object) -> bool:
        return self.steps == other.steps if isinstance(other, Splitter) else NotImplemented

    def __hash__(self) -> int:
        return hash(str(self.steps))

    def __repr__(self) -> str:
        return f"Splitter({self.state()!r})"


def _keeps_all(step: dict[str, Any]) -> bool:
    """Whether a step neither leaves anything out nor puts anything in."""
    if step["type"] == "ByteLevel":
        return not step["add_prefix_space"]
    return step["type"] in ("Digits", "FixedLength") or step.get("behavior", "Removed") != "Removed"
