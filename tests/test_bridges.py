"""To and from other libraries: the same merges, the same ids, and a clear no where that cannot be."""

from __future__ import annotations

import base64
import gzip
import json
import os
import pathlib
import random
import sysconfig
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ubpe_numba import BPE, FitRules, ModelFormatError, UBPEClassic, count_documents
from ubpe_numba.formats.pair_table import byte_characters, last_merge, symbol_character, symbol_index
from ubpe_numba.formats.samples import TEXTS
from ubpe_numba.text.pretokenizer import NAMED

regex = pytest.importorskip("regex")
tokenizers = pytest.importorskip("tokenizers")
tiktoken = pytest.importorskip("tiktoken")

END = "<|endoftext|>"
MIXED = [*TEXTS, "", " ", "\n\n", "naïve café ﬁ", "\U0001d518\U0001d52b 한국어 हिन्दी", "a" * 300, "=" * 80 + "\n" * 20]


def english() -> list[str]:
    """Lines of the King James Bible where UBPE_BENCH_DATA has it, else of this interpreter's own sources."""
    path = pathlib.Path(os.environ.get("UBPE_BENCH_DATA", ""), "en_kjv.txt.gz")
    if os.environ.get("UBPE_BENCH_DATA") and path.exists():
        text = gzip.decompress(path.read_bytes())[:400_000].decode("utf-8", "replace")
    else:
        text = "".join(pathlib.Path(sysconfig.get_paths()["stdlib"], name).read_text() for name in ("argparse.py", "decimal.py"))
    return text.splitlines(keepends=True)


@pytest.fixture(scope="module")
def lines() -> list[str]:
    return english()


@pytest.fixture(scope="module", params=["gpt2", "cl100k", "o200k", "[^ ]+ ?", None])
def tok(request: pytest.FixtureRequest, lines: list[str]) -> Any:
    """Fitted on a mixture, so that tokens cross characters of several bytes."""
    docs = lines[:2000] + MIXED * 20
    return BPE.for_text(1500, pretokenizer=request.param, special_tokens=[END, "<é>"]).fit(docs, progress=False)


def trained(lines: list[str], size: int) -> Any:
    """Hugging Face's trainer, over bytes, by the pattern of GPT-2."""
    other = tokenizers.Tokenizer(tokenizers.models.BPE())
    other.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=size,
        min_frequency=2,
        show_progress=False,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=[END],
    )
    other.train_from_iterator(lines, trainer)
    return other


# --- the same merges as Hugging Face's trainer


def merges_of(other: Any) -> list[tuple[bytes, bytes]]:
    value = {letter: byte for byte, letter in enumerate(byte_characters())}
    merges = json.loads(other.to_str())["model"]["merges"]
    return [tuple(bytes(value[letter] for letter in part) for part in pair) for pair in merges]  # type: ignore[misc]


def test_merges_are_those_of_hugging_face(lines: list[str]) -> None:
    """With the symbols in its order ties fall as there, and all is the same; in ours only ties differ."""
    n = 400
    want = merges_of(trained(lines, 257 + n))
    assert len(want) == n

    def merges(tok: Any) -> list[tuple[bytes, bytes]]:
        return [(tok.decode_bytes([a]), tok.decode_bytes([b])) for a, b in tok.vocabulary.merges.tolist()]

    letters = byte_characters()
    in_its_order = bytes(sorted(range(256), key=letters.__getitem__))
    assert merges(BPE(256 + n, alphabet=in_its_order, pretokenizer="gpt2", encoding="utf-8").fit(lines, progress=False)) == want

    ours = merges(BPE.for_text(256 + n, pretokenizer="gpt2").fit(lines, progress=False))
    best = highest_counts(lines, ours)  # of both, every merge is the most frequent pair when it is made
    for sequence, counts in ((ours, best), (want, highest_counts(lines, want))):
        assert all(counts[i] >= counts[i + 1] for i in range(n - 1)), sequence
    differ = [i for i in range(n) if ours[i] != want[i]]
    assert differ, "no tie at all: the test says nothing"


