"""What documents are shown as: a signal, text, DNA or notes; and the names of their symbols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.documents.normalise import Documents
from ubpe_numba.errors import quoted

KINDS = ("signal", "text", "dna", "notes")
UNITS = {"signal": "sample", "text": "character", "dna": "base", "notes": "note"}
_LETTERS = "ACGTUNRYKMSWBDHVacgtunrykmswbdhv-*\n"
_SAMPLE = 1 << 16
_BINARY = 0.05  # of more than this many bytes that are no text, the rest is taken for chance
_EXACT = 1 << 53


class Symbols(NamedTuple):
    """How symbols are shown, where they are not shown as they are.

    `order` (int64[s]): the symbols, ascending; in the page a symbol is its index in this array; `labels`: what each is called;
    `levels` (float64[s] or None): how high each is drawn, NaN for a rest; `base`: what is to be added to the levels, for a label
    of the axis.
    """

    order: np.ndarray
    labels: list[str] | None = None
    levels: np.ndarray | None = None
    base: str = ""


def kind_of(kind: str, documents: Documents) -> str:
    """What documents are shown as.

    `kind`: ``"auto"`` or one of `KINDS`; `documents`: the documents; the beginning of their symbols decides. Returns for
    ``"auto"``: of `str` and bytes ``"dna"`` if all letters are those of nucleotides, ``"signal"`` if bytes are no text, else
    ``"text"``; of integers ``"signal"``. Raises ValueError for another name.

    >>> from ubpe_numba.documents.normalise import as_documents
    >>> [kind_of("auto", as_documents(docs)) for docs in (["GATTACA"], ["a cat"], [[1, 2]])]
    ['dna', 'text', 'signal']
    """
    if kind != "auto":
        if kind not in KINDS:
            raise ValueError(f"kind: expected 'auto', 'signal', 'text', 'dna' or 'notes', got {quoted(kind)}")
        return kind
    if documents.kind == "int":
        return "signal"
    sample = documents.values[documents.offsets[0] : documents.offsets[-1]][:_SAMPLE]
    found = set(np.unique(sample).tolist())
    if found - {10} and found <= set(map(ord, _LETTERS)):
        return "dna"
    if documents.kind == "bytes" and sample.size:
        text = sample.tobytes().decode("utf-8", "surrogateescape")
        strange = sum("\udc80" <= c <= "\udcff" or (c < " " and c not in "\t\n\r\f") for c in text)
        if strange > _BINARY * sample.size:
            return "signal"
    return "text"


def symbols_of(kind: str, used: np.ndarray, letters: Any = None, pitches: Any = None) -> Symbols | None:
    """The names and heights of symbols.

    `kind`: one of `KINDS`; `used` (int64[s]): the distinct symbols of vocabulary and documents, ascending; `letters`: for text
    and DNA of integers: the text of each symbol. By default ``"ACGTN"`` for DNA of the integers 0 to 4; `pitches`: for notes: the
    pitch of each symbol, a number as MIDI has them, None for a rest. By default the symbol itself. Returns none if symbols are
    shown as they are. Raises ValueError if a symbol has no letter or pitch, a pitch is not within +-2**53, or the argument is not
    for this kind. Raises TypeError if letters are not `str`, pitches no numbers, or the argument is of another type.

    >>> symbols_of("dna", np.arange(4)).labels
    ['A', 'C', 'G', 'T']
    """
    if letters is not None and kind not in ("text", "dna"):
        raise ValueError(f"letters: they are for kind='text' and 'dna', the kind is {quoted(kind)}")
    if pitches is not None and kind != "notes":
        raise ValueError(f"pitches: they are for kind='notes', the kind is {quoted(kind)}")
    if kind == "dna" and letters is None and used.size and used[0] >= 0 and used[-1] <= 4:
        letters = "ACGTN"
    if letters is not None:
        labels = [_looked_up(letters, symbol, "letters") for symbol in used.tolist()]
        if wrong := next((label for label in labels if not isinstance(label, str)), None):
            raise TypeError(f"letters: expected str for each symbol, got {quoted(wrong)}")
        return Symbols(used, labels)
    if pitches is not None:
        return Symbols(used, [str(symbol) for symbol in used.tolist()], _heights(pitches, used))
    if used.size and max(-int(used[0]), int(used[-1])) > _EXACT:  # beyond the numbers of JavaScript
        base = int(used[0])
        levels = np.array([float(symbol - base) for symbol in used.tolist()])
        return Symbols(used, [str(symbol) for symbol in used.tolist()], levels, str(base))
    return None


def _heights(pitches: Any, used: np.ndarray) -> np.ndarray:
    found = [_looked_up(pitches, symbol, "pitches") for symbol in used.tolist()]
    for symbol, pitch in zip(used.tolist(), found, strict=True):
        if pitch is not None and (isinstance(pitch, bool) or not isinstance(pitch, (int, float, np.integer, np.floating))):
            raise TypeError(f"pitches: expected a number or None for the symbol {symbol}, got {quoted(pitch)}")
        if pitch is not None and abs(float(pitch)) > _EXACT:
            raise ValueError(f"pitches: expected a number within +-2**53 for the symbol {symbol}, got {quoted(pitch)}")
    return np.array([np.nan if pitch is None else float(pitch) for pitch in found])


def _looked_up(table: Any, symbol: int, name: str) -> Any:
    """What a sequence or a mapping says of a symbol."""
    if isinstance(table, Mapping):
        if symbol in table:
            return table[symbol]
    elif isinstance(table, (Sequence, np.ndarray)):
        if 0 <= symbol < len(table):
            return table[symbol]
    else:
        raise TypeError(f"{name}: expected a sequence or a mapping of symbols, got {type(table).__name__}")
    raise ValueError(f"{name}: nothing for the symbol {symbol}")
