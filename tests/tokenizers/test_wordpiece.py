"""WordPiece: words, batches, files, and the same ids as the package tokenizers."""

import json
import os
import pathlib
import pickle
from typing import Any

import numpy as np
import pytest
from tables import each, refuses
from text_samples import SAMPLES

from ubpe_numba import BPE, Preprocessing, WordPiece, export, load
from ubpe_numba.errors import ModelFormatError, SpecialTokenError, UnknownTokenError

#: The first 6,000 lines of the vocabulary of bert-base-uncased, by Google; the licence is beside them.
BERT = pathlib.Path(__file__).parent / "bert" / "vocab_6000.txt"
SMALL = ["[UNK]", "un", "##aff", "##able", "##ably"]


def _sources(size: int) -> str:
    """Text in many scripts, and sources of the standard library, of `size` characters."""
    text = SAMPLES
    for path in sorted(pathlib.Path(os.__file__).parent.glob("*.py")):
        text += SAMPLES + path.read_text(encoding="utf-8", errors="replace")
    return text[:size]


def test_ids_equal_those_of_tokenizers_on_berts_vocabulary() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    peer = tokenizers.Tokenizer(tokenizers.models.WordPiece.from_file(str(BERT), unk_token="[UNK]"))
    peer.decoder = tokenizers.decoders.WordPiece(cleanup=False)
    normalise = tokenizers.normalizers.BertNormalizer().normalize_str
    cut = tokenizers.pre_tokenizers.BertPreTokenizer().pre_tokenize_str
    tok = WordPiece.load(BERT)
    assert tok.pieces == peer.get_vocab()
    lines = _sources(400_000).split("\n")
    words = [[word for word, _ in cut(line)] for line in [*map(normalise, lines), *lines[::7]]]
    words += [["[CLS]", "##s", "###s", "x" * 100, "x" * 101, "[UNK]", "\u0301", "a\U0001f600"]]
    theirs = peer.encode_batch(words, is_pretokenized=True)
    tok.n_threads = 2
    ids, starts = tok.encode_batch(words, return_offsets=True)
    assert ids.to_lists() == [found.ids for found in theirs]
    ends = [np.cumsum([0, *map(len, document)]) for document in words]
    numbers = [np.searchsorted(at, begin, "right") - 1 for at, begin in zip(ends, starts, strict=True)]
    assert [part.tolist() for part in numbers] == [found.word_ids for found in theirs]
    assert tok.decode_batch(ids[-999:]) == [
        peer.decode(found.ids, skip_special_tokens=False) for found in theirs[-999:]
    ]


TEXTS = ["Unable [X] un,affable", "", "[X]", "able \u00dcn"]


def cutting() -> WordPiece:
    cut = Preprocessing("BertPreTokenizer", {"[X]": 9}, normalizer="BertNormalizer")
    return WordPiece([*SMALL, ","], preprocessing=cut, n_threads=1)


def test_what_other_tokenizers_can() -> None:
    tok = cutting()
    every: Any = {"allowed_special": "all"}
    ids, spans = tok.encode_batch(TEXTS, return_offsets="spans", **every)
    assert ids == tok.encode_batch(TEXTS, **every) and ids.to_lists() == [[1, 3, 9, 1, 5, 0], [], [9], [0, 1]]
    assert spans.tolist() == [[0, 2], [2, 6], [7, 10], [11, 13], [13, 14], [14, 21], [0, 3], [0, 4], [5, 7]]
    assert tok.encode_batch(TEXTS, return_offsets="spans", units="bytes", **every)[1].tolist() == [
        *spans.tolist()[:-1],
        [5, 8],
    ]
    assert tok.encode(["un", "unable"], return_offsets="spans")[1].tolist() == [[0, 2], [2, 4], [4, 8]]
    found = tok.spans(TEXTS, **every)
    assert (
        found.ids.tolist() == ids.values.tolist()
        and (found.starts + found.lengths).tolist() == spans[:, 1].tolist()
    )
    assert (
        tok.usage(TEXTS, **every).counts.tolist()
        == tok.usage(ids=ids).counts.tolist()
        == [2, 3, 0, 1, 0, 1, 0, 0, 0, 2]
    )
    assert tok.index(ids)[3].documents.tolist() == [0]
    assert [i.tolist() for i in tok.encode_iter(iter(TEXTS), batch=9, **every)] == ids.to_lists()
    assert (
        list(tok.decode_iter(iter(ids)))
        == tok.decode_batch(ids)
        == ["unable [X] un , [UNK]", "", "[X]", "[UNK] un"]
    )
    stream = tok.decode_stream()
    assert "".join(stream.push(i) for i in ids[0]) == tok.decode(ids[0])
    assert tok.decode([9, 1, -1, 3], skip=-1, skip_special_tokens=True) == "unable"
    assert (
        tok(TEXTS[:1], allowed_special="all", return_offsets=True)["offset_mapping"][0].tolist()
        == spans[:6].tolist()
    )
    refuses(SpecialTokenError, "document 2, position 0", tok.encode_batch, ["un", "", "[X]"])
    refuses(SpecialTokenError, "document 1, position 2", tok.encode_batch, [["un"], ["un", "[X]"]])
    assert tok.encode("[X]", disallowed_special="none").tolist() == [0, 0, 0]
    refuses(ValueError, "stream: a tokenizer with a normalizer", tok.stream)