def highest_counts(lines: list[str], merges: list[tuple[bytes, bytes]]) -> list[int]:
    """How often each pair occurs when it is merged; AssertionError if another one occurs more often."""
    words: Counter[tuple[bytes, ...]] = Counter()
    for line in lines:
        for match in regex.finditer(NAMED["gpt2"], line):
            words[tuple(bytes([b]) for b in match.group().encode())] += 1
    pairs: Counter[tuple[bytes, bytes]] = Counter()
    holders: dict[tuple[bytes, bytes], set[int]] = {}
    texts, weights = [list(word) for word in words], list(words.values())
    for i, text in enumerate(texts):
        for pair in pairwise(text):
            pairs[pair] += weights[i]
            holders.setdefault(pair, set()).add(i)
    counts = []
    for merge in merges:
        counts.append(pairs[merge])
        assert pairs[merge] == max(pairs.values()), (merge, pairs.most_common(3))
        for i in holders[merge].copy():
            text, new, j = texts[i], [], 0
            for pair in pairwise(text):
                pairs[pair] -= weights[i]
            while j < len(text):
                if tuple(text[j : j + 2]) == merge:
                    new.append(merge[0] + merge[1])
                    j += 2
                else:
                    new.append(text[j])
                    j += 1
            texts[i] = new
            for pair in pairwise(new):
                pairs[pair] += weights[i]
                holders.setdefault(pair, set()).add(i)
    return counts


# --- the same ids


def foreign_ids(text: str, tok: Any) -> tuple[list[int], list[int]]:
    other = tokenizers.Tokenizer.from_str(tok.to_huggingface())
    encoding = tok.to_tiktoken_encoding()
    return other.encode(text, add_special_tokens=False).ids, encoding.encode(text, allowed_special="all")


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


# --- round trips


def same(a: Any, b: Any, docs: Any) -> None:
    assert np.array_equal(a.vocabulary.merges, b.vocabulary.merges) and a.alphabet_ == b.alphabet_
    assert a.special_ids == b.special_ids
    assert (a.pretokenizer and a.segmenter_.pretokenizer) == b.segmenter_.pretokenizer
    assert a.encode_batch(docs).to_lists() == b.encode_batch(docs).to_lists()


def test_round_trips(tok: Any, tmp_path: pathlib.Path) -> None:
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


def test_the_files_of_gpt2_as_hugging_face_reads_them(tok: Any) -> None:
    vocab, merges = tok.to_vocab_merges()
    pairs = [tuple(line.split(" ")) for line in merges.splitlines()[1:]]
    model = tokenizers.models.BPE(vocab=json.loads(vocab), merges=pairs)
    other = tokenizers.Tokenizer(model)
    other.pre_tokenizer = tokenizers.Tokenizer.from_str(tok.to_huggingface()).pre_tokenizer
    for text in MIXED:
        assert other.encode(text).ids == tok.encode(text).tolist()


