"""The command line `ubpe-numba`: its parser, exit codes and messages of errors.

The commands are in `commands.py`.

Exit codes: 0 for success, 1 if something failed (files, memory, extras that are not installed, a comparison
by `verify`). Code 2 is for bad usage and bad input, 130 after Ctrl-C, 141 if the reader of standard output
has closed it. Errors are one line on standard error.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import sys
import warnings
from fractions import Fraction
from typing import Any, NoReturn

from ubpe_numba import __version__
from ubpe_numba.errors import quoted, shortened

_TOKENIZERS = ("BPE", "UBPE", "UBPEClassic")
_DOCUMENTS = ("text", "jsonl", "ints", "npy", "npz", "raw", "fasta", "fastq", "wav", "csv")
_IDS = ("npz", "npy", "jsonl", "ids", "raw")
_STDOUT = "standard output"  # what errors call it
_UNITS = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}  # of bytes
# the option --quiet
_QUIET: dict[str, Any] = {"dest": "progress", "action": "store_const", "const": False, "default": "auto"}
_FORMATS = """
documents: text (a document a file, or a line with --lines), jsonl (strings, lists of integers or of words, or
objects with --field), ints (lines of integers, as .km and .unt have them), npy (1-D: one document, 2-D: a row
each, or --record), npz (values, offsets), raw (binary integers: --dtype, and --record), fasta and fastq (letters
of sequences), wav (samples, a channel each); of recordings, with --max-error or a model of them: csv, npy and wav,
a column a channel. The suffix tells the format, --format overrides it; a name that ends in .gz is that of a
compressed file of any format. - is standard input: of lines with --lines, raw with --dtype, otherwise of what the
model is one of, text or jsonl.
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One line, without the usage."""
        self.exit(2, f"error: {_printable(shortened(message, 400))} (see {self.prog} --help)\n")


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    _open_standard()
    options = _parser().parse_args(arguments)
    # here, so that --help does not wait for the import of NumPy
    from ubpe_numba.runtime.files import naming_target

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _warn
            with naming_target(_STDOUT):
                code = _run(options)
                sys.stdout.flush()
            return code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        _forget_stdout()
        return 141
    except (ImportError, MemoryError, OSError, TypeError, ValueError) as error:
        line = _printable(" ".join(str(error).split())) or type(error).__name__
        if isinstance(error, OSError) and error.filename is not None:  # the file first
            line = f"{_printable(os.fsdecode(error.filename)) or repr('')}: {error.strerror}"
        print(f"error: {line}", file=sys.stderr)
        if isinstance(error, OSError) and error.filename == _STDOUT:
            _forget_stdout()
        return 1 if isinstance(error, (ImportError, MemoryError, OSError)) else 2


def _run(options: argparse.Namespace) -> int:
    # imported here, so that --help does not wait for the import of numba
    if options.command == "warmup":
        from ubpe_numba.tokenizers.warmup import warmup

        print("compiling every kernel into the cache: a minute or two", file=sys.stderr)
        warmup()
        return 0
    if options.command == "verify":
        from ubpe_numba.verification.verify import verify

        verification = verify(fresh=options.fresh, progress=options.progress)
        print(json.dumps(verification.to_dict()) if options.json else verification)
        return 0 if verification.passed else 1
    if options.command == "demo":
        from ubpe_numba.cli.demo import run

        return run(options.tokens, options.plot, options.progress)
    from ubpe_numba.cli import commands
    from ubpe_numba.cli.documents import check_output
    from ubpe_numba.runtime.arrays import check_threads

    if getattr(options, "threads", None) is not None:
        check_threads(options.threads, "--threads")
    inputs = [*getattr(options, "files", ()), *filter(None, [getattr(options, "model", None)])]
    for option, name in (("-o", "output"), ("--curve", "curve")):
        if (path := getattr(options, name, None)) is not None:
            check_output(option, path, inputs)
    command = getattr(commands, options.command)
    command(options)
    return 0


def _open_standard() -> None:
    """Open standard streams that are closed, so that no file gets their numbers.

    Using them is then a system error.

    Standard error is then the null device: reading standard input or writing standard output fails.
    """
    for name, flags, mode in (
        ("stdin", os.O_WRONLY, "r"),
        ("stdout", os.O_RDONLY, "w"),
        ("stderr", os.O_WRONLY, "w"),
    ):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, flags), mode))


def _printable(text: str) -> str:
    r"""A text as a single line, with control characters written out.

    These move the cursor or set colors; file names may contain them.

    >>> _printable("a\n\x1b[31m é")
    'a\\n\\x1b[31m é'
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"warning: {_printable(str(message))}", file=sys.stderr)


