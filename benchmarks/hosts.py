"""Rows of `machines.py` about the messages of a fit whose shards are on hosts; these are in this process, one after the other.

Every message is pickled and read again, as between processes, and its bytes are counted; what a network adds
is not in it.
"""

from __future__ import annotations

import functools
import itertools
import pathlib
import pickle
import site
import sysconfig
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from suite import common

from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.distributed.host import Host, Part
from ubpe_numba.distributed.remote_text import fit_remotely
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import Corpus, as_corpus
from ubpe_numba.fitting.fit import Merges, Settings, fit
from ubpe_numba.runtime.messages import Progress
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.rules import FitRules
from ubpe_numba.vocabulary.vocabulary import Vocabulary

_ONE_CUT = "one document"
_WHOLE = "whole documents"


class Pickled:
    """Hosts in this process; messages to them and back are pickled."""

    def __init__(self, hosts: Sequence[Host]) -> None:
        self.hosts, self.n = list(hosts), len(hosts)
        self.rounds, self.sent, self.received = 0, [0] * self.n, [0] * self.n
        self.working = self.reading = 0.0  # seconds of hosts, and of the driver with their answers

    def ask(self, method: str, *args: Any) -> list[Any]:
        """See `DaskEngine`."""
        return [self.tell(k, method, *args) for k in range(self.n)]

    def tell(self, k: int, method: str, *args: Any) -> Any:
        """See `DaskEngine`."""
        message = pickle.dumps(args, protocol=5)
        began = time.perf_counter()
        answer = pickle.dumps(getattr(self.hosts[k], method)(*pickle.loads(message)), protocol=5)
        done = time.perf_counter()
        found = pickle.loads(answer)
        self.rounds += k == 0
        self.sent[k] += len(message)
        self.received[k] += len(answer)
        self.working += done - began
        self.reading += time.perf_counter() - done
        return found

    def renew(self, lost: Sequence[int]) -> None:
        """See `DaskEngine`; here none is lost."""
        raise RuntimeError("hosts of this process are not lost")


class Copies(Pickled):
    """`n` hosts that are all the same one: it works once, and the driver reads its answer `n` times.

    What is learned is that of its part of the corpus repeated `n` times, and the driver has the work of so
    many hosts.
    """

    def __init__(self, host: Host, n: int) -> None:
        super().__init__([host])
        self.n = n

    def ask(self, method: str, *args: Any) -> list[Any]:
        """See `DaskEngine`."""
        message = pickle.dumps(args, protocol=5)
        began = time.perf_counter()
        answer = pickle.dumps(getattr(self.hosts[0], method)(*pickle.loads(message)), protocol=5)
        done = time.perf_counter()
        found = [pickle.loads(answer) for _ in range(self.n)]
        self.rounds += 1
        self.sent[0] += len(message)
        self.received[0] += len(answer)
        self.working += done - began
        self.reading += time.perf_counter() - done
        return found


