"""Text cut by kernels: the same segments as `regex` gives, for every code point and any bytes; counting and encoding them."""

from __future__ import annotations

import codecs
import functools
import pathlib
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st
from reference import words as reference

from ubpe_numba import BPE, FitRules, Ragged, UnknownSymbolError, count_documents
from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.coding.word_encoder import WordEncoder
from ubpe_numba.runtime import thread_pool
from ubpe_numba.text import count_words as count_words_module
from ubpe_numba.text import unicode_classes as code_points
from ubpe_numba.text.count_words import count_words
from ubpe_numba.text.cut import BLOCK, PATTERNS, scan
from ubpe_numba.text.unicode_data import UNICODE_VERSION
from ubpe_numba.vocabulary.vocabulary import Vocabulary

SAME_UNICODE = code_points.unicode_of_regex() == UNICODE_VERSION


@functools.cache
def known() -> np.ndarray:
    """The code points of which `regex` and the committed table say the same: all, if they know the same Unicode."""
    return np.flatnonzero(code_points.flags_by_regex() == code_points.flags_of_code_points())


def text_of(*documents: bytes) -> tuple[np.ndarray, np.ndarray]:
    lengths = [len(document) for document in documents]
    return np.frombuffer(b"".join(documents), np.uint8), np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def segments_of(documents: list[bytes], pattern: str, n_threads: int = 1) -> list[bytes]:
    values, offsets = text_of(*documents)
    cuts = scan(values, offsets, pattern, n_threads)
    assert (cuts[0], cuts[-1], cuts.dtype) == (0, values.size, np.int64)
    return [values[a:b].tobytes() for a, b in zip(cuts[:-1], cuts[1:], strict=True)]


def check(documents: list[bytes]) -> None:
    for pattern in PATTERNS:
        want = [segment for document in documents for segment in reference.split(document, pattern)]
        assert segments_of(documents, pattern) == want, pattern


# ------------------------------------------------------------------------------------------------------------- classes


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


# ------------------------------------------------------------------------------------------------------------- cutting


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


SAMPLES = """\
It's what she'd've said: they'LL, we'Re, I'M, 'tis 'Sblood, 'ſo, xx'ſ, YOU'RE 'veal 'dare 'll'l
The year 1234567 was ½ of ⅷⅸ, ٠١٢٣٤٥, १२३ and 𝟘𝟙𝟚𝟛.
Der Fuß, ÜBER Maß; naïve café, e\u0301te\u0301, ÉTÉ; ǅ ǈ ǋ; İstanbul, ıııı; ﬁﬂ; ΣΑΣ ς; КАТЮША и Маша
中文和English混在一起AB中C，中Ab中A。ひらがなカタカナーABCカ 한국어 문장 THE한END
עברית, العَرَبِيَّة ١٢٣, हिन्दी में, ไทยไทย, ქართული ᲥᲐᲠᲗᲣᲚᲘ, ꭰꮳꮃ ᏣᎳᎩ, 𐐷𐐏𐐏𐐷
👩‍👩‍👧‍👦 🏳️‍🌈 ❤️ ☺ ¿¡«»… -- --- //// /\n/ ///x a/b /* */ \r\n\r\n \t\tdef f(x):\r\n        return  x  \n\n\n   \n
a\x1cb\x1d \x1e\x1f \x85\xa0\u1680\u2000\u2003\u2028\u2029\u202f\u205f\u3000x \u200b\ufeff \u180e \x0b\x0c\x00\x7f
snake_case CamelCase HTTPServer XMLHttpRequest iPhone mRNA 3D x86_64 0xFF 1e-10 $12,345.67 #tag @user a.b@c.de http://x.y/z?q=1
\u0300\u0301 \u0300ABC \u0300abc '\u0300s !\u0300A !Ab !AB's ABC'sDEF'S \u02b0A\u02b0 中'S中's \t'll \n's \u3000's
"""


def test_samples() -> None:
    for line in SAMPLES.splitlines(keepends=True):
        check([line.encode()])
        check([line.strip().encode(), b"", line[::-1].encode(), line.upper().encode(), line.swapcase().encode()])
    check([SAMPLES.encode()])


def test_this_interpreters_sources() -> None:
    folder = pathlib.Path(sysconfig.get_paths()["stdlib"])
    names = ["argparse", "ast", "inspect", "locale", "textwrap", "unittest/mock", "encodings/aliases", "html/entities"]
    check([(folder / f"{name}.py").read_bytes() for name in names])


