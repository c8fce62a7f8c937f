"""What entry points take for documents, and what they refuse: the tables of tests/layouts.md are what happens.

`python tools/layouts.py` writes the page anew; rows of packages that are not installed stay as they are
there.
"""

import contextlib
import gzip
import importlib
import io
import json
import pathlib
import re
import tempfile
import traceback
import warnings
import wave
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ubpe_numba import BPE, Ragged, Scale
from ubpe_numba.cli.main import main

PAGE = pathlib.Path(__file__).parents[1] / "tests" / "layouts.md"
LISTS, WORDS, TEXTS = [[1, 2, 3, 4], [3, 4, 1, 2]], [["low", "high"], ["high", "low", "low"]], ["abba", "ab"]
FLAT, ROWS = np.ravel(LISTS), np.array(LISTS)
CUBE = np.stack([ROWS, ROWS, ROWS])  # three documents of two rows
WAVES = np.sin(np.arange(40.0)).reshape(20, 2)
HEAD = """# What is taken as documents

A document is a sequence of symbols, and has one axis. These tables are made by trying: each row is a layout, each column an entry
point. `2 (8)` says that it is read as 2 documents of 8 symbols together; a dash that it is refused, in the words of the last
column. `python tools/layouts.py` writes this page, and a test compares it with what happens.
"""
Made = Callable[[], Any]


def package(name: str) -> Any:
    return importlib.import_module(name)


def pandas_frame(**columns: Any) -> Made:
    return lambda: package("pandas").DataFrame(columns)


def polars_frame(**columns: Any) -> Made:
    return lambda: package("polars").DataFrame(columns)


def arrow_table(**columns: Any) -> Made:
    return lambda: package("pyarrow").table(columns)


def array_of(*shape: int) -> Made:
    """A DataArray of xarray."""
    return lambda: package("xarray").DataArray(np.resize(FLAT, shape))


def tensor(data: Any) -> Made:
    return lambda: package("torch").tensor(np.asarray(data))


def nested(rows: Any) -> Any:
    torch = package("torch")
    return torch.nested.nested_tensor([torch.tensor(row) for row in rows], layout=torch.jagged)


def tensors(array: np.ndarray) -> Any:
    return package("pyarrow").FixedShapeTensorArray.from_numpy_ndarray(array)


