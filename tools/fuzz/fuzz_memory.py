"""Memory and states that other threads change while a tokenizer works: no crash, and each result is of one state or the other.

Threads fit one tokenizer again, on integers and on text, while others call it: each outcome, a result or an
error, is that of one of the states, computed beforehand. Others write to documents, ids and texts: short ones
have one of two contents, whose results are known; long ones have any, and must give a result, or an error of
the library.

    python tools/fuzz/fuzz_memory.py --minutes 10 --seed 1
"""

from __future__ import annotations

import argparse
import copy
import faulthandler
import pathlib
import subprocess
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

if __name__ == "__main__":
    sys.path[:0] = [str(pathlib.Path(__file__).parents[2])]

from ubpe_numba import BPE, UBPE, Preprocessing, Ragged, bounds, count_documents

PART = 30.0  # seconds of a process
INTS = [[0, 1, 2, 0, 1, 2, 1, 0] * 3, [1, 2, 0, 1], [2, 2, 0, 1, 2] * 9]
WIDE = [[v * 1000 + 7 for v in doc] for doc in INTS] + [[900_000, 7, 1007] * 4]
TEXTS = ["low lower lowest", "newer low", "lo lo lo"]
DOC, OTHER = [0, 1, 2, 0, 1, 2, 1, 0, 0, 1], [2, 1, 0, 2, 2, 1, 2, 0, 1, 1]

Calls = dict[str, Callable[..., Any]]
#: Calls of a tokenizer whose state changes, on documents that do not.
CALLS: Calls = {
    "encode": lambda tok: tok.encode(DOC),
    "encode text": lambda tok: tok.encode("lower low"),
    "encode_batch": lambda tok: tok.encode_batch([DOC] * 3),
    "positions": lambda tok: tok.encode_batch([DOC] * 3, return_offsets="spans"),
    "arrays": lambda tok: tok.encode_batch([np.array(DOC)] * 2000).values[-9:],
    "sample": lambda tok: tok.encode(DOC, sample=0.1, seed=1),
    "decode": lambda tok: tok.decode([4, 0, 3]),
    "decode_batch": lambda tok: tok.decode_batch([[4, 0, 3], [5]]),
    "usage": lambda tok: tok.usage(INTS),
    "usage of ids": lambda tok: tok.usage(ids=[[4, 0, 3], [5]]),
    "index": lambda tok: tok.index([[4, 0, 3], [4]])[4],
    "spans": lambda tok: tok.spans(INTS),
    "count": lambda tok: tok.count(INTS),
    "encode_iter": lambda tok: list(tok.encode_iter(INTS, batch=8)),
    "stream": lambda tok: list(tok.stream(frame=4).over([DOC])),
    "inputs": lambda tok: dict(tok([DOC], return_offsets=True)),
    "token_to_id": lambda tok: tok.token_to_id([0, 1]),
    "vocabulary": lambda tok: [(v := tok.vocabulary).merges, v.arena],
    "fingerprint": lambda tok: tok.fingerprint,
    "copy": lambda tok: copy.deepcopy(tok).fingerprint,
    "history_": lambda tok: tok.history_,
    "truncate": lambda tok: tok.truncate(4).fingerprint,
    "shortest": lambda tok: tok.with_objective("shortest").encode(DOC),
    "bound": lambda tok: bounds.lower_bound(tok, INTS, progress=False).tokens,
    "fit_more": lambda tok: copy.copy(tok).fit_more(INTS, 9, progress=False).fingerprint,
    "nbest": lambda tok: tok.encode_nbest([DOC], 2)[0],
    "kernels": lambda tok: tok.kernels.encode(np.array(DOC)),
}
#: Calls of tokenizers that stay, on memory that changes: short documents of integers; ids; text as bytes.
OF_DOCUMENT: Calls = {
    "encode": lambda a: BY_RANK.encode(a),
    "path": lambda a: BY_PATH.encode(a),
    "encode_batch": lambda a: BY_RANK.encode_batch([a, a[:0]])[0],
    "flat": lambda a: BY_PATH.encode_batch(a, np.array([0, a.size]))[0],
    "n best": lambda a: BY_PATH.encode_nbest([a], 2)[0],
    "count": lambda a: BY_RANK.count([a]),
    "stream": lambda a: list(BY_RANK.stream().over([a])),
    "compiled": lambda a: BY_RANK.kernels.encode(a),
}
OF_IDS: Calls = {
    "decode": lambda a: BY_RANK.decode(a),
    "decode_batch": lambda a: BY_PATH.decode_batch([a]),
    "into": lambda a: BY_RANK.decode(a, out=np.zeros(90, np.int32)),
    "usage": lambda a: BY_RANK.usage(ids=[a]),
    "index": lambda a: BY_RANK.index([a])[1],
}
OF_TEXT: Calls = {
    "encode": lambda a: OF_BYTES.encode(a),
    "special": lambda a: SPECIAL.encode(a, disallowed_special="none"),
    "encode_batch": lambda a: OF_BYTES.encode_batch(a, np.array([0, a.size])),
}


