"""Sixteen threads over many models: made, called, copied, pickled, deleted, in pools, at exit; results are compared.

A process has a few seconds, so that first calls, of cold models, come from threads; daemons still call when
it ends. A process that crashes, hangs, complains or finds another result is a finding; exit code 1 if there
is any.

    python tools/fuzz/soak_threads.py --seconds 1200 --seed 1
    python tools/fuzz/soak_threads.py --calls 1000000       short calls; memory and reference counts must stay
"""

from __future__ import annotations

import argparse
import copy
import faulthandler
import gc
import pathlib
import pickle
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

if __name__ == "__main__":
    sys.path[:0] = [str(pathlib.Path(__file__).parents[2] / name) for name in ("tests", "")]

import numpy as np
from reference.encode_pairs import one_by_one

from ubpe_numba import BPE

N_THREADS = 16
PART = 5.0  # seconds of a process
HANGS = 120.0  # seconds that no process takes to end


class Known:
    """A model with documents, their ids and texts, all by plain Python."""

    def __init__(self, rng: Random) -> None:
        n_merges, self.is_text = rng.randrange(1, 9), rng.random() < 0.4
        n_symbols = rng.randrange(2, 6)
        self.merges: list[tuple[int, int]] = []
        while len(self.merges) < n_merges:
            pair = rng.randrange(n_symbols + len(self.merges)), rng.randrange(n_symbols + len(self.merges))
            if pair not in self.merges:
                self.merges.append(pair)
        self.alphabet: Any = "abcdef"[:n_symbols] if self.is_text else n_symbols
        lengths = (0, 1, 5, 16, 40, 300)
        symbols = [[rng.randrange(n_symbols) for _ in range(n)] for n in lengths]
        self.ids = [one_by_one(doc, self.merges, n_symbols) for doc in symbols]
        self.docs: list[Any] = (
            ["".join("abcdef"[i] for i in doc) for doc in symbols] if self.is_text else symbols
        )

    def make(self) -> Any:
        """A tokenizer that nobody has called."""
        return BPE.from_merges([list(pair) for pair in self.merges], alphabet=self.alphabet)

    def check(self, tok: Any, rng: Random, n: int) -> None:
        """Call a tokenizer n times; AssertionError unless all is right."""
        for _ in range(n):
            i = rng.randrange(len(self.docs))
            doc, ids = self.docs[i], self.ids[i]
            if rng.random() < 0.3 and not self.is_text:
                doc = np.array(doc, rng.choice(["i1", "i4", "u8"]))
            assert tok.encode(doc).tolist() == ids, (self.merges, doc)
            back = tok.decode(ids if rng.random() < 0.5 else np.array(ids, np.int32))
            assert (back if self.is_text else back.tolist()) == self.docs[i], (self.merges, ids, back)

    def check_many(self, tok: Any) -> None:
        """As `check`, of a list of documents."""
        assert tok.encode_batch(self.docs).to_lists() == self.ids
        found = tok.decode_batch(self.ids)
        assert (found if self.is_text else found.to_lists()) == self.docs


def one_job(known: list[Known], shared: list[Any], rng: Random) -> None:
    """Draw a model, and where it comes from: made, shared, copied, pickled, put in the place of another, or given to a pool."""
    i = rng.randrange(len(known))
    k, kind = known[i], rng.randrange(8)
    if kind == 0:
        shared[i] = k.make()  # the one before is deleted, while others call it
    elif kind == 1:
        k.check(k.make(), rng, 20)
    elif kind == 2:
        k.check(rng.choice([copy.copy, copy.deepcopy])(shared[i]), rng, 20)
    elif kind == 3:
        k.check(pickle.loads(pickle.dumps(shared[i])), rng, 20)
    elif kind == 4:
        k.check_many(shared[i])
    elif kind == 5:
        tok = k.make()
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda seed: k.check(tok, Random(seed), 12), range(4)))
    elif kind == 6:
        call, alive = shared[i].encode, weakref.ref(shared[i])
        assert call(k.docs[3]).tolist() == k.ids[3]
        assert alive() is call.__self__
    else:
        k.check(shared[i], rng, 30)


