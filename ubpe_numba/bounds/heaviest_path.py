"""A bound on the weight of any segmentation of a document, and the truly n best by tf-idf.

They are certificates of `UBPE.encode_nbest`.

The beam search of `encode_nbest` always runs first. Prices of tokens (kernels/path_prices.py) give the most
that any segmentation weighs. A guided search runs the beam a second time in the order of these prices and
keeps the best of both. An exact search then tries every tail that the bound does not exclude.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.bounds.kernels import path_prices
from ubpe_numba.coding.n_best import NBest, n_best_paths
from ubpe_numba.coding.path_encoder import SCALE, PathEncoder
from ubpe_numba.documents.ragged import Ragged, own_offsets
from ubpe_numba.errors import quoted
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.arrays import offsets_of, positive
from ubpe_numba.tokenizers.base import given_tokenizer
from ubpe_numba.tokenizers.seam import model_of
from ubpe_numba.tokenizers.ubpe import UBPE

__all__ = ["encode_nbest"]

_PASSES = 32  # of the search for prices
#: The most tails that an exact search looks at, and the steps for each that it may take; ~1 s and 100 MB.
MOST_TAILS = 1 << 20
_EFFORT = 64


def encode_nbest(
    tok: UBPE,
    docs: Any,
    n: int,
    offsets: Any = None,
    *,
    beam: int | None = None,
    distinct: str = "path",
    exact: bool = False,
    guided: bool = False,
    unknown: Any = None,
) -> tuple[NBest, NDArray[np.float64]]:
    """The `n` best segmentations of documents by tf-idf, and a bound on heavier segmentations.

    Parameters
    ----------
    tok
        A tokenizer of the objective ``"tfidf"``; by the others `UBPE.encode_nbest` is exact.
    docs, n, offsets, distinct, unknown
        As for `UBPE.encode_nbest`.
    beam
        As for `UBPE.encode_nbest`; if the search is exact or guided, None means 16, or `n` if that is more.
    exact
        Find the truly best, with ties broken by fewer tokens, then the shorter first token, then the shorter
        second token, and so on. For documents of up to about 120 symbols: the effort grows fast with their
        length, and ValueError for a document that needs too much.
    guided
        Search a second time, by the weight of tokens beyond their price elsewhere in the document, and return
        the best of both. Nearer to the true best in long documents, at several times the cost.

    Returns
    -------
    found
        The `NBest` of all documents.
    gaps
        float64, for each document: how much heavier than its first segmentation any other can be at most, in
        the units in which candidates are compared; 0 if exact. It holds for any length, and takes about as
        long as a guided search.

    Examples
    --------
    >>> tok = UBPE(n_tokens=8, n_candidates=2).fit([[0, 1, 2, 0, 1], [2, 0, 1], [1, 1]])
    >>> found, gaps = encode_nbest(tok, [[0, 1, 2, 0, 1]], 2, exact=True)
    >>> [tok.decode(ids).tolist() for ids in found.candidates], gaps.tolist()
    ([[0, 1, 2, 0, 1], [0, 1, 2, 0, 1]], [0.0])
    """
    tok = given_tokenizer(tok, UBPE)
    if tok.objective != "tfidf":
        raise ValueError(
            f"objective: expected 'tfidf', got {quoted(tok.objective)}; by that one `encode_nbest` is exact"
        )
    if beam is None and (exact or guided):
        beam = max(positive(n, "n"), 16)
    nbest = tok.encode_nbest(docs, n, offsets, beam=beam, distinct=distinct, unknown=unknown)
    vocabulary = model_of(tok).vocabulary
    encoder = PathEncoder(vocabulary)
    if not encoder.weighs:  # all segmentations weigh 0
        return nbest, np.zeros(len(nbest))
    tokens = Ragged(vocabulary.arena, vocabulary.offsets)
    ways = distinct == "bag", exact, guided

    def part(begin: int, end: int) -> list[tuple[Ragged, np.ndarray, float]]:
        firsts = (tokens.take(nbest[i][0][0]).compact().values.astype(np.int32) for i in range(begin, end))
        return [
            certified(encoder, doc, nbest[i][0], n, beam or n, *ways, i)
            for i, doc in enumerate(firsts, begin)
        ]

    heads = nbest.candidates.take(nbest.offsets[:-1]).compact()
    # of documents, in symbols
    starts = np.append(0, np.cumsum(tokens.lengths[heads.values]))[own_offsets(heads)]
    chunks = thread_pool.chunks_of(starts, tok.n_threads)
    results = [one for some in thread_pool.run(part, chunks, tok.n_threads) for one in some]
    best = NBest.of((candidates, weights) for candidates, weights, _ in results)
    weights = encoder.weigh(best.candidates, "tfidf")
    return NBest(best.candidates, best.offsets, weights), np.array([gap for _, _, gap in results]) / SCALE


def certified(
    encoder: PathEncoder,
    document: np.ndarray,
    candidates: Ragged,
    n: int,
    beam: int,
    by_bag: bool,
    exact: bool,
    guided: bool,
    number: int,
) -> tuple[Ragged, np.ndarray, float]:
    """The n best paths of a document, int32 alphabet ids, their weights, and the largest gap.

    Weights are in fixed point. The gap is how much heavier another path can be at most.

    `candidates` are the n best paths of a beam search; `number` is that of the document in errors.
    """
    weights, prices = _weigh(encoder, candidates), Prices.of(encoder, document, candidates[0])
    if exact or guided:
        again = n_best_paths(
            encoder, Ragged.from_lists([document]), beam, beam, by_bag, 1, prices.prices
        ).candidates
        both = Ragged.concat([candidates, again])
        weights = _weigh(encoder, both)
        seen: set[bytes] = set()
        chosen: list[int] = []
        for i in np.lexsort((both.lengths, -weights)):  # those of `candidates` first among equals
            path = np.sort(both[i]) if by_bag else both[i]
            if len(chosen) < n and (key := path.tobytes()) not in seen:
                seen.add(key)
                chosen.append(i)
        candidates, weights = both.take(np.array(chosen)), weights[chosen]
    if not exact:
        return candidates, weights, float(prices.bound - weights[0])
    least = weights[-1] if len(weights) == n else -1.0  # fewer than n: all of them
    return *_exact(encoder, prices, float(least), n, by_bag, number), 0.0


def _weigh(encoder: PathEncoder, paths: Ragged) -> np.ndarray:
    """Weights of paths in fixed point."""
    weights, paths = np.empty(len(paths)), paths.compact()
    counts = np.zeros(encoder.scaled_idf.size, np.int32)
    path_prices.weigh_paths(
        paths.values, own_offsets(paths), encoder.scaled_idf, encoder.logs, counts, weights
    )
    return weights


class Prices(NamedTuple):
    """The lattice of a document, prices of its tokens, and the most that a path can weigh.

    The last is in fixed point.
    """

    bounds: np.ndarray  # int64[n + 1], of `matches`
    matches: np.ndarray  # tokens by their start
    prices: np.ndarray  # float64[V]
    value: np.ndarray  # float64[n + 1], the most that a way from the start to a position costs
    bound: float  # that no path weighs more than
    over: float  # the part of it that is excess over prices

    @classmethod
    def of(cls, encoder: PathEncoder, document: np.ndarray, path: np.ndarray) -> Prices:
        """Find prices, beginning with those of a good path."""
        n, size = document.size, encoder.scaled_idf.size
        bounds, n_matches = np.zeros(n + 1, np.int64), 4 * n
        while True:
            matches = np.empty(n_matches, path_prices.MATCH)
            n_matches = path_prices.list_matches(
                document, encoder.matcher.edges, encoder.matcher.states, bounds, matches
            )
            if n_matches <= matches.size:
                break
        tokens = np.unique(matches["token"][:n_matches])
        mean = np.bincount(path, minlength=size).astype(np.float64)
        prices, value = np.zeros(size), np.empty(n + 1)
        bound, over = path_prices.find_prices(
            bounds, matches, tokens, encoder.scaled_idf, encoder.logs, _PASSES,
            mean, np.zeros(size, np.int32), np.zeros(size), prices, value, np.empty(n, np.int32),
        )  # fmt: skip
        return cls(bounds, matches, prices, value, bound, over)


def _exact(
    encoder: PathEncoder, given: Prices, least: float, n: int, by_bag: bool, number: int
) -> tuple[Ragged, np.ndarray]:
    """The truly n best of the paths that weigh `least` or more.

    Errors give the `number` of the document.
    """
    size, n_symbols = 1 << 12, given.value.size - 1
    while True:
        scratch = path_prices.Scratch(
            np.empty(size, path_prices.TAIL), np.empty(size, path_prices.LINK),
            np.empty((2, n_symbols + 1), np.int64),
            np.full(4 * size, -1, np.int32), np.zeros(encoder.scaled_idf.size, np.int32),
        )  # fmt: skip
        n_tails = path_prices.exact_tails(
            given.bounds, given.matches, encoder.scaled_idf, encoder.logs, given.prices, given.value,
            given.over, least,
            encoder.marks, 1 if by_bag else n, _EFFORT * size, tuple(scratch),
        )  # fmt: skip
        if n_tails >= 0:
            break
        if size >= MOST_TAILS:
            raise ValueError(
                f"exact: document {number} of {n_symbols} symbols needs more than {MOST_TAILS} tails; "
                "cut it to shorter ones, or use beam= or guided=True and look at the gap instead"
            )
        size *= 16
    whole = np.arange(scratch.first[0, 0], scratch.first[1, 0])
    weights, n_tokens = scratch.tails["weight"][whole], scratch.links["n_tokens"][whole]
    order = np.lexsort((n_tokens, -weights))[:n]
    offsets = offsets_of(n_tokens[order])
    ids = np.empty(offsets[-1], np.int32)
    path_prices.read_tails(whole[order], scratch.links, offsets, ids)
    return Ragged(ids, offsets), weights[order]