def fitted(tok: Any, docs: Any) -> Any:
    return tok.fit(docs, progress=False)


BY_RANK = fitted(BPE(9, n_threads=2), INTS)
BY_PATH = fitted(UBPE(9, n_threads=2), [*INTS, [0, 0]])
OF_BYTES = fitted(BPE.for_text(265, n_threads=2), TEXTS)
SPECIAL = fitted(BPE.for_text(265, n_threads=2, special_tokens=["<end>"], normalizer="NFC"), TEXTS)


def outcome(call: Callable[..., Any], *args: Any) -> str:
    """The result of a call as text, or its error; an error of NumPy or Python inside the library is its own kind."""
    try:
        return text_of(call(*args))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def text_of(made: Any) -> str:
    if isinstance(made, Ragged):
        return str(made.to_lists())
    if isinstance(made, dict):
        return str({name: text_of(value) for name, value in made.items()})
    if isinstance(made, (tuple, list)):
        return str([text_of(part) for part in made])
    return str(made.tolist() if isinstance(made, np.ndarray) else made)


def refit(make: Callable[[], Any], rng: Random, until: float) -> list[str]:
    """Calls of a tokenizer that other threads fit; what is wrong."""
    corpora: list[Any] = [INTS, WIDE, [*INTS, [5, 6, 5, 6]], count_documents(INTS), TEXTS]
    corpora = [docs for docs in corpora if outcome(fitted, make(), docs).startswith(type(make()).__name__)]
    expected = {
        name: {outcome(call, fitted(make(), docs)) for docs in corpora} for name, call in CALLS.items()
    }
    tok, wrong = fitted(make(), INTS), list[str]()

    def change() -> None:
        own = Random(rng.random())
        while time.monotonic() < until:
            fitted(tok, own.choice(corpora))

    def call() -> None:
        own = Random(rng.random())
        while time.monotonic() < until and not wrong:
            name = own.choice([*CALLS])
            if (found := outcome(CALLS[name], tok)) not in expected[name]:
                wrong.append(f"{name}: {found:.500}")

    run([change] * 2 + [call] * 4)
    return wrong


def rewrite(calls: Calls, contents: list[np.ndarray], rng: Random, until: float) -> list[str]:
    """Calls on a short array with one of two contents; what is wrong."""
    expected = {name: {outcome(call, content.copy()) for content in contents} for name, call in calls.items()}
    array, wrong = contents[0].copy(), []

    def change() -> None:
        while time.monotonic() < until:
            for content in contents:
                array[:] = content

    def call() -> None:
        own = Random(rng.random())
        while time.monotonic() < until and not wrong:
            name = own.choice([*calls])
            if (found := outcome(calls[name], array)) not in expected[name]:
                wrong.append(f"{name} of {array.dtype}: {found:.500}")

    run([change] * 2 + [call] * 3)
    return wrong


def scribble(calls: Calls, array: np.ndarray, rng: Random, until: float) -> list[str]:
    """Calls on a long array with any contents; what is wrong: other errors than those of the library."""
    wrong: list[str] = []
    fine = array.copy()

    def change() -> None:
        own = np.random.default_rng(rng.randrange(2**32))
        while time.monotonic() < until:
            at = own.integers(0, array.size, 50)
            array[at] = own.integers(
                np.iinfo(array.dtype).min, np.iinfo(array.dtype).max, 50, array.dtype, endpoint=True
            )
            if own.random() < 0.3:
                array[:] = fine

    def call() -> None:
        own = Random(rng.random())
        while time.monotonic() < until and not wrong:
            name = own.choice([*calls])
            found = outcome(calls[name], array)
            if any(
                found.startswith(kind)
                for kind in ("IndexError", "OverflowError", "SystemError", "AssertionError", "KeyError")
            ):
                wrong.append(f"{name} of long {array.dtype}: {found:.500}")

    run([change] * 2 + [call] * 3)
    return wrong


