"""Encoding by the best path and by the n best, and sums over all paths, against plain references and trying everything."""

from __future__ import annotations

import math
from random import Random

import numpy as np

from ubpe_numba.coding.k_cheapest import k_best
from ubpe_numba.coding.lattice import Lattice
from ubpe_numba.coding.path_encoder import PathEncoder
from ubpe_numba.coding.path_search import Options, PathSearch
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.verification import draw
from ubpe_numba.verification.part import Inputs, Pairs, Part, near
from ubpe_numba.verification.reference import encode_paths, path_sums, search_paths
from ubpe_numba.verification.reference.decode import decode, expand
from ubpe_numba.vocabulary.vocabulary import Vocabulary

_UNIT = 2**24  # of weights, in fixed point


def _draw(rng: Random, longest: int) -> Inputs:
    made = draw.table_without_twins(rng)
    docs = draw.documents(rng, made.size, draw.tokens_of(made), longest, most=4)
    idf = rng.choice(draw.WEIGHTS)
    signed = rng.choice([(-2.5, -1.0, -0.25, 0.0, 0.25, 1.0), (-1.0, -2.0, -3.0), tuple(rng.uniform(-9, 0) for _ in range(50))])
    return {
        "size": made.size,
        "pairs": made.pairs,
        "documents": docs,
        "idf": [rng.choice(idf) for _ in made.pairs],
        "weights": [rng.choice(signed) for _ in range(made.size + len(made.pairs))],
    }


def _tokens(given: Inputs) -> encode_paths.Vocabulary:
    return {sequence: token for token, sequence in enumerate(expand(given["pairs"], given["size"]))}


def _idf(given: Inputs) -> dict[int, float]:
    return {given["size"] + i: weight for i, weight in enumerate(given["idf"])}


def _encoder(given: Inputs) -> PathEncoder:
    return PathEncoder(Vocabulary.from_merges(given["size"], given["pairs"], given["idf"]), np.array(given["weights"]))


def _best(given: Inputs, doc: list[int], objective: str, tokens: encode_paths.Vocabulary) -> list[int]:
    """The best path by the reference."""
    weights = dict(enumerate(given["weights"]))
    if objective == "tfidf":
        return list(encode_paths.encode_top(doc, tokens, _idf(given), 1)[0][0])
    if objective == "shortest":
        return list(encode_paths.encode_shortest(doc, tokens, _idf(given)))
    if objective == "additive":
        return list(encode_paths.encode_additive(doc, tokens, weights))
    return list(encode_paths.encode_forward(doc, tokens, weights, single=objective == "sentencepiece"))


def _draw_best(rng: Random) -> Inputs:
    given = _draw(rng, 65)
    if rng.random() < 0.2:
        given["weights"] = [rng.choice([-40000.0, -1e6, -1.0 / 3.0]) for _ in given["weights"]]  # sums that float32 cannot hold
    return given


def _compare_best(given: Inputs) -> Pairs:
    """By every objective."""
    tokens, encoder, docs = _tokens(given), _encoder(given), Ragged.from_lists(given["documents"])
    for objective in ("tfidf", "shortest", "additive", "sentencepiece", "tokenizers"):
        wanted = [_best(given, doc, objective, tokens) for doc in given["documents"]]
        yield objective, encoder.encode(docs, objective, 1).to_lists(), wanted


