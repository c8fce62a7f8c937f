"""Files of gguf: fields as the package gguf reads them, vocabularies of each kind, and refusals."""

import itertools
import json
import pathlib
import struct
import tempfile
from typing import Any

import numpy as np
import pytest
from double_arrays import charsmap
from formats import test_matrix
from gguf_files import (
    ARRAY,
    BOOL,
    F64,
    I8,
    I32,
    I64,
    LAYOUTS,
    STRING,
    U8,
    U64,
    Typed,
    gguf,
    string,
    value_of,
    vocabulary,
)
from hypothesis import given, strategies as st
from sentencepiece_models import BPE as PAIRS, BYTES, NORMAL, SPECIAL, UNIGRAM, USER, model
from tables import refuses

from ubpe_numba import BPE, WordPiece, load
from ubpe_numba.errors import ModelFormatError
from ubpe_numba.formats import gguf as gguf_module
from ubpe_numba.formats.export_check import TEXTS
from ubpe_numba.formats.gguf import _STEPS, read_fields
from ubpe_numba.text.characters import byte_characters
from ubpe_numba.text.patterns import NAMED
from ubpe_numba.text.sentencepiece import BYTE_NAMES
from ubpe_numba.text.splitter import Splitter

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
VALUES = st.one_of(
    TEXT,
    st.booleans(),
    st.integers(0, 2**32 - 1),
    st.floats(width=32, allow_nan=False),
    st.builds(Typed, st.just(I64), st.integers(-(2**63), 2**63 - 1)),
    st.builds(Typed, st.just(STRING), st.lists(TEXT, max_size=8)),
    st.builds(Typed, st.just(U8), st.lists(st.integers(0, 255), max_size=8)),
    st.builds(Typed, st.just(I8), st.lists(st.integers(-128, 127), max_size=8)),
    st.builds(Typed, st.just(F64), st.lists(st.floats(allow_nan=False), max_size=8)),
    st.builds(Typed, st.just(BOOL), st.lists(st.booleans(), max_size=8)),
)


def fields_of(data: bytes, prefix: str = "a.") -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "x")
        path.write_bytes(data)
        return read_fields(path, prefix)


def same(found: Any, value: Any) -> bool:
    value = value.value if isinstance(value, Typed) else value
    if isinstance(found, np.ndarray):
        return bool(found.tolist() == value)
    return type(found) is type(value) and bool(found == value)


@given(
    st.dictionaries(TEXT, VALUES, max_size=6),
    st.dictionaries(TEXT, VALUES, max_size=6),
    st.sampled_from([2, 3]),
)
def test_what_is_written_is_read(wanted: dict[str, Any], others: dict[str, Any], version: int) -> None:
    rows = [
        *(("b." + name, value) for name, value in others.items()),
        *(("a." + name, value) for name, value in wanted.items()),
    ]
    found = fields_of(gguf(rows[::2] + rows[1::2], version) + b"tensors")
    assert found.keys() == wanted.keys() and all(same(found[name], wanted[name]) for name in wanted)


def test_numbers_of_every_type() -> None:
    for kind, layout in LAYOUTS.items():
        most = (
            True
            if layout == "?"
            else 0.5
            if layout in "fd"
            else (1 << 8 * struct.calcsize(layout) - layout.islower()) - 1
        )
        found = fields_of(
            gguf([("a.x", Typed(kind, most)), ("a.y", Typed(kind, [most, most])), ("a.z", Typed(kind, []))])
        )
        assert found["x"] == most and found["y"].tolist() == [most, most] and found["z"].size == 0


def test_only_the_fields_are_read(tmp_path: pathlib.Path) -> None:
    with open(tmp_path / "x", "wb") as f:
        f.write(
            gguf(
                [
                    ("a.x", ["é", "", "b"] * 9),
                    ("b", Typed(STRING, ["c" * 99] * 9)),
                    ("c", [1] * 99),
                    ("a.y", 5),
                ]
            )
        )
        f.truncate(1 << 40)
    assert read_fields(tmp_path / "x", "a.") == {"x": ["é", "", "b"] * 9, "y": 5}


