"""Segments of text: learned, encoded and decoded as documents of their own."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.reserved import find_words
from tables import each
from text_samples import END, TEXT, cut

from ubpe_numba import BPE, Counts, FitRules, Preprocessing, Ragged, count_documents
from ubpe_numba.text.pretokenizer import Pretokenizer

pytest.importorskip("regex")
pytestmark = pytest.mark.filterwarnings("ignore:every idf is 0:UserWarning")  # few documents, or all alike


@each("name", ["gpt2", "cl100k", "o200k", "whitespace", "digits", "digits1", "digits3", "t|s"])
def test_a_fit_is_one_on_the_segments(cls: Any, name: str) -> None:
    tok = cls(60, preprocessing=Preprocessing(pretokenizer=name)).fit(TEXT, progress=False)
    segments = cut(Pretokenizer(name).pattern, TEXT)
    want = cls(60).fit(count_documents([segment for parts in segments for segment in parts]), progress=False)
    assert tok._model.vocabulary == want._model.vocabulary and tok._model.alphabet == want._model.alphabet
    assert tok._model.vocabulary.n_documents == sum(map(len, segments))  # a segment is the document of idf
    for text, parts in zip(TEXT, segments, strict=True):
        ids = tok.encode(text)
        assert ids.tolist() == [i for part in parts for i in want.encode(part).tolist()]
        assert tok.decode(ids) == text
    batch = tok.encode_batch(TEXT)
    assert batch.to_lists() == [tok.encode(text).tolist() for text in TEXT]
    assert tok.decode_batch(batch) == TEXT


def test_weights_boundaries_and_counts(cls: Any) -> None:
    def make() -> Any:
        return cls(60, preprocessing=Preprocessing(pretokenizer="gpt2"))

    weights = [3, 1, 0, 5, 2]
    repeated = [text for text, n in zip(TEXT, weights, strict=True) for _ in range(n)]
    want = make().set_params(alphabet=sorted(set("".join(TEXT)))).fit(repeated, progress=False)
    tok = make().fit(TEXT, sample_weight=weights, progress=False)
    assert tok._model.vocabulary == want._model.vocabulary
    assert tok._model.alphabet == want._model.alphabet  # that of weight 0 has a say
    counted = Counts.merge(*(count_documents([text]) for text in repeated))
    assert make().set_params(alphabet=want.alphabet).fit(counted, progress=False)._model.vocabulary == want._model.vocabulary
    tok = make().fit(["abab abab"] * 3, boundaries=[[2, 7]] * 3, progress=False)
    assert (
        max(len(tok._model.vocabulary.sequence(t)) for t in range(len(tok._model.vocabulary))) == 3
    )  # " ab"; without the cuts 4


def test_min_count_counts_over_all_segments(cls: Any) -> None:
    tok = cls(None, preprocessing=Preprocessing(pretokenizer="gpt2"), rules=FitRules(min_count=3)).fit(
        ["ab cd"] * 2 + ["ab"] * 2, progress=False
    )
    assert tok._model.vocabulary.n_learned == 1 and tok._model.vocabulary.sequence(len(tok._model.vocabulary) - 1).size == 2


def test_bytes_keep_what_is_no_utf8(cls: Any) -> None:
    docs = [b"low low\xff\xfe lowest \xed\xa0\x80 low", b"\x80low"]
    tok = cls(270, preprocessing=Preprocessing(pretokenizer="cl100k")).fit(docs, progress=False)
    assert [tok.decode(tok.encode(doc)) for doc in docs] == docs
    assert any(tok.decode([t]) == b" low" for t in range(256, len(tok._model.vocabulary)))


def test_nothing_to_fit(cls: Any) -> None:
    for docs in ([], [""], [b""]):
        tok = cls(300, preprocessing=Preprocessing(pretokenizer="gpt2")).fit(docs, progress=False)
        assert tok.encode("").size == 0
        tok = cls.for_text(300).fit(docs, progress=False)
        assert tok.decode(tok.encode("any text")) == "any text"


def test_fit_more_and_truncate() -> None:
    whole = BPE.for_text(300, pretokenizer="gpt2").fit(TEXT, progress=False)
    part = BPE.for_text(270, pretokenizer="gpt2").fit(TEXT, progress=False)
    assert whole.truncate(270).encode(TEXT[0]).tolist() == part.encode(TEXT[0]).tolist()
    assert np.array_equal(part.fit_more(TEXT, 300)._model.vocabulary.merges, whole._model.vocabulary.merges)
    special = BPE.for_text(270, pretokenizer="gpt2", special_tokens=[END]).fit(TEXT, progress=False)
    before = special.encode(TEXT[0] + END, allowed_special="all").tolist()
    more = pickle.loads(pickle.dumps(special)).fit_more(TEXT, 300)
    longer = BPE.for_text(300, pretokenizer="gpt2", special_tokens=[END]).fit(TEXT, progress=False)
    assert more.vocabulary.special == {END: 270}
    assert np.array_equal(more._model.vocabulary.merges, longer._model.vocabulary.merges)
    assert more.truncate(270).encode(TEXT[0] + END, allowed_special="all").tolist() == before
    special = BPE.for_text(270, pretokenizer="gpt2", special_tokens={END: 1000}).fit(TEXT, progress=False)
    before = special.encode(TEXT[4], allowed_special="all").tolist()
    assert special.fit_more(TEXT, 272).vocabulary.special == {END: 1000} and before[-1] == 1000
    assert special.truncate(260).encode(END, allowed_special={END}).tolist() == [1000]
    listed = BPE.for_text(270, pretokenizer="gpt2", special_tokens=[END]).fit(TEXT, progress=False)
    assert listed.truncate(260).vocabulary.special == {END: 260}


PIECES = ["the", "cat ", "<a>", "<ab>", "<", "ab>", " 12", "\n", "<a", "END", ">", "é"]


@pytest.mark.parametrize("name", [None, "gpt2", "digits1"])
@given(
    st.lists(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), max_size=4), st.sets(st.sampled_from(["<a>", "<ab>"]))
)
def test_special_tokens_and_segments_are_encoded_apart(name: str | None, docs: list[str], allowed: set[str]) -> None:
    """Special tokens by the reference, what lies between cut by the pattern, and every segment encoded by itself."""
    tok, plain = TOKENIZERS[name]
    special = ["<a>", "<ab>", "END"]
    active = [word in allowed for word in special[:2]] + [True]
    want = []
    for doc in docs:
        ids, end = [], 0
        spans = [(at, special[i]) for at, i in find_words([*map(ord, doc)], [[*map(ord, word)] for word in special], active)]
        for at, word in [*spans, (len(doc), "")]:
            between = doc[end:at]
            segments = [between] if name is None else cut(Pretokenizer(name).pattern, [between])[0]
            ids += [i for segment in segments for i in plain.encode(segment).tolist()]
            ids += [tok.vocabulary.special[word]] if word else []
            end = at + len(word)
        want.append(ids)
    assert tok.encode_batch(docs, allowed_special=allowed, disallowed_special="none").to_lists() == want
    assert tok.decode_batch(tok.encode_batch(docs, allowed_special=allowed, disallowed_special="none")) == docs


def pair(name: str | None) -> tuple[Any, Any]:
    """A tokenizer, and one of the same merges that does not cut."""
    tok = BPE(60, preprocessing=Preprocessing(name, ["<a>", "<ab>"], known_words=["END"])).fit(
        ["".join(PIECES), "the cat the cat <ab> 12 12<ab", "ab> "] * 2, progress=False
    )
    return tok, BPE.from_merges(tok._model.vocabulary.merges, tok._model.alphabet.output(tok._model.alphabet.symbols))


TOKENIZERS = {name: pair(name) for name in (None, "gpt2", "digits1")}


def test_threads_do_not_matter() -> None:
    docs = [text * 40 + str(i) for i in range(60) for text in TEXT]
    tok = BPE.for_text(300, pretokenizer="gpt2", special_tokens=[END]).fit(docs, progress=False)
    one = tok.set_params(n_threads=1).encode_batch(docs, allowed_special="all")
    two = tok.set_params(n_threads=2).encode_batch(docs, allowed_special="all")
    assert one == two and one.offsets[0] == 0 and sum(map(len, docs)) > 200_000
    assert tok.decode_batch(two) == docs
    again = BPE.for_text(300, pretokenizer="gpt2", special_tokens=[END], n_threads=1).fit(docs, progress=False)
    assert again.fingerprint == tok.fingerprint


def test_ragged_longer_than_its_offsets_with_words() -> None:
    """Values behind the last offset are not read."""
    tok = BPE(12, alphabet=8, preprocessing=Preprocessing(known_words=[[6, 7]])).fit([[0, 1, 0, 1, 6, 7]], progress=False)
    flat = np.array([0, 1, 6, 7, 0, 1, 6, 7, 6, 7, 0, 6, 7] * 20, np.int32)
    for end in (0, 2, 3, 4, 7, 50):
        got = tok.encode_batch(Ragged(flat, np.array([0, end])))
        assert got.to_lists() == [tok.encode(flat[:end]).tolist()]
