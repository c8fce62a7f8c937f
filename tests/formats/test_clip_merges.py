"""CLIP's file of merges: ids are those of `tokenizers`, and what is no such file is refused."""

from __future__ import annotations

import gzip
import itertools
import json
import zlib
from pathlib import Path

import pytest

from ubpe_numba import BPE, ModelFormatError, load
from ubpe_numba.formats import vocab_merges
from ubpe_numba.text.characters import byte_characters

LETTERS = sorted({*byte_characters()} - {"þ", "ÿ"})  # of bytes that are in UTF-8
FIRST = '"bpe_simple_vocab_16e6.txt#version: 0.2\n'
PAIRS = ["t h", "th e</w>", "l o", "lo w</w>"]
#: As many lines as the real file has pairs that count, and some more.
MERGES = PAIRS + [f"{a} {b}" for a, b in itertools.product(LETTERS, repeat=2) if f"{a} {b}" not in PAIRS][:48_900]
FILE = (FIRST + "\n".join(MERGES) + "\n").encode()


@pytest.mark.parametrize("data", [FILE, gzip.compress(FILE)], ids=["plain", "gz"])
def test_ids_equal_those_of_tokenizers(data: bytes, tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    (tmp_path / "merges").write_bytes(data)
    tok = load(tmp_path / "merges")
    assert isinstance(tok, BPE) and tok.special_ids == {"<|startoftext|>": 49406, "<|endoftext|>": 49407}
    assert tok.encode("the LOW\n low's").tolist()[:3] == [513, 515, 515]
    file = vocab_merges.clip_document(data)
    file["model"] |= {"dropout": None, "continuing_subword_prefix": "", "fuse_unk": False}
    file |= {"version": "1.0", "truncation": None, "padding": None, "post_processor": None, "decoder": None}
    peer = tokenizers.Tokenizer.from_str(json.dumps(file))
    again = BPE.from_huggingface(written := tok.to_huggingface())
    other = tokenizers.Tokenizer.from_str(written)
    assert other.decode(tok.encode("the low's é")) == "the low 's é "
    for doc in ("the low\u3000 Lower 123 it's", "中文 x\ty", "", " ", "a<|endoftext|> b", "É e\u0301 ---"):
        assert tok.encode(doc, allowed_special="all").tolist() == peer.encode(doc, add_special_tokens=False).ids
        assert again.encode(doc, allowed_special="all").tolist() == peer.encode(doc, add_special_tokens=False).ids


def test_what_is_no_such_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "merges"
    for data, message in (
        (FIRST.encode() + b"a b\n", "expected 48894 pairs, got 2"),
        (FILE.replace(b"lo w</w>", b"lo \xff</w>"), "not text in UTF-8"),
        (FILE.replace(b"lo w</w>", b"low</w>"), "expected two tokens"),
        (gzip.compress(FILE)[:1000], "expected 48894 pairs"),
        (gzip.compress(b"\0" * (1 << 24)), "which is none of"),
        (zlib.compress(FILE), "which is none of"),
        (b"\x1f\x8b\x08broken", "which is none of"),
    ):
        path.write_bytes(data)
        with pytest.raises(ModelFormatError, match=message):
            load(path)