def test_arguments_by_name() -> None:
    tok = cutting()
    other = WordPiece(**tok.get_params())
    assert other == tok and hash(other) == hash(tok) and pickle.dumps(other) == pickle.dumps(tok)
    assert other.fingerprint == tok.fingerprint and tok.vocab_size == 10
    assert (
        other.set_params(longest=1) is other and other != tok and other.encode("un able").tolist() == [0, 0]
    )
    tok.usage(TEXTS, disallowed_special="none")
    assert pickle.dumps(pickle.loads(pickle.dumps(tok))) == pickle.dumps(tok) == pickle.dumps(cutting())
    refuses(ValueError, "n_tokens: not a parameter of WordPiece", tok.set_params, n_tokens=3)


def test_texts_as_bytes() -> None:
    tok = WordPiece(["[UNK]", "é", "##e"])
    assert tok.decode([1, 2, 0], as_bytes=True) == "ée [UNK]".encode() == tok.decode([1, 2, 0]).encode()
    assert tok.decode_batch([[1, 2], [], [1]], as_bytes=True) == ["ée".encode(), b"", "é".encode()]
    assert tok.decode_batch([[1, 7]], skip=7, as_bytes=True) == ["é".encode()]


def test_surrogates_are_kept_where_files_can_hold_them(tmp_path: pathlib.Path) -> None:
    tok = WordPiece(["[UNK]", "\ud800", "\udc80\ud800"], longest=10**30)
    tok.save(tmp_path / "model.json")
    assert WordPiece.load(tmp_path / "model.json").pieces == tok.pieces
    refuses(
        ValueError,
        "surrogates in pairs would be read",
        WordPiece(["[UNK]", "\ud800\udc80"]).save,
        tmp_path / "m.json",
    )


@each(("change", "match"), [
    (lambda state: state.update(tokenizer="BPE"), "model.json: a BPE, not a WordPiece: use BPE.load"),
    (lambda state: state["params"].update(n_threads=1), "model.json: params: unexpected field 'n_threads'"),
    (lambda state: state["params"].pop("prefix"), "model.json: params: the field 'prefix' is missing"),
    (lambda state: state["params"].update(prefix=3), r"model.json: prefix: expected str, got 3 \(int\)"),
    (lambda state: state["params"].update(unknown=[]), r"model.json: unknown: expected a piece of the vocabulary, got \[\]"),
    (lambda state: state["params"].update(longest=0), "model.json: longest: expected at least 1, got 0"),
    (lambda state: state["alphabet"].update(size=0), "model.json: alphabet: unexpected field 'size'"),
    (lambda state: state["vocabulary"].update(pieces="abcde"), "model.json: vocabulary: expected as many pieces as ids, 5"),
    (lambda state: state["vocabulary"]["pieces"].__setitem__(1, 1), "model.json: vocabulary: position 1: expected str, got 1"),
    (lambda state: state["vocabulary"]["pieces"].__setitem__(1, "[UNK]"), r"a piece is there twice: '\[UNK\]', as 0 and 1"),
    (lambda state: state["vocabulary"].update(pieces=["a"]), "model.json: vocabulary: expected as many pieces as ids, 5"),
    (lambda state: state["vocabulary"].update(ids=[0.5]), "model.json: ids: expected integers, got float"),
    (lambda state: state["vocabulary"].update(ids=[[0], [1], [2], [3], [4]]), "pieces: expected str and their ids"),
    (lambda state: state["vocabulary"].update(ids=[0, 1, 2, 3, 3]), "model.json: pieces: two have the same id"),
    (lambda state: state["vocabulary"].update(ids=[0, 1, 2, 3, -4]), "model.json: pieces: '##ably': expected an id in 0"),
])  # fmt: skip
def test_other_files_are_refused(tmp_path: pathlib.Path, change: Any, match: str) -> None:
    path = tmp_path / "model.json"
    WordPiece(SMALL).save(path)
    state = json.loads(path.read_text())
    change(state)
    path.write_text(json.dumps(state))
    refuses(ModelFormatError, match, WordPiece.load, path)


