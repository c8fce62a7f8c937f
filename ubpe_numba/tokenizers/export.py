"""Tokenizers for other libraries: one function for all formats that are written."""

from __future__ import annotations

import os
from typing import Any

from ubpe_numba.errors import quoted
from ubpe_numba.formats import table
from ubpe_numba.formats.export import Exported
from ubpe_numba.runtime.files import write_atomically
from ubpe_numba.tokenizers.base import Tokenizer
from ubpe_numba.tokenizers.wordpiece import WordPiece
from ubpe_numba.vocabulary.unknown import hides_symbols

__all__ = ["export"]


def export(tok: Tokenizer | WordPiece, format: str, path: str | os.PathLike[str] | None = None, **options: Any) -> Any:
    r"""Make the file, or the object, by which another library gives the same ids.

    Every export is tried on some thousand samples before it is given out: on what was written, read again, and by the other
    library where it is installed.

    Parameters
    ----------
    tok
        A fitted tokenizer.
    format
        ``"tokenizer.json"``
            Of Hugging Face's tokenizers: a model of the type BPE, of a `UBPE` Unigram, of a `WordPiece` WordPiece. Integers
            become characters: the symbol at place i of the alphabet is ``chr(0xE000 + i)`` below 6400, from there on
            ``chr(0x10000 - 6400 + i)``. Options `unk_token`, `template` and `special_first`, below.
        ``"transformers"``
            A `transformers.PreTrainedTokenizerFast`; with a path its `save_pretrained` writes the folder. The options of
            ``"tokenizer.json"``, and those of that class: `bos_token`, `eos_token`, `pad_token`, `cls_token`, `sep_token`,
            `mask_token` (special tokens of this tokenizer), `model_max_length`, `padding_side`, `chat_template` and others.
        ``"tiktoken"``, ``"tiktoken.Encoding"``
            The file of ranks, to which pattern and special tokens do not belong; a `tiktoken.Encoding` with both, option `name`.
        ``"sentencepiece"``
            A `.model` file, of the kind BPE, of a `UBPE` unigram; of tokenizers of characters that cut no text. Special tokens
            become control pieces, which sentencepiece does not look for. A model without an unknown token gets one more id.
        ``"vocab+merges"``
            `vocab.json` and `merges.txt`, a dict of their texts; `path` is their folder.
        ``"vocab.txt"``
            The pieces of a `WordPiece`, one a line.
        ``"ubpe"``
            The dump that the packages ubpe 0.2 and 0.3 load (`loads`, with `token_type=str` for characters).
    path
        A file, or a folder, to write it to as well, whole or not at all.
    **options
        Those of the format. `unk_token`: the special token or the symbol (``"N"``; of integers ``(5,)``) that replaces every
        unknown symbol there, by default that of the argument `unknown`; False: none, and no warning; of a `UBPE` a special token.
        `template`: the parts of an input there, such as ``"[CLS] $A [SEP]"``: ``$A``, the document, and special tokens, which
        also follow the second of a pair; a second `str` is the template of pairs: ``("<s> $A", "<s> $A <s>:1 $B:1")``.
        `special_first`: True numbers special tokens 0, 1, ... there, and all others after them.

    Returns
    -------
    str, bytes, dict or object
        The content of the file.

    Raises
    ------
    ValueError
        If the format cannot say the same, naming what it cannot, or the first sample that is encoded differently.
    TypeError
        For an option that the format does not have.

    Warns
    -----
    UserWarning
        If symbols of a text may be unknown and there is no `unk_token`: Hugging Face leaves them out silently.

    Notes
    -----
    As ``"tokenizer.json"`` a `UBPE` needs the objective ``"tokenizers"``, whose choice among paths of equal probability
    (``aa|a``, ``a|aa``) is that of the other library: fit, or `reweight`, with it, or
    ``tok.set_params(objective="tokenizers")``. The reader of JSON there does not round numbers to the nearest; for one score in
    600 no decimals are read back. A fit with this objective makes others, 1 part in 10**16 away; of other tokenizers the file has
    these, which could decide otherwise between paths that are as probable.

    Examples
    --------
    >>> from ubpe_numba import BPE, Preprocessing, export, load
    >>> words = Preprocessing(special_tokens=["[UNK]", "[CLS]", "[SEP]"])
    >>> tok = BPE.from_merges([[0, 1]], alphabet="ab", preprocessing=words)
    >>> text = export(tok, "tokenizer.json", unk_token="[UNK]", template="[CLS] $A [SEP]", special_first=True)
    >>> load(text).encode("aab?").tolist()  # the template is left out here
    [3, 5, 0]
    >>> ranks = export(BPE.from_merges([[97, 98]], alphabet=bytes(range(256))), "tiktoken")
    >>> ranks[-9:], load(ranks, pretokenizer="gpt2", special_tokens={"<end>": 300}).encode("abc").tolist()
    (b'YWI= 256\n', [256, 99])
    """
    write = table.writer(format, options)
    if isinstance(tok, Tokenizer) and "_model" in vars(tok) and tok._model.alphabet.names is not None and format != "ubpe":
        raise ValueError(f"format: {quoted(format)} has no symbols with names; save(path) keeps them, and 'ubpe' has words")
    if isinstance(tok, Tokenizer) and "_model" in vars(tok) and tok._model.segmenter.frame:
        raise ValueError(f"format: {quoted(format)} has no frames, and would encode to other ids; save(path) keeps them")
    if isinstance(tok, Tokenizer) and "_model" in vars(tok) and tok._model.segmenter.mirror is not None:
        raise ValueError("mirror: other libraries have none, and encode a document and its mirror apart; save(path) keeps it")
    made = write(_exported(tok), **options)
    if path is None:
        return made
    if isinstance(made, (str, bytes)):
        write_atomically(path, made if isinstance(made, bytes) else made.encode())
    elif isinstance(made, dict):
        os.makedirs(path, exist_ok=True)
        for name, text in made.items():
            write_atomically(os.path.join(path, name), text.encode())
    elif hasattr(made, "save_pretrained"):
        made.save_pretrained(path)
    else:
        raise ValueError(f"path: an export to {format!r} is an object, which is not written; expected None")
    return made


