"""What the explorer costs: writing a report, and opening and zooming it in a browser.

    python benchmarks/explorer.py [--symbols 10000000] [--tokens 100000] [--runs 3]

A corpus like a text, of words by Zipf's law, and a BPE of it that is learned once. Each report is written in
a process of its own, timed without imports and loading, which are given alone; the peak of memory is that of
the process. The browser is Chromium through playwright. Printed are medians.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

_WRITE = """
import json, resource, sys, time
began = time.perf_counter()
import numpy as np
from ubpe_numba import BPE
from ubpe_numba.views.explorer.report import explore
tok = BPE.load(sys.argv[1])
values, offsets = np.load(sys.argv[2]), np.load(sys.argv[3])
tok.encode_batch(values[:1000], [0, 1000])
loaded = time.perf_counter()
explore(tok, values, sys.argv[4], offsets=offsets, kind=sys.argv[5], progress=False)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"load": loaded - began, "write": time.perf_counter() - loaded, "peak": peak}))
"""
_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_ZOOM = """async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const press = (key) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  const found = [];
  for (const key of ["0", "+", "+", "+", "+", "+", "+", "+", "+", "-", "-", "-", "0", "+", "-", "0"]) {
    const began = performance.now();
    press(key);
    await frame();
    found.push(performance.now() - began);
  }
  return found;
}"""


def corpus(n: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Documents of 10,000 symbols, n in all: words of 3 to 12 symbols of 60, drawn by Zipf's law."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(3, 13, 60_000)
    ends = np.cumsum(lengths)
    letters = (rng.gamma(2.0, 8.0, int(ends[-1])) % 60).astype(np.uint8)
    words = [letters[a:b] for a, b in zip(ends - lengths, ends, strict=True)]
    chosen = rng.zipf(1.15, n // 4) % len(words)
    values = np.concatenate([words[i] for i in chosen.tolist()])[:n]
    return values, np.arange(0, values.size + 1, 10_000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--symbols", type=int, default=10_000_000)
    parser.add_argument("--tokens", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--kind", default="signal", choices=("signal", "text", "dna", "notes"))
    options = parser.parse_args()
    from ubpe_numba import BPE

    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        values, offsets = corpus(options.symbols)
        began = time.perf_counter()
        tok = BPE(options.tokens).fit(values, offsets=offsets, progress=False)
        print(
            f"{values.size} symbols, {len(tok.vocabulary)} tokens, fitted in {time.perf_counter() - began:.1f} s",
            flush=True,
        )
        tok.save(folder / "model.npz")
        np.save(folder / "values.npy", values)
        np.save(folder / "offsets.npy", offsets)
        arguments = [str(folder / name) for name in ("model.npz", "values.npy", "offsets.npy", "report.html")]
        runs = []
        for _ in range(options.runs):
            done = subprocess.run(
                [sys.executable, "-c", _WRITE, *arguments, options.kind],
                check=True,
                capture_output=True,
                text=True,
            )
            runs.append(json.loads(done.stdout))
        for name, unit in (
            ("load", "s, imports and loading"),
            ("write", "s, writing the report"),
            ("peak", "MB, peak memory"),
        ):
            print(f"{statistics.median(run[name] for run in runs):8.2f} {unit}")
        page = folder / "report.html"
        print(f"{page.stat().st_size / 1e6:8.2f} MB, the page")
        browse(page, options.runs)
    finally:
        shutil.rmtree(folder)


def browse(path: pathlib.Path, runs: int) -> None:
    """Print the medians of the time until the page is ready and of a zoom with its drawing, and the slowest zoom."""
    from playwright.sync_api import sync_playwright

    found = os.environ.get("CHROMIUM") or next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
    )
    ready, zooms, heap = [], [], []
    with sync_playwright() as playwright:
        for _ in range(runs):
            browser = playwright.chromium.launch(executable_path=found, args=_ARGUMENTS)
            page = browser.new_page(viewport={"width": 1440, "height": 960})
            page.goto(path.as_uri())
            page.wait_for_selector("body[data-ready]", timeout=120_000)
            ready.append(float(page.get_attribute("body", "data-ready") or "nan") / 1000)
            zooms += page.evaluate(_ZOOM)
            heap.append(page.evaluate("performance.memory.usedJSHeapSize") / 1e6)
            browser.close()
    print(f"{statistics.median(ready):8.2f} s, ready in the browser")
    print(f"{statistics.median(zooms):8.1f} ms, zoom (slowest {max(zooms):.1f} ms)")
    print(f"{statistics.median(heap):8.1f} MB, heap of the page")


if __name__ == "__main__":
    main()
