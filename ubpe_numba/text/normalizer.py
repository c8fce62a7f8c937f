"""Changing text before it is encoded: Unicode normal forms, lower case, replacements, prefixes.

A step is plain data, an object as Hugging Face writes it in a `tokenizer.json`. It changes a text. For each
new character it gives the index of the character of its origin, so that spans can refer to the original
text::

    text       "e" U+0301 " x"      NFC, then Replace " " by "▁"
    NFC        é   " "  x           from  0, 2, 3
    Replace    é   ▁    x           from  0, 2, 3

Steps that put text before a text or in the place of other text are run here. The other steps of Hugging Face
are run by the package tokenizers (steps.py) if they may change a text, those of sentencepiece are in
sentencepiece.py.
"""

from __future__ import annotations

import base64
import binascii
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import groupby, pairwise
from typing import Any

import numpy as np

from ubpe_numba.runtime.arrays import offsets_of, writable
from ubpe_numba.text.pretokenizer import text_in
from ubpe_numba.text.steps import NORMALIZERS, Engine, Steps, checked, flat_steps, places_of, symbols_of

#: A changed text, and, if it is traced, the index of the origin of each character.
Step = Callable[[str, bool], "tuple[str, Sequence[int] | None]"]

_FORMS = ("NFC", "NFD", "NFKC", "NFKD")
_KEEPING = (*_FORMS, "StripAccents")  # steps that keep ASCII
_MOST_STEPS = 256
# Unicode forms make at most 18 characters of a single character, and so do sentencepiece's maps: real models
# have both, 324
_MOST_GROWTH = 2048


def _replace(found: str, content: str, text: str, trace: bool) -> tuple[str, Sequence[int] | None]:
    """Another text for each occurrence of a text; before a text that is not empty, where `found` is empty."""
    if not found:
        content = content if text else ""
        return content + text, [*[0] * len(content), *range(len(text))] if trace else None
    if not trace:
        return text.replace(found, content), None
    origins: list[int] = []
    done = 0
    while (at := text.find(found, done)) >= 0:
        origins += [*range(done, at), *[at + len(found) - 1] * len(content)]
        done = at + len(found)
    return text.replace(found, content), [*origins, *range(done, len(text))]


def _by_engine(kind: Any, engine: Engine, text: str, trace: bool) -> tuple[str, Sequence[int] | None]:
    """A step that the package tokenizers runs, except on ASCII that stays the same or becomes lower case.

    What is a normal form by a newer version of Unicode stays as it is by that of the package, version 9.
    """
    is_plain = kind in (*_KEEPING, "Lowercase") and text.isascii()
    if is_plain or not text or (kind in _FORMS and unicodedata.is_normalized(kind, text)):
        return text.lower() if kind == "Lowercase" else text, range(len(text)) if trace else None
    return next(iter(engine.pieces(text, trace)), ("", []))


def _step_of(step: dict[str, Any]) -> Step:
    """The step that acts as a given step with all its fields."""
    kind = step["type"]
    if kind == "Prepend":
        return partial(_replace, "", step["prepend"])
    if kind == "Replace" and "String" in step["pattern"]:
        return partial(_replace, step["pattern"]["String"], step["content"])
    fields = {field: value for field, value in step.items() if field not in ("type", "precompiled_charsmap")}
    if kind == "StandIns":
        from ubpe_numba.text.sentencepiece import StandIns  # here only: few models have it, and a kernel

        return StandIns(**fields)
    if "precompiled_charsmap" in step:
        from ubpe_numba.text.sentencepiece import SentencePieceText, read_charsmap  # as above

        try:
            blob = base64.b64decode(step["precompiled_charsmap"], validate=True)
        except (TypeError, ValueError, binascii.Error) as error:
            raise ValueError(f"normalizer: {kind}: expected a map in base64: {error}") from error
        if kind == "SentencePiece":
            return SentencePieceText(blob, **fields)
        read_charsmap(blob)
        if not blob:
            return partial(_replace, "", "")
    return partial(_by_engine, kind, Engine("normalizer", [step]))


