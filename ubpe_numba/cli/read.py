"""Reading documents from files, for the command line: text, jsonl, npy, npz, raw integers, and ids as lines of text.

Files of lines are read line by line; arrays and single texts are mapped into memory. Writing is in `write.py`.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import stat
import sys
from collections.abc import Iterator
from io import BytesIO
from itertools import chain, pairwise
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from ubpe_numba.documents.normalise import Documents, as_document, as_documents

__all__ = ["ARRAYS", "STANDARD", "Form", "Reader", "format_of", "integer_type"]

STANDARD = "-"
#: What --special says, as the arguments `allowed_special` and `disallowed_special`.
SPECIAL = {"refuse": ("none", "all"), "allow": ("all", "none"), "ordinary": ("none", "none")}
_SUFFIXES = {
    ".txt": "text", ".jsonl": "jsonl", ".ndjson": "jsonl", ".npy": "npy", ".npz": "npz", ".raw": "raw", ".bin": "raw",
    ".ids": "ids",
}  # fmt: skip
ARRAYS = ("npy", "npz", "raw")


class Form(NamedTuple):
    """How documents are stored in files, as the options of the command line say."""

    format: str | None = None  # None: by the suffix of each file
    lines: bool = False  # text: a document a line
    field: str = "text"  # jsonl: the field of the document in lines that are objects
    dtype: str | None = None  # raw: the type of integers
    record: int | None = None  # raw: symbols a document; None: one document
    ids: bool = False  # the documents are ids of a tokenizer: .txt then means lines of numbers


def format_of(path: str, form: Form, option: str = "--format") -> str:
    """The format of a file: the one that the option gives, else by its suffix. ValueError if neither decides."""
    suffix = os.path.splitext(path)[1].lower()
    found = form.format or ("ids" if form.ids and suffix == ".txt" else _SUFFIXES.get(suffix))
    if found is None and path == STANDARD and option == "--format":
        found = "ids" if form.ids else "text" if form.lines else None
    if found is None or (form.ids and found == "text") or (not form.ids and found == "ids"):
        raise ValueError(f"{path}: its name does not tell the format, say it with {option}")
    return found


class Reader:
    """The documents of some files, one after the other: text as bytes, integers as arrays.

    Parameters
    ----------
    paths : list of str
        The files; ``"-"`` is standard input.
    form : Form
        How documents are stored in them.
    text : str, optional
        For a model of text, what all documents become: ``"bytes"`` or ``"str"``; integers are then values of bytes.

    Raises
    ------
    ValueError
        For options that do not fit the files; during iteration, with the file and the line or document, for one that is not
        valid.
    OSError
        If a file cannot be read.
    """

    def __init__(self, paths: list[str], form: Form, *, text: str | None = None) -> None:
        self.form, self.text = form, text
        for path in paths:
            if path != STANDARD:
                os.stat(path)  # a missing file is reported before an unknown format
        self.files = [(path, format_of(path, form)) for path in paths]
        formats = {form for _, form in self.files}
        for option, given, of in (("--lines", form.lines, "text"), ("--record", form.record is not None, "raw")):
            if given and of not in formats:
                raise ValueError(f"{option}: for {of} only, the input is {' and '.join(sorted(formats))}")
        if paths.count(STANDARD) > 1:
            raise ValueError("-: standard input can be read once")
        if form.record is not None and form.record < 1:
            raise ValueError(f"--record: expected at least 1, got {form.record}")
        self._starts: list[tuple[int, str]] = []  # of every file read so far the index of its first document, and its path
        self._begun: Iterator[Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        begun, self._begun = self._begun, None
        return begun or self._all()

    def is_text(self) -> bool:
        """Whether the first document is text."""
        if self.files[0][1] != "jsonl":
            return self.files[0][1] == "text"
        begun = self._all()
        first = next(begun, None)
        self._begun = begun if first is None else chain([first], begun)
        return not isinstance(first, np.ndarray)

    def whole(self) -> dict[str, Any]:
        """The arguments `docs` and, if needed, `offsets` of `fit`; a single file of an array or a text is not copied."""
        path, form = self.files[0]
        if len(self.files) == 1 and form in ARRAYS:
            self._starts = [(0, path)]
            given = self._array(path, form)
            return {"docs": given.values, "offsets": given.offsets}
        if len(self.files) == 1 and form == "text" and not self.form.lines:
            self._starts = [(0, path)]
            return {"docs": _content(path)}
        return {"docs": self}

    def place(self, document: int) -> tuple[str, int]:
        """The file of a document that was read, and the index of the document in that file."""
        first, path = next(((n, path) for n, path in reversed(self._starts) if n <= document), (0, self.files[0][0]))
        return path, document - first

    def _all(self) -> Iterator[Any]:
        n, kind = 0, None
        self._starts = []
        for path, form in self.files:
            self._starts.append((n, path))
            for i, doc in enumerate(self._documents(path, form)):
                if kind is None:
                    kind = isinstance(doc, np.ndarray)
                elif kind is not isinstance(doc, np.ndarray):
                    names = ("text", "integers") if kind else ("integers", "text")
                    raise ValueError(f"{path}: document {i}: {names[0]}, but documents before it are {names[1]}")
                yield doc if self.text is None else self._text(doc, f"{path}: document {i}")
                n += 1

    def _documents(self, path: str, form: str) -> Iterator[Any]:
        if form in ARRAYS:
            given = self._array(path, form)
            yield from (given.values[a:b] for a, b in pairwise(given.offsets.tolist()))
        elif form == "text" and not self.form.lines:
            yield _content(path)
        else:
            with _opened(path) as f:
                for i, line in enumerate(f):
                    line = line.removesuffix(b"\n")
                    if form == "text":
                        yield line
                    elif form == "ids":
                        yield _numbers(line, f"{path}: line {i + 1}")
                    elif line.strip():
                        yield self._json(line, f"{path}: line {i + 1}")

    def _text(self, doc: Any, where: str) -> Any:
        """A document as the model of text expects it, bytes or `str`; `where` is for messages."""
        if isinstance(doc, np.ndarray):
            if doc.size and not 0 <= doc.min() <= doc.max() <= 255:
                raise ValueError(
                    f"{where}: integers {doc.min()}..{doc.max()}, but the model is one of text: expected bytes, 0..255"
                )
            doc = doc.astype(np.uint8, copy=False).tobytes()
        if self.text != "str":
            return doc
        try:
            return str(doc, "utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise ValueError(f"{where}, byte {error.start}: not UTF-8") from None

    def _json(self, line: bytes, where: str) -> Any:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{where}: not valid JSON: {error}") from None
        if isinstance(value, dict):
            if self.form.field not in value:
                raise ValueError(f"{where}: no field {self.form.field!r}, say another with --field")
            value = value[self.form.field]
        if isinstance(value, str):
            return value.encode("utf-8", "surrogatepass")
        if not isinstance(value, list):
            raise ValueError(f"{where}: expected a string or a list of integers, got {type(value).__name__}")
        return as_document(value, name=where).values

    def _array(self, path: str, form: str) -> Documents:
        """The documents of a file of arrays."""
        if form == "raw":
            return self._raw(path)
        source: Any = BytesIO(sys.stdin.buffer.read()) if path == STANDARD else path
        with contextlib.ExitStack() as stack:
            try:
                found = np.load(source, mmap_mode="r" if form == "npy" and source is path else None, allow_pickle=False)
                if form == "npz":
                    archive = stack.enter_context(found)
                    values, offsets = archive["values"], archive["offsets"]
            except OSError:
                raise
            except Exception as error:  # NumPy and zipfile raise many types for a damaged file
                raise ValueError(f"{path}: not a valid {form} file: {error}") from None
        if form == "npz":
            return as_documents(values, offsets, name=path)
        if not isinstance(found, np.ndarray):
            raise ValueError(f"{path}: expected one array, got an archive: say --format npz")
        array = np.asarray(found)
        return as_documents(array, name=path)

    def _raw(self, path: str) -> Documents:
        if self.form.dtype is None:
            raise ValueError(f"{path}: raw integers, say of which type with --dtype")
        dtype = integer_type(self.form.dtype, "--dtype")
        data = _content(path)
        n, record = len(data) // dtype.itemsize, self.form.record
        if len(data) % dtype.itemsize:
            raise ValueError(f"{path}: {len(data)} bytes are no whole number of {dtype}")
        values = np.frombuffer(data, dtype)
        if record is not None and n % record:
            raise ValueError(f"{path}: {n} symbols are no whole number of records of {record}")
        return as_documents(values if record is None else values.reshape(-1, record), name=path)


def integer_type(name: str | None, option: str) -> np.dtype[Any]:
    """The dtype of this name; ValueError, with the name of the option, if there is none or it is not one of integers."""
    try:
        dtype = np.dtype(name) if name else None
    except TypeError:
        dtype = None
    if dtype is None or dtype.kind not in "iu":
        raise ValueError(f"{option}: expected a type of integers such as uint8 or int16, got {name}")
    return dtype


@contextlib.contextmanager
def _opened(path: str) -> Iterator[BinaryIO]:
    if path == STANDARD:
        yield sys.stdin.buffer
    else:
        with open(path, "rb") as f:
            yield f


def _content(path: str) -> Any:
    """All bytes of a file, as a memory map if it is a regular file."""
    with _opened(path) as f:
        if path != STANDARD:
            status = os.fstat(f.fileno())
            if stat.S_ISREG(status.st_mode) and status.st_size:
                return memoryview(mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ))
        return f.read()


def _numbers(line: bytes, where: str) -> np.ndarray:
    try:
        return np.array([int(word) for word in line.split()], np.int64)
    except (ValueError, OverflowError):
        raise ValueError(f"{where}: expected integers") from None
