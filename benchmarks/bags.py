"""Whether bags of tokens weighted by idf become better by `UBPE.reweight(weights="idf")`.

A corpus is cut into documents, and each of these in two. A tokenizer is fitted on all halves, which it
encodes. A bag weighs a token that occurs c times by (1 + ln c) * idf. Printed is of how many first halves, in
per cent, the second half is the nearest of all second halves by cosine. `fit`: encoding and idf as fitted;
`own idf`: the same encoding, and the idf of that encoding; `reweight`: encoding and idf of the reweighted
tokenizer. Of 200 documents a standard error is at most 3.5.
"""

from __future__ import annotations

import argparse
import pathlib

import numpy as np
import segmentations
from suite import common

from ubpe_numba import BPE, UBPE, Ragged
from ubpe_numba.coding.occurrences import usage_of
from ubpe_numba.vocabulary.vocabulary import idf


def main() -> None:
    """Measure what is asked for, and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--corpora", default="text,Python,Chinese", help="as of segmentations.py: %(default)s"
    )
    parser.add_argument("--sizes", default="1024,4096", help="of vocabularies: %(default)s")
    parser.add_argument("--documents", type=int, default=200, help="of which halves are found: %(default)s")
    parser.add_argument("--symbols", type=int, default=8000, help="of a document, at most: %(default)s")
    options = parser.parse_args()
    columns = ["rank, own idf"] + [
        f"{way}, {what}" for way in ("tfidf", "shortest") for what in ("fit", "own idf", "reweight")
    ]
    print("| corpus, size | " + " | ".join(columns) + " |\n|" + " --- |" * (len(columns) + 1), flush=True)
    for name in options.corpora.split(","):
        halves, n_alphabet = cut(name, options.documents, options.symbols)
        for size in map(int, options.sizes.split(",")):
            found = [100 * share for share in shares(halves, n_alphabet, size)]
            print(
                f"| {pathlib.Path(name).stem} {size} | " + " | ".join(f"{x:.1f}" for x in found) + " |",
                flush=True,
            )


def cut(name: str, n: int, longest: int) -> tuple[Ragged, int]:
    """The halves of `n` documents from all over a corpus, one behind the other, and the size of the alphabet."""
    text = segmentations.text_of(name, 8_000_000)
    corpus = common.load(name) if text is None else common.lines(text, name)
    step = corpus.values.size // n
    half = min(step, longest) // 2
    starts = np.arange(n)[:, None] * step + np.array([0, half])
    values = corpus.values[(starts.reshape(-1, 1) + np.arange(half)).ravel()].astype(np.int32)
    return Ragged(values, np.arange(0, values.size + 1, half)), corpus.alphabet_size


def shares(halves: Ragged, n_alphabet: int, size: int) -> list[float]:
    """Of the first halves, those that find their second half: a share for every column of the table."""
    ranked = BPE(size, alphabet=n_alphabet).fit(halves, progress=False)
    encoded = ranked.encode_batch(halves).compact()
    found = [share_found(bags(encoded, own_idf(encoded, len(ranked.vocabulary))))]
    for objective in ("tfidf", "shortest"):
        tok = UBPE(size, 1, alphabet=n_alphabet, objective=objective).fit(halves, progress=False)
        again = tok.reweight(halves, "idf")
        encoded = tok.encode_batch(halves).compact()
        for ids, weights in (
            (encoded, tok.vocabulary.weights),
            (encoded, own_idf(encoded, len(tok.vocabulary))),
            (again.encode_batch(halves).compact(), again.vocabulary.weights),
        ):
            found.append(share_found(bags(ids, weights)))
    return found


def own_idf(encoded: Ragged, size: int) -> np.ndarray:
    """The idf of every token in encoded documents, symbols of the alphabet included: float64[size].

    >>> own_idf(Ragged.from_lists([[0, 1], [1, 1], [1]]), 2).round(3).tolist()
    [0.693, 0.0]
    """
    return idf(len(encoded), usage_of(encoded, size).document_frequencies)


def bags(encoded: Ragged, weights: np.ndarray) -> np.ndarray:
    """A row of length 1 for every document, float64[d, V]; 0 where a token has no weight."""
    rows = np.repeat(np.arange(len(encoded)), encoded.lengths)
    counts = np.bincount(rows * weights.size + encoded.values, minlength=len(encoded) * weights.size)
    found = counts.reshape(len(encoded), weights.size).astype(np.float64)
    found[found > 0] = 1 + np.log(found[found > 0])
    found *= weights
    return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-300)


def share_found(rows: np.ndarray) -> float:
    """How many even rows have the odd row behind them as the nearest odd one, as a share of all."""
    nearest = (rows[::2] @ rows[1::2].T).argmax(axis=1)
    return float((nearest == np.arange(nearest.size)).mean())


if __name__ == "__main__":
    main()
