"""Decoding: token ids back to symbols, through the arena.

Decoding makes one pass into a buffer. Its size is estimated from some of the ids, since measuring all would
take a third of the time. If the estimate is too small, the rest is measured and the buffer is replaced once.
The pass itself checks ids: it stops at one outside the vocabulary. Only a buffer given by the user is left as
it is after an error, so ids are checked first.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from ubpe_numba.coding.kernels import decode
from ubpe_numba.coding.run import put_together
from ubpe_numba.documents.flat import Named, place_in
from ubpe_numba.documents.ragged import Ragged, trusted
from ubpe_numba.documents.read import Documents, code_points, text_of
from ubpe_numba.errors import UnknownTokenError
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.arrays import describe, offsets_of, writable
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.segmenter import Decoding, Segmenter
from ubpe_numba.vocabulary.vocabulary import Vocabulary

_GATHERED = 1 << 20  # ids that are decoded before they are copied to the array of the user
_SHORT = 500  # ids that NumPy copies without a pause for other threads
_SAMPLE = 8192  # ids that the size is estimated from
_ERROR = 0.03  # of the estimate, relative, from where on it is not used
_MARGIN = 1.125  # the buffer is so many times the estimate
SPARE = decode.BLOCK * decode.SLOT + decode.SLACK  # bytes that the kernel needs free at the end


class Decoder:
    """Decoding with the tables of a vocabulary, of special tokens and of custom ids.

    `dtype` is that of the symbols: uint8 for bytes, uint32 (code points) for str, int32 or int64 for
    integers. `gaps` bool[V] marks the ids without a token, or is None. `alphabet` is used for documents of
    words; their special tokens follow the words. `lengths` int64[V] are the symbols per id. `sizes`,
    `starts`, `arena` and `slots` are described in kernels/decode.py; `tables` holds the last three for the
    kernel. ValueError if a token has 2**31 bytes or more.
    """

    def __init__(self, vocabulary: Vocabulary, alphabet: Alphabet, segmenter: Segmenter) -> None:
        self.vocabulary, self.segmenter = vocabulary, segmenter
        symbols, offsets = alphabet.to_symbols(vocabulary.arena), vocabulary.offsets
        self.gaps: np.ndarray | None = None
        self.alphabet = alphabet
        if segmenter.decoding is not None:
            symbols, offsets = _shown(symbols, offsets, segmenter.decoding)
        if segmenter.special is not None or segmenter.token_ids is not None:
            symbols, offsets, self.gaps = _by_id(symbols, offsets, segmenter, alphabet)
            if alphabet.names is not None and segmenter.special is not None:
                names = *alphabet.names, *segmenter.special.words
                self.alphabet = Alphabet(Named(names), len(names))
        symbols = np.ascontiguousarray(symbols)
        self.dtype = symbols.dtype
        self.starts, self.lengths = offsets * symbols.itemsize, np.diff(offsets)
        sizes = self.lengths * symbols.itemsize
        if (longest := int(sizes.max())) >= 2**31:  # 32 bits halve the table that every id is looked up in
            raise ValueError(f"vocabulary: a token of {longest} bytes; at most 2**31 - 1 can be decoded")
        self.sizes = sizes.astype(np.int32)
        self.arena = np.zeros(symbols.nbytes + decode.SLACK, np.uint8)
        self.arena[: symbols.nbytes] = symbols.view(np.uint8)
        slots = np.lib.stride_tricks.sliding_window_view(self.arena, decode.SLOT)[self.starts[:-1]]
        slots[:, -1] = np.where(sizes < decode.SLOT, sizes, decode.LONG)
        self.slots = slots.reshape(-1)
        self.tables = (self.slots, self.starts, self.arena)

    def decode(self, ids: Ragged, n_threads: int | None) -> tuple[np.ndarray, np.ndarray]:
        """The symbols of all documents, and int64 offsets of the documents in them; raises as `check`.

        O(ids + symbols).
        """
        values, offsets = writable(ids.values), ids._offsets
        if self.gaps is not None:
            self.check(values, offsets, int(offsets[0]))
        chunks = thread_pool.chunks_of(offsets, n_threads)
        parts = thread_pool.run(
            lambda a, b: self._decode(values, offsets, a, b), chunks, n_threads, values.size
        )
        out, ends = parts[0] if len(parts) == 1 else put_together(parts, n_threads)
        return out.view(self.dtype), ends // self.dtype.itemsize

    def places(self, ids: Ragged, symbols: np.ndarray, ends: np.ndarray) -> list[tuple[int, int]]:
        """The place of each document in `symbols`.

        The beginning that a foreign tokenizer leaves out of a text is not included.
        """
        places = list(itertools.pairwise(ends.tolist()))
        decoding = self.segmenter.decoding
        if decoding is None or not decoding.n:
            return places
        sizes = np.diff(ends)
        if decoding.first:  # in the first token only
            sizes[ids.lengths > 0] = self.lengths[ids.values[ids._offsets[:-1][ids.lengths > 0]]]
        return [
            (a + decoding.n_stripped(symbols[a : a + n]), b)
            for (a, b), n in zip(places, sizes.tolist(), strict=True)
        ]

    def decode_into(
        self, ids: Ragged, out: np.ndarray, n_threads: int | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """As `decode`, into the beginning of `out`; the rest may be overwritten.

        After an UnknownTokenError nothing is written. TypeError if `out` is not an array of the symbols'
        dtype; ValueError if it is not 1-D, contiguous, aligned and writable, or too small.
        """
        if not isinstance(out, np.ndarray) or out.dtype != self.dtype:
            raise TypeError(f"out: expected an array of {self.dtype}, got {describe(out)}")
        if out.ndim != 1 or not out.flags.c_contiguous or not out.flags.aligned:
            raise ValueError(f"out: expected a 1-D, contiguous and aligned array, got {describe(out)}")
        if not out.flags.writeable:
            raise ValueError("out: expected an array that can be written to, got a read-only one")
        values, offsets = ids.values.copy(), ids._offsets  # nobody changes them after the check
        first, last = int(offsets[0]), int(offsets[-1])
        self.check(values, offsets, first)
        if (size := self._size(values, first, last) // self.dtype.itemsize) > out.size:
            raise ValueError(f"out: expected room for {size} symbols, got {out.size}")
        ends = np.zeros(len(ids) + 1, np.int64)
        begin = 0
        while begin < len(
            ids
        ):  # some documents at a time, which need memory of their own before they are copied
            stop = max(int(np.searchsorted(offsets, offsets[begin] + _GATHERED, side="right")) - 1, begin + 1)
            symbols, places = self.decode(trusted(values, offsets[begin : stop + 1]), n_threads)
            ends[begin : stop + 1] = ends[begin] + places
            out[ends[begin] : ends[stop]] = symbols
            begin = stop
        return out[:size], ends

    def _size(self, values: np.ndarray, first: int, last: int) -> int:
        """The bytes of the ids first to last, which are in range."""
        return int(decode.decoded_size(values, first, last, 1, self.sizes)[0])

    def ids(self, documents: Documents, gone: np.ndarray | None = None, known: bool = False) -> Ragged:
        """Read the user's ids as int32, without those in `gone`, such as padding.

        With `known`, every id must have a token.

        TypeError for text; an id beyond int32 raises an UnknownTokenError with its position in the input.
        """
        values, offsets, kind = documents
        if kind == "str":
            raise TypeError("ids: expected integers, got str; text is for encode")
        if gone is not None:
            return left_ids(documents, gone, partial(self.ids, known=True))
        if values.dtype != np.int32:
            bad = np.flatnonzero((values < 0) | (values >= self.sizes.size))
            bad = bad[(bad >= offsets[0]) & (bad < offsets[-1])]
            if bad.size:
                raise UnknownTokenError(*place_in(offsets, bad[0]), int(values[bad[0]]), self.sizes.size)
        # as they are now: others may write to them
        values = values.astype(np.int32, copy=known or values.size < _SHORT)
        if known:
            self.check(values, offsets, int(offsets[0]))
        return trusted(values, offsets)

    def check(self, values: np.ndarray, offsets: np.ndarray, first: int) -> None:
        """Raise UnknownTokenError for an id outside the vocabulary, with document and position.

        `first` is the index of the first value among all ids.
        """
        checked = values[first : offsets[-1]]
        wrong = checked.view(np.uint32) >= np.uint32(self.sizes.size)  # a negative id is a large one
        if self.gaps is not None and not wrong.any():
            wrong = self.gaps[checked]
        if wrong.any():
            at = first + int(wrong.argmax())
            name, special = "", self.segmenter.special
            if (
                special is not None
                and (named := np.flatnonzero(special.named & (special.ids == values[at]))).size
            ):
                name = str(special.words[named[0]])
            raise UnknownTokenError(*place_in(offsets, at), int(values[at]), self.sizes.size, name)

    def _decode(
        self, values: np.ndarray, all_offsets: np.ndarray, begin: int, end: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """The bytes of documents begin to end, and their offsets in these. UnknownTokenError as `decode`."""
        offsets, bounds = all_offsets[begin : end + 1], np.zeros(end - begin + 1, np.int64)
        ends = bounds[1:]
        first, last = int(offsets[0]), int(offsets[-1])
        step = max(1, (last - first) // _SAMPLE)
        size, squares = decode.decoded_size(values, first, last, step, self.sizes)
        if step > 1:  # an estimate, which is rarely too small; where sizes differ much, all are counted
            sampled = -(-(last - first) // step)
            if squares > size * size * (1 / sampled + _ERROR**2):
                size = self._size(values, first, last)
            else:
                size = int(size / sampled * (last - first) * _MARGIN)
        out = np.empty(int(size) + SPARE, np.uint8)
        done, size = decode.decode(values, offsets, first, *self.tables, out, 0, ends)
        while done < last:  # again where others have written larger ones meanwhile
            self.check(values, all_offsets, done)
            larger = np.empty(size + self._size(values, done, last) + SPARE, np.uint8)
            larger[:size] = out[:size]
            out = larger
            # decoding stopped within this document
            document = int(np.searchsorted(offsets, done, side="right")) - 1
            done, size = decode.decode(
                values, offsets[document:], done, *self.tables, out, size, ends[document:]
            )
        # a view keeps the whole buffer alive, most of which is spare room if the document is short
        return out[:size] if out.size - size <= size // 4 else out[:size].copy(), bounds


def left_ids(documents: Documents, gone: np.ndarray, read: Callable[[Documents], Ragged]) -> Ragged:
    """`read(documents)` without some of their ids; an UnknownTokenError names the position among those given.

    >>> left_ids(Documents(np.array([5, -1, 6, -1, -1]), np.array([0, 2, 5]), "int"), np.array([-1]), print)
    Documents(values=array([5, 6]), offsets=array([0, 1, 2]), kind='int')
    """
    values, offsets, kind = documents
    if kind == "str" or (keep := ~np.isin(values, gone)).all():
        return read(documents)
    try:
        return read(Documents(values[keep], offsets_of(keep)[offsets], kind))
    except UnknownTokenError as error:
        begin, end = offsets[error.document : error.document + 2].tolist()
        positions = np.flatnonzero(keep[begin:end])
        raise UnknownTokenError(
            error.document, int(positions[error.position]), error.token, error.size, error.name
        ) from None


def _shown(symbols: np.ndarray, offsets: np.ndarray, decoding: Decoding) -> tuple[np.ndarray, np.ndarray]:
    """The symbols that tokens are decoded to, and offsets."""
    bounds = list(itertools.pairwise(offsets.tolist()))
    if symbols.dtype == np.uint8:
        data = symbols.tobytes()
        old = [
            (a.encode("utf-8", "surrogateescape"), b.encode("utf-8", "surrogateescape"))
            for a, b in decoding.replace
        ]
        if all(a not in data for a, _ in old):
            return symbols, offsets
        parts = [data[a:b] for a, b in bounds]
        for before, after in old:
            parts = [part.replace(before, after) for part in parts]
        return np.frombuffer(b"".join(parts), np.uint8), offsets_of(
            np.fromiter(map(len, parts), np.int64, len(parts))
        )
    text = text_of(symbols)
    texts = [decoding.token(text[a:b]) for a, b in bounds]
    return code_points("".join(texts)), offsets_of(np.fromiter(map(len, texts), np.int64, len(texts)))


def _by_id(
    symbols: np.ndarray, offsets: np.ndarray, segmenter: Segmenter, alphabet: Alphabet
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """The symbols of all tokens by id, special tokens included, with offsets and a mask of unused ids."""
    size = offsets.size - 1
    own = np.arange(size) if segmenter.token_ids is None else segmenter.token_ids
    # ids (-1 for none), their symbols, and the start of each; if an id has several tokens, the last counts
    parts = [(own, symbols, offsets)]
    if segmenter.unknown is not None and segmenter.unknown.byte_ids is not None:
        parts.insert(0, (segmenter.unknown.byte_ids, np.arange(256, dtype=symbols.dtype), np.arange(257)))
    if (special := segmenter.special) is not None:
        of_words, bounds = special.values[: special.offsets[-1]], special.offsets
        if segmenter.decoding is not None:
            of_words, bounds = _shown(of_words, bounds, segmenter.decoding)
        own = special.ids
        if alphabet.names is not None:
            of_words, bounds = (
                np.arange(own.size, dtype=np.int32) + np.int32(alphabet.size),
                np.arange(own.size + 1),
            )
        elif special.named.any():  # names do not have symbols among integers: their ids are gaps
            own = np.where(special.named, -1, own)
        parts.insert(0, (own, of_words, bounds))
    ids, symbols = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    lengths = np.concatenate([np.diff(part[2]) for part in parts])
    starts, has_id = offsets_of(lengths)[:-1], np.flatnonzero(ids >= 0)
    token = np.full(max(int(ids.max()) + 1, segmenter.n_ids(size)), -1)
    token[ids[has_id]] = has_id
    gaps = token < 0
    sizes = np.where(gaps, 0, lengths[token])
    by_id = offsets_of(sizes)
    source = np.arange(by_id[-1]) + np.repeat(starts[token] - by_id[:-1], sizes)
    return symbols[source], by_id, gaps if gaps.any() else None


def joined(names: Iterable[str], decoding: Decoding) -> str:
    """The text of tokens by their names; in a run of bytes that is invalid UTF-8, each becomes a U+FFFD.

    >>> joined(["▁a", "<0xC3>", "<0xA9>", "b", "<0xC3>", "<0x20>"], Decoding((("▁", " "),), " ", 1))
    'aéb��'
    """
    from ubpe_numba.text.sentencepiece import BYTE_NAMES  # here only: integers need not wait for it

    parts: list[str] = []
    for are_bytes, run in itertools.groupby(names, BYTE_NAMES.__contains__):
        if not are_bytes:
            parts += map(decoding.token, run)
            continue
        data = bytes(map(BYTE_NAMES.__getitem__, run))
        try:
            parts.append(data.decode())
        except UnicodeDecodeError:
            parts.append("\ufffd" * len(data))
    text = "".join(parts)
    return text[decoding.n_stripped(code_points(text)) :]


def ids_to_skip(skip: Any, skip_special: bool, segmenter: Segmenter) -> np.ndarray | None:
    """The ids that `skip` names, one or several, and those of special tokens if requested.

    int64, or None if nothing is to be skipped.

    TypeError for other types than integers.

    >>> ids_to_skip((-1, 3), False, Segmenter())
    array([-1,  3])
    """
    if skip is None and not skip_special:
        return None
    ids = np.atleast_1d(np.asarray(() if skip is None else skip))
    if ids.ndim != 1 or (ids.dtype.kind not in "iu" and ids.size):
        raise TypeError(f"skip: expected an id or several, got {describe(skip)}")
    ids = ids.astype(np.int64)
    if skip_special and segmenter.special is not None:
        ids = np.append(ids, segmenter.special.left_out(segmenter.shown))
    return ids
