"""What plain references give for the cases of `verify`; `python tests/verification/references.py` writes the digests of it."""

import itertools
import json
import pathlib
import sys
from collections.abc import Iterator
from random import Random
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from reference import encode_pairs, encode_paths, fit, words
from reference.decode import expand
from reference.pieces import cut_words

import ubpe_numba.verification
from ubpe_numba.verification.cases import PARTS, Part
from ubpe_numba.verification.verify import DIGESTS, digest

FILE = pathlib.Path(ubpe_numba.verification.__file__).with_name(DIGESTS)


def _fit(given: dict[str, Any]) -> Iterator[Any]:
    names = [
        "documents", "size", "n_tokens", "n_candidates", "ties", "min_count", "overshoot", "weights", "boundaries", "longest",
    ]  # fmt: skip
    merges, _ = fit.fit(*(given[name] for name in names))
    docs, weights = given["documents"], given["weights"]
    n_documents = len(docs) if weights is None else sum(weights)
    yield [list(merge) for merge in merges]
    yield [round(fit.idf(n_documents, merge.documents), 9) for merge in merges]


def _symbols(given: dict[str, Any]) -> Iterator[Any]:
    merges, corpus = fit.fit(given["documents"], 4, given["n_tokens"])
    yield [[merge.left, merge.right] for merge in merges]
    yield corpus
    yield [[given["symbols"][i] for i in doc] for doc in given["documents"]]


def _many(given: dict[str, Any]) -> Iterator[Any]:
    docs = given["documents"]
    merges, _ = fit.fit(
        docs, 4, given["n_tokens"], given["n_candidates"], weights=[given["copies"]] * len(docs)
    )
    ranked = {(merge.left, merge.right): (i, 4 + i) for i, merge in enumerate(merges)}
    yield [[merge.left, merge.right, merge.count] for merge in merges]
    yield [encode_pairs.encode_rank(doc, ranked) for doc in docs]
    yield [True, True]


def _rank(given: dict[str, Any]) -> Iterator[Any]:
    docs, size = given["documents"], given["size"]
    ranked = {pair: (i, size + i) for i, pair in enumerate(given["pairs"])}
    ids = [encode_pairs.encode_rank(doc, ranked) for doc in docs]
    yield ids
    yield [one for one in ids for _ in range(2)]
    yield [
        encode_pairs.encode_dropout(doc, ranked, given["dropout"], given["seed"], i)
        for i, doc in enumerate(docs)
    ]
    yield [encode_pairs.encode_batch(doc, ranked) for doc in docs]
    yield encode_pairs.encode_rank(list(itertools.chain(*docs)), ranked)
    yield docs


def _path(given: dict[str, Any]) -> Iterator[Any]:
    size, docs = given["size"], given["documents"]
    merges, _ = fit.fit(docs, size, size + 20)
    flat: list[tuple[int, ...]] = expand([(merge.left, merge.right) for merge in merges], size)
    tokens: dict[tuple[int, ...], int] = {}
    for token, sequence in enumerate(flat):
        tokens.setdefault(sequence, token)
    idf = {size + i: fit.idf(len(docs), merge.documents) for i, merge in enumerate(merges)}
    weights = dict(enumerate(given["weights"][: len(flat)]))
    others = given["others"]
    yield [list(encode_paths.encode_nbest(doc, tokens, idf, 1)[0][0]) for doc in others]
    yield [list(encode_paths.encode(doc, tokens, idf, "shortest")) for doc in others]
    yield [list(encode_paths.encode(doc, tokens, weights, "additive")) for doc in others]
    yield [[list(path) for path, _ in encode_paths.encode_nbest(doc, tokens, idf, 3)] for doc in others]


def _text(given: dict[str, Any]) -> Iterator[Any]:
    docs, pattern = given["documents"], given["pattern"]
    merges = {pair: (i, 256 + i) for i, pair in enumerate(given["pairs"])}
    ids = [words.encode_segments(doc, pattern, merges, list(range(256))) for doc in docs]
    yield ids
    yield [one for one in ids for _ in range(2)]
    yield [doc.hex() for doc in docs]
    counts = words.count_segments(docs, pattern)
    learned, _ = fit.fit([list(segment) for segment in counts], 256, 264, weights=list(counts.values()))
    yield [[merge.left, merge.right, merge.count] for merge in learned]


def _pieces(given: dict[str, Any]) -> Iterator[Any]:
    ids = {piece: i for i, piece in enumerate(dict.fromkeys(given["pieces"]))}
    yield [
        [token for token, *_ in cut_words(doc, ids, 0, "##", given["longest"])] for doc in given["documents"]
    ]


REFERENCES = dict(
    zip([part.name for part in PARTS], [_fit, _rank, _text, _path, _symbols, _pieces, _many], strict=True)
)


def inputs(part: Part) -> list[dict[str, Any]]:
    """The drawn inputs of all cases."""
    return [part.draw(Random(f"{part.name} {case}")) for case in range(part.cases)]


def digests(part: Part, n: int | None = None) -> list[str]:
    """The digests of what the reference gives for the first n cases, or for all."""
    return [digest(REFERENCES[part.name](given)) for given in inputs(part)[:n]]


if __name__ == "__main__":
    FILE.write_text(json.dumps({part.name: digests(part) for part in PARTS}) + "\n")