#: Layouts by what they hold, which says the tokenizer that is to encode them.
LAYOUTS: dict[str, dict[str, Made]] = {
    "integers": {
        "list of lists": lambda: LISTS,
        "list of 1-D arrays": lambda: list(ROWS),
        "list, `range`": lambda: FLAT.tolist(),
        "array of one axis": lambda: FLAT,
        "array of two axes": lambda: ROWS,
        "array of three axes": lambda: CUBE,
        "list of 2-D arrays": lambda: list(CUBE),
        "list of lists of lists": CUBE.tolist,
        "flat array and `offsets=`": lambda: {"docs": FLAT, "offsets": [0, 4, 8]},
        "array of two axes and `offsets=`": lambda: {"docs": ROWS, "offsets": [0, 4, 8]},
        "`Ragged`": lambda: Ragged.from_lists(LISTS),
        "object array of lists": lambda: np.array([[1, 2, 3], [4]], object),
        "generator of lists": lambda: iter(LISTS),
        "generator of integers": lambda: iter(FLAT.tolist()),
        "array of floats": lambda: ROWS / 2,
        "array of booleans": lambda: ROWS > 2,
        "masked array": lambda: np.ma.masked_array(ROWS, ROWS > 3),
        "structured array": lambda: np.zeros(3, [("a", int), ("b", int)]),
        "sparse matrix of scipy": lambda: package("scipy.sparse").csr_matrix(ROWS),
        "a number": lambda: 3,
        "`dict` of lists": lambda: {"a": [1, 2]},
        "set": lambda: {1, 2},
        "None": lambda: None,
        "pandas: column of integers": lambda: package("pandas").Series(FLAT),
        "pandas: column of lists": lambda: package("pandas").Series(LISTS),
        "pandas: integers that may be missing": lambda: package("pandas").array([1, 2, None], dtype="Int64"),
        "pandas: table of integers": pandas_frame(a=[1, 2, 3], b=[3, 4, 1]),
        "pandas: table of floats": pandas_frame(a=[1.5, 2.0], b=[3.0, 4.0]),
        "pandas: column of groups": lambda: pandas_frame(who=[0, 1, 0, 1], event=[1, 2, 3, 4])().groupby("who")["event"],
        "polars: column of integers": lambda: package("polars").Series(FLAT),
        "polars: column of lists": lambda: package("polars").Series(LISTS),
        "polars: table of integers": polars_frame(a=[1, 2, 3], b=[3, 4, 1]),
        "Arrow: array of integers": lambda: package("pyarrow").array(FLAT),
        "Arrow: array of lists": lambda: package("pyarrow").array(LISTS),
        "Arrow: array of lists of lists": lambda: package("pyarrow").array(CUBE.tolist()),
        "Arrow: array of vectors (tensors of one axis)": lambda: tensors(ROWS),
        "Arrow: array of matrices (tensors)": lambda: tensors(CUBE),
        "Arrow: table of integers": arrow_table(a=[1, 2, 3], b=[3, 4, 1]),
        "Arrow: table of one column of lists": arrow_table(ids=LISTS),
        "awkward: array of lists": lambda: package("awkward").Array(LISTS),
        "awkward: array of lists of lists": lambda: package("awkward").Array(CUBE.tolist()),
        "xarray: one axis": array_of(8),
        "xarray: two axes": array_of(2, 4),
        "xarray: three axes": array_of(3, 2, 4),
        "torch: one axis": tensor(FLAT),
        "torch: two axes": tensor(ROWS),
        "torch: three axes": tensor(CUBE),
        "torch: list of tensors": lambda: [tensor(row)() for row in LISTS],
        "torch: nested tensor": lambda: nested(LISTS),
    },
    "characters": {
        "`str`": lambda: "".join(TEXTS),
        "list of `str`": lambda: TEXTS,
        "array of `str`": lambda: np.array(TEXTS),
        "list of `str` and `bytes`": lambda: ["ab", b"ba"],
        "pandas: column of `str`": lambda: package("pandas").Series(TEXTS),
        "pandas: table of one column of `str`": pandas_frame(text=TEXTS),
        "pandas: table of `str` and integers": pandas_frame(text=TEXTS, label=[0, 1]),
        "polars: column of `str`": lambda: package("polars").Series(TEXTS),
        "polars: table of columns of `str`": polars_frame(text=TEXTS, other=TEXTS),
        "Arrow: array of `str`": lambda: package("pyarrow").array(TEXTS),
    },
    "bytes": {
        "`bytes`, `bytearray`": lambda: b"abbaab",
        "`memoryview`": lambda: memoryview(b"abbaab"),
        "list of `bytes`": lambda: [text.encode() for text in TEXTS],
        "Arrow: array of binary": lambda: package("pyarrow").array([text.encode() for text in TEXTS]),
    },
    "words": {
        "list of lists of `str`": lambda: WORDS,
        "list of arrays of `str`": lambda: [np.array(words) for words in WORDS],
        "array of `str` of two axes": lambda: np.array([["low", "high"]] * 2),
        "array of words and `offsets=`": lambda: {"docs": np.array([*WORDS[0], *WORDS[1]]), "offsets": [0, 2, 5]},
        "generator of lists of `str`": lambda: iter(WORDS),
        "list of `str`, with a tokenizer of words": lambda: TEXTS,
        "list of lists of lists of `str`": lambda: [WORDS],
        "pandas: column of lists of `str`": lambda: package("pandas").Series(WORDS),
        "polars: column of lists of `str`": lambda: package("polars").Series(WORDS),
        "polars: table of one column of lists of `str`": polars_frame(words=WORDS),
        "Arrow: array of lists of `str`": lambda: package("pyarrow").array(WORDS),
    },
    "frames of two integers, of a tokenizer with `frame=2`": {
        "list of lists": lambda: LISTS,
        "array of one axis: instants that follow each other": lambda: FLAT,
        "array of two axes: recordings": lambda: ROWS,
        "array of three axes: recordings, instants, channels": lambda: np.stack([ROWS.reshape(4, 2)] * 3),
        "a frame that is cut": lambda: [[1, 2, 3]],
    },
}  # fmt: skip
#: Tokenizers without merges, which give a token for each symbol.
TOKENIZERS = {
    "integers": BPE.from_merges(np.zeros((0, 2), int), alphabet=9),
    "characters": BPE.from_merges(np.zeros((0, 2), int), alphabet="ab"),
    "bytes": BPE.from_merges(np.zeros((0, 2), int), alphabet=b"ab"),
    "words": BPE(2).fit(WORDS, progress=False),
    "frames of two integers, of a tokenizer with `frame=2`": BPE(9, alphabet=9).fit(
        LISTS, frame=2, progress=False
    ),
}


