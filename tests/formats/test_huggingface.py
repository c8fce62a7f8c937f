"""To and from Hugging Face's tokenizers: the same merges, the same ids; hostile files are refused."""

from __future__ import annotations

import json
import pathlib
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from foreign import END, MIXED, same

from ubpe_numba import BPE, ModelFormatError
from ubpe_numba.formats.export_check import TEXTS
from ubpe_numba.formats.huggingface import _never_matches
from ubpe_numba.formats.pair_table import symbol_character
from ubpe_numba.text.characters import byte_characters
from ubpe_numba.text.normalizer import Normalizer
from ubpe_numba.text.patterns import NAMED
from ubpe_numba.text.splitter import Splitter

regex = pytest.importorskip("regex")
tokenizers = pytest.importorskip("tokenizers")


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
    """With symbols in Hugging Face's order all merges are the same; in our order only ties are broken differently."""
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
    more = BPE.load(tmp_path / "m.npz").fit_more(lines, 700, progress=False)  # special tokens first, then no gaps
    assert more.decode_batch(ids) == docs and len(more.vocabulary) == 700 and more.special_ids == {END: 0}
    assert len(tok.truncate(400, by="idf").vocabulary) <= 400
    with pytest.raises(ValueError, match="is outside the vocabulary"):
        tok.decode([10**6])


def test_ids_in_an_order_of_their_own_are_not_continued() -> None:
    model = {"type": "BPE", "vocab": {"ab": 0, "b": 1, "a": 2}, "merges": ["a b"]}
    tok = BPE.from_huggingface(json.dumps({"model": model}))
    assert tok.encode("aab").tolist() == [2, 0]
    with pytest.raises(ValueError, match="token_ids: only a vocabulary whose ids are in order of creation"):
        tok.fit_more(["abab"], 5)
    with pytest.raises(ValueError, match="by: the ids of this vocabulary are not 0, 1"):
        tok.truncate(2, by="idf")


def test_models_of_characters(lines: list[str]) -> None:
    tok = BPE(400, special_tokens=["[SEP]"], known_words=["日本"]).fit([*lines[:500], *TEXTS], progress=False)
    text = tok.to_huggingface(unk_token=False)
    again = BPE.from_huggingface(text)
    assert np.array_equal(again.vocabulary.merges, tok.vocabulary.merges) and again.alphabet_ == tok.alphabet_
    assert again.special_ids == tok.special_ids and again.known_words == ["日本"]
    other = tokenizers.Tokenizer.from_str(text)
    for doc in [*TEXTS, *lines[:50], "the 日本[SEP]the"]:
        ids = tok.encode(doc, allowed_special="all", unknown="skip").tolist()
        assert other.encode(doc).ids == ids
        assert other.decode(ids, skip_special_tokens=False) == tok.decode(ids)


@pytest.mark.parametrize("low, high", [(0, 30), (-20, 9000)])  # a large alphabet goes beyond private use
def test_models_of_integers(low: int, high: int) -> None:
    rng = np.random.default_rng(0)
    docs = [rng.integers(low, low + 6, 400), np.arange(low, high)]
    tok = BPE(None, alphabet=range(low, high), special_tokens=[[low, low, high - 1]]).fit(docs, progress=False)
    symbols = tok.alphabet_.symbols
    text = tok.to_huggingface(unk_token=False)
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


def test_transformers_encodes_and_decodes_the_same(lines: list[str]) -> None:
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


# --- hostile files


def base() -> dict[str, Any]:
    tok = BPE.from_merges([[97, 98], [256, 99]], bytes(range(256)), special_tokens=[END])
    file: dict[str, Any] = json.loads(tok.to_huggingface())
    return file


def deep(file: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """The file with the value at one dotted path changed."""
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
    ("model.continuing_subword_prefix", "##", "vocab: .*: a symbol at some places in a word only is not supported"),
    ("model.end_of_word_suffix", "</w>", "vocab: .*: a symbol at some places in a word only is not supported"),
    ("model.end_of_word_suffix", 3, "expected a text or null"),
    ("normalizer", {"type": "NFX"}, "normalizer: 'NFX' is not supported"),
    ("normalizer", [], "normalizer: expected an object"),
    ("pre_tokenizer", 3, "pre_tokenizer: expected an object"),
    ("pre_tokenizer", {"type": "Sequence", "pretokenizers": None}, "pre_tokenizer: expected steps"),
    ("pre_tokenizer.add_prefix_space", 1, "add_prefix_space: expected true or false"),
    ("model.vocab", [], "model: vocab: expected an object"),
    ("model.vocab", {}, "model: vocab: expected an object"),
    ("model.vocab.a", -1, "model: vocab: 'a': expected an id in 0"),
    ("model.vocab.a", 2**40, "model: vocab: 'a': expected an id in 0"),
    ("model.vocab.a", 98, "have the same id 98"),
    ("model.vocab.a", True, "model: vocab: 'a': expected an id"),
    ("model.merges", None, "model: merges: expected a list"),
    ("model.merges.0", ["a"], r"model: merges\[0\]: expected two tokens"),
    ("model.merges.0", "a b c", r"model: merges\[0\]: expected two tokens"),
    ("model.merges.0", ["a", ""], r"model: merges\[0\]: expected two tokens"),
    ("model.merges.0", ["x", "y"], r"merges\[0\]: 'xy' is not in the vocabulary"),
    ("added_tokens", 3, "added_tokens: expected a list"),
    ("added_tokens.0.id", None, r"added_tokens\[0\]: expected an object with content and id"),
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


def test_characters_that_are_no_alphabet_of_integers() -> None:
    tok = BPE.from_merges([[0, 1]], alphabet=2)
    file = tok.to_huggingface(unk_token=False).replace("\ue001", "\ue002")
    with pytest.raises(ModelFormatError, match="alphabet of integers"):
        BPE.from_huggingface(file, kind="int")


@pytest.mark.parametrize("content, pattern, never", [("▁", " ", True), ("x y", " ", False), ("", " ", False), ("▁", "▁", False)])
def test_a_step_that_never_matches_is_one_of_what_the_normalizer_replaces(content: str, pattern: str, never: bool) -> None:
    """A replacement that brings it back does not count."""
    normalizer = Normalizer({"type": "Replace", "pattern": {"String": " "}, "content": content})
    step = {"type": "Split", "pattern": {"String": pattern}, "behavior": "MergedWithPrevious", "invert": False}
    assert _never_matches(Splitter.from_state([step]), normalizer) is never
    assert _never_matches(None, normalizer)
