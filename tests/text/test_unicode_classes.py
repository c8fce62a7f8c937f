"""The classes of code points that the kernels know, against `regex`."""

import itertools
import subprocess
import sys
import unicodedata

import numpy as np
import pytest
import regex
import unicode_tables as tables

from ubpe_numba.text import unicode_classes as code_points
from ubpe_numba.text.patterns import VERSION_OF_OTHERS
from ubpe_numba.text.unicode_data import UNICODE_VERSION

SAME_UNICODE = tables.unicode_of_regex() == UNICODE_VERSION


@pytest.mark.skipif(not SAME_UNICODE, reason=f"this regex knows another Unicode than {UNICODE_VERSION}")
def test_the_committed_classes_are_those_of_regex() -> None:
    assert np.array_equal(tables.flags_by_regex(), code_points.flags_of_code_points())


def test_the_classes_are_those_of_pythons_unicode() -> None:
    """Whichever version of Unicode this Python has, if it is one of those that are known."""
    version = unicodedata.unidata_version
    if version not in code_points.VERSIONS:
        pytest.skip(f"no classes of Unicode {version}")
    lines = [f"{point:04X} ; {unicodedata.category(chr(point))}" for point in range(0x110000)]
    assert np.array_equal(tables.flags_by_categories(lines), code_points.flags_of_code_points(version))


def test_versions_differ_by_what_was_added() -> None:
    for newer, older in itertools.pairwise(code_points.VERSIONS):
        now, then = code_points.flags_of_code_points(newer), code_points.flags_of_code_points(older)
        changed = np.flatnonzero(now != then)
        # U+0295 has a case since 17.0
        assert 0 < changed.size < 20_000 and (then[changed] == 0).sum() >= changed.size - 1
        assert np.array_equal(code_points.class_table(older)[34816 : 34816 + 128], now[:128] & ~np.uint8(64))


CLASSES = {
    1: r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", 2: r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", 4: r"\p{L}", 8: r"\p{N}", 16: r"\s",
    64: r"[\p{P}\p{S}]",
}  # fmt: skip
EVERYTHING = [chr(point) for point in range(0x110000) if not 0xD800 <= point <= 0xDFFF]


def test_the_version_of_tokenizers() -> None:
    theirs, flags = pytest.importorskip("tokenizers"), code_points.flags_of_code_points(VERSION_OF_OTHERS)
    for flag, pattern in CLASSES.items():
        cutter = theirs.pre_tokenizers.Split(theirs.Regex(pattern), "removed")
        kept = "".join(piece for piece, _ in cutter.pre_tokenize_str("".join(EVERYTHING)))
        assert kept == "".join(c for c in EVERYTHING if not flags[ord(c)] & flag), pattern


def test_the_version_of_tiktoken() -> None:
    theirs, flags = pytest.importorskip("tiktoken"), code_points.flags_of_code_points(VERSION_OF_OTHERS)
    ranks = {bytes([byte]): byte for byte in range(256)}
    for flag, pattern in CLASSES.items():
        encoding = theirs.Encoding("classes", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
        want = "".join(c for c in EVERYTHING if flags[ord(c)] & flag).encode()
        assert bytes(encoding.encode_ordinary("".join(EVERYTHING))) == want, pattern


def test_a_text_as_an_older_version_sees_it() -> None:
    new = "".join(chr(point) for point in range(0x16EA0, 0x16EA3))  # letters since 17.0
    text = f"a{new}b \u0295 é"
    assert code_points.as_of("17.0.0", text) == text and code_points.as_of("16.0.0", "abc") == "abc"
    seen = code_points.as_of("16.0.0", text)
    assert regex.sub(r"\p{L}", "L", seen) == f"L{seen[1:4]}L L L" and not regex.search(r"\p{L}", seen[1:4])
    assert regex.match(r"\p{Ll}", seen[6]) and not regex.match(r"\p{Ll}", text[6])


def test_regex_knows_the_long_s() -> None:
    """The kernels assume that U+017F is the only other code point that folds to a letter of a contraction."""
    everything = "".join(map(chr, range(0x80, 0x110000)))
    assert regex.findall("(?i)[sdmtlver]", everything) == ["\u017f"]


def test_threads_do_not_meet_in_the_table_of_base85() -> None:
    """Python 3.11 fills it at the first call, without a lock; here it is full before threads come."""
    code = "import base64, ubpe_numba.text.unicode_classes as u; assert getattr(base64, '_b85dec', ()) is not None"
    subprocess.run([sys.executable, "-c", code], check=True)
