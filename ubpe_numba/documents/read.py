"""Reading documents: every form that a user may pass becomes one flat array, offsets and a kind.

All other modules get arrays only in this form: C-contiguous, aligned, of native byte order, and of at most 32
bits or int64. Values of this form are not copied, and may change while they are read: `Alphabet.to_ids` and
`Decoder.ids` copy the values that they check. Offsets are always the library's own.

Two surrogates in a `str` that make a pair, as JSON writes a character above U+FFFF, are that character. Where
text is to be UTF-8, lone ones become three bytes each, as by Python's "surrogatepass".
"""

from __future__ import annotations

import os
import sys
from array import array as stdlib_array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain
from mmap import mmap
from operator import attrgetter, length_hint
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.documents.flat import (
    MISSING,
    ROUND,
    Documents as Documents,  # as all import it
    GrowingArray,
    flatten_ints,
    has_arrow,
    several,
    signed,
)
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.runtime.arrays import check_offsets, describe, distinct, offsets_of, plain, writable

MOST = 2**62  # symbols in all, weights counted: far enough below 2**63 that sums do not overflow
_INT32 = np.dtype(np.int32)
_LISTS, _BYTES = (list, tuple, range), (bytes, bytearray, mmap)
# whatever their `__bytes__` gives
_NO_BYTES = (*_LISTS, str, int, float, Mapping, Set, Iterator, os.PathLike)
_KIND_NAMES = {"int": "integers", "str": "str", "bytes": "bytes"}
_END = object()
#: Packages with containers that `containers.py` reads.
_CONTAINERS = {"pandas", "awkward", "torch", "datasets", "polars", "xarray"}
#: How documents of a class are read; a subclass may be of several, and the first counts.
_FORMS: tuple[tuple[Any, str | None], ...] = (
    (str, "str"), (_BYTES, "bytes"), (_LISTS, "list"), ((Ragged, np.generic), None),
)  # fmt: skip
_PLACES = {1: ", position {}", 2: ": document {}, position {}"}  # in arrays of so many dimensions
# a stream is flattened in batches that end at one of these
_BATCH_DOCUMENTS, _BATCH_SYMBOLS = 1 << 16, 1 << 20
_ACCEPTED = "integer arrays, lists of integers, str or bytes"
_ADVICE = {
    "f": ROUND,
    "b": "; use astype('uint8')",
    "O": "; use tolist() for a document each, of integers, str or bytes",
    "U": "; [words] is one document of words, tolist() makes a document of each text, ''.join() one of all",
    "S": "; use tolist() for a document each, b''.join() for one",
    "V": "; give one field of it",
}
#: Advice at the end of messages about values of these classes, which are not documents.
_WAYS: tuple[tuple[Any, str], ...] = (
    (os.PathLike, "; read the file first"),
    (Mapping, "; give a list of its values"),
    (Set, "; sort it to a list"),
    (Ragged, "; Ragged.concat joins several to one"),
    ((int, np.integer), "; wrap it in a list"),
)
#: End of the message about a flat list in the place of several documents: methods that take one as it is.
_ONE = {"docs": " (encode takes it as it is)", "batch": " (decode takes it as it is)"}
USED_UP = "the iterator gave no document; was it used up before? A list can be read again"
_CODEC = "utf-32-le" if sys.byteorder == "little" else "utf-32-be"