def _forget_stdout() -> None:
    """Point standard output, which cannot be written, to the null device.

    Otherwise flushing it at exit would print another error.
    """
    with contextlib.suppress(OSError, ValueError):  # standard output may be an object without a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _bytes(text: str) -> int:
    """A number of bytes such as 500M or 2G."""
    match = re.fullmatch(r"([0-9]{1,30}(?:\.[0-9]{1,30})?)([kKMGT]?)B?", text)
    if not match:
        raise argparse.ArgumentTypeError(f"expected a number of bytes such as 500M or 2G, got {quoted(text)}")
    return int(Fraction(match[1]) * _UNITS[match[2]])


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="ubpe-numba", description="Byte-pair encoding for sequences of integers, bytes and text."
    )
    parser.add_argument("--version", action="version", version=f"ubpe-numba {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    fit = commands.add_parser("fit", help="learn a vocabulary from documents", epilog=_FORMATS)
    _add_input(fit, "FILE", _DOCUMENTS)
    fit.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="MODEL",
        help="the model: .json (readable) or .npz (flat arrays)",
    )
    fit.add_argument("--tokenizer", choices=_TOKENIZERS, default="BPE", help="default %(default)s")
    fit.add_argument("--n-tokens", type=int, metavar="N", help="size, alphabet included (default 4096)")
    fit.add_argument("--alphabet", type=int, metavar="N", help="of integers: 0..N-1 (default: what occurs)")
    symbols = (
        "of text: the only characters, such as ACGTN (default: all bytes); after a comma, others with the "
        "same ids: ACGTN,acgtn"
    )
    fit.add_argument("--symbols", metavar="TEXT", help=symbols)
    fit.add_argument(
        "--n-candidates", type=int, metavar="N", help="pairs looked at in a round; not for BPE (default 50)"
    )
    fit.add_argument(
        "--pretokenizer",
        metavar="NAME",
        help="gpt2, cl100k, o200k, whitespace, digits, or a regular expression",
    )
    fit.add_argument(
        "--special-token", action="append", metavar="WORD", help="a word with an id of its own; repeatable"
    )
    first = "special tokens have the ids 0, 1, ..., and all others follow"
    fit.add_argument("--special-first", action="store_true", default=None, help=first)
    unknown = (
        "treatment of symbols outside of --symbols or --alphabet in documents that are encoded: raise (an "
        "error, the default), skip, a special token, a symbol of the alphabet, or of integers nearest"
    )
    fit.add_argument("--unknown", metavar="WHAT", help=unknown)
    alone = "a symbol that always is a token of its own: an integer, or a character of one byte; repeatable"
    fit.add_argument("--break-token", action="append", metavar="SYMBOL", help=alone)
    fit.add_argument(
        "--stop-token", action="append", metavar="SYMBOL", help="the same after the pretokenizer; repeatable"
    )
    fit.add_argument("--max-token-length", type=int, metavar="N", help="no token of more symbols")
    fit.add_argument("--min-count", type=int, metavar="N", help="no pair that occurs less often (default 2)")
    fit.add_argument(
        "--objective",
        choices=("tfidf", "shortest", "additive", "longest", "likelihood", "sentencepiece", "tokenizers"),
        help="of UBPE (default tfidf)",
    )
    fit.add_argument(
        "--max-error",
        type=float,
        metavar="E",
        help="recordings, of csv, npy or wav: tokens that decode to samples at most E away, in their unit",
    )
    fit.add_argument("--tolerance", type=int, metavar="N", help="with --max-error (default 1)")
    fit.add_argument("--rate", type=float, metavar="HZ", help="with --max-error: samples a second")
    fit.add_argument(
        "--memory-limit", type=_bytes, metavar="SIZE", help="bytes beside the documents, such as 500M or 2G"
    )
    fit.add_argument(
        "--curve",
        metavar="FILE",
        help="symbols per token at every size: .csv, or .png (needs the extra 'plot')",
    )
    fit.add_argument("--quiet", **_QUIET, help="no progress bar and no summary")
    _add_threads(fit)

    encode = commands.add_parser("encode", help="documents to ids", epilog=_FORMATS)
    encode.add_argument("model", metavar="MODEL")
    _add_input(encode, "FILE", _DOCUMENTS)
    _add_output(
        encode,
        _IDS,
        "npz (values int32, offsets int64), npy, jsonl, ids (text, a line a document), raw (int32)",
        "ids",
    )
    special = "special tokens in the text: refuse (default), allow, or take them for ordinary text"
    encode.add_argument("--special", choices=("refuse", "allow", "ordinary"), help=special)
    _add_threads(encode)

    decode = commands.add_parser(
        "decode", help="ids back to documents", epilog="Ids are read as encode writes them."
    )
    decode.add_argument("model", metavar="MODEL")
    _add_input(decode, "FILE", _IDS)
    _add_output(
        decode,
        _DOCUMENTS[:6],
        "text, jsonl, ints, npz, npy, raw",
        "text of text, jsonl of integers and words",
    )
    decode.add_argument(
        "--out-dtype", metavar="TYPE", help="of integers: int16, uint8, ... (default: as the model has them)"
    )
    _add_threads(decode)

    inspect = commands.add_parser(
        "inspect", help="what a model is, and what it does to documents", epilog=_FORMATS
    )
    inspect.add_argument("model", metavar="MODEL")
    inspect.add_argument(
        "--top", type=int, default=20, metavar="N", help="how many tokens to list (default %(default)s)"
    )
    inspect.add_argument(
        "--sort", choices=("count", "length", "weight", "id"), default="length", help="default %(default)s"
    )
    inspect.add_argument("--json", action="store_true", help="as JSON")
    _add_input(inspect, "--on", _DOCUMENTS, help="documents to encode, with the vocabulary and smaller ones")
    _add_threads(inspect)

    explore = commands.add_parser(
        "explore", help="a report of tokens and documents, a page for a browser", epilog=_FORMATS
    )
    explore.add_argument("model", metavar="MODEL")
    _add_input(explore, "FILE", _DOCUMENTS)
    explore.add_argument(
        "-o", "--output", required=True, metavar="FILE.html", help="the page; - for standard output"
    )
    explore.add_argument("--title", metavar="TEXT", help="default: what the tokenizer is")
    kinds = "what the documents are shown as (default: by what they hold; notes: symbols are pitches)"
    explore.add_argument(
        "--kind", choices=("auto", "signal", "text", "dna", "notes"), default="auto", help=kinds
    )
    explore.add_argument(
        "--unit", metavar="WORD", help="what a symbol is called (default: sample, character, base, note)"
    )
    explore.add_argument("--rate", type=float, metavar="N", help="symbols a second: axes are in seconds")
    explore.add_argument(
        "--letters", metavar="TEXT", help="text and DNA of integers: the letters of the symbols 0, 1, ..."
    )
    cuts = "an objective for the segmentations, repeatable (default: all that the model allows)"
    explore.add_argument("--segmentation", action="append", metavar="NAME", help=cuts)
    drawn = "plot at most this many symbols (whole documents, evenly spaced; default %(default)s)"
    explore.add_argument("--max-symbols", type=int, default=2_000_000, metavar="N", help=drawn)
    special = "special tokens in the text: refuse, allow (default), or take them for ordinary text"
    explore.add_argument("--special", choices=("refuse", "allow", "ordinary"), default="allow", help=special)
    explore.add_argument("--quiet", **_QUIET, help="no progress bar")
    _add_threads(explore)

    convert = commands.add_parser("convert", help="models from and for other libraries")
    convert.add_argument(
        "model", metavar="MODEL", help="a file of any format that load reads, or a folder of one"
    )
    forms = "json", "npz", "tokenizer.json", "tiktoken", "sentencepiece", "vocab+merges", "vocab.txt", "ubpe"
    convert.add_argument("--to", choices=forms, help="default: by the suffix of the output")
    convert.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="PATH",
        help="a file; a folder for vocab+merges; - for stdout",
    )
    convert.add_argument(
        "--tokenizer", choices=_TOKENIZERS, help="what a foreign file becomes where that is open"
    )
    convert.add_argument(
        "--kind", choices=("bytes", "str", "int"), help="what the symbols of a foreign file are"
    )
    convert.add_argument(
        "--pretokenizer", metavar="NAME", help="the pattern of a file that does not say it, or none"
    )
    words = "a special token of a file that does not say it; repeatable"
    convert.add_argument("--special-token", action="append", metavar="WORD=ID", help=words)
    unknown = (
        "tokenizer.json: the special token or symbol that others become there (default: --unknown of the fit)"
    )
    convert.add_argument("--unk-token", metavar="WORD", help=unknown)
    around = (
        "for tokenizer.json: the parts of an input there, such as '[CLS] $A [SEP]'; a second one is for pairs"
    )
    convert.add_argument("--template", action="append", metavar="TEXT", help=around)

    demo = commands.add_parser(
        "demo", help="tokenize a bundled ECG, decode it, compare, and print what was found"
    )
    demo.add_argument(
        "--tokens", type=int, default=1024, metavar="N", help="size of the vocabulary (default %(default)s)"
    )
    demo.add_argument(
        "--plot",
        metavar="FILE.png",
        help="also draw the signal in tokens and its motifs (needs the extra 'plot')",
    )
    demo.add_argument("--quiet", **_QUIET, help="no progress bar")
    commands.add_parser("warmup", help="compile every kernel into the cache, for container images")
    verify = commands.add_parser(
        "verify",
        help="compare what kernels give on this machine with digests of plain references",
        epilog="Exit code 1 if anything differs.",
    )
    verify.add_argument("--fresh", action="store_true", help="compile every kernel anew, without the cache")
    verify.add_argument("--json", action="store_true", help="as JSON, with the whole inputs of a difference")
    verify.add_argument("--quiet", **_QUIET, help="no progress bar")
    return parser


