"""The gallery of motifs: all their occurrences, none of them with values of another document."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from tables import each

from ubpe_numba import BPE, Ragged
from ubpe_numba.plot import MotifsDisplay
from ubpe_numba.tokenizers.base import Tokenizer

DOCS = [[0, 2, 8, 2, 0, 0], [8, 0, 2, 8, 2], [2, 0, 2, 8, 2, 0, 2, 8, 8], [], [0, 2, 8, 2]]


def gallery(*args: Any, shape: tuple[int, int] = (1, 1), **options: Any) -> Any:
    """A display on axes of a figure that pyplot does not know of."""
    return MotifsDisplay.from_batch(*args, **options, ax=Figure().subplots(*shape, squeeze=False))


@each("side", [0, 1, 5, 30])
def test_contexts_are_all_occurrences_and_end_with_their_document(tok: Tokenizer, side: int) -> None:
    tokens = [5, 4, 2]
    expected: list[list[list[float]]] = [[] for _ in tokens]
    for rows, token in zip(expected, tokens, strict=True):
        n = tok._model.vocabulary.sequence(token).size
        for doc in DOCS:
            ids, starts = tok.encode(np.array(doc, int), return_offsets=True)
            for start in starts[ids == token].tolist():
                around = range(start - side, start + n + side)
                rows.append([float(doc[i]) if 0 <= i < len(doc) else np.nan for i in around])
    flat, offsets = np.concatenate([np.array(d, int) for d in DOCS]), np.cumsum([0, *map(len, DOCS)])
    part = Ragged(np.append([9, 9], flat).astype(np.int32), offsets + 2)
    for docs in ((DOCS,), (flat, offsets), (part,)):
        display = gallery(tok, *docs, tokens=tokens, side=side, shape=(1, 3))
        for rows, contexts, count in zip(expected, display.contexts, display.counts, strict=True):
            np.testing.assert_array_equal(contexts, np.array(rows).reshape(len(rows), -1))
            assert count == len(rows)
        assert [m.tolist() for m in display.motifs] == [[0, 2, 8, 2], [0, 2, 8], [8]]


def test_most_occurrences_are_drawn_at_even_distances(tok: Tokenizer) -> None:
    docs = [[i % 2 * 8, 0, 2, 8, 2] for i in range(50)]
    display = gallery(tok, docs, tokens=[5], most=4, side=1)
    assert display.counts.tolist() == [50] and display.contexts[0].shape == (4, 6)
    assert display.contexts[0][:, 0].tolist() == [docs[i][0] for i in (0, 16, 33, 49)]
    nothing = gallery(tok, [[0, 0, 0]])
    assert nothing.tokens.size == 0 and nothing.contexts == []
    for docs in ([[0, 0]], [[]]):
        nowhere = gallery(tok, docs, tokens=[5], side=2)
        assert nowhere.counts.tolist() == [0] and nowhere.contexts[0].shape == (0, 8)


@each("tok, docs, token, motif, sides", [
    (BPE.from_merges([[0, 1], [2, 2]], alphabet="AC"), ["CACACC", "AC"], 3, "ACAC", [("C", "C")]),
    (BPE.from_merges([[0, 1]], alphabet=["go on", "b"]), [["b", "go on", "b", "go on"]], 2, "go on b", [("b ", " go on")]),
    (
        BPE.for_text(257, pretokenizer=None).fit(["\xe4ab$ab o"] * 2), ["\xe4ab$ab o"], 256, "ab",
        [("\xe4", "$a"), ("b$", "␣o")],
    ),
])  # fmt: skip
def test_what_is_written_has_its_occurrences_in_lines(
    tok: BPE, docs: Any, token: int, motif: str, sides: list[tuple[str, str]]
) -> None:
    display = gallery(tok, docs, tokens=[token], side=2)
    (ax,) = display.axes_.flat
    assert display.motifs == [motif] and display.contexts == [sides]
    assert [text.get_text() for text in ax.texts] == [
        part for before, after in sides for part in (motif, before, after)
    ]
    chosen = gallery(tok, docs * 2, shape=(2, 3)).tokens.tolist()
    assert token in chosen and len(chosen) == len(set(chosen))
