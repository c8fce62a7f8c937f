"""A vocabulary cut to the tokens that documents use: they are encoded alike, and what a token is made of stays."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tables import refuses

from ubpe_numba import BPE, UBPE, FitRules, Preprocessing, UBPEClassic

pytestmark = pytest.mark.filterwarnings("ignore:every idf is 0:UserWarning")  # few documents, or all alike
WORDS = Preprocessing(special_tokens=["<s>"], special_first=True)
FITS = {
    "rank": BPE(60, alphabet="abcd"),
    "batch": UBPEClassic(60, alphabet="abcd", rules=FitRules(order="idf", encode="batch")),
    "special first": BPE(60, alphabet="abcd", preprocessing=WORDS),
    **{name: UBPE(60, alphabet="abcd", objective=name) for name in ("shortest", "additive", "longest")},
}
DOCS = ["abcdabcabdacbd" * 3, "aabbccddabab" * 4, "abcabcabcddd", "dcbadcba" * 3]


@pytest.mark.parametrize("name", FITS)
@given(st.lists(st.text("abcd", max_size=30), min_size=1, max_size=4))
def test_documents_are_encoded_alike(name: str, docs: list[str]) -> None:
    tok = FITS[name].fit(DOCS, progress=False)
    small, old = tok.truncate(1000, docs=docs), tok.get_vocab()
    before = np.array([old[token] for token in small.get_vocab()])
    ids = small.encode_batch(docs)
    assert before[ids.values].tolist() == tok.encode_batch(docs).values.tolist()
    used, v = {*ids.values.tolist()}, small.vocabulary
    above = {part for pair in v.merges.tolist() for part in pair}
    learned = [*map(int, v.merged)]
    assert {*learned} <= used | above  # nothing else is kept
    assert small.vocab_size == tok._model.alphabet.size + len(learned) + len(tok.vocabulary.special)
    fewer = tok.truncate(small.vocab_size - 1, docs=docs) if learned else small
    assert fewer._model.vocabulary.n_learned <= len(learned)


def test_the_most_used_stay_where_there_is_no_room() -> None:
    tok = BPE.from_merges([[0, 1], [2, 3], [4, 5], [0, 2]], alphabet="abcd")  # ab, cd, abcd, ac
    used = ["abcd", "cd", *["ac"] * 4, "ab"]  # cd 2 times, ab 2, ac 4, abcd 1
    assert list(tok.truncate(6, docs=used).get_vocab()) == [*"abcd", "cd", "ac"]
    assert list(tok.truncate(99, docs=["abcd"]).get_vocab()) == [*"abcd", "ab", "cd", "abcd"]
    assert list(tok.truncate(99, docs=[""]).get_vocab()) == [*"abcd"]
    refuses(ValueError, "n_tokens: expected at least the alphabet's 4 symbols", tok.truncate, 3, docs=["ab"])
    refuses(ValueError, "by: expected no order with docs, .* got 'idf'", tok.truncate, 9, "idf", docs=["ab"])


def test_weights_and_files_go_on(tmp_path) -> None:
    tok = UBPE(60, alphabet="abcd").fit(DOCS, progress=False)
    likely = tok.refine(DOCS, objective="likelihood", progress=False)
    small = likely.truncate(1000, docs=DOCS[:1])
    assert (
        small.encode(DOCS[0], return_offsets=True)[1].tolist()
        == likely.encode(DOCS[0], return_offsets=True)[1].tolist()
    )
    small.save(tmp_path / "m.npz")
    assert UBPE.load(tmp_path / "m.npz").encode(DOCS[0]).tolist() == small.encode(DOCS[0]).tolist()
    assert small.truncate(1000, docs=DOCS[:1]).fingerprint == small.fingerprint
    more = BPE(40, alphabet="abcd").fit(DOCS, progress=False).truncate(99, docs=["abab"])
    assert more.fit_more(DOCS, 30, progress=False).decode(more.encode(DOCS[0])) == DOCS[0]
