"""Writing documents for the command line, in the formats that `read.py` reads. Files are written atomically."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import numpy as np

from ubpe_numba.cli.read import ARRAYS, COMPRESSED, STANDARD, Form, format_of
from ubpe_numba.documents.growing import Growing
from ubpe_numba.runtime.arrays import offsets_of
from ubpe_numba.runtime.files import atomically, naming_target

__all__ = ["check_output", "output", "write_documents"]


@contextlib.contextmanager
def output(path: str) -> Iterator[BinaryIO]:
    """A file to write, which appears when the block ends without an error; standard output, a pipe or a device directly."""
    if path == STANDARD:
        yield sys.stdout.buffer  # `main` names it in errors
        sys.stdout.buffer.flush()
    elif os.path.exists(path) and not os.path.isfile(path):
        with naming_target(path), open(path, "wb") as f:
            yield f
    else:
        with atomically(path) as f:
            yield f


def check_output(path: str) -> None:
    """Called before the work whose result is written there: FileNotFoundError if the folder of a path does not exist.

    ValueError for the name of a compressed file.
    """
    if path.lower().endswith(COMPRESSED):
        raise ValueError(f"-o: {path}: outputs are not compressed, expected a name without {COMPRESSED}")
    folder = os.path.dirname(path) or "."
    if path != STANDARD and not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, "no such folder", folder)


def write_documents(path: str, form: Form, documents: Iterable[Any], dtype: np.dtype[Any] | None) -> None:
    """Write documents, which are bytes of text or arrays of integers.

    `dtype` is that of arrays in npy, npz and raw files; None: one that holds those of all documents. Raises ValueError for
    documents that the format cannot hold; no file is written then.
    """
    check_output(path)
    name = format_of(path, form, "--to")
    if name in ("npz", "npy") and path == STANDARD and sys.stdout.isatty():
        raise ValueError("-o: expected a file, not a terminal, for binary output")
    with output(path) as f:
        if name in ARRAYS:
            _write_arrays(f, name, documents, dtype)
        else:
            write = {"text": _write_text, "jsonl": _write_json, "ids": _write_ids}[name]
            write(f, documents, form.lines)


def _write_ids(f: BinaryIO, documents: Iterable[Any], _: bool) -> None:
    for doc in documents:
        f.write(" ".join(map(str, doc.tolist())).encode() + b"\n")


def _write_json(f: BinaryIO, documents: Iterable[Any], _: bool) -> None:
    for i, doc in enumerate(documents):
        if isinstance(doc, bytes):
            try:
                value: Any = doc.decode("utf-8", "surrogatepass")
            except UnicodeDecodeError as error:
                raise ValueError(f"document {i}, byte {error.start}: not UTF-8, which jsonl needs; write text or npz") from None
        else:
            value = doc.tolist()
        f.write(json.dumps(value).encode() + b"\n")


def _write_text(f: BinaryIO, documents: Iterable[Any], lines: bool) -> None:
    for i, doc in enumerate(documents):
        if not isinstance(doc, bytes):
            raise ValueError("--to: the model is one of integers, not of text: expected jsonl, npz, npy or raw")
        if lines and b"\n" in doc:
            raise ValueError(f"document {i}: it has more than one line: write jsonl or npz")
        if i and not lines:
            raise ValueError("several documents cannot be told apart in a text: write --lines, jsonl or npz")
        f.write(doc + b"\n" if lines else doc)


def _write_arrays(f: BinaryIO, name: str, documents: Iterable[Any], dtype: np.dtype[Any] | None) -> None:
    held, lengths = Growing(), []
    found = dtype or np.dtype(np.int32)
    for i, doc in enumerate(documents):
        array = np.frombuffer(doc, np.uint8) if isinstance(doc, bytes) else doc
        if dtype is None:
            found = np.promote_types(found, array.dtype) if i else array.dtype
        elif array.size and not (np.iinfo(dtype).min <= array.min() and array.max() <= np.iinfo(dtype).max):
            raise ValueError(f"document {i}: symbols {array.min()}..{array.max()} do not fit {dtype}")
        lengths.append(array.size)
        held.append(array)
    values = held.finish().astype(found, copy=False)
    if name == "npz":
        np.savez(f, values=values, offsets=offsets_of(np.array(lengths, np.int64)))
        return
    if len(lengths) != 1:
        if len(set(lengths)) > 1:
            raise ValueError(f"{len(lengths)} documents of different lengths cannot be told apart in {name}: write npz or jsonl")
        values = values.reshape(len(lengths), lengths[0] if lengths else 0)
    if name == "npy":
        np.save(f, values)
    else:
        f.write(values.data)
