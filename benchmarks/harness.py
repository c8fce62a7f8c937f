"""Runs jobs with `peers.py`, ours and those of a peer in turn, and collects the rows of a table and the notes below it."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from suite import common
from suite.common import Corpus

import ubpe_numba
from ubpe_numba import export

OURS = "ubpe-numba"
NONE = math.nan
Goals = dict[str, tuple[float, float]]  # peer: first goal, moonshot
_THREADS = ("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "UBPE_NUM_THREADS", "NUMBA_NUM_THREADS")
_ENVIRONMENT = {
    "TOKENIZERS_PARALLELISM": "false",
    "PYTHONPATH": str(pathlib.Path(ubpe_numba.__file__).parents[1]),
}
_JOB = {
    **{"tokenizer": "UBPE", "n_tokens": 1024, "n_candidates": 50, "alphabet_size": 256, "top_n": 1},
    **{"form": "arrays", "text": False, "pattern": "", "model": "", "out": "", "repeat": 5, "budget": 5.0},
}


class Data(NamedTuple):
    """Documents on disk, how many symbols a rate counts, and words for it."""

    stem: str
    n_symbols: int
    label: str = ""


@dataclasses.dataclass
class Result:
    """What a job that ran once or several times gave: seconds of each run, peak memory, the version of the package."""

    n_symbols: int
    seconds: list[float] = dataclasses.field(default_factory=list)
    bytes: int = 0
    version: str = ""
    error: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.seconds) if self.seconds else NONE

    @property
    def rate(self) -> float:
        return self.n_symbols / self.median

    def cell(self, unit: str = "sym/s") -> str:
        """The rate as text, such as `1.2 Msym/s`, or what went wrong."""
        if self.error or not self.seconds:
            return self.error
        scale, prefix = (1e9, "G") if self.rate >= 1e9 else (1e6, "M") if self.rate >= 1e6 else (1e3, "k")
        return f"{self.rate / scale:.3g} {prefix}{unit}"


class Found(NamedTuple):
    """What the processes of each package gave, in the order in which they ran."""

    found: dict[str, list[dict[str, Any]]]
    versions: dict[str, str]
    missing: list[str]  # packages without a result, and why

    def label(self, peer: str) -> str:
        return f"{peer} {self.versions[peer]}".strip()

    def compare(self, b: Bench, what: str, ids: Callable[[dict[str, Any]], str]) -> None:
        """Every result must have the ids of the others."""
        digests = {peer: {ids(run) for run in runs} for peer, runs in self.found.items()}
        expected = digests.get("tiktoken", digests[OURS])
        if other := [peer for peer, given in digests.items() if len(given) != 1 or given != expected]:
            b.error(f"{what}: other ids than tiktoken's: {', '.join(other)}")


class Bench:
    """The rows and notes so far. Writes its files in the current directory, which is temporary."""

    def __init__(self, quick: bool, native_python: str) -> None:
        self.quick, self.native_python = quick, native_python
        self.timeout = 60 if quick else 300
        self.rows: list[tuple[str, ...]] = []
        self.raw: list[dict[str, Any]] = []  # every job and what its process gave
        self.notes: dict[str, None] = {}
        self.wrong: list[str] = []  # results that are not what they must be; the command then fails
        self._corpora: dict[str, Corpus] = {}

    def corpus(self, name: str) -> Corpus:
        if name not in self._corpora:
            self._corpora[name] = corpus = common.load(name)
            size = f"{corpus.values.size} symbols, {corpus.offsets.size - 1} documents"
            self.note(f"{name}: {corpus.source}, {size}")
        return self._corpora[name]

    def put(self, name: str, documents: Any, label: str = "", n_symbols: int = 0) -> Data:
        """Write documents (values, offsets) where jobs find them."""
        np.save(f"{name}.values.npy", documents.values)
        np.save(f"{name}.offsets.npy", np.asarray(documents.offsets, np.int64))
        return Data(name, n_symbols or documents.values.size, label)

    def model(self, name: str, tokenizer: Any) -> str:
        """Write a tokenizer in every form that the adapters read."""
        table = tokenizer._model.vocabulary
        tokenizer.save(f"{name}.npz")
        np.save(f"{name}.arena.npy", table.arena)
        np.save(f"{name}.ends.npy", table.offsets)
        if isinstance(tokenizer, ubpe_numba.UBPE):
            pathlib.Path(f"{name}.json").write_text(export(tokenizer, "ubpe"))
        return name

    def note(self, text: str) -> None:
        self.notes[text] = None
        print("  " + text, file=sys.stderr, flush=True)

    def error(self, text: str) -> None:
        """Note a result that is wrong."""
        self.wrong.append(text)
        self.note("ERROR: " + text)

    def run(self, peer: str, action: str, data: Data, **options: Any) -> Result:
        """Run a job in a process of its own; if that fails, the result's `error` says how."""
        job = _JOB | options | {"peer": peer, "action": action, "data": data.stem}
        given = self.process("peers.py", job)
        self.raw.append({"peer": peer, "action": action, "data": data.stem, **options, **given})
        return Result(data.n_symbols, **given)

    def process(self, script: str, job: dict[str, Any], n_threads: int = 1) -> dict[str, Any]:
        """The line of JSON that `script` prints about a job, or {"error": what went wrong}."""
        pathlib.Path("job.json").write_text(json.dumps(job))
        python = self.native_python if job["peer"] == "ubpe-native" else sys.executable
        command = [python, str(pathlib.Path(__file__).with_name(script)), "job.json"]
        print(
            f"  {job['action']} {job['peer']} {job.get('data', job.get('name', ''))}",
            file=sys.stderr,
            flush=True,
        )
        # ours may have to compile kernels first, and `encoders.py` loads a vocabulary many times
        timeout = self.timeout if script == "peers.py" and job["peer"] != OURS else 600
        environment = os.environ | _ENVIRONMENT | dict.fromkeys(_THREADS, str(n_threads))
        try:
            done = subprocess.run(command, env=environment, timeout=timeout, capture_output=True)
        except FileNotFoundError:
            return {"error": "not installed"}
        except subprocess.TimeoutExpired:
            return {"error": f"more than {timeout} s"}
        if done.returncode:
            print(done.stderr.decode(errors="replace")[-2000:], file=sys.stderr)
            return {"error": f"failed ({done.returncode})"}
        return json.loads(done.stdout.splitlines()[-1])

    def together(self, known: Any, job: dict[str, Any], peers: Iterable[str], repeat: int) -> Found:
        """Run a job of `encoders.py` about a vocabulary with each package, in turn, `repeat` times."""
        shared = {
            **known._asdict(),
            "source": "model",
            "n_threads": 1,
            "clock": "process_time",
            "small": "",
            **job,
        }
        results = Found({}, {}, [])
        for i in range(repeat):
            for peer in peers if i == 0 else list(results.found):
                given = self.process("encoders.py", shared | {"peer": peer}, shared["n_threads"])
                self.raw.append(
                    {"peer": peer, **{key: shared[key] for key in ("action", "name", "n_threads")}, **given}
                )
                if "error" not in given:
                    results.found.setdefault(peer, []).append(given["found"])
                    results.versions[peer] = given["version"]
                elif i == 0:
                    results.missing.append(f"{peer}: {given['error']}")
        if OURS not in results.found:
            raise RuntimeError(f"{job['action']} failed with ours")
        return results

    def duel(self, peer: str, action: str, data: Data, **options: Any) -> list[Result]:
        """Run our job and that of the peer in turn, three times if the peer takes less than two seconds."""
        totals = [Result(data.n_symbols), Result(data.n_symbols)]
        for _ in range(3):
            for i, who in enumerate((OURS, peer)):
                new = self.run(who, action, data, **options, out=who)
                new.seconds, new.bytes = totals[i].seconds + new.seconds, totals[i].bytes or new.bytes
                totals[i] = new
            if totals[0].error or totals[1].error or totals[1].median > 2:
                break
        return totals

    def compare(
        self,
        what: str,
        action: str,
        data: list[Data],
        goals: Goals,
        *,
        unit: str = "sym/s",
        same: str = "",
        weights: np.ndarray | None = None,
        **options: Any,
    ) -> list[Result]:
        """A row for each peer, on the same data.

        `data` is the whole data, then slices for a peer that fails on it or takes too long; with --quick only
        the last. `same` names the results that both give, which are compared document by document; with
        `weights`, those of the tokens, the weights of paths are compared, too. Returns the results of the
        last row, ours first.
        """
        for peer, goal in goals.items():
            for piece in data[-1:] if self.quick else data:
                ours, theirs = self.duel(peer, action, piece, **options)
                if theirs.seconds or theirs.error == "not installed":
                    break
            cell = ours.cell(unit)
            if piece is not data[0]:
                cell += f" ({data[0].label}: {self.run(OURS, action, data[0], **options).cell(unit)})"
            label = f"{what}, {piece.label}".removesuffix(", ")
            peer_cell = f"{peer} {theirs.version}: {theirs.cell(unit)}"
            self.row(label, cell, peer_cell, ours.rate / theirs.rate, *goal)
            if same and theirs.seconds and ours.seconds:
                self.note(f"{label}: {same} like those of {peer}: {_equal(OURS, peer, weights)}")
            if action == "fit" and theirs.seconds and piece.n_symbols >= 500_000:
                memory = [f"{who} {r.bytes / r.n_symbols:.0f}" for who, r in ((OURS, ours), (peer, theirs))]
                self.note(f"{label}: memory beyond the input, B/symbol: {', '.join(memory)}")
        return [ours, theirs]

    def row(
        self, what: str, ours: str, peer: str, value: float, first: float, moonshot: float, unit: str = "x"
    ) -> None:
        """Add a line to the table.

        Goals are about `value`, NaN if unknown: at least the goal if its unit is x, else at most.
        """
        sign, reached = ("≥", np.greater_equal) if unit == "x" else ("≤", np.less_equal)
        met = "moonshot" if reached(value, moonshot) else "first goal" if reached(value, first) else "no"
        goals = ("-" if math.isnan(x) else f"{sign} {_number(x)} {unit}".strip() for x in (first, moonshot))
        figure, met = ("-", "-") if math.isnan(value) else (f"{_number(value)} {unit}".strip(), met)
        met = "-" if math.isnan(first) and math.isnan(moonshot) else met
        self.rows.append((what, ours, peer, figure, *goals, met))
        print("| " + " | ".join(self.rows[-1]) + " |", file=sys.stderr, flush=True)


def _number(x: float) -> str:
    return f"{x:,.0f}" if x >= 1000 else f"{x:.3g}"


def _equal(a: str, b: str, weights: np.ndarray | None) -> str:
    """How many documents of two results are equal, and how many have equal weights."""
    documents = [np.split(np.load(f"{x}.values.npy"), np.load(f"{x}.offsets.npy")[1:-1]) for x in (a, b)]
    pairs = list(zip(*documents, strict=False))
    text = f"{sum(np.array_equal(*pair) for pair in pairs)} of {max(map(len, documents))}"
    if weights is None:
        return text
    heavy = np.array([[_weight(path, weights) for path in pair] for pair in pairs])
    same, (x, y) = np.isclose(*heavy.T, rtol=1e-6).sum(), heavy.sum(axis=0)
    return f"{text}; of the same weight: {same}; all weights, ours / theirs: {x / y:.6f}"


def _weight(path: np.ndarray, weights: np.ndarray) -> float:
    tokens, counts = np.unique(path, return_counts=True)
    return float(((1 + np.log(counts)) * weights[tokens]).sum())
