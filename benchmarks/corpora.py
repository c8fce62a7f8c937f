"""The texts and vocabularies that encoders of text are compared on; what is not on the machine is replaced, and the rows say so.

Texts: the King James Bible, sources of the standard library, and manual pages in four languages, from the
folder UBPE_BENCH_MAN (without it /usr/share/man, where Debian's packages manpages-zh, -ja, -ru and -de put
theirs). Vocabularies: OpenAI's, from the folder UBPE_BENCH_RANKS with `o200k_base.json` and
`cl100k_base.json` as the npm package `tiktoken` has them.
"""

from __future__ import annotations

import functools
import gzip
import json
import os
import pathlib
import re
from typing import NamedTuple

import numpy as np
from suite import common

import ubpe_numba
from ubpe_numba import export
from ubpe_numba.text.patterns import NAMED

TEXTS = ("English", "Python", "Chinese", "Japanese", "Russian", "German")
_MANUALS = {"Chinese": "zh_CN", "Japanese": "ja", "Russian": "ru", "German": "de"}
#: Where there are no manual pages: first and last letter of the made words, and the longest.
_LETTERS = {
    "Chinese": (0x4E00, 0x55FF, 4),
    "Japanese": (0x3041, 0x30F6, 8),
    "Russian": (0x430, 0x44F, 12),
    "German": (0x61, 0x7A, 14),
}


class Vocabulary(NamedTuple):
    """Ranks in a file of tiktoken's form, a model of ours with the same ids, and the pattern that cuts words."""

    name: str  # o200k or cl100k, which names the pattern
    label: str  # for rows: with "(stand-in)" where the ranks are not OpenAI's
    real: bool
    ranks: str
    model: str
    pattern: str


def text(name: str, n_bytes: int) -> tuple[str, str]:
    """The first `n_bytes` of a text, and where it comes from."""
    if name == "English":
        whole, source = common.text()
    elif name == "Python":
        whole, source = common.stdlib_text(n_bytes), "sources of the standard library"
    else:
        whole, source = _manual(_MANUALS[name], n_bytes)
        if not whole:
            whole, source = _made(*_LETTERS[name], n_bytes), "made words (stand-in)"
    return whole[:n_bytes].decode("utf-8", "ignore"), source


@functools.cache
def _manual(language: str, n_bytes: int) -> tuple[bytes, str]:
    """At least `n_bytes` of the manual pages of a language, joined, without lines of macros and without font changes."""
    parts, total = [], 0
    folder = pathlib.Path(os.environ.get("UBPE_BENCH_MAN", "/usr/share/man"), language)
    for path in sorted(folder.glob("man*/*.gz")):
        try:
            page = gzip.decompress(path.read_bytes()).decode()
        except UnicodeDecodeError:
            continue  # pages in older encodings
        page = re.sub(r"(?m)^[.'].*\n", "", page).replace("\\-", "-")
        parts.append(re.sub(r"\\f[BIRP]", "", page).encode())
        total += len(parts[-1])
        if total >= n_bytes:
            break
    return b"\n".join(parts), f"manual pages, {language}"


def _made(first: int, last: int, longest: int, n_bytes: int) -> bytes:
    """Sentences of 20,000 words of random letters, common ones more often, as in a language."""
    rng = np.random.default_rng(20_240_505)
    words = [
        "".join(map(chr, rng.integers(first, last + 1, rng.integers(1, longest + 1)))) for _ in range(20_000)
    ]
    found, total = [], 0
    while total < n_bytes:
        lines = [" ".join(words[min(i, 20_000) - 1] for i in rng.zipf(1.2, 12)) for _ in range(1000)]
        found.append(("\n".join(lines) + "\n").encode())
        total += len(found[-1])
    return b"".join(found)


def vocabulary(name: str, n_threads: int = 1) -> Vocabulary:
    """OpenAI's ranks, or of 32,768 tokens of our own; written to the current directory, unless they are there."""
    folder = os.environ.get("UBPE_BENCH_RANKS", "")
    path = pathlib.Path(folder, f"{name}_base.json")
    ranks, model = pathlib.Path(f"{name}_base.tiktoken"), pathlib.Path(f"{name}.npz")
    real = bool(folder) and path.is_file()
    pattern = NAMED[name]
    if real:
        known = json.loads(path.read_text())
        pattern = known["pat_str"]
        if not ranks.exists():
            lines = []
            # "! <first rank> <token> <next token> ..."
            for line in filter(None, known["bpe_ranks"].split("\n")):
                _, first, *tokens = line.split(" ")
                lines += [f"{token} {rank}\n" for rank, token in enumerate(tokens, int(first))]
            ranks.write_text("".join(lines))
    elif not ranks.exists():
        trained = ubpe_numba.BPE.for_text(32_768, pretokenizer=name, n_threads=n_threads)
        export(
            trained.fit([text(language, 1_000_000)[0] for language in TEXTS], progress=False),
            "tiktoken",
            str(ranks),
        )
    if not model.exists():
        ubpe_numba.BPE.load(str(ranks), pretokenizer=name).save(model)
    label = name if real else f"{name}'s pattern, 32,768 tokens of our own (stand-in)"
    return Vocabulary(name, label, real, str(ranks), str(model), pattern)