def _draw_many(rng: Random) -> Inputs:
    given = _draw(rng, 33)
    given["documents"].append([rng.randrange(given["size"]) for _ in range(60)])
    return {**given, "copies": 1 + 210_000 // sum(map(len, given["documents"])), "threads": rng.choice([2, 3])}


def _compare_many(given: Inputs) -> Pairs:
    """As many documents as threads share, and after which the states of the automaton that follow are listed."""
    tokens, encoder = _tokens(given), _encoder(given)
    docs = Ragged.from_lists(given["documents"] * given["copies"])
    for objective in ("tfidf", "shortest", "additive"):
        wanted = [_best(given, doc, objective, tokens) for doc in given["documents"]] * given["copies"]
        yield objective, encoder.encode(docs, objective, given["threads"]).to_lists(), wanted


def _draw_large(rng: Random) -> Inputs:
    """One token that occurs more often than there are logarithms in the table; weights whose sums do not fit into 64 bits."""
    doc = [0, 1] * rng.choice([4094, 4095, 4096, 4097, 5000])
    return {"documents": [doc], "idf": rng.choice([0.5, 1.0, 1 / 3]), "run": rng.choice([300, 301, 400]), "most": 1e6}


def _compare_large(given: Inputs) -> Pairs:
    encoder = PathEncoder(Vocabulary.from_merges(2, [(0, 1)], [given["idf"]]))
    docs = Ragged.from_lists(given["documents"])
    n = len(given["documents"][0]) // 2
    yield "path", encoder.encode(docs, "tfidf", 1).to_lists(), [[2] * n]
    _, weights = PathSearch(encoder).n_best(docs, Options(1, 1), 1)[0]
    yield "weight", (weights * _UNIT).tolist(), [float(encode_paths.fixed(given["idf"], n))]
    powers = [(i, i) for i in range(8)]  # tokens of 2, 4, ... 256 symbols
    heavy = {i: given["most"] * (i / 4 - 1) for i in range(9)}
    encoder = PathEncoder(Vocabulary.from_merges(1, powers), np.array(list(heavy.values())))
    tokens = {sequence: token for token, sequence in enumerate(expand(powers, 1))}
    run = [0] * given["run"]
    wanted = list(encode_paths.encode_additive(run, tokens, heavy))
    yield "path by large weights", encoder.encode(Ragged.from_lists([run]), "additive", 1).to_lists(), [wanted]


def _draw_n_best(rng: Random) -> Inputs:
    return {**_draw(rng, 20), "n": rng.choice([1, 2, 3, 7]), "wider": rng.choice([0, 0, 3]), "by_bag": rng.random() < 0.5}


def _found(one: tuple[Ragged, np.ndarray]) -> search_paths.Found:
    return [(tuple(path), round(weight * _UNIT)) for path, weight in zip(one[0].to_lists(), one[1].tolist(), strict=True)]


def _compare_n_best(given: Inputs) -> Pairs:
    """A beam by path or by bag; exact searches of short documents, by every objective, against trying everything."""
    tokens, idf, encoder = _tokens(given), _idf(given), _encoder(given)
    search, n, beam, by_bag = PathSearch(encoder), given["n"], given["n"] + given["wider"], given["by_bag"]
    found = search.n_best(Ragged.from_lists(given["documents"]), Options(n, beam, by_bag), 1)
    wanted = [search_paths.beam_search(doc, tokens, idf, beam, by_bag)[:n] for doc in given["documents"]]
    yield "beam", [_found(one) for one in found], wanted
    short = [doc[:9] for doc in given["documents"]]
    exact = search.n_best(Ragged.from_lists(short), Options(n, max(n, 2), by_bag, exact=True), 1)
    of_all = [search_paths.n_best_of_all(doc, tokens, idf, n, by_bag) for doc in short]
    yield "exact", [_found(one) for one in exact], of_all
    for objective, weights in (("additive", dict(enumerate(given["weights"]))), ("shortest", idf)):
        paths = [k_best(encoder, np.array(doc, np.int32), objective, n)[0].to_lists() for doc in short]
        best = [[list(path) for path in encode_paths.k_best_paths(doc, tokens, weights, objective, n)] for doc in short]
        yield f"exact, {objective}", paths, best


def _draw_sums(rng: Random) -> Inputs:
    given = _draw(rng, 9)
    few = (2.0**-60, 2.0**-30, 0.5, 1.0, 2.0**30)
    given["weights"] = [rng.choice(few) if rng.random() < 0.3 else rng.uniform(1e-6, 1.0) for _ in given["weights"]]
    return {**given, "seed": rng.randrange(2**64)}


def _compare_sums(given: Inputs) -> Pairs:
    """Expected counts, logarithms and boundaries, up to rounding; samples are paths, the same for any number of threads."""
    tokens, lattice = _tokens(given), Lattice(_encoder(given), np.array(given["weights"]))
    docs, plain = Ragged.from_lists(given["documents"]), given["documents"]
    counts, log = [0.0] * len(tokens), 0.0
    for doc in plain:
        for token, count in path_sums.expected_counts(doc, tokens, given["weights"]).items():
            counts[token] += float(count)
        total = path_sums.weight_of_all(doc, tokens, given["weights"])
        log += math.log(total.numerator) - math.log(total.denominator)
    found, logs = lattice.expected_counts(docs, None, 1)
    yield "expected counts", near(found.tolist(), counts, 1e-7), counts
    yield "logarithm of the sum", near([logs], [log], 1e-9), [log]
    borders = [[float(share) for share in path_sums.boundaries(doc, tokens, given["weights"])] for doc in plain]
    made = [lattice.boundaries(np.array(doc, np.int32)).tolist() for doc in plain]
    yield "boundaries", [near(some, borders[i], 1e-12) for i, some in enumerate(made)], borders
    drawn = lattice.sample(docs, given["seed"], 1).to_lists()
    flat = expand(given["pairs"], given["size"])
    yield "samples, decoded", [decode(path, flat) for path in drawn], plain


BEST = Part("encode: best path, five objectives", 150, _draw_best, _compare_best)
MANY = Part("encode: best path, threads", 3, _draw_many, _compare_many)
LARGE = Part("encode: large counts and weights", 3, _draw_large, _compare_large)
N_BEST = Part("encode: n best paths", 120, _draw_n_best, _compare_n_best)
SUMS = Part("sums over all segmentations", 80, _draw_sums, _compare_sums)
