"""What the kinds of `tokenizer.json` have in common: steps that are refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ubpe_numba import ModelFormatError
from ubpe_numba.formats.huggingface import decoding_of, steps_of

OWN: list[tuple[str, dict[str, Any]]] = [
    ("normalizer", {"type": "StandIns", "alphabet": "a", "words": ["w"]}),
    ("normalizer", {"type": "SentencePiece"}),
    ("pre_tokenizer", {"type": "Marks", "inside": "x", "end": "y"}),
]


@pytest.mark.parametrize(("field", "step"), OWN, ids=lambda value: value if isinstance(value, str) else value["type"])
@pytest.mark.parametrize("depth", [0, 1, 3])
def test_steps_that_only_this_library_has_are_refused(field: str, step: dict[str, Any], depth: int) -> None:
    """As by the package tokenizers."""
    kind, nested = step["type"], step
    for _ in range(depth):
        nested = {"type": "Sequence", "normalizers" if field == "normalizer" else "pretokenizers": [nested]}
    with pytest.raises(ModelFormatError, match=f"{field}: {kind}: a tokenizer.json has no such step"):
        steps_of(**{"normalizer": None, "pre_tokenizer": None, field: nested})
    file = json.dumps({"version": "1.0", field: nested, "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}})
    theirs = pytest.importorskip("tokenizers")
    with pytest.raises(Exception, match=r"normalizer|pretokenizer|did not match|variant|data"):
        theirs.Tokenizer.from_str(file)


def test_names_of_steps_are_refused_too() -> None:
    with pytest.raises(ModelFormatError, match="pre_tokenizer: Marks: a tokenizer.json has no such step"):
        steps_of(None, {"type": "Sequence", "pretokenizers": ["Marks"]})


@pytest.mark.parametrize(
    "decoder, text, wanted",
    [
        ({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"}, "▁▁▁a▁b", "  a b"),
        ({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never"}, "▁▁▁a▁b", "   a b"),
        (
            {"type": "Sequence", "decoders": [{"type": "Fuse"}, {"type": "Strip", "content": "_", "start": 2, "stop": 0}]},
            "___a",
            "_a",
        ),
    ],
)
def test_decoders_take_away_as_much_as_the_package(decoder: dict[str, Any], text: str, wanted: str) -> None:
    found = decoding_of(decoder)
    assert found is not None and found.stripped(found.token(text)) == wanted
    theirs = pytest.importorskip("tokenizers")
    vocab = {character: i for i, character in enumerate(sorted(set(text)))}
    file = json.dumps({"version": "1.0", "decoder": decoder, "model": {"type": "BPE", "vocab": vocab, "merges": []}})
    assert theirs.Tokenizer.from_str(file).decode([vocab[character] for character in text]) == wanted
