"""No message is longer than a screen, whatever a file or a user writes: what it quotes is shortened, in one place."""

import base64
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from foreign import END
from gguf_files import vocabulary
from hypothesis import given, settings, strategies as st
from saved_models import fitted
from sentencepiece_models import A_AND_B, SPECIAL, model
from tables import each

from ubpe_numba import BPE, UBPE, FitRules, Ragged, UBPEClassic, export, load
from ubpe_numba.errors import listed, quoted, shortened
from ubpe_numba.runtime.files import npz_of

MOST = 1000  # characters of a message, without the path of the file
N = 2_000
HOSTILE: list[Any] = [
    "\x1b[31m\n" * N, "(?P<" + "n" * N,
    int("9" * 4000), -(10**4000), ["y" * N] * 50, {"k" * N: "v" * N}, {"type": "t" * N}, 1e300,
]  # fmt: skip
VALUES = st.recursive(
    st.text() | st.binary() | st.integers() | st.none(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@settings(max_examples=25)
@given(VALUES)
def test_short_values_are_shown_as_they_are(value: Any) -> None:
    whole = repr(value)
    shown = quoted(value)
    assert len(shown) <= 80
    assert quoted(value, 40) == shown or len(shown) > 40
    if isinstance(value, (str, bytes, int)) and len(whole) <= 80:
        assert shown == whole


def test_what_is_long_is_cut() -> None:
    class Odd:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    class Long:
        def __repr__(self) -> str:
            return "long" * N

    assert quoted("a" * 81) == "'" + "a" * 76 + "..." and quoted("a" * 78) == repr("a" * 78)
    assert quoted(b"\0" * N) == "b'" + r"\x00" * 18 + r"\x0..."
    assert "Odd" in quoted(Odd()) and len(quoted(Odd())) <= 80 and quoted(-(10**5000)) == "<int>"
    assert (
        quoted(Long()) == "long" * 19 + "l..."
        and quoted([[[[[1]]]]]) == "[[[[[...]]]]]"
        and quoted(np.str_("a")) == "'a'"
    )
    assert shortened(ValueError("e" * 300)) == "e" * 197 + "..."
    assert listed(["a"] * 7) == "'a', 'a', 'a', 'a', 'a', 'a', ..." and len(listed(["a" * N] * N)) < 300


def replaced(document: Any) -> Iterator[Any]:
    """The document with each of its values, and each of its keys, replaced by something hostile."""
    rows = (
        [*document.items()]
        if isinstance(document, dict)
        else [*enumerate(document)]
        if isinstance(document, list)
        else []
    )
    for key, value in rows[:9]:
        for other in (*replaced(value), *HOSTILE[::3]):
            yield (
                [*document[:key], other, *document[key + 1 :]]
                if isinstance(document, list)
                else {**document, key: other}
            )
        if isinstance(document, dict):
            yield {HOSTILE[0] if name == key else name: part for name, part in document.items()}


def said(call: Any, *args: Any, **kwargs: Any) -> str:
    """What an error and all warnings of a call say."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call(*args, **kwargs)
        except (TypeError, ValueError, OSError, MemoryError, IndexError, KeyError) as error:
            return max([str(error), *(str(warning.message) for warning in caught)], key=len)
        return max((str(warning.message) for warning in caught), key=len, default="")


def text_model(cls: Any) -> Any:
    special = {"pretokenizer": "gpt2", "special_tokens": [END], "known_words": ["low"]}
    return cls.for_text(270, **special).fit(["low lower lowest", "newest"] * 4, progress=False)


STEPS = {
    "normalizer": {"type": "Replace", "pattern": {"String": "a"}, "content": "b"},
    "pre_tokenizer": {
        "type": "Sequence",
        "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": "a+"}, "behavior": "Isolated", "invert": False},
            {"type": "Digits", "individual_digits": True},
        ],
    },
    "decoder": {"type": "ByteFallback"},
    "post_processor": {
        "type": "TemplateProcessing",
        "single": [{"Sequence": {"id": "A", "type_id": 0}}],
        "special_tokens": {},
    },
}


def documents(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Files of JSON of every format."""
    for cls in (BPE, UBPE):
        text_model(cls).save(folder / "m.json")
        yield f"own {cls.__name__}", json.loads((folder / "m.json").read_text())
    fitted(UBPEClassic).truncate(6).save(folder / "m.json")
    yield "own UBPEClassic", json.loads((folder / "m.json").read_text())
    yield "hugging face", json.loads(export(text_model(BPE), "tokenizer.json", unk_token=False))
    added = [{"id": 7, "content": "<s>", "special": True, "normalized": False}]
    pairs = {
        "type": "BPE",
        "vocab": {"a": 0, "b": 1, "ab": 2},
        "merges": [["a", "b"]],
        "unk_token": None,
        "dropout": None,
    }
    yield "hugging face steps", {"model": pairs, "added_tokens": added, **STEPS}
    yield (
        "unigram",
        {
            "model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["a", -1.0]]},
            "added_tokens": added,
        },
    )
    pieces = {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "vocab": {"[UNK]": 0, "a": 1},
        "continuing_subword_prefix": "##",
    }
    words = {"normalizer": {"type": "BertNormalizer"}, "pre_tokenizer": {"type": "BertPreTokenizer"}}
    yield "words", {"model": {**pieces, "max_input_chars_per_word": 100}, **words, "added_tokens": added}
    vocab = [{"rank": i, "token_bytes": "YQ==" if i == 97 else "AA==", "token_str": "a"} for i in range(3)]
    config = {
        "pattern": "a+",
        "num_vocab_tokens": 3,
        "default_vocab_size": 4,
        "default_num_special_tokens": 1,
        "version": "v3",
    }
    yield (
        "tekken",
        {
            "config": config,
            "vocab": vocab,
            "special_tokens": [{"rank": 0, "token_str": "<s>", "is_control": True}],
        },
    )
    yield "dump", json.loads(export(BPE.from_merges([[0, 1]], alphabet=2), "ubpe"))


def test_no_message_about_a_file_of_json_is_long(tmp_path: Path) -> None:
    """Whatever replaces a value or a key, and also if the file is not recognised then."""
    longest, refused = {}, {}
    for name, document in documents(tmp_path):
        for made in replaced(document):
            (tmp_path / "file").write_text(json.dumps(made))
            message = said(load, tmp_path / "file", n_threads=1)
            longest[name] = max(longest.get(name, ""), message.replace(str(tmp_path), ""), key=len)
            refused[name] = refused.get(name, 0) + bool(message)
    assert min(refused.values()) >= 15, refused
    assert max(map(len, longest.values())) <= MOST, max(longest.values(), key=len)


def test_no_message_about_another_file_is_long(tmp_path: Path) -> None:
    """Ranks, merges, vocabularies of words, files of gguf, models of sentencepiece, arrays."""
    long, bare = "\x1b" * N, "n" * N
    vocab, merges = '{"a": 0, "b": 1, "ab": 2}', "#version: 0.2\na b\n"
    files: list[tuple[str, bytes]] = [
        ("x", f"YQ== 0\nYg== 1\n{bare}= 2\n".encode()), ("x", f"YQ== 0\nYg== 1\nYWI= {'9' * N}\n".encode()),
        ("x", b"YQ== 0\n" + base64.b64encode(b"a" * N) + b" 1\n"), ("x", f"YQ== 0\nYQ== 1\n{bare}".encode()),
        ("x", (base64.b64encode(b"a" * N) + b" 1\n") * 2),
        ("merges.txt", f"#version: 0.2\n{bare}\n".encode()), ("merges.txt", f"#version: 0.2\n{long} b\n".encode()),
        ("merges.txt", f"#version: 0.2\na {long}\n".encode()), ("merges.txt", f"#version: 0.2\n{'a ' * N}\n".encode()),
        ("x", b"[UNK]\n" + b"\xff" * N),
        ("x", vocabulary(bare, ["a"])), ("x", vocabulary("gpt2", ["a", bare, bare], merges=[bare])),
        ("x", vocabulary("gpt2", ["a", "b"], merges=["a b"], pre=bare)),
        ("x", vocabulary("llama", [bare, bare], scores=[0.0, 0.0])),
        ("x", model([*SPECIAL, (bare, -1.0, 1), (bare, -2.0, 1)])), ("x", model([*SPECIAL, *A_AND_B, (bare, -9.0, 1)], kind=2)),
        ("x.npz", npz_of({bare: np.zeros(3)})), ("x.npz", npz_of({"head": np.zeros(2, [(bare, "i4")])})),
        ("x.npz", npz_of({"head": np.frombuffer(long.encode(), np.uint8)})), ("x", long.encode()), ("x", bare.encode()),
    ]  # fmt: skip
    (tmp_path / "vocab.json").write_text(vocab)
    messages = []
    for name, data in files:
        (tmp_path / "merges.txt").write_text(merges)
        (tmp_path / name).write_bytes(data)
        messages.append(
            said(load, tmp_path / name, n_threads=1, **({"pretokenizer": None} if data[:2] == b"YQ" else {}))
        )
    assert [i for i, message in enumerate(messages) if not message] == []
    assert max(map(len, messages)) <= MOST + len(str(tmp_path)), max(messages, key=len)


@each("hostile", [*HOSTILE[:5], b"\xff" * N, [10**N], ("z" * N,)])
def test_no_message_about_an_argument_is_long(hostile: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    tok, text = fitted(BPE), text_model(BPE)
    names = [name for name in BPE(3).get_params() if name != "rules"]
    messages = [
        said(lambda name=name: BPE(**{"n_tokens": 300, name: hostile}).fit([[0, 1, 0, 1]])) for name in names
    ]
    messages += [
        said(lambda name=name: BPE.for_text(**{"n_tokens": 300, name: hostile}).fit(["abab"]))
        for name in names[2:]
    ]
    messages += [
        said(lambda name=name: FitRules(**{name: hostile}))
        for name in ("ties", "trim", "min_count", "encode")
    ]
    messages += [
        said(tok.encode, hostile), said(tok.encode, [hostile]), said(tok.decode, hostile), said(tok.decode, [hostile]),
        said(tok.fit, hostile), said(tok.fit, [[0, 1]], memory_limit=hostile), said(tok.fit, [[0, 1]], progress=hostile),
        said(tok.fit, [[0, 1]], sample_weight=hostile), said(tok.truncate, hostile),
        said(text.encode, "a", allowed_special=hostile),
        said(text.encode, "a", allowed_special={hostile} if isinstance(hostile, (str, int, bytes)) else {("z" * N,)}),
        said(load, "x", tokenizer=hostile), said(load, "x", kind=hostile), said(Ragged.from_lists, [[hostile]]),
        said(export, text, "tokenizer.json", unk_token=hostile), said(export, text, "tokenizer.json", template=hostile),
        said(BPE.load, hostile),
        said(tok.set_params, n_threads=hostile, unknown=hostile), said(tok.encode, [0, 1]),
        said(tok.encode_batch, [[0]], hostile),
    ]  # fmt: skip
    special = BPE.for_text(260, special_tokens=["<" + "s" * N]).fit(["abab"], progress=False)
    assert "'<ssss" in (told := said(special.encode, "a<" + "s" * N)) and len(told) < 400
    monkeypatch.setenv("UBPE_NUM_THREADS", "9" * N)
    messages.append(said(lambda: BPE(3).fit([[0, 1]])))
    assert sum(map(bool, messages)) > 20
    # of a file that is not there the whole name is told
    too_long = [message for message in messages if len(message) > MOST and "[Errno" not in message]
    assert not too_long, too_long[0][:1000]
