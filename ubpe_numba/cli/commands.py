"""The commands of the command line: each takes the parsed options (see `main.py`)."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import pathlib
import sys
import warnings
from argparse import Namespace
from collections.abc import Iterator
from typing import Any

import numpy as np

from ubpe_numba.cli import recordings
from ubpe_numba.cli.documents import (
    PIPED,
    SPECIAL,
    STANDARD,
    Form,
    Reader,
    integer_type,
    output,
    write_documents,
)
from ubpe_numba.cli.inspect import describe_model, describe_words, table, words_table
from ubpe_numba.errors import LocatedError, SpecialTokenError, quoted
from ubpe_numba.runtime.files import write_atomically
from ubpe_numba.signals import SignalTokenizer
from ubpe_numba.tokenizers.base import Tokenizer
from ubpe_numba.tokenizers.export import export
from ubpe_numba.tokenizers.saving import class_of, load
from ubpe_numba.tokenizers.seam import model_of, preprocessing_of
from ubpe_numba.tokenizers.wordpiece import WordPiece
from ubpe_numba.views.explorer import report as explorer
from ubpe_numba.vocabulary.rules import FitRules

_N_TOKENS = 4096  # of `fit`, unless --n-tokens says another size


def fit(options: Namespace) -> None:
    """Learn a vocabulary; write the model and, with --curve, the compression at every size."""
    _suffix(options.output, "-o", (".npz",) if options.max_error is not None else (".json", ".npz"))
    if options.max_error is not None:
        recordings.fit(options)
        return
    for name in ("tolerance", "rate"):
        if getattr(options, name) is not None:
            raise ValueError(f"--{name}: for recordings, with --max-error")
    reader = Reader(options.files, _form(options))
    if options.curve is not None:
        _suffix(options.curve, "--curve", (".csv", ".png"))
        # fails before the fit if matplotlib is missing
        _curve(options.curve, np.ones(1, np.int64), np.ones(1))
    tokenizer = _unfitted(options, reader.first_kind())
    with _placed(reader), warnings.catch_warnings():
        # told by the reader, and below
        for notice in ("docs: there are no documents", "n_tokens: the fit ended"):
            warnings.filterwarnings("ignore", notice, UserWarning)
        tokenizer.fit(**reader.whole(), memory_limit=options.memory_limit, progress=options.progress)
    tokenizer.save(options.output)
    if reader.masked is not None and options.symbols is None:
        way = "--symbols ACGTN,acgtn gives them the ids of the others"
        warnings.warn(
            f"{reader.masked}: letters in lower case (masked) are symbols of their own; {way}",
            UserWarning,
            stacklevel=2,
        )
    n, asked = len(model_of(tokenizer).vocabulary), options.n_tokens
    if asked is not None and n < 0.9 * asked:
        least = 2 if options.min_count is None else options.min_count
        within = (
            "" if options.max_token_length is None else " and would make a token within --max-token-length"
        )
        notice = f"--n-tokens: {asked} asked for, {n} made: no other pair occurs {least} times{within}"
        warnings.warn(notice, UserWarning, stacklevel=2)
    sizes, ratios = tokenizer.history_.compression(tokenizer.vocabulary.n_alphabet)
    if options.curve is not None:
        write_atomically(options.curve, _curve(options.curve, sizes, ratios))
    if options.progress:
        what = f"{type(tokenizer).__name__} of {len(model_of(tokenizer).vocabulary)} tokens"
        # its encodings differ from the merged corpus
        merged = " as merged" if options.tokenizer == "UBPE" else ""
        print(f"{options.output}: {what}, {ratios[-1]:.4g} symbols a token{merged}", file=sys.stderr)


def _loaded(name: str, **options: Any) -> Any:
    """The tokenizer of a file, by whatever characters its name has."""
    return load(pathlib.Path(name) if name else name, **options)


def _kind(tokenizer: Any) -> str:
    """The kind of the symbols of a model."""
    alphabet = model_of(tokenizer).alphabet
    return "words" if alphabet.names is not None else str(alphabet.kind)


def encode(options: Namespace) -> None:
    """Write the ids of documents."""
    tokenizer: Any = _loaded(options.model, n_threads=options.threads)
    if isinstance(tokenizer, SignalTokenizer):
        recordings.encode(tokenizer, options)
        return
    reader = Reader(options.files, _form(options), kind=_kind(tokenizer))
    to = Form(options.to or ("ids" if options.output == STANDARD else None), ids=True)
    is_words = isinstance(tokenizer, WordPiece)
    if is_words and preprocessing_of(tokenizer).pretokenizer is None:
        raise ValueError(
            f"{options.model}: it does not say how text becomes words; take the tokenizer.json of the model"
        )
    chosen = SPECIAL[options.special or "refuse"]
    special: dict[str, Any] = {"allowed_special": chosen[0], "disallowed_special": chosen[1]}
    with _placed(reader):
        write_documents(options.output, to, tokenizer.encode_iter(reader, **special), np.dtype(np.int32))


def decode(options: Namespace) -> None:
    """Write the documents of ids."""
    tokenizer: Any = _loaded(options.model, n_threads=options.threads)
    form = _form(options)._replace(lines=False, dtype=options.dtype or "int32", ids=True)
    reader = Reader(options.files, form)
    if isinstance(tokenizer, SignalTokenizer):
        recordings.decode(tokenizer, options, reader)
        return
    kind = _kind(tokenizer)
    to = Form(options.to or (None if options.output != STANDARD else PIPED[kind]), options.lines)
    dtype = None if options.out_dtype is None else integer_type(options.out_dtype, "--out-dtype")
    with _placed(reader):
        # keeps invalid UTF-8
        escape = "surrogateescape" if model_of(tokenizer).segmenter.encoding is not None else "surrogatepass"
        docs = tokenizer.decode_iter(reader, errors=escape)
        encoded = (doc.encode("utf-8", escape) if isinstance(doc, str) else doc for doc in docs)
        write_documents(options.output, to, encoded, dtype, kind)


def inspect(options: Namespace) -> None:
    """Print the facts of a model and, with --on, of its encoding of documents."""
    tokenizer: Any = _loaded(options.model, n_threads=options.threads)
    if options.top < 0:
        raise ValueError(f"--top: expected at least 0, got {options.top}")
    if isinstance(tokenizer, SignalTokenizer):
        if options.files:
            raise ValueError("--on: not for recordings; encode shows their ids")
        print(json.dumps(recordings.inspect(tokenizer, options.top), indent=1))
        return
    reader = Reader(options.files, _form(options), kind=_kind(tokenizer)) if options.files else None
    if isinstance(tokenizer, WordPiece):
        description, shown = describe_words(tokenizer, options.top, options.sort, reader), words_table
    else:
        with _placed(reader):
            description, shown = describe_model(tokenizer, options.top, options.sort, reader), table
    print(json.dumps(description, indent=1) if options.json else shown(description))


def explore(options: Namespace) -> None:
    """Write a report of a model and of encoded documents: a page for a browser."""
    if options.output != STANDARD and pathlib.Path(options.output).suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"-o: expected a name that ends in .html, got {options.output}")
    for name in ("max_symbols", "rate"):
        if (value := getattr(options, name)) is not None and not value > 0:
            raise ValueError(f"--{name.replace('_', '-')}: expected a number above 0, got {value}")
    tokenizer: Any = _loaded(options.model, n_threads=options.threads)
    if isinstance(tokenizer, (SignalTokenizer, WordPiece)):
        value = type(tokenizer).__name__
        raise ValueError(
            f"{options.model}: a report cannot show a {value}; expected BPE, UBPEClassic or UBPE"
        )
    reader = Reader(options.files, _form(options), kind=_kind(tokenizer))
    allowed, disallowed = SPECIAL[options.special]
    with _placed(reader):
        # arrays are not copied; of text each document becomes bytes or `str` as the model has them
        value = reader.whole() if _kind(tokenizer) == "int" else {"docs": reader}
        report = explorer.explore(
            tokenizer,
            **value,
            title=options.title,
            kind=options.kind,
            unit=options.unit,
            rate=options.rate,
            letters=options.letters,
            segmentations=options.segmentation or "auto",
            max_symbols=options.max_symbols,
            allowed_special=allowed,
            disallowed_special=disallowed,
            progress=options.progress,
        )
        assert report is not None  # without a path
        with output(options.output) as f:
            f.write(report.html.encode())


def convert(options: Namespace) -> None:
    """Read a model in one format and write it in another."""
    suffix = pathlib.Path(options.output).suffix.lower()
    known = {
        ".json": "json",
        ".npz": "npz",
        ".tiktoken": "tiktoken",
        ".model": "sentencepiece",
        ".txt": "vocab.txt",
    }
    if (to := options.to or known.get(suffix)) is None:
        raise ValueError(f"-o: {options.output}: its name does not tell the form, say it with --to")
    if to in ("json", "npz") and suffix != f".{to}":
        raise ValueError(f"-o: expected a name that ends in .{to}, got {options.output}")
    write_options = {"unk_token": options.unk_token, "template": options.template}
    asked = {name: value for name, value in write_options.items() if value is not None}
    if asked and to != "tokenizer.json":
        raise ValueError(f"--{next(iter(asked)).replace('_', '-')}: for tokenizer.json only, not for {to}")
    if (templates := options.template) is not None:
        if len(templates) > 2:
            raise ValueError(
                f"--template: expected one for a document, and one for a pair, got {len(templates)}"
            )
        asked["template"] = templates if len(templates) == 2 else templates[0]
    words = None if options.special_token is None else dict(map(_word, options.special_token))
    read_options = {"kind": options.kind, "special_tokens": words, "pretokenizer": options.pretokenizer}
    read = {name: value for name, value in read_options.items() if value is not None}
    if options.pretokenizer == "none":
        read["pretokenizer"] = None
    tokenizer = _loaded(options.model, tokenizer=options.tokenizer, **read)
    if to in ("json", "npz"):
        tokenizer.save(options.output)
        return
    if to == "vocab+merges":
        export(tokenizer, to, options.output, **asked)
        return
    exported = export(tokenizer, to, **asked)
    with output(options.output) as f:
        f.write(exported if isinstance(exported, bytes) else exported.encode())


def _unfitted(options: Namespace, kind: str) -> Tokenizer:
    """The tokenizer that the options of `fit` describe, for documents of this kind.

    ValueError if they contradict each other.
    """
    text = kind == "text"
    arguments = {
        "n_candidates": options.n_candidates,
        "objective": options.objective,
        "pretokenizer": options.pretokenizer,
        "special_tokens": options.special_token,
        "special_first": options.special_first,
        "unknown": options.unknown,
        "alphabet": options.alphabet if options.symbols is None else _symbols(options.symbols),
    }
    for name, of in (("n_candidates", ("UBPE", "UBPEClassic")), ("objective", ("UBPE",))):
        if arguments[name] is not None and options.tokenizer not in of:
            raise ValueError(
                f"--{name.replace('_', '-')}: {options.tokenizer} has none, only {' and '.join(of)}"
            )
    if not text:
        for name in ("pretokenizer", "symbols"):
            if getattr(options, name) is not None:
                raise ValueError(f"--{name}: the documents are {kind}, not text")
        if options.unknown not in (None, "raise", "skip", "nearest", *(options.special_token or ())):
            arguments["unknown"] = _symbol(options.unknown, kind, "unknown")
    elif options.alphabet is not None:
        raise ValueError(
            "--alphabet: the documents are text, whose alphabet are the 256 bytes, or those of --symbols"
        )
    if options.special_first and not options.special_token:
        raise ValueError("--special-first: there are no special tokens, say them with --special-token")
    params = {name: value for name, value in arguments.items() if value is not None}
    for name, symbols in (("break_tokens", options.break_token), ("stop_tokens", options.stop_token)):
        if symbols is not None:
            params[name] = [_symbol(symbol, kind, name.removesuffix("s")) for symbol in symbols]
    rules: dict[str, Any] = {}
    if options.min_count is not None:
        rules["min_count"] = options.min_count
    if options.max_token_length is not None:
        rules["max_token_length"] = options.max_token_length
    if rules:
        params["rules"] = FitRules(**rules)
    cls: Any = class_of(options.tokenizer)  # the constructors differ
    n_tokens = _N_TOKENS if options.n_tokens is None else options.n_tokens
    parts = {} if text else {"alphabet": None, "encoding": None}
    tokenizer: Tokenizer = cls.for_text(
        n_tokens, n_threads=options.threads, **{"pretokenizer": None, **parts, **params}
    )
    return tokenizer


def _symbols(rows: str) -> dict[bytes, int]:
    """The alphabet of --symbols: single-byte characters with ids.

    The rows between commas have the same ids 0, 1, 2, ...
    """
    alphabet: dict[bytes, int] = {}
    first, *others = rows.split(",")
    if not first:
        raise ValueError(f"--symbols: expected characters, before a comma too, got {quoted(rows)}")
    for row in (first, *others):
        if len(row) > len(first):
            raise ValueError(
                f"--symbols: {quoted(row)} has more characters than {quoted(first)}, whose ids it shares"
            )
        for i, symbol in enumerate(row):
            if ord(symbol) > 127:
                raise ValueError(f"--symbols: expected characters of one byte, got {quoted(symbol)}")
            if symbol.encode() in alphabet:
                raise ValueError(f"--symbols: {quoted(symbol)} is there twice")
            alphabet[symbol.encode()] = i
    return alphabet


def _form(options: Namespace) -> Form:
    lines = getattr(options, "lines", False)
    return Form(options.format, lines, options.field, options.dtype, options.record)


@contextlib.contextmanager
def _placed(reader: Reader | None) -> Iterator[None]:
    """Turn an error at a position of a document into a ValueError with its file.

    It has the index of the document in that file.
    """
    try:
        yield
    except LocatedError as error:
        if reader is None:
            raise
        path, number = reader.place(error.document)
        what = str(error).partition(", ")[2]
        if isinstance(error, SpecialTokenError):
            what = f"position {error.position}: {quoted(error.token)} is a special token; see --special"
        raise ValueError(f"{path}: document {number}, {what}") from None


def _symbol(symbol: str, kind: str, name: str) -> Any:
    """A symbol of documents of this kind.

    ValueError, with the name of the option, if it must be an integer and is not.
    """
    try:
        return int(symbol) if kind == "integers" else symbol
    except ValueError:
        raise ValueError(
            f"--{name.replace('_', '-')}: the documents are integers, got {quoted(symbol)}"
        ) from None


def _word(text: str) -> tuple[str, int]:
    """A special token and its id, from WORD=ID."""
    word, _, number = text.rpartition("=")
    if not word or not number.isdecimal():
        raise ValueError(f"--special-token: expected WORD=ID, got {quoted(text)}")
    return word, int(number)


def _suffix(path: str, option: str, known: tuple[str, ...]) -> str:
    """The suffix of a path in lower case.

    ValueError, with the name of the option, if it is not one of `known`.
    """
    suffix = pathlib.Path(path).suffix.lower()
    if suffix not in known:
        raise ValueError(f"{option}: expected a name that ends in {' or '.join(known)}, got {path}")
    return suffix


def _curve(path: str, sizes: np.ndarray, ratios: np.ndarray) -> bytes:
    """The content of the file of a compression curve: a figure or CSV, by the suffix of its path."""
    if path.lower().endswith(".png"):
        from ubpe_numba.plot import CompressionDisplay
        from ubpe_numba.views.colours import LIGHT
        from ubpe_numba.views.displays.canvas import bare_figure

        figure, file = bare_figure((8, 5), LIGHT, layout="constrained"), io.BytesIO()
        CompressionDisplay({"": (sizes, ratios)}).plot(figure.subplots())
        figure.savefig(file, format="png", dpi=120)
        return file.getvalue()
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["n_tokens", "symbols_per_token"])
    rows.writerows(zip(sizes.tolist(), ratios.tolist(), strict=True))
    return text.getvalue().encode()
