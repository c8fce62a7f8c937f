"""Text that a pattern cuts, in chunks: what is certain is the beginning of every encoding, all of it that of the whole."""

import functools
import pickle
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tables import each, refused, refuses
from text_samples import POINTS, SAMPLES

from ubpe_numba import BPE, UBPE, Preprocessing
from ubpe_numba.errors import SpecialTokenError, UnknownSymbolError
from ubpe_numba.text import Normalizer, Pretokenizer, Splitter, first_change
from ubpe_numba.text.patterns import NAMED

# that begin alike, overlap, are in words, and are cut elsewhere
WORDS = ["<s>", "<s>ab<", "<<", "the", " \n", "é'"]
PIECES = [
    *POINTS, *WORDS, *"<s", "the cat ", "'re", "'LL", "123456", "   ", "\r\n", "aaaa", "AAA", "中A", "!\n", "a\u0301", "\t\t1",
    "\n\n/",
]  # fmt: skip
BROKEN = [b"\xff", b"\x80", "中".encode()[:2], "😀".encode()[:3], "😀".encode()[1:], b"\xed\xa0"]


@functools.cache
def tokenizers(pattern: str) -> list[Any]:
    """Over bytes by rank, and by the best path; over characters."""
    docs = [SAMPLES, "> é", " ".join(PIECES) * 2, "the cat sat on the mat, the cat that sat\n" * 3]
    characters = Preprocessing(pretokenizer=pattern, special_tokens=WORDS)
    return [
        BPE.for_text(320, pretokenizer=pattern, special_tokens=WORDS).fit(docs, progress=False),
        UBPE.for_text(320, pretokenizer=pattern, objective="shortest").fit(docs, progress=False),
        BPE(700, preprocessing=characters).fit(docs, progress=False),
    ]


@given(st.data(), st.sampled_from([*NAMED]), st.lists(st.sampled_from([*PIECES, *BROKEN]), max_size=25))
def test_chunks_are_the_whole_wherever_they_end(
    data: st.DataObject, pattern: str, pieces: list[str | bytes]
) -> None:
    """Of what is held, whatever follows may change what comes next; together with it, ids are those of all until now."""
    options = data.draw(st.sampled_from([{"allowed_special": "all"}, {"disallowed_special": "none"}]))
    options = (
        options | {"allowed_special": {"<s>", "the"}, "disallowed_special": "none"}
        if data.draw(st.booleans())
        else options
    )
    for tok in tokenizers(pattern):
        as_bytes = tok.preprocessing.encoding is not None
        if as_bytes:
            whole: Any = b"".join(
                p if isinstance(p, bytes) else p.encode("utf-8", "surrogatepass") for p in pieces
            )
        else:
            whole = "".join(p for p in pieces if isinstance(p, str))
        chosen = options if tok.preprocessing.special_tokens else {}
        cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=12)))
        stream, parts = tok.stream(**chosen), [np.zeros(0, np.int32)]
        for a, b in pairwise([0, *cuts, len(whole)]):
            fork = stream.copy()
            parts.append(stream.push(whole[a:b]))
            assert fork.push(whole[a:b]).tolist() == parts[-1].tolist()
            now = np.concatenate([*parts, stream.pending]).tolist()
            assert now == tok.encode(whole[:b], **chosen).tolist()
        parts.append(stream.finish())
        assert (
            np.concatenate(parts).tolist() == tok.encode(whole, **chosen).tolist() and not stream.pending.size
        )


HELD = [  # the pattern, a text, and what of it is held
    ("gpt2", "it's 12  ", "  "), ("gpt2", "it'r", "'r"), ("gpt2", "the end.", "."), ("cl100k", "one \n", " \n"),
    ("cl100k", "1234", "4"), ("cl100k", "123", ""), ("o200k", "so 中AB", " 中AB"), ("o200k", "so it'l", " it'l"),
    ("tekken", "so it'", "'"), ("llama3", "a!\n  ", "  "), ("qwen2", "a 12", ""), ("starcoder", "a  ", "  "),
    ("deepseek", "12中文", "中文"), ("kimi", "ab 中", "中"), ("whitespace", "a b ", " "), ("digits", "ab 12", "12"),
    ("gpt2", "\r\n/", "/"),  # two segments before the sign, one at the end of a document
    ("gpt2", "so <s>b", "b"), ("gpt2", "so <s", " <s"), ("gpt2", "<s><s>ab", "<s>ab"), ("gpt2", "so é".encode()[:-1], " \xc3"),
]  # fmt: skip


