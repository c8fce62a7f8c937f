"""Documents of files for the command line: text, jsonl, npy, npz, raw integers, and ids as lines of text.

Files of lines are read line by line; arrays and single texts are mapped into memory. A name that ends in .gz is that of a
compressed file of any of these, whose arrays and single texts are held in memory. Files are written whole or not at all.
"""

from __future__ import annotations

import contextlib
import errno
import gzip
import json
import mmap
import os
import stat
import sys
import warnings
import zlib
from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import chain, pairwise
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np

from ubpe_numba.documents.read import Documents, as_document, as_documents
from ubpe_numba.errors import quoted, shortened
from ubpe_numba.runtime.arrays import GrowingArray, offsets_of
from ubpe_numba.runtime.files import atomically, naming_target

STANDARD = "-"
COMPRESSED = ".gz"
#: The option --special as the arguments `allowed_special` and `disallowed_special`.
SPECIAL = {"refuse": ("none", "all"), "allow": ("all", "none"), "ordinary": ("none", "none")}
_SUFFIXES = {
    ".txt": "text", ".jsonl": "jsonl", ".ndjson": "jsonl", ".npy": "npy", ".npz": "npz", ".raw": "raw", ".bin": "raw",
    ".ids": "ids",
}  # fmt: skip
ARRAYS = ("npy", "npz", "raw")
_OF_MODELS = (".json", ".txt", ".model", ".bpe")  # files of a folder that is a model
_PIPED = {"str": "text", "bytes": "text", "int": "jsonl"}  # what standard input is for a model, if nothing says otherwise


class Form(NamedTuple):
    """How documents are stored in files, as the options of the command line say."""

    format: str | None = None  # None: by the suffix of each file
    lines: bool = False  # text: a document a line
    field: str = "text"  # jsonl: the field of the document in lines that are objects
    dtype: str | None = None  # raw: the type of integers
    record: int | None = None  # raw: symbols a document; None: one document
    ids: bool = False  # the documents are ids of a tokenizer: .txt then means lines of numbers


def format_of(path: str, form: Form, option: str = "--format", kind: str | None = None) -> str:
    """The format of a file: the one that the option gives, else by its suffix. ValueError if neither decides.

    Standard input is what other options, or the kind of the model, say.
    """
    suffix = os.path.splitext(path.lower().removesuffix(COMPRESSED))[1]
    found = form.format or ("ids" if form.ids and suffix == ".txt" else _SUFFIXES.get(suffix))
    if found is None and path == STANDARD and option == "--format":
        raw = form.dtype is not None or form.record is not None
        found = "ids" if form.ids else "text" if form.lines else "raw" if raw else _PIPED.get(str(kind))
    if found is None or (form.ids and found == "text") or (not form.ids and found == "ids"):
        raise ValueError(f"{path}: its name does not tell the format, say it with {option}")
    return found


