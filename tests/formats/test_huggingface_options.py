r"""Every option of a BPE `tokenizer.json`: ids equal to those of the package tokenizers, on random models and random text."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path
from typing import Any

import pytest

from ubpe_numba import BPE
from ubpe_numba.text.pretokenizer import NAMED

tokenizers = pytest.importorskip("tokenizers")

LETTERS = "abc é▁\n1中"
TEXT = LETTERS * 3 + "xé\u0301 ü語😀<s>[m]\t\u00a0"
NORMALIZERS: list[Any] = [
    None, {"type": "NFC"}, {"type": "Sequence", "normalizers": []}, {"type": "Lowercase"},
    {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
    {"type": "Sequence", "normalizers": [
        {"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
    {"type": "Strip", "strip_left": True, "strip_right": True},
]  # fmt: skip
SPLITS: list[Any] = [
    None, {"type": "Sequence", "pretokenizers": []}, {"type": "WhitespaceSplit"}, {"type": "Whitespace"},
    {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": True},
    {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": False},
    {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False},
    {"type": "Split", "pattern": {"Regex": r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"}, "behavior": "Isolated", "invert": False},
    {"type": "Split", "pattern": {"Regex": NAMED["gpt2"]}, "behavior": "Isolated", "invert": False},
    {"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": r"\s?\w+|\s"}, "behavior": "Removed", "invert": True},
        {"type": "Digits", "individual_digits": True}]},
]  # fmt: skip
BYTEWISE: list[Any] = [
    {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": regex}
    for prefix in (False, True)
    for regex in (False, True)
] + [
    {"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": r"\d"}, "behavior": "Isolated", "invert": False},
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}]},
    {"type": "Sequence", "pretokenizers": [
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        {"type": "Digits", "individual_digits": False}]},
]  # fmt: skip


def some_model(rng: random.Random, bytewise: bool) -> dict[str, Any]:
    """A model with random pairs in random order, and random options."""
    if bytewise:
        letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
        likely = [*"abcĠĊ1", *"Ã©äĭ®Ń"]
    else:
        letters = rng.sample(LETTERS, rng.randrange(4, len(LETTERS) + 1))
        likely = letters
    names = list(likely)
    merges = []
    for _ in range(rng.randrange(25)):
        left, right = rng.choice(names), rng.choice(names)
        if left + right not in names and len(left + right) < 9:
            names.append(left + right)
        if (left, right) not in merges and len(left + right) < 9:
            merges.append((left, right))
    if rng.random() < 0.5:
        merges = [(name[:i], name[i:]) for name in names for i in range(1, len(name)) if name[:i] in names and name[i:] in names]
    if rng.random() < 0.5:
        rng.shuffle(merges)
    words = [*letters, *(name for name in names if name not in letters)]
    options: dict[str, Any] = {"byte_fallback": False, "unk_token": None, "fuse_unk": rng.random() < 0.5}
    if not bytewise:
        if rng.random() < 0.6:
            options["unk_token"] = "<unk>"
            words.insert(0, "<unk>")
        if rng.random() < 0.5:
            options["byte_fallback"] = True
            words += [f"<0x{byte:02X}>" for byte in range(256)]
    return {
        "type": "BPE", "dropout": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
        "ignore_merges": rng.random() < 0.5, "vocab": {word: i for i, word in enumerate(words)}, "merges": merges, **options,
    }  # fmt: skip


def some_file(rng: random.Random) -> dict[str, Any]:
    bytewise = rng.random() < 0.4
    model = some_model(rng, bytewise)
    added: list[dict[str, Any]] = []
    free = len(model["vocab"])
    for word in rng.sample(["<s>", "[m]", "a", "é", "ab", " x", "<S>"], rng.randrange(5)):
        flags = {flag: rng.random() < 0.3 for flag in ("lstrip", "rstrip", "single_word", "normalized", "special")}
        added.append({"id": model["vocab"].get(word, free), "content": word, **flags})
        free += word not in model["vocab"]
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "post_processor": None, "decoder": None,
        "normalizer": rng.choice(NORMALIZERS), "pre_tokenizer": rng.choice(BYTEWISE if bytewise else SPLITS), "model": model,
    }  # fmt: skip


def some_text(rng: random.Random) -> str:
    letters = rng.choice([TEXT, LETTERS, rng.sample(TEXT, 3), "ab ", "a\n", "中é語"])
    text = "".join(rng.choices(letters, k=rng.randrange(14)))
    return text + rng.choice(["", "<s>", " <s> ", "[m]", "a<s>b[m][m]"]) + "".join(rng.choices(letters, k=rng.randrange(6)))


@pytest.mark.parametrize("seed", range(4))
def test_round_trips(seed: int) -> None:
    """What was read is written, checked on samples against the package tokenizers, and read again."""
    rng = random.Random(seed)
    for _ in range(6):
        file = some_file(rng)
        if file["pre_tokenizer"] == SPLITS[-1]:  # its engine and theirs differ about joiners
            continue
        mine = BPE.from_huggingface(json.dumps(file))
        unknown = "skip" if mine.alphabet_.kind == "str" else "raise"
        again = BPE.from_huggingface(mine.to_huggingface(unk_token=False), kind=mine.alphabet_.kind)
        docs = [some_text(rng) for _ in range(40)]
        found, expected = (tok.encode_batch(docs, allowed_special="all", unknown=unknown).to_lists() for tok in (again, mine))
        assert found == expected
        if mine.segmenter_.normalizer or mine.segmenter_.unknown:
            with pytest.raises(ValueError, match=r"has no place for it|alphabet: tiktoken needs"):
                mine.to_tiktoken()


@pytest.mark.parametrize("seed", range(6))
def test_random_files(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)

    for number in range(12):
        file = some_file(rng)
        text = json.dumps(file)
        other = tokenizers.Tokenizer.from_str(text)
        mine = BPE.from_huggingface(text)

        unknown = "skip" if mine.alphabet_.kind == "str" or mine.alphabet_.size < 256 else "raise"
        docs = [some_text(rng) for _ in range(60)]
        expected = [e.ids for e in other.encode_batch(docs, add_special_tokens=False)]
        found = mine.encode_batch(docs, allowed_special="all", unknown=unknown).to_lists()
        for doc, theirs, ours in zip(docs, expected, found, strict=True):
            assert ours == theirs, (text, doc)
        for doc, ids in zip(docs[:20], found, strict=False):
            assert mine.encode(doc, allowed_special="all", unknown=unknown).tolist() == ids
            if unknown == "raise":
                again, starts = mine.encode(doc, allowed_special="all", return_offsets=True)
                assert again.tolist() == ids and starts.size == again.size
                assert all(a <= b for a, b in itertools.pairwise(starts.tolist())) and all(
                    0 <= a <= len(doc.encode()) for a in starts.tolist()
                )
        path = tmp_path / f"{number}.json"
        mine.save(path)
        loaded_again = BPE.load(path)
        assert loaded_again.fingerprint == mine.fingerprint
        assert loaded_again.encode_batch(docs, allowed_special="all", unknown=unknown).to_lists() == found


@pytest.mark.parametrize("ids", [(3, 4, 5), (5, 4, 3)], ids=["in order", "in another order"])
def test_a_document_is_a_word_where_text_is_not_cut(ids: tuple[int, ...]) -> None:
    vocab = {"a": 0, "b": 1, "c": 2, **dict(zip(("bc", "ab", "abc"), ids, strict=True))}
    model = {"type": "BPE", "ignore_merges": True, "vocab": vocab, "merges": ["b c", "a b", "ab c"]}
    text = json.dumps({"version": "1.0", "model": model, "added_tokens": []})
    tok, other = BPE.from_huggingface(text), tokenizers.Tokenizer.from_str(text)
    docs = ["abc", "abcabc", "bc", "", "ababc"]
    expected = [other.encode(doc).ids for doc in docs]
    assert tok.encode_batch(docs).to_lists() == expected
    for _ in range(2):  # the second goes the short way
        assert [tok.encode(doc).tolist() for doc in docs] == expected
    starts = tok.encode("abc", return_offsets=True)[1]
    assert starts.tolist() == [0]
    again = BPE.from_huggingface(tok.to_huggingface(unk_token=False))
    assert again.encode_batch(docs).to_lists() == expected
    with pytest.raises(ValueError, match="to_published: a dump has no place for whole_words"):
        tok.to_published()