def test_the_package_gguf_reads_and_writes_the_same(tmp_path: pathlib.Path) -> None:
    package = pytest.importorskip("gguf")
    writer = package.GGUFWriter(tmp_path / "x", "llama")
    writer.add_token_list(["a", "é", "\U0001d518"])
    writer.add_token_scores([0.5, -1.0, 2.0])
    writer.add_token_types([1, 2, 3])
    writer.add_add_space_prefix(False)
    writer.add_precompiled_charsmap(b"\x00\xff")
    writer.add_unk_token_id(2)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    theirs = package.GGUFReader(tmp_path / "x").fields
    ours = read_fields(tmp_path / "x", "")
    assert ours.keys() == {name for name in theirs if not name.startswith("GGUF.")}
    for name, value in ours.items():
        assert (value.tolist() if isinstance(value, np.ndarray) else value) == theirs[name].contents()


def array(kind: int, n: int, data: bytes = b"") -> bytearray:
    """The value of an array of so many, or fewer."""
    return bytearray(struct.pack("<IIQ", ARRAY, kind, n) + data)


BAD = {
    "ends within the beginning": b"GG", "does not begin with GGUF": b"GGML" + bytes(20),
    "version 1 of gguf is not supported": gguf([], 1), "version 50331648 of gguf is not supported": gguf([], 3 << 24),
    "1099511627776 fields; expected at most": gguf([], n_fields=1 << 40),
    "ends within the name of field 1": gguf([("a.x", 1)], n_fields=2) + struct.pack("<Q", 2**64 - 1) + b"ab",
    "the name of field 0: string 0 is not UTF-8": gguf([(b"\xff", 1)]), "'a.x' is there twice": gguf([("a.x", 1), ("a.x", 1)]),
    "'b.x' is there twice": gguf([("b.x", 1), ("b.x", "")]),
    "the field 'a.y' has values of the type 4294967295": gguf([("a.y", bytearray(b"\xff" * 4))]),
    "the field 'a.x' has values of the type 9": gguf([("a.x", array(ARRAY, 1, value_of([1])))]),
    "the field 'b.y' has values of the type 77": gguf([("b.y", array(77, 1))]),
    "the file ends within the field 'a.x'": gguf([("a.x", bytearray(struct.pack("<I", STRING) + string("ab")[:-1]))]),
    "the file ends within the field 'b.x'": gguf([("b.x", bytearray(struct.pack("<IQ", STRING, 2**64 - 1)))]),
    "the file ends within the field 'a.1'": gguf([("a.1", array(U8, 2**64 - 1))]),
    "the file ends within the field 'b.1'": gguf([("b.1", array(U64, 2**61))]),
    "the field 'a.2' has 18446744073709551615 strings": gguf([("a.2", array(STRING, 2**64 - 1))]),
    "the file ends within the field 'b.3'": gguf([("b.3", array(STRING, 2**21))]),
    "the file ends within the field 'b.2'": gguf([("b.2", array(STRING, 3, string("a") * 2))]),
    "the file ends within the field 'a.3'": gguf([("a.3", array(STRING, 2, struct.pack("<Q", 2**63) + bytes(99)))]),
    "the file ends within the field 'a.4'": gguf([("a.4", array(STRING, 2, string("abcdefgh") + b"1234567"))]),
    "the field 'a.5': string 0 is not UTF-8": gguf([("a.5", Typed(STRING, b"\xff"))]),
    "the field 'a.6': string 2 is not UTF-8": gguf([("a.6", ["", "b", b"a\xff", "c"])]),
    "the field 'a.7': string 1 is not UTF-8": gguf([("a.7", ["", b"\xc3", b"\xa9"])]),
    "the field 'a.8': string 1 is not UTF-8": gguf([("a.8", ["a", b"\xed\xa0\x80"])]),
}  # fmt: skip


@pytest.mark.parametrize("message", BAD)
def test_what_is_not_valid_is_refused(message: str) -> None:
    with pytest.raises(ModelFormatError) as error:
        fields_of(BAD[message])
    assert message in str(error.value)


def test_other_fields_may_hold_any_bytes() -> None:
    assert fields_of(gguf([("b", Typed(STRING, b"\xff")), ("c", ["a", b"\xff"]), ("a.x", 1)])) == {"x": 1}


def test_fields_of_too_many_bytes_are_refused(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gguf_module, "_MOST_BYTES", 1 << 12)
    (tmp_path / "x").write_bytes(gguf([("a.x", Typed(U8, [1] * 5000))]))
    refuses(ModelFormatError, "the field 'a.x' is too large", lambda: read_fields(tmp_path / "x", "a."))


KINDS = st.integers(0, 13)
VALUE_BYTES = st.one_of(  # of a type, of an array of a type, of anything
    st.builds(lambda kind, data: struct.pack("<I", kind) + data, KINDS, st.binary(max_size=9)),
    st.builds(
        lambda kind, n, data: struct.pack("<IIQ", ARRAY, kind, n) + data,
        KINDS,
        st.integers(0, 4),
        st.binary(max_size=20),
    ),
    st.builds(value_of, VALUES),
    st.binary(max_size=20),
)


