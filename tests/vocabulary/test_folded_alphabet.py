"""Alphabets in which several symbols have one id: everything is as if documents had been folded before."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tables import each, refuses

from ubpe_numba import BPE, UBPE, Preprocessing, UBPEClassic, export
from ubpe_numba.documents.read import as_documents
from ubpe_numba.errors import ModelFormatError, UnknownSymbolError
from ubpe_numba.vocabulary.alphabet import Alphabet

CLASSES = [BPE, UBPEClassic, UBPE]
DNA = dict(zip("ACGTNacgtn", [0, 1, 2, 3, 4] * 2, strict=True))
DOCS = ["ACGTacgtNNnnACgt", "acgtACGTTTaacc", "", "GGGGggggACgTacGt"]
# a mapping, documents, and the documents folded
EACH: dict[str, tuple[dict[Any, int], list[Any], list[Any]]] = {
    "str": (DNA, DOCS, [doc.upper() for doc in DOCS]),
    "bytes": ({s.encode(): i for s, i in DNA.items()}, [d.encode() for d in DOCS], [d.upper().encode() for d in DOCS]),
    "int": ({0: 0, 1: 1, 2: 2, 3: 0, -5: 1}, [[0, 1, 3, -5, 2, 2], [3, 3, 0], [2]], [[0, 1, 0, 1, 2, 2], [0, 0, 0], [2]]),
    "spread": ({2**40: 0, -(2**62): 1, 7: 0}, [[7, -(2**62), 2**40, -(2**62)], [7, 7]], [[2**40, -(2**62)] * 2, [2**40] * 2]),
}  # fmt: skip


@each("kind", EACH)
@pytest.mark.parametrize("cls", CLASSES)
def test_a_fit_is_that_of_folded_documents(cls: Any, kind: str) -> None:
    mapping, docs, folded = EACH[kind]
    n = len(set(mapping.values()))
    tok = cls(n + 6, alphabet=mapping).fit(docs, progress=False)
    plain = cls(n + 6, alphabet=list(mapping)[:n]).fit(folded, progress=False)
    assert tok._model.vocabulary.n_learned and tok._model.vocabulary == plain._model.vocabulary
    assert tok.encode_batch(docs).to_lists() == plain.encode_batch(folded).to_lists()
    for doc, same in zip(docs, folded, strict=True):
        ids = tok.encode(doc)
        # a short document alone, too
        assert ids.tolist() == tok.encode(same).tolist() == plain.encode(same).tolist()
        assert np.asarray(tok.decode(ids)).tolist() == np.asarray(same).tolist()
    assert plain.is_lossless and not tok.is_lossless and tok.fingerprint != plain.fingerprint
    if kind == "str":
        refuses(
            UnknownSymbolError,
            "position 2: symbol 'x' is not in the alphabet of 5 symbols",
            tok.encode,
            "ACxGT",
        )
        assert tok.decode(tok.encode("acxgt", unknown="N")) == "ACNGT"
        assert tok.decode(tok.encode("acxgt", unknown="skip")) == "ACGT"


@given(st.data())
def test_random_alphabets(data: st.DataObject) -> None:
    symbols = data.draw(
        st.lists(st.sampled_from([*range(-4, 8), 2**45, -(2**45)]), min_size=1, max_size=9, unique=True)
    )
    n = data.draw(st.integers(1, len(symbols)))
    ids = [*range(n), *(data.draw(st.integers(0, n - 1)) for _ in symbols[n:])]
    mapping = dict(zip(symbols, ids, strict=True))
    alphabet = Alphabet.from_user(mapping)
    docs = data.draw(st.lists(st.lists(st.sampled_from(symbols), max_size=30), min_size=1, max_size=4))
    assert (
        alphabet.size == n
        and alphabet.symbols.tolist() == symbols[:n]
        and alphabet.is_lossless is (n == len(symbols))
    )
    assert alphabet.to_ids(as_documents(docs)).to_lists() == [[mapping[s] for s in doc] for doc in docs]
    assert alphabet.lookup(np.array([99])).tolist() == [-1]
    for same in (pickle.loads(pickle.dumps(alphabet)), Alphabet.from_state(**alphabet.state())):
        assert same == alphabet and hash(same) == hash(alphabet)
    others = list(zip(symbols[n:], ids[n:], strict=True))
    if n < len(symbols):
        shuffled = data.draw(st.permutations(others))
        assert Alphabet.from_user({**dict(zip(symbols[:n], ids, strict=False)), **dict(shuffled)}) == alphabet
        assert alphabet != Alphabet.from_user(symbols[:n])


BAD_STATES = [
    ({"folded_ids": [0]}, "folded_ids: expected 1, one for each|folded_ids: expected 2, one for each"),
    ({"folded_ids": [0, 2]}, "folded_ids: expected 0..1, got 0..2"),
    ({"folded_ids": [0.0, 1.0]}, "folded_ids"), ({"folded_ids": [[0], [1]]}, "folded_ids: expected 2"),
    ({"folded_symbols": "AB"}, "symbol 'A' is there twice, as entry 0 and entry 2"),
    ({"folded_symbols": "cc", "folded_ids": [0, 0]}, "symbol 'c' is there twice, as entry 0 and entry 1"),
    ({"folded_symbols": "", "folded_ids": []}, "symbols: expected 1"),
    ({"symbols": None}, "symbols: expected them, as there are folded ones"),
]  # fmt: skip


@each(("changed", "message"), BAD_STATES)
def test_states_that_lie_are_refused(changed: dict[str, Any], message: str) -> None:
    state = {"kind": "str", "size": 2, "symbols": "AB", "folded_symbols": "ab", "folded_ids": [0, 1]}
    assert not Alphabet.from_state(**copy.deepcopy(state)).is_lossless
    refuses(ModelFormatError, f"^alphabet: .*({message})", Alphabet.from_state, **{**state, **changed})


def test_text_is_cut_before_it_is_folded() -> None:
    """A pre-tokenizer and special tokens see the text as it is; equal segments of other case are counted together."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    mapping = {c: i for i, c in enumerate(letters + " ")} | {c.upper(): i for i, c in enumerate(letters)}
    text = "The cat the CAT the Cat then a hat"
    tok = BPE(36, alphabet=mapping, preprocessing=Preprocessing(pretokenizer="whitespace")).fit([text])
    plain = BPE(36, alphabet=letters + " ", preprocessing=Preprocessing(pretokenizer="whitespace")).fit(
        [text.lower()]
    )
    assert (
        tok._model.vocabulary == plain._model.vocabulary
        and tok.encode(text).tolist() == plain.encode(text.lower()).tolist()
    )
    marked = BPE(36, alphabet=mapping, preprocessing=Preprocessing(special_tokens=["<END>"])).fit([text])
    assert marked.encode("the<END>", allowed_special="all")[-1] == marked.vocabulary.special["<END>"]
    assert marked.decode(marked.encode("THE<END>", allowed_special="all")) == "the<END>"


