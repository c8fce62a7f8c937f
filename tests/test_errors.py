"""No message is longer than a screen, whatever a file or a user writes: what it quotes is shortened, in one place."""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from foreign import END
from hypothesis import given
from hypothesis import strategies as st
from saved_models import fitted

from ubpe_numba import BPE, UBPE, UBPEClassic, load
from ubpe_numba.errors import listed, quoted, shortened

MOST = 800  # characters of a message, without the path of the file
N = 20_000
HOSTILE: list[Any] = [
    "x" * N, "\x1b[31m" * N, "\U0001f600 " * N, "\ud800\n" * N, "(?P<" + "n" * N, "[" + "a-z" * N, int("9" * 4000), -(10**4000),
    ["y" * N] * 50, [[[["z" * N]]]], {"k" * N: "v" * N}, {"type": "t" * N}, {f"key {i}": 0 for i in range(N)}, 1e300, None,
]  # fmt: skip

# ---------------------------------------------------------------------------------------------------- what is shown


@given(
    st.recursive(
        st.text() | st.binary() | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
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

    assert quoted("a" * 81) == "'" + "a" * 76 + "..."
    assert quoted("a" * 78) == repr("a" * 78)
    assert quoted(b"\0" * N) == "b'" + r"\x00" * 18 + r"\x0..."
    assert quoted(Odd()) == "<Odd>" and quoted(-(10**5000)) == "<int>"
    assert quoted(Long()) == "long" * 19 + "l..."
    assert quoted([[[[[1]]]]]) == "[[[[[...]]]]]" and quoted(np.str_("a")) == "'a'"
    assert shortened(ValueError("e" * 300)) == "e" * 197 + "..."
    assert listed(["a"] * 7) == "'a', 'a', 'a', 'a', 'a', 'a', ..." and len(listed(["a" * N] * N)) < 300


# ---------------------------------------------------------------------------------------------------- files


def replaced(document: Any, top: Any = None, path: tuple[Any, ...] = ()) -> Iterator[Any]:
    """The document with each of its values, and each of its keys, in place of which something hostile stands."""
    top = document if top is None else top
    rows = (
        list(document.items()) if isinstance(document, dict) else list(enumerate(document)) if isinstance(document, list) else []
    )
    for key, value in rows[:8] + rows[-2:]:
        yield from replaced(value, top, (*path, key))
        for i, hostile in enumerate(HOSTILE):
            made = copy.deepcopy(top)
            place = made
            for step in path:
                place = place[step]
            place[key] = hostile
            yield made
            if i == 0 and isinstance(document, dict):
                place[hostile] = place.pop(key) if value is None else value
                yield made


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
    "normalizer": {
        "type": "Sequence",
        "normalizers": [{"type": "NFC"}, {"type": "Replace", "pattern": {"String": "a"}, "content": "b"}],
    },
    "pre_tokenizer": {
        "type": "Sequence",
        "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": "a+"}, "behavior": "Isolated", "invert": False},
            {"type": "Digits", "individual_digits": True},
        ],
    },
    "decoder": {"type": "ByteFallback"},
    "post_processor": {"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A", "type_id": 0}}], "special_tokens": {}},
}


def documents(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Files of JSON of every format."""
    for cls in (BPE, UBPE):
        text_model(cls).save(folder / "m.json")
        yield f"own {cls.__name__}", json.loads((folder / "m.json").read_text())
    fitted(UBPEClassic).truncate(6).save(folder / "m.json")
    yield "own UBPEClassic", json.loads((folder / "m.json").read_text())
    yield "hugging face", json.loads(text_model(BPE).to_huggingface(unk_token=False))
    added = [{"id": 7, "content": "<s>", "special": True, "normalized": False}]
    pairs = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]], "unk_token": None, "dropout": None}
    yield "hugging face steps", {"model": pairs, "added_tokens": added, **STEPS}
    yield "unigram", {"model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["a", -1.0]]}, "added_tokens": added}
    pieces = {"type": "WordPiece", "unk_token": "[UNK]", "vocab": {"[UNK]": 0, "a": 1}, "continuing_subword_prefix": "##"}
    words = {"normalizer": {"type": "BertNormalizer"}, "pre_tokenizer": {"type": "BertPreTokenizer"}}
    yield "words", {"model": {**pieces, "max_input_chars_per_word": 100}, **words, "added_tokens": added}
    vocab = [{"rank": i, "token_bytes": "YQ==" if i == 97 else "AA==", "token_str": "a"} for i in range(3)]
    config = {"pattern": "a+", "num_vocab_tokens": 3, "default_vocab_size": 4, "default_num_special_tokens": 1, "version": "v3"}
    yield "tekken", {"config": config, "vocab": vocab, "special_tokens": [{"rank": 0, "token_str": "<s>", "is_control": True}]}
    yield "dump", json.loads(BPE.from_merges([[0, 1]], alphabet=2).to_published())
    yield "ranks of npm", {"pat_str": "a+", "special_tokens": {"<e>": 9}, "bpe_ranks": "! 0 YQ== Yg==\n! 7 YWI="}


def test_no_message_about_a_file_of_json_is_long(tmp_path: Path) -> None:
    """Whatever stands in the place of a value or of a key, and also if the file is not recognised then."""
    longest, refused = {}, {}
    for name, document in documents(tmp_path):
        for made in replaced(document):
            (tmp_path / "file").write_text(json.dumps(made))
            message = said(load, tmp_path / "file", n_threads=1)
            longest[name] = max(longest.get(name, ""), message.replace(str(tmp_path), ""), key=len)
            refused[name] = refused.get(name, 0) + bool(message)
    assert min(refused.values()) > 30, refused
    assert max(map(len, longest.values())) <= MOST, max(longest.values(), key=len)
