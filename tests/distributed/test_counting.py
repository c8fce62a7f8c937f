"""Counts on a cluster equal those in this process, and fits on them equal fits on the documents, bit for bit."""

import functools
import pickle
from typing import Any

import dask
import dask.array as da
import dask.bag as db
import numpy as np
import pytest
from dask.sizeof import sizeof
from flat_arguments import arguments_of
from tables import refuses

from ubpe_numba import BPE, UBPE, Counts, FitRules, Ragged, UBPEClassic, WordPiece, count_documents
from ubpe_numba.distributed import count, counting, fit
from ubpe_numba.distributed.counting import counted, lines_of
from ubpe_numba.distributed.sources import partitions_of
from ubpe_numba.errors import UnknownSymbolError

WORDS = ["the", "low", "lower", "lowest", "newer", "né", "😀", "x\u0301", "wide\r\n", "", "12", "it's"]
RNG = np.random.default_rng(7)
TEXTS = [" ".join(RNG.choice(WORDS, RNG.integers(0, 9))) for _ in range(60)] + [
    "",
    "",
    "<end>",
    "low<end><end> low",
]


def divided(docs: list[Any], n: int) -> list[list[Any]]:
    """Stretches of the documents, the first of them empty."""
    cuts = np.linspace(0, len(docs), n, dtype=int).tolist()
    return [[], *(docs[a:b] for a, b in zip(cuts, cuts[1:], strict=False))]


@pytest.mark.parametrize("kind", ["int", "str", "bytes"])
def test_counts_of_parts_are_those_of_all_documents(
    client: Any, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "_SPLIT_EVERY", 2)
    docs: list[Any] = [text[:3] for text in TEXTS]
    if kind != "str":
        docs = [list(map(ord, doc)) if kind == "int" else doc.encode() for doc in docs]
    got = count(divided(docs, 6), client=client, progress=False)
    assert got == count_documents(docs)
    want = count_documents(docs)
    often = count(divided(docs, 6), client=client, min_count=2, progress=False)
    stay = np.flatnonzero(want.weights > 1)
    assert 0 < stay.size < len(want) and often.to_lists() == [want.to_lists()[i] for i in stay]
    assert often.weights.tolist() == want.weights[stay].tolist()


def made(kind: Any, size: int, **flat: Any) -> Any:
    """A constructor call to be repeated."""
    return functools.partial(kind, size, **arguments_of(flat))


TEXT_FITS: dict[str, Any] = {
    "for_text": functools.partial(BPE.for_text, 300),
    "gpt2, words, normalizer": functools.partial(
        BPE.for_text,
        300,
        pretokenizer="gpt2",
        special_tokens=["<end>"],
        known_words=["low"],
        normalizer="NFD",
    ),
    "break and stop tokens": made(BPE, 60, break_tokens=" ", stop_tokens="w", pretokenizer="gpt2"),
    "the articles' rules": made(UBPEClassic, 60, pretokenizer="gpt2", rules=FitRules(ties="first_seen")),
    "probabilities": made(UBPE, 60, pretokenizer="gpt2"),
}


@pytest.mark.parametrize("make", TEXT_FITS.values(), ids=TEXT_FITS)
def test_a_fit_on_counts_of_text(client: Any, make: Any) -> None:
    want = make().fit(TEXTS, progress=False)
    counts = count(divided(TEXTS, 11), make(), client=client, progress=False)
    got = make().fit(counts, progress=False)
    assert (
        got.fingerprint == want.fingerprint
        and got._model.alphabet.symbols.tolist() == want._model.alphabet.symbols.tolist()
    )
    assert got.history_.counts.tolist() == want.history_.counts.tolist()
    again = make().fit(count([counts, counts], make(), client=client, progress=False), progress=False)
    assert again._model.vocabulary.n_symbols == 2 * want._model.vocabulary.n_symbols
    assert again._model.vocabulary.n_documents == 2 * want._model.vocabulary.n_documents


