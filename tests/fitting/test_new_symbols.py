"""`fit_more` on documents with symbols that the first ones did not have."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from reference import fit as reference
from sentencepiece_models import model
from tables import refuses

from ubpe_numba import BPE, UBPE, Preprocessing, UBPEClassic, load
from ubpe_numba.errors import UnknownSymbolError

FORMS: list[Any] = [
    lambda i: i,
    lambda i: i * 100_000 - 7,
    lambda i: ("read", "open", "seek", "stat", "close", "wait")[i],
]


def documents(most: int) -> Any:
    return st.lists(st.lists(st.integers(0, most), min_size=1, max_size=30), min_size=1, max_size=5)


@given(
    documents(2),
    documents(5),
    st.integers(0, 9),
    st.integers(0, 9),
    st.sampled_from(FORMS),
    st.sampled_from([None, ["[PAD]"]]),
)
def test_new_symbols_get_the_next_ids_and_merges_those_after_them(
    first: list[list[int]], docs: list[list[int]], n_first: int, n_more: int, form: Any, special: Any
) -> None:
    """Merges are those of a fit over all symbols, the new ones after the old, whose first merges are the old ones."""
    named = [[form(i) for i in doc] for doc in docs]
    prepared = None if special is None else Preprocessing(special_tokens=special)
    tok = BPE(6 + n_first, preprocessing=prepared).fit(
        [[form(i) for i in doc] for doc in first], progress=False
    )
    before, alphabet = tok.get_vocab(), tok._model.alphabet
    old = [pair.tolist() for pair in tok._model.vocabulary.merges]
    known = [*(alphabet.names or alphabet.symbols.tolist())]
    new = sorted({symbol for doc in named for symbol in doc} - {*known})
    size = len(known) + len(new)
    number = {symbol: i for i, symbol in enumerate([*known, *new])}
    shifted = [tuple(i + len(new) * (i >= len(known)) for i in pair) for pair in old]
    numbers = [[number[symbol] for symbol in doc] for doc in named]
    want, _ = reference.fit(numbers, size, size + len(old) + n_more, old=shifted)
    tok.fit_more(named, size + len(old) + n_more, progress=False)  # the special token is not counted
    assert {name: i for name, i in tok.get_vocab().items() if name in before} == before
    sequences = [[i] for i in range(size)]
    for left, right in [*shifted, *(merge[:2] for merge in want)]:
        sequences.append(sequences[left] + sequences[right])
    made = [*sequences[: len(known)], *sequences[size : size + len(old)]]
    made += [None] * bool(special) + [[number[symbol]] for symbol in new] + sequences[size + len(old) :]
    for i, sequence in enumerate(made):
        if sequence is not None:
            assert [number[symbol] for symbol in tok.decode([i])] == sequence
    assert [[*doc] for doc in tok.decode_batch(tok.encode_batch(named))] == named


@pytest.mark.parametrize("cls", [BPE, UBPE, UBPEClassic])
def test_new_characters_are_kept_in_files_and_continued_again(cls: Any, tmp_path: Path) -> None:
    params = {"objective": "likelihood"} if cls is UBPE else {}
    tok = (
        cls(8, **params)
        .fit(["low low", "wow low"], progress=False)
        .fit_more(["slower, lowest"], 18, progress=False)
    )
    tok.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again == tok and again.encode("slow").tolist() == tok.encode("slow").tolist()
    longer = again.fit_more(["lowlands lowlands"], 24, progress=False)
    assert longer.decode(longer.encode("wow, lowlands")) == "wow, lowlands"
    assert longer.token_to_id("a") >= tok.vocab_size and longer.token_to_id("low") == tok.token_to_id("low")
    assert longer.truncate(12).decode([0]) == tok.decode([0])


def test_where_new_symbols_are_not_taken() -> None:
    docs = [[0, 1, 0, 1, 2]]
    refuses(
        ValueError,
        "n_tokens: .* at least 6, for 2 new symbols in docs, got 5",
        BPE(4).fit(docs).fit_more,
        [[0, 7, 9]],
        5,
    )
    refuses(
        UnknownSymbolError,
        "position 1: symbol 7.* it in alphabet=",
        BPE(4, alphabet=3).fit(docs).fit_more,
        [[0, 7, 9]],
        9,
    )


def test_a_new_token_holds_no_character_that_is_no_token_and_none_of_those_that_replace_them() -> None:
    for one in "b\ud7ff\uf900\U000fffffé\ue000\uf8ff\U00100000":
        tok = load(model([("<unk>", 0.0, 2), ("a", -1.0, 1), *[(one, -2.0, 1)] * (one != "é")], kind=2))
        if one in "b\ud7ff\uf900\U000fffff":
            assert tok.fit_more([f"a{one}a{one}"] * 2, 6).vocabulary.merges.tolist() == [[1, 2], [3, 3]]
        else:
            refuses(
                ValueError, "would hold a character that is no token", tok.fit_more, [f"a{one}a{one}"] * 2, 6
            )
