"""Text cut by kernels: the same segments as `regex` gives, for every code point and any bytes."""

from random import Random

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from reference import words as reference
from text_samples import SAMPLES, known, spoken, text_of

from ubpe_numba.text import cut
from ubpe_numba.text.cut import PATTERNS, kernel_of, places_between_parts, scan


def cut_by_kernel(documents: list[bytes], pattern: str, behind: int, room: int) -> list[int]:
    """The ends of segments as the kernel writes them, `room` at a call, with so many more bytes behind the text."""
    kernel, classes = kernel_of(pattern)
    values, offsets = text_of(*documents)
    values = np.concatenate([values, np.full(max(behind, 8 - values.size), ord("x"), np.uint8)])
    state, ends = np.zeros(2, np.int64), np.empty(room, np.int64)
    found: list[int] = []
    while True:
        n = kernel(values, offsets, classes, state, ends)
        found += ends[:n].tolist()
        if n < room:
            return found


def check(documents: list[bytes], room: int = 1 << 12) -> None:
    """With windows of 64 bytes up to the last document's end (64 bytes behind it), and without any in its last 63 bytes."""
    for pattern in PATTERNS:
        lengths = [len(segment) for document in documents for segment in reference.split(document, pattern)]
        want = np.cumsum(lengths).tolist()
        assert scan(*text_of(*documents), pattern, 1).tolist() == [0, *want], pattern
        assert cut_by_kernel(documents, pattern, 64, room) == want, pattern
        assert cut_by_kernel(documents, pattern, 0, room) == want, pattern


@pytest.mark.parametrize("pattern", ["o200k", "deepseek"])  # of all classes, and with ranges of code points
def test_every_code_point(pattern: str) -> None:
    """Between letters of both cases, after a space and an apostrophe, before a contraction and a number.

    Of planes without characters or of private use, one in 61 and the last ones.
    """
    asked = known()[
        (known() < 0x40000) | (known() >> 16 == 14) | (known() % 61 == 0) | (known() & 0xFFFF >= 0xFFF0)
    ]
    text = "".join(f"{c}b {c}A'{c}s\n{c}1" for c in map(chr, asked.tolist()))
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    starts = np.concatenate([[0], np.cumsum(1 + (points >= 0x80) + (points >= 0x800) + (points >= 0x10000))])
    cuts = scan(*text_of(text.encode("utf-8", "surrogatepass")), pattern, 1)
    assert known().size > 0x110000 * 0.9 and np.array_equal(cuts, starts[reference.places(text, pattern)])


def test_samples_of_many_scripts() -> None:
    for line in SAMPLES.splitlines(keepends=True):
        check([line.encode()])
        check(
            [line.strip().encode(), b"", line[::-1].encode(), line.upper().encode(), line.swapcase().encode()]
        )
    check([SAMPLES.encode()])


PIECES = [
    bytes([b])
    for b in b"aA '\n1\x80\xbf\xa0\x9f\x90\x8f\xc0\xc2\xc3\xc5\xdf\xe0\xe1\xe4\xed\xef\xf0\xf1\xf4\xf5\xff"
]
NASTY = [*"aAsSlL1 \n'/.-\t\r", "  ", "'s", "'LL", "ab", "AB", *"бБё中か・한。，éÉʰǅ١１½ſ", "'ſ"]
NASTY += ["龥", "龦", "\u3040", "\u3099", "\u30a0", "\x01", "\u200b", "!", "(ab", "\U000e0001"]
NASTY += ["\u3000", "\xa0", "\u0301", "\U0001f600", "\ud800"]
FEW = st.lists(
    st.sampled_from([*(piece.encode("utf-8", "surrogatepass") for piece in NASTY), *PIECES]),
    min_size=2,
    max_size=12,
)
#: Of few kinds, some in runs of up to 25, longer than windows; of any bytes; of words of many scripts.
DOCUMENT = st.one_of(
    FEW.flatmap(lambda few: st.lists(st.sampled_from([*few, *few, few[0] * 24, few[1] * 9]), max_size=90)).map(b"".join),
    st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join), st.binary(max_size=20), spoken(),
)  # fmt: skip


@given(st.lists(DOCUMENT, max_size=4), st.sampled_from([1 << 12, 1, 3, 63, 64, 65, 72, 128]))
@example([b"", b"'", b"'l", b"", b"'r", b" ", b" \n ", b"  "], 64)
@example([b"a./b !\n//x", b"!/a", b"! \n/"], 64)
@example(
    ["中Ab".encode(), "中A".encode(), "A中".encode(), "A中b".encode(), "A中B".encode(), "中A'S".encode()], 64
)
@example(
    [
        b"\xe4\xb8\xadA\xe4\xb8",
        b"\xadb",
        b"'\xc5",
        b"\xbf",
        b"\xed\xa0\x80\xed\xb0\x80a",
        b"\xf0\x9f\x98",
        b"\x80\x80 \x80a",
    ],
    3,
)
def test_any_text_and_any_bytes(documents: list[bytes], room: int) -> None:
    check(documents, room)


def test_every_second_byte() -> None:
    """Too long a form of a character, surrogates, what is past the last code point, or not continued, are stray bytes."""
    leads = [0xC1, 0xC2, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5]
    for after in (b"a", b"A1", b"\x80a", b"\x80\x80", b"\xa0\xa0a", b"'s", b""):
        check([bytes([lead, second]) + after for lead in leads for second in range(0x7E, 0xC2)])


UNITS = [" ", "a", "A", "5", "'", "\n", "中", "\u0301A", " \n", "'s", b"\x80"]