def test_files_of_other_kinds(tmp_path: pathlib.Path) -> None:
    WordPiece(SMALL).save(tmp_path / "model.json")
    refuses(
        ModelFormatError,
        "a WordPiece, not a BPE: use WordPiece.load",
        lambda: BPE.load(tmp_path / "model.json"),
    )
    assert load(tmp_path / "model.json").encode(["unable"]).tolist() == [1, 3]
    refuses(
        ValueError,
        "expected a name that ends in .json or .npz",
        lambda: WordPiece(SMALL).save(tmp_path / "vocab.txt"),
    )
    tok = WordPiece.load(BERT)
    export(tok, "vocab.txt", tmp_path / "vocab.txt")
    assert (tmp_path / "vocab.txt").read_bytes() == BERT.read_bytes()


@each(("arguments", "error", "match"), [
    ({"pieces": ["a"]}, ValueError, r"unknown: expected a piece of the vocabulary, got '\[UNK\]'"),
    ({"pieces": ["[UNK]", "a", "a"]}, ValueError, "a piece is there twice"),
    ({"pieces": {"[UNK]": 0, "a": 0}}, ValueError, "two have the same id"),
    ({"pieces": {"[UNK]": -1}}, ValueError, "expected an id in 0"),
    ({"pieces": {"[UNK]": 2**31}}, ValueError, "expected an id in 0"),
    ({"pieces": {"[UNK]": 0.5}}, TypeError, "expected str and their ids"),
    ({"pieces": {b"a": 0}}, TypeError, "expected str and their ids"),
    ({"pieces": [b"a"]}, TypeError, "pieces: position 0: expected str, got bytes"),
    ({"pieces": "[UNK]"}, TypeError, "pieces: expected words, or a mapping of words to ids, got str"),
    ({"pieces": None}, TypeError, "pieces: expected words, or a mapping of words to ids, got None"),
    ({"pieces": ["[UNK]"], "longest": 0}, ValueError, "longest: expected at least 1"),
    ({"pieces": ["[UNK]"], "longest": 1.5}, TypeError, "longest: expected an int"),
    ({"pieces": ["[UNK]"], "prefix": None}, TypeError, "prefix: expected str, got None"),
    ({"pieces": ["[UNK]"], "special_tokens": {"a": 1}, "known_words": {"a": 2}}, ValueError, "one is a special token too"),
    ({"pieces": ["[UNK]"], "special_tokens": {"": 1}}, ValueError, "special_tokens: '' is empty"),
])  # fmt: skip
def test_bad_arguments_are_refused(arguments: dict[str, Any], error: type[Exception], match: str) -> None:
    text = {name: arguments[name] for name in arguments if name in ("special_tokens", "known_words")}
    rest = {name: arguments[name] for name in arguments if name not in text}
    refuses(error, match, lambda: WordPiece(**rest, preprocessing=Preprocessing(**text)))


