"""Documents of text as UTF-8.

Lone surrogates become three bytes each, as by Python's "surrogatepass", so that different texts have different bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ubpe_numba.documents.arrow import Flat, has_arrow, read_arrow
from ubpe_numba.documents.containers import unpacked
from ubpe_numba.documents.normalise import Documents, as_document, as_documents, from_flat, text_of
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.runtime.arrays import describe, offsets_of

__all__ = ["as_utf8", "read_document", "read_documents", "utf8_document", "utf8_documents"]


def read_document(doc: Any, encoding: str | None) -> Documents:
    """One document as `encode` takes it, where an encoding is given as UTF-8; errors as for `as_document`."""
    return as_document(doc) if encoding is None else utf8_document(doc)


def read_documents(docs: Any, offsets: Any, encoding: str | None) -> Documents:
    """Documents as `fit` and `encode_batch` take them, likewise; errors as for `as_documents`."""
    return as_documents(docs, offsets) if encoding is None else utf8_documents(docs, offsets)


def utf8_document(doc: Any, name: str = "doc") -> Documents:
    """One document, a `str` as UTF-8; arguments and errors as for `as_document`."""
    if isinstance(doc, str):
        data = np.frombuffer(doc.encode("utf-8", "surrogatepass"), np.uint8)
        return Documents(data, np.array([0, data.size]), "bytes")
    return as_document(doc, name=name)


def utf8_documents(docs: Any, offsets: Any = None, name: str = "docs") -> Documents:
    """Documents, each `str` as UTF-8; arguments and errors as for `as_documents`, but `str` and bytes may be mixed.

    >>> utf8_documents(["né", b"x"]).offsets
    array([0, 3, 4])
    """
    if isinstance(docs, str) and offsets is None:
        return utf8_document(docs, name)
    if offsets is None and isinstance(docs, (list, tuple)) and set(map(type, docs)) == {str}:
        return _of_str(docs)
    if offsets is None and type(docs) is not list:
        docs = unpacked(docs, name)
        found = read_arrow(docs, name) if has_arrow(type(docs)) and not isinstance(docs, Ragged) else docs
        if isinstance(found, Flat):
            return as_utf8(from_flat(found, utf8=True), name)
    if offsets is None and (isinstance(docs, (list, tuple)) or hasattr(docs, "__next__")):
        encoded = map(_encoded, docs)
        docs = list(encoded) if isinstance(docs, (list, tuple)) else encoded  # an iterator is not held in memory
    return as_utf8(as_documents(docs, offsets, name=name), name)


def _of_str(docs: Sequence[str]) -> Documents:
    """Documents that are all `str`: ASCII is joined before it is encoded, which spares an object for each."""
    if all(map(str.isascii, docs)):
        data, sizes = "".join(docs).encode(), map(len, docs)
    else:
        parts = [doc.encode("utf-8", "surrogatepass") for doc in docs]
        data, sizes = b"".join(parts), map(len, parts)
    lengths = np.fromiter(sizes, np.int64, len(docs))
    return Documents(np.frombuffer(data, np.uint8), offsets_of(lengths), "bytes")


def _encoded(doc: Any) -> Any:
    return doc.encode("utf-8", "surrogatepass") if isinstance(doc, str) else doc


def as_utf8(given: Documents, name: str = "docs") -> Documents:
    """Documents of the kind `str`, from Arrow or with offsets, as UTF-8; bytes as they are. TypeError for integers."""
    values, offsets, kind = given
    if offsets[-1] == offsets[0]:
        return Documents(np.zeros(0, np.uint8), offsets - offsets[0], "bytes")
    if kind == "int":
        raise TypeError(f"{name}: expected str or bytes, got {describe(values)}")
    if kind == "bytes":
        return given
    points = values[offsets[0] : offsets[-1]]
    sizes = 1 + (points >= 0x80).astype(np.int64) + (points >= 0x800) + (points >= 0x10000)
    data = np.frombuffer(text_of(points).encode("utf-8", "surrogatepass"), np.uint8)
    return Documents(data, offsets_of(sizes)[offsets - offsets[0]], "bytes")
