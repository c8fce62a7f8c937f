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
from typing import Any, BinaryIO

import numpy as np

from ubpe_numba.errors import ModelFormatError
from ubpe_numba.runtime.files import open_regular, read_arrays, write_atomically

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