def test_words_that_are_none_are_refused() -> None:
    tok: Any = WordPiece(["[UNK]", "a"])
    assert (
        tok.encode([]).tolist() == []
        and tok.encode(["", "a"]).tolist() == [1]
        and tok.encode_batch([]).to_lists() == []
    )
    assert tok.encode(np.array(["a", "b"])).tolist() == [1, 0]  # of numpy.str_
    for call, match in (
        (
            lambda: tok.encode("a b"),
            "^doc: expected words, got str; cut it first, for example with str.split",
        ),
        (lambda: tok.encode(b"a b"), "^doc: expected words, got bytes$"),
        (lambda: tok.encode(7), r"^doc: expected words, got 7 \(int\)"),
        (lambda: tok.encode(["a", ["a"]]), "^doc, position 1: expected str, got list"),
        (lambda: tok.encode([b"a"]), "^doc, position 0: expected str, got bytes"),
        (
            lambda: tok.encode_batch([["a"], "a b"]),
            "^docs: document 1: expected words, got str; cut it first",
        ),
        (
            lambda: tok.encode_batch([["a"], [], ["a", None]]),
            "^docs: document 2, position 1: expected str, got None",
        ),
        (lambda: tok.decode("a"), "^ids: expected integers, got str"),
        (lambda: tok.decode([0.5]), "^ids, position 0: expected an integer"),
    ):
        refuses(TypeError, match, call)
    refuses(
        ValueError, "n_threads: expected at least 1", lambda: WordPiece(["[UNK]"], n_threads=0).encode([])
    )


def test_ids_of_no_piece_are_refused() -> None:
    refuses(
        ValueError,
        "pieces: the id 2147483647 is too far from the others",
        WordPiece({"[UNK]": 2**31 - 1}).usage,
        [],
    )
    tok = WordPiece({"[UNK]": 3, "a": 5})
    for ids, at in (([7], 0), ([5, 4, 9], 1), (np.array([3, -1]), 1)):
        refuses(
            UnknownTokenError,
            f"^document 0, position {at}: token id {ids[at]} is outside the vocabulary",
            tok.decode,
            ids,
        )
    refuses(UnknownTokenError, "^document 2, position 1: token id 6", tok.decode_batch, [[3], [], [3, 6]])
    assert tok.decode(np.array([5, 3], np.uint8)) == "a [UNK]" and tok.decode([]) == ""
    assert tok.decode_batch(np.array([3, 5]), [0, 1, 2]) == ["[UNK]", "a"] and tok.decode_batch([]) == []
    assert WordPiece(["?", "un", "able"], unknown="?", prefix="").decode([1, 2]) == "unable"
    assert WordPiece(SMALL).decode_batch([[3, 1], [3], [1, 3, 0]]) == ["##able un", "##able", "unable [UNK]"]


def test_training_begins_with_special_tokens() -> None:
    special = ["[PAD]", "[UNK]", "[CLS]"]
    tok = WordPiece.train({"low": 5, "lower": 2, "[CLS]": 9}, 12, special_tokens=special)
    assert (
        [*tok.pieces][:3] == special
        and len(tok.pieces) == 12
        and tok.encode(["[CLS]", "low"]).tolist()[0] == 2
    )
    assert [*WordPiece.train([["a"]], 9, special_tokens=["[CLS]"], unknown="?").pieces] == ["?", "[CLS]", "a"]
    assert [*WordPiece.train(["a"], 3, special_tokens=special).pieces] == special
    refuses(
        ValueError,
        "n_tokens: expected at least the 3 special .* got 2",
        WordPiece.train,
        ["a"],
        2,
        special_tokens=special,
    )
    refuses(
        TypeError,
        "special_tokens: expected words, .* got str",
        WordPiece.train,
        ["a"],
        9,
        special_tokens="[CLS]",
    )
    refuses(TypeError, "words: expected words, got str; cut it first", WordPiece.train, "a text", 9)
    refuses(
        ValueError,
        "words: got a text of 125 characters; cut it first",
        WordPiece.train,
        ["a", "a text" + 17 * " a text"],
        9,
    )
    refuses(TypeError, "prefix: expected str, got None", WordPiece.train, ["ab"], 9, prefix=None)
    refuses(ValueError, r"words: expected less than 2\*\*62 characters", WordPiece.train, {"ab": 2**61}, 9)
