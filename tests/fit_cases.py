"""Random and large corpora, weights and boundaries, for the tests of fitting; the merges of a fitted tokenizer."""

from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from reference import fit as reference

from ubpe_numba import BPE, UBPE, UBPEClassic

TIES = ["smallest", "first_seen", "fewest_documents"]
#: Constants of fitting/memory.py without an allowance for tables, so that small corpora reach a limit too.
NO_TABLES = {"_TABLES": 0, "_TOKEN": 0, "_COUNTED": 0, "_MANY": (0, 128), "_FEW": (0, 1024)}


@st.composite
def corpora(draw: st.DrawFn) -> tuple[list[list[int]], int]:
    """Documents of one nature (random, periodic, one symbol, many empty, large alphabet), and the alphabet size."""
    size = draw(st.sampled_from([1, 2, 3, 7, 50, 1500]))
    symbol = st.integers(0, size - 1)
    random_document = st.lists(symbol, max_size=60)
    period = st.lists(symbol, min_size=1, max_size=4)
    periodic = st.builds(lambda p, n: (p * n)[:n], period, st.integers(0, 80))
    single = st.builds(lambda s, n: [s] * n, symbol, st.integers(0, 70))
    nature = draw(
        st.sampled_from([random_document, periodic, single, st.one_of(st.just([]), random_document)])
    )
    return draw(st.lists(nature, max_size=8)), size


def merges(tokenizer: UBPE | UBPEClassic | BPE) -> list[tuple[int, int, int, int]]:
    v = tokenizer._model.vocabulary
    assert v.merges is not None
    n = v.n_alphabet
    return [
        (int(a), int(b), int(c), int(d))
        for (a, b), c, d in zip(v.merges, v.counts[n:], v.document_frequencies[n:], strict=True)
    ]


CLASSES: list[Any] = [BPE, UBPEClassic, UBPE]


def make(cls: Any, n_tokens: int | None, n_candidates: int, **params: Any) -> Any:
    """A tokenizer of any class; a `UBPE` with an objective that does not warn where all weights are equal."""
    if cls is BPE:
        return BPE(n_tokens, **params)
    return cls(n_tokens, n_candidates, **params, **({"objective": "shortest"} if cls is UBPE else {}))


LENGTHS = st.sampled_from([None, None, 1, 2, 3, 4, 7, 20])


@st.composite
def marked(draw: st.DrawFn) -> tuple[list[list[int]], int, dict[str, Any]]:
    """Documents, the size of the alphabet, and what may go with them: weights, boundaries, both or neither."""
    docs, size = draw(corpora())
    cuts = st.tuples(*(st.lists(st.integers(0, len(doc)), max_size=6) for doc in docs)).map(list)
    weights = st.tuples(*(st.sampled_from([0, 1, 2, 5, 2**40]) for _ in docs)).map(list)
    return docs, size, {"weights": draw(st.none() | weights), "boundaries": draw(cuts | st.none())}


def in_package(marks: dict[str, Any]) -> dict[str, Any]:
    """The same arguments by the names of `fit`."""
    return {"sample_weight": marks["weights"], "boundaries": marks["boundaries"], "progress": False}


def large_corpus(nature: str, with_weights: bool) -> tuple[list[list[int]], int, dict[str, Any]]:
    """Forty documents, 3000 symbols in all, the size of the alphabet, and weights and boundaries if wanted."""
    rng = np.random.default_rng(12)
    n = 3000
    values = {
        "zipf": np.minimum(rng.zipf(1.3, n), 200),
        "dna": rng.integers(0, 4, n),
        "walk": np.cumsum(rng.integers(-1, 2, n)) % 64,
        "periodic": np.tile([0, 0, 1, 0, 2, 1, 1], n // 7 + 1)[:n],
        "large alphabet": np.minimum(rng.zipf(1.2, n), 1500),
    }[nature]
    docs = [part.tolist() for part in np.split(values, np.sort(rng.integers(0, n + 1, 39)))]
    weights = rng.choice([0, 1, 2, 9, 2**33], len(docs)).tolist() if with_weights else None
    cuts = [rng.integers(0, len(doc) + 1, len(doc) // 12).tolist() for doc in docs] if with_weights else None
    return docs, int(values.max()) + 1, {"weights": weights, "boundaries": cuts}


def rows(tok: Any) -> list[list[int]]:
    """The three columns of the history as lists; their types are checked."""
    history = tok.history_
    assert isinstance(history, tuple) and history._fields[:3] == ("counts", "document_frequencies", "lengths")
    assert all(column.dtype == np.int64 and column.ndim == 1 for column in history[:3])
    return [column.tolist() for column in history[:3]]


def check_history(
    tok: Any, docs: list[list[int]], size: int, want: list[reference.Merge], marks: dict[str, Any],
    frame: int | None = None,
) -> None:  # fmt: skip
    """Counts and lengths after each merge, and the curve: sizes and symbols per token, of the alphabet alone at first."""
    lengths = reference.corpus_lengths(docs, [merge[:2] for merge in want], size, **marks, frame=frame)
    assert rows(tok) == [[merge.count for merge in want], [merge.documents for merge in want], lengths]
    sizes, rates = tok.history_.compression(tok._model.vocabulary.n_alphabet)
    assert sizes.dtype == np.int64 and rates.dtype == np.float64
    assert sizes.tolist() == list(range(size, size + len(lengths) + 1))
    n_symbols = tok._model.vocabulary.n_symbols
    assert rates.tolist() == pytest.approx([1.0, *(n_symbols / length for length in lengths)], rel=1e-14)
    assert np.all(np.diff(rates) > 0)