POINTS = [*"aAzZbS sStTdDlLvVrReEmM''''15٣ \n\r\t  //_-.\u00a0\u3000\x1c\x85"]
POINTS += [*"éÉß\u017fǅʰ中日\u0301\u0300\U00010428\U00010400😀½\ud800\udc80"]


def spoken() -> st.SearchStrategy[bytes]:
    points = st.one_of(st.sampled_from(POINTS), st.integers(0, 2**31).map(lambda i: chr(known()[i % known().size])))
    return st.lists(points, max_size=40).map(lambda points: "".join(points).encode("utf-8", "surrogatepass"))


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
def test_long_repetition(unit: str | bytes) -> None:
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


# ------------------------------------------------------------------------------------------------------------ counting


@given(st.lists(spoken(), max_size=5), st.sampled_from(PATTERNS), st.sampled_from([1, 2, 5]))
@example([b"aaaaaaaa aaaaaaaaa aaaaaaaa\0 aaaaaaaaaaaaaaaaaaaaaaaab aaaaaaaaaaaaaaaaaaaaaaaac"] * 3, "gpt2", 2)
def test_counts(documents: list[bytes], pattern: str, n_threads: int) -> None:
    values, offsets = text_of(*documents)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(thread_pool, "SERIAL_BELOW", 0)
        counts = count_words(values, offsets, pattern, n_threads)
        assert counts == count_words(values, offsets, scan(values, offsets, pattern, n_threads), 1)
    assert dict(zip(counts.to_lists(), counts.weights.tolist(), strict=True)) == reference.count_segments(documents, pattern)
    assert counts.kind == "bytes"
    if segments := [segment for document in documents for segment in reference.split(document, pattern)]:
        assert counts == count_documents(segments)


def test_counts_of_many_words() -> None:
    """Tables that grow, words that differ behind the eighth byte only, and more of them than a block holds."""
    rng = np.random.default_rng(0)
    documents = [b" ".join(b"%d" % i for i in rng.integers(0, 60_000, 20_000)) for _ in range(6)]
    documents += [b" ".join(b"x" * 11 + b"abcdefgh"[i : i + 1] for i in rng.integers(0, 8, 5000))]
    values, offsets = text_of(*documents)
    want = count_documents([segment for document in documents for segment in reference.split(document, "gpt2")])
    assert len(want) > 3 * count_words_module._FIRST_TABLE
    for n_threads in (1, 2, 3):
        assert count_words(values, offsets, "gpt2", n_threads) == want
        assert np.array_equal(scan(values, offsets, "gpt2", n_threads), scan(values, offsets, "gpt2", 1))


def test_documents_in_the_middle_of_an_array() -> None:
    values = np.frombuffer(b"abc def ghi", np.uint8)
    offsets = np.array([2, 6, 6, 9])
    assert scan(values, offsets, "gpt2").tolist() == [2, 3, 6, 7, 9]
    assert count_words(values, offsets, "gpt2").to_lists() == [b"c", b" de", b"f", b" g"]
    assert encoder_of(Vocabulary.from_merges(256, [])).encode(values, offsets, "gpt2").to_lists() == [
        [99, 32, 100, 101], [], [102, 32, 103],
    ]  # fmt: skip


# ------------------------------------------------------------------------------------------------------------ encoding


def fitted(documents: list[bytes], n_learned: int) -> BPE:
    """A tokenizer over bytes, learned from the documents cut as GPT-2 does."""
    return BPE(256 + n_learned, alphabet=256).fit(count_words(*text_of(*documents), "gpt2"), progress=False)


def encoder_of(vocabulary: Vocabulary, byte_ids: np.ndarray | None = None) -> WordEncoder:
    return WordEncoder(PairEncoder(vocabulary, batch=False), byte_ids)


def joined(tokenizer: BPE, documents: list[bytes], pattern: str) -> list[list[int]]:
    return [[t for ids in tokenizer.encode_batch(split).to_lists() for t in ids]
            if (split := reference.split(d, pattern)) else [] for d in documents]  # fmt: skip


