"""What documents are shown as, and the names and heights of symbols."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tables import each

from ubpe_numba.documents.read import as_documents
from ubpe_numba.views.explorer.counts import kind_of, symbols_of


@each(
    "docs, kind",
    [
        (["GATTACA\n", "nnACGU"], "dna"),
        (["A cat"], "text"),
        (["低い"], "text"),
        ([b"plain text\n"], "text"),
        ([bytes(range(256)) * 4], "signal"),
        ([[65, 67]], "signal"),
        ([], "signal"),
        ([""], "text"),
    ],
)
def test_the_kind_is_told_by_the_documents(docs: Any, kind: str) -> None:
    assert kind_of("auto", as_documents(docs)) == kind
    assert kind_of("notes", as_documents(docs)) == "notes"


def test_symbols_are_shown_as_they_are_unless_something_else_is_said() -> None:
    used = np.array([-3, 0, 2**53])
    assert symbols_of("signal", used) is None and symbols_of("notes", used) is None
    assert symbols_of("dna", np.array([65, 67])) is None


def test_letters_and_pitches() -> None:
    found = symbols_of("text", np.array([1, 5]), letters={1: "one ", 5: "five "})
    assert found is not None and found.labels == ["one ", "five "] and found.levels is None
    found = symbols_of("notes", np.array([0, 1, 2]), pitches=[60, None, 64.5])
    assert found is not None and found.levels is not None and found.labels == ["0", "1", "2"]
    assert found.levels.tolist()[::2] == [60.0, 64.5] and np.isnan(found.levels[1])


def test_integers_beyond_float64_keep_their_digits() -> None:
    found = symbols_of("signal", np.array([2**62, 2**62 + 3]))
    assert found is not None and found.labels == [str(2**62), str(2**62 + 3)] and found.base == str(2**62)
    assert found.levels is not None and found.levels.tolist() == [0.0, 3.0]


@each(
    "arguments, error, says",
    [
        (("signal", [1], "ab"), ValueError, "letters: they are for kind='text' and 'dna'"),
        (("text", [1], None, [60]), ValueError, "pitches: they are for kind='notes'"),
        (("text", [7], "ab"), ValueError, "letters: nothing for the symbol 7"),
        (("text", [0], [3]), TypeError, "letters: expected str for each symbol, got 3"),
        (("text", [0], 3), TypeError, "letters: expected a sequence or a mapping"),
        (("notes", [0], None, [float("inf")]), ValueError, "pitches: expected a number within"),
        (("notes", [0], None, ["c"]), TypeError, "pitches: expected a number or None for the symbol 0"),
    ],
)
def test_errors_name_the_argument(arguments: Any, error: Any, says: str) -> None:
    kind, used, *rest = arguments
    with pytest.raises(error, match=says.replace("(", r"\(")):
        symbols_of(kind, np.array(used), *rest)
