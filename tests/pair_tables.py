"""Random pair tables and documents over them, for the tests of encoding and decoding."""

from hypothesis import strategies as st
from reference import decode

Table = tuple[int, list[tuple[int, int]], list[float]]


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Alphabet size, pairs without repetition, parents before children and tokens of at most 64 symbols; weights."""
    size = draw(st.integers(1, 4))
    pairs: list[tuple[int, int]] = []
    lengths = [1] * size
    for _ in range(draw(st.integers(1, 25))):
        a, b = draw(st.tuples(st.integers(0, len(lengths) - 1), st.integers(0, len(lengths) - 1)))
        if (a, b) not in pairs and lengths[a] + lengths[b] <= 64:
            pairs.append((a, b))
            lengths.append(lengths[a] + lengths[b])
    weight = st.sampled_from([0.0, 0.25, 0.5, 1.0, 1.7, 3.0])
    return size, pairs, draw(st.lists(weight, min_size=len(pairs), max_size=len(pairs)))


@st.composite
def documents(draw: st.DrawFn, size: int, length: int) -> list[list[int]]:
    symbol = st.integers(0, size - 1)
    period = st.lists(symbol, min_size=1, max_size=4)
    periodic = st.builds(lambda p, n: (p * n)[:n], period, st.integers(0, length))
    return draw(st.lists(st.one_of(st.lists(symbol, max_size=length), periodic), max_size=4))


def named(table: Table) -> tuple[dict[tuple[int, ...], int], dict[int, float]]:
    """The id of each token's symbols, and the idf of each learned id, as references take them."""
    size, pairs, weights = table
    return {s: i for i, s in enumerate(decode.expand(pairs, size))}, {
        size + i: w for i, w in enumerate(weights)
    }


@st.composite
def in_any_order(draw: st.DrawFn, table: Table) -> list[tuple[int, int]]:
    """The pairs of a table, numbered anew: parents may come after their children."""
    size, pairs, _ = table
    order = draw(st.permutations(range(len(pairs))))
    new = {size + old: size + i for i, old in enumerate(order)}
    return [(new.get(pairs[old][0], pairs[old][0]), new.get(pairs[old][1], pairs[old][1])) for old in order]
