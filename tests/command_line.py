"""Calls of the command line, and the files that its tests read and write."""

import contextlib
import json
import os
import pathlib
import sys
import tempfile
import warnings
from typing import Any

import numpy as np
import pytest

from ubpe_numba.cli import documents as corpora, main as cli
from ubpe_numba.cli.main import main

# Output is kept until it is flushed, as in a shell: what is left at the end is another case.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
ENVIRONMENT["PYTHONPATH"] = str(pathlib.Path(cli.__file__).parents[2])
TEXT = b"low lower lowest newer newest\nwide wider widest\n\n\xe4\xbd\x8e \xff\r\nlow low low"
INTS = [[1, 2, 3, 1, 2, 3, 1, 2], [], [3, 1, 2, 3, 3], [2]]


def fails(arguments: list[str], capsys: Any, code: int = 2) -> str:
    """Run a command that fails; returns its only line on standard error."""
    try:
        found = main(arguments)
    except SystemExit as error:  # argparse
        found = error.code
    assert found == code
    out, err = capsys.readouterr()
    assert err.startswith("error: ") and err.count("\n") == 1 and not out
    return str(err)


def piped(*arguments: str, given: bytes) -> tuple[int, bytes, bytes]:
    """Run a command on standard streams that are files; returns its code, its output and its messages."""
    with contextlib.ExitStack() as stack:
        streams = [stack.enter_context(tempfile.TemporaryFile("w+", newline="")) for _ in range(3)]
        streams[0].buffer.write(given)
        streams[0].seek(0)
        with pytest.MonkeyPatch.context() as patch:
            for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
                patch.setattr(sys, name, stream)
            code = main([*arguments])
        for stream in streams[1:]:
            stream.flush()
            stream.seek(0)
        return code, streams[1].buffer.read(), streams[2].buffer.read()


def write_ints(name: str, docs: list[list[int]], dtype: str = "int16") -> list[str]:
    """Documents of integers in a file of the format that its suffix tells; the options that reading it needs."""
    values, offsets = (
        np.array([i for doc in docs for i in doc], dtype),
        np.cumsum([0] + [len(doc) for doc in docs]),
    )
    path = pathlib.Path(name)
    match path.suffix:
        case ".jsonl":
            path.write_text("\n".join(map(json.dumps, docs)) + "\n\n")
        case ".npz":
            np.savez(path, values=values, offsets=offsets)
        case ".npy":
            np.save(path, values.reshape(len(docs), -1) if len(docs) > 1 else values)
        case ".bin":
            path.write_bytes(values.tobytes())
            return ["--dtype", dtype] + (["--record", str(len(docs[0]))] if len(docs) > 1 else [])
    return []


def read_all(name: str, form: corpora.Form) -> list[Any]:
    """All documents of a file, which may be empty."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", f"{name}: empty", UserWarning)
        return list(corpora.Reader([name], form))


def read_ints(name: str, dtype: str, record: int) -> list[list[int]]:
    return [doc.tolist() for doc in read_all(name, corpora.Form(dtype=dtype, record=record or None))]
