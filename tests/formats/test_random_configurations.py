"""Random configurations of a `tokenizer.json`: the ids of the package tokenizers, or a refusal."""

import contextlib
import importlib
import itertools
import json
import os
import pathlib
import random
from collections import Counter
from typing import Any

import pytest

import ubpe_numba
from ubpe_numba import BPE, WordPiece, export
from ubpe_numba.errors import UnknownSymbolError

pytestmark = pytest.mark.filterwarnings("ignore:added_tokens")  # of words that a normalizer changes
pytest.importorskip("tokenizers")
test_matrix: Any = importlib.import_module("formats.test_matrix")
fuzz_configurations = pytest.importorskip("fuzz.fuzz_configurations")
fuzz_mutations: Any = importlib.import_module("fuzz.fuzz_mutations")


def test_random_configurations(tmp_path: pathlib.Path) -> None:
    """And what was read is kept by model files, and written again where there is a place for it."""
    path, done, n = tmp_path / "m.json", Counter[str](), 60 if os.environ.get("UBPE_FULL") == "1" else 24
    for i in range(n):
        case = fuzz_configurations.make(i)
        if fuzz_configurations.check(case):
            continue
        mine = fuzz_configurations.ours(case.text)
        kind = json.loads(case.text)["model"]
        mine.save(path)
        others = [ubpe_numba.load(path)]
        with contextlib.suppress(ValueError):
            loss = {} if kind["type"] == "WordPiece" else {"unk_token": False}
            others.append(type(mine).load(export(mine, "tokenizer.json", **loss)))
        options = {} if isinstance(mine, WordPiece) else {"allowed_special": "all", "unknown": "skip"}
        for other in others:
            assert other.get_vocab() == mine.get_vocab()
            assert other.encode_batch(case.docs, **options) == mine.encode_batch(case.docs, **options)
        done[f"{type(mine).__name__} {len(others)}"] += 1
    assert done.total() >= n // 2 and len(done) >= 3, done


@pytest.mark.parametrize("name", ["byte_level", "llama", "unigram", "words", "suffixes", "characters"])
@pytest.mark.parametrize("kind", ["Lowercase", "NFKC", "Prepend"])
def test_words_that_a_normalizer_changes_are_found_and_shown_as_there(name: str, kind: str) -> None:
    """In normalised text; decoded as it, and special ones left out only if that is a special token too."""
    file = json.loads(getattr(test_matrix, name)())
    file["normalizer"] = {"type": kind, **({"prepend": "l"} if kind == "Prepend" else {})}
    size = len({token["content"] for token in file["added_tokens"]} | {*dict(file["model"]["vocab"])})
    late = {"normalized": True, "special": True}
    words = [
        ("<NEW>", late),
        ("LOW é", {"normalized": True, "rstrip": True}),
        ("ﬁ", late),
        ("<new>", {"special": True}),
    ]
    file["added_tokens"] += [_word(word, size + i, **flags) for i, (word, flags) in enumerate(words)]
    file["added_tokens"].append(_word("<Pad>", size + len(words), normalized=True))
    docs = [*test_matrix.TEXTS, "<NEW>low<new> ﬁ fi LOW é  low é", "l<NEW>ﬁlLOW é <Pad> <PAD>"]
    said = fuzz_mutations.check(json.dumps(file), docs, random.Random(0))
    assert not said or "is not in the alphabet" in said, said


def test_of_a_word_that_is_there_twice_the_last_counts() -> None:
    """But it stays special; of words that a normalizer makes equal tokenizers takes one by chance."""
    words = [_word("b", 6, special=True), _word("b", 6, rstrip=True), _word("x", 7)]
    tok = BPE.load(text := _file({"vocab": {"<unk>": 0, "a": 1, " ": 2}, "merges": []}, added_tokens=words))
    theirs = pytest.importorskip("tokenizers").Tokenizer.from_str(text)
    assert tok.encode("ab  a", allowed_special="all").tolist() == theirs.encode("ab  a").ids
    assert tok.decode([1, 3, 1], skip_special_tokens=True) == theirs.decode([1, 3, 1])
    late = [_word("É", 6, normalized=True), _word("é", 7, normalized=True)]
    with pytest.warns(UserWarning, match=r"'é' is 'é' in normalised text, as another, or nothing"):
        BPE.load(_file({}, added_tokens=late, normalizer={"type": "Lowercase"}))