class Reader:
    """The documents of some files, one after the other: text as bytes, integers as arrays.

    `paths`: the files; ``"-"`` is standard input; `form`: how documents are stored in them; `kind`: for a model, what its symbols
    are: ``"int"``, or ``"bytes"`` or ``"str"``, which documents then become. Documents of another kind are refused, but for
    integers that `form` says to be bytes (``dtype="uint8"``). ValueError for options that do not fit the files; during iteration,
    with file and line, for a document that is not valid; UserWarning for a file without a symbol.
    """

    def __init__(self, paths: list[str], form: Form, *, kind: str | None = None) -> None:
        self.form, self.kind = form, kind
        for path in paths:
            if path != STANDARD:
                os.stat(path)  # a missing file is reported before an unknown format
        self.files = [(path, format_of(path, form, kind=kind)) for path in paths]
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
        if len(self.files) == 1 and form in ARRAYS and self.kind in (None, "int"):
            self._starts = [(0, path)]
            given = self._array(path, form)
            _warn_if_empty(path, given.offsets.size - 1, given.values.size)
            return {"docs": given.values, "offsets": given.offsets}
        if len(self.files) == 1 and form == "text" and not self.form.lines and self.kind is None:
            self._starts = [(0, path)]
            content = _content(path)
            _warn_if_empty(path, 1, len(content))
            return {"docs": content}
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
            n_symbols = 0
            for i, doc in enumerate(self._documents(path, form)):
                if kind is None:
                    kind = isinstance(doc, np.ndarray)
                elif kind is not isinstance(doc, np.ndarray):
                    names = ("text", "integers") if kind else ("integers", "text")
                    raise ValueError(f"{path}: document {i}: {names[0]}, but documents before it are {names[1]}")
                yield doc if self.kind is None else self._of_kind(doc, self.kind, f"{path}: document {i}")
                n_symbols += len(doc)
                n += 1
            if not self.form.ids or n == self._starts[-1][0]:  # ids of empty documents are nothing to wonder about
                _warn_if_empty(path, n - self._starts[-1][0], n_symbols)

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
                        try:
                            yield np.array([int(word) for word in line.split()], np.int64)
                        except (ValueError, OverflowError):
                            raise ValueError(f"{path}: line {i + 1}: expected integers") from None
                    elif line.strip():
                        yield self._json(line, f"{path}: line {i + 1}")

    def _of_kind(self, doc: Any, kind: str, where: str) -> Any:
        """A document as the model expects it, an array, bytes or `str`; `where` is for messages."""
        if kind == "int":
            if not isinstance(doc, np.ndarray):
                raise ValueError(
                    f"{where}: text, but the model is one of integers; --format raw --dtype uint8 reads bytes as such"
                )
            return doc
        if isinstance(doc, np.ndarray):
            if self.form.dtype is None or integer_type(self.form.dtype, "--dtype") != np.uint8:
                raise ValueError(f"{where}: integers, but the model is one of text; if they are its bytes say --dtype uint8")
            if doc.size and not 0 <= doc.min() <= doc.max() <= 255:
                raise ValueError(
                    f"{where}: integers {doc.min()}..{doc.max()}, but the model is one of text: expected bytes, 0..255"
                )
            doc = doc.astype(np.uint8, copy=False).tobytes()
        if kind != "str":
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
                raise ValueError(f"{where}: no field {quoted(self.form.field)}, say another with --field")
            value = value[self.form.field]
        if isinstance(value, str):
            return value.encode("utf-8", "surrogatepass")
        if not isinstance(value, list):
            raise ValueError(f"{where}: expected a string or a list of integers, got {type(value).__name__}")
        return as_document(value, name=where).values

    def _array(self, path: str, form: str) -> Documents:
        """The documents of a file of arrays."""
        if form == "raw":
            if self.form.dtype is None:
                raise ValueError(f"{path}: raw integers, say of which type with --dtype")
            dtype, data, record = integer_type(self.form.dtype, "--dtype"), _content(path), self.form.record
            if len(data) % dtype.itemsize:
                raise ValueError(f"{path}: {len(data)} bytes are no whole number of {dtype}")
            values = np.frombuffer(data, dtype)
            if record is not None and values.size % record:
                raise ValueError(f"{path}: {values.size} symbols are no whole number of records of {record}")
            return as_documents(values if record is None else values.reshape(-1, record), name=path)
        source: Any = BytesIO(_content(path)) if path == STANDARD or path.lower().endswith(COMPRESSED) else path
        with contextlib.ExitStack() as stack:
            try:
                found = np.load(source, mmap_mode="r" if form == "npy" and source is path else None, allow_pickle=False)
                if form == "npz":
                    archive = stack.enter_context(found)
                    values, offsets = archive["values"], archive["offsets"]
            except (OSError, MemoryError):
                raise
            except Exception as error:  # NumPy and zipfile raise many types for a damaged file
                told = "it has no array, or one of objects" if "pickle" in str(error) else shortened(error)
                raise ValueError(f"{path}: not a valid {form} file: {told}") from None
        if form == "npz":
            return as_documents(values, offsets, name=path)
        if not isinstance(found, np.ndarray):
            raise ValueError(f"{path}: expected one array, got an archive: say --format npz")
        array = np.asarray(found)
        return as_documents(array, name=path)


def integer_type(name: str | None, option: str) -> np.dtype[Any]:
    """The dtype of this name; ValueError, with the name of the option, if there is none or it is not one of integers."""
    try:
        dtype = np.dtype(name) if name else None
    except TypeError:
        dtype = None
    if dtype is None or dtype.kind not in "iu":
        raise ValueError(f"{option}: expected a type of integers such as uint8 or int16, got {shortened(name)}")
    return dtype


@contextlib.contextmanager
def _opened(path: str) -> Iterator[BinaryIO]:
    if path == STANDARD:
        with naming_target("standard input"):
            yield sys.stdin.buffer
    elif path.lower().endswith(COMPRESSED):
        status = os.stat(path)
        if stat.S_ISREG(status.st_mode) and not status.st_size:  # which gzip takes for no members, of no bytes
            raise ValueError(f"{path}: not a valid gzip file: it has no byte")
        with gzip.open(path) as unpacked:
            try:
                yield cast(BinaryIO, unpacked)
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise ValueError(f"{path}: not a valid gzip file: {error}") from None
            except MemoryError:
                raise MemoryError(f"{path}: a document of it does not fit into memory when it is unpacked") from None
    else:
        with open(path, "rb") as f:
            yield f