def work(seed: int, seconds: float) -> int:
    """What one process does; the number of jobs.

    Half of the threads are daemons that go on until the process has ended.
    """
    rng = Random(seed)
    known = [Known(rng) for _ in range(12)]
    shared = [k.make() for k in known]
    wrong: list[BaseException] = []
    jobs, stop = [0] * N_THREADS, time.monotonic() + seconds
    begin = threading.Barrier(N_THREADS)

    def run(number: int, is_daemon: bool) -> None:
        own = Random(seed * 1000 + number)
        begin.wait()
        while is_daemon or time.monotonic() < stop:
            try:
                one_job(known, shared, own)
            except BaseException as error:
                if sys.is_finalizing() or "interpreter shutdown" in str(error):
                    return
                wrong.append(error)
            jobs[number] += 1

    threads = [
        threading.Thread(target=run, args=(n, n % 2 == 0), daemon=n % 2 == 0) for n in range(N_THREADS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads[1::2]:
        thread.join()
    if wrong:
        raise wrong[0]
    return sum(jobs)


def soak(seconds: float, seed: int) -> list[str]:
    """Processes, one after the other, for so many seconds; the findings."""
    end, findings, jobs, n = time.monotonic() + seconds, [], 0, 0
    while time.monotonic() < end:
        command = [
            sys.executable,
            str(pathlib.Path(__file__)),
            "--work",
            str(PART),
            "--seed",
            str(seed * 10_000 + n),
        ]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=PART + HANGS)
        except subprocess.TimeoutExpired as hang:
            findings.append(f"{command[-1]} hangs: {hang.stderr!r}")
            continue
        finally:
            n += 1
        if done.returncode or done.stderr:
            findings.append(f"seed {command[-1]}: exit code {done.returncode}: {done.stderr[-3000:]}")
        else:
            jobs += int(done.stdout)
    print(f"{n} processes, {jobs} jobs of {N_THREADS} threads, {len(findings)} findings", *findings, sep="\n")
    return findings


def leaks(n_calls: int) -> list[str]:
    """Short calls of every kind, right and wrong; reference counts of what they touch, and memory, that are not as before."""
    rng = Random(1)
    known = [Known(rng) for _ in range(6)]
    toks = [k.make() for k in known]
    bad, far = ["x", None], [10**6]

    def refused(call: Callable[[Any], Any], doc: Any) -> None:
        try:
            call(doc)
        except (TypeError, ValueError):
            return
        raise AssertionError(doc)

    def call_all() -> int:
        for k, tok in zip(known, toks, strict=True):
            for doc, ids in zip(k.docs, k.ids, strict=True):
                for _ in range(8):
                    tok.encode(doc)
                    tok.decode(ids)
            refused(tok.encode, bad)
            refused(tok.decode, far)
        return sum(16 * len(k.docs) + 2 for k in known)

    watched = {
        "None": None, "int": int, "list": list, "ndarray": np.ndarray, "int32": np.dtype("i4"), "type of int32": np.int32,
        "bad": bad, "far": far, "an item": far[0], "BPE": BPE, "encode": BPE.encode, "the empty text": "", "True": True,
        **{f"model {i}": tok for i, tok in enumerate(toks)}, **{f"docs {i}": k.docs[3] for i, k in enumerate(known)},
    }  # fmt: skip

    def state() -> dict[str, int]:
        gc.collect()
        counts = {name: sys.getrefcount(value) for name, value in watched.items()}
        return {**counts, "blocks": sys.getallocatedblocks(), "KiB": rss() >> 10}

    for _ in range(50):  # short ways are made, memory is as large as it becomes
        call_all()
    before, n = state(), 0
    while n < n_calls:
        n += call_all()
    after = state()
    allowed = {"blocks": 200, "KiB": 8 << 10, "None": 50, "True": 50, "the empty text": 50, "int": 20}
    grown = [
        f"{name}: {before[name]} -> {after[name]}"
        for name in before
        if after[name] - before[name] > allowed.get(name, 5)
    ]
    lost = [
        f"{name}: {before[name]} -> {after[name]}"
        for name in watched
        if before[name] - after[name] > allowed.get(name, 5)
    ]
    print(f"{n} calls, {len(grown + lost)} findings", *grown, *lost, sep="\n")
    return grown + lost


def rss() -> int:
    """Bytes of memory of this process; 0 where the system does not say."""
    statm = pathlib.Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) << 12 if statm.exists() else 0


def main() -> None:
    """Parse and run."""
    faulthandler.enable()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="how long (default %(default)g)")
    parser.add_argument(
        "--seed", type=int, default=0, help="another seed is another run (default %(default)s)"
    )
    parser.add_argument("--calls", type=int, help="look for leaks of so many short calls instead")
    parser.add_argument("--work", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work is not None:
        print(work(options.seed, options.work), flush=True)
    elif options.calls is not None:
        sys.exit(1 if leaks(options.calls) else 0)
    else:
        sys.exit(1 if soak(options.seconds, options.seed) else 0)


if __name__ == "__main__":
    main()
