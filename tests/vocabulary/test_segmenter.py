"""Segments of text: learned, encoded and decoded as documents of their own."""

from typing import Any

import pytest
from hypothesis import given, strategies as st
from reference.reserved import find_words
from tables import each, refuses
from text_samples import TEXT, cut

from ubpe_numba import BPE, Preprocessing, count_documents
from ubpe_numba.errors import ModelFormatError
from ubpe_numba.text.pretokenizer import Pretokenizer
from ubpe_numba.vocabulary.segmenter import _MOST_STEPS as _MOST, Decoding

pytest.importorskip("regex")
pytestmark = pytest.mark.filterwarnings("ignore:every idf is 0:UserWarning")  # few documents, or all alike


@each("name", ["gpt2", "o200k", "whitespace", "digits3", "t|s"])
def test_a_fit_is_one_on_the_segments(cls: Any, name: str) -> None:
    tok = cls(60, preprocessing=Preprocessing(pretokenizer=name)).fit(TEXT, progress=False)
    segments = cut(Pretokenizer(name).pattern, TEXT)
    want = cls(60).fit(count_documents([segment for parts in segments for segment in parts]), progress=False)
    assert tok._model.vocabulary == want._model.vocabulary and tok._model.alphabet == want._model.alphabet
    assert tok._model.vocabulary.n_documents == sum(map(len, segments))  # a segment is the document of idf
    for text, parts in zip(TEXT, segments, strict=True):
        ids = tok.encode(text)
        assert (
            ids.tolist() == [i for part in parts for i in want.encode(part).tolist()]
            and tok.decode(ids) == text
        )
    batch = tok.encode_batch(TEXT)
    assert (
        batch.to_lists() == [tok.encode(text).tolist() for text in TEXT] and tok.decode_batch(batch) == TEXT
    )


PIECES = ["the", "cat ", "<a>", "<ab>", "<", "ab>", " 12", "\n", "<a", "END", ">", "é"]


@given(
    st.sampled_from([None, "gpt2", "digits1"]), st.lists(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), max_size=4),
    st.sets(st.sampled_from(["<a>", "<ab>"])),
)  # fmt: skip
def test_special_tokens_and_segments_are_encoded_apart(
    name: str | None, docs: list[str], allowed: set[str]
) -> None:
    """Special tokens by the reference, what lies between cut by the pattern, and every segment encoded by itself."""
    tok, plain = TOKENIZERS[name]
    special = ["<a>", "<ab>", "END"]
    active = [word in allowed for word in special[:2]] + [True]
    want = []
    for doc in docs:
        ids, end = [], 0
        spans = [
            (at, special[i])
            for at, i in find_words([*map(ord, doc)], [[*map(ord, word)] for word in special], active)
        ]
        for at, word in [*spans, (len(doc), "")]:
            between = doc[end:at]
            segments = [between] if name is None else cut(Pretokenizer(name).pattern, [between])[0]
            ids += [i for segment in segments for i in plain.encode(segment).tolist()]
            ids += [tok.vocabulary.special[word]] if word else []
            end = at + len(word)
        want.append(ids)
    assert tok.encode_batch(docs, allowed_special=allowed, disallowed_special="none").to_lists() == want
    assert (
        tok.decode_batch(tok.encode_batch(docs, allowed_special=allowed, disallowed_special="none")) == docs
    )


def pair(name: str | None) -> tuple[Any, Any]:
    """A tokenizer, and one of the same merges that does not cut."""
    tok = BPE(60, preprocessing=Preprocessing(name, ["<a>", "<ab>"], known_words=["END"])).fit(
        ["".join(PIECES), "the cat the cat <ab> 12 12<ab", "ab> "] * 2, progress=False
    )
    return tok, BPE.from_merges(
        tok._model.vocabulary.merges, tok._model.alphabet.output(tok._model.alphabet.symbols)
    )


TOKENIZERS = {name: pair(name) for name in (None, "gpt2", "digits1")}


def test_so_many_characters_may_be_left_out_of_decoded_text() -> None:
    for n in (0, 1, _MOST):
        assert Decoding.from_state({"replace": [["a", "b"]], "strip": " ", "n": n}) == Decoding(
            (("a", "b"),), " ", n
        )
    for n, strip in ((-1, " "), (_MOST + 1, " "), (1, "")):
        state = {"replace": [], "strip": strip, "n": n}
        refuses(ModelFormatError, rf"decoding: n: expected 0\.\.{_MOST}", Decoding.from_state, state)
