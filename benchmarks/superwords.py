"""Tokens over several words: how many fewer tokens held-out text takes, and what two stages cost.

The first stage cuts text by a pattern and ends early, the second one, `fit_more(pretokenizer=None)`, goes on
with whole documents up to the size of a fit of one stage. Documents are a hundred lines of the corpora, and
files of folders; every tenth is held out, or fewer for about 20 MB. Peak memory is of the process after both
stages, documents included.
"""

from __future__ import annotations

import argparse
import hashlib
import pathlib
import resource
import time

import corpora

from ubpe_numba import BPE


def main() -> None:
    """Measure, and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--n-tokens", type=int, default=16_384, help="%(default)s")
    parser.add_argument("--first", type=int, default=12_288, help="ids after the first stage, %(default)s")
    parser.add_argument("--pretokenizer", default="gpt2", help="of the first stage, %(default)s")
    parser.add_argument("--texts", default="English,Python", help="of corpora.py, %(default)s; '' for none")
    parser.add_argument(
        "--folders",
        nargs="*",
        default=[],
        help="also all distinct text files of these folders, as one corpus",
    )
    parser.add_argument(
        "--suffixes",
        default=".py,.pyi,.txt,.md,.rst,.html,.h,.hpp,.cuh,.c,.cpp,.pm,.pl,.pod,.js,.po",
        help="%(default)s",
    )
    parser.add_argument("--bytes", type=int, default=1_020_000_000, help="of files, at most, %(default)s")
    parser.add_argument("--threads", type=int, help="all by default")
    options = parser.parse_args()
    print(
        "| text | bytes | one stage | two | fewer | s, one stage | s, stages | peak |\n|" + " --- |" * 8,
        flush=True,
    )
    for name in filter(None, options.texts.split(",")):
        lines = corpora.text(name, 20_000_000)[0].splitlines(keepends=True)
        measure(name, ["".join(lines[i : i + 100]).encode() for i in range(0, len(lines), 100)], options)
    if options.folders:
        measure("files", files(options.folders, options.suffixes.split(","), options.bytes), options)


def measure(name: str, docs: list[bytes], options: argparse.Namespace) -> None:
    """Print the row of a corpus: tokens per 1000 bytes held out of one stage and of two, seconds, and the peak of memory."""
    step = max(10, sum(map(len, docs)) // 20_000_000)
    held = docs[::step]
    del docs[::step]
    n_bytes = sum(map(len, held)) / 1000
    start = time.perf_counter()
    tok = BPE.for_text(options.first, pretokenizer=options.pretokenizer, n_threads=options.threads).fit(
        docs, progress=False
    )
    first = time.perf_counter()
    tok.fit_more(docs, options.n_tokens, pretokenizer=None, progress=False)
    second = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    one = BPE.for_text(options.n_tokens, pretokenizer=options.pretokenizer, n_threads=options.threads)
    again = time.perf_counter()
    one.fit(docs, progress=False)
    took = time.perf_counter() - again
    counts = [each.encode_batch(held).total / n_bytes for each in (one, tok)]
    cells = [
        f"{sum(map(len, docs)):,}",
        *(f"{count:.1f}" for count in counts),
        f"{100 * (1 - counts[1] / counts[0]):.1f} %",
    ]
    cells += [f"{took:.1f}", f"{first - start:.1f} + {second - first:.1f}", f"{peak:.2f} GB"]
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


def files(folders: list[str], suffixes: list[str], n_bytes: int) -> list[bytes]:
    """The distinct files of folders, in order of their hashes, up to so many bytes."""
    found: dict[bytes, bytes] = {}
    for folder in folders:
        for path in pathlib.Path(folder).rglob("*"):
            if path.suffix in suffixes and path.is_file() and not path.is_symlink():
                data = path.read_bytes()
                found[hashlib.sha256(data).digest()] = data
    chosen: list[bytes] = []
    for _, data in sorted(found.items()):
        n_bytes -= len(data)
        if n_bytes < 0:
            break
        chosen.append(data)
    return chosen


if __name__ == "__main__":
    main()
