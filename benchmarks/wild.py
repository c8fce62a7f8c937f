"""Tokenizers of other libraries: a row for each file that is installed, with the time to load it and the ids that differ.

    pip install '.[test,wild]'; UBPE_WILD=packages python benchmarks/wild.py [NAME ...]

Files, texts and the libraries to compare with are those of tools/packages/test_wild.py (wild_files.py says
where they are). Seconds are CPU time of `ubpe_numba.load`, the best of three; in brackets the library's own.
"""

from __future__ import annotations

import pathlib
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

sys.path += [str(pathlib.Path(__file__).parents[1] / name) for name in ("tests", "tools")]

from wild_files import FILES, located, original
from wild_texts import mixed

import ubpe_numba


def seconds(run: Callable[[], Any]) -> float:
    """CPU time, the best of three."""
    found = []
    for _ in range(3):
        begin = time.process_time()
        run()
        found.append(time.process_time() - begin)
    return min(found)


def main(names: list[str]) -> None:
    """Print the table."""
    texts = mixed()
    print("| tokenizer | package | form | tokens | seconds to load | documents that differ | ids |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for file in FILES:
        with tempfile.TemporaryDirectory() as folder:
            path = located(file, pathlib.Path(folder))
            if (names and file.name not in names) or path is None:
                continue
            tok = ubpe_numba.load(path)
            ours = seconds(lambda path=path: ubpe_numba.load(path))
            theirs = seconds(lambda file=file, path=path: original(file, path))
            expected = original(file, path)(texts)
            found = tok.encode_batch(texts, disallowed_special="none").to_lists()
            other = sum(one != two for one, two in zip(found, expected, strict=True))
            n_ids = sum(map(len, expected))
            row = (
                file.name,
                file.package,
                file.kind,
                f"{len(tok.vocabulary):,}",
                f"{ours:.2f} ({theirs:.2f})",
            )
            print(f"| {' | '.join(row)} | {other} of {len(texts):,} | {n_ids:,} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