@each("name", ["break_tokens", "stop_tokens"])
def test_symbols_that_stand_alone_are_given_with_all_that_share_their_id(name: str) -> None:
    for given_one, other in ("Nn", "nN"):
        with pytest.raises(
            ValueError, match=f"{name}: '{other}' has the same id as one of them: give all symbols of an id"
        ):
            BPE(9, alphabet=DNA, preprocessing=Preprocessing(**{name: given_one})).fit(DOCS)
    tok = BPE(12, alphabet=DNA, preprocessing=Preprocessing(**{name: "nN"})).fit(DOCS)
    folded = BPE(12, alphabet="ACGTN", preprocessing=Preprocessing(**{name: "N"})).fit(
        [doc.upper() for doc in DOCS]
    )
    assert tok._model.vocabulary == folded._model.vocabulary
    assert tok.encode("acNngtAC").tolist() == folded.encode("ACNNGTAC").tolist()


def test_exports_refuse_them() -> None:
    for kind, names in (
        ("str", ["tokenizer.json", "vocab+merges", "sentencepiece", "ubpe"]),
        ("bytes", ["tiktoken"]),
    ):
        mapping, docs, folded = EACH[kind]
        tok = BPE(9, alphabet=mapping).fit(docs)
        for name in names:
            refuses(
                ValueError,
                r"alphabet: .* have the same id, which other libraries cannot express",
                export,
                tok,
                name,
            )
        if kind == "str":  # the way on
            same = BPE.from_merges(
                tok._model.vocabulary.merges, tok._model.alphabet.output(tok._model.alphabet.symbols)
            )
            again = BPE.load(export(same, "tokenizer.json", unk_token=False))
            assert again.encode(folded[0]).tolist() == tok.encode(docs[0]).tolist()
