"""Instructions on vectors give what plain loops give."""

import numpy as np
from hypothesis import given, strategies as st

from ubpe_numba.runtime.compiler import kernel
from ubpe_numba.runtime.machine.intrinsics import address, fill_16, put_in_16, value_of_8, value_of_8_words

SMALL = st.integers(0, 2**27 - 1)


@kernel
def _run(row, filled, words, entries, puts, key, out):  # type: ignore[no-untyped-def]
    fill_16(address(filled), key)
    out[0] = put_in_16(address(row), puts[0], puts[1], puts[2], puts[3], puts[4], puts[5])
    out[1], out[2] = (
        value_of_8_words(address(words), key),
        np.int64(value_of_8(address(entries), np.uint64(key))),
    )


@given(
    st.lists(SMALL, min_size=16, max_size=16),
    st.lists(st.tuples(st.integers(-2, 17), SMALL), min_size=3, max_size=3),
    st.lists(st.integers(1, 2**31 - 1), min_size=9, max_size=9, unique=True),
    st.integers(0, 8),
)
def test_vectors_are_as_loops(
    row: list[int], puts: list[tuple[int, int]], keys: list[int], chosen: int
) -> None:
    given, filled, out, values = (
        np.array(row, np.int32),
        np.empty(16, np.int32),
        np.zeros(3, np.int64),
        range(1, 9),
    )
    entries = np.array([key << 22 | value for key, value in zip(keys, values, strict=False)], np.uint64)
    _run(given, filled, np.array([*keys[:8], *values]), entries, np.array(puts).ravel(), keys[chosen], out)
    for at, value in puts:
        row = [value if i == at else old for i, old in enumerate(row)]
    assert given.tolist() == row and filled.tolist() == [keys[chosen]] * 16
    assert out.tolist() == [
        min(v << 4 | i for i, v in enumerate(row)),
        *((-1, 0) if chosen == 8 else (chosen + 1,) * 2),
    ]