def _add_input(
    parser: argparse.ArgumentParser, name: str, formats: tuple[str, ...], help: str | None = None
) -> None:
    if name.startswith("-"):
        parser.add_argument(name, dest="files", nargs="+", default=[], metavar="FILE", help=help)
    else:
        parser.add_argument("files", nargs="+", metavar=name, help="- for standard input")
    parser.add_argument("--format", choices=formats, help="of the input (default: by the suffix)")
    if "text" in formats:
        parser.add_argument("--lines", action="store_true", help="text: a document a line")
    parser.add_argument(
        "--field",
        default="text",
        metavar="NAME",
        help="jsonl: of lines that are objects (default %(default)s)",
    )
    parser.add_argument(
        "--dtype", metavar="TYPE", help="raw: uint8, int16, >i2, ...; uint8: integers are bytes of text"
    )
    parser.add_argument(
        "--record", type=int, metavar="N", help="raw, npy: symbols a document (default: one document)"
    )


def _add_output(parser: argparse.ArgumentParser, formats: tuple[str, ...], what: str, default: str) -> None:
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="default: standard output")
    parser.add_argument(
        "--to", choices=formats, help=f"{what} (default: by the suffix; on standard output {default})"
    )
    if "text" in formats:
        parser.add_argument("--lines", action="store_true", help="text: a document a line")


def _add_threads(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--threads", type=int, metavar="N", help="default: UBPE_NUM_THREADS, or all CPUs")


__all__ = ["main"]
