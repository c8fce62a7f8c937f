"""Changing text before it is encoded, as a model asks for it: Unicode normal forms, lower case, replacements, prefixes.

A step is plain data, an object as Hugging Face writes it in a `tokenizer.json`. Applied to a text it gives another, and for each
character of that the index of the character that it comes from, so that spans can refer to the text as given::

    text       "e" U+0301 " x"      NFC, then Replace " " by "▁"
    NFC        é   " "  x           from  0, 2, 3
    Replace    é   ▁    x           from  0, 2, 3

The forms of Unicode are Python's, for the characters of the version that the package tokenizers has (unicode_of_tokenizers.py).
What each step does is in normalizer_steps.py, how it is read in normalizer_fields.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ubpe_numba.errors import ModelFormatError
from ubpe_numba.runtime.schema import pickled
from ubpe_numba.text.growth import check_growth
from ubpe_numba.text.normalizer_fields import step_of
from ubpe_numba.text.normalizer_steps import Replace, Steps
from ubpe_numba.text.step_fields import flat_steps
from ubpe_numba.text.step_patterns import Budget

__all__ = ["Normalizer"]

_MOST_STEPS = 256


class Normalizer:
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
        Without `regex`, which patterns need.

    Notes
    -----
    Immutable; equal if the steps are. Lower case is that of each character by itself. White space is Unicode's White_Space.
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

    __slots__ = ("_run", "steps")
    steps: tuple[dict[str, Any], ...]

    def __init__(self, steps: Any) -> None:
        budget = Budget()
        flat = flat_steps(steps, "normalizer", "normalizers", _MOST_STEPS)
        for kind in ("SentencePiece", "StandIns"):  # each has tables of all characters: 10 ms and 1 MB
            if sum(step.get("type") == kind for step in flat) > 1:
                raise ValueError(f"normalizer: {kind}: expected at most one such step; leave out the others")
        made = [step_of(step, budget) for step in flat]
        check_growth(made)
        self.steps = tuple(step for step, _ in made)
        self._run = Steps(tuple(run for _, run in made))

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
        only = self._run.steps[0] if len(self._run.steps) == 1 else None
        if isinstance(only, Replace) and only.pattern is None and len(only.found) == 1:
            return only.found, only.content
        return None

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
        return self._run.apply(text)

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
        return pickled(Normalizer, self.state())

    def __eq__(self, other: object) -> bool:
        return self.steps == other.steps if isinstance(other, Normalizer) else NotImplemented

    def __hash__(self) -> int:
        return hash(str(self.steps))

    def __repr__(self) -> str:
        return f"Normalizer({self.state()!r})"
