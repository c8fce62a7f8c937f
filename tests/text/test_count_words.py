"""Counting the segments of text: the counts of the plain reference, on any number of threads."""

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from reference import words as reference
from tables import refuses
from text_samples import spoken, text_of

from ubpe_numba import count_documents
from ubpe_numba.runtime import thread_pool
from ubpe_numba.text import count_words as count_words_module, cut
from ubpe_numba.text.count_words import count_words
from ubpe_numba.text.cut import PATTERNS, scan


@given(st.lists(spoken(), max_size=5), st.sampled_from(PATTERNS), st.sampled_from([1, 2, 5]))
@example(
    [b"aaaaaaaa aaaaaaaaa aaaaaaaa\0 aaaaaaaaaaaaaaaaaaaaaaaab aaaaaaaaaaaaaaaaaaaaaaaac"] * 3, "gpt2", 2
)
def test_counts_equal_the_reference(documents: list[bytes], pattern: str, n_threads: int) -> None:
    values, offsets = text_of(*documents)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(thread_pool, "SERIAL_BELOW", 0)
        patch.setattr(cut, "_PART", 9)  # bytes of the parts of a long document
        counts = count_words(values, offsets, pattern, n_threads)
        assert counts == count_words(values, offsets, scan(values, offsets, pattern, n_threads), 1)
    assert dict(zip(counts.to_lists(), counts.weights.tolist(), strict=True)) == reference.count_segments(
        documents, pattern
    )
    if segments := [segment for document in documents for segment in reference.split(document, pattern)]:
        assert counts == count_documents(segments)


def test_counts_of_many_words_equal_those_of_documents() -> None:
    """Tables that grow, words that differ behind the eighth byte only, and more of them than a block holds."""
    rng = np.random.default_rng(0)
    documents = [b" ".join(b"%d" % i for i in rng.integers(0, 60_000, 20_000)) for _ in range(6)]
    documents += [b" ".join(b"x" * 11 + b"abcdefgh"[i : i + 1] for i in rng.integers(0, 8, 5000))]
    values, offsets = text_of(*documents)
    want = count_documents(
        [segment for document in documents for segment in reference.split(document, "gpt2")]
    )
    assert len(want) > 3 * count_words_module._FIRST_TABLE
    for n_threads in (1, 2, 3):
        assert count_words(values, offsets, "gpt2", n_threads) == want
        assert np.array_equal(scan(values, offsets, "gpt2", n_threads), scan(values, offsets, "gpt2", 1))


def test_many_words_that_differ_by_a_final_nul() -> None:
    """A word and the same with a NUL byte at its end differ in length only: their bytes, filled up with zeros, are the same."""
    words = [w for i in range(40_000) for w in (b"%d" % i, b"%d\0" % i)]
    flat = np.frombuffer(b"".join(words), np.uint8)
    offsets = np.concatenate([[0], np.cumsum([len(w) for w in words])])
    counts = count_words(flat, np.array([0, flat.size]), offsets)
    assert counts.to_lists() == words


def test_what_is_refused() -> None:
    values, offsets = text_of(b"ab cd", b"e")
    for call in (scan, count_words):
        with pytest.raises(TypeError, match="values: expected a 1-D array of uint8, got an array of int64"):
            call(values.astype(np.int64), offsets, "gpt2")
        with pytest.raises(TypeError, match="offsets: expected a 1-D array of int64, got list"):
            call(values, offsets.tolist(), "gpt2")
        refuses(ValueError, "offsets: expected at most 6", call, values, np.array([0, 7]), "gpt2")
