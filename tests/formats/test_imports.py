"""What was exported is imported again, from every format; damaged files load or are refused."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest
from foreign import END, MIXED, line, same
from hypothesis import given, settings
from hypothesis import strategies as st

from ubpe_numba import BPE, UBPE, ModelFormatError, UBPEClassic, WordPiece

tokenizers = pytest.importorskip("tokenizers")
pytest.importorskip("tiktoken")


def test_every_export_is_imported_as_the_same(tok: Any, tmp_path: pathlib.Path) -> None:
    cutter = tok.segmenter_.pretokenizer
    same(tok, BPE.from_huggingface(tok.to_huggingface(tmp_path / "tokenizer.json")), MIXED)
    same(tok, BPE.from_huggingface(tmp_path / "tokenizer.json"), MIXED)
    same(tok, BPE.from_huggingface(tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))), MIXED)
    data = tok.to_tiktoken(tmp_path / "x.tiktoken")
    same(tok, BPE.from_tiktoken(data, pretokenizer=cutter, special_tokens=tok.special_ids), MIXED)
    same(tok, BPE.from_tiktoken(str(tmp_path / "x.tiktoken"), pretokenizer=cutter, special_tokens=tok.special_ids), MIXED)
    same(tok, BPE.from_tiktoken(tok.to_tiktoken_encoding()), MIXED)
    vocab, merges = tok.to_vocab_merges(tmp_path / "vocab.json", tmp_path / "merges.txt")
    same(tok, BPE.from_vocab_merges(vocab, merges, pretokenizer=cutter, special_tokens=tok.special_ids), MIXED)
    again = BPE.from_vocab_merges(tmp_path / "vocab.json", tmp_path / "merges.txt", pretokenizer=cutter)
    assert again.special_ids[END] == tok.special_ids[END]  # tokens that no pair makes are special
    again.save(tmp_path / "m.npz")
    assert BPE.load(tmp_path / "m.npz").fingerprint == again.fingerprint
    classic = UBPEClassic.from_huggingface(tok.to_huggingface())
    assert classic.encode_batch(MIXED).to_lists() == tok.encode_batch(MIXED).to_lists()


@pytest.mark.filterwarnings("ignore:added_tokens.*in the file, but:UserWarning")
@settings(max_examples=150)
@given(st.data())
def test_damaged_files_load_or_are_refused(data: st.DataObject) -> None:
    whole = DAMAGED[data.draw(st.integers(0, 1))]
    at = data.draw(st.integers(0, len(whole) - 1))
    piece = data.draw(st.binary(max_size=4))
    broken = whole[:at] + piece + whole[at + data.draw(st.integers(0, 4)) :]
    try:
        tok = BPE.from_tiktoken(broken) if whole is DAMAGED[1] else BPE.from_huggingface(broken)
    except ModelFormatError:
        return
    ids = range(len(tok.vocabulary)) if tok.segmenter_.token_ids is None else tok.segmenter_.token_ids.tolist()
    assert all(len(tok.decode([i])) for i in ids)


DAMAGED = (
    json.dumps(
        json.loads(BPE.from_merges([[0, 1], [3, 2]], b"abc", special_tokens=["<s>"]).to_huggingface(unk_token=False))
    ).encode(),
    b"".join(line(bytes([b]), i) for i, b in enumerate(b"abc")) + line(b"ab", 3) + line(b"abc", 4),
)


def test_the_file_is_named(tmp_path: pathlib.Path) -> None:
    """That of a path, whichever reader refuses it; a text and bytes have no name."""
    path = tmp_path / "x"
    twice = b'{"model": {"type": "BPE", "vocab": {"a": 0, "a": 1}, "merges": []}}'
    calls: list[tuple[Any, bytes]] = [
        (BPE.from_huggingface, twice), (UBPE.from_huggingface, twice), (WordPiece.from_huggingface, twice),
        (BPE.from_tekken, twice),
        (BPE.from_sentencepiece, b"x"), (BPE.from_gguf, b"x"), (WordPiece.from_gguf, b"x"), (WordPiece.from_file, b"\xff"),
        (lambda path: BPE.from_tiktoken(path, pretokenizer=None), b"x"), (BPE.from_huggingface, b"\xff"),
        (lambda path: BPE.from_vocab_merges(path, "#version: 0.2\na b\n"), b'{"a": 0, "a": 1}'),
        (lambda path: BPE.from_vocab_merges('{"a": 0}', path), b"a b c\n"),
    ]  # fmt: skip
    for read, data in calls:
        path.write_bytes(data)
        for where in (path, str(path)):
            with pytest.raises(ModelFormatError) as caught:
                read(where)
            assert str(caught.value).startswith(f"{path}: ") and str(caught.value).count(str(path)) == 1
    with pytest.raises(ModelFormatError, match="^JSON: the key 'a' is there twice"):
        BPE.from_huggingface(twice)
