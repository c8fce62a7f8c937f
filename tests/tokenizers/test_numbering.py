"""One numbering: every number of a token that is public is an id, and decodes to what the vocabulary says of it."""

import json
import pickle
from typing import Any

import numpy as np
import pytest
from sentencepiece_models import model
from tables import each

from ubpe_numba import BPE, UBPE, Preprocessing, Tokenizer, UBPEClassic, WordPiece, export, load

TEXT = ["low lower lowest 低い", "the cat sat on the mat, the lowest cat", "é é éclair"]
FLAT = [[0, 1, 2, 0, 1] * 5, [3, 0, 1]]
WORDS = ["<s>", "<end>"]
SPECIALS: dict[str, dict[str, Any]] = {
    "none": {},
    "last": {"special_tokens": WORDS, "known_words": ["cat"]},
    "first": {"special_tokens": WORDS, "known_words": ["cat"], "special_first": True},
    "gaps": {"special_tokens": {"<s>": 400, "<end>": 410}},
}


def fit(cls: Any, docs: Any, n_tokens: int, **params: Any) -> Any:
    return cls(n_tokens, **params).fit(docs, progress=False)


def renumbered(tok: Tokenizer) -> str:
    """A tokenizer.json of the same tokens with ids in the opposite order, with gaps; that of a pair is the first."""
    file = json.loads(export(tok, "tokenizer.json"))
    vocab = file["model"]["vocab"] | {token["content"]: token["id"] for token in file["added_tokens"]}
    file["model"]["vocab"] = {name: 2 * (-(i + 5) % len(vocab)) for name, i in vocab.items()}
    for token in file["added_tokens"]:
        token["id"] = file["model"]["vocab"].get(token["content"], token["id"])
    return json.dumps(file)


def with_bytes() -> str:
    """A tokenizer.json whose characters without an id become bytes; a is a character and a byte."""
    names = ["<unk>", *(f"<0x{value:02X}>" for value in range(256)), "a", "é", "aé"]
    bpe = {
        "type": "BPE", "unk_token": "<unk>", "byte_fallback": True, "fuse_unk": True, "merges": ["a é"],
        "vocab": {name: i for i, name in enumerate(names)},
    }  # fmt: skip
    return json.dumps({"added_tokens": [], "decoder": {"type": "ByteFallback"}, "model": bpe})


def own() -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, special in SPECIALS.items():
        words = Preprocessing("gpt2", encoding="utf-8", **special)
        made[f"bytes {name}"] = lambda words=words: fit(
            BPE, TEXT, 300, alphabet=bytes(range(256)), preprocessing=words
        )
        made[f"str {name}"] = lambda special=special: fit(
            BPE, TEXT, 60, preprocessing=Preprocessing(**special)
        )
    first = Preprocessing("gpt2", encoding="utf-8", **SPECIALS["first"])
    made["UBPE"] = lambda: fit(UBPE, TEXT, 300, alphabet=bytes(range(256)), preprocessing=first)
    made["UBPEClassic"] = lambda: fit(UBPEClassic, TEXT, 60, preprocessing=Preprocessing(**SPECIALS["gaps"]))
    made["int"] = lambda: fit(BPE, [[5, 7, 5, 7, -1, 5, 7, 2**40], [7, 5, 7]], 9)
    ints = Preprocessing(special_tokens=[[1, 1], [2, 9]], special_first=True)
    made["int first"] = lambda: fit(
        UBPE, [[0, 1, 2, 0, 1, 2, 3]] * 3, 12, preprocessing=ints, objective="shortest"
    )
    made["folded"] = lambda: fit(BPE, ["ACacAC"], 8, alphabet={"A": 0, "a": 0, "C": 1, "c": 1})
    made["flat"] = lambda: fit(UBPE, FLAT, 290, objective="shortest", alphabet=256).refine(
        FLAT, progress=False
    )
    made["likely"] = lambda: made["UBPE"]().reweight(TEXT)
    return made


def foreign() -> dict[str, Any]:
    text = BPE.for_text(300, pretokenizer="gpt2", special_tokens=WORDS).fit(TEXT, progress=False)
    pieces = [
        ("<unk>", 0.0, 2),
        ("▁", -1.0, 1),
        ("a", -1.0, 1),
        ("b", -1.2, 1),
        ("ab", -1.1, 1),
        ("▁ab", -1.3, 1),
    ]
    return {
        "tokenizer.json": lambda: load(renumbered(text)),
        "bytes of characters": lambda: load(with_bytes()),
        "sentencepiece unigrams": lambda: load(model(pieces, kind=1)),
        "tiktoken": lambda: load(export(text, "tiktoken"), pretokenizer="gpt2", special_tokens={"<s>": 420}),
        "WordPiece words": lambda: WordPiece(
            {"[UNK]": 3, "un": 1, "##able": 12, "[CLS]": 0},
            preprocessing=Preprocessing("BertPreTokenizer", {"[CLS]": 0}, normalizer="BertNormalizer"),
        ),
    }


MAKE = {**own(), **foreign()}


