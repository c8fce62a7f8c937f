"""Exports that would lose something are refused."""

from __future__ import annotations

import json
import pathlib
import random
from typing import Any

import pytest
from foreign import END, MIXED

from ubpe_numba import BPE
from ubpe_numba.formats.export import _package
from ubpe_numba.text.cut import PATTERNS
from ubpe_numba.text.patterns import published_steps

tokenizers = pytest.importorskip("tokenizers")
pytest.importorskip("tiktoken")


def test_ids_are_those_of_hugging_face_and_tiktoken(tok: Any, lines: list[str]) -> None:
    other = tokenizers.Tokenizer.from_str(tok.to_huggingface())
    encoding = tok.to_tiktoken_encoding()
    docs = [*MIXED, *lines[3000:3300], "".join(lines[100:130]), f"a{END}b{END}{END}<é>c"]
    rng = random.Random(1)
    letters = "".join(MIXED[:5])
    docs += ["".join(rng.choices(letters, k=40)) for _ in range(200)]
    ours = tok.encode_batch(docs, allowed_special="all").to_lists()
    assert [e.ids for e in other.encode_batch(docs, add_special_tokens=False)] == ours
    assert [encoding.encode(doc, allowed_special="all") for doc in docs] == ours
    for doc, ids in zip(docs, ours, strict=True):
        assert tok.decode(ids) == doc == encoding.decode(ids)


def test_exports_that_would_lose_something_are_refused() -> None:
    double = BPE.from_merges([[97, 98], [256, 99], [98, 99], [97, 258]], alphabet=bytes(range(256)))
    for write in (double.to_huggingface, double.to_tiktoken, double.to_vocab_merges):
        with pytest.raises(ValueError, match="stand for the same"):
            write()
    unstable = BPE.from_merges([[98, 99], [97, 98], [257, 99]], alphabet=bytes(range(256)))  # abc is a bc
    unstable.to_huggingface()
    with pytest.raises(ValueError, match=r"export refused: b'abc' is \[97, 256\] here, but \[258\] by what was written"):
        unstable.to_tiktoken()
    part = BPE(None, alphabet=b"abc", encoding="utf-8").fit(["abab"], progress=False)
    with pytest.raises(ValueError, match="alphabet: tiktoken needs one of all 256 bytes"):
        part.to_tiktoken()
    assert BPE.from_huggingface(part.to_huggingface(unk_token=False)).encode("cab").tolist() == part.encode("cab").tolist()
    known = BPE.for_text(256, known_words=["a b"]).fit([""], progress=False)
    with pytest.raises(ValueError, match="known_words: tiktoken has none"):
        known.to_tiktoken()
    with pytest.raises(ValueError, match="known words"):
        known.to_vocab_merges()
    clash = BPE.from_merges([[97, 98]], bytes(range(256)), special_tokens=["ab"])
    with pytest.raises(ValueError, match="special_tokens: 'ab' is a token of the vocabulary too"):
        clash.to_huggingface()
    odd = BPE.from_merges([[97, 98]], bytes(range(256)), special_tokens=[b"\xff"])
    with pytest.raises(ValueError, match=r"special_tokens: b'\\xff' is not text"):
        odd.to_huggingface()
    lone = BPE(None).fit(["a\ud800"], progress=False)
    with pytest.raises(ValueError, match=r"alphabet: the surrogate U\+D800 cannot be written"):
        lone.to_huggingface()
    ints = BPE(None).fit([[0, 1, 0, 1]], progress=False)
    with pytest.raises(ValueError, match="alphabet: the files hold text"):
        ints.to_vocab_merges()
    with pytest.raises(ValueError, match="special_tokens: .* holds integers outside the alphabet"):
        BPE(None, special_tokens=[[0, 9]]).fit([[0, 1]], progress=False).to_huggingface()


def test_unfitted_and_foreign_objects() -> None:
    for name in ("to_huggingface", "to_tiktoken", "to_vocab_merges", "to_transformers"):
        with pytest.raises(ValueError, match="has no vocabulary yet"):
            getattr(BPE(), name)()
    with pytest.raises(TypeError, match="expected a text or a path, got int"):
        BPE.from_huggingface(3)
    with pytest.raises(ValueError, match="kind: expected 'bytes' or 'str'"):
        BPE.from_vocab_merges("{}", "\n", kind="int")
    with pytest.raises(ValueError, match="end_of_word: expected one character"):
        BPE.from_vocab_merges("{}", "\n", end_of_word=" ")
    with pytest.raises(FileNotFoundError):
        BPE.from_huggingface("no such file.json")


