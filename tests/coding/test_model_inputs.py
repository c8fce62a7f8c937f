"""`tok(docs)`: forms of the result, and what is refused; equality with transformers stands in `tests/integrations`."""

import copy
import pickle
from array import array
from typing import Any

import numpy as np
import pytest
from tables import each, refuses

from ubpe_numba import BPE, UBPE, Preprocessing
from ubpe_numba.errors import UnknownSymbolError
from ubpe_numba.types import ModelInputs

TOK = BPE.from_merges(
    [[0, 1], [2, 2]], alphabet="ab", preprocessing=Preprocessing(special_tokens=["<s>", "<pad>"])
)  # ab = 2, abab = 3, <s> = 4, <pad> = 5
NUMBERS = BPE.from_merges([[0, 1]], alphabet=[7, 8], preprocessing=Preprocessing(special_tokens=[[-1]]))


def test_one_document_and_many() -> None:
    for one in (TOK("abab"), TOK("abab", padding=True)):
        assert (
            isinstance(one, ModelInputs)
            and isinstance(one, dict)
            and list(one) == ["input_ids", "attention_mask"]
        )
        assert (
            one["input_ids"].tolist() == [3]
            and one.attention_mask.tolist() == [1]
            and one.input_ids.dtype == np.int32
        )
    assert [ids.tolist() for ids in TOK(["abab"]).input_ids] == [[3]]
    assert TOK(["abab"], padding=True).input_ids.tolist() == [[3]] and NUMBERS(
        np.array([7, 8, 7])
    ).input_ids.tolist() == [2, 0]
    assert NUMBERS(np.array([[7, 8], [8, 8]])).input_ids[1].tolist() == [1, 1]
    assert TOK("ab", template=[-(2**31), "$A", 2**31 - 1]).input_ids.tolist() == [-(2**31), 2, 2**31 - 1]
    assert NUMBERS([[7, 8], []], template=[(-1,), "$A"], padding=True, pad_id=0).input_ids.tolist() == [
        [3, 2],
        [3, 0],
    ]
    assert TOK(["ab"], template=[4, "$A", "<pad>"]).input_ids[0].tolist() == [4, 2, 5]
    # the second document first
    turned = TOK(["a", "abb"], ["bb", "b"], template=("$A", "$B <s> $A")).input_ids
    assert [ids.tolist() for ids in turned] == [[1, 1, 4, 0], [1, 4, 2, 1]]
    assert TOK([]).input_ids == [] and TOK([], padding=True).input_ids.shape == (0, 0)
    assert TOK([], return_offsets=True, return_tensors="np").offset_mapping.shape == (0, 0, 2)
    assert list(TOK("ab", return_attention_mask=False)) == ["input_ids"]
    assert (
        UBPE(4, alphabet="ab", objective="shortest").fit(["abab", "ab"], progress=False)("ab").input_ids.size
        == 1
    )


def test_offsets_count_symbols_of_what_is_no_text() -> None:
    found = NUMBERS([[7, 8, 8], [7]], return_offsets=True, padding=True, pad_id=0, side="left")
    assert found.offset_mapping.tolist() == [[[0, 2], [2, 3]], [[0, 0], [0, 1]]]
    whole = TOK("ab<s>", allowed_special="all", return_offsets=True, template="$A <s>")
    assert whole.input_ids.tolist() == [2, 4, 4] and whole.offset_mapping.tolist() == [[0, 2], [2, 5], [0, 0]]


def test_padding_has_an_id() -> None:
    docs = ["ab", "b" * 3]
    assert TOK(docs, padding=True).input_ids.tolist() == [[2, 5, 5], [1, 1, 1]]  # called <pad>
    assert TOK(docs, padding=True, pad_id="<s>").input_ids[0].tolist() == [2, 4, 4]
    assert TOK(docs, padding=True, pad_id=-1).input_ids[0].tolist() == [2, -1, -1]
    refuses(
        ValueError, "pad_id: expected an id or a special token: none is called", NUMBERS, [[7]], padding=True
    )
    with pytest.raises(
        ValueError, match="pad_id: '<x>' is not a special token of this tokenizer, which has '<s>', '<pad>'"
    ):
        TOK(docs, padding=True, pad_id="<x>")