def test_collections_of_dask(client: Any) -> None:
    bag = db.from_sequence(TEXTS, npartitions=7)
    assert count(bag, client=client, progress=False) == count_documents(TEXTS)
    parts = [count_documents(part) for part in divided(TEXTS, 4)]
    assert count(parts, client=client, progress=False) == Counts.merge(*parts)
    futures = client.map(count_documents, divided(TEXTS, 4), pure=False)
    assert count(futures, progress=False) == count_documents(TEXTS)  # with the client of the futures
    assert count([], client=client) == count_documents([])
    assert count([[], []], client=client, progress=False) == count_documents([])


def test_the_alphabet_of_integers_depends_on_how_many_there_are(client: Any) -> None:
    docs = [[70_000, 1]] * 20_000
    parts = [docs[:100], docs[100:]]
    found = counted(partitions_of(parts), BPE(80_000), client, progress=False)
    assert found.n_symbols == 40_000 and found.counts == count_documents(docs)
    tok = BPE(70_002, **arguments_of({"known_words": [[1, 70_000]]}))
    assert fit(tok, parts, client, progress=False)._model.alphabet.size == 70_001


def test_errors_name_the_partition(client: Any) -> None:
    count_ = functools.partial(count, client=client, progress=False)
    with pytest.raises(TypeError, match=r"^partition 2: docs: document 1: expected one of .*, got 3"):
        count_([["a"], ["b"], ["c", 3], ["d"], ["e"]])
    with pytest.raises(
        UnknownSymbolError, match=r"^partition 1: document 1, position 2: symbol 'x' is not in the alphabet"
    ):
        count_([["a"], ["b", "bcx"], ["c"]], BPE(10, alphabet="abc"))
    with pytest.raises(
        TypeError,
        match=r"^parts: expected documents of one kind, got str \(partition [12]\) and bytes \(partition 3\)",
    ):
        count_([[], ["a"], ["b"], [b"c"]])
    with pytest.raises(ZeroDivisionError, match=r"^partition 1: integer division or modulo by zero"):
        count_([dask.delayed(["a"]), dask.delayed(lambda: 1 // 0)()])


def test_counts_that_hold_a_document_twice() -> None:
    """Only who makes `Counts` without `count_documents` can do that."""
    twice = Counts(count_documents([[1], [2]]).flat._replace(values=np.array([1, 1])), np.array([2, 3]))
    assert counting.count_part(twice, pickle.dumps((None, None)), "").counts == count_documents([[1]] * 5)


def test_lines_are_what_a_fit_takes() -> None:
    assert lines_of(None) == lines_of(BPE(10)) == lines_of(BPE(10, alphabet="abc")) == "str"
    assert (
        lines_of(BPE.for_text())
        == lines_of(BPE(300, alphabet=256))
        == lines_of(BPE(300, alphabet=b"abc"))
        == "bytes"
    )


@pytest.mark.parametrize("options, error, message", [
    ({"min_count": 0}, ValueError, "min_count: expected at least 1"),
    ({"progress": "yes"}, ValueError, "progress: expected 'auto', True or False"),
    ({"client": 3}, TypeError, "client: expected a distributed.Client"),
    ({"tokenizer": "gpt2"}, TypeError, "tokenizer: expected a BPE, UBPE or UBPEClassic, or None, got str"),
    ({"tokenizer": WordPiece(["a", "[UNK]"])}, TypeError, "tokenizer: expected a BPE"),
    ({"tokenizer": BPE(0)}, ValueError, "n_tokens: expected at least 1"),
])  # fmt: skip
def test_bad_arguments_of_a_count_are_refused(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    refuses(error, message, count, [["a"]], **options)


def test_one_document_is_not_counted() -> None:
    refuses(
        ValueError,
        r"parts: expected several documents, got a 1-D dask\.array",
        lambda: count(da.zeros(10, chunks=3, dtype=np.int64)),
    )


N = 50_000
RAGGED = Ragged(np.arange(N, dtype=np.int32), np.arange(0, N + 1, 10))
COUNTS = count_documents(RAGGED)


@pytest.mark.parametrize(
    "made", [RAGGED, RAGGED[100:], COUNTS, COUNTS.flat, count_documents(["né", "né", "x" * 5000])], ids=str
)
def test_sizes_are_near_those_of_pickles(made: Any) -> None:
    assert len(pickle.dumps(made, 5)) / 1.2 < sizeof(made) < len(pickle.dumps(made, 5)) * 1.2