@pytest.mark.parametrize("unit", UNITS)
def test_long_repetitions_take_linear_time(unit: str | bytes) -> None:
    """Linear: two megabytes of one thing, or of two, where a backtracking engine may take hours."""
    raw = unit if isinstance(unit, bytes) else unit.encode()
    n = 2_000_000 // len(raw) // 6 * 6  # numbers come in threes, some others in twos
    for pattern in PATTERNS:
        want = np.array([len(segment) for segment in reference.split(raw * 3000, pattern)])
        got = np.diff(scan(*text_of(raw * n), pattern, 1))
        assert got.sum() == n * len(raw)
        if want.size < 5:  # nearly all is one segment
            long, short = int(got.argmax()), int(want.argmax())
            assert long == short and np.array_equal(np.delete(got, long), np.delete(want, short)), pattern
        else:
            half = want.size // 2
            assert np.array_equal(got[:half], want[:half]) and np.array_equal(got[-half:], want[-half:]), (
                pattern
            )
            assert np.array_equal(np.unique(got), np.unique(want)), pattern


#: What may lie across the end of a window: contractions, what punctuation takes, white space, threes of
#: digits, words by case, characters of two to four bytes, surrogates, stray bytes.
ACROSS = [
    "it's we'll I'VE 'SBLOOD x'ſ a's's's'sb 'sabc 'lx we'l", "a.\n\n b !/\n/\n/x */\n//y .\r\n\r\n  \n\n\tz --\n",
    "a  b \n  \n   \n\n c\t\td \r\n  e\n    \n", "1234567890123 12 1234 x123456 ١٢٣٤ 12３４ ½",
    "iPhone HTTPServer aBC ABc 中Ab中AB中A. a中A it's中Ab 中'sǅa", "!\u0301a \u0301b e\u0301e !!\u0301c \u0301",
    "КАТЮША и Маша ёЁѣЇ", "か\u3099ー・ア 한국。中文，あ", "\u3000\u3000中\xa0a \u3000b\u2003\n\u3000\u3000\n\u3000c",
    "\U0001f600\U0001f468\u200d \ud800\udc80a", "!abcé !abc\u0301!!abc (ab)cd \n.x a\u3002b ・か・\u3099゛ー \u30a0a\u3040か",
    "龥龦 中\n 中 \n\n中  1 中1中 ・\n !中 \x01\x02a\x01 \u200b\x00中\x07\u200b 。\n",
]  # fmt: skip
STRAY = [
    b"\xe4\xb8",
    b"\xd0",
    b"\xd0 \x90",
    b"\xf0\x9f\x98a",
    b"\xe3\x82\x80\x80",
    b"\xed\xa0\x80\xed\xb0\x80",
    b"\xff\xfe \xc3",
]


@pytest.mark.parametrize("unit", [*(text.encode("utf-8", "surrogatepass") for text in ACROSS), *STRAY])
def test_windows_begin_and_end_anywhere(unit: bytes) -> None:
    """Words of one to 67 letters in front move everything through all places of a window; documents end at each byte of it."""
    fronts = [b"a" * n for n in range(67)]
    check([front + unit for front in fronts])
    check([front + b" " + unit + b" " + unit for front in fronts[::3]], room=5)
    check([(b"a" * 61 + unit)[:n] for n in range(58, 75)])
    check([unit[n:] + unit * 9 for n in range(len(unit))])


def test_segments_longer_than_windows() -> None:
    for piece in ("a", "A", "я", "Я", "中", "あ", "é", "中\u0301", "1", "١", "-", "。", " ", "\n", "\u3000"):
        for n in (21, 31, 32, 33, 63, 64, 65, 128, 129):
            run = (piece * n).encode()
            check([run, b"'" + run, b" " + run + b"x", run + b"'s", run + b"B"])
            check([run + "中B.".encode(), run + b"\n\n", b"z" + run])


@pytest.mark.parametrize("pattern", PATTERNS)
def test_parts_of_documents_are_cut_as_the_whole(monkeypatch: pytest.MonkeyPatch, pattern: str) -> None:
    """At every place that may be chosen: parts are as short as can be."""
    monkeypatch.setattr(cut, "_PART", 1)
    monkeypatch.setattr(cut, "_REACH", 7)
    pieces = [
        "\n",
        "\n",
        "\n",
        "a",
        "B",
        "ab",
        " ",
        "  ",
        "\r",
        "\t",
        "1",
        "12345",
        "!",
        "/",
        "'s",
        "'S",
        "'",
        "é",
        "中",
    ]
    pieces += ["\u3000", "\x85", "\x1f"]
    for seed in range(6):
        text = np.frombuffer("".join(Random(seed).choices(pieces, k=3000)).encode(), np.uint8)
        offsets = np.array([0, 0, 5, 700, 700, text.size])
        whole = scan(text, offsets, pattern)
        places = places_between_parts(text, offsets, pattern)
        assert places.size > 4 and not set(places.tolist()) & set(offsets.tolist())
        starts = np.insert(offsets, np.searchsorted(offsets, places), places)
        assert scan(text, starts, pattern).tolist() == whole.tolist()
        given = places_between_parts(text, offsets, whole)
        assert given.size > 200 and set(given.tolist()) <= set(whole.tolist())


def test_documents_without_a_place_stay_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cut, "_PART", 10)
    monkeypatch.setattr(cut, "_REACH", 20)
    for text in (b"no end of a line " * 20, b"white space before it \n" * 20, b"\n1" * 100, b"a\n" * 10):
        values = np.frombuffer(text, np.uint8)
        assert places_between_parts(values, np.array([0, values.size]), "gpt2").tolist() == []
    values = np.frombuffer(b"a\n" * 12, np.uint8)
    assert places_between_parts(values, np.array([0, values.size]), "gpt2").tolist() == [12]
