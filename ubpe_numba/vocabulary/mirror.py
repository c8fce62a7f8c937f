"""Mirrors: documents count together with their reversed form, as the other strand of DNA.

In the mirror of a document each symbol is also replaced.

    mirror {"A": "T", "C": "G"}        GATTACA <-> TGTAATC

In a tokenizer with a mirror every token has a mirror: a fit merges a pair (a, b) together with (mirror of b,
mirror of a). A document is encoded as it is or mirrored, whichever comes first in the order of ids, and then
the ids are mirrored back. So the encoding of the mirrored document is the mirrored encoding, by any
objective, unless a document is its own mirror.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.documents import words
from ubpe_numba.documents.flat import Named
from ubpe_numba.documents.ragged import Ragged, trusted
from ubpe_numba.errors import ModelFormatError, listed, quoted
from ubpe_numba.runtime.arrays import describe, offsets_of
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.unknown import symbol_of

_NO_FRAMES = "with a mirror there are none: frames are counted from the beginning of a document"
_LONG = 256  # symbols of a document that is turned by itself


def checked(given: Any) -> dict[Any, Any]:
    """The argument `mirror`, both ways; TypeError or ValueError if no symbol can be the mirror of its mirror.

    >>> checked({"A": "T", "N": "N"})
    {'A': 'T', 'T': 'A', 'N': 'N'}
    """
    if not isinstance(given, Mapping):
        raise TypeError(
            f"mirror: expected a mapping of symbols, such as {{'A': 'T', 'C': 'G'}}, got {describe(given)}"
        )
    mapping: dict[Any, Any] = {}
    for symbol, other in given.items():
        for a, b in ((symbol, other), (other, symbol)):
            a, b = (item.item() if isinstance(item, np.generic) else item for item in (a, b))
            if mapping.setdefault(a, b) != b:
                raise ValueError(f"mirror: {quoted(a)} has two, {quoted(mapping[a])} and {quoted(b)}")
    return mapping


def to_state(mirror: Mapping[Any, Any]) -> list[Any]:
    """A mirror for a model file, by pairs; TypeError for symbols that cannot be stored."""
    return [words.to_state(pair) for pair in mirror.items()]


def from_state(state: Any) -> dict[Any, Any]:
    """The inverse of `to_state`; ModelFormatError for anything else.

    >>> from_state(to_state({"A": "T", "T": "A"}))
    {'A': 'T', 'T': 'A'}
    """
    try:
        return checked(dict(map(words.from_state, state)))
    except (TypeError, ValueError) as error:
        raise ModelFormatError(f"mirror: expected pairs of symbols: {error}") from error


def ids_of(segmenter: Any, alphabet: Alphabet) -> NDArray[np.int32]:
    """The mirror of each symbol of the alphabet, int32[alphabet], by the `Segmenter`: itself by default.

    ValueError for a symbol of the alphabet whose mirror is not in it, and for break tokens whose mirrors are
    none.
    """
    mirrored = np.arange(alphabet.size, dtype=np.int32)
    for symbol, other in segmenter.mirror.items():
        a, b = _id_of(symbol, alphabet), _id_of(other, alphabet)
        if a >= 0 > b:
            way = f"; give alphabet= with {quoted(other)}"
            raise ValueError(
                f"mirror: {quoted(symbol)} is in the alphabet, and its mirror {quoted(other)} is not{way}"
            )
        if a >= 0:
            mirrored[a] = b
    if (bad := np.flatnonzero(mirrored[mirrored] != np.arange(mirrored.size))).size:
        raise ValueError(f"mirror: symbols of one id have different mirrors, in {alphabet}: id {bad[0]}")
    if (
        segmenter.lone is not None
        and np.setxor1d(mirrored[breaks := segmenter.lone.symbol_ids(alphabet)], breaks).size
    ):
        raise ValueError("break_tokens: the mirror of each must be one, too")
    return mirrored


def _id_of(symbol: Any, alphabet: Alphabet) -> int:
    """The id of a symbol, -1 if it is not in the alphabet; TypeError if it is none of this kind."""
    if isinstance(alphabet.kind, Named):
        return int(alphabet.kind.number.get(symbol, -1))
    symbol_id = symbol_of((symbol,) if type(symbol) is int else symbol, alphabet)
    if symbol_id is None:
        raise TypeError(f"mirror: expected symbols as documents have them, got {quoted(symbol)}")
    return symbol_id


def tokens_of(model: Any) -> NDArray[np.int32]:
    """The mirror of each token of a `Model`, int32[V]; ValueError for a vocabulary in which one has none.

    With the mirror {0: 1} of symbols and the merges 2 = (0, 0), 3 = (1, 1) and 4 = (0, 1): [1, 0, 3, 2, 4].
    """
    vocabulary = model.vocabulary
    if model.segmenter.frame:
        raise ValueError(f"frame: {_NO_FRAMES}")
    if vocabulary.merges is None:
        raise ValueError("mirror: it needs a vocabulary of pairs, and this one is flat")
    pairs = [(a, b) for a, b in vocabulary.merges.tolist()]
    number = {pair: i for i, pair in enumerate(pairs, vocabulary.n_alphabet)}
    tokens: list[int] = ids_of(model.segmenter, model.alphabet).tolist()
    for a, b in pairs:
        if (other := number.get((tokens[b], tokens[a]))) is None:
            raise ValueError(
                f"mirror: the token {len(tokens)}, the pair {(a, b)}, has none in the vocabulary"
            )
        tokens.append(other)
    return np.array(tokens, np.int32)


def settings_with(settings: Any, frame: Any, segmenter: Any, alphabet: Alphabet, estimates: bool) -> Any:
    """The `Settings` of a fit with a mirror; ValueError for settings that it does not support."""
    for name, usual in (("ties", "smallest"), ("order", "creation")):
        if (value := getattr(settings.rules, name)) != usual:
            raise ValueError(f"rules: {name}={value!r}: a fit with a mirror has {name}={usual!r} only")
    if frame is not None:
        raise ValueError(f"frame: {_NO_FRAMES}")
    if estimates:
        way = "fit with objective='shortest', and with_objective('likelihood') takes the frequencies of that"
        raise ValueError(f"objective: probabilities are estimated on documents without their mirrors; {way}")
    if (
        alphabet.size
        and segmenter.mirror
        and all(_id_of(symbol, alphabet) < 0 for symbol in segmenter.mirror)
    ):
        message = (
            f"mirror: expected symbols of the documents, got {listed(segmenter.mirror)}, which do not occur"
        )
        raise ValueError(
            f"{message}; give the symbols as documents have them, such as letters of the same case"
        )
    return settings._replace(mirror=ids_of(segmenter, alphabet))


def counts_of_both(
    pairs: NDArray[np.int64], counts: NDArray[np.int64], mirror: NDArray[np.int32], most: int = 0
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pairs and their mirrors, by left token, and the sum of both counts.

    `most` is the count of a pair that is missing.

    >>> counts_of_both(np.array([0 << 32 | 1, 0 << 32 | 2]), np.array([3, 1]), np.array([2, 1, 0], np.int32))
    (array([         1,          2, 4294967298]), array([3, 2, 3]))
    """

    def turned(pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        pairs_back: NDArray[np.int64] = (
            mirror[pairs & 0xFFFFFFFF].astype(np.int64) << 32 | mirror[pairs >> 32]
        )
        return pairs_back

    order = np.argsort(pairs)
    both = np.union1d(pairs, turned(pairs))
    total = np.zeros(both.size, np.int64)
    for wanted in (both, turned(both)):
        at = order[np.minimum(np.searchsorted(pairs, wanted, sorter=order), pairs.size - 1)]
        total += np.where(pairs[at] == wanted, counts[at], most)
    return both, total


def encode_either(encode: Callable[[Ragged], Ragged], mirror: NDArray[np.int32], documents: Ragged) -> Ragged:
    """Encode each document or its mirror, whichever comes first in the order of ids.

    The ids of a mirrored document are mirrored back.

    mirror int32[V], of tokens. O(symbols).

    >>> def double(documents):
    ...     return Ragged.from_lists([[2] * (len(ids) // 2) + ids[-1:] for ids in documents.to_lists()])
    >>> encode_either(double, np.array([1, 0, 2], np.int32), Ragged.from_lists([[0, 0, 0], [1, 1, 1]])).to_lists()
    [[2, 0], [1, 2]]
    """
    documents = documents.compact()
    later = _come_later(documents, mirror)
    if not later.any():
        return encode(documents)
    return _turned(encode(_turned(documents, later, mirror)).compact(), later, mirror)


def _come_later(documents: Ragged, mirror: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which documents come after their mirrors in the order of ids.

    O(documents), and O(symbols) for documents and mirrors that have long common beginnings.
    """
    values, begins, ends = documents.values, documents._offsets[:-1], documents._offsets[1:]
    later = np.zeros(begins.size, bool)
    alike = np.flatnonzero(begins < ends)
    at, width = 0, 1
    while alike.size:
        first = begins[alike, None] + np.arange(at, at + width)
        last = ends[alike, None] - 1 - np.arange(at, at + width)
        inside = first <= last
        left, right = values[np.minimum(first, values.size - 1)], mirror[values[np.maximum(last, 0)]]
        differ = inside & (left != right)
        place = np.arange(alike.size), differ.argmax(axis=1)
        later[alike] = differ[place] & (left[place] > right[place])
        alike = alike[inside[:, -1] & ~differ[place]]
        at, width = at + width, min(2 * width, 4096)
    return later


def _turned(documents: Ragged, which: NDArray[np.bool_], mirror: NDArray[np.int32]) -> Ragged:
    """Documents of ids, of which some are mirrored."""
    values, begins, ends = documents.values, documents._offsets[:-1][which], documents._offsets[1:][which]
    mirrored = values.copy()
    if values.size > _LONG * begins.size:
        for a, b in zip(begins.tolist(), ends.tolist(), strict=True):
            mirrored[a:b] = mirror[values[a:b][::-1]]
    else:
        at = np.arange(int((ends - begins).sum())) + np.repeat(
            begins - offsets_of(ends - begins)[:-1], ends - begins
        )
        mirrored[at] = mirror[values[np.repeat(begins + ends - 1, ends - begins) - at]]
    return trusted(mirrored, documents._offsets)
