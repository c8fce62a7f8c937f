"""`ubpe-numba explore`: the report of a model and documents, whole or not at all."""

from __future__ import annotations

import pathlib
from argparse import Namespace

from ubpe_numba.cli.read import SPECIAL, STANDARD, Reader
from ubpe_numba.cli.write import check_output, output
from ubpe_numba.tokenizers.base import Tokenizer
from ubpe_numba.tokenizers.wordpiece import WordPiece
from ubpe_numba.views.explorer.report import explore


def check(options: Namespace) -> None:
    """ValueError or OSError if the output is no page, or cannot be written: before anything is read."""
    if options.output != STANDARD and pathlib.Path(options.output).suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"-o: expected a name that ends in .html, got {options.output}")
    check_output(options.output)
    for name in ("max_symbols", "rate"):
        if (given := getattr(options, name)) is not None and not given > 0:
            raise ValueError(f"--{name.replace('_', '-')}: expected a number above 0, got {given}")


def write_report(options: Namespace, tokenizer: Tokenizer | WordPiece, reader: Reader) -> None:
    """Make the report of a tokenizer and the documents of a reader, and write it.

    ValueError for a WordPiece, and for options that do not fit the documents.
    """
    if isinstance(tokenizer, WordPiece):
        raise ValueError(f"{options.model}: a WordPiece, whose pieces a report cannot show; expected BPE, UBPEClassic or UBPE")
    allowed, disallowed = SPECIAL[options.special]
    # arrays are not copied; of text each document becomes what the model is one of
    given = reader.whole() if tokenizer.alphabet_.kind == "int" else {"docs": reader}
    report = explore(
        tokenizer,
        **given,
        title=options.title,
        kind=options.kind,
        unit=options.unit,
        rate=options.rate,
        letters=options.letters,
        segmentations=options.segmentation or "auto",
        max_symbols=options.max_symbols,
        allowed_special=allowed,
        disallowed_special=disallowed,
        progress=False if options.quiet else "auto",
    )
    assert report is not None  # without a path
    with output(options.output) as f:
        f.write(report.html.encode())
