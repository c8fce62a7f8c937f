"""Changing text before it is encoded, as a model asks for it: Unicode normal forms, lower case, replacements, prefixes.

A step is plain data, an object as Hugging Face writes it in a `tokenizer.json`. Applied to a text it gives another, and for each
character of that the index of the character that it comes from, so that spans can refer to the text as given::

    text       "e" U+0301 " x"      NFC, then Replace " " by "▁"
    NFC        é   " "  x           from  0, 2, 3
    Replace    é   ▁    x           from  0, 2, 3

The steps of Hugging Face are run by the package tokenizers (steps.py), but for texts that are put before a text or in the place
of another; those of sentencepiece are in sentencepiece.py and private_use.py.
"""

from __future__ import annotations

import base64
import binascii
import unicodedata
from typing import Any, NamedTuple, Protocol

import numpy as np

from ubpe_numba.text.characters import names_of
from ubpe_numba.text.steps import NORMALIZERS, Engine, Steps, checked, flat_steps

__all__ = ["Normalizer", "Step", "apply_steps", "traced_steps"]

_MOST_STEPS = 256
_MOST_GROWTH = 2048  # forms of Unicode make 18 characters of one at most, and sentencepiece's maps do: real models have both, 324
_FORMS = ("NFC", "NFD", "NFKC", "NFKD")


class Step(Protocol):
    """One change of text."""

    def apply(self, text: str) -> str:
        """The text changed."""

    def traced(self, text: str) -> tuple[str, list[int]]:
        """The text changed, and for each of its characters the index of the one that it comes from."""


class _Text(NamedTuple):
    """Another text for each occurrence of a text; before a text that is not empty, where `found` is empty."""

    found: str
    content: str

    def apply(self, text: str) -> str:
        if self.found:
            return text.replace(self.found, self.content)
        return self.content + text if text else text

    def traced(self, text: str) -> tuple[str, list[int]]:
        if not self.found:
            return self.apply(text), [*[0] * (len(self.content) if text else 0), *range(len(text))]
        origins: list[int] = []
        done = 0
        while (at := text.find(self.found, done)) >= 0:
            origins += [*range(done, at), *[at] * len(self.content)]
            done = at + len(self.found)
        return self.apply(text), [*origins, *range(done, len(text))]


class _ByteNames(NamedTuple):
    """Each byte of UTF-8 as the character that names it in GPT-2's table."""

    def apply(self, text: str) -> str:
        return names_of(text.encode("utf-8", "surrogatepass"))

    def traced(self, text: str) -> tuple[str, list[int]]:
        return self.apply(text), [i for i, char in enumerate(text) for _ in char.encode("utf-8", "surrogatepass")]


class _Engine(NamedTuple):
    """A step that the package tokenizers runs where it may change a text."""

    kind: Any
    engine: Engine

    def apply(self, text: str) -> str:
        known = self._known(text)
        return "".join(piece for piece, _ in self.engine.pieces(text, False)) if known is None else known

    def traced(self, text: str) -> tuple[str, list[int]]:
        if (known := self._known(text)) is not None:
            return known, list(range(len(known)))
        return next(((piece, origins or []) for piece, origins in self.engine.pieces(text, True)), ("", []))

    def _known(self, text: str) -> str | None:
        """The result where it has as many characters and is known here; None elsewhere."""
        if not text or (self.kind in _FORMS and unicodedata.is_normalized(self.kind, text)):
            return text
        return {"Lowercase": text.lower(), "StripAccents": text}.get(self.kind) if text.isascii() else None


class _Pattern(NamedTuple):
    """Another text for each match of a pattern."""

    engine: Engine
    matches: Engine  # a pre-tokenizer whose pieces are the matches
    content: str

    def apply(self, text: str) -> str:
        return "".join(piece for piece, _ in self.engine.pieces(text, False))

    def traced(self, text: str) -> tuple[str, list[int]]:
        done, origins, at = self.apply(text), list[int](), 0
        for _, match in self.matches.pieces(text, True):
            begin, end = (match[0], match[-1] + 1) if match else (at, at)
            origins += [*range(at, begin), *[begin] * len(self.content)]
            at = end
        origins += range(at, len(text))
        if len(origins) == len(done):
            return done, origins
        return next(((piece, came or []) for piece, came in self.engine.pieces(text, True)), ("", []))  # matches of nothing


