"""Text cut by kernels: the same segments as `regex` gives, for every code point and any bytes."""

from __future__ import annotations

import codecs
import pathlib
import sys
import sysconfig
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from reference import words as reference
from text_samples import SAMPLES, known, spoken, text_of

from ubpe_numba.text.cut import PATTERNS, scan


def segments_of(documents: list[bytes], pattern: str, n_threads: int = 1) -> list[bytes]:
    values, offsets = text_of(*documents)
    cuts = scan(values, offsets, pattern, n_threads)
    assert (cuts[0], cuts[-1], cuts.dtype) == (0, values.size, np.int64)
    return [values[a:b].tobytes() for a, b in zip(cuts[:-1], cuts[1:], strict=True)]


def check(documents: list[bytes]) -> None:
    for pattern in PATTERNS:
        want = [segment for document in documents for segment in reference.split(document, pattern)]
        assert segments_of(documents, pattern) == want, pattern


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_code_point(pattern: str) -> None:
    """Between letters of both cases, behind a space and an apostrophe, before a contraction and a number."""
    points = known()
    assert points.size > 0x110000 * 0.9
    around = [-1, ord("b"), ord(" "), -1, ord("A"), ord("'"), -1, ord("s"), ord("\n"), -1, ord("1")]
    grid = np.empty((points.size, len(around)), np.uint32)
    for k, fixed in enumerate(around):
        grid[:, k] = points if fixed < 0 else fixed
    flat = grid.reshape(-1)
    text = flat.tobytes().decode("utf-32-le" if sys.byteorder == "little" else "utf-32-be", "surrogatepass")
    widths = 1 + (flat >= 0x80) + (flat >= 0x800) + (flat >= 0x10000)
    ends = np.concatenate([[0], np.cumsum(widths)])
    want = [0] + [found.end() for found in reference._COMPILED[pattern].finditer(text)]
    values, offsets = text_of(text.encode("utf-8", "surrogatepass"))
    assert np.array_equal(scan(values, offsets, pattern, 1), ends[want])


def test_samples_of_many_scripts() -> None:
    for line in SAMPLES.splitlines(keepends=True):
        check([line.encode()])
        check([line.strip().encode(), b"", line[::-1].encode(), line.upper().encode(), line.swapcase().encode()])
    check([SAMPLES.encode()])


def test_source_code_of_this_interpreter() -> None:
    folder = pathlib.Path(sysconfig.get_paths()["stdlib"])
    names = ["argparse", "ast", "inspect", "locale", "textwrap", "unittest/mock", "encodings/aliases", "html/entities"]
    check([(folder / f"{name}.py").read_bytes() for name in names])


@given(st.lists(spoken(), max_size=4))
@example([b"", b"'", b"'l", b"", b"'r", b" ", b" \n ", b"  "])
@example(["中Ab".encode(), "中A".encode(), "A中".encode(), "A中b".encode(), "A中B".encode(), "中A'S".encode()])
def test_any_text(documents: list[bytes]) -> None:
    check(documents)


PIECES = [bytes([b]) for b in b"aA '\n1\x80\xbf\xa0\x9f\x90\x8f\xc0\xc2\xc3\xc5\xdf\xe0\xe1\xe4\xed\xef\xf0\xf1\xf4\xf5\xff"]


@given(st.lists(st.one_of(st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join), st.binary(max_size=20)), max_size=3))
@example(
    [b"\xe4\xb8\xadA\xe4\xb8", b"\xadb", b"'\xc5", b"\xbf", b"\xed\xa0\x80\xed\xb0\x80a", b"\xf0\x9f\x98", b"\x80\x80 \x80a"]
)
def test_any_bytes(documents: list[bytes]) -> None:
    check(documents)


@given(st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join))
def test_the_rule_for_stray_bytes_is_that_of_two_handlers(data: bytes) -> None:
    def both(error: UnicodeError) -> Any:
        try:
            return codecs.lookup_error("surrogatepass")(error)
        except UnicodeError:
            return codecs.lookup_error("surrogateescape")(error)

    codecs.register_error("test_words_both", both)
    assert "".join(point for point, _ in reference.decoded(data)) == data.decode("utf-8", "test_words_both")


UNITS = [" ", "a", "A", "5", "'", "\n", "中", "\u0301", "中A", "\u0301A", " \n", "'s", b"\x80"]


@pytest.mark.parametrize("unit", UNITS)
def test_long_repetitions_take_linear_time(unit: str | bytes) -> None:
    """Linear: ten megabytes of one thing, or of two, where a backtracking engine may take hours."""
    raw = unit if isinstance(unit, bytes) else unit.encode()
    n = 10_000_000 // len(raw) // 3 * 3  # numbers come in threes
    for pattern in PATTERNS:
        want = np.array([len(segment) for segment in reference.split(raw * 3000, pattern)])
        got = np.diff(scan(*text_of(raw * n), pattern, 1))
        assert got.sum() == n * len(raw)
        if want.size < 5:  # nearly all is one segment
            long, short = int(got.argmax()), int(want.argmax())
            assert long == short and np.array_equal(np.delete(got, long), np.delete(want, short)), pattern
        else:
            half = want.size // 2
            assert np.array_equal(got[:half], want[:half]) and np.array_equal(got[-half:], want[-half:]), pattern
            assert np.array_equal(np.unique(got), np.unique(want)), pattern


def test_bytes_past_the_last_code_point():
    """F4 90 80 80 would be a code point past the last, and is read as four stray bytes."""
    for raw in (
        b"\xf4\x90\x80\x80",
        b"a\xf4\x90\x80\x80b",
        b" \xf4\xbf\xbf\xbf1",
        b"\xf4\x8f\xbf\xbf\xf4\x90\x80\x80",
        b"A\xf4\xa0\x80\x80\xf4\xb0\x80\x80 x",
    ):
        for pattern in PATTERNS:
            v = np.frombuffer(raw, np.uint8)
            cuts = scan(v, np.array([0, v.size]), pattern, 1)
            assert [v[a:b].tobytes() for a, b in zip(cuts[:-1], cuts[1:], strict=True)] == reference.split(raw, pattern), (
                raw,
                pattern,
            )
