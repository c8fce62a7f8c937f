"""The tokenizer of DNABERT-2, on E. coli: what is exported is what the recipe of Hugging Face makes."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest
from integrations.conftest import needed

from ubpe_numba import BPE, Preprocessing, export
from ubpe_numba.text import Splitter

tokenizers = needed("tokenizers")
SPECIAL = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"]
SIZE = 1024


@pytest.fixture(scope="module")
def reads() -> list[str]:
    """200 pieces of 1000 bases."""
    packed = np.fromfile(pathlib.Path(__file__).parents[2] / "docs" / "data" / "ecoli_536.2bit", np.uint8)
    dna = np.frombuffer(b"ACGT", np.uint8)[packed[:, None] >> np.arange(0, 8, 2) & 3].tobytes().decode()
    assert len(dna) == 200_000
    return [dna[i : i + 1000] for i in range(0, len(dna), 1000)]


@pytest.fixture(scope="module")
def theirs(reads: list[str]) -> Any:
    other = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="[UNK]"))
    other.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=SIZE, special_tokens=SPECIAL, min_frequency=2, show_progress=False)
    other.train_from_iterator(reads, trainer)
    around = [(word, other.token_to_id(word)) for word in ("[CLS]", "[SEP]")]
    other.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=around
    )
    return other


@pytest.fixture(scope="module")
def ours(reads: list[str]) -> BPE:
    cut = Splitter(["Whitespace"])
    return BPE(SIZE - len(SPECIAL), preprocessing=Preprocessing(special_tokens=SPECIAL, pretokenizer=cut)).fit(
        reads, progress=False
    )


def exported(tok: BPE) -> str:
    return export(tok, "tokenizer.json", unk_token="[UNK]", template="[CLS] $A [SEP]", special_first=True)


def test_the_file_is_that_of_the_recipe(ours: BPE, theirs: Any) -> None:
    """All of it but the decoder: the recipe has none, so that its `decode` puts spaces between tokens."""
    found, expected = json.loads(exported(ours)), json.loads(theirs.to_str())
    assert found.pop("decoder") == {"type": "Fuse"} and expected.pop("decoder") is None
    assert found == expected
    assert list(found["model"]["vocab"].items()) == list(expected["model"]["vocab"].items())
    assert len(found["model"]["merges"]) == SIZE - len(SPECIAL) - 4


def test_ids_are_the_same_with_unknown_bases(ours: BPE, theirs: Any, reads: list[str]) -> None:
    other, again = tokenizers.Tokenizer.from_str(exported(ours)), BPE.load(exported(ours))
    rng = np.random.default_rng(0)
    docs = [*reads[:20], "ACGTNNACGT", "acgt", "N", "", "ACG TAC", "[CLS]ACGT[SEP]"]
    docs += ["".join("ACGTNR "[i] for i in rng.integers(0, 7, 80)) for _ in range(200)]
    for doc in docs:
        assert other.encode(doc).ids == theirs.encode(doc).ids
        assert again.encode(doc, allowed_special="all").tolist() == theirs.encode(doc, add_special_tokens=False).ids
    assert other.encode(docs[0], docs[1]).ids == theirs.encode(docs[0], docs[1]).ids
    assert other.encode(docs[0], docs[1]).type_ids == theirs.encode(docs[0], docs[1]).type_ids
    assert other.decode(other.encode(reads[0]).ids) == reads[0]