def _content(path: str) -> Any:
    """All bytes of a file, as a memory map if it is a regular file."""
    with _opened(path) as f:
        if path != STANDARD and not path.lower().endswith(COMPRESSED):
            status = os.fstat(f.fileno())
            if stat.S_ISREG(status.st_mode) and status.st_size:
                return memoryview(mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ))
        return f.read()


def _warn_if_empty(path: str, n_documents: int, n_symbols: int) -> None:
    """UserWarning if there is no symbol in a file."""
    if not n_symbols:
        what = "no document" if not n_documents else "no symbol"
        warnings.warn(f"{path}: empty, there is {what} in it", UserWarning, stacklevel=2)


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


def check_output(option: str, path: str, inputs: Iterable[str]) -> None:
    """Refuse a file, before a long work, that cannot be written, or that is an input of the command, by another name too.

    FileNotFoundError if its folder does not exist; ValueError for a compressed one, and for an input, which would be lost.
    """
    if path.lower().endswith(COMPRESSED):
        raise ValueError(f"{option}: {path}: outputs are not compressed, expected a name without {COMPRESSED}")
    folder = os.path.dirname(path) or "."
    if path != STANDARD and not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, "no such folder", folder)
    read = {_identity(name, sys.stdin): name for name in _with_content(inputs)}
    for name in _with_content([path]):  # of a folder the files that may be replaced
        if (found := _identity(name, sys.stdout)) is not None and found in read:
            raise ValueError(f"{option}: {path}: {read[found]} is an input of this command, and would be lost; name another file")


def _with_content(paths: Iterable[str]) -> Iterator[str]:
    """Paths, and after a folder, of a model, those of its files."""
    for path in paths:
        yield path
        if path != STANDARD and os.path.isdir(path):
            yield from (entry.path for entry in os.scandir(path) if entry.name.endswith(_OF_MODELS))


def _identity(path: str, standard: Any) -> tuple[int, int] | None:
    """Device and number of a regular file, or of that which is the `standard` stream; None for anything else."""
    try:
        status = os.fstat(standard.fileno()) if path == STANDARD else os.stat(path)
    except (OSError, ValueError):  # there is none; the stream is no file
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def write_documents(path: str, form: Form, documents: Iterable[Any], dtype: np.dtype[Any] | None) -> None:
    """Write documents, which are bytes of text or arrays of integers.

    `dtype` is that of arrays in npy, npz and raw files; None: one that holds those of all documents. Raises ValueError for
    documents that the format cannot hold; no file is written then.
    """
    name = format_of(path, form, "--to")
    if name in ("npz", "npy") and path == STANDARD and sys.stdout.isatty():
        raise ValueError("-o: expected a file, not a terminal, for binary output")
    with output(path) as f:
        if name in ARRAYS:
            _write_arrays(f, name, documents, dtype)
        elif name == "ids":
            f.writelines(" ".join(map(str, doc.tolist())).encode() + b"\n" for doc in documents)
        else:
            _write_lines(f, name, documents, form.lines)


def _write_lines(f: BinaryIO, name: str, documents: Iterable[Any], lines: bool) -> None:
    """Write documents as ``"text"``, a line each or a single one, or as lines of ``"jsonl"``."""
    for i, doc in enumerate(documents):
        value = doc
        if name == "text":
            if not isinstance(doc, bytes):
                raise ValueError("--to: the model is one of integers, not of text: expected jsonl, npz, npy or raw")
            if lines and b"\n" in doc:
                raise ValueError(f"document {i}: it has more than one line: write jsonl or npz")
            if i and not lines:
                raise ValueError("several documents cannot be told apart in a text: write --lines, jsonl or npz")
            f.write(doc + b"\n" if lines else doc)
            continue
        if isinstance(doc, bytes):
            try:
                value = doc.decode("utf-8", "surrogatepass")
            except UnicodeDecodeError as error:
                raise ValueError(f"document {i}, byte {error.start}: not UTF-8, which jsonl needs; write text or npz") from None
        f.write(json.dumps(value if isinstance(value, str) else value.tolist()).encode() + b"\n")


def _write_arrays(f: BinaryIO, name: str, documents: Iterable[Any], dtype: np.dtype[Any] | None) -> None:
    held, lengths = GrowingArray(), []
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
