"""Documents as the model has them: special tokens taken out, the rest cut into segments, each encoded, ids renumbered."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ubpe_numba.documents.normalise import Documents
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.errors import UnknownSymbolError
from ubpe_numba.text.cut import PATTERNS
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.segmenter import Segmenter, SpecialChoice, Stretches

if TYPE_CHECKING:
    from ubpe_numba.coding.word_encoder import WordEncoder


def encode(
    segmenter: Segmenter, documents: Documents, alphabet: Alphabet, encode: Callable[[Ragged], Ragged], unknown: str | int,
    chosen: SpecialChoice, name: str = "docs", words: WordEncoder | None = None, n_threads: int | None = None,
) -> Ragged:  # fmt: skip
    """The ids of documents; `encode` turns segments of alphabet ids into ids of the vocabulary, or `words` bytes, if given.

    Raises as `Alphabet.to_ids`; ValueError if a special token is found that is not allowed, naming document and position.
    """
    alphabet.check_kind(documents, name=name)
    pieces = segmenter.stretches(documents, segmenter.active(chosen), name, chosen)
    if words is not None and segmenter.pretokenizer is not None and pieces.values.dtype == np.uint8:
        pattern = segmenter.pretokenizer.name
        cuts = pattern if pattern in PATTERNS else segmenter.segments(pieces)
        found = words.encode(pieces.values, pieces.cuts, cuts, n_threads)
    else:
        found = _encode_segments(segmenter, documents, pieces, alphabet, encode, unknown, name)
    values, offsets = found.values, found.offsets[pieces.first]
    if segmenter.token_ids is not None:
        values = segmenter.token_ids[values]
    if pieces.words.size and segmenter.special is not None:
        values = np.insert(values, found.offsets[pieces.before], segmenter.special.ids[pieces.words])
        offsets = offsets + np.searchsorted(pieces.at, documents.offsets - documents.offsets[0])
    return Ragged._trusted(values, offsets)


def _encode_segments(
    segmenter: Segmenter, documents: Documents, pieces: Stretches, alphabet: Alphabet, encode: Callable[[Ragged], Ragged],
    unknown: str | int, name: str,
) -> Ragged:  # fmt: skip
    """The ids of every stretch, each of its segments encoded by itsegmenter."""
    cuts = segmenter.segments(pieces)
    try:
        ids = alphabet.to_ids(Documents(pieces.values, cuts, documents.kind), unknown, name=name)
    except UnknownSymbolError as error:
        at = int(cuts[error.document]) + error.position
        lengths = np.zeros(0, np.int64) if segmenter.special is None else np.diff(segmenter.special.offsets)[pieces.words]
        before = pieces.at - np.cumsum(lengths) + lengths  # where the words stood, in what is left
        at += int(lengths[before <= at].sum())
        starts = documents.offsets - documents.offsets[0]
        document = int(np.searchsorted(starts, at, side="right")) - 1
        raise UnknownSymbolError(document, at - int(starts[document]), error.symbol, error.hint) from None
    found = encode(ids)
    return Ragged._trusted(found.values, found.offsets[np.searchsorted(cuts, pieces.cuts)])