def as_document(doc: Any, *, name: str = "doc") -> Documents:
    """Normalise exactly one document.

    `doc` is in a layout that tests/layouts.md has as one document; messages call it `name`. TypeError for
    others: floats, bools and objects are not integers, whatever their values. ValueError if the array is not
    1-D, an integer is beyond int64, or a position is null.

    >>> as_document("né").values
    array([110, 233], dtype=uint32)
    >>> as_document([3, -1])
    Documents(values=array([ 3, -1]), offsets=array([0, 2]), kind='int')
    """
    kind = "int"
    if type(doc) is np.ndarray and doc.dtype == _INT32 and doc.ndim == 1 and doc.flags.carray:
        values: NDArray[Any] = doc  # the case of `encode` called in a loop: needs no further check
    elif isinstance(doc, str):
        values, kind = code_points(with_pairs(doc)), "str"
    elif isinstance(doc, _BYTES) or _is_bytes_view(doc):
        buffer = doc if not isinstance(doc, memoryview) or doc.c_contiguous else doc.tobytes()
        values, kind = np.frombuffer(buffer, np.uint8), "bytes"
    elif isinstance(doc, _LISTS):
        values, _ = flatten_ints([doc], name, None)
    elif isinstance(doc, np.ndarray):
        values = _integers(doc, name)
    elif has_arrow(type(doc)) or _is_array(type(doc)):
        content = _unpacked(doc, name)
        if isinstance(content, (Documents, list)) or (isinstance(doc, Ragged) and several(name)):
            expected = "one document (an integer array or list, str or bytes)"
            raise TypeError(f"{name}: expected {expected}, got {describe(doc)} of many{several(name)}")
        if has_arrow(type(content)):
            from ubpe_numba.documents.arrow import read_arrow_document

            values = read_arrow_document(content, name)
        else:
            values = _integers(np.asanyarray(content), name)
    elif has_bytes(type(doc)):
        values, kind = np.frombuffer(_bytes_of(doc, name), np.uint8), "bytes"
    else:
        got = f"{describe(doc)}{_way(doc, name)}"
        raise TypeError(f"{name}: expected one document (an integer array or list, str or bytes), got {got}")
    offsets = np.zeros(2, np.int64)
    offsets[1] = values.size
    return Documents(values, offsets, kind)


def as_documents(docs: Any, offsets: Any = None, *, name: str = "docs", utf8: bool = False) -> Documents:
    """Convert a corpus: any number of documents, all of the same kind.

    `docs` is in a layout of tests/layouts.md. A flat list of integers is rejected: it could mean one document
    or many. With `offsets`, n + 1 positions from 0 to its length, `docs` is one flat document, divided at
    these. With `utf8` each `str` among several is read as its bytes, and may be among bytes.

    TypeError for other layouts, and documents of two kinds. ValueError if an array has another number of
    dimensions, an integer is beyond int64, a document or a position is null, or the offsets are not valid.

    >>> as_documents([[1, 2], [], [3]])
    Documents(values=array([1, 2, 3]), offsets=array([0, 2, 2, 3]), kind='int')
    >>> as_documents([b"ab", b"c"]).offsets
    array([0, 2, 3])
    """
    if offsets is not None:
        if isinstance(docs, Ragged):
            raise TypeError(f"{name}: expected a flat array with offsets=, got a Ragged, which has its own")
        flat = as_document(docs, name=name)
        cuts = _argument(offsets, "offsets")
        check_cuts(cuts, flat.values.size)
        return Documents(flat.values, cuts, flat.kind)
    if isinstance(docs, Ragged):
        return Documents(docs.values, docs._offsets, "int")
    if isinstance(docs, (str, *_BYTES, memoryview, stdlib_array)):
        return as_document(docs, name=name)
    if type(docs) is list:
        return _from_items(docs, name, utf8=utf8)
    content = _unpacked(docs, name)
    if isinstance(content, Documents):
        return _from_arrow(content, utf8)
    if isinstance(content, np.ndarray):
        return _from_array(content, name)
    if has_arrow(type(content)) and not isinstance(content, (list, tuple)):
        from ubpe_numba.documents.arrow import read_arrow

        return _from_arrow(read_arrow(content, name), utf8)
    cls = type(content)
    # of sparse matrices
    if isinstance(content, (Mapping, Set)) or hasattr(cls, "__dataframe__") or hasattr(cls, "toarray"):
        raise TypeError(
            f"{name}: expected a sequence of documents ({_ACCEPTED}), got "
            f"{describe(docs)}{_way(content, name)}"
        )
    if _is_array(type(content)):
        array = np.asanyarray(content)
        # A column of texts is read as an iterable of documents, not as an array of integers.
        if array.dtype.kind not in "OUST":
            return _from_array(array, name)
    if has_bytes(type(content)):
        return as_document(content, name=name)
    if not isinstance(content, Iterable):
        raise TypeError(
            f"{name}: expected a sequence of documents ({_ACCEPTED}), got {describe(docs)}{_way(docs, name)}"
        )
    return (
        _from_items(content, name, utf8=utf8)
        if isinstance(content, (list, tuple))
        else _from_stream(content, name, utf8)
    )


