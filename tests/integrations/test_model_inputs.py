"""`tok(docs)` gives what transformers gives for the exported tokenizer, and what PyTorch models take."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from integrations.conftest import needed
from tables import each

from ubpe_numba import BPE, export

transformers = needed("transformers")
tokenizers = needed("tokenizers")
torch = needed("torch")

DOCS = ["low lower lowest", "née", "", "newer newest low né 日本 low", "a"]
SPECIAL = ["[CLS]", "[SEP]", "[PAD]"]


@pytest.fixture(scope="module")
def tok() -> BPE:
    return BPE.for_text(300, pretokenizer="gpt2", special_tokens=SPECIAL).fit(DOCS[:4], progress=False)


LENGTHS = [
    {}, {"truncation": True, "max_length": 6}, {"padding": True}, {"padding": "longest", "pad_to_multiple_of": 8},
    {"padding": "max_length", "truncation": True, "max_length": 7}, {"padding": True, "truncation": True, "max_length": 5},
    {"padding": "max_length", "truncation": "only_first", "max_length": 40}, {"padding": "max_length", "max_length": 64},
    {"padding": "max_length", "truncation": True, "max_length": 8, "pad_to_multiple_of": 4},
]  # fmt: skip


@each("options", LENGTHS)
@each("template", [None, "[CLS] $A [SEP]", "$A [SEP]"])
def test_inputs_are_those_of_transformers(tok: BPE, template: str | None, options: dict[str, Any]) -> None:
    """Matrices where there is padding, lists without; the offsets of transformers without the trimming of spaces."""
    peer = tokenizers.Tokenizer.from_str(export(tok, "tokenizer.json"))
    if template is not None:
        ids = [(word, tok.vocabulary.special[word]) for word in template.split() if word != "$A"]
        peer.post_processor = tokenizers.processors.TemplateProcessing(single=template, special_tokens=ids)
    theirs = transformers.PreTrainedTokenizerFast(tokenizer_object=peer, pad_token="[PAD]")
    for side, cut, tensors in itertools.product(("right", "left"), ("right", "left"), ("np", "pt")):
        theirs.padding_side, theirs.truncation_side = side, cut
        own: dict[str, Any] = {"side": side, "truncation_side": cut, "template": template}
        how = options | ({"return_tensors": tensors} if "padding" in options else {})
        for docs in (DOCS, DOCS[3]):
            want = theirs(docs, return_offsets_mapping=True, **how)
            got = tok(docs, return_offsets=True, **own, **how)
            for name in ("input_ids", "attention_mask", "offset_mapping"):
                if "padding" in options:
                    assert type(got[name]) is type(want[name]) and got[name].dtype == want[name].dtype
                    assert got[name].tolist() == want[name].tolist(), (name, side, cut)
                elif isinstance(docs, str):
                    assert got[name].tolist() == [list(i) if isinstance(i, tuple) else i for i in want[name]]
                else:
                    assert [np.asarray(row).tolist() for row in got[name]] == [np.asarray(row).tolist() for row in want[name]]


def test_a_model_takes_it(tok: BPE) -> None:
    inputs = tok(DOCS, padding=True, return_tensors="pt").to("cpu")
    size = max(tok.vocabulary.special.values()) + 1
    config = transformers.GPT2Config(vocab_size=size, n_positions=64, n_embd=16, n_layer=1, n_head=2)
    with torch.no_grad():
        found = transformers.GPT2Model(config).eval()(**inputs).last_hidden_state
    assert found.shape == (len(DOCS), int(inputs.attention_mask.sum(1).max()), 16)
