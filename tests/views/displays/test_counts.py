"""How often tokens occur: the bars and the line are the counts of plain loops."""

from __future__ import annotations

import collections
from typing import Any

import pytest
from matplotlib.figure import Figure
from tables import each

from ubpe_numba import BPE, Preprocessing
from ubpe_numba.plot import CountsDisplay

CORPORA: dict[str, tuple[BPE, Any]] = {
    "int": (BPE.from_merges([[0, 1], [2, 0]], alphabet=[5, 6]), [[5, 6, 5, 5], [6, 6], [5, 6, 5]]),
    "dna": (BPE.from_merges([[0, 1], [4, 2]], alphabet="ACGT"), ["ACGTACG", "TTACAC"]),
    "bytes": (BPE.from_merges([[0, 1]], alphabet=b"ab"), [b"abba", b"ab"]),
}


@each("kind", sorted(CORPORA))
def test_counts_are_those_of_loops(kind: str) -> None:
    tok, docs = CORPORA[kind]
    encoded = [tok.encode(doc).tolist() for doc in docs]
    counts = collections.Counter(token for ids in encoded for token in ids)
    lengths: collections.Counter[int] = collections.Counter()
    for token, n in counts.items():
        lengths[tok._model.vocabulary.sequence(token).size] += n
    ranks, by_length = Figure().subplots(1, 2)
    display = CountsDisplay.from_docs(tok, docs, ax=ranks)
    assert display.counts.tolist() == [counts[token] for token in range(len(tok._model.vocabulary))]
    assert ranks.lines[0].get_ydata().tolist() == sorted(counts.values(), reverse=True)
    assert ranks.lines[0].get_xdata().tolist() == list(range(1, len(counts) + 1))
    assert ranks.get_title(loc="left") == f"{len(counts)} of {len(tok._model.vocabulary)} tokens occur"
    other = CountsDisplay.from_ids(tok, tok.encode_batch(docs), by="length", ax=by_length)
    assert other.counts.tolist() == display.counts.tolist()
    bars = {round(bar.get_x() + bar.get_width() / 2): bar.get_height() for bar in by_length.patches if bar.get_height()}
    assert bars == dict(lengths)
    mean = sum(length * n for length, n in lengths.items()) / sum(lengths.values())
    assert by_length.lines[0].get_xdata()[0] == pytest.approx(mean) and f"{mean:.2f}" in by_length.get_title(loc="left")


def test_special_tokens_are_left_out(axes: Any) -> None:
    tok = BPE.from_merges([[0, 1]], alphabet="ab", preprocessing=Preprocessing(special_tokens=["<end>"]))
    ids = [tok.encode("ab<end>", allowed_special="all").tolist()]
    assert ids == [[2, 3]]
    assert CountsDisplay.from_ids(tok, ids, ax=axes).counts.tolist() == [0, 0, 1, 0]


def test_axes_are_logarithmic_by_rank_and_end_at_the_longest_in_use(axes: Any) -> None:
    display = CountsDisplay([5, 0, 2, 0], [1, 1, 3, 90]).plot(axes)
    assert axes.get_xscale() == axes.get_yscale() == "log"
    display.plot(display.figure_.add_subplot(), by="length")
    assert display.ax_.get_xscale() == "linear" and display.ax_.get_xlim() == (0.4, 3.6)