def texts() -> st.SearchStrategy[bytes]:
    """Few symbols, so that pairs recur; words longer than a line of the cache, and of more ids than it holds."""
    word = st.one_of(
        st.text("ab", min_size=1, max_size=6),
        st.text("abcdefghijklmnop", max_size=40),
        st.sampled_from(["a" * 50, "ab" * 30, "é"]),
    )
    return st.lists(word, max_size=8).map(lambda found: " ".join(found).encode())


@given(st.lists(texts(), max_size=5), st.integers(0, 30), st.sampled_from(PATTERNS), st.sampled_from([1, 3]))
@example([b"", b"abababab" * 9, b"", b"aaaaaaaaa a aaa", b""], 20, "cl100k", 3)
def test_encoding(documents: list[bytes], n_learned: int, pattern: str, n_threads: int) -> None:
    tokenizer = fitted(documents, n_learned)
    encoder = encoder_of(tokenizer.vocabulary)
    values, offsets = text_of(*documents)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(thread_pool, "SERIAL_BELOW", 0)
        ids = encoder.encode(values, offsets, pattern, n_threads)
        again = encoder.encode(values, offsets, scan(values, offsets, pattern), n_threads)  # with a warm cache
    assert ids == again
    merges = tokenizer.vocabulary.merges
    assert merges is not None
    ranked = {(int(a), int(b)): (i, 256 + i) for i, (a, b) in enumerate(merges)}
    want = [reference.encode_segments(document, pattern, ranked, list(range(256))) for document in documents]
    assert ids.to_lists() == want == joined(tokenizer, documents, pattern)


@pytest.mark.parametrize("rules", [FitRules(order="idf"), FitRules(encode="batch")])
def test_encoding_of_other_tables(rules: FitRules) -> None:
    """Those that are not in order of creation, and the batch rule, go without a `WordEncoder`."""
    documents = [line.encode() for line in SAMPLES.splitlines(keepends=True)] * 2 + [b""]
    tokenizer = BPE(316, alphabet=bytes(range(256)), pretokenizer="o200k", rules=rules).fit(documents, progress=False)
    uncut = BPE.from_merges(tokenizer.vocabulary.merges, alphabet=256, rules=rules)
    for n_threads in (1, 2):
        assert tokenizer.set_params(n_threads=n_threads).encode_batch(documents).to_lists() == joined(uncut, documents, "o200k")


