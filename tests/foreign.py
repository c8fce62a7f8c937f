"""Texts, and what two equal tokenizers share, for the tests of exchange with other libraries."""

import base64
import functools
import gzip
import os
import pathlib
import sysconfig
from typing import Any

import numpy as np

from ubpe_numba.formats.export_check import TEXTS

END = "<|endoftext|>"
MIXED = [
    *TEXTS,
    "",
    " ",
    "\n\n",
    "naïve café ﬁ",
    "\U0001d518\U0001d52b 한국어 हिन्दी",
    "a" * 300,
    "=" * 80 + "\n" * 20,
]


def english() -> list[str]:
    """Lines of the King James Bible where UBPE_BENCH_DATA has it, else of this interpreter's own sources."""
    path = pathlib.Path(os.environ.get("UBPE_BENCH_DATA", ""), "en_kjv.txt.gz")
    if os.environ.get("UBPE_BENCH_DATA") and path.exists():
        text = gzip.decompress(path.read_bytes())[:400_000].decode("utf-8", "replace")
    else:
        text = "".join(
            pathlib.Path(sysconfig.get_paths()["stdlib"], name).read_text()
            for name in ("argparse.py", "decimal.py")
        )
    return text.splitlines(keepends=True)


def same(a: Any, b: Any, docs: Any) -> None:
    assert (
        np.array_equal(a._model.vocabulary.merges, b._model.vocabulary.merges)
        and a._model.alphabet == b._model.alphabet
    )
    assert a.vocabulary.special == b.vocabulary.special
    ours, theirs = a._model.segmenter.pretokenizer, b._model.segmenter.pretokenizer
    # the version of Unicode is that of the other library
    assert (ours and ours.pattern) == (theirs and theirs.pattern)
    assert a.encode_batch(docs).to_lists() == b.encode_batch(docs).to_lists()


def spoil(file: Any, place: str, value: Any) -> Any:
    """The file with another value at a dotted place; `...` removes what is there."""
    *way, last = [int(part) if part.isdigit() else part for part in place.split(".")]
    at = functools.reduce(lambda part, name: part[name if isinstance(part, list) else str(name)], way, file)
    last = last if isinstance(at, list) else str(last)
    if value is ...:
        del at[last]
    else:
        at[last] = value
    return file


def line(token: bytes, rank: Any) -> bytes:
    return base64.b64encode(token) + b" " + str(rank).encode() + b"\n"