def test_a_model_of_hugging_face_with_ids_of_its_own(lines: list[str], tmp_path: pathlib.Path) -> None:
    """Its trainer puts special tokens first and the bytes in an order of characters."""
    other = trained(lines[:1000], 600)
    other.post_processor = tokenizers.processors.TemplateProcessing(single=f"{END} $A", special_tokens=[(END, 0)])
    tok = BPE.from_huggingface(other)
    assert other.encode("a").ids == [0, *tok.encode("a").tolist()]  # what surrounds a document is not part of the tokenizer
    other.post_processor = tokenizers.processors.ByteLevel()
    assert tok.special_ids == {END: 0} and tok.vocabulary.n_learned == 600 - 257
    docs = [*MIXED, *lines[:100], f"x{END}y"]
    ids = tok.encode_batch(docs, allowed_special="all")
    assert ids.to_lists() == [e.ids for e in other.encode_batch(docs)]
    assert tok.decode_batch(ids) == docs
    assert json.loads(tok.to_huggingface())["model"] == json.loads(other.to_str())["model"]
    for name in ("m.json", "m.npz"):
        tok.save(tmp_path / name)
        again = BPE.load(tmp_path / name)
        assert again.fingerprint == tok.fingerprint and again.encode_batch(docs, allowed_special="all") == ids
    shorter = tok.truncate(400)
    assert shorter.decode(shorter.encode(docs[0])) == docs[0] and int(shorter.encode(docs[0]).max()) <= 400
    with pytest.raises(ValueError, match="token_ids: only a vocabulary whose ids are in order of creation"):
        tok.fit_more(lines, 700)
    with pytest.raises(ValueError, match="by: the ids of this vocabulary are not 0, 1"):
        tok.truncate(400, by="idf")
    with pytest.raises(ValueError, match="is outside the vocabulary"):
        tok.decode([10**6])


def test_characters(lines: list[str]) -> None:
    tok = BPE(400, special_tokens=["[SEP]"], known_words=["日本"]).fit([*lines[:500], *TEXTS], progress=False)
    text = tok.to_huggingface()
    again = BPE.from_huggingface(text)
    assert np.array_equal(again.vocabulary.merges, tok.vocabulary.merges) and again.alphabet_ == tok.alphabet_
    assert again.special_ids == tok.special_ids and again.known_words == ["日本"]
    other = tokenizers.Tokenizer.from_str(text)
    for doc in [*TEXTS, *lines[:50], "the 日本[SEP]the"]:
        ids = tok.encode(doc, allowed_special="all", unknown="skip").tolist()
        assert other.encode(doc).ids == ids
        assert other.decode(ids, skip_special_tokens=False) == tok.decode(ids)


@pytest.mark.parametrize("low, high", [(0, 30), (-20, 9000)])  # a large alphabet goes beyond private use
def test_integers(low: int, high: int) -> None:
    rng = np.random.default_rng(0)
    docs = [rng.integers(low, low + 6, 400), np.arange(low, high)]
    tok = BPE(None, alphabet=range(low, high), special_tokens=[[low, low, high - 1]]).fit(docs, progress=False)
    symbols = tok.alphabet_.symbols
    text = tok.to_huggingface()
    again = BPE.from_huggingface(text, alphabet=symbols)
    same(tok, again, [docs[0]])
    other = tokenizers.Tokenizer.from_str(text)
    written = "".join(symbol_character(s - low) for s in docs[0].tolist())
    assert other.encode(written).ids == tok.encode(docs[0], allowed_special="all").tolist()
    plain = BPE.from_huggingface(text)
    assert plain.alphabet_.kind == "int" and plain.alphabet_.is_identity
    assert plain.encode(docs[0] - low).tolist() == tok.encode(docs[0]).tolist()
    with pytest.raises(ModelFormatError, match="alphabet: expected .* integers for a model of 'int', got 3"):
        BPE.from_huggingface(text, alphabet=[1, 2, 3])


def test_end_of_word() -> None:
    docs = ["low low low lower lower newest newest widest "] * 5
    tok = BPE(30, pretokenizer=r"\S*\s").fit(docs, progress=False)
    vocab, merges = tok.to_vocab_merges(end_of_word=" ")
    assert "</w>" in json.loads(vocab) and " " not in json.loads(vocab) and merges.startswith("#version: 0.2\n")
    again = BPE.from_vocab_merges(vocab, merges, kind="str", pretokenizer=r"\S*\s", end_of_word=" ")
    same(tok, again, docs)
    with pytest.raises(ValueError, match="holds white space, which merges.txt cannot keep"):
        tok.to_vocab_merges()


