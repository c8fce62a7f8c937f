"""Text rewritten as arrays: every stretch as if it stood alone."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubpe_numba.documents.read import code_points
from ubpe_numba.runtime.arrays import offsets_of
from ubpe_numba.text import rewrite
from ubpe_numba.text.normalizer import Normalizer


@pytest.mark.parametrize(
    ("found", "content"), [(" ", "▁"), (" ", ""), (" ", "__"), ("é", "e"), ("▁", " "), ("a", "a"), ("ab", "c")]
)
@given(st.lists(st.one_of(st.text(" aé▁b😀").map(str.encode), st.binary()), max_size=6))
def test_one_character_replaced(found: str, content: str, stretches: list[bytes]) -> None:
    """Of ill-formed UTF-8, too; the empty stretch stays; read-only arrays."""
    normalizer = Normalizer({"type": "Replace", "pattern": {"String": found}, "content": content})
    values = np.frombuffer(b"".join(stretches), np.uint8)
    cuts = offsets_of(np.array(list(map(len, stretches)), np.int64))
    expected = [
        normalizer.apply(part.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape") for part in stretches
    ]
    done = rewrite.normalized(normalizer, values, cuts, False)
    assert [done.values[a:b].tobytes() for a, b in pairwise(done.cuts.tolist())] == expected
    assert done.values.dtype == np.uint8 and np.array_equal(done.segments, done.cuts)
    texts = [part.decode("utf-8", "replace") for part in stretches]
    points = code_points("".join(texts))
    cuts = offsets_of(np.array(list(map(len, texts)), np.int64))
    done = rewrite.normalized(normalizer, points, cuts, False)
    assert done.values.dtype == np.uint32
    new = [done.values[a:b].tobytes().decode("utf-32-le") for a, b in pairwise(done.cuts.tolist())]
    assert new == list(map(normalizer.apply, texts))
