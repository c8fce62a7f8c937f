"""Tokenizers from files of any format."""

from __future__ import annotations

from typing import Any

from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.formats import table
from ubpe_numba.tokenizers.base import Tokenizer
from ubpe_numba.tokenizers.bpe import BPE, UBPEClassic
from ubpe_numba.tokenizers.ubpe import UBPE
from ubpe_numba.tokenizers.wordpiece import WordPiece

#: The classes by the names that model files have.
TOKENIZERS: dict[str, type[Tokenizer]] = {"BPE": BPE, "UBPE": UBPE, "UBPEClassic": UBPEClassic}


def load(
    path: Any,
    *,
    tokenizer: str | None = None,
    kind: str | None = None,
    pretokenizer: Any = table.AUTO,
    special_tokens: dict[str, int] | None = None,
    n_threads: int | None = None,
    max_symbols: int | None = None,
) -> Any:
    """Read a tokenizer from a file of any known format, which is recognised by its content.

    Models of this library (``.json``, ``.npz``), `tokenizer.json` of Hugging Face, files of ranks as tiktoken has them,
    `tekken.json` of Mistral, `vocab.json` with `merges.txt`, CLIP's file of merges, models of sentencepiece, ``.gguf``, dumps of
    ubpe, `vocab.txt` of WordPiece.

    Parameters
    ----------
    path
        The file; or a folder, such as `save_pretrained` of transformers makes, in which it is the first of `tokenizer.json`,
        `tekken.json`, `tokenizer.model`, `vocab.json` (with `merges.txt`), `encoder.json` (with `vocab.bpe`) and `vocab.txt`; or
        a `tokenizers.Tokenizer`, or a fast tokenizer of transformers.
    tokenizer
        The class, ``"BPE"``, ``"UBPEClassic"`` or ``"UBPE"``, where the file leaves that open: by default a `BPE`, of
        unigrams `UBPE`, and of a dump of ubpe `UBPEClassic` where tokens are made of learned ones, else `UBPE`.
    kind
        The kind of symbols of a file of another library, ``"bytes"``, ``"str"`` or ``"int"``; None decides by the file.
    pretokenizer, special_tokens
        As for the constructor, for files that do not say them: ranks, and `vocab.json` with `merges.txt`. ``"auto"``: the pattern
        of GPT-2 for the latter, and of the published ranks r50k, p50k, cl100k, o200k, of Llama 3 and 4, Qwen and Whisper, what
        belongs to them.
    n_threads
        As for the constructor.
    max_symbols
        As for `Tokenizer.load`.

    Returns
    -------
    Tokenizer or WordPiece
        One that encodes as the file says.

    Raises
    ------
    ModelFormatError
        If the format is not known, or, naming what the file was recognised as, the file is not valid or cannot be reproduced.
    ValueError
        For an argument that does not fit the file, and for ranks of which the pattern is not known.

    Warns
    -----
    UserWarning
        If an added token of a `tokenizer.json` has another id, here and in the package tokenizers, than the file says; if a model
        of this library cuts text by another version of Unicode than is installed here.

    Examples
    --------
    >>> import os, tempfile
    >>> from ubpe_numba import BPE, load
    >>> path = os.path.join(tempfile.mkdtemp(), "anything")
    >>> tok = BPE.from_merges([[0, 1]], alphabet="ab")
    >>> for text in (tok.to_huggingface(unk_token=False), tok.to_published()):
    ...     with open(path, "w") as f:
    ...         _ = f.write(text)
    ...     print(load(path, kind="str").encode("aab").tolist())
    [0, 2]
    [0, 2]
    """
    if tokenizer is not None and tokenizer not in TOKENIZERS:
        raise ValueError(f"tokenizer: expected {', '.join(TOKENIZERS)} or None, got {quoted(tokenizer)}")
    source, found = table.read(path, tokenizer, kind, pretokenizer, special_tokens)
    if found.tokenizer not in TOKENIZERS and found.tokenizer != "WordPiece":
        raise ModelFormatError(f"{source.path}: there is no tokenizer {quoted(found.tokenizer)}")
    cls: Any = TOKENIZERS.get(found.tokenizer, WordPiece)
    if isinstance(found.model, dict):
        if tokenizer not in (None, found.tokenizer):
            raise ValueError(f"tokenizer: {source.path} is a {found.tokenizer}, not a {tokenizer}")
        return cls._loaded(source.path, found.model, source.n_bytes, n_threads, max_symbols)
    try:
        return cls._imported(found.model, {**found.params, "n_threads": n_threads})
    except ModelFormatError as error:
        raise ModelFormatError(f"{source.path}: {error}") from error