def test_end_of_word_in_one_symbol() -> None:
    """subword-nmt 0.2 and Hugging Face's suffix: the last character and its marker are one symbol."""
    other = tokenizers.Tokenizer(tokenizers.models.BPE(end_of_word_suffix="</w>"))
    other.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=60, end_of_word_suffix="</w>", show_progress=False)
    text = "low low lower lower newest newest newest widest widest ox "
    other.train_from_iterator([text] * 3, trainer)
    model = json.loads(other.to_str())["model"]
    merges = "\n".join(" ".join(pair) for pair in model["merges"]) + "\n"
    tok = BPE.from_vocab_merges(model["vocab"], merges, kind="str", pretokenizer=r"\S*\s", end_of_word=" ")
    for doc in (text, "lowest newer west ", "x "):
        assert tok.encode(doc).tolist() == other.encode(doc).ids
        assert tok.decode(tok.encode(doc)) == doc


def test_transformers(lines: list[str]) -> None:
    pytest.importorskip("transformers")
    tok = BPE.for_text(500, pretokenizer="gpt2", special_tokens=[END]).fit(lines[:500], progress=False)
    fast = tok.to_transformers(eos_token=END)
    for doc in [*MIXED, f"a{END}b"]:
        ids = tok.encode(doc, allowed_special="all").tolist()
        assert fast(doc)["input_ids"] == ids and fast.decode(ids) == doc
    assert fast.eos_token_id == tok.special_ids[END] and len(fast) == 501


# --- several pairs for one token


def test_of_several_pairs_one_is_chosen(lines: list[str]) -> None:
    """Models converted from tiktoken list every way to cut a token in two, the true one anywhere among them."""
    tok = BPE.for_text(600, pretokenizer="gpt2").fit(lines[:1000], progress=False)
    file = json.loads(tok.to_huggingface())
    vocab = file["model"]["vocab"]
    merges = []
    for token in sorted(vocab, key=vocab.__getitem__):
        cuts = [[token[:i], token[i:]] for i in range(1, len(token)) if token[:i] in vocab and token[i:] in vocab]
        merges += sorted(cuts, reverse=True)
    assert len(merges) > len(file["model"]["merges"])
    file["model"] |= {"merges": merges, "ignore_merges": True}
    again = BPE.from_huggingface(json.dumps(file))
    assert np.array_equal(again.vocabulary.merges, tok.vocabulary.merges)
    other = tokenizers.Tokenizer.from_str(json.dumps(file))
    for doc in MIXED:
        assert other.encode(doc).ids == again.encode(doc).tolist() == tok.encode(doc).tolist()


@settings(max_examples=60)
@given(st.lists(st.text("abc", max_size=30), max_size=4), st.integers(0, 20), st.data())
def test_pairs_of_tokens_from_ranks(docs: list[str], more: int, data: st.DataObject) -> None:
    tok = BPE(256 + more, alphabet=bytes(range(256)), encoding="utf-8").fit(docs, progress=False)
    again = BPE.from_tiktoken(tok.to_tiktoken())
    assert np.array_equal(again.vocabulary.merges, tok.vocabulary.merges)
    text = data.draw(st.text("abc", max_size=40))
    assert tok.to_tiktoken_encoding().encode(text) == tok.encode(text).tolist()


def test_characters_of_bytes_and_integers() -> None:
    table = byte_characters()
    assert table == [c for c, _ in sorted(tokenizers_table().items(), key=lambda item: item[1])]
    for i in (0, 6399, 6400, 100_000, 6400 + 0x100000 - 1):
        assert symbol_index(symbol_character(i)) == i
    assert symbol_index("a") is None
    assert last_merge("a", lambda a, b: 0, 1) is None and last_merge("abc", lambda a, b: 1, 1) is None