@given(
    st.lists(st.tuples(TEXT, VALUE_BYTES.map(bytearray)), max_size=3),
    st.integers(0, 4),
    st.binary(max_size=9),
)
def test_any_bytes_are_read_or_refused(fields: list[tuple[str, bytearray]], n: int, rest: bytes) -> None:
    """Whatever is read are names with numbers, texts, or as many of them as the file can hold."""
    data = gguf(fields, n_fields=n) + rest
    try:
        found = fields_of(data, "")
    except ModelFormatError:
        return
    for name, value in found.items():
        assert isinstance(name, str)
        assert isinstance(value, (bool, int, float)) or len(value) <= len(data), (name, value)


PIECES = [
    *SPECIAL,
    *BYTES,
    *((name, -5.0 + i, NORMAL) for i, name in enumerate(["▁", "a", "aa", "▁a"])),
    ("a▁", 0.0, USER),
]


def written(path: pathlib.Path, kind: str, tokens: list[str], **fields: Any) -> pathlib.Path:
    """A file of a vocabulary."""
    path.write_bytes(vocabulary(kind, tokens, **fields))
    return path


def test_kinds_of_sentencepiece(tmp_path: pathlib.Path) -> None:
    """Those of its own files; maps of characters are bytes of any type."""
    names, scores, types = map(list, zip(*PIECES, strict=True))
    data = charsmap({"Ä": "a"})
    typed = (Typed(U8, list(data)), Typed(I8, np.frombuffer(data, np.int8).tolist()), Typed(I32, list(data)))
    for kind, number, values in (
        ("llama", PAIRS, None),
        ("t5", UNIGRAM, None),
        *(("t5", UNIGRAM, values) for values in typed),
    ):
        more = {} if values is None else {"precompiled_charsmap": values}
        path = written(
            tmp_path / "m", kind, names, scores=scores, token_type=types, add_space_prefix=True, **more
        )
        t5, blob = kind == "t5", data if more else b""
        assert load(path) == load(model(PIECES, number, prefix=True, remove=t5, by_bytes=True, charsmap=blob))


def test_placeholders_that_are_said_to_be_unknown(tmp_path: pathlib.Path) -> None:
    """One is the unknown piece; the others are in no text."""
    tokens, types = ["<unk>", "a", "<p1>", "<p2>"], [2, 1, 2, 2]
    for unknown in ({}, {"unknown_token_id": 0}):
        fields: dict[str, Any] = {
            "scores": [0.0] * 4,
            "token_type": types,
            "add_space_prefix": False,
            **unknown,
        }
        with pytest.warns(UserWarning, match="^tokenizer.ggml.newer is not read"):
            tokenizer = BPE.load(written(tmp_path / "m.gguf", "llama", tokens, **fields, newer=True))
        assert tokenizer.encode("axa").tolist() == [1, 0, 1] and tokenizer.decode([1, 3]).startswith("a")


LLAMA: dict[str, Any] = {"kind": "llama", "scores": [0.0, -1.0], "token_type": [2, 1]}