def decoded(tok: Any, ids: list[int]) -> Any:
    """What ids decode to; bytes over bytes, whatever they are the UTF-8 of."""
    return tok.decode(ids, as_bytes=True) if tok._model.alphabet.kind == "bytes" else tok.decode(ids)


def joined(a: Any, b: Any) -> Any:
    return np.concatenate([a, b]) if isinstance(a, np.ndarray) else a + b


@each("name", MAKE)
def test_every_number_of_a_token_is_its_id(name: str) -> None:
    tok = MAKE[name]()
    v, vocab = tok.vocabulary, tok.get_vocab()
    assert tok.vocabulary is v and len(v) == tok.vocab_size == v.offsets.size - 1
    assert (
        "_made_vocabulary" not in tok.__getstate__()
        and pickle.loads(pickle.dumps(tok)).vocabulary.special == v.special
    )
    have = [i for i in range(len(v)) if tok.id_to_token(i) is not None]
    starts = tok._model.segmenter.restores  # the beginning of a text is changed
    before = next(i for i in have if i != v.special.get("<unk>") and len(v[i]))
    for i, token in enumerate(v):
        if i not in have:
            assert token is None and v.lengths[i] == 0
            with pytest.raises(IndexError, match=f"token {i}: no token has this id"):
                v[i]
            continue
        assert np.array_equal(v[i], token) and len(token) == v.lengths[i]
        if starts:
            first = decoded(tok, [before])
            assert decoded(tok, [before, i]) == first + token
        else:
            assert np.array_equal(decoded(tok, [i]), token)
    for word, i in vocab.items():
        assert i in have and tok.token_to_id(word) == i
    for word, i in v.special.items():
        assert i in vocab.values()
        assert np.array_equal(
            v[i], word.encode() if isinstance(v[i], bytes) and isinstance(word, str) else word
        )
    for symbol, i in zip(tok._model.alphabet.symbols, v.symbol_ids.tolist(), strict=True):
        if i >= 0 and tok._model.segmenter.decoding is None and not starts:
            assert np.array_equal(v[i], tok._model.alphabet.output(np.array([symbol])))
    if v.merges is not None:
        assert v.merges.shape == (v.merged.size, 2) and v.merges.dtype == v.merged.dtype == np.int32
        assert len({*v.merged.tolist()}) == v.n_learned, name
        for (left, right), made in zip(v.merges.tolist(), v.merged.tolist(), strict=True):
            assert np.array_equal(joined(v[left], v[right]), v[made]) and v.parents(made) is not None
        for i in have:
            tree = v.tree(i)
            for t, start in zip(tree.tokens.tolist(), tree.starts.tolist(), strict=True):
                assert np.array_equal(v[i][start : start + len(v[t])], v[t])
    weights = [v.weights, v.counts, v.document_frequencies, v.occurrences, v.log_probabilities]
    assert all(rows is None or rows.shape == (len(v),) for rows in weights)
    if v.log_probabilities is not None and name == "likely":
        assert all(np.isnan(v.log_probabilities[i]) for i in v.special.values())


@each("name", [name for name in MAKE if "WordPiece" not in name])
def test_positions_and_counts_are_by_id(name: str) -> None:
    tok = MAKE[name]()
    v = tok.vocabulary
    kind = tok._model.alphabet.kind
    docs: list[Any] = (
        [[5, 7, 5], [7]] if name == "int" else [[0, 1, 2, 0, 1], [3]] if kind == "int" else ["abab", "ab"]
    )
    if name == "folded":
        docs = ["ACAC", "CA"]
    known = {int(i) for i in v.symbol_ids}
    if kind == "str" and not set("".join(docs)) <= {v[i] for i in known if i >= 0}:
        docs = [TEXT[0][:7], TEXT[1][:8]]
    ids = tok.encode_batch(docs)
    spans, usage, index = tok.spans(docs), tok.usage(docs), tok.index(ids)
    assert spans.ids.tolist() == ids.values.tolist()
    assert (
        usage.counts.tolist() == index.counts.tolist() == np.bincount(ids.values, minlength=len(v)).tolist()
    )
    for i in set(ids.values.tolist()):
        found = index[i]
        assert {ids[d][p] for d, p in zip(found.documents, found.places, strict=True)} == {i}
    assert len(usage.counts) == len(v) and all(v[i] is not None for i in usage.unused.tolist())


def test_rows_of_statistics_follow_their_tokens() -> None:
    """Those of special tokens first are those without, moved."""
    last = BPE(40).fit(TEXT, progress=False)
    first = BPE(40, preprocessing=Preprocessing(special_tokens=WORDS, special_first=True)).fit(
        TEXT, progress=False
    )
    for name in ("weights", "counts", "document_frequencies", "occurrences", "lengths"):
        a, b = getattr(last.vocabulary, name), getattr(first.vocabulary, name)
        assert b[2:].tolist() == a.tolist() and (name == "lengths" or not b[:2].any())
    v = first.vocabulary
    known = last.vocabulary.n_alphabet, last.vocabulary.n_learned, 3, sum(map(len, TEXT))
    assert (v.n_alphabet, v.n_learned, v.n_documents, v.n_symbols) == known
    assert first.fit(["abab"], progress=False).vocabulary is not v and len(first.vocabulary) == 5
