"""Words of other libraries are told what they are called here, and what they are told exists."""

import inspect
import re
from typing import Any

import pytest
from tables import each, refuses

import ubpe_numba
from ubpe_numba import BPE, UBPE, Preprocessing, WordPiece
from ubpe_numba.coding.plan import EncodeOptions
from ubpe_numba.runtime.counterparts import ARGUMENTS, ATTRIBUTES

TOK = BPE.from_merges([[0, 1]], alphabet="ab")


def known() -> set[str]:
    """Names that a hint may begin with: members, arguments, and functions of the library."""
    found = {
        *dir(BPE),
        *dir(UBPE),
        *dir(WordPiece),
        *ubpe_numba.__all__,
        "tok",
        "bounds",
        "ubpe_numba",
        "normalizer",
    }
    for call in (BPE, UBPE, WordPiece, Preprocessing, BPE.fit, BPE.__call__, BPE.encode, ubpe_numba.Scale):
        found |= inspect.signature(call).parameters.keys()
    return found | EncodeOptions.__optional_keys__


def test_attributes_of_other_libraries_name_what_is_here() -> None:
    words, names = known(), {owner: {*dir(owner)} for owner in (TOK, BPE)}
    for name, hint in ATTRIBUTES.items():
        assert re.findall(r"[A-Za-z_]+", hint)[0] in words, hint
        for part in re.findall(r"tok\.(\w+)", hint):
            assert hasattr(TOK, part) or hasattr(UBPE, part)
        for owner in (TOK, BPE):
            assert (name in names[owner]) == hasattr(owner, name) == hasattr(BPE, name)
            if not hasattr(BPE, name):
                refuses(AttributeError, re.escape(f"; here: {hint}"), getattr, owner, name)


def test_arguments_of_other_libraries_name_what_is_here() -> None:
    words = known()
    for name, hint in ARGUMENTS.items():
        given = {name: 1}
        assert re.findall(r"\w+", hint)[0] in words, hint
        calls = [(BPE, ()), (BPE().fit, ([[1]],)), (TOK.encode, ("ab",))]
        for call, args in calls[: 2 if name in EncodeOptions.__optional_keys__ else 3]:
            if name in inspect.signature(call).parameters:
                continue
            with pytest.raises((TypeError, ValueError)) as caught:
                call(*args, **given)  # type: ignore[arg-type]
            assert hint in str(caught.value)


@each(("call", "error", "message"), [
    (lambda: BPE.encode_bath, AttributeError, "did you mean 'encode_batch'"), (lambda: getattr(BPE, ""), AttributeError, "''"),
    (lambda: BPE(n_token=3), TypeError, "did you mean 'n_tokens'"),
    (lambda: BPE().fit([[1]], progres=False), TypeError, "did you mean 'progress'"),
    (lambda: TOK.encode("a", smaple=0.1), TypeError, "did you mean 'sample'"),
    (lambda: TOK.truncate(3, bye="idf"), TypeError, "did you mean 'by'"),
    (lambda: ubpe_numba.Scales, AttributeError, "did you mean 'Scale'"),
    (lambda: TOK._nothing, AttributeError, "'BPE' object has no attribute '_nothing'$"),
])  # fmt: skip
def test_what_is_near_is_named(call: Any, error: type[Exception], message: str) -> None:
    refuses(error, message, call)
