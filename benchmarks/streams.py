"""Text that grows: a stream that gives certain ids, beside encoding all of it again.

python benchmarks/streams.py    microseconds for each chunk of 5 bytes, medians of rounds in which all sides take turns

`push`: into a stream that holds the text so far; `again`: `encode` of the text so far, ours and tiktoken's, and tiktoken's
`encode_with_unstable`. Also the worst text, one word without an end; a fork; and the first change of ids.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from corpora import text, vocabulary
from inside import medians

import ubpe_numba
from ubpe_numba.text import first_change

CHUNK, CHUNKS = 5, 200


def tiktokens(known: Any) -> Any:
    """The encoder of tiktoken with the same ranks; None where it is not installed."""
    try:
        import tiktoken
        from tiktoken.load import load_tiktoken_bpe
    except ImportError:
        return None
    ranks = load_tiktoken_bpe(os.path.abspath(known.ranks))
    return tiktoken.Encoding(known.name, pat_str=known.pattern, mergeable_ranks=ranks, special_tokens={})


def main() -> None:
    """Print the rows."""
    known = vocabulary("o200k")
    tok: Any = ubpe_numba.BPE.load(known.ranks, pretokenizer="o200k", n_threads=1)
    peer = tiktokens(known)
    whole = text("English", 400_000)[0]
    print("| text so far | push | encode again | tiktoken again | tiktoken with_unstable |\n| --- | --- | --- | --- | --- |")
    for size in 1_000, 10_000, 100_000:
        stream = tok.stream()
        stream.push(whole[:size])

        def ends(size: int = size) -> Iterator[str]:
            return (whole[: size + CHUNK * i] for i in range(1, 1 + (CHUNKS if size < 100_000 else 5)))

        def push(stream: Any = stream, size: int = size) -> None:
            fork = stream.copy()
            for i in range(CHUNKS):
                fork.push(whole[size + CHUNK * i : size + CHUNK * (i + 1)])

        sides: dict[str, Any] = {"push": push, "again": lambda ends=ends: [tok.encode(part) for part in ends()]}
        if peer is not None:
            sides["tiktoken"] = lambda ends=ends: [peer.encode_ordinary(part) for part in ends()]
            sides["unstable"] = lambda ends=ends: [peer.encode_with_unstable(part) for part in ends()]
        found = medians(sides, 5)
        counts = {name: CHUNKS if name == "push" else sum(1 for _ in ends()) for name in sides}
        print(f"| {size} |", " | ".join(f"{found[name] / counts[name] * 1e6:.1f}" for name in sides), "|")
    long = "x" * 100_000

    def word() -> None:
        stream = tok.stream()
        for a in range(0, len(long), CHUNK):
            stream.push(long[a : a + CHUNK])

    ids = tok.encode(whole)
    full = tok.stream()
    full.push(whole)
    rest = {"word": word, "fork": full.copy, "change": lambda: first_change(tok, ids), "encode": lambda: tok.encode(whole)}
    found = medians(rest, 5)
    print(f"one word of {len(long)} bytes: {found['word'] / len(long) * CHUNK * 1e6:.1f} us for each chunk")
    print(f"a fork: {found['fork'] * 1e6:.1f} us; first_change: {found['change'] / found['encode']:.1f} times encode")


if __name__ == "__main__":
    main()
