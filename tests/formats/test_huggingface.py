"""tokenizer.json: ids equal those of the package tokenizers."""

import json
from typing import Any

import numpy as np
import pytest
from foreign import END, same, spoil
from tables import refuses

from ubpe_numba import BPE, Preprocessing, export
from ubpe_numba.errors import ModelFormatError
from ubpe_numba.formats.huggingface import _never_matches
from ubpe_numba.formats.pair_table import symbol_character
from ubpe_numba.text.characters import byte_characters
from ubpe_numba.text.normalizer import Normalizer
from ubpe_numba.text.splitter import Splitter

tokenizers = pytest.importorskip("tokenizers")


def test_merges_are_those_of_hugging_face(lines: list[str]) -> None:
    """With bytes in the order of their characters, in which its trainer breaks ties."""
    steps, n, names = tokenizers.pre_tokenizers, 400, byte_characters()
    other = tokenizers.Tokenizer(tokenizers.models.BPE())
    other.pre_tokenizer = steps.ByteLevel(add_prefix_space=False)
    letters = {"initial_alphabet": steps.ByteLevel.alphabet()}
    other.train_from_iterator(
        lines, tokenizers.trainers.BpeTrainer(vocab_size=256 + n, show_progress=False, **letters)
    )
    tok = BPE(
        256 + n,
        alphabet=bytes(sorted(range(256), key=names.__getitem__)),
        preprocessing=Preprocessing("gpt2", encoding="utf-8"),
    )
    made, theirs = (
        json.loads(export(tok.fit(lines, progress=False), "tokenizer.json")),
        json.loads(other.to_str()),
    )
    assert made["model"]["merges"] == theirs["model"]["merges"] and len(theirs["model"]["merges"]) == n


def test_ids_in_an_order_of_their_own_are_continued_after_the_last() -> None:
    model = {"type": "BPE", "vocab": {"ab": 0, "b": 1, "a": 2}, "merges": ["a b"]}
    tok = BPE.load(json.dumps({"model": model}))
    assert tok.encode("aab").tolist() == [2, 0]
    assert tok.fit_more(["abab"] * 3, 4).encode("aabab").tolist() == [2, 3] and tok.id_to_token(3) == "abab"
    refuses(ValueError, "by: the ids of this vocabulary are not 0, 1", tok.truncate, 2, by="idf")


@pytest.mark.parametrize("low, high", [(0, 30), (-20, 9000)])  # a large alphabet goes beyond private use
def test_models_of_integers(low: int, high: int) -> None:
    rng = np.random.default_rng(0)
    docs = [rng.integers(low, low + 6, 400), np.arange(low, high)]
    words = Preprocessing(special_tokens=[[low, low, high - 1]])
    tok = BPE(None, alphabet=range(low, high), preprocessing=words).fit(docs, progress=False)
    symbols = tok._model.alphabet.symbols
    text = export(tok, "tokenizer.json", unk_token=False)
    again = BPE.load(text, alphabet=symbols)
    same(tok, again, [docs[0]])
    other = tokenizers.Tokenizer.from_str(text)
    written = "".join(symbol_character(s - low) for s in docs[0].tolist())
    assert other.encode(written).ids == tok.encode(docs[0], allowed_special="all").tolist()
    plain = BPE.load(text)
    assert plain._model.alphabet.kind == "int" and plain._model.alphabet.is_identity
    assert plain.encode(docs[0] - low).tolist() == tok.encode(docs[0]).tolist()
    refuses(
        ModelFormatError,
        "alphabet: expected .* integers for a model of 'int', got 3",
        BPE.load,
        text,
        alphabet=[1, 2, 3],
    )


def base() -> dict[str, Any]:
    tok = BPE.from_merges(
        [[97, 98], [256, 99]], bytes(range(256)), preprocessing=Preprocessing(special_tokens=[END])
    )
    file: dict[str, Any] = json.loads(export(tok, "tokenizer.json"))
    return file


