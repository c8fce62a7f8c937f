"""Units of symbols for the tests of lattices: random, periodic, of long runs, of pieces that come back; and their weights."""

import random

import numpy as np
from hypothesis import strategies as st

WEIGHTS = [0, 1, 1, 2, 3, 4095, 4096, 2**31 - 1, 2**32, 2**40]


@st.composite
def units(draw: st.DrawFn, sizes: st.SearchStrategy[int], length: int, most: int = 5) -> list[list[int]]:
    """Up to `most` units of at most `length` symbols, of an alphabet of one of the sizes."""
    symbol = st.integers(0, draw(sizes) - 1)
    pieces = draw(st.lists(st.lists(symbol, min_size=1, max_size=5), min_size=1, max_size=3))
    anything = st.lists(symbol, max_size=length)
    periodic = st.builds(lambda piece, n: piece * n, st.sampled_from(pieces), st.integers(0, length))
    runs = st.lists(st.builds(lambda s, n: [s] * n, symbol, st.integers(1, length)), max_size=3).map(joined)
    again = st.lists(st.sampled_from(pieces), max_size=length).map(joined)
    unit = st.one_of(anything, periodic, runs, again).map(lambda found: found[:length])
    return draw(st.lists(unit, max_size=most))


def joined(pieces: list[list[int]]) -> list[int]:
    return [s for piece in pieces for s in piece]


def weights_of(n: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.sampled_from(WEIGHTS), min_size=n, max_size=n)


def large(size: int, n: int, n_units: int, seed: int) -> list[list[int]]:
    """`n_units` units of some `n` symbols in all: pieces of a stock, runs, periods, symbols at random; a few are empty."""
    rng = random.Random(seed)
    stock = [[rng.randrange(size) for _ in range(rng.randint(2, 9))] for _ in range(12)]
    out: list[list[int]] = []
    for u in range(n_units):
        unit: list[int] = []
        length = 0 if u % 7 == 3 else n if n_units == 1 else rng.randint(1, 2 * n // n_units)
        while len(unit) < length:
            kind = rng.random()
            if kind < 0.6:
                unit += rng.choice(stock)
            elif kind < 0.7:
                unit += [rng.choice([0, size - 1])] * rng.randint(1, 40)
            elif kind < 0.8:
                unit += rng.choice(stock)[:3] * rng.randint(1, 10)
            else:
                unit += [rng.randrange(size) for _ in range(rng.randint(1, 12))]
        out.append(unit[:length])
    return out


def flat(units: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """int32[n] symbols and int64[d + 1] offsets."""
    return np.array(joined(units), np.int32), np.cumsum([0, *map(len, units)], dtype=np.int64)
