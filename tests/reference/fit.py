"""Learning merges: in every round count all adjacent pairs anew, choose the best, replace them."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

Pair = tuple[int, int]

BARRIER = -1  # stands in a document where no token may reach across; part of no pair
FRAME = -2  # the same, where a frame ends and a token beside it is not of whole frames


class Merge(NamedTuple):
    """A pair that became one new id, with its count and its number of documents at that moment."""

    left: int
    right: int
    count: int  # type: ignore[assignment]  # hides tuple.count, which nobody needs here
    documents: int


def replace(doc: list[int], new_ids: dict[Pair, int]) -> list[int]:
    """Replace the given pairs by their new ids in one pass from left to right.

    >>> replace([1, 2, 3, 1, 2], {(1, 2): 4}), replace([0, 0, 0], {(0, 0): 1})
    ([4, 3, 4], [1, 0])
    """
    result = []
    position = 0
    while position < len(doc):
        pair = tuple(doc[position : position + 2])
        result.append(new_ids.get(pair, doc[position]))  # type: ignore[call-overload]
        position += 2 if pair in new_ids else 1
    return result


def framed(doc: list[int], lengths: list[int], frame: int | None) -> list[int]:
    """The document with `FRAME` where two tokens meet at the end of a frame, and not both are of whole frames.

    >>> framed([0, 1, FRAME, 0, 1, 3, 3], [1, 1, 1, 2], 2)
    [0, 1, -2, 0, 1, -2, 3, 3]
    """
    made: list[int] = []
    at = 0
    for token in doc if frame else []:
        if token == FRAME:
            continue
        whole = (
            min(token, min(made[-1:], default=-1)) >= 0
            and lengths[token] % frame == lengths[made[-1]] % frame == 0
        )
        made += [FRAME, token] if at % frame == 0 and not whole else [token]
        at += lengths[token] if token >= 0 else 0
    return made[1:] if frame else doc


def idf(n_documents: int, documents: int) -> float:
    """Weight of a pair held by `documents` out of `n_documents`."""
    return math.log((1 + n_documents) / (1 + documents))


def adjacent(doc: Sequence[int]) -> list[Pair]:
    """Each symbol with the one behind it."""
    return [(doc[i], doc[i + 1]) for i in range(len(doc) - 1)]


def prepare(
    docs: list[list[int]], weights: Sequence[int] | None, boundaries: Sequence[Sequence[int]] | None
) -> tuple[list[list[int]], list[int]]:
    """The documents that weigh something, with a barrier before every symbol that is at a boundary, and their weights.

    >>> prepare([[0, 1], [0], [2, 2]], [3, 0, 1], [[1, 1], [], [0, 2]])
    ([[0, -1, 1], [2, 2]], [3, 1])
    """
    found = []
    for i, doc in enumerate(docs):
        cuts = set(boundaries[i]) - {0} if boundaries else set()
        found.append(
            [
                token
                for at, symbol in enumerate(doc)
                for token in ([BARRIER, symbol] if at in cuts else [symbol])
            ]
        )
    weights = [1] * len(docs) if weights is None else weights
    return [found[i] for i in range(len(docs)) if weights[i]], [weight for weight in weights if weight]


def count_pairs(docs: list[list[int]], weights: Sequence[int] | None = None) -> Counter[Pair]:
    """Count adjacent pairs, overlapping ones too; the keys stand in order of first occurrence.

    >>> list(count_pairs([[0, 0, 0], [], [1, 0]], weights=[2, 1, 5]).items())
    [((0, 0), 4), ((1, 0), 5)]
    """
    counts: Counter[Pair] = Counter()
    for i, doc in enumerate(docs):
        for pair in adjacent(doc):
            if min(pair) >= 0:
                counts[pair] += 1 if weights is None else weights[i]
    return counts


def count_documents(docs: list[list[int]], weights: Sequence[int] | None = None) -> Counter[Pair]:
    """Count the documents that hold each pair; one of weight w counts as w documents.

    >>> sorted(count_documents([[0, 0, 0], [0, 0, 1]], weights=[5, 1]).items())
    [((0, 0), 6), ((0, 1), 1)]
    """
    documents: Counter[Pair] = Counter()
    for i, doc in enumerate(docs):
        for pair in count_pairs([doc]):
            documents[pair] += 1 if weights is None else weights[i]
    return documents


def order_pairs(counts: Counter[Pair], documents: Counter[Pair], ties: str, min_count: int) -> list[Pair]:
    """All pairs with count >= `min_count`, the most frequent first, equal counts ordered by `ties`.

    Here (1, 2), (3, 4) and (0, 2) occur twice each, the first two of them in one document:

    >>> docs = [[1, 2, 1, 2], [3, 4, 3, 4], [0, 2], [0, 2]]
    >>> counted = count_pairs(docs), count_documents(docs)
    >>> order_pairs(*counted, "smallest", 2), order_pairs(*counted, "first_seen", 2)
    ([(0, 2), (1, 2), (3, 4)], [(1, 2), (3, 4), (0, 2)])
    >>> order_pairs(*counted, "fewest_documents", 2)
    [(3, 4), (1, 2), (0, 2)]
    """
    first_seen = {pair: place for place, pair in enumerate(counts)}

    def key(pair: Pair) -> tuple[int, ...]:
        left, right = pair
        if ties == "smallest":
            return -counts[pair], left, right
        if ties == "first_seen":
            return -counts[pair], first_seen[pair]
        return -counts[pair], documents[pair], -left, -right

    return sorted((pair for pair in counts if counts[pair] >= min_count), key=key)


def select(candidates: list[Pair], counts: Counter[Pair]) -> list[Pair]:
    """Of the candidates, best first, keep those that can be replaced together.

    The first is always kept. A later one is kept if it shares no token with those kept and if both pairs
    on the borders between it and any kept one are strictly rarer than itself.

    >>> counts = Counter({(0, 1): 9, (1, 2): 8, (2, 3): 5, (4, 5): 5, (3, 0): 5, (6, 7): 4})
    >>> select([(0, 1), (1, 2), (2, 3), (4, 5), (6, 7)], counts)
    [(0, 1), (4, 5), (6, 7)]

    (1, 2) shares the 1; (2, 3) meets (0, 1) in the border pair (3, 0), which is as frequent as itself.
    """
    kept: list[Pair] = []
    for left, right in candidates:
        count = counts[left, right]
        shares_token = any(left in pair or right in pair for pair in kept)
        borders_are_rarer = all(
            counts[right, kept_left] < count and counts[kept_right, left] < count
            for kept_left, kept_right in kept
        )
        if not kept or (not shares_token and borders_are_rarer):
            kept.append((left, right))
    return kept


def fit(
    docs: list[list[int]],
    alphabet_size: int,
    n_tokens: int,
    n_candidates: int = 1,
    ties: str = "smallest",
    min_count: int = 2,
    overshoot: bool = False,
    weights: Sequence[int] | None = None,
    boundaries: Sequence[Sequence[int]] | None = None,
    max_token_length: int | None = None,
    old: Sequence[Pair] = (),
    frame: int | None = None,
) -> tuple[list[Merge], list[list[int]]]:
    """Learn merges; return them in order of creation, with the corpus after the last of them.

    The merge at index i has the id `alphabet_size + i`. Without `overshoot` there are at most `n_tokens`
    ids in all, symbols included, and the last round is cut; with it, whole rounds run while the last id
    is below `n_tokens`.

    >>> fit([[0, 1, 0, 1, 2], [0, 1, 2], []], alphabet_size=3, n_tokens=5)
    ([Merge(left=0, right=1, count=3, documents=2), Merge(left=3, right=2, count=2, documents=2)], [[3, 4], [4], []])

    A document of weight w counts as w documents, one of weight 0 is left out, of the corpus that is returned
    too. No token reaches across the `boundaries` of its document, or stands for more than `max_token_length`
    symbols.

    >>> fit([[0, 1, 0, 1, 2], [0, 1, 2], [0]], 3, 5, weights=[1, 9, 0], boundaries=[[4], [2], []])
    ([Merge(left=0, right=1, count=11, documents=10)], [[3, 3, 2], [3, 2]])

    The `old` pairs are replaced one after the other before the first round, as when a fit is continued on
    another corpus:

    >>> fit([[0, 1, 2, 0, 1, 2]], 3, 9, old=[(0, 1)])
    ([Merge(left=3, right=2, count=2, documents=1)], [[4, 4]])

    With a `frame` tokens lie within a frame of so many symbols, or are of whole ones:

    >>> [merge[:3] for merge in fit([[0, 0, 0, 0, 0, 0, 0, 0, 0]], 1, 9, frame=4)[0]]
    [(0, 0, 6), (1, 1, 2)]
    """
    corpus, document_weights = prepare(docs, weights, boundaries)
    lengths = [1] * alphabet_size  # symbols that each token stands for
    for left, right in old:
        corpus = [replace(framed(doc, lengths, frame), {(left, right): len(lengths)}) for doc in corpus]
        lengths.append(lengths[left] + lengths[right])

    merges: list[Merge] = []
    while len(lengths) - overshoot < n_tokens:  # with `overshoot` the last id is compared
        corpus = [framed(doc, lengths, frame) for doc in corpus]
        counts = count_pairs(corpus, document_weights)
        documents = count_documents(corpus, document_weights)
        candidates = order_pairs(counts, documents, ties, min_count)
        if max_token_length is not None:
            candidates = [
                pair for pair in candidates if lengths[pair[0]] + lengths[pair[1]] <= max_token_length
            ]
        kept = select(candidates[:n_candidates], counts)
        if not overshoot:
            kept = kept[: n_tokens - len(lengths)]
        if not kept:
            break
        new_ids = {}
        for left, right in kept:
            new_ids[left, right] = len(lengths)
            lengths.append(lengths[left] + lengths[right])
            merges.append(Merge(left, right, counts[left, right], documents[left, right]))
        corpus = [replace(doc, new_ids) for doc in corpus]
    return merges, [[token for token in doc if token >= 0] for doc in corpus]


def fit_mirrored(
    docs: list[list[int]],
    mirror: Sequence[int],
    n_tokens: int,
    n_candidates: int = 1,
    min_count: int = 2,
    weights: Sequence[int] | None = None,
    boundaries: Sequence[Sequence[int]] | None = None,
    max_token_length: int | None = None,
) -> tuple[list[Merge], list[list[int]]]:
    """Learn merges of documents that count together with their mirrors; return them with the corpus after the last.

    The mirror of a document is read backwards, each symbol replaced by its entry in `mirror`. A pair, the
    smaller of it and its mirror, is merged in all documents, and then in the mirrors of what is left, which
    are mirrored back: there it makes the next id. A round keeps pairs as `select` does, where a pair and its
    mirror are one. A pair without room ends the fit.

    >>> fit_mirrored([[0, 0, 0, 1, 1, 1]], mirror=[1, 0], n_tokens=4)
    ([Merge(left=0, right=0, count=4, documents=2), Merge(left=1, right=1, count=4, documents=2)], [[2, 0, 1, 3]])
    """
    corpus, document_weights = prepare(docs, weights, boundaries)
    lengths, of = [1] * len(mirror), dict(enumerate(mirror)) | {BARRIER: BARRIER}
    merges: list[Merge] = []

    def turned(pair: Pair) -> Pair:
        return of[pair[1]], of[pair[0]]

    def mirrored(docs: list[list[int]]) -> list[list[int]]:
        return [[of[token] for token in reversed(doc)] for doc in docs]

    room = True
    while room:
        counts = count_pairs(corpus + mirrored(corpus), document_weights * 2)
        ordered = order_pairs(counts, Counter(), "smallest", min_count)
        candidates = [pair for pair in ordered if pair <= turned(pair)]
        if max_token_length is not None:
            candidates = [
                pair for pair in candidates if lengths[pair[0]] + lengths[pair[1]] <= max_token_length
            ]
        kept: list[Pair] = []
        for pair in candidates[:n_candidates]:
            if not kept or (
                not {*pair, *turned(pair)} & {part for other in kept for part in other}
                and all(
                    counts[pair[1], left] < counts[pair] and counts[right, pair[0]] < counts[pair]
                    for left, right in kept
                )
            ):
                kept += [pair] if pair == turned(pair) else [pair, turned(pair)]
        room = bool(kept)
        while kept and room:
            unit = [kept.pop(0) for _ in range(1 if kept[0] == turned(kept[0]) else 2)]
            room = len(lengths) + len(unit) <= n_tokens
            if not room:
                break
            first, documents = len(lengths), 0
            of |= {first: first + len(unit) - 1, first + len(unit) - 1: first}
            # in the documents, and in their mirrors; a pair that is its own mirror is gone then
            for _ in range(2):
                documents += count_documents(corpus, document_weights)[unit[0]]
                corpus = mirrored([replace(doc, {unit[0]: first}) for doc in corpus])
            documents *= 3 - len(unit)
            for pair in unit:
                lengths.append(lengths[pair[0]] + lengths[pair[1]])
                merges.append(Merge(*pair, counts[pair], documents))
    return merges, [[token for token in doc if token != BARRIER] for doc in corpus]


def corpus_lengths(
    docs: list[list[int]],
    pairs: Sequence[Pair],
    alphabet_size: int,
    weights: Sequence[int] | None = None,
    boundaries: Sequence[Sequence[int]] | None = None,
    frame: int | None = None,
) -> list[int]:
    """How many tokens the corpus has after each merge; those of a document of weight w count w times.

    >>> corpus_lengths([[0, 1, 0, 1, 2], [0, 1, 2]], [(0, 1), (3, 2)], alphabet_size=3, weights=[1, 10])
    [23, 12]
    """
    corpus, document_weights = prepare(docs, weights, boundaries)
    lengths, sizes = [], [1] * alphabet_size
    for token, pair in enumerate(pairs, start=alphabet_size):
        corpus = [replace(framed(doc, sizes, frame), {pair: token}) for doc in corpus]
        sizes.append(sizes[pair[0]] + sizes[pair[1]])
        n_tokens = [sum(token >= 0 for token in doc) for doc in corpus]
        lengths.append(sum(n * document_weights[i] for i, n in enumerate(n_tokens)))
    return lengths
