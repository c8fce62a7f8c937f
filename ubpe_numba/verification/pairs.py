"""Encoding by merge rank, decoding, and what is known of tokens in encoded documents, against plain references."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.documents.counts import count_documents
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.tokenizers.bpe import BPE
from ubpe_numba.verification import draw
from ubpe_numba.verification.part import Inputs, Pairs, Part
from ubpe_numba.verification.reference import decode as reference_decode
from ubpe_numba.verification.reference import dropout, encode_pairs
from ubpe_numba.verification.reference.atoms import find_words
from ubpe_numba.verification.reference.count_tokens import count_tokens
from ubpe_numba.verification.reference.occurrences import occurrences
from ubpe_numba.verification.reference.one_by_one import one_by_one
from ubpe_numba.vocabulary.vocabulary import Vocabulary


def _draw_table(rng: Random, in_order: bool = False, longest: int = 129) -> Inputs:
    made = draw.table(rng, in_order)
    docs = draw.documents(rng, made.size, draw.tokens_of(made), longest)
    return {"size": made.size, "pairs": made.pairs, "documents": docs}


def _ranked(given: Inputs) -> encode_pairs.Ranked:
    return {pair: (i, given["size"] + i) for i, pair in enumerate(given["pairs"])}


def _encoder(given: Inputs, **kind: bool) -> PairEncoder:
    return PairEncoder(Vocabulary.from_merges(given["size"], given["pairs"]), **{"batch": False, **kind})


def _tokenizer(given: Inputs, **params: Any) -> BPE:
    return BPE.from_merges(given["pairs"], alphabet=given["size"], **params)


def _compare_rank(given: Inputs) -> Pairs:
    """All documents at once, and one by one: the general way first, then the one of short documents."""
    merges = _ranked(given)
    wanted = [encode_pairs.encode_rank(doc, merges) for doc in given["documents"]]
    tok = _tokenizer(given)
    yield "a batch", tok.encode_batch(given["documents"]).to_lists(), wanted
    for _ in range(2):
        yield "one by one", [tok.encode(doc).tolist() for doc in given["documents"]], wanted


def _compare_other_rules(given: Inputs) -> Pairs:
    """The articles' rule of several pairs a pass, and merges one at a time, which differ for tables in some orders."""
    merges, docs = _ranked(given), Ragged.from_lists(given["documents"])
    batch = [encode_pairs.encode_batch(doc, merges) for doc in given["documents"]]
    yield "several pairs a pass", _encoder(given, batch=True).encode(docs, 1).to_lists(), batch
    single = [one_by_one(doc, given["pairs"], given["size"]) for doc in given["documents"]]
    yield "one merge at a time", _encoder(given, one_by_one=True).encode(docs, 1).to_lists(), single


def _draw_dropout(rng: Random) -> Inputs:
    seed = rng.choice([0, 1, 2**63, 2**64 - 1, rng.randrange(2**64)])
    return {**_draw_table(rng, longest=65), "dropout": rng.choice([0.0, 0.1, 0.5, 0.9, 1.0]), "seed": seed}


def _compare_dropout(given: Inputs) -> Pairs:
    merges, docs, chance, seed = _ranked(given), Ragged.from_lists(given["documents"]), given["dropout"], given["seed"]
    for alone in (False, True):
        encoder = _encoder(given, one_by_one=alone)
        wanted = [
            dropout.encode_dropout(d, merges, chance, seed, i, encoder.one_by_one) for i, d in enumerate(given["documents"])
        ]
        what = "one merge at a time" if alone else "by rank"
        yield what, encoder.encode_dropout(docs, chance, seed, 1).to_lists(), wanted