def given(docs: Any) -> dict[str, Any]:
    """The arguments of a call."""
    return docs if isinstance(docs, dict) and "docs" in docs else {"docs": docs}


def fitted(tok: BPE, docs: Any) -> tuple[int, int]:
    frame = tok._model.segmenter.frame or None
    vocabulary = BPE(300).fit(**given(docs), frame=frame, progress=False)._model.vocabulary
    return vocabulary.n_documents, vocabulary.n_symbols


def encoded(tok: BPE, docs: Any) -> tuple[int, int]:
    return 1, tok.encode(given(docs)["docs"]).size


def encoded_batch(tok: BPE, docs: Any) -> tuple[int, int]:
    found = tok.encode_batch(**given(docs))
    return len(found), found.total


def spanned(tok: BPE, docs: Any) -> tuple[int, int]:
    spans = tok.spans(**given(docs))
    return int(spans.documents.max()) + 1, int(spans.lengths.sum())


def counted(tok: BPE, docs: Any) -> tuple[int, int]:
    found = tok.count(**given(docs))
    return found.size, int(found.sum())


def pushed(tok: BPE, docs: Any) -> tuple[int, int]:
    stream = tok.stream()
    return 1, stream.push(given(docs)["docs"]).size + stream.finish().size


def bagged(tok: BPE, docs: Any) -> tuple[int, int]:
    from sklearn.frozen import FrozenEstimator

    from ubpe_numba.sklearn import BagOfTokens

    found = BagOfTokens(FrozenEstimator(tok)).fit_transform(given(docs)["docs"])
    return found.shape[0], int(found.sum())


def spread(tok: BPE, docs: Any) -> tuple[int, int]:
    from distributed import default_client

    from ubpe_numba.distributed import encode

    part = given(docs)["docs"]
    found = encode(
        tok, [list(part) if hasattr(part, "__next__") else part], client=default_client(), progress=False
    )
    assert isinstance(found, Ragged)
    return len(found), found.total


#: Entry points; those of one part or estimator take no offsets.
ENTRIES = {
    "fit": fitted, "encode": encoded, "encode_batch": encoded_batch, "spans": spanned, "count": counted, "stream().push": pushed,
    "BagOfTokens": bagged, "distributed.encode": spread,
}  # fmt: skip
NO_OFFSETS = ("encode", "stream().push", "BagOfTokens", "distributed.encode")

#: Signals.
SIGNALS: dict[str, Made] = {
    "array of one axis": lambda: WAVES[:, 0],
    "[samples, channels]": lambda: WAVES,
    "[channels, samples]": lambda: WAVES.T,
    "[recordings, channels, samples]": lambda: np.stack([WAVES.T] * 3),
    "[recordings, samples, channels]": lambda: np.stack([WAVES] * 3),
    "list of recordings": lambda: list(WAVES.T),
    "with NaN": lambda: np.where(WAVES > 0.9, np.nan, WAVES),
    "masked array": lambda: np.ma.masked_array(WAVES, WAVES > 0.9),
    "pandas: table, a column a channel": lambda: package("pandas").DataFrame(
        WAVES, columns=["left", "right"]
    ),
    "polars: table, a column a channel": lambda: package("polars").DataFrame(WAVES, schema=["left", "right"]),
    "xarray: [channels, samples]": lambda: package("xarray").DataArray(WAVES.T),
    "torch: [channels, samples]": tensor(WAVES.T),
}


def quantized(signal: Any) -> str:
    scale = Scale(levels=4)
    symbols = scale.fit_transform(signal)
    n = sum(map(len, symbols)) if isinstance(symbols, list) else len(symbols)
    return f"{scale.n_channels} of {n} samples"