@pytest.mark.parametrize("n", [BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK])
def test_blocks_that_are_full(n: int) -> None:
    """Every byte is a segment, and the last block is full, or lacks one, or holds one."""
    values, offsets = text_of((b"a," * BLOCK)[:n])
    cuts = np.arange(n + 1)
    assert np.array_equal(scan(values, offsets, "gpt2"), cuts)
    encoder = encoder_of(Vocabulary.from_merges(256, []))
    for segments in ("gpt2", cuts):
        assert count_words(values, offsets, segments).weights.tolist() == [n - n // 2, n // 2]
        assert np.array_equal(encoder.encode(values, offsets, segments).values, values)


def test_symbols_in_another_order() -> None:
    """As published vocabularies have them: byte 255 - i is symbol i + 1, and symbol 0 is none."""
    byte_ids = 256 - np.arange(256)
    merges = np.array([[byte_ids[97], byte_ids[98]], [257, 257], [byte_ids[32], 258]])
    encoder = encoder_of(Vocabulary.from_merges(257, merges), byte_ids)
    assert encoder.encode(*text_of(b"abab abab ba"), "gpt2").to_lists() == [[258, 259, byte_ids[32], byte_ids[98], byte_ids[97]]]


def test_long_words() -> None:
    """Megabytes without a boundary take linear time and are what documents of them are."""
    rng = np.random.default_rng(3)
    documents = [b"a" * 3_000_000, rng.choice([97, 98], 1_000_000).astype(np.uint8).tobytes(), b"ab" * 500_000]
    tokenizer = fitted([document[:4000] for document in documents], 200)
    ids = encoder_of(tokenizer.vocabulary).encode(*text_of(*documents), "gpt2")
    assert ids == tokenizer.encode_batch(documents)


def test_threads_share_an_encoder() -> None:
    documents = [line.encode() for line in SAMPLES.splitlines(keepends=True)]
    encoder = encoder_of(fitted(documents, 80).vocabulary)
    text = text_of(*documents)
    want = encoder.encode(*text, "cl100k")
    with ThreadPoolExecutor(8) as pool:
        assert all(ids == want for ids in pool.map(lambda _: encoder.encode(*text, "cl100k", 1), range(40)))


def test_many_words_meet_in_the_cache() -> None:
    """Far more words than the cache has lines: it forgets, and never mixes two up."""
    rng = np.random.default_rng(1)
    document = b" ".join(b"%d" % i for i in rng.integers(0, 10**6, 150_000))
    tokenizer = fitted([document[:20_000]], 300)
    encoder = encoder_of(tokenizer.vocabulary)
    text = text_of(document)
    cuts = scan(*text, "gpt2")
    want = tokenizer.encode_batch(Ragged(text[0].astype(np.int32), cuts))
    for _ in range(2):
        assert np.array_equal(encoder.encode(*text, "gpt2").values, want.values)


# -------------------------------------------------------------------------------------------------------------- errors


def test_what_is_refused() -> None:
    values, offsets = text_of(b"ab cd", b"e")
    for call in (scan, count_words):
        with pytest.raises(TypeError, match="values: expected a 1-D array of uint8, got an array of int64"):
            call(values.astype(np.int64), offsets, "gpt2")
        with pytest.raises(TypeError, match="offsets: expected a 1-D array of int64, got list"):
            call(values, offsets.tolist(), "gpt2")
        with pytest.raises(ValueError, match="offsets: expected at most 6"):
            call(values, np.array([0, 7]), "gpt2")
        with pytest.raises(ValueError, match="pattern: expected one of gpt2, cl100k, o200k, got 'gpt5'"):
            call(values, offsets, "gpt5")
    with pytest.raises(TypeError, match="segments: expected a pattern's name or a 1-D array of int64, got None"):
        count_words(values, offsets, None)
    with pytest.raises(ValueError, match="segments: segment 1 is empty: 2, then 2"):
        count_words(values, offsets, np.array([0, 2, 2, 5, 6]))
    with pytest.raises(ValueError, match=r"segments: expected 0\.\.6 as the offsets, got 0\.\.5"):
        count_words(values, offsets, np.array([0, 5]))
    with pytest.raises(ValueError, match="segments: one lies across 5, where document 1 begins"):
        count_words(values, offsets, np.array([0, 6]))


def test_a_byte_that_the_alphabet_has_not() -> None:
    tokenizer = BPE(3, alphabet=b"ab", pretokenizer="gpt2").fit([b"ab", b"ba", b"ab"], progress=False)
    assert tokenizer.encode_batch([b"ab", b"ba"]).to_lists() == [[2], [1, 0]]
    with pytest.raises(UnknownSymbolError, match="document 1, position 2: symbol 99"):
        tokenizer.encode_batch([b"ab", b"bac"])


def test_a_bad_number_of_threads() -> None:
    encoder = encoder_of(Vocabulary.from_merges(256, []))
    with pytest.raises(ValueError, match="n_threads: expected at least 1, got 0"):
        encoder.encode(*text_of(b"ab"), "gpt2", 0)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_nothing(pattern: str) -> None:
    encoder = encoder_of(Vocabulary.from_merges(256, []))
    for documents in ([], [b""], [b"", b""]):
        text = text_of(*documents)
        assert scan(*text, pattern).tolist() == [0]
        assert len(count_words(*text, pattern)) == 0
        assert encoder.encode(*text, pattern).to_lists() == [[] for _ in documents]
        assert encoder.encode(*text, np.array([0])).to_lists() == [[] for _ in documents]


def test_integers_do_not_wait_for_text() -> None:
    script = """
import sys
from ubpe_numba import BPE
tokenizer = BPE(6, alphabet=4).fit([[0, 1, 0, 1, 2, 3]], progress=False)
assert tokenizer.decode(tokenizer.encode([0, 1])).tolist() == [0, 1]
text = {"coding.word_encoder", "text.unicode_classes", "text.unicode_data", "text.count_words", "text.kernels.utf8"}
assert not ({f"ubpe_numba.{name}" for name in text} | {"regex"}) & set(sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_regex_knows_the_long_s() -> None:
    """What the kernels take for granted: U+017F is the one further code point that folds to a letter of a contraction."""
    everything = "".join(map(chr, range(0x80, 0x110000)))
    assert regex.findall("(?i)[sdmtlver]", everything) == ["\u017f"]