def _file(model: dict[str, Any], **parts: Any) -> str:
    """A small BPE model over characters, where the model does not say another, and what else the file says."""
    whole = {
        "type": "BPE", "unk_token": "<unk>", "vocab": {"<unk>": 0, "a": 1, "b": 2, " ": 3, "▁": 4, "▁a": 5}, "merges": ["▁ a"],
    }  # fmt: skip
    return json.dumps({"version": "1.0", "added_tokens": [], "model": whole | model, **parts})


def _word(content: str, number: int, **flags: bool) -> dict[str, Any]:
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False}
    return {"id": number, "content": content, **plain, **flags}


FIRST = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": True}
EMPTY = {"type": "Split", "pattern": {"Regex": "x*"}, "behavior": "Isolated", "invert": False}
DEAD = {
    "vocab": {"<unk>": 0, "a": 1, "b": 2, "bb": 3, "bbbb": 4, "ab": 5, "aab": 6},
    "merges": ["bb bb", "a b", "a ab"],
}
CLUSTERS = {"type": "Split", "pattern": {"Regex": r"\X"}, "behavior": "Isolated", "invert": False}
WORDS_FIRST = {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, FIRST]}
ENDS = {"type": "Replace", "pattern": {"Regex": r"$"}, "content": "a"}
PIECES: dict[str, Any] = {
    "type": "Unigram",
    "unk_id": 0,
    "vocab": [["<unk>", 0.0], ["a", -1.0], ["b", -1.0], [" ", -1.0]],
}
NO_PAIR = {"unk_token": None, "vocab": {"a": 0, "Ċ": 1, "Ġ": 2, "ĊĠ": 3}, "merges": []}
BYTES_FIRST = {
    "normalizer": {"type": "ByteLevel"},
    "added_tokens": [_word("b", 2, normalized=True, rstrip=True)],
}
TRIMS = {"type": "ByteLevel", "trim_offsets": True, "add_prefix_space": False}
INNER: dict[str, Any] = {"vocab": {"<unk>": 0, "a": 1, "##a": 2}, "merges": []}
OF_BYTES = PIECES | {
    "byte_fallback": True,
    "vocab": [*PIECES["vocab"][:2], *([f"<0x{i:02X}>", 0.0] for i in range(256))],
}
NO_SPACE = {"vocab": {"<unk>": 0, "a": 1}, "merges": []}
DETOUR = {"vocab": {"<unk>": 0, "a": 1, "b": 2, "bb": 3, "ab": 4, "abb": 5}, "merges": ["b b", "a b", "ab b"]}
SPACES = {"type": "Replace", "pattern": {"Regex": "[b<>unk]"}, "content": " "}
SPACED = {"normalizer": SPACES, "added_tokens": [_word("<unk>", 0, normalized=True)]}
PREFIX = {"add_prefix_space": True, "trim_offsets": True, "use_regex": True}
SEVERAL = [
    ("pairs of a token that nothing makes", _file(DEAD)),
    ("a pair that is there twice", _file({"vocab": {"a": 0, "b": 1, "ab": 2, "ba": 3}, "merges": ["a b", "b a", "a b"]})),
    ("a token in the vocabulary only", _file({"vocab": {"<unk>": 0, "a": 1, "b": 2, " ": 4, "ab": 3}, "merges": []})),
    ("a word that merging makes in another way", _file({**DETOUR, "ignore_merges": True})),
    ("words that are found first", _file({}, added_tokens=[_word("ab", 6, normalized=True), _word("b ", 7)])),
    ("white space of a word that is a word itself", _file({}, added_tokens=[_word("b", 2, rstrip=True), _word("  ", 6)])),
    ("a word that takes the white space of the one before", _file({}, added_tokens=[_word("  ", 6, lstrip=True, rstrip=True)])),
    ("the beginning is gone", _file({}, pre_tokenizer=WORDS_FIRST)), ("clusters", _file({}, pre_tokenizer=CLUSTERS)),
    ("an added token of one character that text becomes", _file({}, pre_tokenizer=FIRST, added_tokens=[_word("▁", 4)])),
    ("an unknown character inside of a word", _file({"continuing_subword_prefix": "##", **INNER})),
    ("white space of a word is no part of its span", _file({}, added_tokens=[_word("b", 2, lstrip=True)], post_processor=TRIMS)),
    ("the unknown token beside a word that becomes white space", _file(NO_SPACE, **SPACED, post_processor=TRIMS)),
    ("bytes of several characters", _file(OF_BYTES, added_tokens=[_word("<unk>", 0, special=True)])),
    ("empty matches cut", _file({"vocab": {"<unk>": 0, "a": 1, "aa": 2}, "merges": ["a a"]}, pre_tokenizer=EMPTY)),
    ("text that reads as the unknown piece", _file({"type": "Unigram", "unk_id": 0, "vocab": [["a b", 0.0], ["a", -1.0]]})),
    ("a known word that is a piece too", _file(PIECES, added_tokens=[_word("a", 1, single_word=True)])),
]  # fmt: skip


