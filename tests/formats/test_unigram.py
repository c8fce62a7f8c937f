"""Unigram models of a tokenizer.json: the ids of tokenizers, and clear refusals."""

import json
from typing import Any

import numpy as np
import pytest
from foreign import MIXED
from tables import refuses

from ubpe_numba import UBPE, export, load
from ubpe_numba.errors import ModelFormatError
from ubpe_numba.text.characters import byte_characters

tokenizers = pytest.importorskip("tokenizers")

SPACES = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}


def file_of(vocab: list[tuple[str, float]], unknown: int | None = 0, cut: Any = None, **fields: Any) -> str:
    """The content of a tokenizer.json."""
    added = {"lstrip": False, "rstrip": False, "single_word": False, "normalized": False, "special": True}
    number = next((i for i, (name, _) in enumerate(vocab) if name == "<unk>"), len(vocab))
    model = {
        "type": "Unigram",
        "unk_id": unknown,
        "vocab": [list(pair) for pair in vocab],
        "byte_fallback": False,
    }
    return json.dumps(
        {
            "version": "1.0", "normalizer": None, "pre_tokenizer": cut, "post_processor": None,
            "added_tokens": [{"id": number, "content": "<unk>", **added}], "decoder": SPACES, "model": model | fields,
        }
    )  # fmt: skip


VOCAB = [
    ("<unk>", 0.0),
    *[(f"<0x{byte:02X}>", 0.0) for byte in range(256)],
    ("a", -1.0),
    ("▁", -2.0),
    ("aa", -1.5),
]
FLAGGED = {
    "id": 260,
    "content": "b",
    "special": False,
    "lstrip": True,
    "rstrip": False,
    "single_word": False,
    "normalized": True,
}


def test_bytes_for_unknown_characters() -> None:
    text = file_of(VOCAB, cut=SPACES, byte_fallback=True)
    peer, tokenizer, docs = (
        tokenizers.Tokenizer.from_str(text),
        UBPE.load(text),
        ["aaa é a", "é中😀", "a b", ""],
    )
    assert (
        ours(tokenizer, docs)
        == theirs(tokenizer, docs)
        == [peer.encode(doc, add_special_tokens=False).ids for doc in docs]
    )
    # of the bytes that go on, which cost nothing
    assert (tokenizer._model.vocabulary.log_probabilities == 0).sum() == 64
    refuses(ValueError, "kind: a model of .* is one of text", load, text, kind="str")
    with pytest.raises(
        ModelFormatError, match="added_tokens: lstrip, rstrip, single_word of one that is normalized"
    ):
        UBPE.load(
            json.dumps(json.loads(text) | {"added_tokens": [FLAGGED], "normalizer": {"type": "Lowercase"}})
        )


@pytest.mark.parametrize("text, message", [
    (file_of([]), "expected a list of pieces"),
    (file_of([("a", 0.0)], 1), "unk_id: expected the id of a piece, got 1"),
    (file_of([("a", 0.0)], True), "unk_id: expected the id of a piece"),  # type: ignore[arg-type]
    (file_of([("a", 0.0), ("a", 0.0)]), "the piece 'a' is there twice, as 0 and 1"),
    (file_of([("a", 0.0), ("a", "b")]), "vocab[1]: expected a pair of a piece and a score, got ['a', 'b']"),  # type: ignore[list-item]
    (file_of([("a", 0.0)]).replace("0.0", "1e999"), "no finite number"),
    (file_of([("ab", -1.0), ("a", -1.0)], None), "'b' is in pieces, but is none"),
    (file_of([("\U0010ff00", -1.0)], None), "is reserved for something else"),
    (file_of([("<unk>", 0.0), ("a", -1.0)], cut={"type": "ByteLevel"}), "the characters of all 256 bytes"),
    (file_of([("", 0.0)], None).replace('"content": "<unk>"', '"content": "x"'), "there are no pieces"),
])  # fmt: skip
def test_what_is_not_valid_is_refused(text: str, message: str) -> None:
    with pytest.raises(ModelFormatError) as error:
        UBPE.load(text)
    assert message in str(error.value)


def test_without_an_unknown_piece_an_unknown_character_is_an_error() -> None:
    tokenizer = UBPE.load(json.dumps(json.loads(file_of([("a", -1.0)], None)) | {"added_tokens": []}))
    assert tokenizer.encode("aa").tolist() == [0, 0]
    refuses(ValueError, "position 1: symbol 'b'", tokenizer.encode, "ab")


