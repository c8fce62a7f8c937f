"""Drawn inputs and what public calls make of them: the computations whose digests ship with the package.

`digests.json` has a hash for each case of each part. The tests made it by the plain references, and hold the
library equal to them on every case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.tokenizers.bpe import BPE, UBPEClassic
from ubpe_numba.tokenizers.ubpe import UBPE
from ubpe_numba.tokenizers.wordpiece import WordPiece
from ubpe_numba.vocabulary.preprocessing import Preprocessing
from ubpe_numba.vocabulary.rules import FitRules

Inputs = dict[str, Any]

#: Lengths of documents: none, few, and those on both sides of what kernels take at a time.
LENGTHS = (0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 20, 31, 32, 33, 40, 60, 63, 64, 65, 100, 127, 128, 129)
#: Weights of documents; counts of the larger ones exceed what 32 bits and float64 hold exactly.
COPIES = (0, 1, 1, 2, 5, 4095, 4096, 2**31 - 1, 2**33, 2**40)
#: The least and the largest symbols of each type, and some in between.
SYMBOLS = {
    "int8": (-128, -1, 0, 127),
    "uint8": (0, 7, 254, 255),
    "int16": (-(2**15), 0, 5, 2**15 - 1),
    "int32": (-(2**31), -1, 65_536, 2**31 - 1),
    "uint32": (0, 1, 2**31, 2**32 - 1),
    "int64": (-(2**63), -(2**32) - 1, 2**40, 2**63 - 1),
}
PATTERNS = ("gpt2", "cl100k", "o200k")
#: What patterns, windows and caches of text treat apart; the classes are the same in all versions of Unicode
#: since 5.
PIECES = (
    *"abcABZ019 '-_./!\t\n\r\x00\x7f", "  ", " \n", "\r\n", "'s", "'LL", "'Ve", "12345", " ab",
    "\xa0", "\u3000", "\u2003", "\u2028", "\x85", "\x0b", "\x1c", "\u200b", "\ufeff", "\u0301", "\u20e3",
    "\xe9", "\xc9",
    "\u0130", "\xdf", "\u01c5", "\u02b0", "\u0431", "\u0416", "\u4e2d", "\u6587", "\u304b", "\u30ab",
    "\u30fb", "\u30fc",
    "\u3002", "\ud55c", "\u0e01", "\u093e", "\u0663", "\u0967", "\xbd", "\u2167", "\xb2", "\u017f",
    "'\u017f", "\u2019s",
    "\u2764\ufe0f", "\U0001f468", "\u200d", "\U0001d400",
)  # fmt: skip
#: Bytes that are not UTF-8: surrogates, longer than need be, beyond the last code point, beginnings and ends
#: of characters.
STRAY = (
    b"\xed\xa0\x80", b"\xed\xb0\x80", b"\xc0\x80", b"\xe0\x80\x80", b"\xf0\x8f\xbf\xbf", b"\xf4\x90\x80\x80",
    b"\xff", b"\x80", b"\xe4\xb8", b"\xf0\x9f\x98", b"\xc5", b"\xd0", b"\xe3\x82",
)  # fmt: skip


class Part(NamedTuple):
    """One row of a verification, whose cases give lists of plain values.

    Case number i is `run(draw(Random(f"{name} {i}")))`.
    """

    name: str
    cases: int
    draw: Callable[[Random], Inputs]
    run: Callable[[Inputs], Iterator[Any]]


def documents(rng: Random, size: int, most: int = 6, longest: int = 129) -> list[list[int]]:
    """Documents of random symbols, periods and runs; some may be empty."""
    docs = []
    for _ in range(rng.randrange(1, most + 1)):
        n, kind = rng.choice([length for length in LENGTHS if length <= longest]), rng.randrange(3)
        period = [rng.randrange(size) for _ in range(n if kind == 0 else rng.randrange(1, 6))]
        if kind == 2:
            period = [symbol for symbol in period for _ in range(rng.choice([1, 2, 3, 16]))]
        docs.append((period * n)[:n])
    return docs


def pairs(rng: Random, size: int, n: int, longest: int = 64) -> list[tuple[int, int]]:
    """Up to `n` different pairs in order of creation, of tokens of at most `longest` symbols.

    Pair i makes the token size + i.
    """
    merges: list[tuple[int, int]] = []
    lengths = [1] * size
    for _ in range(n):
        low = max(0, len(lengths) - 4) if rng.random() < 0.3 else 0  # built on the last ones
        pair = rng.randrange(low, len(lengths)), rng.randrange(0 if rng.random() < 0.5 else low, len(lengths))
        if pair not in merges and lengths[pair[0]] + lengths[pair[1]] <= longest:
            merges.append(pair)
            lengths.append(lengths[pair[0]] + lengths[pair[1]])
    return merges


def texts(rng: Random) -> list[bytes]:
    """Documents of few different pieces and of runs of them; in some of them bytes are wrong."""
    few = rng.sample(PIECES, rng.choice([2, 6, 20]))
    docs = []
    for _ in range(rng.randrange(1, 5)):
        parts = [
            rng.choice(few).encode() * rng.choice([1, 1, 1, 1, 2, 3, 16, 65])
            for _ in range(rng.choice([0, 1, 5, 15, 40]))
        ]
        for _ in range(rng.choice([0, 0, 1, 3])):
            parts.insert(rng.randrange(len(parts) + 1), rng.choice(STRAY))
        docs.append(b"".join(parts))
    return docs


# ---------------------------------------------------------------------------------------------- fits


def draw_fit(rng: Random) -> Inputs:
    """Documents, and how they are fitted."""
    size = rng.choice([1, 2, 3, 4, 5, 7, 50, 1500])
    docs = documents(rng, size, longest=65)
    cuts = [sorted(rng.choices(range(len(doc) + 1), k=rng.choice([0, 1, 4]))) for doc in docs]
    return {
        "documents": docs,
        "size": size,
        "n_tokens": size + rng.choice([0, 1, 5, 15, 30]),
        "n_candidates": rng.choice([1, 1, 2, 5, 50]),
        "ties": rng.choice(["smallest", "smallest", "first_seen", "fewest_documents"]),
        "min_count": rng.choice([1, 2, 2, 3]),
        "overshoot": rng.random() < 0.2,
        "weights": rng.choice([None, [rng.choice(COPIES) for _ in docs]]),
        "boundaries": rng.choice([None, cuts]),
        "longest": rng.choice([None, None, 1, 2, 3, 4, 7, 20]),
    }


def run_fit(given: Inputs) -> Iterator[Any]:
    """Merges with counts and numbers of documents, and idf weights to nine decimals."""
    limits = {"overshoot": given["overshoot"], "max_token_length": given["longest"]}
    more = {
        "alphabet": given["size"],
        "rules": FitRules(ties=given["ties"], min_count=given["min_count"], **limits),
    }
    n = given["n_candidates"]
    tok: Any = BPE(given["n_tokens"], **more) if n == 1 else UBPEClassic(given["n_tokens"], n, **more)
    tok.fit(
        given["documents"], sample_weight=given["weights"], boundaries=given["boundaries"], progress=False
    )
    learned, size = tok.vocabulary, given["size"]
    yield np.column_stack(
        [learned.merges, learned.counts[size:], learned.document_frequencies[size:]]
    ).tolist()
    yield np.round(learned.weights[size:], 9).tolist()


def draw_symbols(rng: Random) -> Inputs:
    """Documents of few symbols from both ends of an integer type."""
    dtype = rng.choice(list(SYMBOLS))
    return {
        "documents": documents(rng, 4, longest=33),
        "dtype": dtype,
        "symbols": SYMBOLS[dtype],
        "n_tokens": rng.choice([5, 9, 20]),
    }


def run_symbols(given: Inputs) -> Iterator[Any]:
    """Merges, the corpus encoded, and decoded again."""
    docs = [np.array([given["symbols"][i] for i in doc], given["dtype"]) for doc in given["documents"]]
    tok = BPE(given["n_tokens"], alphabet=list(given["symbols"])).fit(docs, progress=False)
    ids = tok.encode_batch(docs)
    assert tok.vocabulary.merges is not None
    yield tok.vocabulary.merges.tolist()
    yield ids.to_lists()
    yield [doc.tolist() for doc in tok.decode_batch(ids)]


def draw_many(rng: Random) -> Inputs:
    """Documents that are repeated to a million symbols, as much as threads share."""
    docs = [*documents(rng, 4), *([rng.randrange(4) for _ in range(100)] for _ in range(3))]
    return {
        "documents": docs,
        "copies": -(-1_100_000 // sum(map(len, docs))),
        "n_tokens": 24,
        "n_candidates": rng.choice([1, 20]),
    }


def run_many(given: Inputs) -> Iterator[Any]:
    """Merges with their counts, the ids of the documents, and a comparison of all copies.

    Copies must be equal and decode.
    """
    n, docs = given["n_candidates"], given["documents"]
    tok: Any = BPE(24, alphabet=4, n_threads=2) if n == 1 else UBPEClassic(24, n, alphabet=4, n_threads=2)
    batch = Ragged.from_lists(docs * given["copies"])
    tok.fit(batch, progress=False)
    ids, once = tok.encode_batch(batch), tok.encode_batch(docs)
    yield np.column_stack([tok.vocabulary.merges, tok.vocabulary.counts[4:]]).tolist()
    yield once.to_lists()
    yield [
        bool(ids == Ragged.from_lists(once.to_lists() * given["copies"])),
        bool(tok.decode_batch(ids) == batch),
    ]


# ---------------------------------------------------------------------------------------------- encodings


def draw_rank(rng: Random) -> Inputs:
    """A table of pairs and documents, some of which are made of its tokens."""
    size = rng.choice([1, 2, 2, 3, 4, 5, 7, 30, 300])
    merges = pairs(rng, size, rng.choice([1, 3, 8, 20, 40]))
    docs = documents(rng, size)
    flat: list[list[int]] = [[i] for i in range(size)]
    for left, right in merges:
        flat.append(flat[left] + flat[right])
    docs.append([symbol for _ in range(rng.choice([1, 4, 9])) for symbol in rng.choice(flat)])
    chance = {"dropout": rng.choice([0.1, 0.5, 0.9, 1.0]), "seed": rng.choice([0, 1, 2**63, 2**64 - 1])}
    return {"documents": docs, "size": size, "pairs": merges, "cut": rng.randrange(9), **chance}


def run_rank(given: Inputs) -> Iterator[Any]:
    """Ids, and decoded documents.

    Ids of a batch, of single documents twice, with dropout, by the batch rule, and of a stream.
    """
    docs, size = given["documents"], given["size"]
    tok: Any = BPE.from_merges(given["pairs"], alphabet=size)
    ids = tok.encode_batch(docs)
    yield ids.to_lists()
    yield [tok.encode(doc).tolist() for doc in docs for _ in range(2)]
    yield tok.encode_batch(docs, sample=given["dropout"], seed=given["seed"]).to_lists()
    batch = UBPEClassic.from_merges(given["pairs"], alphabet=size, rules=FitRules(encode="batch"))
    yield batch.encode_batch(docs).to_lists()
    whole = [symbol for doc in docs for symbol in doc]
    yield [
        token
        for part in tok.stream().over([whole[: given["cut"]], whole[given["cut"] :]])
        for token in part.tolist()
    ]
    yield tok.decode_batch(ids).to_lists()


def draw_path(rng: Random) -> Inputs:
    """Documents to learn a vocabulary from, others to encode, and weights of tokens."""
    size = rng.choice([2, 3, 4, 7])
    weights = [rng.choice((-2.5, -1.0, -0.25, 0.0, 0.25, 1.0)) for _ in range(size + 20)]
    docs = [*documents(rng, size, 4, 40), []]  # no token occurs in the last one: all weights are above 0
    return {"documents": docs, "others": documents(rng, size, 3, 40), "size": size, "weights": weights}


def run_path(given: Inputs) -> Iterator[Any]:
    """Ids by tf-idf, by the fewest tokens and by sums of weights; the three best by tf-idf."""
    size = given["size"]
    tok = UBPE(size + 20, 1, alphabet=size, objective="tfidf").fit(given["documents"], progress=False)
    yield tok.encode_batch(given["others"]).to_lists()
    yield tok.with_objective("shortest").encode_batch(given["others"]).to_lists()
    weights = np.array(given["weights"][: len(tok.vocabulary)])
    yield tok.with_objective(weights).encode_batch(given["others"]).to_lists()
    yield [candidates.to_lists() for candidates, _ in tok.encode_nbest(given["others"], 3)]


# ---------------------------------------------------------------------------------------------- text


def draw_text(rng: Random) -> Inputs:
    """Texts, a pattern that splits them, and pairs over bytes."""
    letters = sorted(b"abc 'sZ1\n\xc3\xe4\xa9\xb8")
    merges = [(rng.choice(letters), rng.choice(letters)) for _ in range(12)]
    merges += [(256 + rng.randrange(12), rng.choice(letters)) for _ in range(12)]
    return {
        "documents": texts(rng),
        "pattern": rng.choice(PATTERNS),
        "pairs": list(dict.fromkeys(merges[:12])),
        "more": merges[12:],
    }


def run_text(given: Inputs) -> Iterator[Any]:
    """Ids of a batch and of single documents, decoded as well; and the counts of a fit."""
    docs = given["documents"]
    tok: Any = BPE.from_merges(
        given["pairs"],
        alphabet=bytes(range(256)),
        preprocessing=Preprocessing(pretokenizer=given["pattern"], encoding="utf-8"),
    )
    ids = tok.encode_batch(docs)
    yield ids.to_lists()
    yield [tok.encode(doc).tolist() for doc in docs for _ in range(2)]
    yield [tok.decode(one, as_bytes=True).hex() for one in ids.to_lists()]
    learned = BPE.for_text(264, pretokenizer=given["pattern"]).fit(docs, progress=False)
    assert learned.vocabulary.merges is not None
    yield np.column_stack([learned.vocabulary.merges, learned.vocabulary.counts[256:]]).tolist()


def draw_pieces(rng: Random) -> Inputs:
    """Words and a vocabulary of pieces."""
    letters = "ab#\xe9\U0001f600\0"
    pieces = sorted(
        {"".join(rng.choices(letters, k=rng.choice([1, 1, 2, 3]))) for _ in range(rng.choice([1, 5, 12]))}
    )
    words = [
        "".join(rng.choices(letters[: rng.choice([2, 6])] + "c", k=rng.choice([1, 2, 5, 12, 40])))
        for _ in range(12)
    ]
    return {
        "documents": [words],
        "pieces": ["[UNK]", *pieces, *("##" + piece for piece in pieces)],
        "longest": rng.choice([3, 12, 100]),
    }


def run_pieces(given: Inputs) -> Iterator[Any]:
    """Ids of words by the longest piece."""
    vocab: Sequence[str] = list(dict.fromkeys(given["pieces"]))
    yield WordPiece(vocab, longest=given["longest"]).encode_batch(given["documents"]).to_lists()


#: The compared parts, in order of use and compile time.
PARTS = (
    Part("fits: pairs, counts, idf", 150, draw_fit, run_fit),
    Part("encoding by merge rank, decoding", 120, draw_rank, run_rank),
    Part("text: cut, counted, encoded", 100, draw_text, run_text),
    Part("encoding by the best path", 80, draw_path, run_path),
    Part("fits: symbols of every type", 40, draw_symbols, run_symbols),
    Part("text: words in pieces", 40, draw_pieces, run_pieces),
    Part("a million symbols, threads", 3, draw_many, run_many),
)
