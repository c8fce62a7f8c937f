"""Loaders keep their promises on the seeds of the fuzzer and on mutations of them."""

from __future__ import annotations

import random

import pytest
from fuzz.fuzz_loaders import one_input
from fuzz.seeds import seeds

# of fields that are not known, words whose ids are others here
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def mutated(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """Some random changes, as a fuzzer makes them."""
    out = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8])):
        at = rng.randrange(1, len(out) + 1)
        how = rng.randrange(5)
        if how == 0 and at < len(out):
            out[at] ^= 1 << rng.randrange(8)
        elif how == 1:
            del out[at : at + rng.randrange(1, 9)]
        elif how == 2:
            out[at:at] = rng.choice([b"0", b"-", b"9" * 20, b"[", b"]", b"\xff" * 4, b"null", b'"', b"1e400"])
        elif how == 3:
            out[at : at + 4] = rng.randrange(2**32).to_bytes(4, "little")
        elif len(other) > 1:
            begin = rng.randrange(1, len(other))
            out[at : at + 16] = other[begin : begin + 16]
    return bytes(out)


def test_seeds_of_the_fuzzer_and_mutations_of_them() -> None:
    """Valid seeds load, and nothing that the harness of the fuzzer looks at goes wrong."""
    corpus, rng = seeds(), random.Random(20240229)
    names = [name for name in sorted(corpus) if len(corpus[name]) < 50_000 and "both sizes" not in name]
    valid = [name for name in names if name.count(" ") == 2 and name.split()[1] in ("dense", "text", "bytes")]
    assert len(valid) >= 3 * 3 * 4
    assert [name for name in corpus if not one_input(corpus[name]) and name in valid] == []
    for i in range(100):
        name, other = rng.choice(valid if i % 2 else names), rng.choice(names)
        one_input(mutated(corpus[name], corpus[other], rng))
