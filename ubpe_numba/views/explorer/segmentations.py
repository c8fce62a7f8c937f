"""The ways in which the vocabulary of a tokenizer can cut documents: its own first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ubpe_numba.errors import quoted
from ubpe_numba.runtime.arrays import describe

if TYPE_CHECKING:
    from ubpe_numba.tokenizers.base import Tokenizer

AUTO = "auto"


def own_of(tok: Tokenizer) -> str:
    """The name of the way in which a tokenizer cuts by itself: the objective of a `UBPE`, ``"rank"`` of others.

    >>> from ubpe_numba import BPE, UBPE
    >>> own_of(BPE()), own_of(UBPE(objective="shortest"))
    ('rank', 'shortest')
    """
    return str(getattr(tok, "objective", "rank"))


def segmentations_of(tok: Tokenizer, segmentations: str | Sequence[str] = AUTO) -> dict[str, Tokenizer]:
    """Tokenizers of one vocabulary by the names of their ways to cut.

    `segmentations`: ``"auto"``: the tokenizer's own, then ``"rank"`` if the vocabulary has pairs, ``"shortest"``, ``"tfidf"`` if
    it has idf, and ``"likelihood"`` if it has probabilities. Otherwise the names of objectives, as `with_objective` takes them.
    Returns at least one tokenizer. Raises ValueError for an objective that is not known, or that the vocabulary cannot be cut by;
    if there is none. Raises TypeError for names that are not `str`.
    """
    own = own_of(tok)
    if isinstance(segmentations, str) and segmentations != AUTO:
        segmentations = (segmentations,)
    if not isinstance(segmentations, (str, Sequence)):
        raise TypeError(f"segmentations: expected 'auto' or names of objectives, got {describe(segmentations)}")
    names = _all(tok, own) if isinstance(segmentations, str) else list(dict.fromkeys(segmentations))
    if not names:
        raise ValueError("segmentations: expected 'auto' or at least one objective, got none")
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"segmentations: expected names of objectives, got {quoted(name)}")
    try:
        return {name: tok if name == own else tok.with_objective(name) for name in names}
    except ValueError as error:
        raise ValueError(f"segmentations: {error}") from None


def _all(tok: Tokenizer, own: str) -> list[str]:
    """The names that ``"auto"`` stands for."""
    vocabulary = tok.vocabulary
    possible = {
        own: True,
        "rank": vocabulary.merges is not None,
        "shortest": True,
        "tfidf": bool(vocabulary.weights.any()),
        "likelihood": vocabulary.log_probabilities is not None,
    }
    return [name for name, is_possible in possible.items() if is_possible]