NUMBERS, TOKENS = "expected an array of integers", "tokens: expected a list of tokens"
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"kind": "rwkv"}, "'rwkv' is not supported; there are llama, t5, gpt2, gemma4 and bert"),
    ({"kind": "bert"}, "unknown_token_id: expected the id of a token, got 100"),
    ({"kind": "bert", "unknown_token_id": 1}, "a WordPiece, not a BPE: use WordPiece.load"),
    ({"kind": "bert", "unknown_token_id": "1"}, "unknown_token_id: expected the id of a token"),
    ({"kind": "bert", "unknown_token_id": 0, "normalizer__lowercase": "x"}, "lowercase: expected true or false"),
    ({"kind": "gpt2", "pre": "x", "merges": ["a b"]}, "the pattern of 'x' is not known; read the tokenizer.json"),
    ({"kind": "gpt2", "pre": ["qwen2"], "merges": ["a b"]}, "pre: the pattern of"),
    ({"kind": "gpt2", "merges": ["ab"]}, "expected a list of two tokens each|not in the vocabulary"),
    ({"kind": "gpt2", "merges": [1]}, "merges: expected a list of two tokens each"),
    ({"kind": "gpt2", "merges": "a b"}, "merges: expected a list of two tokens each"),
    ({"kind": "llama"}, "scores: expected a finite number"),
    ({"kind": "llama", "token_type": [9, 9]}, "expected a type of 1 to 6"),
    ({"kind": "llama", "token_type": [1]}, "expected a type of 1 to 6"),
    ({"kind": "llama", "token_type": Typed(U64, [1, 2**64 - 1])}, "expected a type of 1 to 6"),
    ({"kind": "llama", "token_type": [1.0, float("nan")]}, f"token_type: {NUMBERS}"),
    ({"kind": "llama", "token_type": "1"}, f"token_type: {NUMBERS}"),
    ({"kind": "llama", "scores": ["a", "b"]}, "scores: expected an array of numbers"),
    ({"kind": "llama", "scores": 1.0}, "scores: expected an array of numbers"),
    ({"kind": "llama", "scores": Typed(F64, [1.0, 1e300])}, "scores: expected a finite number"),
    ({**LLAMA, "precompiled_charsmap": Typed(U64, 1 << 40)}, f"precompiled_charsmap: {NUMBERS}"),
    ({**LLAMA, "precompiled_charsmap": [1.0]}, f"precompiled_charsmap: {NUMBERS}"),
    ({**LLAMA, "precompiled_charsmap": [256]}, "precompiled_charsmap: expected bytes"),
    ({**LLAMA, "precompiled_charsmap": Typed(U8, [1, 2])}, "."),
    ({**LLAMA, "add_space_prefix": "no"}, "add_space_prefix: expected true or false"),
    ({"kind": ["llama"]}, r"tokenizer.ggml.model: \['llama'\] is not supported"),
    ({"kind": "llama", "tokens": [1, 2]}, TOKENS), ({"kind": "llama", "tokens": "ab"}, TOKENS),
    ({"kind": "llama", "tokens": Typed(STRING, [])}, TOKENS), ({"kind": "llama", "tokens": ["a", ""]}, TOKENS),
]  # fmt: skip


@pytest.mark.parametrize("fields, message", REFUSED, ids=range(len(REFUSED)))
def test_what_is_not_valid_is_refused_of_gguf_file(
    fields: dict[str, Any], message: str, tmp_path: pathlib.Path
) -> None:
    refuses(
        ModelFormatError,
        message,
        lambda: BPE.load(written(tmp_path / "m.gguf", **{"tokens": ["a", "b"], **fields})),
    )


def test_patterns_by_the_names_of_llama_cpp(tmp_path: pathlib.Path) -> None:
    known = {
        "gpt2": "gpt-2 mpt roberta-bpe phi-2", "llama3": "llama-bpe glm4 dbrx", "qwen2": "qwen2 stablelm2 grok-2 bailingmoe2",
        "qwen35": "qwen35", "o200k": "gpt-4o llama4", "tekken": "tekken", "deepseek": "deepseek-v3 hunyuan-dense",
        "starcoder": "starcoder command-r smollm", "kimi": "kimi-k2",
    }  # fmt: skip
    for name, pattern in ((name, pattern) for pattern, names in known.items() for name in names.split()):
        path = written(tmp_path / "m.gguf", "gpt2", ["a", "b", "Ġ", "ab"], merges=["a b"], pre=name)
        cutter = BPE.load(path)._model.segmenter.pretokenizer
        assert cutter is not None and cutter.name == pattern


#: Steps of the models' own files that are written otherwise in the table.
PUBLISHED = {
    "laguna": [
        {"type": "Split", "pattern": {"Regex": r"(?:\r?\n)+(?!\r?\n)"}, "behavior": "MergedWithNext"}, _STEPS["laguna"][1],
    ],
    "deepseek-llm": [*_STEPS["deepseek-llm"][:3], r"\s+$", *_STEPS["deepseek-llm"][4:]],
}  # fmt: skip


_UNNAMED = [
    name for name, steps in _STEPS.items() if len(steps) > 1 or (steps and steps[0] not in NAMED.values())
]


