"""A call of `encode` or `encode_batch` from beginning to end: documents are read, divided, encoded, and positions are counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.coding.coder import Coder, Encode, EncodeOptions
from ubpe_numba.coding.parts import Parts
from ubpe_numba.coding.token_places import Places
from ubpe_numba.coding.units import check_units, in_units
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import Documents, read_document, read_documents
from ubpe_numba.errors import LocatedError, quoted

if TYPE_CHECKING:
    from ubpe_numba.coding.word_encoder import WordEncoder

Words = Callable[[], "WordEncoder | None"]


def encode_one(
    coder: Coder, doc: Any, encode: Encode, options: EncodeOptions, words: Words | None, n_threads: int | None
) -> NDArray[np.int32] | tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The ids of one document; a pair of ids and positions, as `positions` has them, if the options ask for these."""
    given = read_document(doc, coder.model.segmenter.encoding)
    if options.boundaries is not None:
        options = options._replace(boundaries=[options.boundaries])  # for each of the documents
    encoded, places = _encode(coder, given, None, None, encode, options, "doc", words, n_threads)
    return encoded.values if places is None else (encoded.values, positions(places, options))


def encode_many(
    coder: Coder, docs: Any, offsets: Any, encode: Encode, options: EncodeOptions, words: Words | None, n_threads: int | None
) -> Ragged | tuple[Ragged, Ragged] | tuple[Ragged, NDArray[np.int64]]:
    """The ids of documents; with starts as a `Ragged`, with spans as one array of pairs. ValueError where int32 is too small."""
    given = read_documents(docs, offsets, coder.model.segmenter.encoding)
    encoded, places = _encode(coder, given, docs, offsets, encode, options, "docs", words, n_threads)
    if places is None:
        return encoded
    found = positions(places, options)
    if found.ndim == 2:
        return encoded, found
    lengths = np.diff(given.offsets)
    if (long := np.flatnonzero(lengths > 2**31)).size:
        raise ValueError(
            f"return_offsets: document {long[0]} has {lengths[long[0]]} symbols, beyond int32; use encode for it, or 'spans'"
        )
    return encoded, Ragged._trusted(found.astype(np.int32), encoded.offsets)


def positions(places: Places, options: EncodeOptions) -> NDArray[np.int64]:
    """The starts of tokens, int64[n], or with their ends int64[n, 2], as `return_offsets` asks for it."""
    return np.stack(places, axis=1) if options.return_offsets == "spans" else places.starts


def _encode(
    coder: Coder,
    given: Documents,
    docs: Any,
    offsets: Any,
    encode: Encode,
    options: EncodeOptions,
    name: str,
    words: Words | None,
    n_threads: int | None,
) -> tuple[Ragged, Places | None]:
    """The ids of documents that were read from `docs` and `offsets`, and where each token stands if that is asked for."""
    if options.return_offsets not in (False, True, "spans"):
        raise ValueError(f"return_offsets: expected False, True or 'spans', got {quoted(options.return_offsets)}")
    if options.units is not None:
        check_units(options.units, coder.model)
    if options.boundaries is None:
        encoded, places = coder.encode(given, encode, options, name, words, n_threads)
    else:
        parts = Parts.of(given, docs, offsets, options.boundaries)
        try:
            found, inner = coder.encode(parts.documents, encode, options, name, words, n_threads)
        except LocatedError as error:
            raise parts.located(error) from None
        encoded, places = parts.joined(found, inner)
    if places is not None and options.units is not None:
        places = in_units(places, encoded.offsets, given, options.units)
    return encoded, places
