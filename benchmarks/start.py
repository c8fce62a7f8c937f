"""Rows of `compare.py` about new processes: from their start to the first result, with and without compiled kernels."""

from __future__ import annotations

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from corpora import vocabulary
from encoders import ENCODERS
from harness import NONE, OURS, Bench
from suite import common
from suite.common import fresh_process

import ubpe_numba

#: Jobs of a machine's first process; "text" also follows "integers", in the same process.
_COLD = {
    "integers": """
docs = [np.random.default_rng(0).integers(0, 9, 300) for _ in range(5)]
tok = ubpe_numba.UBPE(40, n_threads=1).fit(docs, progress=False)
tok.decode(tok.encode(docs[0]))""",
    "text": """
tok = ubpe_numba.BPE.for_text(300, n_threads=1).fit(["the cat sat on the mat"] * 3, progress=False)
tok.encode("the dog")""",
    "load": """
ubpe_numba.BPE.load(sys.argv[1], n_threads=1).encode("the dog")""",
}


def start(b: Bench) -> None:
    """Seconds from the start of a new process to its first result."""
    common.write_ecg()
    wall = fresh_process("cache", "UBPE")[0]
    cached, alone, imported = [], [], []
    for _ in range(7):
        cached.append(fresh_process("cache", "UBPE")[0])
        imported.append(fresh_process("cache")[1])
        alone.append(common.numba_alone())
    warm, base = statistics.median(cached), statistics.median(alone)
    what = "start, {}: a process that fits (4096 tokens), encodes and decodes the ECG with UBPE"
    b.row(what.format("cached"), f"{warm:.2f} s", f"`import numba` alone: {base:.2f} s", warm, 0.6, 0.4, "s")
    b.row("the same beyond `import numba`", f"{warm - base:.2f} s", "-", warm - base, 0.6, 0.4, "s")
    b.note(f"`import ubpe_numba`: {1000 * statistics.median(imported):.0f} ms")
    b.row(what.format("cold"), f"{wall:.1f} s", "-", wall, 15, 8, "s")


def cold(b: Bench) -> None:
    """CPU seconds of new processes without compiled kernels, beyond those of `import numba`."""
    tok = ubpe_numba.BPE.for_text(300, n_threads=1).fit(["the cat sat on the mat"] * 3, progress=False)
    tok.save("small.npz")
    jobs = {"": [], "integers": ["integers"], "both": ["integers", "text"], "load": ["load"]}
    taken = {
        name: min(_cpu_seconds(parts) for _ in range(1 if b.quick else 3)) for name, parts in jobs.items()
    }
    what, goals = (
        "no kernels compiled: first {}, CPU seconds beyond the imports",
        {"integers": (5, 3), "text": (5, 3), "load": (3, 1.5)},
    )
    seconds = {
        "integers": ("UBPE fit, encode, decode of integers", taken["integers"] - taken[""]),
        "text": ("BPE fit and encode of text after that", taken["both"] - taken["integers"]),
        "load": ("load and encode of text", taken["load"] - taken[""]),
    }
    for name, (words, s) in seconds.items():
        b.row(what.format(words), f"{s:.1f} s", "-", s, *goals[name], "s")


def _cpu_seconds(parts: list[str]) -> float:
    """CPU seconds of all threads of a new process with an empty folder of kernels."""
    code = "import sys, numba, numpy as np, ubpe_numba" + "".join(_COLD[part] for part in parts)
    code += "\nimport time; print(time.process_time())"
    with tempfile.TemporaryDirectory() as cache:
        env = {
            **os.environ,
            "UBPE_CACHE_DIR": cache,
            "PYTHONPATH": str(pathlib.Path(ubpe_numba.__file__).parents[1]),
        }
        env.pop("UBPE_CACHE", None)
        done = subprocess.run(
            [sys.executable, "-c", code, "small.npz"], env=env, check=True, capture_output=True, text=True
        )
    return float(done.stdout)


def loading(b: Bench) -> None:
    """Vocabularies that are in use in new processes, kernels compiled before: import, load, first encode, memory."""
    small = ubpe_numba.BPE.for_text(300, pretokenizer="o200k", n_threads=1).fit(
        ["the cat sat on the mat"] * 3, progress=False
    )
    small.save("small.npz")
    known, repeat = vocabulary("o200k"), 1 if b.quick else 5
    job = {"action": "loaded"}
    b.together(known, job, [OURS], 1)  # compiles what is not yet compiled
    ranks = b.together(known, job | {"source": "ranks"}, [OURS, "tiktoken"], repeat)
    seconds = {peer: statistics.median(run["load"] for run in runs) for peer, runs in ranks.found.items()}
    theirs = (
        f"{ranks.label('tiktoken')}: {seconds['tiktoken']:.3g} s"
        if "tiktoken" in seconds
        else "; ".join(ranks.missing)
    )
    b.row(f"import of ranks, {known.label}", f"{seconds[OURS]:.3g} s", theirs, seconds[OURS], 1.0, 0.5, "s")

    results = b.together(known, job, ENCODERS, repeat)
    medians = {
        peer: statistics.median(run["import"] + run["load"] + run["encode"] for run in runs)
        for peer, runs in results.found.items()
    }
    cells = [f"{results.label(peer)}: {s:.3g} s" for peer, s in medians.items() if peer != OURS]
    what = f"import of the package, load, first encode, {known.label}; ours beyond `import numba`"
    b.row(what, f"{medians[OURS]:.3g} s", "; ".join(cells + results.missing), medians[OURS], 0.5, 0.25, "s")
    steps = {
        step: statistics.median(run[step] for run in results.found[OURS])
        for step in ("numba", "import", "load", "encode")
    }
    b.note(f"{what}: steps of ours: {', '.join(f'{step} {s:.3g} s' for step, s in steps.items())}")

    grown = b.together(known, job | {"small": "small.npz"}, [OURS], 1).found | {
        peer: runs for peer, runs in results.found.items() if peer != OURS
    }
    megabytes = {peer: min(run["bytes"] for run in runs) / 1e6 for peer, runs in grown.items()}
    cells = [f"{results.label(peer)}: {mb:.3g} MB" for peer, mb in megabytes.items() if peer != OURS]
    what = f"resident memory of a loaded model after its first encode, {known.label}"
    b.row(what, f"{megabytes[OURS]:.3g} MB", "; ".join(cells), megabytes[OURS] or NONE, 25, NONE, "MB")