@pytest.mark.parametrize("name", [None, *_UNNAMED])
def test_patterns_without_a_name_cut_as_by_tokenizers(tmp_path: pathlib.Path, name: str | None) -> None:
    """What llama.cpp has in several patterns, one after the other, as the models were published; first those of "default"."""
    tokenizers = pytest.importorskip("tokenizers")
    names = byte_characters()
    merges = [(names[a], names[b]) for a, b in itertools.product(b"abAZ127 \n\r!,", repeat=2)]
    names += map("".join, merges)
    fields = {} if name is None else {"pre": name}
    tok = BPE.load(written(tmp_path / "m.gguf", "gpt2", names, merges=[*map(" ".join, merges)], **fields))
    steps = [
        {"type": "Split", "pattern": {"Regex": step}, "behavior": "Isolated"}
        if isinstance(step, str)
        else step
        for step in PUBLISHED.get(name or "", _STEPS[name or "default"])
    ]
    steps += (
        [] if name == "falcon" else [{"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}]
    )
    model = {"type": "BPE", "vocab": {name: i for i, name in enumerate(names)}, "merges": merges}
    cutter = {"type": "Sequence", "pretokenizers": Splitter(steps).state()}
    peer = tokenizers.Tokenizer.from_str(
        json.dumps({"version": "1.0", "pre_tokenizer": cutter, "model": model})
    )
    texts = [
        "ab 1234567 ab!!",
        "it's  abab\n\n\tab",
        "中文abかな 한국12",
        " a!!ab, $12+ 3",
        *TEXTS,
        "ü½¼12ü 12aAbZ ZAabA",
    ]
    texts += [
        "12 1234\r\n\r\nab  \n ab\r", "1½2345 ٣٤٥٦", "<sentinel:12> IMGIMGABZ\tab    a", "a      \n         b  ", "ba'S 12'll",
    ]  # fmt: skip
    for text in texts:
        assert tok.encode(text).tolist() == peer.encode(text).ids, text
        assert tok.decode(tok.encode(text)) == text


def test_characters_as_of_gemma(tmp_path: pathlib.Path) -> None:
    """Spaces are marks, and a character that is no token is its bytes."""
    tokenizers = pytest.importorskip("tokenizers")
    file = json.loads(test_matrix.llama())
    file["normalizer"] = file["normalizer"]["normalizers"][1]
    file["decoder"]["decoders"].pop()
    vocab, special = file["model"]["vocab"], {"<unk>": 2, "<s>": 3}
    fields = {"token_type": [special.get(name, 6 if name in BYTE_NAMES else 1) for name in vocab]}
    fields |= {"merges": [*map(" ".join, file["model"]["merges"])]}
    peer = tokenizers.Tokenizer.from_str(json.dumps(file))
    for kind, pre in (("gemma4", {}), ("gpt2", {"pre": "sarvam-moe"})):
        tok = BPE.load(written(tmp_path / "m.gguf", kind, [*vocab], **fields, **pre))
        for text in [*test_matrix.TEXTS, "  low\n\nlow <s>é", *TEXTS]:
            ids = tok.encode(text, allowed_special="all").tolist()
            assert ids == peer.encode(text).ids and tok.decode(ids) == peer.decode(
                ids, skip_special_tokens=False
            )


BERT = ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "un", "##able", "a", "##b", "!", "▁", "##▁", "]", "##]"]


def of_bert(path: pathlib.Path, pieces: list[str], **fields: Any) -> pathlib.Path:
    """A file as llama.cpp's converter writes it: a mark before pieces that begin a word, none before control tokens."""
    types = [3 if piece in ("[PAD]", "[CLS]") else 1 for piece in pieces]
    named = [
        p if t == 3 else p[2:] if p.startswith("##") else f"▁{p}" for p, t in zip(pieces, types, strict=True)
    ]
    return written(path, "bert", named, token_type=types, unknown_token_id=pieces.index("[UNK]"), **fields)


def test_words_of_bert(tmp_path: pathlib.Path) -> None:
    refuses(
        ModelFormatError,
        "expected the path of the file, not its content",
        lambda: load(vocabulary("gpt2", ["a"])),
    )
    tokenizer = WordPiece.load(of_bert(tmp_path / "m.gguf", [*BERT, "ÄB"]))
    assert tokenizer.pieces == {piece: i for i, piece in enumerate([*BERT, "ÄB"])}
    assert tokenizer._prepared.special_tokens == {"[PAD]": 0, "[CLS]": 3, "[UNK]": 2}
    assert tokenizer.encode("[CLS]Unable unable!", allowed_special="all").tolist() == [3, 2, 4, 5, 8]
    again: Any = load(of_bert(tmp_path / "n.gguf", BERT))  # without letters of upper case they are changed
    assert isinstance(again, WordPiece) and again.encode("Unable Áb b").tolist() == [4, 5, 6, 7, 2]
    older = written(tmp_path / "p.gguf", "bert", ["[UNK]", "[unused0]", "▁a", "b"], unknown_token_id=0)
    assert WordPiece.load(older).pieces == {"[UNK]": 0, "[unused0]": 1, "a": 2, "##b": 3}
