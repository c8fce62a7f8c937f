"""A model as plain data, and its two file formats: readable JSON, and npz of flat arrays.

A model is a dict: ``tokenizer`` (class name), ``params`` (constructor arguments), ``alphabet`` and ``vocabulary`` (what their
`state()` returns), and ``text`` (that of the segmenter) unless it is empty. Both formats hold the same; neither can run code,
and what does not fit is a `ModelFormatError`.
"""

from __future__ import annotations

import io
import json
import os
import pathlib
import zipfile
from collections.abc import Iterable
from typing import Any, BinaryIO

import numpy as np

from ubpe_numba.errors import ModelFormatError
from ubpe_numba.io.files import open_regular, write_atomically

FORMAT, VERSION = "ubpe-numba", 1
_PARTS = ("tokenizer", "params", "alphabet", "vocabulary", "text")
_ARRAYS = {
    "alphabet.symbols": "iu", "vocabulary.merges": "iu", "vocabulary.symbols": "iu", "vocabulary.lengths": "iu",
    "vocabulary.weights": "f", "vocabulary.counts": "iu", "vocabulary.document_frequencies": "iu", "text.token_ids": "iu",
}  # fmt: skip


def save(path: str | os.PathLike[str], model: dict[str, Any]) -> int:
    """Write a model; the suffix, .json or .npz, decides the format. Returns the bytes of the file.

    ValueError for another suffix, OSError from the disk.
    """
    suffix = _suffix(path)
    data = _to_json(model) if suffix == ".json" else _to_npz(model)
    write_atomically(path, data)
    return len(data)


def load(path: str | os.PathLike[str]) -> tuple[dict[str, Any], int]:
    """Read a model; returns it and the bytes of the file.

    ModelFormatError names the file and what is wrong with it; OSError if it cannot be read.
    """
    suffix = _suffix(path)
    with open_regular(path) as f:
        size = os.fstat(f.fileno()).st_size
        try:
            return (_from_json(f) if suffix == ".json" else _from_npz(f)), size
        except ModelFormatError as error:
            raise ModelFormatError(f"{os.fspath(path)}: {error}") from error


def claimable(n_bytes: int) -> int:
    """How many symbols a file may claim, for its alphabet or all its tokens: a small one must not cost gigabytes.

    30 pairs can mean 2**30 symbols. A real vocabulary has a handful for each of the 10 to 40 bytes that a token takes.
    """
    return 2**22 + 64 * n_bytes


def _suffix(path: str | os.PathLike[str]) -> str:
    suffix = pathlib.Path(path).suffix.lower()
    if suffix not in (".json", ".npz"):
        raise ValueError(f"path: expected a name that ends in .json or .npz, got {os.fspath(path)!r}")
    return suffix