def test_it_is_copied_and_pickled() -> None:
    found = TOK(["ab"], padding=True)
    for other in (pickle.loads(pickle.dumps(found)), copy.copy(found), copy.deepcopy(found)):
        assert type(other) is ModelInputs and other.input_ids.tolist() == [[2]]
    assert not hasattr(found, "labels")
    refuses(TypeError, "input_ids: expected a tensor, got .*return_tensors='pt'", found.to, "cpu")


@each("options, message", [
    ({"truncation": True}, "max_length: expected a length with truncation=True"),
    ({"padding": "max_length"}, "max_length: expected a length with padding='max_length'"),
    ({"max_length": 3}, "max_length: it does nothing without truncation"),
    ({"max_length": 1, "truncation": True, "template": "<s> $A <s>"}, "max_length: the template alone has 2 ids, got 1"),
    ({"max_length": 2, "padding": "max_length"}, "max_length: document 1 has 3 ids, more than 2; truncation=True cuts it"),
    ({"max_length": 3, "truncation": True, "padding": True, "pad_to_multiple_of": 2}, "^pad_to_multiple_of: max_length"),
    ({"return_tensors": "np"}, "padding: a tensor needs documents of one length, and document 1 has 3 ids, document 0 1"),
    ({"return_tensors": "tf"}, "return_tensors: expected None, 'np' or 'pt', got 'tf'"),
    ({"padding": "shortest"}, "padding: expected None, False, 'do_not_pad', True"),
    ({"truncation": "only_second", "max_length": 3}, "truncation: 'only_second' needs pairs"),
    ({"truncation": "only_third", "max_length": 3}, "truncation: expected"),
    ({"truncation": True, "max_length": 1, "stride": 1, "return_overflowing_tokens": True}, "stride: expected less than"),
    ({"pairs": ["a"]}, "pairs: expected 2 documents"), ({"side": "top"}, "side: expected 'left', 'right', got 'top'"),
    ({"template": "<s> <s>"}, "template: expected \\$A once"),
    ({"template": [2**31, "$A"]}, "template: expected an id that fits int32, got 2147483648"),
    ({"template": "[CLS] $A"}, "template: '\\[CLS\\]' is not a special token"),
    ({"pad_id": 2**31, "padding": True}, "pad_id: expected an id that fits int32"),
])  # fmt: skip
def test_what_is_refused(options: dict[str, Any], message: str) -> None:
    refuses(ValueError, message, TOK, ["ab", "bbb"], **options)
    refuses(UnknownSymbolError, "document 1, position 0", TOK, ["ab", "x"])
    refuses(TypeError, "template: expected a str", TOK, "ab", template=5)


def test_what_is_one_document() -> None:
    """What `encode` takes as bytes or an array, but for columns; of it there are arrays of one dimension."""
    text = BPE.for_text(257, pretokenizer=None).fit(["abab"], progress=False)
    for doc in ("abab", b"abab", bytearray(b"abab"), memoryview(b"abab")):
        assert text(doc).input_ids.tolist() == text.encode(doc).tolist() == [256, 256]
    numbers = BPE.from_merges([[0, 1]], alphabet=[5, 6])
    for given in (np.array([5, 6]), array("i", [5, 6]), np.array([5, 6], np.uint8)):
        assert numbers(given).input_ids.tolist() == numbers.encode(given).tolist() == [2]
    assert numbers(np.array([])).input_ids.tolist() == [] == numbers.encode(np.array([])).tolist()
    assert numbers([np.array([5, 6])]).input_ids[0].tolist() == [2]
