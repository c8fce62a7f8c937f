"""Changing text before it is encoded: Unicode normal forms, lower case, replacements, prefixes.

A step is plain data, an object as Hugging Face writes it in a `tokenizer.json`. Applied to a text it gives another, and for each
character of that the index of the character that it comes from, so that spans can refer to the text as given::

    text       "e" U+0301 " x"      NFC, then Replace " " by "▁"
    NFC        é   " "  x           from  0, 2, 3
    Replace    é   ▁    x           from  0, 2, 3

Normal forms, lower case, and texts that are put before a text or in the place of another are made here; the other steps of
Hugging Face are run by the package tokenizers (steps.py), those of sentencepiece are in sentencepiece.py.
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import groupby, pairwise
from typing import Any

import numpy as np

from ubpe_numba.runtime.arrays import offsets_of, writable
from ubpe_numba.text.steps import NORMALIZERS, Engine, Steps, checked, flat_steps, places_of, symbols_of, text_in

__all__ = ["Normalizer", "normalized"]

#: A text changed, and, if it is traced, for each of its characters the index of the one that it comes from.
Step = Callable[[str, bool], "tuple[str, Sequence[int] | None]"]

_MOST_STEPS = 256
_MOST_GROWTH = 2048  # forms of Unicode make 18 characters of one at most, and sentencepiece's maps do: real models have both, 324
#: Characters that Unicode got after version 9, that of the package tokenizers, and that normal forms would change, move or join:
#: there they do not, so they are left as they are (tests/text/test_normalizer.py tries every code point).
_UNCHANGED = re.compile(
    "(["
    "\u0558\u058b-\u058c\u05c8-\u05c9\u07fd\u0897-\u089f\u08ca-\u08d3\u09fe\u0c3c\u0d3b-\u0d3c\u0eba\u1715\u1abf-\u1af0"
    "\u1df6-\u1dfa\u209d-\u209f\u32ff\ua7f1-\ua7f4\ua82c\uab69\U000105c0-\U000105ff\U00010781-\U00010785"
    "\U00010787-\U000107b0\U000107b2-\U000107bf\U00010d24-\U00010d27\U00010d69-\U00010d6d\U00010eab-\U00010eac"
    "\U00010ecb-\U00010ecf\U00010ef0-\U00010efb\U00010efd-\U00010eff\U00010f46-\U00010f50\U00010f82-\U00010f85\U00011070"
    "\U0001133b\U00011380-\U000113ff\U0001145e\U00011839-\U0001183a\U00011900-\U0001195f\U000119e0\U00011a34\U00011a47"
    "\U00011a99\U00011d42\U00011d44-\U00011d45\U00011d97\U00011f41-\U00011f42\U00016100-\U0001613f\U00016d40-\U00016d7f"
    "\U00016ff0-\U00016ff1\U0001b123-\U0001b126\U0001ccd6-\U0001ccf9\U0001d127-\U0001d128\U0001d250-\U0001d252"
    "\U0001d25b-\U0001d25c\U0001d25f\U0001d280-\U0001d281\U0001d6a6\U0001df95\U0001dfcd-\U0001dfff\U0001e030-\U0001e06d"
    "\U0001e08f\U0001e130-\U0001e136\U0001e2ae\U0001e2ec-\U0001e2ef\U0001e4ec-\U0001e4ef\U0001e5ee-\U0001e5ef\U0001e6e3"
    "\U0001e6e6\U0001e6ee-\U0001e6ef\U0001e6f5\U0001f16c\U0001fbf0-\U0001fbf9"
    "]+)"
)
#: Lower case that Rust knows, and Python not in all versions.
_LOWER = {point: chr(point + 0x20) for point in range(0x10D50, 0x10D66)} | {
    point: chr(point + 0x1B) for point in range(0x16EA0, 0x16EB9)
}
_LOWER |= {ord(upper): chr(ord(upper) + 1) for upper in "\u1c89\ua7cc\ua7ce\ua7d2\ua7d4\ua7da"}
_LOWER |= {0xA7CB: "\u0264", 0xA7DC: "\u019b", 0x3A3: "\u03c3"}  # sigma: each character by itself has no final one


def _form(form: Any, text: str, trace: bool) -> tuple[str, Sequence[int] | None]:
    """A normal form. Characters come from where the package tokenizers says: each takes as many of the text as its parts do.

    The parts, those of the decomposed text, are found again by their order among equal characters, which no form changes. The
    first part of a character of the text takes it, the others none; what takes none comes from the character before.
    """
    if unicodedata.is_normalized(form, text):
        return text, range(len(text)) if trace else None
    done = _changed(form, text)
    if not trace:
        return done, None
    parts_of = {char: _changed(form.replace("C", "D"), char) for char in set(text)}
    takes: dict[str, deque[bool]] = {}
    for char in text:
        for i, part in enumerate(parts_of[char]):
            takes.setdefault(part, deque()).append(i == 0)
    parts_of = {char: _changed("NFD", char) for char in set(done)}
    origins, at = [], 0
    for char in done:
        n = sum(takes[part].popleft() for part in parts_of[char])
        origins.append(at if n else at - 1)
        at += n
    return done, origins


def _changed(form: Any, text: str) -> str:
    return "".join(part if i % 2 else unicodedata.normalize(form, part) for i, part in enumerate(_UNCHANGED.split(text)))


def _lower(text: str, trace: bool) -> tuple[str, Sequence[int] | None]:
    """Lower case, each character by itself."""
    origins = [i for i, char in enumerate(text) for _ in char.translate(_LOWER).lower()] if trace else None
    return text.translate(_LOWER).lower(), origins


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


def _replace_matches(engine: Engine, matches: Engine, content: str, text: str, trace: bool) -> tuple[str, Sequence[int] | None]:
    """Another text for each match of a pattern; `matches` is a pre-tokenizer whose pieces are the matches."""
    done = "".join(piece for piece, _ in engine.pieces(text, False))
    if not trace:
        return done, None
    origins, at = list[int](), 0
    for _, match in matches.pieces(text, True):
        begin, end = (match[0], match[-1] + 1) if match else (at, at)
        origins += [*range(at, begin), *[end - 1] * len(content)]
        at = end
    origins += range(at, len(text))
    return (done, origins) if len(origins) == len(done) else next(iter(engine.pieces(text, True)), ("", []))  # matches of nothing


def _by_engine(engine: Engine, keeps_ascii: bool, text: str, trace: bool) -> tuple[str, Sequence[int] | None]:
    """A step that the package tokenizers runs where it may change a text."""
    if not text or (keeps_ascii and text.isascii()):
        return text, range(len(text)) if trace else None
    return next(iter(engine.pieces(text, trace)), ("", []))


def _step_of(step: dict[str, Any]) -> Step:
    """The step that does what a step with all its fields says."""
    kind = step["type"]
    if kind in ("NFC", "NFD", "NFKC", "NFKD"):
        return partial(_form, kind)
    if kind == "Lowercase":
        return _lower
    if kind == "Prepend":
        return partial(_replace, "", step["prepend"])
    if kind == "Replace" and "String" in step["pattern"]:
        return partial(_replace, step["pattern"]["String"], step["content"])
    if kind == "Replace":
        split = {"type": "Split", "pattern": step["pattern"], "behavior": "Removed", "invert": True}
        return partial(_replace_matches, Engine("normalizer", [step]), Engine("pre_tokenizer", [split]), step["content"])
    fields = {field: value for field, value in step.items() if field not in ("type", "precompiled_charsmap")}
    if kind == "StandIns":
        from ubpe_numba.text.sentencepiece import StandIns  # here only: few models have it, and a kernel

        return StandIns(**fields)
    if "precompiled_charsmap" in step:
        from ubpe_numba.text.sentencepiece import SentencePieceText, read_charsmap  # likewise

        try:
            blob = base64.b64decode(step["precompiled_charsmap"], validate=True)
        except (TypeError, ValueError, binascii.Error) as error:
            raise ValueError(f"normalizer: {kind}: expected a map in base64: {error}") from error
        if kind == "SentencePiece":
            return SentencePieceText(blob, **fields)
        read_charsmap(blob)
        if not blob:
            return partial(_replace, "", "")
    return partial(_by_engine, Engine("normalizer", [step]), kind == "StripAccents")


class Normalizer(Steps):
    r"""Changes of text before it is cut and encoded: the argument `normalizer` of a tokenizer.

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
        Without the package tokenizers (``pip install "ubpe-numba[hf]"``), which StripAccents, Replace of a Regex, Strip,
        BertNormalizer, Nmt, ByteLevel and Precompiled need.

    Notes
    -----
    Immutable; equal if the steps are. The result is that of the package tokenizers, in every version of Python.
    Source of the normal forms: Unicode Standard Annex 15.

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
        flat = [checked(step, NORMALIZERS, "normalizer") for step in flat_steps(steps, "normalizer", _MOST_STEPS)]
        for kind in ("SentencePiece", "StandIns"):  # each has tables of all characters: 10 ms and 1 MB
            if sum(step["type"] == kind for step in flat) > 1:
                raise ValueError(f"normalizer: {kind}: expected at most one such step; leave out the others")
        self.steps = tuple(flat)
        self.runs = tuple(map(_step_of, flat))
        if len(flat) < 2:
            return
        # each step may double a text: they are tried on all texts and patterns that they replace
        text = "aé中" + "".join(next(iter(step["pattern"].values())) for step in flat if step["type"] == "Replace")
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
        """Read the argument `normalizer` of a tokenizer; None also where there is no step.

        Parameters
        ----------
        value : Normalizer, steps or None
            A normalizer, or its steps.
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
        """The text changed, and int64, for each of its characters the index of the one that it comes from; ascending.

        An inserted character comes from the one after it, at the end from the last; one made of several from the first, and text
        that replaces others from the last of these.

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
        """Text as it is shown, without the changes of steps of sentencepiece's models, which only these can take back.

        Parameters
        ----------
        text
            The text of tokens.
        errors
            As for `bytes.decode`, of bytes that are no UTF-8.
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
    """Every stretch changed by itself: values, cuts, and, if they are traced, origins. O(symbols).

    Stretches of text are `values`, uint8[n] (UTF-8) or uint32[n] (code points), and `cuts` int64[s + 1]. The result has the same
    types; `origins` int64: for each new symbol the place in `values` of the one that it comes from. Bytes that are no UTF-8 stay.

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
        found = only["pattern"].get("String", "")
        if len(found) == 1 and (is_points or ord(found) < 0x80):
            return *_replace_symbol(found, only["content"], values, cuts), None
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


def _replace_symbol(found: str, content: str, values: np.ndarray, cuts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every stretch with another text for one character, which is one symbol. O(symbols).

    >>> _replace_symbol(" ", "__", np.frombuffer(b"a b ", np.uint8), np.array([0, 2, 4]))[0].tobytes()
    b'a__b__'
    """
    is_found = values == ord(found)
    at = np.flatnonzero(is_found)
    symbols, _ = symbols_of([content], values)
    more = symbols.size - 1
    new = np.repeat(values, np.where(is_found, symbols.size, 1)) if more else values.copy()
    starts = at + more * np.arange(at.size)
    for i, symbol in enumerate(symbols.tolist()):
        new[starts + i] = symbol
    return new, cuts + more * np.searchsorted(at, cuts)
