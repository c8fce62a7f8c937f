"""`encode(boundaries=)`: the parts between boundaries, encoded as documents."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubpe_numba import BPE, UBPE, Preprocessing, UBPEClassic
from ubpe_numba.errors import SpecialTokenError, UnknownSymbolError

DOCS = [[0, 1, 2, 0, 1, 2, 2], [2, 0, 1, 1, 2], [0, 1, 0, 1]]
TOKENIZERS = [cls(8, alphabet=3).fit(DOCS, progress=False) for cls in (BPE, UBPEClassic, UBPE)]


@given(st.sampled_from(TOKENIZERS), st.data())
def test_parts_are_documents(tok: Any, data: st.DataObject) -> None:
    docs = data.draw(st.lists(st.lists(st.integers(0, 2), max_size=9), max_size=5))
    bounds = [data.draw(st.lists(st.integers(0, len(doc)), max_size=4)) for doc in docs]
    ids, spans = tok.encode_batch(docs, boundaries=bounds, return_offsets="spans")
    _, starts = tok.encode_batch(docs, boundaries=bounds, return_offsets=True)
    assert starts.values.tolist() == spans[:, 0].tolist() and len(ids) == len(docs)
    at = 0
    for doc, cuts, found in zip(docs, bounds, ids, strict=True):
        edges = sorted({0, *cuts, len(doc)})
        want = [i for a, b in zip(edges[:-1], edges[1:], strict=True) for i in tok.encode(doc[a:b]).tolist()]
        assert found.tolist() == want == tok.encode(doc, boundaries=cuts).tolist()
        mine = spans[at : at + len(want)].tolist()
        at += len(want)
        assert [a for a, _ in mine] == [0, *(b for _, b in mine)][: len(mine)] and all(b <= len(doc) for _, b in mine)
        assert {a for a, _ in mine} >= {c for c in cuts if c < len(doc)}
        assert tok.encode(doc, boundaries=cuts, return_offsets="spans")[1].tolist() == mine


def test_errors_name_the_document_and_the_position_in_it() -> None:
    tok = BPE.from_merges([[0, 1]], alphabet="ab", preprocessing=Preprocessing(special_tokens=["<s>"]))
    with pytest.raises(UnknownSymbolError, match="document 1, position 3: symbol 'x'"):
        tok.encode_batch(["ab", "abaxb"], boundaries=[[1], [2]])
    with pytest.raises(SpecialTokenError, match="document 0, position 2: '<s>'"):
        tok.encode("ab<s>", boundaries=[2])
    with pytest.raises(ValueError, match="boundaries: document 0: position 3 is not in 0..2"):
        tok.encode("ab", boundaries=[3])
    with pytest.raises(ValueError, match="boundaries: expected 2 lists of positions"):
        tok.encode_batch(["ab", "a"], boundaries=[[1]])
    with pytest.raises(TypeError, match="boundaries: expected integers"):
        tok.encode("ab", boundaries="ab")


def test_text_that_is_cut_and_bytes_of_utf8() -> None:
    tok = BPE.for_text(280, pretokenizer="gpt2", special_tokens=["<s>"]).fit(["low lower lowest né né"], progress=False)
    ids = tok.encode("lower né<s>low", boundaries=[3, 7], allowed_special="all")
    want = [*tok.encode("low"), *tok.encode("er n"), *tok.encode("é<s>low", allowed_special="all")]
    assert ids.tolist() == want and tok.decode(ids) == "lower né<s>low"
