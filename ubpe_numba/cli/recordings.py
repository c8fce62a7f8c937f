"""The commands fit, encode, decode and inspect for recordings of numbers: a file each, a column a channel."""

from __future__ import annotations

import csv
import io
import os
from argparse import Namespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.cli.documents import STANDARD, Form, Reader, loaded, opened, output, samples, write_documents
from ubpe_numba.signals import SignalTokenizer

#: Options of `fit` that a `SignalTokenizer` has not.
_OTHERS = (
    "alphabet", "symbols", "n_candidates", "pretokenizer", "special_first", "unknown", "break_token",
    "stop_token",
    "max_token_length", "min_count", "objective", "memory_limit", "curve", "lines", "dtype", "record",
)  # fmt: skip


def fit(options: Namespace) -> None:
    """Learn the tokens of recordings within --max-error."""
    _refuse(options, *_OTHERS)
    recordings, names = read(options.files, options.format)
    size = {} if options.n_tokens is None else {"n_tokens": options.n_tokens}
    axis = 1 if recordings[0].ndim == 2 else None
    tokenizer = SignalTokenizer(
        max_error=options.max_error, tolerance=1 if options.tolerance is None else options.tolerance, channel_axis=axis,
        n_threads=options.threads,
        special_tokens=options.special_token, **size,
    )  # fmt: skip
    tokenizer.fit(recordings, sampling_rate=options.rate, channel_names=names, progress=options.progress)
    tokenizer.save(options.output)


def encode(tokenizer: SignalTokenizer, options: Namespace) -> None:
    """Write the ids of recordings, a document per channel."""
    _refuse(options, "lines", "dtype", "record", "special")
    recordings, _ = read(options.files, options.format, tokenizer.channel_names)
    if (axis := tokenizer.channel_axis) is not None:
        recordings = [np.moveaxis(part.reshape(len(part), -1), 1, axis) for part in recordings]
    to = Form(options.to or ("ids" if options.output == "-" else None), ids=True)
    write_documents(options.output, to, tokenizer.encode_batch(recordings), np.dtype(np.int32))


def decode(tokenizer: SignalTokenizer, options: Namespace, reader: Reader) -> None:
    """Write the samples of the ids of a recording, as csv or npy."""
    _refuse(options, "to", "lines", "out_dtype")
    ids = list(reader)
    if len(ids) != tokenizer.scale_.n_channels:
        raise ValueError(
            f"{options.files[0]}: expected the ids of one recording of {tokenizer.scale_.n_channels} "
            f"channels, got {len(ids)} documents; decode one at a time"
        )
    if (axis := tokenizer.channel_axis) is None:
        decoded = tokenizer.decode(ids[0])
    else:  # the axes of a file, whatever those of the tokenizer are
        decoded = np.moveaxis(tokenizer.decode(ids), axis, 1)
    names = tokenizer.channel_names
    with output(options.output) as f:
        if options.output.lower().endswith(".npy"):
            np.save(f, decoded)
            return
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        if names is not None:
            rows.writerow(names)
        table = decoded.reshape(len(decoded), -1).tolist()
        rows.writerows(["" if value != value else value for value in row] for row in table)
        f.write(text.getvalue().encode())


def _refuse(options: Namespace, *names: str) -> None:
    """ValueError for a given option that recordings do not have."""
    for name in names:
        if getattr(options, name):
            raise ValueError(f"--{name.replace('_', '-')}: not for recordings")


def inspect(tokenizer: SignalTokenizer, top: int) -> dict[str, Any]:
    """Facts of a tokenizer, and its longest tokens."""
    vocabulary = tokenizer.vocabulary
    longest = np.argsort(-vocabulary.lengths, kind="stable")[:top]
    return {
        "tokenizer": "SignalTokenizer",
        "size": len(vocabulary),
        "error_bound": np.asarray(tokenizer.error_bound()).tolist(),
        "channels": tokenizer.channel_names or tokenizer.scale_.n_channels,
        "sampling_rate": tokenizer.sampling_rate,
        "fingerprint": tokenizer.fingerprint,
        "tokens": [
            {"id": i, "samples": int(vocabulary.lengths[i]), "differences": bool(vocabulary.is_relative[i])}
            for i in longest.tolist()
        ],
    }


def read(
    paths: list[str], form: str | None, names: list[str] | None = None
) -> tuple[list[NDArray[Any]], list[str] | None]:
    """The recordings of files, [samples] or [samples, channels], and the names of channels that a csv has.

    ValueError, with file and line, for a field that is not a number, and for other names than `names` or those
    of the file before; an empty field of a csv is a missing sample.
    """
    columns = []
    for path in paths:
        name = form or os.path.splitext(path.lower().removesuffix(".gz"))[1].removeprefix(".")
        if path == STANDARD and form is None:
            name = "csv"
        if name not in ("csv", "npy", "wav"):
            raise ValueError(f"{path}: expected recordings, a file of csv, npy or wav; say it with --format")
        if name == "csv":
            array, header = _of_csv(path)
            names = names or header
            if header is not None and header != names:
                raise ValueError(
                    f"{path}: expected the columns {', '.join(names or ())}, got {', '.join(header)}"
                )
        else:
            array = samples(path).T if name == "wav" else loaded(path, name)[0]
        columns.append(array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array)
    return columns, names


def _of_csv(path: str) -> tuple[NDArray[np.float64], list[str] | None]:
    """Numbers [rows, columns], and the first row if it has names."""
    names, table, width = None, [], 0
    with opened(path) as f, io.TextIOWrapper(f, "utf-8-sig", newline="") as text:
        for i, row in enumerate(csv.reader(text), 1):
            width = width or len(row)
            if len(row) != width:
                raise ValueError(f"{path}: line {i}: expected {width} numbers, got {len(row)}")
            try:
                table.append([float(word) if word.strip() else np.nan for word in row])
            except ValueError as error:
                if i > 1:
                    raise ValueError(f"{path}: line {i}: expected numbers: {error}") from None
                names = row
    return np.array(table, np.float64).reshape(-1, max(width, 1)), names