def test_a_folder_of_its_name_is_not_an_installed_package(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "just_a_folder").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    assert _package("just_a_folder") is None
    assert _package("not_even_that") is None
    assert _package("numpy") is not None


@pytest.mark.parametrize("name", PATTERNS)
def test_published_patterns_are_written_as_others_have_them(name: str) -> None:
    """Steps and spellings that other libraries know; read back, they are the same pattern, by their version of Unicode."""
    tok = BPE(300, pretokenizer=name, encoding="utf-8").fit(["it's 12345 of them, I'VE heard\n中文 é"] * 3, progress=False)
    text = tok.to_huggingface()
    step = json.loads(text)["pre_tokenizer"]
    parts = step["pretokenizers"] if step["type"] == "Sequence" else [step]
    found = [part["pattern"]["Regex"] if part["type"] == "Split" else part["type"] for part in parts]
    want = {"gpt2": ["ByteLevel"], "starcoder": ["Digits", "ByteLevel"]}
    assert found == want.get(name, [*published_steps(name), "ByteLevel"])
    assert parts[-1]["use_regex"] is (name in want)
    for again in (BPE.from_huggingface(text), *([BPE.from_tiktoken(tok.to_tiktoken_encoding())] if name != "deepseek" else [])):
        cutter = again.segmenter_.pretokenizer
        assert (cutter.name, cutter.unicode, cutter.kernel) == (name, "16.0.0", f"{name}@16.0.0")
        assert again.encode("they're 1234 中文").tolist() == tok.encode("they're 1234 中文").tolist()


DOCS = [*MIXED, "they're 1234, I'VE  12\n\n中文 café! \n", "\u2028 e\u0301x \t\n  "]


@pytest.mark.parametrize("peer", ["fastokens", "gigatoken", "snaptokens"])
@pytest.mark.parametrize("name", PATTERNS)
def test_peers_accept_them(name: str, peer: str, tmp_path: pathlib.Path) -> None:
    """All; but of cl100k gigatoken and snaptokens know a spelling that Hugging Face reads otherwise, and not the step Digits."""
    library = pytest.importorskip(peer)
    if peer != "fastokens" and name in ("cl100k", "starcoder"):
        pytest.skip(f"{peer} has no {name} that Hugging Face reads alike")
    tok = BPE(300, pretokenizer=name, encoding="utf-8").fit(
        [*MIXED, "it's 12345 of them, I'VE heard\n中文 é"] * 3, progress=False
    )
    tok.to_huggingface(tmp_path / "tokenizer.json")
    path = str(tmp_path / "tokenizer.json")
    other = library.Tokenizer(path) if peer == "gigatoken" else library.Tokenizer.from_file(path)
    for doc in DOCS:
        found = other.encode(doc)
        assert list(getattr(found, "ids", found)) == tok.encode(doc).tolist()


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k", "qwen2", "qwen35"])
def test_gigatoken_accepts_files_of_ranks(name: str, tmp_path: pathlib.Path) -> None:
    gigatoken = pytest.importorskip("gigatoken")
    tok = BPE(300, pretokenizer=name, encoding="utf-8").fit(
        [*MIXED, "it's 12345 of them, I'VE heard\n中文 é"] * 3, progress=False
    )
    tok.to_tiktoken(tmp_path / "m.tiktoken")
    other = gigatoken.Tokenizer.from_tiktoken(tmp_path / "m.tiktoken", pretokenizer=name)
    assert [list(other.encode(doc)) for doc in DOCS] == tok.encode_batch(DOCS).to_lists()


@pytest.mark.parametrize("n_special", [1, 300])
def test_tiktoken_has_special_tokens_first_too(n_special: int) -> None:
    words = [f"<{i}>" for i in range(n_special)]
    tok = BPE.for_text(300, pretokenizer="gpt2", special_tokens=words, special_first=True)
    tok.fit(["low lower lowest slow slower"] * 3, progress=False)
    encoding = tok.to_tiktoken_encoding()
    again = BPE.from_tiktoken(tok.to_tiktoken(), pretokenizer="gpt2", special_tokens=tok.special_ids)
    for text in ("lowest <0> slow", "é 中"):
        ids = tok.encode(text, allowed_special="all").tolist()
        assert encoding.encode(text, allowed_special="all") == ids == again.encode(text, allowed_special="all").tolist()
