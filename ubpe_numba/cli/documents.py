"""Documents of files for the command line: readers and writers by format.

Files of lines are read line by line, those of sequences record by record; arrays and single texts are mapped
into memory. A name that ends in .gz is that of a compressed file of any format, whose arrays and single texts
are held in memory. Files are written whole or not at all.
"""

from __future__ import annotations

import contextlib
import errno
import gzip
import json
import mmap
import os
import re
import stat
import sys
import warnings
import wave
import zlib
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from itertools import chain, pairwise
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np

from ubpe_numba.documents.flat import GrowingArray
from ubpe_numba.documents.read import Documents, as_document, as_documents
from ubpe_numba.errors import quoted, shortened
from ubpe_numba.runtime.arrays import describe, offsets_of
from ubpe_numba.runtime.files import atomically, naming_target

STANDARD = "-"
COMPRESSED = ".gz"
#: The option --special as the arguments `allowed_special` and `disallowed_special`.
SPECIAL = {"refuse": ("none", "all"), "allow": ("all", "none"), "ordinary": ("none", "none")}
_SUFFIXES = {
    ".txt": "text", ".jsonl": "jsonl", ".ndjson": "jsonl", ".ids": "ids", ".ints": "ints", ".km": "ints",
    ".unt": "ints",
    ".npy": "npy", ".npz": "npz", ".raw": "raw", ".bin": "raw", ".wav": "wav", ".fq": "fastq",
    ".fastq": "fastq",
    **dict.fromkeys((".fa", ".fasta", ".fna", ".ffn", ".faa", ".fas"), "fasta"),
}  # fmt: skip
#: What documents of a format may be; of others they are read only.
_HELD = {
    "text": ("text",),
    "ids": ("integers",),
    "ints": ("integers",),
    "jsonl": ("text", "integers", "words"),
}
_HELD |= dict.fromkeys(("npy", "npz", "raw"), ("text", "integers"))
ARRAYS, RECORDS = ("npy", "npz", "raw", "wav"), ("npy", "raw")
#: What a file that is read as text begins with if it is of another format.
_LOOKS = {
    "ints": rb"[-\s]*\d[-\d\s,]*\Z",
    "jsonl": rb"([\[{].*[\]}]\s*\n){2}",
    "fasta": rb">.*\n[A-Za-z*-]+\r?\n",
    "fastq": rb"@.*\n[A-Za-z]+\r?\n\+",
}
_KINDS = {"int": "integers", "words": "words", "str": "text", "bytes": "text"}  # of the symbols of a model
_OF_MODELS = (".json", ".txt", ".model", ".bpe")  # files of a folder that is a model
#: What standard input and output are for a model, if nothing says otherwise.
PIPED = {"str": "text", "bytes": "text", "int": "jsonl", "words": "jsonl"}


class Form(NamedTuple):
    """How documents are stored in files, as the options of the command line say."""

    format: str | None = None  # None: by the suffix of each file
    lines: bool = False  # text: one document per line
    field: str = "text"  # jsonl: the field of the document in lines that are objects
    dtype: str | None = None  # raw: the type of integers
    # raw, npy: symbols per document; None: one document, or the rows of an npy of two axes
    record: int | None = None
    ids: bool = False  # the documents are ids of a tokenizer: .txt then means lines of numbers


def format_of(path: str, form: Form, option: str = "--format", kind: str | None = None) -> str:
    """The format of a file: that of the option, else by its suffix. ValueError if neither decides.

    Standard input is what other options, or the kind of the model, say.
    """
    suffix = os.path.splitext(path.lower().removesuffix(COMPRESSED))[1]
    name = form.format or ("ids" if form.ids and suffix == ".txt" else _SUFFIXES.get(suffix))
    if name is None and path == STANDARD and option == "--format":
        raw = form.dtype is not None or form.record is not None
        name = "ids" if form.ids else "text" if form.lines else "raw" if raw else PIPED.get(str(kind))
    if "csv" in (name, suffix[1:]) and option == "--format":
        raise ValueError(f"{path}: numbers of recordings, which fit reads with --max-error")
    no_ids = form.ids and name in ("text", "ints", "fasta", "fastq", "wav")
    if name is None or no_ids or (name == "ids" and not form.ids) or (option == "--to" and name not in _HELD):
        raise ValueError(f"{path}: its name does not tell the format, say it with {option}")
    return name


