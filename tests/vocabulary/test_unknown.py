"""The argument `unknown`: what it may be, what is refused, and its form in model files."""

import json
from typing import Any

import numpy as np
import pytest
from tables import each, refuses

from ubpe_numba import BPE
from ubpe_numba.errors import ModelFormatError
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.reserved import Reserved
from ubpe_numba.vocabulary.unknown import Unknown, argument_from_state, argument_state, choice_of

TEXT, BYTES, NUMBERS = (
    Alphabet.from_user("ACGTN"),
    Alphabet.from_user(b"ACGTN"),
    Alphabet.from_user([7, -1, 3]),
)
SPECIAL = {
    "str": Reserved.from_user(["<s>", "[UNK]", "?"], ["ACG"], "str", 10),
    "bytes": Reserved.from_user(["<s>", b"\xff\xfe"], None, "bytes", 10),
    "int": Reserved.from_user([[0, 0]], None, "int", 10),
}


@each("unknown, alphabet, choice", [
    ("raise", TEXT, "raise"), ("skip", NUMBERS, "skip"), (78, BYTES, 4), (np.int64(3), NUMBERS, 2),
    ("nearest", NUMBERS, "nearest"), ("N", TEXT, 4), ("N", BYTES, 4), (b"N", BYTES, 4), (bytearray(b"A"), BYTES, 0),
    ("[UNK]", TEXT, (1, "[UNK]")), ("?", TEXT, (2, "?")),  # no symbol of the alphabet
    ("<s>", BYTES, (0, "<s>")), (b"\xff\xfe", BYTES, (1, b"\xff\xfe")), ((0, 0), NUMBERS, (0, (0, 0))),
    ((np.int64(0), np.int8(0)), NUMBERS, (0, (0, 0))),
])  # fmt: skip
def test_what_it_may_be(unknown: Any, alphabet: Alphabet, choice: Any) -> None:
    assert choice_of(unknown, alphabet, SPECIAL[alphabet.kind]) == choice
    if not isinstance(unknown, bytearray):
        again = argument_from_state(json.loads(json.dumps(argument_state(unknown))), alphabet)
        assert again == unknown and choice_of(again, alphabet, SPECIAL[alphabet.kind]) == choice


def test_an_option_that_is_a_symbol_too_is_named() -> None:
    words = BPE(4).fit([["skip", "a", "skip", "a"]], progress=False)
    with pytest.warns(UserWarning, match="unknown: 'skip' leaves .* out. The alphabet's symbol 'skip'"):
        assert words.encode(["b"], unknown="skip").size == 0


@each("unknown, alphabet, error, message", [
    (5, TEXT, ValueError, "a character of the alphabet .* got 5, which is not in"),
    (b"N", TEXT, TypeError, "got bytes"), ([0, 0], NUMBERS, TypeError, "got"),
    ("X", TEXT, ValueError, "got 'X', which is neither in the alphabet nor a special token"),
    ("é", BYTES, ValueError, "got 'é', which is not a special token"),
    ("ACG", TEXT, ValueError, "got 'ACG', which is not a special token"),  # a known word
    (([0, 0],), NUMBERS, TypeError, "got tuple"),
])  # fmt: skip
def test_what_is_refused(unknown: Any, alphabet: Alphabet, error: type[Exception], message: str) -> None:
    refuses(error, f"unknown: .*{message}", choice_of, unknown, alphabet, SPECIAL[alphabet.kind])


@each("state", [None, True, 1.5, {"bytes": [256]}, {"bytes": "a"}, {"words": [1]}, [1.0], [[1]], {}])
def test_files_that_say_something_else(state: Any) -> None:
    refuses(ModelFormatError, "unknown: expected a word", argument_from_state, state, NUMBERS)


@each("rule", [Unknown(np.arange(3, 259, dtype=np.int32)), Unknown(None, 0), Unknown(None, 7, True)])
def test_a_rule_is_kept_as_json(rule: Unknown) -> None:
    again = Unknown.from_state(json.loads(json.dumps(rule.state())), 259)
    assert again[1:] == rule[1:] and np.array_equal(again.byte_ids, rule.byte_ids)  # type: ignore[arg-type]
