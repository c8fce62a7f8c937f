"""What `language_weights` gives to small languages: tokens per 1000 bytes of lines not seen, by powers of the shares.

One tokenizer is trained on lines of four languages of unequal sizes, of which every second line is held out.
"""

from __future__ import annotations

import argparse

import corpora

from ubpe_numba import BPE, Counts

SIZES = {"English": 1_900_000, "Chinese": 400_000, "Russian": 100_000, "Japanese": 40_000}  # bytes
_HELD = 200_000  # bytes of each language, at most


def main() -> None:
    """Measure, and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--n-tokens", type=int, default=8192, help="%(default)s")
    parser.add_argument("--alphas", default="1,0.7,0.5,0.3,0", help="%(default)s")
    options = parser.parse_args()
    halves = []
    for language, size in SIZES.items():
        text, source = corpora.text(language, 8_000_000)
        lines = [line for line in text.split("\n") if line.strip()]
        halves.append((head(lines[::2], size), head(lines[1::2], _HELD)))
        print(f"- {language}: {source}, {n_bytes(halves[-1][0])} bytes")
    print("\n| alpha | weights | " + " | ".join(SIZES) + " |\n|" + " --- |" * (len(SIZES) + 2), flush=True)
    for alpha in map(float, options.alphas.split(",")):
        weights = Counts.language_weights([n_bytes(seen) for seen, _ in halves], alpha)
        tok = BPE.for_text(options.n_tokens, pretokenizer="gpt2")
        docs = [line for seen, _ in halves for line in seen]
        of_lines = [weight for weight, (seen, _) in zip(weights, halves, strict=True) for _ in seen]
        tok.fit(docs, sample_weight=of_lines, progress=False)
        cells = [f"{1000 * tok.encode_batch(held).total / n_bytes(held):.1f}" for _, held in halves]
        print(f"| {alpha:g} | {' '.join(map(str, weights))} | " + " | ".join(cells) + " |", flush=True)


def head(lines: list[str], size: int) -> list[str]:
    """The first lines, up to the one that makes `size` bytes full."""
    for i, line in enumerate(lines):
        size -= len(line.encode())
        if size <= 0:
            return lines[: i + 1]
    return lines


def n_bytes(lines: list[str]) -> int:
    """Bytes of UTF-8."""
    return sum(len(line.encode()) for line in lines)


if __name__ == "__main__":
    main()