@each("pattern, text, held", HELD)
def test_as_little_is_held_as_may_change(pattern: str, text: Any, held: str) -> None:
    tok = tokenizers(pattern)[0]
    options = {"allowed_special": {"<s>", "<s>ab<"}, "disallowed_special": "none"}
    stream = tok.stream(**options)
    assert [*stream.push(text), *stream.pending] == tok.encode(text, **options).tolist()
    assert tok.decode(stream.pending, as_bytes=True) == held.encode(
        "latin-1" if isinstance(text, bytes) else "utf-8"
    )


def test_a_word_without_an_end_costs_a_constant_factor(monkeypatch: pytest.MonkeyPatch) -> None:
    tok = tokenizers("gpt2")[0]
    split, sizes = Pretokenizer.split, []

    def counted(self: Pretokenizer, values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        sizes.append(values.size)
        return split(self, values, offsets)

    monkeypatch.setattr(Pretokenizer, "split", counted)
    stream, word, parts = tok.stream(disallowed_special="none"), "x" * 100_000, []
    for a in range(0, len(word), 10):
        parts.append(stream.push(word[a : a + 10]))
    assert sum(sizes) < 120 * len(word) and not np.concatenate(parts).size
    parts += [stream.push(" and" * 30_000), stream.finish()]
    assert (
        np.concatenate(parts).tolist()
        == tok.encode(word + " and" * 30_000, disallowed_special="none").tolist()
    )
    assert parts[-1].size <= 8  # the last word


def test_errors_leave_a_stream_of_text_as_it_was() -> None:
    tok = tokenizers("gpt2")[0]
    stream = tok.stream()
    parts = [stream.push("so it"), stream.push(" is <")]
    refuses(SpecialTokenError, "document 0, position 9: '<s>'", stream.push, "s> x")
    refuses(TypeError, "chunks: chunk 2: a pretokenizer cuts text", stream.push, [104])
    stream = pickle.loads(pickle.dumps(stream))
    parts += [stream.push("b x"), stream.finish()]
    assert np.concatenate(parts).tolist() == tok.encode("so it is <b x").tolist()
    unknown = BPE(9, preprocessing=Preprocessing(pretokenizer="gpt2")).fit(["ab ab"], progress=False)
    refuses(
        UnknownSymbolError,
        "document 0, position 2: symbol 'x'",
        lambda: list(unknown.stream().over(["ab", "x", " a"])),
    )
    assert (
        np.concatenate([*unknown.stream(unknown="skip").over(["ab", "x", " a"])]).tolist()
        == unknown.encode("ab a").tolist()
    )


def test_what_is_not_followed_is_refused_by_name() -> None:
    def of(pretokenizer: Any, **more: Any) -> Any:
        return BPE.for_text(300, pretokenizer=pretokenizer, **more).fit(["ab"], progress=False)

    words = Preprocessing(special_tokens=["<s>"])
    refused([
        (of(r"\w+|\s+").stream, ValueError, r"stream: .*Pretokenizer\('.*named pattern \(gpt2, .*encode_iter"),
        (of(Splitter("WhitespaceSplit")).stream, ValueError, "stream: .*Splitter"),
        (of("gpt2", normalizer=Normalizer("NFC")).stream, ValueError, "stream: a tokenizer with a normalizer"),
        (of(None, special_tokens=["<s>"]).stream, ValueError, "stream: .*special tokens.* no pattern"),
        (BPE(9, preprocessing=words).fit(["ab"], progress=False).stream, ValueError, "stream: .*special tokens.* no pattern"),
        (lambda: of("gpt2").stream(frame=3), ValueError, "frame: expected None where a pattern cuts"),
        (lambda: of("gpt2", special_tokens=["<s>"]).stream(allowed_special={"<t>"}), ValueError, "allowed_special: '<t>'"),
    ])  # fmt: skip


@given(st.lists(st.integers(0, 699), max_size=30))
def test_the_first_change(ids: list[int]) -> None:
    for tok in tokenizers("cl100k"):
        given_ids = [i % tok.vocab_size for i in ids]
        again = tok.encode(tok.decode(given_ids), allowed_special="all").tolist()
        want = next(
            (i for i, (a, b) in enumerate(zip(given_ids, again, strict=False)) if a != b),
            min(len(ids), len(again)),
        )
        assert first_change(tok, given_ids) == want
        assert first_change(tok, again) == len(again) or "\ufffd" in tok.decode(again)