def tokenizers_table() -> dict[str, int]:
    """The table by Hugging Face: every character of its alphabet, by the byte that decodes from it."""
    decoder = tokenizers.decoders.ByteLevel()
    ascii_only = {c: decoder.decode([c]) for c in tokenizers.pre_tokenizers.ByteLevel.alphabet()}
    table = {c: ord(byte) for c, byte in ascii_only.items() if byte != "\ufffd"}
    level = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    for point in (*range(0x80, 0x800), *range(0x1000, 0x10000, 0x400), 0x10000, 0x50000, 0x90000, 0xD0000, 0x100000, 0x10FFFF):
        if not 0xD800 <= point < 0xE000:
            [(letters, _)] = level.pre_tokenize_str(chr(point))
            table |= dict(zip(letters, chr(point).encode(), strict=True))
    others = sorted(set(tokenizers.pre_tokenizers.ByteLevel.alphabet()) - table.keys())
    rest = sorted(set(range(256)) - set(table.values()))  # bytes that never are part of UTF-8: in order
    return table | dict(zip(others, rest, strict=True))


# --- refusals


def test_exports_that_would_lose_something_are_refused() -> None:
    double = BPE.from_merges([[97, 98], [256, 99], [98, 99], [97, 258]], alphabet=bytes(range(256)))
    for export in (double.to_huggingface, double.to_tiktoken, double.to_vocab_merges):
        with pytest.raises(ValueError, match="stand for the same"):
            export()
    unstable = BPE.from_merges([[98, 99], [97, 98], [257, 99]], alphabet=bytes(range(256)))  # abc is a bc
    unstable.to_huggingface()
    with pytest.raises(ValueError, match=r"export refused: b'abc' is \[97, 256\] here, but \[258\] by what was written"):
        unstable.to_tiktoken()
    part = BPE(None, alphabet=b"abc", encoding="utf-8").fit(["abab"], progress=False)
    with pytest.raises(ValueError, match="alphabet: tiktoken needs one of all 256 bytes"):
        part.to_tiktoken()
    assert BPE.from_huggingface(part.to_huggingface()).encode("cab").tolist() == part.encode("cab").tolist()
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


