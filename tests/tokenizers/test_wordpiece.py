"""WordPiece against the definition, and against the package tokenizers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ubpe_numba import WordPiece

PIECE = st.text("ab#é\U0001f600", min_size=1, max_size=4)
WORDS = st.lists(st.text("ab#é\U0001f600c", max_size=12), max_size=8)


def definition(words: list[str], pieces: dict[str, int], prefix: str, longest: int) -> list[int]:
    found = []
    for word in words:
        ids, start = [], 0
        while start < len(word) <= longest:
            names = [((prefix if start else "") + word[start:end], end) for end in range(len(word), start, -1)]
            known = [(pieces[name], end) for name, end in names if name in pieces]
            if not known:
                break
            ids.append(known[0][0])
            start = known[0][1]
        found += ids if start == len(word) else [pieces["[UNK]"]]
    return found


@given(st.sets(PIECE, max_size=12), st.lists(WORDS, max_size=3), st.sampled_from(["##", "", "#"]), st.integers(1, 13))
@settings(max_examples=200)
def test_pieces_are_the_longest(pieces: set[str], documents: list[list[str]], prefix: str, longest: int) -> None:
    listed = ["[UNK]", *sorted(pieces), *sorted("##" + piece for piece in pieces if "##" + piece not in pieces)]
    ids = {piece: 3 * i + 1 for i, piece in enumerate(listed)}
    tok = WordPiece(ids, prefix=prefix, longest=longest)
    assert tok.encode_batch(documents).to_lists() == [definition(words, ids, prefix, longest) for words in documents]


def test_ids_equal_those_of_tokenizers(tmp_path: Any) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    source = (re.__doc__ or "") + (np.__doc__ or "") + (np.einsum.__doc__ or "") + (np.linalg.svd.__doc__ or "")
    peer = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token="[UNK]"))
    peer.normalizer = tokenizers.normalizers.BertNormalizer()
    peer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    trainer = tokenizers.trainers.WordPieceTrainer(vocab_size=600, special_tokens=["[UNK]"], show_progress=False)
    peer.train_from_iterator(source[::2].split("\n"), trainer)
    names = sorted(peer.get_vocab(), key=peer.get_vocab().get)
    (tmp_path / "vocab.txt").write_text("\n".join(names) + "\n", encoding="utf-8")
    tok = WordPiece.from_file(tmp_path / "vocab.txt")
    assert tok.vocabulary == peer.get_vocab()
    lines = [*source.split("\n"), "Ein Wörterbuch, das 低い nicht kennt; ## #a ##a " + "x" * 101]
    words = [[w for w, _ in peer.pre_tokenizer.pre_tokenize_str(peer.normalizer.normalize_str(line))] for line in lines]
    for n_threads in (1, 2):
        tok.n_threads = n_threads
        found = tok.encode_batch(words)
        assert found.to_lists() == [peer.encode(line).ids for line in lines]
    peer.decoder = tokenizers.decoders.WordPiece(cleanup=False)
    for ids in found.to_lists():
        assert tok.decode(ids) == peer.decode(ids, skip_special_tokens=False)


@pytest.mark.parametrize(("arguments", "error", "match"), [
    ({"vocabulary": ["a"]}, ValueError, r"unknown: expected a piece of the vocabulary, got '\[UNK\]'"),
    ({"vocabulary": ["[UNK]", "a", "a"]}, ValueError, "a piece is there twice"),
    ({"vocabulary": {"[UNK]": 0, "a": 0}}, ValueError, "two pieces have the same id"),
    ({"vocabulary": {"[UNK]": -1}}, ValueError, "expected an id in 0"),
    ({"vocabulary": {"[UNK]": 0.5}}, TypeError, "expected str and their ids"),
    ({"vocabulary": [b"a"]}, TypeError, "expected str and their ids"),
    ({"vocabulary": ["[UNK]"], "longest": 0}, ValueError, "longest: expected at least 1"),
])  # fmt: skip
def test_arguments(arguments: dict[str, Any], error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        WordPiece(**arguments)


def test_words_that_are_none_are_refused() -> None:
    tok = WordPiece(["[UNK]", "a"])
    assert tok.encode([]).tolist() == [] and tok.encode(["", "a"]).tolist() == [1]
    with pytest.raises(TypeError, match="words: expected words, got a str"):
        tok.encode("a b")
    with pytest.raises(TypeError, match="words: expected str, got list"):
        tok.encode([["a"]])
    with pytest.raises(ValueError, match="ids: 7 is the id of no piece"):
        tok.decode([7])