def apply_steps(steps: tuple[Step, ...], text: str) -> str:
    """A text changed by one step after the other."""
    for step in steps:
        text = step.apply(text)
    return text


def traced_steps(steps: tuple[Step, ...], text: str) -> tuple[str, np.ndarray]:
    """A text changed by one step after the other, and for each of its characters the index of the one that it comes from."""
    origins = np.arange(len(text))
    for step in steps:
        text, came = step.traced(text)
        origins = origins[np.array(came, np.int64)]
    return text, origins


def _step_of(step: dict[str, Any]) -> Step:
    """The step that does what a step with all its fields says."""
    kind = step["type"]
    name = f"normalizer: {kind}"
    if kind == "Prepend":
        return _Text("", step["prepend"])
    if kind == "Replace" and "String" in step["pattern"]:
        return _Text(step["pattern"]["String"], step["content"])
    if kind == "Replace":
        split = {"type": "Split", "pattern": step["pattern"], "behavior": "Removed", "invert": True}
        return _Pattern(Engine("normalizer", [step]), Engine("pre_tokenizer", [split]), step["content"])
    if kind == "ByteLevel":
        return _ByteNames()
    fields = {field: value for field, value in step.items() if field not in ("type", "precompiled_charsmap")}
    if kind == "StandIns":
        from ubpe_numba.text.private_use import StandIns  # here only: few models have it, and a kernel

        return StandIns(**fields)
    if "precompiled_charsmap" in step:
        from ubpe_numba.text.sentencepiece import CharsMap, SentencePieceText  # likewise

        try:
            blob = base64.b64decode(step["precompiled_charsmap"], validate=True)
        except (TypeError, ValueError, binascii.Error) as error:
            raise ValueError(f"{name}: expected a map in base64: {error}") from error
        if kind == "SentencePiece":
            return SentencePieceText(blob, **fields)
        CharsMap.of(blob)
        if not blob:
            return _Text("", "")
    return _Engine(kind, Engine("normalizer", [step]))


def _check_growth(steps: list[dict[str, Any]], runs: list[Step]) -> None:
    """ValueError for steps that make very much of a short text, tried on all texts and patterns that they replace.

    >>> Normalizer([{"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}] * 12)
    Traceback (most recent call last):
    ValueError: normalizer: its steps could make more than 2048 characters of one, so that a short text would fill the memory
    """
    text = "aé中" + "".join(next(iter(step["pattern"].values())) for step in steps if step["type"] == "Replace")
    most = _MOST_GROWTH * len(set(text))
    for run in runs:
        text = run.apply(text)
        if len(text) > most:
            raise ValueError(
                f"normalizer: its steps could make more than {_MOST_GROWTH} characters of one, so that a short text would fill "
                "the memory"
            )


