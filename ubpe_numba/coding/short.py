"""Short documents without a wait: arrays that are made beforehand, and kernels that are called directly.

`encode` of twenty symbols spends a microsecond in kernels; the arrays of a call and numba's look at their types take twenty. So a
call takes a desk, a set of arrays, reads the document onto it, runs kernels (`runtime.compiler.direct`) and copies the result::

    [3, 1, 2, 1]  ->  given [3, 1, 2, 1, ...]  ->  alphabet ids [0, 2, 1, 2]  ->  ids [7, 2]  ->  a new array [7, 2]

Whatever is unusual (another type, an unknown symbol, a longer document) is answered with None, and the general reader takes it,
which has the messages. Desks that are free lie in a list, whose `pop` and `append` are atomic: each call takes one or makes one,
whether it comes from another thread, from the handler of a signal, or after a fork. Documents are read one after the other until
a desk is full: the search for the best path remembers of each token where it was seen last, which must not lie in a later one.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from itertools import accumulate, chain
from operator import countOf
from typing import Any

import numpy as np

from ubpe_numba.coding.decode import SPARE, Decoder
from ubpe_numba.coding.kernels import decode as decode_kernels
from ubpe_numba.coding.kernels.known_ids import FULL, UNKNOWN, known_ids
from ubpe_numba.coding.run import Bound
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import code_points, utf8_document
from ubpe_numba.runtime.compiler import direct
from ubpe_numba.vocabulary.alphabet import Alphabet

LONGEST = 4096  # symbols, bytes or ids of short documents together: for more the general reader costs little in comparison
_MOST = 1024  # documents
_ROOM = 16 * LONGEST  # symbols or ids that a desk can take, of one document after the other
_INT64 = np.dtype(np.int64)
_INTEGERS = "bBhHiIlq"  # the dtypes that int64 holds, by their characters
_INTEGER_TYPES = frozenset([int, *(np.dtype(char).type for char in _INTEGERS)])  # the types of items of lists
_pack_into = struct.pack_into

#: Encodes one short document to int32 ids; None for what is unusual.
One = Callable[[Any], "np.ndarray | None"]
#: Encodes a list of short documents.
Many = Callable[[Any], "Ragged | None"]
#: Reads a document as ids to the arrays of `_desk`; where they begin there, or what `known_ids` answers beside that.
_Read = Callable[[Any, np.ndarray, memoryview, np.ndarray, np.ndarray], int]


def _desk() -> tuple[np.ndarray, memoryview, np.ndarray, np.ndarray]:
    """Arrays to read onto: integers, their memory, ids, and where the last document lies among these."""
    given = np.empty(LONGEST, np.int64)
    return given, given.data.cast("B"), np.empty(_ROOM, np.int32), np.zeros(2, np.int64)


def _reader(low: int, size: int, table: np.ndarray, arrays: dict[type, Callable[[Any], Any]], integers: bool) -> _Read:
    """Make the reader of documents of integers, or of text symbol by symbol.

    `low`, `size` and `table` as for `known_ids`; `arrays` makes an integer array of a document, by its type, or None; `integers`:
    whether documents may be lists, tuples and arrays of integers.
    """
    types = (list, tuple) if integers else ()
    sample = np.zeros(2, np.int64)
    look_up = direct(known_ids, sample, 0, low, size, table, np.zeros(2, np.int32), sample)

    def read(doc: Any, given: np.ndarray, memory: memoryview, ids: np.ndarray, place: np.ndarray) -> int:
        kind = type(doc)
        if kind in types:
            n = len(doc)
            if n > LONGEST or (countOf(map(type, doc), int) != n and not _INTEGER_TYPES.issuperset(map(type, doc))):
                return UNKNOWN  # such as `bool`
            try:
                _pack_into(f"{n}q", memory, 0, *doc)
            except struct.error:  # beyond int64
                return UNKNOWN
        else:
            if kind is np.ndarray and integers:
                array = doc if doc.ndim == 1 and doc.dtype.char in _INTEGERS else None
            else:
                array = None if (make := arrays.get(kind)) is None else make(doc)
            if array is None or (n := array.size) > LONGEST:
                return UNKNOWN
            given = array.astype(_INT64)
        return look_up(given, n, low, size, table, ids, place)  # type: ignore[no-any-return]

    return read


def _joined(docs: Any, kind: str, encoding: str | None) -> tuple[Any, list[int]] | None:
    """Short documents in one, and the length of each; None unless all are of one usual type."""
    types = set(map(type, docs))
    if len(types) != 1 or len(docs) > _MOST:
        return None
    (cls,) = types
    if cls not in (list, tuple, np.ndarray, bytes, str):
        return None  # such as integers, of a flat list: an error that the general way tells
    if cls is str and encoding is not None:
        docs, cls = [doc.encode("utf-8", "surrogatepass") for doc in docs], bytes
    elif cls is not str and kind == "str":
        return None
    if cls is np.ndarray and not all(doc.ndim == 1 and doc.dtype.char in _INTEGERS for doc in docs):
        return None
    lengths = list(map(len, docs))
    if sum(lengths) > LONGEST:
        return None
    if cls in (list, tuple) and encoding is None:
        return list(chain.from_iterable(docs)), lengths
    if cls is np.ndarray and encoding is None:
        return np.concatenate(docs), lengths
    return (cls().join(docs), lengths) if cls in (bytes, str) else None


def short_encoders(alphabet: Alphabet, encoding: str | None, bound: Bound) -> tuple[One, Many] | None:
    """Encoders of one short document and of several, by the kernel of an encoder; for models that do not cut documents.

    None where the symbols are too far apart for a table.
    """
    arrays: dict[type, Callable[[Any], Any]] = {bytes: lambda doc: np.frombuffer(doc, np.uint8)}
    if encoding is not None:
        arrays[str] = lambda doc: utf8_document(doc).values if len(doc) <= LONGEST else None
    elif alphabet.kind == "str":
        arrays = {str: lambda doc: code_points(doc) if len(doc) <= LONGEST else None}
    low, table = 0, np.zeros(0, np.int32)
    if not alphabet.is_identity:
        low, table, *_ = alphabet.finder
        if not table.size:
            return None
        table = table[1:]  # the first is that of `low - 1`
    read = _reader(low, alphabet.size, table, arrays, alphabet.kind != "str")

    def new() -> Any:
        out, out_offsets = np.empty(LONGEST, np.int32), np.empty(_MOST + 1, np.int64)
        return _desk(), bound(LONGEST, out, out_offsets, 0), out, out_offsets

    free = [new()]
    (_, _, symbols, place), (kernel, rest), _, _ = free[0]
    run = direct(kernel, symbols, place, *rest)

    def one(doc: Any) -> np.ndarray | None:
        try:
            desk = free.pop()
        except IndexError:
            desk = new()
        document, (_, rest), out, _ = desk
        ids = None
        if (begin := read(doc, *document)) >= 0:
            ids = out[: run(document[2], document[3], *rest)].copy()
        if begin != FULL:
            free.append(desk)
        return ids

    def many(docs: Any) -> Ragged | None:
        if type(docs) is not list or (joined := _joined(docs, alphabet.kind, encoding)) is None:
            return None
        doc, lengths = joined
        try:
            desk = free.pop()
        except IndexError:
            desk = new()
        document, (_, rest), out, out_offsets = desk
        ids = None
        if (begin := read(doc, *document)) >= 0:
            offsets = np.array([*accumulate(lengths, initial=begin)], np.int64)
            n = run(document[2], offsets, *rest)
            ids = Ragged._trusted(out[:n].copy(), out_offsets[: offsets.size].copy())
        if begin != FULL:
            free.append(desk)
        return ids

    return one, many


def short_decoder(decoder: Decoder, alphabet: Alphabet, encoding: str | None) -> Callable[..., Any]:
    """Make `decode(ids, errors, to_bytes=False)`: the document, or its symbols as `bytes`, of one short document of ids.

    `encoding` as of the segmenter. The result is None for what is unusual, and where there is no room for all symbols.
    """
    size, gaps = decoder.sizes.size, decoder.gaps
    table = np.zeros(0, np.int32) if gaps is None else np.where(gaps, -1, np.arange(size)).astype(np.int32)
    read = _reader(0, size, table, {}, True)

    def new() -> Any:
        out = np.empty(8 * LONGEST + SPARE, np.uint8)
        rest = (*decoder.tables, out, 0, np.empty(1, np.int64))
        return _desk(), rest, out.data, out[: 8 * LONGEST].view(decoder.dtype)

    free = [new()]
    (_, _, given, place), rest, _, _ = free[0]
    run = direct(decode_kernels.decode, given, place, 0, *rest)

    def decode(ids: Any, errors: Any, to_bytes: bool = False) -> Any:
        try:
            desk = free.pop()
        except IndexError:
            desk = new()
        document, rest, memory, symbols = desk
        begin = read(ids, *document)
        try:
            if begin < 0:
                return None
            done, size = run(document[2], document[3], begin, *rest)
            if done - begin < len(ids):
                return None
            if to_bytes:
                return bytes(memory[:size])
            if encoding is not None:
                return str(memory[:size], "utf-8", errors)
            return alphabet.output(symbols[: size // symbols.itemsize].copy())
        finally:
            if begin != FULL:
                free.append(desk)

    return decode
