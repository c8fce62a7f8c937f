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


def export(
    tok: Tokenizer | WordPiece, format: str, path: str | os.PathLike[str] | None = None, **options: Any
) -> Any:
    r"""Make the file, or the object, by which another library gives the same ids.

    Every export is read back and tried on thousands of samples before it is returned, also by the other
    library if it is installed.

    Parameters
    ----------
    tok
        A fitted tokenizer.
    format
        ``"tokenizer.json"``
            Of Hugging Face's tokenizers: a model of the type BPE, of a `UBPE` Unigram, of a `WordPiece`
            WordPiece. Integers become characters: the symbol at place i of the alphabet is ``chr(0xE000 +
            i)`` below 6400, from there on ``chr(0x10000 - 6400 + i)``. Options `unk_token` and `template`,
            below.
        ``"transformers"``
            A `transformers.PreTrainedTokenizerFast`; with a path its `save_pretrained` writes the folder. The
            options of ``"tokenizer.json"``, and those of that class: `bos_token`, `eos_token`, `pad_token`,
            `cls_token`, `sep_token`, `mask_token` (special tokens of this tokenizer), `model_max_length`,
            `padding_side`, `chat_template` and others.
        ``"tiktoken"``, ``"tiktoken.Encoding"``
            The file of ranks, to which pattern and special tokens do not belong; a `tiktoken.Encoding` with
            both, option `name`.
        ``"sentencepiece"``
            A `.model` file of the kind BPE, or for a `UBPE` unigram; for tokenizers of characters without a
            pre-tokenizer. Special tokens become control pieces, which sentencepiece does not look for. A
            model without an unknown token gets one more id.
        ``"vocab+merges"``
            `vocab.json` and `merges.txt`, a dict of their texts; `path` is their folder.
        ``"vocab.txt"``
            The pieces of a `WordPiece`, one per line.
        ``"ubpe"``
            The dump that the packages ubpe 0.2 and 0.3 load (`loads`, with `token_type=str` for characters).
    path
        A file or folder to write as well, atomically.
    **options
        Options of the format. `unk_token`: the special token or the symbol (``"N"``; for integers ``(5,)``)
        that replaces every unknown symbol there. The default is that of the argument `unknown`; False means
        none, without a warning. For a `UBPE` it is a special token. `template`: the parts of an input there,
        such as ``"[CLS] $A [SEP]"``, with ``$A`` for the document. Its special tokens also follow the second
        document of a pair. A second `str` is the template of pairs: ``("<s> $A", "<s> $A <s>:1 $B:1")``.

    Returns
    -------
    str, bytes, dict or object
        The content of the file.

    Raises
    ------
    ValueError
        If the format cannot express the tokenizer, naming the setting, or the first sample with different
        ids.
    TypeError
        For an option that the format does not have.

    Warns
    -----
    UserWarning
        If symbols of a text may be unknown and `unk_token` is missing: Hugging Face drops them silently.

    Notes
    -----
    As ``"tokenizer.json"`` a `UBPE` needs the objective ``"tokenizers"``, with the ties of the other library
    among paths of equal probability (``aa|a``, ``a|aa``). Fit, or `reweight`, with it, or use
    ``tok.set_params(objective="tokenizers")``. The JSON reader there does not round numbers to the nearest; 1
    score in 600 is not read back exactly, whatever the decimals. A fit with this objective chooses other
    scores, 1 part in 10**16 away. Other tokenizers keep their scores, which could decide otherwise between
    paths of equal probability.

    Examples
    --------
    >>> from ubpe_numba import BPE, Preprocessing, export, load
    >>> words = Preprocessing(special_tokens=["[UNK]", "[CLS]", "[SEP]"], special_first=True)
    >>> tok = BPE.from_merges([[0, 1]], alphabet="ab", preprocessing=words)
    >>> text = export(tok, "tokenizer.json", unk_token="[UNK]", template="[CLS] $A [SEP]")
    >>> load(text).encode("aab?").tolist()  # the template is left out here
    [3, 5, 0]
    >>> ranks = export(BPE.from_merges([[97, 98]], alphabet=bytes(range(256))), "tiktoken")
    >>> ranks[-9:], load(ranks, pretokenizer="gpt2", special_tokens={"<end>": 300}).encode("abc").tolist()
    (b'YWI= 256\n', [256, 99])
    """
    write = table.writer(format, options)
    refusal = ""
    if isinstance(tok, Tokenizer) and (model := vars(tok).get("_model")) is not None:
        if model.alphabet.names is not None and format != "ubpe":
            refusal = f"format: {quoted(format)} has no symbols with names; save(path) keeps them, and 'ubpe' has words"
        elif model.segmenter.frame:
            refusal = f"format: {quoted(format)} has no frames, and would encode to other ids; save(path) keeps them"
        elif model.segmenter.mirror is not None:
            refusal = "mirror: other libraries cannot encode a document and its mirror alike. Use save(path)."
    if refusal:
        raise ValueError(refusal)
    content = write(_exported(tok), **options)
    if path is None:
        return content
    if isinstance(content, (str, bytes)):
        write_atomically(path, content if isinstance(content, bytes) else content.encode())
    elif isinstance(content, dict):
        os.makedirs(path, exist_ok=True)
        for name, text in content.items():
            write_atomically(os.path.join(path, name), text.encode())
    elif hasattr(content, "save_pretrained"):
        content.save_pretrained(path)
    else:
        raise ValueError(f"path: an export to {format!r} is an object, which is not written; expected None")
    return content


def _exported(tok: Tokenizer | WordPiece) -> Exported:
    """The tokenizer as writers take it; NotFittedError, and TypeError for anything else."""

    def load(content: Any) -> Any:
        return lambda docs: WordPiece.load(content).encode_batch(docs, allowed_special="all").to_lists()

    if isinstance(tok, WordPiece):
        words = tok._words()
        return Exported(
            words, "words", lambda docs: tok.encode_batch(docs, allowed_special="all").to_lists(), None, load
        )
    if not isinstance(tok, Tokenizer):
        raise TypeError(f"tok: expected a tokenizer, got {type(tok).__name__}: export(tok, format, path)")
    tok = tok._now()
    model = tok._fitted()
    tok._check_model(model)  # arguments that a user may have set since
    return Exported(
        model,
        tok._encodes_by,
        lambda docs, **options: tok.encode_batch(docs, **options).to_lists(),
        _unknown_of(tok),
        load,
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
