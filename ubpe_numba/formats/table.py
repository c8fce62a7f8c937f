"""The formats of tokenizers: a row each, with recognition, reader, writer and options."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from ubpe_numba.errors import ModelFormatError, listed, quoted
from ubpe_numba.formats import export, readers, tiktoken, vocab_merges, wordpiece
from ubpe_numba.formats.readers import Found, Source
from ubpe_numba.formats.wordpiece import Words
from ubpe_numba.runtime.counterparts import hint, named
from ubpe_numba.runtime.files import naming


class Format(NamedTuple):
    """A format: its name for `export` and messages; recognition, reader and writer, or None.

    The options of `load` are the parameters of `read` after the source, those of `export` the parameters of
    `write` after the tokenizer. `read` may have `tokenizer`, the class that a user requests.
    """

    key: str
    name: str
    is_it: Callable[[Source], bool]
    read: Callable[..., Found] | None
    write: Callable[..., Any] | None = None


def _has(*keys: str) -> Callable[[Source], bool]:
    return lambda source: isinstance(source.document, dict) and source.document.keys() >= {*keys}


FORMATS = (
    Format("", "a model of this library as npz", lambda source: source.head.startswith(b"PK\x03\x04"), readers.own),
    Format("gguf", "a file of gguf", lambda source: source.head.startswith(b"GGUF"), readers.gguf_file),
    Format(
        "clip",
        "CLIP's file of merges",
        lambda source: vocab_merges.beginning(source.head, 64).startswith(vocab_merges.FIRST_OF_CLIP),
        lambda source: readers.of_huggingface(vocab_merges.clip_document(source.data), n_bytes=source.n_bytes),
    ),
    Format("", "a model of this library as JSON", _has("format", "tokenizer"), readers.own),
    Format(
        "tokenizer.json", "a tokenizer.json of Hugging Face", readers.is_huggingface, readers.tokenizer_json,
        export.tokenizer_json,
    ),
    Format(
        "tekken.json",
        "a tekken.json of Mistral",
        _has("config", "vocab"),
        lambda source: Found(readers.model_of(tiktoken.read_tekken(source.document), source.n_bytes)),
    ),
    Format("ubpe", "a dump of ubpe", _has("n_tokens", "alphabet", "mapper", "weights"), readers.dump, export.dump),
    Format("vocab+merges", "vocab.json with merges.txt", readers.is_pair, readers.pair, export.vocab_and_merges),
    Format("tiktoken", "a file of ranks as tiktoken's", readers.is_ranks, readers.ranks, export.ranks),
    Format(
        "sentencepiece", "a model of sentencepiece", readers.is_sentencepiece, readers.sentencepiece_model,
        export.sentencepiece_model,
    ),
    Format(
        "vocab.txt",
        "a vocab.txt of WordPiece",
        lambda source: b"\0" not in source.head and any(map(wordpiece.PIECE.fullmatch, source.lines(1 << 14))),
        readers.vocab_txt,
        export.vocab_txt,
    ),
    Format("transformers", "an object of transformers", lambda _: False, None, export.transformers_object),
    Format("tiktoken.Encoding", "an object of tiktoken", lambda _: False, None, export.tiktoken_encoding),
)  # fmt: skip


_BY_SUFFIX = (
    "tokenizers.Tokenizer(models.BPE(vocab, merges, end_of_word_suffix='</w>')) of both can be loaded"
)
#: Beginnings of other files, with descriptions and advice.
_PARTS = {
    rb"minbpe v1\n": (
        "a model of minbpe: BPE.from_merges(pairs, alphabet=bytes(range(256)), preprocessing=Preprocessing(pattern, "
        "special_tokens, encoding='utf-8')) takes its pairs of ids, which follow the special tokens"
    ),
    rb"#version:.*\n(?:\S+ \S+\n){0,99}?\S+ \S+</w>\n": (
        f"codes of subword-nmt, which are merges without ids: the vocabulary of the model has these; {_BY_SUFFIX}"
    ),
    rb"(?:\S+ \S+ \d+\n){0,99}?\S+ \S+</w> \d+\n": (
        f"codes of fastBPE, which are merges with counts, without ids: the vocabulary of the model has these; {_BY_SUFFIX}"
    ),
    rb"(?:\S+ \d+\n){3}": "words and their counts, as the dict.txt of fairseq: give the model that cut the text into these",
    rb"#version:|(?:\S+ \S+\n){3}": "merges.txt without its vocab.json, which has the ids: give load((vocab, merges)) both",
    rb"(?:[^\t\n]+\t-?\d[\d.e-]*\n){3}": "the .vocab of a model of sentencepiece: give the .model beside it",
}


def recognise(source: Source) -> Format:
    """The format of a file; ModelFormatError if it is none of those known."""
    recognized = next((row for row in FORMATS if row.is_it(source)), None)
    if recognized is None:
        known = "; ".join(row.name for row in FORMATS if row.read is not None)
        head = source.head.replace(b"\r", b"")
        begins = next((what for part, what in _PARTS.items() if re.match(part, head)), None)
        begins_with = f"a file that begins with {quoted(source.head[:24])}"
        shown = f"an object of {listed(source.document)}" if source.document else begins_with
        raise ModelFormatError(begins or f"{shown}, which is none of: {known}")
    return recognized


def _options(function: Callable[..., Any]) -> list[str]:
    """The names of a reader's or writer's parameters after the first, without the requested class."""
    return [name for name in [*inspect.signature(function).parameters][1:] if name != "tokenizer"]


def read(given: Any, tokenizer: str | None, options: dict[str, Any]) -> tuple[Source, Found]:
    """The content of a source of any format, with the name of a class of tokenizers.

    The requested class if it fits.

    Arguments as `tokenizers.saving.load`. TypeError for options that no format has, ValueError for those that
    `read` of this format lacks.
    """
    known = sorted({name for row in FORMATS if row.read is not None for name in _options(row.read)})
    if (odd := next((name for name in options if name not in known), None)) is not None:
        raise TypeError(
            f"load() got an unexpected option {odd!r}{hint({}, odd, known) or f'; there are {known}'}"
        )
    source = Source(given)
    with naming(source.path):
        row = recognise(source)
    assert row.read is not None  # others do not recognize anything
    beside = (
        source.beside(["added_tokens.json"])
        if row.key in ("vocab+merges", "vocab.txt", "sentencepiece")
        else None
    )
    if beside is not None and not options.get("special_tokens"):
        notice = f"{beside} is not read: its tokens are text here, and have no ids; a tokenizer.json of the model has them"
        warnings.warn(notice, UserWarning, stacklevel=4)
    if (odd := next((name for name in options if name not in _options(row.read)), None)) is not None:
        way = f"pieces over words; {wordpiece.AS_BERT}" if row.key == "vocab.txt" else "which says it itself"
        raise ValueError(f"{odd}: {source.path} is {row.name}, {way}")
    if "tokenizer" in inspect.signature(row.read).parameters:
        options = {**options, "tokenizer": tokenizer}
    try:
        content = row.read(source, **options)
    except ModelFormatError as error:
        raise ModelFormatError(f"{source.path}: {row.name}: {error}") from error
    if content.tokenizer is not None:
        return source, content
    if isinstance(content.model, Words):
        return source, content._replace(tokenizer="WordPiece")
    fitting = ("UBPE",) if content.model.vocabulary.merges is None else ("BPE", "UBPEClassic")
    return source, content._replace(tokenizer=tokenizer if tokenizer in fitting else fitting[0])


#: Names of formats that are written under another name, or not by `export`.
_ALIASES = named(
    {
        "; here: 'tokenizer.json', or tok.save(path) for a model file": "huggingface hf tokenizers json",
        "; tok.save(path) writes model files": "npz",
        "; here: 'vocab+merges'": "gpt2",
        "; it is read only: 'tokenizer.json' is what others convert from": "gguf tekken tekken.json",
    }
)


def writer(key: Any, options: dict[str, Any]) -> Callable[..., Any]:
    """The writer of a format by its name.

    ValueError for a format without a writer, TypeError for options that it does not have.
    """
    rows = {row.key: row.write for row in FORMATS if row.write is not None}
    if not isinstance(key, str) or (format_row := rows.get(key)) is None:
        way = _ALIASES.get(str(key).lower().lstrip(".")) or hint({}, str(key), rows)
        raise ValueError(f"format: expected one of {', '.join(map(repr, rows))}, got {quoted(key)}{way}")
    known = _options(format_row)
    if (
        not inspect.getfullargspec(format_row).varkw
        and (odd := next((name for name in options if name not in known), None)) is not None
    ):
        way = hint({}, odd, known) or f"; it has {', '.join(known) or 'none'}"
        raise TypeError(f"export to {key!r} got an unexpected option {odd!r}{way}")
    return format_row
