"""Fuzzing of everything that reads a model: any bytes give a tokenizer that works, or a ModelFormatError.

The first byte of an input chooses the loader, the rest is the file. `one_input` needs no atheris; `main`
does.
"""

from __future__ import annotations

import atexit
import functools
import importlib.util
import io
import itertools
import pathlib
import shutil
import sys
import tempfile
import warnings
import zipfile
from typing import Any

CLASSES = ("BPE", "UBPEClassic", "UBPE")
MEMBERS = (
    "head", "alphabet.symbols", "vocabulary.merges", "vocabulary.symbols", "vocabulary.lengths", "vocabulary.weights",
    "vocabulary.counts", "vocabulary.document_frequencies", "text.token_ids", "vocabulary.occurrences",
    "vocabulary.log_probabilities", "history.lengths", "history.counts", "history.document_frequencies",
)  # fmt: skip
#: ``members`` are packed into an archive here, since hardly any mutation of an archive keeps its checksums
#: right.
FORMATS = ("json", "npz", "members", "published", "published int", "published str")
#: Of other libraries; in the last the two files are one, with a zero between.
FOREIGN = ("huggingface", "tiktoken", "vocab and merges")
#: What the first byte, modulo their number, chooses.
LOADERS = (*itertools.product(CLASSES, FORMATS), *itertools.product(CLASSES[:2], FOREIGN), ("load", "any"))
MAX_DOCUMENT = 4096  # symbols that are encoded with what was loaded


@functools.cache
def _folder() -> pathlib.Path:
    """A directory of this process, removed at its end."""
    folder = tempfile.mkdtemp(prefix="ubpe-fuzz-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return pathlib.Path(folder)


def to_members(members: dict[str, bytes]) -> bytes:
    """The members of an archive as the input of the format "members": index, length in two bytes, content."""
    return b"".join(bytes([MEMBERS.index(k)]) + len(v).to_bytes(2, "big") + v for k, v in members.items())


def pack(data: bytes) -> bytes:
    """The archive of what `to_members` made; the last member may be cut short."""
    buffer, at = io.BytesIO(), 0
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w") as archive:
        warnings.simplefilter("ignore")  # a name that is there twice
        while at + 3 <= len(data):
            size = int.from_bytes(data[at + 1 : at + 3], "big")
            archive.writestr(f"{MEMBERS[data[at] % len(MEMBERS)]}.npy", data[at + 3 : at + 3 + size])
            at += 3 + size
    return buffer.getvalue()


def read(loader: tuple[str, str], data: bytes) -> Any:
    """The tokenizer that a loader makes of a file."""
    import ubpe_numba

    name, form = loader
    if form == "any":
        path = _folder() / "any"
        path.write_bytes(data)
        return (
            ubpe_numba.load(path, n_threads=1, pretokenizer=None)
            if b"=" in data[:64]
            else ubpe_numba.load(path, n_threads=1)
        )
    cls = getattr(ubpe_numba, name)
    if form.startswith("published"):
        return cls.load(data, kind=form.partition(" ")[2] or None)
    if form == "huggingface":
        return cls.load(data)
    if form == "tiktoken":
        return cls.load(data, pretokenizer="gpt2")
    if form == "vocab and merges":
        vocab, _, merges = data.partition(b"\0")
        return cls.load((vocab, merges))
    path = _folder() / ("model.json" if form == "json" else "model.npz")
    path.write_bytes(pack(data) if form == "members" else data)
    return cls.load(path, n_threads=1)


def check(tokenizer: Any) -> None:
    """A small document of some symbols and tokens, encoded and decoded."""
    import numpy as np

    if type(tokenizer).__name__ == "WordPiece":
        return
    vocabulary, alphabet = tokenizer._model.vocabulary, tokenizer._model.alphabet
    n, size = vocabulary.n_alphabet, len(vocabulary)
    tokens = [0, n - 1, n // 2, 0, 0, *range(n, min(n + 4, size)), *range(max(n, size - 4), size)]
    ids = np.concatenate([vocabulary.sequence(t)[:MAX_DOCUMENT] for t in tokens])[:MAX_DOCUMENT].astype(
        np.int32
    )
    for part in (ids, ids[::-1].copy(), ids[:0]):
        document = alphabet.output(alphabet.to_symbols(part))
        try:
            encoded = tokenizer.encode(document, disallowed_special="none")
        except ValueError as error:  # a pattern of a dump of ubpe, which would lose a part of the document
            if "matches nothing" not in str(error):
                raise
            continue
        assert encoded.size <= part.size
        again = (
            tokenizer.decode(encoded, as_bytes=True)
            if isinstance(document, bytes)
            else tokenizer.decode(encoded)
        )
        assert type(again) is type(document) and np.array_equal(again, document), (document, encoded, again)


def one_input(data: bytes) -> bool:
    """Whether the input was read as a model; raises for a bug, which is all but ModelFormatError and a working model."""
    from ubpe_numba.errors import ModelFormatError

    if not data:
        return False
    try:
        tokenizer = read(LOADERS[data[0] % len(LOADERS)], data[1:])
    except ModelFormatError:
        return False
    except ValueError as error:  # an argument that does not go with the file
        loader, form = LOADERS[data[0] % len(LOADERS)]
        of_another_format = form.startswith("published") and "says it itself" in str(error)
        if not of_another_format and ((loader, form) != ("load", "any") or "pretokenizer" not in str(error)):
            raise
        return False
    check(tokenizer)
    return True


def main() -> None:
    """Run libFuzzer on `one_input`; the arguments are libFuzzer's."""
    import atheris

    warnings.simplefilter("ignore")
    spec = importlib.util.find_spec("ubpe_numba")
    assert spec is not None and spec.submodule_search_locations
    root = pathlib.Path(spec.submodule_search_locations[0])
    # numba reads the bytecode of kernels, so that has to stay as it is
    folders = [root / "runtime", *root.glob("runtime/*"), *root.glob("*/kernels")]
    files = [
        path.relative_to(root.parent).with_suffix("") for folder in folders for path in folder.glob("*.py")
    ]
    kernels = [".".join(file.parts).removesuffix(".__init__") for file in files]
    with atheris.instrument_imports(include=["ubpe_numba"], exclude=kernels):
        import ubpe_numba  # noqa: F401
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
