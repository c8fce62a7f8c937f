"""Fits against the plain reference, which counts all pairs anew for every merge."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from ubpe_numba.documents.corpus import as_corpus
from ubpe_numba.fitting.learn import learn
from ubpe_numba.fitting.loop import Settings
from ubpe_numba.runtime.progress import Progress
from ubpe_numba.tokenizers.bpe import BPE, UBPEClassic
from ubpe_numba.tokenizers.ubpe import UBPE
from ubpe_numba.verification.draw import COPIES, document, documents
from ubpe_numba.verification.part import Inputs, Pairs, Part, near
from ubpe_numba.verification.reference import fit as reference
from ubpe_numba.verification.reference.decode import expand
from ubpe_numba.verification.reference.trim import rearrange
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.rules import FitRules
from ubpe_numba.vocabulary.vocabulary import Vocabulary

#: Symbols of documents by their type: the least and the largest of their type, and in between.
SYMBOLS = {
    "int8": (-128, -1, 0, 127),
    "uint8": (0, 7, 254, 255),
    "int16": (-(2**15), 0, 5, 2**15 - 1),
    "int32": (-(2**31), -1, 65_536, 2**31 - 1),
    "uint32": (0, 1, 2**31, 2**32 - 1),
    "int64": (-(2**63), -(2**32) - 1, 2**40, 2**63 - 1),
}


def _corpus(rng: Random, longest: int = 65, sizes: tuple[int, ...] = (1, 2, 3, 4, 5, 7, 50, 1500)) -> Inputs:
    """Documents and how to fit them."""
    size = rng.choice(sizes)
    return {
        "size": size,
        "documents": documents(rng, size, longest=longest, most=6),
        "n_tokens": size + rng.choice([0, 1, 5, 15, 30]),
        "n_candidates": rng.choice([1, 1, 2, 5, 50]),
        "ties": "smallest",  # others have kernels of their own
        "min_count": rng.choice([1, 2, 2, 3]),
        "overshoot": rng.random() < 0.2,
    }


def _rules(given: Inputs, **more: Any) -> FitRules:
    return FitRules(ties=given["ties"], min_count=given["min_count"], overshoot=given["overshoot"], **more)


def _tokenizer(given: Inputs, **params: Any) -> Any:
    """The class that the case names, unfitted; a UBPE with an objective that does not warn where all weights are equal."""
    params = {"alphabet": given["size"], "rules": _rules(given), **params}
    name = given["class"]
    if name == "BPE":
        return BPE(given["n_tokens"], **params)
    if name == "UBPEClassic":
        return UBPEClassic(given["n_tokens"], given["n_candidates"], **params)
    return UBPE(given["n_tokens"], given["n_candidates"], objective="shortest", **params)


def _merges(vocabulary: Vocabulary) -> list[tuple[int, ...]]:
    """Pairs, their counts and their numbers of documents."""
    assert vocabulary.merges is not None
    n = vocabulary.n_alphabet
    return [
        (*pair, count, held)
        for pair, count, held in zip(
            vocabulary.merges.tolist(), vocabulary.counts[n:].tolist(), vocabulary.document_frequencies[n:].tolist(), strict=True
        )
    ]


def _wanted(given: Inputs, **more: Any) -> tuple[list[tuple[int, ...]], list[list[int]]]:
    n_candidates = 1 if given["class"] == "BPE" else given["n_candidates"]
    merges, corpus = reference.fit(
        given["documents"], given["size"], given["n_tokens"], n_candidates, given["ties"], given["min_count"],
        given["overshoot"], **more,
    )  # fmt: skip
    return [tuple(merge) for merge in merges], corpus


def _draw_pairs(rng: Random) -> Inputs:
    return {**_corpus(rng), "class": rng.choice(["BPE", "UBPEClassic", "UBPE"])}


def _compare_pairs(given: Inputs) -> Pairs:
    """Merges, counts and weights, and the corpus as it is left."""
    wanted, corpus = _wanted(given)
    tok = _tokenizer(given).fit(given["documents"], progress=False)
    yield "merges", _merges(tok.vocabulary), wanted
    weights = [reference.idf(len(given["documents"]), merge[3]) for merge in wanted]
    yield "idf", near(tok.vocabulary.weights[given["size"] :].tolist(), weights, 1e-14), weights
    pairs = [(merge[0], merge[1]) for merge in wanted]
    lengths = reference.corpus_lengths(given["documents"], pairs, given["size"])
    yield "lengths of the corpus", tok.history_.lengths.tolist(), lengths
    if given["class"] == "BPE":
        yield "the corpus, encoded", tok.encode_batch(given["documents"]).to_lists(), corpus


def _draw_symbols(rng: Random) -> Inputs:
    dtype = rng.choice(list(SYMBOLS))
    symbols = SYMBOLS[dtype]
    docs = [[symbols[i] for i in doc] for doc in documents(rng, len(symbols), longest=33)]
    return {"documents": docs, "dtype": dtype, "n_tokens": rng.choice([5, 9, 20])}


def _compare_symbols(given: Inputs) -> Pairs:
    """Symbols from both ends of a type, numbered in their order."""
    symbols = sorted({symbol for doc in given["documents"] for symbol in doc})
    number = {symbol: i for i, symbol in enumerate(symbols)}
    dense = [[number[symbol] for symbol in doc] for doc in given["documents"]]
    merges, corpus = reference.fit(dense, len(symbols), max(len(symbols), given["n_tokens"]))
    docs = [np.array(doc, given["dtype"]) for doc in given["documents"]]
    tok = BPE(max(len(symbols), given["n_tokens"]), alphabet=symbols or None).fit(docs, progress=False)
    yield "merges", _merges(tok.vocabulary), [tuple(merge) for merge in merges]
    if symbols:
        ids = tok.encode_batch(docs)
        yield "ids", ids.to_lists(), corpus
        yield "decoded", [doc.tolist() for doc in tok.decode_batch(ids)], given["documents"]


def _draw_weighted(rng: Random) -> Inputs:
    given = {**_corpus(rng, longest=33), "class": rng.choice(["BPE", "UBPEClassic", "UBPE"])}
    docs = given["documents"]
    which = rng.randrange(3)
    given["weights"] = [rng.choice(COPIES) for _ in docs] if which != 1 else None
    cuts = [sorted(rng.choices(range(len(doc) + 1), k=rng.choice([0, 1, 4]))) for doc in docs]
    given["boundaries"] = cuts if which != 0 else None
    given["longest"] = rng.choice([None, None, 1, 2, 3, 4, 7, 20])
    return given


def _compare_weighted(given: Inputs) -> Pairs:
    """Weights of documents, boundaries that no token spans, a largest length of tokens."""
    marks = {"weights": given["weights"], "boundaries": given["boundaries"]}
    wanted, _ = _wanted(given, **marks, max_token_length=given["longest"])
    tok = _tokenizer(given, max_token_length=given["longest"])
    tok.fit(given["documents"], sample_weight=given["weights"], boundaries=given["boundaries"], progress=False)
    yield "merges", _merges(tok.vocabulary), wanted
    weights = [1] * len(given["documents"]) if given["weights"] is None else given["weights"]
    total = sum(len(doc) * weight for doc, weight in zip(given["documents"], weights, strict=True))
    size = tok.vocabulary.n_documents, tok.vocabulary.n_symbols
    yield "size of the corpus", size, (sum(weights), total)


def _draw_ties(rng: Random) -> Inputs:
    return {**_draw_weighted(rng), "ties": rng.choice(["first_seen", "fewest_documents"])}


def _draw_shards(rng: Random) -> Inputs:
    given = {**_corpus(rng, sizes=(2, 3, 4, 5, 50, 1500)), "class": "UBPEClassic", "overshoot": False}
    weights = [rng.choice(COPIES) for _ in given["documents"]]
    how = {"shards": rng.choice([2, 3, 5]), "threads": rng.choice([1, 2, 3]), "weights": rng.choice([None, weights])}
    return {**given, **how, "ties": rng.choice(["smallest", "smallest", "first_seen", "fewest_documents"])}


def _compare_shards(given: Inputs) -> Pairs:
    """Pairs across the borders of shards, which are cut at ends of documents or within them."""
    wanted, _ = _wanted(given, weights=given["weights"])
    corpus = as_corpus(given["documents"], sample_weight=given["weights"])
    settings = Settings(given["n_tokens"], given["n_candidates"], _rules(given), given["threads"], n_shards=given["shards"])
    vocabulary, _ = learn(corpus, Alphabet.dense(given["size"]), settings, Progress(False))
    yield "merges", _merges(vocabulary), wanted


def _draw_large(rng: Random) -> Inputs:
    size = rng.choice([4, 60])
    docs = [document(rng, size) for _ in range(5)] + [[rng.randrange(size) for _ in range(100)] for _ in range(3)]
    copies = -(-1_100_000 // sum(map(len, docs)))
    given = {"size": size, "documents": docs, "n_tokens": size + 20, "n_candidates": rng.choice([1, 20]), "ties": "smallest"}
    return {**given, "min_count": 2, "overshoot": False, "copies": copies, "class": rng.choice(["BPE", "UBPEClassic"])}


def _compare_large(given: Inputs) -> Pairs:
    """Documents, many times over: as much as threads share; for the reference each has a weight."""
    wanted, corpus = _wanted(given, weights=[given["copies"]] * len(given["documents"]))
    docs = [np.array(doc, np.int32) for doc in given["documents"]] * given["copies"]
    tok = _tokenizer(given, n_threads=2).fit(docs, progress=False)
    yield "merges", _merges(tok.vocabulary), wanted
    if given["class"] == "BPE":
        found = tok.encode_batch(docs)
        wanted_ids = corpus * given["copies"]
        yield "ids", found.to_lists(), wanted_ids
        yield "decoded", tok.decode_batch(found).to_lists() == [doc.tolist() for doc in docs], True


def _draw_by_idf(rng: Random) -> Inputs:
    given = {**_corpus(rng), "class": rng.choice(["UBPEClassic", "UBPE"])}
    rules = ["closed", "one_level", "published_0_2", "published_0_3"]  # the others may leave pairs that cannot decode
    return {**given, "trim": rng.choice(rules) if given["class"] == "UBPE" else "closed"}


def _compare_by_idf(given: Inputs) -> Pairs:
    """A vocabulary in order of idf, cut to its size."""
    merges, _ = _wanted(given)
    pairs = [(merge[0], merge[1]) for merge in merges]
    weights = [reference.idf(len(given["documents"]), merge[3]) for merge in merges]
    flat: list[tuple[int, ...]] = expand(pairs, given["size"])[given["size"] :]
    sequences: list[tuple[int, ...]] = list(flat if given["class"] == "UBPE" else pairs)
    wanted = rearrange(sequences, weights, given["size"], given["n_tokens"], given["trim"])
    tok = _tokenizer(given, rules=_rules(given, order="idf", trim=given["trim"]))
    v = tok.fit(given["documents"], progress=False).vocabulary
    if given["class"] == "UBPE":
        yield "sequences", [tuple(v.sequence(t).tolist()) for t in range(given["size"], len(v))], [s for s, _ in wanted]
    else:
        yield "pairs", [tuple(pair) for pair in v.merges.tolist()], [s for s, _ in wanted]
    ordered = [weight for _, weight in wanted]
    yield "idf", near(v.weights[given["size"] :].tolist(), ordered, 1e-14), ordered


def _draw_continued(rng: Random) -> Inputs:
    given = {**_corpus(rng), "class": rng.choice(["BPE", "UBPEClassic", "UBPE"]), "overshoot": False}
    return {**given, "first": rng.randint(given["size"], given["n_tokens"])}


def _compare_continued(given: Inputs) -> Pairs:
    """A fit to a part of the size, and on the same documents to the rest, is a fit to the whole size."""
    wanted, _ = _wanted(given)
    tok = _tokenizer({**given, "n_tokens": given["first"]}).fit(given["documents"], progress=False)
    tok.fit_more(given["documents"], given["n_tokens"], progress=False)
    yield "merges", _merges(tok.vocabulary), wanted


PAIRS = Part("fit: pairs, counts, idf", 200, _draw_pairs, _compare_pairs)
SYMBOLS_OF_TYPES = Part("fit: symbols of every type", 60, _draw_symbols, _compare_symbols)
WEIGHTED = Part("fit: weights, boundaries, lengths", 150, _draw_weighted, _compare_weighted)
TIES = Part("fit: other rules for ties", 100, _draw_ties, _compare_weighted)
SHARDS = Part("fit: several shards, threads", 60, _draw_shards, _compare_shards)
LARGE = Part("fit: a million symbols, threads", 4, _draw_large, _compare_large)
BY_IDF = Part("fit: in order of idf, trimmed", 80, _draw_by_idf, _compare_by_idf)
CONTINUED = Part("fit: continued", 60, _draw_continued, _compare_continued)
