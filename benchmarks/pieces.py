"""The criteria of `WordPiece.train`: pieces per 1000 characters of words not seen, and bits of a unigram model of pieces.

The words are those of every second line of the King James Bible (without it, of sources of the standard
library) in lower case, as BERT cuts them: at spaces and around punctuation. Words with a character that was
not seen are left out.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter

import numpy as np
import segmentations
from suite import common

from ubpe_numba import Ragged, WordPiece

TRIALS = (("count", 2), ("likelihood", 2), ("pmi", 2), ("pmi", 20), ("pmi", 100))


def main() -> None:
    """Measure, and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--size", type=int, default=8192, help="of vocabularies: %(default)s")
    options = parser.parse_args()
    text, source = common.text()
    lines = re.findall(r".+", text.decode().lower())
    seen, held = (Counter(re.findall(r"\w+|[^\w\s]", "\n".join(lines[i::2]))) for i in (0, 1))
    characters = set("".join(seen))
    held = Counter({word: count for word, count in held.items() if characters.issuperset(word)})
    print(
        f"{source}: {len(seen)} words\n\n| criterion, least count | pieces | per 1000 characters | bits per character | s |"
    )
    print("| --- | --- | --- | --- | --- |", flush=True)
    for criterion, least in TRIALS:
        start = time.perf_counter()
        tok = WordPiece.train(seen, options.size, criterion=criterion, min_count=least)
        seconds = time.perf_counter() - start
        n_ids, n_characters = len(tok.vocabulary), sum(len(word) * count for word, count in held.items())
        found = encoded(tok, held)
        one, _ = segmentations.bits(encoded(tok, seen), found, n_ids)
        cells = (
            f"{n_ids} | {1000 * found.total / n_characters:.1f} | {one / n_characters:.3f} | {seconds:.1f}"
        )
        print(f"| {criterion} {least} | {cells} |", flush=True)


def encoded(tok: WordPiece, counts: Counter[str]) -> Ragged:
    """The pieces of every word, as often as it occurs."""
    batch = tok.encode_batch([[word] for word in counts])
    return batch.take(np.repeat(np.arange(len(counts)), list(counts.values())))


if __name__ == "__main__":
    main()