def _split(model: dict[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The model without its arrays, and the arrays by dotted name."""
    head: dict[str, Any] = {"format": FORMAT, "version": VERSION}
    arrays: dict[str, np.ndarray] = {}
    for part in _PARTS:
        value = model.get(part)
        if value is None:
            continue
        if isinstance(value, dict):
            arrays |= {f"{part}.{k}": v for k, v in value.items() if isinstance(v, np.ndarray)}
            value = {k: v for k, v in value.items() if not isinstance(v, np.ndarray)}
        head[part] = value
    return head, arrays


def _join(head: Any, arrays: dict[str, Any]) -> dict[str, Any]:
    """Check the head and put the arrays back."""
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise ModelFormatError(f'not a model of this library: no "format": "{FORMAT}"')
    if type(head.get("version")) is not int or head["version"] != VERSION:
        raise ModelFormatError(f"version {head.get('version')!r}; this library reads version {VERSION}")
    model: dict[str, Any] = {}
    for part in _PARTS:
        if part not in head:
            if part == "text":
                continue
            raise ModelFormatError(f"the field {part!r} is missing")
        model[part] = head[part]
        if not isinstance(model[part], str if part == "tokenizer" else dict):
            raise ModelFormatError(f"{part}: expected {'a name' if part == 'tokenizer' else 'an object'}")
    for name, array in arrays.items():
        part, _, field = name.partition(".")
        if part not in model:
            raise ModelFormatError(f"npz: unexpected member {name!r}")
        model[part][field] = array
    return model


def parse_json(data: str | bytes) -> Any:
    """JSON without NaN or infinities; ModelFormatError for anything else, nesting that is too deep included."""

    def refuse(name: str) -> None:
        raise ModelFormatError(f"JSON: the number {name} is not allowed")

    try:
        return json.loads(data, parse_constant=refuse)
    except ModelFormatError:
        raise
    except (ValueError, RecursionError) as error:
        raise ModelFormatError(f"not valid JSON: {error}") from error


def _to_json(model: dict[str, Any]) -> bytes:
    head, arrays = _split(model)
    for name, array in arrays.items():
        part, _, field = name.partition(".")
        if name == "alphabet.symbols" and head["alphabet"]["kind"] == "str" and not _has_surrogates(array):
            head[part][field] = "".join(map(chr, array.tolist()))
        else:
            head[part][field] = array.tolist()
    lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in head.items() if k != "vocabulary"]
    fields = [f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in head["vocabulary"].items()]
    lines.append('"vocabulary": {\n' + ",\n".join(fields) + "\n }")
    return ("{\n " + ",\n ".join(lines) + "\n}\n").encode()


def _has_surrogates(points: np.ndarray) -> bool:
    """Whether JSON could not keep the characters apart: two surrogates side by side become one character."""
    return bool(((points >= 0xD800) & (points < 0xE000)).any())


def _from_json(f: BinaryIO) -> dict[str, Any]:
    start = f.read(4096).removeprefix(b"\xef\xbb\xbf")
    if not start.lstrip(b" \t\r\n").startswith(b"{"):  # before gigabytes of something else are read
        raise ModelFormatError("not a JSON object")
    return _join(parse_json(start + f.read()), {})


def _to_npz(model: dict[str, Any]) -> bytes:
    head, arrays = _split(model)
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, head=np.frombuffer(json.dumps(head).encode(), np.uint8), **arrays)
    return buffer.getvalue()


def _from_npz(f: BinaryIO) -> dict[str, Any]:
    arrays = read_arrays(f, {"head": "u", **_ARRAYS}, all_of=("head",))
    return _join(parse_json(arrays.pop("head").tobytes()), arrays)


def read_arrays(f: BinaryIO, known: dict[str, str], all_of: Iterable[str] | None = None) -> dict[str, np.ndarray]:
    """The arrays of an npz file: those that are `known`, with the kinds of their dtypes, all or at least `all_of`.

    Members are stored, not compressed, so that no file claims more memory than its own size. ModelFormatError otherwise.
    """
    n_bytes = os.fstat(f.fileno()).st_size
    try:
        with zipfile.ZipFile(f) as archive:
            arrays = {}
            for info in archive.infolist():
                name = info.filename.removesuffix(".npy")
                kinds = known.get(name)
                if kinds is None or name in arrays:
                    raise ModelFormatError(f"npz: unexpected member {info.filename!r}")
                if info.compress_type != zipfile.ZIP_STORED or info.file_size > n_bytes:
                    raise ModelFormatError(f"npz: member {info.filename!r} is compressed or claims too many bytes")
                arrays[name] = _array(name, archive.read(info), kinds)
    except ModelFormatError:
        raise
    except Exception as error:  # of a damaged archive zipfile lets out whatever it stumbles over, OverflowError included
        raise ModelFormatError(f"not a valid npz file: {error}") from error
    for name in known if all_of is None else all_of:
        if name not in arrays:
            raise ModelFormatError(f"npz: the member {name!r} is missing")
    return arrays


def _array(name: str, data: bytes, kinds: str) -> np.ndarray:
    """An .npy member: its header must say exactly what follows it."""
    stream = io.BytesIO(data)
    try:
        if np.lib.format.read_magic(stream) != (1, 0):
            raise ModelFormatError(f"npz: {name}: expected format 1.0")
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    except ModelFormatError:
        raise
    except Exception as error:  # NumPy parses the header as Python text, and lets out whatever the parser raises
        raise ModelFormatError(f"npz: {name}: not a valid array header: {error}") from error
    n = 1
    for size in shape:
        n *= size
    if dtype.kind not in kinds or dtype.hasobject or fortran or len(shape) not in (1, 2):
        raise ModelFormatError(f"npz: {name}: unexpected dtype {dtype} or shape {shape}")
    if not all(type(size) is int and size >= 0 for size in shape) or n * dtype.itemsize != len(data) - stream.tell():
        raise ModelFormatError(f"npz: {name}: shape {shape} does not match {len(data) - stream.tell()} bytes")
    return np.frombuffer(data, dtype, offset=stream.tell()).reshape(shape)