def test_an_export_that_encodes_differently_names_the_sample(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    """By the articles' rule of several pairs a pass a table out of order is encoded as no other library does."""
    rng = np.random.default_rng(0)
    docs = [rng.integers(0, 4, 200) for _ in range(8)]
    tok = UBPEClassic(60, 50, alphabet=4, rules=FitRules(order="idf", encode="batch")).fit(docs, progress=False)
    path = tmp_path / "tokenizer.json"
    with pytest.raises(ValueError, match="vocabulary: its pairs are not in order of creation"):
        tok.to_huggingface(path)
    monkeypatch.setattr(UBPEClassic, "_check_order", lambda self: None)
    monkeypatch.setattr(UBPEClassic, "_from_table", classmethod(lambda cls, *args: tok))
    with pytest.raises(ValueError, match=r"export refused: \[.*\] is \[.*\] here, but \[.*\] by tokenizers"):
        tok.to_huggingface(path)
    assert not path.exists()


def test_what_the_other_library_says_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pattern that Hugging Face's engine reads in another way: to it $ is the end of every line."""
    tok = BPE(None, pretokenizer=r"\n$|a+").fit(["a\nb\n", "\n\na\n\n"] * 3, progress=False)
    with pytest.raises(ValueError, match=r"export refused: .* by tokenizers"):
        tok.to_huggingface()


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


# --- hostile files


def base() -> dict[str, Any]:
    tok = BPE.from_merges([[97, 98], [256, 99]], bytes(range(256)), special_tokens=[END])
    file: dict[str, Any] = json.loads(tok.to_huggingface())
    return file


def deep(file: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """The file with one place changed; DELETE leaves it out."""
    part: Any = file
    *way, last = path.split(".")
    for name in way:
        part = part[int(name) if isinstance(part, list) else name]
    part[int(last) if isinstance(part, list) else last] = value
    return file


FILES: list[tuple[str, Any, str]] = [
    ("model", None, "model: expected one of type BPE"),
    ("model.type", "Unigram", "model: expected one of type BPE"),
    ("model.dropout", 0.1, "model: dropout=0.1 is not supported"),
    ("model.byte_fallback", True, "model: byte_fallback=True is not supported"),
    ("model.continuing_subword_prefix", "##", "model: continuing_subword_prefix='##' is not supported"),
    ("model.end_of_word_suffix", "</w>", "model: end_of_word_suffix='</w>' is not supported"),
    ("normalizer", {"type": "NFC"}, "normalizer: not supported"),
    ("pre_tokenizer", {"type": "Metaspace"}, "pre_tokenizer: .*Metaspace.* is not supported"),
    ("pre_tokenizer", 3, "pre_tokenizer: expected an object"),
    ("pre_tokenizer", {"type": "Sequence", "pretokenizers": None}, "pre_tokenizer: expected an object"),
    ("pre_tokenizer.add_prefix_space", True, "add_prefix_space.* is not supported"),
    ("model.vocab", [], "model: vocab: expected an object"),
    ("model.vocab", {}, "model: vocab: expected an object"),
    ("model.vocab.a", -1, "model: vocab: 'a': expected an id in 0"),
    ("model.vocab.a", 2**40, "model: vocab: 'a': expected an id in 0"),
    ("model.vocab.a", 98, "have the same id 98"),
    ("model.vocab.a", True, "model: vocab: 'a': expected an id"),
    ("model.vocab.中", 400, "vocab: '中' is not the character of a byte"),
    ("model.merges", None, "model: merges: expected a list"),
    ("model.merges.0", ["a"], r"model: merges\[0\]: expected two tokens"),
    ("model.merges.0", "a b c", r"model: merges\[0\]: expected two tokens"),
    ("model.merges.0", ["a", ""], r"model: merges\[0\]: expected two tokens"),
    ("model.merges.0", ["x", "y"], r"merges\[0\]: 'xy' is not in the vocabulary"),
    ("model.merges.1", ["a", "b"], "merges: the pair .* is there twice"),
    ("added_tokens", 3, "added_tokens: expected a list"),
    ("added_tokens.0.id", None, r"added_tokens\[0\]: expected an object with content and id"),
    ("added_tokens.0.id", 5, "is there twice, or has two ids"),
    ("added_tokens.0.lstrip", True, "lstrip, rstrip, single_word are not supported"),
    ("added_tokens.0.content", "", "special_tokens: two have the same id"),
]


@pytest.mark.parametrize("path, value, match", FILES, ids=lambda x: str(x)[:40])
def test_hostile_tokenizer_json(path: str, value: Any, match: str) -> None:
    with pytest.raises(ModelFormatError, match=match):
        BPE.from_huggingface(json.dumps(deep(base(), path, value)))


@pytest.mark.parametrize("text", ["{", "{}", "[]\n", "{" * 100_000, '{"model": NaN}', "null\n"])
def test_no_tokenizer_json(text: str) -> None:
    with pytest.raises(ModelFormatError):
        BPE.from_huggingface(text)


def test_few_pairs_that_claim_much() -> None:
    """64 doublings in a file of some kilobytes."""
    vocab, merges, token = {"a": 0}, [], "a"
    for i in range(1, 16):
        merges.append([token, token])
        token += token
        vocab[token] = i
    file = deep(base(), "model.vocab", vocab)
    file["model"]["merges"], file["added_tokens"] = merges, []
    assert len(BPE.from_huggingface(json.dumps(file)).encode("a" * 2**15)) == 1  # names are as long as what they claim
    file["model"]["merges"] = [["a", token[:-1]]]
    with pytest.raises(ModelFormatError, match="is not in the vocabulary"):
        BPE.from_huggingface(json.dumps(file))


def line(token: bytes, rank: Any) -> bytes:
    return base64.b64encode(token) + b" " + str(rank).encode() + b"\n"


BYTES = b"".join(line(bytes([b]), b) for b in range(256))
RANKS: list[tuple[bytes, str]] = [
    (b"", "expected at least one token"),
    (b"###  1\n", "line 1: not base64"),
    (line(b"a", "x"), "line 1: expected a token in base64 and its rank"),
    (line(b"a", -1), "line 1: expected a token in base64 and its rank"),
    (line(b"a", 10**12), "line 1: expected a token in base64 and its rank"),
    (line(b"a", 0) * 2, "line 2: the token b'a' is there twice"),
    (line(b"a", 0) + line(b"b", 0), "the tokens b'a' and b'b' have the same rank 0"),
    (b"YQ==\n", "line 1: expected a token"),
    (b" 0\n", "line 1"),
    (BYTES + line(b"abc", 256), "the token b'abc' of rank 256 is not made of others"),
    (BYTES + line(b"abc", 256) + line(b"ab", 257), "merges: a token is in a pair of lower rank than its own"),
    (BYTES + line(b"bc", 256) + line(b"ab", 257) + line(b"abc", 258) + line(b"abcd", 400_000), "not made of|expected 0"),
    (line(b"a", 0) + line(b"ab", 1), "the token b'ab' of rank 1 is not made of others"),
    (BYTES + line(b"a" * 20_000, 256), "tokens are too long"),
    (line(b"ab", 0), "expected 1..256 symbols|is not made of others"),
    (b"\x00\xff\n", "line 1"),
]


@pytest.mark.parametrize("data, match", RANKS, ids=range(len(RANKS)))
def test_hostile_ranks(data: bytes, match: str) -> None:
    with pytest.raises(ModelFormatError, match=match):
        BPE.from_tiktoken(data)


def test_hostile_vocab_and_merges() -> None:
    vocab = json.dumps({"a": 0, "b": 1, "ab": 2, "c</w>": 3})
    for merges, match in (
        ("a b c\n", "merges: line 1: expected two tokens"),
        ("#version: 0.2\na b\na\n", "merges: line 3: expected two tokens"),
        ("b a\n", "'ba' is not in the vocabulary"),
        ("a b\na b\n", "is there twice"),
    ):
        with pytest.raises(ModelFormatError, match=match):
            BPE.from_vocab_merges(vocab, merges)
    with pytest.raises(ModelFormatError, match="not valid JSON"):
        BPE.from_vocab_merges("{x", "\n")
    with pytest.raises(ModelFormatError, match="end_of_word: 'a' is a token already"):
        BPE.from_vocab_merges({"a": 0, "</w>": 1}, "\n", kind="str", end_of_word="a")
    with pytest.raises(ModelFormatError, match="special_tokens: 'c</w>' has the id 3 in the vocabulary, not 7"):
        BPE.from_vocab_merges(vocab, "a b\n", special_tokens={"c</w>": 7})
    with pytest.raises(ModelFormatError, match="special tokens: 'ab' is made by merges too"):
        BPE.from_vocab_merges(vocab, "a b\n", special_tokens={"ab": 2})
    with pytest.raises(ModelFormatError, match="not text in UTF-8"):
        BPE.from_vocab_merges(vocab, b"\xff\n")
    with pytest.raises(ModelFormatError, match="no token of a single symbol"):
        BPE.from_vocab_merges({"ab": 0}, "\n")


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
    json.dumps(json.loads(BPE.from_merges([[0, 1], [3, 2]], b"abc", special_tokens=["<s>"]).to_huggingface())).encode(),
    b"".join(line(bytes([b]), i) for i, b in enumerate(b"abc")) + line(b"ab", 3) + line(b"abc", 4),
)


def test_counts_of_words_are_a_corpus_too(lines: list[str]) -> None:
    tok = BPE.for_text(300, pretokenizer="gpt2").fit(count_documents(lines[:500]), progress=False)
    assert np.array_equal(
        tok.vocabulary.merges, BPE.for_text(300, pretokenizer="gpt2").fit(lines[:500], progress=False).vocabulary.merges
    )
