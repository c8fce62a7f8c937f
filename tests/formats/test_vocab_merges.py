"""Files of merges: vocab.json with merges.txt, and CLIP's."""

import gzip
import itertools
import json
import zlib
from pathlib import Path

import pytest
from tables import refuses

from ubpe_numba import BPE, Preprocessing, export, load
from ubpe_numba.errors import ModelFormatError
from ubpe_numba.formats import vocab_merges
from ubpe_numba.text.characters import byte_characters

tokenizers = pytest.importorskip("tokenizers")


def test_white_space_has_no_place() -> None:
    tok = BPE(30, preprocessing=Preprocessing(pretokenizer=r"\S*\s")).fit(
        ["low low lower newest widest "] * 5, progress=False
    )
    refuses(ValueError, "holds white space, which merges.txt cannot keep", export, tok, "vocab+merges")


def test_hostile_vocab_and_merges() -> None:
    vocab = json.dumps({"a": 0, "b": 1, "ab": 2, "c</w>": 3})
    for merges, match in (
        ("a b c\n", "merges: line 1: expected two tokens"),
        ("#version: 0.2\na b\na\n", "merges: line 3: expected two tokens"),
        ("b a\n", "'ba' is not in the vocabulary"),
        ("a b\na b\n", "is there twice"),
    ):
        refuses(ModelFormatError, match, BPE.load, (vocab, merges))
    refuses(ModelFormatError, "not valid JSON", BPE.load, ("{x", "\n"))
    with pytest.raises(
        ModelFormatError, match="special_tokens: 'c</w>' has the id 3 in the vocabulary, not 7"
    ):
        BPE.load((vocab, "a b\n"), special_tokens={"c</w>": 7})
    refuses(
        ModelFormatError,
        "special tokens: 'ab' is made by merges too",
        BPE.load,
        (vocab, "a b\n"),
        special_tokens={"ab": 2},
    )
    refuses(ModelFormatError, "not text in UTF-8", BPE.load, (vocab, b"\xff\n"))
    refuses(ValueError, "kind: expected 'bytes' or 'str'", BPE.load, (vocab, "a b\n"), kind="int")
    refuses(ModelFormatError, "no token of a single symbol", BPE.load, ({"ab": 0}, "\n"))


LETTERS = sorted({*byte_characters()} - {"þ", "ÿ"})  # of bytes that are in UTF-8
FIRST = '"bpe_simple_vocab_16e6.txt#version: 0.2\n'
PAIRS = ["t h", "th e</w>", "l o", "lo w</w>"]
#: As many lines as the real file has pairs that count, and some more.
MERGES = (
    PAIRS + [f"{a} {b}" for a, b in itertools.product(LETTERS, repeat=2) if f"{a} {b}" not in PAIRS][:48_900]
)
FILE = (FIRST + "\n".join(MERGES) + "\n").encode()


def test_ids_of_clip_equal_those_of_tokenizers(tmp_path: Path) -> None:
    data = gzip.compress(FILE)
    (tmp_path / "merges").write_bytes(FILE)
    tok = load(tmp_path / "merges")
    assert load(data).fingerprint == tok.fingerprint
    assert isinstance(tok, BPE) and tok.vocabulary.special == {
        "<|startoftext|>": 49406,
        "<|endoftext|>": 49407,
    }
    assert tok.encode("the LOW\n low's").tolist()[:3] == [513, 515, 515]
    file = vocab_merges.clip_document(data)
    file["model"] |= {"dropout": None, "continuing_subword_prefix": "", "fuse_unk": False}
    file |= {"version": "1.0", "truncation": None, "padding": None, "post_processor": None}
    peer = tokenizers.Tokenizer.from_str(json.dumps(file))
    again = BPE.load(export(tok, "tokenizer.json"))
    for doc in ("the low\u3000 Lower 123 it's", "中文 x\ty", "", " ", "a<|endoftext|> b", "É e\u0301 ---"):
        assert (
            tok.encode(doc, allowed_special="all").tolist() == peer.encode(doc, add_special_tokens=False).ids
        )
        assert (
            again.encode(doc, allowed_special="all").tolist()
            == peer.encode(doc, add_special_tokens=False).ids
        )


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
        refuses(ModelFormatError, message, load, path)