class Work(NamedTuple):
    """A corpus to fit on: integers from 0 on."""

    name: str
    values: np.ndarray
    offsets: np.ndarray
    alphabet_size: int

    def one(self) -> Work:
        """As one document."""
        return self._replace(offsets=np.array([0, self.values.size]))

    def corpus(self) -> Corpus:
        return as_corpus(self.values, self.offsets)

    def parts(self, n: int) -> list[Corpus]:
        """In `n` parts of equal size: a single document is cut, others are whole."""
        if self.offsets.size == 2:
            cuts = [self.values.size * h // n for h in range(n + 1)]
            return [as_corpus(self.values[a:b], np.array([0, b - a])) for a, b in itertools.pairwise(cuts)]
        ends = np.searchsorted(self.offsets, [self.values.size * h // n for h in range(n + 1)])
        return [
            as_corpus(
                self.values[self.offsets[a] : self.offsets[b]], self.offsets[a : b + 1] - self.offsets[a]
            )
            for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
        ]


def settings_of(n_tokens: int, n_candidates: int) -> Settings:
    """Those of the tokenizers, on one thread."""
    return Settings(n_tokens, n_candidates, FitRules(), 1)


def corpus_of(name: str, n_symbols: int = 0) -> Work:
    """A corpus of the suite as documents, repeated up to `n_symbols`; ``"python"``: sources of the installed packages."""
    if name == "python":
        return _python(n_symbols)
    found = common.load(name)
    if n_symbols > found.values.size:
        found = common.repeated(found, n_symbols)
    return Work(name if found.source == common._FILES[name] else f"{name} (stand-in)", *found[:3])


@functools.cache
def _python(n_symbols: int) -> Work:
    """Python sources, each file a document of bytes."""
    roots = [sysconfig.get_paths()["stdlib"], *site.getsitepackages()]
    files = sorted({path for root in roots for path in pathlib.Path(root).rglob("*.py")})
    texts, total = [], 0
    for path in np.random.default_rng(20_240_506).permutation(np.array(files)):
        if total < n_symbols and path.is_file():
            texts.append(path.read_bytes())
            total += len(texts[-1])
    offsets = np.cumsum([0] + [len(text) for text in texts])
    return Work("python", np.frombuffer(b"".join(texts), np.uint8), offsets, 256)


def learn(
    engine: Any, work: Work, n_tokens: int, n_candidates: int, one_document: bool
) -> tuple[Merges, Any, list[int]]:
    """A fit by this engine: its merges, its shards, and how many merges each batch had."""
    parts: list[Part] = engine.ask("part")
    batches = []
    given = engine.ask

    def ask(method: str, *args: Any, **more: Any) -> list[Any]:
        if method == "step" and args[2] is not None:
            batches.append(args[2].left.size)
        found: list[Any] = given(method, *args, **more)
        return found

    engine.ask = ask
    goes_on = [(one_document and h > 0,) * 2 for h in range(engine.n)]
    settings, alphabet = settings_of(n_tokens, n_candidates), Alphabet.dense(work.alphabet_size)
    merges, shards = fit_remotely(engine, parts, alphabet, settings, Progress(False), goes_on)
    return merges, shards, batches


def protocol(quick: bool) -> None:
    """Synchronisations and bytes; the merges have to be those of one process."""
    rows = [("text", v, 1) for v in (4096, 8192, 32768)] + [("text", 4096, 50)]
    rows += [("dna", v, c) for v in (2048, 32768) for c in (1, 50)] + [
        (name, 2048, c) for name in ("wav", "ecg") for c in (1, 50)
    ]
    if quick:
        rows = [("text", 4096, 1), ("dna", 2048, 50), ("ecg", 2048, 1)]
    print(
        "| corpus | symbols | tokens | candidates | hosts | documents | synchronisations | merges a batch, mean (median) |",
        end="",
    )
    print(
        " kB to a host, a synchronisation | from it | MB to a host in all | from it | losses |\n|"
        + " --- |" * 13
    )
    for name, n_tokens, n_candidates in rows:
        for documents in (_WHOLE, _ONE_CUT):
            work = corpus_of(name)
            work = work.one() if documents == _ONE_CUT else work
            here = fit(
                work.corpus(),
                Alphabet.dense(work.alphabet_size),
                settings_of(n_tokens, n_candidates),
                Progress(False),
            )
            for n in (2,) if quick else (2, 4, 8):
                engine = Pickled([Host(part, 1) for part in work.parts(n)])
                merges, shards, batches = learn(engine, work, n_tokens, n_candidates, documents == _ONE_CUT)
                if not all(np.array_equal(a, b) for a, b in zip(here, merges, strict=True)):
                    raise AssertionError(f"{name}: {n} hosts learn something else")
                n_rounds, to, back = engine.rounds, np.mean(engine.sent), np.mean(engine.received)
                row = (work.name, f"{work.values.size:,}", n_tokens, n_candidates, n, documents, n_rounds)
                row += (f"{np.mean(batches):.1f} ({np.median(batches):.0f})", f"{to / n_rounds / 1e3:.2f}")
                row += (
                    f"{back / n_rounds / 1e3:.2f}",
                    f"{to / 1e6:.2f}",
                    f"{back / 1e6:.2f}",
                    sum(shards.losses),
                )
                print("| " + " | ".join(map(str, row)) + " |", flush=True)


def driver(quick: bool) -> None:
    """How long the driver works, by the number of hosts, beside one of these."""
    rows = [(name, 30_000_000, n_tokens) for name in ("python", "dna") for n_tokens in (8192, 32768)]
    if quick:
        rows = [("python", 2_000_000, 2048)]
    else:
        rows.append(("python", 120_000_000, 8192))
    head = ("corpus", "symbols a host", "tokens", "hosts", "synchronisations", "host, s", "driver, s")
    head += ("of that reading, s", "MB from a host", "driver / host", "hosts at which both take as long")
    print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
    for name, n_symbols, n_tokens in rows:
        work = corpus_of(name, n_symbols)
        warm = corpus_of("python", 200_000) if name == "python" else corpus_of(name)
        learn(Copies(Host(warm.corpus(), 1), 4), warm, warm.alphabet_size + 300, 1, False)  # compiles
        for n in (8,) if quick else (8, 32, 128):
            engine = Copies(Host(work.corpus(), 1), n)
            began = time.perf_counter()
            learn(engine, work, n_tokens, 1, False)
            own = time.perf_counter() - began - engine.working
            row = (
                work.name,
                f"{work.values.size:,}",
                f"{n_tokens:,}",
                n,
                engine.rounds,
                f"{engine.working:.2f}",
            )
            row += (f"{own:.2f}", f"{engine.reading:.2f}")
            row += (
                f"{engine.received[0] / 1e6:.1f}",
                f"{own / engine.working:.3f}",
                f"{n * engine.working / own:.0f}",
            )
            print("| " + " | ".join(map(str, row)) + " |", flush=True)


def replay(quick: bool) -> None:
    """What a host that is lost costs beside its loading: its part encoded with the merges so far, on one thread."""
    print("| corpus | symbols of a host | tokens | its fit so far, s | replay, s |\n|" + " --- |" * 5)
    n_symbols = 5_000_000 if quick else 100_000_000
    for name in ("wav", "dna", "text"):
        work = corpus_of(name, n_symbols)
        for n_tokens in (4096,) if quick else (512, 4096, 32768):
            settings, alphabet = settings_of(n_tokens, 1), Alphabet.dense(work.alphabet_size)
            began = time.perf_counter()
            merges = fit(work.corpus(), alphabet, settings, Progress(False))
            fitted = time.perf_counter() - began
            encoder = PairEncoder(
                Vocabulary.from_merges(alphabet.size, merges.pairs, max_symbols=1 << 62), batch=False
            )
            text = Ragged(work.values.astype(np.int32), work.offsets)
            began = time.perf_counter()
            encoder.encode(text, 1)
            spent = time.perf_counter() - began
            print(
                f"| {work.name} | {work.values.size:,} | {n_tokens:,} | {fitted:.1f} | {spent:.1f} |",
                flush=True,
            )