def _argument(value: Any, name: str) -> NDArray[np.int64]:
    """The integers of an argument, such as offsets, as a new array; errors as for `as_document`."""
    document = as_document(value, name=name)
    if document.kind != "int":
        raise TypeError(f"{name}: expected integers, got {describe(value)}")
    return document.values.astype(np.int64)


def check_cuts(offsets: NDArray[np.int64], size: int) -> None:
    """ValueError, with advice, for offsets that do not divide `size` symbols.

    They may be lengths, starts, ends, or of another array.
    """
    first, last = offsets[[0, -1]].tolist() if offsets.size else (0, 0)
    is_lengths = first != 0 and int(offsets.sum()) == size and int(offsets.min()) >= 0
    if not is_lengths:
        check_offsets(offsets, size)
    if not first and last == size:
        return
    if is_lengths:
        way = "of lengths numpy.cumsum([0, *lengths]) makes them"
    elif first == 0:
        way = f"append {size} to starts; of a part give docs[:{last}]"
    elif last == size:
        way = f"put 0 before ends; of a part give docs[{first}:] and offsets - {first}"
    else:
        way = f"of a part give docs[{first}:{last}] and offsets - {first}"
    raise ValueError(
        f"offsets: expected 0 first and {size}, the number of symbols, last, got {first} and {last}; {way}"
    )


def read_document(doc: Any, encoding: str | None, words: bool = False, name: str = "doc") -> Documents:
    """Read one document as `encode` does, as UTF-8 if there is an encoding, of `words`.

    Errors as for `as_document`.
    """
    if words and not isinstance(doc, (bytes, bytearray)):
        from ubpe_numba.documents.words import words_document

        return words_document(doc, name)
    return (as_document if encoding is None else utf8_document)(doc, name=name)


def read_documents(docs: Any, offsets: Any, encoding: str | None, words: bool | None = False) -> Documents:
    """Read documents as `fit` and `encode_batch` do, as UTF-8 if there is an encoding.

    Errors as for `as_documents`.

    `words`: whether their symbols have names; None to detect it.
    """
    if words or (words is None and encoding is None and not _are_plain(docs, offsets is not None)):
        from ubpe_numba.documents.words import read_words  # here only: numbers and text need not wait for it

        cuts = None if offsets is None else _argument(offsets, "offsets")
        docs, named = read_words(docs, cuts, bool(words))
        if named is not None:
            check_cuts(named.offsets, named.values.size)
            return named
    return as_documents(docs, offsets) if encoding is None else utf8_documents(docs, offsets)


def _are_plain(docs: Any, flat: bool) -> bool:
    """Whether documents, or a `flat` one, surely hold integers, characters or bytes.

    Only the first symbol is read.
    """
    doc = docs[0] if type(docs) is list and docs and not flat else docs
    if type(doc) in (list, tuple) and doc and (flat or doc is not docs):
        return isinstance(doc[0], (int, np.integer))
    return isinstance(doc, (str, bytes, int, Ragged)) or (type(doc) is np.ndarray and doc.dtype.kind in "iu")


def utf8_document(doc: Any, name: str = "doc") -> Documents:
    """Read one document, a `str` as UTF-8, an array of uint8 as bytes.

    Arguments and errors as for `as_document`.
    """
    if isinstance(doc, str):
        data = np.frombuffer(utf8_of(doc), np.uint8)
        return Documents(data, np.array([0, data.size]), "bytes")
    document = as_document(doc, name=name)
    return document._replace(kind="bytes") if document.values.dtype == np.uint8 else document


