"""A prefix inside of words, a suffix at their ends: ids equal to those of the package tokenizers on random models."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from ubpe_numba import BPE, export
from ubpe_numba.errors import ModelFormatError
from ubpe_numba.formats.character_bytes import with_marks, without_marks

tokenizers = pytest.importorskip("tokenizers")


def some_file(rng: random.Random, bytewise: bool, prefix: str, suffix: str) -> dict[str, Any]:
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet()) if bytewise else rng.sample("abc é中", 4)
    forms, likely = [], []
    for c in letters:
        of_letter = [c, *([prefix + c] if prefix else []), *([c + suffix] if suffix else [])]
        of_letter += [prefix + c + suffix] if prefix and suffix else []
        forms += of_letter
        likely += of_letter if c in "abcé Ġ" else []
    names, merges = list(likely), []
    for _ in range(25):
        left, right = rng.choice(names), rng.choice(names)
        if (suffix and left.endswith(suffix)) or (prefix and not right.startswith(prefix)) or (left, right) in merges:
            continue
        merges.append((left, right))
        names.append(left + right[len(prefix) :])
    vocab = {word: i for i, word in enumerate(dict.fromkeys([*forms, *names, "<unk>"]))}
    flags = dict.fromkeys(("lstrip", "rstrip", "single_word", "normalized"), False)
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {
        "version": "1.0",
        "added_tokens": [{"id": vocab["<unk>"], "content": "<unk>", **flags, "special": True}],
        "normalizer": rng.choice([None, {"type": "Lowercase"}]),
        "pre_tokenizer": level if bytewise else rng.choice([{"type": "WhitespaceSplit"}, {"type": "Whitespace"}, None]),
        "model": {
            "type": "BPE", "continuing_subword_prefix": prefix or None, "end_of_word_suffix": suffix or None,
            "unk_token": "<unk>", "fuse_unk": rng.random() < 0.5, "vocab": vocab, "merges": merges,
        },
    }  # fmt: skip


@pytest.mark.parametrize("bytewise", [False, True])
@pytest.mark.parametrize("prefix, suffix", [("", "</w>"), ("##", ""), ("@@", "</w>")])
def test_random_models(prefix: str, suffix: str, bytewise: bool) -> None:
    rng = random.Random(1)
    for _ in range(3):
        text = json.dumps(some_file(rng, bytewise, prefix, suffix))
        other, mine = tokenizers.Tokenizer.from_str(text), BPE.load(text)
        docs = ["".join(rng.choices("abc é中 x語\n", k=rng.randrange(12))) for _ in range(40)]
        expected = [e.ids for e in other.encode_batch(docs, add_special_tokens=False)]
        assert mine.encode_batch(docs).to_lists() == expected, text
        for doc, ids in zip(docs, expected, strict=True):
            found, starts = mine.encode(doc, return_offsets=True)
            assert found.tolist() == ids
            assert starts.tolist() == sorted(starts.tolist())
        written = export(mine, "tokenizer.json")
        again, peer = BPE.load(written), tokenizers.Tokenizer.from_str(written)
        assert again.encode_batch(docs).to_lists() == expected
        assert [e.ids for e in peer.encode_batch(docs, add_special_tokens=False)] == expected
        assert export(again, "tokenizer.json") == written


def test_what_is_refused() -> None:
    with pytest.raises(ModelFormatError, match="vocab: 'b': a symbol at some places in a word only"):
        with_marks({"a": 0, "a</w>": 1, "b": 2}, ([], []), "", "</w>", ("<", ">"))
    with pytest.raises(ModelFormatError, match="without its prefix or suffix it is another token"):
        with_marks({"a</w>": 0, "a>": 1}, ([], []), "", "</w>", ("<", ">"))
    with pytest.raises(ValueError, match="the tokens 0 and 1 would both be 'a</w>'"):
        without_marks({"a$": 0, "a</w>": 1}, ([], []), ("", "$"))
