"""Parts of the HTML of notebooks, against plain counts."""

from __future__ import annotations

import re
from collections import Counter
from xml.etree import ElementTree

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from markup import parsed, pictures, words

from ubpe_numba.views.notebook import block, escaped, histogram, largest, some, table


@given(st.text(st.characters()))
@example("</svg><script>alert(1)</script>")
@example('" onload="x\ud800\x00\ufffe')
def test_any_text_stays_text(text: str) -> None:
    root = ElementTree.fromstring(f'<a b="{escaped(text)}">{escaped(text)}</a>')
    assert len(root) == 0 and set(root.attrib) == {"b"}
    allowed = re.sub("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)
    assert (root.text or "") == allowed.replace("\r\n", "\n").replace("\r", "\n")


def test_blocks_and_tables_escape_what_they_are_given() -> None:
    hostile = "</td><script>"
    root = parsed(block(hostile, table([(hostile, hostile)]), table([(1, hostile)], (hostile, "b"))))
    assert words(root).count(hostile) == 5
    assert [cell.get("scope") for cell in root.iter("th")] == ["row", "col", "col"]


@given(st.lists(st.integers(0, 2**40), min_size=1, max_size=50))
@example([0])
@example([7] * 3)
@example(list(range(24)))
@example(list(range(25)))
def test_bars_of_a_histogram_are_as_high_as_their_counts(lengths: list[int]) -> None:
    root = parsed(block("", histogram(np.array(lengths), "documents", "values")), 4000)
    (picture,) = pictures(root)
    low, high = min(lengths), max(lengths)
    width = -(-(high - low + 1) // 24)
    counts = Counter((length - low) // width for length in lengths)
    bars = next(picture.iter("{http://www.w3.org/2000/svg}path")).get("d", "")
    heights = [int(bar) for bar in re.findall(r"v-(\d+)", bars)]
    assert heights == [max(1, round(46 * counts[i] / max(counts.values()))) for i in sorted(counts)]
    places = [int(x) for x in re.findall(r"M(\d+) ", bars)]
    assert places == [i * (240 // (max(counts) + 1)) for i in sorted(counts)] and max(places) < 244
    assert picture[0].text and picture[0].text.startswith(f"Lengths of {len(lengths)} documents: {low:,} to {high:,} values")


@given(st.lists(st.integers(-5, 5), max_size=30), st.integers(1, 12))
def test_the_largest_are_those_of_a_sort(values: list[int], n: int) -> None:
    expected = sorted(range(len(values)), key=lambda i: (-values[i], i))[:n]
    assert largest(np.array(values, np.int64), n).tolist() == expected
    assert largest(np.array(values, np.float64), n).tolist() == expected


def test_long_lists_are_shown_by_their_beginning() -> None:
    assert [some(np.arange(n, dtype=np.int32), 3) for n in (0, 3, 4)] == ["", "0 1 2", "0 1 2 … (4)"]
    assert histogram(np.zeros(0, np.int64), "documents", "values") == ""
