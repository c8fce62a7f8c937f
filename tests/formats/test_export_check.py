"""An export that the other library would encode differently is refused, with the sample that shows it."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
from sentencepiece_models import BPE as PAIRS
from sentencepiece_models import NORMAL, SPECIAL, model

from ubpe_numba import BPE, FitRules, UBPEClassic
from ubpe_numba.formats import export, export_check, table


def test_an_export_that_encodes_differently_names_the_sample(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    """A table out of order encodes differently by the articles' batch rule, which no other library has."""
    rng = np.random.default_rng(0)
    docs = [rng.integers(0, 4, 200) for _ in range(8)]
    tok = UBPEClassic(60, 50, alphabet=4, rules=FitRules(order="idf", encode="batch")).fit(docs, progress=False)
    path = tmp_path / "tokenizer.json"
    with pytest.raises(ValueError, match="vocabulary: its pairs are not in order of creation"):
        tok.to_huggingface(path)
    monkeypatch.setattr(export_check, "check_order", lambda model: None)
    monkeypatch.setattr(export, "_same_by_rank", lambda other, samples: None)
    monkeypatch.setattr(table, "from_huggingface", lambda *source: table.Found(tok.model_))
    with pytest.raises(ValueError, match=r"export refused: \[.*\] is \[.*\] here, but \[.*\] by tokenizers"):
        tok.to_huggingface(path)
    assert not path.exists()


def test_what_the_other_library_says_counts() -> None:
    """Hugging Face's engine reads this pattern in another way, as files of it are read here: there $ is the end of every line."""
    tok = BPE(None, pretokenizer=r"\n$|a+").fit(["a\nb\n", "\n\na\n\n"] * 3, progress=False)
    with pytest.raises(ValueError, match="export refused: "):
        tok.to_huggingface()


def test_characters_of_a_model_of_sentencepiece_are_refused_in_words(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "m.model"
    path.write_bytes(model([*SPECIAL, ("ab", -1.0, NORMAL), ("a", -2.0, NORMAL), ("b", -3.0, NORMAL)], PAIRS))
    tok = BPE.from_sentencepiece(path)
    with pytest.raises(ValueError, match="alphabet: characters of which others are unknown"):
        tok.to_huggingface()