def _exported(tok: Tokenizer | WordPiece) -> Exported:
    """The tokenizer as writers take it; NotFittedError, and TypeError for anything else."""

    def load(content: Any) -> Any:
        return lambda docs: WordPiece.load(content).encode_batch(docs).to_lists()

    if isinstance(tok, WordPiece):
        words = tok._words()
        return Exported(words, "words", lambda docs: tok.encode_batch(docs).to_lists(), None, load)
    if not isinstance(tok, Tokenizer):
        raise TypeError(f"tok: expected a tokenizer, got {type(tok).__name__}: export(tok, format, path)")
    tok = tok._now()
    model = tok._fitted()
    tok._check_model(model)  # arguments that a user may have set since
    return Exported(
        model, tok._encodes_by, lambda docs, **options: tok.encode_batch(docs, **options).to_lists(), _unknown_of(tok), load
    )


def _unknown_of(tok: Tokenizer) -> Any:
    """The special token or, with pairs, the symbol that replaces unknown symbols; None if none does."""
    model, unknown = tok._fitted(), tok._unknown(None)
    if unknown in ("raise", "skip"):
        return None
    if isinstance(unknown, tuple):
        assert model.segmenter.special is not None
        return unknown[1] if model.segmenter.special.found[unknown[0]] else None
    if not tok._needs_pairs or not hides_symbols(unknown, model.alphabet):
        return None
    symbol, kind = int(model.alphabet.symbols[unknown]), model.alphabet.kind
    return (symbol,) if kind == "int" else chr(symbol) if kind == "str" else bytes([symbol])
