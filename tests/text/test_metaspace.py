"""Cuts before marks and within runs: those of the regular expression that says the same."""

import numpy as np
import regex
from hypothesis import example, given, strategies as st

from ubpe_numba.documents.read import code_points
from ubpe_numba.runtime.arrays import offsets_of
from ubpe_numba.text.metaspace import MarkCuts
from ubpe_numba.text.pretokenizer import Pretokenizer, positions

CASES = [
    MarkCuts(), MarkCuts(True, ((">", "</"),)), MarkCuts(True, ((">", "</"), ("é]", "a")), (("\u2581", 2), ("\n", 3))),
    MarkCuts(True, (), (("\u2581", 1),)), MarkCuts(True, (), (("\n", 2), ("-", 1))),
    MarkCuts(False, (), (("\u2581", 3), ("\t", 2))),
]  # fmt: skip
pieces = st.sampled_from(
    [
        "\u2581",
        "\u2581\u2581\u2581",
        "> </",
        ">\u2581</",
        "é]\u2581a",
        "\n",
        "\n" * 7,
        "\t\t\t",
        "-",
        "x",
        "中",
        "é",
    ]
)


def by_regex(cuts: MarkCuts, text: str) -> list[int]:
    """Where matches begin and end, in characters."""
    spans = [match.span() for match in regex.finditer(cuts.pattern, text)]
    assert all(a[1] == b[0] for a, b in zip(spans, spans[1:], strict=False))
    return sorted({0, len(text), *(at for span in spans for at in span)})


@given(st.sampled_from(CASES), st.lists(st.lists(pieces, max_size=8).map("".join), max_size=4))
@example(CASES[1], [">\u2581", "</"])
def test_cuts_are_those_of_the_pattern(cuts: MarkCuts, texts: list[str]) -> None:
    assert MarkCuts.of(cuts.pattern) == cuts
    offsets = offsets_of(np.array(list(map(len, texts)), np.int64))
    expected = sorted(
        {
            0,
            *(
                begin + at
                for begin, text in zip(offsets.tolist(), texts, strict=False)
                for at in by_regex(cuts, text)
            ),
        }
    )
    points = code_points("".join(texts))
    assert cuts.split(points, offsets).tolist() == expected
    places = positions("".join(texts))
    data = np.frombuffer("".join(texts).encode(), np.uint8)
    assert Pretokenizer(cuts.pattern).split(data, places[offsets]).tolist() == places[expected].tolist()


@given(st.binary(max_size=30), st.integers(0, 5))
def test_ill_formed_text_and_a_window(data: bytes, begin: int) -> None:
    """Any bytes are cut, and what is outside of the documents is not read as part of them."""
    cuts = CASES[2]
    values = np.frombuffer(b"\xe2\x96\x81>" + data + b"\xe2\x96\x81</", np.uint8)
    begin = min(4 + begin, 4 + len(data))
    found = cuts.split(values, np.array([begin, 4 + len(data)])).tolist()
    alone = cuts.split(
        np.frombuffer(data[begin - 4 :], np.uint8), np.array([0, 4 + len(data) - begin])
    ).tolist()
    assert found == [begin + at for at in alone]


def test_other_patterns() -> None:
    for pattern in (
        "",
        "a+",
        "\u2581*",
        "\u2581{0,2}x",
        "\u2581{0,0}(?:[^\u2581])*",
        "(?:\n{1,2}(?!\n)|[^\n])*",
    ):
        assert MarkCuts.of(pattern) is None