SCALES = {"Scale": quantized}


def npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def sound(width: int, n_channels: int) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as made:
        made.setparams((n_channels, width, 8000, 0, "NONE", ""))
        made.writeframes(bytes(range(width * n_channels * 4)))
    return file.getvalue()


FASTA = b">one 12\nACGT\nACG\n>two\nGATTACA\n"
FASTQ = b"@one 12\nACGT\n+\n@@II\n@two\nGATTACA\n+two\nIIIIIII\n"
#: Files by name: their bytes, and options.
FILES: dict[str, tuple[str, bytes, list[str]]] = {
    "text": ("a.txt", b"low\nlower\n", []),
    "text, a document a line": ("a.txt", b"low\nlower\n", ["--lines"]),
    "text that is lines of integers": ("b.txt", b"14 14 171\n125 3\n", ["--lines"]),
    "text that is FASTA": ("c.txt", FASTA, ["--lines"]),
    "jsonl of strings": ("a.jsonl", b'"low"\n"lower"\n', []),
    "jsonl of lists of integers": ("b.jsonl", b"[1, 2]\n[2, 1, 1]\n", []),
    "jsonl of lists of words": (
        "c.jsonl",
        json.dumps(WORDS[0]).encode() + b"\n[]\n" + json.dumps(WORDS[1]).encode(),
        [],
    ),
    "jsonl of lists of floats": ("d.jsonl", b"[1.5, 2]\n", []),
    "jsonl of lists of lists": ("e.jsonl", b"[[1, 2], [3]]\n", []),
    "lines of integers": ("units.km", b"14 14 171\n125 3\n", []),
    "lines of names and integers": ("units.unt", b"first 1|14,14,171\nsecond 2|125,3\n", []),
    "lines of floats": ("floats.km", b"0.5 1.5\n", []),
    "npy of one axis": ("a.npy", npy(FLAT.astype(">u8")), []),
    "npy of two axes": ("b.npy", npy(ROWS.astype(np.int8)), []),
    "npy of three axes": ("c.npy", npy(CUBE), []),
    "npy of three axes, with a length": ("c.npy", npy(CUBE), ["--record", "8"]),
    "npy of floats": ("d.npy", npy(ROWS / 2), []),
    "raw integers": ("a.raw", FLAT.astype("i2").tobytes(), ["--dtype", "int16"]),
    "raw integers without a type": ("a.raw", FLAT.astype("i2").tobytes(), []),
    "FASTA": ("a.fasta", FASTA, []),
    "FASTA, compressed": ("a.fa.gz", gzip.compress(FASTA, mtime=0), []),
    "FASTA, some bases masked": ("b.fa", FASTA.replace(b"ATT", b"att"), []),
    "FASTA, masked bases folded": ("b.fa", FASTA.replace(b"ATT", b"att"), ["--symbols", "ACGTN,acgtn"]),
    "FASTA without a header": ("c.fa", b"ACGT\n", []),
    "FASTQ": ("a.fastq", FASTQ, []),
    "FASTQ that is cut": ("b.fq", FASTQ[:-4], []),
    "wav of one channel": ("a.wav", sound(2, 1), []),
    "wav of two channels": ("b.wav", sound(3, 2), []),
    "wav of floats": ("c.wav", sound(4, 1).replace(b"fmt \x10\0\0\0\x01", b"fmt \x10\0\0\0\x03"), []),
    "another suffix": ("a.csv", b"1,2\n", []),
}


def on_the_command_line(name: str, content: bytes, options: list[str]) -> str:
    """What `fit` and `encode` read of a file, or say of it."""
    folder = pathlib.Path(tempfile.mkdtemp())
    (folder / name).write_bytes(content)
    told = io.StringIO()
    with contextlib.redirect_stderr(told), contextlib.chdir(folder):
        code = main(["fit", name, "-o", "m.json", "--quiet", *options])
        words = told.getvalue().strip().removeprefix("error: ")
        if code:
            return f"| - | {words} |"
        options = [] if options[:1] == ["--symbols"] else options
        assert main(["encode", "m.json", name, *options, "-o", "ids.jsonl"]) == 0
    tok = BPE.load(folder / "m.json")
    ids = [json.loads(line) for line in (folder / "ids.jsonl").read_text().splitlines()]
    alphabet, lengths = tok._model.alphabet, np.diff(tok._model.vocabulary.offsets)
    kind = "words" if alphabet.names is not None else {"int": "integers", "bytes": "bytes"}[alphabet.kind]
    return f"| {len(ids)} ({sum(int(lengths[doc].sum()) for doc in ids)}) {kind} | {words} |"


