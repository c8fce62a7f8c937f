"""One short document, as a service or a notebook has it: the usual kernels over the usual tables, called without any questions.

`encode` of twenty bytes spends a microsecond in kernels. The general path (coder.py) takes twenty: it finds out what it got,
makes arrays to be thrown away, and numba asks every array for its type. Here all arrays but the result are made beforehand, and
kernels are called directly (`runtime.compiler.direct`).

There are no rules here and no errors. Whatever is unusual (another type, a special token in the text, an unknown symbol, a longer
document) is answered with None, and the general path treats it. So a call reads the document onto a desk, runs the kernels, and
copies the result::

    "lowly"  ->  text "lowly...", header [0, 5, ...]  ->  segments [0, 5]  ->  ids [421, 121, ...]  ->  a new array [421, 121]

A desk is the set of arrays that one call works with. Desks that are free lie in a list, whose `pop` and `append` are atomic: each
call takes one or makes one, whether it comes from another thread, from the handler of a signal, or after a fork. One that is not
given back, after an exception or since it is full, is garbage like any other. Documents that are not cut are read one behind the
other until a desk is full: the search for the best path remembers of each token where it was seen last, and that place must not
lie in a document to come.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Callable
from operator import countOf
from typing import Any

import numpy as np

from ubpe_numba.coding.chunks import Bound
from ubpe_numba.coding.decode import SPARE, Decoder
from ubpe_numba.coding.kernels import decode as decode_kernels
from ubpe_numba.coding.kernels.known_ids import FULL, UNKNOWN, known_ids
from ubpe_numba.documents.read import code_points, utf8_document
from ubpe_numba.runtime.compiler import direct
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.model import Model

LONGEST = 4096  # symbols, bytes or ids of a short document: for longer ones the general path costs little in comparison
_ROOM = 16 * LONGEST  # symbols or ids that a desk can take, of one document behind the other
_INT64 = np.dtype(np.int64)
_INTEGERS = "bBhHiIlq"  # the dtypes that int64 holds, by their characters
_INTEGER_TYPES = frozenset([int, *(np.dtype(char).type for char in _INTEGERS)])  # the types of items of lists
#: Encodes one document to int32 ids; None for what is unusual.
ShortEncode = Callable[[Any], "np.ndarray | None"]
_pack_into = struct.pack_into


class Desks(ABC):
    """Owner of desks; a subclass says what is on one."""

    def __init__(self) -> None:
        self.free: list[Any] = []

    @abstractmethod
    def _new(self) -> Any:
        """A new desk."""

    def _take(self) -> Any:
        """A desk for one call; `free.append` gives it back."""
        try:
            return self.free.pop()
        except IndexError:
            return self._new()


# ---------------------------------------------------------------------------------------------------- integers


class _Reader:
    """Reads a document of integers, or text symbol by symbol, as ids.

    Parameters
    ----------
    low, size, table
        What is known, and its ids; see kernels/known_ids.py.
    arrays : dict
        What makes an integer array of a document, by the type of the document, or None if it cannot.
    lists : bool
        Whether documents may be lists and tuples of integers.
    """

    def __init__(self, low: int, size: int, table: np.ndarray, arrays: dict[type, Callable[[Any], Any]], lists: bool) -> None:
        self.arrays, self.lists = arrays, (list, tuple) if lists else ()
        self.known = low, size, table
        given, _, ids, offsets = self.desk()
        self.look_up = direct(known_ids, given, 0, *self.known, ids, offsets)

    @staticmethod
    def desk() -> tuple[np.ndarray, memoryview, np.ndarray, np.ndarray]:
        """The arrays of a desk that documents are read onto: integers, their memory, ids, and where the last document lies."""
        given = np.empty(LONGEST, np.int64)
        return given, given.data.cast("B"), np.empty(_ROOM, np.int32), np.zeros(2, np.int64)

    @classmethod
    def of_alphabet(cls, alphabet: Alphabet, encoding: str | None) -> _Reader | None:
        """What reads documents of an alphabet; None where its symbols are too far apart for a table."""
        arrays: dict[type, Callable[[Any], Any]] = {np.ndarray: _integers, bytes: _bytes}
        if encoding is not None:
            arrays[str] = _utf8
        elif alphabet.kind == "str":
            arrays = {str: _points}
        low, table = 0, np.zeros(0, np.int32)
        if not alphabet.is_identity:
            low, table, *_ = alphabet.finder
            if not table.size:
                return None
            table = table[1:]  # the first is that of `low - 1`
        return cls(low, alphabet.size, table, arrays, lists=alphabet.kind != "str")

    @classmethod
    def of_ids(cls, size: int, gaps: np.ndarray | None) -> _Reader:
        """What reads the ids 0..size - 1 but for those that no token has, where `gaps`, bool[size], is true."""
        table = np.zeros(0, np.int32) if gaps is None else np.where(gaps, -1, np.arange(size)).astype(np.int32)
        return cls(0, size, table, {np.ndarray: _integers}, lists=True)

    def __call__(self, doc: Any, given: np.ndarray, memory: memoryview, ids: np.ndarray, offsets: np.ndarray) -> int:
        """Where the ids begin on a desk of these arrays; UNKNOWN for what is unusual, and FULL, as `known_ids` answers."""
        kind = type(doc)
        if kind in self.lists:
            n = len(doc)
            if n > LONGEST or (countOf(map(type, doc), int) != n and not _INTEGER_TYPES.issuperset(map(type, doc))):
                return UNKNOWN  # such as `bool`
            try:
                _pack_into(f"{n}q", memory, 0, *doc)
            except struct.error:  # beyond int64
                return UNKNOWN
        else:
            make = self.arrays.get(kind)
            array = None if make is None else make(doc)
            if array is None or (n := array.size) > LONGEST:
                return UNKNOWN
            given = array.astype(_INT64)
        return self.look_up(given, n, *self.known, ids, offsets)  # type: ignore[no-any-return]


def _integers(doc: np.ndarray) -> np.ndarray | None:
    return doc if doc.ndim == 1 and doc.dtype.char in _INTEGERS else None


def _bytes(doc: bytes) -> np.ndarray:
    return np.frombuffer(doc, np.uint8)


def _utf8(doc: str) -> np.ndarray | None:
    return utf8_document(doc).values if len(doc) <= LONGEST else None


def _points(doc: str) -> np.ndarray | None:
    return code_points(doc) if len(doc) <= LONGEST else None


class ShortSymbols(Desks):
    """Encodes documents that are not cut, by the kernel of an encoder.

    Parameters
    ----------
    read : _Reader
        What documents may be.
    bound : Bound
        The kernel and its arguments.
    """

    def __init__(self, read: _Reader, bound: Bound) -> None:
        super().__init__()
        self.read, self.bound = read, bound
        (_, _, symbols, offsets), rest, out = self._new()
        self.encode = direct(bound(LONGEST, out, offsets)[0], symbols, offsets, *rest)

    def _new(self) -> Any:
        out = np.empty(LONGEST, np.int32)
        return _Reader.desk(), self.bound(LONGEST, out, np.empty(2, np.int64))[1], out

    def __call__(self, doc: Any) -> np.ndarray | None:
        """The ids, int32[n]; None for what is unusual."""
        desk = self._take()
        document, rest, out = desk
        ids = None
        if (begin := self.read(doc, *document)) >= 0:
            ids = out[: self.encode(document[2], document[3], *rest)].copy()
        if begin != FULL:
            self.free.append(desk)
        return ids


class ShortDecoder(Desks):
    """Decodes ids.

    Parameters
    ----------
    decoder : Decoder
        Its tables are shared.
    alphabet : Alphabet
        Says in which form a user gets symbols.
    encoding : str or None
        That of the segmenter; what is encoded as UTF-8 becomes `str` again.
    """

    def __init__(self, decoder: Decoder, alphabet: Alphabet, encoding: str | None) -> None:
        super().__init__()
        self.decoder, self.alphabet, self.encoding = decoder, alphabet, encoding
        self.read = _Reader.of_ids(decoder.sizes.size, decoder.gaps)
        (_, _, ids, offsets), rest, _, _ = self._new()
        self.decode = direct(decode_kernels.decode, ids, offsets, 0, *rest)

    def _new(self) -> Any:
        out = np.empty(8 * LONGEST + SPARE, np.uint8)
        rest = (*self.decoder.tables, out, 0, np.empty(1, np.int64))
        return _Reader.desk(), rest, out.data, out[: 8 * LONGEST].view(self.decoder.dtype)

    def __call__(self, ids: Any, errors: Any, to_bytes: bool = False) -> Any:
        """The document, or its symbols as `bytes`; None for what is unusual, and where there is no room for all symbols."""
        desk = self._take()
        document, rest, memory, symbols = desk
        begin = self.read(ids, *document)
        try:
            if begin < 0:
                return None
            done, size = self.decode(document[2], document[3], begin, *rest)
            if done - begin < len(ids):
                return None
            if to_bytes:
                return bytes(memory[:size])
            if self.encoding is not None:
                return str(memory[:size], "utf-8", errors)
            return self.alphabet.output(symbols[: size // symbols.itemsize].copy())
        finally:
            if begin != FULL:
                self.free.append(desk)


def short_symbols(model: Model, bound: Bound) -> ShortSymbols | None:
    """What encodes short documents of a model that does not cut them; None if there is no such way."""
    alphabet, _, segmenter = model
    read = _Reader.of_alphabet(alphabet, segmenter.encoding)
    return None if read is None else ShortSymbols(read, bound)