class Normalizer(Steps):
    r"""What a text is changed to before it is cut and encoded: the argument `normalizer` of a tokenizer.

    A tokenizer takes the steps themselves, too: ``normalizer=["NFC", "Lowercase"]`` is ``Normalizer(["NFC", "Lowercase"])``.

    Parameters
    ----------
    steps
        One step or a list of steps, done one after the other. A step is an object as in a `tokenizer.json` of Hugging Face, with
        the field ``"type"`` and those of its type; fields that have a default may be left out. A `str` is a step without fields.

        ``"NFC"``, ``"NFD"``, ``"NFKC"``, ``"NFKD"``
            The normal forms of Unicode.
        ``"Lowercase"``, ``"StripAccents"``
            Lower case; the marks (Unicode's category M) are left out, so ``"NFD"`` goes before.
        ``"Replace"``
            ``pattern``, ``{"String": ...}`` or ``{"Regex": ...}``, becomes ``content``.
        ``"Prepend"``, ``"Strip"``
            The text ``prepend`` is put before a text that is not empty; white space at its ends is left out, on both sides unless
            ``strip_left`` or ``strip_right`` is False.
        ``"BertNormalizer"``
            What BERT does: ``clean_text``, ``handle_chinese_chars``, ``strip_accents``, ``lowercase``.
        ``"Nmt"``, ``"ByteLevel"``, ``"Precompiled"``, ``"Sequence"``
            sentencepiece's clean-up; bytes as characters, by GPT-2's table; a map of sentencepiece (``precompiled_charsmap``, in
            base64); a list of ``normalizers``.
        ``"SentencePiece"``, ``"StandIns"``
            What `from_sentencepiece` and `from_gguf` make of a model of sentencepiece; no `tokenizer.json` has them.

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
        Without the package tokenizers (``pip install "ubpe-numba[hf]"``), which all steps but Prepend, ByteLevel, Replace of a
        String, SentencePiece and StandIns need.

    Notes
    -----
    Immutable; equal if the steps are. The package tokenizers runs them, and decides what is a letter, a mark or white space.
    Source of the normal forms: Unicode Standard Annex 15.

    Examples
    --------
    >>> from ubpe_numba import BPE, Normalizer
    >>> tok = BPE(6, normalizer=Normalizer(["NFC", "Lowercase"])).fit(["abab", "Abba"])
    >>> tok.decode(tok.encode("ABBA")), tok.is_lossless
    ('abba', False)

    The text that is encoded, and the index of the character that each of its characters comes from:

    >>> steps = Normalizer(["NFC", {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}])
    >>> steps.apply("e\u0301 x"), steps.traced("e\u0301 x")[1].tolist()
    ('é▁x', [0, 2, 3])
    """

    __slots__ = ("runs",)
    runs: tuple[Step, ...]

    def __init__(self, steps: Any) -> None:
        flat = [checked(step, NORMALIZERS, "normalizer") for step in flat_steps(steps, "normalizer", _MOST_STEPS)]
        for kind in ("SentencePiece", "StandIns"):  # each has tables of all characters: 10 ms and 1 MB
            if sum(step["type"] == kind for step in flat) > 1:
                raise ValueError(f"normalizer: {kind}: expected at most one such step; leave out the others")
        made = [_step_of(step) for step in flat]
        if len(made) > 1:
            _check_growth(flat, made)
        self.steps = tuple(flat)
        self.runs = tuple(made)

    @classmethod
    def of(cls, value: Any) -> Normalizer | None:
        """Read the argument `normalizer` of a tokenizer.

        Parameters
        ----------
        value : Normalizer, steps or None
            A normalizer, what makes one, or None for none.

        Returns
        -------
        Normalizer or None
            None also where there is no step.

        Raises
        ------
        TypeError, ValueError
            As the constructor.
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
        only = self.runs[0] if len(self.runs) == 1 else None
        return (only.found, only.content) if isinstance(only, _Text) and len(only.found) == 1 else None

    def apply(self, text: str) -> str:
        """The text changed. O(characters of every step).

        Parameters
        ----------
        text
            A stretch of a document: what lies between special tokens.

        Returns
        -------
        str
            The text that is encoded.
        """
        return apply_steps(self.runs, text)

    def traced(self, text: str) -> tuple[str, np.ndarray]:
        """The text changed, and int64, for each of its characters the index of the one that it comes from; ascending.

        Parameters
        ----------
        text
            As for `apply`.

        Returns
        -------
        text, origins
            The changed text, and where its characters come from.

        Notes
        -----
        What is put in comes from the character behind it, at the end from the last; what is made of several from the first.
        """
        return traced_steps(self.runs, text)

    @property
    def restores(self) -> bool:
        """Whether `restore` takes anything back."""
        return any(hasattr(step, "restore") for step in self.runs)

    def restore(self, text: str, errors: str = "replace") -> str:
        """Text as it is shown: what steps of sentencepiece's models did is taken back, which only they can.

        Parameters
        ----------
        text
            What tokens stand for.
        errors
            What becomes of bytes that are no UTF-8, as for `bytes.decode`.
        """
        for step in self.runs:
            if (restore := getattr(step, "restore", None)) is not None:
                text = restore(text, errors)
        return text
