"""The classes of code points that the kernels know, against `regex`."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest
import regex

from ubpe_numba.text import unicode_classes as code_points
from ubpe_numba.text.unicode_data import UNICODE_VERSION

SAME_UNICODE = code_points.unicode_of_regex() == UNICODE_VERSION


@pytest.mark.skipif(not SAME_UNICODE, reason=f"this regex knows another Unicode than {UNICODE_VERSION}")
def test_the_committed_classes_are_those_of_regex() -> None:
    assert np.array_equal(code_points.flags_by_regex(), code_points.flags_of_code_points())


def test_the_written_source_holds_the_classes() -> None:
    made: dict[str, Any] = {}
    exec(code_points._source(code_points.flags_of_code_points(), "1.2.3"), made)
    assert made["UNICODE_VERSION"] == "1.2.3"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(code_points, "RUNS", made["RUNS"])
        again = code_points.flags_of_code_points()
    assert np.array_equal(again, code_points.flags_of_code_points())
    path = pathlib.Path(code_points.__file__).with_name("unicode_data.py")
    assert path.read_text("ascii").count("\n") == len(code_points._source(again, "18.0.0").splitlines())


def test_classes_of_some_code_points() -> None:
    flags = code_points.flags_of_code_points()
    upper, lower, letter, number, space, newline = 1, 2, 4, 8, 16, 32
    for point, want in {
        "A": upper | letter, "z": lower | letter, "\u01c5": upper | letter, "中": upper | lower | letter,
        "\u02b0": upper | lower | letter, "\u0301": upper | lower, "5": number, "½": number, "Ⅳ": number, "٣": number,
        " ": space, "\u00a0": space, "\u0085": space, "\n": space | newline, "\r": space | newline, "\x1c": 0, "\x1f": 0,
        "_": 0, "\U0001f600": 0, "\ud800": 0, "\ue000": 0, "\U0010ffff": 0,
    }.items():  # fmt: skip
        assert flags[ord(point)] == want, repr(point)


def test_regex_knows_the_long_s() -> None:
    """The kernels assume that U+017F is the only other code point that folds to a letter of a contraction."""
    everything = "".join(map(chr, range(0x80, 0x110000)))
    assert regex.findall("(?i)[sdmtlver]", everything) == ["\u017f"]