def _draw_many(rng: Random) -> Inputs:
    given = _draw_table(rng, in_order=True)
    given["documents"].append([rng.randrange(given["size"]) for _ in range(100)])
    return {**given, "copies": 1 + 210_000 // sum(map(len, given["documents"])), "threads": rng.choice([2, 3])}


def _compare_many(given: Inputs) -> Pairs:
    """As many documents as threads share."""
    merges = _ranked(given)
    wanted = [encode_pairs.encode_rank(doc, merges) for doc in given["documents"]] * given["copies"]
    tok = _tokenizer(given, n_threads=given["threads"])
    docs = Ragged.from_lists(given["documents"] * given["copies"])
    ids = tok.encode_batch(docs)
    yield "ids", ids.to_lists(), wanted
    yield "decoded", bool(tok.decode_batch(ids) == docs), True


def _draw_stream(rng: Random) -> Inputs:
    given = _draw_table(rng, in_order=True)
    n = sum(map(len, given["documents"]))
    return {**given, "cuts": sorted(rng.randrange(n + 1) for _ in range(rng.choice([0, 1, 3, 8])))}


def _compare_stream(given: Inputs) -> Pairs:
    """One text in chunks: what comes out is the encoding of the whole."""
    text = [symbol for doc in given["documents"] for symbol in doc]
    ends = [0, *given["cuts"], len(text)]
    chunks = [text[ends[i] : ends[i + 1]] for i in range(len(ends) - 1)]
    tok = _tokenizer(given)
    found = [token for part in tok.encode_stream(chunks) for token in part.tolist()]
    yield "ids", found, encode_pairs.encode_rank(text, _ranked(given))
    stream = tok.stream()
    pushed = [token for chunk in chunks for token in stream.push(chunk).tolist()] + stream.finish().tolist()
    yield "ids, of chunks that are pushed", pushed, found


def _draw_ids(rng: Random) -> Inputs:
    made = draw.table(rng)
    n = made.size + len(made.pairs)
    docs = [[rng.randrange(n) for _ in range(rng.choice(draw.LENGTHS))] for _ in range(rng.randrange(1, 6))]
    return {"size": made.size, "pairs": made.pairs, "documents": docs, "spare": rng.choice([0, 0, 1, 31, 1000])}


def _compare_decode(given: Inputs) -> Pairs:
    """Ids that no encoder would give, too; into new arrays, and into a buffer with little or much behind what is written."""
    flat = reference_decode.expand(given["pairs"], given["size"])
    wanted = [reference_decode.decode(doc, flat) for doc in given["documents"]]
    tok: Any = _tokenizer(given)
    yield "a batch", tok.decode_batch(given["documents"]).to_lists(), wanted
    for _ in range(2):
        yield "one by one", [tok.decode(doc).tolist() for doc in given["documents"]], wanted
    n = sum(map(len, wanted))
    buffer = np.full(n + given["spare"] + 8, -5, np.int32)
    yield "a buffer", tok.decode_batch(given["documents"], out=buffer[: n + given["spare"]]).to_lists(), wanted
    yield "what is behind it", buffer[n + given["spare"] :].tolist(), [-5] * 8


def _draw_words(rng: Random) -> Inputs:
    given = _draw_table(rng, in_order=True)
    size = given["size"]
    words = {tuple(rng.randrange(min(size, 4)) for _ in range(rng.choice([1, 2, 3, 9]))) for _ in range(rng.choice([1, 3, 9]))}
    given["words"] = [list(word) for word in sorted(words)]
    given["documents"].append([symbol for _ in range(9) for symbol in rng.choice(given["words"])[: rng.choice([2, 9])]])
    return given


def _compare_words(given: Inputs) -> Pairs:
    """Words that are kept whole: the longest at a place, from left to right; what lies between is encoded by itself."""
    tok: Any = _tokenizer(given, known_words=given["words"])
    merges, first = _ranked(given), given["size"] + len(given["pairs"])
    wanted = []
    for doc in given["documents"]:
        ids, end = [], 0
        for at, which in find_words(doc, given["words"], [True] * len(given["words"])):
            ids += [*encode_pairs.encode_rank(doc[end:at], merges), first + which]
            end = at + len(given["words"][which])
        wanted.append(ids + encode_pairs.encode_rank(doc[end:], merges))
    found = tok.encode_batch(given["documents"])
    yield "ids", found.to_lists(), wanted
    yield "decoded", tok.decode_batch(found).to_lists(), given["documents"]


def _compare_counts(given: Inputs) -> Pairs:
    """How often tokens occur, in how many documents, and where."""
    tok = _tokenizer(given)
    n = given["size"] + len(given["pairs"])
    copies = given["copies_of_each"]
    counts, held = count_tokens(given["documents"], [1] * len(given["documents"]), n)
    usage = tok.usage(ids=given["documents"])
    yield "counts", (usage.counts.tolist(), usage.document_frequencies.tolist()), (counts, held)
    sizes = [len(token) for token in reference_decode.expand(given["pairs"], given["size"])]
    index = tok.index(given["documents"])
    for token in {0, n - 1, *(ids[0] for ids in given["documents"] if ids)}:
        wanted = occurrences(given["documents"], token, sizes)
        rows = [list(map(tuple, np.array(found).T.tolist())) for found in (index[token], tok.find(token, given["documents"]))]
        yield f"occurrences of {token}", rows, [wanted, wanted]
    distinct: dict[tuple[int, ...], int] = {}
    for doc, weight in zip(given["documents"], copies, strict=True):
        distinct[tuple(doc)] = distinct.get(tuple(doc), 0) + weight
    kept = {doc: weight for doc, weight in distinct.items() if weight}
    found = count_documents(given["documents"], sample_weight=copies)
    lists = [tuple(doc) for doc in found.to_lists()]
    yield "distinct documents", dict(zip(lists, found.weights.tolist(), strict=True)), kept


def _draw_counts(rng: Random) -> Inputs:
    given = _draw_ids(rng)
    given["documents"] += rng.choices(given["documents"], k=rng.choice([0, 3]))
    return {**given, "copies_of_each": [rng.choice(draw.COPIES) for _ in given["documents"]]}


RANK = Part("encode: by merge rank", 250, _draw_table, _compare_rank)
OTHER_RULES = Part("encode: by other rules of merging", 150, _draw_table, _compare_other_rules)
DROPOUT = Part("encode: dropout", 150, _draw_dropout, _compare_dropout)
MANY = Part("encode: many documents, threads", 6, _draw_many, _compare_many)
STREAM = Part("encode: streams", 100, _draw_stream, _compare_stream)
WORDS = Part("encode: words that are kept whole", 120, _draw_words, _compare_words)
DECODE = Part("decode", 150, _draw_ids, _compare_decode)
COUNTS = Part("tokens and documents counted", 100, _draw_counts, _compare_counts)
