"""Documents that are split, contain special tokens, or have ids of their own, as ids.

First, special tokens are removed. The text between them is split into segments, and each segment is encoded
as if it were a document. Then all ids are put together and renumbered:

    "low lower<end>"  ->  "low", " lower" | <end>  ->  [256] [32 256 101 114] | 257
                  ->  [256, 32, 256, 101, 114, 257]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.coding.places import Places, traced_places
from ubpe_numba.documents.flat import place_in
from ubpe_numba.documents.ragged import Ragged, trusted
from ubpe_numba.documents.read import Documents
from ubpe_numba.errors import SpecialTokenError, UnknownSymbolError
from ubpe_numba.runtime.arrays import offsets_of, places_of
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.reserved import SpecialChoice
from ubpe_numba.vocabulary.stretches import Stretches, traced, without_symbols
from ubpe_numba.vocabulary.unknown import UnknownChoice, with_ids

_MARK = 0xFE  # inside of words: see formats/character_bytes.py

if TYPE_CHECKING:
    from ubpe_numba.coding.word_encoder import WordEncoder


def encode_cut(
    model: Model,
    encode: Callable[[Ragged], Ragged],
    words: WordEncoder | None,
    unstable: dict[bytes, int],
    n_threads: int | None,
    given: Documents,
    unknown: UnknownChoice,
    special: SpecialChoice,
    name: str,
    trace: bool,
) -> tuple[Ragged, Places | None]:
    """The ids of documents that are split, contain special tokens, or have ids in an order of their own.

    `encode` takes segments of alphabet ids. `words`, or None, takes segments of bytes. `unstable` is that of
    `Tables`: the tokens for a segment equal to one of them. `trace` also requests the place of each token,
    for rewritten text, whose places do not follow from the ids.
    """
    alphabet, vocabulary, segmenter = model
    alphabet.check_kind(given, name=name)
    pattern = segmenter.kernel
    whole = segmenter.special is None and segmenter.unknown is None and segmenter.lone is None
    as_given = whole and not segmenter.rewrites
    if words is not None and pattern is not None and as_given and given.kind == "bytes":
        # nothing to take out, nothing to copy
        encoded = words.encode(given.values, given.offsets, pattern, n_threads)
        ids = segmenter.token_ids
        return (encoded if ids is None else trusted(ids[encoded.values], encoded._offsets)), None
    pieces = segmenter.stretches(given, name, special, trace)
    known: NDArray[np.bool_] | None = None
    if words is None and (unknown == "skip" or isinstance(unknown, tuple)):  # by words all symbols are known
        known = alphabet.lookup(pieces.values) >= 0
        pieces = traced(pieces) if trace else pieces
        if isinstance(unknown, tuple):
            pieces = without_symbols(pieces, segmenter.segments(pieces), np.flatnonzero(~known), unknown[0])
            known = None
    if words is not None:
        encoded = words.encode(pieces.values, pieces.cuts, pattern or segmenter.segments(pieces), n_threads)
    else:
        encoded = _encode_segments(model, encode, unstable, given, pieces, unknown, special, name)
    if segmenter.special is not None and segmenter.special.shared:
        encoded = _without_refused(model, encoded, pieces, special)
    values, offsets = encoded.values, encoded._offsets[pieces.first]
    places: Places | None = None
    if pieces.origins is not None:
        origins = pieces.origins if known is None else pieces.origins[known]
        places = traced_places(np.diff(vocabulary.offsets)[values], origins, given, segmenter.rewrites)
        kinds = [] if segmenter.normalizer is None else [step["type"] for step in segmenter.normalizer.steps]
        # bytes of a Unigram model of a tokenizer.json
        if "StandIns" in kinds and "SentencePiece" not in kinds:
            places = _of_runs(model, values, places, segmenter.segments(pieces))
    ends = encoded._offsets
    if segmenter.token_ids is not None:
        values, sources = _ids_of(model, values, pieces)
        if sources is not None:
            ends = np.searchsorted(sources, ends)
            offsets = ends[pieces.first]
            if places is not None:  # an id is made of the tokens from its source up to the next
                last = np.append(sources[1:], places.shape[1]) - 1
                if alphabet.kind == "bytes":
                    last -= encoded.values[last] == _MARK  # it belongs to the unknown character after it
                places = np.stack([places[0, sources], places[1, np.maximum(sources, last)]])
    if pieces.words.size and segmenter.special is not None:
        at = ends[pieces.before]
        values = np.insert(values, at, segmenter.special.ids[pieces.words])
        if places is not None:
            ends = np.stack([pieces.at, pieces.at + pieces.sizes - 1], axis=1).ravel()
            spans = traced_places(np.full(pieces.at.size, 2), ends, given, segmenter.rewrites)
            places = np.insert(places, at, spans, axis=1)
        offsets = offsets + np.searchsorted(pieces.owners, np.arange(offsets.size))
    if places is not None:
        places = places + np.repeat(given.offsets[0] - given.offsets[:-1], np.diff(offsets))
    return trusted(values, offsets), places


def _without_refused(model: Model, found: Ragged, pieces: Stretches, special: SpecialChoice) -> Ragged:
    """Replace special tokens that are not allowed by the tokens of their text.

    The other tokens of the stretches stay as they are.

    Words may have the ids of tokens, which pairs make of text that a normalizer or a flag hides from the
    search for words. SpecialTokenError for a symbol that has the id of a forbidden word; its position is that
    of the stretch.
    """
    alphabet, vocabulary, segmenter = model
    words, unknown = segmenter.special, segmenter.unknown
    assert words is not None  # called if there are some
    active, forbidden = words.active(special)
    refused = words.ids[~active | forbidden]
    refused = refused[refused != (-1 if unknown is None else unknown.id)]
    token_ids = np.arange(len(vocabulary)) if segmenter.token_ids is None else segmenter.token_ids
    values, offsets = found.values[found._offsets[0] : found._offsets[-1]], found._offsets - found._offsets[0]
    while (at := np.flatnonzero(np.isin(token_ids[values], refused))).size:
        tokens = values[at]
        if (alone := np.flatnonzero(tokens < alphabet.size)).size:
            stretch = int(np.searchsorted(offsets, at[alone[0]], side="right")) - 1
            document = int(np.searchsorted(pieces.first, stretch, side="right")) - 1
            word = words.words[int(np.flatnonzero(words.ids == token_ids[tokens[alone[0]]])[0])]
            raise SpecialTokenError(
                document, int(pieces.cuts[stretch] - pieces.cuts[pieces.first[document]]), word
            )
        parts = [vocabulary.sequence(t) for t in tokens.tolist()]
        if vocabulary.merges is not None:
            parts = list(vocabulary.merges[tokens - alphabet.size])
        sizes = np.ones(values.size, np.int64)
        sizes[at] = [part.size for part in parts]
        starts = offsets_of(sizes)
        values = np.repeat(values, sizes)
        values[places_of(starts[at], sizes[at])] = np.concatenate(parts)
        offsets = starts[offsets]
    return trusted(values, offsets)


def _of_runs(model: Model, tokens: NDArray[np.int32], places: Places, segments: NDArray[np.int64]) -> Places:
    """Make the places of tokens as the package tokenizers gives them.

    A token of unknown bytes covers all unknown characters in a row.
    """
    from ubpe_numba.text.sentencepiece import BYTES  # here only: few models have these characters

    alphabet, vocabulary, segmenter = model
    assert segmenter.token_ids is not None  # a model of a tokenizer.json has some
    of_bytes = segmenter.token_ids[alphabet.lookup(np.arange(BYTES, BYTES + 256))]
    is_byte = np.isin(segmenter.token_ids[tokens], of_bytes)
    sizes = np.diff(vocabulary.offsets)[tokens]
    segment = np.searchsorted(segments, np.cumsum(sizes) - sizes, side="right")
    begins = np.ones(tokens.size, bool)
    begins[1:] = ~(is_byte[1:] & is_byte[:-1]) | (np.diff(segment) > 0)
    first = np.flatnonzero(begins)
    bounds = np.append(first, tokens.size)
    return np.repeat(np.stack([places[0, first], places[1, bounds[1:] - 1]]), np.diff(bounds), axis=1)


def _encode_segments(
    model: Model,
    encode: Callable[[Ragged], Ragged],
    unstable: dict[bytes, int],
    given: Documents,
    pieces: Stretches,
    unknown: UnknownChoice,
    special: SpecialChoice,
    name: str,
) -> Ragged:
    """The ids of every stretch, each of its segments encoded by itself."""
    alphabet, _, segmenter = model
    cuts = segmenter.segments(pieces)
    if isinstance(unknown, tuple):  # these symbols have been taken out
        unknown = "raise"
    elif unknown == "raise" and segmenter.unknown is not None and alphabet.kind == "str":
        from ubpe_numba.text.sentencepiece import UNKNOWN  # here only: few models have these characters

        symbol = int(alphabet.lookup(np.array([UNKNOWN], np.uint32))[0])
        unknown = symbol if symbol >= 0 else unknown
    try:
        ids = alphabet.to_ids(Documents(pieces.values, cuts, given.kind), unknown, name=name)
    except UnknownSymbolError as error:
        at = int(cuts[error.document]) + error.position
        origins = traced(segmenter.stretches(given, name, special, True)).origins
        assert origins is not None  # it is traced
        at = int(origins[at])
        starts = given.offsets - given.offsets[0]
        raise UnknownSymbolError(*place_in(starts, at), error.symbol, error.hint) from None
    tokens = encode(ids)
    if unstable:
        tokens = _whole_words(unstable, ids, tokens, np.diff(cuts) == ids.lengths)
    return trusted(tokens.values, tokens._offsets[np.searchsorted(cuts, pieces.cuts)])


def _whole_words(
    unstable: dict[bytes, int], segments: Ragged, found: Ragged, complete: NDArray[np.bool_]
) -> Ragged:
    """The ids of segments, where those that equal a token that merging does not make of them are that token.

    `complete` bool[s]: the segments of which all symbols are known.
    """
    longest = max(map(len, unstable)) // 4
    several = np.flatnonzero((found.lengths > 1) & (segments.lengths <= longest) & complete)
    which = [(i, unstable.get(segments[i].tobytes(), -1)) for i in several.tolist()]
    equal = np.array([pair for pair in which if pair[1] >= 0], np.int64).reshape(-1, 2)
    lengths, values = found.lengths, found.values[found._offsets[0] : found._offsets[-1]].copy()
    starts = (found._offsets[:-1] - found._offsets[0])[equal[:, 0]]
    keep = np.ones(values.size, bool)
    keep[places_of(starts + 1, lengths[equal[:, 0]] - 1)] = False
    values[starts] = equal[:, 1]
    lengths[equal[:, 0]] = 1
    return trusted(values[keep], offsets_of(lengths))


def _ids_of(
    model: Model, tokens: NDArray[np.int32], pieces: Stretches
) -> tuple[NDArray[np.int32], NDArray[np.int64] | None]:
    """The ids of tokens, and the token that each id comes from (None if there is one id per token)."""
    alphabet, vocabulary, segmenter = model
    assert segmenter.token_ids is not None  # else tokens are ids
    ids = segmenter.token_ids[tokens]
    if (unknown := segmenter.unknown) is None or not (bad := (ids < 0) | (ids == unknown.id)).any():
        return ids, None
    begins = None
    if unknown.fuse and unknown.byte_ids is None:
        all_have_ids = not (ids < 0).any()
        at = np.flatnonzero(bad[1:] & bad[:-1]) + 1 if all_have_ids else np.flatnonzero(bad)
        sizes = np.diff(vocabulary.offsets)[tokens]
        starts, segments = (np.cumsum(sizes) - sizes)[at], segmenter.segments(pieces)
        first = segments[np.searchsorted(segments, starts)] == starts
        if all_have_ids:
            sources = np.delete(np.arange(tokens.size), at[~first])
            return ids[sources], sources
        begins = np.zeros(tokens.size, bool)
        begins[at] = first
    arena = alphabet.to_symbols(vocabulary.arena)
    return with_ids(unknown, tokens, segmenter.token_ids, arena, vocabulary.offsets, begins)