def run(functions: list[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def work(seed: int, seconds: float) -> list[str]:
    """All kinds of changes in turns, in this process; what is wrong."""
    rng, wrong = Random(seed), []
    warnings.simplefilter("ignore")
    sys.setswitchinterval(1e-5)
    words = Preprocessing(break_tokens=[1], special_tokens=[[9, 9]])
    makers: list[Callable[[], Any]] = [
        lambda: BPE(9, n_threads=1), lambda: UBPE(9, n_threads=1), lambda: BPE(9, n_threads=2),
        lambda: UBPE(9, objective="likelihood", n_threads=1),
        lambda: UBPE(9, objective="shortest", preprocessing=words, n_threads=1),
    ]  # fmt: skip
    short = [[np.array(doc, dtype) for doc in (DOC, OTHER)] for dtype in (np.int32, np.int64, np.uint8)]
    ids = [
        [np.array(doc, dtype) for doc in (DOC, [5, 4, 3, 2, 1, 0, 3, 3, 4, 4])]
        for dtype in (np.int32, np.int64)
    ]
    texts = [
        np.frombuffer(text * n, np.uint8).copy()
        for text, n in ((b"low lower lowest ", 6), (b"newer, lo-low <end>, lo", 4))
    ]
    texts = [text[:90] for text in texts]
    tasks: list[Callable[[float], list[str]]] = [
        *(lambda t, make=make: refit(make, rng, t) for make in makers),
        *(lambda t, c=c: rewrite(OF_DOCUMENT, c, rng, t) for c in short),
        *(lambda t, c=c: rewrite(OF_IDS, c, rng, t) for c in ids),
        lambda t: rewrite(OF_TEXT, texts, rng, t),
        lambda t: scribble(OF_IDS | LONG_IDS, np.array(DOC * 30_000, np.int32), rng, t),
        lambda t: scribble(OF_TEXT | LONG_TEXT, np.tile(texts[0], 3000), rng, t),
    ]  # fmt: skip
    rng.shuffle(tasks)
    for task in tasks:
        wrong += task(time.monotonic() + seconds / len(tasks))
    return wrong


#: Calls that read long memory more than once; those of integers are jobs of the soak.
LONG_IDS: Calls = {
    "Ragged": lambda a: BY_RANK.decode_batch(Ragged(a, np.arange(0, a.size + 1, 10))),
    "again": lambda a: BY_RANK.usage(BY_RANK.decode_batch(Ragged(a, np.arange(0, a.size + 1, 10)))),
    "into": lambda a: BY_RANK.decode_batch([a[:90_000], a[90_000:]], out=np.zeros(3_000_000, np.int32)),
}
LONG_TEXT: Calls = {
    "fit": lambda a: fitted(BPE.for_text(280), [a]).fingerprint,
    "lines": lambda a: SPECIAL.encode_batch(
        [a[i : i + 900] for i in range(0, a.size, 900)], disallowed_special="none"
    ),
    "inputs": lambda a: OF_BYTES([a], max_length=9, truncation=True),
}


def main() -> None:
    """Parse, and start one process after the other: a crash ends one of them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work is not None:
        faulthandler.enable()
        wrong = work(options.seed, options.work)
        print(*wrong, sep="\n")
        sys.exit(bool(wrong))
    end, counted, seed = time.monotonic() + 60 * options.minutes, Counter[str](), options.seed
    while time.monotonic() < end:
        seconds = min(PART, 60 * options.minutes)
        command = [sys.executable, "-P", __file__, "--seed", str(seed), "--work", str(seconds)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=20 * seconds + 300)
        kind = (
            "crashed"
            if done.returncode not in (0, 1) or "Traceback" in done.stderr
            else "wrong"
            if done.returncode
            else "right"
        )
        counted[kind] += 1
        if kind != "right":
            print(
                f"seed {seed}: {kind} ({done.returncode})\n{done.stdout[:3000]}{done.stderr[-3000:]}",
                flush=True,
            )
        seed += 1
    print(f"{counted.total()} processes:", ", ".join(f"{n} {kind}" for kind, n in counted.items()))
    sys.exit(counted.total() != counted["right"])


if __name__ == "__main__":
    main()