FILES: list[tuple[str, Any, str]] = [
    ("model", None, "which is none of"), ("model.type", "Unigram", "model: vocab: expected a list of pieces and scores"),
    ("model.type", "WordLevel", "model: expected one of the type BPE, Unigram or WordPiece, got 'WordLevel'"),
    ("newer", None, "the field 'newer' is not known"), ("model.dropout", 0.1, "model: dropout=0.1 is not supported"),
    ("model.continuing_subword_prefix", "##", "vocab: .*: a symbol at some places of a word only: not supported"),
    ("model.end_of_word_suffix", "</w>", "vocab: .*: a symbol at some places of a word only: not supported"),
    ("model.end_of_word_suffix", 3, "expected .##., ...w>. or null"),
    ("normalizer", {"type": "NFX"}, "normalizer: 'NFX' is not supported"),
    ("pre_tokenizer", 3, "pre_tokenizer: expected an object"),
    ("pre_tokenizer", {"type": "Sequence", "pretokenizers": None}, "pre_tokenizer: expected steps"),
    ("pre_tokenizer.add_prefix_space", 1, "add_prefix_space: expected true or false"),
    ("model.vocab", {}, "model: vocab: expected an object"), ("model.vocab.a", -1, "model: vocab: 'a': expected an id in 0"),
    ("model.vocab.a", 98, "have the same id 98"), ("model.merges", None, "model: merges: expected a list"),
    ("model.merges.0", ["a"], r"model: merges\[0\]: expected two tokens"),
    ("model.merges.0", ["x", "y"], r"merges\[0\]: 'xy' is not in the vocabulary"),
    ("added_tokens", 3, "added_tokens: expected a list"),
    ("added_tokens.0.id", None, r"added_tokens\[0\]: expected an object with content and id"),
]  # fmt: skip


@pytest.mark.parametrize("path, value, match", FILES, ids=lambda x: str(x)[:40])
def test_hostile_tokenizer_json(path: str, value: Any, match: str) -> None:
    refuses(ModelFormatError, match, lambda: BPE.load(json.dumps(spoil(base(), path, value))))


@pytest.mark.parametrize("field, match", [("model.newer", "model: the field 'newer' is not read"),
    ("added_tokens.0.newer", r"added_tokens\[0\]: the field 'newer' is not read")])  # fmt: skip
def test_fields_that_the_package_leaves_out_are_named(field: str, match: str) -> None:
    with pytest.warns(UserWarning, match=match):
        BPE.load(json.dumps(spoil(base(), field, True)))


def test_characters_that_are_no_alphabet_of_integers() -> None:
    tok = BPE.from_merges([[0, 1]], alphabet=2)
    file = export(tok, "tokenizer.json", unk_token=False).replace("\ue001", "\ue002")
    refuses(ModelFormatError, "alphabet of integers", BPE.load, file, kind="int")


@pytest.mark.parametrize(
    "content, pattern, never", [("▁", " ", True), ("x y", " ", False), ("", " ", False), ("▁", "▁", False)]
)
def test_a_step_that_never_matches_is_one_of_what_the_normalizer_replaces(
    content: str, pattern: str, never: bool
) -> None:
    """A replacement that brings it back does not count."""
    normalizer = Normalizer({"type": "Replace", "pattern": {"String": " "}, "content": content})
    step = {
        "type": "Split",
        "pattern": {"String": pattern},
        "behavior": "MergedWithPrevious",
        "invert": False,
    }
    assert _never_matches(Splitter.from_state([step]), normalizer) is never and _never_matches(
        None, normalizer
    )


OWN: list[tuple[str, dict[str, Any]]] = [
    ("normalizer", {"type": "StandIns", "alphabet": "a", "words": ["w"]}),
    ("normalizer", {"type": "SentencePiece"}),
    ("pre_tokenizer", {"type": "Marks", "inside": "x", "end": "y"}),
]


@pytest.mark.parametrize(
    ("field", "step"), OWN, ids=lambda value: value if isinstance(value, str) else value["type"]
)
@pytest.mark.parametrize("depth", [0, 3])
def test_steps_that_only_this_library_has_are_refused(field: str, step: dict[str, Any], depth: int) -> None:
    """As by the package tokenizers."""
    nested = step
    for _ in range(depth):
        nested = {"type": "Sequence", "normalizers" if field == "normalizer" else "pretokenizers": [nested]}
    file = json.dumps(
        {"version": "1.0", field: nested, "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}}
    )
    refuses(ModelFormatError, "the package tokenizers refuses it", BPE.load, file)


FUSED = [{"type": "Fuse"}, {"type": "Strip", "content": "_", "start": 2, "stop": 0}]


@pytest.mark.parametrize("decoder, text, wanted", [
    ({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"}, "▁▁▁a▁b", "  a b"),
    ({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never"}, "▁▁▁a▁b", "   a b"),
    ({"type": "Sequence", "decoders": FUSED}, "___a", "_a"),
])  # fmt: skip
def test_decoders_take_away_as_much_as_the_package(decoder: dict[str, Any], text: str, wanted: str) -> None:
    vocab = {character: i for i, character in enumerate(sorted(set(text)))}
    file = {
        "version": "1.0",
        "added_tokens": [],
        "decoder": decoder,
        "model": {"type": "BPE", "vocab": vocab, "merges": []},
    }
    ids = [vocab[character] for character in text]
    assert (
        BPE.load(json.dumps(file)).decode(ids)
        == tokenizers.Tokenizer.from_str(json.dumps(file)).decode(ids)
        == wanted
    )