def utf8_documents(docs: Any, offsets: Any = None, name: str = "docs") -> Documents:
    """Read documents, each `str` as UTF-8.

    Arguments and errors as for `as_documents`, but `str` and bytes may be mixed.

    >>> utf8_documents(["né", b"x"]).offsets
    array([0, 3, 4])
    """
    if isinstance(docs, str) and offsets is None:
        return utf8_document(docs, name)
    return as_utf8(as_documents(docs, offsets, name=name, utf8=True), name)


def as_utf8(given: Documents, name: str = "docs") -> Documents:
    """Encode documents of the kind `str` as UTF-8; bytes and uint8 stay as they are.

    TypeError for other integers.
    """
    values, offsets, kind = given
    if offsets[-1] == offsets[0]:
        return Documents(np.zeros(0, np.uint8), offsets - offsets[0], "bytes")
    if values.dtype == np.uint8:
        return given._replace(kind="bytes")
    if kind == "int":
        raise TypeError(
            f"{name}: expected str or bytes, got {describe(values)}. Pass memoryview(array), or fit on "
            "integers."
        )
    points = values[offsets[0] : offsets[-1]]
    sizes = 1 + (points >= 0x80).astype(np.int64) + (points >= 0x800) + (points >= 0x10000)
    data = np.frombuffer(text_of(points).encode("utf-8", "surrogatepass"), np.uint8)
    return Documents(data, offsets_of(sizes)[offsets - offsets[0]], "bytes")


