"""What notebooks show of a `Vocabulary`: its sizes, lengths of its tokens, the longest and the most frequent ones in ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ubpe_numba.runtime.html import block, histogram, largest, some, table

if TYPE_CHECKING:
    from ubpe_numba.vocabulary.vocabulary import Vocabulary

__all__ = ["vocabulary_html"]

_TOKENS, _SYMBOLS = 10, 12  # tokens in a list, and ids of one that are shown


def vocabulary_html(vocabulary: Vocabulary) -> str:
    """The HTML of a vocabulary, at most some kilobytes whatever its size. O(tokens).

    Parameters
    ----------
    vocabulary : Vocabulary
        The tokens.

    Returns
    -------
    str
        A ``div`` without scripts, which is XML as well.
    """
    first, learned = vocabulary.n_alphabet, vocabulary.n_learned
    lengths = np.diff(vocabulary.offsets)
    kind = "flat sequences" if vocabulary.merges is None else "pairs"
    rows = [
        ("alphabet", f"{first:,} symbols, the ids 0 to {first - 1:,}"),
        ("learned", f"{learned:,} tokens, known as {kind}" if learned else "nothing yet"),
    ]
    if vocabulary.n_symbols:
        rows.append(("learned from", f"{vocabulary.n_symbols:,} symbols in {vocabulary.n_documents:,} documents"))
    if vocabulary.log_probabilities is not None:
        rows.append(("probabilities", "estimated"))
    parts = [table(rows), histogram(lengths[first:], "learned tokens", "symbols")]
    known, name = (vocabulary.counts, "merged") if vocabulary.occurrences is None else (vocabulary.occurrences, "occurrences")
    counts = known[first:]
    for title, by in (("most frequent learned tokens", counts), ("longest tokens", lengths[first:])):
        tokens = largest(by, _TOKENS)
        tokens = tokens[by[tokens] > 0] + first
        if tokens.size:
            lines = [(t, f"{known[t]:,}", lengths[t], some(vocabulary.sequence(t), _SYMBOLS)) for t in tokens.tolist()]
            parts.append(f"<div>{title}</div>" + table(lines, ("token", name, "length", "ids of symbols")))
    return block(f"Vocabulary: {len(vocabulary):,} tokens", *parts)
