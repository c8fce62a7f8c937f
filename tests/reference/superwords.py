"""Merges in two stages: first inside the segments of one pattern, then inside those of another, or of whole documents."""

from __future__ import annotations

from collections.abc import Sequence

from .encode_pairs import encode_rank
from .fit import Merge, Pair, adjacent, fit_more
from .words import split


def segments(doc: bytes, pattern: str | None, special: bytes, boundaries: Sequence[int] = ()) -> list[bytes]:
    """What tokens may not cross the ends of: a document without its special tokens, cut at boundaries and by a pattern.

    >>> segments(b"a cat<s> sat", None, b"<s>", [3])
    [b'a c', b'at', b' sat']
    >>> segments(b"a cat<s> sat", "gpt2", b"<s>")
    [b'a', b' cat', b' sat']
    """
    places = sorted({0, *boundaries, len(doc)})
    parts = [part for a, b in adjacent(places) for part in doc[a:b].split(special) if part]
    return parts if pattern is None else [segment for part in parts for segment in split(part, pattern)]


def two_stages(
    docs: list[bytes],
    patterns: tuple[str | None, str | None],
    sizes: tuple[int, int],
    special: bytes,
    weights: Sequence[int] | None = None,
    boundaries: Sequence[Sequence[int]] | None = None,
) -> tuple[list[Merge], list[Merge]]:
    """The merges of both stages, over bytes; every segment counts as a document.

    >>> [[merge[:3] for merge in stage] for stage in two_stages([b"a b a b", b"a b"], ("gpt2", None), (257, 258), b"<s>")]
    [[(32, 98, 3)], [(97, 256, 3)]]
    """
    stages: list[list[Merge]] = []
    old: list[Pair] = []
    for pattern, size in zip(patterns, sizes, strict=True):
        parts, part_weights = [], []
        for i, doc in enumerate(docs):
            found = segments(doc, pattern, special, boundaries[i] if boundaries else ())
            parts += [list(part) for part in found]
            part_weights += [weights[i] if weights else 1] * len(found)
        stages.append(fit_more(parts, old, 256, size, weights=part_weights)[0])
        old += [merge[:2] for merge in stages[-1]]
    return stages[0], stages[1]


def encode(doc: bytes, pattern: str | None, merges: Sequence[Pair], special: bytes) -> list[int]:
    """The ids of a document without special tokens, each segment by merge rank.

    >>> encode(b"a b", None, [(32, 98), (97, 256)], b"<s>")
    [257]
    """
    ranked = {pair: (rank, 256 + rank) for rank, pair in enumerate(merges)}
    return [token for part in segments(doc, pattern, special) for token in encode_rank(list(part), ranked)]
