"""Tables out of order of creation and runs: reordered, they give the ids that one merge at a time gives."""

import json
import random
from collections import Counter

import numpy as np
import pytest

from ubpe_numba import BPE
from ubpe_numba.formats.merge_order import creation_order, run_order


def some_table_of_runs(rng: random.Random) -> list[tuple[str, str]]:
    """Pairs over the symbols a, b, c with a run of a, and perhaps of b; ranks as they come."""
    pairs: list[tuple[str, str]] = []
    for letter in rng.choice(["", "a", "a", "ab"]):
        run = [(letter * (n - 1), letter) for n in range(3, rng.randrange(4, 10))]
        rng.shuffle(run)
        pairs += [*run, (letter, letter)]
    texts = ["a", "b", "c", *(left + right for left, right in pairs)]
    others: list[tuple[str, str]] = []
    for _ in range(rng.randrange(9)):
        pair = rng.choice(texts), rng.choice(texts)
        if pair[0] + pair[1] not in texts:
            others.append(pair)
            texts.append(pair[0] + pair[1])
    for pair in others:
        pairs.insert(rng.choice([rng.randrange(len(pairs) + 1), len(pairs)]), pair)
    return pairs if rng.random() < 0.5 else rng.sample(pairs, len(pairs))


def test_random_tables_of_runs_as_by_tokenizers() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    rng, done = random.Random(3), Counter[str]()
    for _ in range(300):
        merges = some_table_of_runs(rng)
        vocab = {
            name: i
            for i, name in enumerate(dict.fromkeys([*"abc", *(left + right for left, right in merges)]))
        }
        text = json.dumps({"added_tokens": [], "model": {"type": "BPE", "vocab": vocab, "merges": merges}})
        pairs = np.array([(vocab[left], vocab[right]) for left, right in merges], np.int64).reshape(-1, 2)
        in_order = creation_order(pairs, 3) is not None
        done[
            "in order of creation"
            if in_order
            else "by runs"
            if run_order(pairs, 3) is not None
            else "one by one"
        ] += 1
        mine, theirs = BPE.load(text), tokenizers.Tokenizer.from_str(text)
        docs = [
            "".join(rng.choice("aabc") * rng.choice([1, 1, 2, 3, rng.randrange(40)]) for _ in range(6))
            for _ in range(12)
        ]
        assert mine.encode_batch(docs).to_lists() == [e.ids for e in theirs.encode_batch(docs)], text
    assert min(done.values()) > 8 and len(done) == 3, done


@pytest.mark.parametrize("fallback", [True, False])
def test_like_tokenizers(fallback: bool) -> None:
    """A file like that of Gemma 3: runs of two characters, marks, and a token across one."""
    tokenizers = pytest.importorskip("tokenizers")
    rng = random.Random(8)
    merges = [
        *(("▁" * n, "▁") for n in range(2, 7)),
        *(("\n" * n, "\n") for n in range(4, 1, -1)),
        ("▁", "▁"),
        ("\n", "\n"),
    ]
    merges += [("a", "b"), ("▁", "ab"), ("▁", "<"), (">", "▁<"), ("▁▁", "ab")]
    names = [
        "<unk>",
        *(f"<0x{byte:02X}>" for byte in range(256 * fallback)),
        *"▁\nab><",
        *(a + b for a, b in merges),
    ]
    vocab = {name: i for i, name in enumerate(dict.fromkeys(names))}
    model = {
        "type": "BPE",
        "unk_token": "<unk>",
        "fuse_unk": True,
        "byte_fallback": fallback,
        "vocab": vocab,
        "merges": merges,
    }
    change = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    text = json.dumps({"added_tokens": [], "normalizer": change, "pre_tokenizer": None, "model": model})
    mine, theirs = BPE.load(text), tokenizers.Tokenizer.from_str(text)
    assert mine._model.vocabulary.in_order_of_creation
    pieces = [" ", "▁", "\n", "a", "ab", ">", "<", "> <", "é"]
    sizes = [1, 1, 2, 3, 5, 6, 7, 12, 13, 40]
    docs = [
        "".join(rng.choice(pieces) * rng.choice(sizes) for _ in range(rng.randrange(8))) for _ in range(800)
    ]
    expected = [e.ids for e in theirs.encode_batch(docs, add_special_tokens=False)]
    assert mine.encode_batch(docs).to_lists() == expected
    assert [mine.encode(doc).tolist() for doc in docs[:50]] == expected[:50]
