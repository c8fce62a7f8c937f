"""Models of any of the three tokenizers from their files."""

from __future__ import annotations

import os

from ubpe_numba.errors import ModelFormatError
from ubpe_numba.formats import model_file
from ubpe_numba.tokenizers.base import Tokenizer
from ubpe_numba.tokenizers.bpe import BPE, UBPEClassic
from ubpe_numba.tokenizers.ubpe import UBPE

#: The classes by the names that model files have.
TOKENIZERS: dict[str, type[Tokenizer]] = {"BPE": BPE, "UBPE": UBPE, "UBPEClassic": UBPEClassic}


def load_model(path: str | os.PathLike[str], n_threads: int | None = None) -> Tokenizer:
    """Read a model of whatever class it is. Raises as `Tokenizer.load`."""
    model, n_bytes = model_file.load(path)
    name = model["tokenizer"]
    if name == "WordPiece":
        raise ModelFormatError(f"{os.fspath(path)}: a WordPiece, which takes words, not text: use WordPiece.load")
    if name not in TOKENIZERS:
        raise ModelFormatError(f"{os.fspath(path)}: there is no tokenizer {name!r}")
    return TOKENIZERS[name]._loaded(os.fspath(path), model, n_bytes, n_threads)