def test_private_characters_in_pieces() -> None:
    private = "\U00100001\U0010d592\U0010fe83"
    text = file_of([("<unk>", 0.0), *[(c, -2.0) for c in private], (private[:2], -1.0)])
    peer, tokenizer = tokenizers.Tokenizer.from_str(text), UBPE.load(text)
    for doc in (private, private[::-1] + "a\U00100000\U0010ff00" + private):
        assert tokenizer.encode(doc).tolist() == peer.encode(doc, add_special_tokens=False).ids
        assert tokenizer.decode(tokenizer.encode(private)) == private


def theirs(tokenizer: UBPE, docs: list[str]) -> list[list[int]]:
    """The ids of tokenizers, by what is written."""
    peer = tokenizers.Tokenizer.from_str(export(tokenizer, "tokenizer.json"))
    return [found.ids for found in peer.encode_batch(docs, add_special_tokens=False)]


def ours(tokenizer: UBPE, docs: list[str]) -> list[list[int]]:
    found: list[list[int]] = tokenizer.encode_batch(docs, allowed_special="all").to_lists()
    return found


def random_texts(letters: str, n: int) -> list[str]:
    rng = np.random.default_rng(n)
    return ["".join(rng.choice(list(letters), size=rng.integers(40))) for _ in range(n)]


@pytest.mark.parametrize("change", [None, {"type": "Lowercase"}])
def test_text_may_become_a_special_token_of_one_character(change: Any) -> None:
    file = json.loads(file_of([("<unk>", 0.0), ("a", -1.0), ("b", -1.0), ("ab", -1.5)])) | {
        "normalizer": change
    }
    file["added_tokens"].append(file["added_tokens"][0] | {"id": 1, "content": "a"})
    found = tokenizers.Tokenizer.from_str(json.dumps(file)).encode_batch(
        docs := ["aBAab", "A", "bbAB"], add_special_tokens=False
    )
    assert ours(load(json.dumps(file)), docs) == [one.ids for one in found]


@pytest.mark.parametrize("pattern", ["gpt2", "[^ ]+ ?", None])
def test_byte_models_are_written(pattern: Any, lines: list[str]) -> None:
    own = {"pretokenizer": pattern, "special_tokens": ["<end>", "<é>"], "objective": "likelihood"}
    tokenizer = (
        UBPE.for_text(900, **own)
        .fit(lines[:500] + MIXED * 20, progress=False)
        .set_params(objective="tokenizers")
    )
    docs = [*lines[500:900], *MIXED, "a<end>b<é>", *random_texts("ae  \né中😀\x00'st1.ß\u2028", 500)]
    assert theirs(tokenizer, docs) == ours(tokenizer, docs)
    again = UBPE.load(export(tokenizer, "tokenizer.json"))
    assert (
        ours(again, docs) == ours(tokenizer, docs)
        and again.vocabulary.special == tokenizer.vocabulary.special
    )
    assert again.decode(again.encode("Zwölf  中\n")) == "Zwölf  中\n" and again.is_lossless
    scores, read = tokenizer._model.vocabulary.log_probabilities, again._model.vocabulary.log_probabilities
    # nearly all are equal
    assert (np.abs(np.sort(scores) - np.sort(read)) <= np.spacing(np.abs(np.sort(scores)))).all()


def test_models_of_integers_are_written() -> None:
    numbers = [[7 + 3 * "abcdé 中▁".index(c) for c in doc] for doc in random_texts("abcdé 中▁", 200)]
    of_integers = UBPE(60, objective="tokenizers").fit(numbers, progress=False)
    names = {int(symbol): chr(0xE000 + i) for i, symbol in enumerate(of_integers._model.alphabet.symbols)}
    texts = ["".join(map(names.__getitem__, doc)) for doc in numbers]
    assert theirs(of_integers, texts) == of_integers.encode_batch(numbers).to_lists()


def test_pieces_of_other_characters_after_byte_level_are_in_no_text() -> None:
    cut = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    vocab = [("<unk>", 0.0), *[(letter, -5.0) for letter in byte_characters()], ("中", -0.5), ("Ġa", -1.25)]
    text = file_of(vocab, cut=cut)
    tokenizer, peer = UBPE.load(text), tokenizers.Tokenizer.from_str(text)
    for doc in ("中 a a", "é\n", "a<unk>b"):
        assert ours(tokenizer, [doc]) == [peer.encode(doc, add_special_tokens=False).ids]