def told(call: Callable[[], Any]) -> tuple[str, str]:
    """What a call gives, or a dash and the words of its error, those of the library, without the name of the argument."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = call()
        except ModuleNotFoundError:
            raise
        except Exception as error:  # of any type: a fault is seen on the page
            frames = [
                frame.f_globals["__name__"].partition(".")[0]
                for frame, _ in traceback.walk_tb(error.__traceback__)
            ]
            words = " ".join(str(error).replace(f"{pathlib.Path.cwd()}/", "").split())
            words = words if frames[-1] == "ubpe_numba" else f"(by {frames[-1]})"
            words = (
                words
                if isinstance(error, (OSError, TypeError, ValueError))
                else f"FAULT {type(error).__name__}: {words}"
            )
            return "-", re.sub(r"^(partition 0: )?(chunks: chunk 0|docs?|X|signal|source)(: |, )", "", words)
    return (f"{found[0]} ({found[1]})" if isinstance(found, tuple) else str(found)), ""


def row(name: str, columns: Iterable[str], call: Callable[[str], Any]) -> str:
    """A row of a table: what each column gives, and the words of refusals with the columns that say them."""
    cells, words = [], dict[str, list[str]]()
    for column in columns:
        cell, refusal = told(lambda column=column: call(column))  # type: ignore[misc]
        cells.append(cell)
        if refusal:
            words.setdefault(refusal, []).append(column)
    several = len(words) > 1
    said = "<br>".join(f"{', '.join(of)}: {text}" if several else text for text, of in words.items())
    return " | ".join(["", name, *cells, said.replace("|", "\\|"), ""]).strip()


def table(
    names: Iterable[str], columns: list[str], call: Callable[[str, str], Any], known: dict[str, str]
) -> Iterator[str]:
    """A table, with rows as `known` where a package is not installed."""
    yield " | ".join(["", "given", *(f"`{name}`" for name in columns), "refused with", ""]).strip()
    yield "|---" * (len(columns) + 2) + "|"
    for name in names:
        try:
            yield row(name, columns, lambda column, name=name: call(name, column))  # type: ignore[misc]
        except ModuleNotFoundError:
            yield known.get(name, f"| {name} |")


def page(known: dict[str, str]) -> str:
    """The whole page."""
    lines = [HEAD]
    for kind, layouts in LAYOUTS.items():
        lines += [f"## {kind.capitalize()}", ""]

        def call(name: str, entry: str, kind: str = kind) -> Any:
            docs = LAYOUTS[kind][name]()
            if "offsets=" in name and entry in NO_OFFSETS:
                return "no offsets"
            return ENTRIES[entry](TOKENIZERS[kind], docs)

        lines += [*table(layouts, list(ENTRIES), call, known), ""]
    lines += ["## Signals", "", "Channels, and samples or series of each.", ""]
    lines += [*table(SIGNALS, list(SCALES), lambda name, entry: SCALES[entry](SIGNALS[name]()), known), ""]
    lines += [
        "## Files on the command line",
        "",
        "| file | `fit` and `encode` read | told |",
        "|---|---|---|",
    ]
    lines += [f"| {what} {on_the_command_line(*file)}" for what, file in FILES.items()]
    return "\n".join(lines) + "\n"


@contextlib.contextmanager
def cluster() -> Iterator[None]:
    from distributed import Client

    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None):
        yield


def made() -> tuple[str, str]:
    """The page as it is, and as it should be."""
    text = PAGE.read_text("utf-8") if PAGE.exists() else ""
    known = {
        line.split(" | ")[0].removeprefix("| "): line for line in text.splitlines() if line.startswith("| ")
    }
    with cluster():
        return text, page(known)


if __name__ == "__main__":
    PAGE.write_text(made()[1], "utf-8")
