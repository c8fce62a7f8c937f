"""Tekken files: ids as mistral_common gives them, which is tiktoken behind the special tokens."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from ubpe_numba import BPE, ModelFormatError

TOKENS = [*(bytes([b]) for b in range(256)), b"ab", b"abc", b" ab", b"zz"]


def file_of(tokens: list[bytes] = TOKENS, size: int = 262, n_special: int = 3, special: Any = None, **fields: Any) -> str:
    """The content of a file."""
    vocab = [{"rank": i, "token_bytes": base64.b64encode(token).decode(), "token_str": None} for i, token in enumerate(tokens)]
    config = {
        "pattern": " ?[a-z]+|[^a-z]", "num_vocab_tokens": len(vocab), "default_vocab_size": size,
        "default_num_special_tokens": n_special, "version": "v3",
    }  # fmt: skip
    return json.dumps({"config": config | fields, "vocab": vocab, "special_tokens": special})


def test_ids_stand_behind_the_special_tokens() -> None:
    tokenizer = BPE.from_tekken(file_of())
    assert tokenizer.special_ids == {"<unk>": 0, "<s>": 1, "</s>": 2}
    assert tokenizer.encode("ab abc").tolist() == [3 + 256, 3 + ord(" "), 3 + 257]
    assert tokenizer.decode(tokenizer.encode("ab abc é")) == "ab abc é"
    assert tokenizer.encode("zz").tolist() == [3 + ord("z")] * 2  # the last token is beyond the size
    assert tokenizer.encode("<s>ab", allowed_special="all").tolist() == [1, 259]


def test_special_tokens_that_a_file_names() -> None:
    special = [{"rank": 0, "token_str": "<a>", "is_control": True}]
    assert BPE.from_tekken(file_of(special=special)).special_ids == {"<a>": 0, "<SPECIAL_1>": 1, "<SPECIAL_2>": 2}


def test_the_special_tokens_that_a_file_of_few_tokens_may_have() -> None:
    most = (1 << 14) + len(TOKENS)
    assert len(BPE.from_tekken(file_of(n_special=most, size=most + 260)).special_ids) == most


@pytest.mark.parametrize(
    "text, message",
    [
        ("{}", "expected the fields config and vocab"),
        ("[]", "expected the fields config and vocab"),
        (file_of(size=264), "260 tokens, but 264 ids of which 3 are special"),
        (file_of(n_special=-1), "260 tokens, but 262 ids of which -1 are special"),
        (file_of(n_special=2**40, size=2**40 + 1), "of which 1099511627776 are special"),
        (file_of([b"a"], n_special=2**22 - 1, size=2**22), "config: 4194303 special tokens are too many beside 1 others"),
        (file_of(n_special=2**14 + 261, size=2**14 + 262), "16645 special tokens are too many beside 260 others"),
        (file_of(pattern=""), "expected a regular expression"),
        (file_of(pattern=7), "expected a regular expression"),
        (file_of(special=[{"rank": 1, "token_str": "a"}]), "special_tokens[0]: expected an object with the rank 0"),
        (file_of(special=[{"rank": i, "token_str": "a"} for i in range(2)]), "one is there twice"),
        (file_of([*TOKENS[:5], b"", *TOKENS[6:]]), "vocab[5]: the token b'' is empty"),
        (file_of().replace("AA==", "?"), "vocab[0]: token_bytes: expected base64"),
        (file_of().replace('"rank": 7,', '"rank": -7,'), "vocab[7]: expected an object with a rank"),
        (file_of().replace('"rank": 7,', '"rank": 8,'), "have the same rank 11"),
    ],
)
def test_what_is_not_valid_is_refused(text: str, message: str) -> None:
    with pytest.raises(ModelFormatError) as error:
        BPE.from_tekken(text.encode())
    assert message in str(error.value)
