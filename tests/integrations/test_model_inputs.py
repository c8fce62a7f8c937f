"""`tok(docs)` gives what transformers gives for the exported tokenizer, and what PyTorch models take."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pytest
from integrations.conftest import needed

from ubpe_numba import BPE, export

transformers = needed("transformers")
tokenizers = needed("tokenizers")
torch = needed("torch")

DOCS = ["low lower lowest", "née", "", "newer newest low né 日本 low", "a"]
SPECIAL = ["[CLS]", "[SEP]", "[PAD]"]


@pytest.fixture(scope="module")
def tok() -> BPE:
    return BPE.for_text(300, pretokenizer="gpt2", special_tokens=SPECIAL).fit(DOCS[:4], progress=False)


def exported(tok: BPE, template: str | None, **params: Any) -> Any:
    """The tokenizer in transformers, with the template as its post-processor; its offsets without the trimming of spaces."""
    peer = tokenizers.Tokenizer.from_str(export(tok, "tokenizer.json"))
    if template is not None:
        ids = [(word, tok.vocabulary.special[word]) for word in template.split() if word != "$A"]
        peer.post_processor = tokenizers.processors.TemplateProcessing(single=template, special_tokens=ids)
    made = transformers.PreTrainedTokenizerFast(tokenizer_object=peer, pad_token="[PAD]", **params)
    assert json.loads(made.backend_tokenizer.to_str())["model"]["type"] == "BPE"
    return made


@pytest.fixture(scope="module", params=[None, "[CLS] $A [SEP]", "$A [SEP]"], ids=["bare", "both sides", "behind"])
def pair(request: Any, tok: BPE) -> tuple[Any, str | None]:
    return exported(tok, request.param), request.param


LENGTHS = [
    {"padding": True}, {"padding": "longest", "pad_to_multiple_of": 8},
    {"padding": "max_length", "truncation": True, "max_length": 7}, {"padding": True, "truncation": True, "max_length": 5},
    {"padding": "max_length", "truncation": "only_first", "max_length": 40}, {"padding": "max_length", "max_length": 64},
    {"padding": "max_length", "truncation": True, "max_length": 8, "pad_to_multiple_of": 4},
]  # fmt: skip


@pytest.mark.parametrize("options", LENGTHS, ids=str)
def test_matrices_are_those_of_transformers(tok: BPE, pair: tuple[Any, str | None], options: dict[str, Any]) -> None:
    peer, template = pair
    for side, cut, tensors in itertools.product(("right", "left"), ("right", "left"), ("np", "pt")):
        peer.padding_side, peer.truncation_side = side, cut
        want = peer(DOCS, return_tensors=tensors, return_offsets_mapping=True, **options)
        got = tok(DOCS, template=template, side=side, truncation_side=cut, return_tensors=tensors, return_offsets=True, **options)
        for name in ("input_ids", "attention_mask", "offset_mapping"):
            assert type(got[name]) is type(want[name]) and got[name].dtype == want[name].dtype
            assert got[name].tolist() == want[name].tolist(), (name, side, cut)
        one = peer(DOCS[3], return_tensors=tensors, **options)
        mine = tok(DOCS[3], template=template, side=side, truncation_side=cut, return_tensors=tensors, **options)
        assert [mine[name].tolist() for name in ("input_ids", "attention_mask")] == [
            one[name].tolist() for name in ("input_ids", "attention_mask")
        ]


@pytest.mark.parametrize("options", [{}, {"truncation": True, "max_length": 6}], ids=str)
def test_documents_that_keep_their_lengths(tok: BPE, pair: tuple[Any, str | None], options: dict[str, Any]) -> None:
    peer, template = pair
    peer.padding_side, peer.truncation_side = "right", "right"
    want = peer(DOCS, return_offsets_mapping=True, **options)
    got = tok(DOCS, template=template, return_offsets=True, **options)
    assert [[*map(int, row)] for row in got.input_ids] == want["input_ids"]
    assert [[*map(int, row)] for row in got.attention_mask] == want["attention_mask"]
    assert [part.tolist() for part in got.offset_mapping] == [[list(pair) for pair in row] for row in want["offset_mapping"]]
    for doc in DOCS:
        one, mine = peer(doc, **options), tok(doc, template=template, **options)
        assert mine.input_ids.tolist() == one["input_ids"] and mine.attention_mask.tolist() == one["attention_mask"]


def test_a_model_takes_it(tok: BPE) -> None:
    torch.manual_seed(0)
    size = max(tok.vocabulary.special.values()) + 1
    config = transformers.GPT2Config(vocab_size=size, n_positions=64, n_embd=16, n_layer=1, n_head=2)
    model = transformers.GPT2Model(config).eval()
    inputs = tok(DOCS, padding=True, return_tensors="pt").to("cpu")
    with torch.no_grad():
        found = model(**inputs).last_hidden_state
    assert found.shape == (len(DOCS), int(inputs.attention_mask.sum(1).max()), 16)
    assert inputs.input_ids.dtype == torch.int64
    assert tok.decode_batch(np.asarray(inputs.input_ids), skip=tok.vocabulary.special["[PAD]"]) == DOCS
