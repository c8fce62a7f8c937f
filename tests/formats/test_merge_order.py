"""Tables out of order of creation and runs: reordered, they give the ids that one merge at a time gives."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from reference.encode_pairs import one_by_one

from ubpe_numba import BPE
from ubpe_numba.formats.merge_order import creation_order, run_order


def some_table(rng: random.Random, n_symbols: int) -> list[tuple[int, int]]:
    """Pairs in any order, each of which makes another sequence."""
    texts = [(i,) for i in range(n_symbols)]
    pairs: list[tuple[int, int]] = []
    for _ in range(rng.randrange(2, 9)):
        a, b = rng.randrange(len(texts)), rng.randrange(len(texts))
        if texts[a] + texts[b] not in texts and len(texts[a]) + len(texts[b]) < 10:
            pairs.append((a, b))
            texts.append(texts[a] + texts[b])
    order = rng.sample(range(len(pairs)), len(pairs))
    number = {n_symbols + old: n_symbols + new for new, old in enumerate(order)}
    return [(number.get(pairs[i][0], pairs[i][0]), number.get(pairs[i][1], pairs[i][1])) for i in order]


def test_random_tables() -> None:
    rng = random.Random(5)
    kept = changed = 0
    for _ in range(2000):
        n_symbols = rng.choice([1, 2, 3])
        pairs = some_table(rng, n_symbols)
        if not pairs:
            continue
        found = creation_order(np.array(pairs), n_symbols)
        if found is None:
            kept += 1
            continue
        order = found.tolist()
        assert sorted(order) == list(range(len(pairs)))
        changed += order != sorted(order)
        number = {n_symbols + old: n_symbols + new for new, old in enumerate(order)}
        again = [(number.get(pairs[i][0], pairs[i][0]), number.get(pairs[i][1], pairs[i][1])) for i in order]
        assert all(max(pair) < n_symbols + i for i, pair in enumerate(again))
        old = {new: token for token, new in number.items()}
        for _ in range(6):
            text = rng.choices(range(n_symbols), k=rng.randrange(24))
            expected = one_by_one(text, pairs, n_symbols)
            assert [old.get(t, t) for t in one_by_one(text, again, n_symbols)] == expected, (pairs, text)
    assert kept > 30 and changed > 150


def test_by_hand() -> None:
    assert creation_order(np.array([[0, 1], [2, 3]]), 2).tolist() == [0, 1]  # type: ignore[union-attr]
    assert creation_order(np.array([[3, 1], [0, 1]]), 2).tolist() == [1, 0]  # type: ignore[union-attr]
    assert creation_order(np.array([[3, 3], [0, 1]]), 2) is None  # abab: ab ab, or ab that waits
    assert creation_order(np.array([[5, 2], [2, 5], [0, 1]]), 3) is None  # ab c ab: which one gets the c?


Table = list[tuple[int, int]]


def some_table_of_run_order(rng: random.Random) -> tuple[Table, list[str]]:
    """Pairs over the symbols a, b, c with a run of a, and perhaps of b; ranks as they come; and their texts."""
    pairs: list[tuple[str, str]] = []
    for letter in rng.choice(["a", "a", "ab"]):
        longest = rng.randrange(3, 9)
        run = [(letter * (n - 1), letter) for n in range(3, longest + 1)]
        rng.shuffle(run)
        pairs += [*run, (letter, letter)]
    texts = ["a", "b", "c", *(left + right for left, right in pairs)]
    others: list[tuple[str, str]] = []
    for _ in range(rng.randrange(6)):
        pair = rng.choice(texts), rng.choice(texts)
        if pair[0] + pair[1] not in texts:
            others.append(pair)
            texts.append(pair[0] + pair[1])
    for pair in others:
        pairs.insert(rng.choice([rng.randrange(len(pairs) + 1), len(pairs)]), pair)
    texts = ["a", "b", "c", *(left + right for left, right in pairs)]
    number = {text: i for i, text in enumerate(texts)}
    return [(number[left], number[right]) for left, right in pairs], texts


def test_random_tables_of_run_order() -> None:
    rng = random.Random(3)
    n_made = n_cut = 0
    for _ in range(1500):
        pairs, texts = some_table_of_run_order(rng)
        if creation_order(np.array(pairs), 3) is not None:
            continue
        found = run_order(np.array(pairs), 3)
        if found is None:
            continue
        new, by_run, longest = found
        if any("abc"[symbol] * (n + 1) in text for symbol, n in longest.items() for text in texts):
            continue
        assert sorted(by_run.tolist()) == list(range(len(pairs)))
        order = creation_order(new, 3)
        if order is None:
            continue
        n_made += 1
        number = np.concatenate([np.arange(3), 3 + np.argsort(order)])
        again = [tuple(pair) for pair in number[new[order]].tolist()]
        assert all(max(pair) < 3 + i for i, pair in enumerate(again))
        old = [0, 1, 2, *(3 + by_run[order]).tolist()]
        for _ in range(8):
            runs = [(rng.choice([0, 0, 1, 2]), rng.choice([1, 1, 2, 3, rng.randrange(40)])) for _ in range(rng.randrange(6))]
            text = [symbol for symbol, n in runs for _ in range(n)]
            mine: list[int] = []
            part: list[int] = []
            n = 0
            for symbol in [*text, -1]:
                n = n + 1 if part and part[-1] == symbol else 1
                if symbol < 0 or (n > 1 and n % longest.get(symbol, 99) == 1):
                    n_cut += symbol >= 0
                    mine += [old[token] for token in one_by_one(part, again, 3)]
                    part = []
                    n = 1
                part.append(symbol)
            assert mine == one_by_one(text, pairs, 3), (pairs, text)
    assert n_made > 100 and n_cut > 100


def test_tables_without_runs() -> None:
    assert run_order(np.array([[0, 1], [2, 2]]), 2) is None
    assert run_order(np.array([[2, 2], [0, 0]]), 1) is None  # aa waits for another aa
    assert run_order(np.array([[1, 0], [3, 0], [0, 0]]), 2) is None  # ba takes the first a of a run


@pytest.mark.parametrize("fallback", [True, False])
def test_like_tokenizers(fallback: bool) -> None:
    """A file like that of Gemma 3: runs of two characters, marks, and a token across one."""
    tokenizers = pytest.importorskip("tokenizers")
    rng = random.Random(8)
    merges = [*(("▁" * n, "▁") for n in range(2, 7)), *(("\n" * n, "\n") for n in range(4, 1, -1)), ("▁", "▁"), ("\n", "\n")]
    merges += [("a", "b"), ("▁", "ab"), ("▁", "<"), (">", "▁<"), ("▁▁", "ab")]
    names = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256 * fallback)), *"▁\nab><", *(a + b for a, b in merges)]
    vocab = {name: i for i, name in enumerate(dict.fromkeys(names))}
    model = {"type": "BPE", "unk_token": "<unk>", "fuse_unk": True, "byte_fallback": fallback, "vocab": vocab, "merges": merges}
    change = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    text = json.dumps({"added_tokens": [], "normalizer": change, "pre_tokenizer": None, "model": model})
    mine, theirs = BPE.load(text), tokenizers.Tokenizer.from_str(text)
    assert mine._model.vocabulary.in_order_of_creation
    pieces = [" ", "▁", "\n", "a", "ab", ">", "<", "> <", "é"]
    sizes = [1, 1, 2, 3, 5, 6, 7, 12, 13, 40]
    docs = ["".join(rng.choice(pieces) * rng.choice(sizes) for _ in range(rng.randrange(8))) for _ in range(800)]
    expected = [e.ids for e in theirs.encode_batch(docs, add_special_tokens=False)]
    assert mine.encode_batch(docs).to_lists() == expected
    assert [mine.encode(doc).tolist() for doc in docs[:50]] == expected[:50]
