"""Comparisons: n-grams equal their reference and are probabilities, raw symbols are a row, bits are those of symbols."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from reference.ngrams import bits
from tables import refuses

from ubpe_numba import BPE, UBPE, Preprocessing, Ragged, WordPiece, compare
from ubpe_numba.errors import NotFittedError
from ubpe_numba.signals import SignalTokenizer
from ubpe_numba.views.comparison import ORDERS, Comparison, ngram_bits

STREAMS = st.lists(st.integers(0, 3), min_size=1, max_size=60)


@given(STREAMS, STREAMS, st.integers(4, 6))
def test_bits_are_those_of_the_reference(train: list[int], held: list[int], n_ids: int) -> None:
    result = ngram_bits(np.array(train, np.int32), np.array(held, np.int32), n_ids, 4)
    assert result == pytest.approx(np.array([bits(train, held, n_ids, k) for k in (1, 2, 3, 4)]), abs=1e-9)


@given(STREAMS, STREAMS)
def test_probabilities_of_all_ids_add_up_to_one(train: list[int], context: list[int]) -> None:
    """After contexts that were seen, and after those that were not: 4 is in no stream that is learned from."""
    for history in (context, [*context, 4], train):
        streams = [np.array([*history, symbol], np.int32) for symbol in range(5)]
        last = [ngram_bits(np.array(train, np.int32), held, 5, ORDERS)[:, -1] for held in streams]
        assert (2 ** -np.array(last)).sum(axis=0) == pytest.approx(np.ones(ORDERS), abs=1e-9)


def test_orders_of_a_periodic_stream_cost_less_the_more_of_the_period_they_hold() -> None:
    stream = np.tile([0, 0, 0, 1], 500).astype(np.int32)
    means = ngram_bits(stream, stream[:41], 2, 5).mean(axis=1)
    assert means[0] == pytest.approx(-0.75 * np.log2(0.75) - 0.25 * np.log2(0.25), abs=0.01)
    assert means[1] > 0.5 and means[3] < 0.05


DOCS = ["the cat sat on the mat", "the hat is on the cat", "a cat sat on a hat"] * 4
HELD = ["the cat is on a mat", "a hat"]


def test_a_row_is_what_the_ids_alone_give() -> None:
    tok = BPE(24).fit(DOCS)
    table = compare(DOCS, {"24": tok, "short": UBPE(24, objective="shortest").fit(DOCS)}, held_out=HELD)
    assert table.names == ["raw", "24", "short"]
    n = sum(map(len, HELD))
    assert table.tokens_per_1000[:2] == pytest.approx([1000, 1000 * tok.encode_batch(HELD).total / n])
    end = tok.vocab_size
    streams = [
        [end, *(i for ids in tok.encode_batch(docs).to_lists() for i in (*ids, end))] for docs in (DOCS, HELD)
    ]
    plain = [np.array(bits(*streams, end + 1, k)) for k in range(1, ORDERS + 1)]
    assert [table.unigram[1], table.order_3[1]] == pytest.approx([plain[0].sum() / n, plain[2].sum() / n])
    half = -(-plain[0].size // 2)
    first, second = (
        [part.sum() for part in parts] for parts in zip(*((p[:half], p[half:]) for p in plain), strict=True)
    )
    chosen = first[int(np.argmin(second))] + second[int(np.argmin(first))]
    assert table.best[1] == pytest.approx(chosen / n)
    assert table.order[1] == 1 + np.argmin(np.add(first, second))
    assert table.unused[1] == pytest.approx(tok.usage(DOCS).unused.size / 24)


def test_the_raw_row_is_a_tokenizer_without_merges() -> None:
    identity = BPE.from_merges(np.zeros((0, 2), np.int64), alphabet=sorted({*"".join(DOCS + HELD)}))
    table = compare(DOCS, {"none": identity}, held_out=HELD)
    for column in (table.tokens_per_1000, table.unigram, table.order_3, table.best, table.unused):
        assert column[0] == column[1]


def test_n_grams_learn_from_the_first_documents_that_have_the_symbols() -> None:
    tok = BPE(24).fit(DOCS)
    lengths = np.cumsum([len(doc) for doc in DOCS])
    tables = [
        compare(DOCS, {"a": tok}, held_out=HELD, symbols=int(lengths[4]) + more) for more in (0, 1, 10**9)
    ]
    parts = [compare(DOCS[:n], {"a": tok}, held_out=HELD) for n in (5, 6, len(DOCS))]
    assert list(map(repr, tables)) == list(map(repr, parts))
    assert len(set(map(repr, tables))) == 3


WORDS = [["go", "on", "go", "up"], ["go", "on", "up"]] * 3


@pytest.mark.parametrize(
    "tok, docs, held, n_symbols",
    [
        (BPE.for_text(260, pretokenizer="gpt2"), ["né né", "né"], ["né"], 3),
        (BPE(8), ["né né", "né"], ["né"], 2),
        (BPE(5), WORDS, [["up", "go", "on"]], 3),
        (BPE(6), np.arange(40).reshape(10, 4) % 4, np.arange(8) % 4, 8),
        (BPE(6), Ragged.from_lists([[1, 2, 1, 2], [2, 2]]), iter([[1, 2], [2]]), 3),
    ],
    ids=["bytes", "characters", "words", "arrays", "iterators"],
)  # fmt: skip
def test_symbols_are_those_of_the_documents(tok: Any, docs: Any, held: Any, n_symbols: int) -> None:
    tok.fit(docs)
    held = held if isinstance(held, np.ndarray) else list(held)
    table = compare(docs, {"a": tok}, held_out=held if isinstance(held, np.ndarray) else iter(held))
    assert table.tokens_per_1000 == pytest.approx([1000, 1000 * tok.encode_batch(held).total / n_symbols])


def test_pieces_of_words_are_compared_too() -> None:
    tok = WordPiece(
        ["[UNK]", "a", "b", "##a", "##b", "ab"], preprocessing=Preprocessing(pretokenizer="BertPreTokenizer")
    )
    assert compare(["ab ba", "ab"], {"pieces": tok}, held_out=["ab"]).tokens_per_1000.tolist() == [1000, 500]


def test_the_raw_row_of_signals_has_the_error_bound_of_their_tokenizer() -> None:
    x = np.round(20 * np.sin(np.arange(3000) / 9))
    whole = SignalTokenizer(40, step=1, tolerance=1).fit(x.astype(int))
    loose = SignalTokenizer(60, max_error=2.0).fit(x)
    table = compare([x[:2000]], {"whole": whole, "loose": loose}, held_out=x[2000:])
    assert table.names == ["raw, 3 wide", "whole", f"raw, {2 * loose.error_bound():g} wide", "loose"]
    assert table.tokens_per_1000[::2].tolist() == [1000, 1000]
    levels = (x // 3).astype(int)
    raw = compare([levels[:2000]], {"a": BPE(20).fit(levels)}, held_out=levels[2000:])
    assert (raw.unigram[0], raw.best[0]) == (table.unigram[0], table.best[0])
    refuses(ValueError, "held_out: expected documents with symbols", compare, [x], {"a": whole}, held_out=[])
    gaps = x.copy()
    gaps[::50] = np.nan
    assert np.isfinite(compare([gaps], {"a": whole}, held_out=np.ma.masked_less(x, -15)).best).all()


def test_arguments_are_checked() -> None:
    tok, unfitted = BPE(24).fit(DOCS), BPE(24)
    refuses(
        TypeError, r"tokenizers: expected a dict of names .* Name each", compare, DOCS, [tok], held_out=HELD
    )
    refuses(TypeError, "tokenizers: expected a dict", compare, DOCS, {}, held_out=HELD)
    refuses(
        TypeError,
        "tokenizers: 'a': expected a tokenizer of this library, got",
        compare,
        DOCS,
        {"a": 3},
        held_out=HELD,
    )
    refuses(NotFittedError, "no vocabulary yet", compare, DOCS, {"a": unfitted}, held_out=HELD)
    refuses(
        ValueError,
        "held_out: expected documents with symbols, got none",
        compare,
        DOCS,
        {"a": tok},
        held_out=[],
    )
    refuses(ValueError, "docs: expected documents with symbols", compare, [""], {"a": tok}, held_out=HELD)
    refuses(ValueError, "symbols: expected at least 1", compare, DOCS, {"a": tok}, held_out=HELD, symbols=0)
    refuses(TypeError, "did you mean 'held_out'", compare, DOCS, {"a": tok}, heldout=HELD)
    both = SignalTokenizer(40, step=1, channel_axis=1).fit(np.arange(80).reshape(40, 2) % 20)
    refuses(
        ValueError, "'a': expected recordings of one channel", compare, [[1]], {"a": both}, held_out=[[1]]
    )


def test_it_prints_a_table_and_draws_a_point_a_row() -> None:
    from matplotlib.figure import Figure

    table = compare(DOCS, {"rank 24": BPE(24).fit(DOCS)}, held_out=HELD)
    lines = repr(table).splitlines()
    assert len(lines) == 3 and len({*map(len, lines)}) == 1 and lines[2].startswith("rank 24  ")
    assert f"{table.best[1]:.3f}" in lines[2]
    drawn = table.plot(Figure().subplots())
    assert isinstance(drawn, Comparison)
    assert [text.get_text() for text in drawn.ax_.texts] == table.names
    assert [line.get_ydata()[0] for line in drawn.ax_.lines] == table.best.tolist()