def utf8_of(text: str) -> bytes:
    """UTF-8 of a text, of lone surrogates three bytes each."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return with_pairs(text).encode("utf-8", "surrogatepass")


def with_pairs(text: str) -> str:
    r"""The text with each pair of surrogates as the character that it is.

    >>> with_pairs("\ud83d\udc4d \ud83d") == "\U0001f44d \ud83d"
    True
    """
    return (
        text
        if text.isascii()
        else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    )


def code_points(text: str) -> NDArray[np.uint32]:
    """The code point of every character, lone surrogates included: uint32[len(text)], read-only."""
    return np.frombuffer(text.encode(_CODEC, "surrogatepass"), np.uint32)


def text_of(points: NDArray[Any]) -> str:
    """The inverse of `code_points`."""
    return str(np.ascontiguousarray(points, np.uint32).data, _CODEC, "surrogatepass")


def _unpacked(docs: Any, name: str) -> Any:
    """The content of a container of another library, or `docs` itself.

    `containers.py` is imported only for those.
    """
    for cls in type(docs).__mro__:  # a subclass of these is read like its base
        if (package := cls.__module__.partition(".")[0]) in _CONTAINERS:
            from ubpe_numba.documents.containers import READERS

            return READERS[package](docs, cls.__name__, name)
    return docs


def _is_array(cls: type) -> bool:
    """Whether NumPy takes instances of the class for arrays; being iterable is not enough."""
    return issubclass(cls, (np.ndarray, memoryview, stdlib_array)) or hasattr(cls, "__array__")


def has_bytes(cls: type) -> bool:
    """Whether objects of the class are documents of bytes.

    These are memory maps, or have `__bytes__` and are not arrays, sequences or paths.
    """
    return issubclass(cls, mmap) or (
        hasattr(cls, "__bytes__") and not (_is_array(cls) or has_arrow(cls) or issubclass(cls, _NO_BYTES))
    )


def _bytes_of(doc: Any, name: str) -> bytes:
    try:
        return bytes(doc)
    except MemoryError:
        raise
    except Exception as error:
        # a sequence of which only the length is known, and whatever else a class may do
        raise TypeError(f"{name}: {describe(doc)} gives no bytes: {error}") from error


def _is_bytes_view(doc: object) -> bool:
    return isinstance(doc, memoryview) and doc.ndim == 1 and doc.format in ("B", "c")


def _way(value: Any, name: str) -> str:
    """Advice at the end of a message about a value other than a document, or documents; empty if unknown."""
    if hasattr(type(value), "toarray"):
        return "; toarray() makes an array of it, a row for each document"
    if isinstance(value, Mapping) and "input_ids" in value:
        return "; give its input_ids"
    for cls, way in (*_WAYS, (Iterable, several(name))):
        if isinstance(value, cls):
            return way
    return "; give its to_lists()" if hasattr(value, "to_lists") else ""  # `Counts`


def _mixed(name: str, kind: str, i: int, other: str, j: int) -> TypeError:
    """The error of documents i and j of different kinds."""
    way = (
        "convert one of them, or fit a tokenizer for each"
        if "int" in (kind, other)
        else "BPE.for_text takes both"
    )
    pair = f"{_KIND_NAMES[kind]} (document {i}) and {_KIND_NAMES[other]} (document {j})"
    return TypeError(f"{name}: expected documents of one kind, got {pair}; {way}")


def _integers(array: NDArray[Any], where: str, ndim: int = 1) -> NDArray[Any]:
    """Check that an array holds integers in `ndim` dimensions; give it the layout of `Documents`.

    Messages call it `where`.
    """
    if array.ndim != ndim:
        way = several(where) or (
            "; list() of it are its rows, ravel() is one document" if where.startswith("doc") else ""
        )
        raise ValueError(f"{where}: expected a {ndim}-D integer array, got {describe(array)}{way}")
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{where}: expected a plain array, got a masked array; compress or fill it first")
    if array.dtype.kind not in "iu":
        if array.size == 0 and array.dtype == np.float64:  # np.array([]) has NumPy's default dtype
            return np.empty(array.shape, np.int64)
        is_gappy = array.dtype.kind == "f" and bool(np.isnan(array).any())
        advice = MISSING if is_gappy else _ADVICE.get(array.dtype.kind, "")
        if not where.startswith(("doc", "chunk")):
            raise TypeError(f"{where}: expected integers, got {describe(array)}; use astype('int32')")
        raise TypeError(f"{where}: documents are integers, got {describe(array)}{advice}")
    return signed(plain(array), lambda *at: where + _PLACES[ndim].format(*at))


def _from_array(array: NDArray[Any], name: str) -> Documents:
    if array.ndim == 1:
        return as_document(array, name=name)
    if array.ndim != 2:
        way = (
            f"; reshape(-1, {array.shape[-1]}) keeps rows apart, reshape({len(array)}, -1) joins them"
            if array.ndim
            else ""
        )
        raise ValueError(
            f"{name}: expected a 1-D array (one document) or 2-D (rows), got {describe(array)}{way}"
        )
    offsets = np.arange(len(array) + 1, dtype=np.int64) * array.shape[1]
    return Documents(_integers(array, name, 2).reshape(-1), offsets, "int")


def kept(docs: Any) -> Any:
    """The documents of an iterator as a list, for a call that reads them twice.

    ValueError without documents.
    """
    if hasattr(docs, "__next__") and not (docs := list(docs)):
        raise ValueError(f"docs: {USED_UP}")
    return docs


def _kind_of(cls: type) -> str | None:
    """How to read documents of a class: `str`, `bytes`, `list`, `array`, or `object` by `bytes()`.

    None if it is not possible.
    """
    for base, way in _FORMS:
        if issubclass(cls, base):
            return way
    if has_arrow(cls) or _is_array(cls):
        return "array"
    return "object" if has_bytes(cls) else None


def _from_stream(docs: Iterable[Any], name: str, utf8: bool) -> Documents:
    """Flatten documents of an iterator in batches.

    In addition to the flat array, only a batch of documents is in memory.
    """
    values, lengths, kind = GrowingArray(), GrowingArray(), "int"
    items: list[Any] = []
    n = size = 0
    for doc in chain(docs, [_END]):
        if doc is _END or len(items) == _BATCH_DOCUMENTS or size >= _BATCH_SYMBOLS:
            part = _from_items(items, name, n, utf8)
            kind = kind if n else part.kind
            if items and kind != part.kind:
                raise _mixed(name, kind, 0, part.kind, n)
            values.append(part.values)
            lengths.append(np.diff(part.offsets))
            n += len(items)
            items, size = [], 0
        items.append(doc)
        size += length_hint(doc, 1)
    if not n and hasattr(docs, "__next__"):
        raise ValueError(f"{name}: {USED_UP}")
    flat = values.finish()
    return Documents(flat.astype(np.uint32) if kind == "str" else flat, offsets_of(lengths.finish()), kind)


def _from_items(items: Sequence[Any], name: str, number: int = 0, utf8: bool = False) -> Documents:
    """Flatten a list of documents without a Python loop over symbols.

    `number` is the index of the first, for messages.
    """
    if utf8:
        # joined first, which spares an object for each
        if set(map(type, items)) == {str} and all(map(str.isascii, items)):
            lengths = np.fromiter(map(len, items), np.int64, len(items))
            return Documents(np.frombuffer("".join(items).encode(), np.uint8), offsets_of(lengths), "bytes")
        items = [utf8_of(doc) if isinstance(doc, str) else doc for doc in items]
    types = set(map(type, items))
    ways = {cls: _kind_of(cls) for cls in types}
    if memoryview in types or "object" in ways.values():
        items = [
            _bytes_of(doc, f"{name}: document {i}")
            if ways[type(doc)] == "object" or _is_bytes_view(doc)
            else doc
            for i, doc in enumerate(items, number)
        ]
        types = set(map(type, items))
        ways = {cls: _kind_of(cls) for cls in types}
    if None in ways.values():
        i = next(i for i, doc in enumerate(items) if ways[type(doc)] is None)
        if all(issubclass(cls, (int, np.integer)) and cls is not bool for cls in types):
            raise TypeError(
                f"{name}: expected documents, got a flat {type(items).__name__} of integers; "
                f"for one document wrap it in a list ([{name}]) or make it an array{_ONE.get(name, '')}"
            )
        got, odd = describe(items[i]), items[i]
        way = (
            MISSING if odd is None or got.partition(" ")[0] in ("nan", "NaTType", "NAType") else _way(odd, "")
        )
        raise TypeError(f"{name}: document {number + i}: expected one of {_ACCEPTED}, got {got}{way}")
    kinds = {cls: str(way) if way in ("str", "bytes") else "int" for cls, way in ways.items()}
    kind = kinds[type(items[0])] if items else "int"
    if len(set(kinds.values())) > 1:
        i = next(i for i, doc in enumerate(items) if kinds[type(doc)] != kind)
        raise _mixed(name, kind, number, kinds[type(items[i])], number + i)
    if len(items) == 1:
        return as_document(items[0], name=f"{name}: document {number}")  # without a copy
    if kind == "str":
        items = [*map(with_pairs, items)]
        values: NDArray[Any] = code_points("".join(items))
    elif kind == "bytes":
        values = np.frombuffer(b"".join(items), np.uint8)
    elif "array" in ways.values():
        return _from_arrays(items, name, number)
    else:
        return Documents(*flatten_ints(items, name, number), kind)
    return Documents(values, offsets_of(np.fromiter(map(len, items), np.int64, len(items))), kind)


def _from_arrays(items: Sequence[Any], name: str, number: int) -> Documents:
    """Join checked arrays and lists of integers, in the narrowest common dtype.

    Empty ones do not influence the dtype.
    """
    is_checked = (  # arrays except uint64, whose values must be checked
        set(map(type, items)) == {np.ndarray}
        and set(map(attrgetter("ndim"), items)) == {1}
        and all(
            d.kind == "i" or d.str[1:] in ("u1", "u2", "u4") for d in set(map(attrgetter("dtype"), items))
        )
    )
    if not is_checked:
        items = [as_document(doc, name=f"{name}: document {i}").values for i, doc in enumerate(items, number)]
    dtypes = {array.dtype for array in items if array.size} or set(map(attrgetter("dtype"), items))
    dtype = np.result_type(*dtypes).newbyteorder("=")
    values = np.concatenate(items, dtype=dtype, casting="unsafe")  # only empty arrays can be of a wider dtype
    return Documents(values, offsets_of(np.fromiter(map(len, items), np.int64, len(items))), "int")


def _from_arrow(given: Documents, as_bytes: bool = False) -> Documents:
    """Documents from Arrow: `utf8` as code points or as bytes.

    An empty list of documents is one of integers, as everywhere.
    """
    values, offsets, kind = plain(given.values), np.array(given.offsets), given.kind
    if kind in ("int", "one") or offsets.size == 1:
        return Documents(values if kind in ("int", "one") else np.zeros(0, np.int64), offsets, "int")
    if kind == "bytes" or as_bytes:
        return Documents(values, offsets, "bytes")
    points = code_points(str(values.data, "utf-8"))
    if points.size < values.size:  # a character begins at each byte other than 10xxxxxx
        offsets = offsets_of((values & 0xC0) != 0x80)[offsets]
    return Documents(points, offsets, "str")


class Corpus(NamedTuple):
    """Documents divided into s segments; no token crosses the end of a segment."""

    given: Documents  # as they were passed, those of weight 0 included
    values: np.ndarray
    offsets: np.ndarray  # int64[s + 1]: segment i is values[offsets[i] : offsets[i + 1]]
    document_of: np.ndarray | None  # int32[s], the document of each segment; None if segments are documents
    weights: np.ndarray | None  # int64[s], of each segment, above 0; None if all are 1
    n_documents: int  # weights counted, as are symbols
    n_symbols: int

    @property
    def n_empty(self) -> int:
        """The number of documents without symbols, weights counted."""
        lengths = np.diff(self.offsets)
        weights = np.ones(lengths.size, np.int64) if self.weights is None else self.weights
        if self.document_of is not None:
            first = np.flatnonzero(np.diff(self.document_of, prepend=-1))
            lengths, weights = np.add.reduceat(lengths, first), weights[first]
        return int(weights[lengths == 0].sum())


def as_corpus(
    docs: Any,
    offsets: Any = None,
    sample_weight: Any = None,
    boundaries: Any = None,
    read: Callable[[Any, Any], Documents] = as_documents,
) -> Corpus:
    """Read the arguments of `fit`.

    `read` makes `Documents` of `docs` and `offsets`; `Counts` have their own offsets and weights.
    `sample_weight` int[n] is at least 0, and documents of weight 0 are left out. `boundaries` are, for each
    document, the positions that no token may cross, 0 to its length. For a single document (a `str`, bytes or
    a 1-D array) they are its positions alone. TypeError and ValueError name the argument, the document and
    the position. There are less than 2**62 symbols in all.

    >>> as_corpus([[1, 2, 3], [4]], boundaries=[[1], []]).offsets
    array([0, 1, 3, 4])
    """
    if hasattr(docs, "are_segments"):  # `Counts`
        if not (offsets is None and sample_weight is None):
            raise TypeError("docs: Counts have offsets and weights of their own")
        documents = docs.flat._replace(offsets=writable(docs.flat.offsets))
        weights: np.ndarray | None = writable(docs.weights)
    else:
        documents = read(docs, offsets)
        weights = None if sample_weight is None else weights_of(sample_weight, documents.offsets)
    values, cuts = documents.values, documents.offsets
    n = cuts.size - 1
    inner = None if boundaries is None else _inner(docs, offsets, boundaries, documents)
    if weights is not None and not weights.all():  # documents of weight 0 are left out
        stay = np.flatnonzero(weights)
        rest = documents.take(stay)
        if inner is not None:
            at, of = inner[0][weights[inner[1]] > 0], inner[1][weights[inner[1]] > 0]
            number = np.searchsorted(stay, of)
            inner = at - cuts[of] + rest.offsets[number], number
        values, cuts, weights, n = rest.values, rest.offsets, weights[stay], stay.size
    n_documents, n_symbols = n, int(cuts[-1] - cuts[0])
    if weights is not None:
        n_documents, n_symbols = int(weights.sum()), int((weights * np.diff(cuts)).sum())
    if inner is None:
        return Corpus(documents, values, cuts, None, weights, n_documents, n_symbols)
    starts, of = np.concatenate([cuts[:-1], inner[0]]), np.concatenate([np.arange(n), inner[1]])
    order = np.lexsort((of, starts))
    document_of = of[order].astype(np.int32)
    segments = np.append(starts[order], cuts[-1])
    return Corpus(
        documents,
        values,
        segments,
        document_of,
        None if weights is None else weights[document_of],
        n_documents,
        n_symbols,
    )


def _inner(docs: Any, offsets: Any, boundaries: Any, read: Documents) -> tuple[np.ndarray, np.ndarray]:
    """The distinct boundaries inside documents: flat positions and documents, int64[k] each."""
    dtype, cuts = getattr(docs, "dtype", None), read.offsets
    dtype = getattr(getattr(dtype, "categories", None), "dtype", dtype)
    # no column of texts
    one = getattr(docs, "ndim", None) == 1 and read.kind == "int" and getattr(dtype, "kind", "i") in "iu"
    single = offsets is None and (isinstance(docs, (str, bytes, bytearray, memoryview)) or one)
    if single:
        places = as_document(boundaries, name="boundaries")
    else:
        places = as_documents(boundaries, name="boundaries")
    n = cuts.size - 1
    if places.kind != "int":
        raise TypeError(f"boundaries: expected integers, got {describe(boundaries)}")
    if places.offsets.size - 1 != n:
        raise ValueError(f"boundaries: expected {n} lists of positions, got {places.offsets.size - 1}")
    positions = places.values[places.offsets[0] : places.offsets[-1]].astype(np.int64)
    of = np.repeat(np.arange(n), np.diff(places.offsets))
    lengths = np.diff(cuts)
    if (bad := np.flatnonzero((positions < 0) | (positions > lengths[of]))).size:
        i = int(of[bad[0]])
        raise ValueError(f"boundaries: document {i}: position {positions[bad[0]]} is not in 0..{lengths[i]}")
    inside = (positions > 0) & (positions < lengths[of])
    cuts_inside = distinct(positions[inside] + cuts[of[inside]])
    return cuts_inside, np.searchsorted(cuts, cuts_inside, side="right") - 1


def weights_of(sample_weight: Any, offsets: np.ndarray) -> np.ndarray:
    """The argument `sample_weight` of n documents with these offsets, int64[n].

    TypeError or ValueError if it is not valid.
    """
    if isinstance(sample_weight, (int, float, np.number)):
        got = f"{describe(sample_weight)}; leave it out to count each once"
        raise TypeError(f"sample_weight: expected integers, one for each document, got {got}")
    weights, n = _argument(sample_weight, "sample_weight"), offsets.size - 1
    if weights.size != n:
        raise ValueError(f"sample_weight: expected {n} weights, one for each document, got {weights.size}")
    if (bad := np.flatnonzero(weights < 0)).size:
        raise ValueError(f"sample_weight: document {bad[0]}: expected 0 or more, got {weights[bad[0]]}")
    if size_by_weight(weights, np.diff(offsets)) >= MOST:
        raise ValueError("sample_weight: expected less than 2**62 symbols and documents in all, by weight")
    return weights


def size_by_weight(weights: np.ndarray, lengths: np.ndarray) -> float:
    """Symbols, at least one a document, with weights counted; in float64, which does not overflow."""
    return float(weights.astype(np.float64) @ np.maximum(lengths, 1).astype(np.float64))
