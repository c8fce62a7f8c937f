"""Special tokens with names over integers, and what replaces symbols that are unknown."""

import logging
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tables import refuses

from ubpe_numba import BPE, UBPE, Preprocessing, load
from ubpe_numba.errors import UnknownTokenError
from ubpe_numba.vocabulary.alphabet import Alphabet

DOCS = [np.tile([1, 2, 3, 4], 20), np.tile([4, 3, 2, 1], 9)]
NAMES = ["[PAD]", "[BOS]", "[MASK]"]


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("cls", [BPE, UBPE])
def test_names_have_ids_of_their_own(tmp_path: Any, cls: Any, first: bool) -> None:
    tok = cls(12, alphabet=5, preprocessing=Preprocessing(special_tokens=NAMES, special_first=first)).fit(
        DOCS, progress=False
    )
    plain, size = cls(12, alphabet=5).fit(DOCS, progress=False), 12
    shift = len(NAMES) if first else 0
    assert [(ids - shift).tolist() for ids in tok.encode_batch(DOCS)] == plain.encode_batch(DOCS).to_lists()
    assert [tok.token_to_id(name) for name in NAMES] == (
        list(range(3)) if first else list(range(size, size + 3))
    )
    assert [tok.id_to_token(tok.token_to_id(name)) for name in NAMES] == NAMES == [*tok.vocabulary.special]
    assert tok.vocabulary[tok.token_to_id("[BOS]")] == "[BOS]" and all(
        token is not None for token in tok.vocabulary
    )
    assert tok.vocab_size == size + 3 and tok.token_to_id("[CLS]") is None
    batch = tok(DOCS, template="[BOS] $A", padding=True)
    assert (batch.input_ids[:, 0] == tok.token_to_id("[BOS]")).all()
    message = r"document 0, position 0: token id .* is '\[BOS\]', without symbols. Use skip_special"
    refuses(UnknownTokenError, message, tok.decode, batch.input_ids[0])
    for row, doc in zip(batch.input_ids, DOCS, strict=True):
        assert tok.decode(row, skip_special_tokens=True).tolist() == doc.tolist()
    tok.save(tmp_path / "m.npz")
    assert load(tmp_path / "m.npz") == tok
    assert (
        tok.fit_more(DOCS, tok.vocab_size + 2).token_to_id("[PAD]") == tok.token_to_id("[PAD]") or cls is UBPE
    )


def test_a_name_replaces_unknown_symbols() -> None:
    tok = BPE(12, unknown="[UNK]", preprocessing=Preprocessing(special_tokens=["[UNK]"])).fit(
        DOCS, progress=False
    )
    unknown = tok.token_to_id("[UNK]")
    assert tok.encode([99, 4, -1]).tolist() == [unknown, 4, unknown] and tok.count([[99, 4]]).tolist() == [2]
    ids, starts = tok.encode([4, 99, 4], return_offsets=True)
    assert ids.tolist() == [4, unknown, 4] and starts.tolist() == [0, 1, 2]
    paths = UBPE(9, objective="shortest", **GIVEN).fit(DOCS)
    for call in (tok.stream, lambda: tok.kernels, lambda: paths.encode_nbest([[9]], 2)):
        refuses(ValueError, "special token|got '.UNK.'", call)


GIVEN: dict[str, Any] = {"unknown": "[UNK]", "preprocessing": Preprocessing(special_tokens=["[UNK]"])}


@given(
    st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-20, 20), min_size=1, max_size=9, unique=True),
    st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-25, 25), max_size=9),
)
def test_the_nearest_integer(symbols: list[int], values: list[int]) -> None:
    alphabet = Alphabet.from_user(symbols)
    found = alphabet.symbols[alphabet._nearest(np.array(values, np.int64))].tolist()
    assert found == [min(symbols, key=lambda symbol: (abs(symbol - value), symbol)) for value in values]


def test_outliers_of_a_live_signal(caplog: pytest.LogCaptureFixture) -> None:
    tok = BPE(64).fit([np.tile([-4, -2, 0, 2, 4, 2, 0, -2], 30)], progress=False)
    live = [0, 2, 9, 4, 1, -2, -77]
    with caplog.at_level(logging.INFO, "ubpe_numba"):
        assert tok.decode(tok.encode(live, unknown="nearest")).tolist() == [0, 2, 4, 4, 0, -2, -4]
    assert "unknown: 3 of 7 symbols replaced" in caplog.text
    stream = tok.stream(unknown="nearest")
    assert [*stream.push(live[:3]), *stream.push(live[3:]), *stream.finish()] == tok.encode(
        live, unknown="nearest"
    ).tolist()


def test_an_integer_is_a_symbol_and_not_an_id() -> None:
    tok = BPE(64, unknown=0).fit([np.arange(-5, 5).repeat(3)], progress=False)
    assert tok.decode(tok.encode([99])).tolist() == [0] and tok.decode(
        tok.encode([99], unknown=-5)
    ).tolist() == [-5]
    refuses(
        ValueError,
        "an integer of the alphabet .* got 7, which is not in the alphabet",
        tok.encode,
        [99],
        unknown=7,
    )