class Normalizer(Steps):
    r"""Changes of text before it is split and encoded: the argument `normalizer` of a tokenizer.

    A tokenizer also takes the steps themselves: ``normalizer=["NFC", "Lowercase"]`` is ``Normalizer(["NFC",
    "Lowercase"])``.

    Parameters
    ----------
    steps
        One step or a list of steps, done one after the other. A step is an object as in a `tokenizer.json` of
        Hugging Face, with the field ``"type"`` and those of its type; fields that have a default may be left
        out. A `str` is a step without fields.

        ``"NFC"``, ``"NFD"``, ``"NFKC"``, ``"NFKD"``
            The normal forms of Unicode.
        ``"Lowercase"``, ``"StripAccents"``
            Lower case; the marks (Unicode's category M) are left out, so ``"NFD"`` goes before.
        ``"Replace"``
            ``pattern``, ``{"String": ...}`` or ``{"Regex": ...}``, becomes ``content``.
        ``"Prepend"``, ``"Strip"``
            The text ``prepend`` is put before a text that is not empty; white space at its ends is left out,
            on both sides unless ``strip_left`` or ``strip_right`` is False.
        ``"BertNormalizer"``
            What BERT does: ``clean_text``, ``handle_chinese_chars``, ``strip_accents``, ``lowercase``.
        ``"Nmt"``, ``"ByteLevel"``, ``"Precompiled"``, ``"Sequence"``
            sentencepiece's clean-up; bytes as characters, by GPT-2's table; a map of sentencepiece
            (``precompiled_charsmap``, in base64); a list of ``normalizers``.
        ``"SentencePiece"``, ``"StandIns"``
            Made by `load` of a model of sentencepiece; no `tokenizer.json` has them.

    Attributes
    ----------
    steps : tuple
        The steps, in order, with all their fields and without sequences.
    is_lossless : bool
        Whether no step changes a text: without steps.

    Raises
    ------
    ImportError
        Without the package tokenizers (``pip install "ubpe-numba[hf]"``), which all steps need but Prepend,
        Replace of a String, SentencePiece and StandIns.

    Notes
    -----
    Immutable; equal if the steps are. The result is that of the package tokenizers, in every version of
    Python. Source of the normal forms: Unicode Standard Annex 15.

    Examples
    --------
    >>> from ubpe_numba import BPE, Preprocessing
    >>> from ubpe_numba.text import Normalizer
    >>> tok = BPE(6, preprocessing=Preprocessing(normalizer=Normalizer(["NFC", "Lowercase"]))).fit(["abab", "Abba"])
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
        flat = [
            checked(step, NORMALIZERS, "normalizer") for step in flat_steps(steps, "normalizer", _MOST_STEPS)
        ]
        for kind in ("SentencePiece", "StandIns"):  # each has tables of all characters: 10 ms and 1 MB
            if sum(step["type"] == kind for step in flat) > 1:
                raise ValueError(f"normalizer: {kind}: expected at most one such step; leave out the others")
        self.steps = tuple(flat)
        self.runs = tuple(map(_step_of, flat))
        if len(flat) < 2:
            return
        # each step may double a text: they are tried on all texts and patterns that they replace
        text = "aé中" + "".join(
            next(iter(step["pattern"].values())) for step in flat if step["type"] == "Replace"
        )
        most = _MOST_GROWTH * len(set(text))
        for run in self.runs:
            text, _ = run(text, False)
            if len(text) > most:
                raise ValueError(
                    f"normalizer: its steps could make more than {_MOST_GROWTH} characters of one, so that a short text would "
                    "fill the memory"
                )

    @classmethod
    def of(cls, value: Any) -> Normalizer | None:
        """Read the argument `normalizer` of a tokenizer; None also without steps.

        Parameters
        ----------
        value : Normalizer, steps or None
            A normalizer, or its steps.
        """
        if value is None or isinstance(value, cls):
            return value
        normalizer = cls(value)
        return normalizer if normalizer.steps else None

    @property
    def is_lossless(self) -> bool:
        """Whether no step changes a text."""
        return not self.steps

    @property
    def keeps_ascii(self) -> bool:
        """Whether text of ASCII characters is never changed."""
        return all(step["type"] in _KEEPING for step in self.steps)

    def apply(self, text: str) -> str:
        """The text changed. O(characters of every step).

        Parameters
        ----------
        text
            A stretch of a document: the text between special tokens.
        """
        for step in self.runs:
            text, _ = step(text, False)
        return text

    def traced(self, text: str) -> tuple[str, np.ndarray]:
        """The changed text, and int64 indices of the characters of origin; ascending.

        An inserted character comes from the next character, at the end from the last. A character made of
        several comes from the first, and text that replaces others from the last of these.

        Parameters
        ----------
        text
            As for `apply`.
        """
        return _traced(self.runs, text)

    @property
    def restores(self) -> bool:
        """Whether `restore` takes anything back."""
        return any(hasattr(step, "restore") for step in self.runs)

    def restore(self, text: str, errors: str = "replace") -> str:
        """Text as it is shown, without the changes of sentencepiece's steps; only these can be undone.

        Parameters
        ----------
        text
            The text of tokens.
        errors
            As for `bytes.decode`, for invalid UTF-8.
        """
        for step in self.runs:
            if (restore := getattr(step, "restore", None)) is not None:
                text = restore(text, errors)
        return text


def _traced(steps: Iterable[Step], text: str) -> tuple[str, np.ndarray]:
    origins = np.arange(len(text))
    for step in steps:
        text, came = step(text, True)
        origins = origins[np.array(came, np.int64)]
    return text, origins


def normalized(
    normalizer: Normalizer, values: np.ndarray, cuts: np.ndarray, trace: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Every stretch changed by itself: values, cuts, and origins if traced. O(symbols).

    Stretches of text are `values`, uint8[n] (UTF-8) or uint32[n] (code points), and `cuts` int64[s + 1]. The
    result has the same types. `origins` int64 is, for each new symbol, the place in `values` of its origin.
    Invalid UTF-8 stays.

    >>> text = np.frombuffer("½ a".encode(), np.uint8)
    >>> values, cuts, origins = normalized(Normalizer("NFKC"), text, np.array([0, 4]), True)
    >>> values.tobytes().decode("utf-8"), cuts.tolist(), origins.tolist()
    ('1⁄2 a', [0, 7], [0, 0, 0, 0, 0, 2, 3])
    """
    origins = np.arange(values.size) if trace else None
    if normalizer.keeps_ascii and values.size and int(values.max()) < 0x80:
        return values, cuts, origins
    is_points = values.dtype == np.uint32
    if not trace and len(normalizer.steps) == 1 and (only := normalizer.steps[0])["type"] == "Replace":
        literal = only["pattern"].get("String", "")
        if len(literal) == 1 and literal.isascii() and not is_points:  # a symbol
            new, _ = symbols_of([only["content"]], values)
            before = np.searchsorted(np.flatnonzero(values == ord(literal)), cuts)
            done = values.tobytes().replace(literal.encode(), new.tobytes())
            return np.frombuffer(done, np.uint8), cuts + (new.size - 1) * before, None
    for by_arrays, group in groupby(normalizer.runs, lambda step: is_points and hasattr(step, "run")):
        if by_arrays:
            for step in group:
                values, cuts, came = step.run(writable(values), cuts)  # type: ignore[attr-defined]
                origins = None if origins is None else origins[came]
            continue
        steps = tuple(group)
        parts: list[str] = []
        places: list[np.ndarray] = [np.zeros(0, np.int64)]
        for begin, end in pairwise(cuts.tolist()):
            text = text_in(values[begin:end])
            if trace:
                part, came = _traced(steps, text)
                places.append(begin + places_of(text, values)[came].repeat(np.diff(places_of(part, values))))
            else:
                part = text
                for step in steps:
                    part, _ = step(part, False)
            parts.append(part)
        values, lengths = symbols_of(parts, values)
        cuts = offsets_of(lengths)
        origins = None if origins is None else origins[np.concatenate(places)]
    return values, cuts, origins