@pytest.mark.parametrize("text", [text for _, text in SEVERAL], ids=[name for name, _ in SEVERAL])
def test_configurations_that_once_differed_agree(text: str) -> None:
    docs = ["".join(part) for n in range(6) for part in itertools.product("ab ", repeat=n)]
    assert fuzz_configurations.check(fuzz_configurations.Case(text, docs)) == ""
    said = fuzz_mutations.check(text, docs, random.Random(0))  # spans and strings
    assert not said or "is not in the alphabet" in said


@pytest.mark.parametrize("text, message", [
    (_file({"end_of_word_suffix": "▁", "ignore_merges": True}), "not supported with ignore_merges"),
    (_file({}, **BYTES_FIRST), "added_tokens: lstrip, rstrip, single_word of one that a ByteLevel normalizer changes"),
    (_file({}, **BYTES_FIRST | {"added_tokens": [_word("é", 6, normalized=True)]}), "one beyond visible ASCII needs it as"),
    (_file({}, normalizer=ENDS), "'$': it may match nothing"),
    (_file({}, added_tokens=[_word("a", 1, normalized=True), _word("a", 1)]), "'a' is there twice, once normalized"),
    (_file({"fuse_unk": True}, added_tokens=[_word("a", 1, single_word=True, lstrip=True)]), "not supported with fuse_unk"),
    (
        _file(OF_BYTES, normalizer={"type": "Prepend", "prepend": " "}, added_tokens=[_word("<unk>", 0, normalized=True)]),
        "model: unk_id: expected an added token without single_word, that the normalizer leaves as it is",
    ),
    (_file(PIECES, post_processor=TRIMS), "trim_offsets is not supported with a Unigram model"),
    (_file({**NO_PAIR, "ignore_merges": True}, pre_tokenizer={"type": "ByteLevel", **PREFIX}), "no pair makes 'ĊĠ'"),
    (
        _file({"type": "Unigram", "unk_id": 0, "byte_fallback": True, "vocab": [["<unk>", 0.0], ["<0x61>", 0.0]]}),
        "the piece <0x00> is missing",
    ),
])  # fmt: skip
def test_what_would_differ_is_refused(text: str, message: str) -> None:
    assert message in fuzz_configurations.check(fuzz_configurations.Case(text, []))


@pytest.mark.parametrize(
    "words",
    [[("x", 9), ("y", 9)], [("y", 3), ("x", 40), ("y", 41)], [("a", 5), ("x", 6)], [("", 6), ("x", 7)]],
)
def test_added_tokens_have_the_ids_that_tokenizers_gives(words: list[tuple[str, int]]) -> None:
    text = _file({}, added_tokens=[_word(word, i) for word, i in words])
    with pytest.warns(UserWarning, match=r"has the id \d+ in the file, but \d here and in tokenizers"):
        tok = BPE.load(text)
    theirs = pytest.importorskip("tokenizers").Tokenizer.from_str(text)
    for document in ("axya", "xx y", "a"):
        assert tok.encode(document, allowed_special="all").tolist() == theirs.encode(document).ids


def test_positions_of_unknown_characters_count_the_words_before_them() -> None:
    words = [_word("<s>", 6), _word("<l>", 7, normalized=True)]
    with pytest.raises(UnknownSymbolError, match="position 5"):
        BPE.load(_file({"unk_token": None}, added_tokens=words)).encode("<s>ab?a<l>")


def test_positions_do_not_follow_from_ids() -> None:
    tok = BPE.load(_file({}, added_tokens=[_word("b", 2, lstrip=True)]))
    ids, starts = tok.encode("xa  bé a", return_offsets=True)
    assert ids.tolist() == [0, 1, 2, 0, 3, 1] and starts.tolist() == [0, 1, 2, 5, 7, 8]


def test_a_word_may_be_called_as_another_byte_and_names_are_those_of_the_file() -> None:
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    model = {"vocab": {"<unk>": 0, "é": 1, "a": 2, "a b": 3, "a™": 4, "ĠĠ": 5}, "merges": []}
    tok = BPE.load(text := _file(model, added_tokens=[_word("é", 1)], pre_tokenizer=level))
    assert tok("éa", return_offsets=True).offset_mapping.tolist() == [[0, 1], [1, 2]]
    assert tok.get_vocab() == json.loads(text)["model"]["vocab"]