class Reader:
    """The documents of some files, one after the other: text as bytes, integers as arrays, words as lists.

    `paths`: the files; ``"-"`` is standard input. `form`: how documents are stored in them. `kind`: for a
    model, the kind of its symbols, ``"int"``, ``"words"``, or ``"bytes"`` or ``"str"``, which documents then
    become. Documents of a different kind are rejected, except integers that are bytes by `form`
    (``dtype="uint8"``). ValueError for options that do not fit the files and, with file and line, for a
    document that is not valid. UserWarning for a file without a symbol.
    """

    def __init__(self, paths: list[str], form: Form, *, kind: str | None = None) -> None:
        self.form, self.kind = form, kind
        for path in paths:
            if path != STANDARD:
                os.stat(path)  # a missing file is reported before an unknown format
        self.files = [(path, format_of(path, form, kind=kind)) for path in paths]
        formats = {form for _, form in self.files}
        for option, value, of in (
            ("--lines", form.lines, ("text",)),
            ("--record", form.record is not None, RECORDS),
        ):
            if value and not formats & set(of):
                raise ValueError(
                    f"{option}: for {' and '.join(of)} only, the input is {' and '.join(sorted(formats))}"
                )
        if paths.count(STANDARD) > 1:
            raise ValueError("-: standard input can be read once")
        if form.record is not None and form.record < 1:
            raise ValueError(f"--record: expected at least 1, got {form.record}")
        #: A file of sequences in which some letters are lower case and others are not.
        self.masked: str | None = None
        # of every file read so far the index of its first document, and its path
        self._starts: list[tuple[int, str]] = []
        self._begun: Iterator[Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        begun, self._begun = self._begun, None
        return begun or self._all()

    def first_kind(self) -> str:
        """The kind of symbols of the first document.

        UserWarning for a file of text that looks like one of another format.
        """
        for path in (path for path, form in self.files if form == "text" and os.path.isfile(path)):
            with opened(path) as f:
                beginning = f.read(1000)
            for form, look in _LOOKS.items():
                if re.match(look, beginning):
                    warnings.warn(
                        f"{path}: read as text, and looks like {form}: see --format {form}",
                        UserWarning,
                        stacklevel=2,
                    )
        if self.files[0][1] != "jsonl":
            return "integers" if self.files[0][1] in (*ARRAYS, "ints") else "text"
        begun = self._all()
        first = next(begun, None)
        self._begun = begun if first is None else chain([first], begun)
        return "text" if first is None else kind_of(first)

    def whole(self) -> dict[str, Any]:
        """The arguments `docs` and, if needed, `offsets` of `fit`.

        A single file of an array or a text is not copied.
        """
        path, form = self.files[0]
        if len(self.files) == 1 and form in ARRAYS and self.kind in (None, "int"):
            self._starts = [(0, path)]
            arrays = _arrays(path, form, self.form)
            _warn_if_empty(path, arrays.offsets.size - 1, arrays.values.size)
            return {"docs": arrays.values, "offsets": arrays.offsets}
        if len(self.files) == 1 and form == "text" and not self.form.lines and self.kind is None:
            self._starts = [(0, path)]
            content = _content(path)
            _warn_if_empty(path, 1, len(content))
            return {"docs": content}
        return {"docs": self}

    def place(self, document: int) -> tuple[str, int]:
        """The file of a document that was read, and the index of the document in that file."""
        first, path = next(
            ((n, path) for n, path in reversed(self._starts) if n <= document), (0, self.files[0][0])
        )
        return path, document - first

    def _all(self) -> Iterator[Any]:
        n, kind = 0, None
        self._starts = []
        for path, form in self.files:
            self._starts.append((n, path))
            n_symbols = 0
            for i, doc in enumerate(_documents(path, form, self.form)):
                doc_kind = kind_of(doc)
                if doc_kind != "integers" or len(doc):  # an empty list is also one of words
                    kind = kind or doc_kind
                    if kind != doc_kind:
                        raise ValueError(
                            f"{path}: document {i}: {doc_kind}, but documents before it are {kind}"
                        )
                if self.kind is None and form in ("fasta", "fastq") and doc.upper() != doc != doc.lower():
                    self.masked = self.masked or path
                yield doc if self.kind is None else self._of_kind(doc, self.kind, f"{path}: document {i}")
                n_symbols += len(doc)
                n += 1
            # ids of empty documents are nothing to wonder about
            if not self.form.ids or n == self._starts[-1][0]:
                _warn_if_empty(path, n - self._starts[-1][0], n_symbols)

    def _of_kind(self, doc: Any, kind: str, where: str) -> Any:
        """A document as the model expects it, an array, a list, bytes or `str`; `where` is for messages."""
        doc_kind, wanted = kind_of(doc), _KINDS[kind]
        if doc_kind == "integers" and wanted == "text":
            if self.form.dtype is None or integer_type(self.form.dtype, "--dtype") != np.uint8:
                raise ValueError(
                    f"{where}: expected text, got integers. If they are bytes, use --dtype uint8."
                )
            if doc.size and not 0 <= doc.min() <= doc.max() <= 255:
                shown = f"integers {doc.min()}..{doc.max()}"
                raise ValueError(f"{where}: {shown}, but the model is one of text: expected bytes, 0..255")
            doc = doc.astype(np.uint8, copy=False).tobytes()
        elif doc_kind != wanted and not (wanted == "words" and not len(doc)):
            way = (
                "; --format raw --dtype uint8 reads bytes as such"
                if (doc_kind, wanted) == ("text", "integers")
                else ""
            )
            raise ValueError(f"{where}: {doc_kind}, but the model is one of {wanted}{way}")
        if kind != "str":
            return doc
        try:
            return str(doc, "utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise ValueError(f"{where}, byte {error.start}: not UTF-8") from None


def kind_of(doc: Any) -> str:
    """The kind of symbols of a document that was read."""
    return "integers" if isinstance(doc, np.ndarray) else "words" if isinstance(doc, list) else "text"


def _documents(path: str, name: str, form: Form) -> Iterator[Any]:
    """The documents of a file of a format."""
    if name in ARRAYS:
        arrays = _arrays(path, name, form)
        yield from (arrays.values[a:b] for a, b in pairwise(arrays.offsets.tolist()))
    elif name == "text" and not form.lines:
        yield _content(path)
    else:
        with opened(path) as f:
            yield from _LINES[name](f, path, form)


def _of_integers(f: BinaryIO, path: str, form: Form) -> Iterator[np.ndarray]:
    """Integers between spaces or commas, one document per line; a name that ends in | is ignored."""
    for i, line in enumerate(f, 1):
        try:
            yield np.array(
                [int(word) for word in line.rpartition(b"|")[2].replace(b",", b" ").split()], np.int64
            )
        except (ValueError, OverflowError):
            raise ValueError(f"{path}: line {i}: expected integers, got {quoted(line, 40)}") from None


def _of_jsonl(f: BinaryIO, path: str, form: Form) -> Iterator[Any]:
    """Strings, lists of integers or lists of words, or objects that have one as a field, a line each."""
    for i, line in enumerate(f, 1):
        where = f"{path}: line {i}"
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{where}: not valid JSON: {error}") from None
        if isinstance(value, dict):
            if form.field not in value:
                raise ValueError(f"{where}: no field {quoted(form.field)}, say another with --field")
            value = value[form.field]
        if isinstance(value, str):
            yield value.encode("utf-8", "surrogatepass")
        elif not isinstance(value, list):
            raise ValueError(
                f"{where}: expected a string, or a list of integers or words, got {type(value).__name__}"
            )
        elif value and all(isinstance(word, str) for word in value):
            yield value
        else:
            try:
                yield as_document(value, name=where).values
            except TypeError as error:
                raise ValueError(f"{error}; a list is one of integers, or one of words") from None


def _of_sequences(f: BinaryIO, path: str, form: Form) -> Iterator[bytes]:
    """Letters of the records of FASTA or FASTQ, without headers, comments and qualities."""
    held: bytearray | None = None
    left: int | None = 0  # qualities that are to come, None before their line
    for i, line in enumerate(f, 1):
        text, mark, where = b"".join(line.split()), line[:1], f"{path}: line {i}"
        if left:
            left -= len(text)
        elif mark in (b">", b"@") and left is not None:
            if held is not None:
                yield bytes(held)
            held, left, is_fastq = bytearray(), None if mark == b"@" else 0, mark == b"@"
        elif held is None and text and mark != b";":
            raise ValueError(f"{where}: expected a header (> in fasta, @ in fastq), got {quoted(text)}")
        elif mark == b"+" and left is None:
            left = len(held or b"")
        elif held is not None and mark != b";":
            if text and (
                (is_fastq and left is not None) or not (text.translate(None, b"*-.") or b"A").isalpha()
            ):
                raise ValueError(f"{where}: expected letters of a sequence, got {quoted(text)}")
            held += text
        if left is not None and left < 0:
            raise ValueError(f"{where}: the record has more qualities than letters")
    if left != 0:
        raise ValueError(f"{path}: the last record has not as many qualities as letters")
    if held is not None:
        yield bytes(held)


#: Readers of files of lines.
_LINES: dict[str, Callable[[BinaryIO, str, Form], Iterator[Any]]] = {
    "text": lambda f, path, form: (line.removesuffix(b"\n") for line in f),
    "jsonl": _of_jsonl, "ids": _of_integers, "ints": _of_integers, "fasta": _of_sequences,
    "fastq": _of_sequences,
}  # fmt: skip


def _arrays(path: str, name: str, form: Form) -> Documents:
    """The documents of a file of arrays."""
    offsets = None
    if name == "raw":
        if form.dtype is None:
            raise ValueError(f"{path}: raw integers, say of which type with --dtype")
        dtype, data = integer_type(form.dtype, "--dtype"), _content(path)
        if len(data) % dtype.itemsize:
            raise ValueError(f"{path}: {len(data)} bytes are no whole number of {dtype}")
        array = np.frombuffer(data, dtype)
    elif name == "wav":
        array = samples(path)
    else:
        array, offsets = loaded(path, name)
    if array.dtype.kind not in "iu" and array.shape != (0,):
        way = "words are read from jsonl" if array.dtype.kind in "US" else "round or quantize samples first"
        raise ValueError(f"{path}: expected integers, got {describe(array)}: {way}")
    if name in RECORDS and form.record is not None:
        if array.size % form.record:
            raise ValueError(f"{path}: {array.size} symbols are no whole number of records of {form.record}")
        array = array.reshape(-1, form.record)
    if array.ndim > 2:
        raise ValueError(
            f"{path}: an array of shape {array.shape}: say with --record how many symbols a document has"
        )
    return as_documents(array, offsets, name=path)


def loaded(path: str, name: str) -> tuple[np.ndarray, np.ndarray | None]:
    """An array of a file of NumPy, or the values and offsets of an archive of it."""
    source: Any = BytesIO(_content(path)) if path == STANDARD or path.lower().endswith(COMPRESSED) else path
    with contextlib.ExitStack() as stack:
        try:
            arrays = np.load(
                source, mmap_mode="r" if name == "npy" and source is path else None, allow_pickle=False
            )
            if name == "npz":
                archive = stack.enter_context(arrays)
                return archive["values"], archive["offsets"]
        except (OSError, MemoryError):
            raise
        except Exception as error:  # NumPy and zipfile raise many types for a damaged file
            reason = "it has no array, or one of objects" if "pickle" in str(error) else shortened(error)
            raise ValueError(f"{path}: not a valid {name} file: {reason}") from None
    if not isinstance(arrays, np.ndarray):
        raise ValueError(f"{path}: expected one array, got an archive: say --format npz")
    return np.asarray(arrays), None


def samples(path: str) -> np.ndarray:
    """The samples of sound, integers [channels, n]."""
    content = bytes(_content(path))
    # extensible: the format comes later
    if (at := content.find(b"fmt ") + 8) > 7 and content[at : at + 2] == b"\xfe\xff":
        content = content[:at] + content[at + 24 : at + 26] + content[at + 2 :]
    try:
        with wave.open(BytesIO(content)) as sound:
            width, n_channels, n = sound.getsampwidth(), sound.getnchannels(), sound.getnframes()
            data = np.frombuffer(sound.readframes(n), np.uint8)
    except (wave.Error, EOFError) as error:
        raise ValueError(f"{path}: not a wav file of integers (PCM): {error or 'it is cut'}") from None
    if data.size != n * n_channels * width:
        raise ValueError(
            f"{path}: not a valid wav file: {data.size} bytes of samples, not {n * n_channels * width}"
        )
    if width == 3:  # to the upper bytes of four
        data = np.insert(data.reshape(-1, 3), 0, 0, axis=1).ravel()
    samples = data.view({1: "u1", 2: "<i2", 3: "<i4", 4: "<i4"}[width])
    return (samples >> 8 if width == 3 else samples).reshape(n, n_channels).T


def integer_type(name: str | None, option: str) -> np.dtype[Any]:
    """The dtype of this name; ValueError, with the name of the option, unless it is an integer type."""
    try:
        dtype = np.dtype(name) if name else None
    except TypeError:
        dtype = None
    if dtype is None or dtype.kind not in "iu":
        raise ValueError(
            f"{option}: expected a type of integers such as uint8 or int16, got {shortened(name)}"
        )
    return dtype


@contextlib.contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked if its name ends in .gz; ValueError if that fails."""
    if path == STANDARD:
        with naming_target("standard input"):
            yield sys.stdin.buffer
    elif path.lower().endswith(COMPRESSED):
        status = os.stat(path)
        # which gzip takes for no members, of no bytes
        if stat.S_ISREG(status.st_mode) and not status.st_size:
            raise ValueError(f"{path}: not a valid gzip file: it has no byte")
        with gzip.open(path) as unpacked:
            try:
                yield cast(BinaryIO, unpacked)
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise ValueError(f"{path}: not a valid gzip file: {error}") from None
            except MemoryError:
                raise MemoryError(
                    f"{path}: a document of it does not fit into memory when it is unpacked"
                ) from None
    else:
        with open(path, "rb") as f:
            yield f


def _content(path: str) -> Any:
    """All bytes of a file, as a memory map if it is a regular file."""
    with opened(path) as f:
        if path != STANDARD and not path.lower().endswith(COMPRESSED):
            status = os.fstat(f.fileno())
            if stat.S_ISREG(status.st_mode) and status.st_size:
                return memoryview(mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ))
        return f.read()


def _warn_if_empty(path: str, n_documents: int, n_symbols: int) -> None:
    """UserWarning if a file is empty."""
    if not n_symbols:
        what = "no document" if not n_documents else "no symbol"
        warnings.warn(f"{path}: empty, there is {what} in it", UserWarning, stacklevel=2)


@contextlib.contextmanager
def output(path: str) -> Iterator[BinaryIO]:
    """A file to write, which appears when the block ends without an error.

    Standard output, a pipe or a device is written directly.
    """
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
    """Reject a file, before a long computation, that cannot be written or is an input.

    Inputs are recognized by other names too.

    FileNotFoundError if its folder does not exist. ValueError for a compressed file, and for an input, which
    would be lost.
    """
    if path.lower().endswith(COMPRESSED):
        raise ValueError(
            f"{option}: {path}: outputs are not compressed, expected a name without {COMPRESSED}"
        )
    folder = os.path.dirname(path) or "."
    if path != STANDARD and not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, "no such folder", folder)
    read = {_identity(name, sys.stdin): name for name in _with_content(inputs)}
    for name in _with_content([path]):  # of a folder the files that may be replaced
        if (identity := _identity(name, sys.stdout)) is not None and identity in read:
            raise ValueError(
                f"{option}: {path}: {read[identity]} is an input of this command. Name another file."
            )


def _with_content(paths: Iterable[str]) -> Iterator[str]:
    """Paths, and after a folder, of a model, those of its files."""
    for path in paths:
        yield path
        if path != STANDARD and os.path.isdir(path):
            yield from (entry.path for entry in os.scandir(path) if entry.name.endswith(_OF_MODELS))


def _identity(path: str, standard: Any) -> tuple[int, int] | None:
    """Device and number of a regular file, or of the file of the `standard` stream; otherwise None."""
    try:
        status = os.fstat(standard.fileno()) if path == STANDARD else os.stat(path)
    except (OSError, ValueError):  # the stream is missing, or is not a file
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def write_documents(
    path: str, form: Form, documents: Iterable[Any], dtype: np.dtype[Any] | None, kind: str = "int"
) -> None:
    """Write documents of a kind of symbols: bytes of text, arrays of integers, or lists of words.

    `dtype` is that of arrays in npy, npz and raw files; None: one that holds those of all documents. Raises
    ValueError for documents that the format cannot hold; no file is written then.
    """
    name, doc_kind = format_of(path, form, "--to"), _KINDS[kind]
    if name in ("npz", "npy") and path == STANDARD and sys.stdout.isatty():
        raise ValueError("-o: expected a file, not a terminal, for binary output")
    if doc_kind not in _HELD[name]:
        others = ", ".join(other for other, kinds in _HELD.items() if doc_kind in kinds and other != "ids")
        raise ValueError(
            f"--to: the model is one of {doc_kind}, not of {_HELD[name][0]}: expected one of {others}"
        )
    with output(path) as f:
        if name in ARRAYS:
            _write_arrays(f, name, documents, dtype)
        elif name in ("ids", "ints"):
            f.writelines(" ".join(map(str, doc.tolist())).encode() + b"\n" for doc in documents)
        else:
            _write_lines(f, name, documents, form.lines)


def _write_lines(f: BinaryIO, name: str, documents: Iterable[Any], lines: bool) -> None:
    """Write documents as ``"text"``, a line each or a single one, or as lines of ``"jsonl"``."""
    for i, doc in enumerate(documents):
        value = doc
        if name == "text":
            if lines and b"\n" in doc:
                raise ValueError(f"document {i}: it has more than one line: write jsonl or npz")
            if i and not lines:
                raise ValueError(
                    "several documents cannot be told apart in a text: write --lines, jsonl or npz"
                )
            f.write(doc + b"\n" if lines else doc)
            continue
        if isinstance(doc, bytes):
            try:
                value = doc.decode("utf-8", "surrogatepass")
            except UnicodeDecodeError as error:
                raise ValueError(
                    f"document {i}, byte {error.start}: not UTF-8, which jsonl needs; write text or npz"
                ) from None
        f.write(json.dumps(value.tolist() if isinstance(value, np.ndarray) else value).encode() + b"\n")


def _write_arrays(f: BinaryIO, name: str, documents: Iterable[Any], dtype: np.dtype[Any] | None) -> None:
    held, lengths = GrowingArray(), []
    common = dtype or np.dtype(np.int32)
    for i, doc in enumerate(documents):
        array = np.frombuffer(doc, np.uint8) if isinstance(doc, bytes) else doc
        if dtype is None:
            common = np.promote_types(common, array.dtype) if i else array.dtype
        elif array.size and not (np.iinfo(dtype).min <= array.min() and array.max() <= np.iinfo(dtype).max):
            raise ValueError(f"document {i}: symbols {array.min()}..{array.max()} do not fit {dtype}")
        lengths.append(array.size)
        held.append(array)
    values = held.finish().astype(common, copy=False)
    if name == "npz":
        np.savez(f, values=values, offsets=offsets_of(np.array(lengths, np.int64)))
        return
    if len(lengths) != 1:
        if len(set(lengths)) > 1:
            raise ValueError(
                f"{len(lengths)} documents have different lengths, which {name} loses. Use npz or jsonl."
            )
        values = values.reshape(len(lengths), lengths[0] if lengths else 0)
    if name == "npy":
        np.save(f, values)
    else:
        f.write(values.data)
